"""The same mechanism here and in Pinocchio, and the change of coordinates between the two.

Pinocchio orders joints in its own way, gives an unbounded joint a cosine and a sine, and a free-flyer
q = [xyz; quaternion], v = [linear; angular] in body axes. Here a free joint has q = [quaternion; xyz] and
v = [omega; velocity of the origin] in world axes. With v_pin = T(q) v everything else follows:

    a_pin = T a + T-dot v,    tau = T* tau_pin,    M = T* M_pin T,    J = swap(J_pin) T,    T^-1 = T*.

T is a permutation apart from the rotations of the free-flyers, so its transpose is its inverse.
"""

from __future__ import annotations

import warnings
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pytest
from robot_files import robot_file
from scipy.spatial.transform import Rotation

import multiarm as ma
from multiarm.model import TreeJoint

pin = pytest.importorskip("pinocchio")

GRAVITY = np.array([1.1, -2.3, -9.2])  # oblique, so that no component of it goes unnoticed


def swap(spatial: np.ndarray) -> np.ndarray:
    """Linear part first (Pinocchio) to angular part first, or back; rows of a matrix likewise."""
    return np.concatenate([spatial[3:], spatial[:3]])


def symmetric(upper: np.ndarray) -> np.ndarray:
    """The whole of a symmetric matrix of which Pinocchio fills the upper triangle."""
    return np.triu(upper) + np.triu(upper, 1).T


# --- twins -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Twins:
    """A model and its twin in Pinocchio; `joints` maps joint names, `frames` names of bodies, ours to theirs."""

    model: ma.Model
    peer: pin.Model
    joints: Mapping[str, str]
    frames: Mapping[str, str]

    @cached_property
    def data(self) -> pin.Data:
        """Pinocchio's workspace, made once because that takes longer than any algorithm; each call overwrites it."""
        return self.peer.createData()

    def random(self, seed: int) -> Moment:
        """A random state, with accelerations, forces, and wrenches on five bodies."""
        rng = np.random.default_rng(seed)
        q = rng.uniform(-2.0, 2.0, self.model.nq)
        for place in self.model.joints.values():
            if place.joint.kind == "free":
                q[place.q][:4] = Rotation.random(rng=rng).as_quat()
        v, a, tau = rng.uniform(-1.5, 1.5, (3, self.model.nv))
        pushed = rng.choice(list(self.frames), 5, replace=False).tolist()
        return Moment(self, self.model.state(q=q, v=v), a, tau, {name: rng.uniform(-3.0, 3.0, 6) for name in pushed})

    def frame(self, name: str) -> int:
        """Pinocchio's number of the frame of a body."""
        return self.peer.getFrameId(self.frames[name], pin.FrameType.BODY)

    def pairs(self) -> Iterator[tuple[TreeJoint, pin.JointModel]]:
        """Each joint's place here, and Pinocchio's joint."""
        for name, place in self.model.joints.items():
            yield place, self.peer.joints[self.peer.getJointId(self.joints[name])]


