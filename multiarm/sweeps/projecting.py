"""Back onto the constraints by the least change in the mass metric: J delta = -gap, delta = M^-1 J* lambda.

That is the system of the closed chain without forces and bias, so its factors serve: those of the state before a change
are close enough for the change of positions to be repeated, and for the velocities afterwards.
"""

from __future__ import annotations

from multiarm.sweeps import layout as at
from multiarm.sweeps import loop_layout as lo
from multiarm.sweeps.closing import motion_of, smooth_change
from multiarm.sweeps.jit import step, value
from multiarm.sweeps.lifting import white_table
from multiarm.sweeps.loops import cut_row, frame_of, gap_of, load_lane, place_all, settle_cut
from multiarm.sweeps.manifold import advance
from multiarm.sweeps.structured import factorise, solve_all
from multiarm.sweeps.values import add3, load3, sub3

CLOSED = 1e-14  # m or rad: where repeating stops
MOST = 8


@step
def want_closed(tree, link, loop, cut, q):
    """WANT = -gap of every row, to first order; returns the largest gap [m or rad]."""
    largest = 0.0
    for c in range(loop[0, lo.CUTS]):
        row = cut_row(loop, c)
        p, k = loop[row, lo.PARENT], loop[row, lo.CHILD]
        if loop[row, lo.KIND] == lo.COUPLING:
            cut[c, lo.WANT] = cut[c, lo.RATIO] * q[tree[p, at.Q]] + cut[c, lo.SHIFT] - q[tree[k, at.Q]]
            largest = max(largest, abs(cut[c, lo.WANT]))
            continue
        settle_cut(link, loop, cut, c)
        parent, near = frame_of(link, p, cut, c, lo.PARENT_FRAME)
        child, far = frame_of(link, k, cut, c, lo.CHILD_FRAME)
        apart = sub3(add3(load3(link, k, at.ORIGIN), far), add3(load3(link, p, at.ORIGIN), near))
        for i in range(loop[row, lo.COUNT]):
            n, f = load_lane(cut, c, lo.NORMALS, i)
            gap = gap_of(loop, cut, c, parent, child, n, f, apart)
            cut[c, lo.WANT + i] = -gap
            largest = max(largest, abs(gap))
    return largest


@step
def want_still(tree, link, loop, cut, v):
    """WANT = -J v of every row; returns the largest [m/s or rad/s]. Needs `settle_cut` at the present state."""
    largest = 0.0
    for c in range(loop[0, lo.CUTS]):
        row = cut_row(loop, c)
        p, k = loop[row, lo.PARENT], loop[row, lo.CHILD]
        if loop[row, lo.KIND] == lo.COUPLING:
            cut[c, lo.WANT] = cut[c, lo.RATIO] * v[tree[p, at.V]] - v[tree[k, at.V]]
            largest = max(largest, abs(cut[c, lo.WANT]))
            continue
        child = load3(link, k, at.OMEGA), load3(link, k, at.VELOCITY)
        parent = load3(link, p, at.OMEGA), load3(link, p, at.VELOCITY)
        for i in range(loop[row, lo.COUNT]):
            slip = motion_of(cut, c, i, lo.CHILD_FORCE, child) + motion_of(cut, c, i, lo.PARENT_FORCE, parent)
            cut[c, lo.WANT + i] = -slip
            largest = max(largest, abs(slip))
    return largest


@value
def change_for_want(tree, link, loop, cut, room, weak, change):
    """change = M^-1 J* lambda with J change = WANT, by the factors at hand."""
    n = 6 * loop[0, lo.HUBS]
    right = room[loop[0, lo.RIGHT] : loop[0, lo.RIGHT] + n]
    alpha = room[loop[0, lo.ALPHA] : loop[0, lo.ALPHA] + n]
    right[:] = 0.0
    alpha[:] = 0.0
    change[:] = 0.0
    for k in range(tree.shape[0]):
        link[k, at.NU] = 0.0
    solve_all(link, loop, cut, room, white_table(loop, room), right, alpha, weak)
    smooth_change(tree, link, loop, room, alpha, change)


@step
def close_gaps(tree, link, loop, cut, room, moves, q, v, weak, change):
    """Positions onto the constraints, v kept; returns the gap that is left. Needs factors at a state close by."""
    place_all(tree, link, loop, room, q, v)
    gap = want_closed(tree, link, loop, cut, q)
    for _ in range(MOST):
        if gap <= CLOSED:
            break
        change_for_want(tree, link, loop, cut, room, weak, change)
        advance(moves, q, change, q)
        place_all(tree, link, loop, room, q, v)
        before, gap = gap, want_closed(tree, link, loop, cut, q)
        if not gap < 0.1 * before:
            break
    return gap


@step
def stop_slip(tree, link, loop, cut, room, v, weak, change):
    """Velocities onto the constraints at positions that are on them; returns the slip that was found."""
    slip = want_still(tree, link, loop, cut, v)
    if slip > 0.0:
        change_for_want(tree, link, loop, cut, room, weak, change)
        for j in range(len(v)):
            v[j] += change[j]
    return slip


@step
def project(tree, link, loop, cut, room, moves, q, v, rest, change):
    """q and v onto the constraints by the least change in the mass metric; returns (status, gap left).

    `rest` is nv zeros and `change` room for nv numbers.
    """
    status, weak = factorise(tree, link, loop, cut, room, q, v, rest)
    if status != 0:
        return status, 0.0
    gap = close_gaps(tree, link, loop, cut, room, moves, q, v, weak, change)
    stop_slip(tree, link, loop, cut, room, v, weak, change)
    return 0, gap
