"""Joint kinds, and each kind as a run of one-degree-of-freedom axes.

Every joint is a sequence of rotations, slides and screws with no mass and no offset between them, or ends in a ball,
whose three directions act at one point. So one scalar recursion serves all kinds, and a joint that the tree runs
through from child to parent is the same sequence backwards with every direction turned round.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from graphs.errors import UnknownNameError
from multiarm.description import Joint
from multiarm.sweeps import layout

__all__ = ["JOINT_KINDS", "Axis", "JointKind", "axes_of", "free_directions", "joint_kind"]

X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


@dataclass(frozen=True)
class JointKind:
    """How many coordinates `nq` and velocities `nv` a joint has, and which values describe it."""

    name: str
    nq: int
    nv: int
    takes: tuple[str, ...] = ()


JOINT_KINDS: dict[str, JointKind] = {
    kind.name: kind
    for kind in (
        JointKind("fixed", 0, 0),
        JointKind("revolute", 1, 1, ("axis",)),
        JointKind("continuous", 1, 1, ("axis",)),
        JointKind("prismatic", 1, 1, ("axis",)),
        JointKind("screw", 1, 1, ("axis", "pitch")),
        JointKind("cylindrical", 2, 2, ("axis",)),
        JointKind("universal", 2, 2, ("axis", "axis2")),
        JointKind("planar", 3, 3),
        JointKind("spherical", 4, 3),
        JointKind("free", 7, 6),
    )
}


def joint_kind(name: str) -> JointKind:
    """The kind of that name, or an error that lists the valid ones.

    Examples
    --------
    >>> joint_kind("spherical").nq
    4
    """
    if not isinstance(name, str) or name not in JOINT_KINDS:
        raise UnknownNameError("joint kind", name, JOINT_KINDS)
    return JOINT_KINDS[name]


@dataclass(frozen=True)
class Axis:
    """One axis of a joint: kind (see `sweeps.layout`), direction in the joint frame, places in the joint's q and v.

    `parameter` is the pitch of a screw [m/rad] or the sign of a ball; `column` and `parent_axes` belong to balls.
    """

    kind: int
    direction: tuple[float, float, float]
    q: int
    v: int
    parameter: float = 0.0
    column: int = 0
    parent_axes: bool = False

    def reversed(self) -> Axis:
        """The same axis seen from child to parent."""
        if self.kind in (layout.BALL, layout.BALL_NEXT):
            return replace(self, parameter=-self.parameter, parent_axes=not self.parent_axes)
        x, y, z = self.direction
        return replace(self, direction=(-x, -y, -z))


def _ball(q: int, v: int, parent_axes: bool) -> tuple[Axis, ...]:
    kinds = (layout.BALL, layout.BALL_NEXT, layout.BALL_NEXT)
    return tuple(Axis(kind, Z, q, v + i, 1.0, i, parent_axes) for i, kind in enumerate(kinds))


def _forward_axes(joint: Joint) -> tuple[Axis, ...]:
    axis: tuple[float, float, float] = tuple(np.asarray(joint.axis, float).tolist())
    match joint.kind:
        case "fixed":
            return ()
        case "revolute" | "continuous":
            return (Axis(layout.REVOLUTE, axis, 0, 0),)
        case "prismatic":
            return (Axis(layout.PRISMATIC, axis, 0, 0),)
        case "screw":
            return (Axis(layout.SCREW, axis, 0, 0, joint.pitch),)
        case "cylindrical":
            return (Axis(layout.PRISMATIC, axis, 1, 1), Axis(layout.REVOLUTE, axis, 0, 0))
        case "universal":
            second: tuple[float, float, float] = tuple(np.asarray(joint.axis2, float).tolist())
            return (Axis(layout.REVOLUTE, axis, 0, 0), Axis(layout.REVOLUTE, second, 1, 1))
        case "planar":
            slides = (Axis(layout.PRISMATIC, X, 0, 0), Axis(layout.PRISMATIC, Y, 1, 1))
            return (*slides, Axis(layout.REVOLUTE, Z, 2, 2))
        case "spherical":
            return _ball(0, 0, parent_axes=False)
        case "free":
            three = (Axis(layout.PRISMATIC, axis, 4 + i, 3 + i) for i, axis in enumerate((X, Y, Z)))
            return (*three, *_ball(0, 0, parent_axes=True))
    raise UnknownNameError("joint kind", joint.kind, JOINT_KINDS)


def free_directions(joint: Joint, parent_axes: np.ndarray, child_axes: np.ndarray) -> np.ndarray:
    """Motions [omega; v] of the child relative to the parent that the joint allows, 6 x nv, at the child-side frame.

    The arguments are the rotations of the joint frame on the parent and on the child; the result is in the axes they
    are given in, its columns in the order of the joint's v. A soft finger leaves two rotations: about x and y of the
    child-side frame.
    """
    columns: list[tuple[np.ndarray | None, np.ndarray | None]]
    w = parent_axes @ joint.axis
    match joint.kind:
        case "fixed":
            columns = []
        case "revolute" | "continuous":
            columns = [(w, None)]
        case "prismatic":
            columns = [(None, w)]
        case "screw":
            columns = [(w, joint.pitch * w)]
        case "cylindrical":
            columns = [(w, None), (None, w)]
        case "universal":
            columns = [(w, None), (child_axes @ joint.axis2, None)]
        case "planar":
            columns = [(None, parent_axes[:, 0]), (None, parent_axes[:, 1]), (parent_axes[:, 2], None)]
        case "spherical":
            columns = [(child_axes[:, i], None) for i in range(3)]
        case "soft_finger":
            columns = [(child_axes[:, i], None) for i in range(2)]
        case "free":
            columns = [(parent_axes[:, i], None) for i in range(3)] + [(None, parent_axes[:, i]) for i in range(3)]
        case _:
            raise UnknownNameError("joint kind", joint.kind, JOINT_KINDS)
    directions = np.zeros((6, len(columns)))
    for j, (angular, linear) in enumerate(columns):
        if angular is not None:
            directions[:3, j] = angular
        if linear is not None:
            directions[3:, j] = linear
    return directions


def axes_of(joint: Joint, sign: int = 1) -> tuple[Axis, ...]:
    """The axes of `joint` in the order the tree meets them; sign -1 where it runs from declared child to parent.

    Examples
    --------
    >>> from multiarm.description import Joint
    >>> [axis.q for axis in axes_of(Joint("base", "free", "world", "body"))]
    [4, 5, 6, 0, 0, 0]
    """
    axes = _forward_axes(joint)
    if sign > 0:
        return axes
    # turn and slide about one line commute: the turn stays last, at the body, where its inertia loses no digits
    order = axes if joint.kind == "cylindrical" else reversed(axes)
    backwards = tuple(axis.reversed() for axis in order)
    # of a ball's three axes the first one met turns the frame
    kinds = [axis.kind for axis in axes if axis.kind in (layout.BALL, layout.BALL_NEXT)]
    balls = iter(kinds)
    return tuple(
        replace(axis, kind=next(balls)) if axis.kind in (layout.BALL, layout.BALL_NEXT) else axis for axis in backwards
    )
