"""`load_urdf` against Pinocchio's reading of the same files, and against every fault a file can have."""

from __future__ import annotations

import math
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from robot_files import robot_file
from scipy.spatial.transform import RigidTransform

from contacts import Box, Cylinder, Mesh, Sphere
from multiarm.description import Coupling, Robot
from multiarm.errors import (
    BadInputError,
    MultiArmError,
    RobotFileError,
    RobotFileWarning,
    UnknownNameError,
    UnphysicalInertiaWarning,
)
from multiarm.urdf import load_urdf

FIXED_BASE = ("panda", "ur5", "baxter", "tiago_dual", "pr2", "romeo", "allegro")
FLOATING = ("talos", "icub")


def quiet_load(path: Path, **options: object) -> Robot:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnphysicalInertiaWarning)
        return load_urdf(path, **options)  # type: ignore[arg-type]


# --- agreement with Pinocchio ----------------------------------------------------------------------------------------


@pytest.fixture(params=(*FIXED_BASE, *FLOATING))
def pair(request: pytest.FixtureRequest) -> tuple[Robot, object]:
    pin = pytest.importorskip("pinocchio")
    path, floating = robot_file(request.param), request.param in FLOATING
    root = (pin.JointModelFreeFlyer(),) if floating else ()
    return quiet_load(path, floating=floating), pin.buildModelFromUrdf(str(path), *root)


def poses_at_zero(robot: Robot) -> dict[str, RigidTransform]:
    poses = {robot.root: RigidTransform.identity()}
    for joint in robot.joints:
        poses[joint.child] = poses[joint.parent] * joint.at * joint.in_child.inv()
    return poses


def carried(robot: Robot) -> dict[str, str]:
    """For each body the movable joint that carries it, "" for what is fixed to the root."""
    carrier = {robot.root: ""}
    for joint in robot.joints:
        carrier[joint.child] = carrier[joint.parent] if joint.kind == "fixed" else joint.name
    return carrier


def about_origin(mass: float, com: np.ndarray, inertia: np.ndarray) -> np.ndarray:
    """Mass, first moment and inertia about the origin, which add up over bodies."""
    shifted = inertia + mass * (com @ com * np.eye(3) - np.outer(com, com))
    return np.concatenate([[mass], mass * com, shifted.ravel()])


def test_movable_joints_and_their_limits_are_those_of_pinocchio(pair):
    robot, model = pair
    movable = {joint.name: joint for joint in robot.joints if joint.kind != "fixed"}
    assert set(movable) == set(model.names) - {"universe", "root_joint"}
    for name, joint in movable.items():
        peer = model.joints[model.getJointId(name)]
        assert peer.nv == 1
        v = peer.idx_v
        assert_allclose(joint.damping, model.damping[v])
        assert_allclose(joint.friction, model.friction[v])
        for ours, theirs in (
            (joint.effort_limit, model.effortLimit[v]),
            (joint.velocity_limit, model.velocityLimit[v]),
        ):
            assert ours == (theirs if 0 < theirs < 1e300 else math.inf)
        if peer.nq == 1:
            assert joint.lower == model.lowerPositionLimit[peer.idx_q]
            assert joint.upper == model.upperPositionLimit[peer.idx_q]
        else:  # a continuous joint, which Pinocchio gives a cosine and a sine
            assert (joint.lower, joint.upper) == (-math.inf, math.inf)


def test_every_link_stands_where_pinocchio_puts_it(pair):
    pin = pytest.importorskip("pinocchio")
    robot, model = pair
    data = model.createData()
    pin.framesForwardKinematics(model, data, pin.neutral(model))
    poses = poses_at_zero(robot)
    links = [frame.name for frame in model.frames if frame.type == pin.FrameType.BODY]
    assert set(links) - {"universe"} <= set(poses)
    for name, pose in poses.items():
        expected = data.oMf[model.getFrameId(name, pin.FrameType.BODY)].homogeneous
        assert_allclose(pose.as_matrix(), expected, atol=1e-12, err_msg=name)


