"""RCCFD3: the part that the torques drive, and the part that the constraints' own bias drives."""

from __future__ import annotations

import numpy as np

from multiarm.solvers.problem import Answer, Problem
from multiarm.solvers.whitened import Whitened

__all__ = ["solve_rccfd3"]


def solve_rccfd3(problem: Problem) -> Answer:
    """theta'' = theta''_1 + theta''_2, each of its own cause, with zeta = Omega^-1 a'.

    theta''_1 = (I - H Psi L)* {D^-1 - D^-1 H psi B Omega^-1 B* psi* H* D^-1} (I - H Psi L) T',
    theta''_2 = (I - H Psi L)* D^-1 H psi B zeta. JPL 88-11-II (6.22). Sweeps: two for T', one for Omega, four for
    theta''_1, two for theta''_2.
    """
    w = Whitened(problem)
    o = w.o
    zeta = w.solve_omega(problem.constraints.bias)
    weighted = o.D_inverse @ (w.whiten @ w.free_torque)
    reaction = w.solve_omega(w.constraint.T @ weighted)
    driven = w.whiten.H @ (weighted - o.D_inverse @ (w.constraint @ reaction))
    biased = w.whiten.H @ (o.D_inverse @ (w.constraint @ zeta))
    return Answer(np.asarray(driven + biased), zeta - reaction, w.rank, w.determinate)
