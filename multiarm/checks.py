"""Whether bodies, joints and robots make sense, whoever made them; errors name the culprit."""

from __future__ import annotations

from collections import Counter

import networkx as nx
import numpy as np
from numpy.typing import ArrayLike

from multiarm.description import Body, Joint, Robot, inertia_defect
from multiarm.errors import BadInputError, DescriptionError, UnknownNameError
from multiarm.joints import joint_kind
from multiarm.poses import as_vector3

__all__ = ["as_bound", "as_direction", "as_number", "check_body", "check_joint", "check_robot"]


def as_number(value: float, what: str) -> float:
    """A finite number, or an error that names `what`."""
    number = as_bound(value, what)
    if not np.isfinite(number):
        raise BadInputError(f"{what}: {number} is not finite")
    return number


def as_bound(value: float, what: str) -> float:
    """A number that may be infinite, or an error that names `what`."""
    try:
        number = float(value)
    except (TypeError, ValueError) as error:
        raise BadInputError(f"{what}: expected a number, not {value!r}") from error
    if np.isnan(number):
        raise BadInputError(f"{what}: {number} is not finite")
    return number


def as_direction(value: ArrayLike, what: str) -> np.ndarray:
    """A unit vector along `value`."""
    vector = as_vector3(value, what)
    length = float(np.linalg.norm(vector))
    if length < 1e-9:
        raise DescriptionError(f"{what} has no direction: {value!r}")
    return vector / length


def check_body(body: Body, strict: bool) -> None:
    """Mass and inertia finite and not negative; if `strict`, of a kind that a rigid body can have."""
    what = f"body {body.name!r}"
    if as_number(body.mass, f"{what}: mass") < 0.0:
        raise DescriptionError(f"{what}: mass {body.mass} kg is negative", [body.name])
    as_vector3(body.com, f"{what}: com")
    if np.shape(body.inertia) != (3, 3) or not np.all(np.isfinite(body.inertia)):
        raise BadInputError(f"{what}: the inertia must be a finite 3x3 array")
    defect = inertia_defect(body.mass, body.inertia) if strict else None
    if defect:
        raise DescriptionError(f"{what}: {defect}; strict=False keeps it as given", [body.name])


def check_joint(joint: Joint) -> None:
    """Kind, axes, limits and losses of a joint."""
    what = f"joint {joint.name!r}"
    kind = joint_kind(joint.kind)
    if joint.parent == joint.child:
        raise DescriptionError(f"{what} would connect body {joint.parent!r} with itself", [joint.name, joint.parent])
    for quantity, given in (("axis2", joint.axis2 is not None), ("pitch", joint.pitch != 0.0)):
        if given and quantity not in kind.takes:
            raise DescriptionError(f"{what}: a {joint.kind} joint has no {quantity}", [joint.name])
    if "axis2" in kind.takes:
        if joint.axis2 is None:
            raise DescriptionError(f"{what}: a {joint.kind} joint needs axis2=", [joint.name])
        if abs(as_direction(joint.axis, what) @ as_direction(joint.axis2, f"{what}: axis2")) > 1.0 - 1e-9:
            raise DescriptionError(f"{what}: axis and axis2 are parallel", [joint.name])
    if abs(np.linalg.norm(as_direction(joint.axis, f"{what}: axis") - joint.axis)) > 1e-9:
        raise DescriptionError(f"{what}: axis {joint.axis} is not a unit vector", [joint.name])
    as_number(joint.pitch, f"{what}: pitch")
    if not as_bound(joint.lower, f"{what}: lower") <= as_bound(joint.upper, f"{what}: upper"):
        raise DescriptionError(f"{what}: lower limit {joint.lower} is above upper limit {joint.upper}", [joint.name])
    for quantity in ("armature", "damping", "friction"):
        number = as_number(getattr(joint, quantity), f"{what}: {quantity}")
        if number < 0.0:
            raise DescriptionError(f"{what}: {quantity} must not be negative, but is {number}", [joint.name])
    for quantity in ("velocity_limit", "effort_limit"):
        number = as_bound(getattr(joint, quantity), f"{what}: {quantity}")
        if not number > 0.0:
            raise DescriptionError(f"{what}: {quantity} must be positive, not {number}", [joint.name])


def check_robot(robot: Robot) -> None:
    """A robot whose parts make sense, refer to each other and hang together; inertias are taken as given."""
    bodies, joints = [body.name for body in robot.bodies], [joint.name for joint in robot.joints]
    frames = [frame.name for frame in robot.frames]
    for what, names in (("bodies or frames", bodies + frames), ("joints", joints)):
        twice = [name for name, count in Counter(names).items() if count > 1]
        if twice:
            raise DescriptionError(f"robot {robot.name!r} has two {what} called {twice[0]!r}", twice)
    for body in robot.bodies:
        check_body(body, strict=False)
    for joint in robot.joints:
        check_joint(joint)
    used = [robot.root, *(body for joint in robot.joints for body in (joint.parent, joint.child))]
    for name in used + [frame.body for frame in robot.frames]:
        if name not in bodies:
            raise UnknownNameError(f"body of robot {robot.name!r}", name, bodies)
    joined = nx.Graph([(joint.parent, joint.child) for joint in robot.joints])
    joined.add_nodes_from(bodies)
    loose = [name for name in bodies if name not in nx.node_connected_component(joined, robot.root)]
    if loose:
        raise DescriptionError(f"robot {robot.name!r}: no joint connects {loose[0]!r} with {robot.root!r}", loose)
    for name in robot.tips.values():
        if name not in bodies and name not in frames:
            raise UnknownNameError(f"body or frame of robot {robot.name!r}", name, bodies + frames)
    for coupling in robot.couplings:
        for name in (coupling.joint, coupling.source):
            if name not in joints:
                raise UnknownNameError(f"joint of robot {robot.name!r}", name, joints)
