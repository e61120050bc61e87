"""Clusters that one block of pivots cannot serve: several cuts, fewer axes than rows, or an arm near a singularity.

The white rows A = D^-1/2 H psi B of a cluster are turned among themselves until they are orthogonal (one-sided Jacobi),
which gives the eigenvectors of K = A A* with all digits of the small ones. Strong directions reflect inertia at the
hubs as a block does. Weak ones stay unknown: with S = L L* the system of the hubs, E their reach and s their size they
obey (s^2 + E S^-1 E*) mu = right, whose factor [L^-1 E*; s] is turned once more. So an answer passes through a
singularity without a jump, and what no acceleration depends on takes its least value. The weak directions of all
clusters are turned together: O(w^3) for w of them, so many arms with too few joints cost more than O(l).
"""

from __future__ import annotations

import math

from multiarm.sweeps import layout as at
from multiarm.sweeps import loop_layout as lo
from multiarm.sweeps.blocks import FAINT, STRONG
from multiarm.sweeps.jit import step, value
from multiarm.sweeps.lifting import full_measure
from multiarm.sweeps.loops import cluster_row, cut_row, link_row
from multiarm.sweeps.skyline import back_substitute, first_unknown, forward_substitute

ORTHOGONAL = 1e-15
TURNS = 40
NOTHING = 1e-30  # square of a share that is rounding: nothing depends on such a direction of all clusters together


@value
def table(room, place, rows, columns):
    """Part of `room` as a table."""
    return room[place : place + rows * columns].reshape((rows, columns))


@value
def product(x, y):
    """Inner product of two vectors."""
    total = 0.0
    for i in range(len(x)):
        total += x[i] * y[i]
    return total


@value
def turn(x, y, c, s):
    """Turn two vectors into each other."""
    for i in range(len(x)):
        x[i], y[i] = c * x[i] - s * y[i], s * x[i] + c * y[i]


@step
def orthogonalise(a, v, nothing):
    """Turn the rows of `a` until they are orthogonal, and those of `v` with them: one-sided Jacobi.

    Rows whose square is not above `nothing` of the largest are left as they are.
    """
    rows = a.shape[0]
    v[:, :] = 0.0
    for i in range(rows):
        v[i, i] = 1.0
    for _ in range(TURNS):
        worst = largest = 0.0
        for p in range(rows):
            largest = max(largest, product(a[p], a[p]))
        for p in range(rows):
            for q in range(p + 1, rows):
                alpha, beta, gamma = product(a[p], a[p]), product(a[q], a[q]), product(a[p], a[q])
                size = math.sqrt(alpha * beta)
                if not abs(gamma) > ORTHOGONAL * size or min(alpha, beta) <= nothing * largest:
                    continue
                worst = max(worst, abs(gamma) / size)
                zeta = (beta - alpha) / (2.0 * gamma)
                t = math.copysign(1.0, zeta) / (abs(zeta) + math.sqrt(1.0 + zeta * zeta))
                c = 1.0 / math.sqrt(1.0 + t * t)
                turn(a[p], a[q], c, c * t)
                turn(v[p], v[q], c, c * t)
        if worst <= 1e-14:
            break


@value
def split_tables(loop, room, g):
    """Of cluster g: the rows' combinations V, their reach E at all hubs, size squared, and right-hand side."""
    row = cluster_row(loop, g)
    m, n, place = loop[row, lo.CLUSTER_ROWS], 6 * loop[0, lo.HUBS], loop[row, lo.PLACE]
    v = table(room, place, m, m)
    reach = table(room, place + m * m, m, n)
    sizes = room[place + m * (m + n) : place + m * (m + n + 1)]
    right = room[place + m * (m + n + 1) : place + m * (m + n + 2)]
    return v, reach, sizes, right


@value
def felt_table(loop, room, g):
    """Of cluster g: D^-1/2 H psi B, one row per constraint row."""
    row = cluster_row(loop, g)
    m, n = loop[row, lo.CLUSTER_ROWS], 6 * loop[0, lo.HUBS]
    return table(room, loop[row, lo.PLACE] + m * (m + n + 2), m, loop[row, lo.AXES])


