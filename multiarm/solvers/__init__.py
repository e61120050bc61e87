"""Closed-chain solvers, one file each; all turn the same problem into the same answer."""

from __future__ import annotations

from collections.abc import Callable

from multiarm.solvers.dense import solve_dense
from multiarm.solvers.problem import Answer, Problem
from multiarm.solvers.rccfd1 import solve_rccfd1
from multiarm.solvers.rccfd2 import solve_rccfd2
from multiarm.solvers.rccfd3 import solve_rccfd3
from multiarm.solvers.structured import solve_structured

__all__ = ["SOLVERS", "Answer", "Problem"]

SOLVERS: dict[str, Callable[[Problem], Answer]] = {
    "structured": solve_structured,
    "rccfd1": solve_rccfd1,
    "rccfd2": solve_rccfd2,
    "rccfd3": solve_rccfd3,
    "dense": solve_dense,
}
