"""How the ends of force elements stand to each other and move; needs links that are placed."""

from __future__ import annotations

import math

from multiarm.sweeps import element_layout as el
from multiarm.sweeps import layout as at
from multiarm.sweeps.jit import value
from multiarm.sweeps.values import (
    add3,
    apply9,
    apply9_transposed,
    cross,
    dot3,
    load3,
    load9,
    mul9,
    scale3,
    sub3,
)

SMALL_TURN = 0.25  # rad; below it a series is more accurate than the cotangent


@value
def frame_rotation(link, numbers, i, k, column):
    """Rotation in the world of a frame that link k carries."""
    return mul9(load9(link, k, at.ROTATION), load9(numbers, i, column))


@value
def frame_offset(link, numbers, i, k, column):
    """From the origin of link k to that of a frame it carries, world axes."""
    return apply9(load9(link, k, at.ROTATION), load3(numbers, i, column + 9))


@value
def point_velocity(link, k, arm):
    """Velocity of the point of link k that is `arm` away from its origin."""
    return add3(load3(link, k, at.VELOCITY), cross(load3(link, k, at.OMEGA), arm))


@value
def frames_apart(link, numbers, whole, i):
    """Arms from the two links' origins to their frames, the way from frame a to frame b, and its rate of change."""
    a, b = whole[i, el.LINK_A], whole[i, el.LINK_B]
    arm_a, arm_b = frame_offset(link, numbers, i, a, el.FRAME_A), frame_offset(link, numbers, i, b, el.FRAME_B)
    way = sub3(add3(load3(link, b, at.ORIGIN), arm_b), add3(load3(link, a, at.ORIGIN), arm_a))
    return arm_a, arm_b, way, sub3(point_velocity(link, b, arm_b), point_velocity(link, a, arm_a))


@value
def quaternion_of(r):
    """The quaternion (x, y, z, w) of a rotation, w not negative; found from its largest entry (Shepperd 1978)."""
    trace = r[0] + r[4] + r[8]
    if trace >= max(r[0], r[4], r[8]):
        q = (r[7] - r[5], r[2] - r[6], r[3] - r[1], 1.0 + trace)
    elif r[0] >= max(r[4], r[8]):
        q = (1.0 + r[0] - r[4] - r[8], r[1] + r[3], r[2] + r[6], r[7] - r[5])
    elif r[4] >= r[8]:
        q = (r[1] + r[3], 1.0 - r[0] + r[4] - r[8], r[5] + r[7], r[2] - r[6])
    else:
        q = (r[2] + r[6], r[5] + r[7], 1.0 - r[0] - r[4] + r[8], r[3] - r[1])
    scale = 1.0 / math.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    if q[3] < 0.0:
        scale = -scale
    return (scale * q[0], scale * q[1], scale * q[2], scale * q[3])


@value
def rotation_vector(r):
    """theta = log R with |theta| <= pi, and (1 - |theta|/2 cot |theta|/2) / |theta|^2, from which its rate follows."""
    x, y, z, w = quaternion_of(r)
    sine = math.sqrt(x * x + y * y + z * z)
    half = math.atan2(sine, w)
    stretch = 2.0
    if sine > 0.0:
        stretch = 2.0 * half / sine
    square = 4.0 * half * half
    if square < SMALL_TURN * SMALL_TURN:
        curve = 1.0 / 1209600.0 + square * (1.0 / 47900160.0 + square * (691.0 / 1307674368000.0))
        curve = 1.0 / 12.0 + square * (1.0 / 720.0 + square * (1.0 / 30240.0 + square * curve))
    else:
        curve = (1.0 - half * w / sine) / square
    return scale3(stretch, (x, y, z)), curve


@value
def rotation_gradient(theta, curve, k_theta):
    """J* K theta with theta-dot = J omega: J = 1 - theta~/2 + curve theta~^2, the inverse left Jacobian of log R."""
    once = cross(theta, k_theta)
    twice = cross(theta, once)
    return (
        k_theta[0] + 0.5 * once[0] + curve * twice[0],
        k_theta[1] + 0.5 * once[1] + curve * twice[1],
        k_theta[2] + 0.5 * once[2] + curve * twice[2],
    )


@value
def weighted(numbers, i, column, x):
    """A diagonal 3x3 matrix times a vector."""
    return (numbers[i, column] * x[0], numbers[i, column + 1] * x[1], numbers[i, column + 2] * x[2])


@value
def bushing_turn(rotation_a, link, numbers, whole, i):
    """Rotation vector from rest in the axes of frame a, and the number that its rate needs."""
    rotation_b = frame_rotation(link, numbers, i, whole[i, el.LINK_B], el.FRAME_B)
    r = rotation_a
    return rotation_vector(mul9((r[0], r[3], r[6], r[1], r[4], r[7], r[2], r[5], r[8]), rotation_b))


@value
def bushing_motion(rotation_a, link, numbers, whole, i):
    """Arms to the meeting point (origin of frame b), translation from rest, relative [omega; v] there, in axes of a."""
    a, b = whole[i, el.LINK_A], whole[i, el.LINK_B]
    arm_a, arm_b, way, rate = frames_apart(link, numbers, whole, i)
    omega_a = load3(link, a, at.OMEGA)
    spin = apply9_transposed(rotation_a, sub3(load3(link, b, at.OMEGA), omega_a))
    slide = apply9_transposed(rotation_a, sub3(rate, cross(omega_a, way)))
    shift = sub3(apply9_transposed(rotation_a, way), load3(numbers, i, el.REST))
    return add3(arm_a, way), arm_b, shift, spin, slide


@value
def cut_directions(link, numbers, whole, i):
    """Arms to the child's side of a cut joint, and the direction [n; f] along which one of its rates is measured."""
    p, k = whole[i, el.LINK_A], whole[i, el.LINK_B]
    parent = frame_rotation(link, numbers, i, p, el.FRAME_A)
    child = frame_rotation(link, numbers, i, k, el.FRAME_B)
    turn = add3(apply9(parent, load3(numbers, i, el.TURN_A)), apply9(child, load3(numbers, i, el.TURN_B)))
    arm_child = frame_offset(link, numbers, i, k, el.FRAME_B)
    arm_parent = sub3(add3(load3(link, k, at.ORIGIN), arm_child), load3(link, p, at.ORIGIN))
    return arm_parent, arm_child, turn, apply9(parent, load3(numbers, i, el.SLIDE_A))


@value
def cut_rate(link, whole, i, arm_parent, arm_child, turn, slide):
    """Rate of a cut joint along one of its free directions."""
    p, k = whole[i, el.LINK_A], whole[i, el.LINK_B]
    spin = sub3(load3(link, k, at.OMEGA), load3(link, p, at.OMEGA))
    return dot3(turn, spin) + dot3(slide, sub3(point_velocity(link, k, arm_child), point_velocity(link, p, arm_parent)))
