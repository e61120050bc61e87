"""Every kind of force element against its formula and against MuJoCo, and what is refused."""

import mujoco
import numpy as np
import pytest
from mjcf_scenes import SCENE, assert_agrees, compiled, quiet_load
from numpy.testing import assert_allclose
from random_mechanisms import random_state
from scipy.spatial.transform import Rotation
from test_closed_chain import panda_state, two_pandas
from test_cut_joints import KINDS, two_bodies
from test_grasp_reports import reaching_pandas

import multiarm as ma
from multiarm.sweeps import layout as at
from multiarm.sweeps.element_energy import element_energy, element_power
from multiarm.sweeps.elements import apply_elements


def slider(**options):
    m = ma.Mechanism("slider")
    m.add_body("cart", mass=2.0, inertia=(1, 1, 1))
    m.add_joint("rail", "prismatic", parent="world", child="cart", axis=(1, 0, 0), **options)
    return m.compile(gravity=(0, 0, 0))


def force_at(elements, q, v, t=0.0):
    return elements.forces(elements.model.state(q=[q], v=[v]), t)[0][0]


# ---------------------------------------------------------------------- joints


def test_springs_and_dampers_are_linear():
    elements = ma.Elements(slider(), [ma.JointSpring("rail", 3.0, rest=0.5), ma.JointDamper("rail", 0.2)])
    assert force_at(elements, 0.7, 4.0) == pytest.approx(-3 * 0.2 - 0.2 * 4)
    state = elements.model.state(q=[0.7], v=[4.0])
    assert elements.energy(state) == pytest.approx(1.5 * 0.04)
    assert elements.dissipated_power(state) == pytest.approx(0.2 * 16)


def test_friction_is_dry_beyond_its_breakaway_speed_and_creeps_below():
    elements = ma.Elements(slider(), [ma.JointFriction("rail", 5.0, 0.3, speed=0.02)])
    for rate in (-2.0, -0.06, 0.001, 0.2):
        assert force_at(elements, 0, rate) == pytest.approx(-5 * np.tanh(rate / 0.02) - 0.3 * rate, rel=1e-14)
    dry = ma.Elements(slider(), [ma.JointFriction("rail", 5.0, speed=0.02)])
    assert 1 + force_at(dry, 0, 3 * 0.02) / 5 == pytest.approx(0.005, abs=1e-4)
    assert 0 < 1 + force_at(dry, 0, 10 * 0.02) / 5 < 1e-8
    assert force_at(dry, 0, 0.0) == 0.0
    assert force_at(dry, 0, 0.02 * 0.549306) == pytest.approx(-2.5, rel=1e-6)  # half the load creeps at 0.55 speed


@pytest.mark.parametrize(
    ("q", "v", "force", "heat"),
    [
        (0.5, -3.0, 0.0, 0.0),  # inside the range
        (-0.1, -3.0, 10.0 + 6.0, 18.0),  # going deeper: spring and damper push
        (-0.1, 3.0, 10.0 - 6.0, 18.0),  # coming back
        (-0.1, 7.0, 0.0, 70.0),  # faster than the spring: it lets go, and its energy is lost
        (1.2, 0.0, -20.0, 0.0),
        (1.2, 1.0, -22.0, 2.0),
        (1.2, -20.0, 0.0, 400.0),
    ],
)
def test_limits_push_and_never_pull(q, v, force, heat):
    elements = ma.Elements(slider(lower=0.0, upper=1.0), [ma.JointLimit("rail", 100.0, 2.0)])
    state = elements.model.state(q=[q], v=[v])
    assert force_at(elements, q, v) == pytest.approx(force, abs=1e-12)
    assert elements.dissipated_power(state) == pytest.approx(heat, abs=1e-12)
    assert elements.energy(state) == pytest.approx(50 * max(-q, q - 1, 0) ** 2)
    assert ma.limit_margin(elements.model, state) == pytest.approx([min(q, 1 - q)])


