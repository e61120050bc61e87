"""What joints and grasps transmit, also those inside a link, and its split into actuator and bearing."""

import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_allclose
from random_mechanisms import cases, random_external
from test_closed_chain import PANDAS, moving_four_bar, panda_state, two_pandas
from test_closed_chain_laws import descriptions, team

import multiarm as ma

some = settings(max_examples=60, deadline=None, derandomize=True)
TAU = np.array(PANDAS["tau"][0][:14] + [0.0] * 6)


def assert_newton_and_euler(solution, external):
    """For every body on its own: what acts on it adds up to its rate of momentum."""
    model = solution.model
    kin = ma.kinematics(model, solution.state)
    net = {name: np.zeros(6) for name in model.bodies}
    size = 1e-300
    for wrench in solution.forces.values():
        array = wrench.about((0, 0, 0)).array
        net[wrench.on] += array
        net[wrench.by] -= array
        size = max(size, np.abs(array).max())
    for name, push in external.items():
        net[name] += push + np.concatenate([np.cross(kin.pose(name).translation, push[3:]), np.zeros(3)])
    for name, body in model.bodies.items():
        if name == "world":
            continue
        turn, omega, a = kin.pose(name).rotation.as_matrix(), kin.velocity(name)[:3], solution.acceleration(name)
        arm, inertia = turn @ body.com, turn @ body.inertia @ turn.T
        com = kin.pose(name).translation + arm
        linear = a[3:] + np.cross(a[:3], arm) + np.cross(omega, np.cross(omega, arm)) - model.gravity
        spin = inertia @ a[:3] + np.cross(omega, inertia @ omega)
        rate = np.concatenate([spin + np.cross(com, body.mass * linear), body.mass * linear])
        assert_allclose(net[name], rate, rtol=0, atol=1e-10 * max(size, np.abs(rate).max()))


@some
@given(case=cases())
def test_every_body_obeys_newton_and_euler_also_inside_a_link(case):
    external = random_external(case.model, case.rng)
    solution = ma.tree_forward_dynamics(case.model, case.state, case.tau, external)
    assert set(solution.forces) == {*case.model.joints, *case.model.merged}
    assert_newton_and_euler(solution, external)


@settings(some, max_examples=30)
@given(descriptions)
def test_every_body_of_a_team_obeys_newton_and_euler(description):
    drawn = team(**description)
    solution = ma.forward_dynamics(drawn.model, drawn.state, drawn.tau)
    assert len(solution.forces) == len(set(solution.forces))
    if ma.mobility(drawn.model, drawn.state).conditioning > 1e-3:
        assert_newton_and_euler(solution, {})


def pandas_with(cuts, kinds=("rigid", "rigid")):
    """The two arms and the box with only some of the grasps cut, moving as before."""
    m = ma.Mechanism("two Pandas")
    for i, side in enumerate(("left", "right")):
        m.add_arm(side, ma.robots.panda(), base=np.array(PANDAS["base"][i]))
    m.add_body("box", mass=5.0, shape=ma.Box((0.3, 0.3, 0.2)))
    for i, side in enumerate(("left", "right")):
        m.grasp(side, "box", at=np.array(PANDAS["weld_box"][i]), kind=kinds[i], name=f"{side} hold")
    return m.compile(cuts=cuts)


@pytest.mark.parametrize("kept", ["left", "right"])
def test_a_rigid_grasp_kept_in_the_tree_has_the_force_of_a_cut_one(kept):
    reference = two_pandas()
    state = panda_state(reference, 0)
    expected = ma.forward_dynamics(reference, state, TAU)
    other = "right" if kept == "left" else "left"
    model = pandas_with([f"{other} hold"])
    assert model.nv == 14
    solution = ma.forward_dynamics(model, model.state(q=state.q[:14], v=state.v[:14]), TAU[:14])
    for side in ("left", "right"):
        force, wanted = solution.forces[f"{side} hold"], expected.forces[side]
        assert (force.on, force.by) == ("box", f"{side}/panda_hand")
        assert_allclose(force.about(wanted.point).array, wanted.array, atol=1e-8)
    assert solution.determinate == {"left hold": True, "right hold": True}
    shares, before = solution.load("box").share, expected.load("box").share
    for side in ("left", "right"):
        assert shares[f"{side} hold"] == pytest.approx(before[side], rel=1e-8)


