"""What `load_mjcf` makes of a file, what it leaves out, and what it refuses."""

from __future__ import annotations

import sys
from math import inf, radians

import numpy as np
import pytest
from numpy.testing import assert_allclose

import multiarm as ma
from contacts import Box, Capsule, Cylinder, Sphere

pytest.importorskip("mujoco", reason="the test extra brings MuJoCo")

from mjcf_scenes import ARMS, HINGES, LOCAL, PLAIN, ROD, compiled

# --- equalities -------------------------------------------------------------------------------------------------------


def test_couplings_count_from_the_references():
    rest = '<equality><joint joint1="b" joint2="a" polycoef="0.1 -1.7 0 0 0"/></equality>'
    robot = ma.load_mjcf(PLAIN.format(bodies=HINGES, rest=rest))
    (coupling,) = robot.couplings
    assert (coupling.joint, coupling.source, coupling.ratio) == ("b", "a", -1.7)
    assert coupling.offset == pytest.approx(-0.2 + 0.1 + 1.7 * 0.3)
    assert [joint.name for joint in robot.joints if joint.passive] == ["b"]


def test_equalities_that_are_not_active_are_noted():
    rest = '<equality><weld name="one" body1="l5" body2="bar" active="false"/></equality>'
    robot = ma.load_mjcf(PLAIN.format(bodies=ARMS, rest=rest))
    assert not any(joint.closes_loop for joint in robot.joints)
    assert any("not active" in note and "'one'" in note for note in robot.notes)
    off = '<option><flag equality="disable"/></option>' + rest.replace("false", "true")
    assert any("'one'" in note for note in ma.load_mjcf(PLAIN.format(bodies=ARMS, rest=off)).notes)


@pytest.mark.parametrize(
    ("rest", "names"),
    [
        ('<equality><joint name="bent" joint1="a" joint2="b" polycoef="0 1 0.5 0 0"/></equality>', ("bent", "a", "b")),
        (
            '<tendon><fixed name="t"><joint joint="a" coef="1"/></fixed></tendon>'
            '<equality><tendon name="taut" tendon1="t"/></equality>',
            ("taut",),
        ),
        ('<equality><joint joint1="a"/><joint joint1="b" joint2="a"/></equality>', ("b", "a")),
        ('<equality><joint joint1="a"/><joint joint1="a" polycoef="1 0 0 0 0"/></equality>', ("a",)),
    ],
)
def test_equalities_beyond_a_robot_are_refused_by_name(rest, names):
    with pytest.raises(ma.RobotFileError, match=repr(names[0])) as caught:
        ma.load_mjcf(PLAIN.format(bodies=HINGES, rest=rest))
    assert caught.value.names == names


# --- what a robot is made of ------------------------------------------------------------------------------------------


def test_a_single_free_body_floats():
    robot = ma.load_mjcf(PLAIN.format(bodies=LOCAL["floats"], rest=""))
    assert (robot.root, robot.floating, robot.tips) == ("trunk", True, {"tip": "tip"})
    assert [(joint.name, joint.kind) for joint in robot.joints] == [("body2", "spherical"), ("tip/fixed", "fixed")]
    mechanism = ma.Mechanism()
    mechanism.add_arm("r", robot, base=ma.pose((1, 2, 3)))
    model = mechanism.compile()
    assert_allclose(ma.kinematics(model, model.state()).pose("r/trunk").translation, (1, 2, 3))


@pytest.mark.parametrize(
    "rest",
    [
        '<worldbody><site name="mark"/></worldbody>',
        '<equality><weld body1="tip"/></equality>',
        "<worldbody><body/></worldbody>",
    ],
)
def test_what_also_touches_the_world_keeps_it(rest):
    robot = ma.load_mjcf(PLAIN.format(bodies=LOCAL["floats"], rest=rest))
    assert (robot.root, robot.floating) == ("world", False)
    assert robot.joints[0].kind == "free"
    model = compiled(robot)
    assert_allclose(ma.kinematics(model, model.state()).pose("robot/trunk").translation, (0.1, 0, 1))


