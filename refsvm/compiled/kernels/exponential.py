"""Twin of `np.exp` for exponents of at most 0: several float64 values at once, with the bits of the C library.

Where the processor has no AVX-512, NumPy calls the C library for one float64 after another. This is the formula of that
library (glibc from 2.28 on, with fused multiply-add), its constants are those of the Arm Optimized Routines, whose
licence is MIT. `has_bits_of_numpy` compares the two: NumPy's own formula for AVX-512, and other libraries, round
otherwise, and are then left to NumPy.
"""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from typing import Any

import numpy as np
from llvmlite import ir
from numba import float64, types, void
from numba.extending import intrinsic, overload

from refsvm.compiled.interface.twin import from_python

PARTS = 128
"""x = (k + δ) ln(2)/128, and 2^(k/128) comes from a table."""

PER_STEP = float.fromhex("0x1.71547652b82fep+7")
MINUS_HIGH, MINUS_LOW = float.fromhex("-0x1.62e42fefa0000p-8"), float.fromhex("-0x1.cf79abc9e3b3ap-47")
"""128/ln 2, and −ln(2)/128 as the sum of two floats, of which the first has few bits."""

C2, C3 = float.fromhex("0x1.ffffffffffdbdp-2"), float.fromhex("0x1.555555555543cp-3")
C4, C5 = float.fromhex("0x1.55555cf172b91p-5"), float.fromhex("0x1.1111167a4d017p-7")
"""e^r ≈ 1 + r + C2 r² + C3 r³ + C4 r⁴ + C5 r⁵ for |r| ≤ ln(2)/256."""

ROUNDER = float.fromhex("0x1.8p52")
"""Added to a number, it leaves the nearest whole one in the lowest bits of the sum."""

LEAST, NOTHING, SPLIT = -708.0, -746.0, -512.0
"""Below LEAST e^x has fewer bits than a float64 usually has, below NOTHING it is 0. From SPLIT on the library fuses one
multiplication less."""

UP = 1022
"""Powers of two by which e^x is multiplied until the end, so that no product loses bits."""


def powers_of_two() -> tuple[np.ndarray, np.ndarray]:
    """Return the bits of 2^(k/128) less those of 2^k, for k = 0 … 127, and the relative rounding of these powers."""
    bits, rounding, power = [], [], Decimal(1)
    with localcontext() as context:
        context.prec = 40
        root = Decimal(2)
        for _ in range(PARTS.bit_length() - 1):
            root = root.sqrt()
        for k in range(PARTS):
            nearest = float(power)
            bits.append(np.float64(nearest).view(np.int64) + ((UP << 52) - (k << 45)))
            rounding.append(float(power / Decimal(nearest) - 1))
            power *= root
    return np.array(bits), np.array(rounding)


SCALES, TAILS = powers_of_two()


def fused(a, b, c):  # type: ignore[no-untyped-def]
    """Return ab + c, rounded once; where nothing is compiled, twice."""
    return a * b + c


@overload(fused, inline="always")
def _fused(a, b, c):  # type: ignore[no-untyped-def]
    return lambda a, b, c: _fuse(a, b, c)  # noqa: PLW0108  Numba wants these arguments


@intrinsic  # type: ignore[misc,unused-ignore]
def _fuse(typing_context, a, b, c):  # type: ignore[no-untyped-def]
    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        return builder.fma(*arguments)

    return types.float64(types.float64, types.float64, types.float64), generate


@from_python(void(types.Array(float64, 2, "C")))
def exponentials(values):  # type: ignore[no-untyped-def]
    """Twin of `refsvm.arithmetic.Arithmetic.exponentials` for float64."""
    for i in range(len(values)):
        row, rare = values[i], 0
        for t in range(len(row)):  # without branches, so that several are computed at once
            x = row[t]
            inside = max(x, LEAST)
            # k = round(128 x/ln 2),  r = x − k ln(2)/128
            shifted = fused(PER_STEP, inside, ROUNDER)
            k = np.float64(shifted).view(np.int64)
            whole = shifted - ROUNDER
            r = fused(whole, MINUS_LOW, fused(whole, MINUS_HIGH, inside))
            part = k & (PARTS - 1)
            scale = np.int64(SCALES[part] + (k << 45)).view(np.float64)
            # e^r − 1
            square = r * r
            more = fused(square, fused(r, C3, C2), TAILS[part] + r)
            more = fused(square * square, fused(r, C5, C4), more)
            value = fused(scale, more, scale) if x > SPLIT else scale + scale * more
            value = value * 2.0**-UP if x >= LEAST else 0.0
            is_rare = (x < LEAST) & (x > NOTHING)
            rare += 1 if is_rare else 0
            row[t] = x if is_rare else value
        if rare > 0:
            for t in range(len(row)):
                if row[t] < 0.0:
                    row[t] = math.exp(row[t])  # that of the C library


def has_bits_of_numpy() -> bool:
    """Whether `exponentials` returns what `np.exp` returns, for some thousand values, of which half are hard to round.

    Examples
    --------
    >>> from refsvm.compiled.kernels.exponential import has_bits_of_numpy
    >>> type(has_bits_of_numpy())
    <class 'bool'>
    """
    halfway = -(np.arange(0.0, 128_000.0, 127.0) + 0.5) / PER_STEP  # between two k
    even = np.arange(1000.0)
    values = np.concatenate([halfway, np.nextafter(halfway, 0.0), -0.757 * even, -0.0137 * even])[None]
    found = values.copy()
    exponentials(found)
    with np.errstate(under="ignore"):
        return np.array_equal(found, np.exp(values))
