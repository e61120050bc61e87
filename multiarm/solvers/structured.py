"""The structured solver: O(n) + O(l), right through singularities."""

from __future__ import annotations

import numpy as np

from multiarm.loop_tables import loop_tables
from multiarm.solvers.problem import Answer, Problem
from multiarm.sweeps import loop_layout as lo
from multiarm.sweeps.structured import structured
from multiarm.workspace import located

__all__ = ["solve_structured"]


def solve_structured(problem: Problem) -> Answer:
    """Clusters of cuts eliminated one by one, hubs solved for; see `sweeps.structured.structured`."""
    model, state = problem.model, problem.state
    workspace = located(model, state, problem.external)
    loops = loop_tables(model).copy()
    a = np.empty(model.nv)
    workspace.check(
        structured(
            workspace.tree, workspace.link, loops.loop, loops.cut, loops.room,
            np.array(state.q), np.array(state.v), np.array(problem.tau), a,
        )
    )  # fmt: skip
    determinate = loops.per_row(lo.FREE) < 1e-8
    return Answer(a, loops.per_row(lo.LAMBDA), int(loops.loop[0, lo.RANK]), determinate)
