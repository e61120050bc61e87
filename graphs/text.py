"""A tree in plain characters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from graphs.errors import GraphError

__all__ = ["draw_tree"]


def draw_tree(
    root: str,
    children: Mapping[str, Sequence[str]] | Callable[[str], Sequence[str]],
    label: Callable[[str], str] = str,
    limit: int | None = None,
) -> str:
    """Draw a tree with box-drawing characters, one line per node.

    Branches are indented. An only child stands straight below its parent, so that a long chain stays a column; the
    children of the root are always drawn as branches.

    Parameters
    ----------
    root : str
        The node at the top.
    children : mapping or callable
        The children of a node, in order. A node that is not in the mapping has none.
    label : callable, optional
        The text of a node; its name by default.
    limit : int, optional
        Draw this many nodes at most and say how many are left out.

    Examples
    --------
    >>> print(draw_tree("world", {"world": ["arm", "bar"], "arm": ["hand"], "hand": ["thumb", "finger"]}))
    world
    ├─ arm
    │  hand
    │  ├─ thumb
    │  └─ finger
    └─ bar
    """
    below = children if callable(children) else lambda node: children.get(node, ())
    lines: list[str] = []
    seen: set[str] = set()
    stack = [(root, "", "")]  # a node, what stands before it, what stands before its children
    while stack:
        node, before, indent = stack.pop()
        if node in seen:
            raise GraphError(f"{node!r} is reached twice: not a tree", [node])
        seen.add(node)
        if limit is None or len(lines) < limit:
            lines.append(before + label(node))
        offspring = below(node)
        if len(offspring) == 1 and node != root:
            stack.append((offspring[0], indent, indent))
            continue
        for k in range(len(offspring) - 1, -1, -1):
            last = k == len(offspring) - 1
            if limit is not None and len(lines) >= limit:  # only counted, so spare the long prefixes
                stack.append((offspring[k], "", ""))
            else:
                stack.append((offspring[k], indent + ("└─ " if last else "├─ "), indent + ("   " if last else "│  ")))
    if len(seen) > len(lines):
        lines.append(f"... and {len(seen) - len(lines)} more")
    return "\n".join(lines)