def test_a_free_joint_with_armature_is_kept():
    text = PLAIN.format(bodies=LOCAL["floats"], rest="").replace("<freejoint/>", '<joint type="free" armature="0.1"/>')
    robot = ma.load_mjcf(text)
    assert (robot.root, robot.joints[0].kind, robot.joints[0].armature) == ("world", "free", 0.1)
    with pytest.warns(ma.RobotFileWarning, match="armature of the free joint of 'trunk'"):
        assert ma.load_mjcf(text, base="trunk").floating


def test_from_a_base_on():
    text = PLAIN.format(bodies=ARMS, rest="")
    robot = ma.load_mjcf(text, base="r2", tip="r hand")
    assert [body.name for body in robot.bodies] == ["r2", "r3", "r4", "r5"]
    assert (robot.root, robot.tips, [frame.name for frame in robot.frames]) == ("r2", {"tip": "r hand"}, ["r hand"])
    assert not robot.floating
    assert ma.load_mjcf(text, base="r2", floating=True).floating
    assert not ma.load_mjcf(text, base="bar", floating=False).floating
    rest = '<equality><weld body1="r5" body2="bar"/><weld body1="l5" body2="bar"/></equality>'
    with pytest.warns(ma.RobotFileWarning, match="equalities with what is not below 'r': 'r5:bar'$"):
        robot = ma.load_mjcf(PLAIN.format(bodies=ARMS, rest=rest), base="r")
    assert not any(joint.closes_loop for joint in robot.joints)


def test_tips_are_bodies_or_sites():
    text = PLAIN.format(bodies=ARMS, rest="")
    assert ma.load_mjcf(text).tips == {}
    assert ma.load_mjcf(text.replace("r hand", "tip")).tips == {"tip": "tip"}
    assert ma.load_mjcf(text, tip={"left": "l hand", "right": "r5"}).tips == {"left": "l hand", "right": "r5"}
    mechanism = ma.Mechanism()
    mechanism.add_arm("left", ma.load_mjcf(text, base="l", tip="l hand"))
    mechanism.add_body("box", mass=1, shape=Box((0.1, 0.1, 0.1)))
    mechanism.grasp("left", "box", at=ma.pose())
    model = mechanism.compile()
    state = ma.assemble(model, {"box": [0, 0, 0, 1, 1.5, 0, 0]})
    meet = ma.kinematics(model, state).pose("left/tip").inv() * ma.kinematics(model, state).pose("box")
    assert np.abs(meet.as_matrix() - np.eye(4)).max() < 1e-9


def test_a_site_called_like_a_body():
    bodies = f'<body name="hand"><joint/>{ROD.format(mass=1)}<site name="hand" pos="0 0 1"/></body>'
    robot = ma.load_mjcf(PLAIN.format(bodies=bodies, rest=""), tip="hand.site")
    assert [frame.name for frame in robot.frames] == ["hand.site"]
    assert compiled(robot).nv == 1


def test_several_joints_hang_on_bodies_without_mass():
    robot = ma.load_mjcf(PLAIN.format(bodies=LOCAL["references"], rest=""))
    assert [(body.name, body.mass) for body in robot.bodies] == [("world", 0.0), ("a:turn", 0.0), ("a", 8.0)]
    assert [(j.name, j.parent, j.child) for j in robot.joints] == [
        ("turn", "world", "a:turn"),
        ("slide", "a:turn", "a"),
    ]


