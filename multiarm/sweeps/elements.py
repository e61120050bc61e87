"""Forces of springs, dampers, friction, limits, bushings and pushes, added to joint forces and wrenches on links.

Every function reads where the links are and how they move (ROTATION, ORIGIN, OMEGA, VELOCITY: `kinematics.locate` or
`loops.place_all`), so the elements go between placing the links and filtering.
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
    rotation_gradient,
    weighted,
)
from multiarm.sweeps.jit import kernel, step, value
from multiarm.sweeps.outward import fits
from multiarm.sweeps.values import (
    ZERO6,
    add3,
    add6,
    apply9,
    dot3,
    load6,
    scale3,
    scale6,
    shift_force,
    store6,
)


@value
def push_link(link, k, arm, wrench):
    """Add a wrench that acts `arm` away from the origin of link k; the world feels none."""
    if k > 0:
        store6(link, k, at.EXTERNAL, add6(load6(link, k, at.EXTERNAL), shift_force(arm, wrench)))


@value
def friction_force(numbers, i, rate):
    """-(damping rate + coulomb tanh(rate / speed))."""
    force = -numbers[i, el.DAMPING] * rate
    if numbers[i, el.COULOMB] > 0.0:
        force -= numbers[i, el.COULOMB] * math.tanh(rate / numbers[i, el.SPEED])
    return force


@value
def limit_depth(numbers, i, x):
    """How far a coordinate is past its limit, and the way back (+1 or -1)."""
    below, above = numbers[i, el.LOWER] - x, x - numbers[i, el.UPPER]
    if below > above:
        return below, 1.0
    return above, -1.0


@value
def limit_force(numbers, i, depth, leaving):
    """max(0, k depth - c leaving), `leaving` the speed on the way back; none inside the range."""
    if depth <= 0.0:
        return 0.0
    return max(0.0, numbers[i, el.STIFFNESS] * depth - numbers[i, el.DAMPING] * leaving)


@value
def line_tension(numbers, i, way, rate):
    """What a line spring-damper pulls frame a with: (k (L - L0) + c L-dot) way / L; False where that has no direction.

    Of a line without rest length it is k way + c rate at L = 0, its limit from both sides.
    """
    length, rest = math.sqrt(dot3(way, way)), numbers[i, el.REST]
    if length > 0.0:
        pull = numbers[i, el.STIFFNESS] * (length - rest) + numbers[i, el.DAMPING] * (dot3(way, rate) / length)
        return scale3(pull / length, way), True
    return scale3(numbers[i, el.DAMPING], rate), rest == 0.0


@value
def push_share(numbers, whole, i, t):
    """Which part of a push acts at time t."""
    start, stop = numbers[i, el.START], numbers[i, el.STOP]
    if t < start:
        return 0.0
    if whole[i, el.SHAPE] == el.RAMP:
        return min((t - start) / (stop - start), 1.0)
    if t >= stop:
        return 0.0
    if whole[i, el.SHAPE] == el.HALF_SINE:
        return math.sin(math.pi * ((t - start) / (stop - start)))
    return 1.0


@value
def sample_wrench(numbers, whole, i, t):
    """The wrench of a table at time t, linear between samples, none before the first and after the last."""
    low, high = whole[i, el.FIRST], whole[i, el.FIRST] + whole[i, el.COUNT] - 1
    if t < numbers[low, el.TIME] or t > numbers[high, el.TIME]:
        return ZERO6
    while high - low > 1:
        middle = (low + high) // 2
        if numbers[middle, el.TIME] <= t:
            low = middle
        else:
            high = middle
    share = (t - numbers[low, el.TIME]) / (numbers[high, el.TIME] - numbers[low, el.TIME])
    before, after = load6(numbers, low, el.SAMPLE), load6(numbers, high, el.SAMPLE)
    return add6(scale6(1.0 - share, before), scale6(share, after))


@value
def push_wrench(link, numbers, whole, i, t):
    """The wrench of a push at its frame's origin, world axes."""
    if whole[i, el.KIND] == el.PUSH:
        wrench = scale6(push_share(numbers, whole, i, t), load6(numbers, i, el.WRENCH))
    else:
        wrench = sample_wrench(numbers, whole, i, t)
    if whole[i, el.TURNS] == 0:
        return wrench
    rotation = frame_rotation(link, numbers, i, whole[i, el.LINK_A], el.FRAME_A)
    return (apply9(rotation, wrench[0]), apply9(rotation, wrench[1]))


