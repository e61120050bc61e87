"""Grasp kinds: how many rows each one constrains, and which rotations it leaves free (JPL 88-11-II, App. A)."""

from __future__ import annotations

from dataclasses import dataclass

from graphs.errors import UnknownNameError

__all__ = ["GRASP_KINDS", "GraspKind", "grasp_kind"]


@dataclass(frozen=True)
class GraspKind:
    """What a grasp allows.

    `position_rows` and `velocity_rows` differ for the soft finger, which is non-holonomic. `free_rotations` are axes of
    the contact frame. `as_joint` is the joint that a grasp kept in the tree acts as; None where it must be cut.
    """

    name: str
    position_rows: int
    velocity_rows: int
    free_rotations: str
    as_joint: str | None


GRASP_KINDS: dict[str, GraspKind] = {
    kind.name: kind
    for kind in (
        GraspKind("rigid", 6, 6, "", "fixed"),
        GraspKind("revolute", 5, 5, "z", "revolute"),
        GraspKind("soft_finger", 3, 4, "xy", None),
        GraspKind("point", 3, 3, "xyz", "spherical"),
    )
}


def grasp_kind(name: str) -> GraspKind:
    """The kind of that name, or an error that lists the valid ones.

    Examples
    --------
    >>> grasp_kind("point").velocity_rows
    3
    """
    if not isinstance(name, str) or name not in GRASP_KINDS:
        raise UnknownNameError("grasp kind", name, GRASP_KINDS)
    return GRASP_KINDS[name]
