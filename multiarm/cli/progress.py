"""A bar that tells how far a run is: simulated time, speed as a multiple of real time, time that remains."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

__all__ = ["progress_bar"]

Tell = Callable[[float], None]


@contextmanager
def progress_bar(title: str, duration: float, shown: bool) -> Iterator[Tell | None]:
    """A function to be told the simulated time [s]; None, and no bar, unless `shown` and standard error a terminal."""
    console = Console(stderr=True)
    if not shown or not console.is_terminal:
        yield None
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
        began: list[float] = []  # clock and simulated time at the first report: compiling before it is not speed

        def tell(t: float) -> None:
            now = time.perf_counter()
            if not began:
                began.extend((now, t))
            elapsed = now - began[0]
            speed = f"{(t - began[1]) / elapsed:.3g} x real time" if elapsed > 0.0 else ""
            bar.update(task, completed=min(t, duration), speed=speed)

        yield tell
