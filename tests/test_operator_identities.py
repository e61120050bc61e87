"""The identities of the spatial operator algebra on random trees, to rounding.

Appendix A of JPL 88-11-I, (a.6)-(a.51), and those of SOA-Lecture, which writes K for S L. Where armature R enters, the
extended form is tested and the source's own at R = 0. What changes: the Riccati equation in Joseph's form,
P = E_psi P E_psi* + M + S L R L* S*, gains the last term, so (a.47) gains Psi L R L* Psi* on its left side, and
H psi M psi* H* = D becomes D - (I - H Psi L) R (I - H Psi L)*. Everything else holds as printed.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_allclose
from random_mechanisms import Case, cases, random_case, random_external

import multiarm as ma
from multiarm.sweeps import layout
from multiarm.workspace import located

some = settings(max_examples=60, deadline=None, derandomize=True)

NAMES = (
    "phi", "psi", "Phi", "Psi", "phi_tilde", "psi_tilde", "H", "M", "P", "D", "D_inverse", "G", "L", "S", "R",
    "Delta_phi", "Delta_psi", "link_identity", "joint_identity", "mass", "mass_inverse",
)  # fmt: skip


def matrices(case: Case) -> SimpleNamespace:
    """Every operator as a matrix under its own name, with I for the identity of the link side and J of the joints'."""
    o = ma.operators(case.model, case.state)
    m = SimpleNamespace(**{name: ma.dense(getattr(o, name)) for name in NAMES})
    m.I, m.J, m.K = m.link_identity, m.joint_identity, m.S @ m.L
    return m


def same(left: np.ndarray, right: np.ndarray) -> bool:
    """Equal to 1e-10 of the largest entry."""
    size = max(np.abs(left).max(initial=0.0), np.abs(right).max(initial=0.0))
    return bool(np.abs(left - right).max(initial=0.0) <= 1e-10 * size)


def small(case: Case) -> bool:
    """Whether products of its matrices are cheap (LAPACK's threads wake above 64 rows); large trees follow."""
    return 0 < case.model.nv <= 10


with_armature = cases(max_joints=5).filter(small)
without_armature = cases(max_joints=5, armature=False).filter(small)


# ---------------------------------------------------------------------- JPL 88-11-I, Appendix A

