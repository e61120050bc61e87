"""Closed mechanisms that several tests use: how they are built, where they stand, and states in other coordinates.

A `Linkage` also knows the poses of all its bodies as functions of as many coordinates as it has freedoms, in closed
form: trigonometry of triangles and the loop equations of Bennett and Bricard, nothing of the package.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from functools import reduce
from operator import mul

import numpy as np
from scipy.spatial.transform import RigidTransform, Rotation

import multiarm as ma
from multiarm.description import Joint
from multiarm.joints import free_directions

DOWN = (0.0, -9.81, 0.0)
Places = dict[str, RigidTransform]


@dataclass(frozen=True, eq=False)
class Linkage:
    """A mechanism, the poses of its moving bodies at minimal coordinates y, a state, and what drives it."""

    mechanism: ma.Mechanism
    place: Callable[[np.ndarray], Places]
    y: np.ndarray
    rates: np.ndarray
    torques: dict[str, float] = field(default_factory=dict)
    external: dict[str, np.ndarray] = field(default_factory=dict)
    gravity: tuple[float, float, float] = DOWN


# ---------------------------------------------------------------------- states from poses


def state_from_motion(
    model: ma.Model, pose: Callable[[str], RigidTransform], velocity: Callable[[str], np.ndarray]
) -> ma.State:
    """The state at which bodies stand at these poses and have these velocities at their origins, world axes."""
    q, v = np.array(model.neutral), np.zeros(model.nv)
    for place in model.joints.values():
        joint = place.joint
        if joint.kind == "free":
            free = pose(joint.child)
            q[place.q] = np.concatenate([free.rotation.as_quat(), free.translation])
            v[place.v] = velocity(joint.child)
            continue
        near, far = pose(joint.parent) * joint.at, pose(joint.child) * joint.in_child
        q[place.q] = joint_coordinates(joint, near.inv() * far)
        ways = free_directions(joint, near.rotation.as_matrix(), far.rotation.as_matrix())
        child, parent = (
            moved_to(velocity(body), far.translation - pose(body).translation) for body in (joint.child, joint.parent)
        )
        v[place.v] = np.linalg.lstsq(ways, child - parent, rcond=None)[0]
    return model.state(q=q, v=v)


def same_state(model: ma.Model, state: ma.State) -> ma.State:
    """`state` of another model of the same mechanism, in the coordinates of `model`."""
    kin = ma.kinematics(state.model, state)
    found = state_from_motion(model, kin.pose, kin.velocity)
    q, v = np.array(found.q), np.array(found.v)
    for name in set(model.joints) & set(state.model.joints):
        q[model.q_slice(name)] = state.q[state.model.q_slice(name)]
        v[model.v_slice(name)] = state.v[state.model.v_slice(name)]
    return model.state(q=q, v=v)


def moved_to(velocity: np.ndarray, arm: np.ndarray) -> np.ndarray:
    """[omega; v] at a point that is `arm` away."""
    return np.concatenate([velocity[:3], velocity[3:] + np.cross(velocity[:3], arm)])


def joint_coordinates(joint: Joint, displacement: RigidTransform) -> np.ndarray:
    """Coordinates of a joint whose child-side frame stands at `displacement` in its parent-side frame."""
    turn, shift = displacement.rotation, displacement.translation
    match joint.kind:
        case "revolute" | "continuous":
            return np.array([turn.as_rotvec() @ joint.axis])
        case "prismatic":
            return np.array([shift @ joint.axis])
        case "screw":
            return np.array([shift @ joint.axis / joint.pitch])
        case "cylindrical":
            return np.array([turn.as_rotvec() @ joint.axis, shift @ joint.axis])
        case "planar":
            return np.array([shift[0], shift[1], turn.as_rotvec()[2]])
        case "spherical":
            return turn.as_quat()
        case "universal":
            first = _angle_about(joint.axis, joint.axis2, turn.apply(joint.axis2))
            return np.array([first, _angle_about(joint.axis2, turn.inv().apply(joint.axis), joint.axis)])
    raise ValueError(f"no coordinates of a {joint.kind} joint follow from its displacement")


def _angle_about(axis: np.ndarray, before: np.ndarray, after: np.ndarray) -> float:
    """Angle of the turn about `axis` that takes one vector to another."""
    one, other = (x - axis * (axis @ x) for x in (before, after))
    return float(np.arctan2(axis @ np.cross(one, other), one @ other))


def body_equation(
    body: ma.Body, pose: RigidTransform, velocity: np.ndarray, gravity: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """I and r of I a + r = wrench (Newton and Euler), all at the body's origin in world axes, its weight part of r."""
    turn, omega = pose.rotation.as_matrix(), velocity[:3]
    x, y, z = arm = turn @ body.com
    lever = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    about_com = turn @ body.inertia @ turn.T
    to_com = np.block([[np.eye(3), np.zeros((3, 3))], [-lever, np.eye(3)]])
    at_com = np.zeros((6, 6))
    at_com[:3, :3], at_com[3:, 3:] = about_com, body.mass * np.eye(3)
    spin = np.cross(omega, about_com @ omega)
    push = body.mass * (np.cross(omega, np.cross(omega, arm)) - gravity)
    return to_com.T @ at_com @ to_com, to_com.T @ np.concatenate([spin, push])


