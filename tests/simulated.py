"""Mechanisms that move, and what is measured of their runs; shared by the tests of the simulation."""

from __future__ import annotations

import numpy as np
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import multiarm as ma

GRAVITY = 9.81

# ---------------------------------------------------------------------- what is measured


def energy_error(trajectory: ma.Trajectory) -> float:
    """Largest change of kinetic + potential - work + dissipated, over the peak kinetic energy."""
    kinetic = trajectory["kinetic_energy"].values
    total = kinetic + trajectory["potential_energy"].values
    total = total - trajectory["work"].values + trajectory["dissipated"].values
    return float(np.abs(total - total[0]).max() / kinetic.max())


def closure(trajectory: ma.Trajectory) -> float:
    """Widest gap of all samples [m or rad]."""
    return float(trajectory["closure_error"].values.max())


def off_unit(model: ma.Model, q: np.ndarray) -> float:
    """By how much quaternions in rows of q are off unit length."""
    firsts = [place.q.start for place in model.joints.values() if place.joint.kind in ("spherical", "free")]
    return max(float(np.abs(np.linalg.norm(q[:, i : i + 4], axis=1) - 1.0).max()) for i in firsts)


def apart(one: ma.Trajectory, other: ma.Trajectory) -> float:
    """Largest difference of the last states; quaternions are close enough for that to be one of angles."""
    ends = ((x.q[-1], x.v[-1]) for x in (one, other))
    (q, v), (p, w) = ends
    return float(max(np.abs(q - p).max(), np.abs(v - w).max()))


# ---------------------------------------------------------------------- trees and loops with balls and free bodies


def mobile() -> tuple[ma.Model, ma.State]:
    """A free body that spins, with two pendulums on balls: a tree of quaternions."""
    m = ma.Mechanism("mobile")
    m.add_body("hub", mass=3.0, inertia=(0.2, 0.3, 0.4), com=(0.02, -0.01, 0.03), pose=(0.1, 0.2, 1.0))
    for i, at in enumerate(((0.3, 0.0, 0.0), (-0.2, 0.2, 0.1))):
        m.add_body(f"rod{i}", mass=1.0 + i, inertia=(0.05, 0.06, 0.02), com=(0.0, 0.05, -0.3))
        m.add_joint(f"ball{i}", "spherical", parent="hub", child=f"rod{i}", at=at)
    model = m.compile()
    turn = Rotation.from_rotvec([[0.3, -0.2, 0.5], [-0.6, 0.1, 0.2]]).as_quat()
    v = {"hub": [0.7, -0.4, 1.1, 0.3, 0.2, 2.0], "ball0": [1.0, 0.5, -1.5], "ball1": [-2.0, 0.4, 0.7]}
    return model, model.state(q={"ball0": turn[0], "ball1": turn[1]}, v=v)


def swing(kinds: tuple[str, str] = ("rigid", "point")) -> tuple[ma.Model, ma.State]:
    """Two legs on balls, each with a knee, hold a plate: a closed chain with a free object and quaternions."""
    m = ma.Mechanism("swing")
    for side, x in (("left", -0.5), ("right", 0.5)):
        leg = ma.Mechanism()
        leg.add_body("root")
        leg.add_body("thigh", mass=1.5, inertia=(0.04, 0.05, 0.02), com=(0.0, 0.02, -0.25))
        leg.add_body("shank", mass=1.0, inertia=(0.03, 0.03, 0.01), com=(0.01, 0.0, -0.2))
        leg.add_joint("hip", "spherical", parent="root", child="thigh")
        leg.add_joint("knee", "revolute", parent="thigh", child="shank", at=(0.0, 0.0, -0.5), axis=(0.0, 1.0, 0.0))
        leg.add_frame("foot", "shank", (0.0, 0.0, -0.4))
        m.add_arm(side, leg.as_robot("root", tip="foot"), base=(x, 0.0, 1.0))
    m.add_body("plate", mass=2.0, inertia=(0.05, 0.08, 0.1), com=(0.0, 0.03, 0.01), pose=(0.0, 0.1, 0.2))
    for side, x, kind in zip(("left", "right"), (-0.3, 0.3), kinds, strict=True):
        m.grasp(side, "plate", at=(x, 0.0, 0.0), kind=kind)
    model = m.compile()
    bent = {"left/knee": [-0.5], "right/knee": [0.6]}
    state = ma.assemble(model, bent, hold=("left/knee", "right/knee"))
    pushed = np.random.default_rng(7).normal(size=model.nv)
    return model, ma.project(model, state.replace(v=pushed))


