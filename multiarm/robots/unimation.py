"""The Unimation PUMA 560."""

from __future__ import annotations

import warnings
from math import pi, radians

from multiarm.description import Body, Joint, Robot, unphysical_notes
from multiarm.errors import UnphysicalInertiaWarning
from multiarm.poses import pose
from multiarm.robots.parts import link

__all__ = ["puma560"]

Vector3 = tuple[float, float, float]

# Standard Denavit-Hartenberg d [m], a [m], alpha [rad], and the range of the joint [degrees].
_JOINTS: tuple[tuple[float, float, float, float, float], ...] = (
    (0.67183, 0.0, pi / 2, -160, 160),
    (0.0, 0.4318, 0.0, -45, 225),
    (0.15005, 0.0203, -pi / 2, -225, 45),
    (0.4318, 0.0, pi / 2, -110, 170),
    (0.0, 0.0, -pi / 2, -100, 100),
    (0.0, 0.0, 0.0, -266, 266),
)
# Mass [kg], centre of mass [m], principal moments about it [kg m^2], axes of the link frame at the end of the link.
_LINKS: tuple[tuple[float, Vector3, Vector3], ...] = (
    (0.0, (0.0, 0.0, 0.0), (0.0, 0.35, 0.0)),
    (17.4, (-0.3638, 0.006, 0.2275), (0.13, 0.524, 0.539)),
    (4.8, (-0.0203, -0.0141, 0.070), (0.066, 0.086, 0.0125)),
    (0.82, (0.0, 0.019, 0.0), (1.8e-3, 1.3e-3, 1.8e-3)),
    (0.34, (0.0, 0.0, 0.0), (0.3e-3, 0.4e-3, 0.3e-3)),
    (0.09, (0.0, 0.0, 0.032), (0.15e-3, 0.15e-3, 0.04e-3)),
)
# At the motor: inertia Jm [kg m^2], gear ratio G, viscous friction B [N m s/rad], Coulomb friction both ways [N m].
_MOTORS: tuple[tuple[float, float, float, float, float], ...] = (
    (200e-6, -62.6111, 1.48e-3, 0.395, -0.435),
    (200e-6, 107.815, 0.817e-3, 0.126, -0.071),
    (200e-6, -53.7063, 1.38e-3, 0.132, -0.105),
    (33e-6, 76.0364, 71.2e-6, 11.2e-3, -16.9e-3),
    (33e-6, 71.923, 82.6e-6, 9.26e-3, -14.5e-3),
    (33e-6, 76.686, 36.7e-6, 3.96e-3, -10.5e-3),
)


def puma560() -> Robot:
    """The Unimation PUMA 560: six revolute joints joint1 to joint6, bodies link0 (the base) to link6, tip link6.

    Numbers from Corke and Armstrong-Helouvry, "A search for consensus among model parameters reported for the PUMA
    560 robot", ICRA 1994, as tabulated in the Robotics Toolbox for Python (models/DH/Puma560.py), whose coordinates
    and link frames these are: frame i sits at the end of link i, Rz(q) Tz(d) Tx(a) Rx(alpha) after frame i - 1. Joint
    ranges: Wang and Chen, IEEE Trans. Robotics and Automation 7(4), 1991 (the toolbox's nominal q3 = 180 degrees is
    its -180 here).

    `armature` is G^2 Jm, `damping` G^2 B. Coulomb friction is published per direction; `friction` is |G| times the
    mean of the two. The sources give link 1 an inertia but no mass (only its inertia about the joint axis matters),
    and link 3 moments that break the triangle inequality: both are kept, and an `UnphysicalInertiaWarning` names
    them.

    Examples
    --------
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", UnphysicalInertiaWarning)
    ...     robot = puma560()
    >>> [round(joint.armature, 4) for joint in robot.joints]
    [0.784, 2.3248, 0.5769, 0.1908, 0.1707, 0.1941]
    """
    links = tuple(
        link(f"link{i}", mass, com, (ixx, 0.0, 0.0, iyy, 0.0, izz))
        for i, (mass, com, (ixx, iyy, izz)) in enumerate(_LINKS, start=1)
    )
    bodies = (Body("link0"), *links)
    joints = tuple(
        Joint(
            f"joint{i}",
            "revolute",
            parent=f"link{i - 1}",
            child=f"link{i}",
            in_child=pose((a, 0, d), rpy=(alpha, 0, 0)).inv(),
            lower=radians(lower),
            upper=radians(upper),
            armature=gear**2 * rotor,
            damping=gear**2 * viscous,
            friction=abs(gear) * (abs(forward) + abs(backward)) / 2,
        )
        for i, ((d, a, alpha, lower, upper), (rotor, gear, viscous, forward, backward)) in enumerate(
            zip(_JOINTS, _MOTORS, strict=True), start=1
        )
    )
    notes = unphysical_notes("puma560", bodies)
    for note in notes:
        warnings.warn(note, UnphysicalInertiaWarning, stacklevel=2)
    return Robot("puma560", bodies, joints, root="link0", tips={"tip": "link6"}, notes=notes)