@pytest.mark.parametrize("kind", ["revolute", "point"])
def test_grasps_with_coordinates_share_the_load_as_cut_ones_do(kind):
    cut, kept = pandas_with("grasps", (kind, "rigid")), pandas_with(["right hold"], (kind, "rigid"))
    state = ma.project(cut, panda_state(cut, 0))
    grasp = ma.kinematics(cut, state).grasp("left hold")
    same = kept.state(
        q={"left": state.q[:7], "right": state.q[7:14], "left hold": grasp.theta},
        v={"left": state.v[:7], "right": state.v[7:14], "left hold": grasp.W},
    )
    first = ma.forward_dynamics(cut, state, {"left": TAU[:7], "right": TAU[7:14]})
    second = ma.forward_dynamics(kept, same, {"left": TAU[:7], "right": TAU[7:14]})
    for name in ("left hold", "right hold"):
        assert_allclose(second.forces[name].about(first.forces[name].point).array, first.forces[name].array, atol=1e-7)
        one, other = first.load("box").internal[name], second.load("box").internal[name]
        assert_allclose(other.array, one.array, atol=1e-7)
    assert_allclose(second.grasp("left hold").W_dot, first.grasp("left hold").W_dot, atol=1e-7)


def test_a_mount_carries_the_weight_of_all_that_stands_on_it():
    m = ma.Mechanism()
    m.add_body("table", mass=12.0, inertia=(1, 1, 1), com=(0.2, 0, -0.1), fixed=True, pose=(0, 0, 0.8))
    m.add_arm("arm", ma.robots.panda(), base=(0.3, 0, 0), on="table")
    model = m.compile()
    state = model.state(q={"arm": [0.1, -0.6, 0.2, -2.2, 0.3, 1.6, 0.8]})
    solution = ma.tree_forward_dynamics(model, state, ma.inverse_dynamics(model, state))
    arm_mass = sum(body.mass for name, body in model.bodies.items() if name.startswith("arm/"))
    mount, ground = solution.forces["arm/mount"], solution.forces["table/fixed"]
    assert (mount.on, mount.by, ground.by) == ("arm/panda_link0", "table", "world")
    assert_allclose(mount.force, (0, 0, 9.81 * arm_mass), atol=1e-9)
    assert_allclose(ground.force, (0, 0, 9.81 * (arm_mass + 12.0)), atol=1e-9)
    assert_allclose(ground.about(mount.point).torque - mount.torque, 9.81 * 12 * np.array([0, 0.1, 0]), atol=1e-9)


# ---------------------------------------------------------------------- actuator and bearing


@some
@given(case=cases())
def test_actuators_give_what_the_rotors_leave_and_bearings_do_no_work(case):
    solution = ma.tree_forward_dynamics(case.model, case.state, case.tau)
    kin = ma.kinematics(case.model, case.state)
    driving = case.tau - case.model.armature * solution.a
    for name, reaction in solution.reactions.items():
        free, total = kin.joint(name).directions, reaction.total
        size = np.abs(total.array).max() + 1e-300
        assert_allclose(total.array, solution.forces[name].about(total.point).array, atol=1e-12 * size)
        assert_allclose(reaction.actuator.array + reaction.bearing.array, total.array, atol=1e-12 * size)
        assert {part.on for part in (total, reaction.actuator, reaction.bearing)} == {total.on}
        assert np.abs(free.T @ reaction.bearing.array).max(initial=0.0) <= 1e-9 * size * (
            1 + np.abs(free).max(initial=0)
        )
        assert reaction.determinate
        if name in case.model.joints:
            wanted = driving[case.model.v_slice(name)]
            assert_allclose(reaction.effort, wanted, rtol=0, atol=1e-9 * (size + np.abs(wanted).max()))
        else:
            assert reaction.effort.shape == (0,)


def slider(kind, **options):
    m = ma.Mechanism()
    m.add_body("block", mass=2.0, inertia=(0.1, 0.2, 0.3), com=(0.1, 0, 0))
    m.add_joint("joint", kind, parent="world", child="block", axis=(0, 0, 1), **options)
    return m.compile(gravity=(0, -9.81, 0))