def four_bars(count: int, heads: str = "revolute", pins: str = "spherical") -> ma.Model:
    """N four-bars side by side (IFToMM A02): N + 1 cranks on the ground, N rods between their heads, all 1 kg and 1 m.

    The pins between a rod and the next crank are cut. Revolute heads and spherical pins leave a redundant row in every
    loop, out of the plane; cylindrical heads, along which the rods could slide, leave none, and dynamics that need no
    singular vectors but close to the singular position.
    """
    m = ma.Mechanism(f"{count} four-bars")
    slender = {"mass": 1.0, "inertia": (1e-3, 1 / 12, 1 / 12), "com": (0.5, 0.0, 0.0)}
    for i in range(count + 1):
        m.add_body(f"crank{i}", **slender)
        m.add_joint(f"foot{i}", "revolute", parent="world", child=f"crank{i}", at=(i, 0.0, 0.0))
    for i in range(count):
        m.add_body(f"rod{i}", **slender)
        m.add_joint(f"head{i}", heads, parent=f"crank{i}", child=f"rod{i}", at=(1.0, 0.0, 0.0))
        m.add_joint(f"pin{i}", pins, parent=f"rod{i}", child=f"crank{i + 1}", at=(1.0, 0, 0), in_child=(1.0, 0, 0))
    return m.compile(cuts=[f"pin{i}" for i in range(count)], gravity=(0.0, -GRAVITY, 0.0))


def on_parallelograms(model: ma.Model, angle: float, rate: float) -> ma.State:
    """All cranks of `four_bars` at one angle from the ground, the rods level."""
    q, v = np.zeros(model.nq), np.zeros(model.nv)
    for name, place in model.joints.items():
        side = 1.0 if name.startswith("foot") else -1.0
        q[place.q.start], v[place.v.start] = side * angle, side * rate
    return model.state(q=q, v=v)


def crank_angles(model: ma.Model, q: np.ndarray) -> np.ndarray:
    """Of rows of q: the angles of all cranks."""
    return q[:, [place.q.start for name, place in model.joints.items() if name.startswith("foot")]]


def parallelogram_angles(count: int, angle: float, rate: float, times: np.ndarray) -> np.ndarray:
    """[(N + 1) / 3 + N] theta'' = -g [(N + 1) / 2 + N] cos theta, to fourteen digits."""
    pull = GRAVITY * ((count + 1) / 2 + count) / ((count + 1) / 3 + count)
    solved = solve_ivp(
        lambda t, y: (y[1], -pull * np.cos(y[0])), (0.0, float(times[-1])), (angle, rate), method="DOP853",
        t_eval=times, rtol=3e-14, atol=1e-14,
    )  # fmt: skip
    return np.asarray(solved.y[0])


def rate_at(count: int, angle: float) -> float:
    """theta' of A02 at an angle on its way down: upright it is -1 rad/s."""
    pull = GRAVITY * ((count + 1) / 2 + count) / ((count + 1) / 3 + count)
    return float(-np.sqrt(1.0 + 2.0 * pull * (1.0 - np.sin(angle))))


# ---------------------------------------------------------------------- bodies that meet


def slider(mass: float = 2.0, lower: float = -np.inf, upper: float = np.inf) -> ma.Model:
    """A block on a level rail along x."""
    m = ma.Mechanism("slider")
    m.add_body("block", mass=mass, inertia=(0.1, 0.1, 0.1))
    m.add_joint("rail", "prismatic", parent="world", child="block", axis=(1.0, 0, 0), lower=lower, upper=upper)
    return m.compile()


def two_floating(at: tuple[float, float, float] | None = None) -> ma.Model:
    """Two free bodies without weight that a fixed joint can dock, its two sides at their facing ends."""
    m = ma.Mechanism("docking")
    m.add_body("tug", mass=5.0, inertia=(0.3, 0.4, 0.5), com=(0.05, 0, 0))
    m.add_body("tank", mass=3.0, inertia=(0.2, 0.1, 0.3), com=(0, 0.04, 0), pose=(1.0, 0, 0))
    m.add_joint("dock", "fixed", parent="tug", child="tank", at=(0.5, 0, 0), in_child=at or (-0.5, 0, 0))
    return m.compile(cuts=["dock"], gravity=(0, 0, 0))
