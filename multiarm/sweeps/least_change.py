"""The least change of accelerations, in the mass metric, for which constraints hold and tasks are done.

With M = L L*, rows R and x = L* (a - a0), R a = r becomes (L^-1 R*)* x = r - R a0, and the least x is sought.
"""

from __future__ import annotations

from multiarm.sweeps import control_layout as co
from multiarm.sweeps import layout as at
from multiarm.sweeps import loop_layout as lo
from multiarm.sweeps.carrying import at_body, body_offset, copy_vector, first_row, part, table, task_row
from multiarm.sweeps.jit import step
from multiarm.sweeps.loops import cut_row
from multiarm.sweeps.orthogonal import (
    fit,
    largest_left,
    orthogonalise,
    reflect_back,
    reflect_rows,
    reflect_vector,
    substitute,
)
from multiarm.sweeps.values import load6, sub6
from multiarm.sweeps.whitening import colour, factor_mass, whiten, whiten_motion

CONSISTENT = 1e-8  # of the accelerations asked for: what dependent rows may lack where tasks are met one by one
REACHABLE = 1e-8  # of the most mobile direction of the tasks: what counts as mobile at all


@step
def change_group(loop, whole, desk, rows, tolerance, place):
    """The least change of the velocities of one group that closes its loops; whether it can be had."""
    nv, count, cuts = whole[co.VELOCITIES], whole[place], whole[place + 1]
    change = part(desk, whole, co.CHANGE, nv)
    missing, jacobian = part(desk, whole, co.MISSING, rows), table(desk, whole, co.JACOBIAN, rows, nv)
    mass, cholesky = table(desk, whole, co.MASS, nv, nv), table(desk, whole, co.CHOLESKY, count, count)
    begin = part(desk, whole, co.BEGIN, count)
    for i in range(count):
        for j in range(i + 1):
            cholesky[i, j] = mass[whole[place + 2 + i], whole[place + 2 + j]]
    if not factor_mass(cholesky, begin):
        return False
    own = 0
    for c in range(cuts):
        own += loop[cut_row(loop, whole[place + 2 + count + c]), lo.COUNT]
    x, beside = table(desk, whole, co.DIRECTIONS, own, count), table(desk, whole, co.DIRECTIONS_RIGHT, 3, own)
    y = part(desk, whole, co.Y, count)
    n = 0
    largest = 0.0
    for c in range(cuts):
        which = whole[place + 2 + count + c]
        r = first_row(loop, which)
        for i in range(loop[cut_row(loop, which), lo.COUNT]):
            for j in range(count):
                x[n, j] = jacobian[r + i, whole[place + 2 + j]]
            whiten(cholesky, begin, x[n])
            beside[0, n] = missing[r + i]
            largest = max(largest, abs(missing[r + i]))
            n += 1
    done = orthogonalise(x, beside[0], beside[1], beside[2], 0, n, count, tolerance)
    y[:] = 0.0
    substitute(x, beside[0], 0, done, y)
    if not largest_left(x, beside[0], done, n, y) <= CONSISTENT * (1.0 + largest):
        return False
    reflect_back(x, beside[2], done, y, count)
    colour(cholesky, begin, y)
    for j in range(count):
        change[whole[place + 2 + j]] = y[j]
    return True


@step
def change_groups(loop, whole, desk, rows, tolerance):
    """Hubs with tasks accelerate as wanted, the rest follows group by group; whether all constraints can be met so."""
    part(desk, whole, co.CHANGE, whole[co.VELOCITIES])[:] = 0.0
    place = whole[co.GROUPS + 1]
    for _ in range(whole[co.GROUPS]):
        if not change_group(loop, whole, desk, rows, tolerance, place):
            return False
        place += 2 + whole[place] + whole[place + 1]
    return True


