"""RCCFD1: free accelerations, forces, correction."""

from __future__ import annotations

from multiarm.solvers.compiled import solve_compiled
from multiarm.solvers.problem import Answer, Problem
from multiarm.sweeps.rccfd import rccfd1

__all__ = ["solve_rccfd1"]


def solve_rccfd1(problem: Problem) -> Answer:
    """theta''_f, then Omega f = want - J theta''_f, then Delta theta'': JPL 88-11-II (6.11), `sweeps.rccfd.rccfd1`."""
    return solve_compiled(rccfd1, problem)
