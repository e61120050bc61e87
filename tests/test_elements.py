"""Force elements: the laws of energy and of action and reaction, on random mechanisms."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from random_mechanisms import advance, cases, random_case, random_pose, rate_of_change
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation
from test_closed_chain import moving_four_bar

import multiarm as ma
from multiarm.joints import joint_kind

settings.register_profile("elements", derandomize=True, deadline=None, max_examples=60)
laws = settings.get_profile("elements")


def two_frames(case):
    names = [*case.sketch.frames, *case.model.bodies]
    first, second = case.rng.choice(len(names), 2, replace=False)
    return names[first], names[second]


def random_springs(case, damped):
    """A few line springs and bushings between any frames, and springs at the joints that can have one."""
    rng, items = case.rng, []
    for _ in range(2):
        loss = rng.uniform(0, 3, 7) * damped
        a, b = two_frames(case)
        rest = rng.choice([0.0, rng.uniform(0, 0.3)])
        items.append(ma.BodySpring(a, b, rng.uniform(1, 20), loss[0], rest))
        a, b = two_frames(case)
        items.append(ma.Bushing(a, b, rng.uniform(0, 20, 6), loss[1:], random_pose(rng)))
    for name, place in case.model.joints.items():
        kind = joint_kind(place.joint.kind)
        if kind.nq == kind.nv:
            items.append(ma.JointSpring(name, rng.uniform(1, 9, kind.nv), rng.normal(size=kind.nv)))
    return items


def random_losses_and_pushes(case):
    rng, joints = case.rng, list(case.model.joints)
    frame = two_frames(case)[0]
    return [
        ma.JointFriction(joints, rng.uniform(0, 3, case.model.nv), 0.3, speed=0.5),
        ma.JointDamper(joints[0], 0.7),
        ma.Push(frame, rng.normal(size=6), stop=2.0, shape="half_sine", axes="body"),
        ma.PushTable(frame, [0.0, 1.0, 2.0], rng.normal(size=(3, 6))),
    ]


def turn_of(model, state, bushing):
    """Angle of a bushing from rest."""
    kin = ma.kinematics(model, state)
    turn = (kin.pose(bushing.frame_a).inv() * kin.pose(bushing.frame_b)).rotation
    return (turn * bushing.rest.rotation.inv()).magnitude()


def smooth(elements, state):
    """No bushing about to turn round, and no line spring so short that it turns much in a finite difference."""
    kin = ma.kinematics(elements.model, state)
    for item in elements:
        if isinstance(item, ma.Bushing) and turn_of(elements.model, state, item) > 2.6:
            return False
        if isinstance(item, ma.BodySpring):
            apart = np.linalg.norm(kin.pose(item.frame_a).translation - kin.pose(item.frame_b).translation)
            if 0 < apart < 0.2 or (apart == 0 and item.rest_length > 0):
                return False
    return True


def power_of(elements, state, t=0.0):
    """Power of everything the elements do, from velocities of bodies that the kinematics give."""
    tau, external = elements.forces(state, t)
    kin = ma.kinematics(elements.model, state)
    total, size = tau @ state.v, np.abs(tau) @ np.abs(state.v)
    for name, wrench in external.items():
        moved = wrench.about(kin.pose(name).translation).array
        total, size = total + moved @ kin.velocity(name), size + np.abs(moved) @ np.abs(kin.velocity(name))
    return total, size


def stored_rate(elements, state):
    """d/dt of the stored energy while the state moves at its velocities."""
    model = elements.model
    return rate_of_change(lambda t: elements.energy(model.state(q=advance(model, state.q, state.v, t))), 0.01)


@settings(laws)
@given(cases(max_joints=6))
def test_spring_forces_are_the_gradient_of_the_stored_energy(case):
    elements = ma.Elements(case.model, random_springs(case, damped=False))
    state = case.state.replace(v=case.state.v / np.linalg.norm(case.state.v))
    assume(smooth(elements, state))
    power, size = power_of(elements, state)
    assert elements.dissipated_power(state) == 0.0
    assert abs(power + stored_rate(elements, state)) < 1e-7 * max(size, elements.energy(state), 1.0)


@settings(laws)
@given(cases(max_joints=6))
def test_the_energy_balance_closes_and_heat_is_never_negative(case):
    """Power of all elements = pushed - dissipated - rate of stored energy."""
    assume(case.model.nv > 0)
    springs = random_springs(case, damped=True)
    elements = ma.Elements(case.model, springs + random_losses_and_pushes(case))
    state = case.state.replace(v=case.state.v / np.linalg.norm(case.state.v))
    assume(smooth(elements, state))
    heat, pushed = elements.dissipated_power(state), elements.supplied_power(state, 0.7)
    assert heat > 0.0
    power, size = power_of(elements, state, 0.7)
    off = power - pushed + heat + stored_rate(elements, state)
    assert abs(off) < 1e-7 * max(size, elements.energy(state), 1.0)


@settings(laws)
@given(cases(max_joints=5, floating=True), st.floats(0, 1))
def test_action_is_reaction_about_any_point(case, where):
    """Elements between bodies that float change neither linear nor angular momentum."""
    names = [name for name in (*case.sketch.frames, *case.model.bodies) if case.model.placement(name).link > 0]
    a, b = case.rng.choice(names, 2, replace=False).tolist()
    between = [
        ma.BodySpring(a, b, 3.0, 2.0, 0.1),
        ma.Bushing(a, b, case.rng.uniform(1, 5, 6), case.rng.uniform(0, 5, 6), random_pose(case.rng)),
    ]
    kin = ma.kinematics(case.model, case.state)
    assume(np.linalg.norm(kin.pose(a).translation - kin.pose(b).translation) > 1e-9)
    for element in between:
        tau, external = ma.Elements(case.model, [element]).forces(case.state)
        point = where * np.array([1.0, -2.0, 3.0])
        total = sum((wrench.about(point).array for wrench in external.values()), np.zeros(6))
        size = max((np.abs(wrench.about(point).array).max() for wrench in external.values()), default=0.0)
        assert not tau.any()
        assert np.abs(total).max() <= 1e-13 * max(size, 1.0)


@settings(laws, max_examples=30)
@given(cases(max_joints=5, floating=True))
def test_free_mechanisms_with_elements_keep_their_momentum(case):
    """The same, seen in the accelerations: no outside force, no change of momentum."""
    bodies = [name for name in case.model.bodies if name != "world"]
    assume(len(bodies) > 1)
    elements = ma.Elements(case.model, [ma.Bushing(bodies[0], bodies[-1], 4.0, 1.0)])
    tau, external = elements.forces(case.state)
    driven, idle = (ma.tree_forward_dynamics(case.model, case.state, *acting) for acting in ((tau, external), (None,)))
    change, h = driven.a - idle.a, 1e-3

    def momentum(t):
        found = ma.momentum(case.model, case.state.replace(v=t * change))
        return np.concatenate([found.linear, found.angular])

    size = np.abs(ma.mass_matrix(case.model, case.state) @ change).max(initial=1.0)
    reach = 1.0 + np.linalg.norm(ma.center_of_mass(case.model, case.state))
    assert np.abs(momentum(h) / h).max() < 1e-10 * size * reach


def formulas(model, state, item):
    """Wrench on frame b's body at the origin of b, from SciPy's rotations; J* by its closed form in the angle."""
    kin = ma.kinematics(model, state)
    pose_a, pose_b, rest = kin.pose(item.frame_a), kin.pose(item.frame_b), item.rest
    inside = pose_a.inv() * pose_b
    theta = (inside.rotation * rest.rotation.inv()).as_rotvec()
    shift = inside.translation - rest.translation
    angle = np.linalg.norm(theta)
    x, y, z = theta / angle
    lever = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    jacobian = np.eye(3) - angle / 2 * lever + (1 - angle / 2 / np.tan(angle / 2)) * lever @ lever
    motion_a, motion_b = kin.velocity(item.frame_a), kin.velocity(item.frame_b)
    at_b = motion_a[3:] + np.cross(motion_a[:3], pose_b.translation - pose_a.translation)
    spin, slide = (pose_a.rotation.inv().apply(x) for x in (motion_b[:3] - motion_a[:3], motion_b[3:] - at_b))
    k, c = np.asarray(item.stiffness), np.asarray(item.damping)
    torque = jacobian.T @ (k[:3] * theta) + c[:3] * spin
    force = k[3:] * shift + c[3:] * slide
    return -np.concatenate([pose_a.rotation.apply(torque), pose_a.rotation.apply(force)]), pose_b.translation


@pytest.mark.parametrize("seed", range(20))
def test_bushings_as_numpy_computes_them(seed):
    case = random_case(seed, joints=4, floating=True)
    item = ma.Bushing("f1", "f3", case.rng.uniform(1, 9, 6), case.rng.uniform(1, 9, 6), random_pose(case.rng))
    if case.model.placement("f1").link == case.model.placement("f3").link:
        item = ma.Bushing("f0", "f3", item.stiffness, item.damping, item.rest)
    external = ma.Elements(case.model, [item]).forces(case.state)[1]
    expected, point = formulas(case.model, case.state, item)
    link = case.model.placement("f3").link
    found = next(w for name, w in external.items() if case.model.placement(name).link == link)
    assert_allclose(found.about(point).array, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-3, 0.2499, 0.2501, 1.0, 3.0, 3.1415])
def test_bushings_at_small_and_large_turns(angle):
    """An isotropic spring pulls back with k angle about the axis of the turn, whatever the angle."""
    m = ma.Mechanism()
    m.add_body("disc", mass=1.0, inertia=(1, 1, 1))
    model, axis = m.compile(), np.array([2, -1, 2]) / 3
    elements = ma.Elements(model, [ma.Bushing("world", "disc", 5.0)])
    state = model.state(q=np.concatenate([Rotation.from_rotvec(angle * axis).as_quat(), [0, 0, 0]]))
    external = elements.forces(state)[1]
    torque = external["disc"].torque if external else np.zeros(3)
    assert_allclose(torque, -5 * angle * axis, rtol=1e-12, atol=1e-14)
    assert elements.energy(state) == pytest.approx(2.5 * angle**2, rel=1e-12, abs=1e-22)


def test_an_integrated_motion_gains_what_is_pushed_and_loses_what_is_dissipated():
    m = ma.Mechanism()
    m.add_arm("arm", ma.robots.planar(3, length=(0.5, 0.4, 0.3)))
    m.add_body("ball", mass=0.7, shape=ma.Sphere(0.05), pose=(0.6, 0.7, 0.1))
    model = m.compile(gravity=(0, -9.81, 0))
    elements = ma.Elements(
        model,
        [
            ma.JointFriction("arm", [0.4, 0.3, 0.2], 0.05, speed=0.1),
            ma.Bushing("arm/tip", "ball", [2, 2, 2, 60, 60, 60], 0.1, ma.pose((0.1, 0, 0.2), rpy=(0.4, 0, 1))),
            ma.BodySpring("world", "ball", 20.0, 0.3, 0.4),
            ma.Push("ball", [0, 0.1, 0, 1, 0, 2], stop=0.5, shape="half_sine"),
        ],
    )
    n, nv = model.nq, model.nv

    def quaternion_rate(q, omega):
        x, y, z, w = q
        return 0.5 * np.array([[w, z, -y], [-z, w, x], [y, -x, w], [-x, -y, -z]]) @ omega

    def rate(t, y):
        q = y[:n].copy()
        q[3:7] /= np.linalg.norm(q[3:7])
        state = model.state(q=q, v=y[n : n + nv])
        a = ma.tree_forward_dynamics(model, state, *elements.forces(state, t)).a
        v = state.v
        coordinates = np.concatenate([v[:3], quaternion_rate(q[3:7], v[3:6]), v[6:9]])
        work = elements.supplied_power(state, t) - elements.dissipated_power(state)
        return np.concatenate([coordinates, a, [work]])

    def energy(y):
        state = model.state(q=y[:n], v=y[n : n + nv])
        return ma.energy(model, state).total + elements.energy(state)

    start = np.concatenate([model.state(q={"arm": [0.3, 0.5, 0.4]}).q, np.zeros(nv), [0.0]])
    end = solve_ivp(rate, (0, 0.3), start, method="DOP853", rtol=1e-9, atol=1e-10).y[:, -1]
    end[3:7] /= np.linalg.norm(end[3:7])
    kinetic = ma.energy(model, model.state(q=end[:n], v=end[n : n + nv])).kinetic
    assert kinetic > 1.0 and abs(end[-1]) > 0.1
    assert energy(end) - energy(start) == pytest.approx(end[-1], abs=1e-7 * kinetic)


# ---------------------------------------------------------------------- loops


@pytest.mark.parametrize("element", [ma.JointDamper, ma.JointFriction])
def test_friction_in_a_loop_does_not_depend_on_which_joint_is_cut(element):
    """A cut hinge has no coordinate, but its friction acts between its two bodies all the same."""
    found = {}
    for cut in "abcd":
        model, state = moving_four_bar([cut])
        elements = ma.Elements(model, [element(name, 0.5 + i) for i, name in enumerate("abcd")])
        tau, external = elements.forces(state)
        solution = ma.forward_dynamics(model, state, tau, external)
        found[cut] = [solution.acceleration(body) for body in ("crank", "rod", "rocker")]
        found[cut].append(np.full(6, elements.dissipated_power(state)))
    idle = ma.forward_dynamics(model, state).acceleration("rod")
    assert np.abs(found["a"][1] - idle).max() > 0.1
    for cut in "bcd":
        assert_allclose(found[cut], found["a"], rtol=0, atol=1e-9 * np.abs(found["a"]).max())
