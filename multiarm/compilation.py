"""From a `Mechanism` to a `Model`: analyse the topology, merge fixed bodies, lay out coordinates, fill the tables."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from scipy.spatial.transform import RigidTransform, Rotation

import graphs
from contacts import grasp_kind
from multiarm.description import Body, Frame, Joint
from multiarm.errors import DescriptionError
from multiarm.joints import axes_of, joint_kind
from multiarm.mechanism import WORLD, Mechanism
from multiarm.model import CutJoint, Model, Placement, TreeJoint
from multiarm.poses import IDENTITY, turn_z_to
from multiarm.sweeps import layout as at

__all__ = ["compile_mechanism"]


def compile_mechanism(mechanism: Mechanism, cuts: str | Iterable[str], gravity: np.ndarray) -> Model:
    """The model of `mechanism` with the given cuts; the mechanism is not changed."""
    topology = graphs.analyse(mechanism.graph, root=WORLD, cuts=cuts)
    hanging = {body: _tree_joint(mechanism, topology, body) for body in topology.bodies[1:]}
    places, nq, nv = _lay_out(mechanism, topology, hanging)
    tables = _Tables(nv)
    for body in topology.bodies[1:]:
        joint = hanging[body]
        tables.hang(mechanism.bodies[body], joint, topology.parent[body].sign, places.get(joint.name))
    tables.finish(nq, gravity)
    joints = {
        name: TreeJoint(joint, q, v, tables.rows[name], tables.signs[name], _actuated(mechanism, joint))
        for name, (joint, q, v) in places.items()
    }
    for coupling in mechanism.couplings:
        for name in (coupling.joint, coupling.source):
            if name not in joints:
                raise DescriptionError(
                    f"joint {name!r} is coupled ({coupling.joint!r} with {coupling.source!r}) and cannot be cut", [name]
                )
    return Model(
        name=mechanism.name,
        nq=nq,
        nv=nv,
        gravity=_frozen(gravity),
        topology=topology,
        bodies=dict(mechanism.bodies),
        joints=joints,
        merged={joint.name: joint for joint in hanging.values() if joint.kind == "fixed"},
        cuts={name: _cut_joint(mechanism, name) for name in _as_added(mechanism, topology.cuts)},
        arms=dict(mechanism.arms),
        grasps=dict(mechanism.grasps),
        couplings=tuple(mechanism.couplings),
        neutral=_frozen(_neutral(mechanism, joints, nq)),
        tree=_frozen(tables.tree),
        link=_frozen(tables.link),
        placements=tables.placements | _frame_placements(mechanism, tables.placements),
    )


def _tree_joint(mechanism: Mechanism, topology: graphs.Topology, body: str) -> Joint:
    """The joint by which `body` hangs in the tree: declared, a grasp acting as a joint, or a free joint."""
    hanging = topology.parent[body]
    if hanging.joint is None:
        name = body
        while name in mechanism.joints or name in mechanism.grasps:
            name = f"{name}/free"
        return Joint(name, "free", WORLD, body, passive=True)
    if hanging.joint in mechanism.joints:
        return mechanism.joints[hanging.joint]
    grasp = mechanism.grasps[hanging.joint]
    kind = grasp_kind(grasp.kind).as_joint
    tip = mechanism.frame(grasp.tip)
    if kind is None or grasp.at is None:
        raise DescriptionError(f"grasp {grasp.name!r} cannot be in the tree: it must be cut", [grasp.name])
    if kind != "fixed" and grasp.name in mechanism.arms:
        raise DescriptionError(
            f"grasp {grasp.name!r} stays in the tree and has coordinates, but {grasp.name!r} is its arm's name too: "
            f"give the grasp a name= of its own, or cut it",
            [grasp.name],
        )
    return Joint(grasp.name, kind, tip.body, grasp.body, at=tip.pose, in_child=grasp.at, passive=True)


def _actuated(mechanism: Mechanism, joint: Joint) -> bool:
    return joint.name in mechanism.joints and not joint.passive


def _lay_out(
    mechanism: Mechanism, topology: graphs.Topology, hanging: dict[str, Joint]
) -> tuple[dict[str, tuple[Joint, slice, slice]], int, int]:
    """Places of every tree joint in q and v, in the order joints were added, a free joint in its body's place."""
    in_tree = {joint.name: joint for joint in hanging.values()}
    floating = {body: hanging[body] for body in topology.floating}
    places: dict[str, tuple[Joint, slice, slice]] = {}
    nq = nv = 0
    for what, name in mechanism.order:
        joint = floating.get(name) if what == "body" else in_tree.get(name) if name not in topology.cuts else None
        if joint is None or joint.kind == "fixed":
            continue
        kind = joint_kind(joint.kind)
        places[joint.name] = (joint, slice(nq, nq + kind.nq), slice(nv, nv + kind.nv))
        nq, nv = nq + kind.nq, nv + kind.nv
    return places, nq, nv


