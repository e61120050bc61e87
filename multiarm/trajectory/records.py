"""How samples lie in a segment file: records, each a header and the arrays of a block, raw and little-endian.

A header holds, little-endian: eight bytes of magic, the layout's digest (u4), the number of samples (u4), the number of
the first one in the whole recording (u8), how many samples were known to be on disk when the record was written (u8),
the length of the payload (u8), its CRC-32 (u4) and the CRC-32 of the header before it (u4). The payload is the times,
then every channel in the layout's order. A record without samples is a mark: all before it was on disk.
"""

from __future__ import annotations

import mmap
import re
import struct
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import inf, prod
from pathlib import Path
from typing import BinaryIO

import numpy as np

from multiarm.trajectory.errors import CorruptRecordingError, RecordingError
from multiarm.trajectory.layout import Layout

__all__ = ["HEADER", "Record", "Torn", "decode", "encode", "scan", "segment_number", "segment_path", "segment_paths"]

MAGIC = b"\x93multarm"
HEADER = struct.Struct("<8sIIQQQI")
HEADER_BYTES = HEADER.size + 4
READ_BYTES = 1 << 20


@dataclass(frozen=True)
class Record:
    """Where a block lies: file, offset of its header, number of its first sample, how many, and its length."""

    path: Path
    offset: int
    first: int
    samples: int
    payload: int

    @property
    def start(self) -> int:
        """Offset of the payload."""
        return self.offset + HEADER_BYTES

    @property
    def end(self) -> int:
        """Offset behind the record."""
        return self.start + self.payload


@dataclass(frozen=True)
class Torn:
    """The end of a recording that was being written when its writer was stopped: never synced, left out."""

    path: Path
    offset: int
    bytes: int
    why: str

    def __str__(self) -> str:
        return f"{self.path.name}: the last {self.bytes} bytes, from {self.offset} on, are left out ({self.why})"


def segment_path(folder: Path, number: int) -> Path:
    """The file of a segment; numbers start at 1."""
    return folder / f"segment-{number:06d}.bin"


def segment_number(path: Path) -> int:
    """The number of a segment file."""
    return int(path.stem.removeprefix("segment-"))


def segment_paths(folder: Path) -> list[Path]:
    """The segment files of a folder in order."""
    return sorted(
        (path for path in folder.iterdir() if re.fullmatch(r"segment-\d+\.bin", path.name)), key=segment_number
    )


def encode(layout: Layout, arrays: Mapping[str, np.ndarray], first: int, durable: int) -> bytes:
    """A record of checked arrays (`Layout.checked`); without arrays, a mark."""
    payload = b"".join(arrays[name].tobytes() for name in layout.fields) if arrays else b""
    samples = len(arrays["time"]) if arrays else 0
    header = HEADER.pack(MAGIC, layout.digest, samples, first, durable, len(payload), zlib.crc32(payload))
    return b"".join((header, struct.pack("<I", zlib.crc32(header)), payload))


def decode(layout: Layout, payload: bytes, samples: int) -> dict[str, np.ndarray]:
    """The arrays of a payload, as read-only views of it."""
    arrays, offset = {}, 0
    for name, (kind, shape) in layout.fields.items():
        count = samples * prod(shape)
        arrays[name] = np.frombuffer(payload, kind, count, offset).reshape(samples, *shape)
        offset += count * kind.itemsize
    return arrays


@dataclass(frozen=True)
class _Header:
    digest: int
    samples: int
    first: int
    durable: int
    payload: int
    check: int


def _header(data: bytes) -> _Header | None:
    """The header in these bytes, None where they are none."""
    if len(data) < HEADER_BYTES or struct.unpack_from("<I", data, HEADER.size)[0] != zlib.crc32(data[: HEADER.size]):
        return None
    magic, *numbers = HEADER.unpack_from(data)
    return _Header(*numbers) if magic == MAGIC else None


def _payload_problem(file: BinaryIO, header: _Header) -> str | None:
    """Read a payload and say what is wrong with it; bounded memory."""
    left, check = header.payload, 0
    while left:
        data = file.read(min(left, READ_BYTES))
        if not data:
            return "it ends within a record"
        check, left = zlib.crc32(data, check), left - len(data)
    return None if check == header.check else "checksum of a record"


def scan(folder: Path, layout: Layout, until: float = inf) -> tuple[list[Record], Torn | None]:
    """Find and verify all records of a folder, or those that hold its first `until` samples, in bounded memory.

    The first record that is incomplete or damaged ends the recording. If a later record says that those samples were
    on disk already, they were damaged afterwards, and that is an error; otherwise it is the torn end of a run that was
    stopped while writing.
    """
    records: list[Record] = []
    paths = segment_paths(folder)
    count = 0
    for place, path in enumerate(paths):
        with path.open("rb") as file:
            offset = 0
            while count < until and (data := file.read(HEADER_BYTES)):
                header = _header(data)
                if header is None:
                    why = "it ends within a header" if len(data) < HEADER_BYTES else "header of a record"
                    return records, _torn(paths[place:], offset, count, why)
                _check_place(path, offset, header, layout, count)
                problem = _payload_problem(file, header)
                if problem is not None:
                    return records, _torn(paths[place:], offset, count, problem)
                record = Record(path, offset, count, header.samples, header.payload)
                if header.samples:
                    records.append(record)
                count, offset = count + header.samples, record.end
    return records, None


def _check_place(path: Path, offset: int, header: _Header, layout: Layout, count: int) -> None:
    """An intact header belongs to this layout and continues where the record before ended."""
    if header.digest != layout.digest or header.payload != header.samples * layout.sample_bytes:
        raise RecordingError(path, f"the record at byte {offset} belongs to another layout than layout.json", count)
    if header.first != count:
        raise CorruptRecordingError(
            path,
            f"sample {count} should follow at byte {offset}, but {header.first} does: is a segment file missing?",
            count,
        )


def _torn(paths: list[Path], offset: int, count: int, problem: str) -> Torn:
    """What is left out from `offset` of the first path on; an error if it was on disk once."""
    if any(header.durable > count for header in _later_headers(paths, offset)):
        raise CorruptRecordingError(
            paths[0],
            f"damaged at byte {offset} ({problem}) although it was safely written; {count} samples before it are "
            f"intact (SegmentWriter.resume(folder, samples={count}) goes on from there)",
            count,
        )
    lost = sum(path.stat().st_size for path in paths) - offset
    return Torn(paths[0], offset, lost, problem)


def _later_headers(paths: list[Path], offset: int) -> Iterator[_Header]:
    """Intact headers behind a damaged place, wherever they stand."""
    for path in paths:
        if path.stat().st_size > max(offset, 0):  # an empty file cannot be mapped
            with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
                while (offset := content.find(MAGIC, offset + 1)) >= 0:
                    if header := _header(content[offset : offset + HEADER_BYTES]):
                        yield header
        offset = -1  # in the files that follow, from the first byte on
