"""Hubs and cuts at a state: where they are, the rows N that each cut constrains, and what they must accelerate by.

With V the motion of a cut's child relative to its parent, taken at the child-side origin, a cut demands N V = 0 and so
N V-dot = -N-dot V. The rows of N are fixed in the world, on the parent or on the child, or normal to one axis of each.
"""

from __future__ import annotations

import math

from multiarm.sweeps import layout as at
from multiarm.sweeps import loop_layout as lo
from multiarm.sweeps.jit import kernel, step, value
from multiarm.sweeps.outward import place
from multiarm.sweeps.values import (
    ZERO3,
    ZERO6,
    add3,
    apply9,
    axpy3,
    cross,
    dot3,
    load3,
    load9,
    mul9,
    quaternion_matrix,
    scale3,
    store3,
    store6,
    store9,
    sub3,
)

RANK_TOLERANCE, WIDEST_TOLERANCE = 1e-13, 1e-4  # on the constraints, and far off them
COINCIDE = 1e-24  # square of the sine below which two axes have any common normal


@value
def link_row(k):
    """Row of link k in `loop`."""
    return lo.FIRST_LINK + k


@value
def cut_row(loop, c):
    """Row of cut c in `loop`."""
    return lo.FIRST_LINK + loop[0, lo.LINKS] + c


@value
def cluster_row(loop, g):
    """Row of cluster g in `loop`."""
    return lo.FIRST_LINK + loop[0, lo.LINKS] + loop[0, lo.CUTS] + g


@value
def hub_row(loop, h):
    """Row of hub h in `loop`."""
    return lo.FIRST_LINK + loop[0, lo.LINKS] + loop[0, lo.CUTS] + loop[0, lo.CLUSTERS] + h


@value
def hub_frame(loop, room, h):
    """Rotation and origin of the world-side frame of hub h, whose axes its velocities are given in."""
    i = loop[0, lo.HUB_FRAMES] + 12 * h
    rotation = (
        room[i], room[i + 1], room[i + 2],
        room[i + 3], room[i + 4], room[i + 5],
        room[i + 6], room[i + 7], room[i + 8],
    )  # fmt: skip
    return rotation, (room[i + 9], room[i + 10], room[i + 11])


@value
def three(x, i):
    """Three entries of a vector from i."""
    return (x[i], x[i + 1], x[i + 2])


@value
def place_hub(tree, link, loop, room, q, v, k):
    """A free body at the root of its tree: six coordinates at once, and no bias."""
    rotation, origin = hub_frame(loop, room, loop[link_row(k), lo.HUB])
    i, j = tree[k, at.Q], tree[k, at.V] - 2  # the last axis of the ball
    store9(link, k, at.ROTATION, mul9(rotation, quaternion_matrix(q[i], q[i + 1], q[i + 2], q[i + 3])))
    store3(link, k, at.ORIGIN, add3(origin, apply9(rotation, three(q, i + 4))))
    store3(link, k, at.OMEGA, apply9(rotation, three(v, j)))
    store3(link, k, at.VELOCITY, apply9(rotation, three(v, j + 3)))


@value
def locate_link(tree, link, v, k):
    """Origin and velocity of link k once it is placed."""
    p = tree[k, at.PARENT]
    l = load3(link, k, at.OFFSET)
    moved = add3(load3(link, p, at.VELOCITY), cross(load3(link, p, at.OMEGA), l))
    store3(link, k, at.ORIGIN, add3(load3(link, p, at.ORIGIN), l))
    store3(link, k, at.VELOCITY, axpy3(v[tree[k, at.V]], load3(link, k, at.AXIS + 3), moved))


@value
def place_all(tree, link, loop, room, q, v):
    """Outward: place and locate every link, hubs as one body."""
    store3(link, 0, at.ORIGIN, ZERO3)
    store3(link, 0, at.VELOCITY, ZERO3)
    for k in range(1, tree.shape[0]):
        role = loop[link_row(k), lo.ROLE]
        if role == lo.AXIS_OF_TREE:
            place(tree, link, q, v, k)
            locate_link(tree, link, v, k)
        elif role == lo.HUB_BODY:
            place_hub(tree, link, loop, room, q, v, k)


