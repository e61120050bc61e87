"""Sections that describe a mechanism: arms with their robots, bodies, frames, joints, couplings and grasps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Discriminator, Field, Tag

from multiarm.scenario.fields import (
    Angle,
    Count,
    Flag,
    Name,
    NotNegative,
    Number,
    PoseField,
    Positive,
    Section,
    Vector3,
)

__all__ = ["ArmPart", "BodyPart", "CouplingPart", "FramePart", "GraspPart", "JointPart", "RobotPart", "ShapePart"]

MOST_JOINTS = 500

JointKindName = Literal[
    "fixed",
    "revolute",
    "continuous",
    "prismatic",
    "screw",
    "cylindrical",
    "universal",
    "planar",
    "spherical",
    "free",
]
GraspKindName = Literal["rigid", "revolute", "soft_finger", "point"]


def _text_or_mapping(value: Any) -> str | None:
    return "text" if isinstance(value, str) else "by name" if isinstance(value, Mapping) else None


Tips = Annotated[
    Annotated[Name, Tag("text")] | Annotated[dict[Name, Name], Tag("by name")],
    Discriminator(
        _text_or_mapping,
        custom_error_type="tips",
        custom_error_message="expected a frame of the robot, or {left: frame, right: frame}",
    ),
]


def _number_or_list(value: Any) -> str | None:
    if isinstance(value, list | tuple):
        return "list"
    return "number" if isinstance(value, int | float) and not isinstance(value, bool) else None


PerLink = Annotated[
    Annotated[Positive, Tag("number")] | Annotated[list[Positive], Tag("list")],
    Discriminator(
        _number_or_list,
        custom_error_type="per_link",
        custom_error_message="expected a positive number, or a list of them, one per link",
    ),
]

# ---------------------------------------------------------------------- robots


class _Robot(Section):
    floating: Flag = Field(False, description="whether the base hangs in the world by a free joint")


class Panda(_Robot):
    """The Franka Emika Panda, seven joints."""

    name: Literal["panda"] = Field(description="built-in robot")
    hand: Flag = Field(True, description="with the Franka hand, the tip between its fingers; else the flange")


class Ur5(_Robot):
    """The Universal Robots UR5, six joints."""

    name: Literal["ur5"] = Field(description="built-in robot")


class Puma560(_Robot):
    """The Unimation PUMA 560, six joints with rotors and friction."""

    name: Literal["puma560"] = Field(description="built-in robot")


class Torso(_Robot):
    """Two Pandas on a torso that turns, fifteen joints, tips "left" and "right"."""

    name: Literal["torso"] = Field(description="built-in robot")
    hand: Flag = Field(True, description="with Franka hands")


class Planar(_Robot):
    """Uniform rods along x on joints about z."""

    name: Literal["planar"] = Field(description="built-in robot")
    n: Annotated[Count, Field(ge=1, le=MOST_JOINTS)] = Field(description="number of joints")
    length: PerLink = Field(1.0, description="length of a rod [m], or one per rod")
    mass: PerLink = Field(1.0, description="mass of a rod [kg], or one per rod")


class Chain(_Robot):
    """Square bars along x on joints about z, y, x in turn."""

    name: Literal["chain"] = Field(description="built-in robot")
    n: Annotated[Count, Field(ge=1, le=MOST_JOINTS)] = Field(description="number of joints")
    length: Positive = Field(0.2, description="length of a link [m]")
    mass: Positive = Field(1.0, description="mass of a link [kg]")


class LoopJoint(Section):
    """Two links of a URDF file that coincide when the robot is assembled."""

    links: tuple[Name, Name] = Field(description="the two links (or joints, standing for the links they carry)")
    kind: Literal["weld", "ball", "hinge"] = Field(description="how; a hinge turns about z of both")


class Urdf(_Robot):
    """A robot from a URDF file."""

    urdf: Name = Field(description="the file, relative to the scenario")
    tip: Tips | None = Field(None, description="the link that grasps, or {left: link, right: link}")
    base: Name | None = Field(None, description="the link to start from; default the root of the file")
    loops: list[LoopJoint] = Field([], description="links that close loops")


class Mjcf(Section):
    """A robot or scene from an MJCF file (needs the extra `mjcf`)."""

    mjcf: Name = Field(description="the file, relative to the scenario")
    tip: Tips | None = Field(None, description="the body or site that grasps, or {left: site, right: site}")
    base: Name | None = Field(None, description="the body to start from; default the file's world")
    floating: Flag | None = Field(None, description="whether the base hangs by a free joint; default as in the file")


BUILT_IN_ROBOTS = ("panda", "ur5", "puma560", "planar", "chain", "torso")


def _robot_from_name(value: Any) -> Any:
    return {"name": value} if isinstance(value, str) else value


def _kind_of_robot(value: Any) -> str | None:
    if not isinstance(value, Mapping):
        return None
    for source in ("urdf", "mjcf"):
        if source in value:
            return source
    name = value.get("name")
    return name if isinstance(name, str) else None


_AnyRobot = Annotated[
    Annotated[Panda, Tag("panda")]
    | Annotated[Ur5, Tag("ur5")]
    | Annotated[Puma560, Tag("puma560")]
    | Annotated[Planar, Tag("planar")]
    | Annotated[Chain, Tag("chain")]
    | Annotated[Torso, Tag("torso")]
    | Annotated[Urdf, Tag("urdf")]
    | Annotated[Mjcf, Tag("mjcf")],
    Discriminator(_kind_of_robot),
]
RobotPart = Annotated[
    _AnyRobot,
    BeforeValidator(_robot_from_name, json_schema_input_type=_AnyRobot | Literal["panda", "ur5", "puma560", "torso"]),
]


class ArmPart(Section):
    """A robot in the mechanism; its parts are called "arm/part", its tip "arm/tip"."""

    robot: RobotPart = Field(
        description="a built-in robot's name, {name: chain, n: 7, ...}, {urdf: file, tip: ...} or {mjcf: file, ...}"
    )
    base: PoseField | None = Field(
        None, description="pose of the robot's base in `mounted_on`; where a floating one starts"
    )
    mounted_on: Name = Field("world", description="the body or frame that carries the robot")


# ---------------------------------------------------------------------- bodies


class BoxShape(Section):
    """A box."""

    kind: Literal["box"] = Field(description="a box")
    size: tuple[Positive, Positive, Positive] = Field(description="full edge lengths [m]")


class SphereShape(Section):
    """A ball."""

    kind: Literal["sphere"] = Field(description="a ball")
    radius: Positive = Field(description="radius [m]")


class CylinderShape(Section):
    """A cylinder along z."""

    kind: Literal["cylinder"] = Field(description="a cylinder along z")
    radius: Positive = Field(description="radius [m]")
    length: Positive = Field(description="full length [m]")


class CapsuleShape(Section):
    """A cylinder along z with half balls on its ends."""

    kind: Literal["capsule"] = Field(description="a cylinder along z with half balls on its ends")
    radius: Positive = Field(description="radius [m]")
    length: Positive = Field(description="length of the cylindrical part [m]")


class MeshShape(Section):
    """A surface mesh from a file."""

    kind: Literal["mesh"] = Field(description="a surface mesh")
    file: Name = Field(description="the file, relative to the scenario")
    scale: tuple[Positive, Positive, Positive] = Field((1.0, 1.0, 1.0), description="scale along the axes")


ShapePart = Annotated[
    BoxShape | SphereShape | CylinderShape | CapsuleShape | MeshShape,
    Field(discriminator="kind"),
]


def _principal_or_matrix(value: Any) -> str | None:
    if not isinstance(value, list | tuple):
        return None
    return "3x3" if any(isinstance(row, list | tuple) for row in value) else "principal"


Inertia = Annotated[
    Annotated[tuple[NotNegative, NotNegative, NotNegative], Tag("principal")]
    | Annotated[tuple[Vector3, Vector3, Vector3], Tag("3x3")],
    Discriminator(
        _principal_or_matrix,
        custom_error_type="inertia",
        custom_error_message="expected three principal moments or three rows of three [kg m^2]",
    ),
]


class BodyPart(Section):
    """A rigid body."""

    mass: NotNegative = Field(0.0, description="mass [kg]")
    inertia: Inertia | None = Field(
        None,
        description="about the centre of mass in body axes [kg m^2]: three principal moments or 3x3; "
        "default that of a uniform body of the shape",
    )
    com: Vector3 = Field((0.0, 0.0, 0.0), description="centre of mass in the body [m]")
    shape: ShapePart | None = Field(None, description="for collisions and pictures")
    pose: PoseField | None = Field(None, description="where the body starts in the world; where it stays if fixed")
    fixed: Flag = Field(False, description="the body belongs to the world")


class FramePart(Section):
    """A named frame in a body."""

    body: Name = Field(description="the body or frame it sits in")
    pose: PoseField = Field(description="where in it")


# ---------------------------------------------------------------------- joints and grasps


class JointPart(Section):
    """A joint between two bodies or frames."""

    kind: JointKindName = Field(description="what it lets move")
    parent: Name = Field(description="body or frame; coordinates and torques follow parent -> child")
    child: Name = Field(description="body or frame")
    at: PoseField | None = Field(None, description="the joint frame in the parent")
    in_child: PoseField | None = Field(None, description="the joint frame in the child")
    axis: Vector3 = Field((0.0, 0.0, 1.0), description="direction in the joint frame")
    axis2: Vector3 | None = Field(None, description="second direction of a universal joint, fixed in the child")
    pitch: Number | None = Field(None, description="advance of a screw [m/rad]")
    passive: Flag = Field(False, description="no actuator")
    lower: Angle | None = Field(None, description="lower limit [rad or m]; default none")
    upper: Angle | None = Field(None, description="upper limit [rad or m]; default none")
    velocity_limit: Positive | None = Field(None, description="largest speed [rad/s or m/s]; default none")
    effort_limit: Positive | None = Field(None, description="largest torque or force [N m or N]; default none")
    armature: NotNegative = Field(0.0, description="rotor inertia at the joint [kg m^2 or kg]")
    damping: NotNegative = Field(0.0, description="viscous friction [N m s/rad or N s/m]")
    friction: NotNegative = Field(0.0, description="dry friction [N m or N]")


class CouplingPart(Section):
    """q[joint] = ratio * q[source] + offset between two joints of one coordinate."""

    joint: Name = Field(description="the joint that follows")
    source: Name = Field(description="the joint it follows")
    ratio: Number = Field(1.0, description="how much")
    offset: Angle = Field(0.0, description="from where [rad or m]")


class GraspPart(Section):
    """An arm's tip, or any frame, holds a body; the entry's name is the grasp's."""

    by: Name | None = Field(None, description="an arm, or any body or frame 'arm/frame'; default the grasp's own name")
    body: Name = Field(description="the body (or frame) held")
    at: PoseField | None = Field(
        None,
        description="the contact frame on the body, z into it, where the tip is held; default where the tip is when "
        "the grasp is made",
    )
    kind: GraspKindName = Field("rigid", description="what it fixes: revolute leaves z free, soft_finger x and y")
    friction: NotNegative | None = Field(None, description="Coulomb coefficient")
    torsional: NotNegative | None = Field(None, description="torsional limit of a soft finger [m]: |n_z| <= it * f_z")
    active: Flag = Field(True, description="whether the grasp holds at the start; if not, an action makes it")
    on_slip: Literal["report", "stop", "release"] = Field(
        "report", description="what to do when the grasp leaves its friction limit"
    )
