"""Through singular poses with fifty digits: two planar arms and a bar, solved again by mpmath from the same numbers."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import null_space

import multiarm as ma
from multiarm.constraints import constraints
from multiarm.solvers import SOLVERS

mp = pytest.importorskip("mpmath", reason="the test extra brings mpmath").mp

LENGTHS, MASSES = (0.5, 0.4, 0.2), (3.0, 2.0, 1.0)
BAR, INERTIA, GRAVITY = 2.0, 0.05, 9.81
IN_PLANE = [2, 3, 4]  # turn, x and y, of [omega; v] and of [torque; force]
ROUNDING = 2.0**-53


# ---------------------------------------------------------------------- the mechanism here


class Pair:
    """Two planar arms of three rods hold a bar where their tips happen to be."""

    def __init__(self, bases, one, two, bar, seed=0, moving=True):
        self.bases, self.bar = bases, bar
        m = ma.Mechanism("two arms and a bar")
        for side, base in bases.items():
            m.add_arm(side, ma.robots.planar(3, length=LENGTHS, mass=MASSES), base=(*base, 0))
        m.add_body("bar", mass=BAR, inertia=(0.03, 0.03, INERTIA), pose=(*bar, 0))
        q = {"one": one, "two": two}
        free = m.compile()
        kin = ma.kinematics(free, free.state(q=q))
        self.levers = {}
        for side in bases:
            at = kin.pose("bar").inv() * kin.pose(f"{side}/tip")
            self.levers[side] = at.translation[:2]
            m.grasp(side, "bar", at=at)
        self.model = m.compile(gravity=(0, -GRAVITY, 0))
        rng = np.random.default_rng(seed)
        self.tau = rng.normal(size=6) * 5.0
        self.state = self.model.state(q=q)
        if moving:
            ways = null_space(constraints(self.model, self.state).jacobian, rcond=1e-12)
            self.state = self.state.replace(v=ways @ (ways.T @ rng.normal(size=self.model.nv)))

    def solve(self, solver):
        return ma.forward_dynamics(self.model, self.state, np.concatenate([self.tau, np.zeros(6)]), solver=solver)

    def answer(self, solver):
        """Six joint accelerations, those of the bar, and the wrenches on it, in the plane."""
        solution = self.solve(solver)
        a = np.concatenate([solution.a[:6], solution.acceleration("bar")[IN_PLANE]])
        return a, np.concatenate([solution.forces[side].array[IN_PLANE] for side in self.bases])

    def weakest(self):
        """Least eigenvalue of Omega over its largest, of the directions in the plane."""
        rows = constraints(self.model, self.state).jacobian
        s = np.linalg.svd(np.linalg.solve(np.linalg.cholesky(ma.mass_matrix(self.model, self.state)), rows.T))[1]
        return (s[8] / s[0]) ** 2

    def weakest_of_arm(self):
        """Least eigenvalue over the largest of the compliance at the first tip, in the plane."""
        compliance = ma.operational_compliance(self.model, self.state, ["one/tip"])[np.ix_(IN_PLANE, IN_PLANE)]
        values = np.linalg.eigvalsh(compliance)
        return values[0] / values[2]


# ---------------------------------------------------------------------- the same with fifty digits


def exact(pair):
    """Accelerations and forces from the KKT system in the plane, every number as the double it is."""
    with mp.workdps(50):
        mass, rest, rows, bias = mp.zeros(9), mp.zeros(9, 1), mp.zeros(6, 9), mp.zeros(6, 1)
        for i, side in enumerate(pair.bases):
            columns = range(3 * i, 3 * i + 3)
            q, v = ([mp.mpf(x) for x in array[3 * i : 3 * i + 3]] for array in (pair.state.q, pair.state.v))
            tip, tip_bias = add_arm(mass, rest, columns, q, v)
            lever, spin = [mp.mpf(x) for x in pair.levers[side]], mp.mpf(pair.state.v[8])
            on_bar = [[1, 0, 0], [-lever[1], 1, 0], [lever[0], 0, 1]]
            bar_bias = [0, -(spin**2) * lever[0], -(spin**2) * lever[1]]
            for r in range(3):
                for c in range(3):
                    rows[3 * i + r, 3 * i + c] = -tip[r][c]
                    rows[3 * i + r, 6 + c] = on_bar[r][c]
                bias[3 * i + r] = tip_bias[r] - bar_bias[r]
        for k, value in enumerate((INERTIA, BAR, BAR)):
            mass[6 + k, 6 + k] = mp.mpf(value)
        rest[8] = mp.mpf(BAR) * mp.mpf(GRAVITY)
        return solved(mass, rest, rows, bias, pair.tau)


def add_arm(mass, rest, columns, q, v):
    """Lagrange's equations of three rods into `mass` and `rest`; Jacobian and bias acceleration of the tip."""
    angles, rates = ([mp.fsum(x[: k + 1]) for k in range(3)] for x in (q, v))
    lengths, kilograms = ([mp.mpf(x) for x in values] for values in (LENGTHS, MASSES))
    for k in range(3):
        reach = [*lengths[:k], lengths[k] / 2]
        jacobian, bias = point(reach, angles, rates)
        inertia = [kilograms[k] * lengths[k] ** 2 / 12, kilograms[k], kilograms[k]]
        push = [0, kilograms[k] * bias[1], kilograms[k] * (bias[2] + mp.mpf(GRAVITY))]
        for i, row in enumerate(columns):
            rest[row] += mp.fsum(jacobian[r][i] * push[r] for r in range(3))
            for j, column in enumerate(columns):
                mass[row, column] += mp.fsum(jacobian[r][i] * inertia[r] * jacobian[r][j] for r in range(3))
    return point(lengths, angles, rates)


