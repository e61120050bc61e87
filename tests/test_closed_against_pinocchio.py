"""Arms of different make around one object, against Pinocchio: its constrained dynamics, and its M, h and Jacobians.

Pinocchio knows constraints of three and six rows. For revolute grasps and soft fingers its mass matrix, bias forces,
Jacobians and accelerations make up a KKT system here.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from pinocchio_states import GRAVITY, Moment, Twins, pin, swap, symmetric
from random_mechanisms import random_quaternion, random_state
from random_teams import contact_turn, lasting_velocities
from scipy.linalg import null_space
from scipy.spatial.transform import RigidTransform

import multiarm as ma
from multiarm.solvers import SOLVERS

WORLD = pin.LOCAL_WORLD_ALIGNED
ROBOTS = (
    ma.robots.panda,
    ma.robots.ur5,
    lambda: ma.robots.chain(7, length=0.3, mass=1.5),
    ma.robots.puma560,
    lambda: ma.robots.planar(4, length=0.4, mass=1.2),
    ma.robots.panda,
)
OBJECT = {"mass": 4.0, "com": np.array([0.05, -0.02, 0.03]), "inertia": np.diag([0.06, 0.08, 0.07])}


def se3(pose: RigidTransform) -> pin.SE3:
    return pin.SE3(pose.as_matrix())


@dataclass(frozen=True)
class Held:
    """A grasp in both programs: its kind, the arm's joint in Pinocchio, tip and contact frame in their joints."""

    kind: str
    joint: int
    tip: pin.SE3
    contact: pin.SE3


@dataclass(frozen=True, eq=False)
class Around:
    """Arms around one object in both programs, at a consistent state."""

    moment: Moment
    held: dict[str, Held]

    @property
    def model(self) -> ma.Model:
        return self.moment.twins.model

    def solve(self, solver: str) -> ma.ClosedChainSolution:
        return ma.forward_dynamics(self.model, self.moment.state, self.moment.tau, solver=solver)


def add_to_peer(peer: pin.Model, name: str, robot: ma.Robot, base: pin.SE3) -> tuple[int, pin.SE3]:
    """`robot` as joints of Pinocchio; where its tip is: the joint that carries it and the pose there."""
    where = {robot.root: (0, base)}
    bodies = {body.name: body for body in robot.bodies}
    for joint in robot.joints:
        carrier, pose = where[joint.parent]
        pose = pose * se3(joint.at)
        if joint.kind != "fixed":
            carrier = peer.addJoint(carrier, pin.JointModelRevoluteUnaligned(joint.axis), pose, f"{name}/{joint.name}")
            peer.armature[peer.joints[carrier].idx_v] = joint.armature
            pose = pin.SE3.Identity()
        where[joint.child] = carrier, pose * se3(joint.in_child).inverse()
        body = bodies[joint.child]
        if body.mass > 0.0 or body.inertia.any():
            peer.appendBodyToJoint(carrier, pin.Inertia(body.mass, body.com, body.inertia), where[joint.child][1])
    frames = {frame.name: frame for frame in robot.frames} | {body: ma.Frame(body, body) for body in bodies}
    tip = frames[robot.tips["tip"]]
    carrier, pose = where[tip.body]
    return carrier, pose * se3(tip.pose)


def around(count: int, seed: int, kinds: tuple[str, ...]) -> Around:
    """`count` arms that hold an object where their tips happen to be, each by one of the kinds of grasp."""
    rng = np.random.default_rng([count, seed])
    m, peer, tips = ma.Mechanism("arms around an object"), pin.Model(), {}
    peer.gravity.linear = GRAVITY
    for i in range(count):
        robot = ROBOTS[(i + seed) % len(ROBOTS)]()
        base = ma.pose(rng.normal(size=3), quat=random_quaternion(rng))
        m.add_arm(f"arm{i}", robot, base=base)
        tips[f"arm{i}"] = add_to_peer(peer, f"arm{i}", robot, se3(base))
    m.add_body("object", pose=ma.pose(rng.normal(size=3), quat=random_quaternion(rng)), **OBJECT)
    box = peer.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "object")
    peer.appendBodyToJoint(box, pin.Inertia(*OBJECT.values()), pin.SE3.Identity())
    open_model = m.compile()
    q = np.array(random_state(open_model, rng).q)
    kin = ma.kinematics(open_model, open_model.state(q=q))
    held = {}
    for name, (joint, tip) in tips.items():
        kind = kinds[rng.integers(len(kinds))]
        contact = kin.pose(f"{name}/tip") * RigidTransform.from_rotation(contact_turn(rng, kind))
        at = kin.pose("object").inv() * contact
        m.grasp(name, "object", at=at, kind=kind)
        held[name] = Held(kind, joint, tip, se3(at))
        peer.addFrame(pin.Frame(f"{name} tip", joint, 0, tip, pin.FrameType.OP_FRAME))
        peer.addFrame(pin.Frame(f"{name} contact", box, 0, se3(at), pin.FrameType.OP_FRAME))
    model = m.compile(gravity=GRAVITY)
    state = model.state(q=q, v=lasting_velocities(model, q, rng))
    tau = np.concatenate([10.0 * rng.normal(size=model.nv - 6), np.zeros(6)])
    twins = Twins(model, peer, {name: name for name in model.joints}, {})
    return Around(Moment(twins, state, np.zeros(model.nv), tau, {}), held)


