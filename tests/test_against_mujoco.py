"""Tree dynamics against MuJoCo, on trees of hinges, slides, balls and free bodies with armature and oblique frames.

MuJoCo's free joint has q = [xyz; quaternion], v = [velocity, world axes; omega, body axes], its quaternions have the
scalar first, and a ball's velocity is in child axes as it is here. With v_mj = T v: tau = T* tau_mj, M = T* M_mj T,
J = J_mj T and, since no term of T-dot v survives, a_mj = T a. T is orthogonal.

Agreement is 1e-10 relative to the largest entry, arrays over joints scaled by w = sqrt(diag M) first.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import pytest
from scipy.spatial.transform import RigidTransform, Rotation

import multiarm as ma

mujoco = pytest.importorskip("mujoco")

GRAVITY = (0.7, -1.9, -9.3)
SCENE = """
<mujoco>
  <compiler angle="radian"/>
  <option gravity="{} {} {}"><flag constraint="disable" contact="disable" energy="enable"/></option>
  <worldbody>{}</worldbody>
</mujoco>"""
TREES = {
    "hinges and slides": """
      <body name="a" pos="0.1 -0.2 0.3" euler="0.3 0.4 -0.5">
        <joint name="a" type="hinge" axis="1 2 3" pos="0.1 0 0.2" armature="0.07"/>
        <inertial pos="0.1 0.2 -0.1" mass="2" fullinertia="0.05 0.06 0.07 0.004 -0.005 0.006"/>
        <body name="b" pos="0.3 0.1 0" euler="-0.9 0.1 0.7">
          <joint name="b" type="slide" axis="-1 1 0.5" pos="0.05 0 0" armature="0.3"/>
          <inertial pos="0 0.05 0.1" mass="1.5" diaginertia="0.02 0.03 0.04" euler="0.5 0 0.2"/>
          <body name="b end" pos="0 0.1 0.1" euler="0 1 0">
            <inertial pos="0.02 0 0" mass="0.4" diaginertia="1e-3 1e-3 1e-3"/>
          </body>
        </body>
        <body name="c" pos="-0.2 0.1 0.1">
          <joint name="c" type="hinge" axis="0 1 0"/>
          <inertial pos="0.1 0 0" mass="1" diaginertia="0.01 0.02 0.02"/>
          <body name="d" pos="0 0 0.3" euler="0.2 0.2 0.2">
            <joint name="d" type="hinge" axis="1 0 -1" pos="0 0.1 0" armature="0.01"/>
            <inertial pos="0 0 0.1" mass="0.7" diaginertia="0.01 0.01 0.005"/>
          </body>
        </body>
      </body>""",
    "floating": """
      <body name="trunk" pos="0 0 1">
        <joint name="trunk" type="free"/>
        <inertial pos="0.02 -0.05 0.1" mass="8" fullinertia="0.3 0.4 0.2 0.02 0.01 0.03"/>
        <body name="left" pos="0.1 0.3 0" euler="0.4 0 0">
          <joint name="left" type="ball" pos="0 0.02 0" armature="0.03"/>
          <inertial pos="0 0.2 0" mass="2" diaginertia="0.05 0.01 0.05"/>
          <body name="left tip" pos="0 0.4 0">
            <joint name="left tip" type="slide" axis="0 1 0.2"/>
            <inertial pos="0 0.1 0" mass="0.5" diaginertia="2e-3 1e-3 2e-3"/>
          </body>
        </body>
        <body name="right" pos="0.1 -0.3 0">
          <joint name="right" type="hinge" axis="1 0 0.3" armature="0.1"/>
          <inertial pos="0 -0.2 0" mass="2" diaginertia="0.05 0.01 0.05"/>
        </body>
      </body>
      <body name="ball" pos="2 0 0" euler="0.1 0.2 0.3">
        <joint name="ball" type="free" armature="0.05"/>
        <inertial pos="0.1 0 0" mass="0.3" diaginertia="1e-3 2e-3 2e-3"/>
      </body>""",
    "several joints on one body": """
      <body name="a" pos="0.2 0 0" euler="0.2 -0.1 0.4">
        <joint name="a1" type="slide" axis="1 0 0" armature="0.2"/>
        <joint name="a2" type="hinge" axis="0 0 1" pos="0.3 0 0"/>
        <joint name="a3" type="hinge" axis="0 1 1" pos="0 0.1 0" armature="0.02"/>
        <inertial pos="0.1 0.1 0" mass="1.2" diaginertia="0.02 0.03 0.03"/>
        <body name="b" pos="0 0 0.5">
          <joint name="b1" type="ball" pos="0.1 0 0"/>
          <joint name="b2" type="slide" axis="0 1 0"/>
          <inertial pos="0.1 0 0.1" mass="0.8" diaginertia="0.01 0.02 0.02"/>
        </body>
      </body>""",
}


def random_tree(seed: int, size: int = 12) -> str:
    """Bodies hung at random on each other, every joint kind, every frame oblique."""
    rng = np.random.default_rng(seed)

    def numbers(low: float, high: float, count: int = 3) -> str:
        return " ".join(map(repr, rng.uniform(low, high, count).tolist()))

    inside = dict.fromkeys(range(size), "")
    for i in reversed(range(size)):
        parent = int(rng.integers(-1, i)) if i else -1
        kinds = ["hinge", "slide", "ball", *(["free"] if parent < 0 else [])]
        kind = rng.choice(kinds)
        where = "" if kind == "free" else f'pos="{numbers(-0.1, 0.1)}"'
        axis = f'axis="{numbers(-1, 1)}"' if kind in ("hinge", "slide") else ""
        low, mid = rng.uniform(0.01, 0.03, 2)
        moments = (low, mid, rng.uniform(abs(low - mid), low + mid))
        text = f"""
          <body name="{i}" pos="{numbers(-0.3, 0.3)}" euler="{numbers(-3, 3)}">
            <joint name="{i}" type="{kind}" {where} {axis} armature="{rng.uniform(0, 0.1)}"/>
            <inertial pos="{numbers(-0.1, 0.1)}" euler="{numbers(-3, 3)}" mass="{rng.uniform(0.2, 2)}"
              diaginertia="{moments[0]} {moments[1]} {moments[2]}"/>{inside[i]}
          </body>"""
        inside[parent] = text + inside.get(parent, "")
    return inside[-1]


KINDS = {0: "free", 1: "spherical", 2: "prismatic", 3: "revolute"}  # by MuJoCo's number of the type
TREES |= {f"random {seed}": random_tree(seed) for seed in range(6)}


# --- the same tree here ----------------------------------------------------------------------------------------------


def scene(bodies: str) -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_string(SCENE.format(*GRAVITY, bodies))


def turn(quaternion: np.ndarray) -> Rotation:
    return Rotation.from_quat(quaternion, scalar_first=True)


def add_body(mechanism: ma.Mechanism, body) -> None:
    """A body of MuJoCo's, which keeps principal moments and the axes they belong to."""
    axes = turn(body.iquat).as_matrix()
    inertia = axes @ np.diag(body.inertia) @ axes.T
    mechanism.add_body(body.name, mass=body.mass[0], com=body.ipos, inertia=inertia)


