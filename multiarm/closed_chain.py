"""Forward dynamics with the loops closed."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from multiarm.constraints import Constraints, constraints
from multiarm.cut_rows import across
from multiarm.determinacy import loose_multipliers, one_value_through
from multiarm.dynamics import tree_forward_dynamics
from multiarm.errors import ContradictionError, ImmobileWarning, OpenLoopError, UnknownNameError
from multiarm.forces import Values
from multiarm.kinematics import kinematics
from multiarm.load import LoadSplit, split_load
from multiarm.model import Model
from multiarm.solution import Solution
from multiarm.solvers import SOLVERS
from multiarm.solvers.problem import Answer, Problem, make_problem
from multiarm.state import State
from multiarm.workspace import External
from multiarm.wrench import Wrench

__all__ = ["ClosedChainForces", "ClosedChainSolution", "closed_solution", "forward_dynamics", "require_closed"]

# How far a state may be off the constraints, metres and radians, and per second.
POSITION_TOLERANCE = 1e-7
VELOCITY_TOLERANCE = 1e-6


@dataclass(frozen=True, eq=False, repr=False)
class ClosedChainSolution(Solution):
    """A `Solution` that satisfies the constraints: `external` includes what they do to the bodies.

    Attributes
    ----------
    rank : int
        Number of independent constraint rows; `redundancy` is the number of the others.
    determinate : dict
        For every cut joint, grasp (cut or in the tree) and coupling whether its force has only one possible value;
        where not, the force reported is the least in norm over the cuts chosen. For the other joints of the tree
        `reactions` says so.
    """

    constraints: Constraints
    answer: Answer
    actuators: dict[str, Wrench]

    @cached_property
    def balancing_forces(self) -> np.ndarray:
        """`tau` with what the couplings add to it."""
        coupled = self.answer.multipliers[len(self.answer.multipliers) - len(self.constraints.couplings) :]
        return self.tau + self.constraints.coupling_rows.T @ coupled

    @cached_property
    def efforts(self) -> dict[str, np.ndarray]:
        """`tau` by joint, with the actuators of cut joints: what `forward_dynamics` takes as its `tau`."""
        kin = kinematics(self.model, self.state)
        cut = {name: kin.joint(name).directions.T @ push.array for name, push in self.actuators.items()}
        return {name: self.tau[place.v] for name, place in self.model.joints.items()} | cut

    @property
    def constraint_scale(self) -> np.ndarray:
        """|J*| |lambda|."""
        return np.asarray(np.abs(self.constraints.jacobian).T @ np.abs(self.answer.multipliers))

    @property
    def rank(self) -> int:
        """Number of independent constraint rows."""
        return self.answer.rank

    @property
    def redundancy(self) -> int:
        """Number of constraint rows that follow from others."""
        return len(self.answer.multipliers) - self.rank

    @cached_property
    def determinate(self) -> dict[str, bool]:
        """Whether the force of each constraint has only one possible value."""
        answers: dict[str, bool] = dict.fromkeys(self.constraints.names, True)
        for name, sure in zip(self.constraints.names, self.answer.determinate, strict=True):
            answers[name] = answers[name] and bool(sure)
        kept = [name for name in self.model.grasps if name not in self.model.cuts]
        return answers | {name: one_value_through(self.constraints, self._loose, name) for name in kept}

    @cached_property
    def _loose(self) -> np.ndarray:
        return loose_multipliers(self.constraints)

    def _has_one_value(self, joint: str) -> bool:
        cut = joint in self.model.cuts
        return self.determinate[joint] if cut else one_value_through(self.constraints, self._loose, joint)

    @property
    def left_open(self) -> tuple[str, ...]:
        """Constraints that were not imposed: none."""
        return ()

    @cached_property
    def forces(self) -> Mapping[str, Wrench]:
        """Force of every grasp, cut joint and tree joint, on the object (child) by the arm (parent)."""
        return ClosedChainForces(self)

    def load(
        self, body: str, split: str = "pseudo_inverse", masses: Mapping[str, tuple[float, float]] | None = None
    ) -> LoadSplit:
        """How the grasps of `body`, cut or in the tree, share its load; see `load.split_load` for the ways to split."""
        held = [name for name, grasp in self.model.grasps.items() if grasp.body == body]
        if not held:
            holding = dict.fromkeys(grasp.body for grasp in self.model.grasps.values())
            raise UnknownNameError("body held by grasps", body, holding)
        contacts = {name: kinematics(self.model, self.state).joint(name) for name in held}
        wrenches = {name: self.forces[name].about(contacts[name].child_frame.translation) for name in held}
        bases = {name: across(contacts[name].directions) for name in held}
        return split_load(wrenches, self.constraints.centre_of(body), split, bases, masses)

    @cached_property
    def constraint_residual(self) -> float:
        """|J a - gamma| relative to |J| (|a| + |free a|) + |gamma|, largest entries.

        The accelerations that the same torques would give with the loops open are in the scale, for a mechanism that
        cannot move has no others.
        """
        jacobian, bias = self.constraints.jacobian, self.constraints.bias
        free = tree_forward_dynamics(self.model, self.state, self.tau).a
        scale = np.abs(jacobian) @ (np.abs(self.a) + np.abs(free)) + np.abs(bias)
        return float(np.abs(jacobian @ self.a - bias).max(initial=0.0) / max(scale.max(initial=0.0), 1e-300))


class ClosedChainForces(Mapping[str, Wrench]):
    """Wrenches by name: grasps and cut joints first, then tree joints; actuator and bearing together."""

    def __init__(self, solution: ClosedChainSolution) -> None:
        self._cut = _cut_wrenches(solution.constraints, solution.answer.multipliers)
        for name, push in solution.actuators.items():
            self._cut[name] += push
        self._tree = solution.tree_forces

    def __getitem__(self, name: str) -> Wrench:
        if name in self._cut:
            return self._cut[name]
        return self._tree[name]  # says why there is none

    def __iter__(self) -> Iterator[str]:
        return iter([*self._cut, *self._tree])

    def __len__(self) -> int:
        return len(self._cut) + len(self._tree)


def _cut_wrenches(rows: Constraints, multipliers: np.ndarray) -> dict[str, Wrench]:
    """N* lambda of every cut: on its child by its parent."""
    wrenches, start = {}, 0
    for part in rows.cuts:
        stop = start + len(part.basis)
        f = part.basis.T @ multipliers[start:stop]
        cut = part.cut
        wrenches[cut.name] = Wrench(f[:3], f[3:], part.point, on=cut.child.body, by=cut.parent.body)
        start = stop
    return wrenches


def forward_dynamics(
    model: Model, state: State, tau: Values = None, external: External | None = None, solver: str = "structured"
) -> ClosedChainSolution:
    """Accelerations and forces with every cut joint, grasp and coupling imposed as a hard constraint.

    Parameters
    ----------
    model, state : Model, State
        What, and where it is; the state must satisfy the constraints (`assemble` and `project` see to that).
    tau : array or mapping, optional
        Generalised forces, nv entries, or by arm or joint, cut joints included; zero where not named.
    external : mapping, optional
        Wrenches on bodies: name -> [torque; force] at the body's origin, world axes, or a `Wrench`.
    solver : str
        "structured" (O(n) + O(l) for l arms that can move their tips in every way), "rccfd1", "rccfd2", "rccfd3" (JPL
        88-11-II, O(n) + O(l^3)) or "dense" (the KKT system, an oracle).

    Returns
    -------
    ClosedChainSolution
        `a`, `forces[name]` for every grasp, cut joint and tree joint, `rank`, `determinate[name]`, `residual`.

    Warns
    -----
    ImmobileWarning
        The constraints leave no way to move: the answer is right, but there is no motion to compute.
    """
    if solver not in SOLVERS:
        raise UnknownNameError("solver", solver, SOLVERS)
    model = model.complete(state)
    rows = constraints(model, state)
    require_closed(rows)
    problem = make_problem(model, state, rows, tau, external)
    answer = SOLVERS[solver](problem)
    _require_consistent(rows, answer)
    if rows.names and answer.rank == model.nv:
        warnings.warn(
            f"{model.name!r} cannot move here: its {len(rows.names)} constraint rows leave none of its {model.nv} "
            f"velocities free, and the forces are those of a structure at rest",
            ImmobileWarning,
            stacklevel=2,
        )
    return closed_solution(problem, answer, solver)


def closed_solution(problem: Problem, answer: Answer, method: str) -> ClosedChainSolution:
    """The solution that an answer stands for: constraint forces act on the bodies like any others."""
    rows = problem.constraints
    acting = dict(problem.external)
    for wrench in _cut_wrenches(rows, answer.multipliers).values():
        for one in (wrench, -wrench):
            acting[one.on] = (*acting.get(one.on, ()), one)
    return ClosedChainSolution(
        problem.model, problem.state, answer.a, problem.tau, acting, method, rows, answer, problem.actuators
    )


def require_closed(rows: Constraints) -> None:
    """Raise unless the state satisfies the constraints."""
    gaps: dict[str, float] = {}
    for what, errors, names, unit, remedy, tolerance in (
        ("open", rows.gap, rows.gap_names, "", "assemble", POSITION_TOLERANCE),
        ("slipping", rows.slip, rows.names, "/s", "project", VELOCITY_TOLERANCE),
    ):
        for name, error in zip(names, np.abs(errors), strict=True):
            if not error <= tolerance:
                gaps[name] = max(gaps.get(name, 0.0), float(error))
        if gaps:
            worst = max(gaps, key=lambda name: gaps[name])
            raise OpenLoopError(
                f"the state is off the constraints: {worst!r} is {what} by {gaps[worst]:.3g} m{unit} or rad{unit}; "
                f"multiarm.{remedy} brings it back",
                gaps,
            )


def _require_consistent(rows: Constraints, answer: Answer) -> None:
    """Raise if redundant rows ask for different things."""
    off = np.abs(rows.jacobian @ answer.a - rows.bias)
    scale = np.abs(rows.jacobian) @ np.abs(answer.a) + np.abs(rows.bias)
    limits = np.maximum(1e-6 * np.maximum(scale, 1.0), 1e-10 * scale.max(initial=0.0))
    if np.any(off > limits):
        concerned = dict.fromkeys(name for name, broken in zip(rows.names, off > limits, strict=True) if broken)
        raise ContradictionError(concerned, float(off[off > limits].max()))
