"""Laws of `graphs.analyse` on random multigraphs, against NetworkX, linear algebra and brute force."""

from __future__ import annotations

from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphs

STRATEGIES = sorted(graphs.STRATEGIES)


@st.composite
def multigraphs(draw, max_bodies=9, max_joints=14):
    """Bodies in any order (the root too), with parallel joints, separate parts and every attribute."""
    count = draw(st.integers(1, max_bodies))
    names = draw(st.permutations(["world", *(f"b{k}" for k in range(1, count))]))
    graph = nx.MultiDiGraph()
    graph.add_nodes_from(names)
    if count > 1:
        pair = st.lists(st.sampled_from(names), min_size=2, max_size=2, unique=True)
        flag = st.sampled_from([False, False, False, True])
        joint = st.tuples(pair, st.integers(0, 6), flag, st.booleans(), flag)
        for k, (ends, freedom, grasp, passive, must_cut) in enumerate(draw(st.lists(joint, max_size=max_joints))):
            graph.add_edge(*ends, key=f"j{k}", freedom=freedom, grasp=grasp, passive=passive, must_cut=must_cut)
    return graph


analysed = pytest.mark.parametrize("cuts", STRATEGIES)
some = settings(max_examples=60, deadline=None)


def joint_sets(graph, topology):
    """All sets of joints that span as many bodies as can be, without those that must be cut."""
    keep = [name for name, joint in topology.joints.items() if not joint.must_cut]
    ends = {name: (u, v) for u, v, name in graph.edges(keys=True)}
    size = forest_size(graph, [ends[name] for name in keep])
    for chosen in combinations(keep, size):
        if forest_size(graph, [ends[name] for name in chosen]) == size:
            yield chosen


def forest_size(graph, ends):
    """Joints in a spanning forest."""
    plain = nx.Graph()
    plain.add_nodes_from(graph)
    plain.add_edges_from(ends)
    return len(plain) - nx.number_connected_components(plain)


def distances(graph, names, starts):
    """Least number of joints that move between a body and its start, through the joints named."""
    plain = nx.MultiGraph()
    plain.add_nodes_from(graph)
    for u, v, name, data in graph.edges(keys=True, data=True):
        if name in names:
            plain.add_edge(u, v, weight=int(data["freedom"] > 0))
    result = {}
    for start, depth in starts.items():
        result |= {body: far + depth for body, far in nx.single_source_dijkstra_path_length(plain, start).items()}
    return result


# ---- the tree and its complement


@analysed
@given(graph=multigraphs())
@some
def test_tree_spans_and_has_no_loop(cuts, graph):
    topology = graphs.analyse(graph, cuts=cuts)
    assert topology.bodies[0] == "world"
    assert sorted(topology.bodies) == sorted(graph.nodes)
    place = {body: k for k, body in enumerate(topology.bodies)}
    assert list(topology.parent) == list(topology.bodies[1:])
    assert all(place[via.parent] < place[body] for body, via in topology.parent.items())
    assert all(topology.path_to_root(body)[-1] == "world" for body in graph)


@analysed
@given(graph=multigraphs())
@some
def test_cuts_are_the_complement_of_the_tree_by_key(cuts, graph):
    topology = graphs.analyse(graph, cuts=cuts)
    keys = [name for _, _, name in graph.edges(keys=True)]
    assert sorted([*topology.tree_joints, *topology.cuts]) == sorted(keys)
    assert list(topology.cuts) == [name for name in keys if topology.is_cut(name)]
    for u, v, name, data in graph.edges(keys=True, data=True):
        if topology.is_cut(name):
            continue
        assert not data["must_cut"]
        (via,) = (via for via in topology.parent.values() if via.joint == name)
        assert (u, v) == ((via.parent, via.child) if via.sign == 1 else (via.child, via.parent))


@analysed
@given(graph=multigraphs())
@some
def test_floating_bodies_are_the_first_of_their_part(cuts, graph):
    topology = graphs.analyse(graph, cuts=cuts)
    uncut = nx.Graph()
    uncut.add_nodes_from(graph)
    uncut.add_edges_from((u, v) for u, v, name in graph.edges(keys=True) if not topology.is_cut(name))
    parts = [part for part in nx.connected_components(uncut) if "world" not in part]
    order = list(graph)
    assert sorted(topology.floating) == sorted(min(part, key=order.index) for part in parts)


# ---- loops


