"""The problem that closed-chain solvers solve, and the answer they give."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from multiarm.constraints import Constraints
from multiarm.forces import Values, cut_actuators, split_forces
from multiarm.model import Model
from multiarm.state import State
from multiarm.workspace import External
from multiarm.wrench import Wrench

__all__ = ["Answer", "Problem", "make_problem"]


@dataclass(frozen=True, eq=False)
class Problem:
    """M a + C = tau + J* lambda + external, J a = gamma; `external` includes the `actuators` of cut joints."""

    model: Model
    state: State
    tau: np.ndarray
    external: dict[str, tuple[Wrench, ...]]
    actuators: dict[str, Wrench]
    constraints: Constraints


@dataclass(frozen=True, eq=False)
class Answer:
    """Accelerations and multipliers.

    Attributes
    ----------
    a : (nv,)
        Accelerations.
    multipliers : (rows,)
        lambda, least in norm where several are possible (newtons and newton metres alike, a length of 1 m).
    rank : int
        Number of independent constraint rows.
    determinate : (rows,)
        Whether each multiplier has only one possible value.
    """

    a: np.ndarray
    multipliers: np.ndarray
    rank: int
    determinate: np.ndarray


def make_problem(
    model: Model, state: State, constraints: Constraints, tau: Values, external: External | None
) -> Problem:
    """Collect what acts, with the actuators of cut joints as wrenches."""
    forces, acting = split_forces(model, state, tau, external)
    return Problem(model, state, forces, acting, cut_actuators(model, state, tau), constraints)
