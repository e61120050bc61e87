"""Tree dynamics and kinematics against Pinocchio, on robots from files and mechanisms put together from them.

Agreement is 1e-10, usually a thousand times better, relative to the largest entry of the compared array. Joints differ
in weight by six orders of magnitude (a fingertip and a waist), so arrays over joints are scaled first: with
w = sqrt(diag M), what is compared is M / (w w*), M^-1 (w w*), w a and tau / w, where every joint counts the same.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
import pytest
from pinocchio_states import (
    GRAVITY,
    Moment,
    Twins,
    file_twins,
    panda_without_fingers,
    pin,
    robot_twins,
    swap,
    symmetric,
    torso_twins,
    two_arms_and_a_box,
)
from robot_files import robot_file
from scipy.linalg import cho_factor, cho_solve

import multiarm as ma

TWINS: dict[str, Callable[[], Twins]] = {
    "panda": lambda: file_twins("panda"),
    "ur5": lambda: file_twins("ur5"),
    "baxter": lambda: file_twins("baxter"),
    "pr2": lambda: file_twins("pr2"),
    "tiago_dual": lambda: file_twins("tiago_dual"),
    "allegro": lambda: file_twins("allegro"),
    "talos": lambda: file_twins("talos", floating=True),
    "icub": lambda: file_twins("icub", floating=True),
    "panda with rotors": lambda: file_twins("panda", rotors=True),
    "icub with rotors": lambda: file_twins("icub", floating=True, rotors=True),
    "romeo with rotors": lambda: file_twins("romeo", rotors=True),  # its fingers have no mass
    "built-in panda": lambda: robot_twins(ma.robots.panda(), panda_without_fingers()),
    "built-in ur5": lambda: robot_twins(ma.robots.ur5(), pin.buildModelFromUrdf(str(robot_file("ur5")))),
    "torso": torso_twins,
    "two arms and a box": two_arms_and_a_box,
}
# Where several bodies are pushed at once: on different branches, one above another, and at the base.
TIPS: dict[str, tuple[str, ...]] = {
    "panda": ("panda_leftfinger", "panda_link4", "panda_rightfinger", "panda_link0"),
    "ur5": ("tool0", "forearm_link"),
    "baxter": ("left_gripper", "right_gripper", "display"),
    "pr2": ("l_gripper_tool_frame", "r_gripper_tool_frame", "head_plate_frame", "torso_lift_link"),
    "tiago_dual": ("arm_left_tool_link", "arm_right_tool_link", "head_2_link", "torso_lift_link"),
    "allegro": ("link_3.0_tip", "link_7.0_tip", "link_11.0_tip", "link_15.0_tip"),
    "talos": ("left_sole_link", "right_sole_link", "gripper_left_base_link", "gripper_right_base_link"),
    "icub": ("l_sole", "r_sole", "l_gripper", "r_gripper"),
}


@lru_cache(maxsize=1)
def twins_of(case: str) -> Twins:
    return TWINS[case]()


@pytest.fixture(scope="module", params=TWINS)
def case(request) -> str:
    return request.param


@pytest.fixture(scope="module", params=[1, 2, 3])
def moment(case, request) -> Moment:
    return twins_of(case).random(request.param)


def assert_agrees(ours, theirs, tolerance: float = 1e-10) -> None:
    """No entry differs by more than `tolerance` times the largest entry."""
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    assert ours.shape == theirs.shape
    largest = np.abs(theirs).max()
    assert largest > 0
    error = np.abs(ours - theirs).max()
    assert error <= tolerance * largest, f"{error / largest:.1e} of the largest entry {largest:.3g}"


def weights(M: np.ndarray) -> np.ndarray:
    return np.sqrt(np.diag(M))


def inverse(M: np.ndarray) -> np.ndarray:
    """By Cholesky, whose error does not depend on the joints' units and weights."""
    return cho_solve(cho_factor(M), np.eye(len(M)))


# --- the mass matrix and its inverse ---------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["composite", "factors"])
def test_mass_matrix(moment, method):
    expected = moment.mass_matrix()
    ours = ma.mass_matrix(moment.twins.model, moment.state, method)
    w = np.outer(weights(expected), weights(expected))
    assert_agrees(ours / w, expected / w)


def test_inverse_of_the_mass_matrix(moment):
    M = moment.mass_matrix()
    ours = ma.mass_matrix_inverse(moment.twins.model, moment.state)
    w = np.outer(weights(M), weights(M))
    assert_agrees(ours * w, inverse(M) * w)


def test_inverse_of_the_mass_matrix_by_articulated_bodies(case, moment):
    peer, M = moment.twins.peer, moment.mass_matrix()
    theirs = moment.T.T @ symmetric(pin.computeMinverse(peer, moment.twins.data, moment.peer_q)) @ moment.T
    w = np.outer(weights(M), weights(M))
    # The head of iCub is a point mass on three joints, and cond M is 1e8: there Pinocchio's inverse is up to 2e-9 from
    # that of its own mass matrix, and ours 2e-11 (the test above). Elsewhere the two agree to 1e-10.
    tolerance = np.finfo(float).eps * np.linalg.cond(M) if case == "icub" else 1e-10
    assert_agrees(ma.mass_matrix_inverse(moment.twins.model, moment.state) * w, theirs * w, tolerance)