@analysed
@given(graph=multigraphs())
@some
def test_loops_count_the_cycle_space(cuts, graph):
    topology = graphs.analyse(graph, cuts=cuts)
    joints, bodies = graph.number_of_edges(), len(graph)
    assert topology.independent_loops == joints - bodies + nx.number_weakly_connected_components(graph)
    assert len(topology.loops) == len(topology.cuts) == joints + len(topology.floating) - bodies + 1


@analysed
@given(graph=multigraphs())
@some
def test_signed_loops_are_cycles_and_a_basis(cuts, graph):
    """B c = 0 for the incidence matrix B of declared and free joints and every signed loop c."""
    topology = graphs.analyse(graph, cuts=cuts)
    row = {body: k for k, body in enumerate(graph)}
    ends = {name: (u, v) for u, v, name in graph.edges(keys=True)}
    ends |= {("free", body): ("world", body) for body in topology.floating}
    column = {name: k for k, name in enumerate(ends)}
    incidence = np.zeros((len(row), len(column)), int)
    for name, (u, v) in ends.items():
        incidence[row[u], column[name]] -= 1
        incidence[row[v], column[name]] += 1
    cycles = np.zeros((len(column), len(topology.loops)), int)
    for k, loop in enumerate(topology.loops):
        cycles[column[loop.cut], k] = 1
        at = ends[loop.cut][1]
        for joint, sign, body in loop.path:
            name = ("free", body) if joint is None else joint
            assert topology.parent[body].joint == joint
            before, after = ends[name] if sign == 1 else reversed(ends[name])
            assert before == at
            at = after
            cycles[column[name], k] += sign
        assert at == ends[loop.cut][0]
    assert not (incidence @ cycles).any()
    if cycles.size:
        nullity = len(column) - np.linalg.matrix_rank(incidence)
        assert np.linalg.matrix_rank(cycles) == len(topology.loops) == nullity


# ---- the strategies


@given(graph=multigraphs())
@some
def test_grasps_are_cut_and_powered_joints_kept(graph):
    topology = graphs.analyse(graph)
    assert all(topology.is_cut(name) for name, joint in topology.joints.items() if joint.grasp)
    powered = [joint for joint in topology.joints.values() if joint.powered and not joint.must_cut]
    kept = [joint for joint in powered if not topology.is_cut(joint.name)]
    assert len(kept) == forest_size(graph, [(joint.parent, joint.child) for joint in powered])


@given(graph=multigraphs())
@some
def test_shallow_depth_is_the_least_distance(graph):
    topology = graphs.analyse(graph, cuts="shallow")
    names = {name for name, joint in topology.joints.items() if not joint.must_cut}
    starts = {"world": 0} | dict.fromkeys(topology.floating, 1)
    assert topology.depth == distances(graph, names, starts)


@given(graph=multigraphs(max_bodies=5, max_joints=8))
@some
def test_shallow_keeps_most_powered_joints_among_the_shallowest(graph):
    topology = graphs.analyse(graph, cuts="shallow")
    starts = {"world": 0} | dict.fromkeys(topology.floating, 1)
    powered = {name for name, joint in topology.joints.items() if joint.powered}
    best = max(
        len(powered.intersection(chosen))
        for chosen in joint_sets(graph, topology)
        if distances(graph, chosen, starts) == topology.depth
    )
    assert len(powered.intersection(topology.tree_joints)) == best


@given(graph=multigraphs(max_bodies=5, max_joints=8))
@some
def test_fewest_constraints_is_the_least_of_all_choices(graph):
    topology = graphs.analyse(graph, cuts="fewest_constraints")

    def cost(kept):
        lost = [joint for name, joint in topology.joints.items() if name not in kept]
        return sum(joint.rows for joint in lost), sum(joint.powered for joint in lost)

    assert cost(topology.tree_joints) == min(map(cost, joint_sets(graph, topology)))


@given(graph=multigraphs(max_bodies=30, max_joints=60))
@some
def test_fewest_constraints_agrees_with_networkx(graph):
    topology = graphs.analyse(graph, cuts="fewest_constraints")
    plain = nx.MultiGraph()
    plain.add_nodes_from(graph)
    for name, joint in topology.joints.items():
        if not joint.must_cut:
            plain.add_edge(joint.parent, joint.child, key=name, rows=joint.rows)
    kept = {key for _, _, key in nx.maximum_spanning_edges(plain, weight="rows", keys=True, data=False)}
    least = sum(joint.rows for name, joint in topology.joints.items() if name not in kept)
    assert sum(topology.joints[cut].rows for cut in topology.cuts) == least


