"""`load_mjcf` against MuJoCo's own answers on the same files."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import multiarm as ma
from multiarm.constraints import constraints

mujoco = pytest.importorskip("mujoco", reason="the test extra brings MuJoCo")

from mjcf_scenes import (  # noqa: E402
    ARMS,
    GRAVITY,
    HINGES,
    LOCAL,
    OPEN,
    PLAIN,
    SCENE,
    SCENES,
    assert_agrees,
    compiled,
    drawn,
    quiet_load,
    random_state,
    scene,
)  # fmt: skip
from mujoco_states import Twin  # noqa: E402
from test_against_mujoco import TREES  # noqa: E402

# --- trees ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=[*TREES, *LOCAL])
def tree(request) -> tuple[ma.Model, object]:
    xml = SCENE.format(bodies=(TREES | LOCAL)[request.param], rest="")
    return compiled(quiet_load(xml)), mujoco.MjModel.from_xml_string(xml)


@pytest.fixture(scope="module", params=[1, 2, 3])
def twin(tree, request) -> Twin:
    model, peer = tree
    rng = np.random.default_rng(request.param)
    return Twin(model, peer, random_state(model, rng), rng.uniform(-2, 2, model.nv))


@pytest.fixture
def weights(twin) -> np.ndarray:
    return np.sqrt(np.diag(twin.T.T @ twin.mass_matrix @ twin.T))


def test_mass_matrix(twin, weights):
    w = np.outer(weights, weights)
    assert_agrees(ma.mass_matrix(twin.model, twin.state) / w, twin.T.T @ twin.mass_matrix @ twin.T / w)


def test_bias_force(twin, weights):
    assert_agrees(ma.inverse_dynamics(twin.model, twin.state) / weights, twin.T.T @ twin.data.qfrc_bias / weights)


def test_forward_dynamics(twin, weights):
    """The accelerations without constraints: damping and the like are not in these files."""
    solution = ma.forward_dynamics(twin.model, twin.state, twin.tau)
    assert_agrees(weights * solution.a, weights * (twin.T.T @ twin.data.qacc_smooth))


def test_poses_of_bodies_and_sites(twin):
    kinematics = ma.kinematics(twin.model, twin.state)
    data = twin.data
    named = {i: twin.peer.body(i).name for i in range(1, twin.peer.nbody)}
    found = [(name, data.xpos[i], data.xmat[i]) for i, name in named.items() if name]
    found += [(twin.peer.site(i).name, data.site_xpos[i], data.site_xmat[i]) for i in range(twin.peer.nsite)]
    for name, position, axes in found:
        pose = kinematics.pose(f"robot/{name}")
        assert_allclose(pose.translation, position, atol=1e-12)
        assert_allclose(pose.rotation.as_matrix().ravel(), axes, atol=1e-12)


def test_hinges_and_slides_keep_the_coordinates_of_the_file(tree):
    model, peer = tree
    kinds = (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE)
    named = [peer.joint(i) for i in range(peer.njnt) if peer.jnt_type[i] in kinds]
    assert all(f"robot/{joint.name}" in model.joints for joint in named if joint.name)
    assert model.nv == peer.nv


# --- equalities -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SCENES)
def test_loops_are_as_open_as_in_mujoco(name):
    model, peer = scene(name)
    twin = Twin(model, peer, drawn(model, peer), np.zeros(model.nv))
    assert_allclose(twin.qpos, peer.qpos0, atol=1e-14)
    _, theirs = twin.equality_jacobian(twin.qpos)
    assert len(theirs) == SCENES[name][2] + 3 * (name == "weld without torque")
    ours = np.abs(constraints(model, twin.state).gap).max()
    if name in OPEN:
        assert np.abs(theirs).max() > 0.01
        assert ours > 0.01
    else:
        assert np.abs(theirs).max() < 1e-12
        assert ours < 1e-12


@pytest.mark.parametrize("moving", [False, True], ids=["at rest", "moving"])
@pytest.mark.parametrize("name", SCENES)
def test_accelerations_under_equalities(name, moving):
    """Our hard constraints against the equations of motion made of MuJoCo's mass matrix, bias and Jacobian."""
    model, peer = scene(name)
    rng = np.random.default_rng(7)
    guess = drawn(model, peer)
    v = rng.uniform(-1, 1, model.nv) if moving else None
    state = ma.assemble(model, ma.manifold.advance(model, guess.q, 0.1 * rng.uniform(-1, 1, model.nv)), v=v)
    twin = Twin(model, peer, state, rng.uniform(-5, 5, model.nv))
    J, opening = twin.equality_jacobian(twin.qpos)
    assert np.abs(opening).max() < 1e-10
    assert np.abs(J @ twin.data.qvel).max() < 1e-10
    theirs = twin.constrained_acceleration()
    solution = ma.forward_dynamics(model, state, twin.tau)
    assert_agrees(twin.T @ solution.a, theirs, 1e-8)
    assert np.linalg.matrix_rank(J, tol=1e-8) == solution.rank + (peer.nv - model.nv)