@step
def apply_cut_loss(link, numbers, whole, i):
    """Equal and opposite wrenches of friction along a free direction of a cut joint."""
    arm_parent, arm_child, turn, slide = cut_directions(link, numbers, whole, i)
    force = friction_force(numbers, i, cut_rate(link, whole, i, arm_parent, arm_child, turn, slide))
    push_link(link, whole[i, el.LINK_B], arm_child, scale6(force, (turn, slide)))
    push_link(link, whole[i, el.LINK_A], arm_parent, scale6(-force, (turn, slide)))


@step
def apply_line(link, numbers, whole, i):
    """Equal and opposite forces along the line between two frames; False where it has no direction."""
    arm_a, arm_b, way, rate = frames_apart(link, numbers, whole, i)
    pull, sound = line_tension(numbers, i, way, rate)
    push_link(link, whole[i, el.LINK_A], arm_a, (ZERO6[0], pull))
    push_link(link, whole[i, el.LINK_B], arm_b, (ZERO6[0], scale3(-1.0, pull)))
    return sound


@step
def apply_bushing(link, numbers, whole, i):
    """Equal and opposite wrenches at the origin of frame b: -(J* K theta + C omega) and -(K x + C v) in axes of a."""
    rotation = frame_rotation(link, numbers, i, whole[i, el.LINK_A], el.FRAME_A)
    theta, curve = bushing_turn(rotation, link, numbers, whole, i)
    arm_a, arm_b, shift, spin, slide = bushing_motion(rotation, link, numbers, whole, i)
    torque = rotation_gradient(theta, curve, weighted(numbers, i, el.STIFFNESS, theta))
    torque = apply9(rotation, add3(torque, weighted(numbers, i, el.DAMPING, spin)))
    force = add3(weighted(numbers, i, el.STIFFNESS + 3, shift), weighted(numbers, i, el.DAMPING + 3, slide))
    force = apply9(rotation, force)
    push_link(link, whole[i, el.LINK_A], arm_a, (torque, force))
    push_link(link, whole[i, el.LINK_B], arm_b, (scale3(-1.0, torque), scale3(-1.0, force)))


@step
def apply_push(link, numbers, whole, i, t):
    """A wrench from outside, moved to the link's origin."""
    k = whole[i, el.LINK_A]
    push_link(link, k, frame_offset(link, numbers, i, k, el.FRAME_A), push_wrench(link, numbers, whole, i, t))


@kernel
def apply_elements(tree, link, numbers, whole, t, q, v, tau):
    """Add what every element does to `tau` and to the wrenches EXTERNAL on the links; needs links that are placed.

    Returns 0, WRONG_LENGTH, or ENDS_MEET - i for a line i with a rest length whose ends have met.
    """
    if not fits(tree, len(q), len(v), len(tau)):
        return at.WRONG_LENGTH
    status = 0
    for i in range(whole.shape[0]):
        kind = whole[i, el.KIND]
        if kind == el.FRICTION:
            tau[whole[i, el.V]] += friction_force(numbers, i, v[whole[i, el.V]])
        elif kind == el.DAMPER:
            tau[whole[i, el.V]] -= numbers[i, el.DAMPING] * v[whole[i, el.V]]
        elif kind == el.SPRING:
            tau[whole[i, el.V]] -= numbers[i, el.STIFFNESS] * (q[whole[i, el.Q]] - numbers[i, el.REST])
        elif kind == el.LIMIT:
            depth, back = limit_depth(numbers, i, q[whole[i, el.Q]])
            tau[whole[i, el.V]] += back * limit_force(numbers, i, depth, back * v[whole[i, el.V]])
        elif kind == el.CUT_LOSS:
            apply_cut_loss(link, numbers, whole, i)
        elif kind == el.LINE:
            if not apply_line(link, numbers, whole, i):
                status = el.ENDS_MEET - i
        elif kind == el.BUSHING:
            apply_bushing(link, numbers, whole, i)
        else:
            apply_push(link, numbers, whole, i, t)
    return status
