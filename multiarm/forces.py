"""Generalised forces by name, those of cut joints included, and a private copy of everything that acts from outside."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from multiarm.errors import BadInputError, UnknownNameError
from multiarm.kinematics import kinematics
from multiarm.model import Model
from multiarm.state import State, as_numbers
from multiarm.workspace import External, as_wrenches, located
from multiarm.wrench import Wrench

__all__ = ["Values", "split_forces"]

Values = ArrayLike | Mapping[str, ArrayLike] | None


def split_forces(
    model: Model, state: State, tau: Values, external: External | None
) -> tuple[np.ndarray, dict[str, tuple[Wrench, ...]]]:
    """Forces on the coordinates (nv entries), and all wrenches on bodies by name.

    A cut joint has no coordinate, but its actuator works all the same: equal and opposite wrenches on its two bodies at
    the joint, along the directions S that it leaves free, W = S (S* S)^-1 tau, so that their power is tau . rate.
    """
    if external is not None and not isinstance(external, Mapping):
        raise BadInputError("external must map names of bodies or frames to wrenches, not be a bare array")
    acting: dict[str, tuple[Wrench, ...]] = {}
    if not external and not (isinstance(tau, Mapping) and any(name in model.cuts for name in tau)):
        return model.forces(tau), acting
    workspace = located(model, state)
    for name, value in (external or {}).items():
        acting[name] = as_wrenches(name, value, workspace.point(name))
    if isinstance(tau, Mapping):
        for name in [name for name in tau if name in model.cuts and name not in model.arms]:
            push = _actuator(model, state, name, tau[name])
            for wrench in (push, -push):
                acting[wrench.on] = (*acting.get(wrench.on, ()), wrench)
        tau = {name: value for name, value in tau.items() if name not in model.cuts or name in model.arms}
    return model.forces(tau), acting


def _actuator(model: Model, state: State, name: str, tau: ArrayLike) -> Wrench:
    """What the actuator of a cut joint does to the joint's child."""
    cut = model.cuts[name]
    if cut.joint is None:
        powered = [*model.arms, *model.joints, *(other for other, c in model.cuts.items() if c.joint is not None)]
        raise UnknownNameError("actuator of", name, powered, f"{name!r} is a grasp and has none")
    motion = kinematics(model, state).joint(name)
    free = motion.directions
    efforts = as_numbers(tau, (free.shape[1],), f"tau of {name!r}")
    wrench = free @ np.linalg.solve(free.T @ free, efforts)
    return Wrench(wrench[:3], wrench[3:], motion.child_frame.translation, on=cut.child.body, by=cut.parent.body)
