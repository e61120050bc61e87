"""The structured solver: O(n) for the sweeps, O(l) for the grasp forces of l arms on one object."""

from __future__ import annotations

from multiarm.sweeps import layout as at
from multiarm.sweeps import loop_layout as lo
from multiarm.sweeps.blocks import factor_block, reduce_block, resolve_block
from multiarm.sweeps.closing import (
    applied,
    filter_all,
    hub_vector,
    make_correction,
    make_refinement,
    smooth_all,
    start_cuts,
)
from multiarm.sweeps.jit import kernel, step, value
from multiarm.sweeps.lifting import innovate, lift_cluster, press, white_table, widest_measure
from multiarm.sweeps.loops import cluster_row, hub_row, place_all, rank_tolerance
from multiarm.sweeps.outward import fits
from multiarm.sweeps.skyline import back_substitute, cholesky, first_unknown, forward_substitute
from multiarm.sweeps.splitting import (
    count_weak,
    factor_split,
    factor_weak,
    mark_idle,
    reduce_split,
    resolve_split,
    solve_weak,
)
from multiarm.sweeps.values import load6, load_sym6, sub6
from multiarm.sweeps.wide import factor_wide, reduce_wide, resolve_wide


@value
def write_symmetric(room, place, stride, p):
    """A symmetric 6x6 matrix into the system, whole."""
    a, b, c = p
    rows = (
        (a[0], a[1], a[2], b[0], b[1], b[2]),
        (a[1], a[3], a[4], b[3], b[4], b[5]),
        (a[2], a[4], a[5], b[6], b[7], b[8]),
        (b[0], b[3], b[6], c[0], c[1], c[2]),
        (b[1], b[4], b[7], c[1], c[3], c[4]),
        (b[2], b[5], b[8], c[2], c[4], c[5]),
    )
    for i in range(6):
        for j in range(6):
            room[place + stride * i + j] = rows[i][j]


@step
def start_system(tree, link, loop, room, right, tau):
    """Each hub on its own: P alpha = applied - z."""
    n, start = 6 * loop[0, lo.HUBS], loop[0, lo.SYSTEM]
    for h in range(loop[0, lo.HUBS]):
        k = loop[hub_row(loop, h), lo.HUB_LINK]
        for i in range(6 * h, 6 * h + 6):
            for j in range(first_unknown(loop, i), 6 * h):
                room[start + n * i + j] = 0.0
        write_symmetric(room, start + 6 * h * (n + 1), n, load_sym6(link, k, at.ARTICULATED))
        push = sub6(applied(tree, loop, room, tau, k), load6(link, k, at.FORCE))
        for i in range(3):
            right[6 * h + i], right[6 * h + 3 + i] = push[0][i], push[1][i]


@value
def factor_all(tree, link, loop, cut, room, white):
    """Every cluster factored where that is sound, split where not; returns whether any was split."""
    split = False
    for g in range(loop[0, lo.CLUSTERS]):
        row = cluster_row(loop, g)
        lift_cluster(tree, link, loop, cut, white, g)
        if loop[row, lo.CLUSTER_CUTS] == 1:
            loop[row, lo.METHOD] = lo.BLOCK
            sound = factor_block(link, loop, cut, room, white, g)
        else:
            loop[row, lo.METHOD] = lo.WIDE
            sound = factor_wide(link, loop, cut, room, white, g)
        if not sound:
            loop[row, lo.METHOD] = lo.SPLIT
            factor_split(link, loop, cut, room, white, g)
            split = True
    return split


@step
def solve_all(link, loop, cut, room, right, weak):
    """Multipliers and innovations for the present WANT, added to those before; the hubs' accelerations in `right`."""
    white = white_table(loop, room)
    for g in range(loop[0, lo.CLUSTERS]):
        row = cluster_row(loop, g)
        if loop[row, lo.METHOD] == lo.BLOCK:
            reduce_block(loop, cut, right, loop[row, lo.FIRST_CUT])
        elif loop[row, lo.METHOD] == lo.WIDE:
            reduce_wide(loop, cut, room, right, g)
        else:
            reduce_split(loop, cut, room, right, g)
    forward_substitute(loop, room, right)
    back_substitute(loop, room, right)
    if weak > 0:
        solve_weak(link, loop, room, weak, right)
    for g in range(loop[0, lo.CLUSTERS]):
        row = cluster_row(loop, g)
        if loop[row, lo.METHOD] == lo.BLOCK:
            resolve_block(loop, cut, right, loop[row, lo.FIRST_CUT])
        elif loop[row, lo.METHOD] == lo.WIDE:
            resolve_wide(loop, cut, room, right, g)
        else:
            resolve_split(link, loop, cut, room, right, g)
        press(loop, cut, g)
        if loop[row, lo.METHOD] != lo.SPLIT:
            innovate(link, loop, cut, white, g)


correct = make_correction(solve_all)
refine = make_refinement(correct)


@step
def factorise(tree, link, loop, cut, room, q, v, tau):
    """Everything up to the first solution: places, filter, clusters and hubs factored; returns (status, weak).

    Sweeps: outward places, inward filter (5.16), inward unit forces of the cuts (6.3).
    """
    place_all(tree, link, loop, room, q, v)
    bad = filter_all(tree, link, loop, tau)
    if bad != 0:
        return bad, 0
    start_system(tree, link, loop, room, hub_vector(loop, room), tau)
    start_cuts(link, loop, cut)
    split = factor_all(tree, link, loop, cut, room, white_table(loop, room))
    bad = cholesky(loop, room)
    if bad != 0:
        return loop[hub_row(loop, (bad - 1) // 6), lo.HUB_LINK], 0
    weak = idle = 0
    if split:
        weak = count_weak(loop, room)
        if weak > 0:
            idle = factor_weak(loop, room, weak, rank_tolerance(link, loop, cut), widest_measure(link, loop, cut))
            mark_idle(loop, cut, room, weak)
    loop[0, lo.RANK] = loop[0, lo.ROWS] - idle
    return 0, weak


@kernel
def structured(tree, link, loop, cut, room, q, v, tau, out):
    """theta'' and the multipliers of every cut, the accelerations of hubs unknown beside them; O(n) + O(l).

    K lambda + E alpha = want for each cluster of cuts, P alpha - E* lambda = applied - z for each hub: the clusters are
    eliminated, which adds their reflected inertia E* K^-1 E to the hubs', and the hubs solved for. Sweeps: those of
    `factorise`, outward smoother (5.17).
    """
    if not fits(tree, len(q), len(v), len(tau), len(out)):
        return at.WRONG_LENGTH
    status, weak = factorise(tree, link, loop, cut, room, q, v, tau)
    if status != 0:
        return status
    right = hub_vector(loop, room)
    solve_all(link, loop, cut, room, right, weak)
    smooth_all(tree, link, loop, room, right, out)
    if weak > 0:
        refine(tree, link, loop, cut, room, weak, out)
    return 0