A_1_TO_A_4 = {
    "a.6": lambda m: (m.Phi, m.phi @ m.S),
    "a.7": lambda m: (m.Psi, m.psi @ m.S),
    "a.8": lambda m: (m.Psi @ m.Delta_psi, m.psi_tilde),
    "a.9": lambda m: (m.Phi @ m.Delta_phi, m.phi_tilde),
    "a.10": lambda m: (np.linalg.inv(m.psi), m.I - m.S @ m.Delta_psi),
    "a.11": lambda m: (np.linalg.inv(m.phi), m.I - m.S @ m.Delta_phi),
    "a.12": lambda m: (m.L, m.Delta_phi @ m.G),
    "a.13": lambda m: (m.phi_tilde @ m.G, m.Phi @ m.L),
    "a.14": lambda m: (m.phi, m.psi @ (m.I + m.S @ m.L @ m.H @ m.phi)),
    "a.15": lambda m: (m.psi, (m.I - m.Psi @ m.L @ m.H) @ m.phi),
    "a.16": lambda m: (m.Phi, m.Psi @ (m.I + m.L @ m.H @ m.Phi)),
    "a.17": lambda m: (m.Psi, (m.I - m.Psi @ m.L @ m.H) @ m.Phi),
    "a.18": lambda m: (m.phi - m.psi, m.psi @ m.S @ m.L @ m.H @ m.phi),
    "a.22": lambda m: (m.phi, (m.I + m.Phi @ m.L @ m.H) @ m.psi),
    "a.23": lambda m: (m.psi, m.phi @ (m.I - m.S @ m.L @ m.H @ m.psi)),
    "a.24": lambda m: (m.Phi, (m.I + m.Phi @ m.L @ m.H) @ m.Psi),
    "a.25": lambda m: (m.Psi, m.Phi @ (m.I - m.L @ m.H @ m.Psi)),
    "a.26": lambda m: (m.Phi @ m.L @ m.H @ m.psi, m.Psi @ m.L @ m.H @ m.phi),
    "a.27": lambda m: (m.Phi @ m.L @ m.H @ m.Psi, m.Psi @ m.L @ m.H @ m.Phi),
    "a.28": lambda m: (m.phi - m.psi, m.phi @ m.S @ m.L @ m.H @ m.psi),
    "a.32": lambda m: (m.H @ m.phi, (m.J + m.H @ m.Phi @ m.L) @ m.H @ m.psi),
    "a.33": lambda m: (m.H @ m.Phi, (m.J + m.H @ m.Phi @ m.L) @ m.H @ m.Psi),
    "a.34": lambda m: (m.H @ m.Psi, m.H @ m.Phi @ (m.I - m.L @ m.H @ m.Psi)),
    "a.35, 5.4": lambda m: (m.H @ m.psi, (m.J - m.H @ m.Psi @ m.L) @ m.H @ m.phi),
    "a.36": lambda m: (m.H @ m.Psi, (m.J - m.H @ m.Psi @ m.L) @ m.H @ m.Phi),
    "a.37": lambda m: (m.H @ m.Phi, m.H @ m.Psi @ (m.I + m.L @ m.H @ m.Phi)),
    "a.38": lambda m: (m.H @ m.Phi @ m.L @ m.H @ m.Psi, m.H @ m.Psi @ m.L @ m.H @ m.Phi),
    "a.39": lambda m: (m.Phi @ m.L, m.Psi @ m.L @ (m.J + m.H @ m.Phi @ m.L)),
    "a.40": lambda m: (m.Psi @ m.L, (m.I - m.Psi @ m.L @ m.H) @ m.Phi @ m.L),
    "a.41": lambda m: (m.Psi @ m.L, m.Phi @ m.L @ (m.J - m.H @ m.Psi @ m.L)),
    "a.42": lambda m: (m.Phi @ m.L, (m.I + m.Phi @ m.L @ m.H) @ m.Psi @ m.L),
    "a.43": lambda m: (m.Psi @ m.L @ m.H @ m.Phi @ m.L, m.Phi @ m.L @ m.H @ m.Psi @ m.L),
}
"""Gains and transitions: they hold for any gain, so with armature too."""

DEFINITIONS = {
    "a.1, extended": lambda m: (m.D, m.H @ m.P @ m.H.T + m.R),
    "a.2": lambda m: (m.G, m.P @ m.H.T @ m.D_inverse),
    "a.3": lambda m: (m.phi_tilde, m.phi - m.I),
    "5.11": lambda m: (m.psi_tilde, m.psi - m.I),
    "4.7": lambda m: (m.Delta_psi, m.Delta_phi - m.L @ m.H),
    "4.7 by G": lambda m: (m.Delta_psi, m.Delta_phi @ (m.I - m.G @ m.H)),
    "D inverse": lambda m: (m.D @ m.D_inverse, m.J),
    "4.5": lambda m: (
        m.P, m.S @ m.Delta_phi @ (m.P - m.P @ m.H.T @ m.D_inverse @ m.H @ m.P) @ m.Delta_phi.T @ m.S.T + m.M,
    ),
}  # fmt: skip


def whiten(m: SimpleNamespace) -> np.ndarray:
    return m.J - m.H @ m.Psi @ m.L


def color(m: SimpleNamespace) -> np.ndarray:
    return m.J + m.H @ m.Phi @ m.L


