"""NetCDF-4 files of recordings, written block by block."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from multiarm.errors import BadInputError
from multiarm.trajectory.durable import replaced
from multiarm.trajectory.errors import RecordingError
from multiarm.trajectory.events import Event, event_columns, events_json
from multiarm.trajectory.layout import Block, Layout
from multiarm.trajectory.plain import attribute_value
from multiarm.trajectory.reader import SegmentReader, regrouped
from multiarm.trajectory.sink import Sink

if TYPE_CHECKING:
    import h5netcdf

__all__ = ["EVENT_NAMES", "TIME", "assemble", "auxiliary", "block_samples", "write_netcdf"]

BLOCK_BYTES = 8 << 20
TIME = {"units": "s", "long_name": "time since the start of the run", "standard_name": "time", "axis": "T"}
EVENT_NAMES = {
    "event_time": "when it happened",
    "event_kind": "what happened",
    "event_subject": "to whom",
    "event_text": "in words",
    "event_data": "its numbers, JSON",
}


def block_samples(layout: Layout) -> int:
    """Samples per chunk of a file: a power of two, about 8 MB of all channels together."""
    return 1 << min(max((BLOCK_BYTES // layout.sample_bytes).bit_length() - 1, 4), 16)


def auxiliary(layout: Layout) -> dict[str, tuple[str, Sequence[str]]]:
    """Coordinates beside the labels of the dimensions: (dimension, texts) by name; units of mixed channels first."""
    units = {f"{name}_unit": (layout.channel(name).dims[-1], layout.channel(name).unit) for name in layout.mixed}
    return {**units, **{label.name: (label.dim, label.values) for label in layout.labels}}


def assemble(folder: str | os.PathLike[str], path: str | os.PathLike[str], compress: bool = False) -> Path:
    """Write the samples and events of a folder of segments as one NetCDF-4 file, in bounded memory.

    The file appears under its name when it is complete, in place of an older one; the folder stays as it is.

    Parameters
    ----------
    compress : bool
        Deflate with byte shuffling: smaller, and several times slower to write.
    """
    reader = SegmentReader(folder)
    try:
        return write_netcdf(path, reader.layout, reader.blocks(), reader.samples, reader.events, compress)
    except RecordingError as error:
        error.message += f". The samples are still in {reader.folder}"
        raise


def write_netcdf(
    path: str | os.PathLike[str],
    layout: Layout,
    blocks: Iterable[Block],
    samples: int,
    events: Sequence[Event] = (),
    compress: bool = False,
) -> Path:
    """Write blocks that have `samples` samples in all; holds about one chunk of the file in memory."""
    import h5netcdf

    path = Path(path)
    chunk = min(block_samples(layout), max(samples, 1))
    try:
        with replaced(path) as temporary, Sink(temporary) as sink:
            with h5netcdf.File(sink, "w") as file:
                _describe(file, layout, samples, events, chunk, compress)
                done = 0
                for block in regrouped(blocks, chunk):
                    stop = done + len(block["time"])
                    for name in layout.fields:
                        if block[name].size:
                            file.variables[name][done:stop] = block[name]
                            sink.check()
                    done = stop
                if done != samples:
                    raise BadInputError(f"{samples} samples were announced, {done} came")
            sink.check()
    except RecordingError:
        raise
    except OSError as error:
        raise RecordingError(path, f"cannot write the file: {error.strerror or error}") from error
    return path


def _describe(
    file: h5netcdf.File, layout: Layout, samples: int, events: Sequence[Event], chunk: int, compress: bool
) -> None:
    """Everything but the samples: dimensions, labels, units, attributes, events, and room for the samples."""
    sizes = {dim: len(labels) for dim, labels in layout.coordinates.items()}
    file.dimensions = {"time": None, **sizes, "event": len(events)}
    for name, value in layout.attributes.items():
        file.attrs[name] = attribute_value(value)
    file.attrs["events"] = events_json(events)
    for dim, labels in layout.coordinates.items():
        _texts(file, dim, dim, labels)
    beside = auxiliary(layout)
    for name, (dim, texts) in beside.items():
        _texts(file, name, dim, texts)
    named: set[str] = set()
    for name, (kind, shape) in layout.fields.items():
        dims = () if name == "time" else layout.channel(name).dims
        settings: dict[str, Any] = {"chunks": (chunk, *shape)} if 0 not in shape else {}
        if compress and settings:
            settings |= {"compression": "gzip", "compression_opts": 1, "shuffle": True}
        variable = file.create_variable(name, ("time", *dims), kind, **settings)
        if name == "time":
            variable.attrs.update(TIME)
            continue
        channel = layout.channel(name)
        variable.attrs.update({"units": channel.unit_text, "long_name": channel.description})
        coordinates = [other for other, (dim, _) in beside.items() if _describes(other, dim, name, layout)]
        if coordinates:
            variable.attrs["coordinates"] = " ".join(coordinates)
            named.update(coordinates)
    if alone := [name for name in beside if name not in named]:
        file.attrs["coordinates"] = " ".join(alone)
    times = file.create_variable("event_time", ("event",), "<f8")
    times.attrs.update({"units": "s", "long_name": EVENT_NAMES["event_time"]})
    if events:
        times[:] = np.array([event.time for event in events])
    for name, texts in event_columns(events).items():
        _texts(file, name, "event", texts).attrs["long_name"] = EVENT_NAMES[name]
    file.resize_dimension("time", samples)


def _describes(auxiliary: str, dim: str, channel: str, layout: Layout) -> bool:
    """Whether a coordinate says something about a channel: units only about their own."""
    units_of = auxiliary.removesuffix("_unit")
    return channel == units_of if units_of in layout.mixed else dim in layout.channel(channel).dims


def _texts(file: h5netcdf.File, name: str, dim: str, texts: Sequence[str]) -> Any:
    import h5py

    variable = file.create_variable(name, (dim,), h5py.string_dtype())
    if texts:
        variable[:] = np.array(texts, object)
    return variable


def attributes(layout: Layout, events: Sequence[Event]) -> Mapping[str, Any]:
    """The attributes of a file, as they are read from it."""
    return {**{name: attribute_value(x) for name, x in layout.attributes.items()}, "events": events_json(events)}
