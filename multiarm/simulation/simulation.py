"""A run: a model that moves in time, what drives it, what changes it, and what happens on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np

from multiarm.assembly import grasped
from multiarm.closed_chain import require_closed
from multiarm.constraints import constraints
from multiarm.elements import Elements
from multiarm.errors import BadInputError, MultiArmError, SimulationError, UnknownNameError
from multiarm.model import Model
from multiarm.paths import JointPath
from multiarm.simulation import adaptive, fixed
from multiarm.simulation.actions import Action, HandOver, Hold, Payload, Release, Steer, Stop, check_action
from multiarm.simulation.bench import Bench, CompiledController
from multiarm.simulation.partition import Partition
from multiarm.simulation.recording import Recorder
from multiarm.simulation.steering import Controller, Outside, Steering
from multiarm.simulation.variants import check_laws, following, holding, require_at_beginning, with_payload
from multiarm.simulation.watching import Lookout, Watch
from multiarm.state import State
from multiarm.sweeps import rollout as ro
from multiarm.sweeps.observing import KINETIC
from multiarm.trajectory import Event

__all__ = ["Simulation"]

DRIFTS = ("project", "baumgarte", "coordinates", "none")
METHODS = (*fixed.METHODS, *adaptive.METHODS)
MESSAGES = {"slip": "friction limit reached", "limit": "end of its range reached", "singularity": "near a singularity"}
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
        mass metric; "coordinates": independent coordinates and velocities are integrated and the others follow from
        them; "baumgarte": accelerations drive gaps and slip back, J a = gamma - 2 rate J v - rate^2 gap; "none".
    rate : float, optional
        Of Baumgarte's stabilisation [1/s]; 0.1 / dt by default.
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
    prescribed : mapping, optional
        Joint with one coordinate -> `JointPath` that it follows exactly, whatever torque that takes (it is recorded as
        the joint's tau); ``paths.joint_law`` makes one of a law of time. The run starts from where the paths begin.
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
        self._partition = Partition() if drift == "coordinates" else None
        self._rate = (0.1 / self.dt if rate is None else float(rate)) if drift == "baumgarte" else 0.0
        if not self._rate >= 0.0:
            raise BadInputError(f"the rate of stabilisation must not be negative, but is {rate}")
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
        self._elements = tuple(elements)
        self._laws = dict(prescribed or {})
        check_laws(self.whole, self._laws)
        let_go = set(released)
        for name in let_go:
            if name not in self.whole.cuts:
                raise UnknownNameError("cut joint or grasp", name, self.whole.cuts)
        self._held = [name for name in self.whole.cuts if name not in let_go]
        self._lookout = Lookout(self.whole, on_slip, on_limit, (watch,) if isinstance(watch, Watch) else tuple(watch))
        self._steering = Steering(controller, external, self.whole.effort_limit if saturate else None)
        self._pending = sorted(((float(t), i, action) for i, (t, action) in enumerate(actions)), key=lambda x: x[:2])
        for _, _, action in self._pending:
            check_action(self.whole, action)
        variant = self._variant(self.whole)
        require_closed(constraints(variant, variant.state(q=state.q, v=state.v)))
        self._mount(variant, np.array(state.q), np.array(state.v))
        if self._laws:
            require_at_beginning(self.model, self._laws, self.bench.q, self.time)
            self.require_closed(self.bench.settle(self.time))
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
        self.happened(np.flatnonzero(self._lookout.margins(self.bench, self.time) < 0.0).tolist())
        self.crossed()

    def _breaks(self) -> list[float]:
        return [t for t, _, _ in self._pending] + list(self.bench.breaks)

    @property
    def asks_python(self) -> bool:
        """Whether every step has to ask something that is not compiled."""
        return self._driven.asks_python or bool(self._lookout.watches) or self._partition is not None

    def return_to_constraints(self) -> None:
        """Undo drift where kernels have not done so."""
        if self.projected:
            self.require_closed(self.bench.settle(self.time))
        elif self._partition is not None:
            self.require_closed(self._partition.correct(self.bench))

    def drive(self) -> None:
        """Torques and wrenches from those who are not compiled."""
        self._driven.drive(self.bench, self.time, self.steps)

    def tick(self) -> None:
        """Tell how far the run is; between two steps, so that it can be resumed from here."""
        if self.recorder is not None:
            self.recorder.settle()
        if self.progress is not None:
            self.progress(self.time)

    # ------------------------------------------------------------------ what is watched

    def least_margin(self, which: list[int]) -> float:
        """The smallest of some margins now."""
        return float(self._lookout.margins(self.bench, self.time)[which].min())

    def crossed(self) -> list[int]:
        """Margins that were there at the last look and are gone now."""
        return self._lookout.crossed(self.bench, self.time)

    def happened(self, which: Iterable[int]) -> None:
        """Report margins that are gone, and do what follows."""
        margins = self._lookout.margins(self.bench, self.time)
        follow = []
        for i in which:
            kind, subject, word = self._lookout.meaning(self.bench, i)
            if margins[i] < 0.0 and word != "ignore":
                self._report(kind, subject, MESSAGES.get(kind, "margin gone"), margin=float(margins[i]))
                follow.append((word, kind, subject))
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

    def _act_now(self) -> None:
        while self._pending and self._pending[0][0] <= self.time + self.tiny and self.stopped is None:
            self.act(self._pending.pop(0)[2])

    def act(self, action: Action) -> None:
        """Change the mechanism now."""
        check_action(self.whole, action)
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
        self._steering = replace(self._steering, controller=controller)
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
        if name in self.whole.open_grasps:
            self.whole = grasped(self.whole, here, (name,))
        self._held = [other for other in self.whole.cuts if other in self._held or other == name]
        kinetic = self.bench.look(self.time)[KINETIC]
        self._remount()
        parts = constraints(self.model, self.state).cuts
        gap = max(float(np.abs(part.gap).max(initial=0.0)) for part in parts if part.cut.name == name)
        if gap > tolerance:
            message = f"{name!r} cannot take hold: its two sides are {gap:.3g} m or rad apart, more than {tolerance:g}"
            raise SimulationError(message, self.time, self.steps)
        self.require_closed(self.bench.settle(self.time))
        data = {"gap": gap, "impulse": self.bench.impulse(name).tolist()}
        data["largest_jump"] = float(np.abs(self.bench.v - here.v).max(initial=0.0))
        data["energy_lost"] = float(kinetic - self.bench.look(self.time)[KINETIC])
        self.bench.plant.ledger[:, 1] += data["energy_lost"]
        self._report("hold", name, "takes hold", **data)

    def _remount(self) -> None:
        self._mount(self._variant(self.whole), self.bench.q, self.bench.v, self.bench.plant.ledger)
        self.changes += 1

    def _mount(self, model: Model, q: np.ndarray, v: np.ndarray, ledger: np.ndarray | None = None) -> None:
        """The bench for a variant of the model."""
        if self.recorder is not None:
            self.recorder.flush()
        steering = self._steering.on(model, self.time, self.steps)
        elements = Elements(model, self._elements) if self._elements else None
        self.bench = Bench(
            following(model, self._laws), model.state(q=q, v=v), elements, steering.compiled,
            steering.external is not None, self._laws,
        )  # fmt: skip
        self.bench.stabilise(self._rate)
        self._driven = steering
        if ledger is not None:
            self.bench.plant.ledger[:] = ledger
        if self.recorder is not None:
            self.recorder.mount(self.bench)

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
            "margins": self._lookout.before, **self._driver.numbers(),
        }  # fmt: skip

    def go_on(
        self, whole: Model, time: float, steps: int, actions: int, holds: Iterable[str], numbers: dict[str, np.ndarray]
    ) -> None:
        """Continue from what `numbers` and the other arguments say."""
        self.whole, self._held = whole, [name for name in whole.cuts if name in set(holds)]
        self.time, self.steps, done = time, steps, len(self._pending) - actions
        for controller in [action.controller for _, _, action in self._pending[:done] if isinstance(action, Steer)]:
            self._steering = replace(self._steering, controller=controller)
        self._pending = self._pending[done:]
        self._begun = True
        self._mount(self._variant(whole), self.bench.q, self.bench.v)
        self.bench.resume(numbers["vector"], numbers["before"], numbers["gauges"], numbers["tau"])
        self._lookout.before[:] = numbers["margins"]
        self._driver.resume(numbers)

    # ------------------------------------------------------------------ what goes wrong

    def require_closed(self, gap: float) -> None:
        """Raise if the loops could not be closed."""
        if not gap <= ro.WIDEST_GAP:
            message = f"the loops cannot be closed, they stay open by {gap:.3g} m or rad; take shorter steps"
            raise SimulationError(message, self.time, self.steps)

    def fail(self, status: int) -> NoReturn:
        """Raise what a status of the kernels stands for."""
        if status == ro.OPEN:
            self.require_closed(self.bench.gap)
        joint = self.model.velocity_names[self.bench.broken] if status == ro.NOT_FINITE else None
        message = "a kernel failed"
        try:
            self.bench.check(status)
        except MultiArmError as error:
            message = (
                f"{error}" if joint is None else f"the acceleration of {joint!r} is not finite; take shorter steps"
            )
        raise SimulationError(message, self.time, self.steps, joint)
