"""What no integrator may break: energy, momentum, closed loops, unit quaternions, its own order, its own bits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from simulated import apart, closure, energy_error, four_bars, mobile, off_unit, on_parallelograms, swing

import multiarm as ma
from benchmarks.closed_peers import pinocchio_team
from benchmarks.teams import pandas

# ---------------------------------------------------------------------- energy and closed loops


@pytest.mark.parametrize("gravity", [0.0, -9.81])
def test_a_tree_of_balls_and_a_free_body_keeps_its_energy(gravity):
    """Measured: 2e-12 without weight, 6e-13 with it, of a peak that is then as high as it falls."""
    model, state = mobile()
    model = replace(model, gravity=np.array([0.0, 0.0, gravity]), link=_pulled(model, gravity))
    run = ma.simulate(model, model.state(q=state.q, v=state.v), duration=10.0, dt=0.05, method="dop853")
    assert energy_error(run) < 1e-9
    assert off_unit(model, run.q) < 1e-15


def _pulled(model, gravity):
    """The model's links with another gravity."""
    m = ma.Mechanism()
    m.add_body("x", mass=1.0, inertia=(1, 1, 1))
    link = model.link.copy()
    link[0] = m.compile(gravity=(0, 0, gravity)).link[0]
    return link


@pytest.mark.parametrize("kinds", [("rigid", "point"), ("point", "soft_finger")])
def test_a_closed_chain_keeps_its_energy(kinds):
    """Measured: 1.7e-10 and 1.4e-10 of the peak kinetic energy over ten seconds."""
    model, state = swing(kinds)
    run = ma.simulate(model, state, duration=10.0, dt=0.05, method="dop853", on_slip="ignore")
    assert energy_error(run) < 1e-9
    assert closure(run) < 1e-11
    assert off_unit(model, run.q) < 1e-15


def test_four_bars_keep_their_energy():
    model = four_bars(3)
    run = ma.simulate(model, on_parallelograms(model, np.pi / 2, -1.0), duration=10.0, dt=0.05, method="dop853")
    assert energy_error(run) < 1e-9


def test_two_pandas_fall_with_their_box_no_worse_than_in_pinocchio():
    """RK4 at 1 ms for 1 s: closure 1e-14 m, energy off by 1.5e-7 of the peak; Pinocchio without projection 1.6e-5."""
    team = pandas(2, 2)
    start = team.model.state(q=team.q[0])
    run = ma.simulate(team.model, start, duration=1.0, dt=1e-3, on_limit="ignore")
    assert closure(run) < 1e-10
    assert energy_error(run) < 1e-5
    assert energy_error(run) < 3.0 * fall_in_pinocchio(team.model, start.q, 1000, 1e-3)


def fall_in_pinocchio(ours: ma.Model, start: np.ndarray, steps: int, h: float) -> float:
    """Energy error over peak kinetic energy of RK4 steps over ``constraintDynamics``, from rest, never projected."""
    pin = pytest.importorskip("pinocchio")
    peer, constraints = pinocchio_team(ours)
    datas = pin.StdVec_RigidConstraintData()
    for constraint in constraints:
        datas.append(constraint.createData())
    pin.initConstraintDynamics(peer.model, peer.data, constraints, datas)
    settings = pin.ProximalSettings(1e-16, 0.0, 1)
    q, v, tau = peer.positions(start), np.zeros(peer.model.nv), np.zeros(peer.model.nv)

    def acceleration(q, v):
        return pin.constraintDynamics(peer.model, peer.data, q, v, tau, constraints, datas, settings).copy()

    def moved(u):
        return pin.integrate(peer.model, q, u)

    total, kinetic = [], []
    for _ in range(steps + 1):
        total.append(pin.computeMechanicalEnergy(peer.model, peer.data, q, v))
        kinetic.append(peer.data.kinetic_energy)
        a1 = acceleration(q, v)
        v2 = v + h / 2 * a1
        a2 = acceleration(moved(h / 2 * v), v2)
        v3 = v + h / 2 * a2
        a3 = acceleration(moved(h / 2 * v2), v3)
        v4 = v + h * a3
        a4 = acceleration(moved(h * v3), v4)
        q, v = moved(h / 6 * (v + 2 * v2 + 2 * v3 + v4)), v + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
    return float(np.abs(np.array(total) - total[0]).max() / max(kinetic))


# ---------------------------------------------------------------------- two arms carry a box


