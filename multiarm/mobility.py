"""How a mechanism can move: the count of its rows, and the rank they really have at a state."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from multiarm.closed_chain import require_closed
from multiarm.constraints import constraints
from multiarm.model import Model
from multiarm.state import State

__all__ = ["Mobility", "mobility"]


@dataclass(frozen=True, eq=False)
class Mobility:
    """Degrees of freedom at a state.

    Attributes
    ----------
    kutzbach : int
        nv less the constraint rows: right only if every row is independent.
    instantaneous : int
        nv less the rank of the velocity constraints: the independent velocities.
    configurations : int
        nv less the rank of the position constraints; larger where a soft finger is non-holonomic.
    rows, rank : int
        Velocity constraint rows, and how many of them are independent.
    singular_values : array
        Of the constraint Jacobian, largest first (radians and metres alike, a length of 1 m).
    conditioning : float
        Smallest singular value of the independent rows over the largest; small near a singularity. On one, `rank` drops
        and the value that vanished is no longer counted.
    """

    kutzbach: int
    instantaneous: int
    configurations: int
    rows: int
    rank: int
    singular_values: np.ndarray
    conditioning: float


def mobility(model: Model, state: State) -> Mobility:
    """Count and measure the freedom of `model` at `state`.

    Examples
    --------
    >>> import multiarm as ma
    >>> m = ma.Mechanism()
    >>> m.add_arm("arm", ma.robots.planar(3))
    >>> model = m.compile()
    >>> ma.mobility(model, model.state()).instantaneous
    3
    """
    rows = constraints(model, state)
    require_closed(rows)
    values = np.linalg.svd(rows.jacobian, compute_uv=False)
    positions = np.linalg.svd(rows.gap_jacobian, compute_uv=False)
    rank, holonomic = _rank(values, rows.rank_tolerance), _rank(positions, rows.rank_tolerance)
    count = len(rows.jacobian)
    conditioning = float(values[rank - 1] / values[0]) if rank else 1.0
    return Mobility(model.nv - count, model.nv - rank, model.nv - holonomic, count, rank, values, conditioning)


def _rank(values: np.ndarray, tolerance: float) -> int:
    return int((values > tolerance * values.max(initial=0.0)).sum())
