"""Loops closed: published and other programs' numbers, and the laws that constraint forces obey."""

import json
from pathlib import Path

import numpy as np
import pytest
from closed_mechanisms import bars
from numpy.testing import assert_allclose
from random_mechanisms import random_state
from scipy.spatial.transform import Rotation

import multiarm as ma
from multiarm.constraints import constraints
from multiarm.joints import JOINT_KINDS
from multiarm.manifold import advance
from multiarm.solvers import SOLVERS

PANDAS = json.loads((Path(__file__).parent / "data" / "two_pandas.json").read_text())


def two_pandas(kind="rigid"):
    m = ma.Mechanism("two Pandas")
    for i, side in enumerate(("left", "right")):
        m.add_arm(side, ma.robots.panda(), base=np.array(PANDAS["base"][i]))
    m.add_body("box", mass=5.0, shape=ma.Box((0.3, 0.3, 0.2)))
    for i, side in enumerate(("left", "right")):
        m.grasp(side, "box", at=np.array(PANDAS["weld_box"][i]), kind=kind)
    return m.compile()


def panda_state(model, i):
    q, v = np.array(PANDAS["q"][i]), np.array(PANDAS["v"][i])
    turn = Rotation.from_quat(q[17:])
    box = np.concatenate([q[17:], q[14:17]])
    twist = np.concatenate([turn.apply(v[17:]), turn.apply(v[14:17])])
    return model.state(q=np.concatenate([q[:14], box]), v=np.concatenate([v[:14], twist]))


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("i", range(3))
def test_two_pandas_hold_a_box_as_pinocchio_says(i, solver):
    model = two_pandas()
    state = panda_state(model, i)
    solution = ma.forward_dynamics(model, state, np.array(PANDAS["tau"][i][:14] + [0.0] * 6), solver=solver)
    qdd = np.array(PANDAS["qdd"][i])
    assert_allclose(solution.a[:14], qdd[:14], atol=1e-10 * np.abs(qdd).max())
    linear_angular = np.array(PANDAS["box_twist_acc_world"][i])
    assert_allclose(solution.acceleration("box"), np.roll(linear_angular, 3), atol=1e-10 * np.abs(linear_angular).max())
    for side, lam in zip(("left", "right"), np.array(PANDAS["lam"][i]).reshape(2, 6), strict=True):
        tip = ma.kinematics(model, state).pose(f"{side}/tip").rotation
        wrench = solution.forces[side]
        assert (wrench.on, wrench.by) == ("box", f"{side}/panda_hand")
        assert_allclose(wrench.force, -tip.apply(lam[:3]), atol=1e-9 * np.abs(lam).max())
        assert_allclose(wrench.torque, -tip.apply(lam[3:]), atol=1e-9 * np.abs(lam).max())
    assert solution.rank == 12
    assert solution.determinate == {"left": True, "right": True}
    assert max(solution.residual, solution.constraint_residual) < 1e-13
    assert ma.energy(model, state).total == pytest.approx(PANDAS["energy"][i], rel=1e-12)


def four_bar(cuts="grasps"):
    return bars((1.0, 2.0, 1.5), 2.2).compile(cuts=cuts, gravity=(0, -9.81, 0))


def moving_four_bar(cuts):
    model = four_bar(cuts)
    reference = four_bar(["c"])
    start = ma.assemble(reference, {"a": 1.0, "b": -0.6, "d": 1.8}, hold=("a",), v={"a": 2.0})
    kin = ma.kinematics(reference, start)
    guess, rates = {}, {}
    for name in model.joints:
        if name in reference.joints:
            guess[name], rates[name] = start.q[reference.q_slice(name)], start.v[reference.v_slice(name)]
        else:
            joint = kin.joint(name)
            guess[name], rates[name] = joint.displacement.rotation.as_rotvec()[2], joint.velocity[2]
    return model, ma.project(model, model.state(q=guess, v=rates))


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("cut", ["a", "b", "c", "d"])
def test_a_four_bar_moves_alike_whichever_joint_is_cut(cut, solver):
    reference, state = moving_four_bar(["c"])
    expected = ma.forward_dynamics(reference, state, {"a": 3.0})
    model, same = moving_four_bar([cut])
    solution = ma.forward_dynamics(model, same, {"a": 3.0}, solver=solver)
    for body in ("crank", "rod", "rocker"):
        assert_allclose(solution.acceleration(body), expected.acceleration(body), atol=1e-9)
    assert solution.rank == model.nv - 1
    in_plane = [3, 4, 2]
    for joint in ("a", "b", "c", "d"):
        assert_allclose(solution.forces[joint].array[in_plane], expected.forces[joint].array[in_plane], atol=1e-8)