def test_every_joint_carries_the_mass_and_inertia_of_pinocchio(pair):
    robot, model = pair
    poses, carrier = poses_at_zero(robot), carried(robot)
    origin = {joint.name: poses[joint.child] for joint in robot.joints}
    origin[""] = poses[robot.root]
    sums = {name: np.zeros(13) for name in set(carrier.values()) | {""}}
    for body in robot.bodies:
        name = carrier[body.name]
        at = origin[name].inv() * poses[body.name]
        turn = at.rotation.as_matrix()
        sums[name] += about_origin(body.mass, at.apply(body.com), turn @ body.inertia @ turn.T)
    for name, total in sums.items():
        peer = "root_joint" if name == "" and robot.floating else name or "universe"
        theirs = model.inertias[model.getJointId(peer)]
        lever = theirs.lever if theirs.mass > 0 else np.zeros(3)
        expected = about_origin(theirs.mass, lever, theirs.inertia)
        assert_allclose(total, expected, atol=1e-12 * max(1.0, np.abs(expected).max()), err_msg=name)
    assert_allclose(
        sum(body.mass for body in robot.bodies), sum(inertia.mass for inertia in model.inertias), rtol=1e-12
    )


def test_joint_axes_and_branches(pair):
    pin = pytest.importorskip("pinocchio")
    robot, model = pair
    kinds = {joint.name: joint for joint in robot.joints if joint.kind in ("revolute", "prismatic")}
    data = model.createData()
    pin.computeJointJacobians(model, data, pin.neutral(model))
    poses = poses_at_zero(robot)
    for name, joint in kinds.items():
        number = model.getJointId(name)
        column = pin.getJointJacobian(model, data, number, pin.LOCAL_WORLD_ALIGNED)[:, model.joints[number].idx_v]
        expected = column[:3] if joint.kind == "prismatic" else column[3:]
        assert_allclose(poses[joint.child].rotation.apply(joint.axis), expected, atol=1e-12, err_msg=name)
    # depth first: a joint's parent is the previous joint's child or one of its ancestors
    parent = {joint.child: joint.parent for joint in robot.joints}
    path = [robot.root]
    for joint in robot.joints:
        assert joint.parent in path
        path = [*path[: path.index(joint.parent) + 1], joint.child]
    assert len(parent) == len(robot.bodies) - 1


def test_mimic_joints_are_coupled_never_free():
    robot = quiet_load(robot_file("panda"))
    assert robot.couplings == (Coupling("panda_finger_joint2", "panda_finger_joint1", 1.0, 0.0),)
    assert {joint.name for joint in robot.joints if joint.passive} == {"panda_finger_joint2"}
    for name in ("baxter", "pr2", "romeo", "talos"):
        file = robot_file(name)
        robot = quiet_load(file)
        coupled = {coupling.joint for coupling in robot.couplings}
        assert coupled and coupled == {joint.name for joint in robot.joints if joint.passive}
        assert not coupled & {coupling.source for coupling in robot.couplings}
        assert len(coupled) == len(re.findall(r"<mimic ", re.sub(r"<!--.*?-->", "", file.read_text(), flags=re.S)))


def test_meshes_of_packages_are_found_above_the_file():
    robot = quiet_load(robot_file("panda"))
    shape = robot.bodies[1].shape
    assert isinstance(shape, Mesh) and Path(shape.path).name == "link1.stl" and Path(shape.path).is_file()


# --- a small robot, whole ---------------------------------------------------------------------------------------------

