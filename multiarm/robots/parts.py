"""Small pieces that robots are built from, whether their numbers stand in code or in a file."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from multiarm.description import Body
from multiarm.poses import as_vector3

__all__ = ["link", "symmetric"]

SixMoments = tuple[float, float, float, float, float, float]


def symmetric(moments: SixMoments) -> np.ndarray:
    """The 3x3 inertia from (ixx, ixy, ixz, iyy, iyz, izz) [kg m^2], URDF's order.

    Examples
    --------
    >>> symmetric((1, 2, 3, 4, 5, 6))
    array([[1., 2., 3.],
           [2., 4., 5.],
           [3., 5., 6.]])
    """
    ixx, ixy, ixz, iyy, iyz, izz = moments
    return np.array([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]], float)


def link(name: str, mass: float, com: Iterable[float], moments: SixMoments) -> Body:
    """A body from a row of published numbers: mass [kg], centre of mass [m] and inertia about it [kg m^2]."""
    return Body(name, mass=mass, com=as_vector3(tuple(com), f"centre of mass of {name!r}"), inertia=symmetric(moments))
