"""RCCFD1 to RCCFD3 as JPL 88-11-II prints them, written on `multiarm.operators`: what the kernels are checked against.

The constraints are seen through the innovations filter, (I - H Psi L) J*, and Omega is D^-1 between two of those.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse.linalg import LinearOperator

from multiarm.constraints import whole_rows
from multiarm.dynamics import inverse_dynamics
from multiarm.operators import Operators, operators
from multiarm.solvers.problem import Answer, Problem


@dataclass(frozen=True, eq=False)
class Whitened:
    """A problem and the operators of its tree.

    The constraint forces enter by J* = H phi B + E: B puts each cut's wrench on its two links, child plus and parent
    minus (so the object counts as any other tree, and A M(C)^-1 A* is part of J M^-1 J*), E is for couplings.
    """

    problem: Problem

    @cached_property
    def o(self) -> Operators:
        """Operators of the tree."""
        return operators(self.problem.model, self.problem.state)

    @cached_property
    def free_torque(self) -> np.ndarray:
        """T' = T - H phi (M phi* a + b - external) (6.11a), a zero-acceleration Newton-Euler; two sweeps."""
        problem = self.problem
        return problem.tau - inverse_dynamics(problem.model, problem.state, None, problem.external)

    @cached_property
    def whiten(self) -> LinearOperator:
        """I - H Psi L."""
        return self.o.joint_identity - self.o.H @ self.o.Psi @ self.o.L

    @cached_property
    def link_forces(self) -> np.ndarray:
        """B, from multipliers to forces on the links."""
        rows = self.problem.constraints
        b = np.zeros((6 * self.problem.model.nv, len(rows.names)))
        start = 0
        for part in rows.cuts:
            stop = start + len(part.basis)
            for body, sign in ((part.cut.child.body, 1.0), (part.cut.parent.body, -1.0)):
                b[:, start:stop] += sign * self.o.at_point(body, part.point) @ part.basis.T
            start = stop
        return b

    @cached_property
    def coupling_forces(self) -> np.ndarray:
        """E, from multipliers to joint forces."""
        rows = self.problem.constraints
        e = np.zeros((self.problem.model.nv, len(rows.names)))
        e[:, len(rows.names) - len(rows.couplings) :] = rows.coupling_rows.T
        return e

    @cached_property
    def constraint(self) -> np.ndarray:
        """(I - H Psi L) J* = H psi B + (I - H Psi L) E, by identity (5.4); one sweep a row."""
        return np.asarray(self.o.H @ (self.o.psi @ self.link_forces) + self.whiten @ self.coupling_forces)

    @cached_property
    def _factors(self) -> tuple[np.ndarray, np.ndarray]:
        """V and s of D^-1/2 (I - H Psi L) J* = U s V*: Omega = V s^2 V* with all digits of its weak directions."""
        scale = np.sqrt(self.o.innovation_covariances)[:, None]
        _, s, right = np.linalg.svd(self.constraint / scale, full_matrices=False)
        rank = self.problem.constraints.rank_of(s, 1.0 / np.sqrt(self.o.innovation_covariances))
        return right[:rank].T, s[:rank]

    @property
    def rank(self) -> int:
        """Rank of Omega."""
        return len(self._factors[1])

    @property
    def determinate(self) -> np.ndarray:
        """Which multipliers have only one possible value."""
        return whole_rows(self._factors[0])

    def solve_omega(self, right: np.ndarray) -> np.ndarray:
        """Least lambda with Omega lambda = right, Omega = J M^-1 J* = B* psi* H* D^-1 H psi B (6.11d); O(rows^3)."""
        v, s = self._factors
        return np.asarray(v @ ((v.T @ right) / s**2))


def rccfd1(problem: Problem) -> Answer:
    """theta''_f = (I - H Psi L)* D^-1 (I - H Psi L) T', Omega f = alpha_f - ..., theta'' = theta''_f + Delta theta''.

    (6.11). With our sign of lambda (+J* lambda on the right-hand side), Delta theta'' = (I - H Psi L)* D^-1 H psi B f.
    """
    w = Whitened(problem)
    free = w.whiten.H @ (w.o.D_inverse @ (w.whiten @ w.free_torque))
    free_motion = w.link_forces.T @ (w.o.phi.H @ (w.o.H.H @ free)) + w.coupling_forces.T @ free
    multipliers = w.solve_omega(problem.constraints.bias - free_motion)
    change = w.whiten.H @ (w.o.D_inverse @ (w.constraint @ multipliers))
    return Answer(np.asarray(free + change), multipliers, w.rank, w.determinate)


def rccfd2(problem: Problem) -> Answer:
    """Omega f = B* psi* H* D^-1 (I - H Psi L) T' - a', theta'' = (I - H Psi L)* D^-1 {T' - H psi (S L T' + B f)}.

    (6.18). T' - H psi S L T' is the innovation (I - H Psi L) T'.
    """
    w = Whitened(problem)
    innovation = w.whiten @ w.free_torque
    free_motion = w.constraint.T @ (w.o.D_inverse @ innovation)
    multipliers = w.solve_omega(problem.constraints.bias - free_motion)
    a = w.whiten.H @ (w.o.D_inverse @ (innovation + w.constraint @ multipliers))
    return Answer(np.asarray(a), multipliers, w.rank, w.determinate)


def rccfd3(problem: Problem) -> Answer:
    """theta'' = theta''_1 + theta''_2, each of its own cause, with zeta = Omega^-1 a' (6.22).

    theta''_1 = (I - H Psi L)* {D^-1 - D^-1 H psi B Omega^-1 B* psi* H* D^-1} (I - H Psi L) T',
    theta''_2 = (I - H Psi L)* D^-1 H psi B zeta.
    """
    w = Whitened(problem)
    zeta = w.solve_omega(problem.constraints.bias)
    weighted = w.o.D_inverse @ (w.whiten @ w.free_torque)
    reaction = w.solve_omega(w.constraint.T @ weighted)
    driven = w.whiten.H @ (weighted - w.o.D_inverse @ (w.constraint @ reaction))
    biased = w.whiten.H @ (w.o.D_inverse @ (w.constraint @ zeta))
    return Answer(np.asarray(driven + biased), zeta - reaction, w.rank, w.determinate)
