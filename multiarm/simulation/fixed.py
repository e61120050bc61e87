"""Steps of fixed length, in compiled code as far as nothing of Python has to be asked in between."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from multiarm.simulation.locating import first_moment
from multiarm.sweeps import rollout as ro
from multiarm.sweeps import stepping as st

if TYPE_CHECKING:
    from multiarm.simulation.simulation import Simulation

__all__ = ["METHODS", "FixedSteps"]

METHODS = {"euler": st.EULER, "rk4": st.RK4}


class FixedSteps:
    """Moves a simulation from grid point to grid point; shorter steps lead to and from times off the grid."""

    def __init__(self, simulation: Simulation, method: str) -> None:
        self.run, self._method = simulation, METHODS[method]
        self._last = (0.0, 0.0)  # where the last step started and how long it was
        self._tau = np.zeros(simulation.model.nv)  # what drove it

    def advance(self, stop: float) -> None:
        """Go on to the time `stop`, or to the first event that changes or ends the run."""
        run, changes = self.run, self.run.changes
        while run.stopped is None and run.changes == changes and run.time < stop - run.tiny:
            on_grid = abs(run.time - run.grid(run.steps)) <= run.tiny
            whole = int((stop - run.time) / run.dt + 1e-9) if on_grid else 0
            if whole > 0:
                self._whole_steps(1 if run.asks_python else min(whole, run.patience))
            else:
                grid = run.grid(run.steps + 1)
                self._short_step(min(stop, grid) - run.time, grid <= stop + run.tiny)

    def _whole_steps(self, steps: int) -> None:
        run, recorder, first = self.run, self.run.recorder, self.run.steps
        run.drive()
        room, every = (None, 0) if recorder is None else (recorder.room, recorder.every)
        watched = bool(run.bench.gauges)
        status, done, made = run.bench.roll(
            self._method, run.origin, first, run.dt, steps, run.projected, room, every, watched
        )
        if done > 0:
            self._keep(run.grid(first + done - 1), run.dt)
        run.steps, run.time = first + done, run.grid(first + done)
        if recorder is not None:
            recorder.took(made, first)
        self._respond(status)

    def _short_step(self, h: float, reaches_grid: bool) -> None:
        run, start = self.run, self.run.time
        run.drive()
        status, done, _ = run.bench.roll(self._method, start, 0, h, 1, run.projected, watched=bool(run.bench.gauges))
        if done:
            self._keep(start, h)
            run.steps += reaches_grid
            run.time = run.grid(run.steps) if reaches_grid else start + h
        self._respond(status)

    def numbers(self) -> dict[str, np.ndarray]:
        """What must be known to go on later."""
        return {"last": np.array(self._last), "last_tau": self._tau}

    def resume(self, numbers: dict[str, np.ndarray]) -> None:
        """Go on from `numbers`."""
        self._last = (float(numbers["last"][0]), float(numbers["last"][1]))
        self._tau[:] = numbers["last_tau"]

    def _keep(self, start: float, h: float) -> None:
        self._last = (start, h)
        self._tau[:] = self.run.bench.tau

    def _respond(self, status: int) -> None:
        """To why the kernel came back."""
        run, bench = self.run, self.run.bench
        if status == ro.FULL and run.recorder is not None:
            run.recorder.flush()
        elif status not in (ro.DONE, ro.CROSSED):
            run.fail(status)
        if status == ro.DONE and run.asks_python:
            if not run.projected:
                run.return_to_constraints()
            bench.look(run.time)
        crossed = run.crossed() if status == ro.CROSSED or run.asks_python else []
        if crossed:
            self._locate(crossed)
        else:
            run.tick()

    def _locate(self, crossed: list[int]) -> None:
        """Back into the last step, to the moment at which a margin is gone."""
        run, bench = self.run, self.run.bench
        start, h = self._last
        tau, kept = self._tau.copy(), bench.before()

        def after(s: float) -> None:
            bench.put(kept)
            bench.tau[:] = tau
            if s > 0.0:
                bench.check(bench.roll(self._method, start, 0, s, 1, run.projected)[0])
            run.time = start + s
            if not run.projected:
                run.return_to_constraints()
            bench.look(run.time)

        first_moment(after, lambda: run.least_margin(crossed), h)
        if abs(run.time - run.grid(run.steps)) > run.tiny:  # the step that led here is not complete
            run.steps = int(np.floor((run.time - run.origin) / run.dt + 1e-9))
        run.happened(crossed)
