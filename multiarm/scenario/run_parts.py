"""Sections about the run: force elements, disturbances, actions, integration, outputs."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from multiarm.scenario.fields import (
    Coordinates,
    Count,
    Flag,
    Gain,
    Name,
    Names,
    NotNegative,
    NumberOrSix,
    PoseField,
    Positive,
    Section,
    Time,
    Vector3,
)
from multiarm.scenario.parts import Inertia

__all__ = ["ActionPart", "DisturbancePart", "ElementPart", "OutputPart", "SimulationPart"]

# ---------------------------------------------------------------------- force elements


class _JointElement(Section):
    joint: Names = Field(description="a joint, an arm (all its joints), or a list of those")


class JointSpring(_JointElement):
    """tau = -stiffness (q - rest)."""

    kind: Literal["joint_spring"] = Field(description="a spring at joints")
    stiffness: Gain = Field(description="[N m/rad or N/m]: for all, one per coordinate, or by joint")
    rest: Coordinates = Field(0.0, description="coordinate without force [rad or m], for all or one per coordinate")


class JointDamper(_JointElement):
    """tau = -damping v."""

    kind: Literal["joint_damper"] = Field(description="a damper at joints")
    damping: Gain = Field(description="[N m s/rad or N s/m]: for all, one per velocity, or by joint")


class JointFriction(_JointElement):
    """tau = -(coulomb tanh(v / speed) + viscous v)."""

    kind: Literal["joint_friction"] = Field(description="dry and viscous friction at joints")
    coulomb: Gain = Field(description="dry friction [N m or N]: for all, one per velocity, or by joint")
    viscous: Gain = Field(0.0, description="[N m s/rad or N s/m]: for all, one per velocity, or by joint")
    speed: Positive = Field(0.01, description="speed over which dry friction sets in [rad/s or m/s]")


class JointLimit(_JointElement):
    """Elastic stops at the limits that the joints have."""

    kind: Literal["joint_limit"] = Field(description="elastic stops at the joints' limits")
    stiffness: Gain = Field(description="[N m/rad or N/m]: for all, one per coordinate, or by joint")
    damping: Gain = Field(0.0, description="[N m s/rad or N s/m]: for all, one per coordinate, or by joint")


class JointLosses(Section):
    """The damping and dry friction that the joints of the robots have themselves."""

    kind: Literal["joint_losses"] = Field(description="damping and dry friction that the joints have themselves")
    speed: Positive = Field(0.01, description="speed over which dry friction sets in [rad/s or m/s]")


class _Between(Section):
    one: Name = Field(description="body or frame; 'world' for a fixed end")
    other: Name = Field(description="body or frame; 'world' for a fixed end")


class BodySpring(_Between):
    """stiffness (L - rest_length) + damping L-dot on the line between two points."""

    kind: Literal["body_spring"] = Field(description="a spring and damper between the origins of two frames")
    stiffness: NotNegative = Field(description="[N/m]")
    damping: NotNegative = Field(0.0, description="[N s/m]")
    rest_length: NotNegative = Field(0.0, description="length without force [m]")


class Bushing(_Between):
    """Springs and dampers about and along three axes: a compliant mount."""

    kind: Literal["bushing"] = Field(description="springs and dampers about and along three axes of `one`")
    stiffness: NumberOrSix = Field(description="for all, or about, then along x, y, z [N m/rad, N/m]")
    damping: NumberOrSix = Field(0.0, description="for all, or about, then along x, y, z [N m s/rad, N s/m]")
    rest: PoseField | None = Field(None, description="pose of `other` in `one` without force; default the same")


class CompliantGrasp(Section):
    """A bushing from the tip to its contact frame on the object, in place of a grasp that does not hold."""

    kind: Literal["compliant_grasp"] = Field(description="springs and dampers in place of a grasp")
    grasp: Name = Field(description="a grasp with `at` and `active: false`")
    stiffness: NumberOrSix = Field(description="for all, or about, then along x, y, z of the tip [N m/rad, N/m]")
    damping: NumberOrSix = Field(0.0, description="for all, or about, then along x, y, z [N m s/rad, N s/m]")


ElementPart = Annotated[
    JointSpring | JointDamper | JointFriction | JointLimit | JointLosses | BodySpring | Bushing | CompliantGrasp,
    Field(discriminator="kind"),
]

# ---------------------------------------------------------------------- disturbances


class DisturbancePart(Section):
    """A wrench from outside at the origin of a body or frame, for a while."""

    body: Name = Field(description="the body or frame it acts on, at its origin")
    force: Vector3 = Field((0.0, 0.0, 0.0), description="[N]")
    torque: Vector3 = Field((0.0, 0.0, 0.0), description="[N m]")
    start: Time = Field(0.0, description="when it begins [s]")
    stop: Time | None = Field(None, description="when it ends [s]; default never")
    profile: Literal["constant", "half_sine", "ramp"] = Field(
        "constant", description="constant; half_sine swells and fades; ramp grows evenly until `stop` and stays"
    )
    axes: Literal["world", "body"] = Field("world", description="axes of force and torque; those of a body turn")


# ---------------------------------------------------------------------- actions


class _Action(Section):
    time: Time = Field(description="when [s]")


class _Hold(_Action):
    tolerance: Positive = Field(1e-3, description="how well tip and contact frame must meet [m and rad]")


class MakeGrasp(_Hold):
    """A grasp takes hold; relative velocity becomes a plastic impulse."""

    do: Literal["grasp"] = Field(description="a grasp takes hold")
    grasp: Name = Field(description="its name in `grasps`")


class ReleaseGrasp(_Action):
    """A grasp lets go."""

    do: Literal["release"] = Field(description="a grasp lets go")
    grasp: Name = Field(description="its name in `grasps`")


class HandOver(_Hold):
    """One grasp takes hold, then another lets go."""

    do: Literal["hand_over"] = Field(description="one grasp takes hold and another lets go")
    release: Name = Field(description="the grasp that lets go")
    grasp: Name = Field(description="the grasp that takes hold")


class Dock(_Hold):
    """Two bodies become one: a rigid grasp between them takes hold where they are."""

    do: Literal["dock"] = Field(description="two bodies become one")
    grasp: Name = Field(description="a rigid grasp in `grasps` whose `by` is a body or frame")


class Payload(_Action):
    """A body's mass changes."""

    do: Literal["payload"] = Field(description="a body's mass changes")
    body: Name = Field(description="the body")
    mass: Positive = Field(description="its mass from now on [kg]")
    com: Vector3 | None = Field(None, description="its centre of mass from now on [m]; default as before")
    inertia: Inertia | None = Field(None, description="about the centre of mass [kg m^2]; default scaled with the mass")


