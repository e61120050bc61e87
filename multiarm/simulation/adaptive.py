"""SciPy's integrators with adaptive steps, on the vector [q; v; ledger]; each step ends on the constraints."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.integrate import DOP853, Radau

from multiarm.errors import SimulationError
from multiarm.simulation.locating import first_moment

if TYPE_CHECKING:
    from multiarm.simulation.simulation import Simulation

__all__ = ["METHODS", "AdaptiveSteps"]

METHODS: dict[str, Any] = {"dop853": DOP853, "radau": Radau}

Between = Callable[[float], np.ndarray]


class AdaptiveSteps:
    """Moves a simulation by steps as long as the tolerances allow; samples lie on the grid all the same."""

    def __init__(self, simulation: Simulation, method: str) -> None:
        self.run, self._method = simulation, METHODS[method]
        self._due = 0  # number of the next grid point that is sampled

    def numbers(self) -> dict[str, np.ndarray]:
        """What must be known to go on later; the length of the next step is found anew."""
        return {"due": np.array(self._due)}

    def resume(self, numbers: dict[str, np.ndarray]) -> None:
        """Go on from `numbers`."""
        self._due = int(numbers["due"])

    def _put(self, t: float, y: np.ndarray) -> None:
        """The bench at y, on the constraints."""
        run = self.run
        run.time = t
        run.bench.put(y)
        run.return_to_constraints()

    def _rates(self, t: float, y: np.ndarray) -> np.ndarray:
        run = self.run
        if run.asks_python:
            run.time = t
            run.bench.put(y)
            run.drive()
        return run.bench.rates(t, y)

    def advance(self, stop: float) -> None:
        """Go on to the time `stop`, or to the first event that changes or ends the run."""
        run, bench = self.run, self.run.bench
        self._sample(run.time, None)
        solver = self._method(self._rates, run.time, bench.vector(), stop, rtol=run.rtol, atol=run.atol)
        while solver.status == "running":
            start = solver.t
            message = solver.step()
            if solver.status == "failed":
                raise SimulationError(f"{run.method}: {message}", run.time, run.steps)
            between, end, y = solver.dense_output(), solver.t, solver.y
            self._put(end, y)
            bench.look(end)
            run.steps += 1
            crossed = run.crossed()
            if crossed:
                self._locate(crossed, start, end, between)
                return  # what follows starts from here
            self._sample(end, between)
            self._put(end, y)
            solver.y = bench.vector()
            solver.f = self._rates(end, solver.y)
            self._put(end, solver.y)
            bench.look(end)
            run.tick()

    def _locate(self, crossed: list[int], start: float, end: float, between: Between) -> None:
        """Back into the last step, to the moment at which a margin is gone."""
        run, bench = self.run, self.run.bench

        def after(s: float) -> None:
            self._put(start + s, between(start + s))
            bench.look(run.time)

        first_moment(after, lambda: run.least_margin(crossed), end - start)
        moment, here = run.time, bench.vector()
        self._sample(moment, between)
        self._put(moment, here)
        bench.look(moment)
        run.happened(crossed)

    def _sample(self, end: float, between: Between | None) -> None:
        """Samples at the grid points up to `end`; the state is lost where there are any."""
        run, recorder = self.run, self.run.recorder
        if recorder is None:
            return
        while run.grid(self._due) <= end + run.tiny:
            t = run.grid(self._due)
            if t >= run.began - run.tiny:
                if between is not None:
                    self._put(t, between(t))
                recorder.add(run.bench.look(t), run.steps)
            self._due += recorder.every
