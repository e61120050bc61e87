"""What changes a mechanism during a run: grasps made and lost, bodies docked, payloads changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from multiarm.errors import BadInputError, UnknownNameError
from multiarm.model import Model

__all__ = ["Action", "HandOver", "Hold", "Payload", "Release", "Steer", "Stop", "check_action"]


@dataclass(frozen=True)
class Hold:
    """Impose a cut joint or grasp from now on; a grasp without a place on its object (`at=None`) takes hold here.

    Where the two sides still move against each other, the plastic impulse M dv = J* p brings them together at once.
    They must meet within `tolerance` [m and rad]; what is left of the gap is closed by the least change in the mass
    metric.
    """

    name: str
    tolerance: float = 1e-3


@dataclass(frozen=True)
class Release:
    """Let go of a cut joint or grasp."""

    name: str


@dataclass(frozen=True)
class HandOver:
    """One grasp takes hold and another lets go at the same time."""

    to: str
    source: str
    tolerance: float = 1e-3


@dataclass(frozen=True, eq=False)
class Payload:
    """Another mass of a body [kg]; its inertia [kg m^2] scales with it unless given. Velocities are kept."""

    body: str
    mass: float
    inertia: ArrayLike | np.ndarray | None = None
    com: ArrayLike | np.ndarray | None = None


@dataclass(frozen=True)
class Stop:
    """End the run."""

    message: str = ""


@dataclass(frozen=True, eq=False)
class Steer:
    """Another controller takes over; None: no torques from now on."""

    controller: Any


Action = Hold | Release | HandOver | Payload | Steer | Stop


def check_action(model: Model, action: Action) -> None:
    """Raise for what is no action, or concerns something that the model does not have."""
    if not isinstance(action, Action):
        raise BadInputError(f"{action!r} is no action; those are Hold, Release, HandOver, Payload, Steer, Stop")
    cuts = {Hold: ("name",), Release: ("name",), HandOver: ("to", "source")}.get(type(action), ())
    for attribute in cuts:
        if getattr(action, attribute) not in model.cuts:
            raise UnknownNameError("cut joint or grasp", getattr(action, attribute), model.cuts)
    if isinstance(action, Payload) and action.body not in model.bodies:
        raise UnknownNameError("body", action.body, model.bodies)
