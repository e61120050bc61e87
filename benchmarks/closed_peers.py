"""Closed chains of rigid grasps in Pinocchio and MuJoCo, made from the numbers of a multiarm model.

Every peer gets its best, found by trying on two to eight arms (times against the setting chosen):

- both: the free box comes first, because MuJoCo's sparse factor then fills in least (30 % at eight arms; the order is
  all the same to Pinocchio); bodies on fixed joints are merged into the links that carry them.
- ``constraintDynamics``: mu = 0 and one iteration, exact where the rows are independent (mu 1e-6 with 3 iterations
  takes 10 % longer for the same digits); constraints in LOCAL_WORLD_ALIGNED axes (LOCAL takes 2 to 4 % longer).
- ``lcaba``: mu must be positive, and its digits are limited by mu (from above) and by rounding over mu (from below). Of
  mu 1e-3 to 1e-7 with 1 to 6 iterations: 1e-5 with 3 keeps most digits for its time, 1e-6 with 3 is the usual setting
  and has the same digits with 2, 1e-7 with 1 is the best of one iteration. Order of bodies and axes do not matter.
- ``mj_forward``: Newton and one iteration, exact for equality constraints (100 iterations stop after the first; PGS and
  CG take 3 to 20 times as long to the same digits); dense below about eight arms, sparse above; welds between bodies
  (between sites 1 % slower); whatever is not needed is disabled, islands (10 %) and warm starts (5 %) included. Every
  state has an MjData of its own: filling one by ``mj_setState`` takes 0.3 us more. Its constraints are soft; solimp
  0.9999 is as hard as it goes, at no cost (0.9, its default at rest, is off by as much as the answer).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

import multiarm as ma
from benchmarks.peers import ADVICE, PinocchioRobot, pinocchio, revolute, se3
from benchmarks.teams import Team
from benchmarks.timing import Route

__all__ = [
    "AGREEMENT",
    "LCABA",
    "PeerRoute",
    "mujoco",
    "mujoco_model",
    "mujoco_routes",
    "pinocchio_routes",
    "pinocchio_team",
]

AGREEMENT = 1e-7  # largest relative error of an exact method; 128 joints in a row cost some digits
LOOSE = {"lcaba": 1e-3, "mj_forward": 0.1}  # and of those that are not; beyond these it is another mechanism
LCABA = ((1e-5, 3), (1e-6, 3), (1e-6, 2), (1e-7, 1))  # mu, iterations
HARDEST = (0.9999, 0.9999, 0.001, 0.5, 2.0)  # solimp
UNUSED = (  # of what MuJoCo can leave out; older versions do not know all of it
    *("ACTUATION", "CLAMPCTRL", "CONTACT", "DAMPER", "FILTERPARENT", "FRICTIONLOSS"),
    *("ISLAND", "LIMIT", "MIDPHASE", "SENSOR", "SPRING", "WARMSTART"),
)


@dataclass(frozen=True)
class PeerRoute(Route):
    """A program's way to the accelerations, and the error beyond which it must be another mechanism."""

    program: str = ""
    limit: float = AGREEMENT


def mujoco() -> Any:
    """The module, or the end of the program with advice where it is not installed."""
    try:
        import mujoco
    except ImportError as error:
        sys.exit(f"MuJoCo cannot be imported ({error}); {ADVICE}")
    return mujoco


# ---------------------------------------------------------------------- Pinocchio


