"""Topology of known mechanisms, and its pictures."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from dataclasses import FrozenInstanceError
from pathlib import Path
from time import perf_counter

import matplotlib
import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
import pytest

import graphs
from graphs import GraphError, Step

matplotlib.use("agg")
STRATEGIES = list(graphs.STRATEGIES)
RIGID = {"grasp": True, "freedom": 0}


def add_arm(graph: nx.MultiDiGraph, name: str, base: str = "world", joints: int = 7) -> str:
    """Add a serial arm of powered revolute joints and return its last body."""
    for k in range(1, joints + 1):
        graph.add_edge(base, f"{name}/link{k}", key=f"{name}/joint{k}")
        base = f"{name}/link{k}"
    return base


def two_arms(base: str = "world") -> nx.MultiDiGraph:
    graph = nx.MultiDiGraph()
    graph.add_node("world")
    tips = {name: add_arm(graph, name, base) for name in ("left", "right")}
    for name, tip in tips.items():
        graph.add_edge(tip, "bar", key=name, **RIGID)
    return graph


def four_bar(**passive: bool) -> nx.MultiDiGraph:
    graph = nx.MultiDiGraph()
    for name, parent, child in [
        ("a", "world", "crank"), ("b", "crank", "rod"), ("c", "rod", "rocker"), ("d", "world", "rocker"),
    ]:  # fmt: skip
        graph.add_edge(parent, child, key=name, passive=passive.get(name, False))
    return graph


def five_bar(powered: str) -> nx.MultiDiGraph:
    names = ["world", "one", "two", "three", "four", "world"]
    return nx.MultiDiGraph(
        (names[k], names[k + 1], joint, {"passive": joint not in powered}) for k, joint in enumerate("abcde")
    )


def stewart_platform() -> nx.MultiDiGraph:
    graph = nx.MultiDiGraph()
    for k in range(1, 7):
        graph.add_edge("world", f"lower{k}", key=f"universal{k}", freedom=2, passive=True)
        graph.add_edge(f"lower{k}", f"upper{k}", key=f"prismatic{k}")
        graph.add_edge(f"upper{k}", "platform", key=f"spherical{k}", freedom=3, passive=True)
    return graph


# ---- known mechanisms


@pytest.mark.parametrize("cuts", STRATEGIES)
def test_four_bar_mobility(cuts):
    topology = graphs.analyse(four_bar(), cuts=cuts)
    assert len(topology.cuts) == topology.independent_loops == 1
    assert topology.mobility == topology.mobility_in(3) == -2
    assert topology.mobility_in(2) == 1


@pytest.mark.parametrize("cuts", STRATEGIES)
def test_stewart_platform_mobility(cuts):
    topology = graphs.analyse(stewart_platform(), cuts=cuts)
    assert topology.mobility == 6
    assert topology.independent_loops == 5
    assert not topology.floating


def test_stewart_platform_is_cut_at_spherical_joints():
    """Not at the universal ones, which a deeper tree would cut, nor at the powered prismatic ones."""
    for cuts in STRATEGIES:
        assert graphs.analyse(stewart_platform(), cuts=cuts).cuts == tuple(f"spherical{k}" for k in range(2, 7))


@pytest.mark.parametrize("cuts", [*STRATEGIES, ["left"], ["right"], ["left", "right"], ["left/joint3"]])
def test_two_seven_joint_arms_with_rigid_object_have_mobility_8(cuts):
    topology = graphs.analyse(two_arms(), cuts=cuts)
    assert topology.mobility == 8
    assert topology.independent_loops == 1


def test_default_cuts_grasps_and_hangs_the_object():
    topology = graphs.analyse(two_arms())
    assert topology.cuts == ("left", "right")
    assert topology.floating == ("bar",)
    assert topology.parent["bar"].free and topology.parent["bar"].parent == "world"
    assert topology.loop("left").path[0] == Step(None, -1, "bar")
    assert topology.loop("left").floating == ("bar",)
    assert topology.loop("left").joints == ("left", *(f"left/joint{k}" for k in range(1, 8)))


def test_shallow_keeps_one_rigid_grasp_in_the_tree():
    topology = graphs.analyse(two_arms(), cuts="shallow")
    assert topology.cuts == ("right",)
    assert topology.depth["bar"] == topology.depth["left/link7"] == 7


def test_fewest_constraints_cuts_a_hinge_rather_than_a_weld():
    topology = graphs.analyse(two_arms(), cuts="fewest_constraints")
    assert [topology.joints[cut].rows for cut in topology.cuts] == [5]


def test_parallel_grasps_are_separate_cuts():
    graph = nx.MultiDiGraph([("world", "hand", "wrist", {"freedom": 3})])
    for name in ("thumb", "finger"):
        graph.add_edge("hand", "ball", key=name, grasp=True, freedom=3)
    topology = graphs.analyse(graph)
    assert topology.cuts == ("thumb", "finger")
    assert topology.coupled == (("thumb", "finger"),)
    assert topology.independent_loops == 1
    assert [loop.path for loop in topology.loops] == [topology.path("ball", "hand")] * 2
    assert graphs.analyse(graph, cuts="shallow").cuts == ("finger",)
    assert graphs.analyse(graph, cuts=["thumb"]).loop("thumb").path == (Step("finger", -1, "ball"),)


def test_soft_finger_is_cut_whatever_the_strategy():
    graph = nx.MultiDiGraph([("world", "hand", "wrist")])
    graph.add_edge("hand", "ball", key="soft", grasp=True, freedom=2, rows=4, must_cut=True)
    for cuts in [*STRATEGIES, []]:
        topology = graphs.analyse(graph, cuts=cuts)
        assert topology.cuts == ("soft",)
        assert topology.floating == ("ball",)
        assert topology.mobility == 1 + 6 - 4


def test_unpowered_joint_is_cut_first_at_equal_depth():
    assert graphs.analyse(four_bar(b=True), cuts="shallow").cuts == ("b",)
    assert graphs.analyse(four_bar(c=True), cuts="shallow").cuts == ("c",)


def test_shallow_puts_depth_first_and_grasps_power_first():
    assert graphs.analyse(five_bar(powered="c"), cuts="shallow").cuts == ("c",)
    assert graphs.analyse(five_bar(powered="c"), cuts="grasps").cuts != ("c",)
    assert graphs.analyse(five_bar(powered="ae"), cuts="grasps").cuts == ("c",)


def test_fewest_constraints_cuts_the_unpowered_of_equal_joints():
    for joint in "abcde":
        powered = "abcde".replace(joint, "")
        assert graphs.analyse(five_bar(powered), cuts="fewest_constraints").cuts == (joint,)


def test_fixed_joint_is_cut_only_where_all_others_are_powered():
    graph = two_arms()
    for name in ("left", "right"):
        graph.edges[f"{name}/link7", "bar", name]["grasp"] = False
    assert graphs.analyse(graph).cuts == ("right",)
    graph.edges["right/link3", "right/link4", "right/joint4"]["passive"] = True
    assert graphs.analyse(graph).cuts == ("right/joint4",)


def test_sign_is_minus_where_tree_runs_against_the_declared_direction():
    graph = nx.MultiDiGraph([("hand", "world", "mount"), ("hand", "finger", "knuckle")])
    topology = graphs.analyse(graph)
    assert topology.parent["hand"].sign == -1
    assert topology.parent["finger"].sign == 1
    assert topology.path("finger", "world") == (Step("knuckle", -1, "finger"), Step("mount", 1, "hand"))
    assert topology.path("world", "finger") == (Step("mount", -1, "hand"), Step("knuckle", 1, "finger"))


def test_bodies_keep_their_order_where_parents_allow_it():
    graph = two_arms()
    assert graphs.analyse(graph).bodies == tuple(graph.nodes)
    backwards = nx.MultiDiGraph()
    backwards.add_nodes_from(["tip", "middle", "world", "base"])
    backwards.add_edges_from([("world", "base", "a"), ("base", "middle", "b"), ("middle", "tip", "c")])
    assert graphs.analyse(backwards).bodies == ("world", "base", "middle", "tip")


def test_bodies_without_path_to_the_root_float():
    graph = nx.MultiDiGraph()
    graph.add_nodes_from(["world", "stone", "car", "wheel"])
    graph.add_edge("wheel", "car", key="axle")
    topology = graphs.analyse(graph)
    assert topology.floating == ("stone", "car")
    assert topology.parent["wheel"].parent == "car"
    assert topology.mobility == 6 + 6 + 1
    assert topology.independent_loops == 0
    assert graphs.analyse(nx.MultiDiGraph([("a", "b", "ab")]), root="b").floating == ()


def test_lone_root():
    graph = nx.MultiDiGraph()
    graph.add_node("world")
    topology = graphs.analyse(graph)
    assert topology.bodies == ("world",)
    assert topology.loops == topology.components == topology.subtrees == topology.coupled == ()
    assert topology.coupling_matrix().shape == (0, 0)
    assert topology.mobility == topology.mobility_in(2) == 0
    assert str(topology).startswith("world\n")


# ---- what depends on what


def test_arms_on_a_fixed_table_are_independent():
    graph = nx.MultiDiGraph([("world", "table", "bolts", {"freedom": 0})])
    for name in ("left", "right"):
        add_arm(graph, name, "table", 2)
    topology = graphs.analyse(graph)
    assert topology.grounded == ("world", "table")
    arms = (("left/link1", "left/link2"), ("right/link1", "right/link2"))
    assert topology.components == topology.subtrees == arms

    graph.add_edge("left/link2", "bar", key="left", **RIGID)
    graph.add_edge("right/link2", "bar", key="right", **RIGID)
    holding = graphs.analyse(graph)
    assert holding.subtrees == (*arms, ("bar",))
    assert holding.components == ((*arms[0], *arms[1], "bar"),)


def test_arms_on_a_moving_torso_share_a_subtree():
    graph = nx.MultiDiGraph([("world", "torso", "waist")])
    tips = [add_arm(graph, name, "torso", 2) for name in ("left", "right")]
    for tip, wall in zip(tips, ("left wall", "right wall"), strict=True):
        graph.add_edge("world", wall, key=f"{wall} bolts", freedom=0)
        graph.add_edge(tip, wall, key=wall, **RIGID)
    topology = graphs.analyse(graph)
    assert len(topology.subtrees) == 1
    assert topology.coupling_matrix().all()


def test_cuts_couple_through_an_object_or_an_arm_only():
    """Two objects, each between two of three arms in a row: the outer grasps are not coupled."""
    graph = nx.MultiDiGraph()
    tips = [add_arm(graph, name, joints=3) for name in ("a", "b", "c")]
    for tip, body in [(tips[0], "x"), (tips[1], "x"), (tips[1], "y"), (tips[2], "y")]:
        graph.add_edge(tip, body, key=f"{tip} {body}", **RIGID)
    topology = graphs.analyse(graph)
    expected = np.eye(4, dtype=bool) | np.eye(4, k=1, dtype=bool) | np.eye(4, k=-1, dtype=bool)
    assert np.array_equal(topology.coupling_matrix(), expected)
    assert len(topology.components) == 1


def test_two_separate_cells_are_independent():
    graph = two_arms()
    for parent, child, name in [("world", "p", "u"), ("p", "q", "v"), ("world", "q", "w")]:
        graph.add_edge(parent, child, key=name)
    topology = graphs.analyse(graph)
    assert len(topology.components) == 2
    assert topology.cuts == ("left", "right", "v")
    assert topology.coupled == (("left", "right"),)


# ---- helpers


def test_helpers_walk_the_tree():
    topology = graphs.analyse(two_arms())
    assert topology.path_to_root("left/link2") == ("left/link2", "left/link1", "world")
    assert topology.common_ancestor("left/link3", "left/link5") == "left/link3"
    assert topology.common_ancestor("left/link3", "right/link5") == "world"
    assert topology.children("world") == ("left/link1", "right/link1", "bar")
    assert topology.children("bar") == ()
    assert topology.is_cut("left") and not topology.is_cut("left/joint1")
    assert topology.path("bar", "bar") == ()


def test_topology_is_frozen_hashable_and_survives_pickling():
    topology = graphs.analyse(two_arms())
    assert topology.mobility == 8
    with pytest.raises(FrozenInstanceError):
        topology.root = "bar"
    copy = pickle.loads(pickle.dumps(topology))
    assert copy == topology and hash(copy) == hash(topology)


def test_numpy_attributes_are_accepted():
    attributes = {"freedom": np.int64(2), "passive": np.bool_(True)}
    topology = graphs.analyse(nx.MultiDiGraph([("world", "a", "j", attributes)]))
    assert topology.joints["j"].freedom == 2 and topology.joints["j"].passive is True


def test_callers_graph_is_not_changed():
    graph = stewart_platform()
    before = graph.copy()
    for cuts in [*STRATEGIES, [f"spherical{k}" for k in range(1, 7)]]:
        topology = graphs.analyse(graph, cuts=cuts)
        str(topology), topology.components, topology.loops, topology.coupled
    assert nx.utils.graphs_equal(graph, before)
    assert list(graph.edges(keys=True)) == list(before.edges(keys=True))


# ---- pictures


def test_printed_tree_shows_joints_cuts_and_counts():
    graph = two_arms()
    graph.add_edge("plate", "world", key="bolts", freedom=0)
    text = str(graphs.analyse(graph))
    assert "├─ left/link1 (left/joint1)\n│  left/link2 (left/joint2)\n" in text
    assert "bar (free)" in text
    assert "plate (bolts, reversed, fixed)" in text
    assert "left: left/link7 → bar, 6 rows" in text
    assert text.endswith("bodies: 17, joints: 17, cuts: 2, floating: 1, independent loops: 1, mobility: 8")


def test_draw_tree_takes_callables_and_refuses_loops():
    below = {"a": ["b", "c"], "c": ["d"]}
    assert graphs.draw_tree("a", lambda node: below.get(node, []), str.upper) == "A\n├─ B\n└─ C\n   D"
    assert graphs.draw_tree("a", below, limit=2) == "a\n├─ b\n... and 2 more"
    with pytest.raises(GraphError, match="'a' is reached twice"):
        graphs.draw_tree("a", {"a": ["b"], "b": ["a"]})


@pytest.mark.parametrize("graph", [two_arms(), four_bar(), stewart_platform()])
def test_figure_names_every_body_and_joint(graph):
    topology = graphs.analyse(graph)
    ax = topology.draw()
    assert sorted(text.get_text() for text in ax.texts) == sorted([*graph.nodes, *topology.joints])
    kinds = {line.get_label(): line.get_linestyle() for line in ax.lines}
    assert kinds == {"joint": "-", "cut joint": "--"} | ({"free joint": ":"} if topology.floating else {})
    assert topology.draw(ax) is ax
    plt.close(ax.figure)


def test_figure_puts_no_two_bodies_in_one_place():
    from graphs.drawing import layout

    for graph in (two_arms(), four_bar(), stewart_platform()):
        for cuts in STRATEGIES:
            places = layout(graphs.analyse(graph, cuts=cuts))
            assert len(set(places.values())) == len(places) == len(graph)


# ---- size, and independence of the machine


def test_long_chains_and_large_graphs_take_about_a_second():
    n = 20_000
    names = ["world", *(f"body{k}" for k in range(n))]
    ring = nx.MultiDiGraph((names[k], names[(k + 1) % (n + 1)], f"joint{k}") for k in range(n + 1))
    for cuts in STRATEGIES:
        start = perf_counter()
        topology = graphs.analyse(ring, cuts=cuts)
        assert len(topology.loops[0].joints) == n + 1
        assert len(topology.components) == 1
        assert str(topology)
        assert perf_counter() - start < 5.0  # takes 0.3 s; the margin is for a busy machine


def test_same_answer_whatever_the_hash_seed_and_no_heavy_imports():
    program = """
import sys, networkx as nx, graphs
loaded = {name.split(".")[0] for name in sys.modules}
assert not loaded & {"multiarm", "contacts", "matplotlib"}, loaded
names = [f"body{k}" for k in range(12)] + ["world"]
graph = nx.MultiDiGraph((names[k % 13], names[(k * k + 1) % 13], f"j{k}") for k in range(26) if (k * k + 1 - k) % 13)
graph.add_nodes_from(names)
for cuts in graphs.STRATEGIES:
    topology = graphs.analyse(graph, cuts=cuts)
    print(topology, topology.loops, topology.components, topology.coupled)
"""
    root = Path(graphs.__file__).parents[1]
    answers = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONIOENCODING": "utf-8"},
            cwd=root,
            check=True,
            capture_output=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(answers) == 1
