"""Prepared calls: the sweeps on plain arrays with everything else already in place."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from multiarm.errors import DescriptionError, UnknownNameError
from multiarm.loop_tables import LoopTables, loop_tables, require_imposable
from multiarm.model import Model
from multiarm.sweeps import layout as at
from multiarm.sweeps import loop_layout as lo
from multiarm.sweeps.compliance import operational_compliance
from multiarm.sweeps.composite import mass_matrix
from multiarm.sweeps.forward import fd4
from multiarm.sweeps.inverse import hybrid, newton_euler
from multiarm.sweeps.kinematics import jacobian, locate
from multiarm.sweeps.rccfd import rccfd1, rccfd2, rccfd3
from multiarm.sweeps.structured import structured
from multiarm.workspace import Workspace, frame_rows, raise_for_status

__all__ = ["Compiled", "compiled"]

Call = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray], np.ndarray]
CLOSED = {"structured": structured, "rccfd1": rccfd1, "rccfd2": rccfd2, "rccfd3": rccfd3}


class Compiled:
    """Functions of one model on plain contiguous float64 arrays, for use in a loop; no call allocates.

    Every function writes its last array argument and returns it. Inputs are not validated beyond their types and
    lengths: quaternions must be unit. One instance belongs to one thread at a time, for it owns a workspace.

    Inside a user's own ``@numba.njit`` code call the kernels of ``multiarm.kernels`` with `tree` and `link` as their
    first two arguments; they return 0, or a status that `check` explains.

    Attributes
    ----------
    forward_dynamics : callable
        (q, v, tau, out): accelerations with the loops closed, by the structured solver; `multipliers` and `force` tell
        what the constraints gave. The state is taken to be on the constraints, and they to be consistent: slip, gaps
        and contradictions are for `multiarm.forward_dynamics` to find. The same as `tree_forward_dynamics` for
        a model without constraints.
    tree_forward_dynamics : callable
        (q, v, tau, out): accelerations with the loops open, by FD4.
    inverse_dynamics : callable
        (q, v, a, out): generalised forces by Newton-Euler.
    hybrid_dynamics : callable
        (q, v, prescribed, a, tau): completes `a` where the bool array `prescribed` is False and `tau` where it is True.
    mass_matrix : callable
        (q, out): nv x nv, by composite bodies.
    jacobian : callable
        (q, frame, out): 6 x nv; `frame` from `frame`.
    operational_compliance : callable
        (q, frames, out): Lambda, 6m x 6m; `frames` from `frames`.
    external : array
        Wrenches [torque; force] on the links at their origins, world axes, one row per link, kept until overwritten;
        `link_of` tells a body's row. Zero at first.
    tree, link : array
        The tables of ``multiarm.sweeps.layout``.
    loops : LoopTables
        Those of ``multiarm.sweeps.loop_layout``: `loops.loop`, `loops.cut`, `loops.room`.
    """

    forward_dynamics: Call
    tree_forward_dynamics: Call
    inverse_dynamics: Call
    loops: LoopTables

    def __init__(self, model: Model) -> None:
        workspace = Workspace(model)
        tree, link = workspace.tree, workspace.link
        self.model, self.tree, self.link = model, tree, link
        self._rest = np.zeros(model.nv)

        # closures, because an attribute look-up per array is dear at this scale
        def tree_forward_dynamics(q: np.ndarray, v: np.ndarray, tau: np.ndarray, out: np.ndarray) -> np.ndarray:
            status = fd4(tree, link, q, v, tau, out)
            if status:
                raise_for_status(model, link, status)
            return out

        def inverse_dynamics(q: np.ndarray, v: np.ndarray, a: np.ndarray, out: np.ndarray) -> np.ndarray:
            status = newton_euler(tree, link, q, v, a, out)
            if status:
                raise_for_status(model, link, status)
            return out

        self.tree_forward_dynamics, self.inverse_dynamics = tree_forward_dynamics, inverse_dynamics
        self.loops = loop_tables(model).copy()
        try:
            self.forward_dynamics = self.forward_dynamics_by("structured")
        except DescriptionError as refusal:  # the tree can still be computed with
            self.forward_dynamics = _refuse(refusal)

    def forward_dynamics_by(self, solver: str) -> Call:
        """`forward_dynamics` by "structured", "rccfd1", "rccfd2" or "rccfd3"; all share `multipliers` and `force`."""
        if solver not in CLOSED:
            raise UnknownNameError("compiled solver", solver, CLOSED)
        if not self.loops.names:
            return self.tree_forward_dynamics
        require_imposable(self.model)
        model, tree, link, kernel = self.model, self.tree, self.link, CLOSED[solver]
        loop, cut, room = self.loops.loop, self.loops.cut, self.loops.room

        def forward_dynamics(q: np.ndarray, v: np.ndarray, tau: np.ndarray, out: np.ndarray) -> np.ndarray:
            status = kernel(tree, link, loop, cut, room, q, v, tau, out)
            if status:
                raise_for_status(model, link, status)
            return out

        return forward_dynamics

    @property
    def multipliers(self) -> np.ndarray:
        """lambda of every constraint row after `forward_dynamics`, cuts in the order of the model, then couplings."""
        return self.loops.per_row(lo.LAMBDA)

    @property
    def rank(self) -> int:
        """Number of independent constraint rows at the last `forward_dynamics`."""
        return int(self.loops.loop[0, lo.RANK])

    def force(self, name: str) -> np.ndarray:
        """[torque; force] of a cut on its child at the child-side frame, world axes, after `forward_dynamics`."""
        cuts = list(self.model.cuts)
        if name not in cuts:
            raise UnknownNameError("cut joint or grasp", name, cuts)
        return self.loops.normals(name).T @ self.multipliers[self.loops.rows[self.loops.names.index(name)]]

    @property
    def external(self) -> np.ndarray:
        """Wrenches on the links; write into it."""
        return self.link[:, at.EXTERNAL : at.EXTERNAL + 6]

    def check(self, status: int) -> None:
        """Raise what a kernel's status stands for; nothing for 0."""
        if status:
            raise_for_status(self.model, self.link, status)

    def link_of(self, name: str) -> int:
        """Row of the link that carries a body or frame."""
        return self.model.placement(name).link

    def frame(self, name: str) -> np.ndarray:
        """A body or frame as the kernels take it: [link, x, y, z]."""
        return frame_rows(self.model, [name])[0]

    def frames(self, *names: str) -> np.ndarray:
        """Several bodies or frames as the kernels take them, one row each."""
        return frame_rows(self.model, list(names))

    def hybrid_dynamics(
        self, q: np.ndarray, v: np.ndarray, prescribed: np.ndarray, a: np.ndarray, tau: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Complete `a` where `prescribed` is False and `tau` where it is True; returns both."""
        self.check(hybrid(self.tree, self.link, q, v, prescribed, a, tau))
        return a, tau

    def mass_matrix(self, q: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Mass matrix by composite bodies."""
        self.check(mass_matrix(self.tree, self.link, q, self._rest, out))
        return out

    def jacobian(self, q: np.ndarray, frame: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Jacobian of a frame, world axes at its origin."""
        self.check(locate(self.tree, self.link, q, self._rest))
        self.check(jacobian(self.tree, self.link, frame, out))
        return out

    def operational_compliance(self, q: np.ndarray, frames: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Lambda = J M^-1 J* at the frames with cross terms."""
        self.check(operational_compliance(self.tree, self.link, q, self._rest, frames, out))
        return out


def _refuse(refusal: DescriptionError) -> Call:
    """A call that says why the loops cannot be closed."""

    def forward_dynamics(q: np.ndarray, v: np.ndarray, tau: np.ndarray, out: np.ndarray) -> np.ndarray:
        raise refusal

    return forward_dynamics


def compiled(model: Model) -> Compiled:
    """Prepared calls for `model`, with a workspace of their own.

    Examples
    --------
    >>> import numpy as np, multiarm as ma
    >>> m = ma.Mechanism()
    >>> m.add_arm("arm", ma.robots.chain(3))
    >>> model = m.compile(gravity=(0, 0, 0))
    >>> calls = ma.compiled(model)
    >>> q, v, tau, a = np.zeros((4, 3))
    >>> calls.forward_dynamics(q, v, tau, a)
    array([0., 0., 0.])
    """
    return Compiled(model)
