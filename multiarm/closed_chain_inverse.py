"""Closed-chain inverse dynamics: torques for a wanted motion of bodies, with given internal forces or least torques."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import null_space

from multiarm.closed_chain import ClosedChainSolution, closed_solution, require_closed
from multiarm.constraints import Constraints, constraints
from multiarm.cut_coordinates import coordinate_rates
from multiarm.dynamics import inverse_dynamics, mass_matrix
from multiarm.errors import BadInputError, UnknownNameError, UnreachableMotionError
from multiarm.kinematics import jacobian, kinematics
from multiarm.load import external_projector, grasp_map
from multiarm.model import Model
from multiarm.solvers.problem import Answer, Problem, make_problem
from multiarm.state import State, as_numbers
from multiarm.workspace import External

__all__ = ["closed_chain_inverse_dynamics"]

UNREACHABLE = 1e-8  # of its own largest term: what may be left of an equation

Block = tuple[str, np.ndarray, np.ndarray]


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
        `efforts` are the torques by joint, those of cut joints included, ready for `forward_dynamics`; `tau` those
        of the tree (zero at passive joints and free bodies); `a` and `forces` what they lead to.

    Notes
    -----
    Unknowns are a, lambda and the torques of the actuators, in the tree or cut. The equations of motion, the
    constraints, the motion and the internal wrenches are linear in them; of all solutions the one of least torques is
    taken, and of those the least.
    """
    if not isinstance(motion, Mapping):
        raise BadInputError("motion must map bodies or frames to accelerations [omega-dot; v-dot]")
    model = model.complete(state)
    rows = constraints(model, state)
    require_closed(rows)
    problem = make_problem(model, state, rows, None, external)
    drives = _drives(problem)
    blocks = _equations(problem, np.hstack([np.zeros((model.nv, 0)), *drives.values()]), motion, internal or {})
    matrix, right = (np.concatenate(parts) for parts in zip(*((block[1], block[2]) for block in blocks), strict=True))
    unknowns = np.linalg.lstsq(matrix, right, rcond=1e-12)[0]
    actuated = slice(model.nv + len(rows.names), None)
    unknowns = unknowns + _least_torque_step(null_space(matrix, rcond=1e-10), unknowns, actuated)
    _require_solved(blocks, unknowns)
    a, multipliers = unknowns[: model.nv], unknowns[model.nv : model.nv + len(rows.names)]
    ends = np.cumsum([columns.shape[1] for columns in drives.values()])
    tau = dict(zip(drives, np.split(unknowns[actuated], ends[:-1]), strict=True)) if drives else None
    answer = Answer(a, multipliers, *rows.independence())
    return closed_solution(make_problem(model, state, rows, tau, external), answer, "inverse")


def _drives(problem: Problem) -> dict[str, np.ndarray]:
    """What the actuator of each joint, in the tree or cut, does to the coordinates: nv rows, a column per torque.

    Power is torque times rate, so that of a cut joint acts as the transpose of the rates of its coordinates.
    """
    model, state = problem.model, problem.state
    drives = {name: np.eye(model.nv)[:, place.v] for name, place in model.joints.items() if place.actuated}
    for name, cut in model.cuts.items():
        if cut.joint is not None and not cut.joint.passive and cut.joint.kind != "fixed":
            drives[name] = coordinate_rates(kinematics(model, state), cut.joint).T
    return drives


def _least_torque_step(open_directions: np.ndarray, unknowns: np.ndarray, actuated: slice) -> np.ndarray:
    """Along what the equations leave open, to the least torque; directions without torque are left alone."""
    left, s, right = np.linalg.svd(open_directions[actuated], full_matrices=False)
    worth = s > 1e-8  # the directions are orthonormal, so this is an absolute measure
    return open_directions @ (right[worth].T @ (-(left[:, worth].T @ unknowns[actuated]) / s[worth]))


def _require_solved(blocks: list[Block], unknowns: np.ndarray) -> None:
    """Raise if any kind of equation is left, each measured by its own terms."""
    for name, matrix, right in blocks:
        left = np.abs(matrix @ unknowns - right).max(initial=0.0)
        scale = max((np.abs(matrix) @ np.abs(unknowns) + np.abs(right)).max(initial=0.0), 1.0)
        if left > UNREACHABLE * scale:
            raise UnreachableMotionError(name, float(left))


def _equations(
    problem: Problem, drive: np.ndarray, motion: Mapping[str, ArrayLike], internal: Mapping[str, ArrayLike]
) -> list[Block]:
    """All that a, lambda and the torques must satisfy: what it is, matrix, right-hand side."""
    model, state, rows = problem.model, problem.state, problem.constraints
    nv, count = model.nv, len(rows.names)
    width = nv + count + drive.shape[1]

    def block(a: np.ndarray | None = None, lam: np.ndarray | None = None, tau: np.ndarray | None = None) -> np.ndarray:
        height = next(len(x) for x in (a, lam, tau) if x is not None)
        out = np.zeros((height, width))
        for part, start in ((a, 0), (lam, nv), (tau, nv + count)):
            if part is not None:
                out[:, start : start + part.shape[1]] = part
        return out

    balance = block(a=mass_matrix(model, state), lam=-rows.jacobian.T, tau=-drive)
    blocks: list[Block] = [
        ("the equations of motion", balance, -inverse_dynamics(model, state, None, problem.external)),
        ("the constraints", block(a=rows.jacobian), rows.bias),
    ]
    kin = kinematics(model, state)
    for name, value in motion.items():
        wanted = as_numbers(value, (6,), f"motion of {name!r} [omega-dot; v-dot]")
        blocks.append(
            (f"the motion of {name!r}", block(a=jacobian(model, state, name)), wanted - kin.bias_acceleration(name))
        )
    for body, equation, value in _internal_equations(rows, internal):
        blocks.append((f"the internal wrenches on {body!r}", block(lam=equation), value))
    return blocks


def _internal_equations(rows: Constraints, internal: Mapping[str, ArrayLike]) -> list[Block]:
    """(1 - E) N* lambda = the internal wrenches asked for, object by object."""
    grasps = {part.cut.name: part for part in rows.cuts if part.cut.grasp is not None}
    for name in internal:
        if name not in grasps:
            raise UnknownNameError("cut grasp", name, grasps)
    equations: list[Block] = []
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
        equations.append((body, inside @ spread, asked))
    return equations
