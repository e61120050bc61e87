"""Internal forces, load shares, mobility, and torques for a wanted motion."""

import numpy as np
import pytest
from closed_mechanisms import bars
from numpy.testing import assert_allclose
from test_closed_chain import PANDAS, four_bar, moving_four_bar, panda_state, two_pandas

import multiarm as ma
from multiarm.load import split_load

# One object held at two points; closed forms of the three load distributions (force first, as in their papers).
CENTRE = np.zeros(3)
POINTS = {"one": np.array([-0.3, 0, 0]), "two": np.array([0.2, 0.1, 0])}
NET_FORCE, NET_TORQUE = np.array([3, -2, 19.62]), np.array([0.4, -0.3, 0.2])
DISTRIBUTIONS = {
    "pseudo_inverse": [
        [1.5058685446, -1.029342723, 9.673286385, -0.2973356808, -0.6063215962, 0.117370892],
        [1.4941314554, -0.970657277, 9.946713615, -0.2973356808, -0.6063215962, 0.117370892],
    ],
    "non_squeezing": [[1.5, -1, 9.81, 0.2, -3.093, -0.2], [1.5, -1, 9.81, -0.781, 1.812, 0.45]],
    "virtual_mass": [
        [2.0095238095, -1.380952381, 8.9868571429, -0.4422095238, -0.5796190476, 0.0057142857],
        [0.9904761905, -0.619047619, 10.6331428571, -0.2211047619, -0.2898095238, 0.0028571429],
    ],
}
MASSES = {"one": (2.0, 0.04), "two": (1.0, 0.02)}


def held(squeeze=0.0):
    """Wrenches with the net load above, put on the first grasp alone, and a squeeze along the line between the two."""
    line = POINTS["two"] - POINTS["one"]
    line = squeeze * line / np.linalg.norm(line)
    torque = NET_TORQUE - np.cross(POINTS["one"], NET_FORCE)
    return {
        "one": ma.Wrench(torque, NET_FORCE + line, POINTS["one"], "object", "a"),
        "two": ma.Wrench(np.zeros(3), -line, POINTS["two"], "object", "b"),
    }


@pytest.mark.parametrize("split", DISTRIBUTIONS)
def test_load_distributions_match_their_closed_forms(split):
    load = split_load(held(), CENTRE, split, masses=MASSES)
    for name, expected in zip(POINTS, DISTRIBUTIONS[split], strict=True):
        assert_allclose(np.roll(load.external[name].array, 3), expected, atol=1e-9)
    assert_allclose(load.net.force, NET_FORCE)
    assert_allclose(load.net.torque, NET_TORQUE, atol=1e-12)
    assert sum(load.share.values()) == pytest.approx(1.0)
    internal = [load.internal[name].about(CENTRE).array for name in POINTS]
    assert_allclose(np.sum(internal, axis=0), 0.0, atol=1e-12)


@pytest.mark.parametrize("split", DISTRIBUTIONS)
def test_a_squeeze_along_the_line_is_all_internal(split):
    calm, pressed = (split_load(held(s), CENTRE, split, masses=MASSES) for s in (0.0, 7.0))
    assert pressed.squeeze("one", "two") - calm.squeeze("one", "two") == pytest.approx(7.0)
    for name in POINTS:
        assert_allclose(pressed.external[name].array, calm.external[name].array, atol=1e-10)


def test_shares_are_undefined_without_a_load():
    pair = {n: ma.Wrench((0, 0, 0), (s, 0, 0), POINTS[n], "o", n) for n, s in (("one", 1.0), ("two", -1.0))}
    assert all(np.isnan(share) for share in split_load(pair, CENTRE).share.values())
    with pytest.raises(ma.UnknownNameError, match="'virtual_mass'"):
        split_load(pair, CENTRE, "equal")
    with pytest.raises(ma.BadInputError, match="masses="):
        split_load(pair, CENTRE, "virtual_mass")


