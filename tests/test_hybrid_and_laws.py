"""Hybrid dynamics between its two ends, and joints and bases that follow a law of time."""

from __future__ import annotations

from math import pi

import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_allclose
from random_mechanisms import cases, random_external, random_state, rate_of_change
from scipy.spatial.transform import Rotation

import multiarm as ma

thorough = settings(max_examples=120, deadline=None, derandomize=True)


def largest(array: np.ndarray) -> float:
    return float(np.abs(array).max(initial=0.0))


def assert_close(found: np.ndarray, expected: np.ndarray, tolerance: float) -> None:
    """Equal to `tolerance` relative to the largest entry."""
    assert largest(np.asarray(found) - expected) <= tolerance * max(largest(np.asarray(expected)), 1e-300)


def by_joint(model: ma.Model, values: np.ndarray, names: set[str] | None = None) -> dict[str, np.ndarray]:
    """Values by the names of joints."""
    return {name: values[place.v] for name, place in model.joints.items() if names is None or name in names}


# ---------------------------------------------------------------------- hybrid dynamics


@thorough
@given(case=cases())
def test_with_nothing_prescribed_it_is_forward_dynamics(case):
    external = random_external(case.model, case.rng)
    forward = ma.tree_forward_dynamics(case.model, case.state, case.tau, external)
    for nothing in (None, {}):
        hybrid = ma.hybrid_dynamics(case.model, case.state, case.tau, prescribed=nothing, external=external)
        assert_close(hybrid.a, forward.a, 1e-13)
        assert np.array_equal(hybrid.tau, case.tau)


@thorough
@given(case=cases())
def test_with_everything_prescribed_it_is_inverse_dynamics(case):
    external = random_external(case.model, case.rng)
    a = case.rng.normal(size=case.model.nv)
    hybrid = ma.hybrid_dynamics(
        case.model, case.state, tau=case.tau, prescribed=by_joint(case.model, a), external=external
    )
    assert np.array_equal(hybrid.a, a)
    assert_close(hybrid.tau, ma.inverse_dynamics(case.model, case.state, a, external), 1e-12)


@thorough
@given(case=cases())
def test_any_split_between_given_torques_and_given_accelerations_satisfies_the_equations_of_motion(case):
    external = random_external(case.model, case.rng)
    mass = ma.mass_matrix(case.model, case.state)
    bias = ma.inverse_dynamics(case.model, case.state, external=external)
    for _ in range(3):
        names = {name for name in case.model.joints if case.rng.random() < 0.5}
        given_a = by_joint(case.model, case.rng.normal(size=case.model.nv), names)
        solution = ma.hybrid_dynamics(case.model, case.state, case.tau, given_a, external)
        for name, place in case.model.joints.items():
            if name in names:
                assert np.array_equal(solution.a[place.v], given_a[name])
            else:
                assert np.array_equal(solution.tau[place.v], case.tau[place.v])
        size = np.abs(mass) @ np.abs(solution.a) + np.abs(bias) + np.abs(solution.tau)
        assert largest(mass @ solution.a + bias - solution.tau) <= 1e-12 * largest(size)
        assert solution.residual <= 1e-11


