"""Where every link is and how it moves, in full; Jacobians; sums over the links."""

from __future__ import annotations

from multiarm.sweeps import layout as at
from multiarm.sweeps.jit import kernel
from multiarm.sweeps.outward import fits, is_frame, place, weigh
from multiarm.sweeps.values import (
    ZERO3,
    ZERO6,
    add3,
    add6,
    apply9,
    apply_sym3,
    axpy3,
    axpy6,
    cross,
    dot3,
    load3,
    load6,
    load9,
    shift_motion,
    store3,
    store6,
    sub3,
)


@kernel
def locate(tree, link, q, v):
    """Rotation, origin, velocity and bias acceleration (J-dot v, no gravity, in ALPHA) of every link; one sweep."""
    if not fits(tree, len(q), len(v)):
        return at.WRONG_LENGTH
    store3(link, 0, at.ORIGIN, ZERO3)
    store3(link, 0, at.VELOCITY, ZERO3)
    store6(link, 0, at.ALPHA, ZERO6)
    for k in range(1, tree.shape[0]):
        p = tree[k, at.PARENT]
        place(tree, link, q, v, k)
        l = load3(link, k, at.OFFSET)
        incoming = shift_motion(l, (load3(link, p, at.OMEGA), load3(link, p, at.VELOCITY)))
        motion = axpy6(v[tree[k, at.V]], load6(link, k, at.AXIS), incoming)
        store3(link, k, at.ORIGIN, add3(load3(link, p, at.ORIGIN), l))
        store3(link, k, at.VELOCITY, motion[1])
        store6(link, k, at.ALPHA, add6(shift_motion(l, load6(link, p, at.ALPHA)), load6(link, k, at.BIAS)))
    return 0


@kernel
def jacobian(tree, link, frame, out):
    """J = B* phi* H* (3.13) of a point fixed in a link, 6 x nv in `out`; needs `locate`.

    `frame` is one row [link, x, y, z] with the point in axis-frame axes.
    """
    if not (is_frame(tree, frame) and out.shape[0] == 6 and out.shape[1] == tree[0, at.V]):
        return at.WRONG_LENGTH
    out[:, :] = 0.0
    k = int(frame[0])
    point = add3(load3(link, k, at.ORIGIN), apply9(load9(link, k, at.ROTATION), (frame[1], frame[2], frame[3])))
    while k > 0:
        axis = load6(link, k, at.AXIS)
        moved = shift_motion(sub3(point, load3(link, k, at.ORIGIN)), axis)
        j = tree[k, at.V]
        out[0, j], out[1, j], out[2, j] = moved[0]
        out[3, j], out[4, j], out[5, j] = moved[1]
        k = tree[k, at.PARENT]
    return 0


@kernel
def totals(tree, link, v, out):
    """Kinetic energy, mass, first moment, momentum [angular about the origin; linear] in out[0:11]; needs `locate`."""
    if len(v) != tree[0, at.V] or len(out) != 11:
        return at.WRONG_LENGTH
    kinetic = 0.0
    mass = 0.0
    moment = ZERO3
    angular = ZERO3
    linear = ZERO3
    for k in range(1, tree.shape[0]):
        kinetic += 0.5 * link[k, at.ARMATURE] * v[tree[k, at.V]] ** 2
        i, h, m = weigh(link, k, load9(link, k, at.ROTATION))
        origin, omega, velocity = load3(link, k, at.ORIGIN), load3(link, k, at.OMEGA), load3(link, k, at.VELOCITY)
        p = axpy3(m, velocity, cross(omega, h))
        n = add3(apply_sym3(i, omega), cross(h, velocity))
        kinetic += 0.5 * (dot3(omega, n) + dot3(velocity, p))
        mass += m
        moment = add3(moment, axpy3(m, origin, h))
        linear = add3(linear, p)
        angular = add3(angular, add3(n, cross(origin, p)))
    out[0] = kinetic
    out[1] = mass
    out[2], out[3], out[4] = moment
    out[5], out[6], out[7] = angular
    out[8], out[9], out[10] = linear
    return 0
