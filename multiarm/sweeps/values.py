"""Spatial algebra on values.

A 3-vector is a tuple of three floats, a rotation or general 3x3 block nine (row by row), a symmetric 3x3 block six
(xx, xy, xz, yy, yz, zz). A spatial vector is a pair of 3-vectors, angular part first. A symmetric 6x6 matrix
[[A, B], [B*, C]] is three blocks (A, B, C) of 6 + 9 + 6. Everything is in world axes at a link's own origin, so that
phi is a pure shift and no 6x6 rotation is ever formed.
"""

from __future__ import annotations

from multiarm.sweeps.jit import value

ZERO3 = (0.0, 0.0, 0.0)
ZERO6 = (ZERO3, ZERO3)
IDENTITY9 = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


@value
def load3(table, k, c):
    """Three entries of row k from column c."""
    return (table[k, c], table[k, c + 1], table[k, c + 2])


@value
def store3(table, k, c, x):
    """Write a 3-vector into row k from column c."""
    table[k, c], table[k, c + 1], table[k, c + 2] = x


@value
def load6(table, k, c):
    """A spatial vector from six entries of row k."""
    return (load3(table, k, c), load3(table, k, c + 3))


@value
def store6(table, k, c, x):
    """Write a spatial vector into row k from column c."""
    store3(table, k, c, x[0])
    store3(table, k, c + 3, x[1])


@value
def load_sym3(table, k, c):
    """A symmetric 3x3 block."""
    return (table[k, c], table[k, c + 1], table[k, c + 2], table[k, c + 3], table[k, c + 4], table[k, c + 5])


@value
def store_sym3(table, k, c, x):
    """Write a symmetric 3x3 block."""
    table[k, c], table[k, c + 1], table[k, c + 2], table[k, c + 3], table[k, c + 4], table[k, c + 5] = x


@value
def load9(table, k, c):
    """A 3x3 block, row by row."""
    return (
        table[k, c], table[k, c + 1], table[k, c + 2],
        table[k, c + 3], table[k, c + 4], table[k, c + 5],
        table[k, c + 6], table[k, c + 7], table[k, c + 8],
    )  # fmt: skip


@value
def store9(table, k, c, x):
    """Write a 3x3 block, row by row."""
    store3(table, k, c, (x[0], x[1], x[2]))
    store3(table, k, c + 3, (x[3], x[4], x[5]))
    store3(table, k, c + 6, (x[6], x[7], x[8]))


@value
def load_sym6(table, k, c):
    """A symmetric 6x6 matrix as blocks (A, B, C), 21 entries."""
    return (load_sym3(table, k, c), load9(table, k, c + 6), load_sym3(table, k, c + 15))


@value
def store_sym6(table, k, c, x):
    """Write a symmetric 6x6 matrix given as blocks (A, B, C)."""
    store_sym3(table, k, c, x[0])
    store9(table, k, c + 6, x[1])
    store_sym3(table, k, c + 15, x[2])


@value
def add3(x, y):
    """Sum of two 3-vectors."""
    return (x[0] + y[0], x[1] + y[1], x[2] + y[2])


@value
def sub3(x, y):
    """Difference of two 3-vectors."""
    return (x[0] - y[0], x[1] - y[1], x[2] - y[2])


@value
def scale3(s, x):
    """A 3-vector times a number."""
    return (s * x[0], s * x[1], s * x[2])


@value
def axpy3(s, x, y):
    """s x + y."""
    return (s * x[0] + y[0], s * x[1] + y[1], s * x[2] + y[2])


@value
def dot3(x, y):
    """Inner product of two 3-vectors."""
    return x[0] * y[0] + x[1] * y[1] + x[2] * y[2]


@value
def cross(x, y):
    """Cross product."""
    return (x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0])


@value
def add6(x, y):
    """Sum of two spatial vectors."""
    return (add3(x[0], y[0]), add3(x[1], y[1]))


@value
def sub6(x, y):
    """Difference of two spatial vectors."""
    return (sub3(x[0], y[0]), sub3(x[1], y[1]))


@value
def scale6(s, x):
    """A spatial vector times a number."""
    return (scale3(s, x[0]), scale3(s, x[1]))


@value
def axpy6(s, x, y):
    """s x + y."""
    return (axpy3(s, x[0], y[0]), axpy3(s, x[1], y[1]))


@value
def dot6(x, y):
    """Inner product of two spatial vectors."""
    return dot3(x[0], y[0]) + dot3(x[1], y[1])


@value
def add_sym3(x, y):
    """Sum of two symmetric 3x3 blocks."""
    return (x[0] + y[0], x[1] + y[1], x[2] + y[2], x[3] + y[3], x[4] + y[4], x[5] + y[5])


