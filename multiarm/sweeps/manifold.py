"""Coordinates moved along velocities, so that quaternions stay unit.

Every joint's coordinates are sums of its velocities over time, except the quaternions of spherical and free joints,
which turn. A turn from a start is kept as a rotation vector u with u-dot = dexp^-1(u) omega, so that the classical
formulas for vectors serve (Munthe-Kaas 1999).
"""

from __future__ import annotations

import math

from multiarm.sweeps.jit import step, value
from multiarm.sweeps.values import add3, axpy3, cross, dot3

# One row of `moves` for each run of coordinates: how they follow, the first in q, the first in v, how many.
HOW, Q, V, COUNT = range(4)
ADDED, TURNED_IN_CHILD, TURNED_IN_PARENT = range(3)
MOVE_COLUMNS = 4

SMALL = 1e-4  # half angle [rad] below which two terms of the series of sin(x)/x are exact to rounding


@value
def half_turn(u):
    """Quaternion of the rotation vector u: its vector part as a factor of u, and its scalar part."""
    half = 0.5 * math.sqrt(dot3(u, u))
    if half < SMALL:
        return 0.5 - half * half / 12.0, 1.0 - 0.5 * half * half
    return 0.5 * math.sin(half) / half, math.cos(half)


@value
def turn(q, i, u, in_parent, out):
    """out = the unit quaternion q[i:i+4] turned by the rotation vector u, given in the parent's or the child's axes."""
    factor, scalar = half_turn(u)
    x, w = (q[i], q[i + 1], q[i + 2]), q[i + 3]
    turned = (factor * u[0], factor * u[1], factor * u[2])
    side = 1.0 if in_parent else -1.0
    across = cross(turned, x)
    n = axpy3(side, across, add3((scalar * x[0], scalar * x[1], scalar * x[2]), axpy3(w, turned, (0.0, 0.0, 0.0))))
    s = scalar * w - dot3(turned, x)
    scale = 1.0 / math.sqrt(dot3(n, n) + s * s)
    out[i], out[i + 1], out[i + 2], out[i + 3] = scale * n[0], scale * n[1], scale * n[2], scale * s


@step
def advance(moves, q, u, out):
    """out = q moved by u, nv entries: a velocity times a time."""
    for r in range(moves.shape[0]):
        how, i, j = moves[r, HOW], moves[r, Q], moves[r, V]
        if how == ADDED:
            for n in range(moves[r, COUNT]):
                out[i + n] = q[i + n] + u[j + n]
        else:
            turn(q, i, (u[j], u[j + 1], u[j + 2]), how == TURNED_IN_PARENT, out)


@step
def rate_of_turn(moves, u, v, out):
    """out = u-dot at the velocities v: dexp^-1(u) omega for turns, to fourth order in u, and v for the rest.

    The series omega -+ u x omega / 2 + u x (u x omega) / 12 goes on with the fourth power of u.
    """
    for r in range(moves.shape[0]):
        how, j = moves[r, HOW], moves[r, V]
        if how == ADDED:
            for n in range(moves[r, COUNT]):
                out[j + n] = v[j + n]
        else:
            turned, omega = (u[j], u[j + 1], u[j + 2]), (v[j], v[j + 1], v[j + 2])
            side = -0.5 if how == TURNED_IN_PARENT else 0.5
            across = cross(turned, omega)
            rate = axpy3(1.0 / 12.0, cross(turned, across), axpy3(side, across, omega))
            out[j], out[j + 1], out[j + 2] = rate


@step
def normalise(moves, q):
    """Make the quaternions in q unit."""
    for r in range(moves.shape[0]):
        if moves[r, HOW] != ADDED:
            i = moves[r, Q]
            scale = 1.0 / math.sqrt(q[i] ** 2 + q[i + 1] ** 2 + q[i + 2] ** 2 + q[i + 3] ** 2)
            for n in range(4):
                q[i + n] *= scale


@step
def rate_of_coordinates(moves, q, v, out):
    """out = q-dot: half the quaternion product of omega and q for turns, and v for the rest."""
    for r in range(moves.shape[0]):
        how, i, j = moves[r, HOW], moves[r, Q], moves[r, V]
        if how == ADDED:
            for n in range(moves[r, COUNT]):
                out[i + n] = v[j + n]
        else:
            x, omega = (q[i], q[i + 1], q[i + 2]), (v[j], v[j + 1], v[j + 2])
            side = 0.5 if how == TURNED_IN_PARENT else -0.5
            across = cross(omega, x)
            for n in range(3):
                out[i + n] = 0.5 * q[i + 3] * omega[n] + side * across[n]
            out[i + 3] = -0.5 * dot3(omega, x)