@dataclass(frozen=True, eq=False)
class Moment:
    """A state of twins with accelerations, forces and external wrenches, in our coordinates and in Pinocchio's.

    External wrenches are [torque; force] at the origins of bodies, world axes.
    """

    twins: Twins
    state: ma.State
    a: np.ndarray
    tau: np.ndarray
    external: dict[str, np.ndarray]

    @cached_property
    def peer_q(self) -> np.ndarray:
        q = np.empty(self.twins.peer.nq)
        for place, theirs in self.twins.pairs():
            ours = self.state.q[place.q]
            if place.joint.kind == "free":
                ours = np.roll(ours, 3)
            elif theirs.nq == 2:
                ours = np.array([np.cos(ours[0]), np.sin(ours[0])])
            q[theirs.idx_q : theirs.idx_q + theirs.nq] = ours
        return q

    @cached_property
    def T(self) -> np.ndarray:
        T = np.zeros((self.twins.peer.nv, self.twins.model.nv))
        for place, theirs in self.twins.pairs():
            block = np.eye(1)
            if place.joint.kind == "free":
                turn = Rotation.from_quat(self.state.q[place.q][:4]).as_matrix()
                block = np.kron([[0, 1], [1, 0]], turn.T)
            T[theirs.idx_v : theirs.idx_v + theirs.nv, place.v] = block
        return T

    @cached_property
    def T_dot_v(self) -> np.ndarray:
        """A free-flyer's linear velocity is R* v, whose derivative is R* (v-dot - omega x v)."""
        bias = np.zeros(self.twins.peer.nv)
        for place, theirs in self.twins.pairs():
            if place.joint.kind == "free":
                omega, velocity = np.split(self.state.v[place.v], 2)
                turn = Rotation.from_quat(self.state.q[place.q][:4])
                bias[theirs.idx_v : theirs.idx_v + 3] = -turn.inv().apply(np.cross(omega, velocity))
        return bias

    @cached_property
    def peer_v(self) -> np.ndarray:
        return self.T @ self.state.v

    def peer_a(self, a: np.ndarray) -> np.ndarray:
        return self.T @ a + self.T_dot_v

    def our_a(self, peer_a: np.ndarray) -> np.ndarray:
        return self.T.T @ (peer_a - self.T_dot_v)

    def peer_external(self, external: Mapping[str, np.ndarray]) -> pin.StdVec_Force:
        """Wrenches as Pinocchio takes them: one per joint, in the joint's own frame."""
        peer, data = self.twins.peer, self.twins.data
        pin.framesForwardKinematics(peer, data, self.peer_q)
        forces = pin.StdVec_Force([pin.Force.Zero() for _ in range(peer.njoints)])
        for name, wrench in external.items():
            number = self.twins.frame(name)
            joint = peer.frames[number].parentJoint
            here = pin.SE3(np.eye(3), data.oMf[number].translation)
            forces[joint] += data.oMi[joint].actInv(here.act(pin.Force(swap(wrench))))
        return forces

    # ------------------------------------------------------------------ Pinocchio's answers in our coordinates

    def mass_matrix(self) -> np.ndarray:
        """By composite bodies."""
        upper = pin.crba(self.twins.peer, self.twins.data, self.peer_q)
        return self.T.T @ symmetric(upper) @ self.T

    def inverse_dynamics(self, a: np.ndarray, external: Mapping[str, np.ndarray]) -> np.ndarray:
        """By Newton-Euler."""
        peer, forces = self.twins.peer, self.peer_external(external)
        return self.T.T @ pin.rnea(peer, self.twins.data, self.peer_q, self.peer_v, self.peer_a(a), forces)

    def forward_dynamics(self, tau: np.ndarray, external: Mapping[str, np.ndarray]) -> np.ndarray:
        """By articulated bodies."""
        peer, forces = self.twins.peer, self.peer_external(external)
        return self.our_a(pin.aba(peer, self.twins.data, self.peer_q, self.peer_v, self.T @ tau, forces))

    def jacobian(self, name: str) -> np.ndarray:
        """World axes at the body's origin, angular rows first."""
        peer, number = self.twins.peer, self.twins.frame(name)
        columns = pin.computeFrameJacobian(peer, self.twins.data, self.peer_q, number, pin.LOCAL_WORLD_ALIGNED)
        return swap(columns) @ self.T

    def moved(self, a: np.ndarray) -> pin.Data:
        """Pinocchio's data with everything in place, velocities and accelerations included."""
        peer, data = self.twins.peer, self.twins.peer.createData()
        pin.forwardKinematics(peer, data, self.peer_q, self.peer_v, self.peer_a(a))
        pin.updateFramePlacements(peer, data)
        return data


# --- where twins come from -------------------------------------------------------------------------------------------


def quiet_load(name: str, **options: object) -> ma.Robot:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ma.UnphysicalInertiaWarning)
        return ma.load_urdf(robot_file(name), **options)  # type: ignore[arg-type]


def make_twins(mechanism: ma.Mechanism, peer: pin.Model, root: str | None = None) -> Twins:
    """Twins whose joints and bodies have the same names, apart from the names of the arms and the joint of `root`."""
    peer.gravity.linear = GRAVITY
    model = mechanism.compile(gravity=GRAVITY)

    def short(name: str) -> str:
        return name.split("/")[-1]

    bodies = [name for name in model.bodies if name != "world"]
    frames = [name for name in mechanism.frames if peer.existFrame(short(name), pin.FrameType.BODY)]
    joints = {name: "root_joint" if name == root else short(name) for name in model.joints}
    return Twins(model, peer, joints, {name: short(name) for name in [*bodies, *frames]})


