"""From a model to the tables of `sweeps.loop_layout`: which cuts share an axis, which bodies are hubs, which order."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from weakref import WeakKeyDictionary

import networkx as nx
import numpy as np
from networkx.utils import reverse_cuthill_mckee_ordering
from scipy.spatial.transform import RigidTransform

from multiarm.cut_rows import cut_rows
from multiarm.errors import DescriptionError
from multiarm.model import CutJoint, Model, Placement, TreeJoint, grasp_as_joint
from multiarm.sweeps import layout as at
from multiarm.sweeps import loop_layout as lo

__all__ = ["LoopTables", "loop_tables", "require_imposable"]

# What the angular gap of each kind is measured by; the others have none.
GAPS = dict.fromkeys(("fixed", "prismatic"), lo.OPEN_TURN)
GAPS |= dict.fromkeys(("revolute", "continuous", "cylindrical", "planar"), lo.OPEN_AXIS)
GAPS |= {"screw": lo.OPEN_SCREW, "universal": lo.OPEN_UNIVERSAL}


@dataclass(frozen=True, eq=False)
class LoopTables:
    """The integers and floats that the closed-chain kernels start from.

    Attributes
    ----------
    loop, cut, room : array
        As `sweeps.loop_layout` describes them.
    names : tuple
        The cut or coupled joint in each row of `cut`.
    rows : tuple of slice
        Where the multipliers of each row of `cut` stand among all.
    """

    loop: np.ndarray
    cut: np.ndarray
    room: np.ndarray
    names: tuple[str, ...]
    rows: tuple[slice, ...]

    def copy(self) -> LoopTables:
        """Tables of one's own to work in."""
        return replace(self, loop=self.loop.copy(), cut=self.cut.copy(), room=self.room.copy())

    def per_row(self, column: int) -> np.ndarray:
        """A lane-wise quantity of `cut` in the order of the model's constraint rows."""
        values = np.empty(int(self.loop[0, lo.ROWS]))
        for numbers, rows in zip(self.cut, self.rows, strict=True):
            values[rows] = numbers[column : column + rows.stop - rows.start]
        return values

    def normals(self, name: str) -> np.ndarray:
        """N of a cut, rows x 6, after `settle_cuts`."""
        i = self.names.index(name)
        count = self.rows[i].stop - self.rows[i].start
        return self.cut[i, lo.NORMALS : lo.NORMALS + 6 * lo.LANES].reshape(6, lo.LANES)[:, :count].T.copy()

    def goal(self, name: str) -> np.ndarray:
        """What N (A_child - A_parent) of a cut must be, after `settle_cuts`."""
        i = self.names.index(name)
        return self.cut[i, lo.GOAL : lo.GOAL + self.rows[i].stop - self.rows[i].start].copy()


@dataclass(frozen=True, eq=False)
class _Cut:
    """A cut joint or a coupling with the axes on its way to the base, and the hubs it reaches (-1: none)."""

    name: str
    kind: int
    parent: int
    child: int
    rows: int
    first_row: int
    axes: frozenset[int]
    hubs: tuple[int, int]  # links, parent's side first
    joint: CutJoint | None = None
    ratio: float = 0.0
    shift: float = 0.0


