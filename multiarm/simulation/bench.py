"""A model on the bench: the tables that the kernels of a run share, and the state they move."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from multiarm.elements import Elements
from multiarm.errors import BadInputError
from multiarm.model import Model
from multiarm.prepared import compiled
from multiarm.slip import friction_table
from multiarm.state import State
from multiarm.sweeps import element_layout as el
from multiarm.sweeps import layout as at
from multiarm.sweeps import loop_layout as lo
from multiarm.sweeps import manifold as mf
from multiarm.sweeps import observing as ob
from multiarm.sweeps import rollout as ro
from multiarm.sweeps import stepping as st
from multiarm.sweeps.slip import MARGIN_COLUMNS
from multiarm.workspace import External, Workspace, raise_for_status

__all__ = ["Bench", "CompiledController", "moves_of"]


# Where branches of motion cross, rounding (1e-16) of the positions parts them by its root: closer to the crossing than a
# hundred times that, rows that depend on each other there are noise, and a step passes over it without them.
DIGITS = 6

LOOK, SETTLE, RATES = (np.array([task, 0, 0, 0, 0, 0], np.int64) for task in (ro.LOOK, ro.SETTLE, ro.RATES))


class CompiledController(Protocol):
    """A controller that compiled code can run: numbers for ``multiarm.sweeps.control``."""

    model: Model
    desk_size: int

    def on(self, model: Model) -> CompiledController:
        """The same controller for a variant of its model, in which other grasps hold."""

    def packed(self) -> tuple[np.ndarray, np.ndarray]:
        """Its tables of floats and integers."""


def moves_of(model: Model) -> np.ndarray:
    """How the coordinates of a model follow its velocities, as `sweeps.manifold` takes it."""
    rows = []
    for place in model.joints.values():
        q, v, count = place.q.start, place.v.start, place.v.stop - place.v.start
        if place.joint.kind == "spherical":
            rows.append((mf.TURNED_IN_CHILD, q, v, 3))
        elif place.joint.kind == "free":
            rows += [(mf.TURNED_IN_PARENT, q, v, 3), (mf.ADDED, q + 4, v + 3, 3)]
        else:
            rows.append((mf.ADDED, q, v, count))
    return np.array(rows, np.int64).reshape(-1, mf.MOVE_COLUMNS)


@dataclass(frozen=True)
class Gauge:
    """A margin that the kernels watch: kind "limit" of a joint or "slip" of a grasp."""

    kind: str
    subject: str


class Bench:
    """Everything compiled code needs to move one model, and the calls that move it.

    Attributes
    ----------
    q, v, tau, a : array
        Where it is, how fast, what drives it, and how it accelerates at the last look; written by the calls.
    gauges : tuple of Gauge
        What the entries of `margins` stand for.
    """

    def __init__(
        self,
        model: Model,
        state: State,
        elements: Elements | None = None,
        controller: CompiledController | None = None,
        pushed: bool = False,
    ) -> None:
        calls = compiled(model)
        self.model = model
        self.breaks = () if elements is None else elements.breaks
        self.q, self.v = np.array(state.q), np.array(state.v)
        self.tau, self.a = np.zeros(model.nv), np.zeros(model.nv)
        self._elements = elements
        self._moves = moves_of(model)
        self.loops = calls.loops
        self.loops.loop[0, lo.DIGITS] = DIGITS
        limited = [
            (name, place.q.start, model.lower[place.q.start], model.upper[place.q.start])
            for name, place in model.joints.items()
            if place.q.stop - place.q.start == 1
            and np.isfinite([model.lower[place.q.start], model.upper[place.q.start]]).any()
        ]
        cuts = self.loops.names
        self.gauges = (*(Gauge("limit", row[0]) for row in limited), *(Gauge("slip", name) for name in cuts))
        self._report = np.zeros(4)
        self._sample = np.zeros((1, self.sample_width))
        self._vectors = np.zeros((2, model.nq + model.nv + 3))
        none = (np.zeros((0, 1)), np.zeros((0, 1), np.int64))
        element_numbers, element_whole = none if elements is None or not len(elements) else elements.pack()
        numbers, whole = (np.zeros(1), np.zeros(1, np.int64)) if controller is None else controller.packed()
        self.plant = st.Plant(
            tree=calls.tree,
            link=calls.link,
            loop=self.loops.loop,
            cut=self.loops.cut,
            room=self.loops.room,
            moves=self._moves,
            push=np.zeros((len(calls.link) if pushed else 0, 6)),
            element_numbers=element_numbers,
            element_whole=element_whole,
            control_numbers=numbers,
            control_whole=whole,
            control_desk=np.zeros(1 if controller is None else max(1, controller.desk_size)),
            friction=friction_table(model, cuts),
            margins=np.full((len(cuts), MARGIN_COLUMNS), np.inf),
            limits=np.array([row[1:] for row in limited], float).reshape(-1, 3),
            gauges=np.full((2, len(self.gauges)), np.nan),
            ledger=np.zeros((2, 3)),
            sums=np.zeros(11),
            desk=np.zeros((st.DESK_ROWS, max(model.nq, 1))),
        )

    @property
    def sample_width(self) -> int:
        """Numbers in a sample."""
        return ob.NUMBERS + self.model.nq + 3 * self.model.nv + ob.PER_CUT * len(self.loops.names)

    @property
    def state(self) -> State:
        """Where the model is."""
        return self.model.state(q=self.q, v=self.v)

    @property
    def margins(self) -> np.ndarray:
        """The margins at the last look, in the order of `gauges`."""
        return self.plant.gauges[1]

    def push(self, external: External | None) -> None:
        """Wrenches on bodies, held until the next call."""
        workspace = Workspace(self.model)
        workspace.locate(self.q, self.v)
        workspace.push(external)
        self.plant.push[:] = workspace.link[:, at.EXTERNAL : at.EXTERNAL + 6]

    def roll(
        self, method: int, origin: float, first: int, h: float, steps: int, projected: bool,
        samples: np.ndarray | None = None, every: int = 0, watched: bool = False,
    ) -> tuple[int, int, int]:  # fmt: skip
        """Steps of h; returns why it came back, how many steps and how many samples it made."""
        orders = np.array([ro.ROLL, method, projected, first, every, watched], np.int64)
        status = self._operate(orders, origin, self._sample if samples is None else samples, h, steps)
        return status, int(self._report[ro.STEPS]), int(self._report[ro.SAMPLES])

    def look(self, t: float) -> np.ndarray:
        """Everything about the present state, as a sample."""
        self.check(self._operate(LOOK, t, self._sample))
        return self._sample[0].copy()

    def settle(self) -> float:
        """Bring the state onto the constraints; returns the gap that is left."""
        self.check(self._operate(SETTLE, 0.0, self._sample))
        return float(self._report[ro.GAP])

    def rates(self, t: float, y: np.ndarray) -> np.ndarray:
        """dy/dt of y = [q; v; ledger]."""
        self._vectors[0] = y
        self.check(self._operate(RATES, t, self._vectors))
        return self._vectors[1].copy()

    def _operate(self, orders: np.ndarray, t: float, table: np.ndarray, h: float = 0.0, steps: int = 0) -> int:
        return ro.operate(
            self.plant, orders, float(t), float(h), steps, self.q, self.v, self.tau, self.a, table, self._report
        )

    def vector(self) -> np.ndarray:
        """[q; v; ledger]."""
        return np.concatenate([self.q, self.v, self.plant.ledger[0]])

    def before(self) -> np.ndarray:
        """The same before the last step of `roll`."""
        desk = self.plant.desk
        return np.concatenate(
            [desk[st.BEFORE_Q, : self.model.nq], desk[st.BEFORE_V, : self.model.nv], self.plant.ledger[1]]
        )

    def resume(self, vector: np.ndarray, before: np.ndarray, gauges: np.ndarray, tau: np.ndarray) -> None:
        """Be where another bench was, to the last bit."""
        nq, nv, plant = self.model.nq, self.model.nv, self.plant
        self.q[:], self.v[:], plant.ledger[0] = vector[:nq], vector[nq : nq + nv], vector[nq + nv :]
        plant.desk[st.BEFORE_Q, :nq], plant.desk[st.BEFORE_V, :nv] = before[:nq], before[nq : nq + nv]
        plant.ledger[1] = before[nq + nv :]
        plant.gauges[:], self.tau[:] = gauges, tau

    def put(self, y: np.ndarray) -> None:
        """The state that [q; v; ledger] stands for, quaternions made unit."""
        nq, nv = self.model.nq, self.model.nv
        self.q[:], self.v[:], self.plant.ledger[0] = y[:nq], y[nq : nq + nv], y[nq + nv :]
        for how, first, _, _ in self._moves:
            if how != mf.ADDED:
                self.q[first : first + 4] /= np.linalg.norm(self.q[first : first + 4])

    @property
    def widest_gap(self) -> float:
        """What was left open at most in the last `roll` [m or rad]."""
        return float(self._report[ro.GAP])

    @property
    def broken(self) -> int:
        """The first velocity whose acceleration was not finite in the last `roll`."""
        return int(self._report[ro.BROKEN])

    def saturate(self, limits: np.ndarray) -> None:
        """Cut the torques off at +-limits."""
        np.clip(self.tau, -limits, limits, out=self.tau)

    def check(self, status: int) -> None:
        """Raise what a status of the dynamics or of the elements stands for."""
        if status <= el.ENDS_MEET and self._elements is not None:
            self._elements.check(status)
        if 0 < status < ro.CROSSED or status == at.WRONG_LENGTH:
            raise_for_status(self.model, self.plant.link, status)
        if status == ro.NOT_FINITE:
            raise BadInputError("accelerations are not finite")
        if status == ro.UNSTEERED:
            raise BadInputError(
                "the controller finds no torques: the mass matrix is not positive, or q or v is not finite"
            )

    def impulse(self, name: str) -> np.ndarray:
        """[angular; linear] impulse of a cut on its child after `settle`, at the child-side frame, world axes."""
        place = self.loops.names.index(name)
        count = self.loops.rows[place].stop - self.loops.rows[place].start
        return np.asarray(self.loops.normals(name).T @ self.loops.cut[place, lo.LAMBDA : lo.LAMBDA + count])