def in_plane(x: float, y: float, angle: float) -> RigidTransform:
    return RigidTransform.from_components((x, y, 0.0), Rotation.from_rotvec((0.0, 0.0, angle)))


# ---------------------------------------------------------------------- planar loops of spatial revolutes


def bars(lengths: tuple[float, float, float], ground: float, passive: Collection[str] = ()) -> ma.Mechanism:
    """Crank, rod and rocker on hinges a, b, c, d about z, in space; those named have no actuator."""
    m = ma.Mechanism("four-bar")
    for name, length in zip(("crank", "rod", "rocker"), lengths, strict=True):
        m.add_body(name, mass=length, inertia=(0.01, length**3 / 12, length**3 / 12), com=(length / 2, 0, 0))
    ends = {
        "a": {"parent": "world", "child": "crank"},
        "b": {"parent": "crank", "child": "rod", "at": (lengths[0], 0, 0)},
        "c": {"parent": "rod", "child": "rocker", "at": (lengths[1], 0, 0), "in_child": (lengths[2], 0, 0)},
        "d": {"parent": "world", "child": "rocker", "at": (ground, 0, 0)},
    }
    for name, options in ends.items():
        m.add_joint(name, "revolute", passive=name in passive, **options)
    return m


def meeting_angles(start: np.ndarray, first: float, end: np.ndarray, second: float, side: float) -> tuple[float, float]:
    """Directions of two bars from `start` and from `end` whose far ends meet; `side` (+1 or -1) of the line between."""
    line = end - start
    distance, towards = np.hypot(*line), np.arctan2(line[1], line[0])
    one = np.arccos((first**2 + distance**2 - second**2) / (2 * first * distance))
    meet = start + first * np.array([np.cos(towards + side * one), np.sin(towards + side * one)])
    back = meet - end
    return float(towards + side * one), float(np.arctan2(back[1], back[0]))


def four_bar() -> Linkage:
    """Crank 1, rod 2, rocker 1.5, ground 2.2 m."""

    def place(y: np.ndarray) -> Places:
        elbow = np.array([np.cos(y[0]), np.sin(y[0])])
        rod, rocker = meeting_angles(elbow, 2.0, np.array([2.2, 0.0]), 1.5, 1.0)
        return {
            "crank": in_plane(0, 0, y[0]),
            "rod": in_plane(*elbow, rod),
            "rocker": in_plane(2.2, 0, rocker),
        }

    return Linkage(bars((1.0, 2.0, 1.5), 2.2), place, np.array([1.0]), np.array([2.0]), {"a": 3.0, "c": -1.5})


