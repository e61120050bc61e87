"""What cut joints, grasps and couplings demand of the tree: rows of a Jacobian, their bias, and the gaps.

With N the rows that a cut constrains (`cut_rows`), A the accelerations of its two bodies at the child-side frame, and V
the motion of the child relative to the parent there:

    velocity       N V = 0
    acceleration   N (A_child - A_parent) = N [0; omega_parent x v] - N-dot V
    force          N* lambda on the child at that frame, by the parent; it does no work on what the joint leaves free.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.spatial.transform import RigidTransform, Rotation

from multiarm.description import Coupling, Joint
from multiarm.kinematics import Kinematics, kinematics
from multiarm.loop_tables import LoopTables, loop_tables, require_imposable
from multiarm.model import CutJoint, Model, grasp_as_joint
from multiarm.state import State
from multiarm.sweeps import layout as at
from multiarm.sweeps.kinematics import jacobian as jacobian_kernel
from multiarm.sweeps.loops import RANK_TOLERANCE, settle_cuts
from multiarm.workspace import Workspace

__all__ = ["Constraints", "CutConstraint", "constraints"]


@dataclass(frozen=True, eq=False)
class CutConstraint:
    """One cut joint or grasp at a state.

    Attributes
    ----------
    basis : (rows, 6)
        N, orthonormal rows, world axes, angular columns first.
    jacobian : (rows, nv)
        N (J of the child - J of the parent), both at `point`.
    bias : (rows,)
        gamma: jacobian a = gamma.
    gap : (position rows,)
        How far the loop is open, in radians and metres; a soft finger has no gap along its velocity row.
    slip : (rows,)
        N V, how much the velocities violate it.
    point : (3,)
        Origin of the child-side frame in the world, where the force acts.
    """

    cut: CutJoint
    basis: np.ndarray
    jacobian: np.ndarray
    bias: np.ndarray
    gap: np.ndarray
    gap_jacobian: np.ndarray
    slip: np.ndarray
    point: np.ndarray


@dataclass(frozen=True, eq=False)
class Constraints:
    """All constraints of a model at a state, stacked: cuts in the order of the model, then couplings.

    `measure` is, per velocity, what it could contribute to a row of J if nothing cancelled (radians and metres alike).
    """

    model: Model
    state: State
    cuts: tuple[CutConstraint, ...]
    couplings: tuple[Coupling, ...]
    measure: np.ndarray

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The cut or coupled joint that each row belongs to."""
        rows = [name for part in self.cuts for name in [part.cut.name] * len(part.basis)]
        return (*rows, *(coupling.joint for coupling in self.couplings))

    @cached_property
    def jacobian(self) -> np.ndarray:
        """J, rows x nv."""
        return np.vstack([np.zeros((0, self.model.nv)), *(part.jacobian for part in self.cuts), self.coupling_rows])

    @cached_property
    def bias(self) -> np.ndarray:
        """gamma: J a = gamma."""
        return np.concatenate([*(part.bias for part in self.cuts), np.zeros(len(self.couplings))])

    @cached_property
    def slip(self) -> np.ndarray:
        """J v, zero on the constraints."""
        return np.concatenate([*(part.slip for part in self.cuts), self.coupling_rows @ self.state.v])

    @cached_property
    def gap(self) -> np.ndarray:
        """Position errors, zero on the constraints."""
        coupled = [self._coordinate(c.joint) - c.ratio * self._coordinate(c.source) - c.offset for c in self.couplings]
        return np.concatenate([*(part.gap for part in self.cuts), coupled])

    @cached_property
    def gap_jacobian(self) -> np.ndarray:
        """Rate of the gaps per rate of v, exact where they are closed."""
        rows = [part.gap_jacobian for part in self.cuts]
        return np.vstack([np.zeros((0, self.model.nv)), *rows, self.coupling_rows])

    @cached_property
    def gap_names(self) -> tuple[str, ...]:
        """The cut or coupled joint that each gap belongs to."""
        rows = [name for part in self.cuts for name in [part.cut.name] * len(part.gap)]
        return (*rows, *(coupling.joint for coupling in self.couplings))

    @cached_property
    def coupling_rows(self) -> np.ndarray:
        """Jacobian of the couplings."""
        rows = np.zeros((len(self.couplings), self.model.nv))
        for i, coupling in enumerate(self.couplings):
            rows[i, self.model.v_slice(coupling.joint)] += 1.0
            rows[i, self.model.v_slice(coupling.source)] -= coupling.ratio
        return rows

    @property
    def rank_tolerance(self) -> float:
        """Share of the largest singular value below which a row counts as redundant.

        Rows that are redundant on the constraints differ by as much as the gaps are open off them.
        """
        return max(RANK_TOLERANCE, 10.0 * float(np.abs(self.gap).max(initial=0.0)))

    def rank_of(self, values: np.ndarray, weights: np.ndarray | float = 1.0) -> int:
        """How many singular values of J are more than rounding; of J with its columns times `weights`.

        They are measured by the largest, or by what that could be where all of it cancels.
        """
        scale = max(values.max(initial=0.0), float((self.measure * weights).max(initial=0.0)))
        return int((values > self.rank_tolerance * scale).sum())

    def independence(self) -> tuple[int, np.ndarray]:
        """Rank of J, and for every row whether its multiplier has only one possible value."""
        left, s, _ = np.linalg.svd(self.jacobian, full_matrices=False)
        rank = self.rank_of(s)
        return rank, whole_rows(left[:, :rank])

    def grasps_of(self, body: str) -> tuple[CutConstraint, ...]:
        """The cut grasps that hold `body`."""
        return tuple(part for part in self.cuts if part.cut.grasp is not None and part.cut.child.body == body)

    def rows_of(self, name: str) -> slice:
        """Where the rows of a cut stand."""
        places = [i for i, other in enumerate(self.names) if other == name]
        return slice(places[0], places[-1] + 1)

    def centre_of(self, body: str) -> np.ndarray:
        """Centre of mass of a body in the world."""
        pose = kinematics(self.model, self.state).pose(body)
        return np.asarray(pose.apply(np.array(self.model.bodies[body].com)))

    def _coordinate(self, joint: str) -> float:
        return float(self.state.q[self.model.q_slice(joint)][0])


