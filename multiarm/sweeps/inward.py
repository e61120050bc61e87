"""Tip-to-base steps: what a link is with all that hangs on it, and what it passes on to its parent.

A link reads what its children passed to it, works on values, and stores results at its own row and at its parent's. The
first child that an inward sweep meets writes, the later ones add, so that nothing has to be cleared beforehand.
"""

from __future__ import annotations

from multiarm.sweeps import layout as at
from multiarm.sweeps.jit import value
from multiarm.sweeps.outward import weigh
from multiarm.sweeps.values import (
    ZERO6,
    add6,
    add_sym3,
    add_sym6,
    apply9,
    apply9_transposed,
    apply_sym3,
    apply_sym6,
    axpy6,
    dot3,
    dot6,
    gyroscopic_force,
    load3,
    load6,
    load9,
    load_sym6,
    rank_one_update,
    rigid_force,
    rigid_inertia,
    shift_force,
    shift_inertia,
    store6,
    store_sym6,
    sub6,
    trace_sym3,
)

# D below this share of the terms that make it up is nothing but their rounding.
ROUNDING = 4e-15


@value
def gathered_inertia(tree, link, k, i, h, m):
    """Sum of what the children passed on and the link's own inertia M(k)."""
    if tree[k, at.HAS_CHILDREN] == 0:
        return rigid_inertia(i, h, m)
    a, b, c = load_sym6(link, k, at.ARTICULATED)
    return (
        add_sym3(a, i),
        (b[0], b[1] - h[2], b[2] + h[1], b[3] + h[2], b[4], b[5] - h[0], b[6] - h[1], b[7] + h[0], b[8]),
        (c[0] + m, c[1], c[2], c[3] + m, c[4], c[5] + m),
    )


@value
def gathered_force(tree, link, k):
    """Sum of the forces the children passed on."""
    if tree[k, at.HAS_CHILDREN] == 0:
        return ZERO6
    return load6(link, k, at.FORCE)


@value
def pass_inertia(tree, link, k, p):
    """Give phi P phi* to the parent."""
    parent = tree[k, at.PARENT]
    moved = shift_inertia(load3(link, k, at.OFFSET), p)
    if tree[k, at.FIRST] == 0:
        moved = add_sym6(moved, load_sym6(link, parent, at.ARTICULATED))
    store_sym6(link, parent, at.ARTICULATED, moved)


@value
def pass_force(tree, link, k, f):
    """Give phi f to the parent."""
    parent = tree[k, at.PARENT]
    moved = shift_force(load3(link, k, at.OFFSET), f)
    if tree[k, at.FIRST] == 0:
        moved = add6(moved, load6(link, parent, at.FORCE))
    store6(link, parent, at.FORCE, moved)


@value
def along_rotation(p, axis):
    """P H* and H P H* for H* = [w; 0], and the size of the terms that cancel in the latter."""
    w = axis[0]
    u = (apply_sym3(p[0], w), apply9_transposed(p[1], w))
    return u, dot3(w, u[0]), trace_sym3(p[0])


@value
def along_slide(p, axis):
    """P H* and H P H* for H* = [0; w], and the size of the terms that cancel in the latter."""
    w = axis[1]
    u = (apply9(p[1], w), apply_sym3(p[2], w))
    return u, dot3(w, u[1]), trace_sym3(p[2])


@value
def along_screw(p, axis):
    """P H* and H P H* for any H*, and the size of the terms that cancel in the latter."""
    u = apply_sym6(p, axis)
    return u, dot6(axis, u), trace_sym3(p[0]) + dot3(axis[1], axis[1]) * trace_sym3(p[2])


@value
def own_bias_force(link, k, i, h):
    """b(k) less the external wrench on the link."""
    return sub6(gyroscopic_force(i, h, load3(link, k, at.OMEGA)), load6(link, k, at.EXTERNAL))


@value
def driven_by_bias(link, k, i, h, m, p):
    """P a + b: what drives the filter of FD4."""
    return add6(own_bias_force(link, k, i, h), apply_sym6(p, load6(link, k, at.BIAS)))


@value
def driven_by_zeta(link, k, i, h, m, p):
    """M zeta + b: what drives the filter of FD3."""
    return add6(own_bias_force(link, k, i, h), rigid_force(i, h, m, load6(link, k, at.ZETA)))


@value
def project(link, k, p, along):
    """Store P H* and D = H P H* + armature of axis k; return P H*, 1/D and by how much D exceeds its rounding error."""
    u, d, size = along(p, load6(link, k, at.AXIS))
    d += link[k, at.ARMATURE]
    d_inverse = 1.0 / d
    store6(link, k, at.U, u)
    link[k, at.D] = d
    link[k, at.D_INVERSE] = d_inverse
    return u, d_inverse, d - ROUNDING * size


def make_filter(drive):
    """The articulated-body filter driven by `drive`: Riccati equation, innovation, and what the parent receives.

    z = sum phi z+ + drive, epsilon = T - H z, nu = epsilon / D, z+ = z + G epsilon, P+ = P - G D G*. P and z stay in
    the table. (A closure, not an argument: one more level of inlining makes LLVM give up on registers, at half the
    speed.)
    """

    @value
    def filter_link(tree, link, k, tau, along):
        i, h, m = weigh(link, k, load9(link, k, at.ROTATION))
        p = gathered_inertia(tree, link, k, i, h, m)
        u, d_inverse, margin = project(link, k, p, along)
        z = add6(gathered_force(tree, link, k), drive(link, k, i, h, m, p))
        nu = d_inverse * (tau[tree[k, at.V]] - dot6(load6(link, k, at.AXIS), z))
        link[k, at.NU] = nu
        store_sym6(link, k, at.ARTICULATED, p)
        store6(link, k, at.FORCE, z)
        if tree[k, at.PARENT] > 0:
            pass_inertia(tree, link, k, rank_one_update(p, -d_inverse, u))
            pass_force(tree, link, k, axpy6(nu, u, z))
        return margin

    return filter_link


@value
def inward_sweep(tree, link, step, data):
    """Take `step` at every link from the tips to the base; returns the first link met whose D is not positive, or 0.

    Each kind of axis gets its own copy of the step: values that cross a branch would travel through memory.
    """
    bad = 0
    for k in range(tree.shape[0] - 1, 0, -1):
        kind = tree[k, at.KIND]
        if kind == at.PRISMATIC:
            margin = step(tree, link, k, data, along_slide)
        elif kind == at.SCREW:
            margin = step(tree, link, k, data, along_screw)
        else:
            margin = step(tree, link, k, data, along_rotation)
        if bad == 0 and not margin > 0.0:
            bad = k
    return bad
