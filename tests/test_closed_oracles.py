"""Closed chains against answers found another way: reduced coordinates, published numbers, conserved energy."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from closed_mechanisms import (
    DOWN,
    LINKAGES,
    Linkage,
    Places,
    arms_and_bar,
    body_equation,
    parallelogram,
    state_from_motion,
)
from numpy.testing import assert_allclose
from random_mechanisms import rate_of_change
from scipy.spatial.transform import RigidTransform, Rotation

import multiarm as ma
from multiarm.constraints import constraints
from multiarm.manifold import advance
from multiarm.solvers import SOLVERS

DATA = Path(__file__).parent / "data"
IN_PLANE = [3, 4, 2]  # x, y and the turn, of [omega; v]

# ---------------------------------------------------------------------- reduced coordinates

SECOND_8 = ((0, -205 / 144), (1, 8 / 5), (2, -1 / 5), (3, 8 / 315), (4, -1 / 560))
STEP = 0.02


def bend(function):
    """d^2/dt^2 of function(t) at 0 by central differences of order eight."""
    return sum(weight * (function(k * STEP) + function(-k * STEP)) for k, weight in SECOND_8) / STEP**2


@dataclass(frozen=True)
class Reduced:
    """Motion of a linkage in its minimal coordinates y, from nothing but the poses of its bodies as functions of y.

    Every body moves as J_i y-dot, and accelerates as J_i y-ddot + b_i; Newton and Euler for each, projected on the
    J_i, leave as many equations as there are y (d'Alembert).
    """

    linkage: Linkage

    def shifts(self, y: np.ndarray) -> np.ndarray:
        """How far bodies have turned and moved from where they are: [rotation vector; shift of the origin] each."""
        moved = zip(self.poses.values(), self.linkage.place(y).values(), strict=True)
        return np.array(
            [
                np.concatenate([(to.rotation * by.rotation.inv()).as_rotvec(), to.translation - by.translation])
                for by, to in moved
            ]
        )

    @property
    def poses(self) -> Places:
        return self.linkage.place(self.linkage.y)

    def columns(self) -> dict[str, np.ndarray]:
        """J_i, 6 x len(y) each."""
        y = self.linkage.y
        rates = [rate_of_change(lambda t, way=way: self.shifts(y + t * way), STEP) for way in np.eye(len(y))]
        return dict(zip(self.poses, np.stack(rates, axis=-1), strict=True))

    def solve(self) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
        """Velocities and accelerations of all bodies."""
        linkage, columns, size = self.linkage, self.columns(), len(self.linkage.y)
        velocities = {name: j @ linkage.rates for name, j in columns.items()}
        bent = bend(lambda t: self.shifts(linkage.y + t * linkage.rates))
        biases = dict(zip(columns, bent, strict=True))
        mass, force = np.zeros((size, size)), np.zeros(size)
        for name, j in columns.items():
            body = linkage.mechanism.bodies[name]
            inertia, rest = body_equation(body, self.poses[name], velocities[name], np.array(linkage.gravity))
            mass += j.T @ inertia @ j
            force -= j.T @ (inertia @ biases[name] + rest)
            force += j.T @ linkage.external.get(name, np.zeros(6))
        for name, torque in linkage.torques.items():
            joint = linkage.mechanism.joints[name]
            parent, still = self.poses.get(joint.parent, RigidTransform.identity()), np.zeros((6, size))
            axis = (parent * joint.at).rotation.apply(joint.axis)
            turning = columns.get(joint.child, still)[:3] - columns.get(joint.parent, still)[:3]
            force += torque * axis @ turning
        twice = np.linalg.solve(mass, force)
        return velocities, {name: j @ twice + biases[name] for name, j in columns.items()}


def model_and_state(linkage: Linkage, cuts: str, velocities: dict[str, np.ndarray]) -> tuple[ma.Model, ma.State]:
    model = linkage.mechanism.compile(cuts=cuts, gravity=linkage.gravity)
    poses = linkage.place(linkage.y)

    def pose(name):
        return poses[name] if name in poses else ma.kinematics(model, model.state()).pose(name)

    state = state_from_motion(model, pose, lambda name: velocities.get(name, np.zeros(6)))
    assert np.abs(constraints(model, state).gap).max() < 1e-12
    return model, state


@pytest.mark.parametrize("name", LINKAGES)
def test_accelerations_are_those_of_minimal_coordinates(name):
    linkage = LINKAGES[name]()
    velocities, expected = Reduced(linkage).solve()
    size = max(np.abs(a).max() for a in expected.values())
    for cuts in ("grasps", "shallow"):
        model, state = model_and_state(linkage, cuts, velocities)
        for solver in SOLVERS:
            solution = ma.forward_dynamics(model, state, linkage.torques, linkage.external, solver)
            assert solution.rank == model.nv - len(linkage.y)
            for body, a in expected.items():
                assert_allclose(solution.acceleration(body), a, rtol=0, atol=1e-8 * size, err_msg=f"{solver}, {body}")
        assert ma.mobility(model, state).instantaneous == len(linkage.y)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_parallelogram_in_line_loses_a_row_and_goes_on(solver):
    """At the bifurcation the rank drops against the generic one and two motions are open; nothing raises."""
    generic, in_line, flying_through = parallelogram(0.7, 0.0), parallelogram(0.0, 0.0), parallelogram(0.0, 2.0)
    ranks, freedoms = [], []
    for linkage in (generic, in_line, flying_through):
        for cuts in (["a"], ["b"], ["c"], ["d"]):
            model, state = model_and_state(linkage, cuts, Reduced(linkage).solve()[0])
            solution = ma.forward_dynamics(model, state, linkage.torques, solver=solver)
            ranks.append(solution.rank)
            freedoms.append(ma.mobility(model, state).instantaneous)
            assert max(solution.residual, solution.constraint_residual) < 1e-12
    assert ranks == [2] * 4 + [1] * 8
    assert freedoms == [1] * 4 + [2] * 8


# ---------------------------------------------------------------------- energy


def runge_kutta(model: ma.Model, start: ma.State, step: float, solver: str) -> ma.State:
    """One step, every stage brought back onto the constraints; for hinges, and bodies that turn about one axis."""

    def moved(v: np.ndarray, a: np.ndarray, time: float) -> ma.State:
        return ma.project(model, model.state(q=advance(model, start.q, time * v), v=start.v + time * a))

    stages, slopes = [start], [ma.forward_dynamics(model, start, solver=solver).a]
    for share in (0.5, 0.5, 1.0):
        stages.append(moved(stages[-1].v, slopes[-1], share * step))
        slopes.append(ma.forward_dynamics(model, stages[-1], solver=solver).a)
    weights = np.array([1, 2, 2, 1]) / 6
    return moved(weights @ [stage.v for stage in stages], weights @ slopes, step)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("name", ["four-bar", "parallelogram", "Bennett", "Bricard", "stretched arm"])
def test_energy_is_conserved_to_the_order_of_the_integrator(name, solver):
    linkage = LINKAGES[name]()
    model, start = model_and_state(linkage, "grasps", Reduced(linkage).solve()[0])
    before, drifts = ma.energy(model, start), []
    for steps in (4, 12):
        state = start
        for _ in range(steps):
            state = runge_kutta(model, state, 0.2 / steps, solver)
        after = ma.energy(model, state)
        drifts.append(abs(after.total - before.total) / max(before.kinetic, after.kinetic))
    assert drifts[0] < 1e-3
    assert drifts[1] < max(drifts[0] / 10, 1e-10)  # 3^4 = 81


# ---------------------------------------------------------------------- published numbers

ROBOTS = {"two_pandas": ma.robots.panda, "two_ur5": ma.robots.ur5}


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("i", range(3))
def test_two_arms_welded_to_a_box_move_and_press_as_pinocchio_says(name, i):
    """A dense KKT with refinement and `pinocchio.constraintDynamics` agree on these numbers to 3e-12."""
    known = {key: np.array(value) for key, value in json.loads((DATA / f"{name}.json").read_text()).items()}
    m = ma.Mechanism(name)
    sides = ("left", "right")
    for side, base in zip(sides, known["base"], strict=True):
        m.add_arm(side, ROBOTS[name](), base=base)
    m.add_body("box", mass=5.0, shape=ma.Box((0.3, 0.3, 0.2)))
    for side, weld in zip(sides, known["weld_box"], strict=True):
        m.grasp(side, "box", at=weld)
    model = m.compile()
    joints, (q, v, a) = model.nv - 6, (known[key][i] for key in ("q", "v", "qdd"))
    turn = Rotation.from_quat(q[joints + 3 :])
    box = np.concatenate([q[joints + 3 :], q[joints : joints + 3]])
    twist = np.concatenate([turn.apply(v[joints + 3 :]), turn.apply(v[joints : joints + 3])])
    state = model.state(q=[*q[:joints], *box], v=[*v[:joints], *twist])
    tips = [ma.kinematics(model, state).pose(f"{side}/tip").rotation for side in sides]
    for solver in SOLVERS:
        solution = ma.forward_dynamics(model, state, known["tau"][i], solver=solver)
        assert_allclose(solution.a[:joints], a[:joints], rtol=0, atol=1e-9 * np.abs(a).max())
        of_box = known["box_twist_acc_world"][i]
        assert_allclose(np.roll(solution.acceleration("box"), 3), of_box, rtol=0, atol=1e-9 * np.abs(of_box).max())
        lam = known["lam"][i]
        for side, tip, push in zip(sides, tips, lam.reshape(2, 6), strict=True):
            wrench = solution.forces[side]
            found = np.concatenate([tip.inv().apply(wrench.force), tip.inv().apply(wrench.torque)])
            assert_allclose(-found, push, rtol=0, atol=1e-9 * np.abs(lam).max(), err_msg=solver)
    assert ma.energy(model, state).total == pytest.approx(known["energy"][i], rel=1e-12)


# x, y and turn of the bar; force x, force y and moment on it at the grasp
BAR_ACCELERATION = (-0.6704131048753812, -12.05354829277823, -22.68305884198603)
ARM_ACCELERATIONS = {
    "one": (-11.762538878478898, 26.536258478680043, -37.45677844218718),
    "two": (35.63804434634024, -33.621644608668745, -24.699458579657517),
}
GRASP_WRENCHES = {
    "one": (-5.380166535179355, -2.723423437282277, -0.8635602404312934),
    "two": (4.039340325428593, -1.763673148274179, -0.27350749810143166),
}


@pytest.mark.parametrize("solver", SOLVERS)
def test_two_planar_arms_hold_a_bar(solver):
    """A planar Newton-Euler and Pinocchio agree on these numbers to 4e-14."""
    model = arms_and_bar().compile(gravity=DOWN)
    q = {
        "one": (0.004828715127549232, 1.8944118300525479, -0.22844421838520046),
        "two": (2.912519067069532, -2.035915548338113, 0.7941928080634777),
        "bar": (*Rotation.from_euler("z", 0.1).as_quat(), 0.05, 0.6, 0),
    }
    v = {
        "one": (-0.4877114429676158, -0.21091528651317948, 0.9986267294807953),
        "two": (-0.30420765503133185, -0.40871082337031794, 1.0129184784016498),
        "bar": (0, 0, 0.3, 0.2, -0.1, 0),
    }
    tau = {"one": (12, 5, 0.5), "two": (10, -4, -0.8)}
    solution = ma.forward_dynamics(model, model.state(q=q, v=v), tau, solver=solver)
    largest = max(np.abs(a).max() for a in ARM_ACCELERATIONS.values())
    assert_allclose(solution.acceleration("bar")[IN_PLANE], BAR_ACCELERATION, rtol=0, atol=1e-9 * largest)
    for side, a in ARM_ACCELERATIONS.items():
        assert_allclose(solution.a[model.v_slice(side)], a, rtol=0, atol=1e-9 * largest)
        assert_allclose(solution.forces[side].array[IN_PLANE], GRASP_WRENCHES[side], rtol=0, atol=1e-9 * 5.4)
    assert (solution.rank, solution.redundancy) == (9, 3)
    assert solution.determinate == {"one": False, "two": False}  # nobody knows the forces across the plane
