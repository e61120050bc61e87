"""The Universal Robots UR5."""

from __future__ import annotations

import numpy as np

from multiarm.description import Frame, Joint, Robot
from multiarm.poses import pose
from multiarm.robots.parts import SixMoments, link

__all__ = ["ur5"]

Vector3 = tuple[float, float, float]

# Pi as the source rounds it: with more digits, results would differ from those of the file in the eleventh.
_PI = 3.14159265359
_HALF_PI = 1.57079632679
_TWO_PI = 6.28318530718

_LINKS: tuple[tuple[str, float, Vector3, SixMoments], ...] = (
    ("base_link", 4.0, (0.0, 0.0, 0.0), (0.00443333156, 0.0, 0.0, 0.00443333156, 0.0, 0.0072)),
    ("shoulder_link", 3.7, (0.0, 0.0, 0.0), (0.010267495893, 0.0, 0.0, 0.010267495893, 0.0, 0.00666)),
    ("upper_arm_link", 8.393, (0.0, 0.0, 0.28), (0.22689067591, 0.0, 0.0, 0.22689067591, 0.0, 0.0151074)),
    ("forearm_link", 2.275, (0.0, 0.0, 0.25), (0.049443313556, 0.0, 0.0, 0.049443313556, 0.0, 0.004095)),
    ("wrist_1_link", 1.219, (0.0, 0.0, 0.0), (0.111172755531, 0.0, 0.0, 0.111172755531, 0.0, 0.21942)),
    ("wrist_2_link", 1.219, (0.0, 0.0, 0.0), (0.111172755531, 0.0, 0.0, 0.111172755531, 0.0, 0.21942)),
    ("wrist_3_link", 0.1879, (0.0, 0.0, 0.0), (0.0171364731454, 0.0, 0.0, 0.0171364731454, 0.0, 0.033822)),
)
# Name, origin xyz [m], pitch of the origin [rad], axis, range +- [rad], velocity [rad/s], torque [N m].
_JOINTS: tuple[tuple[str, Vector3, float, Vector3, float, float, float], ...] = (
    ("shoulder_pan_joint", (0.0, 0.0, 0.089159), 0.0, (0.0, 0.0, 1.0), _TWO_PI, 3.15, 150.0),
    ("shoulder_lift_joint", (0.0, 0.13585, 0.0), _HALF_PI, (0.0, 1.0, 0.0), _TWO_PI, 3.15, 150.0),
    ("elbow_joint", (0.0, -0.1197, 0.425), 0.0, (0.0, 1.0, 0.0), _PI, 3.15, 150.0),
    ("wrist_1_joint", (0.0, 0.0, 0.39225), _HALF_PI, (0.0, 1.0, 0.0), _TWO_PI, 3.2, 28.0),
    ("wrist_2_joint", (0.0, 0.093, 0.0), 0.0, (0.0, 0.0, 1.0), _TWO_PI, 3.2, 28.0),
    ("wrist_3_joint", (0.0, 0.0, 0.09465), 0.0, (0.0, 1.0, 0.0), _TWO_PI, 3.2, 28.0),
)


def ur5() -> Robot:
    """The Universal Robots UR5: six revolute joints, bodies base_link to wrist_3_link, tip tool0.

    All numbers from the ur5 file of ros-industrial/universal_robot, ur_description (branch kinetic-devel), as shipped
    in example-robot-data, without its massless links; tool0, ee_link and base are frames. The wrist inertias there
    are larger than bodies of that size have (radius of gyration 0.4 m); they are kept, because results published with
    this file contain them.

    Examples
    --------
    >>> robot = ur5()
    >>> len(robot.joints), robot.tips["tip"], round(sum(body.mass for body in robot.bodies), 4)
    (6, 'tool0', 20.9939)
    """
    bodies = tuple(link(*row) for row in _LINKS)
    joints = tuple(
        Joint(
            name,
            "revolute",
            parent=parent.name,
            child=child.name,
            at=pose(xyz, rpy=(0, pitch, 0)),
            axis=np.array(axis),
            lower=-reach,
            upper=reach,
            velocity_limit=velocity,
            effort_limit=torque,
        )
        for (name, xyz, pitch, axis, reach, velocity, torque), parent, child in zip(
            _JOINTS, bodies[:-1], bodies[1:], strict=True
        )
    )
    frames = (
        Frame("base", "base_link", pose(rpy=(0, 0, -_PI))),
        Frame("ee_link", "wrist_3_link", pose((0, 0.0823, 0), rpy=(0, 0, _HALF_PI))),
        Frame("tool0", "wrist_3_link", pose((0, 0.0823, 0), rpy=(-_HALF_PI, 0, 0))),
    )
    return Robot("ur5", bodies, joints, root="base_link", frames=frames, tips={"tip": "tool0"})
