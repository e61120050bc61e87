"""A topology as a figure: the tree in layers, the cuts across it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphs.topology import Topology

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_topology", "layout"]

# Okabe and Ito's colours, told apart with any kind of colour vision
STYLES = {"joint": ("-", "#0072B2"), "free joint": (":", "#009E73"), "cut joint": ("--", "#D55E00")}
LETTER = 0.085  # inches, the width of a letter of a name
LABELS_UP_TO = 80  # bodies and joints; more names than this overlap


def layout(topology: Topology) -> dict[str, tuple[float, float]]:
    """Where to draw each body: x in columns, y downwards in layers of the tree, the root at 0.

    A leaf has a column of its own and a parent stands above the middle of its children. A floating body stands below
    and between the bodies that its cuts connect it with, as an object between the arms that hold it. So does a body
    alone in the lowest layer, as the platform of a parallel robot.

    Examples
    --------
    >>> import networkx as nx, graphs
    >>> bars = [("world", "crank", "a"), ("crank", "rod", "b"), ("rod", "rocker", "c"), ("world", "rocker", "d")]
    >>> layout(graphs.analyse(nx.MultiDiGraph(bars)))["rod"]
    (0.5, -2.0)
    """
    neighbours: dict[str, list[str]] = {}
    for cut in topology.cuts:
        joint = topology.joints[cut]
        neighbours.setdefault(joint.parent, []).append(joint.child)
        neighbours.setdefault(joint.child, []).append(joint.parent)
    top = _top_bodies(topology)
    members: dict[str, list[str]] = {}
    for body, above in top.items():
        members.setdefault(above, []).append(body)

    level = {topology.root: 0}
    for body, via in topology.parent.items():
        level[body] = level[via.parent] + 1
    order = {body: float(k) for k, body in enumerate(topology.children(topology.root))}
    hanging = set(topology.floating)
    for body in topology.floating:
        outer = [(own, far) for own in members[body] for far in neighbours.get(own, ()) if top.get(far) != body]
        placed = [(own, far) for own, far in outer if top.get(far) not in hanging]
        columns = [order[top[far]] for _, far in placed if far in top]
        if columns:
            order[body] = float(np.mean(columns))
        drop = max((level[far] + 1 - level[own] for own, far in placed), default=0)
        for own in members[body]:
            level[own] += max(drop, 0)
        hanging.discard(body)

    column = _columns(topology, order)
    bottom = max(level.values())
    lowest = [body for body in topology.bodies if level[body] == bottom]
    if len(lowest) == 1 and lowest[0] in neighbours and not topology.parent[lowest[0]].free:
        beside = [topology.parent[lowest[0]].parent, *neighbours[lowest[0]]]
        column[lowest[0]] = float(np.mean([column[body] for body in beside]))
    return {body: (column[body], -float(level[body])) for body in topology.bodies}


def draw_topology(topology: Topology, ax: Axes | None = None) -> Axes:
    """Draw the tree with solid lines, cuts dashed and free joints dotted, each with its name.

    Names are left out where there are too many to read.

    Parameters
    ----------
    topology : Topology
        What to draw.
    ax : matplotlib.axes.Axes, optional
        Where; a new figure of fitting size by default.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import matplotlib; matplotlib.use("agg")
    >>> import networkx as nx, graphs
    >>> ax = draw_topology(graphs.analyse(nx.MultiDiGraph([("world", "door", "hinge")])))
    >>> [text.get_text() for text in ax.texts]
    ['hinge', 'world', 'door']
    """
    import matplotlib.pyplot as plt

    place = layout(topology)
    x, y = np.array(list(place.values())).T
    if ax is None:
        longest = max(len(name) for name in (*topology.bodies, *topology.joints))
        column = np.clip(LETTER * longest, 1.5, 3.0)
        size = (np.clip(column * (np.ptp(x) + 1) + 0.5, 4.5, 24.0), np.clip(0.75 * np.ptp(y) + 1.5, 2.5, 24.0))
        figure, ax = plt.subplots(figsize=size)
        figure.subplots_adjust(0.01, 0.01, 0.99, 0.99)
    named = len(topology.bodies) + len(topology.cuts) <= LABELS_UP_TO
    lines = _lines(topology)
    crowd = Counter(body for line in lines for body in line.ends)
    parallel = Counter(frozenset(line.ends) for line in lines)
    drawn: Counter[frozenset[str]] = Counter()
    curves: dict[str, list[NDArray[np.float64]]] = {kind: [] for kind in STYLES}
    for line in lines:
        pair = frozenset(line.ends)
        curve = _curve(np.array(place[line.ends[0]]), np.array(place[line.ends[1]]), drawn[pair])
        curves[line.kind].append(curve)
        if named and line.name:
            # names spread where the lines do, away from the crowded end; those of parallel lines avoid each other
            along = 0.5 + 0.1 * np.sign(crowd[line.ends[0]] - crowd[line.ends[1]])
            if parallel[pair] > 1:
                along = (0.3, 0.7, 0.5)[drawn[pair] % 3]
            point = curve[round(along * (len(curve) - 1))]
            box = {"boxstyle": "square,pad=0.1", "facecolor": "white", "edgecolor": "none"}
            _, ink = STYLES[line.kind]
            ax.text(point[0], point[1], line.name, ha="center", va="center", fontsize=8, color=ink, bbox=box, zorder=3)
        drawn[pair] += 1
    for kind, parts in curves.items():
        if parts:
            gaps = np.concatenate([np.vstack((part, [np.nan, np.nan])) for part in parts])
            style, colour = STYLES[kind]
            ax.plot(*gaps.T, linestyle=style, color=colour, linewidth=1.6, label=kind, zorder=2)
    for body, point in place.items():
        if named:
            edge = "black" if body == topology.root else "0.6"
            box = {"boxstyle": "round,pad=0.3", "facecolor": "white", "edgecolor": edge}
            ax.text(point[0], point[1], body, ha="center", va="center", fontsize=9, bbox=box, zorder=4)
    if not named:
        ax.plot(x, y, "o", color="black", markersize=2, zorder=4)
    if lines:
        ax.legend(loc="lower center", ncols=3, fontsize=8, frameon=False)
    ax.set(xlim=(x.min() - 0.6, x.max() + 0.6), ylim=(y.min() - 1.0, y.max() + 0.5))
    ax.set_axis_off()
    return ax


class _Line(NamedTuple):
    name: str
    ends: tuple[str, str]
    kind: str


def _lines(topology: Topology) -> list[_Line]:
    tree = [
        _Line(via.joint or "", (via.parent, body), "free joint" if via.free else "joint")
        for body, via in topology.parent.items()
    ]
    cuts = [topology.joints[cut] for cut in topology.cuts]
    return tree + [_Line(joint.name, (joint.parent, joint.child), "cut joint") for joint in cuts]


def _curve(start: NDArray[np.float64], end: NDArray[np.float64], before: int) -> NDArray[np.float64]:
    """Points from start to end, bent sideways if other lines between the same bodies were drawn before."""
    bend = 0.3 * ((before + 1) // 2) * (1 if before % 2 else -1)
    middle = (start + end) / 2 + bend * np.array([start[1] - end[1], end[0] - start[0]])
    t = np.linspace(0.0, 1.0, 21)[:, None]
    points: NDArray[np.float64] = (1 - t) ** 2 * start + 2 * t * (1 - t) * middle + t**2 * end
    return points


def _top_bodies(topology: Topology) -> dict[str, str]:
    """For each body but the root, the child of the root that it descends from."""
    top: dict[str, str] = {}
    for body, via in topology.parent.items():
        top[body] = body if via.parent == topology.root else top[via.parent]
    return top


def _columns(topology: Topology, order: dict[str, float]) -> dict[str, float]:
    """Leaves side by side, children of the root in the given order; parents above the middle of their children."""
    preorder: list[str] = []
    stack = [topology.root]
    while stack:
        body = stack.pop()
        preorder.append(body)
        below = topology.children(body)
        stack.extend(reversed(sorted(below, key=order.__getitem__) if body == topology.root else below))
    column: dict[str, float] = {}
    for k, body in enumerate([body for body in preorder if not topology.children(body)]):
        column[body] = float(k)
    for body in reversed(preorder):
        below = topology.children(body)
        if below:
            xs = [column[child] for child in below]
            column[body] = (min(xs) + max(xs)) / 2
    return column
