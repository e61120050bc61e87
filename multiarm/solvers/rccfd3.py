"""RCCFD3: the part that the torques drive, and the part that the constraints' own bias drives."""

from __future__ import annotations

from multiarm.solvers.compiled import solve_compiled
from multiarm.solvers.problem import Answer, Problem
from multiarm.sweeps.rccfd import rccfd3

__all__ = ["solve_rccfd3"]


def solve_rccfd3(problem: Problem) -> Answer:
    """theta''_1 + theta''_2, each of its own cause: JPL 88-11-II (6.22), `sweeps.rccfd.rccfd3`."""
    return solve_compiled(rccfd3, problem)
