"""Energy that force elements store, power that they turn into heat, and power that pushes bring in.

With them the energy balance closes: d/dt (kinetic + potential + stored) = tau . v + pushed - dissipated.
"""

from __future__ import annotations

import math

from multiarm.sweeps import element_layout as el
from multiarm.sweeps import layout as at
from multiarm.sweeps.element_motion import (
    bushing_motion,
    bushing_turn,
    cut_directions,
    cut_rate,
    frame_offset,
    frame_rotation,
    frames_apart,
    point_velocity,
    weighted,
)
from multiarm.sweeps.elements import friction_force, limit_depth, limit_force, push_wrench
from multiarm.sweeps.jit import kernel, step
from multiarm.sweeps.values import dot3, load3


@step
def bushing_energy(link, numbers, whole, i):
    """(theta* K theta + x* K x) / 2."""
    rotation = frame_rotation(link, numbers, i, whole[i, el.LINK_A], el.FRAME_A)
    theta = bushing_turn(rotation, link, numbers, whole, i)[0]
    shift = bushing_motion(rotation, link, numbers, whole, i)[2]
    turned = dot3(theta, weighted(numbers, i, el.STIFFNESS, theta))
    return 0.5 * (turned + dot3(shift, weighted(numbers, i, el.STIFFNESS + 3, shift)))


@step
def line_energy(link, numbers, whole, i):
    """k (L - L0)^2 / 2."""
    way = frames_apart(link, numbers, whole, i)[2]
    return 0.5 * numbers[i, el.STIFFNESS] * (math.sqrt(dot3(way, way)) - numbers[i, el.REST]) ** 2


@kernel
def element_energy(tree, link, numbers, whole, q):
    """Energy stored in all springs [J], NaN for a q of the wrong length; needs links that are placed."""
    if len(q) != tree[0, at.Q]:
        return math.nan
    energy = 0.0
    for i in range(whole.shape[0]):
        kind = whole[i, el.KIND]
        if kind == el.SPRING:
            energy += 0.5 * numbers[i, el.STIFFNESS] * (q[whole[i, el.Q]] - numbers[i, el.REST]) ** 2
        elif kind == el.LIMIT:
            depth = max(limit_depth(numbers, i, q[whole[i, el.Q]])[0], 0.0)
            energy += 0.5 * numbers[i, el.STIFFNESS] * depth * depth
        elif kind == el.LINE:
            energy += line_energy(link, numbers, whole, i)
        elif kind == el.BUSHING:
            energy += bushing_energy(link, numbers, whole, i)
    return energy


@step
def cut_loss_power(link, numbers, whole, i):
    """Heat of friction along a free direction of a cut joint."""
    arm_parent, arm_child, turn, slide = cut_directions(link, numbers, whole, i)
    rate = cut_rate(link, whole, i, arm_parent, arm_child, turn, slide)
    return -rate * friction_force(numbers, i, rate)


@step
def line_power(link, numbers, whole, i):
    """c L-dot^2; at length zero the ends part at their whole relative speed."""
    way, rate = frames_apart(link, numbers, whole, i)[2:]
    length = dot3(way, way)
    if length > 0.0:
        return numbers[i, el.DAMPING] * dot3(way, rate) ** 2 / length
    return numbers[i, el.DAMPING] * dot3(rate, rate)


@step
def bushing_power(link, numbers, whole, i):
    """omega* C omega + v* C v."""
    rotation = frame_rotation(link, numbers, i, whole[i, el.LINK_A], el.FRAME_A)
    spin, slide = bushing_motion(rotation, link, numbers, whole, i)[3:]
    turned = dot3(spin, weighted(numbers, i, el.DAMPING, spin))
    return turned + dot3(slide, weighted(numbers, i, el.DAMPING + 3, slide))


@kernel
def element_power(tree, link, numbers, whole, q, v):
    """Power that elements dissipate [W], not negative; NaN for wrong lengths; needs links that are placed.

    A limit that is left faster than its damper allows lets go, and what its spring still held is lost.
    """
    if len(q) != tree[0, at.Q] or len(v) != tree[0, at.V]:
        return math.nan
    power = 0.0
    for i in range(whole.shape[0]):
        kind = whole[i, el.KIND]
        if kind == el.FRICTION or kind == el.DAMPER:
            rate = v[whole[i, el.V]]
            power -= rate * friction_force(numbers, i, rate)
        elif kind == el.LIMIT:
            depth, back = limit_depth(numbers, i, q[whole[i, el.Q]])
            if depth > 0.0:
                leaving = back * v[whole[i, el.V]]
                power += leaving * (numbers[i, el.STIFFNESS] * depth - limit_force(numbers, i, depth, leaving))
        elif kind == el.CUT_LOSS:
            power += cut_loss_power(link, numbers, whole, i)
        elif kind == el.LINE:
            power += line_power(link, numbers, whole, i)
        elif kind == el.BUSHING:
            power += bushing_power(link, numbers, whole, i)
    return power


@kernel
def push_power(link, numbers, whole, t):
    """Power that pushes bring in [W]; needs links that are placed."""
    power = 0.0
    for i in range(whole.shape[0]):
        if whole[i, el.KIND] == el.PUSH or whole[i, el.KIND] == el.PUSH_TABLE:
            k = whole[i, el.LINK_A]
            n, f = push_wrench(link, numbers, whole, i, t)
            arm = frame_offset(link, numbers, i, k, el.FRAME_A)
            power += dot3(n, load3(link, k, at.OMEGA)) + dot3(f, point_velocity(link, k, arm))
    return power
