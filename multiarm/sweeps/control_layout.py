"""Where everything about a controller stands: a table of integers (`whole`) and one of floats (`numbers`).

`whole` begins with a header; lists and their entries stand behind it, at the places that the header says. `desk` is
memory to work in, whose parts the header places too.
"""

from __future__ import annotations

# What kind of controller: none (no torque), PD of the joints, computed torque, impedance of objects.
NONE, JOINT_PD, COMPUTED_TORQUE, IMPEDANCE = range(4)

# Header of `whole`. First the kind and what to expect: velocities, coordinates, size of the desk.
KIND, VELOCITIES, COORDINATES, DESK = range(4)
# Pairs (how many, where the list stands).
PASSIVE = 4  # velocities without actuator: index
JOINTS = 6  # with actuator: SHAPE, FIRST_Q, FIRST_V, COUNT
TASKS = 8  # bodies to move: LINK, HUB_VELOCITY (-1: the body is no hub), PLACE in numbers
GROUPS = 10  # coordinates that hang together once hubs with a task are known: numbers of velocities and cuts, then both
INTERNALS = 12  # internal wrenches: row of `cut`, place in numbers
FOLLOWED = 14  # joints along paths: first q, first v, place in numbers, length of the table
# Places in `numbers`.
LIMITS, STIFFNESS, DAMPING, REFERENCE = range(16, 20)  # per velocity; the reference per coordinate
# Whether to carry the weight; whether every task is a hub's and every cut in a group.
GRAVITY, DIRECT = 20, 21
# Places in `desk`. The first is the torque before it is limited.
RAW = 22  # nv
ACCELERATION = 23  # nv
CHANGE = 24  # nv: of the accelerations from the preferred ones
FORCE = 25  # nv: b = M a + C
REST = 26  # nv, zeros
Q_REFERENCE = 27  # nq
V_REFERENCE = 28  # nv
SPARE = 29  # nv
WANTED = 30  # 6 per task: acceleration
PUSH = 31  # 6 per task: wrench
JACOBIAN = 32  # rows x nv
MISSING = 33  # rows: what J a lacks
MULTIPLIERS = 34  # rows
MASS = 35  # nv x nv
SUPPORT = 36  # passive x rows: J_p*
SUPPORT_RIGHT = 37  # passive x 3: right-hand sides, velocities, factors
FALLING = 38  # passive x nv: motions of passive joints alone that the constraints allow
CHOLESKY = 39  # nv x nv
DIRECTIONS = 40  # (passive + rows + 6 per task) x nv: whitened rows
DIRECTIONS_RIGHT = 41  # the same x 3
Y = 42  # nv, or rows if those are more
FIT = 43  # 6 per task squared
FIT_SPARE = 44  # 4 x 6 per task
BEGIN = 45  # nv: first entries of the rows of CHOLESKY
HEADER = 46

# A joint: how its coordinates differ (a number each, a quaternion with rates in child axes, free), where, how many.
PLAIN, BALL, FREE = range(3)
JOINT_RECORD, TASK_RECORD, INTERNAL_RECORD, FOLLOWED_RECORD = 4, 3, 2, 4

# A task in `numbers`: the body in its link (rotation 9, origin 3), two 6 x 6 matrices, the table of its path.
BODY, FIRST_GAIN, SECOND_GAIN, PATH = 0, 12, 48, 84

# What `control` returns beside 0 and WRONG_LENGTH.
NO_INERTIA = -2