SMALL = """<?xml version="1.0"?>
<robot name="small">
  <link name="base"/>
  <link name="upper">
    <inertial>
      <origin xyz="0.1 0.2 0.3" rpy="0 0 1.5707963267948966"/>
      <mass value="2"/>
      <inertia ixx="0.02" ixy="0" ixz="0" iyy="0.03" iyz="0" izz="0.04"/>
    </inertial>
    <collision><geometry><box size="0.1 0.2 0.3"/></geometry></collision>
  </link>
  <link name="lower">
    <inertial>
      <mass value="1"/>
      <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/>
    </inertial>
    <visual><geometry><mesh filename="package://nowhere/m.stl" scale="2 2 2"/></geometry></visual>
  </link>
  <link name="side"><visual><geometry><sphere radius="0.1"/></geometry></visual></link>
  <joint name="shoulder" type="revolute">
    <origin xyz="0 0 1" rpy="0.1 0.2 0.3"/>
    <parent link="base"/>
    <child link="upper"/>
    <axis xyz="0 3 4"/>
    <limit lower="-1" upper="2" effort="10" velocity="3"/>
    <dynamics damping="0.5" friction="0.25"/>
  </joint>
  <joint name="elbow" type="prismatic">
    <parent link="upper"/>
    <child link="lower"/>
    <axis xyz="1 0 0"/>
    <limit lower="0" upper="0.5" effort="0" velocity="0"/>
  </joint>
  <joint name="flap" type="continuous">
    <parent link="upper"/>
    <child link="side"/>
    <mimic joint="elbow" multiplier="2" offset="0.1"/>
  </joint>
</robot>
"""


@pytest.fixture
def load(tmp_path):
    """Load URDF text; `old=new` pairs replace parts of the small robot."""

    def run(*changes: tuple[str, str], text: str = SMALL, **options):
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        path = tmp_path / "robot.urdf"
        path.write_text(text, encoding="utf-8")
        return load_urdf(path, **options)

    return run


def test_small_robot(load):
    robot = load()
    assert (robot.name, robot.root, robot.floating, dict(robot.tips), robot.notes) == ("small", "base", False, {}, ())
    base, upper, lower, side = robot.bodies
    assert [body.name for body in robot.bodies] == ["base", "upper", "lower", "side"]
    assert base.mass == 0 and not base.inertia.any()
    assert_allclose(upper.com, (0.1, 0.2, 0.3))
    assert_allclose(upper.inertia, np.diag((0.03, 0.02, 0.04)), atol=1e-15)  # turned by 90 degrees about z
    assert upper.shape == Box((0.1, 0.2, 0.3)) and side.shape == Sphere(0.1)
    assert lower.shape == Mesh("package://nowhere/m.stl", (2.0, 2.0, 2.0))
    shoulder, elbow, flap = robot.joints
    assert (shoulder.name, shoulder.kind, elbow.kind, flap.kind) == ("shoulder", "revolute", "prismatic", "continuous")
    assert_allclose(shoulder.axis, (0, 0.6, 0.8))
    assert_allclose(flap.axis, (1, 0, 0))  # the format's default
    assert (shoulder.lower, shoulder.upper, shoulder.velocity_limit, shoulder.effort_limit) == (-1, 2, 3, 10)
    assert (shoulder.damping, shoulder.friction, shoulder.armature) == (0.5, 0.25, 0)
    assert (elbow.velocity_limit, elbow.effort_limit, elbow.upper) == (math.inf, math.inf, 0.5)
    assert (flap.lower, flap.upper) == (-math.inf, math.inf)
    assert robot.couplings == (Coupling("flap", "elbow", 2.0, 0.1),)


def test_tips_and_base(load):
    assert load(tip="lower").tips == {"tip": "lower"}
    assert len(load(tip="lower").bodies) == 4  # nothing is pruned
    assert load(tip={"left": "lower", "right": "side"}, floating=True).tips == {"left": "lower", "right": "side"}
    part = load(base="upper", floating=True)
    assert (part.root, part.floating, [joint.name for joint in part.joints]) == ("upper", True, ["elbow", "flap"])
    only = load(base="lower")
    assert (only.joints, dict(only.tips)) == ((), {"tip": "lower"})  # the only leaf is the tip
    for options in ({"tip": "loer"}, {"base": "loer"}, {"tip": {"left": "loer"}}):
        with pytest.raises(UnknownNameError, match="did you mean 'lower'"):
            load(**options)
    with pytest.raises(UnknownNameError, match="below 'upper'"):
        load(base="upper", tip="base")
    with pytest.raises(BadInputError, match="tip"):
        load(tip=3)


