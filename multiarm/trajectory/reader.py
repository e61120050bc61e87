"""Reading a folder of segments, in bounded memory."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import groupby
from math import prod
from pathlib import Path

import numpy as np

from multiarm.errors import BadInputError, UnknownNameError
from multiarm.trajectory.checkpoints import Checkpoint, read_checkpoint
from multiarm.trajectory.errors import CorruptRecordingError, RecordingError
from multiarm.trajectory.events import Event, read_events
from multiarm.trajectory.layout import Block, Layout
from multiarm.trajectory.records import Record, Torn, decode, scan

__all__ = ["EVENTS", "LAYOUT", "SegmentReader", "read_layout", "regrouped"]

LAYOUT, EVENTS = "layout.json", "events.jsonl"


def read_layout(folder: Path) -> Layout:
    """The layout of a recording, or an error that says there is none."""
    path = folder / LAYOUT
    try:
        return Layout.from_json(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError) as error:
        raise RecordingError(folder, f"no recording here: there is no {LAYOUT}") from error
    except ValueError as error:
        raise CorruptRecordingError(path, f"cannot be read: {error}") from error


class SegmentReader:
    """The complete records of a folder, each verified by its checksum when the reader is made.

    Attributes
    ----------
    layout : Layout
    samples : int
        How many there are.
    torn : Torn or None
        The end that a stopped writer left incomplete; it is ignored, and described here.
    events : list of Event
    checkpoint : Checkpoint or None
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self.layout = read_layout(self.folder)
        self.checkpoint: Checkpoint | None = read_checkpoint(self.folder)  # first: a live writer moves on meanwhile
        self.events: list[Event] = read_events(self.folder / EVENTS)
        records, torn = scan(self.folder, self.layout)
        self.records: tuple[Record, ...] = tuple(records)
        self.torn: Torn | None = torn
        self.samples = sum(record.samples for record in records)
        self._firsts = np.array([record.first for record in records], np.int64)
        if self.checkpoint is not None and self.checkpoint.samples > self.samples:
            raise CorruptRecordingError(
                self.folder,
                f"{self.checkpoint.samples} samples were safe when the checkpoint was written, "
                f"only {self.samples} can be read",
                self.samples,
            )

    def __len__(self) -> int:
        return self.samples

    def blocks(self, samples: int | None = None) -> Iterator[dict[str, np.ndarray]]:
        """Blocks in order, as they were appended, or regrouped to so many samples each."""
        return self._record_blocks() if samples is None else regrouped(self._record_blocks(), samples)

    def _record_blocks(self) -> Iterator[dict[str, np.ndarray]]:
        for path, records in groupby(self.records, key=lambda record: record.path):
            with path.open("rb") as file:
                for record in records:
                    file.seek(record.start)
                    yield decode(self.layout, file.read(record.payload), record.samples)

    def read(self, name: str, start: int = 0, stop: int | None = None, step: int = 1) -> np.ndarray:
        """Samples start, start + step, ... before `stop` of one channel (or "time"); reads nothing of the others."""
        if name not in self.layout.fields:
            raise UnknownNameError("channel", name, self.layout.fields)
        if step < 1:
            raise BadInputError(f"step must be positive, not {step}")
        wanted = range(self.samples)[start:stop:step]
        kind, shape = self.layout.fields[name]
        width = prod(shape) * kind.itemsize
        before = self._bytes_before(name)
        out = np.empty((len(wanted), *shape), kind.newbyteorder("="))
        if not wanted or not width:
            return out
        first = int(np.searchsorted(self._firsts, wanted[0], "right")) - 1
        last = int(np.searchsorted(self._firsts, wanted[-1], "right"))
        done = 0
        for path, records in groupby(self.records[first:last], key=lambda record: record.path):
            with path.open("rb") as file:
                for record in records:
                    take = wanted[done:]
                    inside = range(take[0] - record.first, min(record.samples, wanted.stop - record.first), step)
                    if not inside:
                        continue
                    file.seek(record.start + record.samples * before + inside[0] * width)
                    span = inside[-1] - inside[0] + 1
                    data = np.frombuffer(file.read(span * width), kind).reshape(span, *shape)
                    out[done : done + len(inside)] = data[::step]
                    done += len(inside)
                    if done == len(wanted):
                        break
        return out

    def _bytes_before(self, name: str) -> int:
        """Bytes per sample of the channels that stand before this one in a record."""
        before = 0
        for other, (kind, shape) in self.layout.fields.items():
            if other == name:
                break
            before += kind.itemsize * prod(shape)
        return before


def regrouped(blocks: Iterable[Block], samples: int) -> Iterator[dict[str, np.ndarray]]:
    """The same samples in blocks of `samples` each, the last one shorter; holds no more than that and one block."""
    held: list[Block] = []
    count = 0
    for block in blocks:
        held.append(block)
        count += len(block["time"])
        if count < samples:
            continue
        whole = {name: np.concatenate([piece[name] for piece in held]) for name in block}
        for start in range(0, count - samples + 1, samples):
            yield {name: array[start : start + samples] for name, array in whole.items()}
        kept = count % samples
        held = [{name: array[count - kept :].copy() for name, array in whole.items()}] if kept else []
        count = kept
    if count:
        yield {name: np.concatenate([piece[name] for piece in held]) for name in held[0]}
