"""Sections that say what moves: the start, paths of objects, controllers."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from multiarm.scenario.fields import Angle, Coordinates, Flag, Gain, Name, Number, Pose, Positive, Section, Vector3

__all__ = ["ControllerPart", "PathPart", "StartPart", "Squeeze"]


class StartPart(Section):
    """Where the run starts: the loops are closed from a guess."""

    guess: dict[Name, Coordinates] = Field(
        {}, description="coordinates by arm, joint or free body [rad, m, quaternion first]; the rest neutral"
    )
    hold: list[Name] = Field([], description="arms, joints or free bodies that stay exactly where the guess puts them")
    velocities: dict[Name, Coordinates] = Field(
        {}, description="velocities by arm, joint or free body [rad/s, m/s], brought onto the constraints"
    )


# ---------------------------------------------------------------------- paths


class PathPoint(Pose):
    """A pose to be reached, and when."""

    time: Positive = Field(description="when to be there [s]")
    xyz: Vector3 = Field(description="position in the world [m]")


class _Points(Section):
    points: list[PathPoint] = Field(
        min_length=1,
        max_length=1000,
        description="poses in the world with increasing times; the path begins where the object is at the start",
    )


class QuinticPath(_Points):
    """From pose to pose by quintic polynomials, at rest in each."""

    kind: Literal["quintic"] = Field(description="quintic polynomials, at rest in each pose")


class TrapezoidPath(_Points):
    """From pose to pose with trapezoidal speed, at rest in each."""

    kind: Literal["trapezoid"] = Field(description="trapezoidal speed, at rest in each pose")
    ramp: Annotated[Number, Field(gt=0.0, le=0.5)] = Field(
        0.25, description="part of each segment's time spent speeding up, and slowing down again"
    )


class CirclePath(Section):
    """Round a line through `centre` along `axis`, from where the object is at the start."""

    kind: Literal["circle"] = Field(description="a circle round a line")
    centre: Vector3 = Field(description="a point on the line [m]")
    axis: Vector3 = Field((0.0, 0.0, 1.0), description="direction of the line")
    angle: Angle = Field(description="how far to go [rad, or text such as '360 deg']")
    duration: Positive = Field(description="how long that takes [s], from rest to rest")
    turn: Flag = Field(False, description="whether the object turns with the motion")


class FilePath(Section):
    """A path from a file of times and poses."""

    kind: Literal["file"] = Field(description="times and poses from a file")
    file: Name = Field(description="CSV file with columns time, x, y, z, qx, qy, qz, qw, relative to the scenario")


class HoldPath(Section):
    """Stay at the starting pose."""

    kind: Literal["hold"] = Field(description="stay at the starting pose")


PathPart = Annotated[
    QuinticPath | TrapezoidPath | CirclePath | FilePath | HoldPath,
    Field(discriminator="kind"),
]

# ---------------------------------------------------------------------- controllers


class Squeeze(Section):
    """An internal force between two grasps of one object, along the line between them."""

    between: tuple[Name, Name] = Field(description="the two grasps")
    force: Number = Field(description="pressing force [N]; negative pulls")


class _Controller(Section):
    torque_limits: Flag = Field(True, description="whether torques are limited to the joints' effort limits")


class JointPD(_Controller):
    """tau = kp (q_target - q) - kd v + gravity."""

    kind: Literal["joint_pd"] = Field(description="proportional-derivative control of every actuated joint")
    kp: Gain = Field(description="stiffness [N m/rad or N/m]: for all, or by arm or joint")
    kd: Gain = Field(description="damping [N m s/rad or N s/m]: for all, or by arm or joint")
    target: dict[Name, Coordinates] = Field(
        {}, description="coordinates to hold by arm or joint [rad or m]; what is not named stays where it starts"
    )
    gravity: Flag = Field(True, description="whether gravity is compensated")


class _ObjectController(_Controller):
    paths: dict[Name, PathPart] = Field(min_length=1, description="the path of each object")
    squeeze: list[Squeeze] = Field([], description="internal forces to keep")


class ComputedTorque(_ObjectController):
    """Closed-chain inverse dynamics for the path's acceleration, corrected by kp and kd on the object's error."""

    kind: Literal["computed_torque"] = Field(description="closed-chain inverse dynamics along a path")
    kp: Gain = Field(description="[1/s^2]")
    kd: Gain = Field(description="[1/s]")


class ObjectImpedance(_ObjectController):
    """The object gives way like a spring and damper about its path."""

    kind: Literal["object_impedance"] = Field(description="spring and damper about a path")
    stiffness: Gain = Field(description="[N m/rad, N/m]: for all, or six values [angular; linear]")
    damping: Gain = Field(description="[N m s/rad, N s/m]: for all, or six values [angular; linear]")


ControllerPart = Annotated[JointPD | ComputedTorque | ObjectImpedance, Field(discriminator="kind")]
