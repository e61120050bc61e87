"""Joint PD, torque limits, compiled against plain calls, the linear algebra behind, and what is refused."""

import pickle

import numpy as np
import pytest
from closed_mechanisms import hand_over
from control_cases import free_flyer, moving_linkage, panda_state, path_near, two_pandas
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit
from numpy.testing import assert_allclose
from random_mechanisms import random_state
from random_teams import teams, well_posed

import multiarm as ma
from multiarm.constraints import constraints
from multiarm.loop_tables import loop_tables
from multiarm.manifold import advance
from multiarm.sweeps import control_layout as co
from multiarm.sweeps.control import control
from multiarm.sweeps.orthogonal import dependence, fit, orthogonalise, reflect_back, reflect_rows, substitute


def largest(x):
    return float(np.abs(x).max(initial=0.0))


def held_still(model, state):
    """Accelerations from rest under the weight's share alone."""
    rest = model.state(q=state.q)
    tau = ma.controllers.JointPD(model, rest, kp=50.0, kd=5.0, limits=None)(0.0, rest)
    return ma.forward_dynamics(model, rest, tau)


# ---------------------------------------------------------------------- joint PD


@pytest.mark.parametrize(
    "kinds", [("rigid", "rigid"), ("rigid", "soft_finger"), ("revolute", "point")], ids=" and ".join
)
@pytest.mark.parametrize("i", range(3))
def test_gravity_compensation_holds_arms_and_object_still(kinds, i):
    model = two_pandas(kinds)
    solution = held_still(model, panda_state(model, i, speed=0.0))
    assert largest(solution.a) < 1e-10
    load = solution.load("box")
    assert largest([wrench.array for wrench in load.internal.values()]) < 1e-10


def test_gravity_compensation_holds_a_stewart_platform_by_its_slides():
    assert largest(held_still(*moving_linkage("Stewart")).a) < 1e-10


@settings(max_examples=40, deadline=None, derandomize=True)
@given(team=teams(max_arms=3, pose="generic", kinds=("rigid",)))
def test_random_teams_hold_still_where_every_body_is_held(team):
    if not well_posed(team.model, team.state) or team.plan.base == "floating":
        return
    assert largest(held_still(team.model, team.state).a) < 1e-9


def test_what_nothing_supports_swings_while_the_arm_is_held():
    m = ma.Mechanism("pendulum in a hand")
    m.add_arm("arm", ma.robots.ur5())
    m.add_body("bob", mass=2.0, inertia=(0.02, 0.03, 0.04), com=(0.3, 0.1, 0.0))
    m.grasp("arm", "bob", at=(0, 0, 0), kind="point")
    model = m.compile()
    state = ma.assemble(model, {"arm": [0, -1, 1, 0, 1, 0]}, hold=("arm",))
    solution = held_still(model, state)
    assert largest(solution.a[model.v_slice("arm")]) < 1e-10
    pose, body = ma.kinematics(model, state).pose("bob"), model.bodies["bob"]
    turn, lever = pose.rotation.as_matrix(), pose.rotation.as_matrix() @ body.com
    about_hand = turn @ body.inertia @ turn.T + 2.0 * (lever @ lever * np.eye(3) - np.outer(lever, lever))
    swing = np.linalg.solve(about_hand, np.cross(lever, 2.0 * model.gravity))
    assert_allclose(solution.acceleration("bob"), [*swing, 0, 0, 0], atol=1e-10)


def test_errors_of_joints_are_taken_on_the_manifold():
    m = ma.Mechanism("kinds")
    last = "world"
    for kind, options in {"revolute": {}, "spherical": {}, "planar": {}, "free": {}}.items():
        m.add_body(kind, mass=1.0, inertia=(0.1, 0.2, 0.15))
        m.add_joint(f"{kind} joint", kind, parent=last, child=kind, **options)
        last = kind
    model = m.compile()
    rng = np.random.default_rng(4)
    for _ in range(20):
        state, goal = random_state(model, rng), random_state(model, rng)
        controller = ma.controllers.JointPD(model, goal, kp=3.0, kd=0.5, gravity=False, limits=None)
        error = (controller(0.0, state) + 0.5 * state.v) / 3.0
        assert_allclose(np.abs(advance(model, state.q, error)), np.abs(goal.q), atol=1e-12)  # q and -q are one turn
        for name in ("spherical joint", "free joint"):
            assert np.linalg.norm(error[model.v_slice(name)][:3]) <= np.pi + 1e-12


