"""Omega = J M^-1 J* of all cuts together, as RCCFD1 to RCCFD3 have it: formed, factored and solved in O(rows^3).

Each entry is a sum over the axes that feel both rows, and over the hubs that both reach: A M(C)^-1 A* of JPL 88-11-II
(3.4) is the part of a hub that nothing else hangs on. Where pivots are weak, the factor of Omega (what axes and hubs
feel of each row) is turned until its rows are orthogonal, which tells redundant rows from weak ones.
"""

from __future__ import annotations

import math

from multiarm.sweeps import layout as at
from multiarm.sweeps import loop_layout as lo
from multiarm.sweeps.blocks import FAINT, STRONG
from multiarm.sweeps.cholesky import back_table, factor_table, forward_table
from multiarm.sweeps.closing import applied, filter_all, start_cuts
from multiarm.sweeps.jit import step, value
from multiarm.sweeps.lifting import couple_on_axes, innovate, lift_cluster, white_table, widest_measure
from multiarm.sweeps.loops import cluster_row, cut_row, hub_row, link_row, place_all, rank_tolerance
from multiarm.sweeps.six import back_six, factor_six, forward_six, load_factors, load_six, scale_six, store_factors
from multiarm.sweeps.splitting import NOTHING, add_reach, orthogonalise, product, table
from multiarm.sweeps.values import load6, load_sym6, sub6

LANES = lo.LANES


@value
def omega_tables(loop, room):
    """Omega (then its factor), the factor that axes and hubs give, the turns made with it, sizes and two vectors."""
    rows, place = loop[0, lo.ROWS], loop[0, lo.WEAK]
    width = loop[0, lo.LINKS] + 6 * loop[0, lo.HUBS]
    omega = table(room, place, rows, rows)
    felt = table(room, place + rows * rows, rows, width)
    v = table(room, place + rows * (rows + width), rows, rows)
    place += rows * (2 * rows + width)
    return omega, felt, v, room[place : place + rows], room[place + rows : place + 2 * rows], room[place + 2 * rows :]


@value
def upper_of(p):
    """A symmetric 6x6 matrix (A, B, C) as its upper triangle row by row."""
    a, b, c = p
    return (
        a[0], a[1], a[2], b[0], b[1], b[2], a[3], a[4], b[3], b[4], b[5], a[5], b[6], b[7], b[8],
        c[0], c[1], c[2], c[3], c[4], c[5],
    )  # fmt: skip


@step
def factor_hubs(link, loop, room):
    """P = L L* of every hub, L kept with the roots of its pivots; returns the link of one without inertia, or 0."""
    for h in range(loop[0, lo.HUBS]):
        k = loop[hub_row(loop, h), lo.HUB_LINK]
        factors, p, sound = factor_six(upper_of(load_sym6(link, k, at.ARTICULATED)), 0.0)
        if not sound:
            return k
        roots = (math.sqrt(p[0]), math.sqrt(p[1]), math.sqrt(p[2]), math.sqrt(p[3]), math.sqrt(p[4]), math.sqrt(p[5]))
        store_factors(room, loop[0, lo.SYSTEM] + 36 * h, factors, roots)
    return 0


@step
def push_hubs(tree, link, loop, room, right, tau):
    """L^-1 (applied - z) of every hub: the innovations of its six axes."""
    for h in range(loop[0, lo.HUBS]):
        k = loop[hub_row(loop, h), lo.HUB_LINK]
        factors, roots = load_factors(room, loop[0, lo.SYSTEM] + 36 * h)
        n, f = sub6(applied(tree, loop, room, tau, k), load6(link, k, at.FORCE))
        pushed = scale_six(roots, forward_six(factors, (n[0], n[1], n[2], f[0], f[1], f[2])))
        for i in range(6):
            right[6 * h + i] = pushed[i]


@step
def release_hubs(loop, room, right):
    """alpha = L^-* of the innovations of every hub, in their place."""
    for h in range(loop[0, lo.HUBS]):
        factors, roots = load_factors(room, loop[0, lo.SYSTEM] + 36 * h)
        found = back_six(factors, scale_six(roots, load_six(right, 6 * h)))
        for i in range(6):
            right[6 * h + i] = found[i]


@value
def weigh_reach(cut, c, force, reach, rows, room, place):
    """L^-1 of what each row brings to a hub."""
    factors, roots = load_factors(room, place)
    x = cut[c]
    for lane in range(rows):
        i = force + lane
        e = (x[i], x[i + LANES], x[i + 2 * LANES], x[i + 3 * LANES], x[i + 4 * LANES], x[i + 5 * LANES])
        y = scale_six(roots, forward_six(factors, e))
        for a in range(6):
            x[reach + LANES * a + lane] = y[a]


