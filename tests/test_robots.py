"""The built-in robots against the files and the publications their numbers come from."""

from __future__ import annotations

import math
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from robot_files import robot_file
from scipy.spatial.transform import RigidTransform, Rotation

from multiarm import robots
from multiarm.description import Joint, Robot, inertia_defect
from multiarm.errors import BadInputError, UnphysicalInertiaWarning
from multiarm.urdf import load_urdf

GRAVITY = np.array([0.0, 0.0, -9.81])


def quiet_puma() -> Robot:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnphysicalInertiaWarning)
        return robots.puma560()


BUILDERS = {
    "panda": robots.panda,
    "ur5": robots.ur5,
    "puma560": quiet_puma,
    "torso": robots.torso,
    "planar": lambda: robots.planar(3),
    "chain": lambda: robots.chain(5),
}


def forward_kinematics(robot: Robot, q: dict[str, float] | None = None) -> dict[str, RigidTransform]:
    """Poses of bodies and frames, for revolute and fixed joints; what `q` does not name is zero."""
    poses = {robot.root: RigidTransform.identity()}
    for joint in robot.joints:
        turn = Rotation.from_rotvec(joint.axis * (q or {}).get(joint.name, 0.0))
        poses[joint.child] = poses[joint.parent] * joint.at * RigidTransform.from_rotation(turn) * joint.in_child.inv()
    for frame in robot.frames:
        poses[frame.name] = poses[frame.body] * frame.pose
    return poses


def gravity_torques(robot: Robot, q: dict[str, float]) -> np.ndarray:
    """Torques that hold the robot still: minus the moment of each joint's outboard weights about its axis."""
    poses = forward_kinematics(robot, q)
    parent = {joint.child: joint for joint in robot.joints}
    torques = {joint.name: 0.0 for joint in robot.joints}
    for body in robot.bodies:
        weight_at = poses[body.name].apply(body.com)
        name = body.name
        while name in parent:
            joint = parent[name]
            frame = poses[joint.parent] * joint.at
            moment = np.cross(weight_at - frame.translation, body.mass * GRAVITY)
            torques[joint.name] -= frame.rotation.apply(joint.axis) @ moment
            name = joint.parent
    return np.array(list(torques.values()))


@pytest.mark.parametrize("name", BUILDERS)
def test_robots_are_trees_with_tips_and_physical_numbers(name):
    robot = BUILDERS[name]()
    bodies = [body.name for body in robot.bodies]
    assert robot.root == bodies[0] and len(set(bodies)) == len(bodies)
    assert len({joint.name for joint in robot.joints}) == len(robot.joints)
    assert [joint.child for joint in robot.joints] == bodies[1:]
    poses = forward_kinematics(robot)  # fails unless parents come before children
    assert set(robot.tips.values()) <= set(poses)
    for joint in robot.joints:
        assert joint.lower < joint.upper and np.linalg.norm(joint.axis) == pytest.approx(1)
    if name != "puma560":
        assert robot.notes == ()
        for body in robot.bodies:
            assert inertia_defect(body.mass, body.inertia) is None


def assert_same_joint(ours: Joint, theirs: Joint) -> None:
    assert (ours.name, ours.kind, ours.parent, ours.child) == (theirs.name, theirs.kind, theirs.parent, theirs.child)
    for attribute in ("lower", "upper", "velocity_limit", "effort_limit", "damping", "friction", "armature"):
        assert getattr(ours, attribute) == getattr(theirs, attribute), (ours.name, attribute)
    assert_allclose(ours.axis, theirs.axis, atol=1e-15)
    assert_allclose(ours.at.as_matrix(), theirs.at.as_matrix(), atol=1e-12)


