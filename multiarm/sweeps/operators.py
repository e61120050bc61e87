"""The causal operators phi and psi and their adjoints applied to stacked link vectors, link side from tips to base."""

from __future__ import annotations

from multiarm.sweeps import layout as at
from multiarm.sweeps.compliance import lift
from multiarm.sweeps.jit import kernel, value
from multiarm.sweeps.values import axpy6, dot6, load3, load6, shift_force, shift_motion


@value
def load_block(x, i, j):
    """Six entries of column j from row i."""
    return ((x[i, j], x[i + 1, j], x[i + 2, j]), (x[i + 3, j], x[i + 4, j], x[i + 5, j]))


@value
def add_block(x, i, j, y):
    """Add six entries to column j from row i."""
    x[i, j] += y[0][0]
    x[i + 1, j] += y[0][1]
    x[i + 2, j] += y[0][2]
    x[i + 3, j] += y[1][0]
    x[i + 4, j] += y[1][1]
    x[i + 5, j] += y[1][2]


@kernel
def gather(tree, link, articulated, x):
    """x := phi x (or psi x if `articulated`) for each column of x, in place: y(p) = x(p) + sum phi(p, k) y(k)."""
    n = tree.shape[0] - 1
    if x.shape[0] != 6 * n:
        return at.WRONG_LENGTH
    for j in range(x.shape[1]):
        for k in range(n, 0, -1):
            p = tree[k, at.PARENT]
            if p > 0:
                f = load_block(x, 6 * (n - k), j)
                if articulated:
                    add_block(x, 6 * (n - p), j, lift(tree, link, k, f))
                else:
                    add_block(x, 6 * (n - p), j, shift_force(load3(link, k, at.OFFSET), f))
    return 0


@kernel
def scatter(tree, link, articulated, x):
    """x := phi* x (or psi* x if `articulated`) for each column of x, in place: y(k) = x(k) + phi*(p, k) y(p)."""
    n = tree.shape[0] - 1
    if x.shape[0] != 6 * n:
        return at.WRONG_LENGTH
    for j in range(x.shape[1]):
        for k in range(1, n + 1):
            p = tree[k, at.PARENT]
            if p > 0:
                incoming = shift_motion(load3(link, k, at.OFFSET), load_block(x, 6 * (n - p), j))
                if articulated:
                    yielding = -link[k, at.D_INVERSE] * dot6(load6(link, k, at.U), incoming)
                    incoming = axpy6(yielding, load6(link, k, at.AXIS), incoming)
                add_block(x, 6 * (n - k), j, incoming)
    return 0
