"""One cut that shares no axis with another: Omega restricted to it, factored in lanes.

K = C Lambda C* is the sum of D^-1 times what each axis feels of one row and of another. With K = L d L* and the reach E
of the rows at a hub, the hub feels the inertia E* K^-1 E, and K lambda + E alpha = want gives the multipliers once its
acceleration is known.
"""

from __future__ import annotations

from multiarm.sweeps import layout as at
from multiarm.sweeps import loop_layout as lo
from multiarm.sweeps.jit import step, value
from multiarm.sweeps.loops import cluster_row, cut_row, link_row

LANES = lo.LANES
SIX = 6

# A pivot below this share of its own diagonal entry is weak: its inverse would drown what else the hub feels.
STRONG = 1e-4


@value
def form_omega(link, loop, x, white, g, rows):
    """K from the white rows of the axes; lanes without a row get a one of their own."""
    for i in range(SIX * LANES):
        x[lo.OMEGA + i] = 0.0
    k = loop[cluster_row(loop, g), lo.FIRST_AXIS]
    while k > 0:
        d_inverse = link[k, at.D_INVERSE]
        for c in range(LANES):
            x[lo.SCRATCH + c] = white[k, c]
        for i in range(SIX):
            s = d_inverse * x[lo.SCRATCH + i]
            for c in range(LANES):
                x[lo.OMEGA + LANES * i + c] += s * x[lo.SCRATCH + c]
        k = loop[link_row(k), lo.NEXT_AXIS]
    for i in range(rows, SIX):
        x[lo.OMEGA + (LANES + 1) * i] = 1.0


@value
def form_reach(loop, x, c):
    """What arrives at the hubs, row by row; both sides together where they reach the same one."""
    row = cut_row(loop, c)
    together = loop[row, lo.CHILD_HUB] == loop[row, lo.PARENT_HUB]
    for i in range(SIX):
        for a in range(SIX):
            child, parent = x[lo.CHILD_FORCE + LANES * a + i], x[lo.PARENT_FORCE + LANES * a + i]
            x[lo.CHILD_REACH + LANES * i + a] = child + parent if together else child
            x[lo.PARENT_REACH + LANES * i + a] = parent


@value
def eliminate(x, j, i, column):
    """Row i less its share of row j, in the block that starts at `column`."""
    s = x[lo.OMEGA + LANES * j + i] * x[lo.PIVOT + j]
    for c in range(LANES):
        x[column + LANES * i + c] -= s * x[column + LANES * j + c]


@value
def factor(x, two_hubs):
    """K = L d L* in place, and L^-1 applied to the reach; False if a pivot is weak."""
    for j in range(SIX):
        x[lo.SCRATCH + j] = x[lo.OMEGA + (LANES + 1) * j]
    for j in range(SIX):
        d = x[lo.OMEGA + (LANES + 1) * j]
        if not d > STRONG * x[lo.SCRATCH + j]:
            return False
        x[lo.PIVOT + j] = 1.0 / d
        for i in range(j + 1, SIX):
            eliminate(x, j, i, lo.CHILD_REACH)
            if two_hubs:
                eliminate(x, j, i, lo.PARENT_REACH)
            eliminate(x, j, i, lo.OMEGA)
    return True


@value
def reflect(room, x, first, second, place, stride):
    """Add E* K^-1 E of two reaches to the block of the system that starts at `place`."""
    for i in range(SIX * LANES):
        x[lo.SCRATCH + i] = 0.0
    for j in range(SIX):
        for a in range(SIX):
            s = x[lo.PIVOT + j] * x[first + LANES * j + a]
            for c in range(LANES):
                x[lo.SCRATCH + LANES * a + c] += s * x[second + LANES * j + c]
    for a in range(SIX):
        for b in range(SIX):
            room[place + stride * a + b] += x[lo.SCRATCH + LANES * a + b]


@step
def factor_block(link, loop, cut, room, white, g):
    """Factor the only cut of cluster g and reflect its inertia at the hubs; False where it has a weak direction."""
    c = loop[cluster_row(loop, g), lo.FIRST_CUT]
    row = cut_row(loop, c)
    x = cut[c]
    child, parent = loop[row, lo.CHILD_HUB], loop[row, lo.PARENT_HUB]
    two_hubs = parent >= 0 and parent != child
    form_omega(link, loop, x, white, g, loop[row, lo.COUNT])
    form_reach(loop, x, c)
    if not factor(x, two_hubs):
        return False
    start, n = loop[0, lo.SYSTEM], SIX * loop[0, lo.HUBS]
    if child >= 0:
        reflect(room, x, lo.CHILD_REACH, lo.CHILD_REACH, start + SIX * child * (n + 1), n)
    if two_hubs:
        reflect(room, x, lo.PARENT_REACH, lo.PARENT_REACH, start + SIX * parent * (n + 1), n)
        if child > parent:
            reflect(room, x, lo.CHILD_REACH, lo.PARENT_REACH, start + SIX * (child * n + parent), n)
        elif child >= 0:
            reflect(room, x, lo.PARENT_REACH, lo.CHILD_REACH, start + SIX * (parent * n + child), n)
    return True


@value
def reduce_block(loop, cut, right, c):
    """L^-1 want, and what it drives at the hubs (added to `right`)."""
    x = cut[c]
    row = cut_row(loop, c)
    for i in range(SIX):
        y = x[lo.WANT + i]
        for j in range(i):
            y -= x[lo.OMEGA + LANES * j + i] * x[lo.PIVOT + j] * x[lo.REDUCED + j]
        x[lo.REDUCED + i] = y
    child, parent = loop[row, lo.CHILD_HUB], loop[row, lo.PARENT_HUB]
    for j in range(SIX):
        s = x[lo.PIVOT + j] * x[lo.REDUCED + j]
        for a in range(SIX):
            if child >= 0:
                right[SIX * child + a] += s * x[lo.CHILD_REACH + LANES * j + a]
            if parent >= 0 and parent != child:
                right[SIX * parent + a] += s * x[lo.PARENT_REACH + LANES * j + a]


@value
def reached(x, column, j, hub, alpha):
    """Row j of a reach times the acceleration of its hub."""
    total = 0.0
    for a in range(SIX):
        total += x[column + LANES * j + a] * alpha[SIX * hub + a]
    return total


@value
def resolve_block(loop, cut, alpha, c):
    """CHANGE = L^-* d^-1 (L^-1 want - L^-1 E alpha)."""
    x = cut[c]
    row = cut_row(loop, c)
    child, parent = loop[row, lo.CHILD_HUB], loop[row, lo.PARENT_HUB]
    for j in range(SIX - 1, -1, -1):
        y = x[lo.REDUCED + j]
        if child >= 0:
            y -= reached(x, lo.CHILD_REACH, j, child, alpha)
        if parent >= 0 and parent != child:
            y -= reached(x, lo.PARENT_REACH, j, parent, alpha)
        for i in range(j + 1, SIX):
            y -= x[lo.OMEGA + LANES * j + i] * x[lo.CHANGE + i]
        x[lo.CHANGE + j] = y * x[lo.PIVOT + j]