def point(reach, angles, rates):
    """Jacobian (turn, x, y) with respect to the joints and bias acceleration of the end of the rods given."""
    jacobian, bias = [[mp.mpf(0)] * 3 for _ in range(3)], [mp.mpf(0)] * 3
    for k, length in enumerate(reach):
        x, y = length * mp.cos(angles[k]), length * mp.sin(angles[k])
        for j in range(k + 1):
            jacobian[1][j] -= y
            jacobian[2][j] += x
        bias[1] -= rates[k] ** 2 * x
        bias[2] -= rates[k] ** 2 * y
    for j in range(len(reach)):
        jacobian[0][j] = mp.mpf(1)
    return jacobian, bias


def solved(mass, rest, rows, bias, tau):
    kkt, right = mp.zeros(15), mp.zeros(15, 1)
    for i in range(9):
        right[i] = (mp.mpf(tau[i]) if i < 6 else mp.mpf(0)) - rest[i]
        for j in range(9):
            kkt[i, j] = mass[i, j]
    for i in range(6):
        right[9 + i] = bias[i]
        for j in range(9):
            kkt[9 + i, j], kkt[j, 9 + i] = rows[i, j], -rows[i, j]
    unknowns = np.array([float(x) for x in mp.lu_solve(kkt, right)])
    return unknowns[:9], unknowns[9:]


# ---------------------------------------------------------------------- an arm becomes straight while the other holds

BASES = {"one": (-0.7, 0.0), "two": (0.6, 0.1)}


def bent(off):
    """The first arm `off` from straight, the second bent: K of the first loses rank, Omega does not."""
    return Pair(BASES, (0.9, off, -off / 3), (2.6, -1.1, -0.8), (-0.05, 0.9))


def turn_for(build, measure, eigenvalue):
    """How far off a singular pose the relative eigenvalue is as given; it grows with the square."""
    return 1e-3 * np.sqrt(eigenvalue / measure(build(1e-3)))


EIGENVALUES = [10.0**-k for k in range(6, 15)]
FAINTEST = [10.0**-k for k in range(16, 25, 2)]  # the row itself is 1e-8 ... 1e-12 of the largest


@pytest.mark.parametrize("eigenvalue", EIGENVALUES)
def test_a_nearly_straight_arm_costs_no_digits(eigenvalue):
    pair = bent(turn_for(bent, Pair.weakest_of_arm, eigenvalue))
    assert pair.weakest() > 1e-5
    a, forces = exact(pair)
    for solver in SOLVERS:
        found, pressing = pair.answer(solver)
        assert_allclose(found, a, rtol=0, atol=1e-12 * np.abs(a).max(), err_msg=solver)
        assert_allclose(pressing, forces, rtol=0, atol=1e-11 * np.abs(forces).max(), err_msg=solver)


