"""Files that survive a kill and a power cut: synced folders, files replaced in one go, one writer at a time."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from multiarm.trajectory.errors import RecordingError

__all__ = ["FolderLock", "replaced", "sync_folder", "write_all"]

if sys.platform == "win32":
    import msvcrt

    def _try_lock(handle: int) -> None:
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _try_lock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def write_all(handle: int, data: bytes) -> None:
    """Write every byte; the system may take several turns."""
    left = memoryview(data)
    while left:
        left = left[os.write(handle, left) :]


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable: a new file is not safe before its folder is."""
    if sys.platform == "win32":  # folders cannot be opened there
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextlib.contextmanager
def replaced(path: Path) -> Iterator[Path]:
    """A temporary name beside `path`; what is written there takes its place whole, or not at all."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        yield temporary
        handle = os.open(temporary, os.O_RDWR)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


class FolderLock:
    """Held by the one writer of a folder; the system releases it when that process ends, however it ends."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "lock"
        self._handle: int | None = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            _try_lock(self._handle)
        except OSError as error:
            owner = self.path.read_text(errors="replace").strip() or "unknown"
            os.close(self._handle)
            self._handle = None
            raise RecordingError(folder, f"another writer (process {owner}) is recording here") from error
        with contextlib.suppress(OSError):  # the number is for the message above only; a full disk may refuse it
            os.ftruncate(self._handle, 0)
            os.write(self._handle, f"{os.getpid()}\n".encode())

    def release(self) -> None:
        """Let others write; the file stays, since removing it would race with the next writer."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None
