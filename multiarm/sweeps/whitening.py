"""The mass metric: M = L L* of a mass matrix with blocks of zeros, and L^-1, L^-* of vectors.

Arms that share nothing but an object have no common entries in M, and L keeps every row's leading zeros: `begin` tells
where a row starts. The diagonal holds 1/L_ii.
"""

from __future__ import annotations

import math

from multiarm.sweeps.jit import step
from multiarm.sweeps.orthogonal import inner


@step
def factor_mass(lower, begin):
    """M = L L* in place, below the diagonal; whether every pivot is positive."""
    for i in range(lower.shape[0]):
        row = lower[i]
        first = 0
        while first < i and row[first] == 0.0:
            first += 1
        begin[i] = first
        for j in range(first, i):
            row[j] = (row[j] - inner(row, lower[j], max(first, int(begin[j])), j)) * lower[j, j]
        left = row[i] - inner(row, row, first, i)
        if not left > 0.0:
            return False
        row[i] = 1.0 / math.sqrt(left)
    return True


@step
def whiten(lower, begin, x):
    """x <- L^-1 x."""
    first = 0
    while first < len(x) and x[first] == 0.0:
        first += 1
    for i in range(first, len(x)):
        x[i] = (x[i] - inner(lower[i], x, max(first, int(begin[i])), i)) * lower[i, i]


@step
def colour(lower, begin, x):
    """x <- L^-* x."""
    for i in range(len(x) - 1, -1, -1):
        row = lower[i]
        x[i] *= row[i]
        for j in range(int(begin[i]), i):
            x[j] -= row[j] * x[i]


@step
def whiten_motion(lower, begin, z, out):
    """out = L* z: what the equation z* M a = r looks like in the mass metric."""
    for i in range(len(z)):
        out[i] = z[i] / lower[i, i]
    for j in range(len(z)):
        for i in range(int(begin[j]), j):
            out[i] += lower[j, i] * z[j]
