"""What all controllers are: a model and the tables that compiled code takes torques from."""

from __future__ import annotations

from dataclasses import dataclass, field
from inspect import signature
from typing import Any, Self

import numpy as np

from multiarm.checks import as_number
from multiarm.errors import BadInputError
from multiarm.loop_tables import loop_tables
from multiarm.model import Model
from multiarm.state import State
from multiarm.sweeps import control_layout as co
from multiarm.sweeps import layout as at
from multiarm.sweeps.control import control
from multiarm.sweeps.forward import fd4
from multiarm.workspace import raise_for_status

__all__ = ["Controller"]


@dataclass(frozen=True, eq=False, repr=False)
class Controller:
    """Torques from time and state: ``controller(t, state)`` gives tau, nv entries, zero where there is no actuator.

    Frozen, and without memory: equal arguments give equal torques, to the bit also where compiled code calls it. That
    takes the tables of `packed` and a desk of `desk_size` floats (`multiarm.sweeps.control.control`); the cuts in them
    are numbered as in ``compiled(model).loops``.
    """

    model: Model
    numbers: np.ndarray = field()
    whole: np.ndarray = field()

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """Remember what it is made with, to make it again for a variant of the model."""
        made = super().__new__(cls)
        object.__setattr__(made, "_given", (args[1:], {name: x for name, x in kwargs.items() if name != "model"}))
        return made

    def __post_init__(self) -> None:
        self.numbers.setflags(write=False)
        self.whole.setflags(write=False)

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            object.__setattr__(self, name, value)
        Controller.__post_init__(self)

    def on(self, model: Model) -> Self:
        """The same controller for a variant of its model, in which other cuts hold; internal forces of others go."""
        args, kwargs = self._given  # type: ignore[attr-defined]
        given = signature(type(self)).bind(model, *args, **kwargs).arguments
        given |= {name: x.q for name, x in given.items() if isinstance(x, State)}
        if given.get("internal"):
            held = {*model.cuts}
            given["internal"] = {
                name: x for name, x in given["internal"].items() if {name} <= held or {*name} <= held
            } or None
        return type(self)(**given)

    @property
    def desk_size(self) -> int:
        """How many floats of memory a call works in."""
        return int(self.whole[co.DESK])

    def packed(self) -> tuple[np.ndarray, np.ndarray]:
        """(numbers, whole): copies that may be handed to compiled code."""
        return self.numbers.copy(), self.whole.copy()

    def __call__(self, t: float, state: State) -> np.ndarray:
        """Torques at time t, limits kept."""
        return self._torques(t, state)[0]

    def unlimited(self, t: float, state: State) -> np.ndarray:
        """Torques at time t as if there were no limits."""
        return self._torques(t, state)[1][: self.model.nv]

    def _torques(self, t: float, state: State) -> tuple[np.ndarray, np.ndarray]:
        model = self.model
        q, v = np.array(model.own(state).q), np.array(state.v)
        loops = loop_tables(model).copy()
        tree, link = model.tree.copy(), model.link.copy()
        tau, desk = np.empty(model.nv), np.zeros(self.desk_size)
        status = control(
            tree, link, loops.loop, loops.cut, loops.room, *self.packed(), desk, as_number(t, "time"), q, v, tau
        )
        if status:
            self._explain(status, tree, link, q, v)
        return tau, desk

    def _explain(self, status: int, tree: np.ndarray, link: np.ndarray, q: np.ndarray, v: np.ndarray) -> None:
        """Raise what a status of `control` stands for."""
        if status == at.WRONG_LENGTH:
            raise_for_status(self.model, link, status)
        if bad := fd4(tree, link, q, v, np.zeros(self.model.nv), np.empty(self.model.nv)):
            raise_for_status(self.model, link, bad)
        raise BadInputError("the mass matrix is not positive beyond rounding, or the state is not finite")

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.model.name!r}>"
