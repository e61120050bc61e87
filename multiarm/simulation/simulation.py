"""A run: a model that moves in time, what drives it, what changes it, and what happens on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NoReturn, cast

import numpy as np
from numpy.typing import ArrayLike

from multiarm.assembly import grasped
from multiarm.closed_chain import require_closed
from multiarm.constraints import constraints
from multiarm.elements import Elements
from multiarm.errors import (
    BadInputError,
    MultiArmError,
    SimulationError,
    UnknownNameError,
)
from multiarm.model import Model
from multiarm.simulation import adaptive, fixed
from multiarm.simulation.actions import Action, HandOver, Hold, Payload, Release, Steer, Stop
from multiarm.simulation.bench import Bench, CompiledController
from multiarm.simulation.recording import Recorder
from multiarm.simulation.torques import torques_of
from multiarm.simulation.variants import holding, with_payload
from multiarm.simulation.watching import Watch, consequences
from multiarm.state import State
from multiarm.sweeps import rollout as ro
from multiarm.sweeps.observing import KINETIC
from multiarm.trajectory import Event
from multiarm.workspace import External

__all__ = ["Controller", "Simulation"]

Controller = Callable[[float, State], ArrayLike | Mapping[str, ArrayLike]]
Outside = Callable[[float, State], External]
DRIFTS = ("project", "none")
METHODS = (*fixed.METHODS, *adaptive.METHODS)
PATIENCE = 100_000  # steps between two looks at the clock


class Simulation:
    """A run, step by step.

    Parameters
    ----------
    model, state : Model, State
        What moves, and where it starts, on the constraints.
    controller : callable, optional
        `controller(t, state)` gives the torques, an array or values by arm or joint; steps of fixed length ask it once
        at their start, adaptive ones at every evaluation. The controllers of ``multiarm.controllers`` run in compiled
        code.
    external : callable, optional
        `external(t, state)` gives {body: wrench at its origin, world axes}, asked like the controller.
    dt : float
        Length of the steps, and of the grid of samples for adaptive methods [s].
    method : str
        "euler" (semi-implicit), "rk4", "dop853" or "radau" (implicit, for stiff springs).
    drift : str
        "project": after every step positions and velocities go back onto the constraints by the least change in the
        mass metric; "none".
    elements : Elements or iterable, optional
        Springs, dampers, friction, pushes.
    actions : pairs (time, action), optional
        What to change and when: `Hold`, `Release`, `HandOver`, `Payload`, `Stop`.
    released : names, optional
        Cut joints and grasps that do not hold at the start.
    on_slip, on_limit : str or mapping
        What follows when a grasp leaves its friction limit or a joint its range: "report", "stop", "release" (grasps),
        "ignore"; for all, or by name.
    watch : Watch or iterable, optional
        Margins of one's own.
    saturate : bool
        Whether torques are cut off at the joints' effort limits.
    rtol, atol : float
        Tolerances of adaptive methods.

    Attributes
    ----------
    time, steps : float, int
        Where the run is [s], and how many steps it has made.
    events : list of Event
        What happened so far.
    stopped : str or None
        Why the run has ended before its time.
    """

    def __init__(
        self,
        model: Model,
        state: State,
        controller: Controller | CompiledController | None = None,
        external: Outside | None = None,
        *,
        dt: float = 1e-3,
        method: str = "rk4",
        drift: str = "project",
        elements: Elements | Iterable[Any] = (),
        actions: Iterable[tuple[float, Action]] = (),
        released: Iterable[str] = (),
        on_slip: str | Mapping[str, str] = "report",
        on_limit: str | Mapping[str, str] = "report",
        watch: Watch | Iterable[Watch] = (),
        saturate: bool = False,
        rtol: float = 1e-10,
        atol: float = 1e-11,
        start: float = 0.0,
    ) -> None:
        if method not in METHODS:
            raise UnknownNameError("method", method, METHODS)
        if drift not in DRIFTS:
            raise UnknownNameError("drift", drift, DRIFTS)
        if not (np.isfinite(dt) and dt > 0.0):
            raise BadInputError(f"dt must be a positive time, not {dt}")
        model.own(state)
        self.whole = state.model if model.open_grasps else model  # with every grasp that may ever hold
        self.given = self.whole
        self.dt, self.method, self.rtol, self.atol = float(dt), method, rtol, atol
        self.projected = drift == "project"
        self.origin = self.began = self.time = float(start)
        self.steps = self.changes = 0
        self._begun = False
        self.events: list[Event] = []
        self.stopped: str | None = None
        self.failure: SimulationError | None = None
        self.recorder: Recorder | None = None
        self.progress: Callable[[float], None] | None = None
        self.on_event: Callable[[Event], None] | None = None
        self.patience = PATIENCE
        self._controller, self._external = controller, external
        self._elements = tuple(elements)
        let_go = set(released)
        for name in let_go:
            if name not in self.whole.cuts:
                raise UnknownNameError("cut joint or grasp", name, self.whole.cuts)
        self._held = [name for name in self.whole.cuts if name not in let_go]
        self._watches = (watch,) if isinstance(watch, Watch) else tuple(watch)
        self._margins = np.full((2, len(self._watches)), np.nan)
        self._then = {
            "slip": consequences("on_slip", on_slip, list(self.whole.grasps)),
            "limit": consequences("on_limit", on_limit, list(self.whole.joints)),
        }
        self._limits = self.whole.effort_limit if saturate else None
        self._pending = sorted(((float(t), i, action) for i, (t, action) in enumerate(actions)), key=lambda x: x[:2])
        for t, _, action in self._pending:
            self._check_action(t, action)
        self._mount(self._variant(self.whole), np.array(state.q), np.array(state.v))
        require_closed(constraints(self.model, self.state))
        driver = fixed.FixedSteps if method in fixed.METHODS else adaptive.AdaptiveSteps
        self._driver: fixed.FixedSteps | adaptive.AdaptiveSteps = driver(self, method)

    # ------------------------------------------------------------------ where it is

    @property
    def model(self) -> Model:
        """The model with what holds now."""
        return self.bench.model

    @property
    def state(self) -> State:
        """Where the model is."""
        return self.bench.state

    @property
    def holds(self) -> tuple[str, ...]:
        """Cut joints and grasps that hold now."""
        return tuple(self._held)

    @property
    def tiny(self) -> float:
        """A time that does not matter [s]."""
        return 1e-12 * max(1.0, abs(self.time))

    def grid(self, number: int) -> float:
        """Time of a grid point [s]."""
        return self.origin + number * self.dt

    # ------------------------------------------------------------------ moving on

    def step(self) -> State:
        """One step of dt: to the next point of the grid."""
        self.advance(self.grid(int(np.floor((self.time - self.origin) / self.dt + 1e-9)) + 1))
        return self.state

    def advance(self, end: float) -> None:
        """Go on to the time `end`, or until something stops the run."""
        if not self._begun:
            self._begin()
        while self.stopped is None:
            self._act_now()
            if self.stopped is not None or self.time >= end - self.tiny:
                break
            stop = min([end, *(t for t in self._breaks() if t > self.time + self.tiny)])
            self._driver.advance(stop)

    def _begin(self) -> None:
        """Report what is outside its limits from the start."""
        self._begun = True
        self.drive()
        self.bench.look(self.time)
        self.happened([i for i, margin in enumerate(self.margins()) if margin < 0.0])
        self.crossed()

    def _breaks(self) -> list[float]:
        return [t for t, _, _ in self._pending] + list(self.bench.breaks)

    @property
    def _python(self) -> bool:
        if self._controller is None:
            return False
        return self._limits is not None or not hasattr(self._controller, "packed")

    @property
    def asks_python(self) -> bool:
        """Whether every step has to ask something that is not compiled."""
        return self._python or self._external is not None or bool(self._watches) or self._limits is not None

    @property
    def watches(self) -> bool:
        """Whether kernels look for margins that are gone."""
        return len(self.bench.gauges) > 0

    def drive(self) -> None:
        """Torques and wrenches for the present state, from those who are not compiled."""
        if not self._python and self._external is None:
            return
        state = self.state
        if self._python:
            self.bench.tau[:] = torques_of(
                self.model, cast("Controller", self._asked)(self.time, state), self.time, self.steps
            )
        if self._limits is not None:
            self.bench.saturate(self._limits)
        if self._external is not None:
            try:
                self.bench.push(self._external(self.time, state))
            except MultiArmError as error:
                raise SimulationError(f"external: {error}", self.time, self.steps) from error

    def tick(self) -> None:
        """Tell how far the run is; between two steps, so that it can be resumed from here."""
        if self.recorder is not None:
            self.recorder.settle()
        if self.progress is not None:
            self.progress(self.time)

    # ------------------------------------------------------------------ what is watched

    def margins(self) -> np.ndarray:
        """All margins now: those of the kernels, then one's own."""
        own = [float(watch.margin(self.time, self.state)) for watch in self._watches]
        return np.concatenate([self.bench.margins, own])

    def least_margin(self, which: list[int]) -> float:
        """The smallest of some margins now."""
        return float(self.margins()[which].min())

    def crossed(self) -> list[int]:
        """Margins that were there at the last look and are gone now."""
        before = np.concatenate([self.bench.plant.gauges[0], self._margins[1]])
        now = self.margins()
        self._margins[1] = now[len(self.bench.gauges) :]
        found = np.flatnonzero((before >= 0.0) & (now < 0.0))
        return [int(i) for i in found if self._word(int(i)) != "ignore"]

    def _subject(self, i: int) -> tuple[str, str]:
        gauges = self.bench.gauges
        if i < len(gauges):
            return gauges[i].kind, gauges[i].subject
        watch = self._watches[i - len(gauges)]
        return watch.kind, watch.subject

    def _word(self, i: int) -> str:
        gauges = self.bench.gauges
        if i < len(gauges):
            return self._then[gauges[i].kind].get(gauges[i].subject, "report")
        return self._watches[i - len(gauges)].then

    def happened(self, which: Iterable[int]) -> None:
        """Report margins that are gone, and do what follows."""
        margins = self.margins()
        follow = []
        for i in which:
            if not margins[i] < 0.0 or self._word(i) == "ignore":
                continue
            kind, subject = self._subject(i)
            self._report(kind, subject, MESSAGES.get(kind, "margin gone"), margin=float(margins[i]))
            follow.append((self._word(i), kind, subject))
        for word, kind, subject in follow:
            if word == "stop":
                self._stop(f"{kind} of {subject!r}")
            elif word == "release" and subject in self._held:
                self.act(Release(subject))

    def _report(self, kind: str, subject: str, message: str, **data: Any) -> None:
        event = Event(self.time, kind, subject, message, data)
        self.events.append(event)
        if self.on_event is not None:
            self.on_event(event)

    def _stop(self, why: str) -> None:
        if self.stopped is None:
            self.stopped = why
            self._report("stop", "", why)

    # ------------------------------------------------------------------ what changes

    def _check_action(self, t: float, action: Action) -> None:
        if not isinstance(action, Action):
            raise BadInputError(
                f"at t = {t} s: {action!r} is no action; those are Hold, Release, HandOver, Payload, Steer, Stop"
            )
        names = {Hold: ("name",), Release: ("name",), HandOver: ("to", "source")}.get(type(action), ())
        for attribute in names:
            if getattr(action, attribute) not in self.whole.cuts:
                raise UnknownNameError("cut joint or grasp", getattr(action, attribute), self.whole.cuts)
        if isinstance(action, Payload) and action.body not in self.whole.bodies:
            raise UnknownNameError("body", action.body, self.whole.bodies)

    def _act_now(self) -> None:
        while self._pending and self._pending[0][0] <= self.time + self.tiny and self.stopped is None:
            self.act(self._pending.pop(0)[2])

    def act(self, action: Action) -> None:
        """Change the mechanism now."""
        self._check_action(self.time, action)
        match action:
            case Stop():
                self._stop(action.message or "as planned")
            case Release():
                self._release(action.name)
            case HandOver():
                self._hold(action.to, action.tolerance)
                self._release(action.source)
            case Steer():
                self._steer(action.controller)
            case Hold():
                self._hold(action.name, action.tolerance)
            case Payload():
                self.whole = with_payload(self.whole, action.body, action.mass, action.inertia, action.com)
                self._remount()
                self._report("payload", action.body, f"mass is now {action.mass:g} kg", mass=float(action.mass))

    def _steer(self, controller: Controller | CompiledController | None) -> None:
        self._controller = controller
        self.bench.tau[:] = 0.0
        self._remount()
        self._report("steer", "", f"{controller!r} takes over")

    def _variant(self, whole: Model) -> Model:
        return whole if len(self._held) == len(whole.cuts) else holding(whole, self._held)

    def _release(self, name: str) -> None:
        if name in self._held:
            self._held.remove(name)
            self._remount()
            self._report("release", name, "lets go")

    def _hold(self, name: str, tolerance: float) -> None:
        if name in self._held:
            return
        here = self.whole.state(q=self.bench.q, v=self.bench.v)
        if self.whole.grasps.get(name) is not None and self.whole.grasps[name].at is None:
            self.whole = grasped(self.whole, here, (name,))
        self._held = [other for other in self.whole.cuts if other in self._held or other == name]
        kinetic = self.bench.look(self.time)[KINETIC]
        before = self.bench.v.copy()
        self._remount()
        rows = constraints(self.model, self.state)
        gap = float(np.abs(rows.gap).max(initial=0.0))
        if gap > tolerance:
            raise SimulationError(
                f"{name!r} cannot take hold: its two sides are {gap:.3g} m or rad apart, more than the tolerance "
                f"{tolerance:g}",
                self.time,
                self.steps,
            )
        self.require_closed(self.bench.settle())
        impulse = self.bench.impulse(name)
        jump = float(np.abs(self.bench.v - before).max(initial=0.0))
        lost = float(kinetic - self.bench.look(self.time)[KINETIC])
        self.bench.plant.ledger[:, 1] += lost
        self._report("hold", name, "takes hold", gap=gap, impulse=impulse.tolist(), largest_jump=jump, energy_lost=lost)

    def _remount(self) -> None:
        self._mount(self._variant(self.whole), self.bench.q, self.bench.v, self.bench.plant.ledger)
        self.changes += 1

    def _mount(self, model: Model, q: np.ndarray, v: np.ndarray, ledger: np.ndarray | None = None) -> None:
        """The bench for a variant of the model."""
        if self.recorder is not None:
            self.recorder.flush()
        self._asked = self._controller
        if hasattr(self._controller, "packed"):
            self._asked = self._for_variant(cast("CompiledController", self._controller), model)
        controller = None if self._python else cast("CompiledController | None", self._asked)
        elements = Elements(model, self._elements) if self._elements else None
        self.bench = Bench(model, model.state(q=q, v=v), elements, controller, self._external is not None)
        if ledger is not None:
            self.bench.plant.ledger[:] = ledger
        if self.recorder is not None:
            self.recorder.mount(self.bench)

    def _for_variant(self, controller: CompiledController, model: Model) -> CompiledController:
        if controller.model is model:
            return controller
        try:
            return controller.on(model)
        except MultiArmError as error:
            raise SimulationError(f"{controller!r} cannot go on: {error}", self.time, self.steps) from error

    def record(self, recorder: Recorder) -> None:
        """Hand samples to `recorder` from now on."""
        self.recorder = recorder
        recorder.mount(self.bench)

    def finish(self) -> None:
        """A last sample at the present state."""
        if self.recorder is not None:
            self.drive()
            self.recorder.add(self.bench.look(self.time), self.steps)
            self.recorder.flush()

    # ------------------------------------------------------------------ going on later

    @property
    def actions_left(self) -> int:
        """How many planned actions are still to come."""
        return len(self._pending)

    def numbers(self) -> dict[str, np.ndarray]:
        """Arrays that change with every step."""
        bench = self.bench
        return {
            "vector": bench.vector(), "before": bench.before(), "gauges": bench.plant.gauges, "tau": bench.tau,
            "margins": self._margins, **self._driver.numbers(),
        }  # fmt: skip

    def go_on(
        self, whole: Model, time: float, steps: int, actions: int, holds: Iterable[str], numbers: dict[str, np.ndarray]
    ) -> None:
        """Continue from what `numbers` and the other arguments say."""
        self.whole, self._held = whole, [name for name in whole.cuts if name in set(holds)]
        self.time, self.steps = time, steps
        done = len(self._pending) - actions
        for _, _, action in self._pending[:done]:
            if isinstance(action, Steer):
                self._controller = action.controller
        self._pending = self._pending[done:]
        self._begun = True
        self._mount(self._variant(whole), self.bench.q, self.bench.v)
        self.bench.resume(numbers["vector"], numbers["before"], numbers["gauges"], numbers["tau"])
        self._margins[:] = numbers["margins"]
        self._driver.resume(numbers)

    # ------------------------------------------------------------------ what goes wrong

    def require_closed(self, gap: float) -> None:
        """Raise if the loops could not be closed."""
        if not gap <= ro.WIDEST_GAP:
            raise SimulationError(
                f"the loops cannot be closed, they stay open by {gap:.3g} m or rad; take shorter steps",
                self.time,
                self.steps,
            )

    def fail(self, status: int) -> NoReturn:
        """Raise what a status of the kernels stands for."""
        if status == ro.NOT_FINITE:
            joint = self.model.velocity_names[int(self.bench.broken)]
            raise SimulationError(
                f"the acceleration of {joint!r} is not finite; take shorter steps, or look at what drives it",
                self.time,
                self.steps,
                joint,
            )
        if status == ro.OPEN:
            self.require_closed(self.bench.widest_gap)
        try:
            self.bench.check(status)
        except MultiArmError as error:
            raise SimulationError(str(error), self.time, self.steps) from error
        raise SimulationError(f"a kernel returned {status}", self.time, self.steps)

    def fail_step(self, message: str) -> NoReturn:
        """Raise what an adaptive method says."""
        raise SimulationError(f"{self.method}: {message}", self.time, self.steps)


MESSAGES = {"slip": "friction limit reached", "limit": "end of its range reached", "singularity": "near a singularity"}
