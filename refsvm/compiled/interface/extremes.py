"""Finds the largest of many floats by comparing several at once.

The compiler normally compares floats one by one, because a float may be NaN. `larger` and `smaller` promise the
compiler that no float is NaN, so that the processor can compare several floats at once. The processor can also compare
several floats as integers, but without AVX-512 such a comparison takes more instructions. Loops over gains nevertheless
compare integers (`bits`): the additional instructions cost no time, because these loops mostly wait for divisions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from refsvm.compiled.interface.twin import inlined

LARGEST_INT64 = np.int64(0x7FFFFFFFFFFFFFFF)
MOST = float(np.finfo(np.float64).max)
"""The largest finite float, which is used in place of ∞: with ∞, LLVM would turn a choice into a branch."""
TILE = 128
"""Number of variables in a tile. Loops compare the extremes of tiles, and then search one tile for the index."""
TILE_OF_GAINS = 256
"""Number of variables in a tile for second-order selection, which spends most of its time on divisions."""


@inlined
def sortable_bits(x):  # type: ignore[no-untyped-def]
    """Return an integer that compares like the float x; −0 and 0 give the same integer."""
    bits = np.float64(x + 0.0).view(np.int64)
    return bits ^ ((bits >> np.int64(63)) & LARGEST_INT64)


@inlined
def bits(x):  # type: ignore[no-untyped-def]
    """Return an integer that compares like the float x ≥ 0, and is below 0 for x < 0."""
    return np.float64(x).view(np.int64)


@inlined
def from_bits(key):  # type: ignore[no-untyped-def]
    """Return the float x ≥ 0 with ``bits(x) == key``."""
    return np.int64(key).view(np.float64)


def larger(a, b):  # type: ignore[no-untyped-def]
    """Return the larger of two floats that are not NaN; for −0 and 0, return either."""
    return a if a > b else b


def smaller(a, b):  # type: ignore[no-untyped-def]
    """Return the smaller of two floats that are not NaN; for −0 and 0, return either."""
    return a if a < b else b


def _without_nan(name: str) -> Callable[..., Any]:
    """Return a Numba intrinsic that calls an LLVM function of two float64 with the promise that no argument is NaN."""

    @intrinsic  # type: ignore[misc,unused-ignore]
    def chosen(typing_context, a, b):  # type: ignore[no-untyped-def]
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            double = ir.DoubleType()
            shape = ir.FunctionType(double, [double, double])
            function = cgutils.get_or_insert_function(builder.module, shape, f"llvm.{name}.f64")
            # the flags nnan and nsz do not change the rounding
            return builder.call(function, arguments, fastmath=("nnan", "nsz"))

        return types.float64(types.float64, types.float64), generate

    return chosen


_larger, _smaller = _without_nan("maxnum"), _without_nan("minnum")


@overload(larger, inline="always")
def _overload_larger(a, b):  # type: ignore[no-untyped-def]
    return lambda a, b: _larger(a, b)  # noqa: PLW0108  Numba needs these arguments


@overload(smaller, inline="always")
def _overload_smaller(a, b):  # type: ignore[no-untyped-def]
    return lambda a, b: _smaller(a, b)  # noqa: PLW0108  Numba needs these arguments


@inlined
def first_gain(gains, largest):  # type: ignore[no-untyped-def]
    """Return the lowest index at which the gain has the bits `largest`."""
    count = np.int32(len(gains))
    place = count
    for t in range(len(gains)):  # 32-bit indices let the processor search several entries at once
        place = min(place, np.int32(t) if bits(gains[t]) == largest else count)
    return np.int64(place)


@inlined
def place_on_side(values, sides, side, extreme):  # type: ignore[no-untyped-def]
    """Return the lowest t on `side` (RISES, FALLS) with ``values[t] == extreme``; without such a t, the last index."""
    last = np.int32(len(values) - 1)
    place = last
    for t in range(len(values)):
        place = min(place, np.int32(t) if (values[t] == extreme) & ((sides[t] & side) != 0) else last)
    return np.int64(place)
