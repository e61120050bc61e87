"""Lambda = J M^-1 J* at any set of frames with cross terms, and J J*, both by recursion from the base outward."""

from __future__ import annotations

from multiarm.sweeps import layout as at
from multiarm.sweeps.articulated import articulate
from multiarm.sweeps.jit import kernel, value
from multiarm.sweeps.outward import is_frame
from multiarm.sweeps.values import (
    ZERO6,
    apply9,
    apply_sym6,
    axpy6,
    dot6,
    load3,
    load6,
    load9,
    load_sym6,
    rank_one_update,
    rank_two_downdate,
    scale3,
    scale6,
    shift_force,
    shift_inertia,
    store6,
    store_sym6,
)


@value
def swap(x):
    """Exchange the angular and linear blocks of a symmetric 6x6 matrix."""
    a, b, c = x
    return (c, (b[0], b[3], b[6], b[1], b[4], b[7], b[2], b[5], b[8]), a)


@value
def shift_compliance(l, x):
    """phi* X phi: a symmetric matrix that turns forces into motions, moved from the parent's origin to the child's."""
    return swap(shift_inertia(scale3(-1.0, l), swap(x)))


@value
def filter_congruence(x, h, g, d_inverse):
    """(I - h g*) X (I - g h*) + h h*/D = X - h t* - t h*, t = X g - (g* X g + 1/D) h / 2."""
    y = apply_sym6(x, g)
    return rank_two_downdate(x, h, axpy6(-0.5 * (dot6(g, y) + d_inverse), h, y))


@value
def start_at_world(link):
    """The world yields to no force."""
    for c in range(21):
        link[0, at.ARTICULATED + c] = 0.0


@value
def point_offset(link, frame):
    """World-axes offset of a frame's point from the origin of its link."""
    k = int(frame[0])
    return apply9(load9(link, k, at.ROTATION), (frame[1], frame[2], frame[3]))


@value
def lift(tree, link, k, f):
    """psi(p, k) f = phi (I - G H) f: a force on link k as its parent feels it, the axis yielding."""
    yielding = -link[k, at.D_INVERSE] * dot6(load6(link, k, at.AXIS), f)
    return shift_force(load3(link, k, at.OFFSET), axpy6(yielding, load6(link, k, at.U), f))


@value
def unit_force(c):
    """The c-th of the six unit spatial forces."""
    return (
        (1.0 if c == 0 else 0.0, 1.0 if c == 1 else 0.0, 1.0 if c == 2 else 0.0),
        (1.0 if c == 3 else 0.0, 1.0 if c == 4 else 0.0, 1.0 if c == 5 else 0.0),
    )


@value
def write_block(x, out, row, column):
    """Write a symmetric 6x6 matrix into a dense array."""
    for c in range(6):
        y = apply_sym6(x, unit_force(c))
        store6(out, row + c, column, y)


@value
def cross_block(tree, link, frames, i, j, out):
    """Block (i, j) and its transpose: lift unit forces from both frames to their common ancestor and couple them there.

    The two blocks of `out` serve as scratch: rows of one hold the lifted forces of frame i, of the other those of j.
    """
    row, column = 6 * i, 6 * j
    ki, kj = int(frames[i, 0]), int(frames[j, 0])
    ri, rj = point_offset(link, frames[i]), point_offset(link, frames[j])
    for c in range(6):
        store6(out, row + c, column, shift_force(ri, unit_force(c)))
        store6(out, column + c, row, shift_force(rj, unit_force(c)))
    while ki != kj:  # parents have smaller rows, so the larger row is the one to climb from
        if ki > kj:
            for c in range(6):
                store6(out, row + c, column, lift(tree, link, ki, load6(out, row + c, column)))
            ki = tree[ki, at.PARENT]
        else:
            for c in range(6):
                store6(out, column + c, row, lift(tree, link, kj, load6(out, column + c, row)))
            kj = tree[kj, at.PARENT]
    if ki == 0:
        for c in range(6):
            store6(out, row + c, column, ZERO6)
            store6(out, column + c, row, ZERO6)
        return
    omega = load_sym6(link, ki, at.ARTICULATED)
    for c in range(6):
        moved = apply_sym6(omega, load6(out, row + c, column))
        for r in range(6):
            out[row + c, column + r] = dot6(moved, load6(out, column + r, row))
    # block (j, i) still holds lifted forces: replace it by the transpose
    for c in range(6):
        for r in range(6):
            out[column + r, row + c] = out[row + c, column + r]


@kernel
def operational_compliance(tree, link, q, v, frames, out):
    """Lambda = B* Omega B with Omega(k) = psi* Omega(p) psi + H* D^-1 H; three sweeps, then blocks for pairs.

    JPL 88-11-II (6.7)-(6.10), cross terms as RDA-87 section 9.5. `frames` has one row [link, x, y, z] per frame, the
    point in axis-frame axes; `out` is 6m x 6m, world axes at each point.
    """
    status = articulate(tree, link, q, v)
    if status != 0:
        return status
    rows = 6 * frames.shape[0]
    if out.shape[0] != rows or out.shape[1] != rows:
        return at.WRONG_LENGTH
    for i in range(frames.shape[0]):
        if not is_frame(tree, frames[i]):
            return at.WRONG_LENGTH
    start_at_world(link)
    for k in range(1, tree.shape[0]):
        x = shift_compliance(load3(link, k, at.OFFSET), load_sym6(link, tree[k, at.PARENT], at.ARTICULATED))
        d_inverse = link[k, at.D_INVERSE]
        g = scale6(d_inverse, load6(link, k, at.U))
        store_sym6(link, k, at.ARTICULATED, filter_congruence(x, load6(link, k, at.AXIS), g, d_inverse))
    for i in range(frames.shape[0]):
        omega = load_sym6(link, int(frames[i, 0]), at.ARTICULATED)
        write_block(shift_compliance(point_offset(link, frames[i]), omega), out, 6 * i, 6 * i)
        for j in range(i):
            cross_block(tree, link, frames, i, j, out)
    return 0


@kernel
def tip_gram(tree, link, frame, out):
    """J J* of a point fixed in a link, 6x6 in `out`: X(k) = phi* X(p) phi + H* H; one sweep.

    SOA-89 section 2. Needs `locate`; `frame` as in `jacobian`.
    """
    if not (is_frame(tree, frame) and out.shape[0] == 6 and out.shape[1] == 6):
        return at.WRONG_LENGTH
    start_at_world(link)
    for k in range(1, tree.shape[0]):
        x = shift_compliance(load3(link, k, at.OFFSET), load_sym6(link, tree[k, at.PARENT], at.ARTICULATED))
        store_sym6(link, k, at.ARTICULATED, rank_one_update(x, 1.0, load6(link, k, at.AXIS)))
    x = load_sym6(link, int(frame[0]), at.ARTICULATED)
    write_block(shift_compliance(point_offset(link, frame), x), out, 0, 0)
    return 0
