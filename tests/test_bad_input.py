"""Bad input gets an error that names the culprit, and leaves nothing half-built."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import multiarm as ma


@pytest.fixture
def m():
    m = ma.Mechanism()
    m.add_body("rod", mass=1.0, inertia=(0.001, 0.1, 0.1))
    m.add_joint("hinge", "revolute", parent="world", child="rod")
    m.add_body("ball", mass=1.0, inertia=(1, 1, 1))
    return m


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mass": -1.0, "inertia": (1, 1, 1)}, "'x'.*-1.0 kg is negative"),
        ({"mass": np.nan, "inertia": (1, 1, 1)}, "'x': mass: nan is not finite"),
        ({"mass": "heavy", "inertia": (1, 1, 1)}, "'x': mass: expected a number"),
        ({"mass": 1.0}, "'x' has mass but no inertia"),
        ({"mass": 1.0, "inertia": (1, 1, 3)}, "'x'.*triangle inequality"),
        ({"mass": 1.0, "inertia": (0, 1, 1)}, "'x'.*not positive"),
        ({"mass": 1.0, "inertia": (-1, 1, 1)}, "'x'.*not positive"),
        ({"mass": 1.0, "inertia": np.eye(2)}, "'x': inertia: expected"),
        ({"mass": 1.0, "inertia": (1, np.nan, 1)}, "'x': inertia"),
        ({"mass": 1.0, "inertia": [[1, 0.5, 0], [0, 1, 0], [0, 0, 1]]}, "'x': inertia.*not symmetric"),
        ({"mass": 1.0, "inertia": (1, 1, 1), "com": (0, 0)}, "'x': com"),
        ({"mass": 1.0, "inertia": (1, 1, 1), "pose": np.eye(3)}, "'x': pose"),
        ({"mass": 1.0, "inertia": (1, 1, 1), "pose": 2 * np.eye(4)}, "'x': pose.*not a rigid transform"),
        ({"mass": 0.0, "inertia": (1, 1, 1)}, "'x': inertia without mass"),
    ],
)
def test_impossible_bodies_are_refused(m, options, message):
    before = list(m.order)
    with pytest.raises(ma.MultiArmError, match=message):
        m.add_body("x", **options)
    assert m.order == before
    assert "x" not in m.bodies


def test_strict_false_keeps_published_values(m):
    m.add_body("x", mass=1.0, inertia=(1, 1, 3), strict=False)
    assert m.compile().mass == 3.0


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (("j", "revolte", "world", "ball"), {}, "no joint kind 'revolte'; did you mean 'revolute'"),
        (("hinge", "revolute", "world", "ball"), {}, "already a joint, grasp or arm 'hinge'"),
        (("j", "revolute", "wrld", "ball"), {}, "no body or frame 'wrld'; did you mean 'world'"),
        (("j", "revolute", "ball", "ball"), {}, "connect body 'ball' with itself"),
        (("j", "revolute", "world", "ball"), {"axis": (0, 0, 0)}, "'j': axis has no direction"),
        (("j", "revolute", "world", "ball"), {"axis": (0, np.nan, 0)}, "'j': axis"),
        (("j", "universal", "world", "ball"), {}, "'j'.*axis2"),
        (("j", "universal", "world", "ball"), {"axis2": (0, 0, -1)}, "'j'.*parallel"),
        (("j", "screw", "world", "ball"), {}, "'j'.*pitch"),
        (("j", "revolute", "world", "ball"), {"lower": 2, "upper": 1}, "'j'.*lower limit 2 is above"),
        (("j", "revolute", "world", "ball"), {"armature": -1.0}, "'j': armature"),
        (("j", "revolute", "world", "ball"), {"effort_limit": 0.0}, "'j': effort_limit"),
        (("j", "revolute", "world", "ball"), {"at": (1, 2)}, "'j': at"),
        (("", "revolute", "world", "ball"), {}, "non-empty string"),
    ],
)
def test_impossible_joints_are_refused(m, arguments, options, message):
    before = list(m.order)
    with pytest.raises(ma.MultiArmError, match=message):
        m.add_joint(*arguments, **options)
    assert m.order == before


def test_names_are_unique(m):
    with pytest.raises(ma.DescriptionError, match="'rod'"):
        m.add_body("rod")
    with pytest.raises(ma.DescriptionError, match="'rod'"):
        m.add_frame("rod", "ball")
    m.add_arm("arm", ma.robots.planar(2))
    for name in ("arm", "rod", "hinge"):
        with pytest.raises(ma.DescriptionError, match=f"'{name}'"):
            m.add_arm(name, ma.robots.planar(2))
    with pytest.raises(ma.DescriptionError, match="slash"):
        m.add_arm("a/b", ma.robots.planar(2))
    with pytest.raises(ma.BadInputError, match="expected a Robot"):
        m.add_arm("other", "panda.urdf")


def test_grasps_name_what_is_wrong(m):
    m.add_arm("arm", ma.robots.planar(2))
    with pytest.raises(ma.UnknownNameError, match="did you mean 'rigid'"):
        m.grasp("arm", "ball", kind="rigit")
    with pytest.raises(ma.UnknownNameError, match="'bal'"):
        m.grasp("arm", "bal")
    with pytest.raises(ma.UnknownNameError, match="'amr'"):
        m.grasp("amr", "ball")
    with pytest.raises(ma.DescriptionError, match="friction"):
        m.grasp("arm", "ball", friction=-0.1)
    with pytest.raises(ma.DescriptionError, match="part of"):
        m.grasp("arm", m.arms["arm"].bodies[-1])
    assert not m.grasps


def test_couplings_name_what_is_wrong(m):
    with pytest.raises(ma.UnknownNameError, match="'hing'"):
        m.couple("hing", "hinge")
    with pytest.raises(ma.DescriptionError, match="itself"):
        m.couple("hinge", "hinge")
    m.add_joint("socket", "spherical", parent="rod", child="ball")
    with pytest.raises(ma.DescriptionError, match="'socket' is spherical"):
        m.couple("hinge", "socket")


@pytest.mark.parametrize("cuts", ["graps", ["hinje"], 3])
def test_unknown_strategies_and_cuts_list_the_valid_ones(m, cuts):
    with pytest.raises(ma.MultiArmError, match=r"'grasps'|'hinge'|cuts"):
        m.compile(cuts=cuts)


@pytest.mark.parametrize("gravity", [(0, 0), (0, 0, np.inf), "down"])
def test_gravity_is_three_numbers(m, gravity):
    with pytest.raises(ma.BadInputError, match="gravity"):
        m.compile(gravity=gravity)


@pytest.mark.parametrize(
    ("q", "message"),
    [
        (np.zeros(3), "q: expected 8 numbers"),
        ([np.nan] * 8, "q: entry 0 is nan"),
        ("zero", "q: expected 8 numbers"),
        ({"hing": 0.0}, "no arm, joint or free body 'hing'; did you mean 'hinge'"),
        ({"hinge": [0, 0]}, "q of 'hinge': expected 1 numbers"),
        ({"rod": 0.0}, "'rod' is carried by joint 'hinge'"),
        ({"ball": np.zeros(7)}, "q of 'ball': the quaternion"),
        ({"ball": [0, 0, 0, 1 + 1e-5, 0, 0, 0]}, "q of 'ball'.*length 1.00001"),
    ],
)
def test_states_say_what_does_not_fit(m, q, message):
    with pytest.raises(ma.MultiArmError, match=message):
        m.compile().state(q=q)


def test_quaternions_close_to_unit_are_normalised(m):
    state = m.compile().state(q={"ball": [0, 0, 0, 1 + 5e-7, 0, 0, 0]})
    assert np.linalg.norm(state.q[1:5]) == pytest.approx(1.0, abs=1e-15)


@given(q=hnp.arrays(np.float64, st.integers(0, 12)), v=hnp.arrays(np.float64, st.integers(0, 12)))
def test_any_array_makes_a_valid_state_or_a_clear_error(q, v):
    m = ma.Mechanism()
    m.add_body("ball", mass=1.0, inertia=(1, 1, 1))
    model = m.compile()
    try:
        state = model.state(q=q, v=v)
    except ma.BadInputError:
        return
    assert np.isfinite(state.q).all()
    assert np.linalg.norm(state.q[:4]) == pytest.approx(1.0, abs=1e-12)


def test_functions_refuse_what_belongs_elsewhere(m):
    model, other = m.compile(), m.compile(gravity=(0, 0, 0))
    state = model.state()
    with pytest.raises(ma.BadInputError, match="belongs to another model"):
        ma.tree_forward_dynamics(other, state)
    with pytest.raises(ma.UnknownNameError, match="'fd4'"):
        ma.tree_forward_dynamics(model, state, method="fd5")
    with pytest.raises(ma.UnknownNameError, match="'composite'"):
        ma.mass_matrix(model, state, method="fast")
    with pytest.raises(ma.UnknownNameError, match="newton_euler"):
        ma.inverse_dynamics(model, state, method="rnea")
    with pytest.raises(ma.BadInputError, match="tau: expected 7 numbers"):
        ma.tree_forward_dynamics(model, state, [1.0])
    with pytest.raises(ma.UnknownNameError, match=r"'rodd'.*'rod'"):
        ma.jacobian(model, state, "rodd")
    with pytest.raises(ma.UnknownNameError, match="side"):
        ma.jacobian_gram(model, state, "rod", side="left")
    with pytest.raises(ma.BadInputError, match="external wrench on 'rod'"):
        ma.tree_forward_dynamics(model, state, external={"rod": [1, 2, 3]})
    with pytest.raises(ma.UnknownNameError, match="'stick'"):
        ma.tree_forward_dynamics(model, state, external={"stick": np.zeros(6)})


def massless_tip():
    m = ma.Mechanism()
    m.add_body("arm", mass=1.0, inertia=(1, 1, 1))
    m.add_body("feather")
    m.add_joint("shoulder", "revolute", parent="world", child="arm")
    m.add_joint("wrist", "revolute", parent="arm", child="feather", at=(1, 0, 0))
    return m.compile()


def test_an_axis_without_inertia_names_its_body():
    model = massless_tip()
    state = model.state()
    for attempt in (
        lambda: ma.tree_forward_dynamics(model, state),
        lambda: ma.mass_matrix_inverse(model, state),
        lambda: ma.operators(model, state),
        lambda: ma.hybrid_dynamics(model, state),
        lambda: ma.compiled(model).forward_dynamics(*np.zeros((4, 2))),
    ):
        with pytest.raises(ma.SingularInertiaError, match="'feather' at joint 'wrist'") as error:
            attempt()
        assert error.value.body == "feather"
    # inverse dynamics needs no such inertia, nor does a prescribed joint
    assert np.isfinite(ma.inverse_dynamics(model, state)).all()
    assert np.isfinite(ma.hybrid_dynamics(model, state, prescribed={"wrist": 1.0}).a).all()


def test_prepared_calls_check_lengths_types_and_layout():
    m = ma.Mechanism()
    m.add_arm("arm", ma.robots.chain(3))
    calls = ma.compiled(m.compile())
    q, v, tau, out = np.zeros((4, 3))
    with pytest.raises(ma.BadInputError, match="nq = 3"):
        calls.forward_dynamics(np.zeros(2), v, tau, out)
    with pytest.raises(ma.BadInputError, match="nv = 3"):
        calls.inverse_dynamics(q, v, tau, np.zeros(4))
    for out_type in (np.int32, np.int64, np.float32):
        with pytest.raises(TypeError, match=r"fd4: out must be a contiguous array of float64, not (int|float)"):
            calls.forward_dynamics(q, v, tau, np.zeros(3, out_type))
    with pytest.raises(TypeError, match="fd4: q must be a contiguous"):
        calls.forward_dynamics(np.zeros(6)[::2], v, tau, out)
    with pytest.raises(TypeError, match=r"fd4: v must be .* not list"):
        calls.forward_dynamics(q, [0.0, 0.0, 0.0], tau, out)
    frozen = np.zeros(3)
    frozen.setflags(write=False)
    with pytest.raises(TypeError, match="1-D read-only"):
        calls.forward_dynamics(q, v, tau, frozen)
    with pytest.raises(TypeError, match="vectors are 1-D"):
        calls.forward_dynamics(np.zeros((3, 1)), v, tau, out)
    with pytest.raises(ma.BadInputError, match="q has entries that are not finite"):
        calls.forward_dynamics(np.full(3, np.nan), v, tau, out)
    with pytest.raises(ma.BadInputError, match="6 x nv"):
        calls.jacobian(q, calls.frame("arm/tip"), np.zeros((3, 6)))


def test_an_inertia_that_is_only_rounding_is_refused():
    """A point mass on an oblique hinge through it has none, whatever the last digits say."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        axis = rng.normal(size=3)
        axis /= np.linalg.norm(axis)
        m = ma.Mechanism()
        m.add_body("bead", mass=2.0, inertia=(0, 0, 0), com=0.3 * axis, strict=False)
        m.add_joint("wire", "revolute", parent="world", child="bead", axis=axis)
        model = m.compile()
        with pytest.raises(ma.SingularInertiaError, match="'bead' at joint 'wire'"):
            ma.tree_forward_dynamics(model, model.state(q=[rng.normal()]), [1.0])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"root": "bse"}, "body of robot 'planar'.*'bse'.*'base'|'bse'"),
        ({"tips": {"tip": "hand"}}, "'hand'"),
        ({"bodies": (ma.Body("base"), ma.Body("link1", mass=-1.0))}, "'link1': mass"),
        ({"bodies": (ma.Body("base"), ma.Body("base"), ma.Body("link1"))}, "two bodies or frames called 'base'"),
        ({"joints": (ma.Joint("joint1", "hinge", "base", "link1"),)}, "no joint kind 'hinge'"),
        ({"joints": (ma.Joint("joint1", "revolute", "base", "link7"),)}, "'link7'"),
        ({"joints": (ma.Joint("joint1", "revolute", "base", "link1", axis=np.array([0, 0, 2.0])),)}, "not a unit"),
        ({"couplings": (ma.Coupling("joint1", "joint9"),)}, "'joint9'"),
    ],
)
def test_hand_made_robots_are_checked_whole(change, message):
    m = ma.Mechanism()
    with pytest.raises(ma.MultiArmError, match=message):
        m.add_arm("arm", replace(ma.robots.planar(1), **change))
    assert not m.order