@analysed
@given(graph=multigraphs())
@some
def test_naming_the_cuts_of_a_strategy_gives_the_same_topology(cuts, graph):
    topology = graphs.analyse(graph, cuts=cuts)
    assert graphs.analyse(graph, cuts=topology.cuts) == topology
    assert graphs.analyse(graph, cuts=set(topology.cuts)) == topology


@given(graph=multigraphs(), data=st.data())
@some
def test_named_cuts_are_exact_or_leave_a_loop_that_is_named(graph, data):
    keys = [name for _, _, name in graph.edges(keys=True)]
    wanted = data.draw(st.lists(st.sampled_from(keys), unique=True)) if keys else []
    must = [name for _, _, name, given in graph.edges(keys=True, data="must_cut") if given]
    try:
        topology = graphs.analyse(graph, cuts=wanted)
    except graphs.GraphError as error:
        loop = nx.MultiGraph((u, v, name) for u, v, name in graph.edges(keys=True) if name in error.names)
        assert not set(error.names).intersection([*wanted, *must])
        assert nx.is_connected(loop) and all(degree == 2 for _, degree in loop.degree)
    else:
        assert set(topology.cuts) == {*wanted, *must}


# ---- invariants


@analysed
@given(graph=multigraphs())
@some
def test_mobility_by_bodies_and_by_coordinates(cuts, graph):
    topology = graphs.analyse(graph, cuts=cuts)
    removed = sum(6 - freedom for _, _, freedom in graph.edges(data="freedom"))
    assert topology.mobility == 6 * (len(graph) - 1) - removed
    if all(freedom <= 3 for _, _, freedom in graph.edges(data="freedom")):
        assert topology.mobility_in(2) == topology.mobility - 3 * (len(graph) - 1 - graph.number_of_edges())


@analysed
@given(graph=multigraphs())
@some
def test_same_graph_same_topology_and_graph_untouched(cuts, graph):
    before = graph.copy()
    topology = graphs.analyse(graph, cuts=cuts)
    assert topology == graphs.analyse(before, cuts=cuts)
    assert str(topology) == str(graphs.analyse(before, cuts=cuts))
    assert nx.utils.graphs_equal(graph, before)
    assert list(graph.nodes) == list(before.nodes)


# ---- what depends on what


@analysed
@given(graph=multigraphs())
@some
def test_parts_partition_the_moving_bodies_and_nest(cuts, graph):
    topology = graphs.analyse(graph, cuts=cuts)
    moving = [body for body in topology.bodies if body not in topology.grounded]
    for groups in (topology.components, topology.subtrees):
        assert sorted(body for group in groups for body in group) == sorted(moving)
    component = {body: k for k, group in enumerate(topology.components) for body in group}
    assert all(len({component[body] for body in group}) == 1 for group in topology.subtrees)
    for joint in topology.joints.values():
        if joint.parent in component and joint.child in component:
            assert component[joint.parent] == component[joint.child]


@analysed
@given(graph=multigraphs(), seed=st.integers(0, 2**32 - 1))
@some
def test_coupling_is_the_sparsity_of_j_minv_jt(cuts, graph, seed):
    """A random stand-in for the dynamics: seven dimensions, one freedom per moving joint, one row per cut."""
    topology = graphs.analyse(graph, cuts=cuts)
    random = np.random.default_rng(seed)
    column = {body: k for k, body in enumerate(b for b, via in topology.parent.items() if via.freedom > 0)}
    size = 7, len(column)
    motion = {"world": np.zeros(size)}
    for body, via in topology.parent.items():
        motion[body] = random.normal(size=(7, 7)) @ motion[via.parent] / np.sqrt(7)
        if body in column:
            motion[body][:, column[body]] = random.normal(size=7)
    mass = sum((rows.T @ rows for rows in motion.values()), np.zeros((len(column), len(column))))
    ends = [(topology.joints[cut].parent, topology.joints[cut].child) for cut in topology.cuts]
    jacobian = np.array([sum(random.normal(size=7) @ motion[body] for body in pair) for pair in ends])
    jacobian = jacobian.reshape(len(ends), len(column))
    omega = jacobian @ np.linalg.solve(mass, jacobian.T)
    scale = np.sqrt(np.maximum(np.diag(omega), 1e-30))
    nonzero = np.abs(omega / np.outer(scale, scale)) > 1e-10

    coupling = topology.coupling_matrix()
    assert np.array_equal(coupling, nonzero | np.eye(len(ends), dtype=bool))
    pairs = [(topology.cuts[i], topology.cuts[j]) for i, j in zip(*np.nonzero(np.triu(coupling, 1)), strict=True)]
    assert list(topology.coupled) == pairs
