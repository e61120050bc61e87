"""Grasps taken where the tip is, and how an object turns in a grasp: Theta, W, W-dot."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation
from test_closed_chain import PANDAS, panda_state, two_pandas

import multiarm as ma
from multiarm.constraints import constraints
from multiarm.manifold import advance

KINDS = {"rigid": 0, "revolute": 1, "soft_finger": 2, "point": 3}
TAU = np.array(PANDAS["tau"][0][:14] + [0.0] * 6)


def reaching_pandas(kinds=("rigid", "rigid"), at=(None, None)):
    m = ma.Mechanism("two Pandas")
    for i, side in enumerate(("left", "right")):
        m.add_arm(side, ma.robots.panda(), base=np.array(PANDAS["base"][i]))
    m.add_body("box", mass=5.0, shape=ma.Box((0.3, 0.3, 0.2)))
    for i, side in enumerate(("left", "right")):
        m.grasp(side, "box", at=at[i], kind=kinds[i])
    return m.compile()


def test_a_grasp_without_a_place_takes_hold_where_the_tip_is():
    model = reaching_pandas()
    known = two_pandas()
    there = panda_state(known, 0)
    state = ma.assemble(model, there.q, v=there.v)
    assert_allclose(state.q, there.q, atol=1e-12)
    assert model.open_grasps == ("left", "right")
    assert state.model.open_grasps == ()
    for i, side in enumerate(("left", "right")):
        assert_allclose(state.model.grasps[side].at.as_matrix(), np.array(PANDAS["weld_box"][i]), atol=1e-9)
    # the model that was compiled serves as well as the completed one
    expected = ma.forward_dynamics(known, known.state(q=state.q, v=state.v), TAU)
    for given in (model, state.model):
        solution = ma.forward_dynamics(given, state, TAU)
        assert solution.model is state.model
        assert_allclose(solution.a, expected.a, atol=1e-7)
        assert_allclose(solution.forces["left"].array, expected.forces["left"].array, atol=1e-6)
        assert ma.mobility(given, state).rank == 12
        assert ma.project(given, state).model is state.model
        assert_allclose(ma.kinematics(given, state).joint("left").displacement.as_matrix(), np.eye(4), atol=1e-9)
        lift = ma.closed_chain_inverse_dynamics(given, state, {"box": [0, 0, 0, 0, 0, 1.0]})
        assert lift.acceleration("box")[5] == pytest.approx(1.0)
    assert pickle.loads(pickle.dumps(state)).model.open_grasps == ()


def test_the_place_that_is_left_open_follows_the_one_that_is_given():
    """The box moves to the hand that knows where to hold it; the other one keeps hold of what it had in the guess."""
    model = reaching_pandas(("rigid", "point"), at=(np.array(PANDAS["weld_box"][0]), None))
    guess = np.array(panda_state(two_pandas(), 0).q)
    guess[14:] += [0, 0, 0, 0, 0.02, -0.03, 0.01]
    before = ma.kinematics(model, model.state(q=guess))
    at = before.pose("box").inv() * before.pose("right/tip")
    state = ma.assemble(model, guess)
    assert_allclose(state.model.grasps["right"].at.as_matrix(), at.as_matrix(), atol=1e-12)
    assert np.abs(constraints(state.model, state).gap).max() < 1e-11


def test_grasped_fills_in_the_places_without_moving_anything():
    model = reaching_pandas(("soft_finger", "revolute"))
    start = panda_state(two_pandas(), 1)
    state = model.state(q=start.q)
    held = ma.grasped(model, state)
    assert ma.grasped(held, state) is held
    assert ma.assemble(held, held.state(q=start.q)).q == pytest.approx(start.q)
    assert ma.mobility(held, held.state(q=start.q)).rank == 9


def test_a_state_that_was_not_assembled_says_what_to_do():
    model = reaching_pandas()
    state = model.state()
    for ask in (
        lambda: ma.forward_dynamics(model, state),
        lambda: ma.closed_chain_inverse_dynamics(model, state, {}),
        lambda: ma.mobility(model, state),
        lambda: ma.project(model, state),
        lambda: ma.kinematics(model, state).joint("left"),
        lambda: ma.kinematics(model, state).grasp("left"),
    ):
        with pytest.raises(
            ma.DescriptionError, match=r"grasp 'left' has no at=.*'box'.*multiarm\.assemble\(model"
        ) as e:
            ask()
        assert e.value.names == ("left", "right")
    assert ma.kinematics(model, state).pose("box") is not None
    assert ma.tree_forward_dynamics(model, state).residual < 1e-12


# ---------------------------------------------------------------------- relative motion


def moving(kind, solver="dense"):
    """Two arms with a box between them that turns in the left hand, and what it does next."""
    model = reaching_pandas((kind, "point"), at=(np.array(PANDAS["weld_box"][0]), np.array(PANDAS["weld_box"][1])))
    rng = np.random.default_rng(3)
    rough = panda_state(two_pandas(), 0)
    q = advance(model, rough.q, 0.3 * rng.normal(size=model.nv) * (np.arange(20) >= 14))
    state = ma.assemble(model, q, v=rng.normal(size=model.nv))
    return model, state, ma.forward_dynamics(model, state, TAU, solver=solver)


def after(model, state, a, t):
    """State after a short time t, to second order."""
    return model.state(q=advance(model, state.q, t * state.v + t * t / 2 * a), v=state.v + t * a)


@pytest.mark.parametrize("kind", KINDS)
def test_grasp_rates_and_accelerations_are_rates_of_change(kind):
    """W moves Theta as (a.4) says, and W-dot is the rate of W, by central differences."""
    model, state, solution = moving(kind)
    grasp = solution.grasp("left")
    assert (grasp.name, grasp.kind, grasp.axes.shape) == ("left", kind, (3, KINDS[kind]))
    assert grasp.W.shape == grasp.W_dot.shape == (KINDS[kind],)
    assert ma.kinematics(model, state).grasp("left").W_dot is None

    def later(t):
        return ma.kinematics(model, after(model, state, solution.a, t)).grasp("left")

    h = 1e-4
    assert_allclose((later(h).W - later(-h).W) / (2 * h), grasp.W_dot, atol=1e-5 * max(1, np.abs(solution.a).max()))
    rate = (later(h).theta - later(-h).theta) / (2 * h)
    if kind == "rigid":
        assert grasp.theta.shape == (0,)
    elif kind == "revolute":
        assert rate == pytest.approx(grasp.W, rel=1e-5)
        assert abs(grasp.theta[0]) > 0.01
    else:
        assert np.linalg.norm(grasp.theta) == pytest.approx(1.0)
        turning = np.zeros(3)
        turning[: KINDS[kind]] = grasp.W  # in the axes of the object's contact frame
        x, y, z, w = grasp.theta
        quarter = np.array([[w, -z, y], [z, w, -x], [-y, x, w], [-x, -y, -z]]) / 2
        assert_allclose(rate, quarter @ turning, atol=1e-5)


@pytest.mark.parametrize("kind", ["revolute", "soft_finger", "point"])
def test_rates_come_from_the_angular_velocities(kind):
    model, state, solution = moving(kind)
    kin = ma.kinematics(model, state)
    grasp = kin.grasp("left")
    relative = kin.velocity("box")[:3] - kin.velocity("left/tip")[:3]
    assert_allclose(grasp.axes @ grasp.W, relative, atol=1e-9)
    wrench = solution.forces["left"]
    assert_allclose(grasp.axes.T @ wrench.torque, 0.0, atol=1e-8)  # (a.7)
    if kind == "revolute":
        turn = Rotation.from_rotvec([0, 0, grasp.theta[0]])
    else:
        turn = Rotation.from_quat(grasp.theta)
    tip, contact = kin.pose("left/tip").rotation, kin.joint("left").child_frame.rotation
    assert (tip * turn * contact.inv()).magnitude() < 1e-9


@pytest.mark.parametrize("kind", ["revolute", "soft_finger", "point"])
def test_accelerations_in_the_grasps_are_those_of_the_source(kind):
    """W-dot = -[H Omega^-1 H*]^-1 H Omega^-1 {J M^-1 T + G1}, JPL 88-11-II (b.9f), forces on the arms by the object."""
    m = ma.Mechanism()
    for i, side in enumerate(("left", "right")):
        m.add_arm(side, ma.robots.panda(), base=np.array(PANDAS["base"][i]))
    m.add_body("box", mass=5.0, shape=ma.Box((0.3, 0.3, 0.2)))
    for i, side in enumerate(("left", "right")):
        m.grasp(side, "box", at=np.array(PANDAS["weld_box"][i]), kind=kind)
    model = m.compile()
    state = ma.project(model, panda_state(model, 0))
    solution = ma.forward_dynamics(model, state, TAU)
    kin = ma.kinematics(model, state)
    contact = {side: kin.joint(side) for side in ("left", "right")}

    # alpha- = alpha+ + H* W-dot + H-dot* W, with the accelerations of tips and contact points linear in f(0)
    tips = np.vstack([ma.jacobian(model, state, f"{side}/tip") for side in contact])
    held = []
    for motion in contact.values():
        shift = np.eye(6)
        arm = motion.child_frame.translation - kin.pose("box").translation
        shift[3:, :3] = np.array([[0, arm[2], -arm[1]], [-arm[2], 0, arm[0]], [arm[1], -arm[0], 0]])
        held.append(shift @ ma.jacobian(model, state, "box"))
    relative = np.vstack(held) - tips
    mass_inverse = ma.mass_matrix_inverse(model, state)
    omega = relative @ mass_inverse @ relative.T
    free = ma.tree_forward_dynamics(model, state, TAU)
    opening, axes, turning = [], np.zeros((12, 2 * KINDS[kind])), []
    omega_box = kin.velocity("box")[:3]
    for i, (side, motion) in enumerate(contact.items()):
        arm = motion.child_frame.translation - kin.pose("box").translation
        a = free.acceleration("box")
        point = a[3:] + np.cross(a[:3], arm) + np.cross(omega_box, np.cross(omega_box, arm))
        opening.append(np.concatenate([a[:3], point]) - free.acceleration(f"{side}/tip"))
        grasp = kin.grasp(side)
        axes[6 * i : 6 * i + 3, KINDS[kind] * i : KINDS[kind] * (i + 1)] = grasp.axes
        turning.append(np.concatenate([np.cross(omega_box, grasp.axes.T).T @ grasp.W, np.zeros(3)]))
    drift = np.concatenate(opening) - np.concatenate(turning)
    weighted = axes.T @ np.linalg.inv(omega)
    w_dot = np.linalg.solve(weighted @ axes, weighted @ drift)
    assert_allclose(np.concatenate([solution.grasp(side).W_dot for side in contact]), w_dot, atol=1e-6)


def test_unknown_grasps_are_refused_by_name():
    model, state, solution = moving("point")
    for ask in (ma.kinematics(model, state).grasp, solution.grasp):
        with pytest.raises(ma.UnknownNameError, match=r"no grasp 'lefft'; did you mean 'left'\?"):
            ask("lefft")
