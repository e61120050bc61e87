"""The structured solver: O(n) + O(l) beside weak directions, right through singularities."""

from __future__ import annotations

from multiarm.solvers.compiled import solve_compiled
from multiarm.solvers.problem import Answer, Problem
from multiarm.sweeps.structured import structured

__all__ = ["solve_structured"]


def solve_structured(problem: Problem) -> Answer:
    """Clusters of cuts eliminated one by one, hubs solved for; `sweeps.structured.structured`."""
    return solve_compiled(structured, problem)