@value
def frame_of(link, k, cut, c, column):
    """Rotation of a cut's frame in the world and its origin relative to the link's."""
    rotation = load9(link, k, at.ROTATION)
    return mul9(rotation, load9(cut, c, column)), apply9(rotation, load3(cut, c, column + 9))


@value
def store_lane(cut, c, column, lane, n, f):
    """Write a unit force [n; f] into its lane."""
    for i in range(3):
        cut[c, column + lo.LANES * i + lane] = n[i]
        cut[c, column + lo.LANES * (3 + i) + lane] = f[i]


@value
def load_lane(cut, c, column, lane):
    """The force [n; f] of a lane."""
    n = (cut[c, column + lane], cut[c, column + lo.LANES + lane], cut[c, column + 2 * lo.LANES + lane])
    column += 3 * lo.LANES
    return n, (cut[c, column + lane], cut[c, column + lo.LANES + lane], cut[c, column + 2 * lo.LANES + lane])


@value
def any_normal(x):
    """A vector normal to x, of its size or nearly so."""
    if abs(x[0]) < 0.6:
        return cross(x, (1.0, 0.0, 0.0))
    return cross(x, (0.0, 1.0, 0.0))


@value
def normal_of(loop, cut, c, i, parent, child, parent_omega, child_omega):
    """Row i of N in the world, and its rate: (n, f, n-dot, f-dot)."""
    axes = loop[cut_row(loop, c), lo.ROW_AXES + i]
    n, f = load3(cut, c, lo.LOCAL + 6 * i), load3(cut, c, lo.LOCAL + 6 * i + 3)
    if axes == lo.IN_WORLD:
        return n, f, ZERO3, ZERO3
    if axes == lo.ACROSS:
        first, second = apply9(parent, n), apply9(child, f)
        n = cross(first, second)
        if dot3(n, n) < COINCIDE:
            n = any_normal(first)
        scale = 1.0 / math.sqrt(dot3(n, n))
        turning = add3(cross(cross(parent_omega, first), second), cross(first, cross(child_omega, second)))
        return scale3(scale, n), ZERO3, scale3(scale, turning), ZERO3
    rotation, omega = parent, parent_omega
    if axes == lo.ON_CHILD:
        rotation, omega = child, child_omega
    n, f = apply9(rotation, n), apply9(rotation, f)
    return n, f, cross(omega, n), cross(omega, f)


@value
def gap_of(loop, cut, c, parent, child, n, f, apart):
    """How far a cut is open along the row (n, f), to first order; `apart` is the way from origin to origin.

    The advance of a screw along its axis is left out, for how often it has turned is not known here.
    """
    measure = loop[cut_row(loop, c), lo.GAP]
    if measure == lo.OPEN_SCREW:
        first = apply9(parent, load3(cut, c, lo.AXIS_ON_PARENT))
        second = apply9(child, load3(cut, c, lo.AXIS_ON_CHILD))
        return dot3(f, axpy3(-dot3(apart, first), first, apart)) + dot3(n, cross(first, second))
    gap = dot3(f, apart)
    if measure == lo.OPEN_TURN:
        turn = ZERO3
        for i in range(3):
            turn = add3(turn, cross((parent[i], parent[3 + i], parent[6 + i]), (child[i], child[3 + i], child[6 + i])))
        gap += 0.5 * dot3(n, turn)
    elif measure == lo.OPEN_AXIS:
        first = apply9(parent, load3(cut, c, lo.AXIS_ON_PARENT))
        gap += dot3(n, cross(first, apply9(child, load3(cut, c, lo.AXIS_ON_CHILD))))
    elif measure == lo.OPEN_UNIVERSAL and (n[0] != 0.0 or n[1] != 0.0 or n[2] != 0.0):
        first = apply9(parent, load3(cut, c, lo.AXIS_ON_PARENT))
        gap += dot3(first, apply9(child, load3(cut, c, lo.AXIS_ON_CHILD))) - cut[c, lo.WANTED]
    return gap


@value
def pull_back(link, loop, cut, c, p, parent, child, n, f, point, spin, slide):
    """2 rate J v + rate^2 gap of the row (n, f)."""
    rate = cut[c, lo.RATE]
    near = add3(load3(link, p, at.ORIGIN), frame_of(link, p, cut, c, lo.PARENT_FRAME)[1])
    gap = gap_of(loop, cut, c, parent, child, n, f, sub3(point, near))
    return 2.0 * rate * (dot3(n, spin) + dot3(f, slide)) + rate * rate * gap