def mechanism_of(peer: mujoco.MjModel, backwards: bool) -> ma.Mechanism:
    """The tree of `peer`; a body with several joints hangs on bodies without mass, one for each joint but the last.

    `backwards` declares the joints from the outer to the inner body, so that the tree runs through them the other way.
    """
    mechanism = ma.Mechanism()
    for number in range(1, peer.nbody):
        body = peer.body(number)
        add_body(mechanism, body)
        inner, at = peer.body(body.parentid[0]).name, RigidTransform.from_components(body.pos, turn(body.quat))
        joints = [peer.joint(j) for j in range(body.jntadr[0], body.jntadr[0] + body.jntnum[0])]
        if not joints:
            mechanism.add_joint(f"{body.name} weld", "fixed", inner, body.name, at=at)
        for i, joint in enumerate(joints):
            kind, armature = KINDS[joint.type[0]], joint.armature[0]
            if kind == "free":
                if armature:  # without it, a body that no joint holds is free, and its coordinates have its name
                    mechanism.add_joint(joint.name, kind, inner, body.name, armature=armature)
                continue
            outer = body.name if i == len(joints) - 1 else f"{body.name}.{i}"
            if outer != body.name:
                mechanism.add_body(outer)
            anchor = ma.pose(joint.pos)
            ends = ((inner, at * anchor), (outer, anchor))
            (parent, near), (child, far) = reversed(ends) if backwards else ends
            mechanism.add_joint(joint.name, kind, parent, child, near, far, axis=joint.axis, armature=armature)
            inner, at = outer, RigidTransform.identity()
    return mechanism


