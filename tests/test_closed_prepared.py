"""Prepared closed-chain calls and the kernels behind them: same answers, nothing allocated, one instance per thread."""

import numpy as np
import operator_rccfd
import pytest
from hypothesis import given, settings
from numba import njit
from numba.core.runtime import _nrt_python, rtsys
from numpy.testing import assert_allclose
from test_closed_chain_laws import descriptions, team

import multiarm as ma
from multiarm import kernels
from multiarm.constraints import constraints
from multiarm.prepared import CLOSED
from multiarm.solvers.problem import make_problem
from multiarm.sweeps.blocks import STRONG
from multiarm.sweeps.omega import omega_tables


@pytest.fixture(scope="module", params=["three arms", "torso", "planar"])
def drawn(request):
    """A team with strong directions only, one whose arms share a torso, and one with redundant rows."""
    if request.param == "planar":
        return two_planar_arms()
    return team(3, arms=3, joints=7, torso=request.param == "torso")


def two_planar_arms():
    m = ma.Mechanism("two planar arms and a bar")
    m.add_arm("left", ma.robots.planar(3), base=ma.pose((-0.8, 0, 0)))
    m.add_arm("right", ma.robots.planar(3), base=ma.pose((0.8, 0, 0)))
    m.add_body("bar", mass=2.0, inertia=(0.02, 0.1, 0.1), pose=(0, 1.2, 0))
    q = {"left": np.array([1.2, 0.4, -0.7]), "right": np.array([2.1, -0.5, 0.6])}
    loose = m.compile()
    kin = ma.kinematics(loose, loose.state(q=q))
    for name in q:
        m.grasp(name, "bar", at=kin.pose("bar").inv() * kin.pose(f"{name}/tip"), kind="rigid")
    model = m.compile(gravity=(0, -9.81, 0))
    state = ma.project(model, model.state(q=q, v=np.random.default_rng(0).normal(size=model.nv)))
    return type("Drawn", (), {"model": model, "state": state, "tau": {"left": [1, 2, 3], "right": [-1, 0.5, 2]}})()


def arrays(drawn):
    tau = drawn.model.forces(drawn.tau)
    return np.array(drawn.state.q), np.array(drawn.state.v), np.array(tau), np.empty(drawn.model.nv)


@pytest.mark.parametrize("solver", CLOSED)
def test_prepared_calls_equal_forward_dynamics(drawn, solver):
    calls = ma.compiled(drawn.model)
    expected = ma.forward_dynamics(drawn.model, drawn.state, drawn.tau, solver=solver)
    found = calls.forward_dynamics_by(solver)(*arrays(drawn))
    assert np.array_equal(found, expected.a)
    assert np.array_equal(calls.multipliers, expected.answer.multipliers)
    assert calls.rank == expected.rank
    for name in drawn.model.cuts:
        assert_allclose(calls.force(name), expected.forces[name].array, rtol=0, atol=1e-12)


def test_a_state_is_forgotten_by_the_next(drawn):
    """Nothing of one state is left in the tables when another is solved, weak or not."""
    calls = ma.compiled(drawn.model)
    q, v, tau, out = arrays(drawn)
    first = calls.forward_dynamics(q, v, tau, out).copy()
    for solver in CLOSED:
        calls.forward_dynamics_by(solver)(q, -2.0 * v, 3.0 * tau, out)
    assert np.array_equal(calls.forward_dynamics(q, v, tau, out), first)


def test_wrenches_on_bodies_count_with_the_loops_closed(drawn):
    calls = ma.compiled(drawn.model)
    body = next(cut.child.body for cut in drawn.model.cuts.values())
    calls.external[calls.link_of(body)] = (1, 2, 3, 4, 5, 6)
    expected = ma.forward_dynamics(drawn.model, drawn.state, drawn.tau, external={body: [1, 2, 3, 4, 5, 6]})
    found = calls.forward_dynamics(*arrays(drawn))
    assert_allclose(found, expected.a, rtol=0, atol=1e-11 * np.abs(expected.a).max())


