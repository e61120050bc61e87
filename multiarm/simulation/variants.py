"""Models that differ from another in what holds or what is carried; coordinates and tree stay the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from multiarm.checks import check_body
from multiarm.description import Coupling, inertia_matrix
from multiarm.errors import BadInputError, UnknownNameError
from multiarm.model import Model
from multiarm.paths import JointPath
from multiarm.sweeps import layout as at

__all__ = ["check_laws", "following", "holding", "require_at_beginning", "with_payload"]

BEGIN = 1e-6  # rad or m: how far a prescribed joint may be from where its path begins


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


def check_laws(model: Model, laws: Mapping[str, JointPath]) -> None:
    """Raise for paths of joints that cannot follow one."""
    for name, path in laws.items():
        if name not in model.joints:
            raise UnknownNameError("joint of the tree", name, model.joints)
        place = model.joints[name]
        if place.v.stop - place.v.start != 1:
            raise BadInputError(f"joint {name!r} has {place.v.stop - place.v.start} coordinates: a path prescribes one")
        if any(coupling.joint == name for coupling in model.couplings):
            raise BadInputError(f"joint {name!r} is coupled: prescribe the joint it follows")
        if not isinstance(path, JointPath) or path.width != 1:
            raise BadInputError(
                f"the path of {name!r} must be a JointPath of one coordinate, as multiarm.paths makes it"
            )


def following(model: Model, laws: Mapping[str, JointPath]) -> Model:
    """`model` with joints that follow laws of time: couplings to nothing but the time."""
    if not laws:
        return model
    # a coupling of ratio zero constrains the joint alone; the kernels put the law in place of its offset
    driven = (Coupling(name, name, 0.0, float(path(path.times[0])[0][0])) for name, path in laws.items())
    return replace(model, couplings=(*model.couplings, *driven))


def require_at_beginning(model: Model, laws: Mapping[str, JointPath], q: np.ndarray, t: float) -> None:
    """Raise if joints are not where their paths begin."""
    for name, path in laws.items():
        off = abs(float(q[model.q_slice(name)][0] - path(t)[0][0]))
        if off > BEGIN:
            raise BadInputError(
                f"prescribed joint {name!r} is {off:.3g} rad or m from where its path begins: start from there, by "
                f"assemble with hold="
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
