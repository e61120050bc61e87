"""Paths of objects and joints: their derivatives are exact, their limits hold, and files are read or refused."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.spatial.transform import RigidTransform, Rotation

import multiarm as ma
from multiarm.sweeps.paths import exponential_terms

STEP = 1e-4


def random_poses(seed, count):
    rng = np.random.default_rng(seed)
    return [ma.pose(rng.normal(size=3), quat=Rotation.random(random_state=rng).as_quat()) for _ in range(count)]


def write_samples(path, times, poses):
    rows = [[t, *p.translation, *p.rotation.as_quat()] for t, p in zip(times, poses, strict=True)]
    lines = ["t,x,y,z,qx,qy,qz,qw", *(",".join(repr(float(x)) for x in row) for row in rows)]
    path.write_text("\n".join(lines) + "\n")
    return path


def all_paths(seed, folder):
    poses = random_poses(seed, 4)
    times = np.cumsum(np.random.default_rng(seed).uniform(0.5, 2.0, 4))
    start = RigidTransform.from_components((0.2, 0.5, 1.0), poses[0].rotation)
    samples = write_samples(folder / f"samples{seed}.csv", times, poses)
    return {
        "rest": ma.paths.quintic(poses, times),
        "through": ma.paths.quintic(poses, times, velocities="through"),
        "given": ma.paths.quintic(poses, times, velocities=np.random.default_rng(seed).normal(size=(4, 6))),
        "trapezoid": ma.paths.trapezoid(poses, 1.0, 2.0, turn_speed=1.5, turn_acceleration=4.0),
        "circle": ma.paths.circle((0.2, 0.5, 0.7), (1, 0, 0), 0.3, period=2.0, start=start, turns=1.5),
        "file": ma.paths.from_file(samples),
        "hold": ma.paths.hold(poses[0]),
    }


def central(path, t):
    """Velocity and acceleration by differences of fourth order of the poses."""
    here = path(t)[0]
    offsets, first, second = np.array([-2, -1, 0, 1, 2]), np.array([1, -8, 0, 8, -1]) / 12, (-1, 16, -30, 16, -1)
    near = [path(t + STEP * k)[0] for k in offsets]
    places = np.array([pose.translation for pose in near])
    turns = np.array([(pose.rotation * here.rotation.inv()).as_rotvec() for pose in near])
    rows = np.hstack([turns, places])
    # the rotation vector from here has omega and omega-dot as its first two derivatives at zero
    return first @ rows / STEP, np.array(second) @ rows / 12 / STEP**2


@pytest.mark.parametrize("kind", ["rest", "through", "given", "trapezoid", "circle", "file", "hold"])
@settings(max_examples=8, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**6), where=st.floats(0.01, 0.99))
def test_velocity_and_acceleration_are_the_derivatives_of_the_pose(tmp_path_factory, kind, seed, where):
    path = all_paths(seed, tmp_path_factory.mktemp("paths"))[kind]
    t = path.times[0] + where * (path.duration - path.times[0])
    if np.abs(path.times - t).min() < 3 * STEP:  # a difference across two pieces means nothing
        t += 6 * STEP
    _, velocity, acceleration = path(t)
    found_velocity, found_acceleration = central(path, t)
    assert_allclose(velocity, found_velocity, atol=1e-9 * (1 + np.abs(acceleration).max()))
    assert_allclose(acceleration, found_acceleration, atol=3e-7 * (1 + np.abs(acceleration).max()))


@pytest.mark.parametrize("kind", ["rest", "through", "given", "circle", "file"])
@pytest.mark.parametrize("seed", range(4))
def test_everything_up_to_the_acceleration_is_continuous(tmp_path, kind, seed):
    path = all_paths(seed, tmp_path)[kind]
    times = path.times[1:-1] if kind == "given" else path.times  # velocities given at the ends are not zero
    for t in times:
        (before, *rates_before), (after, *rates_after) = path(t - 1e-9), path(t + 1e-9)
        assert (before.inv() * after).as_matrix() == pytest.approx(np.eye(4), abs=1e-7)
        assert_allclose(rates_before, rates_after, atol=2e-6 * (1 + np.abs(rates_before).max()))


@pytest.mark.parametrize("seed", range(6))
def test_a_path_passes_its_poses_in_time_and_rests_outside(tmp_path, seed):
    poses = random_poses(seed, 4)
    for kind, path in all_paths(seed, tmp_path).items():
        if kind in ("circle", "hold", "trapezoid"):
            continue
        for t, pose in zip(path.times, poses, strict=True):
            assert_allclose(path(t)[0].as_matrix(), pose.as_matrix(), atol=1e-12)
    for kind, path in all_paths(seed, tmp_path).items():
        for t, end in ((path.times[0] - 1.0, path.times[0]), (path.duration + 1.0, path.duration)):
            pose, velocity, acceleration = path(t)
            assert not velocity.any(), kind
            assert not acceleration.any(), kind
            assert_allclose(pose.as_matrix(), path(end)[0].as_matrix(), atol=1e-12)


def test_velocities_given_are_met():
    poses, times = random_poses(3, 3), [0.0, 1.0, 2.5]
    wanted = np.random.default_rng(3).normal(size=(3, 6))
    path = ma.paths.quintic(poses, times, velocities=wanted)
    for t, value in zip(times, wanted, strict=True):
        assert_allclose(path(t)[1], value, atol=1e-12)
        assert_allclose(path(t)[2], 0.0, atol=1e-10)


def test_at_rest_at_every_pose_it_goes_straight_and_turns_about_one_axis():
    start, end = random_poses(5, 2)
    path = ma.paths.quintic([start, end], [0, 2])
    way, turn = end.translation - start.translation, (end.rotation * start.rotation.inv()).as_rotvec()
    for t in np.linspace(0.1, 1.9, 7):
        pose, velocity, acceleration = path(t)
        x = t / 2
        s, rate = x**3 * (10 - 15 * x + 6 * x**2), 15 * x**2 * (1 - x) ** 2
        change = 15 * x * (1 - x) * (1 - 2 * x)
        assert_allclose(pose.translation, start.translation + s * way, atol=1e-14)
        assert_allclose((pose.rotation * start.rotation.inv()).as_rotvec(), s * turn, atol=1e-13)
        assert_allclose(velocity, rate * np.concatenate([turn, way]), atol=1e-13)
        assert_allclose(acceleration, change * np.concatenate([turn, way]), atol=1e-12)


@settings(max_examples=30, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**6), limits=st.tuples(*[st.floats(0.05, 20.0)] * 4))
def test_a_trapezoid_keeps_its_limits_and_reaches_one_of_them(seed, limits):
    speed, acceleration, turn_speed, turn_acceleration = limits
    poses = random_poses(seed, 3)
    path = ma.paths.trapezoid(poses, speed, acceleration, turn_speed, turn_acceleration)
    reached = []
    for t in np.concatenate([(path.times[1:] + path.times[:-1]) / 2, path.times[1:-1]]):
        _, velocity, change = path(t)
        shares = [
            np.linalg.norm(x) / limit
            for x, limit in zip((velocity[3:], change[3:], velocity[:3], change[:3]), limits, strict=True)
        ]
        assert max(shares) <= 1.0 + 1e-12
        reached.append(max(shares))
    assert max(reached) == pytest.approx(1.0)
    assert_allclose(path(path.duration)[0].as_matrix(), poses[-1].as_matrix(), atol=1e-12)


def test_a_trapezoid_takes_the_time_of_the_textbook():
    path = ma.paths.trapezoid([(0, 0, 0), (1, 0, 0)], speed=0.5, acceleration=1.0)
    assert path.duration == pytest.approx(1 / 0.5 + 0.5 / 1.0)
    short = ma.paths.trapezoid([(0, 0, 0), (0.1, 0, 0), (0.1, 0, 0)], speed=5.0, acceleration=1.0)
    assert short.duration == pytest.approx(2 * np.sqrt(0.1))


def test_a_circle_stays_on_it_and_returns():
    start = ma.pose((0.3, 0, 0.5), rpy=(0.1, 0.2, 0.3))
    path = ma.paths.circle((0, 0, 0.5), (0, 0, 2), 0.3, period=4.0, start=start, turns=2, ramp=1.0)
    assert path.duration == pytest.approx(2 * 4.0 + 1.0)
    for t in np.linspace(0, path.duration, 37):
        pose, velocity, _ = path(t)
        assert np.linalg.norm(pose.translation - (0, 0, 0.5)) == pytest.approx(0.3, abs=1e-14)
        assert np.cross(pose.translation, velocity[3:])[2] >= -1e-12  # counterclockwise about the normal
        assert_allclose(pose.rotation.as_matrix(), start.rotation.as_matrix(), atol=1e-14)
    assert np.linalg.norm(path(4.5)[1][3:]) == pytest.approx(0.3 * 2 * np.pi / 4.0)
    assert_allclose(path(path.duration)[0].translation, start.translation, atol=1e-14)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(x=st.floats(1e-9, 3.2))
def test_coefficients_of_the_jacobian_of_exp_against_many_digits(x):
    mpmath = pytest.importorskip("mpmath")
    with mpmath.workdps(60):
        u = mpmath.mpf(x) ** 2
        b = lambda u: (1 - mpmath.cos(mpmath.sqrt(u))) / u  # noqa: E731
        c = lambda u: (mpmath.sqrt(u) - mpmath.sin(mpmath.sqrt(u))) / mpmath.sqrt(u) ** 3  # noqa: E731
        expected = [
            float(b(u)),
            float(c(u)),
            float(mpmath.diff(b, u, h=u / 10**12)),
            float(mpmath.diff(c, u, h=u / 10**12)),
        ]
    assert_allclose(exponential_terms(x * x), expected, rtol=2e-13)


def test_joint_paths_are_time_laws():
    path = ma.paths.joint_quintic([[0, 0], [1, -1], [0, 2]], [0, 1, 3], velocities=[[0, 0], [0.5, 0.1], [0, 0]])
    q, v, a = path(1.0)
    assert_allclose([q, v, a], [[1, -1], [0.5, 0.1], [0, 0]], atol=1e-13)
    h = 1e-5
    for t in (0.3, 1.7, 2.9):
        assert_allclose(path(t)[1], (path(t + h)[0] - path(t - h)[0]) / (2 * h), atol=1e-8)
        assert_allclose(path(t)[2], (path(t + h)[1] - path(t - h)[1]) / (2 * h), atol=1e-8)
    m = ma.Mechanism()
    m.add_arm("arm", ma.robots.chain(2))
    model = m.compile()
    state, prescribed = ma.follow(model, model.state(), {"arm": path}, t=0.3)
    assert_allclose(state.q, path(0.3)[0])
    assert_allclose(prescribed["arm"], path(0.3)[2])


def test_joint_trapezoids_keep_the_limits_of_every_joint():
    path = ma.paths.joint_trapezoid([[0, 0, 0], [1, -2, 0], [1, 1, 1]], speed=[1, 0.5, 3], acceleration=2.0)
    for t in np.linspace(0, path.duration, 101):
        _, v, a = path(t)
        assert np.all(np.abs(v) <= np.array([1, 0.5, 3]) + 1e-12)
        assert np.all(np.abs(a) <= 2.0 + 1e-12)
    assert_allclose(path(path.duration)[0], [1, 1, 1], atol=1e-14)


def test_paths_are_frozen_and_travel():
    path = ma.paths.quintic([(0, 0, 0), (1, 0, 0)], [0, 1])
    with pytest.raises(ValueError, match="read-only"):
        path.table[0] = 1
    there = pickle.loads(pickle.dumps(path))
    assert np.array_equal(there(0.4)[1], path(0.4)[1])
    with pytest.raises(ValueError, match="read-only"):
        there.table[0] = 1
    assert repr(path) == "<Path: 1 piece, until 1 s>"


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: ma.paths.quintic([(0, 0, 0)], [0]), "two poses or more"),
        (lambda: ma.paths.quintic(ma.pose(), [0]), "two poses or more"),
        (lambda: ma.paths.quintic([(0, 0, 0), (1, 0, 0)], [1, 1]), "times must increase"),
        (lambda: ma.paths.quintic([(0, 0, 0), (1, 0, 0)], [1, 2, 3]), "expected 2 numbers"),
        (lambda: ma.paths.quintic([(0, 0, 0), (1, 0, 0)], [1, 2], velocities="fast"), "Valid: 'rest', 'through'"),
        (lambda: ma.paths.quintic([(0, 0, 0), (1, 0, 0)], [1, 2], velocities=[1, 2]), "2 rows of 6"),
        (lambda: ma.paths.quintic([(0, 0, 0), (1, 0, "x")], [1, 2]), "pose 1"),
        (lambda: ma.paths.trapezoid([(0, 0, 0), (1, 0, 0)], speed=-1, acceleration=1), "speed must be positive"),
        (lambda: ma.paths.trapezoid([(0, 0, 0), ma.pose(rpy=(1, 0, 0))], 1, 1), "turn_speed="),
        (lambda: ma.paths.circle((0, 0, 0), (0, 0, 0), 1, 1, (1, 0, 0)), "no direction"),
        (lambda: ma.paths.circle((0, 0, 0), (0, 0, 1), 1, 1, (1, 0, 0.1)), "off the circle by 0.1 m"),
        (lambda: ma.paths.circle((0, 0, 0), (0, 0, 1), 1, 1, (1, 0, 0), ramp=2.0), "too short for a ramp"),
        (lambda: ma.paths.hold((1, 2)), "pose"),
        (lambda: ma.paths.hold((1, 2, 3))(np.nan), "time"),
        (lambda: ma.paths.joint_quintic([1, 2], [0, 1]), "rows of finite joint coordinates"),
        (lambda: ma.paths.joint_trapezoid([[0], [1]], 0, 1), "speed must be positive"),
    ],
)
def test_bad_paths_are_refused_by_name(call, words):
    with pytest.raises(ma.MultiArmError, match=words):
        call()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "line 1: the header must be t,x,y,z,qx,qy,qz,qw"),
        ("t,x,y\n0,0,0", "line 1: the header must be"),
        ("t,x,y,z,qx,qy,qz,qw\n0,0,0,0,0,0,0,1\n", "two samples or more"),
        ("t,x,y,z,qx,qy,qz,qw\n0,0,0,0,0,0,0,1\n1,0,0\n", "line 3: expected 8 numbers, found 3"),
        ("t,x,y,z,qx,qy,qz,qw\n0,0,0,0,0,0,0,1\n\n1,0,a,0,0,0,0,1\n", "line 4: y is 'a', not a number"),
        ("t,x,y,z,qx,qy,qz,qw\n0,0,0,nan,0,0,0,1\n", "line 2: z is nan, not finite"),
        ("t,x,y,z,qx,qy,qz,qw\n0,0,0,0,0,0,1,1\n", "line 2: the quaternion .* has length 1.41421, not 1"),
        ("t,x,y,z,qx,qy,qz,qw\n1,0,0,0,0,0,0,1\n0.5,0,0,0,0,0,0,1\n", "line 3: time 0.5 s is not after 1 s"),
    ],
)
def test_files_are_refused_with_their_line(tmp_path, text, words):
    file = tmp_path / "way.csv"
    file.write_text(text)
    with pytest.raises(ma.BadInputError, match=words):
        ma.paths.from_file(file)


def test_a_missing_file_is_an_error_of_the_toolkit(tmp_path):
    with pytest.raises(ma.BadInputError, match="cannot be read"):
        ma.paths.from_file(tmp_path / "nowhere.csv")