def constrained_by_pinocchio(case: Around) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Accelerations in our coordinates and wrenches on the object, by `pin.constraintDynamics`."""
    moment, peer = case.moment, case.moment.twins.peer
    rows = {"rigid": pin.ContactType.CONTACT_6D, "point": pin.ContactType.CONTACT_3D}
    box = peer.getJointId("object")
    models, datas, data = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData(), peer.createData()
    for held in case.held.values():
        models.append(
            pin.RigidConstraintModel(rows[held.kind], peer, held.joint, held.tip, box, held.contact, pin.LOCAL)
        )
        datas.append(models[-1].createData())
    pin.initConstraintDynamics(peer, data, models, *([datas] if pin.__version__ >= "4" else []))
    exactly = pin.ProximalSettings(1e-14, 0.0, 1)
    tau = moment.T @ moment.tau
    a = pin.constraintDynamics(peer, data, moment.peer_q, moment.peer_v, tau, models, datas, exactly)
    pin.updateFramePlacements(peer, data)
    wrenches = {}
    for name, one in zip(case.held, datas, strict=True):
        axes = data.oMf[peer.getFrameId(f"{name} tip")].rotation
        wrenches[name] = -np.concatenate([axes @ one.contact_force.angular, axes @ one.contact_force.linear])
    return moment.our_a(a), wrenches


def constrained(
    mass: np.ndarray, force: np.ndarray, rows: np.ndarray, bias: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """a and least lambda of M a = force + J* lambda, J a = bias, by a basis of the motions that J leaves."""
    inverse, free = np.linalg.pinv(rows, rcond=1e-10), null_space(rows, rcond=1e-10)
    forced = inverse @ bias
    a = forced + free @ np.linalg.solve(free.T @ mass @ free, free.T @ (force - mass @ forced))
    return a, inverse.T @ (mass @ a - force)


def constrained_by_kkt(case: Around) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """The same from Pinocchio's M, h, Jacobians and accelerations; least forces where several are possible."""
    moment, peer = case.moment, case.moment.twins.peer
    data, q, v = peer.createData(), moment.peer_q, moment.peer_v
    mass = symmetric(pin.crba(peer, data, q))
    force = moment.T @ moment.tau - pin.nonLinearEffects(peer, data, q, v)
    pin.forwardKinematics(peer, data, q, v, np.zeros(peer.nv))
    pin.computeJointJacobians(peer, data, q)
    pin.updateFramePlacements(peer, data)
    bases, rows, bias = {}, [], []
    for name, held in case.held.items():
        ends = [peer.getFrameId(f"{name} {end}") for end in ("contact", "tip")]
        jacobian, speed, drift = (
            swap(np.subtract(*(get(end) for end in ends)))
            for get in (
                lambda end: pin.getFrameJacobian(peer, data, end, WORLD),
                lambda end: pin.getFrameVelocity(peer, data, end, WORLD).vector,
                lambda end: pin.getFrameClassicalAcceleration(peer, data, end, WORLD).vector,
            )
        )
        axes = data.oMf[ends[0]].rotation.T
        kept = axes[{"rigid": [0, 1, 2], "revolute": [0, 1], "soft_finger": [2], "point": []}[held.kind]]
        omega = pin.getFrameVelocity(peer, data, ends[0], WORLD).angular
        bases[name] = np.block([[kept, np.zeros((len(kept), 3))], [np.zeros((3, 3)), np.eye(3)]])
        rows.append(bases[name] @ jacobian)
        # the axes turn with the object, so that a motion about a free one shows in the others
        bias.append(-bases[name] @ drift - np.concatenate([np.cross(omega, kept) @ speed[:3], np.zeros(3)]))
    jacobian, gamma = np.vstack(rows), np.concatenate(bias)
    a, lam = constrained(mass, force, jacobian, gamma)
    multipliers = np.split(lam, np.cumsum([len(basis) for basis in bases.values()])[:-1])
    return moment.our_a(a), {name: bases[name].T @ part for name, part in zip(bases, multipliers, strict=True)}