def test_without_constraints_the_loops_are_the_tree():
    m = ma.Mechanism()
    m.add_arm("arm", ma.robots.panda())
    calls = ma.compiled(m.compile())
    assert calls.forward_dynamics is calls.tree_forward_dynamics


def test_what_cannot_be_prepared_says_so(drawn):
    calls = ma.compiled(drawn.model)
    with pytest.raises(ma.UnknownNameError, match=r"structured.*rccfd1"):
        calls.forward_dynamics_by("dense")
    with pytest.raises(ma.UnknownNameError, match="cut joint or grasp"):
        calls.force("nobody")
    q, v, tau, out = arrays(drawn)
    with pytest.raises(ma.BadInputError, match="nv"):
        calls.forward_dynamics(q, v[1:].copy(), tau, out)
    m = ma.Mechanism()
    m.add_arm("arm", ma.robots.panda())
    m.add_body("box", mass=1.0, inertia=(1, 1, 1))
    m.grasp("arm", "box", at=None)
    model = m.compile()
    q, v, tau, out = np.array(model.neutral), *np.zeros((3, model.nv))
    calls = ma.compiled(model)
    calls.tree_forward_dynamics(q, v, tau, out)
    with pytest.raises(ma.DescriptionError, match="assemble"):
        calls.forward_dynamics(q, v, tau, out)


@pytest.fixture
def allocations():
    """Blocks that compiled code has asked Numba's runtime for so far."""
    enabled = _nrt_python.memsys_stats_enabled()
    _nrt_python.memsys_enable_stats()
    yield lambda: rtsys.get_allocation_stats().alloc
    if not enabled:
        _nrt_python.memsys_disable_stats()


@pytest.mark.parametrize("solver", CLOSED)
def test_kernels_allocate_nothing(drawn, solver, allocations):
    kernel = getattr(kernels, solver)

    @njit
    def repeat(tree, link, loop, cut, room, q, v, tau, out, passes):
        for _ in range(passes):
            kernel(tree, link, loop, cut, room, q, v, tau, out)

    calls = ma.compiled(drawn.model)
    tables = (calls.tree, calls.link, calls.loops.loop, calls.loops.cut, calls.loops.room, *arrays(drawn))
    repeat(*tables, 1)
    before = allocations()
    repeat(*tables, 0)
    entry = allocations() - before  # handing the arrays over costs the same however many steps there are
    repeat(*tables, 50)
    assert allocations() - before == 2 * entry


@settings(derandomize=True, deadline=None, max_examples=15)
@given(descriptions)
def test_kernels_compute_what_the_operators_say(description):
    """Omega entry by entry, and accelerations and multipliers by the sources' own formulas."""
    drawn = team(**description)
    rows = constraints(drawn.model, drawn.state)
    problem = make_problem(drawn.model, drawn.state, rows, drawn.tau, None)
    seen = operator_rccfd.Whitened(problem)
    expected = seen.constraint.T @ (seen.o.D_inverse @ seen.constraint)
    calls = ma.compiled(drawn.model)
    for solver in ("rccfd1", "rccfd2", "rccfd3"):
        answer = getattr(operator_rccfd, solver)(problem)
        found = calls.forward_dynamics_by(solver)(*arrays(drawn))
        free = ma.tree_forward_dynamics(drawn.model, drawn.state, drawn.tau).a
        size = max(np.abs(free).max(), np.abs(answer.a).max())
        if ma.mobility(drawn.model, drawn.state).conditioning > 1e-3:
            assert_allclose(found, answer.a, rtol=0, atol=1e-9 * size)
        assert calls.rank == answer.rank
    if calls.rank == len(expected) and np.linalg.cond(expected) < 1e10:
        factor = np.linalg.cholesky(expected)
        if np.all(np.diag(factor) ** 2 > 2.0 * STRONG * np.diag(expected)):  # otherwise it is turned, not factored
            lower = omega_tables(calls.loops.loop, calls.loops.room)[0]
            found = np.tril(lower, -1) + np.diag(1.0 / np.diag(lower))
            assert_allclose(found @ found.T, expected, rtol=0, atol=1e-11 * np.abs(expected).max())
