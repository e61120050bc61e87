"""What paths are made of: polynomial pieces between values, rates and accelerations, and checks of their input."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import RigidTransform, Rotation

from multiarm.errors import BadInputError
from multiarm.paths.tables import Path
from multiarm.poses import PoseLike, as_pose
from multiarm.state import as_numbers
from multiarm.sweeps import paths as kernels

__all__ = [
    "as_points",
    "as_poses",
    "as_rows",
    "as_times",
    "hermite",
    "pose_piece",
    "require_positive",
    "share",
    "table",
    "through",
    "trapezoid_pieces",
]


def table(kind: int, times: Sequence[float] | np.ndarray, pieces: Sequence[np.ndarray]) -> np.ndarray:
    """The numbers of a path, as `sweeps.paths` lays them out."""
    return np.concatenate([[kind, len(pieces), len(pieces[0])], times, *pieces])


def pose_piece(start: Rotation, along: np.ndarray, turn: np.ndarray) -> np.ndarray:
    """A piece of `sweeps.paths`: coefficients of position and rotation vector, 3 x 6 each."""
    return np.concatenate([start.as_quat(), along.ravel(), turn.ravel()])


def through(
    times: Sequence[float] | np.ndarray, poses: Sequence[RigidTransform], rates: np.ndarray, changes: np.ndarray
) -> Path:
    """Polynomials of degree five with these velocities and accelerations [angular; linear] at the poses."""
    pieces = []
    for i, lasting in enumerate(np.diff(times)):
        here, there = poses[i], poses[i + 1]
        along = hermite(
            lasting,
            np.array([here.translation, rates[i, 3:], changes[i, 3:]]),
            np.array([there.translation, rates[i + 1, 3:], changes[i + 1, 3:]]),
        )
        back = here.rotation.inv()
        theta = (back * there.rotation).as_rotvec()
        spin, growth = vector_rates(theta, back.apply(rates[i + 1, :3]), back.apply(changes[i + 1, :3]))
        turn = hermite(
            lasting,
            np.array([np.zeros(3), back.apply(rates[i, :3]), back.apply(changes[i, :3])]),
            np.array([theta, spin, growth]),
        )
        pieces.append(pose_piece(here.rotation, along, turn))
    return Path(table(kernels.POSES, times, pieces))


def hermite(h: float, begin: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Coefficients, one row per component, of the polynomial with these values, rates and second derivatives."""
    x, v, a = begin
    if h == 0.0:
        return np.column_stack([x, *[np.zeros_like(x)] * 5])
    y, w, b = end
    # what is left of the end values once the first three coefficients have had their part
    left = np.array([y - x - v * h - a * h**2 / 2, (w - v - a * h) * h, (b - a) * h**2])
    third, fourth, fifth = np.array([[10, -4, 0.5], [-15, 7, -1], [6, -3, 0.5]]) @ left
    return np.column_stack([x, v, a / 2, third / h**3, fourth / h**4, fifth / h**5])


def vector_rates(theta: np.ndarray, omega: np.ndarray, alpha: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """theta' and theta'' of a rotation vector from J theta' = omega and J theta'' = alpha - J' theta'.

    The left Jacobian J is singular at a whole turn only, and these vectors are at most half a turn long.
    """
    columns = [_exponential_rates(theta, unit, np.zeros(3))[0] for unit in np.eye(3)]
    jacobian = np.column_stack(columns)
    rate = np.linalg.solve(jacobian, omega)
    turning = _exponential_rates(theta, rate, np.zeros(3))[1]
    return rate, np.linalg.solve(jacobian, alpha - turning)


def _exponential_rates(theta: np.ndarray, rate: np.ndarray, change: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """omega and omega-dot of exp(theta), by the kernel that evaluates paths."""
    coefficients = np.zeros((3, kernels.TERMS))
    coefficients[:, 0], coefficients[:, 1], coefficients[:, 2] = theta, rate, change / 2
    _, velocity, acceleration = Path(
        table(kernels.POSES, [0.0, 1.0], [pose_piece(Rotation.identity(), np.zeros((3, 6)), coefficients)])
    )(0.0)
    return velocity[:3], acceleration[:3]


def trapezoid_pieces(rate: float, change: float) -> list[tuple[float, list[float]]]:
    """(duration, coefficients) from 0 to 1 at no more than `rate` and `change`; nothing if there is no way to go."""
    if rate == inf:
        return []
    if rate * rate >= change:  # never at full speed
        half = change**-0.5
        return [
            (half, [0.0, 0.0, change / 2, 0.0, 0.0, 0.0]),
            (half, [0.5, change * half, -change / 2, 0.0, 0.0, 0.0]),
        ]
    ramp = rate / change
    far = rate * ramp / 2
    return [
        (ramp, [0.0, 0.0, change / 2, 0.0, 0.0, 0.0]),
        (1.0 / rate - ramp, [far, rate, 0.0, 0.0, 0.0, 0.0]),
        (ramp, [1.0 - far, rate, -change / 2, 0.0, 0.0, 0.0]),
    ]


def share(limit: float, way: float) -> float:
    """A limit per unit of a way that may be nothing."""
    return float(limit / way) if way > 0.0 else inf


# ---------------------------------------------------------------------- input


def as_poses(poses: Sequence[PoseLike]) -> list[RigidTransform]:
    """Two poses or more."""
    if isinstance(poses, RigidTransform) and poses.single:
        raise BadInputError("a path needs two poses or more, not one")
    found = [as_pose(value, f"pose {i}") for i, value in enumerate(poses)]
    if len(found) < 2:
        raise BadInputError(f"a path needs two poses or more, not {len(found)}")
    return found


def as_points(points: ArrayLike) -> np.ndarray:
    """Two rows of joint coordinates or more."""
    array = np.asarray(points, float)
    if array.ndim != 2 or len(array) < 2 or not np.all(np.isfinite(array)):
        raise BadInputError("points must be two or more rows of finite joint coordinates")
    return array


def as_times(times: ArrayLike, count: int) -> np.ndarray:
    """As many increasing times."""
    when = as_numbers(times, (count,), "times")
    if not np.all(np.diff(when) > 0.0):
        raise BadInputError(f"times must increase, not {when.tolist()}")
    return when


def as_rows(values: ArrayLike, shape: tuple[int, ...], what: str) -> np.ndarray:
    """A finite matrix of that shape, or an error that names `what`."""
    array = np.asarray(values, float)
    if array.shape != shape or not np.all(np.isfinite(array)):
        raise BadInputError(f"{what} must be {shape[0]} rows of {shape[1]} finite numbers")
    return array


def require_positive(limits: dict[str, float]) -> None:
    """Raise for the first that is not positive."""
    for what, value in limits.items():
        if not float(value) > 0.0:
            raise BadInputError(f"{what} must be positive, not {value}")
