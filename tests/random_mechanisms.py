"""Random trees with every joint kind, fixed or floating, and hypothesis strategies that draw them.

A `Sketch` is plain data, so that the same mechanism can be declared in another order or with joints turned round. What
is drawn is one seed and two counts; the rest comes from NumPy's generator, which is much faster than drawing each
number.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from hypothesis import strategies as st
from scipy.spatial.transform import RigidTransform, Rotation

import multiarm as ma

KINDS = (
    "revolute", "continuous", "prismatic", "screw", "cylindrical", "universal", "spherical", "planar", "free", "fixed"
)  # fmt: skip
AXES = (*np.eye(3), *-np.eye(3))


@dataclass(frozen=True)
class Sketch:
    """Arguments of `add_body`, `add_joint` and `add_frame` by name, the order of declaration, and gravity."""

    bodies: dict[str, dict[str, Any]]
    joints: dict[str, dict[str, Any]]
    frames: dict[str, dict[str, Any]]
    order: tuple[str, ...]
    gravity: np.ndarray

    def mechanism(self) -> ma.Mechanism:
        """Everything declared in `order`; a body whose joint comes first is declared just before it."""
        m = ma.Mechanism("random tree")

        def declare_body(name: str) -> None:
            if name not in m.bodies:
                m.add_body(name, **self.bodies[name])

        for name in self.order:
            if name in self.bodies:
                declare_body(name)
            else:
                declare_body(self.joints[name]["parent"])
                declare_body(self.joints[name]["child"])
                m.add_joint(name, **self.joints[name])
        for name, frame in self.frames.items():
            m.add_frame(name, **frame)
        return m

    def compile(self) -> ma.Model:
        return self.mechanism().compile(gravity=self.gravity)

    def without_armature(self) -> Sketch:
        return replace(self, joints={name: joint | {"armature": 0.0} for name, joint in self.joints.items()})

    def shuffled(self, rng: np.random.Generator) -> Sketch:
        """The same parts declared in another order."""
        return replace(self, order=tuple(rng.permutation(self.order).tolist()))


@dataclass(frozen=True)
class Scales:
    """How random numbers are spread: lengths [m], masses [kg], radii of gyration [m], rotors [kg m^2 or kg]."""

    length: tuple[float, float]
    mass: tuple[float, float]
    radius: tuple[float, float]
    armature: tuple[float, float]


ORDINARY = Scales(length=(0.1, 1.0), mass=(0.2, 20.0), radius=(0.05, 0.5), armature=(0.01, 1.0))
EXTREME = Scales(length=(1e-3, 10.0), mass=(1e-3, 1e3), radius=(1e-5, 1.0), armature=(1e-6, 10.0))


def _between(rng: np.random.Generator, bounds: tuple[float, float]) -> float:
    """A number between the bounds, uniform in its logarithm."""
    return float(np.exp(rng.uniform(*np.log(bounds))))


def random_direction(rng: np.random.Generator) -> np.ndarray:
    vector = rng.normal(size=3)
    return vector / np.linalg.norm(vector)


def random_quaternion(rng: np.random.Generator) -> np.ndarray:
    quaternion = rng.normal(size=4)
    return quaternion / np.linalg.norm(quaternion)


def random_pose(rng: np.random.Generator, scales: Scales = ORDINARY) -> RigidTransform:
    """The identity now and then, a pure shift or any pose."""
    choice = rng.random()
    if choice < 0.15:
        return RigidTransform.identity()
    shift = _between(rng, scales.length) * random_direction(rng)
    turn = (0, 0, 0, 1) if choice < 0.3 else random_quaternion(rng)
    return ma.pose(shift, quat=turn)


def random_inertia(rng: np.random.Generator, mass: float, scales: Scales = ORDINARY) -> np.ndarray:
    """About the centre of mass: a positive mass density has moments that are sums of two second moments."""
    second = mass * _between(rng, scales.radius) ** 2 * rng.uniform(0.1, 1.0, 3)
    rotation = Rotation.from_quat(random_quaternion(rng)).as_matrix()
    matrix = rotation @ np.diag(second.sum() - second) @ rotation.T
    return (matrix + matrix.T) / 2


def random_body(rng: np.random.Generator, scales: Scales = ORDINARY) -> dict[str, Any]:
    """Arguments of `add_body`."""
    mass = _between(rng, scales.mass)
    com = np.zeros(3) if rng.random() < 0.1 else _between(rng, scales.length) * random_direction(rng)
    return {"mass": mass, "inertia": random_inertia(rng, mass, scales), "com": com, "pose": random_pose(rng, scales)}


def random_axis(rng: np.random.Generator) -> np.ndarray:
    """A coordinate axis or any direction."""
    return AXES[rng.integers(6)] if rng.random() < 0.4 else random_direction(rng)


def random_joint(
    rng: np.random.Generator, kind: str, parent: str, child: str, scales: Scales = ORDINARY
) -> dict[str, Any]:
    """Arguments of `add_joint`."""
    joint: dict[str, Any] = {"kind": kind, "parent": parent, "child": child}
    joint["at"], joint["in_child"] = random_pose(rng, scales), random_pose(rng, scales)
    joint["armature"] = _between(rng, scales.armature) if rng.random() < 0.3 else 0.0
    if kind in ("revolute", "continuous", "prismatic", "screw", "cylindrical", "universal"):
        joint["axis"] = random_axis(rng)
    if kind == "universal":
        tilted = np.cross(joint["axis"], random_direction(rng))
        joint["axis2"] = tilted / np.linalg.norm(tilted) + 0.3 * rng.uniform(-1, 1) * joint["axis"]
    if kind == "screw":
        joint["pitch"] = float(rng.choice([-1.0, 1.0])) * _between(rng, scales.length)
    return joint


def random_sketch(
    seed: int,
    joints: int = 6,
    branching: int = 1,
    scales: Scales = ORDINARY,
    kinds: tuple[str, ...] = KINDS,
    floating: bool = False,
) -> Sketch:
    """A random forest with that many declared joints.

    `branching` 0 hangs every body on the last one (chains), 1 on one of the last three, 2 on any. A body that starts a
    new tree is joined to the world, or to nothing and then hangs free (always, if `floating`); joints are declared in
    either direction; the order of declaration is random.
    """
    rng = np.random.default_rng(seed)
    reach = (1, 3, joints + 1)[branching]
    bodies: dict[str, dict[str, Any]] = {}
    joined: dict[str, dict[str, Any]] = {}
    if rng.random() < 0.4 or floating:
        bodies["b0"] = random_body(rng, scales)
    while len(joined) < joints:
        new = f"b{len(bodies)}"
        start = rng.random()
        if bodies and start < 0.05:  # a further tree that floats
            bodies[new] = random_body(rng, scales)
            continue
        if not bodies or (start > 0.93 and not floating):  # a tree on the world
            old = "world"
        else:
            old = list(bodies)[-int(rng.integers(1, reach + 1)) % len(bodies)]
        bodies[new] = random_body(rng, scales)
        ends = (old, new) if rng.random() < 0.6 else (new, old)
        kind = kinds[rng.integers(len(kinds))]
        joined[f"j{len(joined)}"] = random_joint(rng, kind, *ends, scales)
    frames = {f"f{i}": {"body": name, "pose": random_pose(rng, scales)} for i, name in enumerate(["world", *bodies])}
    gravity = np.zeros(3) if rng.random() < 0.1 else 9.81 * random_direction(rng)
    order = tuple(rng.permutation([*bodies, *joined]).tolist())
    return Sketch(bodies, joined, frames, order, gravity)


def random_state(model: ma.Model, rng: np.random.Generator) -> ma.State:
    """Any coordinates, and velocities of the order of one."""
    q = rng.uniform(-1.0, 1.0, model.nq)
    for place in model.joints.values():
        kind = place.joint.kind
        if kind in ("spherical", "free"):
            q[place.q.start : place.q.start + 4] = random_quaternion(rng)
        elif kind not in ("prismatic", "planar"):
            q[place.q.start] *= np.pi
    return model.state(q=q, v=rng.normal(size=model.nv))


def random_external(model: ma.Model, rng: np.random.Generator, size: float = 5.0) -> dict[str, np.ndarray]:
    """Wrenches on some of the bodies."""
    return {name: size * rng.normal(size=6) for name in model.bodies if name != "world" and rng.random() < 0.5}


def random_torques(model: ma.Model, state: ma.State, rng: np.random.Generator) -> np.ndarray:
    """Forces in proportion to the inertia that each joint feels, so that a gram is not driven by a crane's torque."""
    return 10.0 * np.diag(ma.mass_matrix(model, state)) * rng.normal(size=model.nv)


