"""Forward dynamics of the tree, FD1 to FD4 of JPL 88-11-I, each with the sweeps that the source gives it.

All take the tables, q, v and tau, write the joint accelerations to `out`, and return the row of a link whose
articulated inertia D is not positive, or 0. Afterwards the ALPHA column holds spatial accelerations relative to free
fall (gravity's pseudo-acceleration included) at every link origin; FD1 and FD3 leave only their part beyond ZETA there.
"""

from __future__ import annotations

from multiarm.sweeps import layout as at
from multiarm.sweeps.articulated import articulate_link
from multiarm.sweeps.inward import (
    driven_by_bias,
    driven_by_zeta,
    gathered_force,
    inward_sweep,
    make_filter,
    own_bias_force,
    pass_force,
)
from multiarm.sweeps.jit import kernel, value
from multiarm.sweeps.outward import fits, place, weigh
from multiarm.sweeps.values import (
    ZERO6,
    add6,
    axpy6,
    dot6,
    load3,
    load6,
    load9,
    rigid_force,
    shift_motion,
    store6,
)


@value
def zeta_sweep(tree, link, q, v):
    """Outward: V, a and zeta = phi* a with gravity on the base (5.8), (3.21)."""
    for k in range(1, tree.shape[0]):
        place(tree, link, q, v, k)
        moved = shift_motion(load3(link, k, at.OFFSET), load6(link, tree[k, at.PARENT], at.ZETA))
        store6(link, k, at.ZETA, add6(moved, load6(link, k, at.BIAS)))


filter_with_zeta = make_filter(driven_by_zeta)  # z = sum phi z+ + M zeta + b (5.9)
filter_with_bias = make_filter(driven_by_bias)  # z = sum phi z+ + P a + b (5.16)


@value
def smooth_sweep(tree, link, out):
    """Outward: lambda(k) = psi* lambda(p) + H* nu and theta'' = nu - L* lambda(p), (4.21)-(4.22)."""
    store6(link, 0, at.ALPHA, ZERO6)
    for k in range(1, tree.shape[0]):
        incoming = shift_motion(load3(link, k, at.OFFSET), load6(link, tree[k, at.PARENT], at.ALPHA))
        acceleration = link[k, at.NU] - link[k, at.D_INVERSE] * dot6(load6(link, k, at.U), incoming)
        store6(link, k, at.ALPHA, axpy6(acceleration, load6(link, k, at.AXIS), incoming))
        out[tree[k, at.V]] = acceleration


@value
def smooth_sweep_with_bias(tree, link, out):
    """Outward: alpha+ = phi* alpha(p), theta'' = nu - G* alpha+, alpha = alpha+ + H* theta'' + a, (5.17)."""
    store6(link, 0, at.ALPHA, load6(link, 0, at.ZETA))
    for k in range(1, tree.shape[0]):
        incoming = shift_motion(load3(link, k, at.OFFSET), load6(link, tree[k, at.PARENT], at.ALPHA))
        acceleration = link[k, at.NU] - link[k, at.D_INVERSE] * dot6(load6(link, k, at.U), incoming)
        alpha = add6(axpy6(acceleration, load6(link, k, at.AXIS), incoming), load6(link, k, at.BIAS))
        store6(link, k, at.ALPHA, alpha)
        out[tree[k, at.V]] = acceleration


@value
def remove_bias_sweep(tree, link, tau, out):
    """Inward: T' = T - H phi [M zeta + b - external] (4.17), written to `out`."""
    for k in range(tree.shape[0] - 1, 0, -1):
        i, h, m = weigh(link, k, load9(link, k, at.ROTATION))
        own = add6(own_bias_force(link, k, i, h), rigid_force(i, h, m, load6(link, k, at.ZETA)))
        f = add6(gathered_force(tree, link, k), own)
        out[tree[k, at.V]] = tau[tree[k, at.V]] - dot6(load6(link, k, at.AXIS), f)
        if tree[k, at.PARENT] > 0:
            pass_force(tree, link, k, f)