ActionPart = Annotated[MakeGrasp | ReleaseGrasp | HandOver | Dock | Payload, Field(discriminator="do")]

# ---------------------------------------------------------------------- integration and outputs


class SimulationPart(Section):
    """How the run is integrated."""

    duration: Positive = Field(5.0, description="[s]")
    dt: Positive = Field(1e-3, description="step of the fixed-step methods [s]")
    method: Literal["euler", "rk4", "dop853", "radau"] = Field(
        "rk4", description="semi-implicit Euler, Runge-Kutta 4, adaptive DOP853, or implicit Radau for stiff loops"
    )
    drift: Literal["project", "baumgarte", "coordinates", "none"] = Field(
        "project", description="what keeps the loops closed"
    )
    rtol: Positive | None = Field(None, description="relative tolerance of the adaptive methods")
    atol: Positive | None = Field(None, description="absolute tolerance of the adaptive methods [rad, m]")
    sample_period: Positive | None = Field(
        None, description="time between samples in the result [s], a multiple of dt; default dt"
    )
    on_limit: Literal["report", "stop", "ignore"] = Field(
        "report", description="what to do when a joint leaves its range"
    )
    singularity: Positive | None = Field(
        None,
        description="report arms the smallest singular value of whose Jacobian (a length of 1 m) falls below this; "
        "default none",
    )
    seed: Annotated[Count, Field(ge=0, le=2**63 - 1)] = Field(0, description="for whatever is random in the run")


class OutputPart(Section):
    """What a run leaves behind beside the result file."""

    figure: Flag = Field(True, description="a picture of the run")
    csv: Flag = Field(False, description="the samples as CSV too")
