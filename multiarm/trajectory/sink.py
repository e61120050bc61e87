"""A file that HDF5 can write to on a disk that fills up.

HDF5 does not survive a failed write: closing the file fails again, and the process crashes. So it writes to a `Sink`,
which keeps the first error to itself, holds in memory what the disk no longer takes, and is asked about it in time.
"""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

__all__ = ["Sink"]


class Sink(io.RawIOBase):
    """A new file, read and written anywhere; `check` raises the error of the disk that `write` did not."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0), 0o644)
        self._place = self._end = 0
        self._held: list[tuple[int, bytes]] = []
        self._error: BaseException | None = None

    def check(self) -> None:
        """Raise the first error of the disk, or the interrupt, that came while HDF5 was writing."""
        if self._error is not None:
            raise self._error

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        """Go to a place; the place."""
        self._place = offset + {os.SEEK_SET: 0, os.SEEK_CUR: self._place, os.SEEK_END: self._end}[whence]
        return self._place

    def tell(self) -> int:
        """The present place."""
        return self._place

    def write(self, data: Any, /) -> int:
        """Write at the present place, to memory once the disk has failed; never fails."""
        left = memoryview(data).cast("B")
        size = len(left)
        try:
            self.check()
            os.lseek(self._handle, self._place, os.SEEK_SET)
            while left:
                taken = os.write(self._handle, left)
                self._place, left = self._place + taken, left[taken:]
        except BaseException as error:  # an interrupt would break HDF5 just as well
            self._error = self._error or error
            self._held.append((self._place, bytes(left)))
            self._place += len(left)
        self._end = max(self._end, self._place)
        return size

    def readinto(self, buffer: Any, /) -> int:
        """Read from the present place, what is held in memory included."""
        view = memoryview(buffer).cast("B")
        size = min(len(view), max(0, self._end - self._place))
        os.lseek(self._handle, self._place, os.SEEK_SET)
        stored = b""
        while len(stored) < size and (more := os.read(self._handle, size - len(stored))):
            stored += more
        view[:size] = stored.ljust(size, b"\0")
        for place, data in self._held:
            low, high = max(place, self._place), min(place + len(data), self._place + size)
            if low < high:
                view[low - self._place : high - self._place] = data[low - place : high - place]
        self._place += size
        return size

    def truncate(self, size: int | None = None, /) -> int:
        """Let the file end here, or at `size`."""
        self._end = self._place if size is None else size
        try:
            self.check()
            os.ftruncate(self._handle, self._end)
        except BaseException as error:
            self._error = self._error or error
        return self._end

    def close(self) -> None:
        """Let go of the file."""
        if not self.closed:
            os.close(self._handle)
        super().close()