def test_the_parts_are_those_of_the_textbook():
    """A couple about a hinge, a force along a slide; a screw's drive is shared between the two by its pitch."""
    turning = slider("revolute").state(v=[3.0])
    reaction = ma.tree_forward_dynamics(turning.model, turning, [0.7]).reactions["joint"]
    assert_allclose(reaction.actuator.array, [0, 0, 0.7, 0, 0, 0], atol=1e-12)
    assert_allclose(reaction.bearing.torque, 0.0, atol=1e-12)
    assert reaction.bearing.force[0] == pytest.approx(-2.0 * 0.1 * 3.0**2)  # towards the axis
    sliding = slider("prismatic").state()
    reaction = ma.tree_forward_dynamics(sliding.model, sliding, [0.7]).reactions["joint"]
    assert_allclose(reaction.actuator.array, [0, 0, 0, 0, 0, 0.7], atol=1e-12)
    # the weight, and what keeps it level where it is driven beside its centre of mass
    assert_allclose(reaction.bearing.array, [0, -0.7 * 0.1, 2 * 9.81 * 0.1, 0, 2 * 9.81, 0], atol=1e-12)
    screwing = slider("screw", pitch=0.5).state()
    reaction = ma.tree_forward_dynamics(screwing.model, screwing, [0.7]).reactions["joint"]
    assert_allclose(reaction.actuator.array, 0.7 / 1.25 * np.array([0, 0, 1, 0, 0, 0.5]), atol=1e-12)
    # no wrench with the same power along the screw is smaller
    for other in np.random.default_rng(0).normal(size=(20, 6)):
        power = other[2] + 0.5 * other[5]
        assert np.linalg.norm(0.7 / power * other) >= np.linalg.norm(reaction.actuator.array)


def test_a_rotor_takes_its_share_before_the_link_does():
    model = slider("revolute", armature=0.4)
    solution = ma.tree_forward_dynamics(model, model.state(), [0.7])
    reaction = solution.reactions["joint"]
    assert reaction.effort[0] == pytest.approx(0.7 - 0.4 * solution.a[0])
    assert reaction.actuator.torque[2] == pytest.approx(reaction.effort[0])


@pytest.mark.parametrize("cut", ["a", "b", "c", "d"])
def test_parts_do_not_depend_on_which_joint_is_cut(cut):
    reference, start = moving_four_bar(["c"])
    tau = {"a": 3.0, "c": -1.0, "d": 0.5}
    expected = ma.forward_dynamics(reference, start, tau)
    model, state = moving_four_bar([cut])
    solution = ma.forward_dynamics(model, state, tau)
    in_plane = [3, 4, 2]
    for name, effort in {"a": 3.0, "b": 0.0, "c": -1.0, "d": 0.5}.items():
        found, wanted = solution.reactions[name], expected.reactions[name]
        assert found.effort[0] == pytest.approx(effort, abs=1e-9)
        assert_allclose(found.actuator.array, [0, 0, effort, 0, 0, 0], atol=1e-9)
        assert_allclose(found.bearing.array[in_plane], wanted.bearing.array[in_plane], atol=1e-8)
        assert found.bearing.torque[2] == pytest.approx(0.0, abs=1e-9)
        assert not found.determinate  # across the plane the loop can be loaded in many ways


def test_couplings_pass_on_what_their_source_gives():
    m = ma.Mechanism()
    m.add_arm("arm", ma.robots.planar(3))
    m.couple("arm/joint3", "arm/joint2", ratio=-0.5)
    model = m.compile(gravity=(0, -9.81, 0))
    solution = ma.forward_dynamics(model, ma.assemble(model, v={"arm": [1.0, 2.0, 0.0]}), {"arm": [1.0, 2.0, 3.0]})
    gear = solution.answer.multipliers[0]
    assert solution.reactions["arm/joint2"].effort[0] == pytest.approx(2.0 + 0.5 * gear)
    assert solution.reactions["arm/joint3"].effort[0] == pytest.approx(3.0 + gear)


def test_which_forces_of_the_tree_are_determinate():
    """A planar loop loads its bearings as it likes across the plane, but not the arm that stands aside."""
    m = ma.Mechanism()
    for name, x in (("one", -0.5), ("two", 0.5), ("aside", 3.0)):
        m.add_arm(name, ma.robots.planar(3), base=(x, 0, 0))
    m.add_body("bar", mass=2.0, inertia=(0.1, 0.1, 0.1), pose=(0, 1, 0))
    m.add_body("bag", mass=2.0, inertia=(0.1, 0.1, 0.1))
    for name, x in (("one", -0.2), ("two", 0.2)):
        m.grasp(name, "bar", at=(x, 0, 0))
    m.grasp("aside", "bag", at=(0, 0, 0))
    model = m.compile(cuts=["two"])
    state = ma.assemble(model, {"one": [2.0, -1.5, -0.5], "two": [1.0, 1.0, 0.5]})
    solution = ma.forward_dynamics(model, state)
    assert solution.determinate == {"one": False, "two": False, "aside": True}
    sure = {name: reaction.determinate for name, reaction in solution.reactions.items()}
    assert all(sure[name] == name.startswith("aside") for name in sure)
