"""What a graph says, read once and checked: bodies and joints in the order they were added."""

from __future__ import annotations

from dataclasses import dataclass
from operator import index
from typing import Any

import networkx as nx
import numpy as np

from graphs.errors import GraphError

__all__ = ["Joint", "Linkage", "read"]

SPATIAL_FREEDOM = 6  # degrees of freedom of a body in space


@dataclass(frozen=True)
class Joint:
    """A joint between two bodies, as declared.

    Attributes
    ----------
    name : str
        The key of its edge.
    parent, child : str
        The bodies it connects, in the declared direction.
    freedom : int
        Degrees of freedom it leaves, 0 to 6.
    rows : int
        Constraint rows (at velocity level) when it is cut.
    grasp, passive, must_cut : bool
        Whether it is a grasp, is unpowered, and has to be cut whatever the strategy.

    Examples
    --------
    >>> hinge = Joint("hinge", "door frame", "door")
    >>> hinge.freedom, hinge.rows, hinge.powered
    (1, 5, True)
    """

    name: str
    parent: str
    child: str
    freedom: int = 1
    rows: int = 5
    grasp: bool = False
    passive: bool = False
    must_cut: bool = False

    @property
    def fixed(self) -> bool:
        """Whether it leaves no freedom, so that in the tree it merges its two bodies."""
        return self.freedom == 0

    @property
    def powered(self) -> bool:
        """Whether it can be driven: it moves, is no grasp and is not declared passive."""
        return not (self.fixed or self.passive or self.grasp)


@dataclass(frozen=True)
class Linkage:
    """The root, the bodies (root included) and the joints, in the order they were added."""

    root: str
    bodies: tuple[str, ...]
    joints: tuple[Joint, ...]


def read(graph: nx.MultiDiGraph, root: str) -> Linkage:
    """Read and check a keyed multigraph; the graph is not changed.

    Joints come in the order of ``graph.edges``: by the place of the declared parent among the nodes, then in the order
    they were added to it. A NetworkX graph keeps no other order of its edges.

    Parameters
    ----------
    graph : networkx.MultiDiGraph
        Nodes are body names, edge keys joint names; see `graphs.analyse` for the edge attributes.
    root : str
        The body that does not move.

    Raises
    ------
    GraphError
        The graph is of another type or empty, lacks the root, or has a joint that makes no sense.

    Examples
    --------
    >>> import networkx as nx
    >>> linkage = read(nx.MultiDiGraph([("world", "door", "hinge", {"passive": True})]), "world")
    >>> linkage.bodies
    ('world', 'door')
    >>> linkage.joints[0].passive
    True
    """
    if not isinstance(graph, nx.MultiDiGraph):
        raise GraphError(f"expected a networkx.MultiDiGraph (keyed edges parent -> child), not {type(graph).__name__}")
    bodies = tuple(graph.nodes)
    if not bodies:
        raise GraphError(f"the graph is empty: add at least the root {root!r}")
    for body in bodies:
        if not isinstance(body, str):
            raise GraphError(f"node {body!r} is a {type(body).__name__}: nodes must be body names (str)")
    if root not in graph:
        shown = ", ".join(map(repr, bodies[:10])) + (", ..." if len(bodies) > 10 else "")
        raise GraphError(f"the root {root!r} is not a body of the graph, which has {shown}", [root])
    joints: dict[str, Joint] = {}
    for parent, child, name, attributes in graph.edges(keys=True, data=True):
        joint = _joint(name, parent, child, attributes)
        if name in joints:
            first = joints[name]
            raise GraphError(
                f"two joints are named {name!r} ({first.parent!r} -> {first.child!r} and {parent!r} -> {child!r}): "
                "joint names must be unique over the whole graph",
                [name],
            )
        joints[name] = joint
    return Linkage(root, bodies, tuple(joints.values()))


def _joint(name: object, parent: str, child: str, attributes: dict[str, Any]) -> Joint:
    if not isinstance(name, str):
        raise GraphError(
            f"the edge {parent!r} -> {child!r} has key {name!r}: give every edge its joint's name (str) as key",
            [parent, child],
        )
    if parent == child:
        raise GraphError(f"joint {name!r} connects body {parent!r} with itself", [name])
    freedom = _count(name, "freedom", attributes.get("freedom", 1))
    return Joint(
        name=name,
        parent=parent,
        child=child,
        freedom=freedom,
        rows=_count(name, "rows", attributes.get("rows", SPATIAL_FREEDOM - freedom)),
        grasp=_flag(name, "grasp", attributes.get("grasp", False)),
        passive=_flag(name, "passive", attributes.get("passive", False)),
        must_cut=_flag(name, "must_cut", attributes.get("must_cut", False)),
    )


def _count(joint: str, what: str, value: object) -> int:
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
        number = index(value)  # type: ignore[arg-type]
    except TypeError:
        raise GraphError(f"joint {joint!r}: {what} must be an integer, not {value!r}", [joint]) from None
    if not 0 <= number <= SPATIAL_FREEDOM:
        raise GraphError(f"joint {joint!r}: {what} must lie in 0..{SPATIAL_FREEDOM}, not {number}", [joint])
    return number


def _flag(joint: str, what: str, value: object) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise GraphError(f"joint {joint!r}: {what} must be True or False, not {value!r}", [joint])
    return bool(value)