A_5_TO_A_7 = {
    "a.46": lambda m: (m.psi @ m.M @ m.phi.T, m.P + m.psi_tilde @ m.P + m.P @ m.phi_tilde.T),
    "a.47, extended": lambda m: (
        m.psi @ m.M @ m.psi.T + m.Psi @ m.L @ m.R @ m.L.T @ m.Psi.T, m.P + m.psi_tilde @ m.P + m.P @ m.psi_tilde.T,
    ),
    "a.48": lambda m: (
        m.phi @ m.M @ m.phi.T,
        m.P + m.phi_tilde @ m.P + m.P @ m.phi_tilde.T
        + m.phi_tilde @ m.P @ m.H.T @ m.D_inverse @ m.H @ m.P @ m.phi_tilde.T,
    ),
    "a.49": lambda m: (
        m.phi @ (m.M - m.S @ m.L @ m.D @ m.L.T @ m.S.T) @ m.phi.T, m.P + m.phi_tilde @ m.P + m.P @ m.phi_tilde.T,
    ),
    "a.50": lambda m: (
        whiten(m).T @ m.D_inverse @ m.H @ m.psi @ m.M @ m.phi.T,
        whiten(m).T @ m.D_inverse @ m.H @ m.psi_tilde @ m.P + m.L.T @ m.Psi.T @ (m.I - m.G @ m.H).T + m.G.T,
    ),
    "a.51": lambda m: (
        whiten(m).T @ m.D_inverse @ m.H @ m.P @ (m.I + m.phi_tilde.T),
        m.L.T @ m.Psi.T @ (m.I - m.G @ m.H).T + m.G.T,
    ),
}  # fmt: skip

FACTORS = {
    "4.11, extended": lambda m: (m.H @ m.phi @ m.M @ m.phi.T @ m.H.T + m.R, color(m) @ m.D @ color(m).T),
    "4.11 by G": lambda m: (m.mass, (m.J + m.H @ m.phi_tilde @ m.G) @ m.D @ (m.J + m.H @ m.phi_tilde @ m.G).T),
    "4.14": lambda m: (np.linalg.inv(color(m)), whiten(m)),
    "4.14, product": lambda m: (color(m) @ whiten(m), m.J),
    "4.16": lambda m: (m.mass_inverse, whiten(m).T @ m.D_inverse @ whiten(m)),
    "4.16, inverse": lambda m: (np.linalg.solve(m.mass, m.J), m.mass_inverse),
    "whitening": lambda m: (whiten(m) @ m.mass @ whiten(m).T, m.D),
}

LECTURE = {
    "psi^-1 - phi^-1 = K H": lambda m: (np.linalg.inv(m.psi), np.linalg.inv(m.phi) + m.K @ m.H),
    "psi^-1 phi = I + K H phi": lambda m: (np.linalg.solve(m.psi, m.phi), m.I + m.K @ m.H @ m.phi),
    "phi psi^-1 = I + phi K H": lambda m: (m.phi @ np.linalg.inv(m.psi), m.I + m.phi @ m.K @ m.H),
    "phi^-1 psi = I - K H psi": lambda m: (np.linalg.solve(m.phi, m.psi), m.I - m.K @ m.H @ m.psi),
    "psi phi^-1 = I - psi K H": lambda m: (m.psi @ np.linalg.inv(m.phi), m.I - m.psi @ m.K @ m.H),
    "[I - H psi K] H phi = H psi": lambda m: ((m.J - m.H @ m.psi @ m.K) @ m.H @ m.phi, m.H @ m.psi),
    "phi K [I - H psi K] = psi K": lambda m: (m.phi @ m.K @ (m.J - m.H @ m.psi @ m.K), m.psi @ m.K),
    "[I + H phi K] H psi = H phi": lambda m: ((m.J + m.H @ m.phi @ m.K) @ m.H @ m.psi, m.H @ m.phi),
    "psi K [I + H phi K] = phi K": lambda m: (m.psi @ m.K @ (m.J + m.H @ m.phi @ m.K), m.phi @ m.K),
    "[I + H phi K]^-1 = I - H psi K": lambda m: (
        np.linalg.inv(m.J + m.H @ m.phi @ m.K), m.J - m.H @ m.psi @ m.K,
    ),
    "Riccati, M = P - E_psi P E_phi*": lambda m: (
        m.M, m.P - m.S @ m.Delta_psi @ m.P @ m.Delta_phi.T @ m.S.T,
    ),
    "Riccati, M = P - E_psi P E_psi* - K R K*": lambda m: (
        m.M, m.P - m.S @ m.Delta_psi @ m.P @ m.Delta_psi.T @ m.S.T - m.K @ m.R @ m.K.T,
    ),
    "phi M psi* = P + phi~ P + P psi~*": lambda m: (
        m.phi @ m.M @ m.psi.T, m.P + m.phi_tilde @ m.P + m.P @ m.psi_tilde.T,
    ),
    "H psi M psi* H* = D - W R W*": lambda m: (
        m.H @ m.psi @ m.M @ m.psi.T @ m.H.T, m.D - whiten(m) @ m.R @ whiten(m).T,
    ),
    "H psi M phi* = H psi P + D K* phi*": lambda m: (
        m.H @ m.psi @ m.M @ m.phi.T, m.H @ m.psi @ m.P + m.D @ m.K.T @ m.phi.T,
    ),
    "[I - H psi K] M = D [I + H phi K]*": lambda m: (whiten(m) @ m.mass, m.D @ color(m).T),
}  # fmt: skip

