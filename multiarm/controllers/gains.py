"""Gains and limits as users give them: one number, an array, or values by arm or joint."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from multiarm.errors import BadInputError, UnknownNameError
from multiarm.model import Model
from multiarm.state import as_numbers, fill_coordinates

__all__ = ["Gains", "Limits", "as_limits", "as_matrix6", "per_velocity"]

Gains: TypeAlias = float | ArrayLike | Mapping[str, ArrayLike]
Limits: TypeAlias = str | Gains | None


def per_velocity(model: Model, value: Gains, what: str, missing: float = 0.0) -> np.ndarray:
    """A number for every entry of v that is not negative; `missing` where a mapping names none.

    In a mapping one number does for all joints of an arm.
    """
    if isinstance(value, Mapping):
        spread = {name: _for_all(model, name, entry) for name, entry in value.items()}
        found = fill_coordinates(what, spread, np.full(model.nv, missing), model.v_slice)
    elif np.ndim(value) == 0:
        found = np.full(model.nv, as_numbers(value, (1,), what)[0])
    else:
        found = as_numbers(value, (model.nv,), what).copy()
    if np.any(found < 0.0):
        bad = int(np.flatnonzero(found < 0.0)[0])
        raise BadInputError(f"{what} of {model.velocity_names[bad]!r} is {found[bad]:g}: it must not be negative")
    return found


def _for_all(model: Model, name: str, entry: ArrayLike) -> ArrayLike:
    where = model.v_slice(name)
    return np.full(where.stop - where.start, float(np.asarray(entry, float))) if np.ndim(entry) == 0 else entry


def as_limits(model: Model, limits: Limits) -> np.ndarray:
    """Largest torque of every entry of v [N m or N]: those of the model ("effort"), none (None), or given."""
    if limits is None:
        return np.full(model.nv, np.inf)
    if isinstance(limits, str):
        if limits != "effort":
            raise UnknownNameError("limits", limits, ("effort",), "or None, an array, or values by arm or joint")
        return model.effort_limit.copy()
    return per_velocity(model, limits, "limits", missing=np.inf)


def as_matrix6(value: ArrayLike, what: str) -> np.ndarray:
    """A symmetric 6x6 matrix without negative eigenvalues from one number, six [angular; linear] or a 6x6 array."""
    try:
        array = np.asarray(value, float)
    except (TypeError, ValueError) as error:
        raise BadInputError(f"{what}: expected a number, six numbers or a 6x6 array, not {value!r}") from error
    if array.shape in ((), (6,)):
        array = np.diag(np.broadcast_to(array, 6))
    if array.shape != (6, 6) or not np.all(np.isfinite(array)):
        raise BadInputError(f"{what}: expected a number, six numbers or a 6x6 array, all finite, not {value!r}")
    size = np.abs(array).max()
    if np.abs(array - array.T).max() > 1e-9 * size:
        raise BadInputError(f"{what}: the 6x6 array is not symmetric")
    least = np.linalg.eigvalsh(array)[0]
    if least < -1e-12 * size:
        raise BadInputError(f"{what} must not be negative, but has the eigenvalue {least:.3g}")
    return array
