"""Cholesky's factor of a symmetric table, below the diagonal; the diagonal holds 1/L_ii."""

from __future__ import annotations

import math

from multiarm.sweeps.jit import step


@step
def factor_table(a, least, faint):
    """A = L L* in place; False where a pivot keeps no more than the share `least` of its diagonal entry, or that entry
    is no more than `faint`.
    """
    for i in range(a.shape[0]):
        row = a[i]
        whole = row[i]
        for j in range(i):
            other = a[j]
            total = row[j]
            for c in range(j):
                total -= row[c] * other[c]
            row[j] = total * other[j]
        total = whole
        for c in range(i):
            total -= row[c] * row[c]
        if not (total > least * whole and whole > faint):
            return False
        row[i] = 1.0 / math.sqrt(total)
    return True


@step
def forward_table(a, x):
    """x <- L^-1 x."""
    for i in range(a.shape[0]):
        row = a[i]
        total = x[i]
        for j in range(i):
            total -= row[j] * x[j]
        x[i] = total * row[i]


@step
def back_table(a, x):
    """x <- L^-* x."""
    for i in range(a.shape[0] - 1, -1, -1):
        row = a[i]
        x[i] *= row[i]
        for j in range(i):
            x[j] -= row[j] * x[i]