WITH_ARMATURE = {**DEFINITIONS, **A_1_TO_A_4, **A_5_TO_A_7, **FACTORS, **LECTURE}

WITHOUT_ARMATURE = {
    "a.1": lambda m: (m.D, m.H @ m.P @ m.H.T),
    "a.47": lambda m: (m.psi @ m.M @ m.psi.T, m.P + m.psi_tilde @ m.P + m.P @ m.psi_tilde.T),
    "4.11": lambda m: (m.H @ m.phi @ m.M @ m.phi.T @ m.H.T, color(m) @ m.D @ color(m).T),
    "H psi M psi* H* = D": lambda m: (m.H @ m.psi @ m.M @ m.psi.T @ m.H.T, m.D),
    "Riccati, P = E_psi P E_psi* + M": lambda m: (
        m.P, m.S @ m.Delta_psi @ m.P @ m.Delta_psi.T @ m.S.T + m.M,
    ),
    "H psi~ P H* = 0": lambda m: (m.H @ m.psi @ m.P @ m.H.T, m.D),
}  # fmt: skip


def broken(identities: dict, m: SimpleNamespace) -> list[str]:
    """Names of the identities that do not hold."""
    return [name for name, sides in identities.items() if not same(*sides(m))]


@some
@given(case=with_armature)
def test_identities_hold_on_random_trees_with_armature_in_extended_form(case):
    assert not broken(WITH_ARMATURE, matrices(case))


@some
@given(case=without_armature)
def test_identities_hold_as_printed_without_armature(case):
    m = matrices(case)
    assert not m.R.any()
    assert not broken(WITHOUT_ARMATURE | WITH_ARMATURE, m)


@pytest.mark.parametrize("seed", range(4))
def test_identities_hold_on_large_trees(seed):
    m = matrices(random_case(seed, joints=12, branching=seed % 3))
    assert len(m.D) > 10
    assert not broken(WITH_ARMATURE, m)


def test_printed_forms_of_a_47_and_of_d_fail_with_armature():
    """So the extension is not idle: on a chain with rotors the forms at R = 0 do not hold."""
    m = matrices(random_case(3, joints=6, branching=0, kinds=("revolute", "prismatic")))
    assert m.R.any()
    assert set(broken(WITHOUT_ARMATURE, m)) == {*WITHOUT_ARMATURE}