def test_multi_coordinate_joints(load):
    robot = load(('type="revolute"', 'type="floating"'))
    assert robot.joints[0].kind == "free" and robot.joints[0].upper == math.inf
    for axis in ((0, 0, 1), (0, 0, -1), (0, 3, 4), (1e-9, 0, -1), (1, 0, 0)):
        changes = (('type="revolute"', 'type="planar"'), ('axis xyz="0 3 4"', 'axis xyz="{} {} {}"'.format(*axis)))
        joint = load(*changes).joints[0]
        assert joint.kind == "planar"
        # at zero the child stands at the origin given in the file, and the joint's z is the file's axis
        origin = RigidTransform.from_matrix(load().joints[0].at.as_matrix())
        assert_allclose((joint.at * joint.in_child.inv()).as_matrix(), origin.as_matrix(), atol=1e-15)
        unit = np.array(axis) / np.linalg.norm(axis)
        assert_allclose(joint.at.rotation.apply((0, 0, 1)), origin.rotation.apply(unit), atol=1e-15)


def test_limits_that_are_not_there(load):
    joint = load(('<limit lower="-1" upper="2" effort="10" velocity="3"/>', "")).joints[0]
    assert (joint.lower, joint.upper, joint.velocity_limit, joint.effort_limit) == (-math.inf, *[math.inf] * 3)
    joint = load(('<limit lower="-1" upper="2" effort="10" velocity="3"/>', '<limit lower="-1"/>')).joints[0]
    assert (joint.lower, joint.upper, joint.velocity_limit) == (-1, 0, math.inf)


def test_shapes(load):
    moved = (
        '<collision><geometry><box size="0.1 0.2 0.3"/>',
        '<collision><origin xyz="1 0 0"/><geometry><box size="1 1 1"/>',
    )
    assert load(moved).bodies[1].shape is None
    cylinder = ('<box size="0.1 0.2 0.3"/>', '<cylinder radius="0.1" length="2"/>')
    assert load(cylinder).bodies[1].shape == Cylinder(0.1, 2.0)
    robot = load(('<box size="0.1 0.2 0.3"/>', '<capsule radius="0.1" length="2"/>'))
    assert robot.bodies[1].shape is None and "capsule" in robot.notes[0] and "upper" in robot.notes[0]


@pytest.mark.parametrize(
    ("armature", "old", "new"),
    [
        (0.7, 'damping="0.5"', 'damping="0.5" armature="0.7"'),
        (0.2, 'damping="0.5"', 'rotor_inertia="0.2"'),
        (0.2 * 9, 'damping="0.5" friction="0.25"/>\n  </joint>', 'rotor_inertia="0.2"/>\n  </joint>{reduction}'),
        (1e-3 * 1e4, "</robot>", "{drake}</robot>"),
    ],
)
def test_rotor_inertia(load, armature, old, new):
    reduction = """<transmission name="t"><joint name="shoulder"/>
        <actuator name="m"><mechanicalReduction>-3</mechanicalReduction></actuator></transmission>"""
    drake = """<transmission name="t"><joint name="shoulder"/><actuator name="m">
        <drake:rotor_inertia value="1e-3"/><drake:gear_ratio value="100"/></actuator></transmission>"""
    joint = load((old, new.format(reduction=reduction, drake=drake))).joints[0]
    assert joint.armature == pytest.approx(armature, rel=1e-15)