@value
def whiten_sweep(tree, link, x):
    """Inward: epsilon = (I - H Psi L) x and nu = epsilon / D, (4.19)-(4.20); needs U and D."""
    for k in range(tree.shape[0] - 1, 0, -1):
        z = gathered_force(tree, link, k)
        nu = link[k, at.D_INVERSE] * (x[tree[k, at.V]] - dot6(load6(link, k, at.AXIS), z))
        link[k, at.NU] = nu
        if tree[k, at.PARENT] > 0:
            pass_force(tree, link, k, axpy6(nu, load6(link, k, at.U), z))


@kernel
def fd1(tree, link, q, v, tau, out):
    """theta'' = (I - H Psi L)* D^-1 (I - H Psi L) T', T' = T - H phi [M phi* a + b + B f(0)]; four sweeps.

    JPL 88-11-I (4.17)-(4.22). Outward zeta, inward bias torques (with P, D, L), inward filter, outward smoother.
    """
    if not fits(tree, len(q), len(v), len(tau), len(out)):
        return at.WRONG_LENGTH
    zeta_sweep(tree, link, q, v)
    bad = inward_sweep(tree, link, articulate_link, 0)
    remove_bias_sweep(tree, link, tau, out)
    whiten_sweep(tree, link, out)
    smooth_sweep(tree, link, out)
    return bad


@kernel
def fd2(tree, link, q, v, tau, out):
    """alpha = psi* H* D^-1 (I - H Psi L) T' + phi* a beside theta''; four sweeps.

    JPL 88-11-I (5.5)-(5.7) with (4.21b)-(4.23): FD1 with the links' spatial accelerations formed in its last sweep.
    """
    bad = fd1(tree, link, q, v, tau, out)
    if bad == at.WRONG_LENGTH:
        return bad
    store6(link, 0, at.ALPHA, load6(link, 0, at.ZETA))
    for k in range(1, tree.shape[0]):
        store6(link, k, at.ALPHA, add6(load6(link, k, at.ALPHA), load6(link, k, at.ZETA)))
    return bad


@kernel
def fd3(tree, link, q, v, tau, out):
    """theta'' = (I - H Psi L)* D^-1 (T - H psi [S L T + M zeta + b + B f(0)]), zeta = phi* a; three sweeps.

    JPL 88-11-I (5.8)-(5.10).
    """
    if not fits(tree, len(q), len(v), len(tau), len(out)):
        return at.WRONG_LENGTH
    zeta_sweep(tree, link, q, v)
    bad = inward_sweep(tree, link, filter_with_zeta, tau)
    smooth_sweep(tree, link, out)
    return bad


@kernel
def fd4(tree, link, q, v, tau, out):
    """nu = D^-1 (T - H z), z = psi [S L T + P a + b + B f(0)], theta'' = nu - G* alpha+; three sweeps.

    JPL 88-11-I (5.13)-(5.17), with P a inside z as in SOA-Lecture; the bias a is never accumulated along the tree.
    """
    if not fits(tree, len(q), len(v), len(tau), len(out)):
        return at.WRONG_LENGTH
    for k in range(1, tree.shape[0]):
        place(tree, link, q, v, k)
    bad = inward_sweep(tree, link, filter_with_bias, tau)
    smooth_sweep_with_bias(tree, link, out)
    return bad


@kernel
def solve_mass(tree, link, x, out):
    """out = M^-1 x by the factors (4.16), for each column of x; needs P, D, U of `articulate`."""
    if not fits(tree, tree[0, at.Q], x.shape[0], out.shape[0]) or x.shape[1] != out.shape[1]:
        return at.WRONG_LENGTH
    for j in range(x.shape[1]):
        whiten_sweep(tree, link, x[:, j])
        smooth_sweep(tree, link, out[:, j])
    return 0