def whole_rows(left: np.ndarray) -> np.ndarray:
    """Which unit vectors lie in the span of orthonormal columns: no combination of redundant rows contains them."""
    return np.abs(1.0 - np.einsum("ij,ij->i", left, left)) < 1e-8


def constraints(model: Model, state: State) -> Constraints:
    """Every constraint of `model` at `state`."""
    require_imposable(model)
    kin = kinematics(model, state)
    tables = loop_tables(model).copy()
    settle_cuts(kin.workspace.tree, kin.workspace.link, tables.loop, tables.cut)
    cuts = tuple(_cut_constraint(kin, cut, tables) for cut in model.cuts.values())
    return Constraints(model, state, cuts, model.couplings, _measure(kin.workspace, cuts, model.couplings))


def _measure(workspace: Workspace, cuts: tuple[CutConstraint, ...], couplings: tuple[Coupling, ...]) -> np.ndarray:
    """Per velocity the largest entry of J that a unit row could give it: a moment, or a force at its lever arm."""
    model = workspace.model
    measure = np.zeros(model.nv)
    for part in cuts:
        for frame in (part.cut.parent, part.cut.child):
            k = model.placement(frame.body).link
            while k > 0:
                arm = part.point - workspace.origin(k)
                j = model.tree[k, at.V]
                measure[j] = max(measure[j], np.sqrt(1.0 + arm @ arm))
                k = int(model.tree[k, at.PARENT])
    for coupling in couplings:
        measure[model.v_slice(coupling.joint)] = np.maximum(measure[model.v_slice(coupling.joint)], 1.0)
    return measure


