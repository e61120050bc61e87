"""Staying on the constraints in three ways, joints that follow laws of time, and batches of runs."""

from __future__ import annotations

import numpy as np
import pytest
from closed_mechanisms import bars
from numpy.testing import assert_allclose

import multiarm as ma

START = 1.0  # rad, of the crank
LAST = 0.3  # s


@pytest.fixture(scope="module")
def linkage() -> tuple[ma.Model, ma.State]:
    """A four-bar that its weight moves: crank 1, rod 2, rocker 1.5, ground 2.2 m; redundant rows."""
    model = bars((1.0, 2.0, 1.5), 2.2).compile(gravity=(0, -9.81, 0))
    return model, ma.assemble(model, {"a": START, "b": -0.5}, hold=("a",))


def energy_error(run: ma.Trajectory) -> float:
    energy = (run["kinetic_energy"] + run["potential_energy"]).values
    return float(np.abs(energy - energy[0]).max() / run["kinetic_energy"].values.max())


@pytest.mark.parametrize(
    ("drift", "closure", "energy"),
    [("project", 1e-13, 1e-8), ("coordinates", 1e-12, 1e-8), ("baumgarte", 1e-7, 1e-6), ("none", 1e-7, 1e-7)],
)
def test_every_way_to_treat_drift_keeps_loops_and_energy(linkage, drift, closure, energy):
    model, state = linkage
    run = ma.simulate(model, state, duration=LAST, drift=drift)
    assert float(run["closure_error"].max()) <= closure
    assert energy_error(run) <= energy


def test_stabilisation_brings_an_open_loop_back(linkage):
    """Baumgarte's law makes a gap decay as (1 + rate t) exp(-rate t); the state starts a little off the constraints."""
    model, state = linkage
    off = np.array(state.q)
    off[model.q_slice("b")] += 1e-8
    rate = 50.0
    gaps = ma.simulate(model, model.state(q=off), duration=LAST, drift="baumgarte", rate=rate)["closure_error"].values
    times = np.arange(len(gaps)) * 1e-3
    decay = (1 + rate * times) * np.exp(-rate * times)
    assert gaps[0] > 5e-9
    assert_allclose(gaps, gaps[0] * decay, atol=0.05 * gaps[0])


def test_coordinates_and_projection_agree(linkage):
    model, state = linkage
    one, other = (ma.simulate(model, state, duration=LAST, drift=drift).q for drift in ("project", "coordinates"))
    assert_allclose(one, other, rtol=0, atol=1e-9)


# ---------------------------------------------------------------------- prescribed joints


def crank_law(t: float) -> tuple[float, float, float]:
    return START + 0.4 * np.sin(3 * t) ** 2, 1.2 * np.sin(6 * t), 7.2 * np.cos(6 * t)


def test_a_path_agrees_with_its_law():
    law = ma.paths.joint_law(crank_law, LAST)
    for t in np.linspace(0, LAST, 37):
        assert_allclose([x[0] for x in law(t)], crank_law(t), rtol=0, atol=1e-7)
        assert_allclose(law(t)[0][0], crank_law(t)[0], rtol=0, atol=1e-12)


@pytest.mark.parametrize("method", ["euler", "rk4", "dop853"])
def test_a_prescribed_crank_follows_its_law_and_its_torque_does_the_work(linkage, method):
    model, state = linkage
    law = ma.paths.joint_law(crank_law, LAST)
    run = ma.simulate(model, state, duration=LAST, prescribed={"a": law}, method=method)
    q, v, a = np.array([law(t) for t in run.time])[:, :, 0].T
    crank = model.q_slice("a").start
    for found, wanted in ((run.q, q), (run.v, v), (run.a, a)):
        assert_allclose(found[:, crank], wanted, rtol=0, atol=1e-9)
    assert float(run["closure_error"].max()) <= 1e-12
    energy = (run["kinetic_energy"] + run["potential_energy"]).values
    limit = {"euler": 2e-2, "rk4": 1e-7, "dop853": 1e-7}[method]
    assert_allclose(run["work"].values, energy - energy[0], rtol=0, atol=limit * np.abs(energy - energy[0]).max())


def test_a_prescribed_joint_of_a_tree_needs_the_torque_of_hybrid_dynamics():
    m = ma.Mechanism()
    m.add_arm("arm", ma.robots.chain(4))
    model = m.compile()
    joint = next(iter(model.joints))
    law = ma.paths.joint_law(ma.sine_law(0.3, 1.5), LAST)
    state = model.state(v={joint: law(0.0)[1]})
    run = ma.simulate(model, state, duration=LAST, prescribed={joint: law})
    for t in (0.0, 0.1, 0.25):
        here, wanted = run.state(t), {joint: law(t)[2]}
        hybrid = ma.hybrid_dynamics(model, here, prescribed=wanted)
        sample = run.at(t)
        assert_allclose(sample["tau"].values[0], hybrid.tau[0], rtol=1e-8, atol=1e-8)
        assert_allclose(sample["a"].values, hybrid.a, rtol=1e-8, atol=1e-8)


def test_prescriptions_that_cannot_be_are_refused(linkage):
    model, state = linkage
    law = ma.paths.joint_law(crank_law, LAST)
    for prescribed, message in (
        ({"nobody": law}, "nobody"),
        ({"a": crank_law}, "JointPath"),
        ({"a": ma.paths.joint_quintic([[0.0], [1.0]], [0.0, 1.0])}, "begins"),
    ):
        with pytest.raises(ma.MultiArmError, match=message):
            ma.simulate(model, state, duration=0.01, prescribed=prescribed)


# ---------------------------------------------------------------------- batches


def test_runs_give_the_same_numbers_alone_and_in_a_batch(linkage):
    model, _ = linkage
    rng = np.random.default_rng(0)
    starts = [ma.assemble(model, {"a": START + 0.1 * x, "b": -0.5}, hold=("a",)) for x in rng.normal(size=6)]
    alone = [ma.simulate(model, start, duration=0.1) for start in starts]
    for workers in (1, 2, 5):
        for one, other in zip(
            alone, ma.simulate_batch([{"state": s} for s in starts], workers, model=model, duration=0.1), strict=True
        ):
            for name in one.channels:
                assert np.array_equal(one[name].values, other[name].values, equal_nan=True), name


def test_a_failed_run_of_a_batch_can_be_returned(linkage):
    model, state = linkage
    broken = {"state": state, "controller": lambda t, state: np.full(3, np.nan)}
    good, bad = ma.simulate_batch([{"state": state}, broken], failures="return", model=model, duration=0.01)
    assert len(good) == 11
    assert isinstance(bad, ma.ControllerError)
    with pytest.raises(ma.ControllerError):
        ma.simulate_batch([broken], model=model, duration=0.01)