@some
@given(case=with_armature)
def test_riccati_equation_walks_the_tree_from_tips_to_base(case):
    """P(k) from its children's, block by block (4.4)-(4.6), with the erratum: L(1) ends in D^-1."""
    o = ma.operators(case.model, case.state)
    m = matrices(case)
    n = case.model.nv
    joint = joint_of_links(m)
    parent = parent_of_links(m)
    inertia = o.link_inertias.copy()
    for k in range(n):  # tips first
        p, h = inertia[k], m.H[joint[k], 6 * k : 6 * k + 6]
        d = h @ p @ h + m.R[joint[k], joint[k]]
        assert_allclose(p, o.articulated_inertias[k], rtol=0, atol=1e-10 * np.abs(p).max())
        assert_allclose(d, m.D[joint[k], joint[k]], rtol=1e-9)
        if parent[k] >= 0:
            to_parent = m.Delta_phi[6 * k : 6 * k + 6, 6 * k : 6 * k + 6]
            inertia[parent[k]] += to_parent @ (p - np.outer(p @ h, p @ h) / d) @ to_parent.T


def joint_of_links(m: SimpleNamespace) -> np.ndarray:
    """Joint-side place of every link, tips first: H has one block per row."""
    n = len(m.D)
    return np.abs(m.H).reshape(n, n, 6).max(axis=2).argmax(axis=0)


def parent_of_links(m: SimpleNamespace) -> np.ndarray:
    """Place of every link's parent, tips first, -1 for the world: S has one block per column."""
    n = len(m.D)
    blocks = m.S.reshape(n, 6, n, 6)[:, 0, :, 0]
    return np.where(blocks.any(axis=0), blocks.argmax(axis=0), -1)


@some
@given(case=with_armature)
def test_causal_operators_are_triangular_and_memoryless_ones_block_diagonal(case):
    m = matrices(case)
    n = case.model.nv
    for name in ("phi", "psi", "Phi", "Psi", "S"):
        blocks = np.abs(getattr(m, name)).reshape(n, 6, n, 6).max(axis=(1, 3))
        assert not np.triu(blocks, 1).any()
        assert name in ("phi", "psi") or not np.diag(blocks).any()
    for name in ("M", "P", "Delta_phi", "Delta_psi"):
        blocks = np.abs(getattr(m, name)).reshape(n, 6, n, 6).max(axis=(1, 3))
        assert not (blocks - np.diag(np.diag(blocks))).any()
    for name in ("M", "P"):
        assert same(getattr(m, name), getattr(m, name).T)
        assert np.linalg.eigvalsh(getattr(m, name)).min() >= -1e-12 * np.abs(getattr(m, name)).max()


# ---------------------------------------------------------------------- operators as linear maps


def every_operator(case: Case) -> dict[str, object]:
    o = ma.operators(case.model, case.state)
    frames = case.rng.choice([*case.model.bodies, *case.sketch.frames], 3).tolist()
    return {name: getattr(o, name) for name in NAMES} | {"B": o.B(*frames), "B of the world": o.B("world", "f0")}


@some
@given(case=with_armature)
def test_adjoints_satisfy_their_definition(case):
    for name, operator in every_operator(case).items():
        rows, columns = operator.shape
        x, y = case.rng.normal(size=columns), case.rng.normal(size=rows)
        left, right = (operator @ x) @ y, x @ (operator.H @ y)
        size = np.linalg.norm(operator @ x) * np.linalg.norm(y) + np.linalg.norm(operator.H @ y) * np.linalg.norm(x)
        assert abs(left - right) <= 1e-12 * size, name
        assert_allclose(ma.dense(operator.H), ma.dense(operator).T, rtol=0, atol=1e-12 * size, err_msg=name)


@some
@given(case=with_armature)
def test_application_to_vectors_and_matrices_is_that_of_the_matrix(case):
    for name, operator in every_operator(case).items():
        matrix = ma.dense(operator)
        x = case.rng.normal(size=(operator.shape[1], 3))
        size = max(np.abs(matrix).max(initial=0.0), 1e-300) * np.abs(x).max()
        before = x.copy()
        assert_allclose(operator @ x, matrix @ x, rtol=0, atol=1e-11 * size, err_msg=name)
        assert_allclose(operator @ x[:, 0], matrix @ x[:, 0], rtol=0, atol=1e-11 * size, err_msg=name)
        assert np.array_equal(x, before), f"{name} changed its argument"


