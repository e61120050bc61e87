"""What a mechanism is made of: bodies, joints, frames, couplings and whole robots, as frozen values.

Nothing here computes dynamics. `Mechanism` collects these values, `Mechanism.compile` turns them into a `Model`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import inf

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import RigidTransform

from contacts import Shape
from multiarm.errors import BadInputError, DescriptionError
from multiarm.poses import IDENTITY, as_vector3

__all__ = [
    "Body",
    "Coupling",
    "Frame",
    "Grasp",
    "Joint",
    "Robot",
    "inertia_defect",
    "inertia_matrix",
    "unphysical_notes",
]


@dataclass(frozen=True, eq=False)
class Body:
    """A rigid body: mass [kg], centre of mass [m] and inertia about it [kg m^2] in body axes.

    `pose` is where a body that hangs free starts in the world, and where a `fixed` one stays; a body on a joint is
    where its joint puts it.
    """

    name: str
    mass: float = 0.0
    com: np.ndarray = field(default_factory=lambda: np.zeros(3))
    inertia: np.ndarray = field(default_factory=lambda: np.zeros((3, 3)))
    pose: RigidTransform = IDENTITY
    shape: Shape | None = None
    fixed: bool = False


@dataclass(frozen=True, eq=False)
class Joint:
    """A joint from `parent` to `child`: `at` is the joint frame in the parent, `in_child` the joint frame in the child.

    At zero coordinates the two frames coincide. `axis` and `axis2` are unit vectors in the joint frame; `pitch` [m/rad]
    belongs to screws. `lower`, `upper` [rad or m], `velocity_limit` [rad/s or m/s] and `effort_limit` [N m or N] hold
    for every coordinate of the joint. `armature` [kg m^2 or kg] is the rotor inertia seen at the joint and enters the
    dynamics; `damping` [N m s/rad or N s/m] and `friction` [N m or N] are kept for simulation. A joint that
    `closes_loop` is cut like a grasp, unless the cuts are chosen otherwise.
    """

    name: str
    kind: str
    parent: str
    child: str
    at: RigidTransform = IDENTITY
    in_child: RigidTransform = IDENTITY
    axis: np.ndarray = field(default_factory=lambda: np.array([0.0, 0.0, 1.0]))
    axis2: np.ndarray | None = None
    pitch: float = 0.0
    passive: bool = False
    lower: float = -inf
    upper: float = inf
    velocity_limit: float = inf
    effort_limit: float = inf
    armature: float = 0.0
    damping: float = 0.0
    friction: float = 0.0
    closes_loop: bool = False


@dataclass(frozen=True, eq=False)
class Frame:
    """A named frame at `pose` in `body`."""

    name: str
    body: str
    pose: RigidTransform = IDENTITY


@dataclass(frozen=True)
class Coupling:
    """A linear constraint between two one-coordinate joints: q[joint] = ratio * q[source] + offset (URDF's mimic)."""

    joint: str
    source: str
    ratio: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True, eq=False)
class Grasp:
    """A grasp of `body` at the frame `at` on it by the frame `tip`; `at` None is where the tip will be at assembly."""

    name: str
    tip: str
    body: str
    kind: str
    at: RigidTransform | None = None
    friction: float | None = None
    torsional: float | None = None


@dataclass(frozen=True, eq=False)
class Robot:
    """A tree of bodies to be added to a mechanism by `Mechanism.add_arm`, names without the arm's prefix.

    `root` is the body that `add_arm` mounts. `tips` maps tip names to frames: one called "tip" for a single arm,
    several ("left", "right") otherwise. `floating` hangs the root in the world by a free joint. `notes` are things
    about the source that a user should hear once, such as inertias that no body can have.
    """

    name: str
    bodies: tuple[Body, ...]
    joints: tuple[Joint, ...]
    root: str
    frames: tuple[Frame, ...] = ()
    tips: Mapping[str, str] = field(default_factory=dict)
    couplings: tuple[Coupling, ...] = ()
    floating: bool = False
    notes: tuple[str, ...] = ()


def inertia_matrix(value: ArrayLike, what: str) -> np.ndarray:
    """The symmetric 3x3 inertia from three principal values or a 3x3 array."""
    try:
        array = np.array(value, float)
    except (TypeError, ValueError) as error:
        raise BadInputError(f"{what}: expected three principal values or a 3x3 array, not {value!r}") from error
    if array.shape == (3,):
        array = np.diag(as_vector3(array, what))
    if array.shape != (3, 3) or not np.all(np.isfinite(array)):
        raise BadInputError(f"{what}: expected three principal values or a finite 3x3 array [kg m^2], not {value!r}")
    if np.abs(array - array.T).max() > 1e-9 * max(np.abs(array).max(), 1e-300):
        raise DescriptionError(f"{what}: the inertia is not symmetric")
    array = (array + array.T) / 2
    array.setflags(write=False)
    return array


def inertia_defect(mass: float, inertia: np.ndarray) -> str | None:
    """Why no rigid body can have this mass and inertia about its centre of mass, or None.

    The three principal moments must be positive and each at most the sum of the other two; a body without mass has
    none.
    """
    if mass == 0.0:
        return "inertia without mass" if np.any(inertia) else None
    low, mid, high = np.linalg.eigvalsh(inertia)
    slack = 1e-6 * high  # published values are rounded, and a thin plate meets the triangle inequality with equality
    if low <= 0.0:
        return f"smallest principal moment {low:.3g} kg m^2 is not positive"
    if low + mid < high - slack:
        return f"principal moments {low:.3g}, {mid:.3g}, {high:.3g} kg m^2 break the triangle inequality"
    return None


def unphysical_notes(robot: str, bodies: Iterable[Body]) -> tuple[str, ...]:
    """One note that names every body whose inertia no rigid body can have, or no note."""
    defects = [
        f"{body.name!r} ({defect})"
        for body in bodies
        if (defect := inertia_defect(body.mass, body.inertia)) is not None
    ]
    if not defects:
        return ()
    return (f"{robot}: inertias that no rigid body can have, kept as given: {', '.join(defects)}",)