def test_a_four_bar_is_one_pendulum_in_the_angle_of_its_crank():
    """d/dt of the energy along the only motion left equals the power of the torque."""
    model, state = moving_four_bar(["c"])
    solution = ma.forward_dynamics(model, state, {"a": 3.0})
    h = 1e-4

    def energy_after(t):
        q = advance(model, state.q, t * state.v + t * t / 2 * solution.a)
        return ma.energy(model, ma.project(model, model.state(q=q, v=state.v + t * solution.a))).total

    slope = (energy_after(h) - energy_after(-h)) / (2 * h)
    assert slope == pytest.approx(3.0 * state.v[model.v_slice("a")][0], rel=1e-5)


KINDS = list(JOINT_KINDS)


def looped(kind, backwards):
    """A chain with a loop back to the world that a joint of the given kind closes, at a moving state."""
    m = ma.Mechanism()
    m.add_arm("arm", ma.robots.chain(7), base=ma.pose((0.1, -0.2, 0.3), rpy=(0.3, 0.1, 0.2)))
    m.add_body("b", mass=1.0, inertia=(0.1, 0.2, 0.15), com=(0, 0.1, 0))
    m.add_joint("ball", "spherical", parent="world", child="b", at=(0.5, 0.3, 0.4))
    axes = {"axis": (1, 2, -1)} | {"universal": {"axis2": (0, 1, 1)}, "screw": {"pitch": 0.3}}.get(kind, {})
    ends = ("arm/tip", "b") if not backwards else ("b", "arm/tip")
    m.add_joint("loop", kind, *ends, at=ma.pose((0.1, 0, 0.05), rpy=(0.4, 0.2, 0)), in_child=(0, 0.1, 0), **axes)
    model = m.compile(cuts=["loop"])
    rng = np.random.default_rng(11)
    rough = random_state(model, rng)
    return model, ma.assemble(model, rough, v=rough.v)


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_cut_keeps_its_gap_closed_to_third_order(kind, backwards):
    """Along q + t v + t^2 a / 2 with the constrained a, the gap grows like t^3: J and its bias are right."""
    model, state = looped(kind, backwards)
    solution = ma.forward_dynamics(model, state, external={"b": [1, 2, 3, 4, 5, 6]})
    assert max(solution.residual, solution.constraint_residual) < 1e-12

    def gap(t):
        q = advance(model, state.q, t * (state.v + t / 2 * solution.a))
        return np.abs(constraints(model, model.state(q=q)).gap).max(initial=0.0)

    scale = max(1.0, np.abs(state.v).max(), np.abs(solution.a).max() ** 0.5)
    coarse, fine = gap(1e-2 / scale), gap(2.5e-3 / scale)
    assert fine < 1e-12 or coarse / fine > 40  # 4^3 = 64


@pytest.mark.parametrize("kind", KINDS)
def test_constraint_forces_do_no_work_on_the_motions_a_joint_allows(kind):
    model, state = looped(kind, backwards=False)
    solution = ma.forward_dynamics(model, state)
    joint = ma.kinematics(model, state).joint("loop")
    wrench = solution.forces["loop"]
    assert_allclose(joint.directions.T @ wrench.about(joint.child_frame.translation).array, 0.0, atol=1e-9)


