"""Closing the loops: from a rough guess to a state on the constraints, and back onto them by the least change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import solve_triangular

from multiarm.constraints import Constraints, constraints
from multiarm.dynamics import mass_factor
from multiarm.errors import BadInputError, OpenLoopError
from multiarm.manifold import advance
from multiarm.model import Model
from multiarm.state import State

__all__ = ["assemble", "project"]

CLOSED = 1e-12  # m and rad
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
        What to assemble.
    guess : State, array or mapping
        Coordinates to start from, whole or by arm, joint or free body; the rest neutral. The limits of joints in the
        tree are respected, those of cut joints are not looked at. A screw closes with the number of turns that its
        advance in the guess tells.
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
        The loops cannot be closed from there; names the widest gap.
    """
    state = guess if isinstance(guess, State) else model.state(q=guess)
    movable = np.ones(model.nv, bool)
    if not isinstance(hold, Iterable):
        raise BadInputError(f"hold must be names of arms, joints or free bodies, not {hold!r}")
    for name in [hold] if isinstance(hold, str) else hold:
        movable[model.v_slice(name)] = False
    q = _inside(model, np.array(model.own(state).q), movable)
    rows = constraints(model, model.state(q=q))
    size = _size(rows)
    for _ in range(STEPS):
        if size <= CLOSED:
            break
        step = _closing_step(model, rows, q, movable)
        for shrink in 0.5 ** np.arange(30):
            trial = _inside(model, advance(model, q, shrink * step), movable)
            moved = constraints(model, model.state(q=trial))
            if _size(moved) < size:
                break
        else:
            break
        q, rows, size = trial, moved, _size(moved)
    if size > 1e-9:
        gaps = _gaps(rows)
        worst = max(gaps, key=lambda name: gaps[name])
        raise OpenLoopError(
            f"the loop of {worst!r} cannot be closed from this guess: it stays open by {gaps[worst]:.3g} m or rad; "
            f"try another guess, hold less, or look at the joint limits",
            gaps,
        )
    return model.state(q=q) if v is None else _onto_velocities(model, model.state(q=q, v=v))


def project(model: Model, state: State) -> State:
    """`state` brought onto the constraints by steps that are the least in the mass metric, then its velocities.

    For a state close to the constraints that is the nearest one on them; joint limits are not looked at.
    """
    q = np.array(model.own(state).q)
    rows = constraints(model, state)
    for _ in range(STEPS):
        if _size(rows) <= CLOSED:
            break
        step = _least_change(mass_factor(model, model.state(q=q)), rows.gap_jacobian, -rows.gap)
        q = advance(model, q, step)
        before, rows = _size(rows), constraints(model, model.state(q=q))
        if _size(rows) >= before:
            break
    if _size(rows) > 1e-9:
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


def _closing_step(model: Model, rows: Constraints, q: np.ndarray, movable: np.ndarray) -> np.ndarray:
    """Least-length step that closes the gaps to first order; coordinates that would leave their limits are held."""
    moving = movable.copy()
    lower, upper = _slack(model, q)
    step = np.zeros(model.nv)
    for _ in range(model.nv + 1):
        step[:] = 0.0
        step[moving] = np.linalg.lstsq(rows.gap_jacobian[:, moving], -rows.gap, rcond=RANK_TOLERANCE)[0]
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
