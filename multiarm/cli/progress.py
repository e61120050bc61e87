"""A bar that tells how far a run is: simulated time, speed as a multiple of real time, time that remains."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

__all__ = ["Clock", "progress_bar"]

Tell = Callable[[float], None]


@dataclass
class Clock:
    """Simulated time against real time, from the first report on: what comes before it is compiling and starting."""

    first: tuple[float, float] | None = None
    last: tuple[float, float] | None = None

    def tell(self, t: float) -> None:
        """The run has come to time t [s]."""
        self.last = (time.perf_counter(), t)
        self.first = self.first or self.last

    @property
    def speed(self) -> float | None:
        """Simulated seconds per real second; None as long as nothing is known."""
        if self.first is None or self.last is None or not self.last[0] > self.first[0]:
            return None
        return (self.last[1] - self.first[1]) / (self.last[0] - self.first[0])


@contextmanager
def progress_bar(title: str, duration: float, shown: bool) -> Iterator[tuple[Clock, Tell]]:
    """A clock, and a function to be told the simulated time [s]; a bar if `shown` and standard error is a terminal."""
    clock = Clock()
    console = Console(stderr=True)
    if not shown or not console.is_terminal:
        yield clock, clock.tell
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.completed:.2f} of {task.total:g} s"),
        TextColumn("{task.fields[speed]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(title, total=duration, speed="")

        def tell(t: float) -> None:
            clock.tell(t)
            speed = "" if clock.speed is None else f"{clock.speed:.3g} x real time"
            bar.update(task, completed=min(t, duration), speed=speed)

        yield clock, tell
