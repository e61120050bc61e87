"""Closed-chain solvers, one file each; all turn the same problem into the same answer."""

from __future__ import annotations

from collections.abc import Callable

from multiarm.solvers.dense import solve_dense
from multiarm.solvers.problem import Answer, Problem

__all__ = ["SOLVERS", "Answer", "Problem"]

SOLVERS: dict[str, Callable[[Problem], Answer]] = {"dense": solve_dense}
