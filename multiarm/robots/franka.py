"""The Franka Emika Panda."""

from __future__ import annotations

from math import pi

from multiarm.description import Body, Frame, Joint, Robot
from multiarm.poses import pose
from multiarm.robots.parts import SixMoments, link

__all__ = ["panda", "panda_parts"]

Vector3 = tuple[float, float, float]

# Modified (Craig) Denavit-Hartenberg a [m], d [m], alpha [rad]; lower, upper [rad], velocity [rad/s], torque [N m].
_JOINTS: tuple[tuple[float, float, float, float, float, float, float], ...] = (
    (0.0, 0.333, 0.0, -2.8973, 2.8973, 2.175, 87.0),
    (0.0, 0.0, -pi / 2, -1.7628, 1.7628, 2.175, 87.0),
    (0.0, 0.316, pi / 2, -2.8973, 2.8973, 2.175, 87.0),
    (0.0825, 0.0, pi / 2, -3.0718, -0.0698, 2.175, 87.0),
    (-0.0825, 0.384, -pi / 2, -2.8973, 2.8973, 2.61, 12.0),
    (0.0, 0.0, pi / 2, -0.0175, 3.7525, 2.61, 12.0),
    (0.088, 0.0, pi / 2, -2.8973, 2.8973, 2.61, 12.0),
)
_FLANGE = 0.107  # m along z of link 7
_TCP = 0.1034  # m along z of the hand
_DAMPING = 0.003  # N m s/rad

# Mass [kg], centre of mass [m], (ixx, ixy, ixz, iyy, iyz, izz) about it [kg m^2], link axes.
_LINKS: tuple[tuple[float, Vector3, SixMoments], ...] = (
    (0.629769, (-0.041018, -0.00014, 0.049974), (0.00315, 8.2904e-07, 0.00015, 0.00388, 8.2299e-06, 0.004285)),
    (4.970684, (0.003875, 0.002081, -0.04762), (0.70337, -0.000139, 0.006772, 0.70661, 0.019169, 0.009117)),
    (0.646926, (-0.003141, -0.02872, 0.003495), (0.007962, -0.003925, 0.010254, 0.02811, 0.000704, 0.025995)),
    (3.228604, (0.027518, 0.039252, -0.066502), (0.037242, -0.004761, -0.011396, 0.036155, -0.012805, 0.01083)),
    (3.587895, (-0.05317, 0.104419, 0.027454), (0.025853, 0.007796, -0.001332, 0.019552, 0.008641, 0.028323)),
    (1.225946, (-0.011953, 0.041065, -0.038437), (0.035549, -0.002117, -0.004037, 0.029474, 0.000229, 0.008627)),
    (1.666555, (0.060149, -0.014117, -0.010517), (0.001964, 0.000109, -0.001158, 0.004354, 0.000341, 0.005433)),
    (0.735522, (0.010517, -0.004252, 0.061597), (0.012516, -0.000428, -0.001196, 0.010027, -0.000741, 0.004815)),
)
_HAND: tuple[float, Vector3, SixMoments] = (0.73, (-0.01, 0.0, 0.03), (0.001, 0.0, 0.0, 0.0025, 0.0, 0.0017))


def panda(hand: bool = True) -> Robot:
    """The Franka Emika Panda: seven revolute joints and, unless `hand` is False, the Franka hand.

    Bodies panda_link0 to panda_link7 and panda_hand, joints panda_joint1 to panda_joint7; the hand is fixed to link 7
    and its two fingers (15 g each) are left out. The tip is panda_hand_tcp, 0.1034 m along z of the hand, or the
    flange panda_link8 without a hand.

    Kinematics and limits of position, velocity and torque: Franka Control Interface documentation, "Robot and
    interface specifications" (modified Denavit-Hartenberg). Masses, centres of mass, inertias and joint damping: the
    panda file of franka_ros/franka_description, as shipped in example-robot-data. Gaz et al., "Dynamic Identification
    of the Franka Emika Panda Robot", IEEE RA-L 4(4), 2019, identified other values, which are not used here.

    Examples
    --------
    >>> robot = panda()
    >>> len(robot.joints), robot.tips["tip"], round(sum(body.mass for body in robot.bodies), 6)
    (8, 'panda_hand_tcp', 17.421901)
    """
    bodies, joints, frames, tip = panda_parts("panda_", hand)
    return Robot("panda", tuple(bodies), tuple(joints), root="panda_link0", frames=tuple(frames), tips={"tip": tip})


def panda_parts(prefix: str, hand: bool = True) -> tuple[list[Body], list[Joint], list[Frame], str]:
    """Bodies, joints, frames and the tip's name of one Panda whose names start with `prefix`."""
    bodies = [link(f"{prefix}link{i}", *row) for i, row in enumerate(_LINKS)]
    joints = [
        Joint(
            f"{prefix}joint{i}",
            "revolute",
            parent=f"{prefix}link{i - 1}",
            child=f"{prefix}link{i}",
            at=pose(rpy=(alpha, 0, 0)) * pose((a, 0, d)),
            lower=lower,
            upper=upper,
            velocity_limit=velocity,
            effort_limit=torque,
            damping=_DAMPING,
        )
        for i, (a, d, alpha, lower, upper, velocity, torque) in enumerate(_JOINTS, start=1)
    ]
    flange = Frame(f"{prefix}link8", f"{prefix}link7", pose((0, 0, _FLANGE)))
    if not hand:
        return bodies, joints, [flange], flange.name
    bodies.append(link(f"{prefix}hand", *_HAND))
    mount = pose((0, 0, _FLANGE), rpy=(0, 0, -pi / 4))
    joints.append(Joint(f"{prefix}hand_joint", "fixed", parent=f"{prefix}link7", child=f"{prefix}hand", at=mount))
    tcp = Frame(f"{prefix}hand_tcp", f"{prefix}hand", pose((0, 0, _TCP)))
    return bodies, joints, [flange, tcp], tcp.name
