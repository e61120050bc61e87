"""Joints and bases that follow a given law of time (RDA-87 section 7.4.4)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import cos, pi, sin

import numpy as np
from numpy.typing import ArrayLike

from multiarm.errors import BadInputError
from multiarm.model import Model
from multiarm.state import State, as_numbers

__all__ = ["Moment", "TimeLaw", "follow", "polynomial_law", "sine_law"]


@dataclass(frozen=True, eq=False)
class Moment:
    """Coordinates, velocities and accelerations of a joint at one time."""

    q: ArrayLike
    v: ArrayLike
    a: ArrayLike


TimeLaw = Callable[[float], Moment | tuple[ArrayLike, ArrayLike, ArrayLike]]


def sine_law(amplitude: float, frequency: float, phase: float = 0.0, offset: float = 0.0) -> TimeLaw:
    """offset + amplitude sin(2 pi frequency t + phase); amplitude [rad or m], frequency [Hz], phase [rad].

    Examples
    --------
    >>> sine_law(amplitude=0.5, frequency=1.0)(0.25).q
    0.5
    """
    rate = 2 * pi * frequency

    def law(t: float) -> Moment:
        angle = rate * t + phase
        wave = amplitude * sin(angle)
        return Moment(offset + wave, amplitude * rate * cos(angle), -rate * rate * wave)

    return law


def polynomial_law(*coefficients: float) -> TimeLaw:
    """c0 + c1 t + c2 t^2 + ...

    Examples
    --------
    >>> moment = polynomial_law(1.0, 2.0, 3.0)(2.0)
    >>> float(moment.q), float(moment.v), float(moment.a)
    (17.0, 14.0, 6.0)
    """
    position = np.polynomial.Polynomial(coefficients or (0.0,))
    velocity, acceleration = position.deriv(), position.deriv(2)
    return lambda t: Moment(position(t), velocity(t), acceleration(t))


def follow(model: Model, state: State, laws: Mapping[str, TimeLaw], t: float) -> tuple[State, dict[str, np.ndarray]]:
    """The state with the named joints, arms or bodies where their laws put them at time t, and their accelerations.

    The accelerations are what `hybrid_dynamics` takes as ``prescribed=``. A moving base is a body on a free, planar or
    sliding joint with a law: for a free joint q is [quaternion; xyz], v = [omega; v] and a its derivative, world axes.

    Examples
    --------
    >>> import multiarm as ma
    >>> m = ma.Mechanism("cart and pendulum")
    >>> m.add_body("cart", mass=1.0, inertia=(1, 1, 1))
    >>> m.add_joint("rail", "prismatic", parent="world", child="cart", axis=(1, 0, 0))
    >>> model = m.compile()
    >>> state, prescribed = ma.follow(model, model.state(), {"rail": ma.sine_law(0.1, 2.0)}, t=0.125)
    >>> ma.hybrid_dynamics(model, state, prescribed=prescribed).tau.round(6)
    array([-15.791367])
    """
    q, v = np.array(model.own(state).q), np.array(state.v)
    accelerations: dict[str, np.ndarray] = {}
    for name, law in laws.items():
        moment = law(t)
        values = (moment.q, moment.v, moment.a) if isinstance(moment, Moment) else moment
        if not isinstance(values, tuple) or len(values) != 3:
            raise BadInputError(f"the time law of {name!r} must return (q, v, a), not {moment!r}")
        q[model.q_slice(name)] = as_numbers(values[0], q[model.q_slice(name)].shape, f"q of {name!r} by its time law")
        rates = model.v_slice(name)
        v[rates] = as_numbers(values[1], v[rates].shape, f"v of {name!r} by its time law")
        accelerations[name] = as_numbers(values[2], v[rates].shape, f"a of {name!r} by its time law")
    return model.state(q=q, v=v), accelerations
