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

__all__ = ["Values", "cut_actuators", "split_forces"]

Values = ArrayLike | Mapping[str, ArrayLike] | None


def split_forces(
    model: Model, state: State, tau: Values, external: External | None
) -> tuple[np.ndarray, dict[str, tuple[Wrench, ...]]]:
    """Forces on the coordinates (nv entries), and all wrenches on bodies by name, those of `cut_actuators` included."""
    if external is not None and not isinstance(external, Mapping):
        raise BadInputError("external must map names of bodies or frames to wrenches, not be a bare array")
    acting: dict[str, tuple[Wrench, ...]] = {}
    if external:
        workspace = located(model, state)
        acting = {name: as_wrenches(name, value, workspace.point(name)) for name, value in external.items()}
    for push in cut_actuators(model, state, tau).values():
        for wrench in (push, -push):
            acting[wrench.on] = (*acting.get(wrench.on, ()), wrench)
    if isinstance(tau, Mapping):
        tau = {name: value for name, value in tau.items() if name not in model.cuts or name in model.arms}
    return model.forces(tau), acting


def cut_actuators(model: Model, state: State, tau: Values) -> dict[str, Wrench]:
    """What the actuators of cut joints named in `tau` do to the children of those joints, by their parents.

    A cut joint has no coordinate, but its actuator works all the same: equal and opposite wrenches on its two bodies at
    the joint, along the directions S that it leaves free, W = S (S* S)^-1 tau, so that their power is tau . rate.
    """
    if not isinstance(tau, Mapping):
        return {}
    cut = [name for name in tau if name in model.cuts and name not in model.arms]
    return {name: _actuator(model, state, name, tau[name]) for name in cut}


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
