"""Sections that say what moves: the start, paths of objects, controllers."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from multiarm.scenario.fields import (
    Angle,
    Coordinates,
    Flag,
    Gain,
    Name,
    NotNegative,
    Number,
    NumberOrSix,
    Pose,
    Positive,
    Section,
    Vector3,
)

__all__ = ["ControllerPart", "JointMotionPart", "PathPart", "Squeeze", "StartPart"]


class StartPart(Section):
    """Where the run starts: the loops are closed from a guess."""

    guess: dict[Name, Coordinates] = Field(
        {}, description="coordinates by arm, joint or free body [rad, m, quaternion first]; the rest neutral"
    )
    hold: list[Name] = Field([], description="arms, joints or free bodies that stay exactly where the guess puts them")
    velocities: dict[Name, Coordinates] = Field(
        {}, description="velocities by arm, joint or free body [rad/s, m/s], brought onto the constraints"
    )
    scatter: NotNegative = Field(
        0.0,
        description="standard deviation of a random change of the joints that are not held [rad or m], "
        "drawn from the seed, before the loops are closed",
    )


# ---------------------------------------------------------------------- paths


class PathPoint(Pose):
    """A pose to be reached, in the world."""

    xyz: Vector3 = Field(description="position in the world [m]")


class TimedPoint(PathPoint):
    """A pose to be reached, and when."""

    time: Positive = Field(description="when to be there [s]")


class QuinticPath(Section):
    """From pose to pose by polynomials of degree five, from where the object is at the start."""

    kind: Literal["quintic"] = Field(description="polynomials of degree five in time")
    points: list[TimedPoint] = Field(min_length=1, max_length=1000, description="poses with increasing times")
    velocities: Literal["rest", "through"] = Field(
        "rest", description="stop at every pose, or pass the inner ones at the mean velocity of their neighbours"
    )


class TrapezoidPath(Section):
    """From pose to pose on straight lines as fast as the limits allow, from where the object is at the start."""

    kind: Literal["trapezoid"] = Field(description="speed up, cruise, slow down on every leg")
    points: list[PathPoint] = Field(min_length=1, max_length=1000, description="poses in order")
    speed: Positive = Field(description="[m/s]")
    acceleration: Positive = Field(description="[m/s^2]")
    turn_speed: Positive | None = Field(None, description="[rad/s]; needed where poses turn")
    turn_acceleration: Positive | None = Field(None, description="[rad/s^2]; needed where poses turn")


class CirclePath(Section):
    """Round a line from where the object is at the start, orientation fixed; begins and ends at rest."""

    kind: Literal["circle"] = Field(description="a circle round a line")
    centre: Vector3 = Field(description="a point on the line [m]")
    axis: Vector3 = Field((0.0, 0.0, 1.0), description="direction of the line; counterclockwise about it")
    period: Positive = Field(description="time of one turn at full speed [s]")
    turns: Positive = Field(1.0, description="how far round")
    ramp: Positive | None = Field(None, description="time to speed up and to slow down [s]; default period / 4")


class FilePath(Section):
    """A path from a file of times and poses."""

    kind: Literal["file"] = Field(description="times and poses from a file")
    file: Name = Field(description="CSV file with columns t, x, y, z, qx, qy, qz, qw, relative to the scenario")


class HoldPath(Section):
    """Stay at the starting pose."""

    kind: Literal["hold"] = Field(description="stay at the starting pose")


PathPart = Annotated[
    QuinticPath | TrapezoidPath | CirclePath | FilePath | HoldPath,
    Field(discriminator="kind"),
]

# ---------------------------------------------------------------------- prescribed joints


class JointPoint(Section):
    """A coordinate to be reached, and when."""

    time: Positive = Field(description="when to be there [s]")
    value: Angle = Field(description="the coordinate [rad or m; '30 deg' for degrees]")


class JointQuintic(Section):
    """From where the joint starts through points by polynomials of degree five, at rest in each."""

    kind: Literal["quintic"] = Field(description="polynomials of degree five, at rest in each point")
    points: list[JointPoint] = Field(min_length=1, max_length=1000, description="coordinates with increasing times")


class JointSine(Section):
    """About where the joint starts: q0 + amplitude sin(2 pi frequency t)."""

    kind: Literal["sine"] = Field(description="a sine of time about where the joint starts")
    amplitude: Angle = Field(description="[rad or m; '30 deg' for degrees]")
    frequency: Positive = Field(description="[Hz]")


JointMotionPart = Annotated[JointQuintic | JointSine, Field(discriminator="kind")]

# ---------------------------------------------------------------------- controllers


class Squeeze(Section):
    """An internal force between two grasps of one object, along the line between them."""

    between: tuple[Name, Name] = Field(description="the two grasps")
    force: Number = Field(description="pressing force [N]; negative pulls")


class _Controller(Section):
    squeeze: list[Squeeze] = Field([], description="internal forces to keep")
    torque_limits: Flag = Field(True, description="whether torques are limited to the joints' effort limits")


class JointPD(_Controller):
    """tau = kp (q_target - q) - kd v + the weight of the arms and of all they carry."""

    kind: Literal["joint_pd"] = Field(description="proportional-derivative control of every actuated joint")
    kp: Gain = Field(description="stiffness [N m/rad or N/m]: for all, or by arm or joint")
    kd: Gain = Field(description="damping [N m s/rad or N s/m]: for all, or by arm or joint")
    target: dict[Name, Coordinates] = Field(
        {}, description="coordinates to hold by arm or joint [rad or m]; what is not named stays where it starts"
    )
    gravity: Flag = Field(True, description="whether to carry the weight")


class _ObjectController(_Controller):
    paths: dict[Name, PathPart] = Field(min_length=1, description="the path of each object")
    posture: dict[Name, Coordinates] = Field(
        {}, description="preferred coordinates of redundant joints by arm or joint; default where they start"
    )
    null_kp: Gain = Field(25.0, description="gain of the posture [1/s^2]: for all, or by arm or joint")
    null_kd: Gain = Field(10.0, description="damping of the posture [1/s]: for all, or by arm or joint")


class ComputedTorque(_ObjectController):
    """Objects accelerate as a_path + kd (V_path - V) + kp (x_path - x), with the loops closed."""

    kind: Literal["computed_torque"] = Field(description="closed-chain inverse dynamics along a path")
    kp: NumberOrSix = Field(100.0, description="[1/s^2]: for all, or about, then along x, y, z")
    kd: NumberOrSix = Field(20.0, description="[1/s]: for all, or about, then along x, y, z")


class ObjectImpedance(_ObjectController):
    """Objects give way to external wrenches as if on springs and dampers about their paths."""

    kind: Literal["object_impedance"] = Field(description="spring and damper about a path")
    stiffness: NumberOrSix = Field(description="[N m/rad, N/m]: for all, or about, then along x, y, z")
    damping: NumberOrSix = Field(description="[N m s/rad, N s/m]: for all, or about, then along x, y, z")


ControllerPart = Annotated[JointPD | ComputedTorque | ObjectImpedance, Field(discriminator="kind")]
