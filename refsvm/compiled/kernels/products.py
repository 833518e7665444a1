"""Compiled twin of `refsvm.core.arithmetic`: inner products of dense data.

The inner loops run along the examples, so that one register holds the sums of several examples. The products of eight
features are added without a loop, because the compiler would not keep the sums of a short loop in a register.
"""

from __future__ import annotations

from refsvm.compiled.interface.twin import inlined
from refsvm.core.arithmetic import GROUP

COLUMNS = 8192
"""Number of columns that are computed at a time for a single row. Their sums stay in the second-level cache; with fewer
columns, the processor would read each feature in runs that are too short for prefetching."""

COLUMNS_OF_MANY = 2048
"""Number of columns that are computed at a time for several rows."""

FEATURES = 128
"""Number of features that are added at a time; their values are read from memory once for all rows."""


@inlined
def eight(x, k):  # type: ignore[no-untyped-def]
    """Return x[k] … x[k + 7], with 0 for entries after the end of x."""
    d, zero = len(x), x.dtype.type(0)
    return (
        x[k], x[k + 1] if k + 1 < d else zero, x[k + 2] if k + 2 < d else zero, x[k + 3] if k + 3 < d else zero,
        x[k + 4] if k + 4 < d else zero, x[k + 5] if k + 5 < d else zero, x[k + 6] if k + 6 < d else zero,
        x[k + 7] if k + 7 < d else zero,
    )  # fmt: skip


@inlined
def parts(features, k, left, right):  # type: ignore[no-untyped-def]
    """Return columns left … right of rows k … k + 7 of `features`; the last row replaces rows after the end."""
    last = len(features) - 1
    return (
        features[k, left:right], features[min(k + 1, last), left:right], features[min(k + 2, last), left:right],
        features[min(k + 3, last), left:right], features[min(k + 4, last), left:right],
        features[min(k + 5, last), left:right], features[min(k + 6, last), left:right],
        features[min(k + 7, last), left:right],
    )  # fmt: skip


@inlined
def group(x, f, t):  # type: ignore[no-untyped-def]
    """Return the sum of eight products, added in order."""
    return (
        x[0] * f[0][t] + x[1] * f[1][t] + x[2] * f[2][t] + x[3] * f[3][t]
        + x[4] * f[4][t] + x[5] * f[5][t] + x[6] * f[6][t] + x[7] * f[7][t]
    )  # fmt: skip


@inlined
def add_products(x, features, left, first, last, sums):  # type: ignore[no-untyped-def]
    """Add the products of features first … last to the sums of one x, eight at a time."""
    for k in range(first, last, GROUP):
        a, f = eight(x, k), parts(features, k, left, left + len(sums))
        for t in range(len(sums)):
            sums[t] += group(a, f, t)


@inlined
def add_products_of_four(x, features, left, first, last, sums):  # type: ignore[no-untyped-def]
    """Do the work of `add_products` for four x at once, with the same bits, reading each feature once for all four."""
    one, two, three, four = sums
    for k in range(first, last, GROUP):
        a, b, c, d = eight(x[0], k), eight(x[1], k), eight(x[2], k), eight(x[3], k)
        f = parts(features, k, left, left + len(one))
        for t in range(len(one)):
            # compute the sums for all four rows x before adding them, so that the values of f are read only once
            of_a, of_b, of_c, of_d = group(a, f, t), group(b, f, t), group(c, f, t), group(d, f, t)
            one[t] += of_a
            two[t] += of_b
            three[t] += of_c
            four[t] += of_d


@inlined
def write_products(X, rows, features, begin, out, left, right):  # type: ignore[no-untyped-def]
    """Write x·z for columns left … right of `out`."""
    m, d, zero = len(rows), len(features), out.dtype.type(0)
    for r in range(m):
        for t in range(left, right):
            out[r, t] = zero
    for first in range(0, d, FEATURES):
        last = min(first + FEATURES, d)
        for r in range(0, m - 3, 4):
            x = X[rows[r]], X[rows[r + 1]], X[rows[r + 2]], X[rows[r + 3]]
            sums = out[r, left:right], out[r + 1, left:right], out[r + 2, left:right], out[r + 3, left:right]
            add_products_of_four(x, features, begin + left, first, last, sums)
        for r in range(m - m % 4, m):
            add_products(X[rows[r]], features, begin + left, first, last, out[r, left:right])


def products(X, rows, features, start, out):  # type: ignore[no-untyped-def]
    """Compiled twin of `refsvm.core.arithmetic.Arithmetic.products`."""
    width = COLUMNS if len(rows) == 1 else COLUMNS_OF_MANY
    for left in range(0, out.shape[1], width):
        write_products(X, rows, features, start, out, left, min(left + width, out.shape[1]))


@inlined
def dot(x, z):  # type: ignore[no-untyped-def]
    """Return x·z, with the same bits as `products`."""
    total = x.dtype.type(0)
    for k in range(0, len(x), GROUP):
        a, b = eight(x, k), eight(z, k)
        total += (
            a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]
            + a[4] * b[4] + a[5] * b[5] + a[6] * b[6] + a[7] * b[7]
        )  # fmt: skip
    return total


def norms(X, out):  # type: ignore[no-untyped-def]
    """Compiled twin of `refsvm.core.arithmetic.Arithmetic.norms`."""
    for i in range(len(X)):
        out[i] = dot(X[i], X[i])


def products_of_rows(X, W, out):  # type: ignore[no-untyped-def]
    """Compiled twin of `refsvm.core.arithmetic.Arithmetic.products_of_rows`."""
    for i in range(len(X)):
        for p in range(len(W)):
            out[i, p] = dot(X[i], W[p])
