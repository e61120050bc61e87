"""Internal forces as users ask for them: by grasp, or as a squeeze between two."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from multiarm.checks import as_number
from multiarm.cut_rows import across
from multiarm.errors import BadInputError, UnknownNameError
from multiarm.joints import free_directions
from multiarm.load import grasp_map
from multiarm.model import CutJoint, Model, grasp_as_joint
from multiarm.state import as_numbers

__all__ = ["Internal", "internal_wrenches"]

Internal: TypeAlias = Mapping[str | tuple[str, str], ArrayLike]
OFF = 1e-9  # of the largest entry: what may be left of a sum that must vanish


def internal_wrenches(model: Model, internal: Internal | None) -> dict[str, np.ndarray]:
    """By cut grasp the internal wrench on the object at the grasp, in the object's axes; they add up to nothing.

    A pair of grasps squeezes: equal and opposite forces along the line between them, positive if they press.
    """
    wrenches: dict[str, np.ndarray] = {}
    if internal is None:
        return wrenches
    if not isinstance(internal, Mapping):
        raise BadInputError("internal must map grasps to wrenches, or pairs of grasps to newtons")
    for key, value in internal.items():
        if isinstance(key, tuple):
            parts = _squeeze(model, key, value)
        else:
            _cut_grasp(model, key)
            parts = {key: as_numbers(value, (6,), f"internal wrench of {key!r} [torque; force]")}
        for name, wrench in parts.items():
            wrenches[name] = wrenches.get(name, np.zeros(6)) + wrench
    _require_internal(model, wrenches)
    return wrenches


def _cut_grasp(model: Model, name: str) -> CutJoint:
    held = {cut.name: cut for cut in model.cuts.values() if cut.grasp is not None}
    if name not in held:
        hint = f"{name!r} is kept in the tree, where no force can be set: cut it" if name in model.grasps else ""
        raise UnknownNameError("cut grasp", name, held, hint)
    return held[name]


def _squeeze(model: Model, pair: tuple[str, str], value: ArrayLike) -> dict[str, np.ndarray]:
    if len(pair) != 2:
        raise BadInputError(f"a squeeze is between two grasps, not {pair!r}")
    one, other = (_cut_grasp(model, name) for name in pair)
    if one.child.body != other.child.body:
        raise BadInputError(
            f"grasps {one.name!r} and {other.name!r} hold different bodies, {one.child.body!r} and {other.child.body!r}"
        )
    line = other.child.pose.translation - one.child.pose.translation
    length = float(np.linalg.norm(line))
    if not length > 0.0:
        raise BadInputError(
            f"grasps {one.name!r} and {other.name!r} are at the same point: there is no line to squeeze along"
        )
    force = as_number(float(as_numbers(value, (1,), f"squeeze of {pair!r}")[0]), f"squeeze of {pair!r}") * line / length
    push = np.concatenate([np.zeros(3), force])
    return {one.name: push, other.name: -push}


def _require_internal(model: Model, wrenches: dict[str, np.ndarray]) -> None:
    for name, wrench in wrenches.items():
        cut = _cut_grasp(model, name)
        axes = cut.child.pose.rotation.as_matrix()
        able = across(free_directions(grasp_as_joint(cut), axes, axes))
        beyond = np.abs(wrench - able.T @ (able @ wrench)).max()
        if beyond > OFF * max(1.0, np.abs(wrench).max()):
            raise BadInputError(
                f"grasp {name!r} is {cut.kind} and cannot give the internal wrench {wrench.tolist()}: "
                f"{beyond:.3g} N m of it act about an axis that it leaves free"
            )
    for body in dict.fromkeys(model.cuts[name].child.body for name in wrenches):
        own = [name for name in wrenches if model.cuts[name].child.body == body]
        sums = grasp_map([model.cuts[name].child.pose.translation for name in own], model.bodies[body].com)
        off = np.abs(sums @ np.concatenate([wrenches[name] for name in own])).max()
        if off > OFF * max(1.0, max(np.abs(wrenches[name]).max() for name in own)):
            raise BadInputError(f"the internal wrenches on {body!r} are not internal: their sum is off by {off:.3g}")
