"""Sums over all moving bodies: energy, momentum, centre of mass."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from multiarm.model import Model
from multiarm.poses import as_vector3
from multiarm.state import State
from multiarm.sweeps.kinematics import totals
from multiarm.workspace import located

__all__ = ["Energy", "Momentum", "center_of_mass", "energy", "momentum"]


@dataclass(frozen=True)
class Energy:
    """Kinetic (rotors included) and potential energy [J]; potential is zero for a centre of mass at the origin."""

    kinetic: float
    potential: float

    @property
    def total(self) -> float:
        """Their sum."""
        return self.kinetic + self.potential


@dataclass(frozen=True, eq=False)
class Momentum:
    """Linear [kg m/s] and angular [kg m^2/s] momentum of the bodies, world axes, the angular about `point`."""

    linear: np.ndarray
    angular: np.ndarray
    point: np.ndarray

    def about(self, point: ArrayLike) -> Momentum:
        """The same momentum with its angular part about another point."""
        new = as_vector3(point, "point")
        return Momentum(self.linear, self.angular + np.cross(self.point - new, self.linear), new)


def _totals(model: Model, state: State) -> np.ndarray:
    workspace = located(model, state)
    out = np.empty(11)
    totals(workspace.tree, workspace.link, np.array(state.v), out)
    return out


def energy(model: Model, state: State) -> Energy:
    """Kinetic and potential energy of all moving bodies; d/dt of their sum is tau . v where nothing else acts."""
    out = _totals(model, state)
    return Energy(kinetic=float(out[0]), potential=float(-(model.gravity @ out[2:5])))


def momentum(model: Model, state: State) -> Momentum:
    """Momentum of all moving bodies, the angular part about the world's origin; rotor spin (armature) is not in it."""
    out = _totals(model, state)
    return Momentum(linear=out[8:11], angular=out[5:8], point=np.zeros(3))


def center_of_mass(model: Model, q: ArrayLike | State) -> np.ndarray:
    """Centre of mass of all moving bodies in the world [m]; NaN where they have no mass."""
    out = _totals(model, q if isinstance(q, State) else model.state(q=q))
    return out[2:5] / out[1] if out[1] > 0.0 else np.full(3, np.nan)
