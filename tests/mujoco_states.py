"""One state here and in MuJoCo, for a mechanism whose arm "robot" came from `load_mjcf` with its base at the origin.

MuJoCo's free joint has q = [xyz; quaternion], v = [velocity, world axes; omega, body axes] and its quaternions have the
scalar first. With v_mj = T v: tau = T* tau_mj, M = T* M_mj T, J = J_mj T and, no term of T-dot v surviving, a_mj = T a.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import mujoco
import numpy as np
from scipy.spatial.transform import RigidTransform, Rotation

import multiarm as ma


@dataclass(frozen=True, eq=False)
class Twin:
    """A model and its peer, in the same state, under the same joint forces `tau`."""

    model: ma.Model
    peer: mujoco.MjModel
    state: ma.State
    tau: np.ndarray

    def joint_of(self, name: str) -> int:
        """MuJoCo's number of a joint of ours; what has no name there stands in the same order here."""
        found = mujoco.mj_name2id(self.peer, mujoco.mjtObj.mjOBJ_JOINT, name.removeprefix("robot/"))
        return found if found >= 0 else list(self.model.joints).index(name)

    def free_pose(self, place: ma.model.TreeJoint) -> RigidTransform:
        q = self.state.q[place.q]
        moved = RigidTransform.from_components(q[4:], Rotation.from_quat(q[:4]))
        return place.joint.at * moved * place.joint.in_child.inv()

    @cached_property
    def T(self) -> np.ndarray:
        T = np.zeros((self.peer.nv, self.model.nv))
        for name, place in self.model.joints.items():
            block = np.eye(place.v.stop - place.v.start)
            if place.joint.kind == "free":
                rotation = self.free_pose(place).rotation.as_matrix()
                block = np.block([[np.zeros((3, 3)), np.eye(3)], [rotation.T, np.zeros((3, 3))]])
            start = self.peer.jnt_dofadr[self.joint_of(name)]
            T[start : start + len(block), place.v] = block
        return T

    @cached_property
    def qpos(self) -> np.ndarray:
        """MuJoCo's coordinates; a joint that we do not have stays where the file draws it."""
        qpos = self.peer.qpos0.copy()
        for name, place in self.model.joints.items():
            q = self.state.q[place.q]
            if place.joint.kind == "spherical":
                q = np.roll(q, 1)
            elif place.joint.kind == "free":
                pose = self.free_pose(place)
                q = np.concatenate([pose.translation, np.roll(pose.rotation.as_quat(), 1)])
            start = self.peer.jnt_qposadr[self.joint_of(name)]
            qpos[start : start + len(q)] = q
        return qpos

    @cached_property
    def data(self) -> mujoco.MjData:
        """After forward dynamics."""
        data = mujoco.MjData(self.peer)
        data.qpos = self.qpos
        data.qvel = self.T @ self.state.v
        data.qfrc_applied = self.T @ self.tau
        mujoco.mj_forward(self.peer, data)
        return data

    @cached_property
    def mass_matrix(self) -> np.ndarray:
        """In MuJoCo's velocities."""
        M = np.empty((self.peer.nv, self.peer.nv))
        mujoco.mj_fullM(self.peer, self.data, M)
        return M

    def equality_jacobian(self, qpos: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """J of the active equalities at other coordinates, and how far they are open there."""
        data = mujoco.MjData(self.peer)
        data.qpos = qpos
        mujoco.mj_forward(self.peer, data)
        rows = data.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY
        return data.efc_J.reshape(-1, self.peer.nv)[rows], data.efc_pos[rows]

    def constrained_acceleration(self, step: float = 1e-5) -> np.ndarray:
        """[M -J*; J 0] [a; lambda] = [tau - bias; -J-dot v], all MuJoCo's, J-dot v by central differences."""
        M, bias, v = self.mass_matrix, self.data.qfrc_bias, np.array(self.data.qvel)
        J, _ = self.equality_jacobian(self.qpos)
        sides = []
        for h in (step, -step):
            moved = self.qpos.copy()
            mujoco.mj_integratePos(self.peer, moved, v, h)
            sides.append(self.equality_jacobian(moved)[0] @ v)
        drift = (sides[0] - sides[1]) / (2 * step)
        system = np.block([[M, -J.T], [J, np.zeros((len(J), len(J)))]])
        known = np.concatenate([self.T @ self.tau - bias, -drift])
        return np.linalg.lstsq(system, known, rcond=1e-11)[0][: self.peer.nv]
