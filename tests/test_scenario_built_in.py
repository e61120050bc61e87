"""The built-in scenarios: they assemble, stay away from limits and singularities, and do what they say."""

import numpy as np
import pytest

import multiarm as ma
from multiarm.scenario import Scenario, load_scenario, scenarios
from multiarm.scenario.overview import overview_of
from multiarm.scenario.running import prepare, run, summary_of, tracking_of

NAMES = tuple(scenarios())


def test_the_scenarios_that_the_documentation_names_are_there():
    assert {
        "two_pandas_lift", "three_arms_plate", "five_planar_arms", "torso_two_arms", "free_flyer_catch", "four_bar",
        "stewart",
    } <= set(NAMES)  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_its_paths_can_be_followed_away_from_limits_and_singularities(name):
    overview = overview_of(load_scenario(name), along_paths=True)
    assert overview.scenario.name == name
    assert overview.closure < 1e-9
    for where in overview.reach:
        assert where.limit_margin > 0.1  # rad or m
        assert where.conditioning > 0.05
    assert all(used < 0.85 for used in overview.effort.values())


@pytest.mark.parametrize("name", NAMES)
def test_it_runs(name):
    ready = prepare(load_scenario(name).with_simulation(duration=0.05))
    summary = summary_of(ready, run(ready))
    assert summary.time == pytest.approx(0.05)
    assert summary.closure < 1e-10
    assert summary.energy_drift < 1e-6
    assert not [event for event in summary.events if event["kind"] in ("slip", "limit")]


def test_two_pandas_lift_to_a_millimetre_with_the_squeeze_they_are_told():
    ready = prepare(load_scenario("two_pandas_lift"))
    trajectory = run(ready)
    summary = summary_of(ready, trajectory)
    assert summary.tracking["box"].position < 1e-3
    assert all(arm.used < 1.0 for arm in summary.arms.values())
    assert np.all(np.abs(trajectory.tau) <= ready.model.effort_limit)
    for grasp in summary.grasps.values():
        assert grasp.internal_mean == pytest.approx(20.0, rel=0.01)
        assert grasp.internal_peak == pytest.approx(20.0, rel=0.01)
    highest = trajectory["q"].sel(coordinate="box.z").values.max()
    assert highest == pytest.approx(0.6, abs=1e-3)
    assert summary.closure < 1e-12


def test_the_free_flyer_keeps_its_momentum_through_the_catch():
    ready = prepare(load_scenario("free_flyer_catch").with_simulation(duration=3.0))
    trajectory = run(ready)
    assert [event.kind for event in trajectory.events] == ["hold", "hold"]
    model = ready.model
    began = ma.momentum(model, ready.start)
    size = np.linalg.norm(began.linear)
    assert size == pytest.approx(20.0 * 0.1)
    for t in (1.0, 2.5, 3.0):
        now = ma.momentum(model, trajectory.state(t))
        assert np.linalg.norm(now.linear - began.linear) < 1e-10 * size
        assert np.array_equal(now.point, began.point)
        assert np.linalg.norm(now.angular - began.angular) < 1e-10 * size
    relative = trajectory.final.v[model.v_slice("cube")][3] - trajectory.final.v[model.v_slice("base")][3]
    assert abs(relative) < 0.02  # m/s: the cube is being braked


def test_the_four_bar_keeps_its_energy():
    ready = prepare(load_scenario("four_bar").with_simulation(duration=2.0, method="dop853"))
    summary = summary_of(ready, run(ready))
    assert summary.energy_drift < 1e-9 * summary.energy_scale


def test_elements_disturbances_and_actions_reach_the_simulation():
    text = """
name: everything
gravity: [0, 0, 0]
bodies:
  slider: {mass: 2.0, inertia: [1, 1, 1]}
  weight: {mass: 1.0, inertia: [1, 1, 1], pose: [0, 1, 0]}
joints:
  rail: {kind: prismatic, parent: world, child: slider, axis: [1, 0, 0]}
grasps:
  latch: {by: slider, body: weight, active: false}
elements:
  spring: {kind: joint_spring, joint: rail, stiffness: 8.0, rest: 0.5}
disturbances:
  push: {body: weight, force: [0, 0, 3], start: 0.5, stop: 1.0}
actions:
  - {time: 1.5, do: payload, body: weight, mass: 3.0}
  - {time: 1.6, do: dock, grasp: latch}
simulation: {duration: 2.0, dt: 1.0e-3}
"""
    ready = prepare(Scenario.read(text))
    trajectory = run(ready)
    data = trajectory.dataset
    time = trajectory.time
    free = time <= 1.5
    rail = data["q"].sel(coordinate="rail").values
    assert np.allclose(rail[free], 0.5 - 0.5 * np.cos(2.0 * time[free]), atol=1e-9)
    weight = data["v"].sel(velocity="weight.vz").values
    assert weight[np.searchsorted(time, 1.2)] == pytest.approx(1.5, abs=1e-9)
    assert [event.kind for event in trajectory.events] == ["payload", "hold"]
    # a plastic impact: the slide keeps the momentum along itself only, of 2 kg before and 5 kg after
    before, after = (data["v"].sel(velocity="rail").values[np.searchsorted(time, t)] for t in (1.599, 1.601))
    assert after == pytest.approx(before * 2.0 / 5.0, abs=5e-3)


def test_prescribed_joints_follow_their_laws():
    text = """
name: laws
bodies:
  one: {mass: 1.0, inertia: [1, 1, 1], com: [0.5, 0, 0]}
  two: {mass: 1.0, inertia: [1, 1, 1], com: [0.5, 0, 0]}
joints:
  a: {kind: revolute, parent: world, child: one, axis: [0, 1, 0]}
  b: {kind: revolute, parent: one, child: two, at: [1, 0, 0], axis: [0, 1, 0]}
prescribed:
  a: {kind: sine, amplitude: 10 deg, frequency: 0.5}
  b: {kind: quintic, points: [{time: 0.5, value: 30 deg}, {time: 1.0, value: 0}]}
start: {guess: {a: 0.3, b: 0.1}}
simulation: {duration: 1.0, dt: 1.0e-3}
"""
    trajectory = run(prepare(Scenario.read(text)))
    a, b = trajectory.q.T
    assert np.allclose(a, 0.3 + np.radians(10) * np.sin(np.pi * trajectory.time), atol=1e-9)
    assert (b[0], b[500], b[-1]) == pytest.approx((0.1, np.radians(30), 0.0), abs=1e-9)


def test_tracking_by_coordinates_is_tracking_by_kinematics():
    ready = prepare(load_scenario("stewart").with_simulation(duration=0.2))
    trajectory = run(ready)
    tracked = tracking_of(ready, trajectory)["platform"]
    from multiarm.scenario.driving import paths_of

    path = paths_of(ready.scenario.content.controller.paths, ready.model, ready.start, ready.scenario.folder)[
        "platform"
    ]
    for i in (0, len(tracked.time) // 2, -1):
        pose = ma.kinematics(ready.model, trajectory.state(tracked.time[i])).pose("platform")
        wanted = path(float(tracked.time[i]))[0]
        assert tracked.distance[i] == pytest.approx(np.linalg.norm(pose.translation - wanted.translation), abs=1e-15)
        assert tracked.angle[i] == pytest.approx((pose.rotation * wanted.rotation.inv()).magnitude(), abs=1e-9)
