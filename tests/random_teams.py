"""Random teams of arms around objects, and hypothesis strategies that draw them.

A `Plan` is plain data, so that the same team can be declared in another order and compiled with other cuts. Arms stand
where their joint coordinates put them, and the grasp frames lie on the objects where the tips happen to be: the loops
are closed to rounding without any assembly. What is drawn is a seed, a few counts and a pose; the rest comes from
NumPy's generator.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import networkx as nx
import numpy as np
from closed_mechanisms import same_state
from hypothesis import strategies as st
from random_mechanisms import random_body, random_external, random_joint, random_quaternion, random_state
from scipy.linalg import solve_triangular
from scipy.spatial.transform import RigidTransform, Rotation

import multiarm as ma
from multiarm.constraints import constraints

GRASPS = ("rigid", "revolute", "soft_finger", "point")
JOINTS = (
    "revolute", "revolute", "revolute", "continuous", "prismatic", "screw", "cylindrical", "universal", "spherical",
    "planar", "fixed",
)  # fmt: skip
POSES = ("generic", "stretched", "planar", "in_line")
BASES = ("world", "torso", "floating")


@dataclass(frozen=True, eq=False)
class Plan:
    """Arguments of `add_arm`, `add_body` and `grasp` by name, what the arms stand on, and gravity."""

    base: str
    arms: dict[str, dict[str, Any]]
    objects: dict[str, dict[str, Any]]
    grasps: dict[str, dict[str, Any]]
    gravity: np.ndarray

    def mechanism(self, rng: np.random.Generator | None = None) -> ma.Mechanism:
        """Everything declared, grasps last; in a random order if `rng` is given."""
        m = ma.Mechanism("team")
        carrier = "world"
        if self.base != "world":
            carrier = "torso"
            m.add_body("torso", mass=8.0, inertia=(0.5, 0.6, 0.4), com=(0.02, 0, 0.1), pose=(0, 0, 1))
        if self.base == "torso":
            m.add_joint("waist", "universal", parent="world", child="torso", axis=(0, 0, 1), axis2=(1, 0, 0))
        for name in _ordered([*self.arms, *self.objects], rng):
            if name in self.arms:
                m.add_arm(name, on=carrier, **self.arms[name])
            else:
                m.add_body(name, **self.objects[name])
        for name in _ordered(self.grasps, rng):
            m.grasp(name=name, **self.grasps[name])
        return m

    def compile(self, cuts: str | Iterable[str] = "grasps", rng: np.random.Generator | None = None) -> ma.Model:
        return self.mechanism(rng).compile(cuts=cuts, gravity=self.gravity)

    def random_cuts(self, rng: np.random.Generator) -> list[str]:
        """Joints and grasps whose cutting leaves some tree: a random spanning forest, grown over fixed joints first."""
        graph = self.mechanism().graph
        edges = list(graph.edges(keys=True, data=True))
        edges = [edges[i] for i in rng.permutation(len(edges))]
        edges.sort(key=lambda edge: edge[3]["kind"] != "fixed")
        parts = nx.utils.UnionFind(graph.nodes)
        cuts = []
        for parent, child, name, data in edges:
            if data.get("must_cut") or parts[parent] == parts[child]:
                cuts.append(name)
            else:
                parts.union(parent, child)
        return cuts


@dataclass(frozen=True, eq=False)
class Team:
    """A plan, compiled with its grasps cut, at a state on the constraints; what drives it; how to make it again."""

    plan: Plan
    model: ma.Model
    state: ma.State
    tau: dict[str, np.ndarray]
    external: dict[str, np.ndarray]
    origin: str

    def solve(self, solver: str) -> ma.ClosedChainSolution:
        return ma.forward_dynamics(self.model, self.state, self.tau, self.external, solver)

    def again(self, cuts: str | Iterable[str] = "grasps", order: np.random.Generator | None = None) -> Team:
        """The same team with other cuts, or declared in another order."""
        model = self.plan.compile(cuts, order)
        return replace(self, model=model, state=same_state(model, self.state))

    def __repr__(self) -> str:
        return f"random_team({self.origin})"


def _ordered(names: Iterable[str], rng: np.random.Generator | None) -> list[str]:
    return list(names) if rng is None else rng.permutation(list(names)).tolist()


# ---------------------------------------------------------------------- arms


def random_robot(rng: np.random.Generator, joints: int) -> ma.Robot:
    """A chain of random bodies with joints of every kind."""
    m = ma.Mechanism("random arm")
    m.add_body("base", **random_body(rng))
    for k in range(joints):
        m.add_body(f"link{k}", **random_body(rng))
        ends = (f"link{k - 1}" if k else "base", f"link{k}")
        kind = JOINTS[rng.integers(len(JOINTS))] if k else "revolute"
        joint = random_joint(rng, kind, *(ends if rng.random() < 0.8 else ends[::-1]))
        m.add_joint(f"joint{k}", **(joint | {"armature": 0.0}))
    m.add_frame("hand", f"link{joints - 1}", ma.pose(0.3 * rng.normal(size=3), quat=random_quaternion(rng)))
    return m.as_robot("base", tip="hand")


def _arms(
    rng: np.random.Generator, arms: int, joints: int, pose: str, off: float
) -> tuple[dict[str, dict[str, Any]], dict[str, np.ndarray]]:
    """Arguments of `add_arm`, and the coordinates of the arms whose pose is singular or `off` from it."""
    described: dict[str, dict[str, Any]] = {}
    straight: dict[str, np.ndarray] = {}
    for i in range(arms):
        name, count = f"arm{i}", int(rng.integers(2, joints + 1))
        size = {"length": rng.uniform(0.2, 0.5), "mass": rng.uniform(0.5, 3.0)}
        base = ma.pose(rng.normal(size=3), quat=random_quaternion(rng))
        if pose == "generic" or (pose == "stretched" and i > 0 and rng.random() < 0.5):
            described[name] = {"robot": random_robot(rng, count), "base": base}
            continue
        turn = np.zeros(count)
        if pose == "stretched":
            robot = ma.robots.chain(count, **size)
            turn[0] = rng.uniform(-1.5, 1.5)
        else:
            robot = ma.robots.planar(count, **size)
            yaw = rng.uniform(-3.0, 3.0) if pose == "planar" else np.pi * (i % 2)
            base = ma.pose((*rng.normal(size=2), 0.0) if pose == "planar" else (2.0 * i, 0, 0), rpy=(0, 0, yaw))
            if pose == "planar" and rng.random() < 0.6:
                turn = rng.uniform(-1.5, 1.5, count)
        straight[name] = turn + off * rng.normal(size=count)
        described[name] = {"robot": robot, "base": base}
    return described, straight


def _object(rng: np.random.Generator, pose: str) -> dict[str, Any]:
    body = random_body(rng)
    if pose in ("planar", "in_line"):
        body["pose"] = ma.pose((*rng.normal(size=2), 0.0), rpy=(0, 0, rng.uniform(-3, 3)))
    return body


def contact_turn(rng: np.random.Generator, kind: str) -> Rotation:
    """How the contact frame may be turned against the tip: about what the grasp leaves free."""
    if kind == "rigid":
        return Rotation.identity()
    if kind == "revolute":
        return Rotation.from_rotvec((0, 0, rng.uniform(-3, 3)))
    return Rotation.from_quat(random_quaternion(rng))


# ---------------------------------------------------------------------- teams


def random_team(
    seed: int,
    arms: int,
    joints: int,
    pose: str = "generic",
    off: float = 0.0,
    base: str = "world",
    objects: int = 1,
    kinds: tuple[str, ...] = GRASPS,
) -> Team:
    """Arms of 2 to `joints` joints, each with an object in its hand; `off` is how far singular poses are missed."""
    rng = np.random.default_rng([seed, arms, joints])
    described, straight = _arms(rng, arms, joints, pose, off)
    held = {f"object{j}": _object(rng, pose) for j in range(min(objects, arms))}
    gravity = 9.81 * np.array((0.1, -0.9, 0.4 if pose in ("generic", "stretched") else 0.0))
    plan = Plan(base, described, held, {}, gravity)
    open_model = plan.compile()
    q = np.array(random_state(open_model, rng).q)
    for name in held:
        q[open_model.q_slice(name)] = open_model.neutral[open_model.q_slice(name)]
    for name, turn in straight.items():
        q[open_model.q_slice(name)] = turn
    kin = ma.kinematics(open_model, open_model.state(q=q))
    for i, name in enumerate(described):
        body, kind = f"object{i % len(held)}", kinds[rng.integers(len(kinds))]
        contact = kin.pose(f"{name}/tip") * RigidTransform.from_rotation(contact_turn(rng, kind))
        at = kin.pose(body).inv() * contact
        plan.grasps[f"hold{i}"] = {"arm_or_frame": name, "body": body, "at": at, "kind": kind}
    model = plan.compile()
    state = model.state(q=q, v=lasting_velocities(model, q, rng))
    size = 10.0 * np.diag(ma.mass_matrix(model, state))
    driven = {name: place.v for name, place in model.joints.items() if place.actuated}
    tau = {name: size[where] * rng.normal(size=where.stop - where.start) for name, where in driven.items()}
    external = {name: wrench for name, wrench in random_external(model, rng).items() if name in held}
    origin = f"{seed=}, {arms=}, {joints=}, {pose=}, {off=}, {base=}, {objects=}, {kinds=}"
    return Team(plan, model, state, tau, external, origin)


def lasting_velocities(model: ma.Model, q: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Random velocities that satisfy the constraints; zero where they could not last.

    Rows that are dependent, or nearly, allow velocities that their second derivative forbids (a stretched string may
    start to swing but not without growing longer). Accelerations then do not exist, or grow beyond all bounds. A
    dependent row must agree with the others to rounding: what it contradicts them by, nobody can satisfy.
    """
    left, s, right = np.linalg.svd(constraints(model, model.state(q=q)).jacobian)
    v = rng.normal(size=model.nv)
    kept = right[: len(s)][s > 1e-13 * s.max(initial=0.0)]
    v -= kept.T @ (kept @ v)
    v -= kept.T @ (kept @ v)
    bias = constraints(model, model.state(q=q, v=v)).bias
    share = np.zeros(left.shape[1])
    share[: len(s)] = s / s.max(initial=1e-300)
    lasting = np.abs(left.T @ bias) < np.where(share < 1e-13, 1e-13, 1e-9) * (v @ v)
    return v if np.all(lasting[share < 1e-6]) else np.zeros(model.nv)


