"""Open-chain dynamics of the tree, loops open: forward, inverse, hybrid; mass matrix, inverse and determinant."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from multiarm.errors import BadInputError, UnknownNameError
from multiarm.forces import Values, split_forces
from multiarm.model import Model
from multiarm.operators import dense, operators
from multiarm.solution import Solution
from multiarm.state import State, fill_coordinates
from multiarm.sweeps import layout as at
from multiarm.sweeps.articulated import articulate
from multiarm.sweeps.compliance import operational_compliance as compliance_kernel
from multiarm.sweeps.composite import mass_matrix as composite_mass_matrix
from multiarm.sweeps.forward import fd1, fd2, fd3, fd4, solve_mass
from multiarm.sweeps.inverse import hybrid, newton_euler
from multiarm.workspace import External, Workspace, frame_rows, located

__all__ = [
    "hybrid_dynamics",
    "inverse_dynamics",
    "log_determinant",
    "mass_matrix",
    "mass_matrix_inverse",
    "operational_compliance",
    "tree_forward_dynamics",
]

FORWARD_METHODS = {"fd1": fd1, "fd2": fd2, "fd3": fd3, "fd4": fd4}


def _require_one_of(what: str, name: str, choices: Iterable[str]) -> None:
    if name not in choices:
        raise UnknownNameError(what, name, choices)


def _pushed(model: Model, state: State, external: External | None) -> tuple[Workspace, np.ndarray, np.ndarray]:
    """Tables with external wrenches on the links, and writable copies of q and v (as the kernels are compiled for)."""
    workspace = located(model, state, external) if external else Workspace(model)
    return workspace, np.array(model.own(state).q), np.array(state.v)


def tree_forward_dynamics(
    model: Model, state: State, tau: Values = None, external: External | None = None, method: str = "fd4"
) -> Solution:
    """Solve M a + C = tau for the accelerations of the tree, its loops open, in O(N).

    Cut joints, grasps and couplings (mimic joints) do not constrain it: `Solution.left_open` lists them.

    Parameters
    ----------
    model, state : Model, State
        What, and where it is.
    tau : array or mapping, optional
        Generalised forces, nv entries, or by arm or joint, cut joints included; zero where not named.
    external : mapping, optional
        Wrenches on bodies: name -> [torque; force] at the body's origin, world axes, or a `Wrench`.
    method : str
        "fd1" (four sweeps), "fd2" (four, with spatial accelerations), "fd3" or "fd4" (three), JPL 88-11-I.

    Returns
    -------
    Solution
        Its `a` has nv entries; `acceleration(name)`, `forces[joint]` and `residual` come with it.
    """
    _require_one_of("method", method, FORWARD_METHODS)
    forces, external = split_forces(model, state, tau, external)
    workspace, q, v = _pushed(model, state, external)
    a = np.empty(model.nv)
    workspace.check(FORWARD_METHODS[method](workspace.tree, workspace.link, q, v, forces, a))
    return Solution(model, state, a, forces, external, method)


def inverse_dynamics(
    model: Model, state: State, a: Values = None, external: External | None = None, method: str = "newton_euler"
) -> np.ndarray:
    """tau = M a + C - J* external, loops open, in O(N); cut joints, grasps and couplings carry nothing.

    ``method="newton_euler"`` is JPL 88-11-I (2.24)-(2.30); "composite" gathers composite bodies (SOA-Lecture): f = R
    alpha+ + y. For a floating base whose acceleration is unknown use `hybrid_dynamics` and prescribe the joints only.
    """
    _require_one_of("method", method, ("newton_euler", "composite"))
    accelerations = model.forces(a, "a")
    workspace, q, v = _pushed(model, state, external)
    tau = np.zeros(model.nv)
    if method == "newton_euler":
        workspace.check(newton_euler(workspace.tree, workspace.link, q, v, accelerations, tau))
    else:
        everything = np.ones(model.nv, bool)
        workspace.check(hybrid(workspace.tree, workspace.link, q, v, everything, accelerations, tau))
    return tau


def hybrid_dynamics(
    model: Model,
    state: State,
    tau: Values = None,
    prescribed: Mapping[str, ArrayLike] | None = None,
    external: External | None = None,
) -> Solution:
    """Some joints driven by `tau`, others along given accelerations: solve for the other half, in O(N).

    Parameters
    ----------
    model, state, external
        As in `tree_forward_dynamics`.
    tau : array or mapping, optional
        Generalised forces of the joints that are not prescribed; entries of prescribed ones are ignored.
    prescribed : mapping
        Accelerations by arm, joint or free body; may change from call to call. With every joint named this is inverse
        dynamics, with none forward dynamics; with all but a floating base, inverse dynamics of a floating robot.

    Returns
    -------
    Solution
        `a` complete; `tau` complete, with the forces that the prescribed joints need.

    Notes
    -----
    SOA-Lecture, O(N) hybrid dynamics; RDA-87 sections 7.5.1 and 7.5.2.
    """
    forces, external = split_forces(model, state, tau, external)
    if prescribed is not None and not isinstance(prescribed, Mapping):
        raise BadInputError("prescribed must map names of arms, joints or free bodies to accelerations")
    given = dict(prescribed or {})
    mask = fill_coordinates(
        "prescribed", {name: np.ones(np.size(x)) for name, x in given.items()}, np.zeros(model.nv), model.v_slice
    )
    a = fill_coordinates("prescribed acceleration", given, np.zeros(model.nv), model.v_slice)
    workspace, q, v = _pushed(model, state, external)
    workspace.check(hybrid(workspace.tree, workspace.link, q, v, mask.astype(bool), a, forces))
    return Solution(model, state, a, forces, external, "hybrid")


def mass_matrix(model: Model, q: ArrayLike | State, method: str = "composite") -> np.ndarray:
    """M = H phi M phi* H* + R, nv x nv.

    ``method="composite"`` fills it from composite-body inertias (RDA-87 ch. 5), "factors" multiplies
    (I + H Phi L) D (I + H Phi L)* (JPL 88-11-I (4.11)).
    """
    _require_one_of("method", method, ("composite", "factors"))
    if method == "factors":
        o = operators(model, q)
        factor = dense(o.joint_identity + o.H @ o.Phi @ o.L)
        return np.asarray(factor @ dense(o.D) @ factor.T)
    workspace = Workspace(model)
    out = np.empty((model.nv, model.nv))
    workspace.check(
        composite_mass_matrix(workspace.tree, workspace.link, np.array(model.configuration(q)), np.zeros(model.nv), out)
    )
    return out


def mass_factor(model: Model, q: ArrayLike | State) -> np.ndarray:
    """Upper triangular U with M = U* U; `SingularInertiaError` by name where there is none."""
    mass = mass_matrix(model, q)
    try:
        return np.linalg.cholesky(mass).T
    except np.linalg.LinAlgError:
        _articulated(model, q)
        raise


def _articulated(model: Model, q: ArrayLike | State) -> Workspace:
    workspace = Workspace(model)
    workspace.check(articulate(workspace.tree, workspace.link, np.array(model.configuration(q)), np.zeros(model.nv)))
    return workspace


def mass_matrix_inverse(model: Model, q: ArrayLike | State) -> np.ndarray:
    """M^-1 = (I - H Psi L)* D^-1 (I - H Psi L), nv x nv, in O(N^2); JPL 88-11-I (4.16), 86-48 section 10."""
    workspace = _articulated(model, q)
    out = np.empty((model.nv, model.nv))
    solve_mass(workspace.tree, workspace.link, np.eye(model.nv), out)
    return (out + out.T) / 2


def log_determinant(model: Model, q: ArrayLike | State) -> float:
    """log det M, the sum of log D(k), in O(N)."""
    return float(np.log(_articulated(model, q).link[1:, at.D]).sum())


def operational_compliance(model: Model, q: ArrayLike | State, frames: str | Sequence[str] | None = None) -> np.ndarray:
    """Lambda = J M^-1 J* at `frames` with cross terms, 6m x 6m, world axes at each frame's origin; loops open.

    JPL 88-11-II (6.7)-(6.10). By default the tips of the grasps, in the order the grasps were added. The inverse of a
    diagonal block is the inertia felt there (Khatib's operational-space inertia).
    """
    if isinstance(frames, str):
        frames = [frames]
    if frames is None:
        frames = [grasp.tip for grasp in model.grasps.values()]
    rows = frame_rows(model, list(frames))
    workspace = Workspace(model)
    out = np.empty((6 * len(rows), 6 * len(rows)))
    configuration, rest = np.array(model.configuration(q)), np.zeros(model.nv)
    workspace.check(compliance_kernel(workspace.tree, workspace.link, configuration, rest, rows, out))
    return out