@pytest.mark.parametrize(
    "attempt",
    [
        lambda m, s: m.add_body("x", pose="abc"),
        lambda m, s: m.add_body("x", mass=1.0, inertia="abc"),
        lambda m, s: m.add_body("x", mass=1.0, inertia=[[1], [1, 2], [3]]),
        lambda m, s: m.add_body("x", mass=1.0, shape="box"),
        lambda m, s: m.add_body("x", mass=1.0, shape=ma.Box((-1, 1, 1))),
        lambda m, s: ma.Sphere(0.0),
        lambda m, s: ma.Cylinder(1.0, np.inf),
        lambda m, s: ma.Capsule(np.nan, 1.0),
        lambda m, s: ma.Box((1, 2)),
        lambda m, s: m.add_joint("j", "revolute", "world", "ball", lower="a"),
        lambda m, s: m.add_joint("j", "revolute", "world", "ball", lower=np.nan),
        lambda m, s: m.add_joint("j", "revolute", "world", "ball", lower=[0, 0]),
        lambda m, s: m.add_joint("j", "revolute", "world", "ball", armature=None),
        lambda m, s: m.add_joint("j", "revolute", "world", "ball", pitch=1.0),
        lambda m, s: m.add_joint("j", "revolute", "world", "ball", axis2=(1, 0, 0)),
        lambda m, s: m.add_joint("j", ["revolute"], "world", "ball"),
        lambda m, s: m.grasp("rod", "ball", kind=["rigid"], name="g"),
        lambda m, s: m.grasp("rod", "ball", friction="a", name="g"),
        lambda m, s: m.add_arm(1, ma.robots.planar(2)),
        lambda m, s: ma.tree_forward_dynamics(s.model, s, external=np.zeros(6)),
        lambda m, s: ma.tree_forward_dynamics(s.model, s, external={"rod": "abc"}),
        lambda m, s: ma.Wrench((0, 0, np.nan), (0, 0, 0), (0, 0, 0), "a", "b"),
        lambda m, s: ma.hybrid_dynamics(s.model, s, prescribed=np.zeros(7)),
        lambda m, s: ma.tree_forward_dynamics(s.model, np.array(s.q)),
        lambda m, s: ma.pose(quat=(0, 0, 0, 2)),
        lambda m, s: m.add_frame("f", "rod", np.diag((1.0, 1.0, -1.0, 1.0))),
    ],
)
def test_odd_values_get_errors_of_ours(m, attempt):
    state = m.compile().state()
    before = list(m.order)
    with pytest.raises(ma.MultiArmError):
        attempt(m, state)
    assert m.order == before


def test_wrenches_may_be_written_as_tuples_and_frames_as_one_name(m):
    model = m.compile()
    push = ma.Wrench((0, 0, 1), (1, 2, 3), (0, 0, 0), on="rod", by="me")
    six = ma.tree_forward_dynamics(model, model.state(), external={"rod": [0, 0, 1, 1, 2, 3]})
    assert np.allclose(ma.tree_forward_dynamics(model, model.state(), external={"rod": push}).a, six.a)
    assert np.allclose(ma.tree_forward_dynamics(model, model.state(), external={"rod": [push, -push]}).a[0], 0.0)
    assert ma.operational_compliance(model, model.state(), "rod").shape == (6, 6)
