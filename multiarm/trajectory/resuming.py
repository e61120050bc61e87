"""Cutting a recording back to where it can go on: to its last complete record, or to a given number of samples."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from pathlib import Path

import numpy as np

from multiarm.errors import BadInputError
from multiarm.trajectory.checkpoints import FILE as CHECKPOINT
from multiarm.trajectory.checkpoints import read_checkpoint
from multiarm.trajectory.durable import replaced, sync_folder
from multiarm.trajectory.events import event_line, read_events
from multiarm.trajectory.layout import Layout
from multiarm.trajectory.reader import EVENTS
from multiarm.trajectory.records import Record, decode, encode, scan, segment_paths

__all__ = ["Place", "cut_back"]


@dataclass(frozen=True)
class Place:
    """Where a writer goes on: segment file and offset in it, samples and events before it, and their last time [s]."""

    path: Path | None
    offset: int
    samples: int
    last_time: float | None
    events: int
    events_end: int


def cut_back(folder: Path, layout: Layout, samples: int | None = None) -> Place:
    """Cut off all after `samples`, in an order in which a kill leaves a shorter recording, never a broken one."""
    records, _ = scan(folder, layout, inf if samples is None else samples)
    there = sum(record.samples for record in records)
    keep = there if samples is None else samples
    if not 0 <= keep <= there:
        raise BadInputError(f"{folder}: cannot go on after {samples} samples, there are {there}")
    checkpoint = read_checkpoint(folder)
    if checkpoint is not None and checkpoint.samples > keep:
        (folder / CHECKPOINT).unlink()
        checkpoint = None
    last = records[-1] if keep else None  # the scan stopped where it had enough
    paths = segment_paths(folder)
    for path in reversed(paths[paths.index(last.path) + 1 :] if last else paths):
        path.unlink()
    sync_folder(folder)
    time = None if last is None else _last_time(last, keep)
    offset = 0 if last is None else _cut_segment(layout, last, keep)
    if samples is None:
        kept = _cut_events(folder, None, inf)
    elif checkpoint is not None and checkpoint.samples == keep:
        kept = _cut_events(folder, checkpoint.events, inf)
    else:
        kept = _cut_events(folder, None, -inf if time is None else time)
    return Place(None if last is None else last.path, offset, keep, time, *kept)


def _last_time(record: Record, keep: int) -> float:
    """Time of sample number `keep` of the recording, which lies in `record`; times stand first in a payload."""
    with record.path.open("rb") as file:
        file.seek(record.start + 8 * (keep - record.first - 1))
        return float(np.frombuffer(file.read(8), "<f8")[0])


def _cut_segment(layout: Layout, last: Record, keep: int) -> int:
    """End a segment file after sample `keep`, which lies in its record `last`; the offset of that end.

    A record cut in two is written anew in a file that replaces the old one, so that no moment is without its samples.
    """
    stay = keep - last.first
    if stay == last.samples:
        with last.path.open("r+b") as file:
            file.truncate(last.end)
        return last.end
    with last.path.open("rb") as file:
        before = file.read(last.offset)
        file.seek(last.start)
        arrays = decode(layout, file.read(last.payload), last.samples)
    record = encode(layout, {name: array[:stay] for name, array in arrays.items()}, last.first, last.first)
    with replaced(last.path) as temporary:
        temporary.write_bytes(before + record)
    return last.offset + len(record)


def _cut_events(folder: Path, count: int | None, latest: float) -> tuple[int, int]:
    """Keep the first `count` events that are not after `latest`; how many that were, and where they end."""
    path = folder / EVENTS
    events = read_events(path)
    stay = [event for event in events[:count] if event.time <= latest]
    content = b"".join(map(event_line, stay))
    if path.exists():
        with replaced(path) as temporary:
            temporary.write_bytes(content)
    return len(stay), len(content)
