"""How a mechanism can move: the count of its rows, and the rank they really have at a state."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from multiarm.assembly import assemble
from multiarm.closed_chain import require_closed
from multiarm.constraints import Constraints, constraints
from multiarm.errors import OpenLoopError
from multiarm.manifold import advance
from multiarm.model import Model
from multiarm.state import State

__all__ = ["Mobility", "mobility"]

NEIGHBOURS = 6
NEIGHBOURHOOD = 0.05  # rad or m: how far the neighbours are that tell the generic rank
RECOVERED = 1e-4  # of the largest singular value: closing a loop at a singular point leaves 1e-6, a neighbour has 1e-3


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
    generic_rank, rank_drop : int
        The largest rank at neighbouring states on the constraints, and how much of it is lost here: not zero at a
        bifurcation (a parallelogram in line) or a singular pose. Computed when first asked for.
    """

    kutzbach: int
    instantaneous: int
    configurations: int
    rows: int
    rank: int
    singular_values: np.ndarray
    conditioning: float
    constraints: Constraints = field(repr=False)

    @cached_property
    def generic_rank(self) -> int:
        """The largest rank here or at neighbouring states on the constraints; always the same neighbours."""
        values = [np.linalg.svd(rows.jacobian, compute_uv=False) for rows in _neighbours(self.constraints)]
        return max([self.rank, *(int((s > RECOVERED * s.max(initial=0.0)).sum()) for s in values)])

    @property
    def rank_drop(self) -> int:
        """By how much the rank here is below the generic one."""
        return self.generic_rank - self.rank


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
    model = model.complete(state)
    rows = constraints(model, state)
    require_closed(rows)
    values, rank = _measure(rows.jacobian, rows)
    holonomic = _measure(rows.gap_jacobian, rows)[1]
    count = len(rows.jacobian)
    conditioning = float(values[rank - 1] / values[0]) if rank else 1.0
    return Mobility(model.nv - count, model.nv - rank, model.nv - holonomic, count, rank, values, conditioning, rows)


def _measure(jacobian: np.ndarray, rows: Constraints) -> tuple[np.ndarray, int]:
    """Singular values, largest first, and how many of them count."""
    values = np.linalg.svd(jacobian, compute_uv=False)
    return values, rows.rank_of(values)


def _neighbours(rows: Constraints) -> list[Constraints]:
    """Constraints a small step away along what they leave free, in random directions, and back onto them.

    Where the step cannot be taken (a structure that only seems to move) there is none.
    """
    model, rank = rows.model, _measure(rows.gap_jacobian, rows)[1]
    free = np.linalg.svd(rows.gap_jacobian)[2][rank:]
    if not len(rows.gap) or not len(free):
        return []
    found = []
    for way in np.random.default_rng(0).normal(size=(NEIGHBOURS, len(free))):
        step = NEIGHBOURHOOD * (way / np.linalg.norm(way)) @ free
        try:
            state = assemble(model, model.state(q=advance(model, rows.state.q, step)))
        except OpenLoopError:
            continue
        found.append(constraints(model, state))
    return found
