"""Random teams of arms around objects: laws that hold on every draw."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import multiarm as ma
from multiarm.constraints import constraints

KINDS = ("rigid", "revolute", "soft_finger", "point")


@dataclass(repr=False)
class Team:
    """A mechanism with closed loops at a consistent state."""

    model: ma.Model
    state: ma.State
    tau: dict


def team(seed, arms, joints, objects=1, torso=False, floating=False, order=0, stretched=False):
    """Arms of random sizes that hold objects where their tips happen to be, moving consistently.

    `order` shuffles the order in which grasps are declared; `stretched` puts the first arm into a singular pose.
    """
    rng = np.random.default_rng(seed)
    m = ma.Mechanism("team")
    carrier = "world"
    if torso:
        m.add_body("torso", mass=8.0, inertia=(0.5, 0.6, 0.4), com=(0, 0, 0.1), pose=(0, 0, 1))
        if not floating:
            m.add_joint("waist", "universal", parent="world", child="torso", axis=(0, 0, 1), axis2=(1, 0, 0))
        carrier = "torso"
    names = [f"arm{i}" for i in range(arms)]
    q = {}
    for name in names:
        robot = ma.robots.chain(joints, length=rng.uniform(0.2, 0.5), mass=rng.uniform(0.5, 3))
        m.add_arm(name, robot, base=ma.pose(rng.normal(size=3), rpy=rng.normal(size=3)), on=carrier)
        q[name] = rng.uniform(-1.5, 1.5, joints)
    if stretched:
        q[names[0]][1:] = 0.0
    for j in range(objects):
        m.add_body(
            f"object{j}",
            mass=rng.uniform(1, 5),
            inertia=(0.1, 0.12, 0.15),
            com=0.1 * rng.normal(size=3),
            pose=rng.normal(size=3),
        )
    open_model = m.compile()
    kin = ma.kinematics(open_model, open_model.state(q=q))
    kinds = [KINDS[k] for k in rng.integers(0, 4, arms)]
    holders = [(name, f"object{i % objects}", kind) for i, (name, kind) in enumerate(zip(names, kinds, strict=True))]
    for k in np.random.default_rng(order).permutation(arms) if order else range(arms):
        name, body, kind = holders[k]
        m.grasp(name, body, at=kin.pose(body).inv() * kin.pose(f"{name}/tip"), kind=kind)
    model = m.compile(gravity=rng.normal(size=3))
    state = ma.project(model, model.state(q=q, v=rng.normal(size=model.nv)))
    return Team(model, state, {name: rng.normal(size=joints) for name in names})


descriptions = st.fixed_dictionaries(
    {
        "seed": st.integers(0, 2**20),
        "arms": st.integers(1, 4),
        "joints": st.integers(2, 7),
        "objects": st.integers(1, 2),
        "torso": st.booleans(),
        "floating": st.booleans(),
        "stretched": st.booleans(),
    }
)
settings.register_profile("closed", derandomize=True, deadline=None, max_examples=60)


@settings(settings.get_profile("closed"))
@given(descriptions)
def test_equations_and_constraints_are_satisfied_on_every_draw(description):
    drawn = team(**description)
    solution = ma.forward_dynamics(drawn.model, drawn.state, drawn.tau)
    assert solution.residual < 1e-12
    assert solution.constraint_residual < 1e-12
    assert solution.rank + solution.redundancy == len(constraints(drawn.model, drawn.state).names)


@settings(settings.get_profile("closed"), max_examples=30)
@given(descriptions)
def test_constraint_forces_do_no_work(description):
    """Power of all forces equals the power of the torques alone: v* M a + v* C = v* tau."""
    drawn = team(**description)
    solution = ma.forward_dynamics(drawn.model, drawn.state, drawn.tau)
    v = drawn.state.v
    needed = ma.inverse_dynamics(drawn.model, drawn.state, solution.a)
    assert v @ needed == pytest.approx(v @ solution.tau, rel=1e-9, abs=1e-9 * np.abs(v).max() * np.abs(needed).max())


@settings(settings.get_profile("closed"), max_examples=30)
@given(st.integers(0, 2**20), st.integers(2, 4), st.integers(4, 7), st.booleans())
def test_accelerations_do_not_depend_on_the_order_of_the_grasps(seed, arms, joints, torso):
    one, other = (team(seed, arms, joints, torso=torso, order=order) for order in (0, 7))
    first, second = (ma.forward_dynamics(x.model, x.state, x.tau) for x in (one, other))
    size = np.abs(first.a).max()
    assert_allclose(second.a, first.a, rtol=0, atol=1e-8 * size)
    assert first.rank == second.rank
    for name, sure in first.determinate.items():
        assert second.determinate[name] == sure
        if sure:
            wrench = first.forces[name].array
            assert_allclose(second.forces[name].array, wrench, rtol=0, atol=1e-6 * np.abs(wrench).max())


@settings(settings.get_profile("closed"), max_examples=30)
@given(st.integers(0, 2**20), st.integers(2, 3), st.integers(5, 7))
def test_momentum_of_a_free_flying_team_changes_by_gravity_alone(seed, arms, joints):
    flying = team(seed, arms, joints, torso=True, floating=True)
    solution = ma.forward_dynamics(flying.model, flying.state, flying.tau)
    centre = ma.center_of_mass(flying.model, flying.state)
    total = np.zeros(6)
    for name, body in flying.model.bodies.items():
        if name == "world" or body.mass == 0.0:
            continue
        pose = ma.kinematics(flying.model, flying.state).pose(name)
        omega = ma.kinematics(flying.model, flying.state).velocity(name)[:3]
        a = solution.acceleration(name)
        arm = pose.rotation.as_matrix() @ body.com
        push = body.mass * (a[3:] + np.cross(a[:3], arm) + np.cross(omega, np.cross(omega, arm)))
        inertia = pose.rotation.as_matrix() @ body.inertia @ pose.rotation.as_matrix().T
        spin = inertia @ a[:3] + np.cross(omega, inertia @ omega)
        total += np.concatenate([spin + np.cross(pose.translation + arm - centre, push), push])
    weight = flying.model.mass * flying.model.gravity
    size = max(np.abs(solution.forces[name].array).max() for name in flying.model.cuts)
    assert_allclose(total, [0, 0, 0, *weight], rtol=0, atol=1e-8 * max(size, 1.0))


@settings(settings.get_profile("closed"), max_examples=40)
@given(descriptions)
def test_all_solvers_agree_on_accelerations_forces_and_rank(description):
    drawn = team(**description)
    dense = ma.forward_dynamics(drawn.model, drawn.state, drawn.tau, solver="dense")
    for solver in ("rccfd1", "rccfd2", "rccfd3"):
        other = ma.forward_dynamics(drawn.model, drawn.state, drawn.tau, solver=solver)
        assert other.residual < 1e-12
        assert other.constraint_residual < 1e-11
        assert (other.rank, other.determinate) == (dense.rank, dense.determinate)
        free = np.abs(ma.tree_forward_dynamics(drawn.model, drawn.state, drawn.tau).a).max()
        conditioning = ma.mobility(drawn.model, drawn.state).conditioning
        if conditioning > 1e-3:
            assert_allclose(other.a, dense.a, rtol=0, atol=1e-9 * max(np.abs(dense.a).max(), free))
            for name in drawn.model.cuts:
                wrench = dense.forces[name].array
                size = max(np.abs(dense.answer.multipliers).max(), 1e-12)
                assert_allclose(other.forces[name].array, wrench, rtol=0, atol=1e-8 * size)