def assert_equal_motion_and_forces(case: Around, expected: tuple[np.ndarray, dict[str, np.ndarray]]) -> None:
    a, wrenches = expected
    largest = max(np.abs(wrench).max() for wrench in wrenches.values())
    for solver in SOLVERS:
        solution = case.solve(solver)
        assert_allclose(solution.a, a, rtol=0, atol=1e-9 * np.abs(a).max(), err_msg=solver)
        for name, wrench in wrenches.items():
            assert_allclose(solution.forces[name].array, wrench, rtol=0, atol=1e-9 * largest, err_msg=solver)


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("count", [2, 3, 4, 5, 6])
def test_rigid_and_point_grasps_are_those_of_pinocchios_constrained_dynamics(count, seed):
    case = around(count, seed, ("rigid", "point"))
    assert case.solve("dense").redundancy == 0
    assert_equal_motion_and_forces(case, constrained_by_pinocchio(case))


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
@pytest.mark.parametrize("count", [2, 3, 4, 5, 6])
def test_every_kind_of_grasp_satisfies_the_kkt_system_of_pinocchios_quantities(count, seed):
    case = around(count, seed, ("rigid", "revolute", "soft_finger", "point"))
    assert_equal_motion_and_forces(case, constrained_by_kkt(case))


def test_the_two_ways_through_pinocchio_agree():
    case = around(3, 0, ("rigid", "point"))
    (one, pushes), (other, again) = constrained_by_pinocchio(case), constrained_by_kkt(case)
    assert_allclose(one, other, rtol=0, atol=1e-10 * np.abs(one).max())
    for name, push in pushes.items():
        assert_allclose(push, again[name], rtol=0, atol=1e-10 * max(np.abs(x).max() for x in pushes.values()))


# Closed-loop robots of LAAS-CNRS and INRIA, BSD-3 (see LICENSE beside them); what is welded as their yaml files say
LOOP_ROBOTS = Path(__file__).parent / "data" / "loop_robots"
WELDED = {
    "five_bar": (("closedloop1_A", "closedloop1_B"),),
    "delta": (
        ("closedloop1_A", "closedloop1_B"),
        ("closedloop2_B", "closedloop2_A"),
        ("closedloop3_A", "closedloop3_B"),
    ),
    "cassie_like": (("closedloop1_B", "closedloop1_A"), ("closedloop2_A", "closedloop2_B")),
}


def constrained_by_peer(model: ma.Model, state: ma.State, tau: np.ndarray, path: Path) -> np.ndarray:
    """Accelerations by Pinocchio's M, h and Jacobians of the same file, every cut of `model` welded."""
    peer = pin.buildModelFromUrdf(str(path))
    peer.gravity.linear = GRAVITY
    twins = Twins(model, peer, {name: name.removeprefix("robot/") for name in model.joints}, {})
    moment, data = Moment(twins, state, np.zeros(model.nv), tau, {}), peer.createData()
    q, v = moment.peer_q, moment.peer_v
    mass, force = symmetric(pin.crba(peer, data, q)), moment.T @ tau - pin.nonLinearEffects(peer, data, q, v)
    pin.forwardKinematics(peer, data, q, v, np.zeros(peer.nv))
    pin.computeJointJacobians(peer, data, q)
    pin.updateFramePlacements(peer, data)
    rows, bias = [], []
    for cut in model.cuts.values():
        ends = [peer.getFrameId(end.body.removeprefix("robot/"), pin.BODY) for end in (cut.child, cut.parent)]
        rows.append(np.subtract(*(pin.getFrameJacobian(peer, data, end, WORLD) for end in ends)))
        drift = [pin.getFrameClassicalAcceleration(peer, data, end, WORLD).vector for end in ends]
        bias.append(-np.subtract(*drift))
    return moment.our_a(constrained(mass, force, np.vstack(rows), np.concatenate(bias))[0])


@pytest.mark.parametrize(
    ("name", "mobility", "rank", "redundancy"), [("five_bar", 3, 3, 3), ("delta", 5, 9, 9), ("cassie_like", 7, 12, 0)]
)
def test_closed_loop_robots_from_their_files_move_as_pinocchio_says(name, mobility, rank, redundancy):
    path = LOOP_ROBOTS / f"{name}.urdf"
    m = ma.Mechanism()
    m.add_arm("robot", ma.load_urdf(path, loops=[(*pair, "weld") for pair in WELDED[name]]))
    model = m.compile(gravity=GRAVITY)
    rng = np.random.default_rng(5)
    state = ma.assemble(model, {"robot": 0.3 * rng.normal(size=model.nq)}, v=rng.normal(size=model.nv))
    tau = 10.0 * rng.normal(size=model.nv) * np.diag(ma.mass_matrix(model, state))
    assert ma.mobility(model, state).instantaneous == mobility
    a = constrained_by_peer(model, state, tau, path)
    for solver in SOLVERS:
        solution = ma.forward_dynamics(model, state, tau, solver=solver)
        assert_allclose(solution.a, a, rtol=0, atol=1e-9 * np.abs(a).max(), err_msg=solver)
        assert (solution.rank, solution.redundancy) == (rank, redundancy)