def test_rotor_inertia_of_a_shared_transmission_is_noted(load):
    shared = """<transmission name="diff"><joint name="shoulder"/><joint name="elbow"/><actuator name="m">
        <rotor_inertia>1e-3</rotor_inertia></actuator></transmission></robot>"""
    with pytest.warns(RobotFileWarning, match="'diff'"):
        robot = load(("</robot>", shared))
    assert all(joint.armature == 0 for joint in robot.joints) and "'diff'" in robot.notes[0]


def test_namespaces(load):
    robot = load(('<robot name="small">', '<robot name="small" xmlns="http://drake.mit.edu"><xacro:thing a:b="1"/>'))
    assert len(robot.bodies) == 4


def test_chained_mimics_end_at_the_free_joint(load):
    links = "".join(f'<link name="x{i}"/>' for i in range(3))
    joints = "".join(
        f'<joint name="m{i}" type="prismatic"><parent link="base"/><child link="x{i}"/>'
        f'<mimic joint="{source}" multiplier="{ratio}" offset="{offset}"/></joint>'
        for i, (source, ratio, offset) in enumerate((("m1", 3, 0.5), ("flap", -2, 0.25), ("shoulder", 1, 0)))
    )
    robot = load(("</robot>", links + joints + "</robot>"))
    couplings = {coupling.joint: coupling for coupling in robot.couplings}
    # flap = 2 e + 0.1; m1 = -2 flap + 0.25; m0 = 3 m1 + 0.5
    assert couplings["m1"] == Coupling("m1", "elbow", -4.0, pytest.approx(0.05))
    assert couplings["m0"] == Coupling("m0", "elbow", -12.0, pytest.approx(0.65))
    assert couplings["m2"] == Coupling("m2", "shoulder", 1.0, 0.0)


def test_long_chains_need_no_recursion(load):
    n = 3000
    links = "".join(f'<link name="l{i}"/>' for i in range(n + 1))
    joints = "".join(
        f'<joint name="j{i}" type="continuous"><parent link="l{i}"/><child link="l{i + 1}"/></joint>' for i in range(n)
    )
    robot = load(text=f'<robot name="long">{links}{joints}</robot>')
    assert [joint.name for joint in robot.joints] == [f"j{i}" for i in range(n)] and robot.tips == {"tip": f"l{n}"}


def test_unphysical_inertias_are_reported_once_and_kept(load):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        robot = load(('izz="0.04"', 'izz="0.4"'), ('ixx="0.01"', 'ixx="-0.01"'))
    (report,) = caught
    assert report.category is UnphysicalInertiaWarning and report.filename == __file__
    assert "'upper'" in str(report.message) and "'lower'" in str(report.message) and "'base'" not in str(report.message)
    assert robot.notes == (str(report.message),)
    assert robot.bodies[1].inertia[2, 2] == pytest.approx(0.4) and robot.bodies[2].inertia[0, 0] == -0.01


# --- faults -----------------------------------------------------------------------------------------------------------

LOOP = '<joint name="loop" type="fixed"><parent link="lower"/><child link="{}"/></joint></robot>'
ROTOR = """<transmission name="t"><joint name="shoulder"/><actuator name="m"><rotor_inertia>{}</rotor_inertia>
    </actuator></transmission></robot>"""
