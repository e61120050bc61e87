"""The small types that scenario sections are made of: numbers with units, angles, vectors, poses, values by name.

Scalars are strict (text is never taken for a number), lists are checked for length, and every type says in the schema
what it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import radians
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    AllowInfNan,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Strict,
    StringConstraints,
    Tag,
    WithJsonSchema,
)
from pydantic_core import PydanticCustomError
from scipy.spatial.transform import RigidTransform

from multiarm.poses import pose as make_pose

__all__ = [
    "Angle",
    "Coordinates",
    "Count",
    "Flag",
    "Gain",
    "Name",
    "Names",
    "NotNegative",
    "Number",
    "NumberOrSix",
    "Pose",
    "PoseField",
    "Positive",
    "Section",
    "Time",
    "Vector3",
]

LARGEST = 1e12  # beyond it nothing in SI units describes a robot, and squares would overflow soon


class Section(BaseModel):
    """A mapping of the file: only the keys it names, nothing converted, frozen."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=False, validate_default=False)


Number = Annotated[float, Strict(), AllowInfNan(False), Field(ge=-LARGEST, le=LARGEST)]
Positive = Annotated[float, Strict(), AllowInfNan(False), Field(gt=0.0, le=LARGEST)]
NotNegative = Annotated[float, Strict(), AllowInfNan(False), Field(ge=0.0, le=LARGEST)]
Time = Annotated[float, Strict(), AllowInfNan(False), Field(ge=0.0, le=1e9)]
Count = Annotated[int, Strict()]
Flag = Annotated[bool, Strict()]
Name = Annotated[str, Strict(), StringConstraints(min_length=1, max_length=200)]
Vector3 = tuple[Number, Number, Number]

_DEGREES = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*deg\s*")


def _angle(value: Any) -> Any:
    """Radians from a number, or from text such as "30 deg"."""
    if not isinstance(value, str):
        return value
    match = _DEGREES.fullmatch(value)
    if match is None:
        raise PydanticCustomError("angle", "expected a number [rad] or degrees such as '30 deg'")
    return radians(float(match[1]))


Angle = Annotated[
    Number,
    BeforeValidator(_angle),
    WithJsonSchema(
        {
            "anyOf": [{"type": "number"}, {"type": "string", "pattern": r"^\s*[-+]?[0-9.]+([eE][-+]?\d+)?\s*deg\s*$"}],
            "description": "an angle: a number in radians, or text such as '30 deg'",
        }
    ),
]


class Pose(Section):
    """A pose: a translation, and fixed-axis roll-pitch-yaw as in URDF or a quaternion; left out, there is none."""

    xyz: Vector3 = Field((0.0, 0.0, 0.0), description="translation [m]")
    rpy: tuple[Angle, Angle, Angle] | None = Field(
        None, description="turns about the fixed x, y, z axes, in this order [rad, or text such as '90 deg']"
    )
    quat: tuple[Number, Number, Number, Number] | None = Field(
        None, description="unit quaternion (x, y, z, w) instead of rpy"
    )

    def transform(self) -> RigidTransform:
        """The pose that the rest of the toolkit works with."""
        return make_pose(self.xyz, self.rpy or (0.0, 0.0, 0.0), self.quat)


def _pose_from_triple(value: Any) -> Any:
    return {"xyz": value} if isinstance(value, list | tuple) else value


def _one_rotation(value: Pose) -> Pose:
    if value.quat is not None:
        if value.rpy is not None:
            raise PydanticCustomError("pose", "give rpy or quat, not both")
        if abs(sum(x * x for x in value.quat) ** 0.5 - 1.0) > 1e-6:
            raise PydanticCustomError("pose", "quat must have length 1 (x, y, z, w)")
    return value


PoseField = Annotated[
    Pose,
    BeforeValidator(_pose_from_triple, json_schema_input_type=Pose | Vector3),
    AfterValidator(_one_rotation),
]


def _kind_of_value(value: Any) -> str | None:
    if isinstance(value, Mapping):
        return "by name"
    if isinstance(value, list | tuple):
        return "list"
    return "number" if isinstance(value, int | float) and not isinstance(value, bool) else None


def _number_or_list(value: Any) -> str | None:
    kind = _kind_of_value(value)
    return "number" if isinstance(value, str) else None if kind == "by name" else kind


Coordinates = Annotated[
    Annotated[Angle, Tag("number")] | Annotated[list[Angle], Tag("list")],
    Discriminator(
        _number_or_list,
        custom_error_type="coordinates",
        custom_error_message="expected a number or a list of numbers [rad or m; '30 deg' for degrees]",
    ),
]
"""Coordinates or velocities of one arm, joint or free body [rad or m]."""

_OneGain = Annotated[
    Annotated[NotNegative, Tag("number")] | Annotated[list[NotNegative], Tag("list")],
    Discriminator(
        _kind_of_value,
        custom_error_type="gain",
        custom_error_message="expected a number or a list of numbers",
    ),
]
Gain = Annotated[
    Annotated[NotNegative, Tag("number")]
    | Annotated[list[NotNegative], Tag("list")]
    | Annotated[dict[Name, _OneGain], Tag("by name")],
    Discriminator(
        _kind_of_value,
        custom_error_type="gain",
        custom_error_message="expected a number, a list of numbers, or such values by arm or joint",
    ),
]
"""A gain: one number for all, a list, or a number or list by arm or joint."""

_Six = tuple[NotNegative, NotNegative, NotNegative, NotNegative, NotNegative, NotNegative]
NumberOrSix = Annotated[
    Annotated[NotNegative, Tag("number")] | Annotated[_Six, Tag("list")],
    Discriminator(
        _kind_of_value,
        custom_error_type="six",
        custom_error_message="expected a number, or six: about, then along x, y, z",
    ),
]
"""Coefficients about, then along x, y, z."""


def _one_or_several(value: Any) -> str | None:
    return "one" if isinstance(value, str) else "several" if isinstance(value, list | tuple) else None


Names = Annotated[
    Annotated[Name, Tag("one")] | Annotated[list[Name], Tag("several")],
    Discriminator(
        _one_or_several, custom_error_type="names", custom_error_message="expected a name or a list of names"
    ),
]
"""One name or several."""
