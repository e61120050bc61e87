"""How the grasps of one object share its load: external and internal part of their wrenches, shares, squeeze."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from multiarm.errors import BadInputError, UnknownNameError
from multiarm.wrench import Wrench

__all__ = ["LoadSplit", "external_projector", "grasp_map", "split_load"]

SPLITS = ("pseudo_inverse", "non_squeezing", "virtual_mass")
NEGLIGIBLE = 1e-9  # of the largest grasp force: below it the net force has no direction to share


@dataclass(frozen=True, eq=False)
class LoadSplit:
    """The grasp wrenches on one object, each as what moves the object and what only squeezes it.

    Attributes
    ----------
    total, external, internal : dict of Wrench
        By grasp; total = external + internal, and the internal ones have no net force and no net moment.
    net : Wrench
        Sum of the grasp wrenches about the object's centre of mass.
    share : dict of float
        f_i . F / |F|^2 of every grasp, F the net force; they add up to 1. NaN where F is negligible.
    """

    total: dict[str, Wrench]
    external: dict[str, Wrench]
    internal: dict[str, Wrench]
    net: Wrench
    share: dict[str, float]

    def squeeze(self, one: str, other: str) -> float:
        """Half the difference of two internal forces along the line between the grasps [N]; positive if they press."""
        for name in (one, other):
            if name not in self.internal:
                raise UnknownNameError("grasp", name, self.internal)
        first, second = self.internal[one], self.internal[other]
        line = second.point - first.point
        if not np.linalg.norm(line) > 0.0:
            raise BadInputError(
                f"grasps {one!r} and {other!r} are at the same point: there is no line to squeeze along"
            )
        return float((first.force - second.force) @ line / (2 * np.linalg.norm(line)))


def grasp_map(points: Sequence[np.ndarray], centre: np.ndarray) -> np.ndarray:
    """A*: grasp wrenches [torque; force] at their points, stacked, to their sum about `centre`; 6 x 6m."""
    blocks = []
    for point in points:
        x, y, z = point - centre
        block = np.eye(6)
        block[:3, 3:] = [[0, -z, y], [z, 0, -x], [-y, x, 0]]
        blocks.append(block)
    return np.hstack(blocks)


def external_projector(sums: np.ndarray, spans: Sequence[np.ndarray], weights: np.ndarray) -> np.ndarray:
    """E: h -> the wrenches of least h* W^-1 h with the same sum, among those that the grasps can give; 6m x 6m."""
    able = np.zeros((len(weights), sum(len(span) for span in spans)))
    column = 0
    for i, span in enumerate(spans):
        able[6 * i : 6 * i + 6, column : column + len(span)] = span.T
        column += len(span)
    root = np.sqrt(weights)[:, None]
    scaled = root * np.linalg.qr(able / root)[0]
    return scaled @ np.linalg.pinv(sums @ scaled, rcond=1e-10) @ sums


def split_load(
    wrenches: Mapping[str, Wrench],
    centre: np.ndarray,
    split: str = "pseudo_inverse",
    bases: Mapping[str, np.ndarray] | None = None,
    masses: Mapping[str, tuple[float, float]] | None = None,
) -> LoadSplit:
    """Split grasp wrenches on one object into external and internal parts.

    Parameters
    ----------
    wrenches : mapping
        On the object, by grasp.
    centre : array
        The object's centre of mass in the world.
    split : str
        "pseudo_inverse": the external part is the least in norm with the same sum (newtons and newton metres alike, a
        length of 1 m), among the wrenches that each grasp can give; "non_squeezing" (Walker, Freeman and Marcus 1991):
        equal forces, moments that cancel their lever arms; "virtual_mass" (Erhart and Hirche 2015): as if each grasp
        moved a virtual body, `masses` = (mass [kg], moment of inertia [kg m^2]) by grasp.
    bases : mapping, optional
        Rows that span what each grasp can give; all six directions by default.

    Notes
    -----
    Internal wrenches span the kernel of A*, the sum over the grasps (JPL 88-11-II section 2).
    """
    if split not in SPLITS:
        raise UnknownNameError("split", split, SPLITS)
    names = list(wrenches)
    spans = [np.eye(6) if bases is None else bases[name] for name in names]
    sums = grasp_map([wrenches[name].point for name in names], centre)
    h = np.concatenate([wrenches[name].array for name in names])
    net = sums @ h
    if split == "non_squeezing":
        if any(len(span) < 6 for span in spans):
            raise BadInputError("the non_squeezing split needs rigid grasps: others cannot give its moments")
        pushes = []
        for name in names:
            lever = np.cross(wrenches[name].point - centre, net[3:])
            pushes.append(np.concatenate([net[:3] - lever, net[3:]]) / len(names))
        external = np.concatenate(pushes)
    else:
        weights = np.ones(6 * len(names))
        if split == "virtual_mass":
            if masses is None or set(masses) != set(names):
                raise BadInputError(f"the virtual_mass split needs masses= (mass, inertia) for each of {names}")
            if not all(np.shape(masses[name]) == (2,) and min(masses[name]) > 0.0 for name in names):
                raise BadInputError("virtual masses are pairs (mass [kg], moment of inertia [kg m^2]), both positive")
            weights = np.concatenate([np.repeat((masses[name][1], masses[name][0]), 3) for name in names])
        external = external_projector(sums, spans, weights) @ h

    def parts(values: np.ndarray) -> dict[str, Wrench]:
        return {
            name: Wrench(f[:3], f[3:], wrenches[name].point, wrenches[name].on, wrenches[name].by)
            for name, f in zip(names, values.reshape(-1, 6), strict=True)
        }

    force = net[3:]
    largest = max(float(np.linalg.norm(wrench.force)) for wrench in wrenches.values())
    square = float(force @ force)
    enough = square > (NEGLIGIBLE * largest) ** 2
    share = {name: float(wrenches[name].force @ force) / square if enough else float("nan") for name in names}
    body = wrenches[names[0]].on
    return LoadSplit(
        dict(wrenches), parts(external), parts(h - external), Wrench(net[:3], force, centre, body, "grasps"), share
    )
