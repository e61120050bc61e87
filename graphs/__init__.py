"""Topology of mechanisms: bodies and joints as a graph, its spanning tree, its cut joints and its loops.

Knows no mass and no arm. The flow is ``graph -> Linkage -> strategy -> spanning tree -> Topology``:

``linkage``
    reads and checks a keyed ``networkx.MultiDiGraph``.
``tree``
    grows a spanning tree, given a rule that says which joint to take next.
``strategies``
    those rules, by name: which joints are cut.
``loops``
    paths through the tree with their signs.
``topology``
    what follows from the tree: loops, independent parts, coupling of the cuts, mobility.
``analysis``
    `analyse`, which runs all this.
``text``, ``drawing``
    the tree in characters and as a figure.
"""

from graphs.analysis import analyse
from graphs.errors import GraphError, MultiArmError, UnknownNameError
from graphs.linkage import Joint, Linkage
from graphs.loops import Loop, Step
from graphs.strategies import STRATEGIES
from graphs.text import draw_tree
from graphs.topology import Topology
from graphs.tree import TreeJoint

__all__ = [
    "STRATEGIES",
    "GraphError",
    "Joint",
    "Linkage",
    "Loop",
    "MultiArmError",
    "Step",
    "Topology",
    "TreeJoint",
    "UnknownNameError",
    "analyse",
    "draw_tree",
]
