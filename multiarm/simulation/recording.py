"""Samples on their way from the kernels to a trajectory in memory or on disk."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np

from multiarm.model import Model
from multiarm.simulation.bench import Bench
from multiarm.simulation.sampling import Grip, block_of

__all__ = ["Memory", "Recorder", "Sink"]

BUFFER = 1 << 20  # numbers that wait in memory before they are handed on
LONGEST_WAIT = 1.0  # s of the clock on the wall, for samples that are written to disk


class Sink(Protocol):
    """Where blocks of samples go."""

    def append(self, block: Mapping[str, np.ndarray]) -> Any:
        """Take a block."""


class Memory:
    """A sink that keeps everything."""

    def __init__(self) -> None:
        self.blocks: list[Mapping[str, np.ndarray]] = []

    def append(self, block: Mapping[str, np.ndarray]) -> None:
        """Take a block."""
        self.blocks.append(block)


class Recorder:
    """A buffer for the samples of one bench after another; `model` names all grasps that may ever hold."""

    def __init__(self, model: Model, sink: Sink, every: int, checkpoint: Callable[[], None] | None = None) -> None:
        self.every = every
        self._checkpoint, self._fresh = checkpoint, False
        self._handed_on = time.monotonic()
        self._sink, self._grip = sink, Grip(model)
        self._bench: Bench | None = None
        self._rows, self._steps = np.zeros((0, 0)), np.zeros(0, np.int64)
        self._filled = 0
        self._last = -np.inf

    def mount(self, bench: Bench) -> None:
        """Take samples of `bench` from now on."""
        self.flush()
        count = max(1, min(4096, BUFFER // bench.sample_width))
        self._bench, self._rows, self._steps = bench, np.zeros((count, bench.sample_width)), np.zeros(count, np.int64)

    @property
    def room(self) -> np.ndarray:
        """Rows that are still free."""
        return self._rows[self._filled :]

    def took(self, made: int, first_step: int) -> None:
        """So many rows of `room` were written, at the multiples of `every` from `first_step` on."""
        if made:
            start = -(-first_step // self.every) * self.every
            self._steps[self._filled : self._filled + made] = start + self.every * np.arange(made)
            self._filled += made
            self._last = float(self._rows[self._filled - 1, 0])
        if self._filled == len(self._rows):
            self.flush()

    def add(self, row: np.ndarray, step: int) -> None:
        """One more sample, unless there is one at that time already."""
        if row[0] > self._last:
            self._rows[self._filled], self._steps[self._filled] = row, step
            self._filled += 1
            self._last = float(row[0])
            if self._filled == len(self._rows):
                self.flush()

    def flush(self) -> None:
        """Hand on what waits."""
        if self._filled and self._bench is not None:
            rows, steps = self._rows[: self._filled].copy(), self._steps[: self._filled].copy()
            self._filled = 0
            self._sink.append(block_of(self._bench.model, self._grip, self._bench.loops.names, rows, steps))
            self._fresh, self._handed_on = True, time.monotonic()

    def settle(self) -> None:
        """Between two steps: hand on what has waited long, and take a checkpoint if anything was handed on."""
        if self._checkpoint is not None and self._filled and time.monotonic() - self._handed_on > LONGEST_WAIT:
            self.flush()
        if self._fresh and self._checkpoint is not None and not self._filled:
            self._checkpoint()
        self._fresh = False
