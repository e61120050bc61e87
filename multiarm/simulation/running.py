"""`simulate`: from a state to a trajectory."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from multiarm.elements import Elements
from multiarm.errors import BadInputError, SimulationError
from multiarm.model import Model
from multiarm.paths import JointPath
from multiarm.simulation.actions import Action
from multiarm.simulation.bench import CompiledController
from multiarm.simulation.checkpoints import restore, snapshot
from multiarm.simulation.recording import Memory, Recorder
from multiarm.simulation.simulation import Simulation
from multiarm.simulation.steering import Controller, Outside
from multiarm.simulation.watching import Watch
from multiarm.state import State
from multiarm.trajectory import SegmentWriter, Trajectory, layout_of, load_trajectory, read_checkpoint

__all__ = ["simulate"]


def simulate(
    model: Model,
    state: State,
    controller: Controller | CompiledController | None = None,
    external: Outside | None = None,
    duration: float = 5.0,
    dt: float = 1e-3,
    method: str = "rk4",
    *,
    sample: float | None = None,
    record: str | os.PathLike[str] | None = None,
    resume: bool = False,
    progress: Callable[[float], None] | None = None,
    attributes: Mapping[str, Any] | None = None,
    drift: str = "project",
    rate: float | None = None,
    elements: Elements | Iterable[Any] = (),
    actions: Iterable[tuple[float, Action]] = (),
    released: Iterable[str] = (),
    on_slip: str | Mapping[str, str] = "report",
    on_limit: str | Mapping[str, str] = "report",
    watch: Watch | Iterable[Watch] = (),
    prescribed: Mapping[str, JointPath] | None = None,
    saturate: bool = False,
    rtol: float = 1e-10,
    atol: float = 1e-11,
) -> Trajectory:
    """Move `model` for `duration` seconds from `state`.

    Parameters
    ----------
    model, state, controller, external, dt, method, drift, rate, elements, actions, released, on_slip, on_limit, \
watch, prescribed, saturate, rtol, atol
        As for `Simulation`.
    duration : float
        How long [s].
    sample : float, optional
        Time between samples [s], a multiple of dt; every step by default.
    record : path, optional
        Folder to stream the samples to; what is written survives a kill or a full disk, and memory stays bounded.
    resume : bool
        Go on with the recording in `record` from its last checkpoint, with the same arguments otherwise.
    progress : callable, optional
        `progress(t)` is told from time to time how far the run is [s].
    attributes : mapping, optional
        What else to note with the trajectory.

    Returns
    -------
    Trajectory
        Ends early where something stopped the run: its last event says what.

    Raises
    ------
    SimulationError
        The run cannot go on: time, step and joint are in the error, what was computed so far is in `trajectory`, and in
        the folder `record`.
    """
    if not (np.isfinite(duration) and duration >= 0.0):
        raise BadInputError(f"duration must be a time, not {duration}")
    run = Simulation(
        model, state, controller, external, dt=dt, method=method, drift=drift, rate=rate, elements=elements,
        actions=actions, released=released, on_slip=on_slip, on_limit=on_limit, watch=watch, prescribed=prescribed,
        saturate=saturate, rtol=rtol, atol=atol,
    )  # fmt: skip
    every = 1 if sample is None else round(sample / dt)
    if every < 1 or (sample is not None and abs(every * dt - sample) > 1e-9 * sample):
        raise BadInputError(f"sample = {sample} s is no multiple of dt = {dt} s")
    layout = layout_of(model, attributes={"method": method, "dt": dt, "drift": drift, **(attributes or {})})
    if record is None:
        if resume:
            raise BadInputError("resume needs record=, the folder to go on with")
        memory = Memory()
        _run(run, Recorder(run.whole, memory, every), duration, progress)
        failure = run.failure
        trajectory = Trajectory.from_blocks(layout, memory.blocks, run.events, model, _final(model, run))
    else:
        folder = Path(record)
        if resume:
            checkpoint = read_checkpoint(folder)
            writer = SegmentWriter.resume(folder, None if checkpoint is None else checkpoint.samples)
            if checkpoint is not None:
                restore(run, checkpoint.data)
        else:
            writer = SegmentWriter(folder, layout)
        with writer:
            run.on_event = writer.event
            recorder = Recorder(run.whole, writer, every, lambda: writer.checkpoint(snapshot(run)))
            _run(run, recorder, duration, progress)
            failure = run.failure
        trajectory = load_trajectory(folder, model)
    if failure is not None:
        failure.trajectory = trajectory
        raise failure
    return trajectory


def _run(run: Simulation, recorder: Recorder, duration: float, progress: Callable[[float], None] | None) -> None:
    """To the end, to what stops it, or to what goes wrong; the samples until then are handed on in any case."""
    run.record(recorder)
    run.progress = progress
    run.patience = max(1, round(0.05 / run.dt)) if progress is not None else run.patience
    try:
        run.advance(run.origin + duration)
        run.finish()
    except SimulationError as error:
        run.failure = error
    finally:
        recorder.flush()


def _final(model: Model, run: Simulation) -> State:
    return model.state(q=run.bench.q, v=run.bench.v)
