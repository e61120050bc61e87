"""Laws of mechanics on random trees: equations of motion, energy, momentum, and what must not depend on a description.

Residuals are backward errors: |M a + C - tau| over |M||a| + |C| + |tau|, largest entry over largest entry, M from
composite bodies and C from Newton and Euler. Solutions are compared with each other where cond(M) < 1e6 only; the share
of draws beyond that is counted and bounded.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, event, given, settings
from numpy.testing import assert_allclose
from random_mechanisms import (
    EXTREME,
    ORDINARY,
    Case,
    Sketch,
    advance,
    cases,
    random_case,
    random_external,
    rate_of_change,
)
from scipy.spatial.transform import Rotation

import multiarm as ma
from multiarm.sweeps import layout

METHODS = ("fd1", "fd2", "fd3", "fd4")
WELL_CONDITIONED = 1e6

thorough = settings(max_examples=120, deadline=None, derandomize=True)
some = settings(max_examples=60, deadline=None, derandomize=True)


def equations(case: Case) -> tuple[np.ndarray, np.ndarray]:
    """M by composite bodies and C by Newton-Euler at zero acceleration."""
    return ma.mass_matrix(case.model, case.state), ma.inverse_dynamics(case.model, case.state)


def accelerations(case: Case, bias: np.ndarray) -> dict[str, np.ndarray]:
    """Joint accelerations by every method in O(N)."""
    found = {m: ma.tree_forward_dynamics(case.model, case.state, case.tau, method=m).a for m in METHODS}
    if case.model.nv:
        found["factors"] = ma.operators(case.model, case.state).mass_inverse @ (case.tau - bias)
    return found


def largest(array: np.ndarray) -> float:
    return float(np.abs(array).max(initial=0.0))


def condition(matrix: np.ndarray) -> float:
    return float(np.linalg.cond(matrix)) if len(matrix) else 1.0


def backward_error(mass: np.ndarray, a: np.ndarray, bias: np.ndarray, tau: np.ndarray) -> float:
    size = np.abs(mass) @ np.abs(a) + np.abs(bias) + np.abs(tau)
    return largest(mass @ a + bias - tau) / max(largest(size), 1e-300)


def assert_close(found: np.ndarray, expected: np.ndarray, tolerance: float) -> None:
    """Equal to `tolerance` relative to the largest entry."""
    assert largest(np.asarray(found) - expected) <= tolerance * max(largest(np.asarray(expected)), 1e-300)


# ---------------------------------------------------------------------- equations of motion


@pytest.mark.parametrize("torques", ["in proportion", "alike"])
@pytest.mark.parametrize("scales", [ORDINARY, EXTREME], ids=["ordinary", "extreme"])
def test_forward_dynamics_satisfies_the_equations_of_motion(scales, torques):
    """Whether every joint has a torque that suits its inertia, or crane and gram are given the same 10 N m."""

    @thorough
    @given(case=cases(scales=scales))
    def law(case):
        if torques == "alike":
            case = replace(case, tau=10.0 * case.rng.normal(size=case.model.nv))
        mass, bias = equations(case)
        event("cond(M) > 1e6" if condition(mass) > WELL_CONDITIONED else "cond(M) <= 1e6")
        for method, a in accelerations(case, bias).items():
            assert backward_error(mass, a, bias, case.tau) <= 1e-12, method

    law()


@thorough
@given(case=cases())
def test_every_single_equation_of_motion_is_satisfied(case):
    mass, bias = equations(case)
    for method, a in accelerations(case, bias).items():
        size = np.abs(mass) @ np.abs(a) + np.abs(bias) + np.abs(case.tau)
        assert np.all(np.abs(mass @ a + bias - case.tau) <= 1e-12 * size), method


@pytest.mark.parametrize("scales", [ORDINARY, EXTREME], ids=["ordinary", "extreme"])
def test_all_ways_to_solve_agree_where_the_mass_matrix_is_well_conditioned(scales):
    @thorough
    @given(case=cases(scales=scales))
    def law(case):
        mass, bias = equations(case)
        assume(condition(mass) < WELL_CONDITIONED)
        expected = np.linalg.solve(mass, case.tau - bias)
        found = accelerations(case, bias)
        found["inverse"] = ma.mass_matrix_inverse(case.model, case.state) @ (case.tau - bias)
        for method, a in found.items():
            assert largest(a - expected) <= 1e-9 * largest(expected), method

    law()


@pytest.mark.parametrize(
    "scales, least, most", [(ORDINARY, 0.0, 0.02), (EXTREME, 0.5, 0.9)], ids=["ordinary", "extreme"]
)
def test_share_of_ill_conditioned_draws_is_known(scales, least, most, record_property):
    conditions = []
    for seed in range(150):
        case = random_case(seed, joints=1 + seed % 12, branching=seed % 3, scales=scales)
        conditions.append(condition(ma.mass_matrix(case.model, case.state)))
    share = float(np.mean(np.array(conditions) > WELL_CONDITIONED))
    record_property("share of cond(M) > 1e6", share)
    print(f"cond(M) > 1e6 in {share:.1%} of {len(conditions)} draws, largest {max(conditions):.1e}")
    assert least <= share <= most


@thorough
@given(case=cases())
def test_external_wrenches_act_as_jacobian_transposed(case):
    external = random_external(case.model, case.rng)
    pushed = ma.tree_forward_dynamics(case.model, case.state, case.tau, external)
    through = sum(
        (ma.jacobian(case.model, case.state, name).T @ wrench for name, wrench in external.items()),
        np.zeros(case.model.nv),
    )
    free = ma.tree_forward_dynamics(case.model, case.state, case.tau + through)
    mass, bias = equations(case)
    assert backward_error(mass, pushed.a, bias - through, case.tau) <= 1e-12
    assert_allclose(pushed.a, free.a, rtol=1e-9, atol=1e-9 * largest(free.a))


@thorough
@given(case=cases())
def test_inverse_dynamics_returns_the_torques_of_forward_dynamics(case):
    external = random_external(case.model, case.rng)
    solution = ma.tree_forward_dynamics(case.model, case.state, case.tau, external)
    assert solution.residual <= 1e-11
    for method in ("newton_euler", "composite"):
        tau = ma.inverse_dynamics(case.model, case.state, solution.a, external, method=method)
        assert_close(tau, case.tau, 1e-10)


@thorough
@given(case=cases())
def test_newton_euler_and_composite_inverse_dynamics_agree(case):
    a, external = case.rng.normal(size=case.model.nv), random_external(case.model, case.rng)
    by_newton = ma.inverse_dynamics(case.model, case.state, a, external)
    by_composite = ma.inverse_dynamics(case.model, case.state, a, external, method="composite")
    assert_close(by_composite, by_newton, 1e-12)


# ---------------------------------------------------------------------- mass matrix, Jacobian, compliance


@thorough
@given(case=cases())
def test_mass_matrix_is_symmetric_positive_definite_and_the_product_of_its_factors(case):
    mass = ma.mass_matrix(case.model, case.state)
    assert np.array_equal(mass, mass.T)
    np.linalg.cholesky(mass)
    assume(case.model.nv > 0)
    size = np.sqrt(np.diag(mass))
    assert largest((ma.mass_matrix(case.model, case.state, method="factors") - mass) / np.outer(size, size)) <= 1e-12


@thorough
@given(case=cases())
def test_mass_matrix_inverse_and_determinant(case):
    mass = ma.mass_matrix(case.model, case.state)
    inverse = ma.mass_matrix_inverse(case.model, case.state)
    assert np.array_equal(inverse, inverse.T)
    assert largest(mass @ inverse - np.eye(case.model.nv)) <= 1e-14 * condition(mass) * max(case.model.nv, 1)
    sign, logarithm = np.linalg.slogdet(mass)
    assert sign == 1.0
    assert abs(ma.log_determinant(case.model, case.state) - logarithm) <= 1e-12 + 1e-15 * condition(mass)


@thorough
@given(case=cases())
def test_kinetic_energy_is_half_v_m_v(case):
    v = case.state.v
    by_matrix = 0.5 * v @ ma.mass_matrix(case.model, case.state) @ v
    assert_close(ma.energy(case.model, case.state).kinetic, by_matrix, 1e-12)


@thorough
@given(case=cases())
def test_velocity_and_momentum_are_linear_in_v(case):
    kin = ma.kinematics(case.model, case.state)
    for name in [*case.model.bodies, *case.sketch.frames]:
        assert_close(ma.jacobian(case.model, case.state, name) @ case.state.v, kin.velocity(name), 1e-12)
    bodies = rigid_bodies(case)
    momentum = ma.momentum(case.model, case.state)
    assert_allclose(momentum.linear, sum((b.mass * b.v for b in bodies), np.zeros(3)), rtol=0, atol=1e-10)
    spin = sum((np.cross(b.com, b.mass * b.v) + b.inertia @ b.omega for b in bodies), np.zeros(3))
    assert_allclose(momentum.angular, spin, rtol=0, atol=1e-12 * max(largest(spin), 1e3))


@thorough
@given(case=cases())
def test_compliance_is_j_inverse_m_j_transposed_with_cross_terms(case):
    names = [*case.model.bodies, *case.sketch.frames]
    frames = case.rng.choice(names, 4).tolist()
    frames += [frames[0], "f0"]  # one frame twice, and one fixed in the world
    jacobians = np.vstack([ma.jacobian(case.model, case.state, frame) for frame in frames])
    mass = ma.mass_matrix(case.model, case.state)
    assume(condition(mass) < WELL_CONDITIONED)
    expected = jacobians @ np.linalg.solve(mass, jacobians.T)
    found = ma.operational_compliance(case.model, case.state, frames)
    assert_close(found, expected, 1e-9)
    assert largest(found - found.T) <= 1e-12 * largest(found)
    prepared = ma.compiled(case.model)
    q = np.array(case.state.q)
    assert_close(prepared.operational_compliance(q, prepared.frames(*frames), np.empty_like(found)), found, 1e-14)


@thorough
@given(case=cases())
def test_gram_matrices_of_the_jacobian(case):
    for frame in case.rng.choice([*case.model.bodies, *case.sketch.frames], 3):
        jacobian = ma.jacobian(case.model, case.state, frame)
        assert_close(ma.jacobian_gram(case.model, case.state, frame, side="task"), jacobian @ jacobian.T, 1e-12)
        assert_close(ma.jacobian_gram(case.model, case.state, frame, side="joint"), jacobian.T @ jacobian, 1e-12)


# ---------------------------------------------------------------------- forces, energy, momentum


class RigidBody:
    """A moving body by textbook formulas: centre of mass, its velocity and acceleration, inertia in world axes."""

    def __init__(self, case: Case, name: str, kin: ma.Kinematics, solution: ma.Solution | None) -> None:
        body, pose, motion = case.model.bodies[name], kin.pose(name), kin.velocity(name)
        rotation = pose.rotation.as_matrix()
        arm = rotation @ body.com
        self.link, self.mass = case.model.placement(name).link, body.mass
        self.inertia = rotation @ body.inertia @ rotation.T
        self.com, self.omega = pose.translation + arm, motion[:3]
        self.v = motion[3:] + np.cross(self.omega, arm)
        if solution is not None:
            turn, shift = np.split(solution.acceleration(name), 2)
            self.a = shift + np.cross(turn, arm) + np.cross(self.omega, np.cross(self.omega, arm))
            self.torque = self.inertia @ turn + np.cross(self.omega, self.inertia @ self.omega)

    @property
    def rate_of_momentum(self) -> np.ndarray:
        """d/dt of [angular momentum about the world's origin; linear momentum]."""
        return np.concatenate([self.torque + np.cross(self.com, self.mass * self.a), self.mass * self.a])

    def weight(self, gravity: np.ndarray) -> np.ndarray:
        return np.concatenate([np.cross(self.com, self.mass * gravity), self.mass * gravity])


def rigid_bodies(case: Case, solution: ma.Solution | None = None) -> list[RigidBody]:
    """All bodies that can move."""
    kin = ma.kinematics(case.model, case.state)
    bodies = [RigidBody(case, name, kin, solution) for name in case.model.bodies if name != "world"]
    return [body for body in bodies if body.link > 0]


def pushes_about_origin(case: Case, external: dict[str, np.ndarray]) -> dict[int, np.ndarray]:
    """External wrenches about the world's origin, summed by the link they act on."""
    kin = ma.kinematics(case.model, case.state)
    total: dict[int, np.ndarray] = {}
    for name, wrench in external.items():
        moved = wrench + np.concatenate([np.cross(kin.pose(name).translation, wrench[3:]), np.zeros(3)])
        link = case.model.placement(name).link
        total[link] = total.get(link, np.zeros(6)) + moved
    return total


@thorough
@given(case=cases())
def test_net_force_on_every_body_is_its_rate_of_momentum(case):
    external = random_external(case.model, case.rng)
    solution = ma.tree_forward_dynamics(case.model, case.state, case.tau, external)
    net = {link: wrench.copy() for link, wrench in pushes_about_origin(case, external).items()}
    needed: dict[int, np.ndarray] = {}
    for body in rigid_bodies(case, solution):
        net[body.link] = net.get(body.link, np.zeros(6)) + body.weight(case.model.gravity)
        needed[body.link] = needed.get(body.link, np.zeros(6)) + body.rate_of_momentum
    size = max([largest(wrench) for wrench in net.values()], default=0.0)
    for name, wrench in solution.forces.items():
        joint = case.model.joints[name].joint if name in case.model.joints else case.model.merged[name]
        assert (wrench.on, wrench.by) == (joint.child, joint.parent)
        size = max(size, largest(wrench.about((0, 0, 0)).array))
        for body, sign in ((wrench.on, 1), (wrench.by, -1)):
            link = case.model.placement(body).link
            net[link] = net.get(link, np.zeros(6)) + sign * wrench.about((0, 0, 0)).array
    for link, rate in needed.items():
        assert largest(net[link] - rate) <= 1e-11 * size


@thorough
@given(case=cases())
def test_joint_forces_work_on_the_relative_motion_as_torques_do_on_v(case):
    solution = ma.tree_forward_dynamics(case.model, case.state, case.tau)
    kin = ma.kinematics(case.model, case.state)
    driving = case.tau - case.model.armature * solution.a
    for name, place in case.model.joints.items():
        motion = kin.joint(name)
        wrench = solution.forces[name].about(motion.child_frame.translation).array
        size = np.abs(wrench) @ np.abs(motion.velocity) + np.abs(driving[place.v]) @ np.abs(case.state.v[place.v])
        assert abs(wrench @ motion.velocity - driving[place.v] @ case.state.v[place.v]) <= 1e-10 * size


@thorough
@given(case=cases())
def test_interbody_forces_are_the_smoothed_forces_of_the_filter(case):
    external = random_external(case.model, case.rng)
    solution = ma.tree_forward_dynamics(case.model, case.state, case.tau, external)
    smoothed = ma.smoother(case.model, case.state, case.tau, external)
    assert_close(smoothed.acceleration, solution.a, 1e-14)
    by_newton = ma.interbody_forces(case.model, case.state, solution.a, external)
    for name, place in case.model.joints.items():
        last = case.model.tree[place.links[-1], layout.V]
        size = max(largest(smoothed.smoothed_force), largest(smoothed.predicted_force))
        assert largest(place.sign * smoothed.smoothed_force[last] - by_newton[name].array) <= 1e-10 * size
        assert np.array_equal(by_newton[name].array, solution.forces[name].array)


@thorough
@given(case=cases())
def test_power_of_all_forces_is_the_rate_of_energy(case):
    """d/dt (T + V) from the bodies' own accelerations; rotors add R v . a."""
    external = random_external(case.model, case.rng)
    solution = ma.tree_forward_dynamics(case.model, case.state, case.tau, external)
    kin = ma.kinematics(case.model, case.state)
    gains = [case.model.armature * case.state.v * solution.a]
    for body in rigid_bodies(case, solution):
        gains += [body.torque * body.omega, body.mass * body.a * body.v, -body.mass * case.model.gravity * body.v]
    supplied = [case.tau * case.state.v, *(wrench * kin.velocity(name) for name, wrench in external.items())]
    gain, supply = np.concatenate(gains), np.concatenate(supplied)
    assert abs(gain.sum() - supply.sum()) <= 1e-11 * max(np.abs(gain).sum(), np.abs(supply).sum(), 1e-300)


def along_motion(case: Case, a: np.ndarray, quantity, step: float = 2e-3):
    """d/dt of quantity(state) along the motion, by differences along a curve with the right tangent."""
    size = 1.0 + largest(case.state.v) + np.sqrt(largest(a))

    def at(t: float):
        q = advance(case.model, case.state.q, case.state.v, t)
        return quantity(case.model.state(q=q, v=case.state.v + t * a))

    return rate_of_change(at, step / size)


@some
@given(case=cases(max_joints=8))
def test_energy_changes_at_the_rate_of_the_power_supplied(case):
    external = random_external(case.model, case.rng)
    solution = ma.tree_forward_dynamics(case.model, case.state, case.tau, external)
    rate = along_motion(case, solution.a, lambda state: ma.energy(case.model, state).total)
    kin = ma.kinematics(case.model, case.state)
    supplied = [case.tau * case.state.v, *(wrench * kin.velocity(name) for name, wrench in external.items())]
    energy = ma.energy(case.model, case.state)
    size = np.abs(np.concatenate(supplied)).sum() + abs(energy.kinetic) + abs(energy.potential)
    assert abs(rate - np.concatenate(supplied).sum()) <= 1e-9 * size


@some
@given(case=cases(max_joints=8, floating=True))
def test_momentum_of_floating_systems_changes_by_gravity_and_external_wrenches_only(case):
    """No joint to the world: whatever the joints do among themselves cancels."""
    tau = case.tau.copy()
    for name, place in case.model.joints.items():
        if name in case.model.bodies:  # a free body's own coordinates are driven by the world
            tau[place.v] = 0.0
    external = random_external(case.model, case.rng)
    solution = ma.tree_forward_dynamics(case.model, case.state, tau, external)
    gained = sum(pushes_about_origin(case, external).values(), np.zeros(6))
    first_moment = case.model.mass * ma.center_of_mass(case.model, case.state)
    gained += np.concatenate([np.cross(first_moment, case.model.gravity), case.model.mass * case.model.gravity])

    def momentum(state):
        p = ma.momentum(case.model, state)
        return np.concatenate([p.angular, p.linear])

    bodies = rigid_bodies(case, solution)
    size = sum(largest(body.rate_of_momentum) for body in bodies) + largest(gained)
    assert largest(sum((b.rate_of_momentum for b in bodies), np.zeros(6)) - gained) <= 1e-11 * size
    rate = along_motion(case, solution.a, momentum)
    assert largest(rate - gained) <= 1e-9 * (size + largest(momentum(case.state)))


@some
@given(case=cases(max_joints=8))
def test_center_of_mass_moves_with_the_linear_momentum(case):
    rate = along_motion(
        case,
        np.zeros(case.model.nv),
        lambda state: case.model.mass * np.nan_to_num(ma.center_of_mass(case.model, state)),
    )
    momentum = ma.momentum(case.model, case.state)
    assert largest(rate - momentum.linear) <= 1e-9 * max(largest(momentum.linear), case.model.mass)


# ---------------------------------------------------------------------- what must not depend on the description


def cross_matrix(p: np.ndarray) -> np.ndarray:
    return np.cross(np.eye(3), p)


def turned_coordinates(kind: str, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates q' of a joint declared the other way round, and T of its velocities v' = T v."""
    if kind == "universal":
        return -q[::-1], -np.eye(2)[::-1]
    if kind == "spherical":
        return q * (-1, -1, -1, 1), -Rotation.from_quat(q).as_matrix()
    if kind == "planar":
        back = np.array([[np.cos(q[2]), np.sin(q[2])], [-np.sin(q[2]), np.cos(q[2])]])
        quarter = np.array([[0.0, -1.0], [1.0, 0.0]])
        rates = np.zeros((3, 3))
        rates[:2, :2], rates[:2, 2], rates[2, 2] = -back, back @ quarter @ q[:2], -1.0
        return np.append(-back @ q[:2], -q[2]), rates
    if kind == "free":
        back = Rotation.from_quat(q[:4]).inv().as_matrix()
        rates = np.block([[-back, np.zeros((3, 3))], [-back @ cross_matrix(q[4:]), -back]])
        return np.concatenate([q[:4] * (-1, -1, -1, 1), -back @ q[4:]]), rates
    return -q, -np.eye(len(q))


def turned_round(sketch: Sketch, names: set[str]) -> Sketch:
    """The same mechanism with the joints named declared from child to parent."""
    joints = {}
    for name, joint in sketch.joints.items():
        if name in names:
            swapped = {"parent": joint["child"], "child": joint["parent"]}
            swapped |= {"at": joint["in_child"], "in_child": joint["at"]}
            if joint["kind"] == "universal":
                swapped |= {"axis": joint["axis2"], "axis2": joint["axis"]}
            joint = joint | swapped
        joints[name] = joint
    return replace(sketch, joints=joints)


def same_motion(case: Case, model: ma.Model, tau: np.ndarray, turned: set[str]) -> tuple[ma.State, np.ndarray]:
    """State and torques of another description of the mechanism that stand for the same as those of `case`."""
    kin = ma.kinematics(case.model, case.state)
    q, v, forces = np.empty(model.nq), np.empty(model.nv), np.zeros(model.nv)
    for name, place in model.joints.items():
        if name not in case.sketch.joints:  # which body of a floating tree hangs free is the description's business
            pose = kin.pose(name)
            q[place.q] = np.concatenate([pose.rotation.as_quat(), pose.translation])
            v[place.v] = kin.velocity(name)
            continue
        before = case.model.joints[name]
        q[place.q], v[place.v], forces[place.v] = case.state.q[before.q], case.state.v[before.v], tau[before.v]
        if name in turned:
            q[place.q], rates = turned_coordinates(place.joint.kind, case.state.q[before.q])
            v[place.v] = rates @ case.state.v[before.v]
            forces[place.v] = np.linalg.solve(rates.T, tau[before.v])
    return model.state(q=q, v=v), forces


@thorough
@given(case=cases())
def test_motion_depends_neither_on_the_order_nor_on_the_direction_of_declaration(case):
    """Accelerations of bodies and forces between them, with joints declared in another order and turned round."""
    # a rotor on a slide of a planar or free joint moves with the axes of the parent, so it belongs to one direction
    bare = {n: j | {"armature": 0.0} if j["kind"] in ("planar", "free") else j for n, j in case.sketch.joints.items()}
    sketch = replace(case.sketch, joints=bare)
    case = replace(case, model=sketch.compile())
    case = replace(case, state=case.model.state(case.state.q, case.state.v))
    turned = {name for name in sketch.joints if case.rng.random() < 0.5}
    other = turned_round(sketch, turned).shuffled(case.rng).compile()
    tau = case.tau.copy()
    for name, place in case.model.joints.items():
        if name not in sketch.joints:
            tau[place.v] = 0.0
    state, forces = same_motion(case, other, tau, turned)
    external = random_external(case.model, case.rng)
    first = ma.tree_forward_dynamics(case.model, case.state, tau, external)
    second = ma.tree_forward_dynamics(other, state, forces, external)
    here, there = ma.kinematics(case.model, case.state), ma.kinematics(other, state)
    size = max(largest(first.acceleration(name)) for name in case.model.bodies)
    for name in case.model.bodies:
        assert_allclose(there.pose(name).as_matrix(), here.pose(name).as_matrix(), rtol=0, atol=1e-11)
        assert_allclose(there.velocity(name), here.velocity(name), rtol=0, atol=1e-10)
        assert largest(first.acceleration(name) - second.acceleration(name)) <= 1e-9 * size
    through = {name: first.forces[name].about((0, 0, 0)).array for name in case.sketch.joints if name in first.forces}
    most = max((largest(wrench) for wrench in through.values()), default=0.0)
    for name, wrench in through.items():
        sign = -1 if name in turned else 1
        assert largest(sign * second.forces[name].about((0, 0, 0)).array - wrench) <= 1e-9 * most
    energy, again = ma.energy(case.model, case.state), ma.energy(other, state)
    assert_allclose(again.kinetic, energy.kinetic, rtol=1e-10)


@some
@given(case=cases())
def test_uniform_gravity_is_felt_only_through_the_world(case):
    """Accelerations relative to free fall: without joints to the world a floating system falls as in empty space."""
    model = replace(case.sketch, gravity=np.zeros(3)).compile()
    state = model.state(case.state.q, case.state.v)
    floating = [name for name in case.model.joints if name in case.model.bodies]
    assume(len(floating) > 0)
    weightless = ma.tree_forward_dynamics(model, state, case.tau)
    falling = ma.tree_forward_dynamics(case.model, case.state, case.tau)
    fall = np.concatenate([np.zeros(3), case.model.gravity])
    for name in floating:
        difference = falling.acceleration(name) - weightless.acceleration(name)
        assert largest(difference - fall) <= 1e-9 * (largest(weightless.acceleration(name)) + 9.81)


# ---------------------------------------------------------------------- what cannot be solved; whose arrays these are


def test_motions_without_inertia_are_refused_by_name():
    m = ma.Mechanism()
    m.add_body("arm", mass=1.0, inertia=(1, 1, 1), com=(1, 0, 0))
    m.add_body("ghost")
    m.add_joint("shoulder", "revolute", parent="world", child="arm")
    m.add_joint("ball", "spherical", parent="ghost", child="arm")
    model = m.compile()
    state = model.state()
    solves = [lambda method=method: ma.tree_forward_dynamics(model, state, method=method) for method in METHODS]
    solves += [lambda: ma.mass_matrix_inverse(model, state), lambda: ma.operators(model, state)]
    solves += [lambda: ma.log_determinant(model, state), lambda: ma.operational_compliance(model, state, ["ghost"])]
    for solve in solves:
        with pytest.raises(ma.SingularInertiaError) as caught:
            solve()
        assert (caught.value.body, caught.value.joint) == ("ghost", "ball")
    held = ma.hybrid_dynamics(model, state, tau={"shoulder": 4.0}, prescribed={"ball": np.zeros(3)})
    assert_allclose(held.a, [2.0, 0.0, 0.0, 0.0], atol=1e-15)
    ma.inverse_dynamics(model, state)


def test_nothing_to_solve_gives_empty_answers():
    m = ma.Mechanism()
    m.add_body("post", mass=1.0, inertia=(1, 1, 1))
    m.add_joint("bolt", "fixed", parent="world", child="post")
    model = m.compile()
    state = model.state()
    for method in METHODS:
        solution = ma.tree_forward_dynamics(model, state, method=method)
        assert solution.a.shape == (0,)
        assert solution.residual == 0.0
        assert not solution.acceleration("post").any()
    assert ma.mass_matrix(model, state).shape == ma.mass_matrix_inverse(model, state).shape == (0, 0)
    assert ma.log_determinant(model, state) == 0.0
    assert ma.inverse_dynamics(model, state).shape == (0,)
    assert not ma.operational_compliance(model, state, ["post"]).any()
    assert ma.jacobian(model, state, "post").shape == (6, 0)


def pendulum(com: np.ndarray, gravity: np.ndarray) -> ma.Model:
    m = ma.Mechanism()
    m.add_body("rod", mass=1.0, inertia=(1, 1, 1), com=com)
    m.add_joint("hinge", "revolute", parent="world", child="rod", axis=(0, 1, 0))
    return m.compile(gravity=gravity)


def test_compiling_leaves_the_callers_gravity_writable():
    gravity = np.array([0.0, 0.0, -9.81])
    model = pendulum(np.ones(3), gravity)
    gravity[2] = -1.62
    assert model.gravity[2] == -9.81


def test_descriptions_do_not_change_with_the_callers_arrays():
    m = ma.Mechanism()
    com = np.array([1.0, 0.0, 0.0])
    m.add_body("rod", mass=1.0, inertia=(1, 1, 1), com=com)
    com[0] = 5.0
    assert_allclose(m.bodies["rod"].com, (1, 0, 0))


def test_solutions_do_not_change_with_the_callers_arrays():
    model = pendulum(np.array([1.0, 0.0, 0.0]), np.zeros(3))
    wrench = np.array([0.0, 1.0, 0.0, 0.0, 0.0, 0.0])
    asked, unasked = (ma.tree_forward_dynamics(model, model.state(), external={"rod": wrench}) for _ in range(2))
    force = asked.forces["hinge"].array
    wrench[:] = 100.0
    assert_allclose(unasked.forces["hinge"].array, force)
    assert unasked.residual < 1e-12


@pytest.mark.parametrize("seed", [11147, 11228])
def test_slender_bodies_far_along_their_axis_keep_their_digits(seed):
    """Cylindrical joints, cond(M) 4e6 and 5e8: a turn that had to pass a long slide found 1.3e-11 and 3.1e-11."""
    rng = np.random.default_rng(seed)
    joints, branching = int(rng.integers(1, 13)), int(rng.integers(0, 3))
    case = random_case(seed, joints=joints, branching=branching, scales=EXTREME)
    case = replace(case, tau=10.0 * case.rng.normal(size=case.model.nv))
    mass, bias = equations(case)
    for method, a in accelerations(case, bias).items():
        assert backward_error(mass, a, bias, case.tau) <= 1e-12, method


@pytest.mark.parametrize(("seed", "armature"), [(2592, True), (27909, False)])
def test_only_mass_matrices_without_digits_are_refused(seed, armature):
    """Two draws of 31,900, cond(M) above 1e17: a mote bears a body 1e5 times its mass by a free joint."""
    rng = np.random.default_rng(seed)
    joints, branching = int(rng.integers(1, 13)), int(rng.integers(0, 3))
    case = random_case(seed, joints=joints, branching=branching, armature=armature, scales=EXTREME)
    mass, bias = equations(case)
    try:
        found = accelerations(case, bias)
    except ma.SingularInertiaError as refusal:
        assert condition(mass) > 1e16
        assert refusal.body in case.model.bodies
    else:
        for method, a in found.items():
            assert backward_error(mass, a, bias, case.tau) <= 1e-12, method
