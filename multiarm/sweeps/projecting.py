"""Back onto the constraints by the least change in the mass metric: J delta = -gap, delta = M^-1 J* lambda.

That is the system of the closed chain without forces and bias, so its factors serve: those of the state before a change
are close enough for the change of positions to be repeated, and for the velocities afterwards.
"""

from __future__ import annotations

from multiarm.sweeps import layout as at
from multiarm.sweeps import loop_layout as lo
from multiarm.sweeps.closing import motion_of
from multiarm.sweeps.jit import step, value
from multiarm.sweeps.loops import cut_row, frame_of, gap_of, load_lane, place_all, settle_cut
from multiarm.sweeps.manifold import advance
from multiarm.sweeps.structured import correct, factorise
from multiarm.sweeps.values import add3, load3, sub3

CLOSED = 1e-14  # m or rad: where repeating stops
NEARLY_CLOSED = 1e-12  # m or rad: what rounding may leave open
STALE = 1e-9  # m or rad
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
    """WANT = what J v lacks of every row; returns the largest [m/s or rad/s]. Needs `settle_cut` here."""
    largest = 0.0
    for c in range(loop[0, lo.CUTS]):
        row = cut_row(loop, c)
        p, k = loop[row, lo.PARENT], loop[row, lo.CHILD]
        if loop[row, lo.KIND] == lo.COUPLING:
            cut[c, lo.WANT] = cut[c, lo.RATIO] * v[tree[p, at.V]] + cut[c, lo.SPEED] - v[tree[k, at.V]]
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
    """change = M^-1 J* lambda with J change = WANT, by the factors at hand; lambda is added to the multipliers."""
    change[:] = 0.0
    correct(tree, link, loop, cut, room, weak, change)


@step
def close_gaps(tree, link, loop, cut, room, moves, q, v, weak, change):
    """Positions onto the constraints, v kept; returns the gap found and the gap left. Needs factors close by."""
    place_all(tree, link, loop, room, q, v)
    found = left = want_closed(tree, link, loop, cut, q)
    for _ in range(MOST):
        if left <= CLOSED:
            break
        change_for_want(tree, link, loop, cut, room, weak, change)
        advance(moves, q, change, q)
        place_all(tree, link, loop, room, q, v)
        before, left = left, want_closed(tree, link, loop, cut, q)
        if not left < 0.1 * before:
            break
    return found, left


@step
def stop_slip(tree, link, loop, cut, room, q, v, weak, change, times):
    """Velocities onto the constraints, at most so many times; needs factors close by and `settle_cut` here."""
    slip = want_still(tree, link, loop, cut, v)
    for n in range(times):
        change_for_want(tree, link, loop, cut, room, weak, change)
        for j in range(len(v)):
            v[j] += change[j]
        if n + 1 == times:
            break
        place_all(tree, link, loop, room, q, v)
        want_closed(tree, link, loop, cut, q)
        before, slip = slip, want_still(tree, link, loop, cut, v)
        if not slip < 0.1 * before:
            break


@step
def project(tree, link, loop, cut, room, moves, q, v, rest, change):
    """q and v onto the constraints by the least change in the mass metric; returns (status, gap left).

    `rest` is nv zeros and `change` room for nv numbers. LAMBDA holds the impulse of the last change of velocities.
    """
    status, weak = factorise(tree, link, loop, cut, room, q, v, rest)
    if status != 0:
        return status, 0.0
    found, left = close_gaps(tree, link, loop, cut, room, moves, q, v, weak, change)
    # factors from before the positions moved are off by what they moved, relative to 1, and more near a singular
    # position; where that matters they are made anew
    if found >= STALE:
        for _ in range(MOST):
            before = left
            status, weak = factorise(tree, link, loop, cut, room, q, v, rest)
            if status != 0:
                return status, 0.0
            left = close_gaps(tree, link, loop, cut, room, moves, q, v, weak, change)[1]
            if before <= NEARLY_CLOSED or not left < before:
                break
    for c in range(loop[0, lo.CUTS]):
        for i in range(lo.LANES):
            cut[c, lo.LAMBDA + i] = 0.0
    stop_slip(tree, link, loop, cut, room, q, v, weak, change, 1 if found < STALE else 2)
    return 0, left
