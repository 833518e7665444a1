"""Twin of `np.exp` for exponents of at most 0, with the same bits on processors without AVX-512.

For float64 NumPy calls the C library there, for one number after another. Here the formula of that library (glibc from
2.28 on, with fused multiply-add) takes several at once; its constants are those of the Arm Optimized Routines (MIT
licence). For float32 it is NumPy's formula, a ratio of two polynomials with the coefficients of NumPy (BSD licence),
without the cases that no exponent of `refsvm.RBF` meets. NumPy's formula for AVX-512, and other
libraries, round otherwise. So this is used only where `refsvm.compiled.interface.gaussian.has_bits_of_numpy`.
"""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from typing import Any

import numpy as np
from numba import float32, float64, types
from numba.extending import intrinsic, overload

from refsvm.compiled.interface.twin import inlined

VECTOR, DOUBLE_ROWS, SINGLE_ROWS = (
    types.Array(float64, 1, "C", readonly=True), types.Array(float64, 2, "C"), types.Array(float32, 2, "C"),
)  # fmt: skip

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

LEAST32 = np.float32(-103.97208404541015625)
"""Up to here e^x is 0 in float32."""

PER_STEP32 = np.float32(1.0 / math.log(2.0))
MINUS_HIGH32, MINUS_LOW32 = np.float32(-0.693145752), np.float32(-1.42860677e-6)
ROUNDER32, ROUNDER32_BITS = np.float32(3 * 2.0**22), np.int32(0x4B400000)
"""The same for float32, in steps of ln 2."""

P0, P1, P2 = np.float32(1.0), np.float32(0.7257664613233124), np.float32(0.24736154348955208)
P3, P4 = np.float32(0.05114512081637298), np.float32(0.006757896990527505)
P5 = np.float32(0.0005082762527590694)
Q0, Q1, Q2 = np.float32(1.0), np.float32(-0.27423353904116675), np.float32(0.02159509375685830)
"""e^r ≈ (P0 + P1 r + … + P5 r⁵)/(Q0 + Q1 r + Q2 r²) for |r| ≤ ln(2)/2."""

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
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.fma(*arguments)

    return a(a, a, a), generate


@inlined
def double_exponentials(row):  # type: ignore[no-untyped-def]
    """Turn float64 x ≤ 0 into e^x."""
    rare = 0
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


@inlined
def single_exponentials(row):  # type: ignore[no-untyped-def]
    """Turn float32 x ≤ 0 into e^x."""
    for t in range(len(row)):
        x = row[t]
        inside = x if x > LEAST32 else np.float32(0.0)  # a power too small for 24 bits takes long
        # k = round(x/ln 2),  r = x − k ln 2
        shifted = inside * PER_STEP32 + ROUNDER32
        whole = shifted - ROUNDER32
        r = fused(whole, MINUS_LOW32, fused(whole, MINUS_HIGH32, inside))
        above = fused(fused(fused(fused(fused(P5, r, P4), r, P3), r, P2), r, P1), r, P0)
        below = fused(fused(Q2, r, Q1), r, Q0)
        # 2^k as two factors: below 2^−126 a float32 has no such power
        k = np.float32(shifted).view(np.int32) - ROUNDER32_BITS
        first = max(k, np.int32(-125))
        value = above / below * power_of_two(first) * power_of_two(k - first)
        row[t] = value if x > LEAST32 else np.float32(0.0)


@inlined
def power_of_two(k):  # type: ignore[no-untyped-def]
    """Return 2^k, float32."""
    return np.int32((k + np.int32(127)) << np.int32(23)).view(np.float32)


def exponentials(row):  # type: ignore[no-untyped-def]
    """Turn x ≤ 0 into e^x."""
    np.exp(row, out=row)


@overload(exponentials, inline="always")
def _exponentials(row):  # type: ignore[no-untyped-def]
    if row.dtype == types.float32:
        return lambda row: single_exponentials(row)  # noqa: PLW0108  Numba wants these arguments
    return lambda row: double_exponentials(row)  # noqa: PLW0108


@inlined
def exponents_of(row, gamma, x_part, z_norms):  # type: ignore[no-untyped-def]
    """Turn the x·z of one x into exponents."""
    for t in range(len(row)):
        # −γ‖x − z‖² = 2γ x·z − γ‖x‖² − γ‖z‖², cut off at 0
        value = (2.0 * gamma) * np.float64(row[t]) - x_part - gamma * z_norms[t]
        row[t] = value if value < 0.0 else 0.0
