"""The frozen description that algorithms work on: a tree with coordinates laid out, and the joints cut for it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import RigidTransform

from contacts import grasp_kind
from graphs import Topology
from multiarm.arms import Arm
from multiarm.description import Body, Coupling, Frame, Grasp, Joint
from multiarm.errors import BadInputError, DescriptionError, UnknownNameError
from multiarm.joints import joint_kind
from multiarm.state import State, fill_coordinates

__all__ = ["CutJoint", "Model", "Placement", "TreeJoint", "grasp_as_joint"]

UNIT = 1e-15  # how far rounding leaves a quaternion from unit length


@dataclass(frozen=True, eq=False)
class Placement:
    """Where a body or frame sits: the row of the link that carries it, its pose there, and the body it is part of."""

    link: int
    pose: RigidTransform
    body: str


@dataclass(frozen=True, eq=False)
class TreeJoint:
    """A joint in the tree: its places in q and v, the rows of its axes, and the direction the tree runs through it."""

    joint: Joint
    q: slice
    v: slice
    links: range
    sign: int
    actuated: bool


@dataclass(frozen=True, eq=False)
class CutJoint:
    """A joint or grasp that was cut: the frames it connects (parent side, child side) and its constraint rows.

    Its armature, damping and friction are with `joint`: they act only once the loop is closed.
    """

    name: str
    kind: str
    parent: Frame
    child: Frame
    rows: int
    grasp: Grasp | None = None
    joint: Joint | None = None


def grasp_as_joint(cut: CutJoint) -> Joint:
    """The joint that a cut grasp acts as: a soft finger as itself, the others as the joint of the same freedom."""
    kind = grasp_kind(cut.kind).as_joint or cut.kind
    return Joint(cut.name, kind, cut.parent.body, cut.child.body, cut.parent.pose, cut.child.pose, passive=True)


@dataclass(frozen=True, eq=False)
class Model:
    """A compiled mechanism; frozen. `print(model)` draws its tree and cuts.

    Attributes
    ----------
    nq, nv : int
        Number of coordinates and of velocities.
    topology : graphs.Topology
        Spanning tree, cut joints, loops.
    gravity : array
        Acceleration of free fall [m/s^2], world axes.
    bodies, joints, cuts, arms, grasps : mapping
        The parts by name.
        Cuts stand in the order they were added, in `topology` by the bodies they start from.
    merged : mapping
        Fixed joints in the tree, and rigid grasps kept in it: their two bodies are one link.
    couplings : tuple of Coupling
        Linear constraints between coordinates (mimic joints).
    neutral : array
        Coordinates with every joint at zero and free bodies at their starting poses.
    """

    name: str
    nq: int
    nv: int
    gravity: np.ndarray
    topology: Topology
    bodies: Mapping[str, Body]
    joints: Mapping[str, TreeJoint]
    merged: Mapping[str, Joint]
    cuts: Mapping[str, CutJoint]
    arms: Mapping[str, Arm]
    grasps: Mapping[str, Grasp]
    couplings: tuple[Coupling, ...]
    neutral: np.ndarray
    tree: np.ndarray = field(repr=False)
    link: np.ndarray = field(repr=False)
    placements: Mapping[str, Placement] = field(repr=False)

    # ------------------------------------------------------------------ coordinates by name

    def q_slice(self, name: str) -> slice:
        """Where the coordinates of an arm, joint or free body stand in q."""
        return self._slices(name)[0]

    def v_slice(self, name: str) -> slice:
        """Where the velocities (and torques) of an arm, joint or free body stand in v."""
        return self._slices(name)[1]

    def _slices(self, name: str) -> tuple[slice, slice]:
        if name in self.arms:
            inside = [self.joints[joint] for joint in self.coordinates_of_arm(name)]
            if not inside:
                return slice(0, 0), slice(0, 0)
            return slice(inside[0].q.start, inside[-1].q.stop), slice(inside[0].v.start, inside[-1].v.stop)
        if name in self.joints:
            return self.joints[name].q, self.joints[name].v
        choices = [*self.arms, *self.joints]
        if name in self.placements:
            carrier = self.carrier(name)
            hint = (
                f"{name!r} is fixed to the world"
                if carrier is None
                else f"{name!r} is carried by joint {carrier!r}: use that name"
            )
            raise UnknownNameError("coordinates of", name, choices, hint)
        if name in self.cuts:
            raise UnknownNameError("coordinates of", name, choices, f"{name!r} is a cut joint and has none")
        raise UnknownNameError("arm, joint or free body", name, choices)

    def coordinates_of_arm(self, arm: str) -> tuple[str, ...]:
        """Names of the joints of an arm that have coordinates, in the order of q."""
        if arm not in self.arms:
            raise UnknownNameError("arm", arm, self.arms)
        inside = {*self.arms[arm].joints, *self.arms[arm].bodies}
        return tuple(name for name in self.joints if name in inside)

    def carrier(self, name: str) -> str | None:
        """The joint whose motion carries a body or frame; None where that is the world."""
        row = self.placement(name).link
        return next((joint for joint, place in self.joints.items() if row in place.links), None)

    def hangs_by(self, joint: str) -> str:
        """The body that hangs in the tree by a joint; its child, unless the tree runs against it."""
        if joint in self.merged:
            declared = self.merged[joint]
            hanging = self.topology.parent.get(declared.child)
            return declared.child if hanging is not None and hanging.joint == joint else declared.parent
        if joint not in self.joints:
            raise UnknownNameError("joint of the tree", joint, [*self.joints, *self.merged])
        place = self.joints[joint]
        return place.joint.child if place.sign > 0 else place.joint.parent

    def placement(self, name: str) -> Placement:
        """Where a body or frame sits."""
        if name in self.placements:
            return self.placements[name]
        if name in self.arms and len(self.arms[name].tips) == 1:
            return self.placements[self.arms[name].tips[0][1]]
        raise UnknownNameError("body or frame", name, self.placements)

    @cached_property
    def velocity_names(self) -> tuple[str, ...]:
        """A name for every entry of v: the joint's, with a number where it has several."""
        names = []
        for name, place in self.joints.items():
            count = place.v.stop - place.v.start
            names += [name] if count == 1 else [f"{name}[{i}]" for i in range(count)]
        return tuple(names)

    # ------------------------------------------------------------------ states and inputs

    def state(
        self, q: ArrayLike | Mapping[str, ArrayLike] | None = None, v: ArrayLike | Mapping[str, ArrayLike] | None = None
    ) -> State:
        """A `State` from whole arrays, or from values by arm, joint or free body; what is not named is neutral.

        Quaternions within 1e-6 of unit length are normalised, others refused.
        """
        positions = fill_coordinates("q", q, self.neutral, self.q_slice)
        velocities = fill_coordinates("v", v, np.zeros(self.nv), self.v_slice)
        self.normalise(positions)
        positions.setflags(write=False)
        velocities.setflags(write=False)
        return State(self, positions, velocities)

    def normalise(self, q: np.ndarray) -> None:
        """Make the quaternions in q unit, in place; refuse those further than 1e-6 from it.

        Those that are unit to rounding keep their bits, so that a state made of another's numbers is the same.
        """
        for name, place in self.joints.items():
            if place.joint.kind in ("spherical", "free"):
                quaternion = q[place.q.start : place.q.start + 4]
                with np.errstate(over="ignore"):
                    length = float(np.linalg.norm(quaternion))
                if abs(length - 1.0) > 1e-6:
                    raise BadInputError(
                        f"q of {name!r}: the quaternion (x, y, z, w) = {quaternion.tolist()} "
                        f"has length {length:.6g}, not 1"
                    )
                if abs(length - 1.0) > UNIT:
                    quaternion /= length

    def configuration(self, q: ArrayLike | State) -> np.ndarray:
        """Validated coordinates from an array of length nq, or from a State."""
        return self.own(q).q if isinstance(q, State) else self.state(q=q).q

    def own(self, state: State) -> State:
        """The state, after checking that it is one and belongs to this model or to a copy of it."""
        if not isinstance(state, State):
            raise BadInputError(f"expected a State, as model.state(q=..., v=...) makes it, not {type(state).__name__}")
        if state.model is not self and state.model.fingerprint != self.fingerprint:
            raise BadInputError(
                f"this state belongs to another model ({state.model.name!r}); "
                f"model.state(q=state.q, v=state.v) makes one for this model ({self.name!r}) if its coordinates fit"
            )
        return state

    @cached_property
    def open_grasps(self) -> tuple[str, ...]:
        """Grasps whose place on the object is left open (`at=None`); `assemble` and `grasped` fill it in."""
        return tuple(name for name, grasp in self.grasps.items() if grasp.at is None)

    def complete(self, state: State) -> Model:
        """The model itself; where it leaves the place of grasps open, the state's own, in which they have one."""
        self.own(state)
        if not self.open_grasps:
            return self
        if state.model.open_grasps:
            name = self.open_grasps[0]
            raise DescriptionError(
                f"grasp {name!r} has no at=, and in this state it is not known where on {self.grasps[name].body!r} it "
                f"holds: multiarm.assemble(model, guess) takes it where the tip is in the guess (state.model is then "
                f"the completed model), or give at=",
                self.open_grasps,
            )
        return state.model

    @cached_property
    def fingerprint(self) -> str:
        """Digest of what the model computes with; equal for a model and its copies."""
        digest = hashlib.sha256(repr((self.nq, self.nv, self.velocity_names)).encode())
        digest.update(self.tree.tobytes())
        digest.update(self.link.tobytes())
        return digest.hexdigest()

    def __getstate__(self) -> dict[str, Any]:
        return {name: dict(x) if isinstance(x, MappingProxyType) else x for name, x in self.__dict__.items()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__post_init__()

    def __post_init__(self) -> None:
        for name, value in self.__dict__.items():
            if isinstance(value, dict):
                self.__dict__[name] = MappingProxyType(value)
            elif isinstance(value, np.ndarray):
                value.setflags(write=False)

    def forces(self, tau: ArrayLike | Mapping[str, ArrayLike] | None, what: str = "tau") -> np.ndarray:
        """Generalised forces of length nv from an array, or from values by arm or joint; what is not named is zero."""
        return fill_coordinates(what, tau, np.zeros(self.nv), self.v_slice)

    # ------------------------------------------------------------------ values per velocity

    def _per_velocity(self, quantity: str) -> np.ndarray:
        values = np.empty(self.nv)
        for place in self.joints.values():
            values[place.v] = getattr(place.joint, quantity)
        return values

    @cached_property
    def lower(self) -> np.ndarray:
        """Lower limit of every coordinate in q [rad or m]; -inf for quaternions and where there is none."""
        return self._limits("lower", -np.inf)

    @cached_property
    def upper(self) -> np.ndarray:
        """Upper limit of every coordinate in q [rad or m]; inf for quaternions and where there is none."""
        return self._limits("upper", np.inf)

    def _limits(self, side: str, unlimited: float) -> np.ndarray:
        values = np.full(self.nq, unlimited)
        for place in self.joints.values():
            if joint_kind(place.joint.kind).nq == joint_kind(place.joint.kind).nv:
                values[place.q] = getattr(place.joint, side)
        return values

    @cached_property
    def velocity_limit(self) -> np.ndarray:
        """Largest speed of every entry of v [rad/s or m/s]."""
        return self._per_velocity("velocity_limit")

    @cached_property
    def effort_limit(self) -> np.ndarray:
        """Largest torque or force of every entry of v [N m or N]."""
        return self._per_velocity("effort_limit")

    @cached_property
    def armature(self) -> np.ndarray:
        """Rotor inertia at every entry of v [kg m^2 or kg]."""
        return self._per_velocity("armature")

    @cached_property
    def damping(self) -> np.ndarray:
        """Viscous friction at every entry of v [N m s/rad or N s/m]."""
        return self._per_velocity("damping")

    @cached_property
    def friction(self) -> np.ndarray:
        """Dry friction at every entry of v [N m or N]."""
        return self._per_velocity("friction")

    @cached_property
    def actuated(self) -> np.ndarray:
        """Whether each entry of v has an actuator."""
        values = np.zeros(self.nv, bool)
        for place in self.joints.values():
            values[place.v] = place.actuated
        return values

    @cached_property
    def mass(self) -> float:
        """Mass of all bodies that can move [kg]."""
        from multiarm.sweeps import layout

        return float(self.link[1:, layout.MASS].sum())

    def __str__(self) -> str:
        from multiarm.display import draw_model

        return draw_model(self)

    def __repr__(self) -> str:
        return f"<Model {self.name!r}: nq {self.nq}, nv {self.nv}, {len(self.cuts)} cuts>"
