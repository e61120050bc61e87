"""One step of time on the manifold of configurations: semi-implicit Euler and Runge-Kutta.

What a step needs stands in a `Plant`: the tables of the model, how its coordinates move, what acts on it, and a desk to
work at. The torques `tau` hold over the whole step.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from multiarm.sweeps import layout as at
from multiarm.sweeps import loop_layout as lo
from multiarm.sweeps.element_energy import element_power, push_power
from multiarm.sweeps.elements import apply_elements
from multiarm.sweeps.forward import fd4
from multiarm.sweeps.jit import step, value, woven
from multiarm.sweeps.kinematics import locate
from multiarm.sweeps.loops import cut_row
from multiarm.sweeps.manifold import advance, rate_of_turn
from multiarm.sweeps.paths import joints_at
from multiarm.sweeps.projecting import project
from multiarm.sweeps.structured import structured

EULER, RK4 = range(2)

# Rows of the desk, each long enough for q.
REST, CHANGE, STAGE_Q, STAGE_V, TURN, RATE, TURN_SUM, SPEED_SUM, STAGE_A, TOTAL, BEFORE_Q, BEFORE_V = range(12)
DESK_ROWS = 12


class Plant(NamedTuple):
    """Everything about a run that its kernels share.

    Attributes
    ----------
    tree, link, loop, cut, room : array
        The tables of `layout` and `loop_layout`.
    moves : array
        How coordinates follow velocities, rows of `manifold`.
    push : array
        Wrench on every link at its origin, world axes, held over a step; no rows where there is none.
    element_numbers, element_whole : array
        Force elements, as `elements` has them.
    control_numbers, control_whole, control_desk : array
        The controller, as `control` has it.
    friction, margins : array
        Friction limits of the cuts and what is left of them, as `slip` has them.
    limits : array
        Rows (index into q, lower, upper) of the coordinates with limits that are watched.
    gauges : array
        What is watched, at the last step and now: margins of the limits, then of the grasps.
    law_numbers, law_whole, law_values : array
        Joints that follow laws of time: their paths as `paths` has them, rows (cut, first number, numbers), and room.
    ledger : array
        Energy [J] so far, and before the last step: what tau drove in, what was lost, what pushes brought in.
    sums : array
        Room for the sums of `kinematics.totals`.
    desk : array
        Room to work, `DESK_ROWS` rows.
    """

    tree: Any
    link: Any
    loop: Any
    cut: Any
    room: Any
    moves: Any
    push: Any
    element_numbers: Any
    element_whole: Any
    control_numbers: Any
    control_whole: Any
    control_desk: Any
    friction: Any
    margins: Any
    limits: Any
    gauges: Any
    law_numbers: Any
    law_whole: Any
    law_values: Any
    ledger: Any
    sums: Any
    desk: Any


@value
def row_of(plant, row, length):
    """A row of the desk."""
    return plant.desk[row, :length]


@value
def is_pushed(plant):
    """Whether anything but tau and gravity acts."""
    return plant.element_whole.shape[0] > 0 or plant.push.shape[0] > 0


@step
def powers(plant, t, q, v, tau):
    """Power of tau and of prescribed joints, of what elements lose, and of pushes [W]; after `accelerate`."""
    driven = lost = pushed = 0.0
    for j in range(len(v)):
        driven += tau[j] * v[j]
    for n in range(plant.law_whole.shape[0]):
        c = plant.law_whole[n, 0]
        driven += plant.cut[c, lo.LAMBDA] * v[plant.tree[plant.loop[cut_row(plant.loop, c), lo.CHILD], at.V]]
    if is_pushed(plant):
        link = plant.link
        for k in range(plant.push.shape[0]):
            for i in range(3):
                pushed += plant.push[k, i] * link[k, at.OMEGA + i] + plant.push[k, 3 + i] * link[k, at.VELOCITY + i]
        lost = element_power(plant.tree, link, plant.element_numbers, plant.element_whole, q, v)
        pushed += push_power(link, plant.element_numbers, plant.element_whole, t)
    return driven, lost, pushed


@value
def book(plant, time, power):
    """Add powers times a time to the ledger."""
    for i in range(3):
        plant.ledger[0, i] += time * power[i]


@woven
def add_elements(plant, t, q, v, tau, total):
    """Torques `total` = tau + those of the force elements, whose wrenches join the pushes on the links."""
    status = locate(plant.tree, plant.link, q, v)
    if status != 0:
        return status
    pushed = plant.push.shape[0] > 0
    for k in range(plant.link.shape[0]):
        for i in range(6):
            plant.link[k, at.EXTERNAL + i] = plant.push[k, i] if pushed else 0.0
    for j in range(len(tau)):
        total[j] = tau[j]
    return apply_elements(plant.tree, plant.link, plant.element_numbers, plant.element_whole, t, q, v, total)


@step
def follow(plant, t):
    """Where joints with laws of time must be at the time t, how fast, and how they accelerate."""
    x = plant.law_values
    for n in range(plant.law_whole.shape[0]):
        c, first, size = plant.law_whole[n, 0], plant.law_whole[n, 1], plant.law_whole[n, 2]
        joints_at(plant.law_numbers[first : first + size], t, x[0:1], x[1:2], x[2:3])
        plant.cut[c, lo.SHIFT], plant.cut[c, lo.SPEED], plant.cut[c, lo.GOAL] = x[0], x[1], x[2]


@woven
def accelerate(plant, t, q, v, tau, out):
    """Accelerations with the loops closed, force elements and pushes acting."""
    follow(plant, t)
    if is_pushed(plant):
        total = row_of(plant, TOTAL, len(v))
        status = add_elements(plant, t, q, v, tau, total)
        if status != 0:
            return status
        return respond(plant, q, v, total, out)
    return respond(plant, q, v, tau, out)


@woven
def respond(plant, q, v, tau, out):
    """Accelerations under tau and the wrenches that stand on the links."""
    if plant.loop[0, lo.CUTS] > 0:
        return structured(plant.tree, plant.link, plant.loop, plant.cut, plant.room, q, v, tau, out)
    return fd4(plant.tree, plant.link, q, v, tau, out)


@woven
def return_to_constraints(plant, t, q, v):
    """q and v brought back onto the constraints at the time t; returns (status, gap left)."""
    follow(plant, t)
    if plant.loop[0, lo.CUTS] == 0:
        return 0, 0.0
    rest, change = row_of(plant, REST, len(v)), row_of(plant, CHANGE, len(v))
    return project(plant.tree, plant.link, plant.loop, plant.cut, plant.room, plant.moves, q, v, rest, change)


@woven
def euler_step(plant, t, h, q, v, tau, a):
    """v+ = v + h a, q+ = q moved by h v+: semi-implicit, order 1; `a` is the acceleration at the start."""
    turn = row_of(plant, TURN, len(v))
    book(plant, h, powers(plant, t, q, v, tau))
    for j in range(len(v)):
        v[j] += h * a[j]
        turn[j] = h * v[j]
    advance(plant.moves, q, turn, q)


@woven
def rk4_step(plant, t, h, q, v, tau, a):
    """The classical method of order 4 for the turns since the start of the step and the velocities.

    From the start (u, v) obey u-dot = dexp^-1(u) v, v-dot = a(q moved by u, v); `a` is the acceleration there.
    """
    n = len(v)
    stage_q, stage_v, stage_a = row_of(plant, STAGE_Q, len(q)), row_of(plant, STAGE_V, n), row_of(plant, STAGE_A, n)
    turn, rate = row_of(plant, TURN, n), row_of(plant, RATE, n)
    turns, speeds = row_of(plant, TURN_SUM, n), row_of(plant, SPEED_SUM, n)
    book(plant, h / 6.0, powers(plant, t, q, v, tau))
    for j in range(n):
        turns[j], speeds[j] = v[j], a[j]
        rate[j], stage_a[j] = v[j], a[j]
    for stage in range(3):
        ahead, weight = (h, 1.0) if stage == 2 else (0.5 * h, 2.0)
        for j in range(n):
            turn[j] = ahead * rate[j]
            stage_v[j] = v[j] + ahead * stage_a[j]
        advance(plant.moves, q, turn, stage_q)
        status = accelerate(plant, t + ahead, stage_q, stage_v, tau, stage_a)
        if status != 0:
            return status
        book(plant, weight * h / 6.0, powers(plant, t + ahead, stage_q, stage_v, tau))
        rate_of_turn(plant.moves, turn, stage_v, rate)
        for j in range(n):
            turns[j] += weight * rate[j]
            speeds[j] += weight * stage_a[j]
    for j in range(n):
        turn[j] = h / 6.0 * turns[j]
        v[j] += h / 6.0 * speeds[j]
    advance(plant.moves, q, turn, q)
    return 0