def test_joint_pd_is_a_spring_and_a_damper_and_follows_paths():
    m = ma.Mechanism()
    m.add_arm("one", ma.robots.chain(3))
    m.add_arm("two", ma.robots.chain(2))
    model = m.compile(gravity=(0, 0, 0))
    path = ma.paths.joint_quintic([[0, 0], [1, 2]], [0, 1])
    kp, kd = {"one": [1, 2, 3], "two": 4.0}, np.arange(5.0)
    state = model.state(q=np.arange(5) / 10, v=np.arange(5) / 7)
    tau = ma.controllers.JointPD(model, {"one": [1, 1, 1], "two": path}, kp, kd, limits=None)(0.3, state)
    q, v, _ = path(0.3)
    expected = [*(np.array([1, 2, 3]) * (1 - state.q[:3])), *(4.0 * (q - state.q[3:]))]
    assert_allclose(tau, expected + kd * (np.array([0, 0, 0, *v]) - state.v), atol=1e-14)
    unnamed = ma.controllers.JointPD(model, {"one": [1, 1, 1]}, 2.0, 1.0, limits=None)(0.3, state)
    assert_allclose(unnamed[3:], -state.v[3:])


def test_an_internal_force_is_added_to_the_weight():
    model = two_pandas()
    state = panda_state(model, speed=0.0)
    controller = ma.controllers.JointPD(model, state, 10, 1, internal={("left", "right"): 12.0}, limits=None)
    solution = ma.forward_dynamics(model, state, controller(0.0, state))
    assert largest(solution.a) < 1e-10
    assert solution.load("box").squeeze("left", "right") == pytest.approx(12.0, rel=1e-9)


# ---------------------------------------------------------------------- limits


def test_limits_clip_each_torque_and_nothing_else():
    model = two_pandas()
    state = panda_state(model, 1)
    path = path_near(model, state, "box")
    controller = ma.controllers.ComputedTorque(model, {"box": path}, kp=5000.0, kd=140.0)
    tau, free = controller(0.4, state), controller.unlimited(0.4, state)
    assert np.any(np.abs(free) > model.effort_limit)
    assert np.array_equal(tau, np.clip(free, -model.effort_limit, model.effort_limit))
    assert np.array_equal(
        ma.controllers.ComputedTorque(model, {"box": path}, 5000.0, 140.0, limits=None)(0.4, state), free
    )
    by_arm = ma.controllers.ComputedTorque(model, {"box": path}, 5000.0, 140.0, limits={"left": 2.0})(0.4, state)
    assert np.abs(by_arm[model.v_slice("left")]).max() == 2.0
    assert np.array_equal(by_arm[model.v_slice("right")], free[model.v_slice("right")])


# ---------------------------------------------------------------------- compiled


@njit
def in_a_loop(n, tree, link, loop, cut, room, numbers, whole, desk, t, q, v, tau):
    status = 0
    for _ in range(n):
        status += control(tree, link, loop, cut, room, numbers, whole, desk, t, q, v, tau)
    return status


def arguments(controller, state, t):
    model, loops = controller.model, loop_tables(controller.model).copy()
    desk = np.full(controller.desk_size, np.nan)
    tables = (model.tree.copy(), model.link.copy(), loops.loop, loops.cut, loops.room)
    return *tables, *controller.packed(), desk, t, np.array(state.q), np.array(state.v), np.empty(model.nv)


def controllers_of(model, state, body, pair):
    path = path_near(model, state, body)
    internal = {pair: 9.0}
    return (
        ma.controllers.JointPD(model, {pair[0]: state.q[model.q_slice(pair[0])]}, 30.0, 3.0, internal=internal),
        ma.controllers.ComputedTorque(model, {body: path}, posture=state, internal=internal),
        ma.controllers.ObjectImpedance(model, {body: path}, 200.0, 30.0, internal=internal),
    )


