"""The PUMA 560 against its published dynamics.

Printed numbers are those of the Robotics Toolbox for Python (P. Corke, tests/test_DHRobot.py, models/DH/Puma560.py),
whose parameters are the consensus of Corke and Armstrong-Helouvry, ICRA 1994; all at its configuration qn, with
gravity 9.81 m/s^2 down (the toolbox states it as the upward acceleration of the base). They hold to half a unit of the
fourth decimal, as they are checked there. Numbers with more digits come from the same parameters in Pinocchio.

The toolbox counts friction of the motors as a load: at the joint |G| (B |G| qd + Tc), Tc by the sign of qd.
"""

from __future__ import annotations

import warnings
from math import pi

import numpy as np
import pytest
from numpy.testing import assert_allclose

import multiarm as ma

QN = np.array([0, pi / 4, pi, 0, pi / 4, 0])
ONES, ZEROS = np.ones(6), np.zeros(6)
PRINTED = {"rtol": 0, "atol": 5.1e-5}
COMPUTED = {"rtol": 0, "atol": 1e-13}

# Motors: gear ratio G, viscous friction B [N m s/rad], Coulomb friction forward and backward [N m].
G = np.array([-62.6111, 107.815, -53.7063, 76.0364, 71.923, 76.686])
B = np.array([1.48e-3, 0.817e-3, 1.38e-3, 71.2e-6, 82.6e-6, 36.7e-6])
TC_FORWARD = np.array([0.395, 0.126, 0.132, 11.2e-3, 9.26e-3, 3.96e-3])
TC_BACKWARD = np.array([-0.435, -0.071, -0.105, -16.9e-3, -14.5e-3, -10.5e-3])

INERTIA_PRINTED = [
    [3.6594, -0.4044, 0.1006, -0.0025, 0, 0],
    [-0.4044, 4.4137, 0.3509, 0, 0.0024, 0],
    [0.1006, 0.3509, 0.9378, 0, 0.0015, 0],
    [-0.0025, 0, 0, 0.1925, 0, 0],
    [0, 0.0024, 0.0015, 0, 0.1713, 0],
    [0, 0, 0, 0, 0, 0.1941],
]
INERTIA = [
    [3.65937541215279, -0.4043612460415187, 0.10061364777978397, -0.0025169558280306106, 0, 0],
    [-0.4043612460415187, 4.41374193363579, 0.35089066495641474, 0, 0.0023595130678948917, 0],
    [0.10061364777978397, 0.35089066495641474, 0.9378415752150396, 0, 0.001480166388519801, 0],
    [-0.0025169558280306106, 0, 0, 0.19253170612368, 0, 2.8284271247461906e-05],
    [0, 0.0023595130678948917, 0.001480166388519801, 0, 0.17134845165700002, 0],
    [0, 0, 0, 2.8284271247461906e-05, 0, 0.19410450566800005],
]
# Without rotors the diagonal is smaller by G^2 Jm; nothing else changes.
INERTIA_OF_THE_LINKS = [2.87534544351079, 2.08892708863579, 0.3609682432770397, 0.00174108, 0.00064216, 4e-05]
CARTESIAN_INERTIA_PRINTED = [  # linear part first
    [17.2954, -2.7542, -9.6233, 0, 0.2795, 0],
    [-2.7542, 12.1909, 1.2459, -0.3254, -0.0703, -0.9652],
    [-9.6233, 1.2459, 13.3348, 0, 0.2767, 0],
    [0, -0.3254, 0, 0.1941, 0, 0.1941],
    [0.2795, -0.0703, 0.2767, 0, 0.1713, 0],
    [0, -0.9652, 0, 0.1941, 0, 0.5791],
]
CORIOLIS_PRINTED = [  # at qd = (1, 2, 3, 1, 2, 3)
    [-0.1735, -2.0494, -0.1178, -0.0002, -0.0045, 0.0001],
    [0.6274, 1.1572, 1.9287, -0.0015, -0.0003, 0],
    [-0.3608, -0.7734, -0.0018, -0.0009, -0.0064, 0],
    [0.0011, 0.0005, -0.0001, 0.0002, 0.0002, -0.0001],
    [-0.0002, 0.0028, 0.0046, -0.0002, 0, 0],
    [0.0001, 0, 0, 0, 0, 0],
]
CORIOLIS_FORCE = [
    -4.634421763308464, 8.725711224580584, -1.9268101608881663,
    0.0022557893147213807, 0.019052433368279578, 0.0003648528137422646,
]  # fmt: skip


def puma(gravity=(0, 0, -9.81)) -> ma.Model:
    mechanism = ma.Mechanism("puma560")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ma.UnphysicalInertiaWarning)
        mechanism.add_arm("puma", ma.robots.puma560())
    return mechanism.compile(gravity=gravity)


@pytest.fixture(scope="module")
def model() -> ma.Model:
    return puma()


def friction(qd) -> np.ndarray:
    """Of the motors, seen at the joints; resists motion along qd > 0."""
    coulomb = np.select([np.greater(qd, 0), np.less(qd, 0)], [TC_FORWARD, TC_BACKWARD])
    return np.abs(G) * (B * np.abs(G) * qd + coulomb)


def test_mass_matrix_as_printed(model):
    assert_allclose(ma.mass_matrix(model, QN), INERTIA_PRINTED, **PRINTED)


