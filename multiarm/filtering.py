"""The quantities of the filter and the smoother themselves (JPL 86-48): innovations, forces, co-states."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from multiarm.forces import Values, split_forces
from multiarm.model import Model
from multiarm.state import State
from multiarm.sweeps import layout as at
from multiarm.sweeps.forward import fd4
from multiarm.workspace import External, located

__all__ = ["FilterQuantities", "smoother"]


@dataclass(frozen=True, eq=False)
class FilterQuantities:
    """What the inward filter and the outward smoother find at every axis; row i belongs to entry i of v.

    Spatial quantities are in world axes at the origin of the axis, angular part first. The equations hold with gravity
    as a pseudo-acceleration of the base: `costate` is the true acceleration less that of free fall.

    Attributes
    ----------
    articulated_inertia : (nv, 6, 6)
        P(k), the covariance of the filtered force.
    innovation, normalised_innovation : (nv,)
        epsilon = T - H z and nu = epsilon / D.
    innovation_covariance : (nv,)
        D = H P H* + R.
    gain : (nv, 6)
        G = P H* / D.
    predicted_force : (nv, 6)
        z, the spatial force on the link before its own joint moment is known.
    filtered_force : (nv, 6)
        z+ = z + G epsilon, after it is known.
    costate : (nv, 6)
        alpha.
    smoothed_force : (nv, 6)
        f = P (alpha - a) + z, the force through the joint.
    acceleration : (nv,)
        nu - G* alpha+, the joint accelerations.
    """

    articulated_inertia: np.ndarray
    innovation: np.ndarray
    normalised_innovation: np.ndarray
    innovation_covariance: np.ndarray
    gain: np.ndarray
    predicted_force: np.ndarray
    filtered_force: np.ndarray
    costate: np.ndarray
    smoothed_force: np.ndarray
    acceleration: np.ndarray


def smoother(model: Model, state: State, tau: Values = None, external: External | None = None) -> FilterQuantities:
    """Run FD4 and report what its filter and smoother found; loops open.

    JPL 86-48 sections 8-9; SOA-Lecture, "estimation theory parallels".
    """
    forces, external = split_forces(model, state, tau, external)
    workspace = located(model, state, external)
    a = np.empty(model.nv)
    workspace.check(fd4(workspace.tree, workspace.link, np.array(state.q), np.array(state.v), forces, a))
    rows = np.empty(model.nv, int)
    rows[workspace.tree[1:, at.V]] = np.arange(1, model.nv + 1)
    link = workspace.link[rows]
    inertia = workspace.symmetric(at.ARTICULATED)[rows]
    d, nu = link[:, at.D], link[:, at.NU]
    gain = link[:, at.U : at.U + 6] / d[:, None]
    z, alpha = link[:, at.FORCE : at.FORCE + 6], link[:, at.ALPHA : at.ALPHA + 6]
    # the acceleration handed down to an axis, before it adds its own bias and motion
    deviation = alpha - link[:, at.BIAS : at.BIAS + 6]
    return FilterQuantities(
        articulated_inertia=inertia,
        innovation=d * nu,
        normalised_innovation=nu,
        innovation_covariance=d,
        gain=gain,
        predicted_force=z,
        filtered_force=z + gain * (d * nu)[:, None],
        costate=alpha,
        smoothed_force=np.einsum("kij,kj->ki", inertia, deviation) + z,
        acceleration=a,
    )