@some
@given(case=with_armature)
def test_compositions_are_those_of_the_matrices(case):
    o, m = ma.operators(case.model, case.state), matrices(case)
    assert same(ma.dense(o.H @ o.phi @ o.M @ o.phi.H @ o.H.H + o.R), m.H @ m.phi @ m.M @ m.phi.T @ m.H.T + m.R)
    assert same(ma.dense(o.joint_identity - o.H @ o.Psi @ o.L), m.J - m.H @ m.Psi @ m.L)
    assert same(ma.dense(2.0 * o.P - o.M), 2.0 * m.P - m.M)
    assert same(ma.dense((o.phi @ o.H.H).H), m.H @ m.phi.T)
    assert same(ma.dense((o.phi_tilde @ o.G).T), (m.phi_tilde @ m.G).T)
    assert same(ma.dense(o.mass @ o.mass_inverse), m.J)


def test_operators_of_a_mechanism_that_cannot_move_are_empty():
    m = ma.Mechanism()
    m.add_body("post", mass=1.0, inertia=(1, 1, 1))
    m.add_joint("bolt", "fixed", parent="world", child="post")
    model = m.compile()
    o = ma.operators(model, model.state())
    for name in NAMES:
        assert ma.dense(getattr(o, name)).shape == (0, 0)
    assert ma.dense(o.B("post").H @ o.phi.H @ o.H.H).shape == (6, 0)
    assert ma.mass_matrix(model, model.state(), method="factors").shape == (0, 0)


@some
@given(case=with_armature)
def test_operators_agree_with_the_kernels(case):
    m = matrices(case)
    assert same(m.mass, ma.mass_matrix(case.model, case.state))
    assert same(m.mass_inverse, ma.mass_matrix_inverse(case.model, case.state))
    smoothed = ma.smoother(case.model, case.state, case.tau)
    joint = joint_of_links(m)
    assert same(np.diag(m.D), smoothed.innovation_covariance)
    articulated = ma.operators(case.model, case.state).articulated_inertias
    assert same(articulated, smoothed.articulated_inertia[joint])
    n = case.model.nv
    gains = m.G.reshape(n, 6, n)[np.arange(n), :, joint]
    assert same(gains, smoothed.gain[joint])


# ---------------------------------------------------------------------- Jacobian and compliance


@some
@given(case=with_armature)
def test_jacobian_and_compliance_are_operator_products(case):
    o, m = ma.operators(case.model, case.state), matrices(case)
    frames = [*case.rng.choice([*case.model.bodies, *case.sketch.frames], 3).tolist(), "f0"]
    spread = o.B(*frames)
    jacobian = ma.dense(spread.H @ o.phi.H @ o.H.H)  # (3.13)
    stacked = np.vstack([ma.jacobian(case.model, case.state, frame) for frame in frames])
    assert_allclose(jacobian, stacked, rtol=0, atol=1e-11 * max(np.abs(stacked).max(), 1.0))
    expected = ma.operational_compliance(case.model, case.state, frames)
    by_factors = ma.dense(spread.H @ o.phi.H @ o.H.H @ o.mass_inverse @ o.H @ o.phi @ spread)
    whole = ma.dense(spread.H @ o.psi.H @ o.H.H @ o.D_inverse @ o.H @ o.psi @ spread)  # 88-11-II (6.7), by (a.35)
    for found in (by_factors, whole):
        assert_allclose(found, expected, rtol=0, atol=1e-10 * max(np.abs(expected).max(), 1e-300))
    omega = m.psi.T @ m.H.T @ m.D_inverse @ m.H @ m.psi  # the whole operator of which Lambda is a corner
    assert same(omega, m.phi.T @ m.H.T @ m.mass_inverse @ m.H @ m.phi)


# ---------------------------------------------------------------------- forward dynamics as operator expressions


