"""The same mechanism here and in Pinocchio, and the change of coordinates between the two.

Pinocchio orders joints in its own way, gives an unbounded joint a cosine and a sine, and a free-flyer
q = [xyz; quaternion], v = [linear; angular] in body axes. Here a free joint has q = [quaternion; xyz] and
v = [omega; velocity of the origin] in world axes. With v_pin = T(q) v everything else follows:

    a_pin = T a + T-dot v,    tau = T* tau_pin,    M = T* M_pin T,    J = swap(J_pin) T,    T^-1 = T*.

T is a permutation apart from the rotation of the free-flyers, so T* is its inverse.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pinocchio as pin
from robot_files import robot_file
from scipy.spatial.transform import Rotation

import multiarm as ma

GRAVITY = np.array([1.1, -2.3, -9.2])  # oblique, so that no component of it goes unnoticed
WORLD_ALIGNED = pin.LOCAL_WORLD_ALIGNED


def swap(spatial: np.ndarray) -> np.ndarray:
    """Linear part first (Pinocchio) to angular part first, or back; rows of a matrix likewise."""
    return np.concatenate([spatial[3:6], spatial[:3]])


@dataclass(frozen=True, eq=False)
class Twins:
    """A model and its twin in Pinocchio; `joints` maps joint names, `frames` frame names, ours to theirs."""

    model: ma.Model
    peer: pin.Model
    joints: Mapping[str, str]
    frames: Mapping[str, int]

    def random(self, seed: int) -> Moment:
        """A random state with accelerations and forces, and a few wrenches on bodies."""
        rng = np.random.default_rng(seed)
        q = rng.uniform(-2.0, 2.0, self.model.nq)
        for place in self.model.joints.values():
            if place.joint.kind == "free":
                q[place.q][:4] = Rotation.random(rng=rng).as_quat()
        v, a, tau = rng.uniform(-1.5, 1.5, (3, self.model.nv))
        pushed = rng.choice(list(self.frames), size=min(5, len(self.frames)), replace=False)
        external = {str(name): rng.uniform(-3.0, 3.0, 6) for name in pushed}
        return Moment(self, self.model.state(q=q, v=v), a, tau, external)


@dataclass(frozen=True, eq=False)
class Moment:
    """A state of twins, with accelerations `a`, forces `tau` and wrenches `external`, in both sets of coordinates."""

    twins: Twins
    state: ma.State
    a: np.ndarray
    tau: np.ndarray
    external: dict[str, np.ndarray]

    @cached_property
    def q_peer(self) -> np.ndarray:
        q = np.empty(self.twins.peer.nq)
        for place, theirs in self._pairs():
            ours = self.state.q[place.q]
            if place.joint.kind == "free":
                ours = np.concatenate([ours[4:], ours[:4]])
            elif theirs.nq == 2:
                ours = np.array([np.cos(ours[0]), np.sin(ours[0])])
            q[theirs.idx_q : theirs.idx_q + theirs.nq] = ours
        return q

    @cached_property
    def T(self) -> np.ndarray:
        T = np.zeros((self.twins.peer.nv, self.twins.model.nv))
        for place, theirs in self._pairs():
            if place.joint.kind == "free":
                turn = Rotation.from_quat(self.state.q[place.q][:4]).as_matrix().T
                block = np.block([[np.zeros((3, 3)), turn], [turn, np.zeros((3, 3))]])
            else:
                block = np.eye(1)
            T[theirs.idx_v : theirs.idx_v + theirs.nv, place.v] = block
        return T

    @cached_property
    def v_peer(self) -> np.ndarray:
        return self.T @ self.state.v

    @cached_property
    def T_dot_v(self) -> np.ndarray:
        """A free-flyer differentiates R* v, so its linear acceleration lacks omega x v."""
        bias = np.zeros(self.twins.peer.nv)
        for place, theirs in self._pairs():
            if place.joint.kind == "free":
                omega, velocity = np.split(self.state.v[place.v], 2)
                turn = Rotation.from_quat(self.state.q[place.q][:4])
                bias[theirs.idx_v : theirs.idx_v + 3] = -turn.inv().apply(np.cross(omega, velocity))
        return bias

    def a_peer(self, a: np.ndarray) -> np.ndarray:
        return self.T @ a + self.T_dot_v

    def a_ours(self, a_peer: np.ndarray) -> np.ndarray:
        return self.T.T @ (a_peer - self.T_dot_v)

    def external_peer(self) -> pin.StdVec_Force:
        """The wrenches as Pinocchio takes them: per joint, in the axes of the joint's frame at its origin."""
        peer = self.twins.peer
        data = peer.createData()
        pin.framesForwardKinematics(peer, data, self.q_peer)
        forces = pin.StdVec_Force([pin.Force.Zero() for _ in range(peer.njoints)])
        for name, wrench in self.external.items():
            number = self.twins.frames[name]
            joint = peer.frames[number].parentJoint
            at_frame = pin.SE3(np.eye(3), data.oMf[number].translation)
            forces[joint] += data.oMi[joint].actInv(at_frame.act(pin.Force(swap(wrench))))
        return forces

    def _pairs(self):
        """Each joint's place here and Pinocchio's joint."""
        for name, place in self.twins.model.joints.items():
            yield place, self.twins.peer.joints[self.twins.peer.getJointId(self.twins.joints[name])]


def quiet_load(name: str, **options: object) -> ma.Robot:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ma.UnphysicalInertiaWarning)
        return ma.load_urdf(robot_file(name), **options)  # type: ignore[arg-type]