def parallelogram(angle: float = 0.7, rate: float = 2.0) -> Linkage:
    """Cranks of 1 m, rod and ground of 2 m; at angle 0 all are in line and it could go on as an antiparallelogram."""

    def place(y: np.ndarray) -> Places:
        elbow = np.cos(y[0]), np.sin(y[0])
        return {"crank": in_plane(0, 0, y[0]), "rod": in_plane(*elbow, 0), "rocker": in_plane(2, 0, y[0])}

    return Linkage(bars((1.0, 2.0, 1.0), 2.0), place, np.array([angle]), np.array([rate]), {"a": 3.0})


# ---------------------------------------------------------------------- overconstrained loops in space


def twisted_link(length: float, twist: float) -> RigidTransform:
    """From the axis at the beginning of a link to the one at its end (Denavit and Hartenberg, no offset)."""
    return RigidTransform.from_components((length, 0, 0), Rotation.from_rotvec((twist, 0, 0)))


def closed_loop(shapes: list[RigidTransform]) -> ma.Mechanism:
    """Links of these shapes joined by hinges about z to a ring; the last one is the ground."""
    m = ma.Mechanism("ring")
    for i, shape in enumerate(shapes[:-1]):
        m.add_body(f"link{i}", mass=1.0 + 0.2 * i, inertia=(0.02, 0.05, 0.06), com=0.5 * shape.translation)
        last = {"parent": f"link{i - 1}", "at": shapes[i - 1]} if i else {"parent": "world"}
        m.add_joint(f"hinge{i}", "revolute", child=f"link{i}", **last)
    end = len(shapes) - 1
    m.add_joint(
        f"hinge{end}", "revolute", parent=f"link{end - 1}", child="world", at=shapes[-2], in_child=shapes[-1].inv()
    )
    return m


def ring_places(shapes: list[RigidTransform], angles: list[float]) -> Places:
    """Poses of the links of `closed_loop`; the last one comes back to the identity if the ring is closed."""
    turns = [RigidTransform.from_rotation(Rotation.from_rotvec((0, 0, angle))) for angle in angles]
    steps = [turns[0], *(shape * turn for shape, turn in zip(shapes, turns[1:], strict=False))]
    return {f"link{i}": reduce(mul, steps[: i + 1]) for i in range(len(shapes))}


def bennett() -> Linkage:
    """Bennett's four-bar in space: opposite links equal, a / sin alpha = b / sin beta."""
    alpha, beta, a = 0.7, 1.4, 0.6
    b = a * np.sin(beta) / np.sin(alpha)
    shapes = [twisted_link(a, alpha), twisted_link(b, beta)] * 2
    ratio = np.sin((beta + alpha) / 2) / np.sin((beta - alpha) / 2)

    def place(y: np.ndarray) -> Places:
        next_angle = 2 * np.arctan2(ratio, np.tan(y[0] / 2))
        places = ring_places(shapes, [y[0], next_angle, -y[0], -next_angle])
        return {name: pose for name, pose in places.items() if name != "link3"}

    ring = closed_loop(shapes)
    return Linkage(ring, place, np.array([1.1]), np.array([1.5]), {"hinge0": 0.8, "hinge2": 0.5}, gravity=(1, -2, -9))


def bricard() -> Linkage:
    """Bricard's trihedral six-bar with threefold symmetry: twists of a quarter turn, left and right in turn."""
    shapes = [twisted_link(0.5, np.pi / 2), twisted_link(0.5, -np.pi / 2)] * 3

    def place(y: np.ndarray) -> Places:
        other = np.arccos(-np.cos(y[0]) / (1 + np.cos(y[0])))
        places = ring_places(shapes, [y[0], other] * 3)
        return {name: pose for name, pose in places.items() if name != "link5"}

    ring = closed_loop(shapes)
    return Linkage(ring, place, np.array([1.2]), np.array([-1.0]), {"hinge1": 0.6, "hinge4": 0.3}, gravity=(1, -2, -9))


# ---------------------------------------------------------------------- planar arms with a bar

LENGTHS, MASSES = (0.5, 0.4, 0.2), (3.0, 2.0, 1.0)
BASES = {"one": np.array([-0.5, 0.0]), "two": np.array([0.5, 0.0])}
HOLDS = {"one": -0.2, "two": 0.2}


