"""Whether a mechanism can follow the paths of its scenario: the loops closed at poses along them, at rest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import RigidTransform, Rotation

from multiarm.assembly import assemble
from multiarm.closed_chain_inverse import closed_chain_inverse_dynamics
from multiarm.kinematics import kinematics
from multiarm.mobility import mobility
from multiarm.model import Model
from multiarm.scenario.motion import CirclePath, PathPart, QuinticPath, Squeeze, TrapezoidPath
from multiarm.state import State

__all__ = ["Reach", "internal_wrenches", "poses_along", "reach_along"]

BETWEEN = 8  # poses looked at on the way from one point to the next


@dataclass(frozen=True, eq=False)
class Reach:
    """The mechanism at one pose of a path.

    Attributes
    ----------
    state : State
        With the object held at the pose.
    limit_margin : float
        Distance of the joint nearest to one of its limits [rad or m]; inf without limits.
    nearest : str
        That joint.
    conditioning : float
        Smallest singular value of the independent constraint rows over the largest.
    effort : dict of float
        Largest torque over its limit that holding still takes, squeeze included, by arm (or joint outside of arms).
    """

    state: State
    limit_margin: float
    nearest: str
    conditioning: float
    effort: dict[str, float]


def poses_along(path: PathPart, start: RigidTransform, between: int = BETWEEN) -> list[RigidTransform]:
    """Poses on a path in order, from `start`; straight from point to point, turning about one axis."""
    if isinstance(path, QuinticPath | TrapezoidPath):
        poses = [start]
        for point in path.points:
            here, there = poses[-1], point.transform()
            turn = (there.rotation * here.rotation.inv()).as_rotvec()
            for part in np.linspace(0.0, 1.0, between + 1)[1:]:
                moved = (1.0 - part) * here.translation + part * there.translation
                poses.append(RigidTransform.from_components(moved, Rotation.from_rotvec(part * turn) * here.rotation))
        return poses
    if isinstance(path, CirclePath):
        axis = np.array(path.axis) / np.linalg.norm(path.axis)
        angles = np.linspace(0.0, 2 * np.pi * min(path.turns, 1.0), 2 * between + 1)
        turns = [Rotation.from_rotvec(angle * axis) for angle in angles]
        centre = np.array(path.centre)
        places = [centre + turn.apply(start.translation - centre) for turn in turns]
        return [RigidTransform.from_components(place, start.rotation) for place in places]
    return [start]


def reach_along(
    model: Model, start: State, paths: Mapping[str, PathPart], squeeze: tuple[Squeeze, ...] = ()
) -> list[Reach]:
    """Close the loops at poses along the paths of objects, each from the state before.

    Raises
    ------
    OpenLoopError
        A pose cannot be reached from the one before it.
    UnreachableMotionError
        The actuators cannot hold the objects there.
    """
    kin = kinematics(model, start)
    along = {body: poses_along(path, kin.pose(body)) for body, path in paths.items()}
    found: list[Reach] = []
    state = start.replace(v=np.zeros(model.nv))
    for i in range(max(map(len, along.values()))):
        q = np.array(state.q)
        for body, poses in along.items():
            pose = poses[min(i, len(poses) - 1)]
            q[model.q_slice(body)] = [*pose.rotation.as_quat(), *pose.translation]
        state = assemble(model, model.state(q=q), hold=tuple(along))
        found.append(look_at(model, state, tuple(along), squeeze))
    return found


def look_at(model: Model, state: State, bodies: tuple[str, ...] = (), squeeze: tuple[Squeeze, ...] = ()) -> Reach:
    """Margins of a state at rest in which `bodies` are held still."""
    margins = np.minimum(state.q - model.lower, model.upper - state.q)
    names = [name for name, place in model.joints.items() for _ in range(place.q.stop - place.q.start)]
    worst = int(np.argmin(margins))
    effort: dict[str, float] = {}
    if bodies:
        motion = {body: np.zeros(6) for body in bodies}
        holding = closed_chain_inverse_dynamics(model, state, motion, internal_wrenches(model, state, squeeze) or None)
        arm_of = {joint: arm for arm in model.arms for joint in model.coordinates_of_arm(arm)}
        cut = {name: cut.joint.effort_limit for name, cut in model.cuts.items() if cut.joint is not None}
        for joint, torque in holding.efforts.items():
            if joint in model.joints and not model.joints[joint].actuated:
                continue
            limit = model.joints[joint].joint.effort_limit if joint in model.joints else cut.get(joint, np.inf)
            part = arm_of.get(joint, joint)
            effort[part] = max(effort.get(part, 0.0), float(np.abs(torque).max(initial=0.0) / limit))
    return Reach(state, float(margins[worst]), names[worst], mobility(model, state).conditioning, effort)


def internal_wrenches(model: Model, state: State, squeeze: tuple[Squeeze, ...]) -> dict[str, np.ndarray]:
    """Internal wrench [torque; force] of each grasp that presses with the given forces, world axes, at the grasp."""
    kin = kinematics(model, state)
    wrenches: dict[str, np.ndarray] = {}
    for press in squeeze:
        one, other = (kin.joint(name).child_frame.translation for name in press.between)
        force = press.force * (other - one) / np.linalg.norm(other - one)
        for name, sign in zip(press.between, (1.0, -1.0), strict=True):
            wrenches[name] = wrenches.get(name, np.zeros(6)) + sign * np.array([0.0, 0.0, 0.0, *force])
    return wrenches
