"""What a controller returned, checked."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from multiarm.errors import ControllerError, MultiArmError
from multiarm.model import Model

__all__ = ["torques_of"]


def torques_of(model: Model, given: ArrayLike | Mapping[str, ArrayLike] | None, time: float, step: int) -> np.ndarray:
    """nv torques from an array, or from values by arm or joint (what is not named is zero); `time` and `step` are told.

    Raises
    ------
    ControllerError
        It returned something else; `joint` is the one concerned where that is known.
    """
    if given is None:
        raise ControllerError("the controller returned None instead of torques", time, step)
    torques = np.zeros(model.nv)
    if isinstance(given, Mapping):
        for name, part in given.items():
            try:
                where = model.v_slice(name)
            except MultiArmError as error:
                raise ControllerError(f"the controller's torques do not fit: {error}", time, step, name) from error
            torques[where] = _checked(part, model.velocity_names[where], time, step, name)
        return torques
    torques[:] = _checked(given, model.velocity_names, time, step)
    return torques


def _checked(part: ArrayLike, joints: tuple[str, ...], time: float, step: int, name: str | None = None) -> np.ndarray:
    """As many finite numbers as there are joints; a single one may come without brackets."""
    whose = "" if name is None else f" for {name!r}"
    try:
        values = np.asarray(part, float)
    except (TypeError, ValueError) as error:
        raise ControllerError(
            f"the controller returned {part!r}{whose} instead of torques", time, step, name
        ) from error
    if values.ndim > 1 or values.size != len(joints):
        raise ControllerError(
            f"the controller returned an array of shape {values.shape}{whose} instead of {len(joints)} torques",
            time,
            step,
            name,
        )
    values = values.reshape(-1)
    if not np.isfinite(values).all():
        bad = int(np.flatnonzero(~np.isfinite(values))[0])
        raise ControllerError(
            f"the controller returned {values[bad]} as the torque of {joints[bad]!r}", time, step, joints[bad]
        )
    return values