def test_limits_of_an_arm_are_those_of_its_joints():
    m = ma.Mechanism()
    m.add_arm("arm", ma.robots.panda())
    m.add_body("ball", mass=1.0, inertia=(1, 1, 1))
    model = m.compile()
    margin = ma.limit_margin(model, model.state())
    assert margin.shape == (model.nq,)
    assert_allclose(margin[:7], np.minimum(-model.lower[:7], model.upper[:7]))
    assert np.all(np.isinf(margin[7:]))
    state = model.state(q={"arm": model.upper[:7] + 0.1})
    assert_allclose(ma.Elements(model, [ma.JointLimit("arm", 50.0)]).forces(state)[0], [-5.0] * 7 + [0.0] * 6)


def test_coefficients_are_one_for_all_one_each_or_by_name():
    m = ma.Mechanism()
    m.add_arm("arm", ma.robots.planar(3))
    model = m.compile()
    state = model.state(v=[1.0, 2.0, 3.0])

    def loss(damping, joint="arm"):
        return -ma.Elements(model, [ma.JointDamper(joint, damping)]).forces(state)[0]

    assert_allclose(loss(2.0), [2, 4, 6])
    assert_allclose(loss([1, 2, 3]), [1, 4, 9])
    assert_allclose(loss({"arm/joint2": 5.0}), [0, 10, 0])
    assert_allclose(loss([1, 2], ["arm/joint3", "arm/joint1"]), [2, 0, 3])


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_friction_of_a_cut_joint_is_that_of_the_same_joint_in_the_tree(kind, backwards):
    """Cut or not, the bodies accelerate alike and the heat is the same; every free direction has its own friction."""
    whole, cut = two_bodies(kind, backwards), two_bodies(kind, backwards, cut=True)
    rng = np.random.default_rng(5)
    state = random_state(whole, rng)
    kin = ma.kinematics(whole, state)
    pose = kin.pose("b")
    same = cut.state(
        q={"base": state.q[:4], "b": np.concatenate([pose.rotation.as_quat(), pose.translation])},
        v={"base": state.v[:3], "b": kin.velocity("b")},
    )
    count = whole.nv - 3
    item = ma.JointFriction("joint", np.arange(1.0, count + 1), 0.3, speed=0.5)
    found = []
    for model, here in ((whole, state), (cut, same)):
        elements = ma.Elements(model, [item])
        tau, external = elements.forces(here)
        assert bool(external) == (model is cut)
        solution = ma.forward_dynamics(model, here, tau, external)
        heat = elements.dissipated_power(here)
        found.append([*solution.acceleration("a"), *solution.acceleration("b"), heat])
    assert_allclose(found[1], found[0], rtol=0, atol=1e-9 * np.abs(found[0]).max())


# ---------------------------------------------------------------------- bodies and pushes


def merged():
    """Two pendulums, each with a second body fixed to it and a frame on that."""
    m = ma.Mechanism("merged")
    for name, x in (("left", -0.3), ("right", 0.4)):
        m.add_body(name, mass=1.0, inertia=(0.1, 0.2, 0.15), com=(0, 0, -0.2))
        m.add_body(f"{name} tool", mass=0.5, inertia=(0.02, 0.01, 0.02), com=(0.1, 0, 0))
        m.add_joint(f"{name} joint", "spherical", parent="world", child=name, at=(x, 0, 0))
        m.add_joint(f"{name} mount", "fixed", name, f"{name} tool", at=ma.pose((0.1, 0.2, -0.4), rpy=(0.3, 1, 0.2)))
        m.add_frame(f"{name} hook", f"{name} tool", pose=ma.pose((0.05, -0.1, 0.2), rpy=(1, 0, 0.5)))
    return m.compile()