@pytest.mark.parametrize("kind", ["rigid", "revolute", "soft_finger", "point"])
def test_the_external_part_is_something_the_grasps_can_give(kind):
    model = two_pandas(kind)
    state = panda_state(model, 0)
    solution = ma.forward_dynamics(model, state, np.array(PANDAS["tau"][0][:14] + [0.0] * 6))
    load = solution.load("box")
    kin = ma.kinematics(model, state)
    for side in ("left", "right"):
        assert_allclose(load.external[side].array + load.internal[side].array, solution.forces[side].array, atol=1e-9)
        assert_allclose(kin.joint(side).directions.T @ load.external[side].array, 0.0, atol=1e-9)
    net = sum(load.internal[side].about(load.net.point).array for side in ("left", "right"))
    assert_allclose(net, 0.0, atol=1e-9)
    with pytest.raises(ma.UnknownNameError, match="'box'"):
        solution.load("bx")


def test_mobility_counts_rows_and_measures_rank():
    model, state = moving_four_bar(["c"])
    found = ma.mobility(model, state)
    assert (found.kutzbach, found.instantaneous, found.rows, found.rank) == (-2, 1, 5, 2)
    pandas = two_pandas("soft_finger")
    found = ma.mobility(pandas, panda_state(pandas, 0))
    assert (found.kutzbach, found.instantaneous, found.configurations) == (12, 12, 14)
    assert 0.0 < found.conditioning < 1.0


def parallelogram(cut):
    m = ma.Mechanism()
    for name, length in (("crank", 1.0), ("rod", 2.0), ("rocker", 1.0)):
        m.add_body(name, mass=length, inertia=(0.01, length**3 / 12, length**3 / 12), com=(length / 2, 0, 0))
    m.add_joint("a", "revolute", parent="world", child="crank")
    m.add_joint("b", "revolute", parent="crank", child="rod", at=(1, 0, 0))
    m.add_joint("c", "revolute", parent="rod", child="rocker", at=(2, 0, 0), in_child=(1, 0, 0))
    m.add_joint("d", "revolute", parent="world", child="rocker", at=(2, 0, 0))
    return m.compile(cuts=[cut], gravity=(0, -9.81, 0))


@pytest.mark.parametrize("cut", ["a", "b", "c", "d"])
def test_a_parallelogram_in_line_loses_rank_and_nothing_raises(cut):
    model = parallelogram(cut)
    turned = {"a": 0.7, "b": -0.7, "c": 0.7, "d": 0.7}
    generic = ma.assemble(model, {name: turned[name] for name in model.joints})
    in_line = model.state()
    for state, freedom, drop in ((generic, 1, 0), (in_line, 2, 1)):
        found = ma.mobility(model, state)
        assert (found.instantaneous, found.generic_rank, found.rank_drop) == (freedom, 2, drop)
        assert ma.forward_dynamics(model, state).rank == found.rank


def test_only_singular_states_lose_rank():
    model, state = moving_four_bar(["c"])
    assert ma.mobility(model, state).rank_drop == 0
    pandas = two_pandas("soft_finger")
    assert ma.mobility(pandas, panda_state(pandas, 0)).rank_drop == 0
    # a chain as long as its supports are apart seems to give, but has nowhere to go
    m = ma.Mechanism()
    for name, x, turn in (("one", -2.0, 0.0), ("two", 2.0, np.pi)):
        m.add_arm(name, ma.robots.planar(2, length=1.0), base=ma.pose((x, 0, 0), rpy=(0, 0, turn)))
    m.add_body("ball", mass=1.0, inertia=(1, 1, 1))
    m.add_joint("left", "revolute", parent="one/tip", child="ball")
    m.add_joint("right", "revolute", parent="two/tip", child="ball")
    chain = m.compile(cuts=["right"], gravity=(0, 0, 0))
    stretched = ma.mobility(chain, chain.state())
    assert (stretched.instantaneous, stretched.rank_drop) == (4, 0)


