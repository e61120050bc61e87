"""Arms round an object that all of them hold by rigid grasps, at states on the constraints."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

import multiarm as ma

__all__ = ["Team", "chains", "circle", "pandas"]

BOX = "box"
HOME = (0.0, -0.5, 0.0, -2.2, 0.0, 1.7, 0.785)  # rad: a Panda whose hand points down before it
HANDS_APART = 0.15  # m along the rim of the object, at least
RIM = 0.15  # m, half the edge of the smallest object
LOAD = 2.5  # kg of the object for each arm
HEIGHT = 0.2  # m, of the object


@dataclass(frozen=True, eq=False)
class Team:
    """A closed chain and the states, one per row, at which it is timed.

    Attributes
    ----------
    arms : int
        How many hold the object.
    q, v, tau : array
        Coordinates on the constraints, velocities that keep them, torques of the arms [N m].
    """

    name: str
    arms: int
    model: ma.Model
    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray

    @cached_property
    def expected(self) -> list[np.ndarray]:
        """Accelerations by the dense solver, which shares no sweep with the others."""
        model = self.model
        states = [model.state(q=q, v=v) for q, v in zip(self.q, self.v, strict=True)]
        return [
            ma.forward_dynamics(model, state, tau, solver="dense").a
            for state, tau in zip(states, self.tau, strict=True)
        ]

    @property
    def rows(self) -> int:
        """Number of constraint rows."""
        return sum(cut.rows for cut in self.model.cuts.values())


def rim_of(arms: int) -> float:
    """Half the edge of the object that so many arms hold [m]."""
    return max(RIM, HANDS_APART * arms / (2 * np.pi))


def circle(robot: ma.Robot, arms: int, home: ArrayLike) -> ma.Mechanism:
    """`arms` equal robots on a circle, facing the object in its middle, which they hold in the pose `home`."""
    alone = ma.Mechanism()
    alone.add_arm("arm", robot)
    model = alone.compile()
    tip = ma.kinematics(model, model.state(q={"arm": home})).pose("arm/tip")
    rim = rim_of(arms)
    middle = ma.pose((0, 0, tip.translation[2]))
    mechanism = ma.Mechanism(f"{arms} {robot.name}")
    at = []
    for i in range(arms):
        offset = (-rim - tip.translation[0], -tip.translation[1], 0)
        base = ma.pose(rpy=(0, 0, 2 * np.pi * i / arms)) * ma.pose(offset)
        mechanism.add_arm(f"arm{i}", robot, base=base)
        at.append(middle.inv() * base * tip)
    mechanism.add_body(BOX, mass=LOAD * arms, shape=ma.Box((2 * rim, 2 * rim, HEIGHT)), pose=middle)
    for i, place in enumerate(at):
        mechanism.grasp(f"arm{i}", BOX, at=place)
    return mechanism


def pandas(arms: int, states: int, carried: bool = False) -> Team:
    """Pandas round a box; `carried` keeps the first grasp in the tree: a loop fewer, and no coordinates of the box."""
    mechanism = circle(ma.robots.panda(), arms, HOME)
    team = _team(f"panda{arms}", mechanism, arms, HOME, states)
    return _in_the_first_hand(team, mechanism) if carried else team


def chains(joints: int, states: int) -> Team:
    """Two chains of so many joints each with a box between them."""
    home = np.random.default_rng(joints).normal(scale=0.4, size=joints)
    mechanism = circle(ma.robots.chain(joints), 2, home)
    return _team(f"chain{joints}", mechanism, 2, home, states)


def _team(name: str, mechanism: ma.Mechanism, arms: int, home: ArrayLike, states: int) -> Team:
    random = np.random.default_rng(5)
    model = mechanism.compile()
    found = [_moving(model, arms, np.asarray(home), random) for _ in range(states)]
    tau = 10.0 * random.normal(size=(states, model.nv))
    tau[:, model.v_slice(BOX)] = 0.0
    return Team(name, arms, model, np.array([s.q for s in found]), np.array([s.v for s in found]), tau)


def _moving(model: ma.Model, arms: int, home: np.ndarray, random: np.random.Generator) -> ma.State:
    """A state near `home`: the box moved and turned a little, the arms brought to it, velocities at random."""
    q = np.array(model.neutral)
    box = q[model.q_slice(BOX)]
    box[:4] = Rotation.from_rotvec(random.normal(scale=0.015 / rim_of(arms), size=3)).as_quat()
    box[4:] += random.normal(scale=0.03, size=3)
    for i in range(arms):
        q[model.q_slice(f"arm{i}")] = home + random.normal(scale=0.2, size=len(home))
    closed = ma.assemble(model, q, hold=(BOX,))
    return ma.project(model, closed.replace(v=random.normal(size=model.nv)))


def _in_the_first_hand(team: Team, mechanism: ma.Mechanism) -> Team:
    """The same motions of a model in which the first arm carries the box."""
    model = mechanism.compile(cuts=[name for name in team.model.cuts if name != "arm0"])
    q, v, tau = np.empty((len(team.q), model.nq)), *np.empty((2, len(team.q), model.nv))
    for name in model.joints:
        q[:, model.q_slice(name)] = team.q[:, team.model.q_slice(name)]
        for array, given in ((v, team.v), (tau, team.tau)):
            array[:, model.v_slice(name)] = given[:, team.model.v_slice(name)]
    return Team(f"{team.name} carried", team.arms, model, q, v, tau)
