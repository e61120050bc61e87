"""Controllers of objects: the forward dynamics of their torques gives the motion and the forces that were asked for."""

import warnings
from collections import Counter

import numpy as np
import pytest
from closed_mechanisms import hand_over
from control_cases import (
    apparent_inertia,
    clearly_ranked,
    errors_to,
    free_flyer,
    moving_linkage,
    nearest_acceleration,
    panda_state,
    path_near,
    two_pandas,
)
from hypothesis import given, settings
from numpy.testing import assert_allclose
from random_teams import teams, well_posed
from scipy.linalg import eig

import multiarm as ma

T = 0.4
MIXED = [
    ("rigid", "rigid"), ("rigid", "revolute"), ("rigid", "soft_finger"), ("revolute", "point"),
    ("soft_finger", "soft_finger"),
]  # fmt: skip


def largest(x):
    return float(np.abs(x).max(initial=0.0))


# ---------------------------------------------------------------------- computed torque


@pytest.mark.parametrize("kinds", MIXED, ids=" and ".join)
@pytest.mark.parametrize("i", range(3))
def test_computed_torque_moves_the_object_as_wanted_with_the_internal_force_asked_for(kinds, i):
    model = two_pandas(kinds)
    state = ma.project(model, panda_state(model, i))
    path = path_near(model, state, "box", i)
    controller = ma.controllers.ComputedTorque(
        model, {"box": path}, kp=80.0, kd=15.0, internal={("left", "right"): 20.0}, limits=None
    )
    solution = ma.forward_dynamics(model, state, controller(T, state))
    off, slow, acceleration = errors_to(model, state, "box", path, T)
    wanted = acceleration + 15.0 * slow + 80.0 * off
    if kinds == ("soft_finger", "soft_finger"):  # nobody can turn the box about the line between two soft fingers
        preferred = np.where(model.actuated, -10.0 * state.v, 0.0)
        expected = nearest_acceleration(model, state, {"box": wanted}, preferred)
        assert_allclose(solution.a, expected, atol=1e-9 * largest(expected))
    else:
        assert_allclose(solution.acceleration("box"), wanted, atol=1e-9 * largest(wanted))
    load = solution.load("box")
    line = load.internal["right"].point - load.internal["left"].point
    push = 20.0 * line / np.linalg.norm(line)
    assert_allclose(load.internal["left"].array, [0, 0, 0, *push], atol=1e-9 * 20)
    assert_allclose(load.internal["right"].array, [0, 0, 0, *-push], atol=1e-9 * 20)
    assert load.squeeze("left", "right") == pytest.approx(20.0, rel=1e-9)


def test_internal_wrenches_turn_with_the_object():
    model = two_pandas()
    state = panda_state(model, 1)
    cuts = {side: model.cuts[side].child.pose.translation for side in ("left", "right")}
    force, torque = np.array([3.0, -2.0, 5.0]), np.array([0.4, 0.1, -0.7])
    other = -torque - np.cross(cuts["left"] - cuts["right"], force)
    internal = {"left": [*torque, *force], "right": [*other, *-force]}
    path = path_near(model, state, "box")
    controller = ma.controllers.ComputedTorque(model, {"box": path}, internal=internal, limits=None)
    found = ma.forward_dynamics(model, state, controller(T, state)).load("box").internal
    turn = ma.kinematics(model, state).pose("box").rotation
    for side, wrench in internal.items():
        assert_allclose(found[side].array, turn.apply(np.reshape(wrench, (2, 3))).ravel(), atol=1e-9 * 5)


def test_computed_torque_agrees_with_inverse_dynamics_where_that_leaves_no_choice():
    model, state = hand_over("giver", "taker")
    path = path_near(model, state, "parcel")
    turn = ma.kinematics(model, state).pose("parcel").rotation
    held = {name: model.cuts[name].child.pose.translation for name in ("giver", "taker")}
    line = held["taker"] - held["giver"]
    push = 7.0 * line / np.linalg.norm(line)
    controller = ma.controllers.ComputedTorque(model, {"parcel": path}, internal={("giver", "taker"): 7.0}, limits=None)
    off, slow, acceleration = errors_to(model, state, "parcel", path, T)
    world = turn.apply(push)
    answer = ma.closed_chain_inverse_dynamics(
        model,
        state,
        {"parcel": acceleration + 20.0 * slow + 100.0 * off},
        internal={"giver": [0, 0, 0, *world], "taker": [0, 0, 0, *-world]},
    )
    assert_allclose(controller(T, state), answer.tau, atol=1e-9 * largest(answer.tau))


