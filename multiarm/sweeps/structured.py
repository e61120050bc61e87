"""The structured solver: O(n) for the sweeps, O(l) for the grasp forces of l arms on one object."""

from __future__ import annotations

from multiarm.sweeps import layout as at
from multiarm.sweeps import loop_layout as lo
from multiarm.sweeps.blocks import factor_block, reduce_block, resolve_block
from multiarm.sweeps.forward import filter_with_bias
from multiarm.sweeps.inward import (
    along_rotation,
    along_screw,
    along_slide,
    gathered_force,
    gathered_inertia,
    own_bias_force,
)
from multiarm.sweeps.jit import kernel, step, value
from multiarm.sweeps.lifting import innovate, lift_cluster
from multiarm.sweeps.loops import (
    cluster_row,
    cut_row,
    hub_frame,
    hub_row,
    largest_gap,
    link_row,
    load_lane,
    place_all,
    settle_cut,
)
from multiarm.sweeps.outward import fits, weigh
from multiarm.sweeps.skyline import back_substitute, cholesky, first_unknown, forward_substitute
from multiarm.sweeps.splitting import (
    count_weak,
    factor_split,
    factor_weak,
    mark_idle,
    reduce_split,
    resolve_split,
    solve_weak,
    split_tables,
)
from multiarm.sweeps.values import (
    add6,
    apply9,
    apply9_transposed,
    axpy6,
    dot6,
    load3,
    load6,
    load9,
    load_sym6,
    shift_motion,
    store6,
    store_sym6,
    sub6,
)

# Share of the largest singular value below which a row counts as redundant, on the constraints.
RANK_TOLERANCE = 1e-10
MOST_STEPS = 12


@value
def gather_hub(tree, link, k):
    """P and z of a hub: what hangs on it, and its own."""
    i, h, m = weigh(link, k, load9(link, k, at.ROTATION))
    store_sym6(link, k, at.ARTICULATED, gathered_inertia(tree, link, k, i, h, m))
    store6(link, k, at.FORCE, add6(gathered_force(tree, link, k), own_bias_force(link, k, i, h)))


@value
def filter_all(tree, link, loop, tau):
    """Inward: the articulated-body filter of FD4 up to the hubs; returns a link whose D is not positive, or 0."""
    bad = 0
    for k in range(tree.shape[0] - 1, 0, -1):
        role = loop[link_row(k), lo.ROLE]
        if role == lo.HUB_INNER:
            continue
        if role == lo.HUB_BODY:
            gather_hub(tree, link, k)
            continue
        kind = tree[k, at.KIND]
        if kind == at.PRISMATIC:
            margin = filter_with_bias(tree, link, k, tau, along_slide)
        elif kind == at.SCREW:
            margin = filter_with_bias(tree, link, k, tau, along_screw)
        else:
            margin = filter_with_bias(tree, link, k, tau, along_rotation)
        if bad == 0 and not margin > 0.0:
            bad = k
    return bad


@value
def applied(tree, loop, room, tau, k):
    """The force of tau on the hub that is link k, world axes at its origin."""
    rotation = hub_frame(loop, room, loop[link_row(k), lo.HUB])[0]
    j = tree[k, at.V] - 2
    n = apply9(rotation, (tau[j], tau[j + 1], tau[j + 2]))
    return n, apply9(rotation, (tau[j + 3], tau[j + 4], tau[j + 5]))


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
def start_system(tree, link, loop, room, right, alpha, tau):
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
            alpha[6 * h + i] = alpha[6 * h + 3 + i] = 0.0


@step
def smooth_all(tree, link, loop, room, alpha, out):
    """Outward: theta'' = nu - G* alpha+ and the links' accelerations, hubs from the solution of their system."""
    store6(link, 0, at.ALPHA, load6(link, 0, at.ZETA))
    for k in range(1, tree.shape[0]):
        role = loop[link_row(k), lo.ROLE]
        if role == lo.HUB_INNER:
            continue
        if role == lo.HUB_BODY:
            release_hub(tree, link, loop, room, alpha, out, k)
            continue
        incoming = shift_motion(load3(link, k, at.OFFSET), load6(link, tree[k, at.PARENT], at.ALPHA))
        acceleration = link[k, at.NU] - link[k, at.D_INVERSE] * dot6(load6(link, k, at.U), incoming)
        moved = axpy6(acceleration, load6(link, k, at.AXIS), incoming)
        store6(link, k, at.ALPHA, add6(moved, load6(link, k, at.BIAS)))
        out[tree[k, at.V]] = acceleration


