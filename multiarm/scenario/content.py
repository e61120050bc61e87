"""The whole content of a scenario file."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Discriminator, Field, Tag

from multiarm.scenario.fields import Name, Section, Vector3
from multiarm.scenario.motion import ControllerPart, JointMotionPart, StartPart
from multiarm.scenario.parts import ArmPart, BodyPart, CouplingPart, FramePart, GraspPart, JointPart
from multiarm.scenario.run_parts import ActionPart, DisturbancePart, ElementPart, OutputPart, SimulationPart

__all__ = ["Content"]

STRATEGIES = ("grasps", "shallow", "fewest_constraints")


def _text_or_list(value: Any) -> str | None:
    return "strategy" if isinstance(value, str) else "joints" if isinstance(value, list | tuple) else None


Cuts = Annotated[
    Annotated[Name, Tag("strategy")] | Annotated[list[Name], Tag("joints")],
    Discriminator(
        _text_or_list,
        custom_error_type="cuts",
        custom_error_message=f"expected one of {', '.join(STRATEGIES)}, or a list of joints and grasps",
    ),
]


class Content(Section):
    """A scenario: a mechanism, how it starts, what drives it, and how it is simulated. SI units, radians."""

    name: Name = Field(description="a short name, used for the result's files")
    description: str = Field("", max_length=5000, description="what happens, for people")
    gravity: Vector3 = Field((0.0, 0.0, -9.81), description="acceleration of free fall [m/s^2], world axes")
    bodies: dict[Name, BodyPart] = Field({}, description="rigid bodies by name")
    arms: dict[Name, ArmPart] = Field({}, description="robots by the name of the arm")
    frames: dict[Name, FramePart] = Field({}, description="named frames in bodies")
    joints: dict[Name, JointPart] = Field({}, description="joints between bodies by name")
    couplings: list[CouplingPart] = Field([], description="linear constraints between joints")
    grasps: dict[Name, GraspPart] = Field({}, description="who holds what, by the name of the grasp")
    cuts: Cuts = Field(
        "grasps", description="which joints are cut: grasps, shallow, fewest_constraints, or a list of names"
    )
    start: StartPart = Field(default_factory=StartPart, description="where the run starts")
    controller: ControllerPart | None = Field(None, description="what drives the joints; without it, nothing does")
    prescribed: dict[Name, JointMotionPart] = Field(
        {}, description="joints of one coordinate that follow a law of time, whatever torque that takes"
    )
    elements: dict[Name, ElementPart] = Field({}, description="springs, dampers, friction and stops by name")
    disturbances: dict[Name, DisturbancePart] = Field({}, description="wrenches from outside by name")
    actions: list[ActionPart] = Field([], description="what happens at given times")
    simulation: SimulationPart = Field(default_factory=SimulationPart, description="how the run is integrated")
    outputs: OutputPart = Field(default_factory=OutputPart, description="what the run leaves behind")