@dataclass(frozen=True, eq=False)
class Case:
    """A random mechanism, where it is, and what drives it; `rng` for whatever else a test draws."""

    sketch: Sketch
    model: ma.Model
    state: ma.State
    tau: np.ndarray
    rng: np.random.Generator
    origin: str

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """What hypothesis prints: how to make the case again, not its tables."""
        printer.text(f"random_case({self.origin})")


def random_case(seed: int, joints: int = 6, branching: int = 1, armature: bool = True, **options: Any) -> Case:
    """`random_sketch` compiled, at a random state."""
    sketch = random_sketch(seed, joints, branching, **options)
    model = (sketch if armature else sketch.without_armature()).compile()
    rng = np.random.default_rng([seed, joints, branching])
    state = random_state(model, rng)
    origin = f"{seed=}, {joints=}, {branching=}, {armature=}, **{options}"
    return Case(sketch, model, state, random_torques(model, state, rng), rng, origin)


def cases(max_joints: int = 12, **options: Any) -> st.SearchStrategy[Case]:
    """Random forests of 1 to `max_joints` joints at random states; options as in `random_case`."""
    fixed = {name: st.just(value) for name, value in options.items()}
    numbers = {"seed": st.integers(0, 2**32 - 1), "joints": st.integers(1, max_joints), "branching": st.integers(0, 2)}
    return st.builds(random_case, **numbers, **fixed)


# ---------------------------------------------------------------------- moving along velocities


def advance(model: ma.Model, q: np.ndarray, v: np.ndarray, time: float) -> np.ndarray:
    """Coordinates after `time` at constant velocities v, from the definition of each kind's velocities.

    Spherical: v is the angular velocity in child axes, so the turn is on the right; free: in the parent's, on the left.
    """
    moved = np.array(q)
    for place in model.joints.values():
        before, rate = q[place.q], v[place.v]
        if place.joint.kind == "spherical":
            moved[place.q] = (Rotation.from_quat(before) * Rotation.from_rotvec(time * rate)).as_quat()
        elif place.joint.kind == "free":
            turned = Rotation.from_rotvec(time * rate[:3]) * Rotation.from_quat(before[:4])
            moved[place.q] = np.concatenate([turned.as_quat(), before[4:] + time * rate[3:]])
        else:
            moved[place.q] = before + time * rate
    return moved


CENTRAL_8 = ((1, 4 / 5), (2, -1 / 5), (3, 4 / 105), (4, -1 / 280))


def rate_of_change(function, step: float):
    """d/dt of function(t) at 0 by central differences of order eight; `function` returns a number or an array."""
    return sum(weight * (function(k * step) - function(-k * step)) for k, weight in CENTRAL_8) / step
