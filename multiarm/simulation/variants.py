"""Models that differ from another in what holds or what is carried; coordinates and tree stay the same."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from multiarm.checks import check_body
from multiarm.description import inertia_matrix
from multiarm.errors import BadInputError, UnknownNameError
from multiarm.model import Model
from multiarm.sweeps import layout as at

__all__ = ["holding", "with_payload"]


def holding(model: Model, names: Iterable[str]) -> Model:
    """`model` with only the named cut joints and grasps imposed; the others are as if they were not there.

    Grasps and joints kept in the tree cannot be let go: cut them.
    """
    kept = set(names)
    for name in kept:
        if name not in model.cuts:
            raise UnknownNameError("cut joint or grasp", name, model.cuts)
    return replace(
        model,
        cuts={name: cut for name, cut in model.cuts.items() if name in kept},
        grasps={name: grasp for name, grasp in model.grasps.items() if name in kept or name not in model.cuts},
    )


def with_payload(
    model: Model, body: str, mass: float, inertia: ArrayLike | None = None, com: ArrayLike | None = None
) -> Model:
    """`model` with another mass of a body [kg]; its inertia scales with the mass unless given [kg m^2], com is kept."""
    if body not in model.bodies:
        raise UnknownNameError("body", body, model.bodies)
    before = model.bodies[body]
    if not (np.isfinite(mass) and mass > 0.0):
        raise BadInputError(f"the mass of {body!r} must be positive, not {mass}")
    if inertia is None:
        if not before.mass > 0.0:
            raise BadInputError(f"{body!r} has no mass to scale its inertia from: give inertia=")
        turned = before.inertia * (mass / before.mass)
    else:
        turned = inertia_matrix(inertia, f"body {body!r}: inertia")
    centre = before.com if com is None else np.asarray(com, float)
    after = replace(before, mass=float(mass), inertia=turned, com=centre)
    check_body(after, strict=True)
    bodies = {**model.bodies, body: after}
    k = model.placement(body).link
    if k == 0:
        raise BadInputError(f"{body!r} is fixed to the world: its mass changes nothing")
    link = model.link.copy()
    link[k, at.INERTIA : at.MASS + 1] = 0.0
    for name, other in bodies.items():
        place = model.placements[name]
        if place.link == k:
            rotation, middle = place.pose.rotation.as_matrix(), place.pose.apply(other.com)
            spread = other.mass * (middle @ middle * np.eye(3) - np.outer(middle, middle))
            about_origin = rotation @ other.inertia @ rotation.T + spread
            link[k, at.INERTIA : at.INERTIA + 6] += about_origin[np.triu_indices(3)]
            link[k, at.MOMENT : at.MOMENT + 3] += other.mass * middle
            link[k, at.MASS] += other.mass
    return replace(model, bodies=bodies, link=link)