@pytest.mark.parametrize(
    ("robot", "file", "base"),
    [(robots.panda(), "panda", None), (robots.panda(hand=False), "panda", None), (robots.ur5(), "ur5", "base_link")],
    ids=["panda", "panda without hand", "ur5"],
)
def test_built_in_equals_the_file(robot, file, base):
    published = load_urdf(robot_file(file), base=base)
    bodies = {body.name: body for body in published.bodies}
    joints = {joint.name: joint for joint in published.joints}
    for body in robot.bodies:
        theirs = bodies[body.name]
        assert body.mass == theirs.mass
        assert_allclose(body.com, theirs.com, atol=1e-15)
        assert_allclose(body.inertia, theirs.inertia, atol=1e-15)
    for joint in robot.joints:
        if joint.kind == "revolute":
            assert_same_joint(joint, joints[joint.name])
    poses, expected = forward_kinematics(robot), forward_kinematics(published)
    for name, pose in poses.items():
        assert_allclose(pose.as_matrix(), expected[name].as_matrix(), atol=1e-12, err_msg=name)


def test_panda_leaves_out_only_the_fingers():
    assert [joint.name for joint in robots.panda().joints if joint.kind == "revolute"] == [
        f"panda_joint{i}" for i in range(1, 8)
    ]
    file_mass = sum(body.mass for body in load_urdf(robot_file("panda")).bodies)
    assert sum(body.mass for body in robots.panda().bodies) == pytest.approx(file_mass - 2 * 0.015, rel=1e-15)
    assert robots.panda().tips == {"tip": "panda_hand_tcp"}
    assert robots.panda(hand=False).tips == {"tip": "panda_link8"}


def test_panda_reaches_as_published():
    # Straight up, the flange is 0.333 + 0.316 + 0.384 - 0.107 m above the base and 0.088 m in front of it.
    flange = forward_kinematics(robots.panda())["panda_link8"]
    assert_allclose(flange.translation, (0.088, 0, 0.926), atol=1e-15)


# Robotics Toolbox for Python, tests/test_DHRobot.py, for Puma560() at its configuration qn (gravity 9.81 m/s^2).
PUMA_QN = (0.0, math.pi / 4, math.pi, 0.0, math.pi / 4, 0.0)
PUMA_GRAVITY_LOAD = (0.0, 31.6399, 6.0351, 0.0, 0.0283, 0.0)


def test_puma_gravity_load_is_the_published_one():
    robot = quiet_puma()
    q = dict(zip((joint.name for joint in robot.joints), PUMA_QN, strict=True))
    assert_allclose(gravity_torques(robot, q), PUMA_GRAVITY_LOAD, atol=5.1e-5)


def test_puma_link_frames_follow_the_standard_convention():
    rng = np.random.default_rng(560)
    robot, q = quiet_puma(), rng.uniform(-2, 2, 6)
    d, a = (0.67183, 0, 0.15005, 0.4318, 0, 0), (0, 0.4318, 0.0203, 0, 0, 0)
    alpha = (math.pi / 2, 0, -math.pi / 2, math.pi / 2, -math.pi / 2, 0)
    expected = np.eye(4)
    poses = forward_kinematics(robot, {f"joint{i + 1}": q[i] for i in range(6)})
    for i in range(6):
        c, s, ca, sa = math.cos(q[i]), math.sin(q[i]), math.cos(alpha[i]), math.sin(alpha[i])
        expected = expected @ [
            [c, -s * ca, s * sa, a[i] * c],
            [s, c * ca, -c * sa, a[i] * s],
            [0, sa, ca, d[i]],
            [0, 0, 0, 1],
        ]
        assert_allclose(poses[f"link{i + 1}"].as_matrix(), expected, atol=1e-14)


def test_puma_motors_seen_at_the_joints():
    first, *_, last = quiet_puma().joints
    assert first.armature == pytest.approx(62.6111**2 * 2e-4)
    assert first.damping == pytest.approx(62.6111**2 * 1.48e-3)
    assert first.friction == pytest.approx(62.6111 * 0.415)
    assert last.armature == pytest.approx(76.686**2 * 33e-6)