def test_springs_between_merged_bodies():
    """As the forces at the two hooks that the kinematics of the hooks give."""
    model = merged()
    state = random_state(model, np.random.default_rng(3))
    spring = ma.BodySpring("left hook", "right hook", 30.0, 4.0, 0.2)
    kin = ma.kinematics(model, state)
    a, b = kin.pose("left hook").translation, kin.pose("right hook").translation
    length = np.linalg.norm(b - a)
    along = (b - a) / length
    rate = along @ (kin.velocity("right hook")[3:] - kin.velocity("left hook")[3:])
    pull = (30 * (length - 0.2) + 4 * rate) * along
    hooks = {"left hook": [0, 0, 0, *pull], "right hook": [0, 0, 0, *-pull]}
    expected = ma.tree_forward_dynamics(model, state, external=hooks).a
    elements = ma.Elements(model, [spring])
    found = ma.tree_forward_dynamics(model, state, *elements.forces(state)).a
    assert np.abs(expected - ma.tree_forward_dynamics(model, state).a).max() > 1.0
    assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(expected).max())
    assert elements.energy(state) == pytest.approx(15 * (length - 0.2) ** 2)
    assert elements.dissipated_power(state) == pytest.approx(4 * rate**2)


def test_an_anonymous_frame_is_as_good_as_a_named_one():
    model = merged()
    state = random_state(model, np.random.default_rng(4))
    place = ma.Frame("hook again", "left tool", ma.pose((0.05, -0.1, 0.2), rpy=(1, 0, 0.5)))
    for make in (lambda x: ma.Bushing(x, "world", 3.0), lambda x: ma.Push(x, np.arange(6.0), axes="body")):
        one, other = (ma.Elements(model, [make(x)]).forces(state)[1] for x in ("left hook", place))
        assert_allclose(one["left"].array, other["left"].array, rtol=1e-14)


def test_a_line_without_rest_length_may_have_length_zero():
    m = ma.Mechanism()
    m.add_body("ball", mass=1.0, inertia=(1, 1, 1))
    model = m.compile()
    state = model.state(v=[0, 0, 0, 1, 2, 3])
    elements = ma.Elements(model, [ma.BodySpring("world", "ball", 5.0, 0.5)])
    assert_allclose(elements.forces(state)[1]["ball"].force, [-0.5, -1.0, -1.5])
    assert elements.dissipated_power(state) == pytest.approx(0.5 * 14)
    stiff = ma.Elements(model, [ma.JointDamper("ball", 1.0), ma.BodySpring("world", "ball", 5.0, rest_length=0.1)])
    with pytest.raises(ma.BadInputError, match=r"BodySpring\('world', 'ball'\): its ends have met"):
        stiff.forces(state)


@pytest.mark.parametrize("axes", ["world", "body"])
def test_pushes_over_time(axes):
    """As the same wrench given to forward dynamics by hand, at the frame's origin."""
    model = merged()
    state = random_state(model, np.random.default_rng(5))
    turn = ma.kinematics(model, state).pose("right hook").rotation if axes == "body" else Rotation.identity()
    wrench, other = np.arange(1.0, 7.0), np.array([3.0, -1, 2, 0, 4, -2])
    pushes = {
        "constant": (ma.Push("right hook", wrench, 1.0, 3.0, axes=axes), lambda t: wrench * (1 <= t < 3)),
        "for ever": (ma.Push("right hook", wrench, axes=axes), lambda t: wrench),
        "half_sine": (
            ma.Push("right hook", wrench, 1.0, 3.0, "half_sine", axes),
            lambda t: wrench * np.sin(np.pi * (t - 1) / 2) * (1 <= t < 3),
        ),
        "ramp": (
            ma.Push("right hook", wrench, 1.0, 3.0, "ramp", axes),
            lambda t: wrench * np.clip((t - 1) / 2, 0, 1),
        ),
        "table": (
            ma.PushTable("right hook", [1.0, 1.5, 3.0], [wrench, other, -wrench], axes),
            lambda t: [np.interp(t, [1, 1.5, 3], x, 0, 0) for x in zip(wrench, other, -wrench, strict=True)],
        ),
    }
    for item, law in pushes.values():
        elements = ma.Elements(model, [item])
        for t in (0.5, 1.0, 1.3, 1.5, 2.2, 3.0, 3.5):
            expected = np.asarray(law(t), float)
            expected = np.concatenate([turn.apply(expected[:3]), turn.apply(expected[3:])])
            by_hand = ma.tree_forward_dynamics(model, state, external={"right hook": expected}).a
            found = ma.tree_forward_dynamics(model, state, *elements.forces(state, t)).a
            assert_allclose(found, by_hand, rtol=0, atol=1e-12 * np.abs(by_hand).max())
            power = expected @ ma.kinematics(model, state).velocity("right hook")
            assert elements.supplied_power(state, t) == pytest.approx(power, abs=1e-12)
    together = ma.Elements(model, [item for item, _ in pushes.values()])
    assert together.breaks == (0.0, 1.0, 1.5, 3.0)
    assert together.energy(state) == together.dissipated_power(state) == 0.0