def test_determinant_of_the_mass_matrix(moment):
    sign, expected = np.linalg.slogdet(moment.mass_matrix())
    assert sign > 0
    assert_agrees(ma.log_determinant(moment.twins.model, moment.state), expected)


# --- inverse, forward and hybrid dynamics ----------------------------------------------------------------------------


@pytest.mark.parametrize("pushed", [False, True], ids=["free", "pushed"])
@pytest.mark.parametrize("method", ["newton_euler", "composite"])
def test_inverse_dynamics(moment, method, pushed):
    external = moment.external if pushed else {}
    w = weights(moment.mass_matrix())
    ours = ma.inverse_dynamics(moment.twins.model, moment.state, moment.a, external, method)
    assert_agrees(ours / w, moment.inverse_dynamics(moment.a, external) / w)


@pytest.mark.parametrize("pushed", [False, True], ids=["free", "pushed"])
@pytest.mark.parametrize("method", ["fd1", "fd2", "fd3", "fd4"])
def test_forward_dynamics(moment, method, pushed):
    external = moment.external if pushed else {}
    w = weights(moment.mass_matrix())
    solution = ma.tree_forward_dynamics(moment.twins.model, moment.state, moment.tau, external, method)
    assert_agrees(w * solution.a, w * moment.forward_dynamics(moment.tau, external))
    assert solution.residual < 1e-12


@pytest.mark.parametrize("method", ["fd1", "fd2", "fd3", "fd4"])
def test_forward_dynamics_leave_no_residual_in_pinocchio(moment, method):
    M, external = moment.mass_matrix(), moment.external
    a = ma.tree_forward_dynamics(moment.twins.model, moment.state, moment.tau, external, method).a
    residual = moment.inverse_dynamics(a, external) - moment.tau
    assert np.abs(residual).max() < 1e-12 * (np.abs(M) @ np.abs(a)).max()


def test_hybrid_dynamics(moment):
    """Joints taken in turn: every second one is told its acceleration, the others their force."""
    model = moment.twins.model
    a = moment.forward_dynamics(moment.tau, moment.external)
    told = list(model.joints)[1::2]
    given = {name: a[model.v_slice(name)] for name in told}
    tau = {name: moment.tau[model.v_slice(name)] for name in model.joints if name not in told}
    solution = ma.hybrid_dynamics(model, moment.state, tau, given, moment.external)
    M = moment.mass_matrix()
    w = weights(M)
    assert_agrees(w * solution.a, w * a)
    # forces are differences of M a and C, which on light joints are far larger than the forces themselves
    assert np.abs((solution.tau - moment.tau) / w).max() < 1e-10 * (np.abs(M) @ np.abs(a) / w).max()


def test_prepared_calls(moment):
    model, calls = moment.twins.model, ma.compiled(moment.twins.model)
    q, v, a, tau = (np.array(x) for x in (moment.state.q, moment.state.v, moment.a, moment.tau))
    M = moment.mass_matrix()
    w = weights(M)
    assert_agrees(w * calls.tree_forward_dynamics(q, v, tau, np.empty(model.nv)), w * moment.forward_dynamics(tau, {}))
    assert_agrees(calls.inverse_dynamics(q, v, a, np.empty(model.nv)) / w, moment.inverse_dynamics(a, {}) / w)
    assert_agrees(calls.mass_matrix(q, np.empty((model.nv, model.nv))), M)
    last = list(model.joints)[-1]
    name = next(name for name in moment.twins.frames if model.carrier(name) == last)
    assert_agrees(calls.jacobian(q, calls.frame(name), np.empty((6, model.nv))), moment.jacobian(name))


def test_forces_through_the_joints(moment):
    twins, external = moment.twins, moment.external
    a = moment.forward_dynamics(moment.tau, external)
    placed, data = moment.moved(a), twins.data
    pin.rnea(twins.peer, data, moment.peer_q, moment.peer_v, moment.peer_a(a), moment.peer_external(external))
    forces = ma.interbody_forces(twins.model, moment.state, a, external)
    assert set(forces) == {*twins.joints, *twins.model.merged}
    numbers = [twins.peer.getJointId(number) for number in twins.joints.values()]
    theirs = [swap(placed.oMi[number].act(data.f[number]).vector) for number in numbers]
    assert_agrees([forces[name].about((0, 0, 0)).array for name in twins.joints], theirs)


def test_gravity(moment):
    peer, w = moment.twins.peer, weights(moment.mass_matrix())
    theirs = moment.T.T @ pin.computeGeneralizedGravity(peer, moment.twins.data, moment.peer_q)
    at_rest = moment.twins.model.state(q=moment.state.q)
    assert_agrees(ma.inverse_dynamics(moment.twins.model, at_rest) / w, theirs / w)


