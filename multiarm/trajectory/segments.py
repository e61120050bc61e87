"""Writing samples to disk so that neither a kill nor a full disk loses what was written."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

from multiarm.trajectory.checkpoints import Checkpoint, write_checkpoint
from multiarm.trajectory.durable import FolderLock, replaced, sync_folder, write_all
from multiarm.trajectory.errors import RecordingError
from multiarm.trajectory.events import Event, event_line
from multiarm.trajectory.layout import Block, Layout
from multiarm.trajectory.reader import EVENTS, LAYOUT, read_layout
from multiarm.trajectory.records import encode, segment_number, segment_path, segment_paths
from multiarm.trajectory.resuming import Place, cut_back

__all__ = ["SegmentWriter"]

SEGMENT_BYTES = 64 << 20
RECORD_BYTES = 4 << 20  # a longer block becomes several records, so that readers need no more memory than this
OPEN = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0)


class _File:
    """A file written at its end only."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._handle = os.open(path, OPEN, 0o644)
        sync_folder(path.parent)

    def write(self, data: bytes, at: int) -> int:
        """Write data at offset `at`, which becomes the end of what the file held; the end after it."""
        if os.fstat(self._handle).st_size > at:  # what an interrupted write left behind
            os.ftruncate(self._handle, at)
        os.lseek(self._handle, at, os.SEEK_SET)
        try:
            write_all(self._handle, data)
        except BaseException:
            os.ftruncate(self._handle, at)
            raise
        return at + len(data)

    def sync(self) -> None:
        os.fsync(self._handle)

    def close(self) -> None:
        os.close(self._handle)


class _Written(NamedTuple):
    """How far the samples are written. Replaced whole, so that an interrupt cannot leave half of it behind."""

    file: _File | None = None
    end: int = 0
    samples: int = 0
    time: float | None = None


class _Logged(NamedTuple):
    """How far the events are written."""

    file: _File | None = None
    end: int = 0
    events: int = 0


