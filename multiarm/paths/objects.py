"""Paths of poses: hold, quintic, trapezoid, circle, from a file."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import inf, pi
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import CubicSpline
from scipy.spatial.transform import RigidTransform, Rotation, RotationSpline

from multiarm.checks import as_direction
from multiarm.errors import BadInputError, UnknownNameError
from multiarm.paths.files import read_poses
from multiarm.paths.pieces import (
    as_poses,
    as_rows,
    as_times,
    pose_piece,
    require_positive,
    share,
    table,
    through,
    trapezoid_pieces,
)
from multiarm.paths.tables import Path
from multiarm.poses import PoseLike, as_pose, as_vector3
from multiarm.sweeps import paths as kernels

__all__ = ["circle", "from_file", "hold", "quintic", "trapezoid"]


def hold(pose: PoseLike) -> Path:
    """Stay at one pose."""
    return through([0.0, 0.0], [as_pose(pose)] * 2, np.zeros((2, 6)), np.zeros((2, 6)))


def quintic(poses: Sequence[PoseLike], times: ArrayLike, velocities: ArrayLike | str = "rest") -> Path:
    """From pose to pose by polynomials of degree five; acceleration zero at every pose, continuous throughout.

    Parameters
    ----------
    poses : sequence of poses
        Two or more.
    times : array
        When to be there [s], increasing.
    velocities : str or (n, 6) array
        "rest": stop at every pose, on the straight line to the next and about one axis. "through": pass the inner ones
        at the mean velocity between their neighbours. Or [omega; v] at every pose, world axes.

    Examples
    --------
    >>> import multiarm as ma
    >>> path = ma.paths.quintic([(0, 0, 0), (1, 0, 0), (2, 1, 0)], [0, 1, 2], velocities="through")
    >>> path(1.0)[1].round(12).tolist()
    [0.0, 0.0, 0.0, 1.0, 0.5, 0.0]
    """
    stops = as_poses(poses)
    when = as_times(times, len(stops))
    if isinstance(velocities, str):
        if velocities not in ("rest", "through"):
            raise UnknownNameError("velocities", velocities, ("rest", "through"), "or an array, [omega; v] at each")
        rates = np.zeros((len(stops), 6)) if velocities == "rest" else _mean_velocities(stops, when)
    else:
        rates = as_rows(velocities, (len(stops), 6), "velocities")
    return through(when, stops, rates, np.zeros((len(stops), 6)))


def trapezoid(
    poses: Sequence[PoseLike],
    speed: float,
    acceleration: float,
    turn_speed: float = inf,
    turn_acceleration: float = inf,
) -> Path:
    """From pose to pose on straight lines, turning about one axis on the way, as fast as four limits allow.

    Each leg speeds up, cruises and slows down at constant rates: `speed` [m/s], `acceleration` [m/s^2], `turn_speed`
    [rad/s], `turn_acceleration` [rad/s^2]; travel and turn keep step with each other. Accelerations jump.
    """
    stops = as_poses(poses)
    limits = {
        "speed": speed, "acceleration": acceleration, "turn_speed": turn_speed, "turn_acceleration": turn_acceleration
    }  # fmt: skip
    require_positive(limits)
    starts, pieces = [0.0], []
    for here, there in pairwise(stops):
        way, turn = there.translation - here.translation, (here.rotation.inv() * there.rotation).as_rotvec()
        length, angle = float(np.linalg.norm(way)), float(np.linalg.norm(turn))
        if angle > 0.0 and not (turn_speed < inf and turn_acceleration < inf):
            raise BadInputError("poses that turn need turn_speed= [rad/s] and turn_acceleration= [rad/s^2]")
        rate = min(share(speed, length), share(turn_speed, angle))
        change = min(share(acceleration, length), share(turn_acceleration, angle))
        for lasting, coefficients in trapezoid_pieces(rate, change):
            along = np.outer(way, coefficients)
            along[:, 0] += here.translation
            pieces.append(pose_piece(here.rotation, along, np.outer(turn, coefficients)))
            starts.append(starts[-1] + lasting)
    if not pieces:
        return hold(stops[0])
    return Path(table(kernels.POSES, starts, pieces))


def circle(
    centre: ArrayLike, normal: ArrayLike, radius: float, period: float, start: PoseLike, turns: float = 1.0,
    ramp: float | None = None,
) -> Path:  # fmt: skip
    """Round a circle, orientation fixed; it begins and ends at rest.

    Parameters
    ----------
    centre, normal : (3,)
        Of the circle, world axes; it is run through counterclockwise about `normal`.
    radius : float
        [m]
    period : float
        Time of one turn at full speed [s].
    start : pose
        Orientation, and the direction from the centre in which to begin; it must lie on the circle to 1e-6 m.
    turns : float
        How far round.
    ramp : float, optional
        Time to speed up and to slow down [s], a quarter of the period by default. The phase is a polynomial meanwhile,
        so that velocity and acceleration are continuous.
    """
    middle, axis, pose = as_vector3(centre, "centre"), as_direction(normal, "normal"), as_pose(start, "start")
    ramp = period / 4 if ramp is None else ramp
    require_positive({"radius": radius, "period": period, "turns": turns, "ramp": ramp})
    out = pose.translation - middle
    off = max(abs(float(out @ axis)), abs(float(np.linalg.norm(out)) - radius))
    if off > 1e-6:
        raise BadInputError(f"start is off the circle by {off:.3g} m")
    rate = 2 * pi / period
    cruise = turns * period - ramp
    if cruise < 0.0:
        raise BadInputError(
            f"{turns:g} turns take {turns * period:g} s at full speed: too short for a ramp of {ramp:g} s"
        )
    up = [0.0, 0.0, 0.0, rate / ramp**2, -rate / (2 * ramp**3), 0.0]  # its rate grows as 3 x^2 - 2 x^3
    along = [rate * ramp / 2, rate, 0.0, 0.0, 0.0, 0.0]
    down = [2 * pi * turns - rate * ramp / 2, rate, 0.0, -rate / ramp**2, rate / (2 * ramp**3), 0.0]
    constant = np.concatenate([middle, out, np.cross(axis, out), pose.rotation.as_quat()])
    pieces = [np.concatenate([constant, phase]) for phase in (up, along, down)]
    starts = [0.0, ramp, ramp + cruise, 2 * ramp + cruise]
    return Path(table(kernels.CIRCLE, starts, pieces))


def from_file(path: Any) -> Path:
    """Through the samples of a CSV file with columns t, x, y, z, qx, qy, qz, qw (s, m, quaternion scalar last).

    Velocities and accelerations at the samples are those of a cubic spline, and zero at the first and last; position
    and orientation have continuous second derivatives.
    """
    samples = read_poses(path)
    times, stops = samples[:, 0], [
        RigidTransform.from_components(row[1:4], Rotation.from_quat(row[4:])) for row in samples
    ]  # fmt: skip
    places = CubicSpline(times, samples[:, 1:4], bc_type="clamped")
    turns = RotationSpline(times, Rotation.from_quat(samples[:, 4:]))
    rates = np.hstack([_in_world(samples, turns(times, 1)), places(times, 1)])
    changes = np.hstack([_in_world(samples, turns(times, 2)), places(times, 2)])
    for ends in (rates, changes):
        ends[[0, -1]] = 0.0
    return through(times, stops, rates, changes)


def _mean_velocities(poses: Sequence[RigidTransform], times: np.ndarray) -> np.ndarray:
    """[omega; v] at inner poses: the mean of those to either side, weighted by the other's duration; rest at ends."""
    rates = np.zeros((len(poses), 6))
    legs = [
        np.concatenate([(b.rotation * a.rotation.inv()).as_rotvec(), b.translation - a.translation])
        for a, b in pairwise(poses)
    ]
    lasting = np.diff(times)
    for i in range(1, len(poses) - 1):
        before, after = legs[i - 1] / lasting[i - 1], legs[i] / lasting[i]
        rates[i] = (lasting[i] * before + lasting[i - 1] * after) / (lasting[i - 1] + lasting[i])
    return rates


def _in_world(samples: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Rates that SciPy gives in body axes, in world axes."""
    return np.asarray(Rotation.from_quat(samples[:, 4:]).apply(vectors))
