"""What a forward-dynamics solver says: accelerations, forces, and how well they satisfy the equations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from multiarm.grasp_motion import GraspMotion, grasp_motion
from multiarm.joint_forces import JointForces
from multiarm.kinematics import kinematics
from multiarm.model import Model
from multiarm.reactions import JointReactions
from multiarm.state import State
from multiarm.sweeps import layout as at
from multiarm.sweeps.composite import mass_matrix
from multiarm.sweeps.inverse import newton_euler
from multiarm.workspace import External, Workspace, located
from multiarm.wrench import Wrench

__all__ = ["JointForces", "Solution", "interbody_forces"]


def interbody_forces(model: Model, state: State, a: np.ndarray, external: External | None = None) -> JointForces:
    """f = phi (M alpha + b - external): the force through every tree joint, actuator and bearing together.

    JPL 88-11-I (3.17); equals P (alpha - a) + z of the articulated-body filter (SOA-Lecture). Tree joints only: loops
    are open.
    """
    workspace = _moved(model, state, a, external)[0]
    return JointForces(workspace, external)


def _moved(model: Model, state: State, a: np.ndarray, external: External | None) -> tuple[Workspace, np.ndarray]:
    """Tables after Newton-Euler at accelerations a, and the generalised forces it found."""
    workspace = located(model, state, external)
    tau = np.empty(model.nv)
    workspace.check(
        newton_euler(workspace.tree, workspace.link, np.array(state.q), np.array(state.v), np.array(a), tau)
    )
    return workspace, tau


@dataclass(frozen=True, eq=False, repr=False)
class Solution(np.lib.mixins.NDArrayOperatorsMixin):
    """Accelerations `a` and generalised forces `tau` (nv entries each) at a state; `external` is what acted besides.

    Where an array is expected, a Solution stands for its accelerations, as a State does for its coordinates.
    """

    model: Model
    state: State
    a: np.ndarray
    tau: np.ndarray
    external: External | None
    method: str

    def __post_init__(self) -> None:
        self.a.setflags(write=False)
        self.tau.setflags(write=False)

    @property
    def left_open(self) -> tuple[str, ...]:
        """Constraints that were not imposed: cut joints, grasps, and couplings (by their joint)."""
        return (*self.model.cuts, *(coupling.joint for coupling in self.model.couplings))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.a, dtype=dtype) if copy or dtype is not None else self.a

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        return getattr(ufunc, method)(*(x.a if isinstance(x, Solution) else x for x in inputs), **options)

    def __len__(self) -> int:
        return len(self.a)

    def __getitem__(self, index: Any) -> Any:
        return self.a[index]

    def __repr__(self) -> str:
        return f"<Solution of {self.model.name!r} by {self.method}: residual {self.residual:.1e}>"

    @cached_property
    def _newton_euler(self) -> tuple[Workspace, np.ndarray]:
        return _moved(self.model, self.state, self.a, self.external)

    def acceleration(self, name: str) -> np.ndarray:
        """True spatial acceleration [omega-dot; v-dot] of a body or frame at its own origin, world axes."""
        workspace = self._newton_euler[0]
        alpha = workspace.link[:, at.ALPHA : at.ALPHA + 6].copy()
        alpha[:, 3:] += self.model.gravity
        return workspace.acceleration(name, alpha)

    @cached_property
    def tree_forces(self) -> JointForces:
        """Force through every tree joint, on its child by its parent."""
        return JointForces(self._newton_euler[0], self.external)

    @property
    def forces(self) -> Mapping[str, Wrench]:
        """Forces by name, on the child by the parent; with the loops open those through the tree joints."""
        return self.tree_forces

    @cached_property
    def reactions(self) -> JointReactions:
        """Every force of `forces` split into what the joint's actuator gives and what its bearing carries."""
        return JointReactions(kinematics(self.model, self.state), self.forces, self._has_one_value)

    def _has_one_value(self, joint: str) -> bool:
        """Whether the force through a joint is the only one possible; always so with the loops open."""
        return True

    def grasp(self, name: str) -> GraspMotion:
        """How the object turns in a grasp: `theta`, `W` and `W_dot`, whether the grasp is closed or left open."""
        return grasp_motion(kinematics(self.model, self.state), name, self.acceleration)

    @property
    def balancing_forces(self) -> np.ndarray:
        """What M a + C is to equal."""
        return self.tau

    @property
    def constraint_scale(self) -> np.ndarray | float:
        """|J*| |lambda|, what constraints contribute to the terms of the equations of motion; none with loops open."""
        return 0.0

    @cached_property
    def residual(self) -> float:
        """|M a + C - tau - J* lambda| relative to |M| |a| + |C| + |tau| + |J*| |lambda|, largest entries; O(N^2)."""
        rest = _moved(self.model, self.state, np.zeros(self.model.nv), self.external)[1]
        mass = np.empty((self.model.nv, self.model.nv))
        workspace = Workspace(self.model)
        mass_matrix(workspace.tree, workspace.link, np.array(self.state.q), np.zeros(self.model.nv), mass)
        scale = np.abs(mass) @ np.abs(self.a) + np.abs(rest) + np.abs(self.balancing_forces) + self.constraint_scale
        off = np.abs(mass @ self.a + rest - self.balancing_forces)
        return float(off.max(initial=0.0) / max(scale.max(initial=0.0), np.finfo(float).tiny))
