"""Serial arms of any length: planar ones with textbook rods, spatial ones for benchmarks."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index

import numpy as np
from numpy.typing import ArrayLike

from contacts import Box
from multiarm.description import Body, Frame, Joint, Robot
from multiarm.errors import BadInputError
from multiarm.poses import pose

__all__ = ["chain", "planar"]

_AXES = np.eye(3)


def planar(n: int, length: ArrayLike = 1.0, mass: ArrayLike = 1.0) -> Robot:
    """`n` uniform rods along x on revolute joints about z: bodies base, link1, ..., joints joint1, ..., base to tip.

    `length` [m] and `mass` [kg] are numbers for all rods or one per rod. A rod has m l^2 / 12 about y and z, exactly,
    and a twentieth of that about its own axis, as a thin body has. The tip is the end of the last rod. Motion stays
    in the xy plane: compile with gravity=(0, -9.81, 0) for a vertical plane, (0, 0, -9.81) for a horizontal one.

    Examples
    --------
    >>> arm = planar(3, length=(0.5, 0.4, 0.2), mass=(3, 2, 1))
    >>> [round(float(body.inertia[2, 2]), 6) for body in arm.bodies]
    [0.0, 0.0625, 0.026667, 0.003333]
    """
    count = _positive_count(n)
    lengths, masses = _per_link(length, count, "length"), _per_link(mass, count, "mass")
    moments = [kg * metres**2 / 12 for kg, metres in zip(masses, lengths, strict=True)]
    inertias = [np.diag((moment / 20, moment, moment)) for moment in moments]
    return _serial(f"planar{count}", lengths, masses, inertias, [_AXES[2]] * count)


def chain(n: int, length: float = 0.2, mass: float = 1.0) -> Robot:
    """`n` equal links along x on revolute joints whose axes are z, y, x in turn: a spatial chain for benchmarks.

    Each link is a uniform square bar of the given length [m] and mass [kg], a quarter as wide as long. Names as in
    `planar`; the tip is the end of the last link.

    Examples
    --------
    >>> [joint.axis.tolist() for joint in chain(4).joints]
    [[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    """
    count = _positive_count(n)
    lengths, masses = _per_link(length, count, "length"), _per_link(mass, count, "mass")
    inertias = [np.diag(Box((size, size / 4, size / 4)).inertia(kg)) for kg, size in zip(masses, lengths, strict=True)]
    return _serial(f"chain{count}", lengths, masses, inertias, [_AXES[2 - i % 3] for i in range(count)])


def _serial(
    name: str,
    lengths: Sequence[float],
    masses: Sequence[float],
    inertias: Sequence[np.ndarray],
    axes: Sequence[np.ndarray],
) -> Robot:
    """Links along x, each with its centre of mass in the middle and its joint at its beginning."""
    bodies = [Body("base")]
    joints = []
    reach = 0.0
    for i, (length, mass, inertia, axis) in enumerate(zip(lengths, masses, inertias, axes, strict=True), start=1):
        at = pose((reach, 0, 0))
        joints.append(Joint(f"joint{i}", "revolute", parent=bodies[-1].name, child=f"link{i}", at=at, axis=axis.copy()))
        bodies.append(Body(f"link{i}", mass=mass, com=np.array([length / 2, 0, 0]), inertia=inertia))
        reach = length
    end = Frame("end", bodies[-1].name, pose((reach, 0, 0)))
    return Robot(name, tuple(bodies), tuple(joints), root="base", frames=(end,), tips={"tip": end.name})


def _positive_count(n: int) -> int:
    try:
        count = index(n)
    except TypeError:
        count = 0
    if count < 1 or isinstance(n, bool):
        raise BadInputError(f"n: the number of joints must be a positive integer, not {n!r}")
    return count


def _per_link(value: ArrayLike, count: int, what: str) -> list[float]:
    """One positive number per link, from one for all or a sequence of `count`."""
    try:
        array = np.asarray(value, float)
    except (TypeError, ValueError) as error:
        raise BadInputError(f"{what}: expected a number or {count} numbers, not {value!r}") from error
    if array.shape not in ((), (count,)) or not np.all(np.isfinite(array)) or not np.all(array > 0):
        raise BadInputError(f"{what}: expected one positive number or {count} of them, one per link, not {value!r}")
    return [float(x) for x in np.broadcast_to(array, (count,))]