@dataclass(frozen=True, eq=False)
class Moment:
    """One state here and in MuJoCo; `tau` and `wrench` (on `body`, at its centre of mass) act on both."""

    model: ma.Model
    peer: mujoco.MjModel
    state: ma.State
    tau: np.ndarray
    body: str
    wrench: np.ndarray

    @cached_property
    def T(self) -> np.ndarray:
        """A joint declared backwards has the opposite rate, in a ball's case in the axes of the other body."""
        T = np.zeros((self.peer.nv, self.model.nv))
        for name, place in self.model.joints.items():
            block = place.sign * np.eye(place.v.stop - place.v.start)
            if place.joint.kind == "free":
                rotation = Rotation.from_quat(self.state.q[place.q][:4]).as_matrix()
                block = np.block([[np.zeros((3, 3)), np.eye(3)], [rotation.T, np.zeros((3, 3))]])
            elif place.joint.kind == "spherical" and place.sign < 0:
                block = -Rotation.from_quat(self.state.q[place.q]).as_matrix()
            start = self.peer.joint(name).dofadr[0]
            T[start : start + len(block), place.v] = block
        return T

    @cached_property
    def data(self) -> mujoco.MjData:
        """MuJoCo's data after forward dynamics."""
        data = mujoco.MjData(self.peer)
        for name, place in self.model.joints.items():
            q = place.sign * self.state.q[place.q]
            if place.joint.kind == "spherical":
                q = np.roll(q, 1) * (1, place.sign, place.sign, place.sign)
            elif place.joint.kind == "free":
                q = np.concatenate([q[4:], np.roll(q[:4], 1)])
            data.joint(name).qpos = q
        data.qvel = self.T @ self.state.v
        data.qfrc_applied = self.T @ self.tau
        data.body(self.body).xfrc_applied = np.roll(self.wrench, 3)
        mujoco.mj_forward(self.peer, data)
        return data

    @cached_property
    def mass_matrix(self) -> np.ndarray:
        M = np.empty((self.peer.nv, self.peer.nv))
        mujoco.mj_fullM(self.peer, self.data, M)
        return self.T.T @ M @ self.T

    @cached_property
    def weights(self) -> np.ndarray:
        return np.sqrt(np.diag(self.mass_matrix))

    @cached_property
    def external(self) -> dict[str, ma.Wrench]:
        point = self.data.body(self.body).xipos
        return {self.body: ma.Wrench(self.wrench[:3], self.wrench[3:], point, on=self.body, by="world")}

    @cached_property
    def bodies(self) -> list[str]:
        return [self.peer.body(number).name for number in range(1, self.peer.nbody)]

    def jacobian(self, name: str) -> np.ndarray:
        """Angular rows first, at the body's origin."""
        linear, angular = np.empty((2, 3, self.peer.nv))
        body = self.data.body(name)
        mujoco.mj_jac(self.peer, self.data, linear, angular, body.xpos, body.id)
        return np.vstack([angular, linear]) @ self.T

    def accelerations(self, a: np.ndarray) -> np.ndarray:
        """Of the bodies at their origins, angular part first. MuJoCo lets the world rise instead of the bodies fall.

        (Its mj_jacDot is no help for J-dot v: where a slide follows a ball on one body it is off by their product.)
        """
        data = copy(self.data)
        data.qacc = self.T @ a
        mujoco.mj_rnePostConstraint(self.peer, data)
        found = np.empty((len(self.bodies), 6))
        for name, row in zip(self.bodies, found, strict=True):
            mujoco.mj_objectAcceleration(self.peer, data, mujoco.mjtObj.mjOBJ_XBODY, data.body(name).id, row, 0)
        return found + np.array([0, 0, 0, *GRAVITY])


def moment_of(peer: mujoco.MjModel, mechanism: ma.Mechanism, seed: int) -> Moment:
    model = mechanism.compile(gravity=GRAVITY)
    rng = np.random.default_rng(seed)
    q = rng.uniform(-1.5, 1.5, model.nq)
    for place in model.joints.values():
        if place.joint.kind in ("spherical", "free"):
            q[place.q][:4] = Rotation.random(rng=rng).as_quat()
    v, tau = rng.uniform(-2, 2, (2, model.nv))
    body = peer.body(int(rng.integers(1, peer.nbody))).name
    return Moment(model, peer, model.state(q=q, v=v), tau, body, rng.uniform(-5, 5, 6))