def test_equalities_are_cut_first_and_have_names():
    model, _ = scene("weld")
    assert list(model.cuts) == ["robot/l5:bar", "robot/bar:r5"]
    assert [cut.kind for cut in model.cuts.values()] == ["fixed", "fixed"]
    model, _ = scene("four bars")
    assert list(model.cuts) == ["robot/coupler:rocker", "robot/coupler:rocker.2"]
    assert [cut.kind for cut in model.cuts.values()] == ["spherical", "spherical"]
    rest = '<equality><weld name="glue" body1="l5" body2="bar"/></equality>'
    assert ma.load_mjcf(PLAIN.format(bodies=ARMS, rest=rest)).joints[-1].name == "glue"


@pytest.mark.parametrize("joint", ["b", "c"])
def test_a_joint_is_held_where_the_file_says(joint):
    """At its reference and what polycoef adds to that."""
    xml = PLAIN.format(bodies=HINGES, rest=f'<equality><joint joint1="{joint}" polycoef="0.25 0 0 0 0"/></equality>')
    model, peer = compiled(ma.load_mjcf(xml)), mujoco.MjModel.from_xml_string(xml)
    state = random_state(model, np.random.default_rng(3))
    twin = Twin(model, peer, state, np.zeros(model.nv))
    qpos = twin.qpos.copy()
    qpos[peer.joint(joint).qposadr[0]] += 0.25
    _, opening = twin.equality_jacobian(qpos)
    assert_allclose(opening, 0, atol=1e-15)
    data = mujoco.MjData(peer)
    data.qpos = qpos
    mujoco.mj_kinematics(peer, data)
    pose = ma.kinematics(model, state).pose("robot/d")
    assert_allclose(pose.translation, data.body("d").xpos, atol=1e-12)
    assert_allclose(pose.rotation.as_matrix().ravel(), data.body("d").xmat, atol=1e-12)


def test_the_base_places_the_scene():
    model, peer = scene("weld")
    mechanism = ma.Mechanism()
    xml = SCENE.format(bodies=ARMS, rest=f"<equality>{SCENES['weld'][1]}</equality>")
    at = ma.pose((1, -2, 0.5), rpy=(0.4, 0.2, 1))
    mechanism.add_arm("robot", quiet_load(xml), base=at)
    moved = mechanism.compile(gravity=at.rotation.apply(GRAVITY))
    a, b = (ma.forward_dynamics(one, drawn(one, peer)).a for one in (model, moved))
    assert_agrees(b, a, 1e-9)


@pytest.mark.skipif(not hasattr(mujoco.MjModel, "actuator_armature"), reason="came with later versions of MuJoCo")
def test_rotors_of_actuators_are_in_the_mass_matrix():
    rest = (
        '<actuator><motor joint="a" gear="3" armature="0.5" damping="2"/><motor joint="d" armature="0.1"/></actuator>'
    )
    xml = PLAIN.format(bodies=HINGES, rest=rest)
    model, peer = compiled(ma.load_mjcf(xml)), mujoco.MjModel.from_xml_string(xml)
    twin = Twin(model, peer, random_state(model, np.random.default_rng(0)), np.zeros(4))
    assert_agrees(ma.mass_matrix(model, twin.state), twin.mass_matrix)
    assert model.joints["robot/a"].joint.damping == 18.0
