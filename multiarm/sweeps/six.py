"""Six by six on values: the factors of a symmetric positive matrix, and substitution with them.

A symmetric matrix is its upper triangle row by row (21 numbers), a vector six numbers. K = L d L* with L unit lower
triangular is kept as the 15 entries of L below the diagonal, column by column, and the six 1/d.
"""

from __future__ import annotations

from multiarm.sweeps.jit import value


@value
def load_six(x, i):
    """Six entries of a vector from i."""
    return (x[i], x[i + 1], x[i + 2], x[i + 3], x[i + 4], x[i + 5])


@value
def store_six(x, i, y):
    """Write six entries of a vector from i."""
    x[i], x[i + 1], x[i + 2], x[i + 3], x[i + 4], x[i + 5] = y


@value
def dot_six(x, y):
    """Inner product."""
    return (x[0] * y[0] + x[1] * y[1] + x[2] * y[2]) + (x[3] * y[3] + x[4] * y[4] + x[5] * y[5])


@value
def axpy_six(s, x, y):
    """s x + y."""
    return (
        s * x[0] + y[0], s * x[1] + y[1], s * x[2] + y[2], s * x[3] + y[3], s * x[4] + y[4], s * x[5] + y[5],
    )  # fmt: skip


@value
def scale_six(x, y):
    """Entry by entry."""
    return (x[0] * y[0], x[1] * y[1], x[2] * y[2], x[3] * y[3], x[4] * y[4], x[5] * y[5])


@value
def add_square(k, s, x):
    """K + s x x*, upper triangle."""
    y = (s * x[0], s * x[1], s * x[2], s * x[3], s * x[4], s * x[5])
    return (
        k[0] + y[0] * x[0], k[1] + y[0] * x[1], k[2] + y[0] * x[2], k[3] + y[0] * x[3], k[4] + y[0] * x[4],
        k[5] + y[0] * x[5],
        k[6] + y[1] * x[1], k[7] + y[1] * x[2], k[8] + y[1] * x[3], k[9] + y[1] * x[4], k[10] + y[1] * x[5],
        k[11] + y[2] * x[2], k[12] + y[2] * x[3], k[13] + y[2] * x[4], k[14] + y[2] * x[5],
        k[15] + y[3] * x[3], k[16] + y[3] * x[4], k[17] + y[3] * x[5],
        k[18] + y[4] * x[4], k[19] + y[4] * x[5],
        k[20] + y[5] * x[5],
    )  # fmt: skip


@value
def factor_six(k, least):
    """L, 1/d, and whether every pivot d is positive and keeps more than the share `least` of its diagonal entry."""
    a01, a02, a03, a04, a05 = k[1], k[2], k[3], k[4], k[5]
    p0 = 1.0 / k[0]
    l10, l20, l30, l40, l50 = a01 * p0, a02 * p0, a03 * p0, a04 * p0, a05 * p0

    d1 = k[6] - l10 * a01
    p1 = 1.0 / d1
    a12, a13, a14, a15 = k[7] - l10 * a02, k[8] - l10 * a03, k[9] - l10 * a04, k[10] - l10 * a05
    l21, l31, l41, l51 = a12 * p1, a13 * p1, a14 * p1, a15 * p1

    d2 = k[11] - l20 * a02 - l21 * a12
    p2 = 1.0 / d2
    a23, a24, a25 = (
        k[12] - l20 * a03 - l21 * a13, k[13] - l20 * a04 - l21 * a14, k[14] - l20 * a05 - l21 * a15,
    )  # fmt: skip
    l32, l42, l52 = a23 * p2, a24 * p2, a25 * p2

    d3 = k[15] - l30 * a03 - l31 * a13 - l32 * a23
    p3 = 1.0 / d3
    a34 = k[16] - l30 * a04 - l31 * a14 - l32 * a24
    a35 = k[17] - l30 * a05 - l31 * a15 - l32 * a25
    l43, l53 = a34 * p3, a35 * p3

    d4 = k[18] - l40 * a04 - l41 * a14 - l42 * a24 - l43 * a34
    p4 = 1.0 / d4
    a45 = k[19] - l40 * a05 - l41 * a15 - l42 * a25 - l43 * a35
    l54 = a45 * p4
    d5 = k[20] - l50 * a05 - l51 * a15 - l52 * a25 - l53 * a35 - l54 * a45

    sound = (k[0] > 0.0) & (d1 > least * k[6]) & (d2 > least * k[11])
    sound &= (d3 > least * k[15]) & (d4 > least * k[18]) & (d5 > least * k[20])
    factors = (l10, l20, l30, l40, l50, l21, l31, l41, l51, l32, l42, l52, l43, l53, l54)
    return factors, (p0, p1, p2, p3, p4, 1.0 / d5), sound


@value
def forward_six(l, x):
    """L^-1 x."""
    y0 = x[0]
    y1 = x[1] - l[0] * y0
    y2 = x[2] - l[1] * y0 - l[5] * y1
    y3 = x[3] - l[2] * y0 - l[6] * y1 - l[9] * y2
    y4 = x[4] - l[3] * y0 - l[7] * y1 - l[10] * y2 - l[12] * y3
    y5 = x[5] - l[4] * y0 - l[8] * y1 - l[11] * y2 - l[13] * y3 - l[14] * y4
    return (y0, y1, y2, y3, y4, y5)


@value
def back_six(l, x):
    """L^-* x."""
    y5 = x[5]
    y4 = x[4] - l[14] * y5
    y3 = x[3] - l[13] * y5 - l[12] * y4
    y2 = x[2] - l[11] * y5 - l[10] * y4 - l[9] * y3
    y1 = x[1] - l[8] * y5 - l[7] * y4 - l[6] * y3 - l[5] * y2
    y0 = x[0] - l[4] * y5 - l[3] * y4 - l[2] * y3 - l[1] * y2 - l[0] * y1
    return (y0, y1, y2, y3, y4, y5)


@value
def store_factors(x, i, factors, pivots):
    """Write L and 1/d, 21 numbers from i."""
    for j in range(15):
        x[i + j] = factors[j]
    store_six(x, i + 15, pivots)


@value
def load_factors(x, i):
    """L and 1/d as `store_factors` wrote them."""
    factors = (
        x[i], x[i + 1], x[i + 2], x[i + 3], x[i + 4], x[i + 5], x[i + 6], x[i + 7], x[i + 8], x[i + 9], x[i + 10],
        x[i + 11], x[i + 12], x[i + 13], x[i + 14],
    )  # fmt: skip
    return factors, load_six(x, i + 15)
