"""From a graph to its topology."""

from __future__ import annotations

from collections.abc import Iterable

import networkx as nx

from graphs.linkage import Linkage, read
from graphs.strategies import choose_tree
from graphs.topology import Topology
from graphs.tree import SpanningTree

__all__ = ["analyse"]


def analyse(graph: nx.MultiDiGraph, root: str = "world", cuts: str | Iterable[str] = "grasps") -> Topology:
    """Choose the joints to cut so that a tree remains, and describe the tree and the loops.

    A body that no path of uncut joints connects with the root is legal: it floats, that is, it hangs from the root by a
    free joint (of several bodies connected with each other, the one added first). Everything is deterministic; where a
    strategy leaves a choice, what was added first stays in the tree.

    Parameters
    ----------
    graph : networkx.MultiDiGraph
        Nodes are body names, edges joints from declared parent to declared child, edge keys joint names, unique over
        the graph. Edge attributes, all optional: ``freedom`` (0 to 6, default 1), ``rows`` (constraint rows when cut,
        default 6 - freedom), ``grasp``, ``passive`` (unpowered) and ``must_cut`` (cut whatever `cuts` says), default
        False. Others are ignored. The graph is not changed. Joints count as added in the order of ``graph.edges``: by
        the place of their declared parent among the nodes, then as added to it.
    root : str
        The body that does not move.
    cuts : str or iterable of str
        A strategy or the names of the joints to cut:

        "grasps"
            every grasp, then in the loops that remain unpowered joints first, at the greatest depth;
        "shallow"
            every body at its least distance from the root, counted in joints that move; of two joints that do equally
            well, the powered one stays;
        "fewest_constraints"
            the least sum of rows over the cuts; ties as before.

    Returns
    -------
    Topology

    Raises
    ------
    GraphError
        The graph lacks the root or has a joint that makes no sense, or the joints named leave a loop.
    UnknownNameError
        No such strategy or joint.

    Notes
    -----
    O(E log E) for E joints, without recursion.

    Examples
    --------
    >>> import networkx as nx, graphs
    >>> bars = [("world", "crank", "a"), ("crank", "rod", "b"), ("rod", "rocker", "c"), ("world", "rocker", "d")]
    >>> topology = graphs.analyse(nx.MultiDiGraph(bars))
    >>> topology.cuts
    ('c',)
    >>> [(step.joint, step.sign) for step in topology.loop("c").path]
    [('d', -1), ('a', 1), ('b', 1)]
    """
    linkage = read(graph, root)
    tree = choose_tree(linkage, cuts)
    bodies = _tree_order(linkage, tree)
    parent = {body: tree[body] for body in bodies[1:]}
    tree_joints = tuple(via.joint for via in parent.values() if via.joint is not None)
    in_tree = set(tree_joints)
    return Topology(
        root=root,
        bodies=bodies,
        joints={joint.name: joint for joint in linkage.joints},
        parent=parent,
        tree_joints=tree_joints,
        cuts=tuple(joint.name for joint in linkage.joints if joint.name not in in_tree),
        floating=tuple(body for body, via in parent.items() if via.free),
    )


def _tree_order(linkage: Linkage, tree: SpanningTree) -> tuple[str, ...]:
    """Bodies as they were added, each after those above it: a chain declared from base to tip keeps its order."""
    placed = {linkage.root: None}
    for body in linkage.bodies:
        waiting = []
        while body not in placed:
            waiting.append(body)
            body = tree[body].parent
        placed.update(dict.fromkeys(reversed(waiting)))
    return tuple(placed)
