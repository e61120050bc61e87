"""Constraint forces that carry what has no actuator, and the torques that go with them."""

from __future__ import annotations

from multiarm.sweeps import control_layout as co
from multiarm.sweeps import layout as at
from multiarm.sweeps import loop_layout as lo
from multiarm.sweeps.carrying import first_row, part, table, three_numbers
from multiarm.sweeps.cholesky import back_table, factor_table, forward_table
from multiarm.sweeps.jit import step
from multiarm.sweeps.loops import cut_row, load_lane
from multiarm.sweeps.orthogonal import dependence, orthogonalise, reflect_back, substitute
from multiarm.sweeps.values import apply9, dot6, load9


@step
def set_internal(link, loop, cut, numbers, whole, multipliers):
    """lambda at its set-point: the internal wrenches, which turn with their objects."""
    for n in range(whole[co.INTERNALS]):
        place = whole[co.INTERNALS + 1] + co.INTERNAL_RECORD * n
        c, i = whole[place], whole[place + 1]
        rotation = load9(link, loop[cut_row(loop, c), lo.CHILD], at.ROTATION)
        wrench = (apply9(rotation, three_numbers(numbers, i)), apply9(rotation, three_numbers(numbers, i + 3)))
        r = first_row(loop, c)
        for lane in range(loop[cut_row(loop, c), lo.COUNT]):
            multipliers[r + lane] += dot6(load_lane(cut, c, lo.NORMALS, lane), wrench)


@step
def factor_support(whole, desk, rows, tolerance):
    """J_p* orthogonalised; returns its rank."""
    passive = whole[co.PASSIVE]
    jacobian = table(desk, whole, co.JACOBIAN, rows, whole[co.VELOCITIES])
    support = table(desk, whole, co.SUPPORT, passive, rows)
    beside = table(desk, whole, co.SUPPORT_RIGHT, 3, passive)
    for i in range(passive):
        j = whole[whole[co.PASSIVE + 1] + i]
        beside[1, i] = j
        for r in range(rows):
            support[i, r] = jacobian[r, j]
    return orthogonalise(support, beside[0], beside[1], beside[2], 0, passive, rows, tolerance)


@step
def find_falling(whole, desk, rows, rank):
    """Motions of the passive coordinates alone that the constraints allow, one per dependent row of J_p*."""
    nv, passive = whole[co.VELOCITIES], whole[co.PASSIVE]
    support = table(desk, whole, co.SUPPORT, passive, rows)
    beside = table(desk, whole, co.SUPPORT_RIGHT, 3, passive)
    falling = table(desk, whole, co.FALLING, passive, nv)
    shares = part(desk, whole, co.SPARE, nv)
    for n in range(rank, passive):
        motion = falling[n - rank]
        motion[:] = 0.0
        motion[int(beside[1, n])] = 1.0
        dependence(support, rank, n, shares)
        for i in range(rank):
            motion[int(beside[1, i])] = -shares[i]


@step
def drive(link, loop, cut, numbers, whole, desk, rows, rank):
    """tau = b - J* lambda in RAW, with lambda at its set-point but for what J_p* lambda = b_p demands."""
    nv, passive = whole[co.VELOCITIES], whole[co.PASSIVE]
    b, tau = part(desk, whole, co.FORCE, nv), part(desk, whole, co.RAW, nv)
    jacobian = table(desk, whole, co.JACOBIAN, rows, nv)
    support = table(desk, whole, co.SUPPORT, passive, rows)
    beside = table(desk, whole, co.SUPPORT_RIGHT, 3, passive)
    multipliers, y = part(desk, whole, co.MULTIPLIERS, rows), part(desk, whole, co.Y, rows)
    multipliers[:] = 0.0
    set_internal(link, loop, cut, numbers, whole, multipliers)
    for i in range(passive):
        j = int(beside[1, i])
        beside[0, i] = b[j]
        for r in range(rows):
            beside[0, i] -= jacobian[r, j] * multipliers[r]
    y[:] = 0.0
    substitute(support, beside[0], 0, rank, y)
    reflect_back(support, beside[2], rank, y, rows)
    for j in range(nv):
        tau[j] = b[j]
    for r in range(rows):
        multipliers[r] += y[r]
        for j in range(nv):
            tau[j] -= jacobian[r, j] * multipliers[r]
    for i in range(passive):
        tau[int(beside[1, i])] = 0.0


@step
def let_fall(whole, desk, count):
    """b of accelerations along the motions that nothing supports: Z* M Z w = -Z* b; whether they have inertia."""
    nv = whole[co.VELOCITIES]
    falling, mass = table(desk, whole, co.FALLING, count, nv), table(desk, whole, co.MASS, nv, nv)
    gram, moved = table(desk, whole, co.CHOLESKY, count, count), table(desk, whole, co.DIRECTIONS, count, nv)
    b, w = part(desk, whole, co.FORCE, nv), part(desk, whole, co.Y, count)
    for n in range(count):
        w[n] = 0.0
        for i in range(nv):
            w[n] -= falling[n, i] * b[i]
            moved[n, i] = 0.0
            for j in range(nv):
                moved[n, i] += mass[i, j] * falling[n, j]
        for other in range(n + 1):
            gram[n, other] = 0.0
            for i in range(nv):
                gram[n, other] += moved[n, i] * falling[other, i]
    if not factor_table(gram, 0.0, 0.0):
        return False
    forward_table(gram, w)
    back_table(gram, w)
    for n in range(count):
        for i in range(nv):
            b[i] += moved[n, i] * w[n]
    return True