@value
def add9(x, y):
    """Sum of two 3x3 blocks."""
    return (
        x[0] + y[0], x[1] + y[1], x[2] + y[2],
        x[3] + y[3], x[4] + y[4], x[5] + y[5],
        x[6] + y[6], x[7] + y[7], x[8] + y[8],
    )  # fmt: skip


@value
def add_sym6(x, y):
    """Sum of two symmetric 6x6 matrices."""
    return (add_sym3(x[0], y[0]), add9(x[1], y[1]), add_sym3(x[2], y[2]))


@value
def mul9(a, b):
    """Product of two 3x3 blocks."""
    return (
        a[0] * b[0] + a[1] * b[3] + a[2] * b[6],
        a[0] * b[1] + a[1] * b[4] + a[2] * b[7],
        a[0] * b[2] + a[1] * b[5] + a[2] * b[8],
        a[3] * b[0] + a[4] * b[3] + a[5] * b[6],
        a[3] * b[1] + a[4] * b[4] + a[5] * b[7],
        a[3] * b[2] + a[4] * b[5] + a[5] * b[8],
        a[6] * b[0] + a[7] * b[3] + a[8] * b[6],
        a[6] * b[1] + a[7] * b[4] + a[8] * b[7],
        a[6] * b[2] + a[7] * b[5] + a[8] * b[8],
    )


@value
def apply9(a, x):
    """A 3x3 block times a 3-vector."""
    return (
        a[0] * x[0] + a[1] * x[1] + a[2] * x[2],
        a[3] * x[0] + a[4] * x[1] + a[5] * x[2],
        a[6] * x[0] + a[7] * x[1] + a[8] * x[2],
    )


@value
def apply9_transposed(a, x):
    """The transpose of a 3x3 block times a 3-vector."""
    return (
        a[0] * x[0] + a[3] * x[1] + a[6] * x[2],
        a[1] * x[0] + a[4] * x[1] + a[7] * x[2],
        a[2] * x[0] + a[5] * x[1] + a[8] * x[2],
    )


@value
def apply_sym3(s, x):
    """A symmetric 3x3 block times a 3-vector."""
    return (
        s[0] * x[0] + s[1] * x[1] + s[2] * x[2],
        s[1] * x[0] + s[3] * x[1] + s[4] * x[2],
        s[2] * x[0] + s[4] * x[1] + s[5] * x[2],
    )


@value
def apply_sym6(p, x):
    """A symmetric 6x6 matrix times a spatial vector."""
    return (
        add3(apply_sym3(p[0], x[0]), apply9(p[1], x[1])),
        add3(apply9_transposed(p[1], x[0]), apply_sym3(p[2], x[1])),
    )


@value
def rotate_sym3(r, s):
    """R S R* for a symmetric block S."""
    x = apply_sym3(s, (r[0], r[1], r[2]))
    y = apply_sym3(s, (r[3], r[4], r[5]))
    z = apply_sym3(s, (r[6], r[7], r[8]))
    return (
        x[0] * r[0] + x[1] * r[1] + x[2] * r[2],
        x[0] * r[3] + x[1] * r[4] + x[2] * r[5],
        x[0] * r[6] + x[1] * r[7] + x[2] * r[8],
        y[0] * r[3] + y[1] * r[4] + y[2] * r[5],
        y[0] * r[6] + y[1] * r[7] + y[2] * r[8],
        z[0] * r[6] + z[1] * r[7] + z[2] * r[8],
    )


@value
def spin(r, c, s):
    """R Rz(angle) from the cosine and sine of the angle."""
    return (
        c * r[0] + s * r[1], c * r[1] - s * r[0], r[2],
        c * r[3] + s * r[4], c * r[4] - s * r[3], r[5],
        c * r[6] + s * r[7], c * r[7] - s * r[6], r[8],
    )  # fmt: skip


@value
def quaternion_matrix(x, y, z, w):
    """The rotation of a unit quaternion (x, y, z, w)."""
    return (
        1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w),
        2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w),
        2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y),
    )  # fmt: skip


@value
def skew(x):
    """The matrix of the cross product with x."""
    return (0.0, -x[2], x[1], x[2], 0.0, -x[0], -x[1], x[0], 0.0)


@value
def shift_force(l, f):
    """phi(parent, child) f = [n + l x f; f], a force moved to the parent's origin; l runs from parent to child."""
    return (add3(f[0], cross(l, f[1])), f[1])


@value
def shift_motion(l, v):
    """phi*(parent, child) V = [omega; v + omega x l], a motion moved from the parent's origin to the child's."""
    return (v[0], add3(v[1], cross(v[0], l)))