# What is changed in the small robot, and what the message must mention.
FAULTS = {
    "malformed": ([("</robot>", "")], ("malformed",)),
    "unclosed tag": ([('<link name="base"/>', '<link name="base">')], ("malformed", "line")),
    "not URDF": ([('<robot name="small">', "<sdf>"), ("</robot>", "</sdf>")], ("<robot>", "<sdf>")),
    "nameless robot": ([('<robot name="small">', "<robot>")], ("name",)),
    "duplicate link": ([('<link name="base"/>', '<link name="side"/><link name="base"/>')], ("two links", "'side'")),
    "duplicate joint": ([('"flap"', '"elbow"')], ("two joints", "'elbow'")),
    "no parent link": ([('<parent link="base"/>', '<parent link="ground"/>')], ("'shoulder'", "parent", "'ground'")),
    "no child link": ([('<child link="side"/>', '<child link="wing"/>')], ("'flap'", "child", "'wing'")),
    "no parent": ([('<parent link="base"/>', "")], ("'shoulder'", "<parent>")),
    "two parents": (
        [("</robot>", LOOP.format("side"))],
        ("'side'", "'flap'", "'loop'", "'upper'", "'lower'", "loops="),
    ),
    "cycle to the root": ([("</robot>", LOOP.format("base"))], ("'base'", "'upper'", "'lower'", "cycle", "loops=")),
    "cycle beside the root": ([('<parent link="base"/>', '<parent link="lower"/>')], ("'upper'", "'lower'", "cycle")),
    "own parent": ([('<parent link="base"/>', '<parent link="upper"/>')], ("'upper'", "cycle")),
    "several roots": ([("</robot>", '<link name="island"/></robot>')], ("'base'", "'island'")),
    "no links": ([(SMALL[SMALL.index("  <link") : SMALL.index("</robot>")], "")], ("no links",)),
    "NaN mass": ([('value="2"', 'value="nan"')], ("'upper'", "<mass>", "nan")),
    "infinite limit": ([('upper="2"', 'upper="inf"')], ("'shoulder'", "'upper'", "inf")),
    "NaN origin": ([('xyz="0 0 1"', 'xyz="0 NaN 1"')], ("'shoulder'", "NaN")),
    "NaN inertia": ([('iyy="0.03"', 'iyy="nan"')], ("'upper'", "'iyy'")),
    "NaN mimic": ([('multiplier="2"', 'multiplier="nan"')], ("'flap'", "'multiplier'")),
    "negative mass": ([('value="2"', 'value="-2"')], ("'upper'", "negative")),
    "negative damping": ([('damping="0.5"', 'damping="-0.5"')], ("'shoulder'", "negative")),
    "negative rotor": ([('damping="0.5"', 'rotor_inertia="-0.5"')], ("'shoulder'", "negative")),
    "negative rotor in a transmission": ([("</robot>", ROTOR.format("-1e-3"))], ("'shoulder'", "rotor", "negative")),
    "a word for a rotor": ([("</robot>", ROTOR.format("small"))], ("'shoulder'", "rotor", "'small'")),
    "a word for a number": ([('value="2"', 'value="two"')], ("'upper'", "two")),
    "a number out of proportion": ([('value="2"', 'value="1e200"')], ("'upper'", "1e200")),
    "xacro": ([('value="2"', 'value="${2}"')], ("'upper'", "run xacro")),
    "two numbers for three": ([('xyz="0 0 1"', 'xyz="0 1"')], ("'shoulder'", "'xyz'", "3")),
    "no mass": ([('<mass value="2"/>', "")], ("'upper'", "<mass>")),
    "partial inertia": ([('iyy="0.03"', "")], ("'upper'", "'iyy'")),
    "unknown type": ([('type="prismatic"', 'type="ball"')], ("'elbow'", "'ball'", "revolute", "planar")),
    "no type": ([('type="prismatic"', "")], ("'elbow'", "'type'")),
    "zero axis": ([('axis xyz="0 3 4"', 'axis xyz="0 0 0"')], ("'shoulder'", "axis")),
    "lower above upper": ([('upper="2"', 'upper="-2"')], ("'shoulder'", "-1", "-2")),
    "mimic of nothing": ([('joint="elbow"', 'joint="knee"')], ("'flap'", "'knee'")),
    "mimic of itself": ([('joint="elbow"', 'joint="flap"')], ("'flap' -> 'flap'",)),
    "mimic circle": (
        [('joint="elbow"', 'joint="shoulder"'), ("<dynamics", '<mimic joint="flap"/><dynamics')],
        ("'flap'", "'shoulder'", "circle"),
    ),
    "mimic on a planar joint": ([('name="flap" type="continuous"', 'name="flap" type="planar"')], ("'flap'", "planar")),
    "mimic of a fixed joint": (
        [('name="elbow" type="prismatic"', 'name="elbow" type="fixed"')],
        ("'flap'", "'elbow'", "fixed"),
    ),
    "sphere without radius": ([('<sphere radius="0.1"/>', "<sphere/>")], ("'side'", "'radius'")),
    "mesh without file": ([('filename="package://nowhere/m.stl"', "")], ("'lower'", "'filename'")),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faulty_files_name_the_culprit(load, fault):
    changes, words = FAULTS[fault]
    with pytest.raises(RobotFileError) as caught:
        load(*changes)
    assert str(caught.value).startswith(str(caught.value.path))
    for word in words:
        assert word in str(caught.value)


def test_mimic_of_a_joint_outside_the_base_is_refused(load):
    changes = (('joint="elbow"', 'joint="shoulder"'),)
    assert load(*changes).couplings[0].source == "shoulder"
    with pytest.raises(RobotFileError, match="'flap' mimics 'shoulder', which is no joint below link 'upper'"):
        load(*changes, base="upper")


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(RobotFileError, match=r"missing\.urdf.*No such file"):
        load_urdf(tmp_path / "missing.urdf")
    with pytest.raises(RobotFileError, match="cannot be read"):
        load_urdf(tmp_path)
    for content in (b"", b"\x00\x01", b"robot", b"<!-- nothing -->"):
        (tmp_path / "empty.urdf").write_bytes(content)
        with pytest.raises(RobotFileError, match=r"empty\.urdf"):
            load_urdf(str(tmp_path / "empty.urdf"))


ODD_VALUES = (
    "",
    "nan",
    "inf",
    "-1",
    "0",
    "1e308",
    "1e-320",
    "x",
    "0 0 0",
    "1 2",
    "base",
    "fixed",
    "planar",
    "ü",
    "&lt;",
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_corrupted_files_load_or_raise_our_errors(tmp_path, data):
    text = SMALL
    for _ in range(data.draw(st.integers(1, 3))):
        lines = text.splitlines()
        values = list(re.finditer(r'"([^"]*)"', text))
        kind = data.draw(st.sampled_from(("delete line", "repeat line", "alter value", "delete attribute", "cut")))
        if kind == "cut":
            text = text[: data.draw(st.integers(0, len(text)))]
        elif kind.endswith("line") and lines:
            row = data.draw(st.integers(0, len(lines) - 1))
            lines[row : row + 1] = [] if kind.startswith("delete") else [lines[row]] * 2
            text = "\n".join(lines)
        elif values:
            match = data.draw(st.sampled_from(values))
            if kind == "alter value":
                text = text[: match.start(1)] + data.draw(st.sampled_from(ODD_VALUES)) + text[match.end(1) :]
            else:
                text = re.sub(r"[\w:]+=$", "", text[: match.start()]) + text[match.end() :]
    path = tmp_path / "corrupt.urdf"
    path.write_text(text, encoding="utf-8")
    try:
        robot = quiet_load(path)
    except MultiArmError as error:
        assert "corrupt.urdf" in str(error)
    else:
        assert len(robot.bodies) == len(robot.joints) + 1
        for body in robot.bodies:
            assert body.mass >= 0 and np.all(np.isfinite(body.inertia)) and np.all(np.isfinite(body.com))
        for joint in robot.joints:
            assert np.linalg.norm(joint.axis) == pytest.approx(1) and joint.lower <= joint.upper


def test_a_shape_without_extent_names_file_and_link(tmp_path):
    shape = '<collision><geometry><box size="0 1 1"/></geometry></collision>'
    path = tmp_path / "flat.urdf"
    path.write_text(f'<robot name="r"><link name="base">{shape}</link></robot>')
    with pytest.raises(RobotFileError, match=r"flat.urdf.*'base'.*positive"):
        load_urdf(path)