@thorough
@given(case=cases())
def test_prepared_calls_take_another_mask_every_time(case):
    """Masks per entry of v, inside joints too, on one workspace: nothing of an earlier call is left over."""
    prepared = ma.compiled(case.model)
    q, v = np.array(case.state.q), np.array(case.state.v)
    mass, bias = ma.mass_matrix(case.model, case.state), ma.inverse_dynamics(case.model, case.state)
    forward, inverse = np.empty(case.model.nv), np.empty(case.model.nv)
    for share in (0.5, 1.0, 0.2, 0.0, 0.8):
        mask = case.rng.random(case.model.nv) < share
        wanted = case.rng.normal(size=case.model.nv)
        a, tau = np.where(mask, wanted, np.nan), np.where(mask, np.nan, case.tau)
        prepared.hybrid_dynamics(q, v, mask, a, tau)
        assert np.array_equal(a[mask], wanted[mask])
        assert np.array_equal(tau[~mask], case.tau[~mask])
        size = np.abs(mass) @ np.abs(a) + np.abs(bias) + np.abs(tau)
        assert largest(mass @ a + bias - tau) <= 1e-12 * largest(size)
        # by the partitioned equations of motion: M_pp a_p = tau_p - C_p - M_pa a_a
        pp = mass[np.ix_(~mask, ~mask)]
        if pp.size and np.linalg.cond(pp) < 1e6:
            known = case.tau[~mask] - bias[~mask] - mass[np.ix_(~mask, mask)] @ wanted[mask]
            assert_close(a[~mask], np.linalg.solve(pp, known), 1e-9)
        prepared.forward_dynamics(q, v, case.tau, forward)
        assert_close(forward, ma.tree_forward_dynamics(case.model, case.state, case.tau).a, 1e-14)
        prepared.inverse_dynamics(q, v, forward, inverse)
        assert largest(inverse - case.tau) <= 1e-10 * largest(np.abs(mass) @ np.abs(forward) + np.abs(bias))


@thorough
@given(case=cases(max_joints=8, floating=True))
def test_inverse_dynamics_with_a_floating_base(case):
    """Accelerations of the joints given, the bases free and not driven: the momentum of the whole needs no torque."""
    bases = {name for name in case.model.joints if name in case.model.bodies}
    names = set(case.model.joints) - bases
    a = case.rng.normal(size=case.model.nv)
    solution = ma.hybrid_dynamics(case.model, case.state, prescribed=by_joint(case.model, a, names))
    for name in bases:
        assert not solution.tau[case.model.v_slice(name)].any()
    tau = ma.inverse_dynamics(case.model, case.state, solution.a)
    scale = largest(tau) + case.model.mass * 9.81
    for name in bases:
        assert largest(tau[case.model.v_slice(name)]) <= 1e-10 * scale
    again = ma.tree_forward_dynamics(case.model, case.state, solution.tau)
    mass = ma.mass_matrix(case.model, case.state)
    if np.linalg.cond(mass) < 1e6:
        assert_close(again.a, solution.a, 1e-8)


def test_joints_held_still_carry_what_hangs_on_them():
    """A locked elbow: the arm falls as one stiff pendulum, and the lock bears what that needs."""
    m = ma.Mechanism()
    m.add_arm("arm", ma.robots.planar(2))
    model = m.compile()
    state = random_state(model, np.random.default_rng(3))
    elbow = list(model.joints)[1]
    held = ma.hybrid_dynamics(model, state, prescribed={elbow: 0.0})
    mass, bias = ma.mass_matrix(model, state), ma.inverse_dynamics(model, state)
    assert_allclose(held.a, [-bias[0] / mass[0, 0], 0.0], rtol=1e-12, atol=1e-12)
    assert_allclose(held.tau, [0.0, mass[1, 0] * held.a[0] + bias[1]], rtol=1e-12, atol=1e-12)


def test_whole_arms_can_be_prescribed_by_name():
    m = ma.Mechanism()
    m.add_arm("left", ma.robots.chain(3))
    m.add_arm("right", ma.robots.chain(4), base=(1.0, 0.0, 0.0))
    model = m.compile()
    state = random_state(model, np.random.default_rng(4))
    wanted = np.array([1.0, -2.0, 3.0])
    solution = ma.hybrid_dynamics(model, state, prescribed={"left": wanted})
    assert np.array_equal(solution.a[model.v_slice("left")], wanted)
    assert not solution.tau[model.v_slice("right")].any()
    assert_allclose(ma.inverse_dynamics(model, state, solution.a), solution.tau, rtol=0, atol=1e-10)