def test_puma_reports_its_unphysical_inertias_once():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        robot = robots.puma560()
    (report,) = caught
    assert report.category is UnphysicalInertiaWarning and report.filename == __file__
    assert robot.notes == (str(report.message),)
    defective = {body.name for body in robot.bodies if inertia_defect(body.mass, body.inertia)}
    assert (
        defective
        == {"link1", "link3"}
        == {name for name in ("link1", "link2", "link3") if repr(name) in robot.notes[0]}
    )


def test_torso_carries_two_mirrored_pandas():
    robot, arm = robots.torso(), robots.panda()
    assert sum(joint.kind == "revolute" for joint in robot.joints) == 15
    assert sum(body.mass for body in robot.bodies) == pytest.approx(30 + 2 * sum(body.mass for body in arm.bodies))
    poses = forward_kinematics(robot)
    left, right = poses["left_panda_link0"], poses["right_panda_link0"]
    assert_allclose(left.translation, right.translation * (1, -1, 1))
    assert_allclose(left.translation, (0, 0.2, 1.0))
    assert_allclose(left.rotation.apply((0, 0, 1)), np.array([0, 1, 1]) / math.sqrt(2), atol=1e-15)
    reach = forward_kinematics(arm)["panda_hand_tcp"]
    for side, base in (("left", left), ("right", right)):
        assert robot.tips[side] == f"{side}_panda_hand_tcp"
        assert_allclose(poses[robot.tips[side]].as_matrix(), (base * reach).as_matrix(), atol=1e-15)
    assert robots.torso(hand=False).tips == {"left": "left_panda_link8", "right": "right_panda_link8"}


def test_planar_rods():
    arm = robots.planar(3, length=(0.5, 0.4, 0.2), mass=(3, 2, 1))
    for body, length, mass in zip(arm.bodies[1:], (0.5, 0.4, 0.2), (3, 2, 1), strict=True):
        assert body.mass == mass and body.inertia[2, 2] == mass * length**2 / 12
        assert_allclose(body.com, (length / 2, 0, 0))
    assert all(np.array_equal(joint.axis, (0, 0, 1)) for joint in arm.joints)
    assert_allclose(forward_kinematics(arm)[arm.tips["tip"]].translation, (1.1, 0, 0))
    bent = forward_kinematics(arm, {"joint1": math.pi / 2, "joint2": -math.pi / 2})
    assert_allclose(bent[arm.tips["tip"]].translation, (0.6, 0.5, 0), atol=1e-15)
    assert [body.name for body in robots.planar(2).bodies] == ["base", "link1", "link2"]


def test_chain_links():
    robot = robots.chain(7, length=0.3, mass=2.0)
    assert [int(np.argmax(joint.axis)) for joint in robot.joints] == [2, 1, 0, 2, 1, 0, 2]
    assert sum(body.mass for body in robot.bodies) == 14
    assert_allclose(forward_kinematics(robot)[robot.tips["tip"]].translation, (2.1, 0, 0))
    assert len(robots.chain(np.int64(2)).joints) == 2


@pytest.mark.parametrize("build", [robots.planar, robots.chain])
@pytest.mark.parametrize("n", [0, -1, 2.5, 2.0, "3", True, None])
def test_the_number_of_joints_must_be_a_positive_integer(build, n):
    with pytest.raises(BadInputError, match="positive integer"):
        build(n)


@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf, (1, 2, 3), (1, -1), "a", ((1, 2), (3, 4))])
@pytest.mark.parametrize("name", ["length", "mass"])
def test_lengths_and_masses_must_be_positive(name, value):
    with pytest.raises(BadInputError, match=name):
        robots.planar(2, **{name: value})


def test_built_ins_read_no_files():
    code = (
        "import multiarm.robots as r, sys, warnings; warnings.simplefilter('ignore');"
        "r.panda(), r.ur5(), r.puma560(), r.torso(), r.planar(2), r.chain(2);"
        "assert not {'yourdfpy', 'lxml', 'trimesh'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[1])
