"""Rows made orthogonal by Householder's reflections, the strongest first: A = L Q*, in place.

A table holds rows x[i, 0:width]. Row i of the first `done` is a pivot: its first i + 1 entries are those of L, what
follows them is the reflector that came with it, whose first entry is 1 and whose factor stands in `factor[i]`. Rows are
added in batches, each ordered by what the ones before have left of it, so that earlier batches have priority. NumPy's
and SciPy's routines allocate, and know no batches.
"""

from __future__ import annotations

import math

from multiarm.sweeps.jit import step, value


@value
def swap_rows(x, right, tag, i, j, width):
    """Exchange two rows with what belongs to them."""
    for c in range(width):
        x[i, c], x[j, c] = x[j, c], x[i, c]
    right[i], right[j] = right[j], right[i]
    tag[i], tag[j] = tag[j], tag[i]


@value
def inner(x, y, first, width):
    """x* y from column `first`; four sums side by side, for each addition waits for the one before it."""
    a = b = c = d = 0.0
    k = first
    while k + 3 < width:
        a += x[k] * y[k]
        b += x[k + 1] * y[k + 1]
        c += x[k + 2] * y[k + 2]
        d += x[k + 3] * y[k + 3]
        k += 4
    while k < width:
        a += x[k] * y[k]
        k += 1
    return (a + b) + (c + d)


@value
def reflect(x, i, factor, row, width):
    """Apply reflector i to a row."""
    mirror = x[i]
    total = factor * (row[i] + inner(mirror, row, i + 1, width))
    row[i] -= total
    for c in range(i + 1, width):
        row[c] -= total * mirror[c]


@value
def make_reflector(x, k, width, size):
    """Turn row k from column k on into a reflector, its length at k; returns the factor (LAPACK dlarfg)."""
    head = x[k, k]
    length = -size if head > 0.0 else size
    scale = 1.0 / (head - length)
    for c in range(k + 1, width):
        x[k, c] *= scale
    x[k, k] = length
    return (length - head) / length


@step
def orthogonalise(x, right, tag, factor, done, rows, width, tolerance):
    """Make pivots of the independent rows among done..rows; returns how many pivots there are then.

    A row counts as dependent if it keeps no more than the share `tolerance` of the longest row of the batch. `right`
    (right-hand sides) and `tag` (any number) travel with their rows. Needs the batch to have met the reflectors before
    it (`reflect_rows`).
    """
    scale = 0.0
    for i in range(done, rows):
        # reflections do not change lengths, so what the batches before took counts too
        scale = max(scale, inner(x[i], x[i], 0, width))
    least = tolerance * tolerance * scale
    for k in range(done, min(rows, width)):
        best, size = k, -1.0
        for i in range(k, rows):
            left = inner(x[i], x[i], k, width)
            if left > size:
                best, size = i, left
        if not size > least:
            return k
        if best != k:
            swap_rows(x, right, tag, k, best, width)
        factor[k] = make_reflector(x, k, width, math.sqrt(size))
        for i in range(k + 1, rows):
            reflect(x, k, factor[k], x[i], width)
    return min(rows, width)


@step
def reflect_rows(x, factor, done, first, rows, width):
    """Apply the reflectors of the first `done` pivots to rows first..rows."""
    for i in range(first, rows):
        reflect_vector(x, factor, done, x[i], width)


@step
def reflect_vector(x, factor, done, y, width):
    """y <- Q* y."""
    for k in range(done):
        reflect(x, k, factor[k], y, width)


@step
def reflect_back(x, factor, done, y, width):
    """y <- Q y."""
    for k in range(done - 1, -1, -1):
        reflect(x, k, factor[k], y, width)


@step
def substitute(x, right, first, done, y):
    """y[first:done] from L y = right, earlier entries of y given."""
    for i in range(first, done):
        total = right[i]
        for c in range(i):
            total -= x[i, c] * y[c]
        y[i] = total / x[i, i]


@step
def largest_left(x, right, done, rows, y):
    """Largest |right - L y| of the dependent rows done..rows."""
    largest = 0.0
    for i in range(done, rows):
        total = right[i]
        for c in range(done):
            total -= x[i, c] * y[c]
        largest = max(largest, abs(total))
    return largest


@step
def fit(x, right, first, done, rows, y, columns, spare):
    """y[first:done] of least squares |right - L y| over the rows first..rows, earlier entries of y given.

    Where every row is a pivot that is `substitute`. Else the columns of L, which are independent, are made orthogonal
    in turn: in `columns`, (done - first) x (rows - first) or more, beside four vectors of rows - first in `spare`.
    """
    if done == rows:
        substitute(x, right, first, done, y)
        return
    wide, tall = done - first, rows - first
    left, nothing, place, factor = spare[0], spare[1], spare[2], spare[3]
    for i in range(tall):
        total = right[first + i]
        for c in range(first):
            total -= x[first + i, c] * y[c]
        left[i] = total
        for c in range(wide):  # beyond the diagonal a pivot's row holds its reflector
            columns[c, i] = x[first + i, first + c] if c <= i else 0.0
    for c in range(wide):
        place[c] = c
    orthogonalise(columns, nothing, place, factor, 0, wide, tall, 0.0)
    reflect_vector(columns, factor, wide, left, tall)
    for c in range(wide - 1, -1, -1):
        total = left[c]
        for k in range(c + 1, wide):
            total -= columns[k, c] * left[k]
        left[c] = total / columns[c, c]
    for c in range(wide):
        y[first + int(place[c])] = left[c]


@step
def dependence(x, done, row, z):
    """z[0:done] with row = sum z_i (row i of the pivots), for a row that depends on them."""
    for i in range(done - 1, -1, -1):
        total = x[row, i]
        for k in range(i + 1, done):
            total -= z[k] * x[k, i]
        z[i] = total / x[i, i]
