"""RCCFD2: forces from the innovations, then one smoothing sweep."""

from __future__ import annotations

from multiarm.solvers.compiled import solve_compiled
from multiarm.solvers.problem import Answer, Problem
from multiarm.sweeps.rccfd import rccfd2

__all__ = ["solve_rccfd2"]


def solve_rccfd2(problem: Problem) -> Answer:
    """Omega f from the innovations, then theta'' at once: JPL 88-11-II (6.18), `sweeps.rccfd.rccfd2`."""
    return solve_compiled(rccfd2, problem)