class Motion:
    """The stacked quantities of JPL 88-11-I (3.9)-(3.10) at a state, tips first; gravity enters a as in (3.21)."""

    def __init__(self, case: Case, external: dict[str, np.ndarray]) -> None:
        n = case.model.nv
        self.m = matrices(case)
        self.o = ma.operators(case.model, case.state)
        self.V = self.m.phi.T @ self.m.H.T @ case.state.v  # (5.13), with the erratum: no B
        own = located(case.model, case.state).link[:0:-1, layout.BIAS : layout.BIAS + 6]
        self.a_of_motion = own.ravel()
        fall = np.where(parent_of_links(self.m)[:, None] < 0, np.concatenate([np.zeros(3), -case.model.gravity]), 0.0)
        self.a = (own + fall).ravel()
        omega = self.V.reshape(n, 6)[:, :3]
        inertia = self.o.link_inertias
        spin = np.einsum("kij,kj->ki", inertia[:, :3, :3], omega)
        moment = inertia[:, [2, 0, 1], [4, 5, 3]]  # m p out of its cross-product block
        self.b = np.hstack([np.cross(omega, spin), np.cross(omega, np.cross(omega, moment))]).ravel()  # (2.23)
        pushed = [name for name in external if case.model.placement(name).link > 0]
        self.on_environment = np.zeros(6 * n)  # B f(0)
        if pushed:
            self.on_environment = -(self.o.B(*pushed) @ np.concatenate([external[name] for name in pushed]))


@some
@given(case=with_armature)
def test_stacked_velocities_and_accelerations_are_those_of_the_bodies(case):
    motion = Motion(case, {})
    kin = ma.kinematics(case.model, case.state)
    names = [*case.model.bodies, *case.sketch.frames]
    spread = motion.o.B(*names)
    found = (spread.H @ motion.V).reshape(-1, 6)
    for name, velocity in zip(names, found, strict=True):
        assert_allclose(velocity, kin.velocity(name), rtol=0, atol=1e-11 * max(np.abs(found).max(), 1.0))
    # J-dot v = B* phi* a + a(0), a(0) the centripetal acceleration of the frame about its link's origin
    carried = (spread.H @ (motion.m.phi.T @ motion.a_of_motion)).reshape(-1, 6)
    for name, part in zip(names, carried, strict=True):
        omega = kin.velocity(name)[:3]
        place = case.model.placement(name)
        arm = (kin.pose(name) * place.pose.inv()).rotation.as_matrix() @ place.pose.translation
        part = part + np.concatenate([np.zeros(3), np.cross(omega, np.cross(omega, arm))])
        assert_allclose(part, kin.bias_acceleration(name), rtol=0, atol=1e-10 * max(np.abs(carried).max(), 1.0))


@some
@given(case=with_armature)
def test_forward_dynamics_algorithms_are_their_operator_expressions(case):
    external = random_external(case.model, case.rng)
    motion = Motion(case, external)
    m, a, b, f0, T = motion.m, motion.a, motion.b, motion.on_environment, case.tau
    W = whiten(m)
    zeta = m.phi.T @ a
    without_bias = T - m.H @ m.phi @ (m.M @ zeta + b + f0)  # (4.17), (5.5)
    expressions = {
        "fd1": W.T @ m.D_inverse @ W @ without_bias,  # (4.18)
        "fd3": W.T @ m.D_inverse @ (T - m.H @ m.psi @ (m.S @ m.L @ T + m.M @ zeta + b + f0)),  # (5.8)-(5.10)
    }
    nu = m.D_inverse @ (W @ T - m.H @ m.psi_tilde @ m.P @ a - m.H @ m.psi @ (b + f0))  # (5.14)
    expressions["fd4"] = W.T @ nu - m.L.T @ m.Psi.T @ (m.I - m.G @ m.H).T @ a - m.G.T @ a  # (5.15)
    nu = m.D_inverse @ (T - m.H @ m.psi @ (m.K @ T + m.P @ a + b + f0))  # SOA-Lecture: P a inside z
    expressions["lecture"] = W.T @ nu - m.K.T @ m.psi.T @ a
    scale = np.abs(expressions["fd1"]).max()
    for name, expected in expressions.items():
        method = name if name.startswith("fd") else "fd4"
        found = ma.tree_forward_dynamics(case.model, case.state, T, external, method=method).a
        assert np.abs(found - expected).max() <= 1e-9 * scale, name
    alpha = m.psi.T @ m.H.T @ m.D_inverse @ W @ without_bias + zeta  # FD2: (5.6)
    solution = ma.tree_forward_dynamics(case.model, case.state, T, external, method="fd2")
    assert same(alpha, m.phi.T @ (m.H.T @ solution.a + a))  # (3.15)
    assert np.abs(T - m.mass @ solution.a - m.H @ m.phi @ (m.M @ zeta + b + f0)).max() <= 1e-10 * np.abs(T).max()


