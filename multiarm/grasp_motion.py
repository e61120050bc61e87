"""How a held object turns in a grasp: Theta, W and W-dot of JPL 88-11-II, App. A and B."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from contacts import grasp_kind
from multiarm.errors import UnknownNameError

if TYPE_CHECKING:
    from multiarm.kinematics import Kinematics

__all__ = ["GraspMotion", "grasp_motion"]


@dataclass(frozen=True, eq=False)
class GraspMotion:
    """The object's rotation relative to the tip that holds it, along what the grasp leaves free.

    Attributes
    ----------
    name, kind : str
        Of the grasp.
    axes : (3, n)
        h(0): free axes of the contact frame in the world: z for revolute; x and y for soft finger; x, y, z for point;
        none for rigid. They are fixed in the object.
    theta : array
        Theta(0): the quaternion (x, y, z, w) of the contact frame in the tip's frame; for revolute one angle [rad];
        empty for rigid. A cut grasp does not count turns: its angle is within half a turn, its w is not negative.
    W : (n,)
        W(0) = axes . (omega_object - omega_tip) [rad/s], (a.5).
    W_dot : (n,) or None
        d/dt of W [rad/s^2], (b.9f); None where no solution says how it accelerates.
    """

    name: str
    kind: str
    axes: np.ndarray
    theta: np.ndarray
    W: np.ndarray
    W_dot: np.ndarray | None = None


def grasp_motion(kin: Kinematics, name: str, acceleration: Callable[[str], np.ndarray] | None = None) -> GraspMotion:
    """Theta and W of a grasp, cut or in the tree; and W-dot, if the spatial acceleration of bodies and frames is known.

    With the axes fixed in the object, W-dot = axes . (alpha_object - alpha_tip + omega_object x omega_tip).
    """
    if name not in kin.model.grasps:
        raise UnknownNameError("grasp", name, kin.model.grasps)
    grasp, motion = kin.model.grasps[name], kin.joint(name)
    free = grasp_kind(grasp.kind).free_rotations
    axes = motion.child_frame.rotation.as_matrix()[:, ["xyz".index(axis) for axis in free]]
    if not free or motion.q is not None:
        theta = np.zeros(0) if motion.q is None else np.array(motion.q)
    elif free == "z":
        turn = motion.displacement.rotation.as_matrix()
        theta = np.array([np.arctan2(turn[1, 0] - turn[0, 1], turn[0, 0] + turn[1, 1])])
    else:
        theta = motion.displacement.rotation.as_quat(canonical=True)
    rates = axes.T @ motion.velocity[:3]
    if acceleration is None:
        return GraspMotion(name, grasp.kind, axes, theta, rates)
    turning = np.cross(kin.velocity(grasp.body)[:3], kin.velocity(grasp.tip)[:3])
    relative = acceleration(grasp.body)[:3] - acceleration(grasp.tip)[:3] + turning
    return GraspMotion(name, grasp.kind, axes, theta, rates, axes.T @ relative)
