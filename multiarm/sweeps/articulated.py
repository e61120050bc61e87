"""The articulated-body inertias on their own: P, P H* and D of every link, without forces."""

from __future__ import annotations

from multiarm.sweeps import layout as at
from multiarm.sweeps.inward import gathered_inertia, inward_sweep, pass_inertia, project
from multiarm.sweeps.jit import kernel, value
from multiarm.sweeps.outward import fits, place, weigh
from multiarm.sweeps.values import load9, rank_one_update, store_sym6


@value
def articulate_link(tree, link, k, nothing, along):
    """P(k) = sum phi P+ phi* + M(k), D = H P H*, P+ = P - G D G*, JPL 88-11-I (4.4)-(4.6). Returns the margin of D."""
    i, h, m = weigh(link, k, load9(link, k, at.ROTATION))
    p = gathered_inertia(tree, link, k, i, h, m)
    u, d_inverse, margin = project(link, k, p, along)
    store_sym6(link, k, at.ARTICULATED, p)
    if tree[k, at.PARENT] > 0:
        pass_inertia(tree, link, k, rank_one_update(p, -d_inverse, u))
    return margin


@kernel
def articulate(tree, link, q, v):
    """Place every link and find its articulated inertia; returns the first link whose D is not positive, or 0."""
    if not fits(tree, len(q), len(v)):
        return at.WRONG_LENGTH
    for k in range(1, tree.shape[0]):
        place(tree, link, q, v, k)
    return inward_sweep(tree, link, articulate_link, 0)
