"""Loops that a URDF file cannot hold, named beside it; the answer satisfies Pinocchio's own equations."""

import numpy as np
import pytest

import multiarm as ma
from multiarm.constraints import constraints

pin = pytest.importorskip("pinocchio", reason="the test extra brings Pinocchio")

LINK = """<link name="{name}"><inertial><origin xyz="{half} 0 0"/><mass value="{mass}"/>
  <inertia ixx="0.002" iyy="{i}" izz="{i}" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
JOINT = """<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>
  <origin xyz="{xyz}" rpy="0.1 0 0"/><axis xyz="0 0 1"/><limit effort="9" velocity="9"/></joint>"""


@pytest.fixture
def five_bar(tmp_path):
    """Two arms of two bars each from one base; the ends of the outer bars meet."""
    parts = ['<robot name="five-bar"><link name="base"/>']
    for side, x in (("left", -0.2), ("right", 0.2)):
        for name, length, parent, xyz in (
            ("inner", 0.5, "base", f"{x} 0 0"),
            ("outer", 0.7, f"{side}_inner", "0.5 0 0"),
        ):
            link = f"{side}_{name}"
            parts.append(LINK.format(name=link, half=length / 2, mass=length, i=length**3 / 12))
            parts.append(JOINT.format(name=f"{link}_joint", kind="revolute", parent=parent, child=link, xyz=xyz))
        parts.append(f'<link name="{side}_end"/>')
        parts.append(
            JOINT.format(name=f"{side}_tip", kind="fixed", parent=f"{side}_outer", child=f"{side}_end", xyz="0.7 0 0")
        )
    path = tmp_path / "five_bar.urdf"
    path.write_text("\n".join([*parts, "</robot>"]).replace("0.1 0 0", "0 0 0"))
    return path


def closed(path, how):
    m = ma.Mechanism()
    m.add_arm("robot", ma.load_urdf(path, loops=[("left_end", "right_end", how)]))
    model = m.compile(gravity=(0.5, -9.81, 0))
    rng = np.random.default_rng(1)
    return model, ma.assemble(model, {"robot": [2.2, -1.0, 0.9, 1.0]}, v={"robot": rng.normal(size=4)})


@pytest.mark.parametrize(("how", "rank", "freedom"), [("hinge", 2, 2), ("ball", 2, 2), ("weld", 3, 1)])
def test_a_five_bar_closed_beside_its_file(five_bar, how, rank, freedom):
    model, state = closed(five_bar, how)
    assert list(model.cuts) == ["robot/left_end:right_end"]
    assert ma.mobility(model, state).instantaneous == freedom
    tau = np.array([1.0, -2.0, 0.5, 0.3])
    solution = ma.forward_dynamics(model, state, tau)
    assert solution.rank == rank

    peer = pin.buildModelFromUrdf(str(five_bar))
    peer.gravity.linear = model.gravity
    data = peer.createData()
    order = [peer.joints[peer.getJointId(name.removeprefix("robot/"))].idx_v for name in model.joints]
    q, v, a, torque = (np.zeros(4) for _ in range(4))
    q[order], v[order], a[order], torque[order] = state.q, state.v, solution.a, tau
    pin.forwardKinematics(peer, data, q, v, np.zeros(4))
    pin.computeJointJacobians(peer, data, q)
    pin.updateFramePlacements(peer, data)
    ends = [peer.getFrameId(name) for name in ("right_end", "left_end")]
    world = pin.LOCAL_WORLD_ALIGNED
    jacobian = np.subtract(*(pin.getFrameJacobian(peer, data, end, world) for end in ends))
    drift = np.subtract(*(pin.getFrameClassicalAcceleration(peer, data, end, world).vector for end in ends))
    rows = {"weld": range(6), "ball": range(3), "hinge": range(5)}[how]
    jacobian, drift = jacobian[rows], drift[rows]
    assert np.abs(jacobian @ v).max() < 1e-11
    assert np.abs(jacobian @ a + drift).max() < 1e-10 * np.abs(a).max()
    unbalanced = pin.rnea(peer, data, q, v, a) - torque
    force = solution.forces["robot/left_end:right_end"]
    full = np.subtract(*(pin.getFrameJacobian(peer, data, end, world) for end in ends))
    assert np.allclose(full.T @ np.concatenate([force.force, force.torque]), unbalanced, atol=1e-10)


def test_a_joint_may_stand_for_the_link_it_carries(five_bar):
    robot = ma.load_urdf(five_bar, loops=[("left_tip", "right_end", "hinge")])
    loop = robot.joints[-1]
    assert (loop.name, loop.parent, loop.child, loop.kind) == (
        "left_tip:right_end",
        "left_end",
        "right_end",
        "revolute",
    )


def test_wrong_loops_name_the_choices(five_bar):
    with pytest.raises(ma.UnknownNameError, match="'left_end'"):
        ma.load_urdf(five_bar, loops=[("left_ned", "right_end", "weld")])
    with pytest.raises(ma.UnknownNameError, match="'hinge'"):
        ma.load_urdf(five_bar, loops=[("left_end", "right_end", "glue")])


def test_the_gap_is_closed_by_assembly(five_bar):
    model, state = closed(five_bar, "weld")
    assert np.abs(constraints(model, state).gap).max() < 1e-11