@step
def settle_cut(link, loop, cut, c):
    """N, its goal, and the unit forces of its rows on the two links, at their origins.

    GOAL is what N (A_child - A_parent) must be, A the accelerations of the two bodies' points at the child-side origin;
    WANT starts as GOAL less the centripetal part that the links' own accelerations do not have.
    """
    row = cut_row(loop, c)
    p, k = loop[row, lo.PARENT], loop[row, lo.CHILD]
    parent = frame_of(link, p, cut, c, lo.PARENT_FRAME)[0]
    child, far = frame_of(link, k, cut, c, lo.CHILD_FRAME)
    point = add3(load3(link, k, at.ORIGIN), far)
    arm = sub3(point, load3(link, p, at.ORIGIN))
    parent_omega, child_omega = load3(link, p, at.OMEGA), load3(link, k, at.OMEGA)
    spin = sub3(child_omega, parent_omega)
    child_velocity = add3(load3(link, k, at.VELOCITY), cross(child_omega, far))
    slide = sub3(child_velocity, add3(load3(link, p, at.VELOCITY), cross(parent_omega, arm)))
    passing = cross(parent_omega, slide)  # the parent's point that the child's passes changes
    inward = sub3(cross(child_omega, cross(child_omega, far)), cross(parent_omega, cross(parent_omega, arm)))
    store3(cut, c, lo.POINT, point)
    for i in range(loop[row, lo.COUNT]):
        n, f, n_rate, f_rate = normal_of(loop, cut, c, i, parent, child, parent_omega, child_omega)
        goal = dot3(f, passing) - dot3(n_rate, spin) - dot3(f_rate, slide)
        if cut[c, lo.RATE] > 0.0:
            goal -= pull_back(link, loop, cut, c, p, parent, child, n, f, point, spin, slide)
        cut[c, lo.GOAL + i] = goal
        cut[c, lo.WANT + i] = goal - dot3(f, inward)
        store_lane(cut, c, lo.NORMALS, i, n, f)
        store_lane(cut, c, lo.CHILD_FORCE, i, add3(n, cross(far, f)), f)
        store_lane(cut, c, lo.PARENT_FORCE, i, scale3(-1.0, add3(n, cross(arm, f))), scale3(-1.0, f))


@step
def largest_gap(link, loop, cut):
    """By how much the loops are open, radians or metres, to first order; needs `settle_cut`."""
    largest = 0.0
    for c in range(loop[0, lo.CUTS]):
        row = cut_row(loop, c)
        if loop[row, lo.KIND] != lo.JOINT:
            continue
        p, k = loop[row, lo.PARENT], loop[row, lo.CHILD]
        parent, near = frame_of(link, p, cut, c, lo.PARENT_FRAME)
        child, far = frame_of(link, k, cut, c, lo.CHILD_FRAME)
        apart = sub3(add3(load3(link, k, at.ORIGIN), far), add3(load3(link, p, at.ORIGIN), near))
        for i in range(loop[row, lo.COUNT]):
            n, f = load_lane(cut, c, lo.NORMALS, i)
            largest = max(largest, abs(gap_of(loop, cut, c, parent, child, n, f, apart)))
    return largest


@step
def rank_tolerance(link, loop, cut):
    """Share of the largest singular value below which a row counts as redundant.

    Rows that are redundant on the constraints differ by as much as the gaps are open off them.
    """
    return min(max(RANK_TOLERANCE, 10.0 * largest_gap(link, loop, cut)), WIDEST_TOLERANCE)


@kernel
def settle_cuts(tree, link, loop, cut):
    """Rows and goals of every cut; needs `locate`."""
    for c in range(loop[0, lo.CUTS]):
        if loop[cut_row(loop, c), lo.KIND] == lo.JOINT:
            settle_cut(link, loop, cut, c)
    return 0


@value
def rest_at_world(link):
    """The world does not move; its acceleration is gravity's pseudo-acceleration."""
    store6(link, 0, at.ALPHA, (ZERO3, load3(link, 0, at.ZETA + 3)))
    store6(link, 0, at.BIAS, ZERO6)