def lift(internal=None, **options):
    """Two Pandas, their box on a slow path up and round, and the controller that leads it."""
    team = pandas(2, 1)
    start = team.model.state(q=team.q[0])
    here = ma.kinematics(team.model, start).pose("box")
    there = ma.pose((0.05, 0.02, 0.10)) * here * ma.pose(rpy=(0.0, 0.0, 0.2))
    path = ma.paths.quintic([here, there], [0.0, 2.0])
    steer = ma.controllers.ComputedTorque(team.model, {"box": path}, posture=start, internal=internal, **options)
    return team.model, start, path, steer


def tracking_error(model: ma.Model, path: ma.paths.Path, run: ma.Trajectory) -> tuple[float, float]:
    """Largest distance [m] and turn [rad] of the box from its path."""
    poses = [ma.kinematics(model, run.state(t)).pose("box") for t in run.time]
    off = [path(t)[0].inv() * pose for t, pose in zip(run.time, poses, strict=True)]
    return max(np.linalg.norm(x.translation) for x in off), max(x.rotation.magnitude() for x in off)


@pytest.mark.parametrize("method", ["rk4", "euler", "dop853"])
def test_a_slow_lift_is_tracked_with_its_internal_force(method):
    """Closure 7e-16 m, off the path by 2e-8 m (rk4), squeeze off by 1e-9 N of 20 N, torques within their limits."""
    model, start, path, steer = lift(internal={("arm0", "arm1"): 20.0})
    run = ma.simulate(model, start, steer, duration=2.2, dt=1e-3, method=method, sample=0.02)
    assert closure(run) < 1e-12
    way, turn = tracking_error(model, path, run)
    assert way < 1e-3
    assert turn < 1e-3
    assert (np.abs(run.tau) <= model.effort_limit).all()
    points, internal = run["grasp_point"].values, run["internal"].values[:, :, 3:]
    line = points[:, 1] - points[:, 0]
    line /= np.linalg.norm(line, axis=1)[:, None]
    squeeze = 0.5 * np.sum((internal[:, 0] - internal[:, 1]) * line, axis=1)
    assert np.abs(squeeze - 20.0).max() < 0.2


def test_a_payload_on_the_lift_is_tracked():
    """Twice the mass from half-way on, of which the controller is told: less than 1 mm off, torques within limits."""
    model, start, path, steer = lift()
    heavier = [(1.0, ma.Payload("box", 2.0 * model.bodies["box"].mass))]
    run = ma.simulate(model, start, steer, duration=2.2, dt=1e-3, sample=0.02, actions=heavier)
    assert [event.kind for event in run.events] == ["payload"]
    assert tracking_error(model, path, run)[0] < 1e-3
    assert (np.abs(run.tau) <= model.effort_limit).all()
    assert closure(run) < 1e-12


# ---------------------------------------------------------------------- order


def order_of(errors: list[float], ratio: float) -> float:
    return float(np.polyfit(np.arange(len(errors)) * np.log(ratio), np.log(errors), 1)[0])


@pytest.mark.parametrize("build", [swing, mobile])
@pytest.mark.parametrize(
    ("method", "steps", "order"), [("euler", (2e-3, 1e-3, 5e-4), 1), ("rk4", (0.005, 0.0025, 0.00125), 4)]
)
def test_orders_of_the_steps(build, method, steps, order):
    model, state = build()
    exact = ma.simulate(model, state, duration=0.2, dt=2.5e-4, sample=0.1, on_slip="ignore")
    errors = []
    for dt in steps:
        run = ma.simulate(model, state, duration=0.2, dt=dt, sample=0.1, method=method, on_slip="ignore")
        errors.append(apart(run, exact))
    assert order_of(errors[::-1], 2.0) == pytest.approx(order, abs=0.25)


@pytest.mark.parametrize("method", ["dop853", "radau"])
def test_errors_of_adaptive_steps_fall_with_the_tolerance(method):
    model, state = swing()
    exact = ma.simulate(model, state, duration=0.5, dt=2.5e-4, sample=0.5, on_slip="ignore")
    errors, steps = [], []
    for rtol in (1e-4, 1e-6, 1e-8):
        run = ma.simulate(
            model, state, duration=0.5, dt=0.5, method=method, rtol=rtol, atol=rtol / 10, on_slip="ignore"
        )
        errors.append(apart(run, exact))
        steps.append(int(run["step"].values[-1]))
    assert errors[0] > 10 * errors[1] > 100 * errors[2]
    assert errors[2] < 1e-6
    assert steps == sorted(steps)


# ---------------------------------------------------------------------- momentum


