"""Closed-chain quantities as small dense tables, for controllers: J, M, b, and where each task is.

Free bodies at the root of their trees (hubs) are placed as one body, as in `loops`. No external wrench enters: a
controller does not know of any.
"""

from __future__ import annotations

import math

from multiarm.sweeps import control_layout as co
from multiarm.sweeps import layout as at
from multiarm.sweeps import loop_layout as lo
from multiarm.sweeps.closing import motion_of
from multiarm.sweeps.inward import gathered_force, gathered_inertia, pass_force, pass_inertia
from multiarm.sweeps.jit import step, value
from multiarm.sweeps.loops import cut_row, hub_frame, link_row, load_lane, place_all, settle_cut
from multiarm.sweeps.outward import weigh
from multiarm.sweeps.paths import path_at, rotation_vector
from multiarm.sweeps.values import (
    ZERO3,
    add3,
    add6,
    apply9,
    apply9_transposed,
    apply_sym6,
    axpy6,
    cross,
    dot6,
    gyroscopic_force,
    load3,
    load6,
    load9,
    load_sym6,
    mul9,
    quaternion_matrix,
    rigid_force,
    shift_force,
    shift_motion,
    store6,
    store_sym6,
    sub3,
)


@value
def part(desk, whole, name, size):
    """A vector on the desk."""
    return desk[whole[name] : whole[name] + size]


@value
def table(desk, whole, name, rows, columns):
    """A table on the desk."""
    return desk[whole[name] : whole[name] + rows * columns].reshape((rows, columns))


@value
def copy_vector(source, first, out):
    """Entries of a vector from `first` on into another; a slice assignment would compile its error messages too."""
    for j in range(len(out)):
        out[j] = source[first + j]


# ---------------------------------------------------------------------- sweeps


@step
def place_bodies(tree, link, loop, room, q, v):
    """Outward: where every link is and how it moves; one copy for all controllers."""
    place_all(tree, link, loop, room, q, v)


@step
def accelerate_all(tree, link, loop, room, a):
    """Outward: ALPHA of every link at accelerations a, gravity's pseudo-acceleration in it; needs `place_bodies`."""
    gravity = load6(link, 0, at.ZETA)
    store6(link, 0, at.ALPHA, gravity)
    for k in range(1, tree.shape[0]):
        role = loop[link_row(k), lo.ROLE]
        if role == lo.AXIS_OF_TREE:
            incoming = shift_motion(load3(link, k, at.OFFSET), load6(link, tree[k, at.PARENT], at.ALPHA))
            moved = axpy6(a[tree[k, at.V]], load6(link, k, at.AXIS), incoming)
            store6(link, k, at.ALPHA, add6(moved, load6(link, k, at.BIAS)))
        elif role == lo.HUB_BODY:
            rotation = hub_frame(loop, room, loop[link_row(k), lo.HUB])[0]
            j = tree[k, at.V] - 2
            angular = apply9(rotation, (a[j], a[j + 1], a[j + 2]))
            linear = apply9(rotation, (a[j + 3], a[j + 4], a[j + 5]))
            store6(link, k, at.ALPHA, add6((angular, linear), gravity))


@step
def spread(tree, link, loop, room, k, force, out):
    """Add what a force on link k at its origin does to every coordinate: H phi f."""
    f = force
    while k > 0:
        if loop[link_row(k), lo.ROLE] == lo.HUB_BODY:
            rotation = hub_frame(loop, room, loop[link_row(k), lo.HUB])[0]
            j = tree[k, at.V] - 2
            n, f = apply9_transposed(rotation, f[0]), apply9_transposed(rotation, f[1])
            for i in range(3):
                out[j + i] += n[i]
                out[j + 3 + i] += f[i]
            return
        out[tree[k, at.V]] += dot6(load6(link, k, at.AXIS), f)
        f = shift_force(load3(link, k, at.OFFSET), f)
        k = tree[k, at.PARENT]


