"""From the rows of numbers that the kernels write to the channels of a trajectory."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from contacts import grasp_kind
from multiarm.load import NEGLIGIBLE
from multiarm.model import Model
from multiarm.sweeps import observing as ob

__all__ = ["Grip", "block_of", "split_samples"]

AXES = "xyz"


class Grip:
    """The grasps of a run, in the order of its recording, and how their load is split."""

    def __init__(self, model: Model) -> None:
        self.names = tuple(model.grasps)
        self.bodies = tuple(model.grasps[name].body for name in self.names)
        self.objects = tuple(dict.fromkeys(self.bodies))
        self.com = {body: np.asarray(model.bodies[body].com, float) for body in self.objects}
        self.spans = {name: _able(model.grasps[name].kind) for name in self.names}


def _able(kind: str) -> np.ndarray:
    """Wrenches that a grasp can give, in the axes of its contact frame: 6 x rows."""
    free = [AXES.index(axis) for axis in grasp_kind(kind).free_rotations]
    return np.delete(np.eye(6), free, axis=1)


def block_of(
    model: Model, grip: Grip, cuts: Sequence[str], rows: np.ndarray, steps: np.ndarray
) -> dict[str, np.ndarray]:
    """Channels of samples, one row each; `model` is the variant they were taken with, `cuts` its cut table's names."""
    nq, nv, count = model.nq, model.nv, len(rows)
    first = ob.NUMBERS
    parts = np.split(rows[:, first : first + nq + 3 * nv], np.cumsum([nq, nv, nv]), axis=1)
    q, v, a, tau = parts
    block = {
        "time": rows[:, ob.TIME], "step": steps, "q": q, "v": v, "a": a, "tau": tau, "power": tau * v,
        "kinetic_energy": rows[:, ob.KINETIC], "potential_energy": rows[:, ob.POTENTIAL],
        "closure_error": rows[:, ob.CLOSURE], "work": rows[:, ob.DRIVEN] + rows[:, ob.PUSHED],
        "dissipated": rows[:, ob.LOST],
    }  # fmt: skip
    grasps = len(grip.names)
    blank = {"wrench": (grasps, 6), "internal": (grasps, 6), "grasp_point": (grasps, 3), "share": (grasps,)}
    block |= {name: np.full((count, *shape), np.nan) for name, shape in (blank | {"slip_margin": (grasps,)}).items()}
    start = first + nq + 3 * nv
    turned = np.full((count, grasps, 3, 3), np.nan)
    for c, name in enumerate(cuts):
        if name not in grip.names:
            continue
        i = grip.names.index(name)
        numbers = rows[:, start + ob.PER_CUT * c : start + ob.PER_CUT * (c + 1)]
        block["wrench"][:, i], block["grasp_point"][:, i] = numbers[:, :6], numbers[:, 6:9]
        block["slip_margin"][:, i] = numbers[:, 9]
        turned[:, i] = numbers[:, 10:].reshape(-1, 3, 3)
    split_samples(model, grip, [name for name in cuts if name in grip.names], block, turned)
    return block


def split_samples(
    model: Model, grip: Grip, held: Sequence[str], block: dict[str, np.ndarray], turned: np.ndarray
) -> None:
    """Internal wrenches and shares of every object that is held, by the pseudo-inverse about its centre of mass.

    The same as `load.split_load` for every sample, all at once.
    """
    for body in grip.objects:
        on = [grip.names.index(name) for name in held if model.grasps[name].body == body]
        if not on:
            continue
        count, m = len(turned), len(on)
        place = model.grasps[grip.names[on[0]]].at
        assert place is not None  # a grasp that holds has its place
        axes = turned[:, on[0]] @ place.rotation.as_matrix().T  # of the body
        centre = block["grasp_point"][:, on[0]] + np.einsum("sij,j->si", axes, grip.com[body] - place.translation)
        sums = np.zeros((count, 6, 6 * m))
        able = np.zeros((count, 6 * m, sum(grip.spans[grip.names[i]].shape[1] for i in on)))
        column = 0
        for n, i in enumerate(on):
            x, y, z = (block["grasp_point"][:, i] - centre).T
            here = slice(6 * n, 6 * n + 6)
            sums[:, :, here] = np.eye(6)
            sums[:, 0, 6 * n + 4], sums[:, 0, 6 * n + 5] = -z, y
            sums[:, 1, 6 * n + 3], sums[:, 1, 6 * n + 5] = z, -x
            sums[:, 2, 6 * n + 3], sums[:, 2, 6 * n + 4] = -y, x
            span = grip.spans[grip.names[i]]
            both = np.zeros((count, 6, 6))
            both[:, :3, :3] = both[:, 3:, 3:] = turned[:, i]
            able[:, here, column : column + span.shape[1]] = both @ span
            column += span.shape[1]
        h = block["wrench"][:, on].reshape(count, 6 * m, 1)
        net = sums @ h
        external = able @ (np.linalg.pinv(sums @ able, rcond=1e-10) @ net)
        block["internal"][:, on] = (h - external).reshape(count, m, 6)
        force = net[:, 3:, 0]
        square = np.sum(force * force, axis=1)
        pushes = block["wrench"][:, on, 3:]
        largest = np.linalg.norm(pushes, axis=2).max(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.einsum("sgi,si->sg", pushes, force) / square[:, None]
        share[~(square > (NEGLIGIBLE * largest) ** 2)] = np.nan
        block["share"][:, on] = share
