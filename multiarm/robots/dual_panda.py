"""Two Panda arms on one torso."""

from __future__ import annotations

from math import pi

import numpy as np

from contacts import Box
from multiarm.description import Body, Joint, Robot
from multiarm.poses import pose
from multiarm.robots.franka import panda_parts

__all__ = ["torso"]

_COLUMN = Box((0.2, 0.3, 0.6))  # m
_COLUMN_MASS = 30.0  # kg
_WAIST_HEIGHT = 0.5  # m above the floor
_SHOULDER_HEIGHT = 0.5  # m above the waist
_SHOULDER_OFFSET = 0.2  # m to either side
_TILT = pi / 4  # rad outward from the vertical


def torso(hand: bool = True) -> Robot:
    """Two Panda arms on a torso that turns about the vertical: fifteen joints, tips "left" and "right".

    The joint `waist` turns `torso` on `torso_base`; `left_mount` and `right_mount` fix the arms to it, 0.2 m to the
    left (+y) and right, their bases tilted 45 degrees outward. Arm names are those of `panda` after "left_" and
    "right_", so left_panda_joint1 and so on.

    The arms are published: see `panda`. The torso is not: a uniform box of 30 kg, 0.2 x 0.3 x 0.6 m, its waist 0.5 m
    above the floor, turning +-2.9 rad at up to 1.5 rad/s and 200 N m. These are round figures for a laboratory
    set-up, chosen here.

    Examples
    --------
    >>> robot = torso()
    >>> sum(joint.kind == "revolute" for joint in robot.joints), dict(robot.tips)
    (15, {'left': 'left_panda_hand_tcp', 'right': 'right_panda_hand_tcp'})
    """
    column = Body(
        "torso",
        mass=_COLUMN_MASS,
        com=np.array([0, 0, _COLUMN.size[2] / 2]),
        inertia=np.diag(_COLUMN.inertia(_COLUMN_MASS)),
    )
    waist = Joint(
        "waist",
        "revolute",
        parent="torso_base",
        child="torso",
        at=pose((0, 0, _WAIST_HEIGHT)),
        lower=-2.9,
        upper=2.9,
        velocity_limit=1.5,
        effort_limit=200.0,
    )
    bodies, joints, frames, tips = [Body("torso_base"), column], [waist], [], {}
    for side, sign in (("left", 1), ("right", -1)):
        shoulder = pose((0, sign * _SHOULDER_OFFSET, _SHOULDER_HEIGHT), rpy=(-sign * _TILT, 0, 0))
        arm_bodies, arm_joints, arm_frames, tips[side] = panda_parts(f"{side}_panda_", hand)
        bodies += arm_bodies
        joints += [Joint(f"{side}_mount", "fixed", "torso", arm_bodies[0].name, at=shoulder), *arm_joints]
        frames += arm_frames
    return Robot("torso", tuple(bodies), tuple(joints), root="torso_base", frames=tuple(frames), tips=tips)