@step
def factor_split(link, loop, cut, room, white, g):
    """Split cluster g into strong and weak directions; the strong ones reflect inertia at the hubs."""
    row = cluster_row(loop, g)
    v, reach, sizes, _ = split_tables(loop, room, g)
    felt = felt_table(loop, room, g)
    gather_reach(loop, cut, reach, g)
    i = 0
    for c in range(loop[row, lo.FIRST_CUT], loop[row, lo.FIRST_CUT] + loop[row, lo.CLUSTER_CUTS]):
        record = cut_row(loop, c)
        for lane in range(loop[record, lo.COUNT]):
            k, axis = loop[row, lo.FIRST_AXIS], 0
            while k > 0:
                scale = math.sqrt(link[k, at.D_INVERSE])
                felt[i, axis] = scale * white[k, lo.LANES * loop[record, lo.SLOT] + lane]
                k, axis = loop[link_row(k), lo.NEXT_AXIS], axis + 1
            i += 1
    orthogonalise(felt, v, 0.0)
    for i in range(len(sizes)):
        sizes[i] = product(felt[i], felt[i])
    combine(loop, room, v, reach)
    largest = 0.0
    for i in range(len(sizes)):
        largest = max(largest, sizes[i])
    enough = max(STRONG * largest, FAINT * full_measure(link, loop, cut, g))
    for i in range(len(sizes)):
        if sizes[i] > enough:
            reflect_row(loop, room, reach[i], 1.0 / sizes[i])
        else:
            sizes[i] = -sizes[i]  # the sign tells weak from strong


@value
def add_reach(cut, c, column, lane, hub, reach, i):
    """What a row of cut c brings to a hub."""
    if hub >= 0:
        for a in range(6):
            reach[i, 6 * hub + a] += cut[c, column + lo.LANES * a + lane]


@value
def gather_reach(loop, cut, reach, g):
    """E of cluster g: what each of its rows brings to all hubs."""
    row = cluster_row(loop, g)
    reach[:, :] = 0.0
    for c in range(loop[row, lo.FIRST_CUT], loop[row, lo.FIRST_CUT] + loop[row, lo.CLUSTER_CUTS]):
        record = cut_row(loop, c)
        for lane in range(loop[record, lo.COUNT]):
            i = loop[record, lo.LOCAL_ROW] + lane
            add_reach(cut, c, lo.CHILD_FORCE, lane, loop[record, lo.CHILD_HUB], reach, i)
            add_reach(cut, c, lo.PARENT_FORCE, lane, loop[record, lo.PARENT_HUB], reach, i)


@value
def combine(loop, room, v, reach):
    """reach <- V reach."""
    m = v.shape[0]
    spare = room[loop[0, lo.WEAK] : loop[0, lo.WEAK] + m]
    for j in range(reach.shape[1]):
        for i in range(m):
            total = 0.0
            for k in range(m):
                total += v[i, k] * reach[k, j]
            spare[i] = total
        for i in range(m):
            reach[i, j] = spare[i]