@pytest.mark.parametrize("method", ["composite", "factors"])
def test_mass_matrix_to_all_digits(model, method):
    M = ma.mass_matrix(model, QN, method)
    assert_allclose(M, INERTIA, **COMPUTED)
    assert_allclose(np.diag(M) - model.armature, INERTIA_OF_THE_LINKS, **COMPUTED)


def test_cartesian_inertia(model):
    """Lambda^-1 at the tip, the inertia that the hand feels."""
    compliance = ma.operational_compliance(model, QN, ["puma/tip"])
    linear_first = np.roll(np.arange(6), 3)
    assert_allclose(np.linalg.inv(compliance)[np.ix_(linear_first, linear_first)], CARTESIAN_INERTIA_PRINTED, **PRINTED)


def test_gravity_load(model):
    """Forces that hold the arm up against gravity along -z."""
    load = ma.inverse_dynamics(model, model.state(q=QN))
    assert_allclose(load, (0, 31.6399, 6.0351, 0, 0.0283, 0), **PRINTED)
    assert_allclose(ma.inverse_dynamics(up := puma((0, 0, 9.81)), up.state(q=QN)), -load, **COMPUTED)
    assert_allclose(ma.inverse_dynamics(none := puma((0, 0, 0)), none.state(q=QN)), ZEROS, **COMPUTED)


@pytest.mark.parametrize(
    ("qd", "qdd", "gravity", "expected"),
    [
        (ZEROS, ONES, -9.81, (3.35311, 36.0025, 7.42596, 0.190043, 0.203441, 0.194133)),
        (ONES, ZEROS, -9.81, (29.1421, 56.5044, 16.3528, 1.26448, 1.12392, 0.519648)),
        (ONES, ONES, -9.81, (32.4952, 60.867, 17.7436, 1.45452, 1.29911, 0.713781)),
        (ONES, ONES, 0.0, (32.4952, 29.2271, 11.7085, 1.45452, 1.27086, 0.713781)),
    ],
    ids=["starting", "coasting", "moving", "moving without gravity"],
)
def test_inverse_dynamics_with_friction(qd, qdd, gravity, expected):
    model = puma((0, 0, gravity))
    tau = ma.inverse_dynamics(model, model.state(q=QN, v=qd), qdd)
    assert_allclose(tau + friction(qd), expected, **PRINTED)


def test_inverse_dynamics_without_friction(model):
    tau = ma.inverse_dynamics(model, model.state(q=QN, v=ONES), ONES)
    assert_allclose(tau, (1.962036, 37.78543, 6.673937, 0.191266, 0.20582, 0.194281), rtol=0, atol=5.1e-7)


def test_inverse_dynamics_with_a_load_on_the_hand(model):
    """The toolbox means the wrench by the hand on its surroundings, in axes of the hand; ours is the opposite."""
    state = model.state(q=QN)
    hand = ma.kinematics(model, state).pose("puma/tip").rotation
    wrench = -np.concatenate([hand.apply((1, 2, 3)), hand.apply((1, 2, 3))])
    tau = ma.inverse_dynamics(model, state, external={"puma/tip": wrench})
    assert_allclose(tau, (0.642756, 29.0866, 4.70321, 2.82843, -1.97175, 3), **PRINTED)


@pytest.mark.parametrize("method", ["fd1", "fd2", "fd3", "fd4"])
def test_accelerations(model, method):
    qd, tau = np.array([0.1, 0.2, 0.8, 0.2, 0.5, 1.0]), np.array([1.0, 3.2, 1.8, 0.1, 0.7, 4.6])
    state = model.state(q=QN, v=qd)
    rubbing = ma.tree_forward_dynamics(model, state, tau - friction(qd), method=method)
    assert_allclose(rubbing, (-7.4102, -9.8432, -10.9694, -4.4314, -0.9881, 21.0228), **PRINTED)
    smooth = ma.tree_forward_dynamics(model, state, tau, method=method)
    assert_allclose(smooth, (-0.354048, -6.398926, -2.068494, 0.511244, 4.021223, 23.698454), rtol=0, atol=5.1e-7)


def test_torque_of_inertia(model):
    qdd = np.array([1, 2, 3, 1, 2, 3])
    assert_allclose(ma.mass_matrix(model, QN) @ qdd, (3.15, 9.4805, 3.6189, 0.1901, 0.3519, 0.5823), **PRINTED)


def velocity_force(model: ma.Model, qd) -> np.ndarray:
    """What Newton-Euler finds beyond gravity when no joint accelerates."""
    return ma.inverse_dynamics(model, model.state(q=QN, v=qd)) - ma.inverse_dynamics(model, model.state(q=QN))


def test_coriolis_force(model):
    assert_allclose(velocity_force(model, (1, 2, 3, 1, 2, 3)), CORIOLIS_FORCE, rtol=0, atol=1e-12)


def test_coriolis_matrix(model):
    """It is bilinear in the rates, so its columns follow from forces: C(qd) e = [f(qd + e) - f(qd) - f(e)] / 2."""
    qd = np.array([1, 2, 3, 1, 2, 3])
    columns = [velocity_force(model, qd + e) - velocity_force(model, qd) - velocity_force(model, e) for e in np.eye(6)]
    assert_allclose(np.column_stack(columns) / 2, CORIOLIS_PRINTED, **PRINTED)
