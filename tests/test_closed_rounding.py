"""Rows of which nothing but rounding is left, and what a failed call leaves behind."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from test_closed_prepared import two_planar_arms

import multiarm as ma
from multiarm.prepared import CLOSED
from multiarm.solvers import SOLVERS

DIRECTIONS = np.random.default_rng(4).normal(size=(6, 2, 3))


def on_an_axis(turn, axis):
    """The pose of a skew hinge, its axis, and a point of the axis away from it."""
    axis = axis / np.linalg.norm(axis)
    return ma.pose((0.1, 0.2, 0.3), rpy=turn), axis, ma.pose(0.37 * axis)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(("turn", "axis"), DIRECTIONS)
def test_a_second_bearing_on_the_hinge_line_changes_nothing(turn, axis, solver):
    """Every row of J is redundant: its largest singular value is rounding too."""
    at, axis, along = on_an_axis(turn, axis)
    m = ma.Mechanism("door")
    m.add_body("door", mass=1.0, inertia=(0.1, 0.12, 0.15), com=(0.3, 0.1, 0))
    m.add_joint("hinge", "revolute", parent="world", child="door", at=at, axis=axis)
    m.add_joint("bearing", "spherical", parent="world", child="door", at=at * along, in_child=along)
    model = m.compile(cuts=["bearing"])
    state = model.state(q={"hinge": 0.7}, v={"hinge": 0.3})
    solution = ma.forward_dynamics(model, state, {"hinge": 1.0}, solver=solver)
    assert solution.rank == 0
    assert ma.mobility(model, state).instantaneous == 1
    assert not solution.determinate["bearing"]
    assert_allclose(solution.a, ma.tree_forward_dynamics(model, state, {"hinge": 1.0}).a, rtol=1e-12)
    assert np.abs(solution.answer.multipliers).max() < 1e-6


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(("turn", "axis"), DIRECTIONS)
def test_a_point_on_the_axis_of_the_only_joint_holds_an_object(turn, axis, solver):
    """The arm cannot yield at all, and what it seems to yield is rounding."""
    at, axis, along = on_an_axis(turn, axis)
    m = ma.Mechanism("pivot")
    m.add_body("stick", mass=1.0, inertia=(0.1, 0.12, 0.15))
    m.add_body("object", mass=1.0, inertia=(0.1, 0.12, 0.15), com=(0.1, 0, 0))
    m.add_joint("hinge", "revolute", parent="world", child="stick", at=at, axis=axis)
    m.add_frame("tip", "stick", along)
    m.grasp("tip", "object", at=ma.pose((0.05, 0.1, 0.2)), kind="point", name="hold")
    model = m.compile()
    state = ma.assemble(model, {"hinge": 0.7}, hold=("hinge",))
    solution = ma.forward_dynamics(model, state, solver=solver)
    assert solution.rank == 3
    assert solution.residual < 1e-12
    assert_allclose(solution.acceleration("tip")[3:], np.zeros(3), atol=1e-12)


def cut_screw():
    m = ma.Mechanism("screw")
    m.add_body("nut", mass=1.0, inertia=(0.1, 0.12, 0.15), com=(0.1, 0, 0))
    m.add_body("slide", mass=2.0, inertia=(0.1, 0.1, 0.1))
    m.add_joint("turn", "cylindrical", parent="world", child="nut", axis=(0, 0, 1))
    m.add_joint("guide", "prismatic", parent="world", child="slide", axis=(0, 0, 1))
    m.add_joint("flange", "revolute", parent="slide", child="nut", axis=(0, 0, 1))
    m.add_joint("thread", "screw", parent="world", child="nut", axis=(0, 0, 1), pitch=0.1)
    return m


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_cut_screw_far_along_its_thread_is_not_open(solver):
    """Redundant rows beside a long advance: the advance is no gap and must not widen the rank tolerance."""
    model = cut_screw().compile(cuts=["flange", "thread"], gravity=(0, 0, -9.81))
    start = ma.assemble(model, {"turn": [8.0, 0.8], "guide": 0.8}, hold=("turn",))
    state = ma.project(model, model.state(q=start.q, v={"turn": [2.0, 0.2], "guide": 0.2}))
    solution = ma.forward_dynamics(model, state, {"turn": [1.0, 0.0]}, solver=solver)
    assert solution.rank == 2
    inertia = 0.15 + 1.0 * 0.1**2 + 3.0 * 0.1**2  # about the axis, and of both masses along it
    expected = (1.0 - 3.0 * 9.81 * 0.1) / inertia
    assert_allclose(solution.a, [expected, 0.1 * expected, 0.1 * expected], rtol=1e-9)


@pytest.mark.parametrize("solver", CLOSED)
def test_a_call_with_nan_is_forgotten_by_the_next(solver):
    drawn = two_planar_arms()
    calls = ma.compiled(drawn.model)
    run = calls.forward_dynamics_by(solver)
    q, v, out = np.array(drawn.state.q), np.array(drawn.state.v), np.empty(drawn.model.nv)
    tau = np.array(drawn.model.forces(drawn.tau))
    first = run(q, v, tau, out).copy()
    for bad in (np.nan, np.inf):
        spoilt = tau.copy()
        spoilt[0] = bad
        run(q, v, spoilt, out)
        run(q, bad * v, tau, out)
        assert np.array_equal(run(q, v, tau, out), first)


def test_prepared_calls_keep_their_constraints_where_the_state_has_drifted():
    drawn = two_planar_arms()
    calls = ma.compiled(drawn.model)
    q, v, out = np.array(drawn.state.q), np.array(drawn.state.v), np.empty(drawn.model.nv)
    tau = np.array(drawn.model.forces(drawn.tau))
    for solver in CLOSED:
        run = calls.forward_dynamics_by(solver)
        run(q, v, tau, out)
        rank = calls.rank
        for drift in (1e-6, 1e-4, 1e-2):
            run(q + drift * (np.arange(len(q)) == 0), v, tau, out)
            assert calls.rank >= rank


def test_a_fast_loop_elsewhere_does_not_hide_a_contradiction():
    """A bar stretched between two pins that must go apart, beside a mote that spins up at once."""
    m = ma.Mechanism("stretched beside a mote")
    for name in ("one", "two"):
        m.add_body(name, mass=1.0, inertia=(0.1, 0.1, 0.1))
    m.add_joint("a", "revolute", parent="world", child="one")
    m.add_joint("b", "revolute", parent="one", child="two", at=(1, 0, 0))
    m.add_joint("c", "revolute", parent="world", child="two", at=(2, 0, 0), in_child=(1, 0, 0))
    for name in ("left", "right"):
        m.add_body(name, mass=1e-3, inertia=(1e-6, 1e-6, 1e-6))
        m.add_joint(f"{name} pin", "revolute", parent="world", child=name)
    m.add_joint("tie", "cylindrical", parent="left", child="right")
    model = m.compile(cuts=["c", "tie"], gravity=(0, 0, 0))
    moving = model.state(v={"a": 0.1, "b": -0.2})
    for torque in (0.0, 1.0):
        with pytest.raises(ma.ContradictionError, match="'c'"):
            ma.forward_dynamics(model, moving, {"left pin": torque})
