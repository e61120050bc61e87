"""Names, coordinates, states and printing: what a user meets before any dynamics."""

import networkx as nx
import numpy as np
import pytest

import graphs
import multiarm as ma


def two_arms_one_bar(kind="rigid", name=None):
    m = ma.Mechanism("two arms, one bar")
    m.add_arm("left", ma.robots.panda(), base=ma.pose((-0.7, 0, 0)))
    m.add_body("bar", mass=5.0, inertia=(0.02, 0.2, 0.2), pose=ma.pose((0, 0, 0.5), rpy=(0, 0, 1)))
    m.add_arm("right", ma.robots.ur5(), base=ma.pose((0.7, 0, 0), rpy=(0, 0, np.pi)))
    m.grasp("left", "bar", at=ma.pose((-0.3, 0, 0)), kind="rigid")
    m.grasp("right", "bar", at=ma.pose((0.3, 0, 0)), kind=kind, friction=0.6, name=name)
    return m


def pendulum(**options):
    m = ma.Mechanism("pendulum")
    m.add_body("rod", mass=1.0, inertia=(0.001, 0.1, 0.1), com=(0.5, 0, 0))
    m.add_joint("hinge", "revolute", parent="world", child="rod", axis=(0, 1, 0), **options)
    return m


def test_coordinates_stand_in_the_order_things_were_added():
    model = two_arms_one_bar().compile()
    assert (model.nq, model.nv) == (7 + 7 + 6, 7 + 6 + 6)
    assert model.q_slice("left") == slice(0, 7)
    assert model.q_slice("bar") == slice(7, 14)
    assert model.v_slice("bar") == slice(7, 13)
    assert model.q_slice("right") == slice(14, 20)
    assert model.v_slice("right/elbow_joint") == slice(15, 16)
    assert model.velocity_names[7] == "bar[0]"


def test_coordinates_follow_declaration_not_the_tree():
    m = ma.Mechanism()
    for name in ("a", "b", "c"):
        m.add_body(name, mass=1.0, inertia=(1, 1, 1))
    m.add_joint("last", "prismatic", parent="b", child="c")
    m.add_joint("middle", "revolute", parent="a", child="b")
    m.add_joint("first", "spherical", parent="world", child="a")
    model = m.compile()
    assert [model.v_slice(name).start for name in ("last", "middle", "first")] == [0, 1, 2]


def test_neutral_state_puts_free_bodies_where_they_were_described():
    model = two_arms_one_bar().compile()
    kin = ma.kinematics(model, model.state())
    assert np.allclose(kin.pose("bar").as_matrix(), ma.pose((0, 0, 0.5), rpy=(0, 0, 1)).as_matrix())


def test_state_takes_names_and_leaves_the_rest_neutral():
    model = two_arms_one_bar().compile()
    state = model.state(q={"left": np.arange(7.0), "right/elbow_joint": 0.5}, v={"bar": [0, 0, 0, 1, 2, 3]})
    assert state.q[:7].tolist() == list(range(7))
    assert state.q[model.q_slice("right/elbow_joint")] == 0.5
    assert state.v[model.v_slice("bar")].tolist() == [0, 0, 0, 1, 2, 3]
    with pytest.raises(ValueError, match="read-only"):
        state.q[0] = 1


def test_grasps_are_cut_by_default_and_in_the_order_added():
    model = two_arms_one_bar("soft_finger").compile()
    assert list(model.cuts) == ["left", "right"]
    assert [cut.rows for cut in model.cuts.values()] == [6, 4]
    assert model.topology.floating == ("bar",)


@pytest.mark.parametrize(("kind", "extra"), [("rigid", 0), ("revolute", 1), ("point", 3)])
def test_a_grasp_kept_in_the_tree_is_a_joint(kind, extra):
    m = two_arms_one_bar(kind, name="hold")
    model = m.compile(cuts=["left"])
    assert model.nv == 13 + extra
    assert list(model.cuts) == ["left"]
    kin = ma.kinematics(model, model.state(q={"right": np.full(6, 0.3)}))
    contact = kin.pose("bar") * ma.pose((0.3, 0, 0))
    assert np.allclose(contact.as_matrix(), kin.pose("right/tip").as_matrix())
    assert np.allclose(kin.joint("hold").displacement.as_matrix(), np.eye(4))
    if extra:
        assert model.q_slice("hold").stop == model.nq
        with pytest.raises(ma.DescriptionError, match="'right' is its arm's name too"):
            two_arms_one_bar(kind).compile(cuts=["left"])