def test_wrong_prescriptions_name_the_joint_and_the_choices():
    m = ma.Mechanism()
    m.add_arm("arm", ma.robots.chain(3))
    model = m.compile()
    state = model.state()
    with pytest.raises(ma.UnknownNameError, match="nobody"):
        ma.hybrid_dynamics(model, state, prescribed={"nobody": 1.0})
    with pytest.raises(ma.BadInputError, match=r"arm.*3 numbers"):
        ma.hybrid_dynamics(model, state, prescribed={"arm": [1.0, 2.0]})
    with pytest.raises(ma.BadInputError, match="finite"):
        ma.hybrid_dynamics(model, state, prescribed={"arm": [1.0, np.nan, 2.0]})
    with pytest.raises(ma.BadInputError):
        ma.hybrid_dynamics(model, state, tau=np.zeros(2))
    other = m.compile(gravity=(0, 0, 1))
    with pytest.raises(ma.BadInputError, match="belongs to another model"):
        ma.hybrid_dynamics(other, state)
    prepared = ma.compiled(model)
    q = np.zeros(3)
    with pytest.raises(ma.BadInputError, match="shapes do not fit"):
        prepared.hybrid_dynamics(q, q, np.zeros(2, bool), np.zeros(3), np.zeros(3))


# ---------------------------------------------------------------------- laws of time


@pytest.mark.parametrize(
    "law",
    [
        ma.sine_law(amplitude=0.7, frequency=1.3, phase=0.4, offset=-0.2),
        ma.polynomial_law(0.3, -1.0, 2.0, 0.5, -0.1),
        ma.polynomial_law(1.5),
        ma.polynomial_law(),
    ],
    ids=["sine", "quartic", "constant", "zero"],
)
def test_laws_give_the_derivatives_of_their_positions(law):
    for t in (0.0, 0.37, 2.0):
        moment = law(t)
        velocity = rate_of_change(lambda s, t=t: law(t + s).q, 1e-2)
        acceleration = rate_of_change(lambda s, t=t: law(t + s).v, 1e-2)
        assert_allclose([moment.v, moment.a], [velocity, acceleration], rtol=0, atol=1e-9)


def test_sine_law_has_the_amplitude_frequency_phase_and_offset_asked_for():
    law = ma.sine_law(amplitude=0.5, frequency=2.0, phase=pi / 2, offset=0.1)
    assert_allclose([law(0.0).q, law(0.25).q, law(0.5).q], [0.6, -0.4, 0.6])
    assert_allclose(law(0.0).a, -0.5 * (4 * pi) ** 2)
    assert abs(law(0.0).v) < 1e-12


@thorough
@given(case=cases(max_joints=6, kinds=("revolute", "prismatic", "screw", "spherical", "universal")))
def test_followed_joints_are_where_their_laws_put_them_and_the_rest_is_left_alone(case):
    laws, t = {}, 0.8
    for name, place in case.model.joints.items():
        if place.v.stop - place.v.start == 1 and case.rng.random() < 0.6:
            laws[name] = ma.sine_law(*case.rng.uniform(0.2, 1.0, 2))
    state, prescribed = ma.follow(case.model, case.state, laws, t)
    assert prescribed.keys() == laws.keys()
    for name, place in case.model.joints.items():
        if name in laws:
            moment = laws[name](t)
            assert (state.q[place.q], state.v[place.v], prescribed[name]) == (moment.q, moment.v, moment.a)
        else:
            assert_allclose(state.q[place.q], case.state.q[place.q], rtol=1e-15)  # quaternions are made unit again
            assert np.array_equal(state.v[place.v], case.state.v[place.v])
    solution = ma.hybrid_dynamics(case.model, state, case.tau, prescribed)
    needed = ma.inverse_dynamics(case.model, state, solution.a)
    size = np.abs(ma.mass_matrix(case.model, state)) @ np.abs(solution.a)
    assert largest(solution.tau - needed) <= 1e-11 * (largest(needed) + largest(size))


def base_and_arm(gravity: np.ndarray, moving: bool) -> ma.Model:
    """A three-joint arm on a base that is a body on a free joint, or that is bolted down."""
    m = ma.Mechanism("arm on a moving base")
    m.add_body("base", mass=10.0, inertia=(1, 1, 1))
    m.add_joint("mount", "free" if moving else "fixed", parent="world", child="base")
    m.add_arm("arm", ma.robots.chain(3), base=ma.pose((0.1, 0.2, 0.3), rpy=(0.4, 0.5, 0.6)), on="base")
    return m.compile(gravity=gravity)