@value
def release_hub(tree, link, loop, room, alpha, out, k):
    """Acceleration of a hub, and of its six coordinates: true ones, in the axes its velocities are given in."""
    h = loop[link_row(k), lo.HUB]
    i = 6 * h
    found = ((alpha[i], alpha[i + 1], alpha[i + 2]), (alpha[i + 3], alpha[i + 4], alpha[i + 5]))
    store6(link, k, at.ALPHA, found)
    true = sub6(found, load6(link, 0, at.ZETA))
    rotation = hub_frame(loop, room, h)[0]
    j = tree[k, at.V] - 2
    out[j], out[j + 1], out[j + 2] = apply9_transposed(rotation, true[0])
    out[j + 3], out[j + 4], out[j + 5] = apply9_transposed(rotation, true[1])


@value
def start_cuts(link, loop, cut):
    """Rows and goals of every cut, multipliers at zero."""
    for c in range(loop[0, lo.CUTS]):
        if loop[cut_row(loop, c), lo.KIND] == lo.JOINT:
            settle_cut(link, loop, cut, c)
        else:
            cut[c, lo.WANT] = 0.0
        for i in range(lo.LANES):
            cut[c, lo.LAMBDA + i] = 0.0
            cut[c, lo.FREE + i] = 0.0


@value
def motion_of(cut, c, lane, column, acceleration):
    """Work of the unit force of a lane on a spatial acceleration."""
    return dot6(load_lane(cut, c, column, lane), acceleration)


@step
def want_left(tree, link, loop, cut, out):
    """WANT of every row at the accelerations found: what is still missing; returns the largest."""
    largest = 0.0
    for c in range(loop[0, lo.CUTS]):
        row = cut_row(loop, c)
        p, k = loop[row, lo.PARENT], loop[row, lo.CHILD]
        if loop[row, lo.KIND] == lo.COUPLING:
            cut[c, lo.WANT] = cut[c, lo.RATIO] * out[tree[p, at.V]] - out[tree[k, at.V]]
        else:
            settle_cut(link, loop, cut, c)
            for i in range(loop[row, lo.COUNT]):
                moved = motion_of(cut, c, i, lo.CHILD_FORCE, load6(link, k, at.ALPHA))
                cut[c, lo.WANT + i] -= moved + motion_of(cut, c, i, lo.PARENT_FORCE, load6(link, p, at.ALPHA))
        for i in range(loop[row, lo.COUNT]):
            largest = max(largest, abs(cut[c, lo.WANT + i]))
    return largest


@value
def factor_all(tree, link, loop, cut, room, white):
    """Every cluster by one block of pivots where that is sound, split where not; returns whether any was split."""
    split = False
    for g in range(loop[0, lo.CLUSTERS]):
        row = cluster_row(loop, g)
        lift_cluster(tree, link, loop, cut, white, g)
        loop[row, lo.METHOD] = lo.BLOCK
        if loop[row, lo.CLUSTER_CUTS] > 1 or not factor_block(link, loop, cut, room, white, g):
            loop[row, lo.METHOD] = lo.SPLIT
            factor_split(link, loop, cut, room, white, g)
            split = True
    return split


