"""Paths of joint coordinates: quintic and trapezoid."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from multiarm.paths.pieces import (
    as_points,
    as_rows,
    as_times,
    hermite,
    require_positive,
    share,
    table,
    trapezoid_pieces,
)
from multiarm.paths.tables import JointPath
from multiarm.sweeps import paths as kernels

__all__ = ["joint_law", "joint_quintic", "joint_trapezoid"]


def joint_quintic(points: ArrayLike, times: ArrayLike, velocities: ArrayLike | None = None) -> JointPath:
    """Joint coordinates through `points` (n, width) at `times`, by polynomials of degree five.

    It stops at every point unless `velocities` (n, width) say otherwise; accelerations are zero there.
    """
    stops = as_points(points)
    when = as_times(times, len(stops))
    rates = np.zeros_like(stops) if velocities is None else as_rows(velocities, stops.shape, "velocities")
    pieces = [
        hermite(h, np.array([x, v, 0 * v]), np.array([y, w, 0 * w])).ravel()
        for h, x, y, v, w in zip(np.diff(when), stops, stops[1:], rates, rates[1:], strict=False)
    ]
    return JointPath(table(kernels.JOINTS, when, pieces))


def joint_trapezoid(points: ArrayLike, speed: ArrayLike, acceleration: ArrayLike) -> JointPath:
    """Joint coordinates through `points` (n, width), straight and in step, at rest at each, as fast as limits allow.

    `speed` [rad/s or m/s] and `acceleration` [rad/s^2 or m/s^2] are one number or one per coordinate.
    """
    stops = as_points(points)
    fastest, strongest = (np.broadcast_to(np.asarray(x, float), stops[0].shape) for x in (speed, acceleration))
    require_positive({"speed": fastest.min(), "acceleration": strongest.min()})
    starts, pieces = [0.0], []
    for here, there in pairwise(stops):
        way = there - here
        rate = min(share(s, d) for s, d in zip(fastest, np.abs(way), strict=True))
        change = min(share(s, d) for s, d in zip(strongest, np.abs(way), strict=True))
        for lasting, coefficients in trapezoid_pieces(rate, change):
            along = np.outer(way, coefficients)
            along[:, 0] += here
            pieces.append(along.ravel())
            starts.append(starts[-1] + lasting)
    if not pieces:
        return joint_quintic([stops[0], stops[0]], [0.0, 1.0])
    return JointPath(table(kernels.JOINTS, starts, pieces))


def joint_law(law: Callable[[float], Any], duration: float, period: float = 0.01) -> JointPath:
    """A law of time `law(t)` -> (q, v, a) of one joint, such as `sine_law`, from 0 to `duration` [s].

    Polynomials of degree five agree with it, its rate and its acceleration every `period`; between, they are off by at
    most period^6 / 46080 of its sixth derivative.
    """
    require_positive({"duration": duration, "period": period})
    when = np.linspace(0.0, duration, max(2, round(duration / period) + 1))
    moments = []
    for t in when:
        moment = law(float(t))
        values = (moment.q, moment.v, moment.a) if hasattr(moment, "q") else moment
        moments.append(np.array([np.ravel(x) for x in values], float))
    pieces = [hermite(h, begin, end).ravel() for h, (begin, end) in zip(np.diff(when), pairwise(moments), strict=True)]
    return JointPath(table(kernels.JOINTS, when, pieces))
