"""Closed-chain inverse dynamics: torques for a wanted motion of bodies, with given internal forces or least torques."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import null_space

from multiarm.closed_chain import ClosedChainSolution, closed_solution, require_closed
from multiarm.constraints import Constraints, constraints
from multiarm.dynamics import inverse_dynamics, mass_matrix
from multiarm.errors import BadInputError, UnknownNameError, UnreachableMotionError
from multiarm.kinematics import jacobian, kinematics
from multiarm.load import external_projector, grasp_map
from multiarm.model import Model
from multiarm.solvers.problem import Answer, Problem, make_problem
from multiarm.state import State, as_numbers
from multiarm.workspace import External

__all__ = ["closed_chain_inverse_dynamics"]

UNREACHABLE = 1e-8  # of the largest term: what may be left of the equations


def closed_chain_inverse_dynamics(
    model: Model,
    state: State,
    motion: Mapping[str, ArrayLike],
    internal: Mapping[str, ArrayLike] | None = None,
    external: External | None = None,
) -> ClosedChainSolution:
    """Torques of the actuated joints that give bodies the accelerations asked for, with the loops closed.

    Parameters
    ----------
    model, state : Model, State
        What, and where it is, on the constraints.
    motion : mapping
        Body or frame -> wanted acceleration [omega-dot; v-dot] at its origin, world axes.
    internal : mapping, optional
        Grasp -> internal wrench [torque; force] on the object at the grasp, world axes; the wrenches of one object must
        add up to nothing. Objects none of whose grasps are named, and everything else that the motion leaves open,
        are settled by the least torque.
    external : mapping, optional
        As in `forward_dynamics`.

    Returns
    -------
    ClosedChainSolution
        `tau` are the torques (zero at passive joints and free bodies), `a` and `forces` what they lead to.

    Notes
    -----
    Unknowns are a, lambda and the actuated part of tau. The equations of motion, the constraints, the motion and the
    internal wrenches are linear in them; of all solutions the one of least |tau| is taken, and of those the least.
    """
    rows = constraints(model, model.own(state))
    require_closed(rows)
    problem = make_problem(model, state, rows, None, external)
    matrix, right = _equations(problem, motion, internal or {})
    unknowns = np.linalg.lstsq(matrix, right, rcond=1e-12)[0]
    left = np.abs(matrix @ unknowns - right).max(initial=0.0)
    scale = max(np.abs(right).max(initial=0.0), float((np.abs(matrix) @ np.abs(unknowns)).max(initial=0.0)), 1e-300)
    if left > UNREACHABLE * scale:
        raise UnreachableMotionError(left / scale, list(motion))
    open_directions = null_space(matrix, rcond=1e-10)
    actuated = slice(model.nv + len(rows.names), None)
    if open_directions.size:
        choice = np.linalg.lstsq(open_directions[actuated], -unknowns[actuated], rcond=1e-10)[0]
        unknowns = unknowns + open_directions @ choice
    a, multipliers = unknowns[: model.nv], unknowns[model.nv : model.nv + len(rows.names)]
    tau = np.zeros(model.nv)
    tau[model.actuated] = unknowns[actuated]
    rank = int(np.linalg.matrix_rank(rows.jacobian, rtol=1e-10)) if rows.names else 0
    answer = Answer(a, multipliers, rank, np.ones(len(multipliers), bool))
    driven = Problem(model, state, tau, problem.external, problem.actuators, rows)
    return closed_solution(driven, answer, "inverse")


def _equations(
    problem: Problem, motion: Mapping[str, ArrayLike], internal: Mapping[str, ArrayLike]
) -> tuple[np.ndarray, np.ndarray]:
    """All that a, lambda and the actuated torques must satisfy, as one linear system."""
    model, state, rows = problem.model, problem.state, problem.constraints
    nv, count = model.nv, len(rows.names)
    drive = np.eye(nv)[:, model.actuated]
    width = nv + count + drive.shape[1]

    def block(a: np.ndarray | None = None, lam: np.ndarray | None = None, tau: np.ndarray | None = None) -> np.ndarray:
        height = next(len(x) for x in (a, lam, tau) if x is not None)
        out = np.zeros((height, width))
        for part, start in ((a, 0), (lam, nv), (tau, nv + count)):
            if part is not None:
                out[:, start : start + part.shape[1]] = part
        return out

    matrices = [block(a=mass_matrix(model, state), lam=-rows.jacobian.T, tau=-drive), block(a=rows.jacobian)]
    rights = [-inverse_dynamics(model, state, None, problem.external), rows.bias]
    kin = kinematics(model, state)
    for name, value in motion.items():
        wanted = as_numbers(value, (6,), f"motion of {name!r} [omega-dot; v-dot]")
        matrices.append(block(a=jacobian(model, state, name)))
        rights.append(wanted - kin.bias_acceleration(name))
    for equation, value in _internal_equations(rows, internal):
        matrices.append(block(lam=equation))
        rights.append(value)
    return np.vstack(matrices), np.concatenate(rights)


def _internal_equations(rows: Constraints, internal: Mapping[str, ArrayLike]) -> list[tuple[np.ndarray, np.ndarray]]:
    """(1 - E) N* lambda = the internal wrenches asked for, object by object."""
    grasps = {part.cut.name: part for part in rows.cuts if part.cut.grasp is not None}
    for name in internal:
        if name not in grasps:
            raise UnknownNameError("cut grasp", name, grasps)
    equations = []
    for body in dict.fromkeys(grasps[name].cut.child.body for name in internal):
        held = rows.grasps_of(body)
        sums = grasp_map([part.point for part in held], rows.centre_of(body))
        asked = np.concatenate(
            [
                as_numbers(internal.get(part.cut.name, np.zeros(6)), (6,), f"internal wrench of {part.cut.name!r}")
                for part in held
            ]
        )
        off = np.abs(sums @ asked).max()
        if off > 1e-9 * max(1.0, np.abs(asked).max()):
            raise BadInputError(f"the internal wrenches on {body!r} are not internal: their sum is off by {off:.3g}")
        inside = np.eye(len(asked)) - external_projector(sums, [part.basis for part in held], np.ones(len(asked)))
        spread = np.zeros((len(asked), len(rows.names)))
        for i, part in enumerate(held):
            spread[6 * i : 6 * i + 6, rows.rows_of(part.cut.name)] = part.basis.T
        equations.append((inside @ spread, asked))
    return equations
