"""Inverse dynamics by Newton and Euler, and hybrid dynamics: some axes driven by torque, others along given
accelerations.

Hybrid dynamics with every axis prescribed is inverse dynamics in composite-body form; with none it is FD4.
"""

from __future__ import annotations

from multiarm.sweeps import layout as at
from multiarm.sweeps.forward import filter_with_bias
from multiarm.sweeps.inward import (
    driven_by_bias,
    gathered_force,
    gathered_inertia,
    inward_sweep,
    own_bias_force,
    pass_force,
    pass_inertia,
)
from multiarm.sweeps.jit import kernel, value
from multiarm.sweeps.outward import fits, place, weigh
from multiarm.sweeps.values import (
    add6,
    apply_sym6,
    axpy6,
    dot6,
    load3,
    load6,
    load9,
    load_sym6,
    rigid_force,
    scale6,
    shift_motion,
    store6,
    store_sym6,
)


@kernel
def newton_euler(tree, link, q, v, a, out):
    """T = H phi [M alpha + b - external] + R a, alpha = phi* (H* a + bias); two sweeps.

    JPL 88-11-I (2.24)-(2.30), (3.17). Leaves the inter-body forces f(k), on link k by its parent, in FORCE and alpha
    (gravity's pseudo-acceleration included) in ALPHA.
    """
    if not fits(tree, len(q), len(v), len(a), len(out)):
        return at.WRONG_LENGTH
    store6(link, 0, at.ALPHA, load6(link, 0, at.ZETA))
    for k in range(1, tree.shape[0]):
        place(tree, link, q, v, k)
        incoming = shift_motion(load3(link, k, at.OFFSET), load6(link, tree[k, at.PARENT], at.ALPHA))
        moved = axpy6(a[tree[k, at.V]], load6(link, k, at.AXIS), incoming)
        store6(link, k, at.ALPHA, add6(moved, load6(link, k, at.BIAS)))
    for k in range(tree.shape[0] - 1, 0, -1):
        i, h, m = weigh(link, k, load9(link, k, at.ROTATION))
        own = add6(own_bias_force(link, k, i, h), rigid_force(i, h, m, load6(link, k, at.ALPHA)))
        f = add6(gathered_force(tree, link, k), own)
        j = tree[k, at.V]
        out[j] = dot6(load6(link, k, at.AXIS), f) + link[k, at.ARMATURE] * a[j]
        store6(link, k, at.FORCE, f)
        if tree[k, at.PARENT] > 0:
            pass_force(tree, link, k, f)
    return 0


@value
def hybrid_link(tree, link, k, data, along):
    """One link of the hybrid filter: a prescribed axis passes on P and z whole, its acceleration being part of z."""
    tau, prescribed, a = data
    j = tree[k, at.V]
    if not prescribed[j]:
        return filter_with_bias(tree, link, k, tau, along)
    i, h, m = weigh(link, k, load9(link, k, at.ROTATION))
    p = gathered_inertia(tree, link, k, i, h, m)
    given = apply_sym6(p, scale6(a[j], load6(link, k, at.AXIS)))
    z = add6(add6(gathered_force(tree, link, k), driven_by_bias(link, k, i, h, m, p)), given)
    store_sym6(link, k, at.ARTICULATED, p)
    store6(link, k, at.FORCE, z)
    if tree[k, at.PARENT] > 0:
        pass_inertia(tree, link, k, p)
        pass_force(tree, link, k, z)
    return 1.0


@kernel
def hybrid(tree, link, q, v, prescribed, a, tau):
    """Complete `a` where `prescribed` is False and `tau` where it is True, in place; three sweeps.

    SOA-Lecture, hybrid dynamics: at a prescribed axis T = H (P alpha+ + z) + R a, elsewhere the steps of FD4. The set
    of prescribed axes may change from call to call. Returns a link whose D is not positive, or 0.
    """
    if not fits(tree, len(q), len(v), len(prescribed), len(a), len(tau)):
        return at.WRONG_LENGTH
    for k in range(1, tree.shape[0]):
        place(tree, link, q, v, k)
    bad = inward_sweep(tree, link, hybrid_link, (tau, prescribed, a))
    store6(link, 0, at.ALPHA, load6(link, 0, at.ZETA))
    for k in range(1, tree.shape[0]):
        j = tree[k, at.V]
        axis = load6(link, k, at.AXIS)
        incoming = shift_motion(load3(link, k, at.OFFSET), load6(link, tree[k, at.PARENT], at.ALPHA))
        if prescribed[j]:
            f = add6(apply_sym6(load_sym6(link, k, at.ARTICULATED), incoming), load6(link, k, at.FORCE))
            tau[j] = dot6(axis, f) + link[k, at.ARMATURE] * a[j]
        else:
            a[j] = link[k, at.NU] - link[k, at.D_INVERSE] * dot6(load6(link, k, at.U), incoming)
        store6(link, k, at.ALPHA, add6(axpy6(a[j], axis, incoming), load6(link, k, at.BIAS)))
    return bad
