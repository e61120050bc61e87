"""Every joint kind, in both directions of the tree and on a moving parent, against its definition.

Displacements are composed anew from SciPy's transforms; velocities and bias accelerations are differences of poses and
velocities along the flow of the coordinates.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose
from random_mechanisms import KINDS, advance, random_joint, random_pose, random_state, rate_of_change
from scipy.spatial.transform import RigidTransform, Rotation

import multiarm as ma

MOVING = tuple(kind for kind in KINDS if kind != "fixed")
NUMBERS = dict.fromkeys(("revolute", "continuous", "prismatic", "screw"), (1, 1)) | {
    "cylindrical": (2, 2), "universal": (2, 2), "planar": (3, 3), "spherical": (4, 3), "free": (7, 6), "fixed": (0, 0)
}  # fmt: skip
SEEDS = range(6)
STEP = 2e-3

every_kind = pytest.mark.parametrize("kind", KINDS)
every_moving_kind = pytest.mark.parametrize("kind", MOVING)
both_ways = pytest.mark.parametrize("reverse", [False, True], ids=["forward", "reversed"])


def chain(kind: str, reverse: bool, seed: int, carrier: str = "free") -> tuple[ma.Mechanism, np.random.Generator]:
    """World - carrier - link - tip: the joint under test moves `link` on a `base` that turns and slides itself."""
    rng = np.random.default_rng([KINDS.index(kind), reverse, seed])
    m = ma.Mechanism(kind)
    for name in ("base", "link", "tip"):
        m.add_body(name, mass=1.0, inertia=(0.1, 0.2, 0.15), com=rng.normal(size=3))
    m.add_joint("carrier", **random_joint(rng, carrier, "world", "base"))
    ends = ("link", "base") if reverse else ("base", "link")
    m.add_joint("joint", **random_joint(rng, kind, *ends))
    m.add_joint("last", **random_joint(rng, "revolute", "link", "tip"))
    m.add_frame("finger", "tip", random_pose(rng))
    return m, rng


def turn(axis: np.ndarray, angle: float) -> RigidTransform:
    return RigidTransform.from_rotation(Rotation.from_rotvec(angle * axis))


def shift(vector: np.ndarray) -> RigidTransform:
    return RigidTransform.from_translation(vector)


def displacement(joint: ma.Joint, q: np.ndarray) -> RigidTransform:
    """Child-side frame in the parent-side frame, from the definition of each kind."""
    axis = joint.axis
    match joint.kind:
        case "revolute" | "continuous":
            return turn(axis, q[0])
        case "prismatic":
            return shift(q[0] * axis)
        case "screw":
            return turn(axis, q[0]) * shift(joint.pitch * q[0] * axis)
        case "cylindrical":
            return turn(axis, q[0]) * shift(q[1] * axis)
        case "universal":
            return turn(axis, q[0]) * turn(joint.axis2, q[1])
        case "planar":
            return shift(np.array([q[0], q[1], 0.0])) * turn(np.array([0.0, 0.0, 1.0]), q[2])
        case "spherical":
            return RigidTransform.from_rotation(Rotation.from_quat(q))
        case "free":
            return shift(q[4:]) * RigidTransform.from_rotation(Rotation.from_quat(q[:4]))
    return RigidTransform.identity()


def relative_velocity(joint: ma.Joint, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """[omega; v] of the child-side frame seen from the parent, in the axes of the parent-side frame."""
    axis, none, v = joint.axis, np.zeros(3), np.array(v)
    match joint.kind:
        case "revolute" | "continuous":
            return np.concatenate([v[0] * axis, none])
        case "prismatic":
            return np.concatenate([none, v[0] * axis])
        case "screw":
            return np.concatenate([v[0] * axis, joint.pitch * v[0] * axis])
        case "cylindrical":
            return np.concatenate([v[0] * axis, v[1] * axis])
        case "universal":
            return np.concatenate([v[0] * axis + v[1] * turn(axis, q[0]).apply(joint.axis2), none])
        case "planar":
            return np.array([0.0, 0.0, v[2], v[0], v[1], 0.0])
        case "spherical":
            return np.concatenate([Rotation.from_quat(q).apply(v), none])
    return v


@every_moving_kind
@both_ways
def test_displacement_is_what_the_kind_says(kind, reverse):
    for seed in SEEDS:
        m, rng = chain(kind, reverse, seed)
        model = m.compile()
        assert model.joints["joint"].sign == (-1 if reverse else 1)
        state = random_state(model, rng)
        place = model.joints["joint"]
        motion = ma.kinematics(model, state).joint("joint")
        expected = displacement(m.joints["joint"], state.q[place.q])
        assert_allclose(motion.displacement.as_matrix(), expected.as_matrix(), rtol=0, atol=1e-13)
        assert_allclose(motion.q, state.q[place.q])
        assert_allclose(motion.v, state.v[place.v])


@every_kind
@both_ways
def test_joint_frames_sit_where_they_were_declared(kind, reverse):
    for seed in SEEDS:
        m, rng = chain(kind, reverse, seed)
        model = m.compile()
        kin = ma.kinematics(model, random_state(model, rng))
        joint = m.joints["joint"]
        near, far = kin.pose(joint.parent) * joint.at, kin.pose(joint.child) * joint.in_child
        q = np.zeros(0) if kind == "fixed" else kin.joint("joint").q
        found = near.inv() * far
        assert_allclose(found.as_matrix(), displacement(joint, q).as_matrix(), rtol=0, atol=1e-13)
        if kind != "fixed":
            assert_allclose(kin.joint("joint").parent_frame.as_matrix(), near.as_matrix(), rtol=0, atol=1e-13)
            assert_allclose(kin.joint("joint").child_frame.as_matrix(), far.as_matrix(), rtol=0, atol=1e-13)


@every_moving_kind
@both_ways
def test_relative_velocity_is_what_the_kind_says(kind, reverse):
    for seed in SEEDS:
        m, rng = chain(kind, reverse, seed)
        model = m.compile()
        state = random_state(model, rng)
        place = model.joints["joint"]
        motion = ma.kinematics(model, state).joint("joint")
        expected = relative_velocity(m.joints["joint"], state.q[place.q], state.v[place.v]).reshape(2, 3)
        world = motion.parent_frame.rotation.apply(expected).ravel()
        assert_allclose(motion.velocity, world, rtol=0, atol=1e-12)


@every_kind
@both_ways
def test_numbers_of_coordinates(kind, reverse):
    model = chain(kind, reverse, 0)[0].compile()
    nq, nv = NUMBERS[kind]
    assert (model.nq, model.nv) == (7 + nq + 1, 6 + nv + 1)
    if kind != "fixed":
        assert model.q_slice("joint") == slice(7, 7 + nq)
        assert model.v_slice("joint") == slice(6, 6 + nv)


def velocity_by_differences(model: ma.Model, state: ma.State, name: str) -> np.ndarray:
    """[omega; v] of a frame from its poses along the flow: omega from R-dot R*."""

    def pose(t: float) -> np.ndarray:
        moved = model.state(q=advance(model, state.q, state.v, t), v=state.v)
        return ma.kinematics(model, moved).pose(name).as_matrix()

    rate = rate_of_change(pose, STEP)
    spin = rate[:3, :3] @ ma.kinematics(model, state).pose(name).rotation.as_matrix().T
    return np.array([spin[2, 1], spin[0, 2], spin[1, 0], *rate[:3, 3]])


@every_kind
@both_ways
@pytest.mark.parametrize("carrier", ["free", "screw", "spherical"])
def test_velocity_is_the_rate_of_the_pose(kind, reverse, carrier):
    for seed in SEEDS[:3]:
        m, rng = chain(kind, reverse, seed, carrier)
        model = m.compile()
        state = random_state(model, rng)
        kin = ma.kinematics(model, state)
        for name in ("base", "link", "tip", "finger"):
            expected = velocity_by_differences(model, state, name)
            assert_allclose(kin.velocity(name), expected, rtol=0, atol=1e-10 * max(np.abs(expected).max(), 1.0))


@every_kind
@both_ways
@pytest.mark.parametrize("carrier", ["free", "screw", "spherical"])
def test_bias_acceleration_is_the_rate_of_velocity_at_zero_joint_acceleration(kind, reverse, carrier):
    for seed in SEEDS[:3]:
        m, rng = chain(kind, reverse, seed, carrier)
        model = m.compile()
        state = random_state(model, rng)

        def velocity(t, name, model=model, state=state):
            return ma.kinematics(model, model.state(q=advance(model, state.q, state.v, t), v=state.v)).velocity(name)

        for name in ("base", "link", "tip", "finger"):
            expected = rate_of_change(lambda t, name=name: velocity(t, name), STEP)
            found = ma.kinematics(model, state).bias_acceleration(name)
            assert_allclose(found, expected, rtol=0, atol=1e-10 * max(np.abs(expected).max(), 1.0))


@every_kind
@both_ways
def test_jacobian_times_v_is_velocity_and_its_columns_are_unit_motions(kind, reverse):
    for seed in SEEDS:
        m, rng = chain(kind, reverse, seed)
        model = m.compile()
        state = random_state(model, rng)
        prepared = ma.compiled(model)
        for name in ("base", "link", "finger", "world"):
            jacobian = ma.jacobian(model, state, name)
            assert_allclose(jacobian @ state.v, ma.kinematics(model, state).velocity(name), rtol=0, atol=1e-12)
            for i, unit in enumerate(np.eye(model.nv)):
                moving = ma.kinematics(model, state.replace(v=unit)).velocity(name)
                assert_allclose(jacobian[:, i], moving, rtol=0, atol=1e-12)
            again = prepared.jacobian(np.array(state.q), prepared.frame(name), np.empty((6, model.nv)))
            assert_allclose(again, jacobian, rtol=0, atol=1e-14)


@every_moving_kind
@both_ways
def test_acceleration_is_the_rate_of_velocity_for_any_joint_acceleration(kind, reverse):
    """Sol.acceleration(body) along q' = v, v' = a; gravity's pseudo-acceleration does not leak into it."""
    m, rng = chain(kind, reverse, 1)
    model = m.compile(gravity=(1.0, -2.0, -9.81))
    state = random_state(model, rng)
    solution = ma.tree_forward_dynamics(model, state, rng.normal(size=model.nv))

    def velocity(t):
        q = advance(model, state.q, state.v, t)
        return ma.kinematics(model, model.state(q=q, v=state.v + t * solution.a)).velocity("finger")

    step = STEP / (1.0 + np.sqrt(np.abs(solution.a).max()))
    expected = rate_of_change(velocity, step)
    assert_allclose(solution.acceleration("finger"), expected, rtol=0, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize("kind", [kind for kind in MOVING if kind not in ("spherical", "free")])
@both_ways
def test_inverse_dynamics_is_lagranges_equation(kind, reverse):
    """Tau = d/dt (dT/dv) - d(T - V)/dq, for kinds whose v is q-dot."""
    m, rng = chain(kind, reverse, 2, carrier="cylindrical")
    model = m.compile()
    state = random_state(model, rng)
    a = rng.normal(size=model.nv)
    tau = ma.inverse_dynamics(model, state, a)

    def lagrangian(q, v):
        energy = ma.energy(model, model.state(q=q, v=v))
        return energy.kinetic - energy.potential

    for i, w in enumerate(np.eye(model.nv)):

        def momentum(t, w=w):
            q, v = state.q + t * state.v + t * t / 2 * a, state.v + t * a
            return w @ ma.mass_matrix(model, q) @ v

        slope = rate_of_change(lambda t, w=w: lagrangian(state.q + t * w, state.v), STEP)
        expected = rate_of_change(momentum, STEP) - slope
        assert abs(tau[i] - expected) <= 1e-9 * max(np.abs(tau).max(), 1.0)


# ---------------------------------------------------------------------- fixed joints, neutral poses


@both_ways
def test_fixed_joints_merge_bodies_and_keep_their_frames_addressable(reverse):
    m, rng = chain("fixed", reverse, 3)
    model = m.compile()
    assert "joint" not in model.joints
    with pytest.raises(ma.UnknownNameError, match="carrier"):
        model.q_slice("link")
    state = random_state(model, rng)
    kin, solution = ma.kinematics(model, state), ma.tree_forward_dynamics(model, state)
    joint = m.joints["joint"]
    offset = kin.pose(joint.parent) * joint.at * joint.in_child.inv()
    assert_allclose(kin.pose(joint.child).as_matrix(), offset.as_matrix(), rtol=0, atol=1e-13)
    assert_allclose(kin.velocity("link")[:3], kin.velocity("base")[:3])
    arm = kin.pose("link").translation - kin.pose("base").translation
    omega, turn_rate = kin.velocity("base")[:3], solution.acceleration("base")[:3]
    expected = solution.acceleration("base")[3:] + np.cross(turn_rate, arm) + np.cross(omega, np.cross(omega, arm))
    assert_allclose(solution.acceleration("link")[3:], expected, rtol=1e-10, atol=1e-10)


def test_merged_bodies_weigh_as_one():
    """Three boxes welded end to end are one long box."""
    one, three = ma.Mechanism("one"), ma.Mechanism("three")
    one.add_body("bar", mass=6.0, shape=ma.Box((3.0, 0.1, 0.2)))
    three.add_body("middle", mass=2.0, shape=ma.Box((1.0, 0.1, 0.2)))
    three.add_body("left", mass=2.0, shape=ma.Box((1.0, 0.1, 0.2)))
    three.add_body("right", mass=2.0, shape=ma.Box((0.1, 1.0, 0.2)))
    three.add_joint("weld left", "fixed", parent="middle", child="left", at=(-0.5, 0, 0), in_child=(0.5, 0, 0))
    quarter = ma.pose((0.0, 0.5, 0.0), rpy=(0.0, 0.0, -np.pi / 2))  # the box on the right lies along its own y
    three.add_joint("weld right", "fixed", parent="right", child="middle", at=quarter, in_child=(0.5, 0, 0))
    single, welded = one.compile(), three.compile()
    rng = np.random.default_rng(0)
    for _ in range(5):
        state = random_state(welded, rng)
        kin = ma.kinematics(welded, state)
        pose, motion = kin.pose("middle"), kin.velocity("middle")
        same = single.state(q=np.concatenate([pose.rotation.as_quat(), pose.translation]), v=motion)
        assert_allclose(ma.energy(welded, state).kinetic, ma.energy(single, same).kinetic, rtol=1e-12)
        assert_allclose(ma.energy(welded, state).potential, ma.energy(single, same).potential, rtol=1e-12)
        assert_allclose(ma.momentum(welded, state).angular, ma.momentum(single, same).angular, rtol=1e-11)
        pushed = ma.tree_forward_dynamics(welded, state, external={"right": np.arange(6.0)})
        wrench = ma.Wrench(np.arange(3.0), np.arange(3.0, 6.0), kin.pose("right").translation, on="bar", by="hand")
        alone = ma.tree_forward_dynamics(single, same, external={"bar": wrench})
        assert_allclose(pushed.acceleration("middle"), alone.acceleration("bar"), rtol=1e-10)


def test_bodies_welded_to_the_world_do_not_move():
    m = ma.Mechanism()
    m.add_body("table", fixed=True, pose=ma.pose((1.0, 2.0, 3.0), rpy=(0.1, 0.2, 0.3)))
    m.add_body("post", mass=1.0, inertia=(1, 1, 1))
    m.add_joint("bolt", "fixed", parent="post", child="table", at=(0.0, 0.0, -0.5))
    m.add_body("arm", mass=1.0, inertia=(1, 1, 1))
    m.add_joint("hinge", "revolute", parent="arm", child="post")
    m.add_frame("corner", "post", (0.1, 0.0, 0.0))
    model = m.compile()
    kin = ma.kinematics(model, model.state(v=[1.0]))
    assert_allclose(kin.pose("table").translation, (1, 2, 3), atol=1e-15)
    assert_allclose((kin.pose("post") * ma.pose((0, 0, -0.5))).as_matrix(), kin.pose("table").as_matrix(), atol=1e-14)
    for name in ("table", "post", "corner", "world"):
        assert not kin.velocity(name).any()
        assert not kin.bias_acceleration(name).any()
        assert not ma.jacobian(model, model.state(), name).any()
        assert not ma.tree_forward_dynamics(model, model.state()).acceleration(name).any()
    with pytest.raises(ma.UnknownNameError, match="fixed to the world"):
        model.v_slice("post")


def test_free_bodies_start_at_their_poses():
    m = ma.Mechanism()
    start = ma.pose((1.0, 2.0, 3.0), rpy=(0.1, 0.2, 0.3))
    m.add_body("box", mass=1.0, inertia=(1, 1, 1), pose=start)
    model = m.compile()
    assert_allclose(ma.kinematics(model, model.state()).pose("box").as_matrix(), start.as_matrix(), atol=1e-14)
    state = model.state(v=[0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    assert_allclose(ma.kinematics(model, state).velocity("box"), state.v, atol=1e-15)


@both_ways
def test_bodies_on_declared_free_joints_start_at_their_poses(reverse):
    m = ma.Mechanism()
    start = ma.pose((1.0, 2.0, 3.0), rpy=(0.1, 0.2, 0.3))
    m.add_body("box", mass=1.0, inertia=(1, 1, 1), pose=start)
    ends = ("box", "world") if reverse else ("world", "box")
    m.add_joint("float", "free", *ends, at=(1.0, 0.0, 0.0), in_child=(0.0, 1.0, 0.0))
    model = m.compile()
    assert_allclose(ma.kinematics(model, model.state()).pose("box").as_matrix(), start.as_matrix(), atol=1e-14)


def test_chain_of_every_kind_in_series_moves_by_the_product_of_displacements():
    rng = np.random.default_rng(5)
    m = ma.Mechanism()
    names = ["world", *(f"b{i}" for i in range(len(KINDS)))]
    for name in names[1:]:
        m.add_body(name, mass=1.0, inertia=(1, 1, 1))
    for i, ((old, new), kind) in enumerate(zip(pairwise(names), KINDS, strict=True)):
        ends = (old, new) if i % 2 else (new, old)
        m.add_joint(f"j{i}", **random_joint(rng, kind, *ends))
    model = m.compile()
    state = random_state(model, rng)
    here = RigidTransform.identity()
    for i in range(len(KINDS)):
        joint = m.joints[f"j{i}"]
        q = state.q[model.q_slice(joint.name)] if joint.kind != "fixed" else np.zeros(0)
        step = joint.at * displacement(joint, q) * joint.in_child.inv()
        here = here * (step if i % 2 else step.inv())
        found = ma.kinematics(model, state).pose(names[i + 1]).as_matrix()
        assert_allclose(found, here.as_matrix(), rtol=0, atol=1e-12)