def pinocchio_team(ours: ma.Model) -> tuple[PinocchioRobot, Any]:
    """A model of revolute, free and merged joints whose cuts are rigid grasps, and its constraints."""
    pin = pinocchio()
    model = pin.Model()
    model.gravity.linear = np.array(ours.gravity)
    carriers = {0: (0, pin.SE3.Identity())}  # by link: the joint, and the pose of its child, whose axes the peer uses

    def place(body: str) -> tuple[int, Any]:
        """The joint that carries a body, and the body's pose in its child."""
        placement = ours.placement(body)
        number, child = carriers[placement.link]
        return number, child.actInv(se3(placement.pose))

    for name, tree_joint in sorted(ours.joints.items(), key=lambda item: item[1].joint.kind != "free"):
        joint = tree_joint.joint
        at_origin = np.array_equal(joint.in_child.as_matrix(), np.eye(4))
        if joint.kind not in ("revolute", "free") or tree_joint.sign < 0 or joint.armature or not at_origin:
            raise ValueError(
                f"joint {name!r} is {joint.kind}, runs backwards, has a rotor or is off its child's origin"
            )
        kind = pin.JointModelFreeFlyer() if joint.kind == "free" else revolute(joint.axis)
        parent, pose = place(joint.parent)
        number = model.addJoint(parent, kind, pose * se3(joint.at), name)
        carriers[tree_joint.links[-1]] = number, se3(ours.placement(joint.child).pose)
    for body in ours.bodies.values():
        if body.mass > 0.0:
            carrier, pose = place(body.name)
            model.appendBodyToJoint(carrier, pin.Inertia(body.mass, body.com, body.inertia), pose)
    constraints = pin.StdVec_RigidConstraintModel()
    for cut in ours.cuts.values():
        if cut.kind != "rigid":
            raise ValueError(f"grasp {cut.name!r} is {cut.kind}, not rigid")
        ends = []
        for frame in (cut.parent, cut.child):
            carrier, pose = place(frame.body)
            ends += [carrier, pose * se3(frame.pose)]
        aligned = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        constraints.append(pin.RigidConstraintModel(pin.ContactType.CONTACT_6D, model, *ends, aligned))
    return PinocchioRobot(model, {name: name for name in ours.joints}, ours), constraints


def pinocchio_routes(team: Team, lcaba: Sequence[tuple[float, int]] = LCABA) -> list[PeerRoute]:
    """``constraintDynamics``, and ``lcaba`` with each of the given (mu, iterations)."""
    pin = pinocchio()
    peer, constraints = pinocchio_team(team.model)
    maps = [peer.velocities(q) for q in team.q]
    drifts = [peer.drift(q, v) for q, v in zip(team.q, team.v, strict=True)]
    given = [(peer.positions(q), T @ v, T @ tau) for q, v, tau, T in zip(team.q, team.v, team.tau, maps, strict=True)]

    def in_our_terms(i: int, a: np.ndarray) -> np.ndarray:
        return maps[i].T @ (a - drifts[i])

    datas = pin.StdVec_RigidConstraintData()
    for constraint in constraints:
        datas.append(constraint.createData())

    def route(call: Any, data: Any, name: str, mu: float, iterations: int, limit: float) -> PeerRoute:
        settings = pin.ProximalSettings(1e-16, mu, iterations)  # ends by the number of iterations
        arguments = [(peer.model, data, *state, constraints, datas, settings) for state in given]
        return PeerRoute(name, call, arguments, in_our_terms, "pinocchio", limit)

    pin.initConstraintDynamics(peer.model, peer.data, constraints, datas)
    routes = [route(pin.constraintDynamics, peer.data, "constraintDynamics", 0.0, 1, AGREEMENT)]
    ordered = peer.model.createData()
    if lcaba:
        pin.computeJointMinimalOrdering(peer.model, ordered, constraints)  # takes 20 s with 64 arms
    for mu, iterations in lcaba:
        routes.append(route(pin.lcaba, ordered, f"lcaba, mu {mu:.0e}, {iterations}x", mu, iterations, LOOSE["lcaba"]))
    return routes


# ---------------------------------------------------------------------- MuJoCo


