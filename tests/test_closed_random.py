"""Random teams of arms around objects, singular poses and near misses included: laws that every solver obeys."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from random_teams import REDUNDANT, Team, random_team, shares, teams, well_posed

import multiarm as ma
from multiarm.constraints import constraints
from multiarm.solvers import SOLVERS

STRATEGIES = ("grasps", "shallow", "fewest_constraints")
some = settings(derandomize=True, deadline=None)


def largest(*terms: np.ndarray) -> float:
    return float(np.max(np.sum([np.abs(term) for term in terms], axis=0), initial=1e-300))


def size_of_accelerations(team: Team, a: np.ndarray) -> float:
    """Of these, and of those with the loops open: a mechanism that cannot move has no others."""
    return max(largest(a), largest(ma.tree_forward_dynamics(team.model, team.state, team.tau, team.external).a))


class Balance:
    """The two rows of the KKT system of a team: M a + C = tau + J* lambda and J a = gamma."""

    def __init__(self, team: Team) -> None:
        model, state = team.model, team.state
        self.mass, self.rest = ma.mass_matrix(model, state), ma.inverse_dynamics(model, state, None, team.external)
        self.rows = constraints(model, state)
        self.free = ma.tree_forward_dynamics(model, state, team.tau, team.external).a
        held = {body for part in self.rows.cuts for body in (part.cut.parent.body, part.cut.child.body)}
        kin = ma.kinematics(model, state)
        self.bodies = {body: (ma.jacobian(model, state, body), kin.pose(body).translation) for body in held}

    def of_motion(self, solution: ma.ClosedChainSolution) -> float:
        """Residual of the first row relative to the largest sum of its terms, by the wrenches that are reported."""
        push, terms = np.zeros(len(self.rest)), [np.abs(self.mass) @ np.abs(solution.a), self.rest, solution.tau]
        for name in solution.model.cuts:
            wrench = solution.forces[name]
            for body, sign in ((wrench.on, 1.0), (wrench.by, -1.0)):
                columns, origin = self.bodies[body]
                at_body = wrench.about(origin).array
                push += sign * columns.T @ at_body
                terms.append(np.abs(columns).T @ np.abs(at_body))
        return largest(self.mass @ solution.a + self.rest - solution.tau - push) / largest(*terms)

    def of_constraints(self, solution: ma.ClosedChainSolution) -> float:
        """Residual of the second row; accelerations with the loops open count among its terms."""
        jacobian, bias = self.rows.jacobian, self.rows.bias
        terms = [np.abs(jacobian) @ (np.abs(solution.a) + np.abs(self.free)), bias]
        return largest(jacobian @ solution.a - bias) / largest(*terms)


@settings(some, max_examples=150)
@given(teams() | teams(pose="in_line"))  # in line is where weak rows are
def test_both_rows_of_the_kkt_system_are_satisfied_on_every_draw(team):
    found = shares(team.model, team.state)
    balance = Balance(team)
    event(f"{len(team.plan.arms)} arms, {team.plan.base}")
    event("a row between rounding and 1e-6" if np.any((found > REDUNDANT) & (found < 1e-6)) else "no such row")
    for solver in SOLVERS:
        solution = team.solve(solver)
        assert balance.of_motion(solution) <= 1e-12, solver
        assert balance.of_constraints(solution) <= 1e-12, solver
        assert solution.rank + solution.redundancy == len(balance.rows.names)


def test_all_solvers_agree_where_the_condition_number_is_below_a_million():
    tally = Counter()

    @settings(some, max_examples=120)
    @given(teams())
    def check(team):
        posed = well_posed(team.model, team.state)
        event("condition number of Omega below 1e6" if posed else "above 1e6")
        tally[posed] += 1
        if not posed:
            return
        expected = team.solve("dense")
        size = size_of_accelerations(team, expected.a)
        pressing = largest(expected.answer.multipliers)
        for solver in SOLVERS:
            found = team.solve(solver)
            assert (found.rank, found.determinate) == (expected.rank, expected.determinate), solver
            assert largest(found.a - expected.a) <= 1e-9 * size, solver
            for name, wrench in expected.forces.items():
                if expected.determinate.get(name, False):
                    assert largest(found.forces[name].array - wrench.array) <= 1e-9 * pressing, solver

    check()
    above = tally[False] / tally.total()
    print(f"{above:.0%} of {tally.total()} draws have a condition number of Omega above 1e6")
    assert above < 0.5


# ---------------------------------------------------------------------- what must not matter


def assert_same_motion(team: Team, other: Team, solver: str) -> None:
    """Equal accelerations of all bodies, and equal forces where they have only one possible value."""
    one, two = team.solve("dense"), other.solve(solver)
    moving = [name for name in team.model.bodies if name != "world"]
    first, second = (np.array([x.acceleration(name) for name in moving]) for x in (one, two))
    size = max(largest(first), size_of_accelerations(team, one.a))
    assert largest(first - second) <= 1e-9 * size, solver
    pressing = largest(one.answer.multipliers)
    for name, sure in one.determinate.items():
        if sure and name not in other.model.merged:
            wrench = one.forces[name]
            assert largest(wrench.array - two.forces[name].about(wrench.point).array) <= 1e-9 * pressing, (solver, name)


@settings(some, max_examples=40)
@given(teams(max_arms=4), st.sampled_from([*STRATEGIES[1:], "any", "any"]), st.integers(0, 2**16))
def test_which_joints_are_cut_does_not_matter(team, cuts, seed):
    other = team.again(team.plan.random_cuts(np.random.default_rng(seed)) if cuts == "any" else cuts)
    posed = well_posed(team.model, team.state) and well_posed(other.model, other.state)
    event("well posed" if posed else "too close to a singularity to compare")
    if posed:
        for solver in SOLVERS:
            assert_same_motion(team, other, solver)


@settings(some, max_examples=40)
@given(teams(), st.integers(0, 2**16))
def test_the_order_in_which_things_were_added_does_not_matter(team, seed):
    other = team.again(order=np.random.default_rng(seed))
    posed = well_posed(team.model, team.state)
    event("well posed" if posed else "too close to a singularity to compare")
    if posed:
        for solver in SOLVERS:
            assert_same_motion(team, other, solver)
            assert other.solve(solver).determinate == team.solve(solver).determinate


# ---------------------------------------------------------------------- draws that are easy to get wrong

HARD = {
    "two arms in line, one grasp cut": ({"seed": 873, "arms": 2, "joints": 2, "pose": "in_line"}, "shallow"),
    "two objects, arms in line": (
        {"seed": 2784016297, "arms": 4, "joints": 4, "pose": "in_line", "objects": 2},
        "fewest_constraints",
    ),
    "two arms cut in the middle": (
        {"seed": 152, "arms": 3, "joints": 2, "pose": "stretched"},
        ["arm1/joint1", "arm2/joint1"],
    ),
    "an arm and a grasp cut": ({"seed": 479, "arms": 3, "joints": 4}, ["arm1/joint1", "hold2"]),
    "no row redundant": ({"seed": 2305682020, "arms": 3, "joints": 3}, ["arm0/joint1", "arm2/joint1"]),
    "five arms in flight": (
        {"seed": 289539468, "arms": 5, "joints": 9, "pose": "stretched", "off": 1e-6, "base": "floating"},
        "shallow",
    ),
    "one arm nearly straight": (
        {"seed": 2436778615, "arms": 1, "joints": 4, "pose": "stretched", "off": 1e-10, "base": "torso"},
        "grasps",
    ),
}


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("name", HARD)
def test_draws_that_are_easy_to_get_wrong(name, solver):
    """Well posed all of them: what is not redundant has a condition number below 1e6."""
    options, cuts = HARD[name]
    team = random_team(**options)
    other = team.again(cuts)
    assert well_posed(other.model, other.state)
    solution, balance = other.solve(solver), Balance(other)
    assert solution.rank == int((shares(other.model, other.state) > REDUNDANT).sum())
    assert balance.of_motion(solution) <= 1e-12
    assert balance.of_constraints(solution) <= 1e-12
    assert_same_motion(team, other, solver)
