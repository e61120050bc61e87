"""Recordings as `xarray.Dataset`: in memory, lazily from a folder of segments, and back to a layout and blocks."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from multiarm.errors import BadInputError
from multiarm.trajectory.events import Event, event_columns
from multiarm.trajectory.layout import DTYPES, Block, Channel, Label, Layout
from multiarm.trajectory.netcdf import EVENT_NAMES, TIME, attributes, auxiliary
from multiarm.trajectory.plain import from_json

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["blocks_of", "dataset_of", "events_of", "layout_of_dataset", "open_folder"]


def dataset_of(layout: Layout, arrays: dict[str, Any], events: Sequence[Event] = ()) -> xr.Dataset:
    """Arrays by channel ("time" among them) with their labels, units and attributes."""
    import xarray as xr

    channels = {
        channel.name: xr.Variable(
            ("time", *channel.dims),
            arrays[channel.name],
            {"units": channel.unit_text, "long_name": channel.description},
        )
        for channel in layout.channels
    }
    coordinates = {"time": xr.Variable(("time",), arrays["time"], TIME)}
    coordinates |= {dim: xr.Variable((dim,), _texts(labels)) for dim, labels in layout.coordinates.items()}
    coordinates |= {name: xr.Variable((dim,), _texts(texts)) for name, (dim, texts) in auxiliary(layout).items()}
    times = np.array([event.time for event in events], float)
    happened = {"event_time": xr.Variable(("event",), times, {"units": "s", "long_name": EVENT_NAMES["event_time"]})}
    for name, texts in event_columns(events).items():
        happened[name] = xr.Variable(("event",), _texts(texts), {"long_name": EVENT_NAMES[name]})
    return xr.Dataset({**channels, **happened}, coordinates, attributes(layout, events))


def _texts(texts: Sequence[str]) -> np.ndarray:
    return np.array(texts, str) if texts else np.empty(0, "<U1")


def open_folder(folder: str | os.PathLike[str]) -> xr.Dataset:
    """A folder of segments as a dataset that reads each channel when it is used."""
    import xarray as xr

    from multiarm.trajectory.lazy import SegmentBackend

    return xr.open_dataset(os.fspath(folder), engine=SegmentBackend)


def events_of(dataset: xr.Dataset) -> list[Event]:
    """The events in a dataset."""
    if "event_time" not in dataset:
        return []
    columns = [dataset[name].values.tolist() for name in EVENT_NAMES]
    return [
        Event(time, kind, subject, text, from_json(data))
        for time, kind, subject, text, data in zip(*columns, strict=True)
    ]


def layout_of_dataset(dataset: xr.Dataset) -> Layout:
    """The layout of the channels in a dataset; refuses variables that a recording cannot hold."""
    channels, labels = [], []
    units = {f"{name}_unit": str(name) for name in dataset.data_vars}
    for key, variable in dataset.variables.items():
        name = str(key)
        if name in dataset.dims or name in EVENT_NAMES or name in units:
            continue
        if variable.dims[:1] == ("time",) and variable.dtype.name in DTYPES:
            own = f"{name}_unit"
            entries = own in dataset.coords and dataset[own].dims == variable.dims[-1:]
            unit = tuple(map(str, dataset[own].values)) if entries else str(variable.attrs.get("units", "1"))
            description = str(variable.attrs.get("long_name", ""))
            channels.append(Channel(name, tuple(map(str, variable.dims[1:])), unit, description, variable.dtype.name))
        elif variable.dims != ("time",) and len(variable.dims) == 1 and variable.dtype.kind in "UO":
            labels.append(Label(name, str(variable.dims[0]), tuple(variable.values)))
        else:
            raise BadInputError(
                f"variable {name!r} {variable.dims} of {variable.dtype.name} is no channel (time first, one of "
                f"{', '.join(DTYPES)}) and no label; trajectory.dataset.to_netcdf(path, engine='h5netcdf') saves any"
            )
    dims = [str(dim) for dim in dataset.dims if dim not in ("time", "event")]
    coordinates = {dim: tuple(map(str, dataset[dim].values)) for dim in dims}
    said = {str(name): value for name, value in dataset.attrs.items() if name != "events"}
    return Layout(tuple(channels), coordinates, tuple(labels), said)


def blocks_of(dataset: xr.Dataset, names: Sequence[str], samples: int) -> Iterator[Block]:
    """Blocks of the named channels and time; a lazy dataset is read a block at a time and keeps nothing of it."""
    for start in range(0, dataset.sizes["time"], samples):
        piece = dataset[["time", *names]].isel(time=slice(start, start + samples))
        yield {name: piece[name].values for name in ("time", *names)}
