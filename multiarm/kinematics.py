"""Poses, velocities and bias accelerations of every body, frame and joint; Jacobians."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import RigidTransform, Rotation

from multiarm.description import Frame
from multiarm.errors import UnknownNameError
from multiarm.grasp_motion import GraspMotion, grasp_motion
from multiarm.joints import free_directions
from multiarm.model import Model, grasp_as_joint
from multiarm.state import State
from multiarm.sweeps import layout as at
from multiarm.sweeps.compliance import tip_gram
from multiarm.sweeps.composite import joint_gram
from multiarm.sweeps.kinematics import jacobian as jacobian_kernel
from multiarm.workspace import frame_rows, located

__all__ = ["JointMotion", "Kinematics", "jacobian", "jacobian_gram", "kinematics"]


@dataclass(frozen=True, eq=False)
class JointMotion:
    """A joint as it stands: its frame on the parent and on the child (world), and the child's motion relative to the
    parent.

    `velocity` is [omega; v] of the child-side frame relative to the parent's body at that point, world axes;
    `directions` (6 x nv of the joint) are the motions that the joint allows there: velocity = directions v. `q` and `v`
    are the joint's coordinates and rates, None for a cut joint.
    """

    name: str
    parent_frame: RigidTransform
    child_frame: RigidTransform
    velocity: np.ndarray
    directions: np.ndarray
    q: np.ndarray | None
    v: np.ndarray | None

    @property
    def displacement(self) -> RigidTransform:
        """Child-side frame in the parent-side frame."""
        return self.parent_frame.inv() * self.child_frame


class Kinematics:
    """Where everything is and how it moves at one state; made by `kinematics`."""

    def __init__(self, model: Model, state: State) -> None:
        self.model, self.state = model, state
        self.workspace = located(model, state)

    def pose(self, name: str) -> RigidTransform:
        """Pose of a body or frame in the world."""
        place = self.model.placement(name)
        link = RigidTransform.from_components(
            self.workspace.origin(place.link), Rotation.from_matrix(self.workspace.rotation(place.link))
        )
        return link * place.pose

    def velocity(self, name: str) -> np.ndarray:
        """Spatial velocity [omega; v] of a body or frame at its own origin, world axes."""
        return self.workspace.motion(name)

    def bias_acceleration(self, name: str) -> np.ndarray:
        """J-dot v: spatial acceleration of a body or frame at zero joint accelerations, without gravity."""
        return self.workspace.acceleration(name, self.workspace.link[:, at.ALPHA : at.ALPHA + 6])

    def joint(self, name: str) -> JointMotion:
        """A joint, grasp or cut joint."""
        q = v = None
        if name in self.model.joints:
            place = self.model.joints[name]
            joint = place.joint
            near, far = Frame(name, joint.parent, joint.at), Frame(name, joint.child, joint.in_child)
            q, v = self.state.q[place.q], self.state.v[place.v]
        elif name in self.model.merged:
            joint = self.model.merged[name]
            near, far = Frame(name, joint.parent, joint.at), Frame(name, joint.child, joint.in_child)
            q = v = np.zeros(0)
        elif name in self.model.cuts:
            cut = (self.model.complete(self.state) if name in self.model.open_grasps else self.model).cuts[name]
            near, far, joint = cut.parent, cut.child, cut.joint or grasp_as_joint(cut)
        else:
            raise UnknownNameError("joint or grasp", name, [*self.model.joints, *self.model.merged, *self.model.cuts])
        parent_frame = self.pose(near.body) * near.pose
        child_frame = self.pose(far.body) * far.pose
        velocity = self._at(far.body, child_frame.translation) - self._at(near.body, child_frame.translation)
        directions = free_directions(joint, parent_frame.rotation.as_matrix(), child_frame.rotation.as_matrix())
        return JointMotion(name, parent_frame, child_frame, velocity, directions, q, v)

    def grasp(self, name: str) -> GraspMotion:
        """How the object turns in a grasp: Theta and W of JPL 88-11-II, App. A."""
        return grasp_motion(self, name)

    def _at(self, body: str, point: np.ndarray) -> np.ndarray:
        """Velocity of the point of `body` that is at `point` now."""
        motion = self.velocity(body)
        arm = point - self.workspace.point(body)
        return np.concatenate([motion[:3], motion[3:] + np.cross(motion[:3], arm)])


def kinematics(model: Model, state: State) -> Kinematics:
    """Poses, velocities and bias accelerations at `state`; one outward sweep, JPL 88-11-I (2.17)-(2.19)."""
    state = model.own(state)
    return Kinematics(model if state.model.open_grasps else model.complete(state), state)


def jacobian(model: Model, q: ArrayLike | State, frame: str) -> np.ndarray:
    """J = B* phi* H* of a body or frame, 6 x nv, world axes at its origin, angular rows first; O(N).

    JPL 88-11-I (3.13). V(frame) = J v.
    """
    workspace = located(model, q if isinstance(q, State) else model.state(q=q))
    out = np.empty((6, model.nv))
    jacobian_kernel(workspace.tree, workspace.link, frame_rows(model, [frame])[0], out)
    return out


def jacobian_gram(model: Model, q: ArrayLike | State, frame: str, side: str = "task") -> np.ndarray:
    """J J* (``side="task"``, 6x6, O(N)) or J* J (``side="joint"``, nv x nv) of a body or frame by recursion.

    SOA-89 section 2: X(k) = phi* X(p) phi + H* H outward, or the composite-body recursion with one unit inertia at the
    frame; J itself is not formed.
    """
    sides = {"task": (tip_gram, 6), "joint": (joint_gram, model.nv)}
    if side not in sides:
        raise UnknownNameError("side", side, sides)
    kernel, size = sides[side]
    workspace = located(model, q if isinstance(q, State) else model.state(q=q))
    out = np.empty((size, size))
    kernel(workspace.tree, workspace.link, frame_rows(model, [frame])[0], out)
    return out
