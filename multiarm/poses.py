"""Poses: making them, and accepting them in every form a user might hold."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import RigidTransform, Rotation

from multiarm.errors import BadInputError

__all__ = ["PoseLike", "as_pose", "as_vector3", "pose", "turn_z_to"]

PoseLike: TypeAlias = RigidTransform | ArrayLike

IDENTITY = RigidTransform.identity()


def pose(
    xyz: ArrayLike = (0.0, 0.0, 0.0), rpy: ArrayLike = (0.0, 0.0, 0.0), quat: ArrayLike | None = None
) -> RigidTransform:
    """A pose from a translation [m] and fixed-axis roll-pitch-yaw angles [rad], as in URDF, or a quaternion (x, y, z,
    w).

    Examples
    --------
    >>> pose((1, 0, 0), rpy=(0, 0, 1.5707963267948966)).apply((1, 0, 0)).round(12)
    array([1., 1., 0.])
    """
    translation = as_vector3(xyz, "xyz")
    if quat is not None:
        q = np.array(quat, float)
        if q.shape != (4,) or not np.all(np.isfinite(q)) or abs(np.linalg.norm(q) - 1.0) > 1e-6:
            raise BadInputError(f"quat must be a unit quaternion (x, y, z, w), not {quat!r}")
        rotation = Rotation.from_quat(q)
    else:
        rotation = Rotation.from_euler("xyz", as_vector3(rpy, "rpy"))
    return RigidTransform.from_components(translation, rotation)


def as_pose(value: PoseLike | None, what: str = "pose") -> RigidTransform:
    """A `RigidTransform` from one, a 4x4 array or an xyz triple; None is the identity."""
    if value is None:
        return IDENTITY
    if isinstance(value, RigidTransform):
        if not value.single or not np.all(np.isfinite(value.as_matrix())):
            raise BadInputError(f"{what}: expected one finite pose")
        return value
    try:
        array = np.asarray(value, float)
    except (TypeError, ValueError) as error:
        raise BadInputError(
            f"{what}: expected a RigidTransform, a 4x4 array or an xyz triple, not {value!r}"
        ) from error
    if array.shape == (3,):
        return RigidTransform.from_translation(as_vector3(array, what))
    if array.shape != (4, 4):
        raise BadInputError(f"{what}: expected a RigidTransform, a 4x4 array or an xyz triple, not shape {array.shape}")
    rotation = array[:3, :3]
    if not np.all(np.isfinite(array)):
        raise BadInputError(f"{what}: the 4x4 array has entries that are not finite")
    off = np.abs(rotation @ rotation.T - np.eye(3)).max()
    if off > 1e-6:
        raise BadInputError(f"{what}: the 4x4 array is not a rigid transform: R R^T differs from 1 by {off:.2g}")
    if np.linalg.det(rotation) < 0:
        raise BadInputError(f"{what}: the 4x4 array mirrors: its rotation has determinant -1")
    if np.abs(array[3] - (0, 0, 0, 1)).max() > 1e-9:
        raise BadInputError(f"{what}: the last row of the 4x4 array is {array[3]}, not (0, 0, 0, 1)")
    return RigidTransform.from_matrix(array)


def as_vector3(value: ArrayLike, what: str) -> np.ndarray:
    """A finite 3-vector (a read-only copy), or an error that names `what`."""
    try:
        vector = np.array(value, float)
    except (TypeError, ValueError) as error:
        raise BadInputError(f"{what}: expected three numbers, not {value!r}") from error
    if vector.shape != (3,) or not np.all(np.isfinite(vector)):
        raise BadInputError(f"{what}: expected three finite numbers, not {value!r}")
    vector.setflags(write=False)
    return vector


def turn_z_to(direction: np.ndarray) -> Rotation:
    """A rotation that takes z to the unit vector `direction`; exact where that is a coordinate axis.

    Examples
    --------
    >>> turn_z_to(np.array([0.0, 1.0, 0.0])).apply((0, 0, 1))
    array([0., 1., 0.])
    """
    if direction[2] > 1.0 - 1e-15:
        return Rotation.identity()
    other = np.array([1.0, 0.0, 0.0]) if abs(direction[2]) > 0.9 else np.array([0.0, 0.0, 1.0])
    first = np.cross(other, direction)
    first /= np.linalg.norm(first)
    return Rotation.from_matrix(np.column_stack([first, np.cross(direction, first), direction]))
