"""Two things never share a name without a word, and nothing is left half-built."""

from dataclasses import replace

import numpy as np
import pytest

import multiarm as ma

BALL = {"mass": 1.0, "inertia": (1, 1, 1)}


def arm_with(joint="hinge", link="link", frame="eye", tip="link"):
    m = ma.Mechanism("arm")
    m.add_body("base")
    m.add_body(link, **BALL)
    m.add_joint(joint, "revolute", parent="base", child=link)
    m.add_frame(frame, link)
    return m.as_robot("base", tip=tip)


@pytest.mark.parametrize(
    "robot",
    [
        arm_with(joint="mount"),
        arm_with(frame="tip"),
        arm_with(link="tip", tip="eye"),
        replace(arm_with(), tips={"base": "link"}),
    ],
    ids=["joint called mount", "frame called tip", "link called tip that is not the tip", "tip called like a link"],
)
def test_an_arms_own_names_do_not_hide_the_robots(robot):
    m = ma.Mechanism()
    with pytest.raises(ma.DescriptionError, match="two things called 'a/"):
        m.add_arm("a", robot)
    assert not m.order
    assert not m.frames
    assert not m.arms


def test_a_link_called_tip_may_be_the_tip():
    m = ma.Mechanism()
    m.add_arm("a", arm_with(link="tip", tip="tip"))
    m.add_body("ball", **BALL)
    m.grasp("a", "ball", at=(0, 0, 0))
    assert m.grasps["a"].tip == "a/tip"


def test_existing_names_stop_an_arm_before_anything_is_added():
    m = ma.Mechanism()
    m.add_body("ball", **BALL)
    m.add_frame("a/tip", "ball")
    before = list(m.order)
    with pytest.raises(ma.DescriptionError, match="'a/tip'"):
        m.add_arm("a", arm_with())
    assert m.order == before


def test_a_fixed_body_does_not_replace_a_joint():
    m = ma.Mechanism()
    m.add_body("ball", **BALL)
    m.add_joint("t/fixed", "revolute", parent="world", child="ball")
    with pytest.raises(ma.DescriptionError, match="'t/fixed'"):
        m.add_body("t", fixed=True)
    assert m.compile().nv == 1


def test_a_floating_body_finds_a_name_for_its_free_joint():
    m = ma.Mechanism()
    for name in ("bar", "a", "b"):
        m.add_body(name, **BALL)
    m.add_joint("bar", "revolute", parent="world", child="a")
    m.add_joint("bar/free", "revolute", parent="world", child="b")
    model = m.compile()
    assert model.nv == 8
    assert model.v_slice("bar/free/free") == slice(0, 6)
    assert np.linalg.norm(model.neutral[:4]) == 1.0


def test_an_arm_with_a_loose_body_is_refused():
    robot = arm_with()
    loose = replace(robot, bodies=(*robot.bodies, ma.Body("screw", mass=1.0, inertia=np.eye(3))))
    with pytest.raises(ma.DescriptionError, match="no joint connects 'screw' with 'base'"):
        ma.Mechanism().add_arm("a", loose)


def test_an_arm_made_by_hand_reports_an_impossible_inertia_once():
    robot = arm_with()
    bodies = (robot.bodies[0], replace(robot.bodies[1], inertia=np.diag((1.0, 1.0, -5.0))))
    with pytest.warns(ma.UnphysicalInertiaWarning, match="'link'") as reports:
        ma.Mechanism().add_arm("a", replace(robot, bodies=bodies))
    assert len(reports) == 1
