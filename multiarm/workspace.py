"""A model's tables made ready for one caller, and what sweeps leave in them, read by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NoReturn, cast

import numpy as np
from numpy.typing import ArrayLike

from multiarm.errors import BadInputError, SingularInertiaError
from multiarm.model import Model
from multiarm.state import State, as_numbers
from multiarm.sweeps import layout as at
from multiarm.sweeps.kinematics import locate
from multiarm.wrench import Wrench

__all__ = ["External", "Workspace", "as_wrenches", "frame_rows", "located", "raise_for_status", "symmetric3"]

External = Mapping[str, ArrayLike | Wrench | Sequence[Wrench]]


class Workspace:
    """The two tables of `sweeps.layout`, private to one caller."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.tree = model.tree.copy()
        self.link = model.link.copy()

    def locate(self, q: np.ndarray, v: np.ndarray) -> None:
        """Poses, velocities and bias accelerations of all links."""
        self.check(locate(self.tree, self.link, np.array(q), np.array(v)))

    def push(self, external: External | None) -> None:
        """Put external wrenches on the links; needs `locate`.

        Keys are bodies or frames; a value is [torque; force] at the origin of that body or frame, world axes, or a
        `Wrench` at its own point, or several of those.
        """
        for name, value in (external or {}).items():
            k = self.model.placement(name).link
            for wrench in as_wrenches(name, value, self.point(name)):
                arm = wrench.point - self.origin(k)
                self.link[k, at.EXTERNAL : at.EXTERNAL + 3] += wrench.torque + np.cross(arm, wrench.force)
                self.link[k, at.EXTERNAL + 3 : at.EXTERNAL + 6] += wrench.force

    def check(self, status: int) -> None:
        """Raise what a kernel's return value says."""
        if status:
            raise_for_status(self.model, self.link, status)

    # ------------------------------------------------------------------ rows by name

    def origin(self, k: int) -> np.ndarray:
        """Origin of link k in the world."""
        return self.link[k, at.ORIGIN : at.ORIGIN + 3]

    def rotation(self, k: int) -> np.ndarray:
        """Rotation of link k in the world."""
        return self.link[k, at.ROTATION : at.ROTATION + 9].reshape(3, 3)

    def offset(self, name: str) -> np.ndarray:
        """From the origin of the carrying link to a body's or frame's origin, world axes."""
        place = self.model.placement(name)
        return self.rotation(place.link) @ place.pose.translation

    def point(self, name: str) -> np.ndarray:
        """Origin of a body or frame in the world."""
        return self.origin(self.model.placement(name).link) + self.offset(name)

    def symmetric(self, column: int) -> np.ndarray:
        """Symmetric 6x6 matrices of all links from the 21 entries that start at `column`."""
        entries = self.link[:, column : column + 21]
        blocks = np.empty((len(entries), 6, 6))
        blocks[:, :3, :3] = symmetric3(entries[:, :6])
        blocks[:, :3, 3:] = entries[:, 6:15].reshape(-1, 3, 3)
        blocks[:, 3:, :3] = blocks[:, :3, 3:].transpose(0, 2, 1)
        blocks[:, 3:, 3:] = symmetric3(entries[:, 15:])
        return blocks

    def motion(self, name: str) -> np.ndarray:
        """Spatial velocity of a body or frame at its own origin."""
        k, r = self.model.placement(name).link, self.offset(name)
        omega, velocity = self.link[k, at.OMEGA : at.OMEGA + 3], self.link[k, at.VELOCITY : at.VELOCITY + 3]
        return np.concatenate([omega, velocity + np.cross(omega, r)])

    def acceleration(self, name: str, alpha: np.ndarray) -> np.ndarray:
        """Spatial acceleration of a body or frame at its own origin from those of the links (rows of `alpha`)."""
        k, r = self.model.placement(name).link, self.offset(name)
        omega = self.link[k, at.OMEGA : at.OMEGA + 3]
        angular, linear = alpha[k, :3], alpha[k, 3:]
        return np.concatenate([angular, linear + np.cross(angular, r) + np.cross(omega, np.cross(omega, r))])


def as_wrenches(name: str, value: ArrayLike | Wrench | Sequence[Wrench], origin: np.ndarray) -> tuple[Wrench, ...]:
    """What acts on the body or frame `name`, as wrenches; six numbers are [torque; force] at its origin."""
    if isinstance(value, Wrench):
        return (value,)
    if isinstance(value, Sequence) and value and all(isinstance(entry, Wrench) for entry in value):
        return tuple(entry for entry in value if isinstance(entry, Wrench))
    numbers = as_numbers(cast("ArrayLike", value), (6,), f"external wrench on {name!r} [torque; force]")
    return (Wrench(numbers[:3].copy(), numbers[3:].copy(), origin.copy(), on=name, by="outside"),)


def symmetric3(six: np.ndarray) -> np.ndarray:
    """Symmetric 3x3 matrices from rows (xx, xy, xz, yy, yz, zz)."""
    return six[:, [0, 1, 2, 1, 3, 4, 2, 4, 5]].reshape(-1, 3, 3)


def located(model: Model, state: State, external: External | None = None) -> Workspace:
    """Tables with everything in place at `state`, and external wrenches on the links."""
    workspace = Workspace(model)
    workspace.locate(model.own(state).q, state.v)
    workspace.push(external)
    return workspace


def raise_for_status(model: Model, link: np.ndarray, status: int) -> NoReturn:
    """The error that a kernel's return value stands for."""
    if status == at.WRONG_LENGTH:
        raise BadInputError(
            f"array shapes do not fit the model: q needs nq = {model.nq} entries, other vectors nv = {model.nv}; "
            f"a mass matrix is nv x nv, a Jacobian 6 x nv, a compliance 6m x 6m for m frames"
        )
    if not np.isfinite(link[status, at.D]):
        raise BadInputError("q has entries that are not finite")
    joint = next(name for name, place in model.joints.items() if status in place.links)
    carried = model.joints[joint].links[-1]
    body = next(name for name, place in model.placements.items() if place.link == carried)
    holders = [name for name, grasp in model.grasps.items() if grasp.body == body and model.bodies[body].mass == 0.0]
    raise SingularInertiaError(body, joint, float(link[status, at.D]), holders)


def frame_rows(model: Model, frames: list[str]) -> np.ndarray:
    """One row [link, x, y, z] per frame, as the kernels take them."""
    rows = np.empty((len(frames), 4))
    for i, name in enumerate(frames):
        place = model.placement(name)
        rows[i, 0], rows[i, 1:] = place.link, place.pose.translation
    return rows