@step
def weigh_all(tree, link, loop, room, a, mass, b):
    """Inward: b = M a + C by Newton and Euler, and M by composite bodies; needs `accelerate_all`."""
    mass[:, :] = 0.0
    b[:] = 0.0
    for k in range(tree.shape[0] - 1, 0, -1):
        role = loop[link_row(k), lo.ROLE]
        if role == lo.HUB_INNER:
            continue
        i, h, m = weigh(link, k, load9(link, k, at.ROTATION))
        composite = gathered_inertia(tree, link, k, i, h, m)
        own = add6(gyroscopic_force(i, h, load3(link, k, at.OMEGA)), rigid_force(i, h, m, load6(link, k, at.ALPHA)))
        f = add6(gathered_force(tree, link, k), own)
        store_sym6(link, k, at.ARTICULATED, composite)
        if role == lo.HUB_BODY:
            spread(tree, link, loop, room, k, f, b)
            weigh_hub(tree, link, loop, room, k, mass)
            continue
        j = tree[k, at.V]
        b[j] = dot6(load6(link, k, at.AXIS), f) + link[k, at.ARMATURE] * a[j]
        spread(tree, link, loop, room, k, apply_sym6(composite, load6(link, k, at.AXIS)), mass[j])
        mass[j, j] += link[k, at.ARMATURE]
        if tree[k, at.PARENT] > 0:
            pass_inertia(tree, link, k, composite)
            pass_force(tree, link, k, f)
    for j in range(mass.shape[0]):
        for i in range(j):  # a row holds its own axis and those before it in the tree: one of the two is zero
            mass[i, j] = mass[j, i] = mass[i, j] + mass[j, i]


@step
def weigh_hub(tree, link, loop, room, k, mass):
    """The 6 x 6 block of a hub: the upper triangle only, for the two sides are added up."""
    rotation = hub_frame(loop, room, loop[link_row(k), lo.HUB])[0]
    j = tree[k, at.V] - 2
    inertia = load_sym6(link, k, at.ARTICULATED)
    for i in range(6):
        unit = (rotation[i % 3], rotation[3 + i % 3], rotation[6 + i % 3])
        motion = (unit, ZERO3) if i < 3 else (ZERO3, unit)
        spread(tree, link, loop, room, k, apply_sym6(inertia, motion), mass[j + i])
        for other in range(i):
            mass[j + i, j + other] = 0.0


@step
def constraint_rows(tree, link, loop, cut, room, a, jacobian, missing):
    """J of every constraint row, and what J a still lacks; returns the number of rows. Needs `accelerate_all`."""
    r = 0
    for c in range(loop[0, lo.CUTS]):
        row = cut_row(loop, c)
        p, k = loop[row, lo.PARENT], loop[row, lo.CHILD]
        count = loop[row, lo.COUNT]
        for i in range(r, r + count):
            jacobian[i, :] = 0.0
        if loop[row, lo.KIND] == lo.COUPLING:
            if count > 0:
                jacobian[r, tree[k, at.V]] = 1.0
                jacobian[r, tree[p, at.V]] = -cut[c, lo.RATIO]
                missing[r] = cut[c, lo.RATIO] * a[tree[p, at.V]] - a[tree[k, at.V]]
        else:
            settle_cut(link, loop, cut, c)
            child, parent = load6(link, k, at.ALPHA), load6(link, p, at.ALPHA)
            for i in range(count):
                spread(tree, link, loop, room, k, load_lane(cut, c, lo.CHILD_FORCE, i), jacobian[r + i])
                spread(tree, link, loop, room, p, load_lane(cut, c, lo.PARENT_FORCE, i), jacobian[r + i])
                moved = motion_of(cut, c, i, lo.CHILD_FORCE, child) + motion_of(cut, c, i, lo.PARENT_FORCE, parent)
                missing[r + i] = cut[c, lo.WANT + i] - moved
        r += count
    return r


@value
def first_row(loop, c):
    """The first constraint row of cut c."""
    r = 0
    for other in range(c):
        r += loop[cut_row(loop, other), lo.COUNT]
    return r


# ---------------------------------------------------------------------- tasks


@value
def matrix_quaternion(r):
    """A quaternion of a rotation, not scaled; by its largest component (Shepperd 1978)."""
    trace = r[0] + r[4] + r[8]
    if trace > r[0] and trace > r[4] and trace > r[8]:
        return (r[7] - r[5], r[2] - r[6], r[3] - r[1], 1.0 + trace)
    if r[0] > r[4] and r[0] > r[8]:
        return (1.0 + 2.0 * r[0] - trace, r[1] + r[3], r[2] + r[6], r[7] - r[5])
    if r[4] > r[8]:
        return (r[1] + r[3], 1.0 + 2.0 * r[4] - trace, r[5] + r[7], r[2] - r[6])
    return (r[2] + r[6], r[5] + r[7], 1.0 + 2.0 * r[8] - trace, r[3] - r[1])


