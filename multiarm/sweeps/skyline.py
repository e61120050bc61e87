"""The system of the hubs: symmetric, positive definite, sparse by the graph of who is held with whom.

Rows are stored whole, but only from the first hub that a hub is coupled with (its envelope) is anything read or
written; Cholesky's factor stays inside. In the order that the topology gives, a chain or a star of objects costs O(l).
"""

from __future__ import annotations

import math

from multiarm.sweeps import loop_layout as lo
from multiarm.sweeps.jit import step, value
from multiarm.sweeps.loops import hub_row
from multiarm.sweeps.six import (
    back_six,
    factor_six,
    forward_six,
    load_factors,
    load_six,
    scale_six,
    store_factors,
    store_six,
)


@value
def first_unknown(loop, i):
    """First column of row i inside the envelope."""
    return 6 * loop[hub_row(loop, i // 6), lo.ENVELOPE]


@value
def upper_triangle(room, i):
    """21 entries of a 6x6 block from its lower triangle, column by column."""
    return (
        room[i], room[i + 6], room[i + 12], room[i + 18], room[i + 24], room[i + 30],
        room[i + 7], room[i + 13], room[i + 19], room[i + 25], room[i + 31],
        room[i + 14], room[i + 20], room[i + 26], room[i + 32],
        room[i + 21], room[i + 27], room[i + 33],
        room[i + 28], room[i + 34],
        room[i + 35],
    )  # fmt: skip


@value
def cholesky_of_one(room, start):
    """One hub on values, four times as fast: L and the roots of 1/d, in place of the block."""
    factors, p, sound = factor_six(upper_triangle(room, start), 0.0)
    if not sound:
        return 1
    roots = (math.sqrt(p[0]), math.sqrt(p[1]), math.sqrt(p[2]), math.sqrt(p[3]), math.sqrt(p[4]), math.sqrt(p[5]))
    store_factors(room, start, factors, roots)
    return 0


@step
def cholesky(loop, room):
    """S = L L*, in place below the diagonal; the diagonal holds 1/L_ii. Returns 0, or 1 + the row without a pivot."""
    n, start = 6 * loop[0, lo.HUBS], loop[0, lo.SYSTEM]
    if n == 6:
        return cholesky_of_one(room, start)
    for i in range(n):
        row, begin = start + n * i, first_unknown(loop, i)
        for j in range(begin, i + 1):
            other = start + n * j
            total = room[row + j]
            for c in range(max(begin, first_unknown(loop, j)), j):
                total -= room[row + c] * room[other + c]
            if j < i:
                room[row + j] = total * room[other + j]
            elif total > 0.0:
                room[row + i] = 1.0 / math.sqrt(total)
            else:
                return 1 + i
    return 0


@step
def forward_substitute(loop, room, x):
    """x <- L^-1 x."""
    n, start = 6 * loop[0, lo.HUBS], loop[0, lo.SYSTEM]
    if n == 6:
        factors, roots = load_factors(room, start)
        store_six(x, 0, scale_six(roots, forward_six(factors, load_six(x, 0))))
        return
    for i in range(n):
        total = x[i]
        for j in range(first_unknown(loop, i), i):
            total -= room[start + n * i + j] * x[j]
        x[i] = total * room[start + n * i + i]


@step
def back_substitute(loop, room, x):
    """x <- L^-* x."""
    n, start = 6 * loop[0, lo.HUBS], loop[0, lo.SYSTEM]
    if n == 6:
        factors, roots = load_factors(room, start)
        store_six(x, 0, back_six(factors, scale_six(roots, load_six(x, 0))))
        return
    for i in range(n - 1, -1, -1):
        x[i] *= room[start + n * i + i]
        for j in range(first_unknown(loop, i), i):
            x[j] -= room[start + n * i + j] * x[i]