def test_compliant_grasps_give_way_as_stiffly_as_they_are():
    model = two_pandas()
    state = panda_state(model, 0)
    state = state.replace(v=np.zeros(model.nv))
    stiffness = np.array([5, 6, 7, 800, 900, 1000.0])
    elements = ma.Elements(model, [ma.compliant_grasp(model, name, stiffness) for name in ("left", "right")])
    held = elements.forces(state)[1]
    assert max(np.abs(wrench.array).max() for wrench in held.values()) < 1e-6  # the loops are closed to 1e-9
    off = np.array(state.q)
    off[-3:] += (0.001, -0.002, 0.003)
    pulled = sum(
        -tip.apply(stiffness[3:] * tip.inv().apply([0.001, -0.002, 0.003]))
        for tip in (ma.kinematics(model, state).pose(f"{side}/tip").rotation for side in ("left", "right"))
    )
    assert_allclose(elements.forces(model.state(q=off))[1]["box"].force, pulled, atol=1e-6)


# ---------------------------------------------------------------------- MuJoCo

ROBOT = """
  <body name="one" pos="0.1 0.2 0.3" euler="0.3 0 0.2">
    <joint name="hinge" axis="0 1 1" stiffness="7" springref="0.3" damping="0.6"/>
    <inertial pos="0.1 0 0.2" mass="2" diaginertia="0.1 0.2 0.15"/><site name="first" pos="0.1 0.3 0.2"/>
    <body name="two" pos="0 0.1 0.4" euler="0 0.4 0">
      <joint name="slide" type="slide" axis="1 0 1" stiffness="40" springref="-0.1" damping="1.5"/>
      <inertial pos="0 0.1 0" mass="1" diaginertia="0.05 0.04 0.06"/>
      <body name="three" pos="0.3 0 0"><joint name="wrist" axis="1 0 0" damping="0.2"/>
        <inertial pos="0 0 0.3" mass="1.5" diaginertia="0.03 0.04 0.02"/><site name="second" pos="0.2 0 0.4"/>
      </body>
    </body>
  </body>"""
TENDON = """<tendon><spatial stiffness="25" damping="2" springlength="0.3"><site site="first"/><site site="second"/>
  </spatial></tendon>"""


@pytest.mark.parametrize("seed", range(3))
def test_springs_and_dampers_as_mujoco_has_them(seed):
    """Joint springs and dampers, and a line spring as a spatial tendon: passive forces and accelerations."""
    xml = SCENE.format(bodies=ROBOT, rest=TENDON)
    peer = mujoco.MjModel.from_xml_string(xml)
    model = compiled(quiet_load(xml))
    rng = np.random.default_rng(seed)
    state = model.state(q=rng.uniform(-1, 1, 3), v=rng.uniform(-2, 2, 3))
    elements = ma.Elements(
        model,
        [
            *ma.Elements.from_model(model),
            ma.JointSpring(["robot/hinge", "robot/slide"], [7, 40], rest=[0.3, -0.1]),
            ma.BodySpring(
                ma.Frame("first", "robot/one", ma.pose((0.1, 0.3, 0.2))),
                ma.Frame("second", "robot/three", ma.pose((0.2, 0, 0.4))),
                25.0, 2.0, 0.3,
            ),
        ],
    )  # fmt: skip
    data = mujoco.MjData(peer)
    data.qpos, data.qvel = state.q, state.v
    mujoco.mj_forward(peer, data)
    tau, external = elements.forces(state)
    assert_agrees(ma.tree_forward_dynamics(model, state, tau, external).a, data.qacc)
    rest = model.state(q=state.q)
    idle = ma.tree_forward_dynamics(model, rest).a
    pulled = ma.tree_forward_dynamics(model, rest, *elements.forces(rest)).a
    data.qvel = 0
    mujoco.mj_forward(peer, data)
    assert_agrees(ma.mass_matrix(model, rest) @ (pulled - idle), data.qfrc_passive)


