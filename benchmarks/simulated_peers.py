"""Runs of closed chains in Pinocchio, MuJoCo and multiarm that start at one state and can be asked where they are.

- Pinocchio has no simulator: a loop in Python over ``constraintDynamics`` and ``integrate``, as fast as we could write
  it. Of v2 = v + h a1 / 2 and so on, the sums of RK4 need no more than a1 to a4; what does not change is made before
  the loop, and NumPy writes into arrays that are there (2 % faster with two arms). As users write it, the turn of the
  free body is the mean velocity times h, which is of order 2. Nothing keeps the loops closed.
- MuJoCo: ``mj_step`` with nstep, so Python is asked once; welds as stiff as its time constant allows at steps of 1 ms.
  Everything else as `closed_peers` found it fastest.
- multiarm: a `Simulation` taken over many steps at once, or asked for one step at a time; drift is projected away.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import multiarm as ma
from benchmarks.closed_peers import _mujoco_coordinates, mujoco, mujoco_model, pinocchio_team
from benchmarks.peers import pinocchio
from benchmarks.teams import Team

__all__ = ["METHODS", "Run", "mujoco_run", "our_run", "pinocchio_run", "runs"]

METHODS = ("rk4", "euler")
SOLREF, SOLIMP = (0.002, 1.0), (0.9999, 0.9999, 0.001)  # a weld's time constant [s] and damping, and its impedance


@dataclass(frozen=True)
class Run:
    """A team that moves without torques from its first state, at rest.

    Attributes
    ----------
    reset : callable
        Back to the start.
    go : callable
        So many steps on.
    state : callable
        Where it is, in our conventions: (q, v).
    """

    name: str
    program: str
    method: str
    reset: Callable[[], None]
    go: Callable[[int], None]
    state: Callable[[], tuple[np.ndarray, np.ndarray]]


def our_run(team: Team, method: str, h: float, by_steps: bool = False) -> Run:
    """Ours over many steps in compiled code, or one step at a time from Python."""
    model = team.model
    run = ma.Simulation(model, model.state(q=team.q[0]), dt=h, method=method, on_limit="ignore", on_slip="ignore")

    def reset() -> None:
        run.bench.q[:], run.bench.v[:] = team.q[0], 0.0

    def roll(steps: int) -> None:
        run.advance(run.grid(run.steps + steps))

    def step(steps: int) -> None:
        for _ in range(steps):
            run.step()

    def state() -> tuple[np.ndarray, np.ndarray]:
        return run.bench.q.copy(), run.bench.v.copy()

    name = "Simulation.step" if by_steps else "rollout"
    return Run(name, "multiarm", method, reset, step if by_steps else roll, state)


def pinocchio_run(team: Team, method: str, h: float) -> Run:
    """A loop in Python."""
    pin = pinocchio()
    peer, constraints = pinocchio_team(team.model)
    model, data = peer.model, peer.data
    datas = pin.StdVec_RigidConstraintData()
    for constraint in constraints:
        datas.append(constraint.createData())
    pin.initConstraintDynamics(model, data, constraints, datas)
    settings = pin.ProximalSettings(1e-16, 0.0, 1)
    start, rest = peer.positions(team.q[0]), np.zeros(model.nv)
    order = peer.positions(np.arange(model.nq)).astype(int)
    now = [start, rest]

    def reset() -> None:
        now[:] = start, rest

    def rk4(steps: int) -> None:
        solve, integrate, add, multiply, tau = pin.constraintDynamics, pin.integrate, np.add, np.multiply, rest
        half, sixth, sixth_squared = 0.5 * h, h / 6.0, h * h / 6.0
        given = constraints, datas, settings
        q, v = now[0], now[1].copy()
        u, w, v2 = np.empty((3, model.nv))
        for _ in range(steps):
            a1 = solve(model, data, q, v, tau, *given)
            multiply(v, half, u)
            add(v, multiply(a1, half, w), v2)
            a2 = solve(model, data, integrate(model, q, u), v2, tau, *given)
            multiply(v2, half, u)
            add(v, multiply(a2, half, w), v2)
            a3 = solve(model, data, integrate(model, q, u), v2, tau, *given)
            multiply(v2, h, u)
            add(v, multiply(a3, h, w), v2)
            a4 = solve(model, data, integrate(model, q, u), v2, tau, *given)
            add(a2, a3, a3)
            add(a1, a3, a1)
            add(multiply(v, h, u), multiply(a1, sixth_squared, w), u)
            q = integrate(model, q, u)
            add(a1, a3, a1)
            add(v, multiply(add(a1, a4, a1), sixth, a1), v)
        now[:] = q, v

    def euler(steps: int) -> None:
        solve, integrate, add, multiply, tau = pin.constraintDynamics, pin.integrate, np.add, np.multiply, rest
        given = constraints, datas, settings
        q, v = now[0], now[1].copy()
        u = np.empty(model.nv)
        for _ in range(steps):
            add(v, multiply(solve(model, data, q, v, tau, *given), h, u), v)
            q = integrate(model, q, multiply(v, h, u))
        now[:] = q, v

    def state() -> tuple[np.ndarray, np.ndarray]:
        q = np.empty(model.nq)
        q[order] = now[0]
        return q, peer.velocities(q).T @ now[1]

    loop = rk4 if method == "rk4" else euler
    return Run("loop over constraintDynamics", "pinocchio", method, reset, loop, state)


def mujoco_run(team: Team, method: str, h: float, sparse: bool) -> Run:
    """``mj_step`` with nstep."""
    mj, model = mujoco(), mujoco_model(team.model, sparse)
    model.eq_solref[:], model.eq_solimp[:, :3] = SOLREF, SOLIMP
    model.opt.timestep = h
    model.opt.integrator = mj.mjtIntegrator.mjINT_RK4 if method == "rk4" else mj.mjtIntegrator.mjINT_EULER
    data = mj.MjData(model)
    start, _ = _mujoco_coordinates(model, team.model, team.q[0])
    order = _mujoco_coordinates(model, team.model, np.arange(model.nq))[0].astype(int)

    def reset() -> None:
        data.qpos, data.qvel = start, 0.0

    def go(steps: int) -> None:
        mj.mj_step(model, data, nstep=steps)

    def state() -> tuple[np.ndarray, np.ndarray]:
        q = np.empty(model.nq)
        q[order] = data.qpos
        return q, _mujoco_coordinates(model, team.model, q)[1].T @ data.qvel

    return Run(f"mj_step, {'sparse' if sparse else 'dense'}", "mujoco", method, reset, go, state)


def runs(team: Team, method: str, h: float) -> list[Run]:
    """Everybody, ours first."""
    ours: list[Any] = [our_run(team, method, h), our_run(team, method, h, by_steps=True)]
    return [*ours, pinocchio_run(team, method, h), *(mujoco_run(team, method, h, sparse) for sparse in (False, True))]