def teams(max_arms: int = 5, max_joints: int = 9, **fixed: Any) -> st.SearchStrategy[Team]:
    """Teams of 1 to `max_arms` arms in any pose; keyword arguments of `random_team` fix what they name."""
    parts: dict[str, st.SearchStrategy[Any]] = {
        "seed": st.integers(0, 2**32 - 1),
        "arms": st.sampled_from([n for n in (2, 3, 1, 4, 5, 2, 3) if n <= max_arms]),
        "joints": st.integers(2, max_joints),
        "pose": st.sampled_from(POSES),
        "off": st.sampled_from([0.0, *(10.0**-k for k in range(3, 15))]),
        "base": st.sampled_from(BASES),
        "objects": st.integers(1, 2),
    }
    return st.builds(random_team, **(parts | {name: st.just(value) for name, value in fixed.items()}))


# ---------------------------------------------------------------------- how well a team is posed

# Omega = J M^-1 J* = W W* with W = J U^-1 and M = U* U. Shares are singular values of W over the largest (radians and
# metres alike, a length of 1 m), so an eigenvalue of Omega is its share squared.
REDUNDANT = 2e-15  # below it nothing but rounding is left
SOUND = 1e-3  # condition number of Omega 1e6


def shares(model: ma.Model, state: ma.State) -> np.ndarray:
    """Singular values of W over the largest, and a zero for every row beyond them."""
    rows = constraints(model, state)
    upper = np.linalg.cholesky(ma.mass_matrix(model, state)).T
    s = np.linalg.svd(solve_triangular(upper, rows.jacobian.T, trans="T").T, compute_uv=False)
    return np.concatenate([s / s.max(initial=1e-300), np.zeros(len(rows.names) + 1 - len(s))])


def well_posed(model: ma.Model, state: ma.State) -> bool:
    """Every direction of Omega is redundant, or its condition number without those is below 1e6."""
    found = shares(model, state)
    return not np.any((found > REDUNDANT) & (found < SOUND))
