"""Coordinates of joints that were cut, which the model does not have: read from the frames they join; their limits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import RigidTransform, Rotation

from multiarm.description import Joint
from multiarm.kinematics import Kinematics, jacobian, kinematics
from multiarm.model import Model
from multiarm.state import State

__all__ = ["Excess", "beyond_limits", "coordinate_rates", "has_cut_limits", "joint_coordinates"]


@dataclass(frozen=True, eq=False)
class Excess:
    """A coordinate of a cut joint beyond a limit: where it is, the limit [rad or m], and its rate per rate of v."""

    joint: str
    value: float
    limit: float
    rate: np.ndarray

    @property
    def amount(self) -> float:
        """How far it is beyond, negative below a lower limit."""
        return self.value - self.limit


def has_cut_limits(model: Model) -> bool:
    """Whether any cut joint has limits."""
    return any(cut.joint is not None and _limited(cut.joint) for cut in model.cuts.values())


def beyond_limits(model: Model, state: State) -> list[Excess]:
    """Every coordinate of a cut joint that is beyond its limits at `state`."""
    if not has_cut_limits(model):
        return []
    kin, found = kinematics(model, state), []
    for name, cut in model.cuts.items():
        joint = cut.joint
        if joint is None or not _limited(joint):
            continue
        rates = None
        for i, value in enumerate(joint_coordinates(joint, kin.joint(name).displacement)):
            limit = min(max(value, joint.lower), joint.upper)
            if limit != value:
                rates = coordinate_rates(kin, joint) if rates is None else rates
                found.append(Excess(name, float(value), float(limit), rates[i]))
    return found


def joint_coordinates(joint: Joint, displacement: RigidTransform) -> np.ndarray:
    """Coordinates of a joint from the pose of its child-side frame in its parent-side frame; none for balls.

    Exact where the joint allows that pose. Of the angles that differ by whole turns the one nearest to the middle of
    the limits is taken, or the one within half a turn of zero where a limit is missing.
    """
    turn, shift, axis = displacement.rotation, displacement.translation, np.asarray(joint.axis)
    middle = (joint.lower + joint.upper) / 2 if np.isfinite(joint.upper - joint.lower) else 0.0

    def nearest(angle: float) -> float:
        return float(middle + np.remainder(angle - middle + np.pi, 2 * np.pi) - np.pi)

    match joint.kind:
        case "revolute" | "continuous":
            values = [nearest(_angle(turn, axis))]
        case "prismatic":
            values = [shift @ axis]
        case "screw":
            values = [shift @ axis / joint.pitch if joint.pitch else nearest(_angle(turn, axis))]
        case "cylindrical":
            values = [nearest(_angle(turn, axis)), shift @ axis]
        case "planar":
            values = [shift[0], shift[1], nearest(_angle(turn, np.array([0.0, 0.0, 1.0])))]
        case "universal":
            second = np.asarray(joint.axis2)
            first = np.arctan2(axis @ np.cross(second, turn.apply(second)), _across(second, axis, turn.apply(second)))
            rest = Rotation.from_rotvec(-first * axis) * turn
            values = [nearest(first), nearest(_angle(rest, second))]
        case _:
            values = []
    return np.array(values, float)


def _limited(joint: Joint) -> bool:
    return joint.kind not in ("fixed", "spherical", "free") and bool(np.isfinite([joint.lower, joint.upper]).any())


def _angle(turn: Rotation, axis: np.ndarray) -> float:
    """Angle of a rotation about `axis`; of its part about it where it is about another."""
    quaternion = turn.as_quat()
    return float(2 * np.arctan2(quaternion[:3] @ axis, quaternion[3]))


def _across(one: np.ndarray, axis: np.ndarray, other: np.ndarray) -> float:
    """Product of the parts of two vectors that are perpendicular to a unit vector."""
    return float(one @ other - (one @ axis) * (other @ axis))


def coordinate_rates(kin: Kinematics, joint: Joint) -> np.ndarray:
    """Rates of the joint's coordinates per rate of v: S^+ (J of the child - J of the parent) at the joint."""
    motion = kin.joint(joint.name)
    point = motion.child_frame.translation
    relative = _at(kin, joint.child, point) - _at(kin, joint.parent, point)
    return np.linalg.pinv(motion.directions) @ relative


def _at(kin: Kinematics, body: str, point: np.ndarray) -> np.ndarray:
    """Jacobian of the point of `body` that is at `point` now."""
    rows = jacobian(kin.model, kin.state, body)
    rows[3:] += np.cross(rows[:3], point - kin.pose(body).translation, axisa=0, axisc=0)
    return rows