@some
@given(case=with_armature)
def test_filter_and_smoother_quantities_are_operator_expressions(case):
    """z, epsilon, nu, alpha and f = P (alpha - a) + z = phi (M alpha + b + B f(0)), SOA-Lecture.

    Gravity comes in as the acceleration of the base, alpha+ of the links next to it, and not as a part of a.
    """
    external = random_external(case.model, case.rng)
    motion = Motion(case, external)
    m, a, b, f0 = motion.m, motion.a_of_motion, motion.b, motion.on_environment
    of_base = motion.a - a
    z = m.psi @ (m.K @ case.tau + m.P @ a + b + f0)
    epsilon = case.tau - m.H @ z
    nu = m.D_inverse @ epsilon
    alpha = m.psi.T @ (m.H.T @ nu + a + (m.I - m.G @ m.H).T @ of_base)
    incoming = (m.S @ m.Delta_phi).T @ alpha + of_base  # alpha+
    force = m.P @ (alpha - a) + z
    found = ma.smoother(case.model, case.state, case.tau, external)
    joint = joint_of_links(m)

    def close(value, expected, size=None):
        size = np.abs(expected).max() if size is None else size
        return np.abs(value - expected).max() <= 1e-9 * size

    terms = max(np.abs(z).max(), np.abs(m.P @ (alpha - a)).max())
    assert close(m.phi @ (m.M @ alpha + b + f0), force, terms)
    assert close((m.P - m.G @ m.D @ m.G.T) @ incoming + z + m.G @ epsilon, force, terms)  # f = P+ alpha+ + z+
    assert close(m.phi @ (m.K @ epsilon + m.P @ a + b + f0), z)
    assert close(nu - m.G.T @ incoming, found.acceleration)
    assert close(m.phi.T @ (m.H.T @ found.acceleration + a + of_base), alpha)
    assert close(found.smoothed_force[joint].ravel(), force, terms)
    assert close(found.predicted_force[joint].ravel(), z)
    assert close(found.filtered_force[joint].ravel(), z + m.G @ epsilon)
    assert close(found.innovation, epsilon, np.abs(case.tau).max() + np.abs(m.H @ z).max())
    assert close(found.normalised_innovation, nu)
    assert close(found.costate[joint].ravel(), alpha)


@pytest.mark.parametrize("links", [1, 200])
def test_long_chains_satisfy_the_whitening_identity_without_forming_matrices(links):
    m = ma.Mechanism()
    m.add_arm("arm", ma.robots.chain(links))
    model = m.compile()
    rng = np.random.default_rng(1)
    o = ma.operators(model, rng.uniform(-1, 1, model.nq))
    x = rng.normal(size=model.nv)
    whitened = o.joint_identity - o.H @ o.Psi @ o.L
    colored = o.joint_identity + o.H @ o.Phi @ o.L
    assert_allclose(colored @ (whitened @ x), x, rtol=0, atol=1e-8)
    assert_allclose(o.mass @ (o.mass_inverse @ x), x, rtol=0, atol=1e-8)