def test_arm_on_an_accelerating_base_feels_gravity_less_the_acceleration_of_the_base():
    gravity = np.array([0.5, -1.0, -9.81])
    shake = [ma.sine_law(0.3, 0.9), ma.polynomial_law(0.1, 0.2, -0.3), ma.sine_law(0.2, 1.7, phase=0.3)]

    def law(t):
        moments = [axis(t) for axis in shake]
        rest = np.zeros(3)
        return ma.Moment(
            np.array([0.0, 0.0, 0.0, 1.0, *(m.q for m in moments)]),
            np.array([*rest, *(m.v for m in moments)]),
            np.array([*rest, *(m.a for m in moments)]),
        )

    model = base_and_arm(gravity, moving=True)
    rng = np.random.default_rng(6)
    q, v, tau = rng.normal(size=(3, 3))
    for t in (0.0, 0.4, 1.1):
        state, prescribed = ma.follow(model, model.state(q={"arm": q}, v={"arm": v}), {"mount": law}, t)
        moving = ma.hybrid_dynamics(model, state, {"arm": tau}, prescribed)
        bolted = base_and_arm(gravity - prescribed["mount"][3:], moving=False)
        at_rest = bolted.state(q={"arm": q}, v={"arm": v})
        still = ma.tree_forward_dynamics(bolted, at_rest, {"arm": tau})
        assert_allclose(moving.a[model.v_slice("arm")], still.a, rtol=1e-11, atol=1e-11)
        assert_allclose(moving.acceleration("base"), prescribed["mount"], atol=1e-13)
        relative = moving.acceleration("arm/tip") - prescribed["mount"]
        assert_allclose(relative, still.acceleration("arm/tip"), rtol=0, atol=1e-10)
        # the first joint of the arm passes on the same force; the base's own law needs its mass besides
        first = model.coordinates_of_arm("arm")[0]
        assert_allclose(moving.forces[first].force, still.forces[first].force, rtol=0, atol=1e-10)
        push = moving.forces[first].force + 10.0 * (prescribed["mount"][3:] - gravity)
        assert_allclose(moving.tau[model.v_slice("mount")][3:], push, rtol=0, atol=1e-10)


def test_arm_on_a_turntable_moves_as_if_the_table_were_a_joint_driven_so():
    """A free joint that a law only lets turn is a revolute joint with the same law."""
    spin = ma.sine_law(amplitude=0.8, frequency=0.6, phase=0.2)

    def free_law(t):
        m = spin(t)
        turned = Rotation.from_rotvec([0.0, 0.0, m.q]).as_quat()
        return np.concatenate([turned, np.zeros(3)]), [0, 0, m.v, 0, 0, 0], [0, 0, m.a, 0, 0, 0]

    models = []
    for kind in ("free", "revolute"):
        m = ma.Mechanism(kind)
        m.add_body("table", mass=3.0, inertia=(0.3, 0.3, 0.5))
        m.add_joint("drive", kind, parent="world", child="table")
        m.add_arm("arm", ma.robots.chain(3), base=(0.2, 0.0, 0.1), on="table")
        models.append(m.compile())
    q, v, tau = np.random.default_rng(7).normal(size=(3, 3))
    solutions = []
    for model, law in zip(models, (free_law, spin), strict=True):
        state, prescribed = ma.follow(model, model.state(q={"arm": q}, v={"arm": v}), {"drive": law}, 0.7)
        solutions.append(ma.hybrid_dynamics(model, state, {"arm": tau}, prescribed))
    free, hinged = solutions
    assert_allclose(free.a[models[0].v_slice("arm")], hinged.a[models[1].v_slice("arm")], rtol=1e-11)
    assert_allclose(free.acceleration("arm/tip"), hinged.acceleration("arm/tip"), rtol=0, atol=1e-10)
    assert_allclose(free.tau[models[0].v_slice("drive")][2], hinged.tau[models[1].v_slice("drive")][0], rtol=1e-10)


