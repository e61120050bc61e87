"""What `graphs.analyse` refuses, and whether its errors name the culprits and the valid choices."""

from __future__ import annotations

import networkx as nx
import pytest

import graphs
from graphs import GraphError, MultiArmError, UnknownNameError


def two_arms() -> nx.MultiDiGraph:
    """Two arms of one joint that hold a bar."""
    graph = nx.MultiDiGraph([("world", f"{name}/link", f"{name}/joint1") for name in ("left", "right")])
    for name in ("left", "right"):
        graph.add_edge(f"{name}/link", "bar", key=name, grasp=True, freedom=0)
    return graph


def four_bar() -> nx.MultiDiGraph:
    return nx.MultiDiGraph(
        [("world", "crank", "a"), ("crank", "rod", "b"), ("rod", "rocker", "c"), ("world", "rocker", "d")]
    )


@pytest.mark.parametrize(
    ("ask", "what"),
    [
        (lambda t: t.children("baar"), "body 'baar'; did you mean 'bar'"),
        (lambda t: t.path_to_root("baar"), "body 'baar'"),
        (lambda t: t.common_ancestor("bar", "baar"), "body 'baar'"),
        (lambda t: t.path("baar", "bar"), "body 'baar'"),
        (lambda t: t.is_cut("lefd"), "joint 'lefd'; did you mean 'left'"),
        (lambda t: t.loop("lefd"), "cut joint 'lefd'; did you mean 'left'"),
        (lambda t: t.loop("left/joint1"), "Joint 'left/joint1' is in the tree"),
    ],
)
def test_unknown_names_are_reported_with_valid_ones(ask, what):
    with pytest.raises(UnknownNameError, match=what) as caught:
        ask(graphs.analyse(two_arms()))
    assert caught.value.choices


def test_unknown_strategy_lists_the_choices():
    with pytest.raises(UnknownNameError, match="strategy 'shalow'; did you mean 'shallow'") as caught:
        graphs.analyse(two_arms(), cuts="shalow")
    assert caught.value.choices == ("grasps", "shallow", "fewest_constraints")
    with pytest.raises(UnknownNameError, match="named in a list"):
        graphs.analyse(two_arms(), cuts="left")


def test_unknown_joint_to_cut_lists_the_choices():
    with pytest.raises(UnknownNameError, match="joint 'e'") as caught:
        graphs.analyse(four_bar(), cuts={"e"})
    assert caught.value.choices == ("a", "d", "b", "c")


@pytest.mark.parametrize("cuts", [5, None, [3], ["a", ("b",)]])
def test_cuts_of_another_type(cuts):
    with pytest.raises(GraphError, match="cuts must"):
        graphs.analyse(four_bar(), cuts=cuts)


def test_remaining_loop_names_its_joints_and_no_others():
    graph = four_bar()
    graph.add_edge("rod", "pen", key="clip")
    graph.add_edge("world", "desk", key="bolts", freedom=0)
    with pytest.raises(GraphError, match="Name at least one") as caught:
        graphs.analyse(graph, cuts=["clip"])
    assert set(caught.value.names) == set("abcd")
    graph.remove_edge("world", "crank", key="a")
    graph.remove_edge("world", "rocker", key="d")
    graph.add_edge("rocker", "crank", key="e")
    with pytest.raises(GraphError, match="Name at least one") as caught:
        graphs.analyse(graph, cuts=())
    assert set(caught.value.names) == set("bce")


def bad_graph(parent="world", child="a", key="j", **attributes):
    graph = nx.MultiDiGraph()
    graph.add_node("world")
    graph.add_edge(parent, child, key=key, **attributes)
    return graph


@pytest.mark.parametrize(
    ("graph", "message", "names"),
    [
        (nx.DiGraph([("world", "a")]), "MultiDiGraph.*not DiGraph", ()),
        ("four_bar.urdf", "MultiDiGraph.*not str", ()),
        (nx.MultiDiGraph(), "empty", ()),
        (nx.MultiDiGraph([("base", "a", "j")]), "root 'world' is not a body.*'base', 'a'", ("world",)),
        (nx.MultiDiGraph([("world", 3, "j")]), "node 3 is a int", ()),
        (nx.MultiDiGraph([("world", "a")]), "'world' -> 'a' has key 0", ("world", "a")),
        (bad_graph("a", "a"), "'j' connects body 'a' with itself", ("j",)),
        (nx.MultiDiGraph([("world", "a", "j"), ("a", "b", "j")]), "two joints are named 'j'", ("j",)),
        (bad_graph(freedom=7), "'j': freedom must lie in 0..6, not 7", ("j",)),
        (bad_graph(freedom=-1), "'j': freedom must lie in 0..6, not -1", ("j",)),
        (bad_graph(freedom=1.5), "'j': freedom must be an integer, not 1.5", ("j",)),
        (bad_graph(freedom=True), "'j': freedom must be an integer, not True", ("j",)),
        (bad_graph(rows=8), "'j': rows must lie in 0..6, not 8", ("j",)),
        (bad_graph(rows="5"), "'j': rows must be an integer, not '5'", ("j",)),
        (bad_graph(grasp="yes"), "'j': grasp must be True or False", ("j",)),
        (bad_graph(passive=None), "'j': passive must be True or False", ("j",)),
        (bad_graph(must_cut=1), "'j': must_cut must be True or False", ("j",)),
    ],
)
def test_bad_graphs_are_refused_with_the_culprit(graph, message, names):
    with pytest.raises(GraphError, match=message) as caught:
        graphs.analyse(graph)
    assert caught.value.names == names
    assert isinstance(caught.value, MultiArmError)


def test_planar_count_refuses_spatial_joints():
    topology = graphs.analyse(bad_graph(freedom=4))
    with pytest.raises(GraphError, match="'j'"):
        topology.mobility_in(2)
    with pytest.raises(GraphError, match="2 or 3"):
        topology.mobility_in(4)
