"""A spanning tree grown from the root, one joint at a time, by a rule that ranks the joints it could take."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import TypeAlias

from graphs.linkage import SPATIAL_FREEDOM, Joint, Linkage

__all__ = ["Rank", "SpanningTree", "TreeJoint", "grow"]

Rank: TypeAlias = Callable[[Joint, int], tuple[int, ...]]
"""Of a joint and the depth its far body would have; the joint of least rank is taken next."""


@dataclass(frozen=True)
class TreeJoint:
    """How a body hangs in the tree: the joint that leads to it from its parent there.

    Attributes
    ----------
    joint : str or None
        None for the free joint by which a floating body hangs from the root.
    parent, child : str
        The bodies in the direction of the tree, from the root outwards.
    sign : int
        +1 where the tree runs through the joint from declared parent to declared child, -1 where it runs against it.
    freedom : int
        Degrees of freedom; 6 for a free joint.

    Examples
    --------
    >>> TreeJoint(None, "world", "bar", 1, 6).free
    True
    """

    joint: str | None
    parent: str
    child: str
    sign: int
    freedom: int

    @property
    def free(self) -> bool:
        """Whether this is the free joint of a floating body, which the graph does not declare."""
        return self.joint is None


SpanningTree: TypeAlias = dict[str, TreeJoint]
"""Every body but the root, with the joint it hangs by, in the order in which the tree reached them."""


def grow(linkage: Linkage, keep: Iterable[Joint], rank: Rank) -> SpanningTree:
    """Grow a spanning tree over the joints of `keep`, always through the joint of least rank that reaches a new body.

    Ties go to the joint that was added first. A body that `keep` does not connect with the root hangs from it by a free
    joint; of several that are connected with each other, the one added first.

    One loop serves every strategy. A rank that starts with the depth makes it Dijkstra's algorithm (distances 0 and 1),
    one that does not depend on the depth makes it Prim's. NetworkX has both, but its shortest paths drop the keys of
    parallel edges and leave ties to chance, and its spanning trees take one number as weight.

    Parameters
    ----------
    linkage : Linkage
        Root, bodies and joints.
    keep : iterable of Joint
        The joints that may be in the tree.
    rank : callable
        ``rank(joint, depth)``; the depth is the number of joints that move between the far body and the root.

    Notes
    -----
    O(E log E) for E joints, without recursion.

    Examples
    --------
    >>> linkage = Linkage("world", ("world", "a", "b"), (Joint("ab", "a", "b"), Joint("wb", "world", "b")))
    >>> for body, via in grow(linkage, linkage.joints, lambda joint, depth: (depth,)).items():
    ...     print(body, via.joint, via.sign)
    b wb 1
    a ab -1
    """
    place = {joint.name: k for k, joint in enumerate(linkage.joints)}
    incident: dict[str, list[Joint]] = {body: [] for body in linkage.bodies}
    for joint in keep:
        incident[joint.parent].append(joint)
        incident[joint.child].append(joint)

    tree: SpanningTree = {}
    depth: dict[str, int] = {}  # of the bodies reached so far
    frontier: list[tuple[tuple[int, ...], int, Joint, str, str]] = []  # the place is unique, so no two joints compare

    def reach(body: str) -> None:
        for joint in incident[body]:
            far = joint.child if body == joint.parent else joint.parent
            if far not in depth:
                far_depth = depth[body] + (not joint.fixed)
                heappush(frontier, (rank(joint, far_depth), place[joint.name], joint, body, far))

    for start in (linkage.root, *linkage.bodies):
        if start in depth:
            continue
        depth[start] = 0 if start == linkage.root else 1
        if start != linkage.root:
            tree[start] = TreeJoint(None, linkage.root, start, 1, SPATIAL_FREEDOM)
        reach(start)
        while frontier:
            _, _, joint, near, far = heappop(frontier)
            if far not in depth:
                tree[far] = TreeJoint(joint.name, near, far, 1 if near == joint.parent else -1, joint.freedom)
                depth[far] = depth[near] + (not joint.fixed)
                reach(far)
    return tree