# --- kinematics ------------------------------------------------------------------------------------------------------


def spatial(quantity: Callable, twins: Twins, data, name: str) -> np.ndarray:
    """Velocity or acceleration of a body as Pinocchio has it, world axes at its origin, angular part first."""
    return swap(quantity(twins.peer, data, twins.frame(name), pin.LOCAL_WORLD_ALIGNED).vector)


def test_poses(moment):
    twins, placed = moment.twins, moment.moved(moment.a)
    kinematics = ma.kinematics(twins.model, moment.state)
    ours = [kinematics.pose(name).as_matrix() for name in twins.frames]
    assert_agrees(ours, [placed.oMf[twins.frame(name)].homogeneous for name in twins.frames])


def test_velocities(moment):
    twins, moved = moment.twins, moment.moved(moment.a)
    kinematics = ma.kinematics(twins.model, moment.state)
    theirs = [spatial(pin.getFrameVelocity, twins, moved, name) for name in twins.frames]
    assert_agrees([kinematics.velocity(name) for name in twins.frames], theirs)


def test_bias_accelerations(moment):
    """J-dot v, the acceleration of a body's origin (not Featherstone's) while no joint accelerates."""
    twins, moved = moment.twins, moment.moved(np.zeros(moment.twins.model.nv))
    kinematics = ma.kinematics(twins.model, moment.state)
    theirs = [spatial(pin.getFrameClassicalAcceleration, twins, moved, name) for name in twins.frames]
    assert_agrees([kinematics.bias_acceleration(name) for name in twins.frames], theirs)


def test_accelerations(moment):
    """True ones, as forward dynamics leave them."""
    solution = ma.tree_forward_dynamics(moment.twins.model, moment.state, moment.tau)
    twins, moved = moment.twins, moment.moved(solution.a)
    theirs = [spatial(pin.getFrameClassicalAcceleration, twins, moved, name) for name in twins.frames]
    assert_agrees([solution.acceleration(name) for name in twins.frames], theirs)


def test_jacobians(moment):
    ours = [ma.jacobian(moment.twins.model, moment.state, name) for name in moment.twins.frames]
    assert_agrees(ours, [moment.jacobian(name) for name in moment.twins.frames])


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("robot", TIPS)
def test_operational_compliance(robot, seed):
    """Lambda = J M^-1 J* at several bodies at once, cross blocks included; J and M are Pinocchio's."""
    moment = twins_of(robot).random(seed)
    frames = [f"robot/{tip}" for tip in TIPS[robot]]
    J = np.vstack([moment.jacobian(frame) for frame in frames])
    factor = cho_factor(moment.mass_matrix())
    assert_agrees(ma.operational_compliance(moment.twins.model, moment.state, frames), J @ cho_solve(factor, J.T))


def test_operational_compliance_of_the_grasps():
    """Without frames it is taken at the tips that grasp, in the order of the grasps; two arms share no cross block."""
    moment = twins_of("two arms and a box").random(4)
    J = np.vstack([moment.jacobian("right/tool0"), moment.jacobian("left/panda_hand_tcp")])
    ours = ma.operational_compliance(moment.twins.model, moment.state)
    assert_agrees(ours, J @ inverse(moment.mass_matrix()) @ J.T)
    assert not ours[:6, 6:].any()


# --- sums over the bodies --------------------------------------------------------------------------------------------


def test_energy_momentum_and_centre_of_mass(moment):
    peer, data = moment.twins.peer, moment.twins.data
    model, state = moment.twins.model, moment.state
    energy, momentum = ma.energy(model, state), ma.momentum(model, state)
    assert_agrees(energy.kinetic, state.v @ moment.mass_matrix() @ state.v / 2)
    if not peer.armature.any():  # Pinocchio 4.1 misplaces rotors beside a free-flyer: its energy is not v M v / 2 then
        assert_agrees(energy.kinetic, pin.computeKineticEnergy(peer, data, moment.peer_q, moment.peer_v))
    assert_agrees(energy.potential, pin.computePotentialEnergy(peer, data, moment.peer_q))
    assert_agrees(ma.center_of_mass(model, state), pin.centerOfMass(peer, data, moment.peer_q))
    assert model.mass == pytest.approx(pin.computeTotalMass(peer), rel=1e-12)
    centroidal = pin.computeCentroidalMomentum(peer, data, moment.peer_q, moment.peer_v)
    about = momentum.about(data.com[0])
    assert_agrees(about.linear, centroidal.linear)
    assert_agrees(about.angular, centroidal.angular)


def test_gravity_pulls_down_by_default():
    mechanism = ma.Mechanism()
    mechanism.add_body("box", mass=1.0, inertia=(1, 1, 1))
    np.testing.assert_array_equal(mechanism.compile().gravity, pin.Model().gravity.linear)
    assert not np.array_equal(mechanism.compile(gravity=GRAVITY).gravity, pin.Model().gravity.linear)
