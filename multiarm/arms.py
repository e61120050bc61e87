"""A robot as part of a mechanism: every name prefixed with the arm's, a mount, and a frame for each tip."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

from scipy.spatial.transform import RigidTransform

from multiarm.description import Body, Coupling, Frame, Joint, Robot

__all__ = ["Arm", "ArmParts", "arm_parts"]


@dataclass(frozen=True)
class Arm:
    """A robot in a mechanism: the full names of its bodies and joints, and its tips as (short name, frame)."""

    name: str
    root: str
    bodies: tuple[str, ...]
    joints: tuple[str, ...]
    tips: tuple[tuple[str, str], ...]
    floating: bool


@dataclass(frozen=True, eq=False)
class ArmParts:
    """What an arm adds to a mechanism; `parts` are bodies and joints from base to tip, as coordinates stand."""

    arm: Arm
    parts: tuple[Body | Joint, ...]
    frames: tuple[Frame, ...]
    couplings: tuple[Coupling, ...]

    def twice(self) -> list[str]:
        """Names that two of the bodies and frames, or two of the joints, would share."""
        frames = Counter(
            [*(part.name for part in self.parts if isinstance(part, Body)), *(f.name for f in self.frames)]
        )
        joints = Counter(part.name for part in self.parts if isinstance(part, Joint))
        return [name for counts in (frames, joints) for name, count in counts.items() if count > 1]


def arm_parts(name: str, robot: Robot, carrier: Frame, start: RigidTransform) -> ArmParts:
    """The parts of `robot` under the name of an arm, mounted on `carrier`; a floating one starts at `start` instead."""

    def full(part: str) -> str:
        return f"{name}/{part}"

    bodies = {body.name: replace(body, name=full(body.name)) for body in robot.bodies}
    parts: list[Body | Joint] = []
    if robot.floating:
        bodies[robot.root] = replace(bodies[robot.root], pose=start)
    else:
        parts.append(Joint(full("mount"), "fixed", carrier.body, full(robot.root), at=carrier.pose))
    parts.append(bodies.pop(robot.root))
    for joint in robot.joints:
        parts.append(replace(joint, name=full(joint.name), parent=full(joint.parent), child=full(joint.child)))
        if joint.child in bodies:
            parts.append(bodies.pop(joint.child))
    parts += bodies.values()  # bodies that are reached against the direction of their joints
    own = {frame.name: frame for frame in robot.frames}
    places = own | {body.name: Frame(body.name, body.name) for body in robot.bodies}
    tips = [replace(places[target], name=short) for short, target in robot.tips.items() if short != target]
    frames = tuple(replace(frame, name=full(frame.name), body=full(frame.body)) for frame in [*own.values(), *tips])
    couplings = tuple(
        replace(coupling, joint=full(coupling.joint), source=full(coupling.source)) for coupling in robot.couplings
    )
    arm = Arm(
        name,
        root=full(robot.root),
        bodies=tuple(full(body.name) for body in robot.bodies),
        joints=tuple(part.name for part in parts if isinstance(part, Joint)),
        tips=tuple((short, full(target)) for short, target in robot.tips.items()),
        floating=robot.floating,
    )
    return ArmParts(arm, tuple(parts), frames, couplings)
