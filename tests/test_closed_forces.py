"""What the reported forces do: Newton and Euler for what is held, no work, and the sources' way to find them."""

from __future__ import annotations

import numpy as np
import pytest
from closed_mechanisms import body_equation, hand_over, moved_to
from hypothesis import assume, given, settings
from numpy.testing import assert_allclose
from random_teams import Team, teams, well_posed
from scipy.linalg import block_diag

import multiarm as ma
from multiarm.constraints import constraints
from multiarm.solvers import SOLVERS

some = settings(derandomize=True, deadline=None)


@settings(some, max_examples=50)
@given(teams())
def test_what_is_held_obeys_newton_and_euler_with_the_reported_forces(team):
    """To its own largest term; where one part of the team is nearly at a dead point, to the large forces there."""
    kin, posed = ma.kinematics(team.model, team.state), well_posed(team.model, team.state)
    for solver in SOLVERS:
        solution = team.solve(solver)
        elsewhere = 0.0 if posed else np.abs(solution.answer.multipliers).max()
        for name in team.plan.objects:
            pose = kin.pose(name)
            inertia, rest = body_equation(team.model.bodies[name], pose, kin.velocity(name), team.model.gravity)
            grasps = [hold for hold, grasp in team.plan.grasps.items() if grasp["body"] == name]
            wrenches = [solution.forces[hold].about(pose.translation).array for hold in grasps]
            assert all(solution.forces[hold].on == name for hold in grasps)
            terms = [inertia @ solution.acceleration(name), rest, -team.external.get(name, np.zeros(6))]
            largest = max(elsewhere, *(np.abs(term).max() for term in [*wrenches, *terms]))
            assert_allclose(sum(terms), sum(wrenches), rtol=0, atol=1e-10 * largest, err_msg=solver)


@settings(some, max_examples=50)
@given(teams())
def test_forces_do_no_work_on_the_motions_that_a_grasp_allows(team):
    """H(0) f(0) = 0, JPL 88-11-II (b.1c); so all of them together do no work on what moves now."""
    kin = ma.kinematics(team.model, team.state)
    for solver in SOLVERS:
        solution = team.solve(solver)
        for name in team.model.cuts:
            wrench, joint = solution.forces[name], kin.joint(name)
            size = np.abs(wrench.array).max()
            assert_allclose(joint.directions.T @ wrench.array, 0.0, rtol=0, atol=1e-12 * size, err_msg=solver)
            power = float(wrench.array @ joint.velocity)
            assert abs(power) <= 1e-11 * size * max(np.abs(joint.velocity).max(), 1.0), solver


@settings(some, max_examples=30)
@given(teams(base="floating"))
def test_only_what_comes_from_outside_changes_the_momentum_of_a_team_in_flight(team):
    """Sum of m (a - g) and of its moment about the origin, over all bodies, is that of the external wrenches."""
    kin = ma.kinematics(team.model, team.state)
    bodies = {name: body for name, body in team.model.bodies.items() if name != "world"}
    for solver in SOLVERS:
        solution = team.solve(solver)
        total, size = np.zeros(6), 0.0
        for name, body in bodies.items():
            pose = kin.pose(name)
            inertia, rest = body_equation(body, pose, kin.velocity(name), team.model.gravity)
            needed = inertia @ solution.acceleration(name) + rest - team.external.get(name, np.zeros(6))
            total += ma.Wrench(needed[:3], needed[3:], pose.translation, name, "all").about((0, 0, 0)).array
            size = max(size, np.abs(needed).max())
        size = max(size, *(np.abs(solution.forces[name].array).max() for name in team.model.cuts))
        assert_allclose(total, 0.0, rtol=0, atol=1e-10 * size, err_msg=solver)


# ---------------------------------------------------------------------- JPL 88-11-II, Appendix B


