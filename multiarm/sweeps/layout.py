"""Where everything about a link stands: two tables, one row per one-degree-of-freedom axis, parents before children.

Row 0 is the world. Every joint is a run of axes (`multiarm.joints`): a revolute joint one, a free joint six; only the
last axis of a joint carries the body. `tree` holds integers, `link` floats: first what the model fixes, then what the
sweeps compute. Packing both into two tables keeps a call from Python cheap (each array argument costs time to unbox).
"""

from __future__ import annotations

# Axis kinds. A ball is three axes at one point: the first turns the frame, the other two only add their direction.
REVOLUTE, PRISMATIC, SCREW, BALL, BALL_NEXT = range(5)

# Columns of `tree`: row of the parent, axis kind, index into q and into v; for a ball the row before it, which of its
# three directions this is and whether they are the parent's axes; whether any link hangs on this one, and whether this
# link is the first of its siblings that an inward sweep meets.
# In the row of the world Q and V hold nq and nv.
PARENT, KIND, Q, V, GROUP, COLUMN, PARENT_AXES, HAS_CHILDREN, FIRST = range(9)
TREE_COLUMNS = 9

# What kernels return: 0 for success, the row of a link whose D is not positive, or this.
WRONG_LENGTH = -1

# Columns of `link` that the model fixes.
TREE_ROTATION = 0  # axis frame (its z is the axis) in its parent's axes at zero coordinate, 9
TREE_OFFSET = 9  # its origin in the parent's axes, 3
INERTIA = 12  # about the origin, in axis-frame axes, 6
MOMENT = 18  # mass times centre of mass, 3
MASS = 21
ARMATURE = 22
PARAMETER = 23  # pitch of a screw; sign of a ball

# Columns that sweeps compute, all in world axes.
ROTATION = 24  # axis frame in the world, 9
OFFSET = 33  # l: from the parent's origin to this one, 3
AXIS = 36  # H*: direction of motion of the axis, 6
OMEGA = 42  # angular velocity, 3
BIAS = 45  # a: bias acceleration, 6
ZETA = 51  # phi* a: acceleration at zero joint acceleration, gravity included, 6
FORCE = 57  # gathered from the children, then z: the filtered spatial force, 6
ARTICULATED = 63  # gathered from the children, then P (or a composite inertia, or Omega), 21
U = 84  # P H*, 6
D = 90  # H P H* + armature
D_INVERSE = 91
NU = 92  # normalised innovation
ALPHA = 93  # spatial acceleration (or its part beyond ZETA), gravity's pseudo-acceleration included, 6
EXTERNAL = 99  # wrench on the link at its origin, 6
ORIGIN = 105  # position of the origin in the world, 3
VELOCITY = 108  # linear velocity of the origin, 3
CHANGE = 111  # of the spatial acceleration by the last solution of a loop, 6
LINK_COLUMNS = 120
