"""Which forces through the joints of the tree have only one possible value, when redundant loops leave others open."""

from __future__ import annotations

import numpy as np

from multiarm.constraints import Constraints
from multiarm.load import grasp_map

__all__ = ["loose_multipliers", "one_value_through"]

NOTHING = 1e-6  # of a unit multiplier: a force that does not change


def loose_multipliers(rows: Constraints) -> np.ndarray:
    """Orthonormal columns that span the multipliers with J* lambda = 0: they load the loops and move nothing."""
    left, s, _ = np.linalg.svd(rows.jacobian)
    return left[:, rows.rank_of(s) :]


def one_value_through(rows: Constraints, loose: np.ndarray, joint: str) -> bool:
    """Whether the force through a tree joint is the same for all multipliers that differ by `loose` ones.

    Where nothing moves, what a tree joint transmits balances the cuts between the bodies it carries and the others.
    """
    carried = _carried(rows, joint)
    crossing = [part for part in rows.cuts if (part.cut.child.body in carried) != (part.cut.parent.body in carried)]
    if not crossing or not loose.size:
        return True
    wrenches = [
        (1.0 if part.cut.child.body in carried else -1.0) * part.basis.T @ loose[rows.rows_of(part.cut.name)]
        for part in crossing
    ]
    net = grasp_map([part.point for part in crossing], crossing[0].point) @ np.vstack(wrenches)
    return bool(np.abs(net).max() < NOTHING)


def _carried(rows: Constraints, joint: str) -> set[str]:
    """All bodies that hang in the tree by the joint."""
    bodies = [rows.model.hangs_by(joint)]
    for body in bodies:  # grows as it goes
        bodies += rows.model.topology.children(body)
    return set(bodies)
