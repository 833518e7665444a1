"""Compiled twin of `refsvm.core.kernels.rows`: sums of rows."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numba import float64, from_dtype, int64, types, void

from refsvm.compiled.interface.twin import cached, called

_target = types.Array(float64, 1, "C")
_factors, _indices = (types.Array(kind, 1, "C", readonly=True) for kind in (float64, int64))


@called
def add_rows(target, factors, rows, chosen, count):  # type: ignore[no-untyped-def]
    """Compiled twin of `refsvm.core.arithmetic.Arithmetic.add_rows` for the first `count` factors, with the same bits.

    One pass over the target adds four rows in their order, so that the target is read and written only once for four
    rows. Rows may be longer than the target, and `chosen`, the indices of the rows, may be float64.
    """
    length, whole = len(target), count - count % 4
    for k in range(0, whole, 4):
        a, b, c, d = factors[k], factors[k + 1], factors[k + 2], factors[k + 3]
        one, two = rows[int(chosen[k])][:length], rows[int(chosen[k + 1])][:length]
        three, four = rows[int(chosen[k + 2])][:length], rows[int(chosen[k + 3])][:length]
        for t in range(length):
            target[t] = (((target[t] + a * one[t]) + b * two[t]) + c * three[t]) + d * four[t]
    for k in range(whole, count):
        a, one = factors[k], rows[int(chosen[k])][:length]
        for t in range(length):
            target[t] += a * one[t]


def add_rows_from_python(target, factors, rows, chosen):  # type: ignore[no-untyped-def]
    """Call the version of `addition` that is compiled for the dtype of `rows`."""
    addition_for(rows.dtype)(target, factors, rows, chosen)


@cache
def addition_for(kind: np.dtype) -> Callable[..., Any]:
    """Return `addition` compiled for rows of the type `kind`."""
    rows = types.Array(from_dtype(kind), 2, "C", readonly=True)
    return cached(addition, void(_target, _factors, rows, _indices), nogil=True)


def addition(target, factors, rows, chosen):  # type: ignore[no-untyped-def]
    """Give Python an entry point to `add_rows`."""
    add_rows(target, factors, rows, chosen, len(chosen))