def test_a_stewart_platform_follows_by_its_slides_alone():
    model, state = moving_linkage("Stewart")
    path = path_near(model, state, "platform")
    tau = ma.controllers.ComputedTorque(model, {"platform": path}, limits=None)(T, state)
    off, slow, acceleration = errors_to(model, state, "platform", path, T)
    wanted = acceleration + 20.0 * slow + 100.0 * off
    assert_allclose(
        ma.forward_dynamics(model, state, tau).acceleration("platform"), wanted, atol=1e-9 * largest(wanted)
    )
    assert not tau[~model.actuated].any()
    answer = ma.closed_chain_inverse_dynamics(model, state, {"platform": wanted})
    assert_allclose(tau, answer.tau, atol=1e-8 * largest(tau))


@pytest.mark.parametrize("name", ["four-bar", "Bennett", "Bricard", "two arms", "stretched arm"])
def test_motions_that_a_mechanism_cannot_make_are_met_in_least_squares(name):
    model, state = moving_linkage(name)
    body = {"two arms": "bar", "stretched arm": "bar", "four-bar": "rod"}.get(name, "link1")
    path = path_near(model, state, body)
    tau = ma.controllers.ComputedTorque(model, {body: path}, null_kd=3.0, limits=None)(T, state)
    off, slow, acceleration = errors_to(model, state, body, path, T)
    wanted = acceleration + 20.0 * slow + 100.0 * off
    expected = nearest_acceleration(model, state, {body: wanted}, np.where(model.actuated, -3.0 * state.v, 0.0))
    found = ma.forward_dynamics(model, state, tau).a
    assert_allclose(found, expected, atol=1e-7 * largest(expected))


@pytest.mark.parametrize("cuts", ["grasps", ["left"]])
def test_an_object_in_one_hand_is_led_like_one_between_two(cuts):
    m = ma.Mechanism("torso")
    m.add_arm("robot", ma.robots.torso())
    m.add_body("box", mass=3.0, inertia=(0.03, 0.04, 0.05), pose=ma.pose((0.5, 0, 1)))
    q = {"robot": [0.1, 0.2, -0.6, 0.1, -2.0, 0.2, 1.6, 0.4, -0.3, -0.5, 0.2, -1.9, 0.3, 1.7, 0.2]}
    apart = m.compile()
    kin = ma.kinematics(apart, apart.state(q=q))
    for side in ("left", "right"):
        m.grasp(f"robot/{side}", "box", at=kin.pose("box").inv() * kin.pose(f"robot/{side}"), name=side)
    model = m.compile(cuts=cuts)
    state = ma.project(model, model.state(q=q, v=0.3 * np.random.default_rng(0).normal(size=model.nv)))
    path = path_near(model, state, "box")
    tau = ma.controllers.ComputedTorque(model, {"box": path}, posture=q, null_kp=9.0, limits=None)(T, state)
    off, slow, acceleration = errors_to(model, state, "box", path, T)
    wanted = acceleration + 20.0 * slow + 100.0 * off
    found = ma.forward_dynamics(model, state, tau)
    assert_allclose(found.acceleration("box"), wanted, atol=1e-9 * largest(wanted))
    preferred = np.zeros(model.nv)
    arm = model.v_slice("robot")
    preferred[arm] = 9.0 * (np.array(q["robot"]) - state.q[model.q_slice("robot")]) - 10.0 * state.v[arm]
    expected = nearest_acceleration(model, state, {"box": wanted}, preferred)
    assert_allclose(found.a, expected, atol=1e-8 * largest(expected))