@lru_cache(maxsize=1)
def pair(tree: str, backwards: bool) -> tuple[mujoco.MjModel, ma.Mechanism]:
    peer = scene(TREES[tree])
    return peer, mechanism_of(peer, backwards)


@pytest.fixture(scope="module", params=[False, True], ids=["inner to outer", "outer to inner"])
def backwards(request) -> bool:
    return request.param


@pytest.fixture(scope="module", params=TREES)
def tree(request) -> str:
    return request.param


@pytest.fixture(scope="module", params=[1, 2])
def moment(tree, backwards, request) -> Moment:
    return moment_of(*pair(tree, backwards), request.param)


# --- laws ------------------------------------------------------------------------------------------------------------


def assert_agrees(ours, theirs, tolerance: float = 1e-10) -> None:
    """No entry differs by more than `tolerance` times the largest entry."""
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    assert ours.shape == theirs.shape
    largest = np.abs(theirs).max()
    assert largest > 0
    error = np.abs(ours - theirs).max()
    assert error <= tolerance * largest, f"{error / largest:.1e} of the largest entry {largest:.3g}"


def test_the_tree_runs_as_asked(moment, backwards):
    signs = {place.sign for place in moment.model.joints.values() if place.joint.kind != "free"}
    assert signs == {-1 if backwards else 1}


def test_mass_matrix(moment):
    w = np.outer(moment.weights, moment.weights)
    assert_agrees(ma.mass_matrix(moment.model, moment.state) / w, moment.mass_matrix / w)


def test_inverse_of_the_mass_matrix(moment):
    w = np.outer(moment.weights, moment.weights)
    inverse = np.empty((moment.peer.nv, moment.peer.nv))
    mujoco.mj_solveM(moment.peer, moment.data, inverse, np.eye(moment.peer.nv))
    ours = ma.mass_matrix_inverse(moment.model, moment.state)
    assert_agrees(ours * w, moment.T.T @ inverse @ moment.T * w)


def test_bias_force(moment):
    ours = ma.inverse_dynamics(moment.model, moment.state)
    assert_agrees(ours / moment.weights, moment.T.T @ moment.data.qfrc_bias / moment.weights)


def test_inverse_dynamics(moment):
    """At MuJoCo's accelerations our forces are those that MuJoCo applied."""
    ours = ma.inverse_dynamics(moment.model, moment.state, moment.T.T @ moment.data.qacc, moment.external)
    scale = np.abs(moment.mass_matrix) @ np.abs(moment.T.T @ moment.data.qacc)
    assert np.abs((ours - moment.tau) / moment.weights).max() < 1e-10 * (scale / moment.weights).max()


@pytest.mark.parametrize("method", ["fd1", "fd2", "fd3", "fd4"])
def test_forward_dynamics(moment, method):
    solution = ma.tree_forward_dynamics(moment.model, moment.state, moment.tau, moment.external, method)
    assert_agrees(moment.weights * solution.a, moment.weights * (moment.T.T @ moment.data.qacc))


def test_poses(moment):
    kinematics = ma.kinematics(moment.model, moment.state)
    for name in moment.bodies:
        ours, theirs = kinematics.pose(name), moment.data.body(name)
        assert_agrees(ours.translation, theirs.xpos)
        assert_agrees(ours.rotation.as_matrix().ravel(), theirs.xmat)


def test_jacobians_and_velocities(moment):
    kinematics, jacobians = ma.kinematics(moment.model, moment.state), [moment.jacobian(name) for name in moment.bodies]
    assert_agrees([ma.jacobian(moment.model, moment.state, name) for name in moment.bodies], jacobians)
    assert_agrees([kinematics.velocity(name) for name in moment.bodies], jacobians @ moment.state.v)


def test_accelerations(moment):
    """True ones, as forward dynamics leave them, and J-dot v, those that are left when no joint accelerates."""
    solution = ma.tree_forward_dynamics(moment.model, moment.state, moment.tau, moment.external)
    assert_agrees([solution.acceleration(name) for name in moment.bodies], moment.accelerations(solution.a))
    kinematics = ma.kinematics(moment.model, moment.state)
    at_constant_rates = moment.accelerations(np.zeros(moment.model.nv))
    assert_agrees([kinematics.bias_acceleration(name) for name in moment.bodies], at_constant_rates)


