"""Force elements at joints: springs, dampers, friction and limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from multiarm.description import Joint
from multiarm.elements.table import ElementTable, not_negative, pose_numbers, spread
from multiarm.errors import DescriptionError, UnknownNameError
from multiarm.joints import free_directions, joint_kind
from multiarm.model import CutJoint, Model
from multiarm.state import State
from multiarm.sweeps import element_layout as el

__all__ = ["BREAKAWAY_SPEED", "JointDamper", "JointFriction", "JointLimit", "JointSpring", "limit_margin"]

Names = str | Sequence[str]
Values = ArrayLike | Mapping[str, ArrayLike]

BREAKAWAY_SPEED = 0.01  # rad/s or m/s


@dataclass(frozen=True, eq=False)
class JointSpring:
    """tau = -stiffness (q - rest) at every coordinate of the named joints.

    Here and in the other joint elements `joint` is a joint, an arm (all its joints that have coordinates) or several of
    those; a coefficient is one number for all, one per coordinate, or given by joint (those not named have none).
    Joints with quaternions have no springs: put a `Bushing` between their frames.

    Parameters
    ----------
    joint : str or sequence of str
    stiffness : number, array or mapping
        [N m/rad or N/m].
    rest : number, array or mapping
        Where the spring is slack [rad or m].
    """

    joint: Names
    stiffness: Values
    rest: Values = 0.0

    def pack(self, model: Model, table: ElementTable) -> None:
        """Add the rows of this element."""
        what = f"JointSpring({self.joint!r})"
        entries = _coordinates(model, self.joint, what)
        stiffness = _losses(self.stiffness, entries, f"{what}: stiffness")
        rests = _per_entry(self.rest, entries, f"{what}: rest")
        for entry, k, rest in zip(entries, stiffness, rests, strict=True):
            table.add(what, el.SPRING, (entry.q, entry.v), {el.STIFFNESS: k, el.REST: rest})


@dataclass(frozen=True, eq=False)
class JointDamper:
    """tau = -damping v at every velocity of the named joints, cut joints included.

    At a joint that is cut, equal and opposite wrenches act on its two bodies along the directions it leaves free.

    Parameters
    ----------
    joint : str or sequence of str
    damping : number, array or mapping
        [N m s/rad or N s/m].
    """

    joint: Names
    damping: Values

    def pack(self, model: Model, table: ElementTable) -> None:
        """Add the rows of this element."""
        what = f"JointDamper({self.joint!r})"
        entries = _velocities(model, self.joint, what)
        for entry, c in zip(entries, _losses(self.damping, entries, f"{what}: damping"), strict=True):
            entry.lose(table, what, el.DAMPER, {el.DAMPING: c})


@dataclass(frozen=True, eq=False)
class JointFriction:
    """tau = -(coulomb tanh(v / speed) + viscous v): dry and viscous friction, cut joints included.

    Dry friction jumps at v = 0; this law is smooth there instead. It gives all but 0.5 % of `coulomb` at 3 `speed`
    and all but 1e-8 at 10 `speed`. It never sticks: a joint held by less than `coulomb` creeps at speed atanh(load /
    coulomb), which is 0.55 `speed` at half of it. Near rest it acts as a damper of coulomb / speed, so an explicit
    integrator needs steps below about 2 m speed / coulomb, m being the inertia at the joint.

    Parameters
    ----------
    joint : str or sequence of str
    coulomb : number, array or mapping
        Dry friction [N m or N].
    viscous : number, array or mapping
        [N m s/rad or N s/m].
    speed : number
        Breakaway speed over which dry friction sets in [rad/s or m/s].
    """

    joint: Names
    coulomb: Values
    viscous: Values = 0.0
    speed: float = BREAKAWAY_SPEED

    def pack(self, model: Model, table: ElementTable) -> None:
        """Add the rows of this element."""
        what = f"JointFriction({self.joint!r})"
        entries = _velocities(model, self.joint, what)
        speed = float(spread(self.speed, 1, f"{what}: speed")[0])
        if speed <= 0.0:
            raise DescriptionError(f"{what}: speed must be positive, but is {speed:g}")
        coulomb = _losses(self.coulomb, entries, f"{what}: coulomb")
        viscous = _losses(self.viscous, entries, f"{what}: viscous")
        for entry, dry, wet in zip(entries, coulomb, viscous, strict=True):
            entry.lose(table, what, el.FRICTION, {el.COULOMB: dry, el.SPEED: speed, el.DAMPING: wet})


@dataclass(frozen=True, eq=False)
class JointLimit:
    """max(0, stiffness depth - damping (rate of return)), towards the range, while a joint is outside it; never pulls.

    The range is the one that the model has for the joint (`model.lower`, `model.upper`); of an arm the joints without
    one are left out. The damper sets in with a jump when the limit is met: `limit_margin` is zero there.

    Parameters
    ----------
    joint : str or sequence of str
    stiffness : number, array or mapping
        [N m/rad or N/m].
    damping : number, array or mapping
        [N m s/rad or N s/m].
    """

    joint: Names
    stiffness: Values
    damping: Values = 0.0

    def pack(self, model: Model, table: ElementTable) -> None:
        """Add the rows of this element."""
        what = f"JointLimit({self.joint!r})"
        entries = _coordinates(model, self.joint, what)
        limited = np.isfinite(model.lower) | np.isfinite(model.upper)
        if not any(limited[entry.q] for entry in entries):
            having = [name for name, place in model.joints.items() if limited[place.q].any()]
            raise UnknownNameError("joint with a range", _text(self.joint), having)
        stiffness = _losses(self.stiffness, entries, f"{what}: stiffness")
        damping = _losses(self.damping, entries, f"{what}: damping")
        for entry, k, c in zip(entries, stiffness, damping, strict=True):
            if limited[entry.q]:
                bounds = {el.LOWER: model.lower[entry.q], el.UPPER: model.upper[entry.q]}
                table.add(what, el.LIMIT, (entry.q, entry.v), {el.STIFFNESS: k, el.DAMPING: c} | bounds)


def limit_margin(model: Model, q: ArrayLike | State) -> np.ndarray:
    """min(q - lower, upper - q) of every coordinate [rad or m], nq entries: negative outside, inf without a limit.

    Examples
    --------
    >>> import multiarm as ma
    >>> m = ma.Mechanism()
    >>> m.add_body("door", mass=1.0, inertia=(1, 1, 1))
    >>> m.add_joint("hinge", "revolute", parent="world", child="door", lower=0.0, upper=1.5)
    >>> limit_margin(m.compile(), [1.25])
    array([0.25])
    """
    x = model.configuration(q)
    return np.minimum(x - model.lower, model.upper - x)


# ---------------------------------------------------------------------- entries of v by name


@dataclass(frozen=True)
class _TreeEntry:
    """One velocity of a joint in the tree; q is its coordinate where it has one of its own."""

    joint: str
    q: int
    v: int

    def lose(self, table: ElementTable, label: str, kind: int, numbers: Mapping[int, ArrayLike]) -> None:
        table.add(label, kind, (0, self.v), numbers)


@dataclass(frozen=True, eq=False)
class _CutEntry:
    """One free direction of a cut joint: the links of its two sides, its frames there, and the direction."""

    joint: str
    links: tuple[int, int]
    numbers: Mapping[int, ArrayLike]

    def lose(self, table: ElementTable, label: str, kind: int, numbers: Mapping[int, ArrayLike]) -> None:
        table.add(label, el.CUT_LOSS, self.links, {**self.numbers, **numbers})


def _text(joint: Names) -> str:
    return joint if isinstance(joint, str) else ", ".join(map(str, joint))


def _names(model: Model, joint: Names) -> list[str]:
    """Joints, those of arms one by one."""
    given = [joint] if isinstance(joint, str) else list(joint)
    return [one for name in given for one in (model.coordinates_of_arm(name) if name in model.arms else (name,))]


def _velocities(model: Model, joint: Names, what: str) -> list[_TreeEntry | _CutEntry]:
    """Every velocity of the named joints, free directions of cut ones included."""
    entries: list[_TreeEntry | _CutEntry] = []
    for name in _names(model, joint):
        if name in model.cuts and model.cuts[name].joint is not None:
            entries += _cut_entries(model, model.cuts[name])
            continue
        rates = model.v_slice(name)  # says why there are none
        first = model.joints[name].q.start
        entries += [_TreeEntry(name, first + i, v) for i, v in enumerate(range(rates.start, rates.stop))]
    if not entries:
        raise DescriptionError(f"{what}: nothing moves there", _names(model, joint))
    return entries


def _coordinates(model: Model, joint: Names, what: str) -> list[_TreeEntry]:
    """Every coordinate of the named joints, which must be in the tree and have no quaternions."""
    entries: list[_TreeEntry] = []
    for entry in _velocities(model, joint, what):
        if isinstance(entry, _CutEntry):
            raise DescriptionError(
                f"{what}: joint {entry.joint!r} is cut and has no coordinate: cut another of its loop (cuts=[...])",
                [entry.joint],
            )
        kind = joint_kind(model.joints[entry.joint].joint.kind)
        if kind.nq != kind.nv:
            raise DescriptionError(
                f"{what}: joint {entry.joint!r} is {kind.name} and has a quaternion: put a Bushing between its frames",
                [entry.joint],
            )
        entries.append(entry)
    return entries


def _cut_entries(model: Model, cut: CutJoint) -> list[_CutEntry]:
    """Directions [n; f] = S (S* S)^-1: a force tau along one does the power tau . rate on the joint's own motion.

    S, the motions that the joint leaves free, is the sum of what is fixed on its parent and on its child.
    """
    assert cut.joint is not None
    joint: Joint = cut.joint
    one, none = np.eye(3), np.zeros((3, 3))
    free = free_directions(joint, one, one)
    gram = np.linalg.inv(free.T @ free)
    on_parent, on_child = free_directions(joint, one, none) @ gram, free_directions(joint, none, one) @ gram
    near, far = (model.placement(frame.body) for frame in (cut.parent, cut.child))
    frames = {
        el.FRAME_A: pose_numbers(near.pose * cut.parent.pose),
        el.FRAME_B: pose_numbers(far.pose * cut.child.pose),
    }
    return [
        _CutEntry(
            cut.name,
            (near.link, far.link),
            frames | {el.TURN_A: on_parent[:3, i], el.TURN_B: on_child[:3, i], el.SLIDE_A: on_parent[3:, i]},
        )
        for i in range(free.shape[1])
    ]


def _per_entry(value: Values, entries: Sequence[_TreeEntry | _CutEntry], what: str) -> np.ndarray:
    """A number for every entry, from one for all, one each, or values by joint."""
    if not isinstance(value, Mapping):
        return spread(value, len(entries), what)
    joints = list(dict.fromkeys(entry.joint for entry in entries))
    numbers = np.zeros(len(entries))
    for name, given in value.items():
        if name not in joints:
            raise UnknownNameError(f"joint of {what.split(':')[0]}", name, joints)
        places = [i for i, entry in enumerate(entries) if entry.joint == name]
        numbers[places] = spread(given, len(places), f"{what} of {name!r}")
    return numbers


def _losses(value: Values, entries: Sequence[_TreeEntry | _CutEntry], what: str) -> np.ndarray:
    """A number for every entry, none negative."""
    return not_negative(_per_entry(value, entries, what), len(entries), what)