@pytest.mark.parametrize("case", ["pandas", "hand over", "free flyer"])
def test_compiled_calls_equal_plain_ones_to_the_bit_and_read_nothing_left_behind(case):
    if case == "pandas":
        model, body, pair = two_pandas(("rigid", "soft_finger")), "box", ("left", "right")
        state = ma.project(model, panda_state(model, 1))
    elif case == "hand over":
        (model, state), body, pair = hand_over("giver", "taker"), "parcel", ("giver", "taker")
    else:
        (model, state), body, pair = free_flyer(), "catch", ("left", "right")
    for controller in controllers_of(model, state, body, pair):
        plain = controller(0.4, state)
        given = arguments(controller, state, 0.4)
        for repeat in (1, 3):
            assert in_a_loop(repeat, *given) == 0
            assert np.array_equal(given[-1], plain)
        given[1][1:, 24:] = np.nan  # whatever sweeps have left in the tables
        given[3][:, 72:] = np.nan
        assert in_a_loop(1, *given) == 0
        assert np.array_equal(given[-1], plain)


def test_external_wrenches_are_unknown_to_controllers():
    model, state = hand_over("giver", "taker")
    for controller in controllers_of(model, state, "parcel", ("giver", "taker")):
        given = arguments(controller, state, 0.4)
        pushed = ma.compiled(model)
        pushed.external[:] = 7.0
        assert in_a_loop(1, given[0], pushed.link, *given[2:]) == 0
        assert np.array_equal(given[-1], controller(0.4, state))
        assert np.all(pushed.external == 7.0)


def test_no_controller_is_no_torque_and_wrong_lengths_are_told():
    model, state = hand_over("giver", "taker")
    controller = controllers_of(model, state, "parcel", ("giver", "taker"))[1]
    given = arguments(controller, state, 0.4)
    none = np.zeros(co.HEADER, np.int64)
    assert control(*given[:6], none, *given[7:]) == 0
    assert not given[-1].any()
    assert control(*given[:7], given[7][:-1].copy(), *given[8:]) == -1
    assert control(*given[:-1], np.empty(model.nv + 1)) == -1


def test_controllers_are_frozen_and_travel():
    model, state = hand_over("giver", "taker")
    for controller in controllers_of(model, state, "parcel", ("giver", "taker")):
        with pytest.raises(AttributeError):
            controller.model = None
        with pytest.raises(ValueError, match="read-only"):
            controller.numbers[0] = 1.0
        there = pickle.loads(pickle.dumps(controller))
        assert np.array_equal(there(0.4, there.model.state(q=state.q, v=state.v)), controller(0.4, state))
        assert repr(controller) == f"<{type(controller).__name__} of 'hand over'>"


# ---------------------------------------------------------------------- linear algebra


def rows_of_rank(rng, rows, width, rank):
    return rng.normal(size=(rows, rank)) @ rng.normal(size=(rank, width))


@settings(max_examples=100, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**6), rows=st.integers(0, 9), width=st.integers(1, 9), rank=st.integers(0, 9))
def test_rows_made_orthogonal_solve_as_numpy_does(seed, rows, width, rank):
    rng = np.random.default_rng(seed)
    rank = min(rank, rows, width)
    matrix = rows_of_rank(rng, rows, width, rank)
    right = matrix @ rng.normal(size=width)
    x, order, factor, values = matrix.copy(), np.arange(float(rows)), np.zeros(rows), right.copy()
    done = orthogonalise(x, values, order, factor, 0, rows, width, 1e-9)
    assert done == rank
    y = np.zeros(width)
    substitute(x, values, 0, done, y)
    reflect_back(x, factor, done, y, width)
    assert_allclose(y, np.linalg.lstsq(matrix, right, rcond=1e-9)[0], atol=1e-6)
    assert_allclose(matrix @ y, right, atol=1e-9 * (1 + largest(right)))
    for i in range(done, rows):
        z = np.zeros(max(done, 1))
        dependence(x, done, i, z)
        assert_allclose(z[:done] @ matrix[order[:done].astype(int)], matrix[int(order[i])], atol=1e-8)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**6), first=st.integers(0, 5), rows=st.integers(1, 8), rank=st.integers(0, 8))