@value
def shift_inertia(l, p):
    """phi P phi*: a symmetric 6x6 inertia moved from the child's origin to the parent's."""
    a, b, c = p
    row0 = (b[0] + l[1] * c[2] - l[2] * c[1], b[1] + l[1] * c[4] - l[2] * c[3], b[2] + l[1] * c[5] - l[2] * c[4])
    row1 = (b[3] + l[2] * c[0] - l[0] * c[2], b[4] + l[2] * c[1] - l[0] * c[4], b[5] + l[2] * c[2] - l[0] * c[5])
    row2 = (b[6] + l[0] * c[1] - l[1] * c[0], b[7] + l[0] * c[3] - l[1] * c[1], b[8] + l[0] * c[4] - l[1] * c[2])
    moved = (
        a[0] + (l[1] * b[2] - l[2] * b[1]) + (l[1] * row0[2] - l[2] * row0[1]),
        a[1] + (l[1] * b[5] - l[2] * b[4]) + (l[2] * row0[0] - l[0] * row0[2]),
        a[2] + (l[1] * b[8] - l[2] * b[7]) + (l[0] * row0[1] - l[1] * row0[0]),
        a[3] + (l[2] * b[3] - l[0] * b[5]) + (l[2] * row1[0] - l[0] * row1[2]),
        a[4] + (l[2] * b[6] - l[0] * b[8]) + (l[0] * row1[1] - l[1] * row1[0]),
        a[5] + (l[0] * b[7] - l[1] * b[6]) + (l[0] * row2[1] - l[1] * row2[0]),
    )
    return (moved, (row0[0], row0[1], row0[2], row1[0], row1[1], row1[2], row2[0], row2[1], row2[2]), c)


@value
def rank_one_update(p, s, u):
    """P + s u u* for a spatial vector u."""
    (a, b, c), (x, y) = p, u
    sx, sy = scale3(s, x), scale3(s, y)
    return (
        (
            a[0] + sx[0] * x[0], a[1] + sx[0] * x[1], a[2] + sx[0] * x[2],
            a[3] + sx[1] * x[1], a[4] + sx[1] * x[2], a[5] + sx[2] * x[2],
        ),
        (
            b[0] + sx[0] * y[0], b[1] + sx[0] * y[1], b[2] + sx[0] * y[2],
            b[3] + sx[1] * y[0], b[4] + sx[1] * y[1], b[5] + sx[1] * y[2],
            b[6] + sx[2] * y[0], b[7] + sx[2] * y[1], b[8] + sx[2] * y[2],
        ),
        (
            c[0] + sy[0] * y[0], c[1] + sy[0] * y[1], c[2] + sy[0] * y[2],
            c[3] + sy[1] * y[1], c[4] + sy[1] * y[2], c[5] + sy[2] * y[2],
        ),
    )  # fmt: skip


@value
def rank_two_downdate(p, u, t):
    """P - u t* - t u* for spatial vectors u and t."""
    (a, b, c), (x, y), (s, r) = p, u, t
    return (
        (
            a[0] - 2.0 * x[0] * s[0], a[1] - x[0] * s[1] - s[0] * x[1], a[2] - x[0] * s[2] - s[0] * x[2],
            a[3] - 2.0 * x[1] * s[1], a[4] - x[1] * s[2] - s[1] * x[2], a[5] - 2.0 * x[2] * s[2],
        ),
        (
            b[0] - x[0] * r[0] - s[0] * y[0], b[1] - x[0] * r[1] - s[0] * y[1], b[2] - x[0] * r[2] - s[0] * y[2],
            b[3] - x[1] * r[0] - s[1] * y[0], b[4] - x[1] * r[1] - s[1] * y[1], b[5] - x[1] * r[2] - s[1] * y[2],
            b[6] - x[2] * r[0] - s[2] * y[0], b[7] - x[2] * r[1] - s[2] * y[1], b[8] - x[2] * r[2] - s[2] * y[2],
        ),
        (
            c[0] - 2.0 * y[0] * r[0], c[1] - y[0] * r[1] - r[0] * y[1], c[2] - y[0] * r[2] - r[0] * y[2],
            c[3] - 2.0 * y[1] * r[1], c[4] - y[1] * r[2] - r[1] * y[2], c[5] - 2.0 * y[2] * r[2],
        ),
    )  # fmt: skip


@value
def trace_sym3(s):
    """Trace of a symmetric 3x3 block."""
    return s[0] + s[3] + s[5]


@value
def rigid_inertia(i, h, m):
    """The spatial inertia M = [[I, h~], [-h~, m 1]] from I about the origin, first moment h = m p and mass (2.15)."""
    return (i, skew(h), (m, 0.0, 0.0, m, 0.0, m))


@value
def rigid_force(i, h, m, alpha):
    """M alpha without forming M."""
    return (
        add3(apply_sym3(i, alpha[0]), cross(h, alpha[1])),
        axpy3(m, alpha[1], cross(alpha[0], h)),
    )


@value
def gyroscopic_force(i, h, omega):
    """b = [omega x I omega; omega x (omega x h)], the bias spatial force of JPL 88-11-I (2.23)."""
    return (cross(omega, apply_sym3(i, omega)), cross(omega, cross(omega, h)))