def grasp_side(team: Team) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Omega = J M^-1 J* + A M(C)^-1 A*, the motions H(0) that grasps allow and the others C, at all grasps stacked."""
    model, state = team.model, team.state
    kin, mass = ma.kinematics(model, state), ma.mass_matrix(model, state)
    grasps = team.plan.grasps
    omega = ma.operational_compliance(model, state, [f"{grasp['arm_or_frame']}/tip" for grasp in grasps.values()])
    for body in team.plan.objects:
        where, holds = model.v_slice(body), [grasp["body"] == body for grasp in grasps.values()]
        blocks = [np.zeros((6, 6))] * len(grasps)
        for i, name in enumerate(grasps):
            arm = kin.joint(name).child_frame.translation - kin.pose(body).translation
            blocks[i] = holds[i] * np.array([moved_to(unit, arm) for unit in np.eye(6)]).T
        a = np.vstack(blocks)
        omega = omega + a @ np.linalg.solve(mass[where, where], a.T)
    cuts = {part.cut.name: part for part in constraints(model, state).cuts}
    return (
        omega,
        block_diag(*(kin.joint(name).directions.T for name in grasps)),
        block_diag(*(cuts[name].basis for name in grasps)),
    )


def free_relative_accelerations(team: Team) -> np.ndarray:
    """What the contacts would do with the loops open: alpha-(0) - alpha+(0) - H-dot* W, stacked."""
    kin = ma.kinematics(team.model, team.state)
    free = ma.tree_forward_dynamics(team.model, team.state, team.tau, team.external)
    parts = []
    for name, grasp in team.plan.grasps.items():
        body, joint = grasp["body"], kin.joint(name)
        arm, omega = joint.child_frame.translation - kin.pose(body).translation, kin.velocity(body)[:3]
        contact = moved_to(free.acceleration(body), arm)
        contact[3:] += np.cross(omega, np.cross(omega, arm))
        rates = np.linalg.lstsq(joint.directions, joint.velocity, rcond=None)[0]
        turning = np.concatenate([np.cross(omega, joint.directions[:3] @ rates), np.zeros(3)])
        parts.append(contact - free.acceleration(f"{grasp['arm_or_frame']}/tip") - turning)
    return np.concatenate(parts)


@settings(some, max_examples=40)
@given(teams(pose="generic"))
def test_grasp_forces_are_pi_times_the_relative_accelerations(team):
    """f(0) = -Pi (alpha- - alpha+ - H-dot* W) of the open loops, JPL 88-11-II (b.7a), Pi = C* (C Omega C*)^-1 C.

    Where Omega is invertible Pi is (b.7b), Omega^-1 - Omega^-1 H* (H Omega^-1 H*)^-1 H Omega^-1, as well.
    """
    assume(well_posed(team.model, team.state))
    omega, h, c = grasp_side(team)
    inner = c @ omega @ c.T
    assume(np.linalg.cond(inner) < 1e8)
    pi = c.T @ np.linalg.solve(inner, c)
    if np.linalg.cond(omega) < 1e8:
        inverse = np.linalg.inv(omega)
        printed = inverse - inverse @ h.T @ np.linalg.solve(h @ inverse @ h.T, h @ inverse)
        assert_allclose(printed, pi, rtol=0, atol=1e-7 * np.abs(inverse).max())
    expected = -pi @ free_relative_accelerations(team)
    for solver in SOLVERS:
        solution = team.solve(solver)
        found = np.concatenate([solution.forces[name].array for name in team.plan.grasps])
        assert_allclose(found, expected, rtol=0, atol=1e-8 * np.abs(expected).max(), err_msg=solver)


# ---------------------------------------------------------------------- an object passed on


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(("holder", "other"), [("giver", "taker"), ("taker", "giver")])
def test_an_arm_that_moves_along_by_itself_carries_nothing(holder, other, solver):
    """So it may close its hand, and the one that held may open its own, without a jerk."""
    model, state = hand_over(holder)
    tau = {"giver": (3.0, -40.0, -20.0, 1.0, 0.5, 0.2), "taker": (1.0, -30.0, -15.0, 2.0, -0.5, 0.1)}
    alone = ma.forward_dynamics(model, state, {holder: tau[holder]}, solver=solver)
    kin, where = ma.kinematics(model, state), model.v_slice(other)
    arm, omega = kin.pose(f"{other}/tip").translation - kin.pose("parcel").translation, kin.velocity("parcel")[:3]
    wanted = moved_to(alone.acceleration("parcel"), arm)
    wanted[3:] += np.cross(omega, np.cross(omega, arm))
    columns = ma.jacobian(model, state, f"{other}/tip")[:, where]
    a = np.array(alone.a)
    a[where] = np.linalg.solve(columns, wanted - kin.bias_acceleration(f"{other}/tip"))
    along = ma.inverse_dynamics(model, state, a)[where]

    both, same = hand_over("giver", "taker")
    together = ma.forward_dynamics(both, same, {holder: tau[holder], other: along}, solver=solver)
    size = np.abs(alone.forces[holder].array).max()
    assert_allclose(together.forces[other].array, 0.0, rtol=0, atol=1e-9 * size)
    assert_allclose(together.forces[holder].array, alone.forces[holder].array, rtol=0, atol=1e-9 * size)
    assert_allclose(together.a, a, rtol=0, atol=1e-9 * np.abs(a).max())