def mujoco_model(ours: ma.Model, sparse: bool) -> Any:
    """The Pinocchio model of the same mechanism, body by body, with its constraints as welds."""
    mj, (peer, constraints) = mujoco(), pinocchio_team(ours)
    tree = peer.model
    spec = mj.MjSpec()
    bodies = [spec.worldbody]
    for i in range(1, tree.njoints):
        place, inertia = tree.jointPlacements[i], tree.inertias[i]
        rows, columns = (0, 1, 2, 0, 0, 1), (0, 1, 2, 1, 2, 2)
        body = bodies[tree.parents[i]].add_body(
            name=tree.names[i],
            pos=place.translation,
            quat=_scalar_first(place.rotation),
            mass=inertia.mass,
            ipos=inertia.lever,
            fullinertia=inertia.inertia[rows, columns],
            explicitinertial=True,
        )
        joint = ours.joints[tree.names[i]].joint
        if joint.kind == "free":
            body.add_freejoint(name=joint.name)
        else:
            body.add_joint(name=tree.names[i], type=mj.mjtJoint.mjJNT_HINGE, axis=joint.axis)
        bodies.append(body)
    for constraint in constraints:
        one, two = constraint.joint1_placement, constraint.joint2_placement
        weld = spec.add_equality(type=mj.mjtEq.mjEQ_WELD, objtype=mj.mjtObj.mjOBJ_BODY, solimp=HARDEST)
        weld.name1, weld.name2 = tree.names[constraint.joint1_id], tree.names[constraint.joint2_id]
        data = np.zeros(
            len(weld.data)
        )  # point in body 2, point in body 1, body 2's rotation in body 1, torque's length
        data[:11] = *two.translation, *one.translation, *_scalar_first(one.rotation @ two.rotation.T), 1.0
        weld.data = data
    spec.option.gravity = ours.gravity
    spec.option.solver, spec.option.iterations = mj.mjtSolver.mjSOL_NEWTON, 1
    spec.option.jacobian = mj.mjtJacobian.mjJAC_SPARSE if sparse else mj.mjtJacobian.mjJAC_DENSE
    spec.option.disableflags = sum(int(getattr(mj.mjtDisableBit, f"mjDSBL_{flag}", 0)) for flag in UNUSED)
    return spec.compile()


def mujoco_routes(team: Team) -> list[PeerRoute]:
    """``mj_forward`` by dense and by sparse algebra."""
    return [_mujoco_route(team, name, sparse) for name, sparse in (("dense", False), ("sparse", True))]


def _mujoco_route(team: Team, algebra: str, sparse: bool) -> PeerRoute:
    mj, model = mujoco(), mujoco_model(team.model, sparse)
    datas, maps = [], []
    for q, v, tau in zip(team.q, team.v, team.tau, strict=True):
        positions, turn = _mujoco_coordinates(model, team.model, q)
        data = mj.MjData(model)
        data.qpos, data.qvel, data.qfrc_applied = positions, turn @ v, turn @ tau
        datas.append(data)
        maps.append(turn)

    def in_our_terms(i: int, _: np.ndarray) -> np.ndarray:
        return maps[i].T @ datas[i].qacc

    arguments = [(model, data) for data in datas]
    return PeerRoute(f"mj_forward, {algebra}", mj.mj_forward, arguments, in_our_terms, "mujoco", LOOSE["mj_forward"])


def _mujoco_coordinates(model: Any, ours: ma.Model, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """MuJoCo's q, and the orthogonal T with v_peer = T v and a_peer = T a.

    Its free joints have q = [xyz; quaternion, scalar first], v = [linear in world axes; angular in body axes].
    """
    positions, turn = np.empty(model.nq), np.zeros((model.nv, model.nv))
    for name, place in ours.joints.items():
        joint = model.joint(name)
        first, row = int(joint.qposadr[0]), int(joint.dofadr[0])
        if place.joint.kind == "free":
            x, y, z, w = q[place.q][:4]
            positions[first : first + 7] = *q[place.q][4:], w, x, y, z
            turn[row : row + 3, place.v][:, 3:] = np.eye(3)
            turn[row + 3 : row + 6, place.v][:, :3] = Rotation.from_quat([x, y, z, w]).as_matrix().T
        else:
            positions[first], turn[row, place.v] = q[place.q][0], 1.0
    return positions, turn


def _scalar_first(rotation: np.ndarray) -> np.ndarray:
    return Rotation.from_matrix(rotation).as_quat(scalar_first=True)