class _Layout:
    """Everything about the loops of a model that does not change with its state."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.tree = model.tree
        self.hub_bodies = {place.links[-1]: place for place in model.joints.values() if _is_hub(model, place)}
        self.cuts = self._all_cuts()
        self.clusters = self._clusters()

    def _way(self, link: int) -> tuple[list[int], int]:
        """Axes from a link to the base, and the hub they end at (-1: the world)."""
        axes = []
        while link > 0 and link not in self.hub_bodies:
            axes.append(link)
            link = int(self.tree[link, at.PARENT])
        return axes, link if link > 0 else -1

    def _all_cuts(self) -> list[_Cut]:
        """Cut joints in the order of the model, then couplings, as their rows stand."""
        found: list[_Cut] = []
        first_row = 0
        for cut in self.model.cuts.values():
            parent, child = (self.model.placement(frame.body).link for frame in (cut.parent, cut.child))
            found.append(self._cut(cut.name, lo.JOINT, parent, child, cut.rows, first_row, cut))
            first_row += cut.rows
        for coupling in self.model.couplings:
            source, driven = (self.model.joints[name].links[0] for name in (coupling.source, coupling.joint))
            place = self._cut(coupling.joint, lo.COUPLING, source, driven, 1, first_row)
            found.append(replace(place, ratio=coupling.ratio, shift=coupling.offset))
            first_row += 1
        return found

    def _cut(
        self, name: str, kind: int, parent: int, child: int, rows: int, first_row: int,
        joint: CutJoint | None = None,
    ) -> _Cut:  # fmt: skip
        (near, near_hub), (far, far_hub) = self._way(parent), self._way(child)
        axes = frozenset(near) | frozenset(far)
        return _Cut(name, kind, parent, child, rows, first_row, axes, (near_hub, far_hub), joint)

    def _clusters(self) -> list[list[_Cut]]:
        """Cuts that share an axis with each other, in the order of their first rows."""
        touching = nx.Graph()
        touching.add_nodes_from(range(len(self.cuts)))
        users: dict[int, int] = {}
        for i, cut in enumerate(self.cuts):
            for axis in cut.axes:
                touching.add_edge(users.setdefault(axis, i), i)
        parts = sorted(sorted(part) for part in nx.connected_components(touching))
        return [[self.cuts[i] for i in part] for part in parts]

    @cached_property
    def hubs(self) -> list[int]:
        """Hub links in the order of elimination: a band as narrow as the graph of who is held with whom allows."""
        held = nx.Graph()
        held.add_nodes_from(sorted(self.hub_bodies))
        for cluster in self.clusters:
            reached = sorted({hub for cut in cluster for hub in cut.hubs if hub > 0})
            held.add_edges_from((a, b) for i, a in enumerate(reached) for b in reached[:i])
        self._held = held
        return list(reverse_cuthill_mckee_ordering(held))

    def envelope(self) -> list[int]:
        """For every hub the number of the first that it is coupled with."""
        number = {hub: i for i, hub in enumerate(self.hubs)}
        return [min([number[hub], *(number[other] for other in self._held[hub])]) for hub in self.hubs]


def _is_hub(model: Model, place: TreeJoint) -> bool:
    """Whether a joint lets its body float freely in the world: six axes told from the world's side, no rotor."""
    if place.joint.kind != "free" or place.sign < 0 or place.joint.armature > 0.0:
        return False
    return int(model.tree[place.links[0], at.PARENT]) == 0


_TABLES: WeakKeyDictionary[Model, LoopTables] = WeakKeyDictionary()


def loop_tables(model: Model) -> LoopTables:
    """Tables of all cuts and couplings of `model`, made once; `copy` them to compute."""
    if model not in _TABLES:
        _TABLES[model] = _make_tables(model)
    return _TABLES[model]


def require_imposable(model: Model) -> None:
    """Raise for cuts that no solver could close."""
    heavy = [cut.name for cut in model.cuts.values() if cut.joint is not None and cut.joint.armature > 0.0]
    if heavy:
        raise DescriptionError(
            f"joint {heavy[0]!r} has armature and is cut, where a rotor cannot be accounted for: cut another of its "
            f"loop (cuts=[...])",
            heavy,
        )
    if model.open_grasps:
        name = model.open_grasps[0]
        raise DescriptionError(
            f"grasp {name!r} has no at=, so nobody knows where on {model.grasps[name].body!r} it holds: assemble a "
            f"state and use its model (state.model), or give at=",
            model.open_grasps,
        )


def _make_tables(model: Model) -> LoopTables:
    plan = _Layout(model)
    links, cuts, clusters, hubs = len(model.tree), plan.cuts, plan.clusters, plan.hubs
    loop = np.zeros((lo.FIRST_LINK + links + len(cuts) + len(clusters) + len(hubs), lo.LOOP_COLUMNS), np.int64)
    rows = sum(cut.rows for cut in cuts)
    width = lo.LANES * max((len(cluster) for cluster in clusters), default=0)
    loop[0, [lo.LINKS, lo.CUTS, lo.CLUSTERS, lo.HUBS, lo.ROWS, lo.WIDTH]] = (
        links, len(cuts), len(clusters), len(hubs), rows, width,
    )  # fmt: skip
    n = 6 * len(hubs)
    sizes = {lo.HUB_FRAMES: 12 * len(hubs), lo.WHITE: links * width, lo.SYSTEM: n * n}
    sizes |= {lo.RIGHT: n, lo.SPARE: n, lo.WEAK: rows * (links + n + 2 * rows + 3)}
    room_size = 0
    for column, size in sizes.items():
        loop[0, column] = room_size
        room_size += size
    number = {hub: i for i, hub in enumerate(hubs)}
    _fill_links(loop, plan, number)
    cut_table = np.zeros((len(cuts), lo.CUT_COLUMNS))
    _fill_cuts(loop, cut_table, plan, number)
    first_hub = len(loop) - len(hubs)
    loop[first_hub:, lo.HUB_LINK], loop[first_hub:, lo.ENVELOPE] = hubs, plan.envelope()
    for record in loop[first_hub - len(clusters) : first_hub]:
        record[lo.PLACE] = room_size
        own = int(record[lo.CLUSTER_ROWS])
        room_size += own * (own + n + 2 + int(record[lo.AXES]))
    room = np.zeros(room_size)
    for i, hub in enumerate(hubs):
        joint = plan.hub_bodies[hub].joint
        room[12 * i : 12 * i + 12] = _numbers(model.placement(joint.parent).pose * joint.at)
    sorted_cuts = [cut for cluster in clusters for cut in cluster]
    names = tuple(cut.name for cut in sorted_cuts)
    return LoopTables(
        loop, cut_table, room, names, tuple(slice(c.first_row, c.first_row + c.rows) for c in sorted_cuts)
    )