def test_accelerations_of_a_followed_motion_are_the_rates_of_its_velocities():
    """Along t the tip's velocity, laws and all, changes at the rate that hybrid dynamics reports."""
    model = base_and_arm(np.array([0.0, 0.0, -9.81]), moving=True)
    axis = np.array([1.0, 2.0, 2.0]) / 3.0
    angle, slide = ma.sine_law(0.5, 0.7), ma.polynomial_law(0.2, 0.3, 0.4)

    def law(t):
        turn, along = angle(t), slide(t)
        quaternion = Rotation.from_rotvec(turn.q * axis).as_quat()
        return ma.Moment(
            [*quaternion, along.q, 0.0, 0.0], [*turn.v * axis, along.v, 0.0, 0.0], [*turn.a * axis, along.a, 0.0, 0.0]
        )

    q, v, t = np.array([0.3, -0.4, 0.5]), np.array([1.0, -2.0, 0.5]), 0.6
    here, prescribed = ma.follow(model, model.state(q={"arm": q}, v={"arm": v}), {"mount": law}, t)
    solution = ma.hybrid_dynamics(model, here, prescribed=prescribed)
    a = solution.a[model.v_slice("arm")]

    def velocity(s):
        moved = model.state(q={"arm": q + s * v}, v={"arm": v + s * a})
        state, _ = ma.follow(model, moved, {"mount": law}, t + s)
        return ma.kinematics(model, state).velocity("arm/tip")

    expected = rate_of_change(velocity, 1e-3)
    assert_allclose(solution.acceleration("arm/tip"), expected, rtol=0, atol=1e-8 * largest(expected))


def test_laws_of_the_wrong_shape_or_name_are_refused():
    model = base_and_arm(np.zeros(3), moving=True)
    state = model.state()
    with pytest.raises(ma.BadInputError, match=r"q of .mount.*expected 7 numbers"):
        ma.follow(model, state, {"mount": ma.sine_law(1.0, 1.0)}, 0.0)
    with pytest.raises(ma.BadInputError, match=r"v of .arm.*expected 3 numbers.*\(2,\)"):
        ma.follow(model, state, {"arm": lambda t: (np.zeros(3), np.zeros(2), np.zeros(3))}, 0.0)
    with pytest.raises(ma.BadInputError, match=r"a of .arm.*expected 3 numbers.*\(4,\)"):
        ma.follow(model, state, {"arm": lambda t: (np.zeros(3), np.zeros(3), np.zeros(4))}, 0.0)
    with pytest.raises(ma.BadInputError, match=r"must return \(q, v, a\)"):
        ma.follow(model, state, {"arm": lambda t: (np.zeros(3), np.zeros(3))}, 0.0)
    with pytest.raises(ma.UnknownNameError, match="leg"):
        ma.follow(model, state, {"leg": ma.sine_law(1.0, 1.0)}, 0.0)
    with pytest.raises(ma.UnknownNameError, match="carried by"):
        ma.follow(model, state, {"base": ma.sine_law(1.0, 1.0)}, 0.0)
    with pytest.raises(ma.BadInputError, match="length 2, not 1"):
        double = np.array([0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0])
        ma.follow(model, state, {"mount": lambda t: (double, np.zeros(6), np.zeros(6))}, 0.0)
    with pytest.raises(ma.BadInputError, match="finite"):
        ma.follow(model, state, {"arm": lambda t: (np.full(3, np.nan), np.zeros(3), np.zeros(3))}, 0.0)
    with pytest.raises(ma.BadInputError, match="belongs to another model"):
        ma.follow(base_and_arm(np.ones(3), moving=True), state, {}, 0.0)


@pytest.mark.parametrize("answer", [0.5, None, ("a", "b", "c")], ids=["number", "nothing", "words"])
def test_laws_that_answer_with_something_else_are_refused_with_their_name(answer):
    model = base_and_arm(np.zeros(3), moving=True)
    with pytest.raises(ma.BadInputError, match="arm"):
        ma.follow(model, model.state(), {"arm": lambda t: answer}, 0.0)


def test_following_nothing_changes_nothing():
    model = base_and_arm(np.zeros(3), moving=True)
    state = random_state(model, np.random.default_rng(8))
    same, prescribed = ma.follow(model, state, {}, 3.0)
    assert prescribed == {}
    assert_allclose(same.q, state.q, rtol=1e-15)
    assert np.array_equal(same.v, state.v)
