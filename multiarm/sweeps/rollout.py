"""Many steps of time without leaving compiled code, and the other things a run asks of its kernels.

All of them are tasks of one kernel, because each kernel takes long to compile with all of the dynamics in it.
"""

from __future__ import annotations

import math

from multiarm.sweeps import layout as at
from multiarm.sweeps.control import control
from multiarm.sweeps.jit import long_kernel, value, woven
from multiarm.sweeps.manifold import normalise, rate_of_coordinates
from multiarm.sweeps.observing import gauge, has_crossed, observe
from multiarm.sweeps.stepping import (
    BEFORE_Q,
    BEFORE_V,
    EULER,
    STAGE_Q,
    STAGE_V,
    accelerate,
    euler_step,
    powers,
    return_to_constraints,
    rk4_step,
    row_of,
)

# Why steps ended before the last, far from what the dynamics (link rows, WRONG_LENGTH) and the elements return.
DONE = 0
CROSSED, FULL, NOT_FINITE, OPEN, UNSTEERED = range(10**6, 10**6 + 5)

# What a kernel is to do: the task; of steps the method, whether drift is projected away, the number of the first,
# samples every so many steps (0: none), whether margins are watched.
TASK, METHOD, PROJECTED, FIRST, EVERY, WATCHED = range(6)
ROLL, LOOK, SETTLE, RATES = range(4)
# What it has done: steps, samples, largest gap that was left, where the state is not finite.
STEPS, SAMPLES, GAP, BROKEN = range(4)

WIDEST_GAP = 1e-6  # m or rad: beyond it the loops have not been closed


@value
def first_broken(v):
    """The first entry that is not a number, or -1."""
    for j in range(len(v)):
        if not math.isfinite(v[j]):
            return j
    return -1


@woven
def steer(plant, t, q, v, tau):
    """Torques of the compiled controller, if there is one."""
    if plant.control_whole[0] == 0:
        return 0
    status = control(
        plant.tree, plant.link, plant.loop, plant.cut, plant.room,
        plant.control_numbers, plant.control_whole, plant.control_desk, t, q, v, tau,
    )  # fmt: skip
    return 0 if status == 0 else UNSTEERED


@woven
def look(plant, t, q, v, tau, a, sample):
    """Torques, accelerations, forces, margins and a sample at one state."""
    status = steer(plant, t, q, v, tau)
    if status != 0:
        return status
    status = accelerate(plant, t, q, v, tau, a)
    if status != 0:
        return status
    if first_broken(a) >= 0:
        return NOT_FINITE
    gauge(plant, q)
    observe(plant, t, q, v, a, tau, sample)
    return DONE


@woven
def settle(plant, t, q, v, report):
    """q and v onto the constraints; report[GAP] is what is left, LAMBDA of every cut the impulse on the velocities."""
    status, report[GAP] = return_to_constraints(plant, t, q, v)
    return status


@woven
def rates(plant, t, y, tau, a, out):
    """out = dy/dt of y = [q; v; ledger], for integrators that know vectors only; quaternions need not be unit."""
    nq, n = plant.tree[0, at.Q], plant.tree[0, at.V]
    q, v = row_of(plant, STAGE_Q, nq), row_of(plant, STAGE_V, n)
    q[:] = y[:nq]
    v[:] = y[nq : nq + n]
    normalise(plant.moves, q)
    status = steer(plant, t, q, v, tau)
    if status != 0:
        return status
    status = accelerate(plant, t, q, v, tau, a)
    if status != 0:
        return status
    rate_of_coordinates(plant.moves, q, v, out)
    out[nq : nq + n] = a
    out[nq + n], out[nq + n + 1], out[nq + n + 2] = powers(plant, t, q, v, tau)
    return DONE


@woven
def roll(plant, orders, origin, h, steps, q, v, tau, a, samples, report):
    """Step `steps` times by h from origin + FIRST h; q and v move on, tau and a are the last.

    A sample is written before its step. Returns DONE, or why it stopped; report[STEPS] tells at which step. After
    CROSSED the state is where a margin was found gone, and the desk's BEFORE rows hold the state one step earlier.
    """
    before_q, before_v = row_of(plant, BEFORE_Q, len(q)), row_of(plant, BEFORE_V, len(v))
    for i in range(steps):
        report[STEPS] = i
        number = orders[FIRST] + i
        t = origin + number * h
        status = steer(plant, t, q, v, tau)
        if status != 0:
            return status
        status = accelerate(plant, t, q, v, tau, a)
        if status != 0:
            return status
        report[BROKEN] = first_broken(a)
        if report[BROKEN] >= 0.0:
            return NOT_FINITE
        gauge(plant, q)
        if orders[WATCHED] == 1 and has_crossed(plant):
            return CROSSED
        if orders[EVERY] > 0 and number % orders[EVERY] == 0:
            filled = int(report[SAMPLES])
            if filled == samples.shape[0]:
                return FULL
            observe(plant, t, q, v, a, tau, samples[filled])
            report[SAMPLES] = filled + 1
        before_q[:] = q
        before_v[:] = v
        plant.ledger[1] = plant.ledger[0]
        if orders[METHOD] == EULER:
            euler_step(plant, t, h, q, v, tau, a)
        else:
            status = rk4_step(plant, t, h, q, v, tau, a)
            if status != 0:
                return status
        if orders[PROJECTED] == 1:
            status, gap = return_to_constraints(plant, t + h, q, v)
            if status != 0:
                return status
            report[GAP] = max(report[GAP], gap)
            if not gap <= WIDEST_GAP:
                return OPEN
    report[STEPS] = steps
    return DONE


@long_kernel
def operate(plant, orders, t, h, steps, q, v, tau, a, table, report):
    """Do the task in `orders` at the time t; `table` holds samples, or for RATES y and dy/dt in its two rows."""
    for i in range(len(report)):
        report[i] = 0.0
    if orders[TASK] == ROLL:
        return roll(plant, orders, t, h, steps, q, v, tau, a, table, report)
    if orders[TASK] == LOOK:
        return look(plant, t, q, v, tau, a, table[0])
    if orders[TASK] == SETTLE:
        return settle(plant, t, q, v, report)
    return rates(plant, t, table[0], tau, a, table[1])
