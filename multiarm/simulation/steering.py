"""Who drives a run: a controller and what pushes from outside, compiled or asked from Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from multiarm.errors import ControllerError, MultiArmError, SimulationError
from multiarm.model import Model
from multiarm.simulation.bench import Bench, CompiledController
from multiarm.state import State
from multiarm.workspace import External

__all__ = ["Controller", "Outside", "Steering"]

Controller = Callable[[float, State], ArrayLike | Mapping[str, ArrayLike]]
Outside = Callable[[float, State], External]


@dataclass(frozen=True, eq=False)
class Steering:
    """A controller (compiled, a function, or none), external wrenches, and limits of the torques (or None)."""

    controller: Controller | CompiledController | None
    external: Outside | None
    limits: np.ndarray | None

    @property
    def _compiled(self) -> bool:
        return hasattr(self.controller, "packed")

    @property
    def asks_python(self) -> bool:
        """Whether every step has to ask something that is not compiled."""
        return (self.controller is not None and not self._compiled) or self.external is not None

    def compiled_for(self, model: Model) -> CompiledController | None:
        """The controller for the kernels, if it is one of those."""
        if not self._compiled:
            return None
        controller = cast("CompiledController", self.controller)
        return controller if controller.model is model else controller.on(model)

    def drive(self, bench: Bench, t: float, step: int) -> None:
        """Torques and wrenches at the bench's state, from those who are not compiled."""
        if not self.asks_python:
            return
        state = bench.state
        if self.controller is not None and not self._compiled:
            torques = _torques(bench.model, cast("Controller", self.controller)(t, state), t, step)
            bench.tau[:] = torques if self.limits is None else np.clip(torques, -self.limits, self.limits)
        if self.external is not None:
            try:
                bench.push(self.external(t, state))
            except MultiArmError as error:
                raise SimulationError(f"external: {error}", t, step) from error


def _torques(model: Model, given: ArrayLike | Mapping[str, ArrayLike], t: float, step: int) -> np.ndarray:
    """What a controller returned, as nv numbers, or the error that says what is wrong with it."""
    try:
        values = model.forces(given) if isinstance(given, Mapping) else np.asarray(given, float)
        if values.shape == (model.nv,) and not np.isfinite(values).all():
            bad = int(np.flatnonzero(~np.isfinite(values))[0])
            joint = model.velocity_names[bad]
            raise ControllerError(f"the controller returned {values[bad]} as the torque of {joint!r}", t, step, joint)
        return model.forces(given)
    except ControllerError:
        raise
    except (MultiArmError, TypeError, ValueError) as error:
        raise ControllerError(f"the controller's torques do not fit: {error}", t, step) from error