class SegmentWriter:
    """Appends blocks of samples to a folder.

    What `append` has taken survives the end of the process; what `flush` has taken also a power cut. An error of the
    disk takes back the record it hit: the folder stays readable, and `append` can be tried again from `samples` on.
    Blocks of some thousand samples serve best, since each becomes at least one record.

    Parameters
    ----------
    folder : path
        Made if needed; must not hold a recording (`resume` goes on with one).
    layout : Layout
        What a sample is.

    Attributes
    ----------
    folder, layout
        As given.
    durable : int
        How many of the samples written are synced.
    """

    def __init__(self, folder: str | os.PathLike[str], layout: Layout) -> None:
        self._open(Path(folder), layout)
        try:
            if (self.folder / LAYOUT).exists() or segment_paths(self.folder):
                raise RecordingError(
                    folder, "holds a recording already: SegmentWriter.resume(folder) goes on with it, or choose another"
                )
            with self._disk_errors("cannot begin a recording"), replaced(self.folder / LAYOUT) as temporary:
                temporary.write_text(layout.to_json(), encoding="utf-8")
        except BaseException:
            self._lock.release()
            raise

    def _open(self, folder: Path, layout: Layout) -> None:
        """The writer of an empty recording; makes the folder and locks it."""
        self.folder, self.layout = folder, layout
        self._written, self._logged = _Written(), _Logged()
        self.durable = 0
        self._unusable: str | None = None
        with self._disk_errors("cannot begin a recording"):
            folder.mkdir(parents=True, exist_ok=True)
            sync_folder(folder.absolute().parent)
            self._lock = FolderLock(folder)

    @classmethod
    def resume(cls, folder: str | os.PathLike[str], samples: int | None = None) -> SegmentWriter:
        """Go on with a recording: after its last complete record, or after its first `samples` samples.

        What a stopped writer left incomplete is cut off. With `samples`, so are all samples after them and the events
        after their time; where the checkpoint has just as many samples, the events before it stay. A checkpoint of
        later samples is removed.
        """
        layout = read_layout(Path(folder))
        writer = cls.__new__(cls)
        writer._open(Path(folder), layout)
        try:
            with writer._disk_errors("cannot go on with the recording"):
                writer._go_on(cut_back(writer.folder, layout, samples))
        except BaseException:
            writer._lock.release()
            raise
        return writer

    def _go_on(self, place: Place) -> None:
        file = None if place.path is None else _File(place.path)
        if file is not None:
            file.sync()
        self._written = _Written(file, place.offset, place.samples, place.last_time)
        self._logged = _Logged(None, place.events_end, place.events)
        self.durable = place.samples

    @property
    def samples(self) -> int:
        """How many samples are written."""
        return self._written.samples

    @property
    def last_time(self) -> float | None:
        """Time of the last sample [s]."""
        return self._written.time

    @property
    def events(self) -> int:
        """How many events are written."""
        return self._logged.events

    # ------------------------------------------------------------------ writing

    def append(self, block: Block) -> None:
        """Write a block: all channels of the layout and "time", the first axis of every array time [s]."""
        self._check_usable()
        arrays = self.layout.checked(block, float("-inf") if self.last_time is None else self.last_time)
        samples = len(arrays["time"])
        most = max(1, RECORD_BYTES // self.layout.sample_bytes)
        with self._disk_errors("cannot write"):
            for start in range(0, samples, most):
                piece = {name: array[start : start + most] for name, array in arrays.items()}
                record = encode(self.layout, piece, self.samples, self.durable)
                file, end = self._segment_for(len(record))
                end = file.write(record, end)
                self._written = _Written(file, end, self.samples + len(piece["time"]), float(piece["time"][-1]))

    def _segment_for(self, size: int) -> tuple[_File, int]:
        """The present segment and its end, or a new one where it is full; the old one is synced first."""
        file, end, samples, time = self._written
        if file is not None and (end == 0 or end + size <= SEGMENT_BYTES):
            return file, end
        self._sync()
        number = 1 if file is None else segment_number(file.path) + 1
        new = _File(segment_path(self.folder, number))
        self._written = _Written(new, 0, samples, time)
        if file is not None:
            file.close()
        return new, 0

    def flush(self) -> None:
        """Return when all samples are on the disk itself (fsync)."""
        self._check_usable()
        with self._disk_errors("cannot sync"):
            self._sync()

    def _sync(self) -> None:
        file, _, samples, _ = self._written
        if file is None or self.durable == samples:
            return
        try:
            file.sync()
        except OSError:
            # the system forgets what it failed to write: a second sync would succeed without having written it
            self._unusable = f"a sync failed after sample {self.durable}"
            raise
        self.durable = samples

    def event(self, event: Event | Mapping[str, Any]) -> None:
        """Write one event (time, kind, subject, message, data), synced at once."""
        self._check_usable()
        line = event_line(Event.of(event))
        with self._disk_errors("cannot write an event"):
            file, end, events = self._logged
            file = file or _File(self.folder / EVENTS)
            end = file.write(line, end)
            file.sync()
            self._logged = _Logged(file, end, events + 1)

    def checkpoint(self, data: bytes | Mapping[str, Any]) -> None:
        """Sync the samples and replace the checkpoint: `data`, with the number of samples and events before it."""
        self.flush()
        with self._disk_errors("cannot write the checkpoint"):
            write_checkpoint(self.folder, Checkpoint(self.samples, self.events, self.last_time, data))

    # ------------------------------------------------------------------ ending

    def close(self) -> None:
        """Sync, mark the end (later damage can then be told from an incomplete write), and let others write."""
        if self._unusable == "it is closed":
            return
        try:
            if self._unusable is None:
                self.flush()
                with contextlib.suppress(OSError):  # a disk too full for the mark: every sample is safe without it
                    if self._written.file is not None:
                        self._written.file.write(encode(self.layout, {}, self.samples, self.samples), self._written.end)
                        self._written.file.sync()
        finally:
            for file in (self._written.file, self._logged.file):
                if file is not None:
                    file.close()
            self._unusable = "it is closed"
            self._lock.release()

    def __enter__(self) -> SegmentWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # ------------------------------------------------------------------ errors

    def _check_usable(self) -> None:
        if self._unusable is not None:
            raise RecordingError(self.folder, f"this writer cannot be used: {self._unusable}", self.durable)

    @contextlib.contextmanager
    def _disk_errors(self, doing: str) -> Iterator[None]:
        """Errors of the system as `RecordingError`, with what is safe."""
        try:
            yield
        except RecordingError:
            raise
        except OSError as error:
            safe = self.durable if self._unusable else self.samples
            raise RecordingError(
                self.folder, f"{doing}: {error.strerror or error}; {safe} samples are safe there", safe
            ) from error