def test_a_slider_crank_with_equal_lengths_bifurcates_where_it_folds():
    """Folded, its rod may turn with the crank about the resting slider; upright that motion meets the ordinary one."""
    m = ma.Mechanism()
    for name in ("crank", "rod", "slider"):
        m.add_body(name, mass=1.0, inertia=(0.1, 0.1, 0.1))
    m.add_joint("a", "revolute", parent="world", child="crank")
    m.add_joint("b", "revolute", parent="crank", child="rod", at=(1, 0, 0))
    m.add_joint("c", "revolute", parent="rod", child="slider", at=(1, 0, 0))
    m.add_joint("guide", "prismatic", parent="world", child="slider", axis=(1, 0, 0))
    model = m.compile(cuts=["c"])
    for angle, drop in ((np.pi / 2, 1), (1.2, 0)):
        found = ma.mobility(model, model.state(q={"a": angle, "b": np.pi}))
        assert (found.generic_rank, found.rank_drop) == (2, drop)
    dead_centre = ma.mobility(model, model.state(q={"guide": 2.0}))
    assert (dead_centre.instantaneous, dead_centre.rank_drop) == (1, 0)


def test_torques_for_a_motion_give_that_motion():
    model = two_pandas()
    state = panda_state(model, 0)
    wanted = np.array([0.3, -0.2, 0.1, 0.5, 0.4, 1.0])
    needed = ma.closed_chain_inverse_dynamics(model, state, {"box": wanted})
    assert_allclose(needed.acceleration("box"), wanted, atol=1e-9)
    assert_allclose(needed.tau[model.v_slice("box")], 0.0)
    forward = ma.forward_dynamics(model, state, needed.tau)
    assert_allclose(forward.a, needed.a, atol=1e-8)
    assert_allclose(forward.forces["left"].array, needed.forces["left"].array, atol=1e-7)
    # any other torques with the same motion are larger: move along the self-motions and internal forces
    stiff = ma.closed_chain_inverse_dynamics(model, state, {"box": wanted}, internal={"left": np.zeros(6)})
    assert np.linalg.norm(needed.tau) < np.linalg.norm(stiff.tau)


def test_internal_forces_come_out_as_asked():
    model = two_pandas()
    state = panda_state(model, 1)
    kin = ma.kinematics(model, state)
    points = {side: kin.joint(side).child_frame.translation for side in ("left", "right")}
    line = points["right"] - points["left"]
    press = 20.0 * line / np.linalg.norm(line)
    internal = {"left": [0, 0, 0, *press], "right": [0, 0, 0, *-press]}
    solution = ma.closed_chain_inverse_dynamics(model, state, {"box": np.zeros(6)}, internal=internal)
    load = ma.forward_dynamics(model, state, solution.tau).load("box")
    assert load.squeeze("left", "right") == pytest.approx(20.0, rel=1e-8)
    assert_allclose(load.internal["left"].array, internal["left"], atol=1e-7)
    with pytest.raises(ma.BadInputError, match="not internal"):
        ma.closed_chain_inverse_dynamics(model, state, {"box": np.zeros(6)}, internal={"left": [0, 0, 0, 1, 0, 0]})
    with pytest.raises(ma.UnknownNameError, match="'left'"):
        ma.closed_chain_inverse_dynamics(model, state, {"box": np.zeros(6)}, internal={"lft": np.zeros(6)})


def test_passive_joints_get_no_torque_and_impossible_motions_are_refused():
    model, state = moving_four_bar(["c"])
    with pytest.raises(ma.UnreachableMotionError, match="stay off by"):
        ma.closed_chain_inverse_dynamics(model, state, {"rocker": np.ones(6)})
    m = ma.Mechanism()
    m.add_arm("arm", ma.robots.planar(2))
    m.add_body("load", mass=1.0, inertia=(1, 1, 1))
    m.add_joint("swing", "revolute", parent="arm/tip", child="load", passive=True)
    free = m.compile(gravity=(0, -9.81, 0))
    state = free.state(q={"arm": [0.4, 0.6]})
    solution = ma.closed_chain_inverse_dynamics(free, state, {"arm/tip": [0, 0, 0, 0, 0, 0]})
    assert solution.tau[free.v_slice("swing")] == 0.0
    assert_allclose(solution.acceleration("arm/tip")[3:], 0.0, atol=1e-10)
    assert four_bar().actuated.all()


def driven_four_bar(driven, cut):
    m = bars((1.0, 2.0, 1.5), 2.2, passive=set("abcd") - set(driven))
    model = m.compile(cuts=[cut], gravity=(0, -9.81, 0))
    guess = {"a": 1.0, "b": -0.6, "c": 1.4, "d": 1.8}
    return model, ma.assemble(model, {name: guess[name] for name in model.joints}, hold=("a",), v=np.ones(3))