def arms_and_bar(kind: str = "rigid", bases: dict[str, np.ndarray] = BASES) -> ma.Mechanism:
    """Two planar arms of three rods each hold a bar at its ends, their last rods across it."""
    m = ma.Mechanism("two arms and a bar")
    for side, base in bases.items():
        m.add_arm(side, ma.robots.planar(3, length=LENGTHS, mass=MASSES), base=(*base, 0))
    m.add_body("bar", mass=2.0, inertia=(0.03, 0.03, 0.05))
    for side, x in HOLDS.items():
        m.grasp(side, "bar", at=ma.pose((x, 0, 0), rpy=(0, 0, np.pi / 2)), kind=kind)
    return m


def arm_places(side: str, base: np.ndarray, angles: np.ndarray) -> Places:
    """Poses of three rods from their directions in the plane."""
    ends = base + np.cumsum([[0, 0], *(np.array(LENGTHS)[:, None] * np.c_[np.cos(angles), np.sin(angles)])], axis=0)
    return {f"{side}/link{i + 1}": in_plane(*ends[i], angles[i]) for i in range(3)}


def reaching(side: str, base: np.ndarray, bar: np.ndarray, elbow: float) -> Places:
    """Poses of the rods of an arm that holds the bar, its first two bent to one `elbow` side."""
    along, across = (np.array([np.cos(bar[2] + turn), np.sin(bar[2] + turn)]) for turn in (0.0, np.pi / 2))
    wrist = bar[:2] + HOLDS[side] * along - LENGTHS[2] * across
    first, back = meeting_angles(base, LENGTHS[0], wrist, LENGTHS[1], elbow)
    return arm_places(side, base, np.array([first, back + np.pi, bar[2] + np.pi / 2]))


def two_arms() -> Linkage:
    """Minimal coordinates: x, y and angle of the bar."""

    def place(y: np.ndarray) -> Places:
        arms = reaching("one", BASES["one"], y, -1.0) | reaching("two", BASES["two"], y, 1.0)
        return arms | {"bar": in_plane(*y)}

    torques = {"one/joint1": 12.0, "one/joint2": 5.0, "two/joint1": 10.0, "two/joint3": -0.8}
    pushed = {"bar": np.array([0, 0, 0.5, 3.0, -2.0, 0])}
    y, rates = np.array([0.05, 0.6, 0.1]), np.array([0.2, -0.1, 0.3])
    return Linkage(arms_and_bar(), place, y, rates, torques, pushed)


def stretched_arm(off: float = 0.0) -> Linkage:
    """The same with the first arm `off` from straight; minimal coordinates are the directions of its rods."""
    bases = {"one": np.array([-0.9, 0.1]), "two": np.array([0.5, 0.3])}

    def place(y: np.ndarray) -> Places:
        one = arm_places("one", bases["one"], y)
        hand = one["one/link3"] * RigidTransform.from_translation((LENGTHS[2], 0, 0))
        bar = hand * in_plane(HOLDS["one"], 0, np.pi / 2).inv()
        angle = y[2] - np.pi / 2
        two = reaching("two", bases["two"], np.array([*bar.translation[:2], angle]), 1.0)
        return one | two | {"bar": bar}

    torques = {"one/joint1": 4.0, "one/joint2": -2.0, "two/joint1": 5.0, "two/joint3": -0.8}
    y, rates = np.array([0.9, 0.9 + off, 0.9 - off]), np.array([0.4, -0.3, 0.2])
    return Linkage(arms_and_bar(bases=bases), place, y, rates, torques)


# ---------------------------------------------------------------------- Stewart platform


