"""Errors of recording and reading; each names the file and says what is safe."""

from __future__ import annotations

import os

from multiarm.errors import MultiArmError

__all__ = ["CorruptRecordingError", "RecordingError"]


class RecordingError(MultiArmError, OSError):
    """A recording that cannot be written, read or found.

    ``path`` is the file or folder concerned, ``samples`` how many samples are safe on it (None where that is not the
    question). The folder stays readable by `load_trajectory`.
    """

    def __init__(self, path: str | os.PathLike[str], message: str, samples: int | None = None) -> None:
        self.path, self.samples = os.fspath(path), samples
        self.message = f"{self.path}: {message}"
        super().__init__(self.message)

    def __str__(self) -> str:  # OSError would print its own fields
        return self.message


class CorruptRecordingError(RecordingError):
    """Samples that were safely on disk and are damaged now; ``samples`` of them, before the damage, are intact."""
