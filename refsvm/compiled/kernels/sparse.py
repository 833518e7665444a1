"""Compiled product of sparse rows with a dense table."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numba import float64, from_dtype, int64, types, void

from refsvm.compiled.interface.twin import cached

__all__ = ["times"]

TILE = 2048
"""Columns at a time: their sums stay in the innermost cache, and what is read of the table serves all rows."""

_values = types.Array(float64, 1, "C", readonly=True)
_table, _out = types.Array(float64, 2, "C", readonly=True), types.Array(float64, 2, "C")
_rows = types.Array(int64, 1, "C", readonly=True)


def times(rows, data, indices, indptr, table, start, out):  # type: ignore[no-untyped-def]
    """Call `product`, compiled for this type of indices."""
    product_for(indices.dtype)(rows, data, indices, indptr, table, start, out)


@cache
def product_for(kind: np.dtype) -> Callable[..., Any]:
    """Return `product` compiled for indices of this type: few programs need more than one."""
    indices = types.Array(from_dtype(kind), 1, "C", readonly=True)
    return cached(product, void(_rows, _values, indices, indices, _table, int64, _out), nogil=True)


def product(rows, data, indices, indptr, table, start, out):  # type: ignore[no-untyped-def]
    """outᵢₜ = Σₖ Xᵣₖ tableₖₛ for the rows r = rows[i] of a CSR matrix X and the columns s = start + t.

    Four rows of the table at a time, so that the sums are fetched and put back a quarter as often; the inner loop runs
    along the table, where several sums fit into one register.
    """
    for left in range(0, out.shape[1], TILE):
        right = min(left + TILE, out.shape[1])
        for i in range(len(rows)):
            sums, place, stop = out[i, left:right], indptr[rows[i]], indptr[rows[i] + 1]
            begin, end = start + left, start + right
            for t in range(len(sums)):
                sums[t] = 0.0
            while place < stop:
                # what is missing to four counts as 0 times the last
                last = stop - 1
                two, three, four = min(place + 1, last), min(place + 2, last), min(place + 3, last)
                a = data[place]
                b = data[two] if place + 1 < stop else 0.0
                c = data[three] if place + 2 < stop else 0.0
                d = data[four] if place + 3 < stop else 0.0
                first, second = table[indices[place], begin:end], table[indices[two], begin:end]
                third, fourth = table[indices[three], begin:end], table[indices[four], begin:end]
                for t in range(len(sums)):
                    sums[t] += (a * first[t] + b * second[t]) + (c * third[t] + d * fourth[t])
                place += 4