def test_ranges_losses_and_efforts():
    bodies = """<body><joint name="a" range="-10 20" damping="0.3" frictionloss="0.2" armature="0.1"/>{}
      <body><joint name="b" type="slide" range="-1 2" limited="false" actuatorfrcrange="-3 5"/>{}
        <body><joint name="c"/>{}<body><joint name="d" type="ball" range="0 1"/>{}</body></body></body></body>"""
    bodies = bodies.format(*[ROD.format(mass=1)] * 4)
    text = PLAIN.format(bodies=bodies, rest="").replace("radian", "degree")
    a, b, c, d = ma.load_mjcf(text).joints
    assert (a.lower, a.upper) == pytest.approx((radians(-10), radians(20)))
    assert (a.damping, a.friction, a.armature, a.effort_limit) == (0.3, 0.2, 0.1, inf)
    assert (b.lower, b.upper, b.effort_limit) == (-inf, inf, 5.0)
    assert (d.lower, d.upper) == (-inf, inf)
    assert not any(joint.passive for joint in (a, b, c, d))
    assert any("'d'" in note for note in ma.load_mjcf(text).notes)
    rest = '<actuator><motor joint="a" gear="-10" forcerange="-2 3"/><motor joint="b" forcerange="-9 9"/></actuator>'
    a, b, c, d = ma.load_mjcf(text.replace("</worldbody>", "</worldbody>" + rest)).joints
    assert [joint.passive for joint in (a, b, c, d)] == [False, False, True, True]
    assert [joint.effort_limit for joint in (a, b, c)] == [30.0, 5.0, inf]


def test_actuators_through_a_fixed_tendon_drive_its_joints():
    rest = """<tendon><fixed name="t"><joint joint="b" coef="1"/><joint joint="c" coef="1"/></fixed></tendon>
      <actuator><motor tendon="t"/></actuator>"""
    robot = ma.load_mjcf(PLAIN.format(bodies=HINGES, rest=rest))
    assert [joint.name for joint in robot.joints if not joint.passive] == ["b", "c"]


@pytest.mark.parametrize(
    ("geom", "shape"),
    [
        ('type="box" size="0.1 0.2 0.3"', Box((0.2, 0.4, 0.6))),
        ('type="sphere" size="0.1"', Sphere(0.1)),
        ('type="cylinder" size="0.1 0.2"', Cylinder(0.1, 0.4)),
        ('type="capsule" size="0.1 0.2"', Capsule(0.1, 0.4)),
        ('type="ellipsoid" size="0.1 0.2 0.3"', None),
        ('type="box" size="0.1 0.2 0.3" pos="0 0 1"', None),
    ],
)
def test_shapes(geom, shape):
    robot = ma.load_mjcf(PLAIN.format(bodies=f"<body><joint/><geom {geom}/></body>", rest=""))
    assert robot.bodies[1].shape == shape


def test_from_a_file(tmp_path):
    (tmp_path / "part.xml").write_text(f"<mujoco><worldbody>{HINGES}</worldbody></mujoco>")
    path = tmp_path / "robot.xml"
    path.write_text('<mujoco model="r"><compiler angle="radian"/><include file="part.xml"/></mujoco>')
    for given in (path, str(path)):
        robot = ma.load_mjcf(given)
        assert (robot.name, len(robot.joints), robot.tips) == ("r", 4, {"tip": "d"})


# --- what is left out, and what is refused ----------------------------------------------------------------------------

ACTING = {
    "springs of joints 'a'": ('<joint name="a"', '<joint name="a" stiffness="2"'),
    "gravity compensation of bodies 'b'": ('<body name="b"', '<body name="b" gravcomp="1"'),
    "tendons 't'": (
        "</mujoco>",
        '<tendon><fixed name="t" stiffness="3"><joint joint="a" coef="1"/></fixed></tendon></mujoco>',
    ),
    "the laws of actuators 'servo'": (
        "</mujoco>",
        '<actuator><position name="servo" joint="a" kp="3"/><motor joint="b"/></actuator></mujoco>',
    ),
    "contact pairs 'touch'": (
        "</mujoco>",
        '<worldbody><geom name="g" type="plane" size="1 1 1"/><body><geom name="h" size="1"/></body></worldbody>'
        '<contact><pair name="touch" geom1="g" geom2="h"/></contact></mujoco>',
    ),
    "forces of the medium": ("</mujoco>", '<option density="1.2"/></mujoco>'),
    r"gravity, which is Mechanism.compile\(gravity=\(0, 0, -1.62\)\)": (
        "</mujoco>",
        '<option gravity="0 0 -1.62"/></mujoco>',
    ),
    r"compile\(gravity=\(0, 0, 0\)\)": ("</mujoco>", '<option><flag gravity="disable"/></option></mujoco>'),
}