def test_a_second_batch_is_met_in_least_squares_once_the_first_is(seed, first, rows, rank):
    rng = np.random.default_rng(seed)
    width = 9
    rank = min(rank, rows, width - first)
    hard, soft = rng.normal(size=(first, width)), rows_of_rank(rng, rows, width, rank)
    right = rng.normal(size=first + rows)
    x, values = np.vstack([hard, soft]), right.copy()
    order, factor, y = np.zeros(first + rows), np.zeros(first + rows), np.zeros(width)
    done = orthogonalise(x, values, order, factor, 0, first, width, 1e-9)
    substitute(x, values, 0, done, y)
    reflect_rows(x, factor, done, done, first + rows, width)
    last = orthogonalise(x, values, order, factor, done, first + rows, width, 1e-9)
    fit(x, values, done, last, first + rows, y, np.empty((rows, rows)), np.zeros((4, rows)))
    reflect_back(x, factor, last, y, width)
    assert_allclose(hard @ y, right[:first], atol=1e-8)
    start = np.linalg.lstsq(hard, right[:first], rcond=None)[0] if first else np.zeros(width)
    ways = np.linalg.svd(hard)[2][first:].T if first else np.eye(width)
    best = start + ways @ np.linalg.lstsq(soft @ ways, right[first:] - soft @ start, rcond=1e-9)[0]
    assert_allclose(y, best, atol=1e-6 * (1 + largest(best)))


# ---------------------------------------------------------------------- what is refused

HELD = hand_over("giver", "taker")[0]
LOOSE = hand_over("giver")[0]
PATH = ma.paths.hold((0, 0, 1))
TWICE = {"giver": np.zeros(6), "giver/shoulder_pan_joint": 0.0}
NARROW = ma.paths.joint_quintic([[0], [1]], [0, 1])


def without_actuators():
    m = ma.Mechanism("mobile")
    m.add_body("bar", mass=1.0, inertia=(1, 1, 1))
    m.add_joint("hinge", "revolute", parent="world", child="bar", passive=True)
    return m.compile()


def not_held():
    m = ma.Mechanism()
    m.add_arm("arm", ma.robots.ur5())
    m.add_body("ball", mass=1.0, inertia=(1, 1, 1))
    return m.compile()


def in_the_tree():
    m = ma.Mechanism()
    m.add_arm("arm", ma.robots.ur5())
    m.add_body("ball", mass=1.0, inertia=(1, 1, 1))
    m.grasp("arm", "ball", at=(0, 0, 0))
    return m.compile(cuts=[])


