"""Where everything about the loops stands: a table of integers, a table with one row per cut, and room to work in.

`loop` holds the structure that the topology gives, in sections of rows: one header, one row per link, one per cut, one
per cluster, one per hub. A *hub* is a free body at the root of its tree; its acceleration stays an unknown. A *cluster*
is a set of cuts whose paths to the world or to a hub share an axis; arms that hold one object share none, so there each
cut is a cluster.
A cut has at most six rows, kept side by side in eight lanes, so that one instruction works on all of them.
"""

from __future__ import annotations

LANES = 8
MOST_STEPS = 12  # of refinement, where there are weak directions

# Row 0 of `loop`: how many there are of each, rows of all cuts together, lanes of the widest cluster.
LINKS, CUTS, CLUSTERS, HUBS, ROWS, WIDTH = range(6)
# The same row: where things stand in `room`.
HUB_FRAMES, WHITE, SYSTEM, RIGHT, SPARE, WEAK = range(6, 12)
# The same row, written by the solvers: number of independent rows.
RANK = 12

# Row of link k is FIRST_LINK + k: its role, the number of its hub, the next axis of its cluster (0 after the last).
FIRST_LINK = 1
ROLE, HUB, NEXT_AXIS = range(3)
AXIS_OF_TREE, HUB_BODY, HUB_INNER = range(3)

# Rows of cuts, in the order of their clusters: what it is, its links (axes for a coupling), number of rows, its first
# row among all multipliers, its place in its cluster, the hubs it reaches (-1: none), how its rows turn.
KIND, PARENT, CHILD, COUNT, FIRST_ROW, SLOT, PARENT_HUB, CHILD_HUB, GAP = range(9)
ROW_AXES = 9  # six columns
LOCAL_ROW = 15  # its first row among those of its cluster
JOINT, COUPLING = range(2)
IN_WORLD, ON_PARENT, ON_CHILD, ACROSS = range(4)  # axes that a row is fixed in; ACROSS: normal to two axes
OPEN_NOT, OPEN_TURN, OPEN_AXIS, OPEN_SCREW, OPEN_UNIVERSAL = range(5)  # what an angular gap is measured by

# Rows of clusters: first cut, number of cuts, rows, first axis, number of axes, place in `room`, method of the last
# factorisation.
FIRST_CUT, CLUSTER_CUTS, CLUSTER_ROWS, FIRST_AXIS, AXES, PLACE, METHOD = range(7)
BLOCK, WIDE, SPLIT = range(3)  # one cut factored, several factored whole, split by singular vectors

# Rows of hubs, in the order of elimination: the row of their link, the first hub they are coupled with.
HUB_LINK, ENVELOPE = range(2)

LOOP_COLUMNS = 16

# Columns of `cut` that the model fixes.
PARENT_FRAME = 0  # rotation 9 and origin 3 in the parent's link
CHILD_FRAME = 12
AXIS_ON_PARENT = 24  # axes that the angular gap is measured by, in the two frames
AXIS_ON_CHILD = 27
WANTED = 30  # cosine of the angle between them (universal)
RATIO = 31  # of a coupling
RATE = 31  # of a joint: at which gaps and slip are driven back (Baumgarte) [1/s]
SHIFT = 32  # of a coupling, in place of what follows; its rate and acceleration where it is a law of time
SPEED = 33
LOCAL = 32  # six rows of N in the axes that ROW_AXES says; for ACROSS the two axes, on the parent and on the child

# Columns that kernels compute; blocks of lanes are component by component.
POINT = 72  # child-side origin in the world, 3
NORMALS = 80  # N, world axes at POINT, 6 x 8
GOAL = 128  # what N (A_child - A_parent) must be, 8
WANT = 136  # GOAL less what it would be without multipliers and with hubs at rest, 8
LAMBDA = 144  # multipliers, 8
FREE = 152  # whether a multiplier has other possible values: 0 where determinate, 8
CHILD_FORCE = 160  # unit forces on their way to the base, and what arrives at the hub, 6 x 8
YIELD = 48  # from either force: along the axis just passed, 8
GAINED = 56  # from either force: work done on the accelerations met on the way, 8
PARENT_FORCE = 224
FACTORS = 288  # L and 1/d of K = C Lambda C* of the cut, 21
CHILD_REACH = 312  # L^-1 E: what arrives at the hub, reduced by the factors, 6 x 8
PARENT_REACH = 360
REDUCED = 408  # L^-1 WANT, 8
CHANGE = 416  # of the multipliers by the last solution, 8
CUT_COLUMNS = 424
