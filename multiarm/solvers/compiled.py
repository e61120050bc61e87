"""From a problem to the tables of a compiled solver, and from what it leaves there to an answer."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from multiarm.loop_tables import loop_tables
from multiarm.solvers.problem import Answer, Problem
from multiarm.sweeps import loop_layout as lo
from multiarm.workspace import located

__all__ = ["solve_compiled"]

INDETERMINATE = 1e-8  # square of a multiplier's share in a direction that nothing depends on


def solve_compiled(kernel: Callable[..., int], problem: Problem) -> Answer:
    """Run a closed-chain kernel (tree, link, loop, cut, room, q, v, tau, out) on tables of its own."""
    model, state = problem.model, problem.state
    workspace = located(model, state, problem.external)
    loops = loop_tables(model).copy()
    a = np.empty(model.nv)
    tables = (workspace.tree, workspace.link, loops.loop, loops.cut, loops.room)
    workspace.check(kernel(*tables, np.array(state.q), np.array(state.v), np.array(problem.tau), a))
    determinate = loops.per_row(lo.FREE) < INDETERMINATE
    return Answer(a, loops.per_row(lo.LAMBDA), int(loops.loop[0, lo.RANK]), determinate)