def computed(*arguments, **options):
    return lambda: ma.controllers.ComputedTorque(*arguments, **options)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (computed(HELD, {"parcle": PATH}), ma.UnknownNameError, "did you mean 'parcel'"),
        (computed(HELD, {"world": PATH}), ma.BadInputError, "fixed to the world"),
        (computed(HELD, {}), ma.BadInputError, "at least one"),
        (computed(HELD, {"parcel": (0, 0, 1)}), ma.BadInputError, r"hold\(pose\)"),
        (computed(HELD, {"parcel": PATH}, kp=-1.0), ma.BadInputError, "kp must not be negative"),
        (computed(HELD, {"parcel": PATH}, kd=[1, 2]), ma.BadInputError, "kd: expected a number, six"),
        (computed(HELD, {"parcel": PATH}, kp=np.triu(np.ones((6, 6)))), ma.BadInputError, "not symmetric"),
        (computed(HELD, {"parcel": PATH}, null_kd={"giver": -2.0}), ma.BadInputError, "null_kd of 'giver/"),
        (computed(HELD, {"parcel": PATH}, limits="torque"), ma.UnknownNameError, "Valid: 'effort'"),
        (computed(HELD, {"parcel": PATH}, posture={"parcel": np.zeros(7)}), ma.DescriptionError, "no actuator"),
        (computed(not_held(), {"ball": PATH}), ma.DescriptionError, "'ball' is not held"),
        (computed(without_actuators(), {"bar": PATH}), ma.DescriptionError, "no joint with an actuator"),
        (computed(HELD, {"parcel": PATH}, internal={"giver": np.ones(6)}), ma.BadInputError, "sum is off by"),
        (computed(HELD, {"parcel": PATH}, internal={"helper": np.ones(6)}), ma.UnknownNameError, "Valid: 'giver'"),
        (computed(LOOSE, {"parcel": PATH}, internal={("giver", "taker"): 1.0}), ma.UnknownNameError, "grasp 'taker'"),
        (computed(HELD, {"parcel": PATH}, internal={("giver", "giver"): 1.0}), ma.BadInputError, "same point"),
        (computed(HELD, {"parcel": PATH}, internal={("giver",): 1.0}), ma.BadInputError, "between two"),
        (computed(HELD, {"parcel": PATH}, internal=[1.0]), ma.BadInputError, "internal must map"),
        (computed(in_the_tree(), {"ball": PATH}, internal={"arm": np.zeros(6)}), ma.UnknownNameError, "in the tree"),
        (computed(HELD, {"parcel": PATH}, posture=TWICE), ma.BadInputError, "twice"),
        (computed(HELD, {"parcel": PATH}, posture={"giver": NARROW}), ma.BadInputError, "has 1 coordinates"),
        (lambda: ma.controllers.ObjectImpedance(HELD, {"parcel": PATH}, -1.0, 1.0), ma.BadInputError, "stiffness"),
        (lambda: ma.controllers.JointPD(HELD, {"arm": [0]}, 1, 1), ma.UnknownNameError, "'giver'"),
        (lambda: ma.controllers.JointPD(HELD, {"giver": [0]}, 1, 1), ma.BadInputError, "expected 6 numbers"),
        (lambda: ma.controllers.JointPD(HELD, None, "much", 1), ma.BadInputError, "kp"),
    ],
)  # fmt: skip
def test_bad_controllers_are_refused_by_name(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_a_grasp_cannot_be_asked_for_a_moment_about_its_free_axis():
    model = two_pandas(("rigid", "point"))
    with pytest.raises(ma.BadInputError, match="'right' is point and cannot give"):
        ma.controllers.JointPD(
            model, panda_state(model), 1, 1, internal={"left": [0, 0, -1, 0, 0, 0], "right": [0, 0, 1, 0, 0, 0]}
        )


def test_states_and_times_that_do_not_fit_are_refused():
    controller = ma.controllers.JointPD(HELD, HELD.state(), 1, 1)
    with pytest.raises(ma.BadInputError, match="another model"):
        controller(0.0, not_held().state())
    with pytest.raises(ma.BadInputError, match="time"):
        controller(np.nan, HELD.state())
    m = ma.Mechanism("light")
    m.add_arm("arm", ma.robots.ur5())
    m.add_body("ghost")
    m.grasp("arm", "ghost", at=(0, 0, 0), kind="point")
    light = m.compile()
    with pytest.raises(ma.SingularInertiaError, match="'ghost', held by 'arm'"):
        ma.controllers.ComputedTorque(light, {"ghost": PATH})(0.0, light.state())


def test_constraint_rows_are_those_of_the_model():
    model, state = hand_over("giver", "taker")
    controller = controllers_of(model, state, "parcel", ("giver", "taker"))[1]
    given = arguments(controller, state, 0.4)
    in_a_loop(1, *given)
    rows, place = constraints(model, state), controller.whole[co.JACOBIAN]
    found = given[7][place : place + rows.jacobian.size].reshape(rows.jacobian.shape)
    assert_allclose(found, rows.jacobian, atol=1e-13)
    mass = given[7][controller.whole[co.MASS] :][: model.nv**2].reshape(model.nv, model.nv)
    assert_allclose(mass, ma.mass_matrix(model, state), atol=1e-12)