def _cut_constraint(kin: Kinematics, cut: CutJoint, tables: LoopTables) -> CutConstraint:
    workspace = kin.workspace
    joint = cut.joint or grasp_as_joint(cut)
    motion = kin.joint(cut.name)
    near, far, point = motion.parent_frame, motion.child_frame, motion.child_frame.translation
    basis = tables.normals(cut.name)
    relative = _point_jacobian(workspace, cut.child.body, point) - _point_jacobian(workspace, cut.parent.body, point)
    child_bias = _point_bias(kin, cut.child.body, point)
    parent_bias = _point_bias(kin, cut.parent.body, point)
    bias = tables.goal(cut.name) - basis @ (child_bias - parent_bias)
    # a soft finger resists spinning but has no angle to return to
    position = basis if joint.kind != "soft_finger" else basis[~basis[:, :3].any(axis=1)]
    normal = position[0, :3] if len(position) else np.zeros(3)
    gap = position @ _opening(joint, near, far, normal)
    jacobian = basis @ relative
    return CutConstraint(cut, basis, jacobian, bias, gap, position @ relative, basis @ motion.velocity, np.array(point))


def _point_jacobian(workspace: Workspace, body: str, point: np.ndarray) -> np.ndarray:
    """Jacobian of the point of `body` that is at `point` now."""
    k = workspace.model.placement(body).link
    local = workspace.rotation(k).T @ (point - workspace.origin(k))
    out = np.empty((6, workspace.model.nv))
    workspace.check(jacobian_kernel(workspace.tree, workspace.link, np.array([k, *local]), out))
    return out


def _point_bias(kin: Kinematics, body: str, point: np.ndarray) -> np.ndarray:
    """J-dot v of the point of `body` that is at `point` now."""
    bias, omega = kin.bias_acceleration(body), kin.velocity(body)[:3]
    arm = point - kin.pose(body).translation
    return bias + np.concatenate([np.zeros(3), np.cross(bias[:3], arm) + np.cross(omega, np.cross(omega, arm))])


def _opening(joint: Joint, near: RigidTransform, far: RigidTransform, normal: np.ndarray) -> np.ndarray:
    """How far the child-side frame is from where the joint lets it be: [rotation; translation], world axes.

    Only its components along the constrained directions mean something (`normal` is the first of them). Rotations are
    measured by their full angle, so that a half turn is the worst gap and not a second solution.
    """
    translation = far.translation - near.translation
    match joint.kind:
        case "fixed" | "prismatic":
            rotation = (far.rotation * near.rotation.inv()).as_rotvec()
        case "universal":
            first, second = near.rotation.apply(joint.axis), far.rotation.apply(joint.axis2)
            across = np.cross(first, second)
            if (
                np.linalg.norm(across) < 1e-12
            ):  # the axes coincide: open about the normal that stands for the constraint
                across = normal
            wanted, found = (np.arccos(np.clip(x, -1, 1)) for x in (joint.axis @ joint.axis2, first @ second))
            rotation = (found - wanted) * across / np.linalg.norm(across)
        case _:
            axis = np.array([0.0, 0.0, 1.0]) if joint.kind == "planar" else joint.axis
            before, after = near.rotation.apply(axis), far.rotation.apply(axis)
            rotation = _turn(before, after, near.rotation)
            if joint.kind == "screw":
                untilted = Rotation.from_rotvec(-rotation) * far.rotation
                rotation = rotation + _spin(untilted * near.rotation.inv(), before, translation, joint.pitch)
    return np.concatenate([rotation, translation])


def _spin(turn: Rotation, axis: np.ndarray, translation: np.ndarray, pitch: float) -> np.ndarray:
    """Rotation about the axis of a screw, with the number of whole turns that its advance tells."""
    angle = float(turn.as_rotvec() @ axis)
    if pitch != 0.0:
        angle += 2 * np.pi * round((float(translation @ axis) / pitch - angle) / (2 * np.pi))
    return angle * axis


def _turn(before: np.ndarray, after: np.ndarray, frame: Rotation) -> np.ndarray:
    """Rotation vector of the shortest turn from one unit vector to another; about any normal for a half turn."""
    across = np.cross(before, after)
    sine = float(np.linalg.norm(across))
    if sine < 1e-12:
        if before @ after > 0.0:
            return across
        across = np.cross(before, frame.apply((1.0, 0.0, 0.0)))
        if np.linalg.norm(across) < 0.1:
            across = np.cross(before, frame.apply((0.0, 1.0, 0.0)))
        return np.pi * across / np.linalg.norm(across)
    return np.arctan2(sine, before @ after) * across / sine
