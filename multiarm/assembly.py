"""Closing the loops: from a rough guess to a state on the constraints, and back onto them by the least change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import solve_triangular

from multiarm.constraints import Constraints, constraints
from multiarm.cut_coordinates import Excess, beyond_limits
from multiarm.dynamics import mass_factor
from multiarm.errors import BadInputError, OpenLoopError
from multiarm.kinematics import kinematics
from multiarm.manifold import advance
from multiarm.model import Model
from multiarm.state import State

__all__ = ["assemble", "grasped", "project"]

CLOSED, NEARLY_CLOSED = 1e-12, 1e-9  # m and rad: where steps stop, and what is good enough if they stop earlier
STEPS = 100
LONGEST_STEP = 0.5  # rad or m: beyond it the linear step means nothing
RANK_TOLERANCE = 1e-9


def assemble(
    model: Model,
    guess: State | ArrayLike | Mapping[str, ArrayLike] | None = None,
    hold: Iterable[str] = (),
    v: ArrayLike | Mapping[str, ArrayLike] | None = None,
) -> State:
    """Close every loop, starting from `guess`, by Gauss-Newton steps of least length.

    Parameters
    ----------
    model : Model
        What to assemble. Grasps without a place on their object (`at=None`) take hold where the tip is in the guess;
        the state then belongs to the completed model, `state.model`, and the functions that close loops use that.
    guess : State, array or mapping
        Coordinates to start from, whole or by arm, joint or free body; the rest neutral. The limits of joints are
        respected, those of cut joints too. A screw closes with the number of turns that its advance in the guess tells.
    hold : names
        Arms, joints or free bodies that must stay where the guess puts them, even beyond their limits.
    v : array or mapping, optional
        Velocities, brought onto the constraints by the smallest change in the mass metric; zero by default.

    Returns
    -------
    State

    Raises
    ------
    OpenLoopError
        The loops cannot be closed from there; names the widest gap, or the cut joint that would leave its limits.
    """
    state = guess if isinstance(guess, State) else model.state(q=guess)
    movable = np.ones(model.nv, bool)
    if not isinstance(hold, Iterable):
        raise BadInputError(f"hold must be names of arms, joints or free bodies, not {hold!r}")
    for name in [hold] if isinstance(hold, str) else hold:
        movable[model.v_slice(name)] = False
    q = _inside(model, np.array(model.own(state).q), movable)
    model = grasped(model, model.state(q=q))
    q = _within_cut_limits(model, q, _close(model, q, movable), movable)
    return model.state(q=q) if v is None else _onto_velocities(model, model.state(q=q, v=v))


@dataclass(frozen=True, eq=False)
class _Trial:
    """Coordinates on the way, and how far they are from closing the loops with every cut joint within its limits."""

    q: np.ndarray
    rows: Constraints
    beyond: tuple[Excess, ...]

    @cached_property
    def gap(self) -> np.ndarray:
        return np.concatenate([self.rows.gap, [excess.amount for excess in self.beyond]])

    @cached_property
    def jacobian(self) -> np.ndarray:
        return np.vstack([self.rows.gap_jacobian, *(excess.rate for excess in self.beyond)])

    @cached_property
    def size(self) -> float:
        return float(np.linalg.norm(self.gap))


def _close(model: Model, q: np.ndarray, movable: np.ndarray, limited: bool = False) -> _Trial:
    """Gauss-Newton steps from q, shortened until each one helps; limits of cut joints only if `limited`."""

    def at(q: np.ndarray) -> _Trial:
        state = model.state(q=q)
        return _Trial(q, constraints(model, state), tuple(beyond_limits(model, state)) if limited else ())

    here = at(q)
    for _ in range(STEPS):
        if here.size <= CLOSED:
            break
        step = _closing_step(model, here, movable)
        for shrink in 0.5 ** np.arange(30):
            trial = at(_inside(model, advance(model, here.q, shrink * step), movable))
            if trial.size < here.size:
                break
        else:
            break
        here = trial
    return here


def _within_cut_limits(model: Model, start: np.ndarray, closed: _Trial, movable: np.ndarray) -> np.ndarray:
    """Coordinates that close the loops with every cut joint within its limits, or the error that says why not."""
    if closed.size > NEARLY_CLOSED:
        gaps = _gaps(closed.rows)
        name = max(gaps, key=lambda name: gaps[name])
        raise OpenLoopError(
            f"the loop of {name!r} cannot be closed from this guess: it stays open by {gaps[name]:.3g} m or rad; "
            f"try another guess, hold less, or look at the joint limits",
            gaps,
        )
    beyond = beyond_limits(model, model.state(q=closed.q))
    if not beyond:
        return closed.q
    for q in (closed.q, start):
        limited = _close(model, q, movable, limited=True)
        if limited.size <= NEARLY_CLOSED:
            return limited.q
    worst = max(beyond, key=lambda excess: abs(excess.amount))
    side = "upper" if worst.amount > 0.0 else "lower"
    raise OpenLoopError(
        f"from this guess the loops close only with cut joint {worst.joint!r} at {worst.value:.6g}, beyond its {side} "
        f"limit {worst.limit:g} (m or rad); try another guess or hold less",
        {excess.joint: abs(excess.amount) for excess in beyond},
    )


def grasped(model: Model, state: State, names: Iterable[str] | None = None) -> Model:
    """The model in which every grasp without a place on its object (`at=None`) holds it where the tip is in `state`.

    With `names`, only those of them.

    The contact frame is then the tip's frame: its z axis is the inward normal of a soft finger or a point, and the free
    axis of a revolute grasp.
    """
    chosen = [name for name in model.open_grasps if names is None or name in set(names)]
    if not chosen:
        return model
    kin = kinematics(model, state)
    grasps, cuts = dict(model.grasps), dict(model.cuts)
    for name in chosen:
        grasp, cut = grasps[name], cuts[name]  # a grasp without a place is always cut
        at = kin.pose(grasp.body).inv() * kin.pose(grasp.tip)
        grasps[name] = replace(grasp, at=at)
        cuts[name] = replace(cut, child=replace(cut.child, pose=at), grasp=grasps[name])
    return replace(model, grasps=grasps, cuts=cuts)


def project(model: Model, state: State) -> State:
    """`state` brought onto the constraints by steps that are the least in the mass metric, then its velocities.

    For a state close to the constraints that is the nearest one on them; joint limits are not looked at.
    """
    model = model.complete(state)
    q = np.array(state.q)
    rows = constraints(model, state)
    for _ in range(STEPS):
        if _size(rows) <= CLOSED:
            break
        step = _least_change(mass_factor(model, model.state(q=q)), rows.gap_jacobian, -rows.gap)
        q = advance(model, q, step)
        before, rows = _size(rows), constraints(model, model.state(q=q))
        if _size(rows) >= before:
            break
    if _size(rows) > NEARLY_CLOSED:
        gaps = _gaps(rows)
        worst = max(gaps, key=lambda name: gaps[name])
        raise OpenLoopError(
            f"{worst!r} stays open by {gaps[worst]:.3g} m or rad; use assemble with a better guess", gaps
        )
    return _onto_velocities(model, model.state(q=q, v=state.v))


def _onto_velocities(model: Model, state: State) -> State:
    rows = constraints(model, state)
    change = _least_change(mass_factor(model, state), rows.jacobian, -rows.slip)
    return model.state(q=state.q, v=state.v + change)


def _least_change(upper: np.ndarray, jacobian: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """The x of least x* U* U x with J x = wanted, in the least-squares sense where rows are redundant."""
    weighted = solve_triangular(upper, jacobian.T, trans="T").T
    return solve_triangular(upper, np.linalg.lstsq(weighted, wanted, rcond=RANK_TOLERANCE)[0])


def _closing_step(model: Model, here: _Trial, movable: np.ndarray) -> np.ndarray:
    """Least-length step that closes the gaps to first order; coordinates that would leave their limits are held."""
    moving = movable.copy()
    lower, upper = _slack(model, here.q)
    step = np.zeros(model.nv)
    for _ in range(model.nv + 1):
        step[:] = 0.0
        step[moving] = np.linalg.lstsq(here.jacobian[:, moving], -here.gap, rcond=RANK_TOLERANCE)[0]
        blocked = moving & (((lower >= 0.0) & (step < 0.0)) | ((upper <= 0.0) & (step > 0.0)))
        if not blocked.any():
            break
        moving &= ~blocked
    longest = np.abs(step).max(initial=0.0)
    return step * min(1.0, LONGEST_STEP / longest) if longest > 0.0 else step


def _slack(model: Model, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Per velocity: lower limit less q (not negative where the limit is reached) and upper limit less q."""
    lower, upper = np.full(model.nv, -np.inf), np.full(model.nv, np.inf)
    for place in model.joints.values():
        if place.q.stop - place.q.start == place.v.stop - place.v.start:
            lower[place.v], upper[place.v] = model.lower[place.q] - q[place.q], model.upper[place.q] - q[place.q]
    return lower, upper


def _inside(model: Model, q: np.ndarray, movable: np.ndarray) -> np.ndarray:
    """q with movable coordinates brought inside their limits."""
    for place in model.joints.values():
        if movable[place.v].all() and place.q.stop - place.q.start == place.v.stop - place.v.start:
            q[place.q] = np.clip(q[place.q], model.lower[place.q], model.upper[place.q])
    return q


def _size(rows: Constraints) -> float:
    return float(np.linalg.norm(rows.gap))


def _gaps(rows: Constraints) -> dict[str, float]:
    gaps: dict[str, float] = dict.fromkeys(rows.gap_names, 0.0)
    for name, gap in zip(rows.gap_names, rows.gap, strict=True):
        gaps[name] = max(gaps[name], abs(float(gap)))
    return gaps
