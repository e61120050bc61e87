"""RCCFD1: free dynamics, forces, correction."""

from __future__ import annotations

import numpy as np

from multiarm.solvers.problem import Answer, Problem
from multiarm.solvers.whitened import Whitened

__all__ = ["solve_rccfd1"]


def solve_rccfd1(problem: Problem) -> Answer:
    """theta''_f = (I - H Psi L)* D^-1 (I - H Psi L) T', Omega f = alpha_f - ..., theta'' = theta''_f + Delta theta''.

    JPL 88-11-II (6.11). Sweeps: two for T', two for theta''_f, one for J theta''_f, one for Omega, one for the change.
    With our sign of lambda (+J* lambda on the right-hand side), Delta theta'' = (I - H Psi L)* D^-1 H psi B lambda.
    """
    w = Whitened(problem)
    o = w.o
    free = w.whiten.H @ (o.D_inverse @ (w.whiten @ w.free_torque))
    free_motion = w.link_forces.T @ (o.phi.H @ (o.H.H @ free)) + w.coupling_forces.T @ free
    multipliers = w.solve_omega(problem.constraints.bias - free_motion)
    change = w.whiten.H @ (o.D_inverse @ (w.constraint @ multipliers))
    return Answer(np.asarray(free + change), multipliers, w.rank, w.determinate)
