"""The result of a run."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import groupby
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from multiarm.errors import BadInputError, UnknownNameError
from multiarm.model import Model
from multiarm.state import State
from multiarm.trajectory.dataset import blocks_of, dataset_of, events_of, layout_of_dataset, open_folder
from multiarm.trajectory.errors import RecordingError
from multiarm.trajectory.events import Event
from multiarm.trajectory.layout import Block, Layout, check_time
from multiarm.trajectory.model_layout import coordinate_labels, velocity_labels
from multiarm.trajectory.netcdf import block_samples, write_netcdf
from multiarm.trajectory.tables import write_csv

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["Trajectory", "load_trajectory"]


class Trajectory:
    """What a run recorded: every channel at every sample, labelled and with units, and the events.

    ``trajectory["tau"]`` is a channel as `xarray.DataArray`: ``trajectory["tau"].sel(velocity="left/panda_joint1")``.

    Parameters
    ----------
    dataset : xarray.Dataset
        As `simulate` and `load_trajectory` make it: dimension `time` [s] first, then those of each channel.
    model : Model, optional
        Whose motion this is; needed for states.
    final : State, optional
        Where the run ended; the last sample by default.
    """

    def __init__(self, dataset: xr.Dataset, model: Model | None = None, final: State | None = None) -> None:
        if "time" not in dataset.coords or dataset["time"].dims != ("time",):
            raise BadInputError("a trajectory needs a dataset with a coordinate 'time'")
        self.dataset, self.model, self._final = dataset, model, final
        if model is not None:
            _check_model(dataset, model)

    @classmethod
    def from_blocks(
        cls,
        layout: Layout,
        blocks: Iterable[Block],
        events: Iterable[Event] = (),
        model: Model | None = None,
        final: State | None = None,
    ) -> Trajectory:
        """A trajectory in memory, from blocks as `SegmentWriter.append` takes them."""
        pieces = [layout.checked(block) for block in blocks] or [layout.checked(layout.blank(0))]
        arrays = {name: np.concatenate([piece.pop(name) for piece in pieces]) for name in layout.fields}
        check_time(arrays["time"])
        native = {name: np.asarray(array, array.dtype.newbyteorder("=")) for name, array in arrays.items()}
        return cls(dataset_of(layout, native, [Event.of(event) for event in events]), model, final)

    # ------------------------------------------------------------------ reading

    def __getitem__(self, name: str) -> xr.DataArray:
        if name not in self.channels and name != "time":
            raise UnknownNameError("channel", name, ("time", *self.channels))
        return self.dataset[name]

    @property
    def channels(self) -> tuple[str, ...]:
        """Names of the recorded quantities."""
        return tuple(str(name) for name, x in self.dataset.data_vars.items() if x.dims[:1] == ("time",))

    @property
    def time(self) -> np.ndarray:
        """Times of the samples [s]."""
        return self["time"].values

    @property
    def q(self) -> np.ndarray:
        """Coordinates, samples x nq."""
        return self["q"].values

    @property
    def v(self) -> np.ndarray:
        """Velocities, samples x nv."""
        return self["v"].values

    @property
    def a(self) -> np.ndarray:
        """Accelerations, samples x nv."""
        return self["a"].values

    @property
    def tau(self) -> np.ndarray:
        """Actuator torques and forces, samples x nv."""
        return self["tau"].values

    @cached_property
    def events(self) -> list[Event]:
        """What happened, in order."""
        return events_of(self.dataset)

    @property
    def final(self) -> State:
        """Where the run ended."""
        if self._final is None:
            if not len(self):
                raise BadInputError("a trajectory without samples has no final state")
            self._final = self._state(len(self) - 1)
        return self._final

    def at(self, time: float) -> xr.Dataset:
        """All channels at the sample nearest to `time` [s], of two equally near the earlier.

        Samples are not interpolated: the midpoint of two unit quaternions is none, forces jump at events, and a
        constraint that holds at two samples need not hold between them.
        """
        return self.dataset[list(self.channels)].isel(time=self._nearest(time))

    def state(self, time: float) -> State:
        """The state at the sample nearest to `time` [s]."""
        return self._state(self._nearest(time))

    def _nearest(self, time: float) -> int:
        times = self.time
        if not len(times) or not times[0] <= time <= times[-1]:
            span = f"{times[0]:.9g} s to {times[-1]:.9g} s" if len(times) else "no samples"
            raise BadInputError(f"time {time!r} is outside the trajectory: {span}")
        after = int(np.searchsorted(times, time))
        return after - 1 if after and time - times[after - 1] <= times[after] - time else after

    def _state(self, sample: int) -> State:
        if self.model is None:
            raise BadInputError(
                "states need a model, and this trajectory came without one: load_trajectory(path, model=model), or "
                "Trajectory(trajectory.dataset, model=model)"
            )
        row = self.dataset[["q", "v"]].isel(time=sample)
        return self.model.state(q=row["q"].values, v=row["v"].values)

    def __len__(self) -> int:
        return int(self.dataset.sizes["time"])

    # ------------------------------------------------------------------ files

    def save(self, path: str | os.PathLike[str], compress: bool = False) -> Path:
        """Write a NetCDF-4 file, a block at a time; it replaces an older one when it is complete."""
        layout = layout_of_dataset(self.dataset)
        blocks = blocks_of(self.dataset, self.channels, block_samples(layout))
        return write_netcdf(path, layout, blocks, len(self), self.events, compress)

    def to_csv(self, path: str | os.PathLike[str], channels: Sequence[str] | None = None) -> Path:
        """Write a table: time, then every entry of the channels (all by default), headed by label and unit."""
        names = self.channels if channels is None else (channels,) if isinstance(channels, str) else tuple(channels)
        for name in names:
            if name not in self.channels:
                raise UnknownNameError("channel", name, self.channels)
        layout = layout_of_dataset(self.dataset)
        write_csv(Path(path), layout, names, blocks_of(self.dataset, names, block_samples(layout)))
        return Path(path)

    def close(self) -> None:
        """Let go of the file that the samples are read from."""
        self.dataset.close()

    def __enter__(self) -> Trajectory:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # ------------------------------------------------------------------ printing

    def __repr__(self) -> str:
        title = self.dataset.attrs.get("title", "")
        lines = [f"Trajectory{f' of {title!r}' if title else ''}: {_span(self.time)}"]

        def dims(name: str) -> tuple[Any, ...]:
            return self.dataset[name].dims[1:]

        for shape, names in groupby(sorted(self.channels, key=lambda name: (len(dims(name)), dims(name))), key=dims):
            where = " x ".join(f"{self.dataset.sizes[dim]} {dim}" for dim in shape)
            listed = ", ".join(f"{name} [{self.dataset[name].attrs.get('units', '1')}]" for name in names)
            lines.append(f"  {where or 'single'}: {listed}")
        shown = self.events[:8]
        lines.append(f"  events: {len(self.events) or 'none'}")
        lines += [f"    {event}" for event in shown]
        if len(self.events) > len(shown):
            lines.append(f"    ... and {len(self.events) - len(shown)} more")
        return "\n".join(lines)


def _span(time: np.ndarray) -> str:
    if not len(time):
        return "no samples"
    if len(time) == 1:
        return f"1 sample at {time[0]:.6g} s"
    return f"{len(time):,} samples from {time[0]:.6g} s to {time[-1]:.6g} s"


def _check_model(dataset: xr.Dataset, model: Model) -> None:
    """The coordinates of the dataset are those of the model."""
    for dim, own in (("coordinate", coordinate_labels(model)), ("velocity", velocity_labels(model))):
        there = tuple(map(str, dataset[dim].values)) if dim in dataset.coords else ()
        if there != own:
            odd = next((pair for pair in zip(there, own, strict=False) if pair[0] != pair[1]), None)
            raise BadInputError(
                f"the trajectory is not of model {model.name!r}: it has {len(there)} entries along {dim!r}, the model "
                f"{len(own)}" + (f"; the first that differ are {odd[0]!r} and {odd[1]!r}" if odd else "")
            )


def load_trajectory(path: str | os.PathLike[str], model: Model | None = None) -> Trajectory:
    """Open a NetCDF file, or a folder of segments as a run leaves it, finished or not.

    Channels are read when they are used. A folder is verified first, which reads it once.
    """
    import xarray as xr

    path = Path(path)
    if path.is_dir():
        return Trajectory(open_folder(path), model)
    if not path.exists():
        raise RecordingError(path, "there is no such file or folder")
    try:
        dataset = xr.open_dataset(path, engine="h5netcdf")
    except (OSError, ValueError) as error:
        raise RecordingError(path, f"not a NetCDF-4 file: {error}") from error
    if "time" not in dataset.coords:
        dataset.close()
        raise RecordingError(path, "not a trajectory: it has no coordinate 'time'")
    return Trajectory(dataset, model)
