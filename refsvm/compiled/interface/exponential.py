"""Twin of the exponential of `refsvm.core.arithmetic`, for one number; the compiler builds it into loops."""

from __future__ import annotations

import numpy as np
from numba import types
from numba.extending import overload

from refsvm.compiled.interface.twin import inlined
from refsvm.core.arithmetic import DOUBLE, SINGLE

LEAST, PER_UNIT, ROUNDER, HIGH, LOW, (C2, C3, C4, C5, C6, C7, C8, C9, C10, C11) = DOUBLE[:6]
LEAST32, PER_UNIT32, ROUNDER32, HIGH32, LOW32, (S2, S3, S4, S5, S6) = SINGLE[:6]
BITS, BITS32, ZERO32, ONE32 = (
    DOUBLE.fraction_bits,
    np.int32(SINGLE.fraction_bits),
    np.float32(0.0),
    np.float32(1.0),
)


@inlined
def reduced(x):  # type: ignore[no-untyped-def]
    """Compiled twin of `refsvm.core.arithmetic.reduced`, float64."""
    inside = max(x, LEAST)
    shifted = inside * PER_UNIT + ROUNDER
    k = shifted - ROUNDER
    r = (inside - k * HIGH) - k * LOW
    square = r * r
    fourth = square * square
    low = (C2 + C3 * r) + square * (C4 + C5 * r)
    high = fourth * (((C6 + C7 * r) + square * (C8 + C9 * r)) + fourth * (C10 + C11 * r))
    return shifted, r + square * (low + high)


@inlined
def scaled(power, k):  # type: ignore[no-untyped-def]
    """Compiled twin of `refsvm.core.arithmetic.scaled`, float64."""
    bits = np.float64(power).view(np.int64) + (np.float64(k).view(np.int64) << BITS)
    return np.int64(bits).view(np.float64)


@inlined
def double_exponential(x):  # type: ignore[no-untyped-def]
    """Return e^x for a float64 x ≤ 0."""
    k, less_one = reduced(x)
    return scaled(1.0 + less_one, k) if x > LEAST else 0.0


@inlined
def single_exponential(x):  # type: ignore[no-untyped-def]
    """Return e^x for a float32 x ≤ 0."""
    inside = max(x, LEAST32)
    shifted = inside * PER_UNIT32 + ROUNDER32
    k = shifted - ROUNDER32
    r = (inside - k * HIGH32) - k * LOW32
    square = r * r
    power = ONE32 + (r + square * ((S2 + S3 * r) + square * ((S4 + S5 * r) + square * S6)))
    bits = np.float32(power).view(np.int32) + (np.float32(shifted).view(np.int32) << BITS32)
    return np.int32(bits).view(np.float32) if x > LEAST32 else ZERO32


def exponential(x):  # type: ignore[no-untyped-def]
    """Return e^x for x ≤ 0, in the type of x."""
    return single_exponential(x) if isinstance(x, np.float32) else double_exponential(x)


@overload(exponential, inline="always")
def _exponential(x):  # type: ignore[no-untyped-def]
    if x == types.float32:
        return lambda x: single_exponential(x)  # noqa: PLW0108  Numba needs these arguments
    return lambda x: double_exponential(x)  # noqa: PLW0108
