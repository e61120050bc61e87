"""Torques from controllers that run inside compiled code: one entry for all kinds.

Closed-chain control is inverse dynamics with constraints. Accelerations: a = a0 + the least change in the mass metric
for which the constraints hold, J a = gamma, the motions that no actuator reaches obey the equations of motion, and the
bodies with a task accelerate as wanted; what cannot all be met gives way in the reverse of that order, in least squares
for the tasks. Torques: with b = M a + C, the rows of b without actuator are supplied by the constraint forces,
J_p* lambda = b_p, by the least change of lambda from its set-point (N and N m alike, wrenches at the cuts), and
tau = b - J* lambda for the others.
"""

from __future__ import annotations

from multiarm.sweeps import control_layout as co
from multiarm.sweeps import layout as at
from multiarm.sweeps import loop_layout as lo
from multiarm.sweeps.carrying import (
    accelerate_all,
    at_link,
    body_offset,
    constraint_rows,
    part,
    place_bodies,
    prefer_hub,
    table,
    three_numbers,
    want,
    weigh_all,
)
from multiarm.sweeps.jit import kernel, step, value
from multiarm.sweeps.joint_reference import prefer
from multiarm.sweeps.least_change import change_all, change_groups
from multiarm.sweeps.loops import rank_tolerance
from multiarm.sweeps.outward import fits
from multiarm.sweeps.supporting import drive, factor_support, find_falling, let_fall


@step
def want_all(tree, link, loop, room, numbers, whole, desk, t):
    """Wanted accelerations and wrenches of all tasks, and those of hubs among the preferred accelerations."""
    a = part(desk, whole, co.ACCELERATION, whole[co.VELOCITIES])
    wanted = part(desk, whole, co.WANTED, 6 * whole[co.TASKS])
    pushes = part(desk, whole, co.PUSH, 6 * whole[co.TASKS])
    for n in range(whole[co.TASKS]):
        place = whole[co.TASKS + 1] + co.TASK_RECORD * n
        k = whole[place]
        acceleration, pull = want(link, numbers, k, whole[place + 2], t)
        share = 1.0 if whole[co.KIND] == co.COMPUTED_TORQUE else 0.0  # of the pull that is an acceleration
        for i in range(3):
            wanted[6 * n + i] = acceleration[0][i] + share * pull[0][i]
            wanted[6 * n + 3 + i] = acceleration[1][i] + share * pull[1][i]
            pushes[6 * n + i], pushes[6 * n + 3 + i] = pull[0][i], pull[1][i]
        if whole[place + 1] >= 0:
            asked = (three_numbers(wanted, 6 * n), three_numbers(wanted, 6 * n + 3))
            offset = body_offset(link, numbers, k, whole[place + 2])
            prefer_hub(tree, link, loop, room, k, at_link(link, k, offset, asked), a)


@value
def add_response(mass, change, b):
    """b + M (a - a0)."""
    for j in range(len(b)):
        if change[j] != 0.0:
            for i in range(len(b)):
                b[i] += mass[j, i] * change[j]


@step
def joint_pd(tree, link, loop, cut, room, numbers, whole, desk, t, q, v):
    """kp (q_ref - q) + kd (v_ref - v), and the weight of arms and objects, shared by the least constraint forces.

    What nothing supports falls: its motions obey the equations of motion with the actuated joints held.
    """
    nv, passive = whole[co.VELOCITIES], whole[co.PASSIVE]
    tau, a, rest = part(desk, whole, co.RAW, nv), part(desk, whole, co.ACCELERATION, nv), part(desk, whole, co.REST, nv)
    b, mass = part(desk, whole, co.FORCE, nv), table(desk, whole, co.MASS, nv, nv)
    rest[:] = 0.0
    a[:] = 0.0
    place_bodies(tree, link, loop, room, q, rest)
    accelerate_all(tree, link, loop, room, a)
    most = loop[0, lo.ROWS]
    jacobian, missing = table(desk, whole, co.JACOBIAN, most, nv), part(desk, whole, co.MISSING, most)
    rows = constraint_rows(tree, link, loop, cut, room, a, jacobian, missing)
    weigh_all(tree, link, loop, room, a, mass, b)
    rank = factor_support(whole, desk, rows, rank_tolerance(link, loop, cut))
    if whole[co.GRAVITY] == 0:
        b[:] = 0.0
    elif rank < passive:
        find_falling(whole, desk, rows, rank)
        if not let_fall(whole, desk, passive - rank):
            return co.NO_INERTIA
    drive(link, loop, cut, numbers, whole, desk, rows, rank)
    prefer(numbers, whole, desk, t, q, v, a)
    for j in range(nv):
        tau[j] += a[j]
    return 0


@step
def carry(tree, link, loop, cut, room, numbers, whole, desk, t, q, v):
    """Computed torque, or the impedance of objects: tau for the accelerations that the tasks ask for."""
    nv, passive = whole[co.VELOCITIES], whole[co.PASSIVE]
    a, b, change = (
        part(desk, whole, co.ACCELERATION, nv),
        part(desk, whole, co.FORCE, nv),
        part(desk, whole, co.CHANGE, nv),
    )
    mass = table(desk, whole, co.MASS, nv, nv)
    place_bodies(tree, link, loop, room, q, v)
    prefer(numbers, whole, desk, t, q, v, a)
    want_all(tree, link, loop, room, numbers, whole, desk, t)
    accelerate_all(tree, link, loop, room, a)
    most = loop[0, lo.ROWS]
    jacobian, missing = table(desk, whole, co.JACOBIAN, most, nv), part(desk, whole, co.MISSING, most)
    rows = constraint_rows(tree, link, loop, cut, room, a, jacobian, missing)
    weigh_all(tree, link, loop, room, a, mass, b)
    tolerance = rank_tolerance(link, loop, cut)
    rank = factor_support(whole, desk, rows, tolerance)
    direct = whole[co.DIRECT] == 1 and rank == passive
    if not (direct and change_groups(loop, whole, desk, rows, tolerance)):
        find_falling(whole, desk, rows, rank)
        if not change_all(tree, link, loop, room, numbers, whole, desk, rows, rank, tolerance):
            return co.NO_INERTIA
    add_response(mass, change, b)
    for j in range(nv):
        a[j] += change[j]
    drive(link, loop, cut, numbers, whole, desk, rows, rank)
    return 0


@kernel
def control(tree, link, loop, cut, room, numbers, whole, desk, t, q, v, tau):
    """Write the torques of a controller to `tau` and return 0, WRONG_LENGTH or NO_INERTIA.

    `numbers` and `whole` are what the controller packs into, `desk` is memory to work in, whose first nv entries are
    then the torques before they were limited. `link`, `cut` and `room` are overwritten, and nothing is read from them
    that an earlier call has left; external wrenches on the links are not looked at.
    """
    if whole[co.KIND] == co.NONE:
        tau[:] = 0.0
        return 0
    if not fits(tree, len(q), len(v), len(tau), whole[co.VELOCITIES]) or len(desk) < whole[co.DESK]:
        return at.WRONG_LENGTH
    if whole[co.KIND] == co.JOINT_PD:
        status = joint_pd(tree, link, loop, cut, room, numbers, whole, desk, t, q, v)
    else:
        status = carry(tree, link, loop, cut, room, numbers, whole, desk, t, q, v)
    for j in range(len(tau)):
        limit, wanted = numbers[whole[co.LIMITS] + j], desk[whole[co.RAW] + j]
        tau[j] = limit if wanted > limit else -limit if wanted < -limit else wanted
    return status