@step
def solve_all(link, loop, cut, room, white, right, alpha, weak):
    """Multipliers and hubs' accelerations for the present WANT and right-hand side, added to those before."""
    for g in range(loop[0, lo.CLUSTERS]):
        row = cluster_row(loop, g)
        if loop[row, lo.METHOD] == lo.BLOCK:
            reduce_block(loop, cut, right, loop[row, lo.FIRST_CUT])
        else:
            reduce_split(loop, cut, room, right, g)
    if weak > 0:
        spare = room[loop[0, lo.SPARE] : loop[0, lo.SPARE] + len(right)]
        spare[:] = right
        forward_substitute(loop, room, spare)
        back_substitute(loop, room, spare)
        solve_weak(loop, room, weak, spare, right)
    forward_substitute(loop, room, right)
    back_substitute(loop, room, right)
    for g in range(loop[0, lo.CLUSTERS]):
        row = cluster_row(loop, g)
        if loop[row, lo.METHOD] == lo.BLOCK:
            resolve_block(loop, cut, right, loop[row, lo.FIRST_CUT])
        else:
            resolve_split(loop, cut, room, right, g)
        innovate(link, loop, cut, white, g)
    for i in range(len(alpha)):
        alpha[i] += right[i]


@step
def strongest(loop, cut, room):
    """Largest square that a strong direction of any cluster reaches."""
    largest = 0.0
    for g in range(loop[0, lo.CLUSTERS]):
        row = cluster_row(loop, g)
        if loop[row, lo.METHOD] == lo.BLOCK:
            for i in range(loop[cut_row(loop, loop[row, lo.FIRST_CUT]), lo.COUNT]):
                largest = max(largest, 1.0 / cut[loop[row, lo.FIRST_CUT], lo.FACTORS + 15 + i])
        else:
            sizes = split_tables(loop, room, g)[2]
            for i in range(len(sizes)):
                largest = max(largest, sizes[i])
    return largest


@step
def refine(tree, link, loop, cut, room, white, right, alpha, weak, out):
    """Solve again for what is still missing, as long as that helps: weak directions take several steps."""
    left = want_left(tree, link, loop, cut, out)
    for _ in range(MOST_STEPS):
        if left == 0.0:
            break
        right[:] = 0.0
        solve_all(link, loop, cut, room, white, right, alpha, weak)
        smooth_all(tree, link, loop, room, alpha, out)
        before, left = left, want_left(tree, link, loop, cut, out)
        if not left < 0.5 * before:
            break


@kernel
def structured(tree, link, loop, cut, room, q, v, tau, out):
    """theta'' and the multipliers of every cut, the accelerations of hubs unknown beside them; O(n) + O(l).

    K lambda + E alpha = want for each cluster of cuts, P alpha - E* lambda = applied - z for each hub: the clusters are
    eliminated, which adds their reflected inertia E* K^-1 E to the hubs', and the hubs solved for. Sweeps: outward
    places, inward filter (5.16), inward unit forces of the cuts (6.3), outward smoother (5.17).
    """
    if not fits(tree, len(q), len(v), len(tau), len(out)):
        return at.WRONG_LENGTH
    place_all(tree, link, loop, room, q, v)
    bad = filter_all(tree, link, loop, tau)
    if bad != 0:
        return bad
    links, width, n = loop[0, lo.LINKS], loop[0, lo.WIDTH], 6 * loop[0, lo.HUBS]
    white = room[loop[0, lo.WHITE] : loop[0, lo.WHITE] + links * width].reshape((links, width))
    right = room[loop[0, lo.RIGHT] : loop[0, lo.RIGHT] + n]
    alpha = room[loop[0, lo.ALPHA] : loop[0, lo.ALPHA] + n]
    start_system(tree, link, loop, room, right, alpha, tau)
    start_cuts(link, loop, cut)
    split = factor_all(tree, link, loop, cut, room, white)
    bad = cholesky(loop, room)
    if bad != 0:
        return loop[hub_row(loop, (bad - 1) // 6), lo.HUB_LINK]
    weak = idle = 0
    if split:
        weak = count_weak(loop, room)
        if weak > 0:
            tolerance = max(RANK_TOLERANCE, 10.0 * largest_gap(link, loop, cut))
            idle = factor_weak(loop, room, weak, tolerance, strongest(loop, cut, room))
            mark_idle(loop, cut, room, weak)
    loop[0, lo.RANK] = loop[0, lo.ROWS] - idle
    solve_all(link, loop, cut, room, white, right, alpha, weak)
    smooth_all(tree, link, loop, room, alpha, out)
    if weak > 0:
        refine(tree, link, loop, cut, room, white, right, alpha, weak, out)
    return 0