@step
def change_all(tree, link, loop, room, numbers, whole, desk, rows, rank, tolerance):
    """The least change in the mass metric, by priority: what falls, constraints, tasks; whether there is inertia.

    Of an impedance the response to its wrenches is added, which leaves the first two untouched.
    """
    nv, passive, tasks = whole[co.VELOCITIES], whole[co.PASSIVE], whole[co.TASKS]
    mass, cholesky = table(desk, whole, co.MASS, nv, nv), table(desk, whole, co.CHOLESKY, nv, nv)
    jacobian, missing = table(desk, whole, co.JACOBIAN, rows, nv), part(desk, whole, co.MISSING, rows)
    begin = part(desk, whole, co.BEGIN, nv)
    for j in range(nv):
        copy_vector(mass[j], 0, cholesky[j])
    if not factor_mass(cholesky, begin):
        return False
    height = passive + rows + 6 * tasks
    x, beside = table(desk, whole, co.DIRECTIONS, height, nv), table(desk, whole, co.DIRECTIONS_RIGHT, 3, height)
    right, tag, factor = beside[0], beside[1], beside[2]
    b, y = part(desk, whole, co.FORCE, nv), part(desk, whole, co.Y, nv)
    falling = table(desk, whole, co.FALLING, passive, nv)
    y[:] = 0.0
    for n in range(passive - rank):
        whiten_motion(cholesky, begin, falling[n], x[n])
        right[n] = 0.0
        for j in range(nv):
            right[n] -= falling[n, j] * b[j]
    done = orthogonalise(x, right, tag, factor, 0, passive - rank, nv, tolerance)
    substitute(x, right, 0, done, y)
    last = done + rows
    for r in range(rows):
        copy_vector(jacobian[r], 0, x[done + r])
        whiten(cholesky, begin, x[done + r])
        right[done + r] = missing[r]
    reflect_rows(x, factor, done, done, last, nv)
    first, done = done, orthogonalise(x, right, tag, factor, done, last, nv, tolerance)
    substitute(x, right, first, done, y)
    hard = done
    last = done + task_rows(tree, link, loop, room, numbers, whole, desk, cholesky, begin, x, right, done)
    reflect_rows(x, factor, done, done, last, nv)
    done = orthogonalise(x, right, tag, factor, hard, last, nv, REACHABLE)
    size = 6 * tasks
    fit(
        x, right, hard, done, last, y, table(desk, whole, co.FIT, size, size), table(desk, whole, co.FIT_SPARE, 4, size)
    )
    if whole[co.KIND] == co.IMPEDANCE:
        push = part(desk, whole, co.SPARE, nv)
        push_tasks(tree, link, loop, room, numbers, whole, desk, push)
        whiten(cholesky, begin, push)
        reflect_vector(x, factor, done, push, nv)
        for j in range(hard, nv):
            y[j] += push[j]
    reflect_back(x, factor, done, y, nv)
    colour(cholesky, begin, y)
    copy_vector(y, 0, part(desk, whole, co.CHANGE, nv))
    return True


@step
def task_rows(tree, link, loop, room, numbers, whole, desk, cholesky, begin, x, right, first):
    """Whitened Jacobians of the tasks' bodies from row `first`, and what their accelerations lack; how many rows."""
    gravity = load6(link, 0, at.ZETA)
    wanted = part(desk, whole, co.WANTED, 6 * whole[co.TASKS])
    for n in range(whole[co.TASKS]):
        place = whole[co.TASKS + 1] + co.TASK_RECORD * n
        k = whole[place]
        offset = body_offset(link, numbers, k, whole[place + 2])
        now = at_body(link, k, offset, sub6(load6(link, k, at.ALPHA), gravity))
        for i in range(6):
            task_row(tree, link, loop, room, k, offset, i, x[first + 6 * n + i])
            whiten(cholesky, begin, x[first + 6 * n + i])
        for i in range(3):
            right[first + 6 * n + i] = wanted[6 * n + i] - now[0][i]
            right[first + 6 * n + 3 + i] = wanted[6 * n + 3 + i] - now[1][i]
    return 6 * whole[co.TASKS]


@step
def push_tasks(tree, link, loop, room, numbers, whole, desk, out):
    """What the wrenches of an impedance on their bodies do to every coordinate."""
    out[:] = 0.0
    row = part(desk, whole, co.REST, whole[co.VELOCITIES])
    pushes = part(desk, whole, co.PUSH, 6 * whole[co.TASKS])
    for n in range(whole[co.TASKS]):
        place = whole[co.TASKS + 1] + co.TASK_RECORD * n
        k = whole[place]
        offset = body_offset(link, numbers, k, whole[place + 2])
        for i in range(6):
            task_row(tree, link, loop, room, k, offset, i, row)
            for j in range(len(out)):
                out[j] += row[j] * pushes[6 * n + i]
