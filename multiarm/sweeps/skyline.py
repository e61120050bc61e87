"""The system of the hubs: symmetric, positive definite, sparse by the graph of who is held with whom.

Rows are stored whole, but only from the first hub that a hub is coupled with (its envelope) is anything read or
written; Cholesky's factor stays inside. In the order that the topology gives, a chain or a star of objects costs O(l).
"""

from __future__ import annotations

import math

from multiarm.sweeps import loop_layout as lo
from multiarm.sweeps.jit import step, value
from multiarm.sweeps.loops import hub_row


@value
def first_unknown(loop, i):
    """First column of row i inside the envelope."""
    return 6 * loop[hub_row(loop, i // 6), lo.ENVELOPE]


@step
def cholesky(loop, room):
    """S = L L*, in place below the diagonal; the diagonal holds 1/L_ii. Returns 0, or 1 + the row without a pivot."""
    n, start = 6 * loop[0, lo.HUBS], loop[0, lo.SYSTEM]
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
    for i in range(n):
        total = x[i]
        for j in range(first_unknown(loop, i), i):
            total -= room[start + n * i + j] * x[j]
        x[i] = total * room[start + n * i + i]


@step
def back_substitute(loop, room, x):
    """x <- L^-* x."""
    n, start = 6 * loop[0, lo.HUBS], loop[0, lo.SYSTEM]
    for i in range(n - 1, -1, -1):
        x[i] *= room[start + n * i + i]
        for j in range(first_unknown(loop, i), i):
            x[j] -= room[start + n * i + j] * x[i]
