"""What is watched during a run, and what follows when a margin is gone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from multiarm.errors import BadInputError, UnknownNameError
from multiarm.kinematics import jacobian
from multiarm.model import Model
from multiarm.simulation.bench import Bench
from multiarm.state import State

__all__ = ["CONSEQUENCES", "Lookout", "Watch", "near_singularity"]

CONSEQUENCES = ("report", "stop", "release")


@dataclass(frozen=True)
class Watch:
    """A margin of one's own: `margin(t, state)` going from not negative to negative is an event.

    Attributes
    ----------
    kind, subject : str
        What the event is called and whom it concerns.
    then : str
        "report", "stop", or "release" (of the grasp or cut joint `subject`).
    """

    kind: str
    subject: str
    margin: Callable[[float, State], float]
    then: str = "report"

    def __post_init__(self) -> None:
        if self.then not in CONSEQUENCES:
            raise UnknownNameError("consequence", self.then, CONSEQUENCES)


def near_singularity(model: Model, arm: str, least: float = 0.02, then: str = "report") -> Watch:
    """Watch for the smallest singular value of an arm's Jacobian at its tip (a length of 1 m) going below `least`."""
    columns = model.v_slice(arm)
    if not least > 0.0:
        raise BadInputError(f"the least singular value of {arm!r} must be positive, not {least}")

    def margin(t: float, state: State) -> float:
        own = jacobian(state.model, state, f"{arm}/tip")[:, columns]
        return float(np.linalg.svd(own, compute_uv=False).min() - least)

    return Watch("singularity", arm, margin, then)


def _consequences(what: str, then: str | Mapping[str, str], subjects: list[str]) -> dict[str, str]:
    """What follows for every subject, from one word for all or words by name."""
    by_name = (
        dict.fromkeys(subjects, "report") | dict(then) if isinstance(then, Mapping) else dict.fromkeys(subjects, then)
    )
    for name, word in by_name.items():
        if name not in subjects:
            raise UnknownNameError(f"subject of {what}", name, subjects)
        if word not in (*CONSEQUENCES, "ignore"):
            raise UnknownNameError(f"consequence of {what}", word, (*CONSEQUENCES, "ignore"))
    return by_name


class Lookout:
    """Everything that is watched in a run: the gauges of its bench, then watches of one's own."""

    def __init__(
        self,
        model: Model,
        on_slip: str | Mapping[str, str],
        on_limit: str | Mapping[str, str],
        watches: tuple[Watch, ...],
    ) -> None:
        self.watches = watches
        self.before = np.full(len(watches), np.nan)  # margins of one's own at the last look
        self._then = {
            "slip": _consequences("on_slip", on_slip, list(model.grasps)),
            "limit": _consequences("on_limit", on_limit, list(model.joints)),
        }

    def margins(self, bench: Bench, t: float) -> np.ndarray:
        """All margins now."""
        return np.concatenate([bench.margins, [float(watch.margin(t, bench.state)) for watch in self.watches]])

    def crossed(self, bench: Bench, t: float) -> list[int]:
        """Margins that were there at the last look and are gone now, without those to be ignored."""
        now = self.margins(bench, t)
        before = np.concatenate([bench.plant.gauges[0], self.before])
        self.before[:] = now[len(bench.gauges) :]
        gone = np.flatnonzero((before >= 0.0) & (now < 0.0))
        return [i for i in gone.tolist() if self.meaning(bench, i)[2] != "ignore"]

    def meaning(self, bench: Bench, i: int) -> tuple[str, str, str]:
        """Kind, subject and consequence of a margin."""
        if i < len(bench.gauges):
            gauge = bench.gauges[i]
            return gauge.kind, gauge.subject, self._then[gauge.kind].get(gauge.subject, "report")
        watch = self.watches[i - len(bench.gauges)]
        return watch.kind, watch.subject, watch.then
