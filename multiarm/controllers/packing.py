"""A controller as the two tables of `sweeps.control_layout`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import networkx as nx
import numpy as np

from multiarm.errors import BadInputError, DescriptionError
from multiarm.loop_tables import loop_tables, require_imposable
from multiarm.model import Model
from multiarm.paths import JointPath, Path
from multiarm.sweeps import control_layout as co
from multiarm.sweeps import layout as at
from multiarm.sweeps import loop_layout as lo

__all__ = ["Packing"]

SHAPES = {"spherical": co.BALL, "free": co.FREE}


class Packing:
    """Collects what a controller needs; `finish` gives the two tables."""

    def __init__(self, kind: int, model: Model, limits: np.ndarray) -> None:
        require_imposable(model)
        if not model.actuated.any():
            raise DescriptionError(f"{model.name!r} has no joint with an actuator: there is nothing to control with")
        self.model, self.loops = model, loop_tables(model)
        self.whole = [0] * co.HEADER
        self.numbers: list[np.ndarray] = []
        self.filled = 0
        self.hubs: set[int] = set()
        self.whole[co.KIND], self.whole[co.VELOCITIES], self.whole[co.COORDINATES] = kind, model.nv, model.nq
        self.whole[co.LIMITS] = self.put(limits)
        self._list(co.PASSIVE, [[j] for j in np.flatnonzero(~model.actuated).tolist()])
        self._list(
            co.JOINTS,
            [
                [SHAPES.get(place.joint.kind, co.PLAIN), place.q.start, place.v.start, place.v.stop - place.v.start]
                for place in model.joints.values()
                if place.actuated
            ],
        )

    def put(self, values: np.ndarray) -> int:
        """Where these numbers stand."""
        self.numbers.append(np.asarray(values, float).ravel())
        place, self.filled = self.filled, self.filled + self.numbers[-1].size
        return place

    def _list(self, name: int, records: Iterable[Iterable[int]]) -> None:
        """Append a list and tell its length and place."""
        rows = [[int(x) for x in record] for record in records]
        self.whole[name], self.whole[name + 1] = len(rows), len(self.whole)
        self.whole += [x for row in rows for x in row]

    def posture(
        self, reference: np.ndarray, stiffness: np.ndarray, damping: np.ndarray, followed: Mapping[str, JointPath]
    ) -> None:
        """Where the joints should be, and gains; entries without actuator have none."""
        self.whole[co.REFERENCE] = self.put(reference)
        self.whole[co.STIFFNESS] = self.put(np.where(self.model.actuated, stiffness, 0.0))
        self.whole[co.DAMPING] = self.put(np.where(self.model.actuated, damping, 0.0))
        records = []
        for name, path in followed.items():
            q, v = self.model.q_slice(name), self.model.v_slice(name)
            records.append([q.start, v.start, self.put(path.table), len(path.table)])
        self._list(co.FOLLOWED, records)

    def internal(self, wrenches: Mapping[str, np.ndarray]) -> None:
        """Internal wrenches by grasp, given in the axes of the object."""
        records = []
        for name, wrench in wrenches.items():
            turn = self.model.placement(self.model.cuts[name].child.body).pose.rotation
            records.append([self.loops.names.index(name), self.put(turn.apply(wrench.reshape(2, 3)))])
        self._list(co.INTERNALS, records)

    def tasks(self, paths: Mapping[str, Path], first: np.ndarray, second: np.ndarray) -> None:
        """Bodies that follow paths, with two 6 x 6 gains."""
        links, loop = [], self.loops.loop
        records = []
        for name, path in paths.items():
            place = self.model.placement(name)
            is_hub = loop[lo.FIRST_LINK + place.link, lo.ROLE] == lo.HUB_BODY
            velocity = self.model.tree[place.link, at.V] - 2 if is_hub else -1
            pose = [place.pose.rotation.as_matrix().ravel(), place.pose.translation]
            start = self.put(np.concatenate([*pose, first.ravel(), second.ravel(), path.table]))
            records.append([place.link, velocity, start])
            links.append(place.link)
            if is_hub:
                self.hubs.add(place.link)
        self._list(co.TASKS, records)
        groups, whole = self._groups()
        self.whole[co.GROUPS], self.whole[co.GROUPS + 1] = len(groups), len(self.whole)
        for velocities, cuts in groups:
            self.whole += [len(velocities), len(cuts), *velocities, *cuts]
        known = whole and len(self.hubs) == len(links)
        self.whole[co.DIRECT] = int(known and self.whole[co.KIND] == co.COMPUTED_TORQUE)

    def require_held(self, names: Iterable[str]) -> None:
        """Raise for bodies that no actuator can move."""
        driven = {self._root(int(k)) for k in range(1, len(self.model.tree)) if self._is_driven(int(k))}
        held = {root for ends in self._ends() for root in ends}
        for name in names:
            root = self._root(self.model.placement(name).link)
            if root == 0:
                raise BadInputError(f"{name!r} is fixed to the world and cannot follow a path")
            if root not in driven | held:
                raise DescriptionError(
                    f"{name!r} is not held: no grasp or joint connects it with an actuator, so nothing can move it",
                    [name],
                )

    def _is_driven(self, link: int) -> bool:
        return bool(self.model.actuated[self.model.tree[link, at.V]])

    def _root(self, link: int) -> int:
        """The first link of the branch of the tree that a link is on; 0 for the world."""
        while link > 0 and self.model.tree[link, at.PARENT] > 0:
            link = int(self.model.tree[link, at.PARENT])
        return link

    def _ends(self) -> list[tuple[int, int]]:
        """Roots of the two ends of every cut, as the rows of `cut` stand."""
        first = lo.FIRST_LINK + int(self.loops.loop[0, lo.LINKS])
        rows = self.loops.loop[first : first + len(self.loops.names)]
        return [(self._root(int(row[lo.PARENT])), self._root(int(row[lo.CHILD]))) for row in rows]

    def _groups(self) -> tuple[list[tuple[list[int], list[int]]], bool]:
        """Velocities and cuts that hang together once hubs with a task are known, and whether every cut is in one.

        Velocities hang together by M on one branch of the tree, and by the cuts between branches.
        """
        tree, loop = self.model.tree, self.loops.loop
        known = {int(tree[hub, at.V]) - 2 + i for hub in self.hubs for i in range(6)}
        free: dict[int, list[int]] = {}
        for k in range(1, len(tree)):
            if int(tree[k, at.V]) not in known:
                free.setdefault(self._root(k), []).append(int(tree[k, at.V]))
        together = nx.Graph()
        together.add_nodes_from(free)
        first = lo.FIRST_LINK + int(loop[0, lo.LINKS])
        reached: list[list[int]] = []
        for row in loop[first : first + len(self.loops.names)]:
            roots = [self._root(int(row[c])) for c in (lo.PARENT, lo.CHILD) if self._moves(int(row[c]), known)]
            reached.append(roots)
            nx.add_path(together, roots)
        groups = []
        for branches in nx.connected_components(together):
            cuts = [c for c, roots in enumerate(reached) if roots and roots[0] in branches]
            if cuts:
                groups.append((sorted(j for root in branches for j in free[root]), cuts))
        return groups, all(reached)

    def _moves(self, link: int, known: set[int]) -> bool:
        """Whether any velocity on the way from a link to the base is not known."""
        while link > 0:
            if int(self.model.tree[link, at.V]) not in known:
                return True
            link = int(self.model.tree[link, at.PARENT])
        return False

    def finish(self) -> tuple[np.ndarray, np.ndarray]:
        """`numbers` and `whole`."""
        nv, nq, rows = self.model.nv, self.model.nq, int(self.loops.loop[0, lo.ROWS])
        passive, six = self.whole[co.PASSIVE], 6 * self.whole[co.TASKS]
        height = passive + rows + six
        sizes = dict.fromkeys(
            (co.RAW, co.ACCELERATION, co.CHANGE, co.FORCE, co.REST, co.V_REFERENCE, co.SPARE, co.BEGIN), nv
        )  # fmt: skip
        sizes |= {co.Q_REFERENCE: nq, co.WANTED: six, co.PUSH: six, co.Y: max(nv, rows)}
        sizes |= {co.JACOBIAN: rows * nv, co.MISSING: rows, co.MULTIPLIERS: rows, co.MASS: nv * nv}
        sizes |= {co.SUPPORT: passive * rows, co.SUPPORT_RIGHT: 3 * passive, co.FALLING: passive * nv}
        sizes |= {co.CHOLESKY: nv * nv, co.DIRECTIONS: height * nv, co.DIRECTIONS_RIGHT: 3 * height}
        sizes |= {co.FIT: six * six, co.FIT_SPARE: 4 * six}
        place = 0
        for name, size in sizes.items():
            self.whole[name] = place
            place += size
        self.whole[co.DESK] = place
        return np.concatenate(self.numbers), np.array(self.whole, np.int64)