def test_a_free_flyer_moves_what_it_holds_with_no_force_on_its_base():
    model, state = free_flyer()
    path = path_near(model, state, "catch")
    controller = ma.controllers.ComputedTorque(model, {"catch": path}, internal={("left", "right"): 9.0}, limits=None)
    tau = controller(T, state)
    off, slow, acceleration = errors_to(model, state, "catch", path, T)
    wanted = acceleration + 20.0 * slow + 100.0 * off
    assert not tau[model.v_slice("base")].any()
    found = ma.forward_dynamics(model, state, tau)
    assert_allclose(found.acceleration("catch"), wanted, atol=1e-9 * largest(wanted))
    assert found.load("catch").squeeze("left", "right") == pytest.approx(9.0, rel=1e-8)


def test_random_teams_accelerate_as_the_dense_formula_says():
    tally = Counter()

    @settings(max_examples=80, deadline=None, derandomize=True)
    @given(team=teams(max_arms=4))
    def check(team):
        model, state = team.model, team.state
        clear = well_posed(model, state) and clearly_ranked(model, state, team.plan.objects)
        tally[clear] += 1
        if not clear:
            return
        wanted, paths = {}, {}
        for i, body in enumerate(team.plan.objects):
            paths[body] = path_near(model, state, body, i)
            off, slow, acceleration = errors_to(model, state, body, paths[body], T)
            wanted[body] = acceleration + 20.0 * slow + 100.0 * off
        preferred = np.where(model.actuated, -10.0 * state.v, 0.0)
        expected = nearest_acceleration(model, state, wanted, preferred)
        tau = ma.controllers.ComputedTorque(model, paths, limits=None)(T, state)
        assert not tau[~model.actuated].any()
        with warnings.catch_warnings(action="ignore", category=ma.ImmobileWarning):
            found = ma.forward_dynamics(model, state, tau).a
        assert largest(found - expected) <= 1e-7 * max(largest(expected), largest(list(wanted.values())))

    check()
    assert tally[True] > 0.3 * tally.total()


# ---------------------------------------------------------------------- impedance


@pytest.mark.parametrize("kinds", MIXED[:4], ids=" and ".join)
def test_an_impedance_answers_external_wrenches_by_its_law(kinds):
    model = two_pandas(kinds)
    state = ma.project(model, panda_state(model, 2))
    path = path_near(model, state, "box")
    stiffness, damping = np.diag([50.0, 60, 40, 500, 400, 600]), np.diag([9.0, 8, 7, 90, 80, 70])
    controller = ma.controllers.ObjectImpedance(
        model, {"box": path}, stiffness, damping, internal={("left", "right"): 15.0}, limits=None
    )
    tau = controller(T, state)
    off, slow, acceleration = errors_to(model, state, "box", path, T)
    inertia = apparent_inertia(model, state, "box")
    for push in (np.zeros(6), np.array([1.0, -2, 3, 30, -20, 10])):
        solution = ma.forward_dynamics(model, state, tau, external={"box": push})
        drive = damping @ slow + stiffness @ off + push
        assert_allclose(inertia @ (solution.acceleration("box") - acceleration), drive, atol=1e-8 * largest(drive))
        if not push.any():
            assert solution.load("box").squeeze("left", "right") == pytest.approx(15.0, rel=1e-9)


@pytest.mark.parametrize("ratio", [0.3, 1.0])
def test_critical_damping_damps_every_mode_alike(ratio):
    model = two_pandas()
    state = panda_state(model)
    stiffness = np.diag([50.0, 60, 40, 500, 400, 600])
    damping = ma.controllers.critical_damping(model, state, "box", stiffness, ratio)
    inertia = apparent_inertia(model, state, "box")
    assert_allclose(damping, damping.T, atol=1e-12 * largest(damping))
    one, nothing = np.eye(6), np.zeros((6, 6))
    poles = eig(np.block([[nothing, one], [-stiffness, -damping]]), np.block([[one, nothing], [nothing, inertia]]))[0]
    assert_allclose(-poles.real / np.abs(poles), ratio, atol=1e-6)


def test_critical_damping_is_for_directions_that_exist():
    model, state = moving_linkage("two arms")
    damping = ma.controllers.critical_damping(model, state, "bar", 100.0)
    assert np.linalg.matrix_rank(damping, tol=1e-8) == 3
    with pytest.raises(ma.BadInputError, match="ratio"):
        ma.controllers.critical_damping(model, state, "bar", 100.0, ratio=-1)
