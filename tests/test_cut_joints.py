"""Joints that were cut: which motions they allow, and what their actuators do."""

import numpy as np
import pytest
from random_mechanisms import random_state

import multiarm as ma
from multiarm.joints import JOINT_KINDS

KINDS = [kind for kind in JOINT_KINDS if kind != "fixed"]


def two_bodies(kind, backwards=False, cut=False):
    """A body on a spherical joint and a second one that a joint of the given kind connects with it."""
    m = ma.Mechanism()
    m.add_body("a", mass=2.0, inertia=(0.3, 0.4, 0.5), com=(0.1, 0, 0.2))
    m.add_body("b", mass=1.0, inertia=(0.1, 0.2, 0.15), com=(0, 0.1, 0))
    m.add_joint("base", "spherical", parent="world", child="a", at=(0.1, 0.2, 0.3))
    parent, child = ("b", "a") if backwards else ("a", "b")
    at, in_child = ma.pose((0.3, -0.1, 0.2), rpy=(0.3, 0.5, -0.7)), ma.pose((-0.2, 0.1, 0.4), rpy=(1.1, -0.2, 0.4))
    axes = {"axis": (1, 2, -1)} | {"universal": {"axis2": (0, 1, 1)}, "screw": {"pitch": 0.3}}.get(kind, {})
    m.add_joint("joint", kind, parent, child, at=at, in_child=in_child, **axes)
    return m.compile(cuts=["joint"] if cut else "grasps", gravity=(1, -2, 3))


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_directions_times_rates_are_the_relative_velocity(kind, backwards):
    model = two_bodies(kind, backwards)
    state = random_state(model, np.random.default_rng(4))
    joint = ma.kinematics(model, state).joint("joint")
    assert np.allclose(joint.directions @ joint.v, joint.velocity, rtol=0, atol=1e-13)


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_an_actuator_does_the_same_whether_its_joint_is_cut_or_not(kind, backwards):
    """The power of the actuator is tau . rate for any motion that the joint allows, and it acts on nothing else."""
    rng = np.random.default_rng(5)
    whole, cut = two_bodies(kind, backwards), two_bodies(kind, backwards, cut=True)
    state = random_state(whole, rng)
    kin = ma.kinematics(whole, state)
    pose = kin.pose("b")
    free = np.concatenate([pose.rotation.as_quat(), pose.translation])
    v = {"base": state.v[whole.v_slice("base")], "b": kin.velocity("b")}
    same = cut.state(q={"base": state.q[whole.q_slice("base")], "b": free}, v=v)
    tau = rng.normal(size=JOINT_KINDS[kind].nv)

    driven = ma.tree_forward_dynamics(cut, same, {"joint": tau})
    idle = ma.tree_forward_dynamics(cut, same)
    mass = ma.mass_matrix(cut, same)
    power = np.dot(mass @ (driven.a - idle.a), same.v)
    assert power == pytest.approx(tau @ state.v[whole.v_slice("joint")], rel=1e-11)
    assert driven.residual < 1e-13
    wrenches = [wrench for acting in driven.external.values() for wrench in acting]
    assert len(wrenches) == 2
    assert {wrench.on for wrench in wrenches} == {"a", "b"}
    assert np.allclose(wrenches[0].array + wrenches[1].array, 0.0)
    assert np.allclose(wrenches[0].point, wrenches[1].point)


def test_forces_on_grasps_and_unknown_names_are_refused():
    m = ma.Mechanism()
    m.add_arm("arm", ma.robots.planar(2))
    m.add_body("ball", mass=1.0, inertia=(1, 1, 1))
    m.grasp("arm", "ball", at=(0, 0, 0), name="hold")
    model = m.compile()
    with pytest.raises(ma.UnknownNameError, match="'hold' is a grasp"):
        ma.tree_forward_dynamics(model, model.state(), {"hold": np.zeros(6)})
    with pytest.raises(ma.UnknownNameError, match="'arn'"):
        ma.tree_forward_dynamics(model, model.state(), {"arn": [0, 0]})
    loop = two_bodies("revolute", cut=True)
    with pytest.raises(ma.BadInputError, match="tau of 'joint': expected 1"):
        ma.tree_forward_dynamics(loop, loop.state(), {"joint": [1, 2]})


def test_an_arm_and_its_grasp_may_share_a_name():
    m = ma.Mechanism()
    m.add_arm("arm", ma.robots.planar(2))
    m.add_body("ball", mass=1.0, inertia=(1, 1, 1))
    m.grasp("arm", "ball", at=(0, 0, 0))
    model = m.compile()
    solution = ma.tree_forward_dynamics(model, model.state(), {"arm": [1.0, 2.0]})
    assert solution.tau[model.v_slice("arm")].tolist() == [1.0, 2.0]


@pytest.mark.parametrize(("kind", "count"), [("rigid", 0), ("revolute", 1), ("soft_finger", 2), ("point", 3)])
def test_grasps_report_the_motions_they_allow(kind, count):
    m = ma.Mechanism()
    m.add_arm("arm", ma.robots.planar(2))
    m.add_body("ball", mass=1.0, inertia=(1, 1, 1))
    m.grasp("arm", "ball", at=(0, 0, 0), kind=kind)
    model = m.compile()
    joint = ma.kinematics(model, model.state()).joint("arm")
    assert joint.directions.shape == (6, count)
    assert not joint.directions[3:].any()
    assert joint.q is None
