"""Where a model is and how fast it moves, and the filling of arrays from names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from multiarm.errors import BadInputError

if TYPE_CHECKING:
    from multiarm.model import Model

__all__ = ["State", "as_numbers", "fill_coordinates"]


@dataclass(frozen=True, eq=False)
class State:
    """Coordinates q (length nq) and velocities v (length nv) of a model; read-only, made by `Model.state`."""

    model: Model
    q: np.ndarray
    v: np.ndarray

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            object.__setattr__(self, name, value)
        self.q.setflags(write=False)
        self.v.setflags(write=False)

    def replace(self, q: ArrayLike | None = None, v: ArrayLike | None = None) -> State:
        """A state with other coordinates or velocities."""
        return self.model.state(q=self.q if q is None else q, v=self.v if v is None else v)


def fill_coordinates(
    what: str,
    values: ArrayLike | Mapping[str, ArrayLike] | None,
    default: np.ndarray,
    place: Callable[[str], slice],
) -> np.ndarray:
    """A fresh array like `default` with `values` in it: a whole array, or entries by name (`place` finds them)."""
    filled = default.copy()
    if values is None:
        return filled
    if not isinstance(values, Mapping):
        filled[:] = as_numbers(values, filled.shape, what)
        return filled
    for name, entry in values.items():
        where = place(name)
        shape = (where.stop - where.start,)
        filled[where] = as_numbers(entry, shape, f"{what} of {name!r}")
    return filled


def as_numbers(values: ArrayLike, shape: tuple[int, ...], what: str) -> np.ndarray:
    """Finite numbers of the given shape (a single one may come without brackets), or an error that names `what`."""
    try:
        array = np.asarray(values, float)
    except (TypeError, ValueError) as error:
        raise BadInputError(f"{what}: expected {shape[0]} numbers, not {values!r}") from error
    if array.shape == () and shape == (1,):
        array = array.reshape(1)
    if array.shape != shape:
        raise BadInputError(f"{what}: expected {shape[0]} numbers, not an array of shape {array.shape}")
    if not np.all(np.isfinite(array)):
        bad = int(np.flatnonzero(~np.isfinite(array))[0])
        raise BadInputError(f"{what}: entry {bad} is {array[bad]}, not finite")
    return array
