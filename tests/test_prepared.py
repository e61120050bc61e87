"""Prepared calls say what the named functions say, from Python and from compiled code."""

import numpy as np
import pytest
from numba import njit

import multiarm as ma
from multiarm import kernels


@pytest.fixture
def model():
    m = ma.Mechanism()
    m.add_arm("arm", ma.robots.panda())
    m.add_body("box", mass=2.0, shape=ma.Box((0.1, 0.2, 0.3)))
    return m.compile()


@pytest.fixture
def state(model):
    rng = np.random.default_rng(7)
    q = np.array(model.neutral)
    q[:7] = rng.normal(size=7)
    return model.state(q=q, v=rng.normal(size=model.nv))


def arrays(state, count):
    rng = np.random.default_rng(8)
    return np.array(state.q), np.array(state.v), *rng.normal(size=(count, state.model.nv))


def test_prepared_calls_equal_the_named_functions(model, state):
    calls = ma.compiled(model)
    q, v, x, out = arrays(state, 2)
    assert np.array_equal(calls.tree_forward_dynamics(q, v, x, out), ma.tree_forward_dynamics(model, state, x).a)
    assert np.array_equal(calls.inverse_dynamics(q, v, x, out), ma.inverse_dynamics(model, state, x))
    matrix = np.empty((model.nv, model.nv))
    assert np.array_equal(calls.mass_matrix(q, matrix), ma.mass_matrix(model, state))
    rows = np.empty((6, model.nv))
    assert np.array_equal(calls.jacobian(q, calls.frame("arm/tip"), rows), ma.jacobian(model, state, "arm/tip"))
    block = np.empty((12, 12))
    names = ["arm/tip", "arm/panda_link3"]
    expected = ma.operational_compliance(model, state, names)
    assert np.array_equal(calls.operational_compliance(q, calls.frames(*names), block), expected)


def test_hybrid_mask_may_change_from_call_to_call(model, state):
    calls = ma.compiled(model)
    q, v, a, tau = arrays(state, 2)
    a, tau = a.copy(), tau.copy()
    for bits in range(1, 2**7, 11):
        mask = np.zeros(model.nv, bool)
        mask[:7] = [bits >> i & 1 for i in range(7)]
        calls.hybrid_dynamics(q, v, mask, a, tau)
        assert np.allclose(ma.inverse_dynamics(model, state, a), tau, rtol=1e-9, atol=1e-9)


def test_external_wrenches_stay_until_overwritten(model, state):
    calls = ma.compiled(model)
    q, v, tau, out = arrays(state, 2)
    free = calls.forward_dynamics(q, v, tau, out).copy()
    calls.external[calls.link_of("box")] = (1, 2, 3, 4, 5, 6)
    pushed = calls.forward_dynamics(q, v, tau, out).copy()
    assert np.allclose(pushed, ma.tree_forward_dynamics(model, state, tau, external={"box": [1, 2, 3, 4, 5, 6]}).a)
    calls.external[:] = 0.0
    assert np.array_equal(calls.forward_dynamics(q, v, tau, out), free)


def test_kernels_run_inside_a_users_compiled_loop(model, state):
    @njit
    def fall(tree, link, q, v, tau, a, steps, dt):
        """Semi-implicit Euler on the arm's coordinates."""
        for _ in range(steps):
            status = kernels.fd4(tree, link, q, v, tau, a)
            if status != 0:
                return status
            for i in range(7):
                v[i] += dt * a[i]
                q[i] += dt * v[i]
        return 0

    calls = ma.compiled(model)
    q, v, tau, a = arrays(state, 2)
    calls.check(fall(calls.tree, calls.link, q, v, tau, a, 5, 1e-3))

    q2, v2 = np.array(state.q), np.array(state.v)
    for _ in range(5):
        a2 = ma.tree_forward_dynamics(model, model.state(q=q2, v=v2), tau).a
        v2[:7] += 1e-3 * a2[:7]
        q2[:7] += 1e-3 * v2[:7]
    assert np.allclose(q, q2, rtol=1e-13)


def test_two_instances_do_not_disturb_each_other(model, state):
    one, two = ma.compiled(model), ma.compiled(model)
    q, v, tau, out = arrays(state, 2)
    before = one.forward_dynamics(q, v, tau, out).copy()
    two.external[1] = 100.0
    two.forward_dynamics(q, v, tau, np.empty(model.nv))
    assert np.array_equal(one.forward_dynamics(q, v, tau, out), before)
