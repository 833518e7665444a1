"""Compiled products of sparse rows with a dense table, and of sparse rows with sparse features."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numba import from_dtype, int64, types, void

from refsvm.compiled.interface.twin import cached, inlined

TILE = 2048
"""Number of columns that are computed at a time: their sums stay in the innermost cache, and values that are read from
the table serve all rows."""

_rows = types.Array(int64, 1, "C", readonly=True)


def times(rows, data, indices, indptr, table, start, out):  # type: ignore[no-untyped-def]
    """Call the version of `product` that is compiled for these types of indices and values."""
    product_for(indices.dtype, table.dtype)(rows, data, indices, indptr, table, start, out)


@cache
def product_for(kind: np.dtype, real: np.dtype) -> Callable[..., Any]:
    """Return `product`, compiled for indices and values of these types."""
    indices, value = types.Array(from_dtype(kind), 1, "C", readonly=True), from_dtype(real)
    values, table = (types.Array(value, k, "C", readonly=True) for k in (1, 2))
    out = types.Array(value, 2, "C")
    return cached(product, void(_rows, values, indices, indices, table, int64, out), nogil=True)


def times_features(rows, data, indices, indptr, features, out):  # type: ignore[no-untyped-def]
    """Call the version of `sparse_product` that is compiled for these types; `features` is Zᵀ as CSR."""
    compiled = sparse_product_for(indices.dtype, features.indices.dtype, out.dtype)
    compiled(rows, data, indices, indptr, features.data, features.indices, features.indptr, out)


@cache
def sparse_product_for(kind: np.dtype, other: np.dtype, real: np.dtype) -> Callable[..., Any]:
    """Return `sparse_product`, compiled for these types of the indices of both matrices and of the values."""
    value = from_dtype(real)
    values, *indices = (types.Array(t, 1, "C", readonly=True) for t in map(from_dtype, (real, kind, other)))
    matrices = [each for k in indices for each in (values, k, k)]
    return cached(sparse_product, void(_rows, *matrices, types.Array(value, 2, "C")), nogil=True)


def product(rows, data, indices, indptr, table, start, out):  # type: ignore[no-untyped-def]
    """Compute outᵢₜ = Σₖ Xᵣₖ tableₖₛ for the rows r = rows[i] of a CSR matrix X and the columns s = start + t.

    The terms of each sum are added in the order of the entries of row r, as in `sparse_product`. Zeros of the table
    change no sum. One pass over the sums adds four rows of the table, so that the sums are read and written only once
    for four rows. The inner loop runs along the table, so that one register holds several sums.
    """
    zero = table.dtype.type(0)  # a literal 0.0 would make float32 sums float64
    for left in range(0, out.shape[1], TILE):
        right = min(left + TILE, out.shape[1])
        for i in range(len(rows)):
            sums, place, stop = out[i, left:right], indptr[rows[i]], indptr[rows[i] + 1]
            begin, end = start + left, start + right
            for t in range(len(sums)):
                sums[t] = 0.0
            while place < stop:
                # if the last group has fewer than four entries, add 0 times the last row for each missing entry
                last = stop - 1
                two, three, four = min(place + 1, last), min(place + 2, last), min(place + 3, last)
                a = data[place]
                b = data[two] if place + 1 < stop else zero
                c = data[three] if place + 2 < stop else zero
                d = data[four] if place + 3 < stop else zero
                first, second = table[indices[place], begin:end], table[indices[two], begin:end]
                third, fourth = table[indices[three], begin:end], table[indices[four], begin:end]
                for t in range(len(sums)):
                    sums[t] = (((sums[t] + a * first[t]) + b * second[t]) + c * third[t]) + d * fourth[t]
                place += 4


@inlined
def sparse_row(r, data, indices, indptr, values, examples, ends, sums):  # type: ignore[no-untyped-def]
    """Write row r of `sparse_product`."""
    for s in range(len(sums)):
        sums[s] = 0.0
    for place in range(indptr[r], indptr[r + 1]):
        x, k = data[place], indices[place]
        for t in range(ends[k], ends[k + 1]):
            sums[examples[t]] += x * values[t]


def sparse_product(rows, data, indices, indptr, values, examples, ends, out):  # type: ignore[no-untyped-def]
    """Compute outᵢₛ = Σₖ Xᵣₖ Zₛₖ for the rows r = rows[i] of a CSR matrix X; Zᵀ is also a CSR matrix.

    The loop visits only the features for which row r has entries, and adds in the order of the entries, as SciPy does.
    The result therefore has the same bits as SciPy's result, unless SciPy was compiled with instructions that add a
    product to a sum and round only once.
    """
    for i in range(len(rows)):
        sparse_row(rows[i], data, indices, indptr, values, examples, ends, out[i])
