"""Where everything about force elements stands: a table of integers and one of floats, one row per element.

Rows of `numbers` beyond those of `whole` are samples that tables over time share.
"""

from __future__ import annotations

# Kinds. What acts on one coordinate, what acts along a free direction of a cut joint, what acts between two frames, and
# what pushes from outside.
SPRING, DAMPER, FRICTION, LIMIT, CUT_LOSS, LINE, BUSHING, PUSH, PUSH_TABLE = range(9)

# Columns of `whole`: kind; places in q and v (of a coordinate), or the links that carry two frames; for a push the
# shape over time, and whether its axes turn with the frame; first row and number of the samples of a table.
KIND, Q, V = range(3)
LINK_A, LINK_B = 1, 2
SHAPE, TURNS, FIRST, COUNT = range(3, 7)
WHOLE_COLUMNS = 7

CONSTANT, HALF_SINE, RAMP = range(3)

# Columns of `numbers`.
STIFFNESS = 0  # one, or six of a bushing
COULOMB, SPEED = 0, 1  # of friction
WRENCH = 0  # of a push, [torque; force], 6
DAMPING = 6  # one, or six of a bushing
START, STOP = 6, 7  # of a push
REST = 12  # coordinate, length, or translation (3) at which a spring is slack
LOWER, UPPER = 12, 13  # of a limit
FRAME_A = 15  # rotation 9 and origin 3 in the link that carries it
FRAME_B = 27
TURN_A = 39  # of a cut joint: what its rate is measured by, in the axes of frame a
TURN_B = 42  # in the axes of frame b
SLIDE_A = 45
NUMBER_COLUMNS = 48

# Columns of a sample: time, then the wrench.
TIME, SAMPLE = 0, 1

# What `apply_elements` returns besides 0 and WRONG_LENGTH: this less the row of a line whose ends have met.
ENDS_MEET = -2