@dataclass
class _Tables:
    """The two tables of `sweeps.layout` while they are being filled, and where bodies ended up."""

    nv: int
    tree: np.ndarray = field(init=False)
    link: np.ndarray = field(init=False)
    filled: int = 1
    placements: dict[str, Placement] = field(default_factory=dict)
    rows: dict[str, range] = field(default_factory=dict)
    signs: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.tree = np.zeros((self.nv + 1, at.TREE_COLUMNS), np.int64)
        self.link = np.zeros((self.nv + 1, at.LINK_COLUMNS))
        self.placements[WORLD] = Placement(0, IDENTITY, WORLD)

    def hang(self, body: Body, joint: Joint, sign: int, place: tuple[Joint, slice, slice] | None) -> None:
        """Add the axes of `joint` and the body they carry."""
        near, far = (joint.at, joint.in_child) if sign > 0 else (joint.in_child, joint.at)
        parent = self.placements[joint.parent if sign > 0 else joint.child]
        row, frame = parent.link, parent.pose * near  # joint frame in the link that carries the parent
        first = self.filled
        turned = Rotation.identity()  # from the joint frame to the frame of the axis just added
        for axis in axes_of(joint, sign):
            assert place is not None  # only fixed joints have no coordinates, and they have no axes
            k, self.filled = self.filled, self.filled + 1
            aligned = turn_z_to(np.array(axis.direction))
            self._pose(k, frame * RigidTransform.from_rotation(turned.inv() * aligned))
            group = self.tree[k - 1, at.GROUP] if axis.kind == at.BALL_NEXT else row
            self.tree[k] = (
                row, axis.kind, place[1].start + axis.q, place[2].start + axis.v, group, axis.column, axis.parent_axes,
                0, 0,
            )  # fmt: skip
            self.link[k, at.PARAMETER] = axis.parameter
            self.link[k, at.ARMATURE] = joint.armature
            row, frame, turned = k, IDENTITY, aligned
        pose = frame * RigidTransform.from_rotation(turned.inv()) * far.inv()
        self.placements[body.name] = Placement(row, pose, body.name)
        self.rows[joint.name] = range(first, self.filled)
        self.signs[joint.name] = sign
        if row > 0:
            self._add_inertia(row, body, pose)

    def _pose(self, k: int, pose: RigidTransform) -> None:
        self.link[k, at.TREE_ROTATION : at.TREE_ROTATION + 9] = pose.rotation.as_matrix().ravel()
        self.link[k, at.TREE_OFFSET : at.TREE_OFFSET + 3] = pose.translation

    def _add_inertia(self, k: int, body: Body, pose: RigidTransform) -> None:
        rotation = pose.rotation.as_matrix()
        com = pose.apply(body.com)
        inertia = rotation @ body.inertia @ rotation.T + body.mass * (com @ com * np.eye(3) - np.outer(com, com))
        self.link[k, at.INERTIA : at.INERTIA + 6] += inertia[np.triu_indices(3)]
        self.link[k, at.MOMENT : at.MOMENT + 3] += body.mass * com
        self.link[k, at.MASS] += body.mass

    def finish(self, nq: int, gravity: np.ndarray) -> None:
        """What follows once all links are there: who has children, who comes first, and the row of the world."""
        met = set()
        for k in range(self.filled - 1, 0, -1):
            parent = int(self.tree[k, at.PARENT])
            self.tree[parent, at.HAS_CHILDREN] = 1
            self.tree[k, at.FIRST] = parent not in met
            met.add(parent)
        self.tree[0, at.Q], self.tree[0, at.V] = nq, self.nv
        self.link[0, at.ROTATION : at.ROTATION + 9] = np.eye(3).ravel()
        self.link[0, at.ZETA + 3 : at.ZETA + 6] = -gravity


def _cut_joint(mechanism: Mechanism, name: str) -> CutJoint:
    if name in mechanism.grasps:
        grasp = mechanism.grasps[name]
        kind = grasp_kind(grasp.kind)
        contact = Frame(name, grasp.body, IDENTITY if grasp.at is None else grasp.at)
        return CutJoint(name, grasp.kind, mechanism.frame(grasp.tip), contact, kind.velocity_rows, grasp=grasp)
    joint = mechanism.joints[name]
    rows = 6 - joint_kind(joint.kind).nv
    return CutJoint(
        name,
        joint.kind,
        Frame(name, joint.parent, joint.at),
        Frame(name, joint.child, joint.in_child),
        rows,
        joint=joint,
    )


def _as_added(mechanism: Mechanism, cuts: tuple[str, ...]) -> list[str]:
    chosen = set(cuts)
    return [name for what, name in mechanism.order if what != "body" and name in chosen]


def _frame_placements(mechanism: Mechanism, bodies: dict[str, Placement]) -> dict[str, Placement]:
    return {
        name: Placement(bodies[frame.body].link, bodies[frame.body].pose * frame.pose, frame.body)
        for name, frame in mechanism.frames.items()
    }


def _neutral(mechanism: Mechanism, joints: dict[str, TreeJoint], nq: int) -> np.ndarray:
    neutral = np.zeros(nq)
    for place in joints.values():
        if place.joint.kind == "spherical":
            neutral[place.q] = (0, 0, 0, 1)
        elif place.joint.kind == "free":
            joint, start = place.joint, IDENTITY
            if WORLD in (joint.parent, joint.child):  # between two bodies a free joint starts at zero
                parent, child = mechanism.bodies[joint.parent].pose, mechanism.bodies[joint.child].pose
                start = joint.at.inv() * parent.inv() * child * joint.in_child
            neutral[place.q] = np.concatenate([start.rotation.as_quat(), start.translation])
    return neutral


def _frozen(array: np.ndarray) -> np.ndarray:
    array.setflags(write=False)
    return array
