"""Paths of objects and of joints: where to be, how fast, and how to accelerate, at any time.

A path of an object is called with a time and returns its pose, velocity and acceleration; one of joints returns
coordinates, rates and accelerations, which makes it a time law for `multiarm.follow` too. Before its first time and
after its last a path rests at its ends. Each is one table of numbers (`table`) that compiled code evaluates.
"""

from multiarm.paths.joints import joint_law, joint_quintic, joint_trapezoid
from multiarm.paths.objects import circle, from_file, hold, quintic, trapezoid
from multiarm.paths.tables import JointPath, Path

__all__ = [
    "JointPath",
    "Path",
    "circle",
    "from_file",
    "hold",
    "joint_law",
    "joint_quintic",
    "joint_trapezoid",
    "quintic",
    "trapezoid",
]