@value
def turn_between(now, wanted):
    """The rotation vector that takes one rotation to another, world axes."""
    x, y, z, w = matrix_quaternion(
        mul9(wanted, (now[0], now[3], now[6], now[1], now[4], now[7], now[2], now[5], now[8]))
    )
    scale = 1.0 / math.sqrt(x * x + y * y + z * z + w * w)
    return rotation_vector((scale * x, scale * y, scale * z, scale * w))


@value
def three_numbers(numbers, i):
    """A 3-vector from i."""
    return (numbers[i], numbers[i + 1], numbers[i + 2])


@value
def frame_numbers(numbers, i):
    """A rotation, row by row, and an origin from i."""
    rotation = (
        numbers[i], numbers[i + 1], numbers[i + 2], numbers[i + 3], numbers[i + 4], numbers[i + 5],
        numbers[i + 6], numbers[i + 7], numbers[i + 8],
    )  # fmt: skip
    return rotation, three_numbers(numbers, i + 9)


@value
def gain_times(numbers, i, x):
    """A 6 x 6 matrix from i, times a spatial vector."""
    return (
        add3(apply9(block(numbers, i), x[0]), apply9(block(numbers, i + 3), x[1])),
        add3(apply9(block(numbers, i + 18), x[0]), apply9(block(numbers, i + 21), x[1])),
    )


@value
def block(numbers, i):
    """A 3 x 3 block of a 6 x 6 matrix."""
    return (
        numbers[i], numbers[i + 1], numbers[i + 2], numbers[i + 6], numbers[i + 7], numbers[i + 8],
        numbers[i + 12], numbers[i + 13], numbers[i + 14],
    )  # fmt: skip


@value
def body_offset(link, numbers, k, place):
    """From the origin of link k to that of the body of a task, world axes."""
    return apply9(load9(link, k, at.ROTATION), frame_numbers(numbers, place + co.BODY)[1])


@step
def want(link, numbers, k, place, t):
    """What a task asks for: (acceleration of the path, gains on the errors), both [angular; linear], world axes."""
    quaternion, position, velocity, acceleration = path_at(numbers[place + co.PATH :], t)
    local, far = frame_numbers(numbers, place + co.BODY)
    rotation, omega = load9(link, k, at.ROTATION), load3(link, k, at.OMEGA)
    offset = apply9(rotation, far)
    now = add3(load3(link, k, at.ORIGIN), offset)
    speed = add3(load3(link, k, at.VELOCITY), cross(omega, offset))
    x, y, z, w = quaternion
    off = (turn_between(mul9(rotation, local), quaternion_matrix(x, y, z, w)), sub3(position, now))
    slow = (sub3(velocity[0], omega), sub3(velocity[1], speed))
    pull = add6(gain_times(numbers, place + co.FIRST_GAIN, off), gain_times(numbers, place + co.SECOND_GAIN, slow))
    return acceleration, pull


@value
def at_link(link, k, offset, acceleration):
    """Acceleration of a link's origin from that of a point fixed in it."""
    omega = load3(link, k, at.OMEGA)
    moved = add3(cross(acceleration[0], offset), cross(omega, cross(omega, offset)))
    return acceleration[0], sub3(acceleration[1], moved)


@value
def at_body(link, k, offset, acceleration):
    """Acceleration of a point fixed in a link from that of its origin."""
    omega = load3(link, k, at.OMEGA)
    moved = add3(cross(acceleration[0], offset), cross(omega, cross(omega, offset)))
    return acceleration[0], add3(acceleration[1], moved)


@step
def prefer_hub(tree, link, loop, room, k, acceleration, a):
    """Give the six coordinates of the hub that is link k an acceleration of its origin."""
    rotation = hub_frame(loop, room, loop[link_row(k), lo.HUB])[0]
    j = tree[k, at.V] - 2
    angular, linear = apply9_transposed(rotation, acceleration[0]), apply9_transposed(rotation, acceleration[1])
    for i in range(3):
        a[j + i], a[j + 3 + i] = angular[i], linear[i]


@step
def task_row(tree, link, loop, room, k, offset, i, out):
    """Row i of the Jacobian of a point fixed in link k: what a unit force there does."""
    out[:] = 0.0
    unit = (1.0 if i % 3 == 0 else 0.0, 1.0 if i % 3 == 1 else 0.0, 1.0 if i % 3 == 2 else 0.0)
    force = (unit, ZERO3) if i < 3 else (cross(offset, unit), unit)
    spread(tree, link, loop, room, k, force, out)
