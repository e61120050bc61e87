"""A mechanism's topology: its spanning tree, its cut joints, and what follows from them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from graphs.errors import GraphError, UnknownNameError
from graphs.linkage import Joint
from graphs.loops import Loop, Step
from graphs.text import draw_tree
from graphs.tree import TreeJoint

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Topology"]

PLANAR_FREEDOM = 3  # degrees of freedom of a body in the plane
LINES_SHOWN = 1000  # of the tree, and as many cuts, when a topology is printed


@dataclass(frozen=True)
class Topology:
    """What `analyse` finds. Frozen; the rest is derived on first use and kept.

    Attributes
    ----------
    root : str
        The body that does not move.
    bodies : tuple of str
        All bodies, the root first and parents before children; apart from that in the order they were added.
    joints : dict of str to Joint
        All declared joints in the order they were added.
    parent : dict of str to TreeJoint
        For every body but the root, the joint by which it hangs in the tree; in the order of `bodies`.
    tree_joints : tuple of str
        Declared joints in the tree, in the order of the bodies that hang by them.
    cuts : tuple of str
        The other declared joints, in the order they were added.
    floating : tuple of str
        Bodies that hang from the root by a free joint.

    Examples
    --------
    >>> import networkx as nx, graphs
    >>> hold = {"grasp": True, "freedom": 0}
    >>> arms = [("world", "left", "a"), ("world", "right", "b")]
    >>> topology = graphs.analyse(nx.MultiDiGraph([*arms, ("left", "bar", "l", hold), ("right", "bar", "r", hold)]))
    >>> print(topology)
    world
    ├─ left (a)
    ├─ right (b)
    └─ bar (free)
    cuts
       l: left → bar, 6 rows
       r: right → bar, 6 rows
    bodies: 4, joints: 4, cuts: 2, floating: 1, independent loops: 1, mobility: -4
    >>> topology.loop("r").path
    (Step(joint=None, sign=-1, body='bar'), Step(joint='b', sign=1, body='right'))
    >>> topology.children("world"), topology.path_to_root("left"), topology.common_ancestor("left", "bar")
    (('left', 'right', 'bar'), ('left', 'world'), 'world')
    >>> topology.subtrees, topology.components
    ((('left',), ('right',), ('bar',)), (('left', 'right', 'bar'),))
    >>> topology.is_cut("a"), topology.is_cut("l"), topology.coupled
    (False, True, (('l', 'r'),))
    """

    root: str
    bodies: tuple[str, ...]
    joints: Mapping[str, Joint] = field(hash=False)
    parent: Mapping[str, TreeJoint] = field(hash=False)
    tree_joints: tuple[str, ...]
    cuts: tuple[str, ...]
    floating: tuple[str, ...]

    # ---- the tree

    def children(self, body: str) -> tuple[str, ...]:
        """Return the bodies that hang from `body`, in the order of `bodies`."""
        self._place_of(body)
        return self._children.get(body, ())

    def path_to_root(self, body: str) -> tuple[str, ...]:
        """Return the bodies from `body` to the root, both included."""
        self._place_of(body)
        chain = [body]
        while chain[-1] != self.root:
            chain.append(self.parent[chain[-1]].parent)
        return tuple(chain)

    def common_ancestor(self, a: str, b: str) -> str:
        """Return the last body that the paths from the root to `a` and to `b` share."""
        return self._climb(a, b)[1]

    def path(self, start: str, end: str) -> tuple[Step, ...]:
        """Return the joints between two bodies through the tree, in the order met, with their signs.

        Examples
        --------
        >>> import networkx as nx, graphs
        >>> topology = graphs.analyse(nx.MultiDiGraph([("world", "a", "one"), ("b", "a", "two")]))
        >>> topology.path("b", "world")
        (Step(joint='two', sign=1, body='b'), Step(joint='one', sign=-1, body='a'))
        """
        up, _, down = self._climb(start, end)
        rising = [Step(self.parent[body].joint, -self.parent[body].sign, body) for body in up]
        falling = [Step(self.parent[body].joint, self.parent[body].sign, body) for body in reversed(down)]
        return (*rising, *falling)

    @cached_property
    def depth(self) -> dict[str, int]:
        """For each body the number of joints that move between it and the root; fixed joints add nothing."""
        depth = {self.root: 0}
        for body, via in self.parent.items():
            depth[body] = depth[via.parent] + (via.freedom > 0)
        return depth

    @cached_property
    def grounded(self) -> tuple[str, ...]:
        """The root, and the bodies that fixed joints of the tree hold to it: they never move."""
        return tuple(body for body in self.bodies if self.depth[body] == 0)

    # ---- loops

    def is_cut(self, joint: str) -> bool:
        """Whether the joint is cut; if not, it is in the tree."""
        if joint not in self.joints:
            raise UnknownNameError("joint", joint, self.joints)
        return joint in self._cut_place

    def loop(self, cut: str) -> Loop:
        """Return the loop that a cut joint closes."""
        if cut not in self._cut_place:
            hint = f"Joint {cut!r} is in the tree" if cut in self.joints else ""
            raise UnknownNameError("cut joint", cut, self.cuts, hint=hint)
        joint = self.joints[cut]
        return Loop(cut, self.path(joint.child, joint.parent))

    @cached_property
    def loops(self) -> tuple[Loop, ...]:
        """The loop of each cut, in the order of `cuts`; a basis of all loops, those through free joints included."""
        return tuple(self.loop(cut) for cut in self.cuts)

    @cached_property
    def independent_loops(self) -> int:
        """Independent loops of the declared joints alone (joints - bodies + connected parts), whatever is cut."""
        parts = self._parts(self.bodies, self.joints.values())
        return len(self.joints) - len(self.bodies) + len(parts)

    # ---- what depends on what

    @cached_property
    def components(self) -> tuple[tuple[str, ...], ...]:
        """Independent parts: the bodies that move, grouped by the joints between them, cut or not.

        Bodies held to the root do not connect: two arms on one fixed table are independent unless they hold the same
        object.
        """
        return self._parts([body for body in self.bodies if self.depth[body]], self.joints.values())

    @cached_property
    def subtrees(self) -> tuple[tuple[str, ...], ...]:
        """The same with the loops open: groups of bodies whose blocks of the mass matrix are coupled."""
        groups: dict[int, list[str]] = {}
        for body, tree in self._subtree_of.items():
            groups.setdefault(tree, []).append(body)
        return tuple(tuple(group) for group in groups.values())

    @cached_property
    def coupled(self) -> tuple[tuple[str, str], ...]:
        """Pairs of cuts, the earlier first, that touch a common subtree.

        These are the off-diagonal blocks of J M^-1 J* that are not zero by structure.
        """
        touching: dict[int, list[int]] = {}
        for k, cut in enumerate(self.cuts):
            for tree in self._touched(cut):
                touching.setdefault(tree, []).append(k)
        pairs = {pair for cuts in touching.values() for pair in combinations(cuts, 2)}
        return tuple((self.cuts[i], self.cuts[j]) for i, j in sorted(pairs))

    def coupling_matrix(self) -> NDArray[np.bool_]:
        """Which blocks of J M^-1 J* can differ from zero, as a symmetric array over `cuts`; the diagonal is True.

        Examples
        --------
        >>> import networkx as nx, graphs
        >>> joints = [("world", "a", "one"), ("world", "b", "two"), ("a", "world", "three"), ("b", "world", "four")]
        >>> graphs.analyse(nx.MultiDiGraph(joints), cuts=["three", "four"]).coupling_matrix()
        array([[ True, False],
               [False,  True]])
        """
        matrix = np.eye(len(self.cuts), dtype=np.bool_)
        for a, b in self.coupled:
            i, j = self._cut_place[a], self._cut_place[b]
            matrix[i, j] = matrix[j, i] = True
        return matrix

    # ---- mobility

    @cached_property
    def mobility(self) -> int:
        """Degrees of freedom by count: the freedoms in the tree, 6 per floating body, less the rows of the cuts.

        With 6 - freedom rows per joint this is Kutzbach's 6 (bodies - 1) - sum(6 - freedom), whatever is cut. It counts
        constraints as independent, so where they are not, a mechanism moves more freely than this.
        """
        freedom = sum(via.freedom for via in self.parent.values())
        return freedom - sum(self.joints[cut].rows for cut in self.cuts)

    def mobility_in(self, dimension: int = 3) -> int:
        """Mobility by count in space (3) or in the plane (2).

        In the plane it is Gruebler's 3 (bodies - 1) - sum(3 - freedom), and every joint is taken to move in that plane.

        Examples
        --------
        >>> import networkx as nx, graphs
        >>> bars = [("world", "crank", "a"), ("crank", "rod", "b"), ("rod", "rocker", "c"), ("world", "rocker", "d")]
        >>> four_bar = graphs.analyse(nx.MultiDiGraph(bars))
        >>> four_bar.mobility_in(3), four_bar.mobility_in(2)
        (-2, 1)
        """
        if dimension == 3:
            return self.mobility
        if dimension != 2:
            raise GraphError(f"mobility is counted in 2 or 3 dimensions, not {dimension!r}")
        spatial = [joint.name for joint in self.joints.values() if joint.freedom > PLANAR_FREEDOM]
        if spatial:
            shown = ", ".join(map(repr, spatial))
            raise GraphError(f"no plane holds the freedoms of {shown}: count in 3 dimensions", spatial)
        removed = sum(PLANAR_FREEDOM - joint.freedom for joint in self.joints.values())
        return PLANAR_FREEDOM * len(self.parent) - removed

    # ---- pictures

    def __str__(self) -> str:
        """Show the tree, the cuts and the counts."""
        lines = [draw_tree(self.root, self._children, self._label, limit=LINES_SHOWN)]
        if self.cuts:
            lines.append("cuts")
        for cut in self.cuts[:LINES_SHOWN]:
            joint = self.joints[cut]
            lines.append(f"   {cut}: {joint.parent} → {joint.child}, {joint.rows} rows")
        if len(self.cuts) > LINES_SHOWN:
            lines.append(f"   ... and {len(self.cuts) - LINES_SHOWN} more")
        lines.append(
            f"bodies: {len(self.bodies)}, joints: {len(self.joints)}, cuts: {len(self.cuts)}, "
            f"floating: {len(self.floating)}, independent loops: {self.independent_loops}, mobility: {self.mobility}"
        )
        return "\n".join(lines)

    def draw(self, ax: Axes | None = None) -> Axes:
        """Draw the tree (solid), the cuts (dashed) and the free joints (dotted); see `graphs.drawing.draw_topology`."""
        from graphs.drawing import draw_topology

        return draw_topology(self, ax)

    # ---- derived once

    @cached_property
    def _place(self) -> dict[str, int]:
        return {body: k for k, body in enumerate(self.bodies)}

    @cached_property
    def _cut_place(self) -> dict[str, int]:
        return {cut: k for k, cut in enumerate(self.cuts)}

    @cached_property
    def _children(self) -> dict[str, tuple[str, ...]]:
        below: dict[str, list[str]] = {}
        for body, via in self.parent.items():
            below.setdefault(via.parent, []).append(body)
        return {body: tuple(children) for body, children in below.items()}

    @cached_property
    def _subtree_of(self) -> dict[str, int]:
        """For each body that moves, the number of its subtree."""
        subtree: dict[str, int] = {}
        count = 0
        for body, via in self.parent.items():
            if not self.depth[body]:
                continue
            if via.parent in subtree:
                subtree[body] = subtree[via.parent]
            else:
                subtree[body] = count
                count += 1
        return subtree

    def _touched(self, cut: str) -> set[int]:
        joint = self.joints[cut]
        return {self._subtree_of[body] for body in (joint.parent, joint.child) if body in self._subtree_of}

    def _parts(self, bodies: Iterable[str], joints: Iterable[Joint]) -> tuple[tuple[str, ...], ...]:
        """Return the connected parts of these bodies, in the order of `bodies`."""
        graph = nx.Graph()
        graph.add_nodes_from(bodies)
        graph.add_edges_from((j.parent, j.child) for j in joints if j.parent in graph and j.child in graph)
        return tuple(tuple(sorted(part, key=self._place.__getitem__)) for part in nx.connected_components(graph))

    def _place_of(self, body: str) -> int:
        if body not in self._place:
            raise UnknownNameError("body", body, self.bodies)
        return self._place[body]

    def _climb(self, a: str, b: str) -> tuple[list[str], str, list[str]]:
        """Return the bodies passed from `a` up to the common ancestor, that ancestor, and those passed from `b`.

        Parents stand before children, so of two different bodies the later one is no ancestor of the other.
        """
        place_a, place_b = self._place_of(a), self._place_of(b)
        from_a: list[str] = []
        from_b: list[str] = []
        while a != b:
            if place_a > place_b:
                from_a.append(a)
                a = self.parent[a].parent
                place_a = self._place[a]
            else:
                from_b.append(b)
                b = self.parent[b].parent
                place_b = self._place[b]
        return from_a, a, from_b

    def _label(self, body: str) -> str:
        if body == self.root:
            return body
        via = self.parent[body]
        if via.joint is None:
            return f"{body} (free)"
        notes = [via.joint] + ["reversed"] * (via.sign < 0) + ["fixed"] * (via.freedom == 0)
        return f"{body} ({', '.join(notes)})"
