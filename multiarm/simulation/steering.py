"""Who drives a run: a controller and what pushes from outside, compiled or asked from Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from multiarm.errors import MultiArmError, SimulationError
from multiarm.model import Model
from multiarm.simulation.bench import Bench, CompiledController
from multiarm.simulation.torques import torques_of
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
        return self.limits is None and hasattr(self.controller, "packed")

    @property
    def asks_python(self) -> bool:
        """Whether every step has to ask something that is not compiled."""
        return (self.controller is not None and not self._compiled) or self.external is not None

    def on(self, model: Model, t: float, step: int) -> Steering:
        """The same for a variant of the model; a compiled controller is made anew for it."""
        if not hasattr(self.controller, "packed"):
            return self
        controller = cast("CompiledController", self.controller)
        if controller.model is model:
            return self
        try:
            return replace(self, controller=controller.on(model))
        except MultiArmError as error:
            raise SimulationError(f"{controller!r} cannot go on: {error}", t, step) from error

    @property
    def compiled(self) -> CompiledController | None:
        """The controller for the kernels, if it is one of those."""
        return cast("CompiledController", self.controller) if self._compiled else None

    def drive(self, bench: Bench, t: float, step: int) -> None:
        """Torques and wrenches at the bench's state, from those who are not compiled."""
        if not self.asks_python:
            return
        state = bench.state
        if self.controller is not None and not self._compiled:
            torques = torques_of(bench.model, cast("Controller", self.controller)(t, state), t, step)
            bench.tau[:] = torques if self.limits is None else np.clip(torques, -self.limits, self.limits)
        if self.external is not None:
            try:
                bench.push(self.external(t, state))
            except MultiArmError as error:
                raise SimulationError(f"external: {error}", t, step) from error
