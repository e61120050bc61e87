"""Running a scenario: the one place where the sections of a file meet the simulation."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import RigidTransform, Rotation

from multiarm.errors import MultiArmError, SimulationError
from multiarm.kinematics import kinematics
from multiarm.model import Model
from multiarm.scenario.document import Key
from multiarm.scenario.driving import actions_of, controller_of, elements_of, paths_of, prescribed_of
from multiarm.scenario.errors import ScenarioError
from multiarm.scenario.motion import ComputedTorque, ObjectImpedance
from multiarm.scenario.scenario import Scenario
from multiarm.scenario.summary import RunSummary, TrackingError, summarise
from multiarm.simulation import Watch, near_singularity, simulate
from multiarm.state import State
from multiarm.trajectory import RecordingError, Trajectory

__all__ = ["Prepared", "Tracking", "prepare", "run", "summary_of", "tracking_of"]

SAMPLES = 2000  # of a trajectory that are compared with the path


@dataclass(frozen=True, eq=False)
class Prepared:
    """A scenario ready to run: its model and the state it starts from."""

    scenario: Scenario
    model: Model
    start: State


def prepare(scenario: Scenario) -> Prepared:
    """Compile a scenario and close its loops."""
    model = scenario.compile()
    return Prepared(scenario, model, scenario.start(model))


def run(
    scenario: Scenario | Prepared,
    record: str | os.PathLike[str] | None = None,
    progress: Callable[[float], None] | None = None,
    resume: bool = False,
) -> Trajectory:
    """Simulate a scenario as its file says.

    Parameters
    ----------
    scenario : Scenario or Prepared
        What to run.
    record : path, optional
        Folder to stream the samples to; what is written survives a kill or a full disk.
    progress : callable, optional
        `progress(t)` is told from time to time how far the run is [s].
    resume : bool
        Go on with the recording in `record`.

    Returns
    -------
    Trajectory
        Ends early where an event stopped the run; its last event says so.

    Raises
    ------
    ScenarioError
        Something in the file does not fit the model, with its line.
    SimulationError
        The run cannot go on; the trajectory until then is in the error and in `record`.
    """
    ready = scenario if isinstance(scenario, Prepared) else prepare(scenario)
    scenario, model, start = ready.scenario, ready.model, ready.start
    content, settings = scenario.content, scenario.content.simulation
    grasps = content.grasps
    whole = start.model
    with _located(scenario, ("controller",)):
        controller = controller_of(content.controller, whole, start, scenario.folder)
    with _located(scenario, ("prescribed",)):
        prescribed = prescribed_of(content.prescribed, whole, start, settings.duration)
    with _located(scenario, ("elements",)):
        elements = elements_of(content.elements, content.disturbances, whole)
    tolerances = {name: value for name in ("rtol", "atol") if (value := getattr(settings, name)) is not None}
    with _located(scenario, ("simulation",)):
        return simulate(
            model,
            start,
            controller,
            duration=settings.duration,
            dt=settings.dt,
            method=settings.method,
            sample=settings.sample_period,
            record=record,
            resume=resume,
            progress=progress,
            attributes={"scenario": scenario.document.text, "seed": settings.seed},
            drift=settings.drift,
            elements=elements,
            actions=actions_of(content.actions),
            released=[name for name, grasp in grasps.items() if not grasp.active],
            on_slip={name: grasp.on_slip for name, grasp in grasps.items()},
            on_limit=settings.on_limit,
            prescribed=prescribed or None,
            watch=_watches(model, settings.singularity),
            **tolerances,
        )


def _watches(model: Model, least: float | None) -> list[Watch]:
    if least is None:
        return []
    return [near_singularity(model, name, least) for name, arm in model.arms.items() if len(arm.tips) == 1]


@contextmanager
def _located(scenario: Scenario, key: Key) -> Iterator[None]:
    """Errors about what the file says with its line; those of the run itself as they are."""
    try:
        yield
    except (SimulationError, ScenarioError, RecordingError):
        raise
    except MultiArmError as error:
        choices = getattr(error, "choices", ())
        problem = scenario.document.problem(key, str(error), choices)
        raise ScenarioError(scenario.document.file, [problem]) from error


@dataclass(frozen=True, eq=False)
class Tracking:
    """Distance [m] and angle [rad] of an object from its path at times [s]."""

    time: np.ndarray
    distance: np.ndarray
    angle: np.ndarray

    @property
    def error(self) -> TrackingError:
        """Largest and last values."""
        return TrackingError(
            float(self.distance.max()), float(self.distance[-1]), float(self.angle.max()), float(self.angle[-1])
        )


def tracking_of(ready: Prepared, trajectory: Trajectory) -> dict[str, Tracking]:
    """How far each object that a controller leads is from its path, at up to 2000 of the samples."""
    part = ready.scenario.content.controller
    if not isinstance(part, ComputedTorque | ObjectImpedance) or not len(trajectory):
        return {}
    led = paths_of(part.paths, ready.start.model, ready.start, ready.scenario.folder)
    count = len(trajectory)
    chosen = np.unique(np.linspace(0, count - 1, min(count, SAMPLES)).astype(int))
    times, q = trajectory.time[chosen], trajectory["q"].isel(time=chosen).values
    found = {}
    for name, path in led.items():
        wanted = [path(float(t))[0] for t in times]
        there = _poses(ready.model, name, q)
        places = np.array([pose.translation for pose in wanted])
        turned = there.rotation * Rotation.concatenate([pose.rotation for pose in wanted]).inv()
        found[name] = Tracking(times, np.linalg.norm(there.translation - places, axis=1), turned.magnitude())
    return found


def _poses(model: Model, body: str, q: np.ndarray) -> RigidTransform:
    """Poses of a body in the world, one per row of q: its own coordinates where it is free."""
    place = model.joints.get(body)
    if place is not None and place.joint.kind == "free":
        own = q[:, place.q]
        return RigidTransform.from_components(own[:, 4:], Rotation.from_quat(own[:, :4]))
    return RigidTransform.concatenate([kinematics(model, model.state(q=row)).pose(body) for row in q])


def summary_of(ready: Prepared, trajectory: Trajectory, tracking: dict[str, Tracking] | None = None) -> RunSummary:
    """The closing table of a run."""
    tracked = tracking_of(ready, trajectory) if tracking is None else tracking
    return summarise(
        trajectory.dataset,
        ready.model.effort_limit,
        {name: found.error for name, found in tracked.items()},
        [event.to_dict() for event in trajectory.events],
    )
