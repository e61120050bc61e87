"""Force elements between bodies: line springs, bushings, compliant grasps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import RigidTransform

from multiarm.description import Frame
from multiarm.elements.table import ElementTable, FrameLike, frame_name, not_negative, place_of, pose_numbers
from multiarm.errors import DescriptionError, UnknownNameError
from multiarm.model import Model, Placement
from multiarm.poses import PoseLike, as_pose
from multiarm.sweeps import element_layout as el

__all__ = ["BodySpring", "Bushing", "compliant_grasp"]


@dataclass(frozen=True, eq=False)
class BodySpring:
    """stiffness (L - rest_length) + damping L-dot along the line between the origins of two frames, of length L.

    Parameters
    ----------
    frame_a, frame_b : str or Frame
        Bodies or frames by name ("world" for its origin), or ``Frame(name, body, pose)``.
    stiffness : float
        [N/m].
    damping : float
        [N s/m].
    rest_length : float
        [m]. With a rest length the ends must not meet, where the force has no direction.
    """

    frame_a: FrameLike
    frame_b: FrameLike
    stiffness: float
    damping: float = 0.0
    rest_length: float = 0.0

    def pack(self, model: Model, table: ElementTable) -> None:
        """Add the rows of this element."""
        what = f"BodySpring({frame_name(self.frame_a)!r}, {frame_name(self.frame_b)!r})"
        a, b = _two_places(model, self.frame_a, self.frame_b, what)
        numbers = {
            el.STIFFNESS: not_negative(self.stiffness, 1, f"{what}: stiffness"),
            el.DAMPING: not_negative(self.damping, 1, f"{what}: damping"),
            el.REST: not_negative(self.rest_length, 1, f"{what}: rest_length"),
        }
        numbers |= {el.FRAME_A: pose_numbers(a.pose), el.FRAME_B: pose_numbers(b.pose)}
        table.add(what, el.LINE, (a.link, b.link), numbers)


@dataclass(frozen=True, eq=False)
class Bushing:
    """A compliant mount between two frames: it stores (theta* K_r theta + x* K_t x) / 2.

    With X the pose of frame b in frame a and X0 = `rest`: theta is the rotation vector of R R0*, x = p - p0, both in
    the axes of frame a. The wrench is the exact gradient, -(J* K_r theta) and -(K_t x) on frame b's body at its origin
    and the opposite on frame a's, J being the inverse left Jacobian of the rotation vector; the damper adds -(C_r
    omega) and -(C_t v) of b relative to a. Turned by more than half a turn from rest it pulls the other way round.

    Parameters
    ----------
    frame_a, frame_b : str or Frame
        Bodies or frames by name, or ``Frame(name, body, pose)``.
    stiffness, damping : number or array of 6
        About, then along x, y, z of frame a [N m/rad, N/m], [N m s/rad, N s/m].
    rest : pose, optional
        Of frame b in frame a when nothing is strained; the identity if not given.
    """

    frame_a: FrameLike
    frame_b: FrameLike
    stiffness: ArrayLike
    damping: ArrayLike = 0.0
    rest: PoseLike | None = None

    def pack(self, model: Model, table: ElementTable) -> None:
        """Add the rows of this element."""
        what = f"Bushing({frame_name(self.frame_a)!r}, {frame_name(self.frame_b)!r})"
        a, b = _two_places(model, self.frame_a, self.frame_b, what)
        rest = as_pose(self.rest, f"{what}: rest")
        numbers = {
            el.STIFFNESS: not_negative(self.stiffness, 6, f"{what}: stiffness"),
            el.DAMPING: not_negative(self.damping, 6, f"{what}: damping"),
            el.REST: rest.translation,
            el.FRAME_A: pose_numbers(a.pose),
            # turned back by the rest pose, so that the two frames are parallel when nothing is strained
            el.FRAME_B: pose_numbers(b.pose * RigidTransform.from_rotation(rest.rotation.inv())),
        }
        table.add(what, el.BUSHING, (a.link, b.link), numbers)


def compliant_grasp(model: Model, grasp: str, stiffness: ArrayLike, damping: ArrayLike = 0.0) -> Bushing:
    """A bushing from the tip of a grasp to its contact frame on the object, for use while the grasp itself is released.

    `stiffness` and `damping` are about, then along x, y, z of the tip's frame, as for `Bushing`.
    """
    if grasp not in model.grasps:
        raise UnknownNameError("grasp", grasp, model.grasps)
    held = model.grasps[grasp]
    if held.at is None:
        raise DescriptionError(
            f"grasp {grasp!r} has no at=: multiarm.assemble(model, guess) takes it where the tip is, and state.model "
            f"then knows the place",
            [grasp],
        )
    return Bushing(held.tip, Frame(f"{grasp} on {held.body}", held.body, held.at), np.array(stiffness), damping)


def _two_places(model: Model, frame_a: FrameLike, frame_b: FrameLike, what: str) -> tuple[Placement, Placement]:
    if frame_a == frame_b:
        raise DescriptionError(f"{what}: both ends are the same frame", [frame_name(frame_a)])
    return place_of(model, frame_a), place_of(model, frame_b)
