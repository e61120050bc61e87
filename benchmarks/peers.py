"""The same mechanisms in Pinocchio, and the way between its coordinates and ours."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import RigidTransform, Rotation

import multiarm as ma

__all__ = [
    "ADVICE",
    "PinocchioRobot",
    "pinocchio",
    "pinocchio_arm",
    "pinocchio_file",
    "quiet_load",
    "revolute",
    "robot_file",
    "se3",
]

ADVICE = "the benchmark needs it: pip install 'multiarm[test]'"


def pinocchio() -> Any:
    """The module, or the end of the program with advice where it is not installed."""
    try:
        import pinocchio as pin
    except ImportError as error:
        sys.exit(f"Pinocchio cannot be imported ({error}); {ADVICE}")
    return pin


def robot_file(name: str) -> Path:
    """A URDF file of example-robot-data by the end of its path; the package has no module to ask."""
    try:
        recorded = files("example-robot-data") or []
    except PackageNotFoundError:
        recorded = []
    for file in recorded:
        if str(file).endswith(name):
            return Path(str(file.locate())).resolve()
    sys.exit(f"example-robot-data with {name} is not installed; {ADVICE}")


def quiet_load(path: Path, **options: Any) -> ma.Robot:
    """`load_urdf` without the warning about inertias that no body can have: both programs take them as given."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ma.UnphysicalInertiaWarning)
        return ma.load_urdf(path, **options)


@dataclass
class PinocchioRobot:
    """A robot in Pinocchio, whose coordinates follow from those of a multiarm model by joint names.

    Pinocchio's v of a free-flyer is [linear; angular] in body axes, ours [angular; linear] in world axes. `velocities`
    holds the orthogonal matrix T(q) between them, v_peer = T v: it serves v and tau, and M = T* M_peer T. Accelerations
    differ by Coriolis terms too, `drift`.

    Attributes
    ----------
    model, data
        Pinocchio's own.
    names : mapping
        The joints' names in the multiarm model to those in Pinocchio's.
    ours : Model
        The multiarm model.
    frame : int
        Number of the tip's frame, where there is one.
    """

    model: Any
    names: Mapping[str, str]
    ours: ma.Model
    frame: int = -1
    data: Any = field(init=False)

    def __post_init__(self) -> None:
        self.data = self.model.createData()
        if (self.model.nq, self.model.nv) != (self.ours.nq, self.ours.nv):
            raise ValueError(f"the peer has {self.model.nv} degrees of freedom, ours {self.ours.nv}")

    def positions(self, q: np.ndarray) -> np.ndarray:
        """Peer's q: the same numbers in another order."""
        peer = np.empty(self.model.nq)
        for joint, place in self._pairs():
            own = q[place.q]
            peer[joint.idx_q : joint.idx_q + joint.nq] = np.roll(own, 3) if joint.nq == 7 else own
        return peer

    def velocities(self, q: np.ndarray) -> np.ndarray:
        """T(q), nv x nv."""
        turn = np.zeros((self.model.nv, self.model.nv))
        for joint, place in self._pairs():
            rows = slice(joint.idx_v, joint.idx_v + joint.nv)
            if joint.nv == 1:
                turn[rows, place.v] = 1.0
            else:
                to_body = Rotation.from_quat(q[place.q][:4]).as_matrix().T
                turn[rows, place.v] = np.kron([[0.0, 1.0], [1.0, 0.0]], to_body)
        return turn

    def drift(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """What the peer's acceleration has beyond T a: -R* (omega x v) of a free-flyer, a spatial acceleration."""
        peer = np.zeros(self.model.nv)
        for joint, place in self._pairs():
            if joint.nv == 6:
                omega, velocity = np.split(v[place.v], 2)
                to_body = Rotation.from_quat(q[place.q][:4]).inv()
                peer[joint.idx_v : joint.idx_v + 3] = -to_body.apply(np.cross(omega, velocity))
        return peer

    def tip_rotation(self, q: np.ndarray) -> np.ndarray:
        """Tip axes in the world by the peer, for its own q."""
        pinocchio().framesForwardKinematics(self.model, self.data, q)
        return np.array(self.data.oMf[self.frame].rotation)

    def _pairs(self) -> list[tuple[Any, Any]]:
        """The peer's joints beside ours."""
        joints = self.ours.joints
        return [(self.model.joints[self.model.getJointId(self.names[name])], joints[name]) for name in joints]


def pinocchio_arm(robot: ma.Robot, arm: str, ours: ma.Model) -> PinocchioRobot:
    """A fixed-base robot of revolute and fixed joints, number by number from its description."""
    pin = pinocchio()
    model = pin.Model()
    model.gravity.linear = np.array(ours.gravity)
    bodies = {body.name: body for body in robot.bodies}
    carried = {robot.root: (0, pin.SE3.Identity())}  # joint that carries a body, and the body's place in it
    for joint in robot.joints:
        if not np.array_equal(joint.in_child.as_matrix(), np.eye(4)) or joint.armature:
            raise ValueError(f"joint {joint.name!r} stands off its child's origin or has a rotor")
        parent, place = carried[joint.parent]
        place = place * se3(joint.at)
        if joint.kind == "revolute":
            parent, place = model.addJoint(parent, revolute(joint.axis), place, joint.name), pin.SE3.Identity()
        elif joint.kind != "fixed":
            raise ValueError(f"joint {joint.name!r} is {joint.kind}, not revolute or fixed")
        body = bodies[joint.child]
        model.appendBodyToJoint(parent, pin.Inertia(body.mass, body.com, body.inertia), place)
        carried[joint.child] = parent, place
    tip = next(frame for frame in robot.frames if frame.name == robot.tips["tip"])
    parent, place = carried[tip.body]
    frame = model.addFrame(pin.Frame(tip.name, parent, place * se3(tip.pose), pin.FrameType.OP_FRAME))
    return PinocchioRobot(model, {name: name.removeprefix(f"{arm}/") for name in ours.joints}, ours, frame)


def pinocchio_file(path: Path, tip: str, arm: str, ours: ma.Model) -> PinocchioRobot:
    """A robot on a floating base as Pinocchio itself reads its file."""
    pin = pinocchio()
    model = pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer())
    names = {
        name: "root_joint" if place.joint.kind == "free" else name.removeprefix(f"{arm}/")
        for name, place in ours.joints.items()
    }
    return PinocchioRobot(model, names, ours, model.getFrameId(tip))


def revolute(axis: np.ndarray) -> Any:
    """Pinocchio's joint about an axis: of the aligned types where there is one, which it runs faster."""
    pin = pinocchio()
    aligned = {
        (1.0, 0.0, 0.0): pin.JointModelRX,
        (0.0, 1.0, 0.0): pin.JointModelRY,
        (0.0, 0.0, 1.0): pin.JointModelRZ,
    }
    key = tuple(axis.tolist())
    return aligned[key]() if key in aligned else pin.JointModelRevoluteUnaligned(axis)


def se3(pose: RigidTransform) -> Any:
    """A pose in Pinocchio."""
    return pinocchio().SE3(pose.as_matrix())