def test_soft_finger_is_always_cut():
    model = two_arms_one_bar("soft_finger").compile(cuts=["left"])
    assert list(model.cuts) == ["left", "right"]


def test_fixed_bodies_merge_but_keep_their_frames():
    m = ma.Mechanism()
    m.add_body("arm", mass=2.0, inertia=(0.1, 0.2, 0.2), com=(0.1, 0, 0))
    m.add_body("tool", mass=1.0, inertia=(0.01, 0.01, 0.01))
    m.add_joint("swing", "revolute", parent="world", child="arm")
    m.add_joint("bolt", "fixed", parent="arm", child="tool", at=(1, 0, 0))
    m.add_frame("nail", "tool", ma.pose((0, 0.5, 0)))
    model = m.compile()
    assert model.nv == 1
    kin = ma.kinematics(model, model.state(q=[np.pi / 2], v=[2.0]))
    assert np.allclose(kin.pose("nail").translation, (-0.5, 1, 0))
    assert np.allclose(kin.velocity("nail"), (0, 0, 2, -2, -1, 0))
    # about the hinge: I + m c^2 of the arm and of the tool one metre out
    assert np.allclose(ma.mass_matrix(model, [0.0]), 0.2 + 2 * 0.01 + 0.01 + 1.0)
    with pytest.raises(KeyError, match="carried by joint 'swing'"):
        model.q_slice("tool")


def test_a_fixed_base_carries_arms_without_coupling_them():
    m = ma.Mechanism()
    m.add_body("table", fixed=True, pose=(0, 0, 1), shape=ma.Box((2, 1, 0.1)))
    for side, x in (("left", -0.5), ("right", 0.5)):
        m.add_arm(side, ma.robots.chain(3), base=(x, 0, 0.05), on="table")
    model = m.compile()
    assert np.allclose(ma.kinematics(model, model.state()).pose("right/base").translation[2], 1.05)
    assert len(model.topology.subtrees) == 2
    with pytest.raises(KeyError, match="fixed to the world"):
        model.v_slice("table")


def test_arms_ride_on_other_bodies():
    m = ma.Mechanism()
    m.add_body("cart", mass=10.0, inertia=(1, 1, 1))
    m.add_joint("rail", "prismatic", parent="world", child="cart", axis=(1, 0, 0))
    m.add_arm("arm", ma.robots.planar(2), base=(0, 0, 0.5), on="cart")
    model = m.compile()
    tip = ma.kinematics(model, model.state(q={"rail": 3.0})).pose("arm/tip").translation
    assert np.allclose(tip, (5.0, 0, 0.5))


def test_a_floating_robot_hangs_by_a_free_joint_in_its_own_slice():
    link = ma.Mechanism("tumbler")
    link.add_body("hull", mass=3.0, inertia=(1, 1, 1))
    link.add_body("boom", mass=1.0, inertia=(0.1, 0.1, 0.1))
    link.add_joint("hinge", "revolute", parent="hull", child="boom")
    m = ma.Mechanism()
    m.add_arm("craft", link.as_robot("hull", tip="boom", floating=True), base=(0, 0, 7))
    model = m.compile()
    assert model.q_slice("craft") == slice(0, 8)
    assert model.q_slice("craft/hull") == slice(0, 7)
    assert model.neutral[6] == 7.0
    assert not model.actuated[:6].any()
    assert model.actuated[6]


def test_several_tips_have_several_names():
    m = ma.Mechanism()
    m.add_arm("robot", ma.robots.torso())
    m.add_body("box", mass=1.0, shape=ma.Box((0.2, 0.2, 0.2)))
    m.grasp("robot/left", "box", at=(0, 0.1, 0))
    with pytest.raises(ma.DescriptionError, match="give this grasp a name"):
        m.grasp("robot/right", "box", at=(0, -0.1, 0))
    m.grasp("robot/right", "box", at=(0, -0.1, 0), name="other hand")
    with pytest.raises(ma.UnknownNameError, match="robot/left"):
        m.grasp("robot", "box", name="third")
    model = m.compile()
    assert list(model.cuts) == ["robot", "other hand"]
    assert len(model.topology.coupled) == 1