def robot_twins(robot: ma.Robot, peer: pin.Model) -> Twins:
    """One robot, mounted at the origin of the world or floating."""
    mechanism = ma.Mechanism(robot.name)
    mechanism.add_arm("robot", robot)
    return make_twins(mechanism, peer, root=f"robot/{robot.root}")


def file_twins(name: str, floating: bool = False, rotors: bool = False) -> Twins:
    """Both from the same file; `rotors` gives every joint an armature, which these files do not have."""
    root = (pin.JointModelFreeFlyer(),) if floating else ()
    robot, peer = quiet_load(name, floating=floating), pin.buildModelFromUrdf(str(robot_file(name)), *root)
    if rotors:
        rng = np.random.default_rng(9)
        joints = tuple(replace(joint, armature=rng.uniform(0.01, 0.1)) for joint in robot.joints)
        robot = replace(robot, joints=joints)
        for joint in joints:
            if joint.kind != "fixed":
                peer.armature[peer.joints[peer.getJointId(joint.name)].idx_v] = joint.armature
    return robot_twins(robot, peer)


def panda_without_fingers(prefix: str = "") -> pin.Model:
    """The Panda of the file without its fingers, which `robots.panda` leaves out too; `prefix` begins all names."""
    root = ET.parse(robot_file("panda")).getroot()
    for element in [*root.iterfind("link"), *root.iterfind("joint")]:
        if "finger" in element.get("name"):
            root.remove(element)
    return pin.buildModelFromXML(ET.tostring(root, encoding="unicode").replace('"panda_', f'"{prefix}panda_'))


def torso_twins() -> Twins:
    """`robots.torso` against two Pandas of the file on the torso that its docstring describes."""
    peer = pin.Model()
    waist = peer.addJoint(0, pin.JointModelRZ(), pin.SE3(np.eye(3), np.array([0, 0, 0.5])), "waist")
    peer.appendBodyToJoint(waist, pin.Inertia.FromBox(30.0, 0.2, 0.3, 0.6), pin.SE3(np.eye(3), np.array([0, 0, 0.3])))
    peer.addBodyFrame("torso_base", 0, pin.SE3.Identity(), 0)
    torso = peer.addBodyFrame("torso", waist, pin.SE3.Identity(), 0)
    for side, sign in (("left", 1), ("right", -1)):
        shoulder = pin.SE3(pin.rpy.rpyToMatrix(-sign * np.pi / 4, 0, 0), np.array([0, sign * 0.2, 0.5]))
        peer = pin.appendModel(peer, panda_without_fingers(f"{side}_"), torso, shoulder)
    return robot_twins(ma.robots.torso(), peer)


def two_arms_and_a_box() -> Twins:
    """A Panda and a UR5 from their files on bases of their own, and a box that both grasp; the grasps are cut."""
    left, right = ma.pose((-0.7, 0.1, 0.2), rpy=(0.1, -0.2, 0.3)), ma.pose((0.8, -0.2, 0.1), rpy=(-0.3, 0.2, 2.9))
    mass, com, inertia = (
        3.0,
        np.array([0.05, -0.02, 0.03]),
        np.array([[0.03, 2e-3, 0], [2e-3, 0.05, 1e-3], [0, 1e-3, 0.06]]),
    )
    mechanism = ma.Mechanism("two arms and a box")
    mechanism.add_arm("left", quiet_load("panda", tip="panda_hand_tcp"), base=left)
    mechanism.add_body("box", mass=mass, com=com, inertia=inertia)
    mechanism.add_arm("right", quiet_load("ur5", tip="tool0"), base=right)
    mechanism.grasp("right", "box", at=(0.3, 0, 0))
    mechanism.grasp("left", "box", at=(-0.3, 0, 0))
    peer = pin.Model()
    box = peer.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "box")
    peer.appendBodyToJoint(box, pin.Inertia(mass, com, inertia), pin.SE3.Identity())
    peer.addBodyFrame("box", box, pin.SE3.Identity(), 0)
    for name, base in (("ur5", right), ("panda", left)):
        arm = pin.buildModelFromUrdf(str(robot_file(name)))
        peer = pin.appendModel(peer, arm, 0, pin.SE3(base.as_matrix()))
    return make_twins(mechanism, peer)
