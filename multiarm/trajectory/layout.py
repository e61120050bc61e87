"""What is recorded at every sample: channels, the labels of their dimensions, and what is said about the run."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from types import MappingProxyType
from typing import Any

import numpy as np

from multiarm.errors import BadInputError, UnknownNameError
from multiarm.trajectory.plain import clean_text, from_json, to_json

__all__ = ["DTYPES", "Block", "Channel", "Label", "Layout"]

Block = Mapping[str, np.ndarray]
"""Samples by channel, "time" included; the first axis of every array is time."""

DTYPES = ("float64", "float32", "int64", "int32", "int8")
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
TAKEN = {"time", "event", "event_time", "event_kind", "event_subject", "event_text", "event_data"}
TAKEN_ATTRIBUTES = {"coordinates", "events", "NAME", "CLASS", "DIMENSION_LIST", "REFERENCE_LIST"}  # NetCDF's and ours
FORMAT = 1


@dataclass(frozen=True)
class Channel:
    """A quantity at every sample: its dimensions after time, unit, description and number type.

    `unit` is one text, or one for each label of the last dimension where they differ (joint torques: "N m" and "N").

    Examples
    --------
    >>> Channel("wrench", ("grasp", "axis"), ("N m", "N m", "N m", "N", "N", "N")).unit_text
    'N m or N'
    """

    name: str
    dims: tuple[str, ...] = ()
    unit: str | tuple[str, ...] = "1"
    description: str = ""
    dtype: str = "float64"

    def __post_init__(self) -> None:
        object.__setattr__(self, "dims", tuple(self.dims))
        if not isinstance(self.unit, str):
            object.__setattr__(self, "unit", tuple(map(str, self.unit)))
        if self.dtype not in DTYPES:
            raise UnknownNameError(f"dtype of channel {self.name!r}:", self.dtype, DTYPES)

    @property
    def unit_text(self) -> str:
        """The unit, or all that occur."""
        return self.unit if isinstance(self.unit, str) else " or ".join(dict.fromkeys(self.unit))

    @property
    def blank(self) -> float | int:
        """What stands where there is nothing: NaN, or -1 in a channel of integers."""
        return float("nan") if self.dtype.startswith("float") else -1


@dataclass(frozen=True)
class Label:
    """A further text for every label of a dimension, such as the arm that a joint belongs to."""

    name: str
    dim: str
    values: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", tuple(clean_text(value) for value in self.values))


@dataclass(frozen=True)
class Layout:
    """Channels, coordinates (the labels of each dimension), further labels, and attributes of the run.

    Attributes hold text, numbers, lists and mappings: the scenario, versions, seeds, a summary of the model.
    """

    channels: tuple[Channel, ...]
    coordinates: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    labels: tuple[Label, ...] = ()
    attributes: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        labelled = {str(dim): tuple(map(clean_text, names)) for dim, names in self.coordinates.items()}
        attributes = from_json(to_json(dict(self.attributes), "attributes"))
        object.__setattr__(self, "channels", tuple(self.channels))
        object.__setattr__(self, "labels", tuple(self.labels))
        object.__setattr__(self, "coordinates", MappingProxyType(labelled))
        object.__setattr__(self, "attributes", MappingProxyType(attributes))
        self._check_names()
        self._check_dimensions()

    def _check_names(self) -> None:
        given = [channel.name for channel in self.channels] + list(self.coordinates)
        given += [label.name for label in self.labels] + [f"{name}_unit" for name in self.mixed]
        seen = set(TAKEN)
        for name in given:
            if not NAME.fullmatch(name):
                raise BadInputError(f"{name!r} cannot name a channel: letters, digits and _ only, a letter first")
            if name in seen:
                raise BadInputError(f"two channels, dimensions or labels are called {name!r}")
            seen.add(name)
        for name in self.attributes:
            if not NAME.fullmatch(name) or name in TAKEN_ATTRIBUTES:
                raise BadInputError(f"{name!r} cannot name an attribute: taken, or not letters, digits and _")

    def _check_dimensions(self) -> None:
        for dim, names in self.coordinates.items():
            if len(set(names)) < len(names):
                twice = next(name for name in names if names.count(name) > 1)
                raise BadInputError(f"dimension {dim!r} has two labels {twice!r}")
        for channel in self.channels:
            if len(set(channel.dims)) < len(channel.dims):
                raise BadInputError(f"channel {channel.name!r} has a dimension twice: {channel.dims}")
            shape = self.shape(channel.name)
            if not isinstance(channel.unit, str) and (not shape or len(channel.unit) != shape[-1]):
                raise BadInputError(
                    f"channel {channel.name!r}: {len(channel.unit)} units for a last dimension of "
                    f"{shape[-1] if shape else 'no'} labels"
                )
        for label in self.labels:
            if len(label.values) != self.size(label.dim):
                raise BadInputError(
                    f"label {label.name!r}: {len(label.values)} values for {self.size(label.dim)} labels"
                )

    # ------------------------------------------------------------------ looking up

    @cached_property
    def by_name(self) -> Mapping[str, Channel]:
        """The channels by name."""
        return MappingProxyType({channel.name: channel for channel in self.channels})

    @property
    def mixed(self) -> tuple[str, ...]:
        """Names of the channels whose entries have units of their own."""
        return tuple(channel.name for channel in self.channels if not isinstance(channel.unit, str))

    def __contains__(self, name: object) -> bool:
        return name in self.by_name

    def channel(self, name: str) -> Channel:
        """The channel of that name, or an error with the choices."""
        if name not in self.by_name:
            raise UnknownNameError("channel", name, self.by_name)
        return self.by_name[name]

    def size(self, dim: str) -> int:
        """How many labels a dimension has."""
        if dim not in self.coordinates:
            raise UnknownNameError("dimension", dim, self.coordinates)
        return len(self.coordinates[dim])

    def shape(self, name: str) -> tuple[int, ...]:
        """Shape of one sample of a channel."""
        return tuple(self.size(dim) for dim in self.channel(name).dims)

    @cached_property
    def fields(self) -> Mapping[str, tuple[np.dtype[Any], tuple[int, ...]]]:
        """Number type on disk (little-endian) and shape of one sample, "time" first, then the channels in order."""
        kinds = {c.name: (np.dtype(c.dtype).newbyteorder("<"), self.shape(c.name)) for c in self.channels}
        return MappingProxyType({"time": (np.dtype("<f8"), ()), **kinds})

    @cached_property
    def sample_bytes(self) -> int:
        """Size of one sample of all channels [bytes]."""
        return sum(kind.itemsize * prod(shape) for kind, shape in self.fields.values())

    @cached_property
    def digest(self) -> int:
        """32 bits that tell layouts apart whose samples differ in channels, shapes or number types."""
        return zlib.crc32(repr([(name, kind.str, shape) for name, (kind, shape) in self.fields.items()]).encode())

    # ------------------------------------------------------------------ blocks

    def blank(self, samples: int) -> dict[str, np.ndarray]:
        """A block to be filled: NaN everywhere (-1 in channels of integers), time included."""
        block = {"time": np.full(samples, np.nan)}
        for c in self.channels:
            block[c.name] = np.full((samples, *self.shape(c.name)), c.blank, c.dtype)
        return block

    def checked(self, block: Block, after: float = -np.inf) -> dict[str, np.ndarray]:
        """The block as contiguous little-endian arrays, after checking names, shapes, types and that time increases."""
        for name in block:
            if name not in self.fields:
                raise UnknownNameError("channel", name, self.fields)
        missing = [name for name in self.fields if name not in block]
        if missing:
            raise BadInputError(f"the block lacks channel {missing[0]!r}: give all of {', '.join(self.fields)}")
        samples = len(np.atleast_1d(block["time"]))
        arrays = {}
        for name, (kind, shape) in self.fields.items():
            array = np.asarray(block[name])
            if array.shape != (samples, *shape):
                raise BadInputError(
                    f"channel {name!r}: expected shape {(samples, *shape)} (time first), not {array.shape}"
                )
            if not np.can_cast(array.dtype, kind, "same_kind"):
                raise BadInputError(f"channel {name!r}: {array.dtype} does not go into {kind.name}")
            arrays[name] = np.ascontiguousarray(array, kind).reshape(array.shape)
        check_time(arrays["time"], after)
        return arrays

    # ------------------------------------------------------------------ as text

    def to_json(self) -> str:
        """The whole layout as JSON text."""
        channels = [
            {"name": c.name, "dims": c.dims, "unit": c.unit, "description": c.description, "dtype": c.dtype}
            for c in self.channels
        ]
        labels = [{"name": x.name, "dim": x.dim, "values": x.values} for x in self.labels]
        parts = {"format": FORMAT, "channels": channels, "coordinates": self.coordinates, "labels": labels}
        return to_json({**parts, "attributes": self.attributes}, "the layout", indent=1)

    @classmethod
    def from_json(cls, text: str | bytes) -> Layout:
        """The layout of a JSON text; ValueError where it is none."""
        parts = from_json(text)
        if not isinstance(parts, dict) or parts.get("format") != FORMAT:
            raise BadInputError(f"not a layout of format {FORMAT}")
        try:
            return cls(
                tuple(Channel(**entry) for entry in parts["channels"]),
                parts["coordinates"],
                tuple(Label(**entry) for entry in parts["labels"]),
                parts["attributes"],
            )
        except (KeyError, TypeError) as error:
            raise BadInputError(f"not a layout: {error}") from error

    def with_attributes(self, attributes: Mapping[str, Any]) -> Layout:
        """The same layout with further attributes."""
        return Layout(self.channels, self.coordinates, self.labels, {**self.attributes, **attributes})


def check_time(time: np.ndarray, after: float = -np.inf) -> None:
    """Times are finite, increase, and come after `after`."""
    if not np.all(np.isfinite(time)):
        bad = int(np.flatnonzero(~np.isfinite(time))[0])
        raise BadInputError(f"time of sample {bad} of the block is {time[bad]}")
    steps = np.diff(time, prepend=after)
    if not np.all(steps > 0.0):
        bad = int(np.flatnonzero(~(steps > 0.0))[0])
        before = after if bad == 0 else time[bad - 1]
        raise BadInputError(f"time must increase, but sample {bad} of the block is at {time[bad]} s after {before} s")


def used_coordinates(channels: Iterable[Channel], known: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Those of the known dimensions that some channel has, in the order known."""
    used = {dim for channel in channels for dim in channel.dims}
    for dim in used:
        if dim not in known:
            raise UnknownNameError("dimension", dim, known, "coordinates= names the labels of new ones")
    return {dim: names for dim, names in known.items() if dim in used}
