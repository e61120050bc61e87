"""Shapes of bodies: plain values with units of metres; z is the axis of a cylinder or capsule."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, pi

from contacts.errors import ContactError

__all__ = ["Box", "Capsule", "Cylinder", "Mesh", "Shape", "Sphere"]


def _require_positive(shape: str, **lengths: float) -> None:
    for name, length in lengths.items():
        if not 0.0 < float(length) < inf:
            raise ContactError(f"{shape}: {name} must be positive [m], not {length}")


@dataclass(frozen=True)
class Box:
    """A box given by its full edge lengths [m]."""

    size: tuple[float, float, float]

    def __post_init__(self) -> None:
        if len(self.size) != 3:
            raise ContactError(f"Box: size needs three edge lengths [m], not {self.size}")
        _require_positive("Box", **{f"size[{i}]": edge for i, edge in enumerate(self.size)})

    def inertia(self, mass: float) -> tuple[float, float, float]:
        """Principal moments [kg m^2] of a uniform box of this mass."""
        x, y, z = (edge * edge for edge in self.size)
        return mass / 12 * (y + z), mass / 12 * (x + z), mass / 12 * (x + y)


@dataclass(frozen=True)
class Sphere:
    """A ball of the given radius [m]."""

    radius: float

    def __post_init__(self) -> None:
        _require_positive("Sphere", radius=self.radius)

    def inertia(self, mass: float) -> tuple[float, float, float]:
        """Principal moments [kg m^2] of a uniform ball of this mass."""
        moment = 0.4 * mass * self.radius**2
        return moment, moment, moment


@dataclass(frozen=True)
class Cylinder:
    """A cylinder along z: radius and full length [m]."""

    radius: float
    length: float

    def __post_init__(self) -> None:
        _require_positive("Cylinder", radius=self.radius, length=self.length)

    def inertia(self, mass: float) -> tuple[float, float, float]:
        """Principal moments [kg m^2] of a uniform cylinder of this mass."""
        across = mass / 12 * (3 * self.radius**2 + self.length**2)
        return across, across, mass / 2 * self.radius**2


@dataclass(frozen=True)
class Capsule:
    """A cylinder along z with half balls on its ends: radius and length of the cylindrical part [m]."""

    radius: float
    length: float

    def __post_init__(self) -> None:
        _require_positive("Capsule", radius=self.radius, length=self.length)

    def inertia(self, mass: float) -> tuple[float, float, float]:
        """Principal moments [kg m^2] of a uniform capsule of this mass."""
        r, h = self.radius, self.length
        volume_ball, volume_tube = 4 / 3 * pi * r**3, pi * r**2 * h
        ball = mass * volume_ball / (volume_ball + volume_tube)
        tube = mass - ball
        along = tube * r**2 / 2 + ball * 0.4 * r**2
        across = tube * (r**2 / 4 + h**2 / 12) + ball * (0.4 * r**2 + h**2 / 4 + 3 / 8 * h * r)
        return across, across, along


@dataclass(frozen=True)
class Mesh:
    """A surface mesh read from a file, scaled along its axes."""

    path: str
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)


Shape = Box | Sphere | Cylinder | Capsule | Mesh
