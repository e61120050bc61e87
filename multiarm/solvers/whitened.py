"""What RCCFD1 to RCCFD3 share: the constraints seen through the innovations filter, and Omega without forming it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse.linalg import LinearOperator

from multiarm.constraints import whole_rows
from multiarm.dynamics import inverse_dynamics
from multiarm.operators import Operators, operators
from multiarm.solvers.problem import Problem

__all__ = ["Whitened"]


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
        rank = int((s > self.problem.constraints.rank_tolerance * s.max(initial=0.0)).sum())
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