def _fill_links(loop: np.ndarray, plan: _Layout, number: dict[int, int]) -> None:
    for hub, place in plan.hub_bodies.items():
        for k in place.links:
            loop[lo.FIRST_LINK + k, lo.ROLE] = lo.HUB_INNER
        loop[lo.FIRST_LINK + hub, [lo.ROLE, lo.HUB]] = lo.HUB_BODY, number[hub]


def _fill_cuts(loop: np.ndarray, table: np.ndarray, plan: _Layout, number: dict[int, int]) -> None:
    """Rows of cuts and clusters."""
    first_cut = lo.FIRST_LINK + int(loop[0, lo.LINKS])
    first_cluster = first_cut + len(plan.cuts)
    c = 0
    for g, cluster in enumerate(plan.clusters):
        axes = sorted({axis for cut in cluster for axis in cut.axes}, reverse=True)
        loop[first_cluster + g, : lo.METHOD] = (
            c, len(cluster), sum(cut.rows for cut in cluster), axes[0] if axes else 0, len(axes), 0,
        )  # fmt: skip
        for axis, following in zip(axes, [*axes, 0][1:], strict=True):
            loop[lo.FIRST_LINK + axis, lo.NEXT_AXIS] = following
        local_row = 0
        for slot, cut in enumerate(cluster):
            hubs = [number.get(hub, -1) for hub in cut.hubs]
            loop[first_cut + c, : lo.GAP] = (
                cut.kind, cut.parent, cut.child, cut.rows, cut.first_row, slot, hubs[0], hubs[1],
            )  # fmt: skip
            if cut.joint is not None:
                _fill_joint(loop[first_cut + c], table[c], plan.model, cut.joint)
            else:
                table[c, lo.RATIO], table[c, lo.SHIFT] = cut.ratio, cut.shift
            loop[first_cut + c, lo.LOCAL_ROW] = local_row
            local_row += cut.rows
            c += 1


def _fill_joint(record: np.ndarray, numbers: np.ndarray, model: Model, cut: CutJoint) -> None:
    """Frames of a cut joint in the links that carry them, and its rows."""
    joint = cut.joint or grasp_as_joint(cut)
    for column, frame in ((lo.PARENT_FRAME, cut.parent), (lo.CHILD_FRAME, cut.child)):
        place: Placement = model.placement(frame.body)
        numbers[column : column + 12] = _numbers(place.pose * frame.pose)
    record[lo.GAP] = GAPS.get(joint.kind, lo.OPEN_NOT)
    axis = np.array([0.0, 0.0, 1.0]) if joint.kind == "planar" else np.asarray(joint.axis, float)
    second = np.asarray(joint.axis2, float) if joint.kind == "universal" else axis
    numbers[lo.AXIS_ON_PARENT : lo.AXIS_ON_PARENT + 3] = axis
    numbers[lo.AXIS_ON_CHILD : lo.AXIS_ON_CHILD + 3] = second
    numbers[lo.WANTED] = axis @ second
    for i, row in enumerate(cut_rows(joint)):
        record[lo.ROW_AXES + i] = row.axes
        numbers[lo.LOCAL + 6 * i : lo.LOCAL + 6 * i + 6] = row.entries


def _numbers(pose: RigidTransform) -> np.ndarray:
    """Rotation, row by row, and origin."""
    return np.concatenate([pose.rotation.as_matrix().ravel(), pose.translation])
