"""RCCFD2: forces from the innovations, then one smoothing sweep."""

from __future__ import annotations

import numpy as np

from multiarm.solvers.problem import Answer, Problem
from multiarm.solvers.whitened import Whitened

__all__ = ["solve_rccfd2"]


def solve_rccfd2(problem: Problem) -> Answer:
    """Omega f = B* psi* H* D^-1 (I - H Psi L) T' - a', theta'' = (I - H Psi L)* D^-1 {T' - H psi (S L T' + B f)}.

    JPL 88-11-II (6.18). Sweeps: two for T', one for the innovations, one for Omega, one for theta''; the free
    accelerations are never formed. T' - H psi S L T' is the innovation (I - H Psi L) T'.
    """
    w = Whitened(problem)
    o = w.o
    innovation = w.whiten @ w.free_torque
    free_motion = w.constraint.T @ (o.D_inverse @ innovation)
    multipliers = w.solve_omega(problem.constraints.bias - free_motion)
    a = w.whiten.H @ (o.D_inverse @ (innovation + w.constraint @ multipliers))
    return Answer(np.asarray(a), multipliers, w.rank, w.determinate)