@pytest.mark.parametrize("driven", ["a", "ab", "ad"])
@pytest.mark.parametrize("cut", ["b", "c", "d"])
def test_a_redundant_loop_with_passive_joints_is_driven_as_asked(driven, cut):
    model, state = driven_four_bar(driven, cut)
    forward = ma.forward_dynamics(model, state, {"a": 3.0})
    inverse = ma.closed_chain_inverse_dynamics(model, state, {"crank": forward.acceleration("crank")})
    assert_allclose(inverse.a, forward.a, atol=1e-9)
    assert max(inverse.residual, inverse.constraint_residual) < 1e-12
    assert inverse.determinate == forward.determinate
    assert_allclose(inverse.tau[~model.actuated], 0.0)
    if driven == "a":
        assert inverse.tau[model.v_slice("a")][0] == pytest.approx(3.0, rel=1e-10)


def test_torques_do_not_depend_on_which_driven_joint_is_cut():
    """The least torques that do it are shared by all four actuators, and forward dynamics gives the motion back."""
    reference, start = driven_four_bar("abcd", "c")
    wanted = ma.forward_dynamics(reference, start, {"a": 3.0}).acceleration("crank")
    expected = ma.closed_chain_inverse_dynamics(reference, start, {"crank": wanted})
    for cut in "bd":
        model = driven_four_bar("abcd", cut)[0]
        kin = ma.kinematics(reference, start)
        angles = {name: kin.joint(name).displacement.rotation.as_rotvec()[2] for name in model.joints}
        rates = {name: kin.joint(name).velocity[2] for name in model.joints}
        state = ma.project(model, model.state(q=angles, v=rates))
        solution = ma.closed_chain_inverse_dynamics(model, state, {"crank": wanted})
        assert set(solution.efforts) == set("abcd")
        for name, effort in expected.efforts.items():
            assert_allclose(solution.efforts[name], effort, atol=1e-8)
        again = ma.forward_dynamics(model, state, solution.efforts)
        assert_allclose(again.acceleration("crank"), wanted, atol=1e-8)
        assert_allclose(again.efforts[cut], solution.efforts[cut], atol=1e-12)
        assert max(solution.residual, solution.constraint_residual) < 1e-12
    # one actuator alone needs more than the four together
    alone = ma.closed_chain_inverse_dynamics(*driven_four_bar("a", "c"), {"crank": wanted})
    assert sum(np.sum(x**2) for x in expected.efforts.values()) < np.sum(alone.tau**2)


@pytest.mark.parametrize("driven", ["b", "c", "d"])
def test_a_mechanism_may_be_driven_by_the_joint_that_was_cut(driven):
    model, state = driven_four_bar(driven, driven)
    forward = ma.forward_dynamics(model, state, {driven: 2.0})
    inverse = ma.closed_chain_inverse_dynamics(model, state, {"crank": forward.acceleration("crank")})
    assert inverse.efforts[driven] == pytest.approx(2.0, rel=1e-9)
    assert not inverse.tau.any()
    assert inverse.reactions[driven].effort == pytest.approx(2.0, rel=1e-9)


def test_couplings_stay_out_of_the_torques():
    m = ma.Mechanism()
    for name, x in (("x", 0.0), ("y", 2.0)):
        m.add_body(name, mass=2.0, inertia=(0.1, 0.5, 0.5), com=(0.5, 0, 0))
        m.add_joint(f"{name} hinge", "revolute", parent="world", child=name, at=(x, 0, 0), passive=name == "y")
    m.couple("y hinge", "x hinge", ratio=2.0)
    model = m.compile(gravity=(0, -9.81, 0))
    state = ma.assemble(model, v={"x hinge": 1.0, "y hinge": 2.0})
    needed = ma.closed_chain_inverse_dynamics(model, state, {"x": [0, 0, 1, 0, 0.0, 0]} | {})
    assert needed.tau[1] == 0.0
    solution = ma.forward_dynamics(model, state, needed.tau)
    assert_allclose(solution.a, needed.a, atol=1e-10)
    assert_allclose(solution.tau, needed.tau)
    assert max(solution.residual, needed.residual) < 1e-14
    with pytest.raises(ma.DescriptionError, match="'y hinge' is coupled"):
        m.compile(cuts=["y hinge"])