def test_the_answer_is_continuous_where_an_arm_is_straight():
    a, forces = exact(bent(0.0))
    for off in (0.0, *(sign * 10.0**-k for k in range(4, 17) for sign in (1, -1))):
        pair = bent(off)
        for solver in SOLVERS:
            found, pressing = pair.answer(solver)
            assert_allclose(found, a, rtol=0, atol=(1e-12 + 50 * abs(off)) * np.abs(a).max(), err_msg=solver)
            assert_allclose(pressing, forces, rtol=0, atol=(1e-11 + 50 * abs(off)) * np.abs(forces).max())
            assert pair.solve(solver).rank == 9


# ---------------------------------------------------------------------- both arms in line: Omega loses rank


def in_line(off, moving=False):
    """Both arms and the bar nearly on one line between the bases: a dead point."""
    bases = {"one": (-1.3, 0.0), "two": (1.3, 0.0)}
    return Pair(bases, (off, -2 * off, off / 2), (np.pi - off / 3, off, off), (0.0, 0.0), moving=moving)


@pytest.mark.parametrize("moving", [False, True])
@pytest.mark.parametrize("eigenvalue", [*EIGENVALUES, *FAINTEST])
def test_near_a_dead_point_no_more_digits_are_lost_than_must_be(eigenvalue, moving):
    pair = in_line(turn_for(in_line, Pair.weakest, eigenvalue), moving)
    lost = 100 * ROUNDING / np.sqrt(pair.weakest())  # the last digit of a weak row
    a, forces = exact(pair)
    for solver in SOLVERS:
        found, pressing = pair.answer(solver)
        assert_allclose(found, a, rtol=0, atol=lost * np.abs(a).max(), err_msg=solver)
        assert_allclose(pressing, forces, rtol=0, atol=lost * np.abs(forces).max(), err_msg=solver)
        assert pair.solve(solver).rank == 9


@pytest.mark.parametrize("solver", SOLVERS)
def test_at_the_dead_point_one_row_is_redundant_and_says_so(solver):
    near, at = (in_line(off).solve(solver) for off in (1e-3, 0.0))
    assert (near.rank, at.rank) == (9, 8)
    assert max(at.residual, at.constraint_residual) < 1e-12
    assert not any(at.determinate.values())


# ---------------------------------------------------------------------- a file gives its axes with so many digits


@pytest.mark.parametrize("tilt", [0.0, *(10.0**-k for k in range(10, 17))])
def test_a_four_bar_whose_axes_are_parallel_but_for_rounding_still_moves(tilt):
    """Its redundant rows are as large as the tilt, and its loop stays open by as much: that tells them from weak ones.

    Exactly taken it is a structure, for two of its axes are not parallel.
    """
    m = ma.Mechanism("four-bar")
    for name, length in zip("abc", (0.3, 0.8, 0.5), strict=True):
        m.add_body(name, mass=1.0, inertia=(0.01, 0.02, 0.02), com=(length / 2, 0, 0))
    m.add_joint("crank", "revolute", "world", "a", axis=(0, 0, 1))
    m.add_joint("knee", "revolute", "a", "b", axis=(0, 0, 1), at=ma.pose((0.3, 0, 0), rpy=(tilt, 0, 0)))
    m.add_joint("elbow", "revolute", "b", "c", axis=(0, 0, 1), at=(0.8, 0, 0))
    m.add_joint("rocker", "revolute", "world", "c", axis=(0, 0, 1), at=(0.7, 0, 0), in_child=(0.5, 0, 0))
    model = m.compile(cuts=["elbow"], gravity=(0, -GRAVITY, 0))
    state = ma.assemble(model, {"crank": 1.0, "knee": -0.5, "rocker": 2.0})
    expected = ma.forward_dynamics(model, state, [1.0, 0.0, 0.0], solver="dense").a
    for solver in SOLVERS:
        solution = ma.forward_dynamics(model, state, [1.0, 0.0, 0.0], solver=solver)
        assert solution.rank == 2
        assert np.abs(solution.a).max() > 1.0
        assert_allclose(solution.a, expected, rtol=1e-9, err_msg=solver)