def test_forces_through_the_joints(moment):
    """MuJoCo gives the force on each body by the one inside it, about the centre of mass of the whole tree."""
    a, data = moment.T.T @ moment.data.qacc, copy(moment.data)
    mujoco.mj_rnePostConstraint(moment.peer, data)
    forces = ma.interbody_forces(moment.model, moment.state, a, moment.external)
    on_outer = [force if force.on == moment.model.hangs_by(name) else -force for name, force in forces.items()]
    on_outer = [force for force in on_outer if force.on in moment.bodies]  # not those between several joints of a body
    roots = [moment.peer.body(force.on).rootid[0] for force in on_outer]
    ours = [force.about(data.subtree_com[root]).array for force, root in zip(on_outer, roots, strict=True)]
    theirs = [data.body(force.on).cfrc_int for force in on_outer]
    assert_agrees(ours, theirs)


def test_energy_momentum_and_centre_of_mass(moment):
    data = moment.data
    energy, momentum = ma.energy(moment.model, moment.state), ma.momentum(moment.model, moment.state)
    assert_agrees([energy.potential, energy.kinetic], data.energy)
    mujoco.mj_subtreeVel(moment.peer, data)
    assert_agrees(ma.center_of_mass(moment.model, moment.state), data.subtree_com[0])
    assert_agrees(momentum.linear / moment.model.mass, data.subtree_linvel[0])
    assert_agrees(momentum.about(data.subtree_com[0]).angular, data.subtree_angmom[0])


# --- joints with several coordinates ---------------------------------------------------------------------------------

# kind, its options, and the joints of MuJoCo that it stands for, in the same order
COMPOUND = {
    "universal": ({"axis": (1, 0, 1), "axis2": (0, 1, 0.5)}, (("hinge", "1 0 1"), ("hinge", "0 1 0.5"))),
    "cylindrical": ({"axis": (1, 2, -1)}, (("hinge", "1 2 -1"), ("slide", "1 2 -1"))),
    "planar": ({}, (("slide", "1 0 0"), ("slide", "0 1 0"), ("hinge", "0 0 1"))),
}


@pytest.mark.parametrize("kind", COMPOUND)
def test_joints_with_several_coordinates(kind):
    options, parts = COMPOUND[kind]
    several = "".join(f'<joint type="{part}" axis="{axis}" pos="0.1 0.2 0" armature="0.03"/>' for part, axis in parts)
    inertial = '<inertial pos="0.1 0.05 0.2" mass="{}" diaginertia="0.03 0.05 0.04"/>'
    peer = scene(f"""
      <body name="a" pos="0.1 0 0.2" euler="0.3 0.2 0.1"><joint axis="0 1 1"/>{inertial.format(2)}
        <body name="b" pos="0.2 0.1 0" euler="0.5 -0.3 0.8">{several}{inertial.format(1)}
          <body name="c" pos="0 0.3 0"><joint axis="1 0 0" pos="0 0.1 0"/>{inertial.format(3)}</body>
        </body>
      </body>""")
    mechanism = ma.Mechanism()
    for name in "abc":
        add_body(mechanism, peer.body(name))
    to_a, to_b, to_c = (RigidTransform.from_components(peer.body(x).pos, turn(peer.body(x).quat)) for x in "abc")
    anchor, elbow = ma.pose((0.1, 0.2, 0)), ma.pose((0, 0.1, 0))
    mechanism.add_joint("first", "revolute", "world", "a", at=to_a, axis=(0, 1, 1))
    mechanism.add_joint("middle", kind, "a", "b", at=to_b * anchor, in_child=anchor, armature=0.03, **options)
    mechanism.add_joint("last", "revolute", "b", "c", at=to_c * elbow, in_child=elbow, axis=(1, 0, 0))
    model = mechanism.compile(gravity=GRAVITY)
    assert model.nv == peer.nv
    rng = np.random.default_rng(5)
    q, v, tau = rng.uniform(-1.5, 1.5, (3, model.nv))
    state, data, M = model.state(q=q, v=v), mujoco.MjData(peer), np.empty((model.nv, model.nv))
    data.qpos, data.qvel, data.qfrc_applied = q, v, tau
    mujoco.mj_forward(peer, data)
    mujoco.mj_fullM(peer, data, M)
    assert_agrees(ma.mass_matrix(model, q), M)
    assert_agrees(ma.inverse_dynamics(model, state), data.qfrc_bias)
    assert_agrees(ma.tree_forward_dynamics(model, state, tau), data.qacc)
    assert_agrees(ma.kinematics(model, state).pose("c").translation, data.body("c").xpos)
