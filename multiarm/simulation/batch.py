"""Many runs at once, on all cores; each gives the numbers it gives alone."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from multiarm.errors import BadInputError, MultiArmError
from multiarm.simulation.running import simulate
from multiarm.trajectory import Trajectory

__all__ = ["simulate_batch"]


def simulate_batch(
    runs: Iterable[Mapping[str, Any]],
    workers: int | None = None,
    failures: str = "raise",
    progress: Callable[[int], None] | None = None,
    **shared: Any,
) -> list[Trajectory | MultiArmError]:
    """`simulate` for every entry of `runs`, in parallel threads.

    Compiled code runs on all cores at once; controllers and other functions in Python take turns. Every run has
    tables of its own, so its numbers do not depend on how many there are nor on how many workers.

    Parameters
    ----------
    runs : iterable of mappings
        Arguments of `simulate` that differ from run to run: state, controller, model, elements, ...
    workers : int, optional
        How many runs at a time; as many as there are cores by default.
    failures : str
        "raise" the first error (in the order of `runs`) once all are done, or "return" errors in place of trajectories.
    progress : callable, optional
        Told how many runs are done.
    shared
        Arguments of `simulate` that all have in common.

    Examples
    --------
    >>> import multiarm as ma
    >>> m = ma.Mechanism()
    >>> m.add_arm("arm", ma.robots.planar(2))
    >>> model = m.compile(gravity=(0, -9.81, 0))
    >>> starts = [{"state": model.state(q=[angle, 0.0])} for angle in (0.0, 0.5, 1.0)]
    >>> [len(run) for run in ma.simulate_batch(starts, model=model, duration=0.01)]
    [11, 11, 11]
    """
    if failures not in ("raise", "return"):
        raise BadInputError(f"failures must be 'raise' or 'return', not {failures!r}")
    if workers is not None and workers < 1:
        raise BadInputError(f"workers must be at least 1, not {workers}")
    arguments = [{**shared, **run} for run in runs]
    folders = [str(entry["record"]) for entry in arguments if entry.get("record") is not None]
    if len(set(folders)) < len(folders):
        raise BadInputError("every run needs a folder of its own to record to")
    answers: list[Trajectory | MultiArmError] = []
    with ThreadPoolExecutor(workers or os.cpu_count()) as pool:
        for done, answer in enumerate(pool.map(_attempt, arguments), 1):
            answers.append(answer)
            if progress is not None:
                progress(done)
    if failures == "raise":
        for answer in answers:
            if isinstance(answer, MultiArmError):
                raise answer
    return answers


def _attempt(arguments: Mapping[str, Any]) -> Trajectory | MultiArmError:
    try:
        return simulate(**arguments)
    except MultiArmError as error:
        return error