@step
def weigh_reaches(loop, cut, room):
    """What every row brings to its hubs, as their innovations see it."""
    for c in range(loop[0, lo.CUTS]):
        row = cut_row(loop, c)
        if loop[row, lo.CHILD_HUB] >= 0:
            place = loop[0, lo.SYSTEM] + 36 * loop[row, lo.CHILD_HUB]
            weigh_reach(cut, c, lo.CHILD_FORCE, lo.CHILD_REACH, loop[row, lo.COUNT], room, place)
        if loop[row, lo.PARENT_HUB] >= 0:
            place = loop[0, lo.SYSTEM] + 36 * loop[row, lo.PARENT_HUB]
            weigh_reach(cut, c, lo.PARENT_FORCE, lo.PARENT_REACH, loop[row, lo.COUNT], room, place)


@value
def couple_at_hub(loop, cut, omega, c, first, d, second):
    """Add what two cuts have in common at a hub."""
    i0, j0 = loop[cut_row(loop, c), lo.FIRST_ROW], loop[cut_row(loop, d), lo.FIRST_ROW]
    for i in range(loop[cut_row(loop, c), lo.COUNT]):
        for j in range(loop[cut_row(loop, d), lo.COUNT]):
            total = 0.0
            for a in range(6):
                total += cut[c, first + LANES * a + i] * cut[d, second + LANES * a + j]
            if i0 >= j0:  # cuts stand by cluster, rows in the order of the model
                omega[i0 + i, j0 + j] += total
            else:
                omega[j0 + j, i0 + i] += total


@step
def form_omega(link, loop, cut, room, white):
    """Omega from what axes and hubs feel, below the diagonal and on it."""
    omega = omega_tables(loop, room)[0]
    omega[:, :] = 0.0
    for c in range(loop[0, lo.CUTS]):
        row = cut_row(loop, c)
        for d in range(c + 1):
            other = cut_row(loop, d)
            if loop[row, lo.CHILD_HUB] >= 0:
                if loop[other, lo.CHILD_HUB] == loop[row, lo.CHILD_HUB]:
                    couple_at_hub(loop, cut, omega, c, lo.CHILD_REACH, d, lo.CHILD_REACH)
                if loop[other, lo.PARENT_HUB] == loop[row, lo.CHILD_HUB]:
                    couple_at_hub(loop, cut, omega, c, lo.CHILD_REACH, d, lo.PARENT_REACH)
            if loop[row, lo.PARENT_HUB] >= 0:
                if loop[other, lo.CHILD_HUB] == loop[row, lo.PARENT_HUB]:
                    couple_at_hub(loop, cut, omega, c, lo.PARENT_REACH, d, lo.CHILD_REACH)
                if loop[other, lo.PARENT_HUB] == loop[row, lo.PARENT_HUB]:
                    couple_at_hub(loop, cut, omega, c, lo.PARENT_REACH, d, lo.PARENT_REACH)
    for g in range(loop[0, lo.CLUSTERS]):
        couple_on_axes(link, loop, omega, white, g, lo.FIRST_ROW)


@step
def turn_omega(link, loop, cut, room, white):
    """Make the rows of the factor of Omega orthogonal; marks what is indeterminate, returns the rank."""
    _, felt, v, sizes, _, _ = omega_tables(loop, room)
    felt[:, :] = 0.0
    links = loop[0, lo.LINKS]
    for g in range(loop[0, lo.CLUSTERS]):
        row = cluster_row(loop, g)
        for c in range(loop[row, lo.FIRST_CUT], loop[row, lo.FIRST_CUT] + loop[row, lo.CLUSTER_CUTS]):
            record = cut_row(loop, c)
            for lane in range(loop[record, lo.COUNT]):
                i = loop[record, lo.FIRST_ROW] + lane
                k = loop[row, lo.FIRST_AXIS]
                while k > 0:
                    felt[i, k] = math.sqrt(link[k, at.D_INVERSE]) * white[k, LANES * loop[record, lo.SLOT] + lane]
                    k = loop[link_row(k), lo.NEXT_AXIS]
                add_reach(cut, c, lo.CHILD_REACH, lane, loop[record, lo.CHILD_HUB], felt[:, links:], i)
                add_reach(cut, c, lo.PARENT_REACH, lane, loop[record, lo.PARENT_HUB], felt[:, links:], i)
    orthogonalise(felt, v, NOTHING)
    largest = widest_measure(link, loop, cut)
    for i in range(len(sizes)):
        sizes[i] = product(felt[i], felt[i])
        largest = max(largest, sizes[i])
    tolerance = rank_tolerance(link, loop, cut)
    rank = 0
    for i in range(len(sizes)):
        if sizes[i] > tolerance * tolerance * largest:
            rank += 1
            continue
        sizes[i] = 0.0
        for c in range(loop[0, lo.CUTS]):
            for lane in range(loop[cut_row(loop, c), lo.COUNT]):
                cut[c, lo.FREE + lane] += v[i, loop[cut_row(loop, c), lo.FIRST_ROW] + lane] ** 2
    return rank


