"""What a joint transmits, split into what its actuator gives and what its bearing carries (RDA-87 section 7.4.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from multiarm.kinematics import Kinematics
from multiarm.wrench import Wrench

__all__ = ["JointReaction", "JointReactions"]


@dataclass(frozen=True, eq=False)
class JointReaction:
    """The force through one joint at its child-side frame, on the child by the parent: total = actuator + bearing.

    Attributes
    ----------
    total, actuator, bearing : Wrench
        The bearing's part does no work on any motion that the joint allows. The actuator's part is the least in norm
        that does all of it (newtons and newton metres alike, a length of 1 m): a couple about the axis of a revolute
        joint, a force along that of a prismatic one.
    effort : array
        What the actuator's part amounts to along each velocity of the joint [N m or N]: tau less what its rotor
        (armature) takes, tau - R a, with what a coupling passes on; zero at passive joints, empty at fixed ones.
    determinate : bool
        Whether `total` has only one possible value; redundant loops may load their bearings in many ways.
    """

    total: Wrench
    actuator: Wrench
    bearing: Wrench
    effort: np.ndarray
    determinate: bool


class JointReactions(Mapping[str, JointReaction]):
    """Every force of a solution by name, split into actuator and bearing."""

    def __init__(self, kin: Kinematics, forces: Mapping[str, Wrench], determinate: Callable[[str], bool]) -> None:
        self._kin, self._forces, self._determinate = kin, forces, determinate

    def __getitem__(self, name: str) -> JointReaction:
        total = self._forces[name]
        motion = self._kin.joint(name)
        total = total.about(motion.child_frame.translation)
        actuator, effort = _along(motion.directions, total)
        rest = total.array - actuator
        return JointReaction(
            total, _like(total, actuator), _like(total, rest), effort, determinate=self._determinate(name)
        )

    def __iter__(self) -> Iterator[str]:
        return iter(self._forces)

    def __len__(self) -> int:
        return len(self._forces)


def _along(free: np.ndarray, total: Wrench) -> tuple[np.ndarray, np.ndarray]:
    """F (S* F)^-1 S* f with the actuator's directions F = S, and S* f; RDA-87 (7.12)-(7.15)."""
    effort = free.T @ total.array
    return free @ (np.linalg.pinv(free.T @ free) @ effort), effort


def _like(total: Wrench, part: np.ndarray) -> Wrench:
    return Wrench(part[:3], part[3:], total.point, on=total.on, by=total.by)