# ---------------------------------------------------------------------- from files

URDF = """<robot name="two">
  <link name="base"/>{links}
  <joint name="first" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="2" effort="9" velocity="3"/><dynamics damping="0.4" friction="1.5"/></joint>
  <joint name="second" type="continuous"><parent link="upper"/><child link="lower"/><axis xyz="0 1 0"/>
    <dynamics damping="0.7"/></joint>
  <joint name="third" type="prismatic"><parent link="lower"/><child link="tool"/><axis xyz="1 0 0"/>
    <limit lower="0" upper="1" effort="9" velocity="3"/></joint>
</robot>"""
LINK = """<link name="{}"><inertial><mass value="1"/>
  <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>"""


def test_losses_come_with_the_robot_file(tmp_path):
    path = tmp_path / "two.urdf"
    path.write_text(URDF.format(links="".join(LINK.format(name) for name in ("upper", "lower", "tool"))))
    m = ma.Mechanism()
    m.add_arm("arm", ma.load_urdf(path))
    model = m.compile()
    elements = ma.Elements.from_model(model, speed=0.1)
    assert [type(item) for item in elements] == [ma.JointFriction, ma.JointDamper]
    tau = elements.forces(model.state(v=[0.2, 3.0, 5.0]))[0]
    assert_allclose(tau, [-1.5 * np.tanh(2.0) - 0.4 * 0.2, -0.7 * 3, 0.0], rtol=1e-14)


def test_losses_of_the_joints_of_a_model_include_those_that_are_cut():
    m = ma.Mechanism()
    for name in ("crank", "rod", "rocker"):
        m.add_body(name, mass=1.0, inertia=(0.01, 0.1, 0.1), com=(0.5, 0, 0))
    m.add_joint("a", "revolute", "world", "crank", damping=0.1)
    m.add_joint("b", "revolute", "crank", "rod", at=(1, 0, 0), friction=0.2)
    m.add_joint("c", "revolute", "rod", "rocker", at=(1, 0, 0), in_child=(1, 0, 0), damping=0.3, friction=0.4)
    m.add_joint("d", "revolute", "world", "rocker", at=(1, 0, 0))
    elements = ma.Elements.from_model(m.compile(cuts=["c"]))
    assert sorted(item.joint for item in elements) == ["a", "b", "c"]
    assert len(elements.labels) == 3


# ---------------------------------------------------------------------- compiled calls


def test_kernels_add_to_what_is_there_and_say_when_lengths_are_wrong():
    model = merged()
    elements = ma.Elements(model, [ma.JointDamper("left joint", 1.0), ma.Push("right", np.ones(6))])
    calls, (numbers, whole) = ma.compiled(model), elements.pack()
    q, v, tau = np.array(model.neutral), np.arange(6.0), np.full(6, 10.0)
    calls.jacobian(q, calls.frame("left"), np.empty((6, 6)))  # places the links
    calls.external[:] = 1.0
    assert apply_elements(calls.tree, calls.link, numbers, whole, 0.0, q, v, tau) == 0
    assert_allclose(tau, [10, 9, 8, 10, 10, 10])
    right = calls.link_of("right")
    assert_allclose(np.delete(calls.external, right, axis=0), 1.0)
    assert_allclose(calls.external[right], 2.0)
    assert apply_elements(calls.tree, calls.link, numbers, whole, 0.0, q, v, np.zeros(5)) == at.WRONG_LENGTH
    assert np.isnan(element_energy(calls.tree, calls.link, numbers, whole, v))
    assert np.isnan(element_power(calls.tree, calls.link, numbers, whole, q, q))
    with pytest.raises(TypeError, match="whole must be a contiguous array of int64"):
        apply_elements(calls.tree, calls.link, numbers, whole.astype(float), 0.0, q, v, tau)
    with pytest.raises(ma.BadInputError, match="array shapes do not fit"):
        elements.check(at.WRONG_LENGTH)