@step
def solve_omega(loop, cut, room, turned):
    """CHANGE = Omega^-1 WANT, least in norm where Omega has been turned; added to the multipliers."""
    omega, _, v, sizes, y, x = omega_tables(loop, room)
    rows = len(y)
    for c in range(loop[0, lo.CUTS]):
        for lane in range(loop[cut_row(loop, c), lo.COUNT]):
            y[loop[cut_row(loop, c), lo.FIRST_ROW] + lane] = cut[c, lo.WANT + lane]
    if turned:
        for i in range(rows):
            x[i] = product(v[i], y) / sizes[i] if sizes[i] > 0.0 else 0.0
        for j in range(rows):
            y[j] = 0.0
            for i in range(rows):
                y[j] += v[i, j] * x[i]
    else:
        forward_table(omega, y)
        back_table(omega, y)
    for c in range(loop[0, lo.CUTS]):
        for lane in range(loop[cut_row(loop, c), lo.COUNT]):
            cut[c, lo.CHANGE + lane] = y[loop[cut_row(loop, c), lo.FIRST_ROW] + lane]
            cut[c, lo.LAMBDA + lane] += cut[c, lo.CHANGE + lane]


@step
def spread(link, loop, cut, room, right):
    """Add what CHANGE does to the innovations of the axes and of the hubs."""
    for g in range(loop[0, lo.CLUSTERS]):
        innovate(link, loop, cut, white_table(loop, room), g)
    for c in range(loop[0, lo.CUTS]):
        row = cut_row(loop, c)
        for a in range(6):
            for lane in range(loop[row, lo.COUNT]):
                s = cut[c, lo.CHANGE + lane]
                if loop[row, lo.CHILD_HUB] >= 0:
                    right[6 * loop[row, lo.CHILD_HUB] + a] += s * cut[c, lo.CHILD_REACH + LANES * a + lane]
                if loop[row, lo.PARENT_HUB] >= 0:
                    right[6 * loop[row, lo.PARENT_HUB] + a] += s * cut[c, lo.PARENT_REACH + LANES * a + lane]


@step
def spread_turned(link, loop, room, right):
    """The same from the turned factor: computed from multipliers of weak directions it would be lost in rounding."""
    _, felt, _, sizes, _, x = omega_tables(loop, room)
    links = loop[0, lo.LINKS]
    for i in range(len(sizes)):
        for k in range(1, links):
            if felt[i, k] != 0.0:
                link[k, at.NU] += math.sqrt(link[k, at.D_INVERSE]) * felt[i, k] * x[i]
        for a in range(len(right)):
            right[a] += felt[i, links + a] * x[i]


@step
def solve_all(link, loop, cut, room, right, turned):
    """Multipliers and innovations for the present WANT, added to those before; the hubs' accelerations in `right`."""
    solve_omega(loop, cut, room, turned)
    if turned:
        spread_turned(link, loop, room, right)
    else:
        spread(link, loop, cut, room, right)
    release_hubs(loop, room, right)


@step
def want_beside_hubs(loop, cut, right):
    """Take from WANT what the innovations of the hubs already give."""
    for c in range(loop[0, lo.CUTS]):
        row = cut_row(loop, c)
        for a in range(6):
            for lane in range(loop[row, lo.COUNT]):
                if loop[row, lo.CHILD_HUB] >= 0:
                    given = cut[c, lo.CHILD_REACH + LANES * a + lane] * right[6 * loop[row, lo.CHILD_HUB] + a]
                    cut[c, lo.WANT + lane] -= given
                if loop[row, lo.PARENT_HUB] >= 0:
                    given = cut[c, lo.PARENT_REACH + LANES * a + lane] * right[6 * loop[row, lo.PARENT_HUB] + a]
                    cut[c, lo.WANT + lane] -= given


@step
def prepare(tree, link, loop, cut, room, right, q, v, tau):
    """Everything up to the factors of Omega, free innovations in NU and `right`.

    Returns (status, whether Omega had to be turned); RANK is set.
    """
    place_all(tree, link, loop, room, q, v)
    bad = filter_all(tree, link, loop, tau)
    if bad == 0:
        bad = factor_hubs(link, loop, room)
    if bad != 0:
        return bad, False
    white = white_table(loop, room)
    push_hubs(tree, link, loop, room, right, tau)
    start_cuts(link, loop, cut)
    for g in range(loop[0, lo.CLUSTERS]):
        lift_cluster(tree, link, loop, cut, white, g)
    weigh_reaches(loop, cut, room)
    form_omega(link, loop, cut, room, white)
    loop[0, lo.RANK] = loop[0, lo.ROWS]
    if factor_table(omega_tables(loop, room)[0], STRONG, FAINT * widest_measure(link, loop, cut)):
        return 0, False
    loop[0, lo.RANK] = turn_omega(link, loop, cut, room, white)
    return 0, True
