"""The spatial operator algebra as SciPy linear operators that apply in O(N) and compose with @, + and .H.

Link-side vectors stack six entries per axis from the tips to the base, as the sources number links; the joint side is
in model order. For a tree, the successor of a link is its parent: S moves a link's entry to its parent's place, and
phi = (I - S Delta_phi)^-1. The last axis of a joint carries the body; the inner axes of joints with several degrees of
freedom are links without mass at the same point.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse.linalg import LinearOperator

from multiarm.model import Model
from multiarm.state import State
from multiarm.sweeps import layout as at
from multiarm.sweeps.articulated import articulate
from multiarm.sweeps.operators import gather, scatter
from multiarm.workspace import Workspace, frame_rows, symmetric3

__all__ = ["Operators", "dense", "operators"]

Apply = Callable[[np.ndarray], np.ndarray]


def _operator(shape: tuple[int, int], apply: Apply, adjoint: Apply) -> LinearOperator:
    """A real operator from what it does to a matrix of columns, and what its adjoint does."""
    return LinearOperator(
        dtype=np.float64,
        shape=shape,
        matvec=lambda x: apply(np.asarray(x, float).reshape(-1, 1)).ravel(),
        rmatvec=lambda x: adjoint(np.asarray(x, float).reshape(-1, 1)).ravel(),
        matmat=apply,
        rmatmat=adjoint,
    )


def dense(operator: LinearOperator) -> np.ndarray:
    """The matrix of an operator, or of any composition of operators."""
    return np.asarray(operator @ np.eye(operator.shape[1]))


class Operators:
    """phi, psi, Phi, Psi, H, M, P, D, G, L, S, R and friends at one configuration, named as in JPL 88-11-I.

    Attributes
    ----------
    phi, psi : causal; phi (3.4) of rigid links, psi (5.1) of links whose joints yield.
    Phi, Psi : strictly causal, phi S and psi S (4.9)-(4.10).
    phi_tilde, psi_tilde : phi - I, psi - I.
    H, S, Delta_phi, Delta_psi : projection on the joints, shift to the parent, link-to-parent transitions.
    M, P, D, G, L, R : spatial inertia, articulated inertia, H P H* + R, P H* D^-1, Delta_phi G, armature.
    D_inverse, link_identity, joint_identity.
    B : a method, B("left/tip", ...): from forces at frames to forces on links; J = B* phi* H*.
    mass, mass_inverse : the two factorisations of the mass matrix, composed from the above.
    """

    def __init__(self, model: Model, q: ArrayLike | State) -> None:
        workspace = Workspace(model)
        workspace.locate(model.configuration(q), np.zeros(model.nv))
        workspace.check(
            articulate(workspace.tree, workspace.link, np.array(model.configuration(q)), np.zeros(model.nv))
        )
        self.model = model
        self._workspace = workspace
        tips_first = slice(None, 0, -1)
        link, tree = workspace.link, workspace.tree
        self._n = model.nv
        self._joint = tree[tips_first, at.V]  # joint-side place of every link
        self._axis = link[tips_first, at.AXIS : at.AXIS + 6].copy()
        self._u = link[tips_first, at.U : at.U + 6].copy()
        self._d = link[tips_first, at.D].copy()
        self._l = link[tips_first, at.OFFSET : at.OFFSET + 3].copy()
        parent = tree[tips_first, at.PARENT]
        self._parent = np.where(parent > 0, self._n - parent, -1)  # place of every link's parent, -1 for the world
        self._armature = link[tips_first, at.ARMATURE].copy()

    # ------------------------------------------------------------------ causal

    def _sweep(self, articulated: bool) -> LinearOperator:
        tree, link = self._workspace.tree, self._workspace.link

        def apply(x: np.ndarray) -> np.ndarray:
            y = np.array(x, float, order="C")
            gather(tree, link, articulated, y)
            return y

        def adjoint(x: np.ndarray) -> np.ndarray:
            y = np.array(x, float, order="C")
            scatter(tree, link, articulated, y)
            return y

        return _operator((6 * self._n, 6 * self._n), apply, adjoint)

    @cached_property
    def phi(self) -> LinearOperator:
        """Force propagation through rigid links (3.4); phi* propagates motion."""
        return self._sweep(False)

    @cached_property
    def psi(self) -> LinearOperator:
        """Force propagation through links whose joints yield (5.1)."""
        return self._sweep(True)

    @cached_property
    def S(self) -> LinearOperator:
        """Shift of every link's entry to its parent's place (5.2)."""
        inside = np.flatnonzero(self._parent >= 0)

        def apply(x: np.ndarray) -> np.ndarray:
            blocks, y = x.reshape(self._n, 6, x.shape[1]), np.zeros((self._n, 6, x.shape[1]))
            np.add.at(y, self._parent[inside], blocks[inside])
            return y.reshape(x.shape)

        def adjoint(x: np.ndarray) -> np.ndarray:
            blocks, y = x.reshape(self._n, 6, x.shape[1]), np.zeros((self._n, 6, x.shape[1]))
            y[inside] = blocks[self._parent[inside]]
            return y.reshape(x.shape)

        return _operator((6 * self._n, 6 * self._n), apply, adjoint)

    @cached_property
    def Phi(self) -> LinearOperator:
        """phi S, strictly causal (4.9)."""
        return self.phi @ self.S

    @cached_property
    def Psi(self) -> LinearOperator:
        """psi S, strictly causal (4.10)."""
        return self.psi @ self.S

    @cached_property
    def phi_tilde(self) -> LinearOperator:
        """phi - I (a.3)."""
        return self.phi - self.link_identity

    @cached_property
    def psi_tilde(self) -> LinearOperator:
        """psi - I (5.11)."""
        return self.psi - self.link_identity

    # ------------------------------------------------------------------ memoryless

    def _blocks(self, blocks: np.ndarray) -> LinearOperator:
        """Block-diagonal operator on the link side from n 6x6 blocks."""
        turned = blocks.transpose(0, 2, 1)

        def by(factors: np.ndarray) -> Apply:
            return lambda x: (factors @ x.reshape(self._n, 6, x.shape[1])).reshape(x.shape)

        return _operator((6 * self._n, 6 * self._n), by(blocks), by(turned))

    def _columns(self, columns: np.ndarray) -> LinearOperator:
        """Operator from the joint side to the link side: one spatial vector per joint."""

        def apply(x: np.ndarray) -> np.ndarray:
            return (columns[:, :, None] * x[self._joint, None, :]).reshape(6 * self._n, x.shape[1])

        def adjoint(x: np.ndarray) -> np.ndarray:
            y = np.empty((self._n, x.shape[1]))
            y[self._joint] = np.einsum("ki,kij->kj", columns, x.reshape(self._n, 6, x.shape[1]))
            return y

        return _operator((6 * self._n, self._n), apply, adjoint)

    def _diagonal(self, values: np.ndarray) -> LinearOperator:
        """Diagonal operator on the joint side from values in link order."""
        ordered = np.empty(self._n)
        ordered[self._joint] = values

        def scale(x: np.ndarray) -> np.ndarray:
            return np.asarray(ordered[:, None] * x)

        return _operator((self._n, self._n), scale, scale)

    @cached_property
    def H(self) -> LinearOperator:
        """Projection of link forces on the joints (3.5); H* turns joint rates into relative motions."""
        return self._columns(self._axis).H

    @cached_property
    def M(self) -> LinearOperator:
        """Spatial inertias of the links (3.6)."""
        return self._blocks(self.link_inertias)

    @cached_property
    def P(self) -> LinearOperator:
        """Articulated-body inertias (4.5)."""
        return self._blocks(self.articulated_inertias)

    @cached_property
    def D(self) -> LinearOperator:
        """H P H* + R (4.6)."""
        return self._diagonal(self._d)

    @cached_property
    def D_inverse(self) -> LinearOperator:
        """D^-1."""
        return self._diagonal(1.0 / self._d)

    @cached_property
    def R(self) -> LinearOperator:
        """Armature of the joints."""
        return self._diagonal(self._armature)

    @cached_property
    def G(self) -> LinearOperator:
        """Kalman gain P H* D^-1 (5.12)."""
        return self._columns(self._u / self._d[:, None])

    @cached_property
    def L(self) -> LinearOperator:
        """Gain moved to the parent, Delta_phi G (4.4)."""
        return self.Delta_phi @ self.G

    @cached_property
    def Delta_phi(self) -> LinearOperator:
        """Transitions phi(p, k) from every link to its parent (a.4)."""
        blocks = np.tile(np.eye(6), (self._n, 1, 1))
        blocks[:, :3, 3:] = _skew(self._l)
        return self._blocks(blocks)

    @cached_property
    def Delta_psi(self) -> LinearOperator:
        """Transitions psi(p, k) = phi(p, k) - L(k) H(k) from every link to its parent (a.5)."""
        return self.Delta_phi - self.L @ self.H

    @cached_property
    def link_identity(self) -> LinearOperator:
        """Identity on the link side."""
        return self._blocks(np.tile(np.eye(6), (self._n, 1, 1)))

    @cached_property
    def joint_identity(self) -> LinearOperator:
        """Identity on the joint side."""
        return self._diagonal(np.ones(self._n))

    def B(self, *frames: str) -> LinearOperator:
        """Forces at frames to forces on their links (3.7); J = B* phi* H*."""
        rows = frame_rows(self.model, list(frames))
        offsets = [self._workspace.rotation(int(k)) @ point for k, *point in rows]
        blocks = [self._on_link(int(k), offset) for (k, *_), offset in zip(rows, offsets, strict=True)]
        matrix = np.hstack([np.zeros((6 * self._n, 0)), *blocks])
        return _operator(matrix.shape, lambda x: matrix @ x, lambda x: matrix.T @ x)

    def at_point(self, body: str, point: np.ndarray) -> np.ndarray:
        """Column blocks of B for the point of `body` that is at `point` in the world now, 6n x 6."""
        k = self.model.placement(body).link
        return self._on_link(k, point - self._workspace.origin(k))

    def _on_link(self, k: int, offset: np.ndarray) -> np.ndarray:
        """phi(link, point) in the place of link k, offset from its origin in world axes; nothing for the world."""
        matrix = np.zeros((6 * self._n, 6))
        if k > 0:
            start = 6 * (self._n - k)
            matrix[start : start + 6] = np.eye(6)
            matrix[start : start + 3, 3:] = _skew(offset[None])[0]
        return matrix

    # ------------------------------------------------------------------ compositions and their numbers

    @cached_property
    def mass(self) -> LinearOperator:
        """Mass matrix H phi M phi* H* + R (3.20)."""
        return self.H @ self.phi @ self.M @ self.phi.H @ self.H.H + self.R

    @cached_property
    def mass_inverse(self) -> LinearOperator:
        """(I - H Psi L)* D^-1 (I - H Psi L) (4.16)."""
        whiten = self.joint_identity - self.H @ self.Psi @ self.L
        return whiten.H @ self.D_inverse @ whiten

    @cached_property
    def articulated_inertias(self) -> np.ndarray:
        """P(k), n x 6 x 6, tips first."""
        return self._workspace.symmetric(at.ARTICULATED)[:0:-1]

    @cached_property
    def innovation_covariances(self) -> np.ndarray:
        """D(k) in model order."""
        ordered = np.empty(self._n)
        ordered[self._joint] = self._d
        return ordered

    @cached_property
    def link_inertias(self) -> np.ndarray:
        """M(k), n x 6 x 6, tips first (2.15)."""
        rows = self._workspace.link[:0:-1]
        rotation = rows[:, at.ROTATION : at.ROTATION + 9].reshape(-1, 3, 3)
        moment = _skew(np.einsum("kij,kj->ki", rotation, rows[:, at.MOMENT : at.MOMENT + 3]))
        blocks = np.zeros((self._n, 6, 6))
        inertia = symmetric3(rows[:, at.INERTIA : at.INERTIA + 6])
        blocks[:, :3, :3] = rotation @ inertia @ rotation.transpose(0, 2, 1)
        blocks[:, :3, 3:] = moment
        blocks[:, 3:, :3] = -moment
        blocks[:, 3:, 3:] = rows[:, at.MASS, None, None] * np.eye(3)
        return blocks


def operators(model: Model, q: ArrayLike | State) -> Operators:
    """The operators of the tree at configuration q; loops open."""
    return Operators(model, q)


def _skew(vectors: np.ndarray) -> np.ndarray:
    """N x 3 x 3 matrices of the cross products with the rows of `vectors`."""
    x, y, z = vectors.T
    zero = np.zeros_like(x)
    return np.stack([zero, -z, y, z, zero, -x, -y, x, zero], axis=-1).reshape(-1, 3, 3)
