"""Mechanisms that the tests of controllers share, and what an object path asks for, worked out without the kernels."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from closed_mechanisms import LINKAGES, state_from_motion
from scipy.linalg import null_space
from scipy.spatial.transform import Rotation

import multiarm as ma
from multiarm.constraints import constraints

PANDAS = json.loads((Path(__file__).parent / "data" / "two_pandas.json").read_text())
SIDES = ("left", "right")


def two_pandas(kinds=("rigid", "rigid")):
    m = ma.Mechanism("two Pandas")
    for i, side in enumerate(SIDES):
        m.add_arm(side, ma.robots.panda(), base=np.array(PANDAS["base"][i]))
    m.add_body("box", mass=5.0, shape=ma.Box((0.3, 0.3, 0.2)), com=(0.02, -0.01, 0.03))
    for i, side in enumerate(SIDES):
        m.grasp(side, "box", at=np.array(PANDAS["weld_box"][i]), kind=kinds[i])
    return m.compile()


def panda_state(model, i=0, speed=1.0):
    q, v = np.array(PANDAS["q"][i]), speed * np.array(PANDAS["v"][i])
    turn = Rotation.from_quat(q[17:])
    box = np.concatenate([q[17:], q[14:17]])
    twist = np.concatenate([turn.apply(v[17:]), turn.apply(v[14:17])])
    return model.state(q=np.concatenate([q[:14], box]), v=np.concatenate([v[:14], twist]))


def path_near(model, state, body, seed=0):
    """A path that is close to the body at 0.4 s, but not there, and moves."""
    rng = np.random.default_rng(seed)
    pose = ma.kinematics(model, state).pose(body)
    ends = [ma.pose(0.1 * rng.normal(size=3), rpy=0.3 * rng.normal(size=3)) * pose for _ in range(2)]
    return ma.paths.quintic(ends, [0.0, 1.0])


def errors_to(model, state, body, path, t):
    """(pose error, velocity error, acceleration of the path), [angular; linear], world axes."""
    kin = ma.kinematics(model, state)
    pose, velocity, acceleration = path(t)
    turn = (pose.rotation * kin.pose(body).rotation.inv()).as_rotvec()
    off = np.concatenate([turn, pose.translation - kin.pose(body).translation])
    return off, velocity - kin.velocity(body), acceleration


def whitened_rows(model, state, bodies):
    """(U of M = U* U, hard rows, right sides, task rows), rows times U^-1; hard: constraints and motions that fall."""
    mass, rows = ma.mass_matrix(model, state), constraints(model, state)
    passive = ~model.actuated
    falling = np.zeros((model.nv, 0))
    if passive.any():
        alone = null_space(rows.jacobian[:, passive], rcond=1e-9) if len(rows.names) else np.eye(passive.sum())
        falling = np.zeros((model.nv, alone.shape[1]))
        falling[passive] = alone
    upper = np.linalg.cholesky(mass).T
    inverse = np.linalg.inv(upper)
    hard = np.vstack([rows.jacobian, falling.T @ mass]) @ inverse
    right = np.concatenate([rows.bias, -falling.T @ ma.inverse_dynamics(model, state)])
    return upper, hard, right, np.vstack([ma.jacobian(model, state, body) for body in bodies]) @ inverse


def ways_left(hard):
    """Orthonormal directions that rows leave open."""
    return null_space(hard, rcond=1e-9) if len(hard) else np.eye(hard.shape[1])


def clearly_ranked(model, state, bodies):
    """Whether every rank that control depends on is plain: no singular value is small without being rounding."""
    _, hard, _, tasks = whitened_rows(model, state, bodies)
    support = constraints(model, state).jacobian[:, ~model.actuated]
    for matrix, whole in ((support, support), (hard, hard), (tasks @ ways_left(hard), tasks)):
        s, size = np.linalg.svd(matrix, compute_uv=False), np.linalg.norm(whole)
        if np.any((s > 1e-12 * size) & (s < 1e-3 * size)):
            return False
    return True


def nearest_acceleration(model, state, wanted, preferred):
    """The acceleration nearest to `preferred` in the mass metric, by null spaces of dense matrices.

    First the motions that no actuator reaches obey the equations of motion and the constraints hold, then the bodies of
    `wanted` accelerate so in least squares.
    """
    kin = ma.kinematics(model, state)
    upper, hard, right, tasks = whitened_rows(model, state, wanted)
    start = upper @ preferred
    first = np.linalg.lstsq(hard, right - hard @ start, rcond=1e-9)[0] if len(hard) else np.zeros(model.nv)
    asked = np.concatenate([a - kin.bias_acceleration(body) for body, a in wanted.items()])
    ways = ways_left(hard)
    left, s, right_vectors = np.linalg.svd(tasks @ ways, full_matrices=False)
    able = s > 1e-7 * np.linalg.norm(tasks)
    second = right_vectors[able].T @ (left[:, able].T @ (asked - tasks @ (start + first)) / s[able])
    return np.linalg.solve(upper, start + first + ways @ second)


def apparent_inertia(model, state, body):
    """The inertia of a body with all that moves along, 6x6, from dense matrices."""
    mass, rows = ma.mass_matrix(model, state), constraints(model, state).jacobian
    ways = null_space(rows, rcond=1e-9)
    motion = ma.jacobian(model, state, body) @ ways
    return np.linalg.inv(motion @ np.linalg.solve(ways.T @ mass @ ways, motion.T))


def free_flyer():
    """Two arms of six joints on a floating base, with a body in both hands, without gravity; a state that moves."""
    m = ma.Mechanism("free flyer")
    m.add_body("base", mass=80.0, inertia=(8, 9, 7))
    q = {"left": (0.3, -1.2, 1.4, -0.9, 0.5, 0.2), "right": (-0.4, -0.9, 1.1, 0.4, -0.7, 0.6)}
    m.add_arm("left", ma.robots.ur5(), on="base", base=(-0.5, 0, 0.2))
    m.add_arm("right", ma.robots.ur5(), on="base", base=ma.pose((0.5, 0.1, 0.2), rpy=(0, 0, 2.8)))
    m.add_body("catch", mass=20.0, inertia=(1, 1.2, 0.9), com=(0.01, 0.02, 0), pose=ma.pose((0, 0.3, 0.6)))
    apart = m.compile(gravity=(0, 0, 0))
    kin = ma.kinematics(apart, apart.state(q=q))
    for side in q:
        m.grasp(side, "catch", at=kin.pose("catch").inv() * kin.pose(f"{side}/tip"))
    model = m.compile(gravity=(0, 0, 0))
    v = 0.2 * np.random.default_rng(2).normal(size=model.nv)
    return model, ma.project(model, model.state(q=q, v=v))


def moving_linkage(name):
    """A closed mechanism of the tests at its state, on the constraints."""
    linkage = LINKAGES[name]()
    model = linkage.mechanism.compile(gravity=linkage.gravity)
    h = 1e-6
    ahead, behind = linkage.place(linkage.y + h * linkage.rates), linkage.place(linkage.y - h * linkage.rates)
    places = linkage.place(linkage.y)

    def velocity(body):
        if body not in places:
            return np.zeros(6)
        turn = (ahead[body].rotation * behind[body].rotation.inv()).as_rotvec()
        return np.concatenate([turn, ahead[body].translation - behind[body].translation]) / (2 * h)

    world = ma.pose()
    return model, ma.project(model, state_from_motion(model, lambda body: places.get(body, world), velocity))
