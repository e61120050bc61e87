"""Moving coordinates along velocities: quaternions stay unit."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from multiarm.model import Model

__all__ = ["advance"]


def advance(model: Model, q: np.ndarray, step: np.ndarray) -> np.ndarray:
    """q moved by `step` (nv entries, a velocity times a time); exact for a constant velocity of each joint's own v.

    A free joint turns about the axes of its parent frame, a spherical one about those of its child.
    """
    moved = np.array(q)
    for place in model.joints.values():
        change = step[place.v]
        if place.joint.kind not in ("spherical", "free"):
            moved[place.q] += change
            continue
        quaternion = slice(place.q.start, place.q.start + 4)
        now, turn = Rotation.from_quat(moved[quaternion]), Rotation.from_rotvec(change[:3])
        turned = (now * turn if place.joint.kind == "spherical" else turn * now).as_quat()
        moved[quaternion] = turned if turned @ moved[quaternion] >= 0.0 else -turned
        if place.joint.kind == "free":
            moved[place.q.start + 4 : place.q.stop] += change[3:]
    return moved