@pytest.mark.parametrize("what", ACTING)
def test_one_warning_names_what_is_not_taken_over(what):
    with pytest.warns(ma.RobotFileWarning, match=f"not taken over: {what}" if "compile" not in what else what) as seen:
        robot = ma.load_mjcf(PLAIN.format(bodies=HINGES, rest="").replace(*ACTING[what]))
    assert len(seen) == 1
    assert seen[0].filename == __file__
    assert str(seen[0].message) in robot.notes


def test_all_that_is_not_taken_over_makes_one_warning():
    text = PLAIN.format(bodies=HINGES, rest="")
    for change in ACTING.values():
        text = text.replace(*change)
    with pytest.warns(
        ma.RobotFileWarning, match="springs.*compensation.*tendons.*laws.*pairs.*medium.*gravity"
    ) as seen:
        ma.load_mjcf(text)
    assert len(seen) == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<mujoco><nonsense/></mujoco>", "unrecognized element.*'nonsense'"),
        ("<mujoco", "XML"),
        ("<mujoco><worldbody><body name='light'><joint/></body></worldbody></mujoco>", "mass and inertia.*'light'"),
        ("<mujoco><asset><mesh name='m' file='no.stl'/></asset></mujoco>", "no.stl"),
    ],
)
def test_what_mujoco_refuses_is_told_in_its_words(text, words):
    with pytest.raises(ma.RobotFileError, match=f"MJCF text: MuJoCo cannot compile it: .*{words}") as caught:
        ma.load_mjcf(text)
    assert caught.value.path == "MJCF text"


def test_files_that_are_not_there(tmp_path):
    for path in (tmp_path / "no.xml", str(tmp_path / "no.xml"), ""):
        with pytest.raises(ma.RobotFileError, match="cannot be read"):
            ma.load_mjcf(path)
    with pytest.raises(ma.RobotFileError, match="cannot be read"):
        ma.load_mjcf(tmp_path)
    (tmp_path / "broken.xml").write_text("<mujoco>")
    with pytest.raises(ma.RobotFileError, match=r"broken.xml: MuJoCo cannot compile it"):
        ma.load_mjcf(tmp_path / "broken.xml")
    with pytest.raises(ma.BadInputError, match="a path or MJCF text"):
        ma.load_mjcf(3)


def test_a_file_without_bodies():
    with pytest.raises(ma.RobotFileError, match="no bodies"):
        ma.load_mjcf("<mujoco><worldbody><geom size='1'/></worldbody></mujoco>")


def test_unknown_names_list_the_choices():
    text = PLAIN.format(bodies=ARMS, rest="")
    with pytest.raises(ma.UnknownNameError, match="'l hand'"):
        ma.load_mjcf(text, tip="l hnad")
    with pytest.raises(ma.UnknownNameError, match="below 'l'"):
        ma.load_mjcf(text, base="l", tip={"right": "r hand"})
    with pytest.raises(ma.UnknownNameError, match="'bar'"):
        ma.load_mjcf(text, base="baar")
    with pytest.raises(ma.BadInputError, match="tip"):
        ma.load_mjcf(text, tip=3)
    with pytest.raises(ma.BadInputError, match="base="):
        ma.load_mjcf(text, floating=True)


def test_without_mujoco_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(ma.MissingExtraError, match=r"pip install 'multiarm\[mjcf\]'") as caught:
        ma.load_mjcf("<mujoco/>")
    assert (caught.value.extra, caught.value.name) == ("mjcf", "mujoco")