def test_a_small_gap_does_not_freeze_a_redundant_loop():
    """A third crank parallel to two others adds nothing, also if it stands off by a little."""
    m = ma.Mechanism()
    for name in ("one", "two", "three"):
        m.add_body(name, mass=1.0, inertia=(0.01, 0.1, 0.1), com=(0.5, 0, 0))
    m.add_body("rod", mass=3.0, inertia=(0.01, 1, 1), com=(1, 0, 0))
    for i, name in enumerate(("one", "two", "three")):
        m.add_joint(f"base {name}", "revolute", parent="world", child=name, at=(i, 0, 0))
        m.add_joint(f"tip {name}", "revolute", parent=name, child="rod", at=(1, 0, 0), in_child=(i, 0, 0))
    model = m.compile(cuts=["tip two", "tip three"], gravity=(0, -9.81, 0))
    state = ma.assemble(model, {"base one": 0.8, "base two": 0.8, "base three": 0.8, "tip one": -0.8})
    exact = ma.forward_dynamics(model, state)
    for off in (1e-10, 1e-9, 1e-8):
        q = np.array(state.q)
        q[model.q_slice("base three")] += off
        near = ma.forward_dynamics(model, model.state(q=q))
        assert near.rank == exact.rank
        assert_allclose(near.a, exact.a, atol=1e-5)
        assert ma.mobility(model, model.state(q=q)).instantaneous == 1


def test_a_universal_joint_with_its_axes_in_line_is_open():
    m = ma.Mechanism()
    m.add_body("a", mass=1.0, inertia=(1, 1, 1))
    m.add_joint("ball", "spherical", parent="world", child="a")
    m.add_joint("cross", "universal", parent="world", child="a", axis=(1, 0, 0), axis2=(0, 0, 1))
    model = m.compile(cuts=["cross"])
    folded = model.state(q=(0.5, 0.5, 0.5, 0.5))
    with pytest.raises(ma.OpenLoopError, match=r"'cross' is open by 1.57"):
        ma.forward_dynamics(model, folded)
    assert ma.mobility(model, ma.assemble(model, folded)).instantaneous == 2


def test_what_cannot_be_answered_is_refused_by_name():
    model, state = driven_four_bar("abcd", "c")
    m = ma.Mechanism()
    m.add_body("bar", mass=1.0, inertia=(1, 1, 1))
    m.add_joint("hinge", "revolute", parent="world", child="bar")
    m.add_joint("rotor", "revolute", parent="world", child="bar", armature=0.1)
    loop = m.compile(cuts=["rotor"])
    with pytest.raises(ma.DescriptionError, match="'rotor' has armature"):
        ma.forward_dynamics(loop, loop.state())
    with pytest.raises(ma.BadInputError, match="motion must map"):
        ma.closed_chain_inverse_dynamics(model, state, np.zeros(6))
    with pytest.raises(ma.BadInputError, match="hold must be names"):
        ma.assemble(model, hold=3)
    pair = {n: ma.Wrench((0, 0, 0), (1, 0, 0), POINTS["one"], "o", n) for n in ("one", "two")}
    with pytest.raises(ma.BadInputError, match="same point"):
        split_load(pair, CENTRE).squeeze("one", "two")
    with pytest.raises(ma.BadInputError, match="both positive"):
        split_load(pair, CENTRE, "virtual_mass", masses={"one": (1, 0), "two": (1, 1)})


def test_a_body_without_inertia_in_a_loop_is_named():
    m = ma.Mechanism()
    m.add_body("feather")
    m.add_body("bar", mass=1.0, inertia=(1, 1, 1))
    m.add_joint("one", "revolute", parent="world", child="feather")
    m.add_joint("two", "revolute", parent="world", child="bar")
    m.add_joint("three", "fixed", parent="feather", child="bar")
    model = m.compile(cuts=["three"])
    state = ma.assemble(model)
    with pytest.raises(ma.SingularInertiaError, match="'feather'"):
        ma.forward_dynamics(model, state)
