"""A force with everything needed to read it: moment, point, axes, on whom and by whom."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from multiarm.errors import BadInputError
from multiarm.poses import as_vector3

__all__ = ["Wrench"]


@dataclass(frozen=True, eq=False)
class Wrench:
    """Torque [N m] about `point` and force [N], world axes, acting `on` one body `by` another.

    Examples
    --------
    >>> push = Wrench(torque=(0, 0, 0), force=(0, 0, 2.0), point=(0, 0, 0), on="box", by="hand")
    >>> push.about((0, 1, 0)).torque
    array([-2.,  0.,  0.])
    """

    torque: np.ndarray
    force: np.ndarray
    point: np.ndarray
    on: str
    by: str

    def __post_init__(self) -> None:
        for name in ("torque", "force", "point"):
            value = as_vector3(getattr(self, name), f"wrench on {self.on!r}: {name}")
            object.__setattr__(self, name, value.copy())  # SciPy's rotations refuse read-only arrays

    def about(self, point: ArrayLike) -> Wrench:
        """The same wrench with its torque taken about another point [m, world axes]."""
        new = as_vector3(point, "point")
        return Wrench(self.torque + np.cross(self.point - new, self.force), self.force, new, self.on, self.by)

    @property
    def array(self) -> np.ndarray:
        """[torque; force], six entries."""
        return np.concatenate([self.torque, self.force])

    def __add__(self, other: Wrench) -> Wrench:
        """Both together, about this wrench's point; they must act between the same two bodies."""
        if (self.on, self.by) != (other.on, other.by):
            raise BadInputError(f"a wrench on {self.on!r} by {self.by!r} and one on {other.on!r} by {other.by!r}")
        moved = other.about(self.point)
        return Wrench(self.torque + moved.torque, self.force + moved.force, self.point, self.on, self.by)

    def __neg__(self) -> Wrench:
        return Wrench(-self.torque, -self.force, self.point, self.by, self.on)

    def __str__(self) -> str:
        with np.printoptions(precision=6, suppress=True):
            return f"on {self.on} by {self.by}: torque {self.torque} N m, force {self.force} N at {self.point} m"