def test_no_elements_do_nothing():
    model = merged()
    elements = ma.Elements(model)
    tau, external = elements.forces(model.state())
    assert not tau.any() and external == {} and len(elements) == 0


# ---------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("item", "message"),
    [
        (ma.JointSpring("left jiont", 1.0), "did you mean 'left joint'"),
        (ma.JointSpring("left joint", 1.0), "'left joint' is spherical and has a quaternion: put a Bushing"),
        (ma.JointDamper("left tool", 1.0), "'left tool' is carried by joint 'left joint'"),
        (ma.JointDamper("left joint", -1.0), "damping must not be negative, but is -1"),
        (ma.JointDamper("left joint", [1.0, 2.0]), "damping: expected 3 numbers"),
        (ma.JointDamper("left joint", "stiff"), "damping: expected numbers, not 'stiff'"),
        (ma.JointDamper("left joint", np.nan), "damping: entry 0 is nan, not finite"),
        (ma.JointDamper("left joint", {"right joint": 1.0}), "joint of JointDamper.*'right joint'"),
        (ma.JointDamper([], 1.0), "nothing moves there"),
        (ma.JointFriction("left joint", 1.0, speed=0.0), "speed must be positive, but is 0"),
        (ma.JointLimit("left joint", 1.0), "quaternion"),
        (ma.BodySpring("left hook", "right hok", 1.0), "did you mean 'right hook'"),
        (ma.BodySpring("left hook", "left hook", 1.0), "both ends are the same frame"),
        (ma.BodySpring("left hook", "world", 1.0, rest_length=-1.0), "rest_length must not be negative"),
        (ma.Bushing("left hook", "world", [1.0, 2.0]), "stiffness: expected 6 numbers"),
        (ma.Bushing("left hook", "world", 1.0, rest=np.ones((2, 2))), "rest: expected a RigidTransform"),
        (ma.Push("left hook", [1.0]), r"wrench \[torque; force\]: expected 6 numbers"),
        (ma.Push("left hook", np.ones(6), shape="square"), "shape of a push 'square'.*constant.*half_sine.*ramp"),
        (ma.Push("left hook", np.ones(6), axes="tool"), "axes of a push 'tool'.*world.*body"),
        (ma.Push("left hook", np.ones(6), 2.0, 1.0), "2 s is not before 1 s"),
        (ma.Push("left hook", np.ones(6), shape="ramp"), "a ramp push needs stop="),
        (ma.PushTable("left hook", [0.0, 2.0, 1.0], np.ones((3, 6))), "times must increase, but 1 s follows 2 s"),
        (ma.PushTable("left hook", [0.0, 1.0], np.ones((3, 6))), r"array of 2 x 6.* shape \(3, 6\)"),
        (ma.PushTable("left hook", [0.0], np.ones((1, 6))), "times: expected 2 numbers"),
        (3.0, "3.0 is no force element; those are JointSpring, JointDamper"),
    ],
)
def test_what_makes_no_sense_is_refused_with_choices(item, message):
    with pytest.raises(ma.MultiArmError, match=message):
        ma.Elements(merged(), [item])


def test_limits_need_a_range_and_springs_a_coordinate():
    with pytest.raises(ma.UnknownNameError, match="joint with a range 'rail'"):
        ma.Elements(slider(), [ma.JointLimit("rail", 1.0)])
    model = two_bodies("revolute", cut=True)
    with pytest.raises(ma.DescriptionError, match="'joint' is cut and has no coordinate: cut another"):
        ma.Elements(model, [ma.JointSpring("joint", 1.0)])
    pandas = two_pandas()
    with pytest.raises(ma.UnknownNameError, match="grasp 'up'"):
        ma.compliant_grasp(pandas, "up", 1.0)
    with pytest.raises(ma.DescriptionError, match="grasp 'left' has no at="):
        ma.compliant_grasp(reaching_pandas(), "left", 1.0)