@pytest.mark.parametrize("kind", ["rigid", "revolute", "soft_finger", "point"])
def test_the_object_obeys_newton_and_euler_with_the_reported_forces(kind):
    model = two_pandas(kind)
    state = panda_state(model, 0)
    solution = ma.forward_dynamics(model, state, np.array(PANDAS["tau"][0][:14] + [0.0] * 6))
    centre = ma.kinematics(model, state).pose("box")
    turn, omega = centre.rotation.as_matrix(), state.v[model.v_slice("box")][:3]
    inertia = turn @ np.diag(ma.Box((0.3, 0.3, 0.2)).inertia(5.0)) @ turn.T
    a = solution.acceleration("box")
    total = sum(solution.forces[side].about(centre.translation).array for side in ("left", "right"))
    assert_allclose(total[3:], 5.0 * (a[3:] - model.gravity), atol=1e-10 * 100)
    assert_allclose(total[:3], inertia @ a[:3] + np.cross(omega, inertia @ omega), atol=1e-10 * 100)
    rows = {"rigid": 6, "revolute": 5, "soft_finger": 4, "point": 3}[kind]
    assert solution.rank == 2 * rows
    if kind in ("soft_finger", "point"):
        contact = ma.kinematics(model, state).joint("left").child_frame.rotation
        moment = contact.inv().apply(solution.forces["left"].torque)
        assert_allclose(moment[:2], 0.0, atol=1e-9)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_mimic_joint_follows_its_source(solver):
    m = ma.Mechanism()
    m.add_arm("arm", ma.robots.planar(3))
    m.couple("arm/joint3", "arm/joint2", ratio=-0.5, offset=0.2)
    model = m.compile(gravity=(0, -9.81, 0))
    state = ma.assemble(model, {"arm": [0.3, 0.4, 0.5]}, v={"arm": [1.0, 2.0, 0.0]})
    solution = ma.forward_dynamics(model, state, {"arm": [1.0, 2.0, 3.0]}, solver=solver)
    assert state.q[2] == pytest.approx(-0.5 * state.q[1] + 0.2, abs=1e-12)
    assert solution.a[2] == pytest.approx(-0.5 * solution.a[1], rel=1e-12)
    assert solution.residual < 1e-13
    # reduced by hand: T* M T with T = d(q1, q2, q3)/d(q1, q2)
    reduce = np.array([[1, 0], [0, 1], [0, -0.5]])
    mass, bias = ma.mass_matrix(model, state), ma.inverse_dynamics(model, state)
    expected = np.linalg.solve(reduce.T @ mass @ reduce, reduce.T @ (np.array([1.0, 2.0, 3.0]) - bias))
    assert_allclose(solution.a[:2], expected, rtol=1e-11)


def test_states_off_the_constraints_and_loops_that_cannot_close_say_by_how_much():
    model = four_bar(["c"])
    with pytest.raises(ma.OpenLoopError, match=r"'c' is open by .* m or rad; multiarm.assemble") as error:
        ma.forward_dynamics(model, model.state(q={"a": 1.0}))
    assert error.value.gaps["c"] > 0.1
    closed = ma.assemble(model, {"a": 1.0, "b": -0.6, "d": 1.8})
    with pytest.raises(ma.OpenLoopError, match=r"'c' is slipping .*multiarm.project"):
        ma.forward_dynamics(model, closed.replace(v=[1.0, 0.0, 0.0]))
    with pytest.raises(ma.OpenLoopError, match="loop of 'c' cannot be closed"):
        ma.assemble(model, {"a": 1.0}, hold=("a", "b", "d"))
    with pytest.raises(ma.UnknownNameError, match="'dense'"):
        ma.forward_dynamics(model, closed, solver="dens")


def test_a_weld_half_a_turn_away_is_no_solution():
    m = ma.Mechanism()
    m.add_body("a", mass=1.0, inertia=(1, 1, 1))
    m.add_body("b", mass=1.0, inertia=(1, 1, 1))
    m.add_joint("swivel", "spherical", parent="world", child="a")
    m.add_joint("socket", "spherical", parent="world", child="b")
    m.add_joint("weld", "fixed", parent="a", child="b")
    model = m.compile(cuts=["weld"])
    state = ma.assemble(model, {"swivel": [1, 0, 0, 0]})
    kin = ma.kinematics(model, state)
    assert_allclose((kin.pose("a").rotation.inv() * kin.pose("b").rotation).magnitude(), 0.0, atol=1e-10)


def test_assembly_converges_quadratically_and_respects_limits_and_what_is_held():
    model = two_pandas()
    state = panda_state(model, 0)
    rng = np.random.default_rng(2)
    rough = np.array(state.q)
    rough[:14] += 0.05 * rng.normal(size=14)
    closed = ma.assemble(model, model.state(q=rough), hold=("box",))
    assert np.abs(constraints(model, closed).gap).max() < 1e-12
    assert np.array_equal(closed.q[14:], state.q[14:])
    assert np.all(closed.q >= model.lower)
    assert np.all(closed.q <= model.upper)


def test_projection_changes_least_in_the_mass_metric():
    model = two_pandas()
    state = panda_state(model, 1)
    off = state.replace(v=state.v + np.random.default_rng(3).normal(size=model.nv))
    back = ma.project(model, off)
    rows = constraints(model, back)
    assert np.abs(rows.slip).max() < 1e-12
    change = back.v - off.v
    allowed = np.linalg.svd(rows.jacobian)[2][rows.jacobian.shape[0] :]
    assert_allclose(allowed @ ma.mass_matrix(model, back) @ change, 0.0, atol=1e-10)
