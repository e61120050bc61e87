"""The oracle: composite-body mass matrix and kinematic Jacobians, no articulated sweep."""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve_triangular

from multiarm.constraints import whole_rows
from multiarm.dynamics import inverse_dynamics, mass_factor
from multiarm.solvers.problem import Answer, Problem

__all__ = ["solve_dense"]


def solve_dense(problem: Problem) -> Answer:
    """[M, -J*; J, 0] [a; lambda] = [tau - C; gamma], O((n + rows)^3).

    With M = U* U and J U^-1 = W diag(s) V*, the part of a along V is set by the constraints and the rest by the forces:
    a = U^-1 (V s^-1 W* gamma + (1 - V V*) U^-* (tau - C)). So a redundant row (s = 0) drops out, and a weak one loses
    no more digits than it has.
    """
    model, rows = problem.model, problem.constraints
    forces = problem.tau - inverse_dynamics(model, problem.state, None, problem.external)
    upper = mass_factor(model, problem.state)
    free = solve_triangular(upper, forces, trans="T")
    weighted = solve_triangular(upper, rows.jacobian.T, trans="T").T
    left, s, right = np.linalg.svd(weighted, full_matrices=False)
    rank = rows.rank_of(s, 1.0 / np.linalg.norm(upper, axis=0))
    left, s, right = left[:, :rank], s[:rank], right[:rank]
    along = left.T @ rows.bias / s
    scaled = free + right.T @ (along - right @ free)
    multipliers = left @ ((along - right @ free) / s)
    return Answer(solve_triangular(upper, scaled), multipliers, rank, whole_rows(left))