@value
def reflect_row(loop, room, e, scale):
    """Add e e* times `scale` to the system, inside its envelope."""
    n, start = 6 * loop[0, lo.HUBS], loop[0, lo.SYSTEM]
    for i in range(n):
        if e[i] != 0.0:
            for j in range(first_unknown(loop, i), 6 * (i // 6) + 6):
                room[start + n * i + j] += scale * e[i] * e[j]


@step
def reduce_split(loop, cut, room, right, g):
    """V want, and what its strong part drives at the hubs (added to `right`)."""
    row = cluster_row(loop, g)
    v, reach, sizes, want = split_tables(loop, room, g)
    for i in range(len(sizes)):
        total, j = 0.0, 0
        for c in range(loop[row, lo.FIRST_CUT], loop[row, lo.FIRST_CUT] + loop[row, lo.CLUSTER_CUTS]):
            for lane in range(loop[cut_row(loop, c), lo.COUNT]):
                total += v[i, j] * cut[c, lo.WANT + lane]
                j += 1
        want[i] = total
        if sizes[i] > 0.0:
            for a in range(len(right)):
                right[a] += reach[i, a] * total / sizes[i]


@value
def drive_axes(link, loop, room, g, i, amount):
    """Add direction i of cluster g, times `amount`, to the innovations."""
    felt = felt_table(loop, room, g)
    k, axis = loop[cluster_row(loop, g), lo.FIRST_AXIS], 0
    while k > 0:
        link[k, at.NU] += math.sqrt(link[k, at.D_INVERSE]) * felt[i, axis] * amount
        k, axis = loop[link_row(k), lo.NEXT_AXIS], axis + 1


@step
def resolve_split(link, loop, cut, room, alpha, g):
    """CHANGE = V* mu, mu = (V want - E alpha) / s^2 where strong; weak ones are in place of `want`."""
    row = cluster_row(loop, g)
    v, reach, sizes, want = split_tables(loop, room, g)
    for i in range(len(sizes)):
        if sizes[i] > 0.0:
            want[i] = (want[i] - product(reach[i], alpha)) / sizes[i]
            drive_axes(link, loop, room, g, i, want[i])
    j = 0
    for c in range(loop[row, lo.FIRST_CUT], loop[row, lo.FIRST_CUT] + loop[row, lo.CLUSTER_CUTS]):
        for lane in range(loop[cut_row(loop, c), lo.COUNT]):
            total = 0.0
            for i in range(len(sizes)):
                total += v[i, j] * want[i]
            cut[c, lo.CHANGE + lane] = total
            j += 1


# ---------------------------------------------------------------------- weak directions of all clusters together


@value
def weak_tables(loop, room, weak):
    """[L^-1 E*; s] row by row, the turns made with it, their sizes, and two vectors to work with."""
    n, place = 6 * loop[0, lo.HUBS], loop[0, lo.WEAK]
    z = table(room, place, weak, n + weak)
    v = table(room, place + weak * (n + weak), weak, weak)
    place += weak * (n + 2 * weak)
    return z, v, room[place : place + weak], room[place + weak : place + 2 * weak], room[place + 2 * weak :]


@value
def is_split(loop, g):
    """Whether cluster g was split."""
    return loop[cluster_row(loop, g), lo.METHOD] == lo.SPLIT


@step
def count_weak(loop, room):
    """Number of weak directions of all clusters."""
    weak = 0
    for g in range(loop[0, lo.CLUSTERS]):
        if is_split(loop, g):
            sizes = split_tables(loop, room, g)[2]
            for i in range(len(sizes)):
                weak += not sizes[i] > 0.0
    return weak


@step
def factor_weak(loop, room, weak, tolerance, scale):
    """Turn the factor of the weak directions; returns how many of them nothing depends on (size 0 from then on).

    Those are the directions below `tolerance` of the largest, `scale` being the square of what the strong ones reach.
    """
    n = 6 * loop[0, lo.HUBS]
    z, v, sizes, _, _ = weak_tables(loop, room, weak)
    z[:, :] = 0.0
    w = 0
    for g in range(loop[0, lo.CLUSTERS]):
        if is_split(loop, g):
            _, reach, squares, _ = split_tables(loop, room, g)
            for i in range(len(squares)):
                if not squares[i] > 0.0:
                    z[w, :n] = reach[i]
                    forward_substitute(loop, room, z[w])
                    z[w, n + w] = math.sqrt(-squares[i])
                    w += 1
    orthogonalise(z, v, NOTHING)
    for w in range(weak):
        sizes[w] = product(z[w], z[w])
        scale = max(scale, sizes[w])
    idle = 0
    for w in range(weak):
        if not sizes[w] > tolerance * tolerance * scale:
            sizes[w] = 0.0
            idle += 1
    return idle


@step
def solve_weak(link, loop, room, weak, alpha):
    """Weak multipliers in place of their `want`; what they do is added to alpha of the hubs and to the innovations.

    The multipliers of a combination are as much larger than what they do as the combination is small, so what they do
    is taken from the turned factor itself: computed from the multipliers it would be lost in their rounding.
    """
    z, v, sizes, y, x = weak_tables(loop, room, weak)
    w = 0
    for g in range(loop[0, lo.CLUSTERS]):
        if is_split(loop, g):
            _, reach, squares, want = split_tables(loop, room, g)
            for i in range(len(squares)):
                if not squares[i] > 0.0:
                    y[w] = want[i] - product(reach[i], alpha)
                    w += 1
    for i in range(weak):
        x[i] = product(v[i], y) / sizes[i] if sizes[i] > 0.0 else 0.0
    n = len(alpha)
    push = room[loop[0, lo.SPARE] : loop[0, lo.SPARE] + n]
    push[:] = 0.0
    for j in range(weak):
        for a in range(n):
            push[a] += z[j, a] * x[j]
    back_substitute(loop, room, push)
    for a in range(n):
        alpha[a] += push[a]
    w = 0
    for g in range(loop[0, lo.CLUSTERS]):
        if is_split(loop, g):
            _, _, squares, want = split_tables(loop, room, g)
            for i in range(len(squares)):
                if not squares[i] > 0.0:
                    want[i] = done = 0.0
                    for j in range(weak):
                        want[i] += v[j, w] * x[j]
                        done += z[j, n + w] * x[j]
                    if squares[i] < 0.0:
                        drive_axes(link, loop, room, g, i, done / math.sqrt(-squares[i]))
                    w += 1


@step
def mark_idle(loop, cut, room, weak):
    """FREE of every multiplier: how much of it the directions that nothing depends on contain."""
    _, v, sizes, _, _ = weak_tables(loop, room, weak)
    for j in range(weak):
        if sizes[j] > 0.0:
            continue
        w = 0
        for g in range(loop[0, lo.CLUSTERS]):
            if not is_split(loop, g):
                continue
            row = cluster_row(loop, g)
            rows, _, squares, _ = split_tables(loop, room, g)
            first, column = w, 0
            for c in range(loop[row, lo.FIRST_CUT], loop[row, lo.FIRST_CUT] + loop[row, lo.CLUSTER_CUTS]):
                for lane in range(loop[cut_row(loop, c), lo.COUNT]):
                    total, w = 0.0, first
                    for i in range(len(squares)):
                        if not squares[i] > 0.0:
                            total += v[j, w] * rows[i, column]
                            w += 1
                    cut[c, lo.FREE + lane] += total * total
                    column += 1
