"""The rows that a cut joint or grasp constrains, each fixed in the world, on one of its bodies, or across two axes.

With S the motions that the joint leaves free (`joints.free_directions`), the rows of N are an orthonormal basis of
their complement (metres and radians alike, a length of 1 m): N V = 0, and N* lambda on the child does no work on S u.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from multiarm.description import Joint
from multiarm.joints import free_directions
from multiarm.sweeps import loop_layout as lo

__all__ = ["CutRow", "across", "cut_rows"]

PLAIN = np.eye(6)


@dataclass(frozen=True, eq=False)
class CutRow:
    """One row of N: the axes it is fixed in (`sweeps.loop_layout`) and its six entries there.

    A row ACROSS is the common normal of two axes: `entries` are the one on the parent and the one on the child.
    """

    axes: int
    entries: np.ndarray


def cut_rows(joint: Joint) -> tuple[CutRow, ...]:
    """Rows of N of a cut joint, angular ones first where they can be told apart.

    Examples
    --------
    >>> from multiarm.description import Joint
    >>> [len(cut_rows(Joint("j", kind, "a", "b"))) for kind in ("fixed", "revolute", "spherical", "free")]
    [6, 5, 3, 0]
    """
    free = free_directions(joint, np.eye(3), np.eye(3))
    if joint.kind == "screw":  # ties rotation and translation
        return tuple(CutRow(lo.ON_PARENT, row) for row in across(free))
    turning = free[:3, free[:3].any(axis=0)]
    sliding = free[3:, free[3:].any(axis=0)]
    if joint.kind == "universal":
        angular: tuple[CutRow, ...] = (CutRow(lo.ACROSS, np.concatenate([joint.axis, joint.axis2])),)
    else:
        on = lo.ON_CHILD if joint.kind == "soft_finger" else lo.ON_PARENT
        angular = _half(turning, on, 0)
    return (*angular, *_half(sliding, lo.ON_PARENT, 3))


def _half(free: np.ndarray, on: int, first: int) -> tuple[CutRow, ...]:
    """Rows across the rotations, or the slides, that are free; any three will do where none is."""
    rows = np.zeros((3 - free.shape[1], 6))
    rows[:, first : first + 3] = np.eye(3) if free.shape[1] == 0 else across(free)
    return tuple(CutRow(lo.IN_WORLD if free.shape[1] == 0 else on, row) for row in rows)


def across(columns: np.ndarray) -> np.ndarray:
    """Orthonormal rows orthogonal to independent columns."""
    return np.linalg.svd(columns)[0][:, columns.shape[1] :].T
