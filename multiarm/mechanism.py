"""The editable description: bodies, joints, arms and grasps, in the order they were added."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from math import inf
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from contacts import Mesh, Shape, grasp_kind
from multiarm.arms import Arm, arm_parts
from multiarm.checks import as_direction, as_number, check_body, check_joint, check_robot
from multiarm.description import (
    Body,
    Coupling,
    Frame,
    Grasp,
    Joint,
    Robot,
    inertia_matrix,
    unphysical_notes,
)
from multiarm.errors import BadInputError, DescriptionError, UnknownNameError, UnphysicalInertiaWarning
from multiarm.joints import joint_kind
from multiarm.poses import IDENTITY, PoseLike, as_pose, as_vector3

if TYPE_CHECKING:
    import networkx as nx

    from multiarm.model import Model

__all__ = ["Mechanism"]

WORLD = "world"


class Mechanism:
    """Bodies, joints, arms and grasps; `compile` turns them into a `Model`.

    Examples
    --------
    >>> import multiarm as ma
    >>> m = ma.Mechanism("pendulum")
    >>> m.add_body("rod", mass=1.0, inertia=(0.001, 0.1, 0.1), com=(0.5, 0, 0))
    >>> m.add_joint("hinge", "revolute", parent="world", child="rod", axis=(0, 1, 0))
    >>> m.compile().nv
    1
    """

    def __init__(self, name: str = "mechanism") -> None:
        self.name = name
        self.bodies: dict[str, Body] = {WORLD: Body(WORLD, fixed=True)}
        self.joints: dict[str, Joint] = {}
        self.frames: dict[str, Frame] = {}
        self.grasps: dict[str, Grasp] = {}
        self.arms: dict[str, Arm] = {}
        self.couplings: list[Coupling] = []
        self.order: list[tuple[str, str]] = []  # ("body" | "joint" | "grasp", name): the order of coordinates

    def __repr__(self) -> str:
        return (
            f"<Mechanism {self.name!r}: {len(self.bodies) - 1} bodies, {len(self.joints)} joints, "
            f"{len(self.arms)} arms, {len(self.grasps)} grasps>"
        )

    # ------------------------------------------------------------------ bodies, frames, joints

    def add_body(
        self,
        name: str,
        mass: float = 0.0,
        inertia: ArrayLike | None = None,
        com: ArrayLike = (0.0, 0.0, 0.0),
        pose: PoseLike | None = None,
        shape: Shape | None = None,
        fixed: bool = False,
        strict: bool = True,
    ) -> None:
        """Add a rigid body.

        Parameters
        ----------
        name : str
            Name of the body; "arm/part" is how parts of arms are called.
        mass : float
            Mass [kg]; 0 for a body that is only a frame or is fixed.
        inertia : array-like, optional
            Inertia about the centre of mass in body axes [kg m^2]: three principal values or 3x3. Left out, it is that
            of a uniform body of the given `shape`.
        com : array-like
            Centre of mass in the body [m].
        pose : pose, optional
            Where the body starts in the world; where it stays if `fixed`.
        shape : Box, Sphere, Cylinder, Capsule or Mesh, optional
            For collisions and pictures.
        fixed : bool
            The body belongs to the world.
        strict : bool
            Refuse an inertia that no rigid body can have (eigenvalue not positive, triangle inequality broken).
        """
        what = f"body {name!r}"
        self._new_body_name(name)
        mass = as_number(mass, f"{what}: mass")
        if shape is not None and not isinstance(shape, Shape):
            raise BadInputError(f"{what}: shape must be a Box, Sphere, Cylinder, Capsule or Mesh, not {shape!r}")
        if inertia is None and shape is not None and not isinstance(shape, Mesh):
            inertia = shape.inertia(mass)
        if inertia is None and mass > 0.0 and not fixed:
            raise DescriptionError(f"{what} has mass but no inertia: give inertia= or shape=", [name])
        matrix = inertia_matrix((0.0, 0.0, 0.0) if inertia is None else inertia, f"{what}: inertia")
        body = Body(name, mass, as_vector3(com, f"{what}: com"), matrix, as_pose(pose, f"{what}: pose"), shape, fixed)
        check_body(body, strict and not fixed)
        if fixed:
            self._new_joint_name(f"{name}/fixed")
        self._insert_body(body)
        if fixed:
            self._insert_joint(Joint(f"{name}/fixed", "fixed", WORLD, name, at=body.pose))

    def add_frame(self, name: str, body: str, pose: PoseLike | None = None) -> None:
        """Name a frame at `pose` in `body` (or in another frame)."""
        self._new_body_name(name)
        base = self.frame(body)
        self.frames[name] = Frame(name, base.body, base.pose * as_pose(pose, f"frame {name!r}: pose"))

    def add_joint(
        self,
        name: str,
        kind: str,
        parent: str,
        child: str,
        at: PoseLike | None = None,
        in_child: PoseLike | None = None,
        axis: ArrayLike = (0.0, 0.0, 1.0),
        axis2: ArrayLike | None = None,
        pitch: float | None = None,
        passive: bool = False,
        lower: float = -inf,
        upper: float = inf,
        velocity_limit: float = inf,
        effort_limit: float = inf,
        armature: float = 0.0,
        damping: float = 0.0,
        friction: float = 0.0,
    ) -> None:
        """Connect two bodies (or frames) by a joint.

        Parameters
        ----------
        name : str
            Name of the joint.
        kind : str
            revolute, continuous, prismatic, screw, cylindrical, universal, spherical, planar, free or fixed.
        parent, child : str
            Bodies or frames; q, v, tau and wrench follow parent -> child, whichever way the tree runs.
        at, in_child : pose, optional
            The joint frame in the parent and in the child; the two coincide at zero coordinates.
        axis, axis2 : array-like
            Directions in the joint frame (normalised here); `axis2` for universal joints, fixed in the child.
        pitch : float
            Advance of a screw [m/rad].
        passive : bool
            No actuator.
        lower, upper, velocity_limit, effort_limit : float
            Limits [rad or m; per second; N m or N].
        armature, damping, friction : float
            Rotor inertia at the joint [kg m^2 or kg], viscous [N m s/rad or N s/m] and dry friction [N m or N].
        """
        what = f"joint {name!r}"
        if joint_kind(kind).name == "screw" and pitch is None:
            raise DescriptionError(f"{what}: a screw needs pitch= [m/rad]", [name])
        self._new_joint_name(name)
        first, second = self.frame(parent), self.frame(child)
        joint = Joint(
            name,
            kind,
            parent=first.body,
            child=second.body,
            at=first.pose * as_pose(at, f"{what}: at"),
            in_child=second.pose * as_pose(in_child, f"{what}: in_child"),
            axis=as_direction(axis, f"{what}: axis"),
            axis2=None if axis2 is None else as_direction(axis2, f"{what}: axis2"),
            pitch=as_number(pitch or 0.0, f"{what}: pitch"),
            passive=bool(passive),
            lower=lower,
            upper=upper,
            velocity_limit=velocity_limit,
            effort_limit=effort_limit,
            armature=armature,
            damping=damping,
            friction=friction,
        )
        check_joint(joint)
        self._insert_joint(joint)

    def couple(self, joint: str, source: str, ratio: float = 1.0, offset: float = 0.0) -> None:
        """Constrain two one-coordinate joints: q[joint] = ratio * q[source] + offset."""
        for name in (joint, source):
            if name not in self.joints:
                raise UnknownNameError("joint", name, self.joints)
            if joint_kind(self.joints[name].kind).nv != 1:
                raise DescriptionError(
                    f"joint {name!r} is {self.joints[name].kind}: only one-coordinate joints couple", [name]
                )
        if joint == source:
            raise DescriptionError(f"joint {joint!r} cannot be coupled with itself", [joint])
        self.couplings.append(Coupling(joint, source, as_number(ratio, "ratio"), as_number(offset, "offset")))

    # ------------------------------------------------------------------ arms and grasps

    def add_arm(self, name: str, robot: Robot, base: PoseLike | None = None, on: str = WORLD) -> None:
        """Add a robot; its parts are addressed "name/part", its tip "name/tip".

        Parameters
        ----------
        name : str
            Name of the arm, without a slash.
        robot : Robot
            From `load_urdf`, `load_mjcf`, `robots` or `Mechanism.as_robot`.
        base : pose, optional
            Pose of the robot's root body in `on`; for a floating robot where it starts.
        on : str
            The body or frame that carries the robot.
        """
        if not isinstance(robot, Robot):
            raise BadInputError(
                f"arm {name!r}: expected a Robot (load_urdf, robots.panda(), ...), not {type(robot).__name__}"
            )
        if not isinstance(name, str) or "/" in name or not name:
            raise DescriptionError(f"arm {name!r}: a name needs at least one character and no slash", [name])
        if name in self.arms or name in self.joints or name in self.bodies or name in self.frames:
            raise DescriptionError(f"there is already an arm, joint, body or frame {name!r}", [name])
        check_robot(robot)
        unnoted = [body for body in robot.bodies if not any(repr(body.name) in note for note in robot.notes)]
        for note in unphysical_notes(robot.name, unnoted):
            warnings.warn(note, UnphysicalInertiaWarning, stacklevel=2)
        at = as_pose(base, f"arm {name!r}: base")
        carrier = self.frame(on)
        if robot.floating and carrier.body != WORLD and not self.bodies[carrier.body].fixed:
            raise DescriptionError(
                f"arm {name!r} floats: it starts at a pose in the world or on a fixed body, not on {on!r}", [name, on]
            )
        place = Frame(on, carrier.body, carrier.pose * at)
        new = arm_parts(name, robot, place, self.bodies[carrier.body].pose * place.pose)
        taken = new.twice() + [frame.name for frame in new.frames if self._knows_frame(frame.name)]
        for part in new.parts:
            known = self._knows_frame(part.name) if isinstance(part, Body) else self._knows_joint(part.name)
            taken += [part.name] if known else []
        if taken:
            raise DescriptionError(
                f"arm {name!r}: there are two things called {taken[0]!r} (an arm has a joint 'mount' and a frame for "
                f"each tip beside the robot's own parts)",
                taken,
            )
        for part in new.parts:
            if isinstance(part, Body):
                self._insert_body(part)
            else:
                self._insert_joint(part)
        self.frames |= {frame.name: frame for frame in new.frames}
        self.couplings += new.couplings
        self.arms[name] = new.arm

    def grasp(
        self,
        arm_or_frame: str,
        body: str,
        at: PoseLike | None = None,
        kind: str = "rigid",
        name: str | None = None,
        friction: float | None = None,
        torsional: float | None = None,
    ) -> None:
        """Let an arm's tip, or any frame "arm/frame", hold `body` at the contact frame `at` on it.

        Parameters
        ----------
        arm_or_frame : str
            An arm with one tip, or any frame or body.
        body : str
            The body (or frame) held.
        at : pose, optional
            The contact frame in the body; None to hold it where the tip is when the model is assembled.
        kind : str
            rigid, revolute, soft_finger or point.
        name : str, optional
            Defaults to the arm's name; required once that is taken.
        friction, torsional : float, optional
            Coulomb coefficient, and torsional limit [m] of a soft finger: |n_z| <= torsional * f_z.
        """
        described = grasp_kind(kind)
        tip = self._tip_of(arm_or_frame)
        held = self.frame(body)
        if name is None:
            name = arm_or_frame.split("/")[0]
            if self._knows_joint(name):
                raise DescriptionError(f"there is already a grasp or joint {name!r}: give this grasp a name=", [name])
        self._new_joint_name(name, arms_may_share=True)
        holder = self.frame(tip).body
        if holder == held.body:
            raise DescriptionError(f"grasp {name!r}: {tip!r} is part of {held.body!r} itself", [name, tip])
        for quantity, number in (("friction", friction), ("torsional", torsional)):
            if number is not None and as_number(number, f"grasp {name!r}: {quantity}") < 0.0:
                raise DescriptionError(f"grasp {name!r}: {quantity} must not be negative, but is {number}", [name])
        pose = None if at is None else held.pose * as_pose(at, f"grasp {name!r}: at")
        self.grasps[name] = Grasp(name, tip, held.body, described.name, pose, friction, torsional)
        self.order.append(("grasp", name))

    def as_robot(self, root: str, tip: str | dict[str, str] | None = None, floating: bool = False) -> Robot:
        """The bodies and joints of this mechanism as a `Robot` for `add_arm`, mounted by `root`."""
        inside = [body for body in self.bodies if body != WORLD]
        if root not in inside:
            raise UnknownNameError("body", root, inside)
        outside = [joint.name for joint in self.joints.values() if WORLD in (joint.parent, joint.child)]
        if outside or self.grasps or self.arms:
            raise DescriptionError(
                "as_robot takes bodies and joints only: no arms, grasps or joints to the world",
                [*outside, *self.grasps, *self.arms],
            )
        tips = {} if tip is None else {"tip": tip} if isinstance(tip, str) else dict(tip)
        for target in tips.values():
            self.frame(target)
        bodies, joints = tuple(self.bodies[name] for name in inside), tuple(self.joints.values())
        return Robot(
            self.name, bodies, joints, root, tuple(self.frames.values()), tips, tuple(self.couplings), floating
        )

    # ------------------------------------------------------------------ onward

    @property
    def graph(self) -> nx.MultiDiGraph:
        """Bodies as nodes, joints and grasps as keyed edges, with what `graphs.analyse` needs to know of them."""
        import networkx as nx

        graph = nx.MultiDiGraph(name=self.name)
        graph.add_nodes_from(self.bodies)
        for kind, name in self.order:
            if kind == "joint":
                joint = self.joints[name]
                freedom = joint_kind(joint.kind).nv
                graph.add_edge(
                    joint.parent,
                    joint.child,
                    key=name,
                    kind=joint.kind,
                    freedom=freedom,
                    passive=joint.passive,
                    grasp=joint.closes_loop,
                )
            elif kind == "grasp":
                grasp = self.grasps[name]
                described = grasp_kind(grasp.kind)
                graph.add_edge(
                    self.frame(grasp.tip).body,
                    grasp.body,
                    key=name,
                    kind=grasp.kind,
                    freedom=6 - described.velocity_rows,
                    rows=described.velocity_rows,
                    grasp=True,
                    passive=True,
                    must_cut=described.as_joint is None or grasp.at is None,
                )
        return graph

    def compile(self, cuts: str | Iterable[str] = "grasps", gravity: ArrayLike = (0.0, 0.0, -9.81)) -> Model:
        """Freeze the description into a `Model`: choose the tree (see `graphs.analyse`) and lay out coordinates."""
        from multiarm.compilation import compile_mechanism

        return compile_mechanism(self, cuts, as_vector3(gravity, "gravity"))

    # ------------------------------------------------------------------ names

    def _knows_frame(self, name: str) -> bool:
        return name in self.bodies or name in self.frames

    def _knows_joint(self, name: str) -> bool:
        return name in self.joints or name in self.grasps

    def frame(self, name: str) -> Frame:
        """The body or frame of that name as a frame."""
        if name in self.bodies:
            return Frame(name, name, IDENTITY)
        if name in self.frames:
            return self.frames[name]
        raise UnknownNameError("body or frame", name, [*self.bodies, *self.frames])

    def _tip_of(self, name: str) -> str:
        if name not in self.arms:
            self.frame(name)
            return name
        tips = self.arms[name].tips
        if len(tips) != 1:
            valid = [f"{name}/{short}" for short, _ in tips] or [*self.arms[name].bodies]
            raise UnknownNameError("single tip of arm", name, valid, "Name the frame that grasps.")
        return tips[0][1]

    def _new_body_name(self, name: str) -> None:
        if not isinstance(name, str) or not name:
            raise DescriptionError(f"a name must be a non-empty string, not {name!r}")
        if self._knows_frame(name) or name in self.arms:
            raise DescriptionError(f"there is already a body, frame or arm {name!r}", [name])

    def _new_joint_name(self, name: str, arms_may_share: bool = False) -> None:
        if not isinstance(name, str) or not name:
            raise DescriptionError(f"a name must be a non-empty string, not {name!r}")
        if self._knows_joint(name) or (name in self.arms and not arms_may_share):
            raise DescriptionError(f"there is already a joint, grasp or arm {name!r}", [name])

    def _insert_body(self, body: Body) -> None:
        self.bodies[body.name] = body
        self.order.append(("body", body.name))

    def _insert_joint(self, joint: Joint) -> None:
        self.joints[joint.name] = joint
        self.order.append(("joint", joint.name))
