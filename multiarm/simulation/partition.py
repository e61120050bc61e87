"""Drift kept out by integrating independent coordinates only: the others follow from the constraints."""

from __future__ import annotations

import numpy as np
from scipy.linalg import qr

from multiarm.constraints import Constraints, constraints
from multiarm.manifold import advance
from multiarm.simulation.bench import Bench

__all__ = ["Partition"]

STEPS = 20
CLOSED = 1e-13  # m or rad
WORN = 0.1  # of the conditioning that a partition had when it was chosen


class Partition:
    """Which velocities depend on the others; chosen anew when they hardly do any more.

    The dependent ones are the columns of J that a QR factorisation with pivoting takes first (Wehage and Haug 1982).
    """

    def __init__(self) -> None:
        self._dependent: np.ndarray | None = None
        self._conditioning = 0.0

    def correct(self, bench: Bench) -> float:
        """Dependent coordinates and velocities from the independent ones; returns the gap that is left."""
        rows = constraints(bench.model, bench.state)
        self._choose(rows)
        dependent = self._dependent
        gap = float(np.abs(rows.gap).max(initial=0.0))
        for _ in range(STEPS):
            if gap <= CLOSED:
                break
            step = np.zeros(bench.model.nv)
            step[dependent] = np.linalg.lstsq(rows.gap_jacobian[:, dependent], -rows.gap, rcond=1e-10)[0]
            bench.q[:] = advance(bench.model, bench.q, step)
            rows = constraints(bench.model, bench.state)
            before, gap = gap, float(np.abs(rows.gap).max(initial=0.0))
            if not gap < 0.5 * before:
                break
        bench.v[dependent] += np.linalg.lstsq(rows.jacobian[:, dependent], -rows.slip, rcond=1e-10)[0]
        return gap

    def _choose(self, rows: Constraints) -> None:
        """Keep the partition, or choose one where there is none or it has become ill-conditioned."""
        if self._dependent is not None and self._worth(rows, self._dependent) > WORN * self._conditioning:
            return
        _, triangle, order = qr(rows.jacobian, mode="economic", pivoting=True)
        diagonal = np.abs(np.diag(triangle))
        rank = rows.rank_of(np.linalg.svd(rows.jacobian, compute_uv=False)) if len(diagonal) else 0
        self._dependent = np.sort(order[:rank])
        self._conditioning = self._worth(rows, self._dependent)

    @staticmethod
    def _worth(rows: Constraints, dependent: np.ndarray) -> float:
        """Smallest over largest singular value of the dependent columns that count."""
        if not len(dependent):
            return 1.0
        s = np.linalg.svd(rows.jacobian[:, dependent], compute_uv=False)
        return float(s[len(dependent) - 1] / s[0])
