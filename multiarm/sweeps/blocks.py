"""One cut that shares no axis with another: Omega restricted to it, factored as a whole.

K = C Lambda C* is the sum of D^-1 times what each axis feels of one row and of another. With K = L d L* and the reach E
of the rows at a hub, the hub feels the inertia E* K^-1 E, and K lambda + E alpha = want gives the multipliers once its
acceleration is known.
"""

from __future__ import annotations

from multiarm.sweeps import layout as at
from multiarm.sweeps import loop_layout as lo
from multiarm.sweeps.jit import step, value
from multiarm.sweeps.lifting import full_measure
from multiarm.sweeps.loops import cluster_row, cut_row, link_row
from multiarm.sweeps.six import (
    add_square,
    axpy_six,
    back_six,
    dot_six,
    factor_six,
    forward_six,
    load_factors,
    load_six,
    scale_six,
    store_factors,
    store_six,
)

LANES = lo.LANES

# A pivot below this share of its own diagonal entry is weak: its inverse would drown what else the hub feels. So is an
# entry below FAINT of what it could be: it may be nothing but the rounding of what cancels in it.
STRONG = 1e-2
FAINT = 1e-8


@value
def form_omega(link, loop, white, g, rows):
    """K from what the axes feel; where there is no row, the first one's diagonal entry."""
    k = (
        0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0,
    )  # fmt: skip
    axis = loop[cluster_row(loop, g), lo.FIRST_AXIS]
    while axis > 0:
        felt = (white[axis, 0], white[axis, 1], white[axis, 2], white[axis, 3], white[axis, 4], white[axis, 5])
        k = add_square(k, link[axis, at.D_INVERSE], felt)
        axis = loop[link_row(axis), lo.NEXT_AXIS]
    if rows == 6:
        return k
    return (
        k[0], k[1], k[2], k[3], k[4], k[5],
        k[0] if rows < 2 else k[6], k[7], k[8], k[9], k[10],
        k[0] if rows < 3 else k[11], k[12], k[13], k[14],
        k[0] if rows < 4 else k[15], k[16], k[17],
        k[0] if rows < 5 else k[18], k[19],
        k[0],
    )  # fmt: skip


@value
def is_faint(k, measure):
    """Whether a diagonal entry is next to nothing beside what it could be."""
    return not min(min(k[0], k[6]), min(min(k[11], k[15]), min(k[18], k[20]))) > FAINT * measure


@value
def reduce_reach(x, force, reach, factors):
    """L^-1 E, one component of what arrives at the hub after the other."""
    for a in range(6):
        store_six(x, reach + LANES * a, forward_six(factors, load_six(x, force + LANES * a)))


@value
def reflect(room, x, first, second, place, stride, pivots):
    """Add E* K^-1 E of two reaches to the block of the system that starts at `place`."""
    for a in range(6):
        weighted = scale_six(pivots, load_six(x, first + LANES * a))
        for b in range(6):
            room[place + stride * a + b] += dot_six(weighted, load_six(x, second + LANES * b))


@step
def factor_block(link, loop, cut, room, white, g):
    """Factor the only cut of cluster g and reflect its inertia at the hubs; False where it has a weak direction."""
    c = loop[cluster_row(loop, g), lo.FIRST_CUT]
    row = cut_row(loop, c)
    x = cut[c]
    k = form_omega(link, loop, white, g, loop[row, lo.COUNT])
    factors, pivots, sound = factor_six(k, STRONG)
    if not sound or is_faint(k, full_measure(link, loop, cut, g)):
        return False
    store_factors(x, lo.FACTORS, factors, pivots)
    start, n = loop[0, lo.SYSTEM], 6 * loop[0, lo.HUBS]
    child, parent = loop[row, lo.CHILD_HUB], loop[row, lo.PARENT_HUB]
    if child >= 0:
        if child == parent:
            for i in range(6 * LANES):
                x[lo.CHILD_FORCE + i] += x[lo.PARENT_FORCE + i]
        reduce_reach(x, lo.CHILD_FORCE, lo.CHILD_REACH, factors)
        reflect(room, x, lo.CHILD_REACH, lo.CHILD_REACH, start + 6 * child * (n + 1), n, pivots)
    if parent >= 0 and parent != child:
        reduce_reach(x, lo.PARENT_FORCE, lo.PARENT_REACH, factors)
        reflect(room, x, lo.PARENT_REACH, lo.PARENT_REACH, start + 6 * parent * (n + 1), n, pivots)
        if child > parent:
            reflect(room, x, lo.CHILD_REACH, lo.PARENT_REACH, start + 6 * (child * n + parent), n, pivots)
        elif child >= 0:
            reflect(room, x, lo.PARENT_REACH, lo.CHILD_REACH, start + 6 * (parent * n + child), n, pivots)
    return True


@value
def reduce_block(loop, cut, right, c):
    """L^-1 want, and what it drives at the hubs (added to `right`)."""
    x = cut[c]
    row = cut_row(loop, c)
    factors, pivots = load_factors(x, lo.FACTORS)
    reduced = forward_six(factors, load_six(x, lo.WANT))
    store_six(x, lo.REDUCED, reduced)
    driven = scale_six(pivots, reduced)
    child, parent = loop[row, lo.CHILD_HUB], loop[row, lo.PARENT_HUB]
    for a in range(6):
        if child >= 0:
            right[6 * child + a] += dot_six(driven, load_six(x, lo.CHILD_REACH + LANES * a))
        if parent >= 0 and parent != child:
            right[6 * parent + a] += dot_six(driven, load_six(x, lo.PARENT_REACH + LANES * a))


@value
def resolve_block(loop, cut, alpha, c):
    """CHANGE = L^-* d^-1 (L^-1 want - L^-1 E alpha)."""
    x = cut[c]
    row = cut_row(loop, c)
    factors, pivots = load_factors(x, lo.FACTORS)
    child, parent = loop[row, lo.CHILD_HUB], loop[row, lo.PARENT_HUB]
    y = load_six(x, lo.REDUCED)
    for a in range(6):
        if child >= 0:
            y = axpy_six(-alpha[6 * child + a], load_six(x, lo.CHILD_REACH + LANES * a), y)
        if parent >= 0 and parent != child:
            y = axpy_six(-alpha[6 * parent + a], load_six(x, lo.PARENT_REACH + LANES * a), y)
    store_six(x, lo.CHANGE, back_six(factors, scale_six(pivots, y)))
