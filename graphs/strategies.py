"""Which joints are cut: named strategies, each a rule for growing the spanning tree whose complement is cut."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from graphs.errors import GraphError, UnknownNameError
from graphs.linkage import Joint, Linkage
from graphs.tree import SpanningTree, grow

__all__ = ["STRATEGIES", "Strategy", "choose_tree", "fewest_constraints", "grasps", "named", "shallow"]

Strategy: TypeAlias = Callable[[Linkage], SpanningTree]


def _spare(joint: Joint) -> int:
    """How readily a joint is given up: unpowered joints and grasps first, then fixed joints, powered ones last.

    A fixed joint merges two bodies while it is in the tree, so where either would do the unpowered hinge is cut.
    """
    if joint.powered:
        return 0
    return 1 if joint.fixed and not joint.grasp else 2


def grasps(linkage: Linkage) -> SpanningTree:
    """Cut every grasp, then in the loops that remain unpowered joints first, at the greatest depth.

    Among loops without grasps a powered joint is cut only where all joints of a loop are powered, so what is driven is
    a coordinate of the tree wherever it can be. Then, and only then, the tree takes the shallowest joint.

    Examples
    --------
    >>> joints = (Joint("arm", "world", "hand"), Joint("hold", "hand", "ball", 0, 6, grasp=True))
    >>> grasps(Linkage("world", ("world", "hand", "ball"), joints))["ball"].free
    True
    """
    keep = [joint for joint in linkage.joints if not (joint.must_cut or joint.grasp)]
    return grow(linkage, keep, lambda joint, depth: (_spare(joint), depth))


def shallow(linkage: Linkage) -> SpanningTree:
    """Every body at its least distance from the root, counted in joints that move (a fixed joint adds nothing).

    Among the trees of least depth, one that keeps most powered joints.

    Examples
    --------
    >>> joints = (Joint("arm", "world", "hand"), Joint("hold", "hand", "ball", 0, 6, grasp=True))
    >>> shallow(Linkage("world", ("world", "hand", "ball"), joints))["ball"].joint
    'hold'
    """
    return grow(linkage, _may_keep(linkage), lambda joint, depth: (depth, _spare(joint)))


def fewest_constraints(linkage: Linkage) -> SpanningTree:
    """Least sum of constraint rows over the cuts: a spanning tree of greatest rows (Prim).

    Among those, one that keeps most powered joints, grown through the shallowest joint first.

    Examples
    --------
    >>> joints = (Joint("hinge", "world", "a"), Joint("weld", "a", "b", 0, 6), Joint("ball", "world", "b", 3, 3))
    >>> tree = fewest_constraints(Linkage("world", ("world", "a", "b"), joints))
    >>> [via.joint for via in tree.values()]
    ['hinge', 'weld']
    """
    return grow(linkage, _may_keep(linkage), lambda joint, depth: (-joint.rows, _spare(joint), depth))


STRATEGIES: dict[str, Strategy] = {"grasps": grasps, "shallow": shallow, "fewest_constraints": fewest_constraints}
"""The strategies by name."""


def named(linkage: Linkage, cuts: Iterable[str]) -> SpanningTree:
    """Cut the joints of these names, and those that must be cut; nothing else.

    Raises
    ------
    UnknownNameError
        A name is no joint's.
    GraphError
        A loop remains; its joints are named.

    Examples
    --------
    >>> linkage = Linkage("world", ("world", "a"), (Joint("one", "world", "a"), Joint("two", "world", "a")))
    >>> [via.joint for via in named(linkage, ["one"]).values()]
    ['two']
    >>> named(linkage, [])
    Traceback (most recent call last):
        ...
    graphs.errors.GraphError: a loop remains uncut: 'one', 'two'. Name at least one of these joints in cuts
    """
    wanted = dict.fromkeys(cuts)
    known = {joint.name: joint for joint in linkage.joints}
    for name in wanted:
        if name not in known:
            raise UnknownNameError("joint", name, known)
    keep = [joint for joint in _may_keep(linkage) if joint.name not in wanted]
    tree = grow(linkage, keep, lambda joint, depth: (depth,))
    in_tree = {via.joint for via in tree.values()}
    for joint in keep:
        if joint.name not in in_tree:
            raise _loop_error(linkage, tree, joint)
    return tree


def choose_tree(linkage: Linkage, cuts: str | Iterable[str]) -> SpanningTree:
    """Find the spanning tree of a named strategy, or the one that cutting the named joints leaves.

    Examples
    --------
    >>> linkage = Linkage("world", ("world", "a"), (Joint("one", "world", "a"), Joint("two", "world", "a")))
    >>> choose_tree(linkage, "shallow") == choose_tree(linkage, ["two"])
    True
    """
    if isinstance(cuts, str):
        if cuts not in STRATEGIES:
            raise UnknownNameError("strategy", cuts, STRATEGIES, hint="Joints to cut are named in a list")
        return STRATEGIES[cuts](linkage)
    if not isinstance(cuts, Iterable):
        raise GraphError(f"cuts must be a strategy ({', '.join(STRATEGIES)}) or a list of joint names, not {cuts!r}")
    names = list(cuts)
    for name in names:
        if not isinstance(name, str):
            raise GraphError(f"cuts must list joint names (str), not {name!r}")
    return named(linkage, names)


def _may_keep(linkage: Linkage) -> list[Joint]:
    return [joint for joint in linkage.joints if not joint.must_cut]


def _loop_error(linkage: Linkage, tree: SpanningTree, closing: Joint) -> GraphError:
    """Name the loop that `closing` makes with the tree: the joints above its two bodies that are not above both."""
    loop = {closing.name}
    for body in (closing.parent, closing.child):
        via = tree.get(body)
        while via is not None and via.joint is not None:
            loop ^= {via.joint}
            via = tree.get(via.parent)
    names = [joint.name for joint in linkage.joints if joint.name in loop]
    shown = ", ".join(map(repr, names[:40])) + (f", ... ({len(names)} in all)" if len(names) > 40 else "")
    return GraphError(f"a loop remains uncut: {shown}. Name at least one of these joints in cuts", names)
