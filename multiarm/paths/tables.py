"""Paths as tables of numbers that compiled code evaluates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.transform import RigidTransform, Rotation

from multiarm.checks import as_number
from multiarm.sweeps import paths as kernels

__all__ = ["JointPath", "Path"]


@dataclass(frozen=True, eq=False, repr=False)
class _Table:
    """A path as the numbers that `sweeps.paths` describes."""

    table: np.ndarray

    def __post_init__(self) -> None:
        self.table.setflags(write=False)

    def __setstate__(self, state: dict[str, Any]) -> None:
        object.__setattr__(self, "table", state["table"])
        self.table.setflags(write=False)

    @property
    def times(self) -> np.ndarray:
        """Where the pieces begin, and where the last one ends [s]."""
        return self.table[kernels.TIMES : kernels.TIMES + int(self.table[kernels.PIECES]) + 1]

    @property
    def duration(self) -> float:
        """The time after which the path rests [s]."""
        return float(self.times[-1])

    def __repr__(self) -> str:
        count = len(self.times) - 1
        return f"<{type(self).__name__}: {count} piece{'s' * (count != 1)}, until {self.duration:g} s>"


class Path(_Table):
    """A path of poses.

    Examples
    --------
    >>> import multiarm as ma
    >>> path = ma.paths.quintic([(0, 0, 0), (0, 0, 1)], [0, 2])
    >>> pose, velocity, acceleration = path(1.0)
    >>> float(pose.translation[2]), float(velocity[5]), float(acceleration[5])
    (0.5, 0.9375, 0.0)
    """

    def __call__(self, t: float) -> tuple[RigidTransform, np.ndarray, np.ndarray]:
        """Pose, velocity [omega; v] and acceleration [omega-dot; v-dot] at time t, world axes, at the pose's origin."""
        out = np.empty(kernels.VALUES)
        kernels.path_values(self.table.copy(), as_number(t, "time"), out)
        return RigidTransform.from_components(out[4:7], Rotation.from_quat(out[:4])), out[7:13], out[13:]


class JointPath(_Table):
    """A path of joint coordinates [rad or m]."""

    @property
    def width(self) -> int:
        """Number of coordinates."""
        return int(self.table[kernels.WIDTH]) // kernels.TERMS

    def __call__(self, t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Coordinates, rates and accelerations at time t."""
        q, v, a = np.empty((3, self.width))
        kernels.joint_path_values(self.table.copy(), as_number(t, "time"), q, v, a)
        return q, v, a