def stewart() -> Linkage:
    """Six legs with universal joints below, slides, and balls above; minimal coordinates are the platform's pose."""
    m = ma.Mechanism("Stewart platform")
    m.add_body("platform", mass=6.0, inertia=(0.2, 0.25, 0.4), com=(0.02, 0.01, 0.05))
    angles = np.repeat(np.arange(3) * 2 * np.pi / 3, 2)
    feet = [(np.cos(t), np.sin(t), 0.0) for t in angles + np.tile([-0.2, 0.2], 3)]
    heads = [(0.5 * np.cos(t), 0.5 * np.sin(t), 0.0) for t in angles + np.tile([-0.8, 0.8], 3)]
    for i, (foot, head) in enumerate(zip(feet, heads, strict=True)):
        m.add_body(f"lower{i}", mass=1.0, inertia=(0.02, 0.02, 0.002), com=(0, 0, 0.2))
        m.add_body(f"upper{i}", mass=0.8, inertia=(0.015, 0.015, 0.001), com=(0, 0, -0.2))
        axes = {"axis": (1, 0, 0), "axis2": (0, 1, 0)}
        m.add_joint(f"foot{i}", "universal", parent="world", child=f"lower{i}", at=foot, passive=True, **axes)
        m.add_joint(f"slide{i}", "prismatic", parent=f"lower{i}", child=f"upper{i}")
        m.add_joint(f"head{i}", "spherical", parent="platform", child=f"upper{i}", at=head, passive=True)

    def place(y: np.ndarray) -> Places:
        platform = RigidTransform.from_components(y[3:], Rotation.from_rotvec(y[:3]))
        places = {"platform": platform}
        for i, (foot, head) in enumerate(zip(feet, heads, strict=True)):
            leg = platform.apply(head) - foot
            x, y_, z = leg / np.linalg.norm(leg)
            turn = Rotation.from_rotvec((np.arctan2(-y_, z), 0, 0)) * Rotation.from_rotvec((0, np.arcsin(x), 0))
            places[f"lower{i}"] = RigidTransform.from_components(foot, turn)
            places[f"upper{i}"] = RigidTransform.from_components(platform.apply(head), turn)
        return places

    y, rates = np.array([0.1, -0.2, 0.15, 0.05, 0.1, 1.0]), np.array([0.3, 0.5, -0.4, 0.2, -0.3, 0.6])
    pushed = {"platform": np.array([1.0, -2, 3, 4, 5, 60])}
    return Linkage(m, place, y, rates, external=pushed, gravity=(0.0, 0.0, -9.81))


# ---------------------------------------------------------------------- handing over


def hand_over(*holders: str) -> tuple[ma.Model, ma.State]:
    """Two arms of six joints with a parcel between them, held by those named; both tips move along with it."""
    m = ma.Mechanism("hand over")
    q = {"giver": (0.3, -1.2, 1.4, -0.9, 0.5, 0.2), "taker": (-0.4, -0.9, 1.1, 0.4, -0.7, 0.6)}
    m.add_arm("giver", ma.robots.ur5(), base=(-0.6, 0, 0))
    m.add_body("parcel", mass=3.0, inertia=(0.03, 0.04, 0.05), com=(0.01, 0.02, 0), pose=ma.pose((0, 0.3, 0.4)))
    m.add_arm("taker", ma.robots.ur5(), base=ma.pose((0.7, 0.1, 0), rpy=(0, 0, 2.8)))
    apart = m.compile()
    kin = ma.kinematics(apart, apart.state(q=q))
    for name in holders:
        m.grasp(name, "parcel", at=kin.pose("parcel").inv() * kin.pose(f"{name}/tip"))
    model, twist = m.compile(), np.array([0.3, -0.2, 0.5, 0.1, 0.4, -0.3])
    v = {"parcel": twist}
    for name in q:
        at_tip = moved_to(twist, kin.pose(f"{name}/tip").translation - kin.pose("parcel").translation)
        v[name] = np.linalg.solve(ma.jacobian(apart, apart.state(q=q), f"{name}/tip")[:, apart.v_slice(name)], at_tip)
    return model, model.state(q=q, v=v)


LINKAGES = {
    "four-bar": four_bar,
    "parallelogram": parallelogram,
    "Bennett": bennett,
    "Bricard": bricard,
    "two arms": two_arms,
    "stretched arm": stretched_arm,
    "Stewart": stewart,
}
