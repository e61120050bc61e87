"""Base-to-tip steps: where each axis is, how it moves, what it weighs.

The loop over links is always ``for k in range(1, n)`` outward and its reverse inward, because parents come before
children; algorithms differ only in the steps they take at each link.
"""

from __future__ import annotations

from multiarm.sweeps import layout as at
from multiarm.sweeps.jit import value
from multiarm.sweeps.trigonometry import sincos
from multiarm.sweeps.values import (
    ZERO3,
    add3,
    apply9,
    axpy3,
    cross,
    load3,
    load9,
    load_sym3,
    mul9,
    quaternion_matrix,
    rotate_sym3,
    scale3,
    spin,
    store3,
    store6,
    store9,
)


@value
def fits(tree, q_length, *velocity_lengths):
    """Whether q has nq entries and every other array nv: a kernel given anything else would read foreign memory."""
    good = q_length == tree[0, at.Q]
    for length in velocity_lengths:
        good &= length == tree[0, at.V]
    return good


@value
def is_frame(tree, frame):
    """Whether `frame` is [link, x, y, z] with a link of this tree."""
    return frame.shape[0] == 4 and frame[0] >= 0 and frame[0] < tree.shape[0]


@value
def ball_rotation(q, i, sign):
    """Rotation of the child in the parent frame of the tree; sign -1 where the tree runs against the joint."""
    return quaternion_matrix(sign * q[i], sign * q[i + 1], sign * q[i + 2], q[i + 3])


@value
def column(r, i):
    """Column i of a 3x3 block."""
    if i == 0:
        return (r[0], r[3], r[6])
    if i == 1:
        return (r[1], r[4], r[7])
    return (r[2], r[5], r[8])


@value
def row(r, i):
    """Row i of a 3x3 block."""
    if i == 0:
        return (r[0], r[1], r[2])
    if i == 1:
        return (r[3], r[4], r[5])
    return (r[6], r[7], r[8])


@value
def settle(link, k, rotation, l, axis, omega, bias):
    """Store what the outward sweep found for axis k: rotation, l, H*, omega and the bias acceleration a."""
    store9(link, k, at.ROTATION, rotation)
    store3(link, k, at.OFFSET, l)
    store6(link, k, at.AXIS, axis)
    store3(link, k, at.OMEGA, omega)
    store6(link, k, at.BIAS, bias)


@value
def before_motion(tree, link, k):
    """Rotation of axis k and offset l before the axis moves, and the parent's angular velocity."""
    p = tree[k, at.PARENT]
    parent_rotation = load9(link, p, at.ROTATION)
    rotation = mul9(parent_rotation, load9(link, k, at.TREE_ROTATION))
    return rotation, apply9(parent_rotation, load3(link, k, at.TREE_OFFSET)), load3(link, p, at.OMEGA)


@value
def place_revolute(tree, link, k, q, rate):
    """A rotation about z of the axis frame: a = [omega x h rate; omega x (omega x l)] (2.19)."""
    rotation, l, parent_omega = before_motion(tree, link, k)
    sine, cosine = sincos(q[tree[k, at.Q]])
    w = (rotation[2], rotation[5], rotation[8])
    motion = scale3(rate, w)
    bias = (cross(parent_omega, motion), cross(parent_omega, cross(parent_omega, l)))
    settle(link, k, spin(rotation, cosine, sine), l, (w, ZERO3), add3(parent_omega, motion), bias)


@value
def place_prismatic(tree, link, k, q, rate):
    """A slide along z of the axis frame; its bias has the Coriolis term twice (erratum to (2.32))."""
    rotation, l, parent_omega = before_motion(tree, link, k)
    w = (rotation[2], rotation[5], rotation[8])
    l = axpy3(q[tree[k, at.Q]], w, l)
    bias = (ZERO3, cross(parent_omega, axpy3(2.0 * rate, w, cross(parent_omega, l))))
    settle(link, k, rotation, l, (ZERO3, w), parent_omega, bias)


@value
def place_screw(tree, link, k, q, rate):
    """A rotation about z with a slide of `pitch` metres per radian."""
    rotation, l, parent_omega = before_motion(tree, link, k)
    pitch = link[k, at.PARAMETER]
    angle = q[tree[k, at.Q]]
    sine, cosine = sincos(angle)
    w = (rotation[2], rotation[5], rotation[8])
    l = axpy3(pitch * angle, w, l)
    motion = scale3(rate, w)
    bias = (
        cross(parent_omega, motion),
        cross(parent_omega, axpy3(2.0 * pitch, motion, cross(parent_omega, l))),
    )
    settle(link, k, spin(rotation, cosine, sine), l, (w, scale3(pitch, w)), add3(parent_omega, motion), bias)


@value
def place_ball(tree, link, k, q, rate):
    """One of the three axes of a ball, along an axis of the child, or of the parent where PARENT_AXES says so.

    The three directions turn with the joint as a whole, so each adds omega(parent of the joint) x its share to the
    bias.
    """
    rotation, l, parent_omega = before_motion(tree, link, k)
    sign = link[k, at.PARAMETER]
    turn = ball_rotation(q, tree[k, at.Q], sign)
    if tree[k, at.KIND] == at.BALL:
        rotation = mul9(rotation, turn)
    if tree[k, at.PARENT_AXES] == 1:
        w = apply9(rotation, row(turn, tree[k, at.COLUMN]))
    else:
        w = column(rotation, tree[k, at.COLUMN])
    w = scale3(sign, w)
    motion = scale3(rate, w)
    bias = (
        cross(load3(link, tree[k, at.GROUP], at.OMEGA), motion),
        cross(parent_omega, cross(parent_omega, l)),
    )
    settle(link, k, rotation, l, (w, ZERO3), add3(parent_omega, motion), bias)


@value
def place(tree, link, q, v, k):
    """Pose and motion of axis k from its parent's, JPL 88-11-I (2.17)-(2.19).

    Each kind reads and stores for itself: values that cross a branch would travel through memory and cost threefold.
    """
    kind = tree[k, at.KIND]
    rate = v[tree[k, at.V]]
    if kind == at.REVOLUTE:
        place_revolute(tree, link, k, q, rate)
    elif kind == at.PRISMATIC:
        place_prismatic(tree, link, k, q, rate)
    elif kind == at.SCREW:
        place_screw(tree, link, k, q, rate)
    else:
        place_ball(tree, link, k, q, rate)


@value
def weigh(link, k, rotation):
    """Inertia about the origin, first moment (world axes) and mass of link k."""
    mass, inertia = link[k, at.MASS], load_sym3(link, k, at.INERTIA)
    if mass == 0.0 and inertia[0] == 0.0 and inertia[3] == 0.0 and inertia[5] == 0.0:  # inner axes of a joint
        return (0.0, 0.0, 0.0, 0.0, 0.0, 0.0), ZERO3, 0.0
    return rotate_sym3(rotation, inertia), apply9(rotation, load3(link, k, at.MOMENT)), mass