def free_flyer(gravity=(0.0, 0.0, 0.0)):
    """A base that floats, with two arms of seven joints, moving, and a controller that waves the arms about."""
    m = ma.Mechanism("free-flyer")
    m.add_body("base", mass=20.0, inertia=(1.2, 1.0, 0.8), com=(0.01, 0.02, -0.03), pose=(0.3, -0.2, 0.5))
    for side, y in (("left", 0.4), ("right", -0.4)):
        m.add_arm(side, ma.robots.panda(), base=ma.pose((0.0, y, 0.1), rpy=(np.copysign(-1.2, y), 0.3, 0.0)), on="base")
    model = m.compile(gravity=gravity)
    home = np.array([0.0, -0.5, 0.0, -2.2, 0.0, 1.7, 0.785])
    away = home + np.array([0.5, 0.3, -0.4, 0.4, 0.6, -0.3, 0.2])
    paths = {
        "left": ma.paths.joint_quintic([home, away, home], [0.0, 1.0, 2.0]),
        "right": ma.paths.joint_quintic([home, home - away, home], [0.0, 1.2, 2.0]),
    }
    wave = ma.controllers.JointPD(model, paths, kp=200.0, kd=30.0)
    spinning = [0.2, -0.1, 0.3, 0.05, 0.1, -0.02]
    return model, model.state(q={"left": home, "right": home}, v={"base": spinning}), wave


def test_a_free_flyer_keeps_its_momentum_while_its_arms_work():
    """Linear constant to 2e-14, angular to 7e-12, relative (DOP853)."""
    model, state, wave = free_flyer()
    run = ma.simulate(model, state, wave, duration=2.0, dt=0.05, method="dop853", on_limit="ignore")
    assert np.ptp(run.q[:, model.q_slice("left")], axis=0).max() > 0.3
    found = [ma.momentum(model, run.state(t)) for t in run.time]
    for part in ("linear", "angular"):
        values = np.array([getattr(x, part) for x in found])
        assert np.abs(values - values[0]).max() < 1e-10 * np.linalg.norm(values[0])
    assert energy_error(run) < 1e-8  # what the motors did is in the kinetic energy


# ---------------------------------------------------------------------- bits


def same_bits(one: ma.Trajectory, other: ma.Trajectory, channels=("time", "q", "v", "a", "tau")) -> None:
    for name in channels:
        assert np.array_equal(one[name].values, other[name].values), name


def test_steps_one_by_one_are_the_whole_rollout():
    model, start, _, steer = lift()
    for controller in (None, steer):
        for method in ("rk4", "euler"):
            run = ma.simulate(model, start, controller, duration=0.3, dt=1e-3, method=method, on_limit="ignore")
            walk = ma.Simulation(model, start, controller, dt=1e-3, method=method, on_limit="ignore")
            states = [start, *(walk.step() for _ in range(300))]
            assert np.array_equal([state.q for state in states], run.q)
            assert np.array_equal([state.v for state in states], run.v)
            assert walk.steps == 300


def test_a_controller_called_from_python_is_the_compiled_one():
    model, start, _, steer = lift(internal={("arm0", "arm1"): 20.0})
    compiled = ma.simulate(model, start, steer, duration=0.2, dt=1e-3)
    same_bits(compiled, ma.simulate(model, start, lambda t, state: steer(t, state), duration=0.2, dt=1e-3))
    same_bits(compiled, ma.simulate(model, start, steer, duration=0.2, dt=1e-3, saturate=True))


def test_samples_further_apart_are_some_of_all():
    model, start, _, steer = lift()
    every = ma.simulate(model, start, steer, duration=0.2, dt=1e-3)
    some = ma.simulate(model, start, steer, duration=0.2, dt=1e-3, sample=0.02)
    assert np.array_equal(some.q, every.q[::20])
    assert np.array_equal(some["wrench"].values, every["wrench"].values[::20])


def test_adaptive_methods_step_to_the_grid():
    model, state = swing()
    walk = ma.Simulation(model, state, dt=0.1, method="dop853", on_slip="ignore")
    times = [walk.step() and walk.time for _ in range(5)]
    assert np.allclose(times, [0.1, 0.2, 0.3, 0.4, 0.5], rtol=0, atol=1e-12)


def test_saturation_cuts_torques_off_at_the_limits():
    model, start, _, _ = lift()
    wild = ma.controllers.JointPD(model, {"arm0": np.zeros(7)}, kp=1e4, kd=10.0, limits=None)
    free = ma.simulate(model, start, wild, duration=0.01, dt=1e-3, on_limit="ignore")
    cut = ma.simulate(model, start, wild, duration=0.01, dt=1e-3, on_limit="ignore", saturate=True)
    assert (np.abs(free.tau) > model.effort_limit).any()
    assert (np.abs(cut.tau) <= model.effort_limit).all()
    assert (np.abs(cut.tau) == model.effort_limit).any()
