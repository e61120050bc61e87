"""Closed chains that cannot be: every error says which part is wrong, by how much, and what to do."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from random_mechanisms import random_state
from test_closed_chain import four_bar
from test_cut_joints import two_bodies

import multiarm as ma
from multiarm.cut_coordinates import joint_coordinates
from multiarm.joints import JOINT_KINDS
from multiarm.solvers import SOLVERS

GUESS = {"one": [0, 1.9, -0.2], "two": [2.9, -2, 0.8]}


def pair(apart=1.0, **bar):
    """Two planar arms and a bar between them."""
    m = ma.Mechanism("pair")
    for name, x in (("one", -apart / 2), ("two", apart / 2)):
        m.add_arm(name, ma.robots.planar(3, length=(0.5, 0.4, 0.2)), base=(x, 0, 0))
    m.add_body("bar", pose=(0, 0.6, 0), **({"mass": 2.0, "inertia": (0.03, 0.03, 0.05)} | bar))
    for name, x in (("one", -0.2), ("two", 0.2)):
        m.grasp(name, "bar", at=ma.pose((x, 0, 0), rpy=(0, 0, np.pi / 2)))
    return m


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("one", "bra"), "no body or frame 'bra'; did you mean 'bar'?"),
        (("one/tp", "bar"), "no body or frame 'one/tp'; did you mean 'one/tip'?"),
        (("three", "bar"), "no body or frame 'three'"),
        (("one", "one/link3"), "'one/end' is part of 'one/link3' itself"),
    ],
)
def test_grasps_of_what_does_not_exist_are_refused(arguments, message):
    m = pair()
    with pytest.raises(ma.MultiArmError, match=message.replace("?", r"\?")):
        m.grasp(*arguments, name="again")
    assert "again" not in m.grasps


def test_two_grasps_that_cannot_both_hold_say_how_far_they_stay_apart():
    model = pair(apart=6.0).compile()
    with pytest.raises(
        ma.OpenLoopError, match=r"the loop of '(one|two)' cannot be closed .* open by 1\.9\d* m"
    ) as error:
        ma.assemble(model, GUESS)
    # each arm reaches 1.1 m, the bar is held over 0.4 m, and least squares shares what is missing
    assert sum(error.value.gaps.values()) == pytest.approx(2 * 1.9, abs=0.1)


def test_a_state_off_the_constraints_says_by_how_much_and_what_brings_it_back():
    model = pair().compile()
    state = ma.assemble(model, GUESS, hold=("bar",))
    off = np.array(state.q)
    off[model.q_slice("bar").stop - 1] += 0.003
    with pytest.raises(ma.OpenLoopError, match=r"'one' is open by 0\.003 m or rad; multiarm\.assemble") as error:
        ma.forward_dynamics(model, model.state(q=off))
    assert error.value.gaps == pytest.approx({"one": 0.003, "two": 0.003})
    v = np.zeros(model.nv)
    v[0] = 0.5
    with pytest.raises(ma.OpenLoopError, match=r"'one' is slipping by .* m/s or rad/s; multiarm\.project"):
        ma.forward_dynamics(model, state.replace(v=v))


@pytest.mark.parametrize(
    ("tau", "message"),
    [
        (np.zeros(3), r"tau: expected 12 numbers, not an array of shape \(3,\)"),
        ({"one": [1.0, 2.0]}, r"tau of 'one': expected 3 numbers, not an array of shape \(2,\)"),
        ({"bar": np.zeros(7)}, r"tau of 'bar': expected 6 numbers, not an array of shape \(7,\)"),
        ({"ona": [0, 0, 0]}, "no arm, joint or free body 'ona'"),
        (np.full(12, np.nan), "tau: entry 0 is nan, not finite"),
    ],
)
def test_torques_that_do_not_fit_are_refused(tau, message):
    model = pair().compile()
    state = ma.assemble(model, GUESS, hold=("bar",))
    with pytest.raises(ma.MultiArmError, match=message):
        ma.forward_dynamics(model, state, tau)


@pytest.mark.parametrize("solver", SOLVERS)
def test_an_object_without_inertia_is_named_with_those_who_hold_it(solver):
    m = pair(mass=0.0, inertia=None)
    model = m.compile()
    state = ma.assemble(model, GUESS, hold=("bar",))
    with pytest.raises(ma.SingularInertiaError, match="object 'bar', held by 'one', 'two', has no mass") as error:
        ma.forward_dynamics(model, state, solver=solver)
    assert (error.value.body, error.value.holders) == ("bar", ("one", "two"))
    # with one hand as part of the arm it needs none
    kept = m.compile(cuts=["two"])
    closed = ma.assemble(kept, {name: state.q[model.q_slice(name)] for name in ("one", "two")})
    assert ma.forward_dynamics(kept, closed, solver=solver).residual < 1e-12


def triangle():
    """Three bars hinged in a triangle on the ground: a truss."""
    m = ma.Mechanism("truss")
    for name in ("left", "right"):
        m.add_body(name, mass=2.0, inertia=(0.01, 0.2, 0.2), com=(0.5, 0, 0))
    m.add_joint("a", "revolute", parent="world", child="left")
    m.add_joint("b", "revolute", parent="world", child="right", at=(1.2, 0, 0))
    m.add_joint("top", "revolute", parent="left", child="right", at=(1, 0, 0), in_child=(1, 0, 0))
    return m.compile(cuts=["top"], gravity=(0, -9.81, 0))


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_mechanism_that_cannot_move_is_named_and_still_solved(solver):
    model = triangle()
    state = ma.assemble(model, {"a": 0.9, "b": 2.2})
    with pytest.warns(ma.ImmobileWarning, match=r"'truss' cannot move here: its 5 constraint rows .* its 2 velocities"):
        solution = ma.forward_dynamics(model, state, solver=solver)
    assert_allclose(solution.a, 0.0, atol=1e-10)
    assert ma.mobility(model, state).instantaneous == 0
    # statics of a symmetric truss: each support carries one bar, the top pushes sideways by half a weight over tan
    angle = state.q[0]
    push = 2.0 * 9.81 / 2 / np.tan(angle)
    assert solution.forces["a"].force[1] == pytest.approx(2.0 * 9.81)
    assert_allclose(solution.forces["top"].force[:2], (push, 0.0), atol=1e-8)


def test_a_mechanism_that_moves_gives_no_warning():
    model = pair().compile()
    state = ma.assemble(model, GUESS, hold=("bar",))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ma.forward_dynamics(model, state)


# ---------------------------------------------------------------------- limits of cut joints


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("kind", [kind for kind in JOINT_KINDS if kind not in ("spherical", "free", "fixed")])
def test_coordinates_of_a_cut_joint_are_those_it_has_in_the_tree(kind, backwards):
    model = two_bodies(kind, backwards)
    for seed in range(5):
        state = random_state(model, np.random.default_rng(seed))
        joint = ma.kinematics(model, state).joint("joint")
        found = joint_coordinates(model.joints["joint"].joint, joint.displacement)
        assert_allclose(found, joint.q, atol=1e-12)


def limited_four_bar(lower=-np.inf, upper=np.inf):
    m = ma.Mechanism("four-bar")
    for name, length in (("crank", 1.0), ("rod", 2.0), ("rocker", 1.5)):
        m.add_body(name, mass=length, inertia=(0.01, length**3 / 12, length**3 / 12), com=(length / 2, 0, 0))
    m.add_joint("a", "revolute", parent="world", child="crank")
    m.add_joint("b", "revolute", parent="crank", child="rod", at=(1, 0, 0))
    limits = {"lower": lower, "upper": upper}
    m.add_joint("c", "revolute", parent="rod", child="rocker", at=(2, 0, 0), in_child=(1.5, 0, 0), **limits)
    m.add_joint("d", "revolute", parent="world", child="rocker", at=(2.2, 0, 0))
    return m.compile(cuts=["c"], gravity=(0, -9.81, 0))


def angle_at_c(state):
    return ma.kinematics(state.model, state).joint("c").displacement.rotation.as_rotvec()[2]


def test_assembly_respects_the_limits_of_cut_joints():
    guess = {"a": 1.0, "b": -0.6, "d": 1.8}
    free = angle_at_c(ma.assemble(four_bar(["c"]), guess))
    for lower, upper in ((free - 0.5, free - 0.2), (free + 0.1, free + 0.5), (-np.inf, free - 0.1)):
        state = ma.assemble(limited_four_bar(lower, upper), guess)
        assert lower - 1e-9 <= angle_at_c(state) <= upper + 1e-9
        assert ma.forward_dynamics(state.model, state).residual < 1e-12
    # a whole turn makes no difference to a joint that was cut
    turned = ma.assemble(limited_four_bar(free + 2 * np.pi - 0.1, free + 2 * np.pi + 0.1), guess)
    assert angle_at_c(turned) == pytest.approx(free, abs=1e-9)


def test_a_cut_joint_that_would_leave_its_limits_is_named_with_both_numbers():
    guess = {"a": 1.0, "b": -0.6, "d": 1.8}
    model = limited_four_bar(-0.2, 0.3)
    with pytest.raises(
        ma.OpenLoopError, match=r"close only with cut joint 'c' at 1\.\d+, beyond its upper limit 0\.3 \(m or rad\)"
    ) as error:
        ma.assemble(model, guess, hold=("a",))
    free = angle_at_c(ma.assemble(four_bar(["c"]), guess, hold=("a",)))
    assert error.value.gaps == pytest.approx({"c": free - 0.3})