def test_limits_and_losses_stand_where_their_velocities_do():
    model = pendulum(lower=-1, upper=2, velocity_limit=3, effort_limit=4, armature=0.5, damping=6, friction=7).compile()
    values = model.lower, model.upper, model.velocity_limit, model.effort_limit
    assert [x.tolist() for x in values] == [[-1], [2], [3], [4]]
    assert [x.tolist() for x in (model.armature, model.damping, model.friction)] == [[0.5], [6], [7]]
    assert ma.mass_matrix(model, [0.0])[0, 0] == pytest.approx(0.1 + 0.25 + 0.5)


def test_the_graph_is_a_new_one_each_time_and_analyse_agrees_with_compile():
    m = two_arms_one_bar()
    graph = m.graph
    assert isinstance(graph, nx.MultiDiGraph)
    assert nx.utils.graphs_equal(graph, m.graph)
    assert graphs.analyse(graph).cuts == ("left", "right")
    assert set(m.compile().cuts) == set(graphs.analyse(graph).cuts)


def test_print_shows_tree_cuts_couplings_and_counts():
    m = two_arms_one_bar()
    m.add_body("a", mass=1.0, inertia=(1, 1, 1))
    m.add_body("b", mass=1.0, inertia=(1, 1, 1))
    m.add_joint("one", "revolute", parent="world", child="a")
    m.add_joint("two", "revolute", parent="b", child="a")
    m.couple("two", "one", ratio=-2.0, offset=0.5)
    text = str(m.compile())
    assert "bar (free)" in text
    assert "left (rigid grasp): left/panda_hand -> bar, 6 rows" in text
    assert "b (two: revolute, reversed)" in text
    assert "two = -2 one +0.5" in text
    assert "constraint rows: 13, independent loops: 1, mobility (Kutzbach): 8" in text


def test_the_model_does_not_follow_later_changes_of_the_mechanism():
    m = pendulum()
    model = m.compile()
    m.add_body("late", mass=1.0, inertia=(1, 1, 1))
    assert "late" not in model.bodies
    with pytest.raises(ValueError, match="read-only"):
        model.link[0, 0] = 1.0


def test_solution_stands_for_its_accelerations():
    model = pendulum().compile()
    state = model.state()
    solution = ma.tree_forward_dynamics(model, state, [1.0])
    mass = ma.mass_matrix(model, state)
    assert np.allclose(mass @ solution + ma.inverse_dynamics(model, state), 1.0)
    assert np.asarray(solution) is solution.a
    assert len(solution) == 1
    assert (solution - solution.a)[0] == 0.0


def test_pendulum_falls_as_the_textbook_says():
    """I q'' = m g c at rest and level; the bearing carries what is left of the weight."""
    model = pendulum().compile()
    solution = ma.tree_forward_dynamics(model, model.state())
    inertia = 0.1 + 1.0 * 0.5**2
    assert solution.a[0] == pytest.approx(9.81 * 0.5 / inertia)
    assert solution.acceleration("rod")[1] == pytest.approx(solution.a[0])
    bearing = solution.forces["hinge"]
    assert (bearing.on, bearing.by) == ("rod", "world")
    assert bearing.force[2] == pytest.approx(9.81 - solution.a[0] * 0.5)
    assert bearing.torque == pytest.approx(np.zeros(3))


def test_a_floating_robot_starts_where_its_carrier_says():
    m = ma.Mechanism()
    m.add_body("table", fixed=True, pose=(1, 0, 0))
    body = ma.Mechanism()
    body.add_body("hull", mass=3.0, inertia=(1, 1, 1))
    m.add_arm("craft", body.as_robot("hull", floating=True), base=(0, 0, 1), on="table")
    model = m.compile()
    assert np.allclose(ma.kinematics(model, model.state()).pose("craft/hull").translation, (1, 0, 1))
    m.add_arm("mounted", ma.robots.planar(2))
    with pytest.raises(ma.DescriptionError, match="floats"):
        m.add_arm("second", body.as_robot("hull", floating=True), on="mounted/tip")
