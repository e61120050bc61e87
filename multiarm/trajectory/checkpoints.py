"""The state to go on from after a stop: one file, replaced whole, that says how many samples precede it."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from multiarm.errors import BadInputError
from multiarm.trajectory.durable import replaced
from multiarm.trajectory.errors import CorruptRecordingError
from multiarm.trajectory.plain import from_json, to_json

__all__ = ["Checkpoint", "read_checkpoint", "write_checkpoint"]

FILE = "checkpoint"


@dataclass(frozen=True)
class Checkpoint:
    """What the writer stored, and how many samples and events were on disk before it; `time` is of the last sample.

    `data` is bytes or a dict as it was given; arrays in a dict come back as lists, their floats exact.
    """

    samples: int
    events: int
    time: float | None
    data: Any


def write_checkpoint(folder: Path, checkpoint: Checkpoint) -> None:
    """Replace the checkpoint of a folder; a kill at any moment leaves the old one or the new one."""
    raw = isinstance(checkpoint.data, bytes | bytearray | memoryview)
    if not raw and not isinstance(checkpoint.data, Mapping):
        raise BadInputError(f"a checkpoint is bytes or a dict, not {type(checkpoint.data).__name__}")
    payload = bytes(checkpoint.data) if raw else to_json(checkpoint.data, "the checkpoint").encode()
    head = {
        "samples": checkpoint.samples,
        "events": checkpoint.events,
        "time": checkpoint.time,
        "form": "bytes" if raw else "json",
    }
    line = to_json(head, "the checkpoint").encode()
    check = zlib.crc32(payload, zlib.crc32(line))
    with replaced(folder / FILE) as temporary:
        temporary.write_bytes(b"%08x " % check + line + b"\n" + payload)


def read_checkpoint(folder: Path) -> Checkpoint | None:
    """The checkpoint of a folder, None where there is none."""
    path = folder / FILE
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    line, _, payload = content.partition(b"\n")
    check, _, head = line.partition(b" ")
    if check != b"%08x" % zlib.crc32(payload, zlib.crc32(head)):
        raise CorruptRecordingError(path, "the checkpoint is damaged; remove the file to start from the beginning")
    said = from_json(head)
    data = payload if said["form"] == "bytes" else from_json(payload)
    return Checkpoint(said["samples"], said["events"], said["time"], data)
