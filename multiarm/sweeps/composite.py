"""The mass matrix by composite bodies, and J* J by the same recursion."""

from __future__ import annotations

from multiarm.sweeps import layout as at
from multiarm.sweeps.inward import gathered_inertia, pass_inertia
from multiarm.sweeps.jit import kernel, value
from multiarm.sweeps.outward import fits, is_frame, place, weigh
from multiarm.sweeps.values import (
    apply9,
    apply_sym6,
    dot6,
    load3,
    load6,
    load9,
    shift_force,
    shift_inertia,
    store_sym6,
)


@value
def fill_column(tree, link, k, inertia, out):
    """Entries of row and column V(k) of H phi X phi* H* at and above link k, X the composite inertia; O(depth)."""
    i = tree[k, at.V]
    f = apply_sym6(inertia, load6(link, k, at.AXIS))
    out[i, i] = dot6(load6(link, k, at.AXIS), f)
    above = k
    while tree[above, at.PARENT] > 0:
        f = shift_force(load3(link, above, at.OFFSET), f)
        above = tree[above, at.PARENT]
        j = tree[above, at.V]
        out[i, j] = out[j, i] = dot6(load6(link, above, at.AXIS), f)


@kernel
def mass_matrix(tree, link, q, v, out):
    """M = H phi M phi* H* + R, entry by entry from composite inertias R(k) = sum phi R phi* + M(k); O(N depth).

    RDA-87 ch. 5; JPL 86-48 (7.11).
    """
    if not fits(tree, len(q), len(v), out.shape[0], out.shape[1]):
        return at.WRONG_LENGTH
    for k in range(1, tree.shape[0]):
        place(tree, link, q, v, k)
    out[:, :] = 0.0
    for k in range(tree.shape[0] - 1, 0, -1):
        i, h, m = weigh(link, k, load9(link, k, at.ROTATION))
        composite = gathered_inertia(tree, link, k, i, h, m)
        store_sym6(link, k, at.ARTICULATED, composite)
        if tree[k, at.PARENT] > 0:
            pass_inertia(tree, link, k, composite)
        fill_column(tree, link, k, composite, out)
        out[tree[k, at.V], tree[k, at.V]] += link[k, at.ARMATURE]
    return 0


@kernel
def joint_gram(tree, link, frame, out):
    """J* J of a point fixed in a link, nv x nv in `out`: the composite recursion with one unit inertia at the point.

    SOA-89 section 2. Needs `locate`; `frame` as in `jacobian`.
    """
    if not (is_frame(tree, frame) and fits(tree, tree[0, at.Q], out.shape[0], out.shape[1])):
        return at.WRONG_LENGTH
    out[:, :] = 0.0
    k = int(frame[0])
    r = apply9(load9(link, k, at.ROTATION), (frame[1], frame[2], frame[3]))
    unit = (1.0, 0.0, 0.0, 1.0, 0.0, 1.0)
    x = shift_inertia(r, (unit, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0), unit))
    while k > 0:
        fill_column(tree, link, k, x, out)
        x = shift_inertia(load3(link, k, at.OFFSET), x)
        k = tree[k, at.PARENT]
    return 0
