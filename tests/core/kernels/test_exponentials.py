"""The exponential of the package: right to a unit in the last place, the same bits in both halves, 0 at its end."""

from __future__ import annotations

import numpy as np
import pytest

from refsvm.core.arithmetic import Arithmetic, fastest

from ...settings import needs_jit, needs_numba

DOUBLES, SINGLES = np.float64, np.float32
ENDS = [1e-300, 1e-9, 1.0, 40.0, 86.9, 104.0, 707.9, 746.0, 1e5]


def values_of(way, exponents):
    """Return e^x of some x ≤ 0, as the kernel of these inner products with γ = ½."""
    inner, zeros = exponents[None].copy(), np.zeros(len(exponents), exponents.dtype)
    way.gaussian(inner, 0.5, zeros[:1], zeros)
    return inner[0]


def same(exponents):
    np.testing.assert_array_equal(
        *(values_of(way, exponents) for way in (fastest(), Arithmetic)), strict=True
    )


def about(end, dtype):
    return -np.random.default_rng(0).uniform(0.0, end, 40_000).astype(dtype)


@pytest.mark.parametrize(("dtype", "least", "units"), [(DOUBLES, -708.0, 1.05), (SINGLES, -87.0, 1.05)])
@pytest.mark.parametrize("end", ENDS)
def test_values_are_right_to_a_unit_in_the_last_place(dtype, least, units, end):
    x = about(end, dtype)
    found = values_of(Arithmetic, x)
    # the exponential of the C library in extended precision has digits to spare; where it has none, this says less
    exact = np.exp(x.astype(np.longdouble))
    inside = x > least
    error = np.abs(found - exact)[inside] / np.spacing(exact.astype(dtype))[inside]
    assert error.max(initial=0.0) <= units
    assert (found[~inside] == 0.0).all()
    assert found.dtype == dtype


@pytest.mark.parametrize(("dtype", "least"), [(DOUBLES, -708.0), (SINGLES, -87.0)])
def test_values_end_at_zero(dtype, least):
    around = np.nextafter(dtype(least), dtype(0.0)), least, 10.0 * least, -3e38, -np.inf
    found = np.array(around, dtype=dtype)
    Arithmetic.exponentials(found)
    assert found[0] > 0.0
    assert not found[1:].any()


@needs_jit
@pytest.mark.parametrize("dtype", [DOUBLES, SINGLES])
def test_both_halves_have_the_same_bits(dtype):
    """Of numbers of all sizes, next to the ends, and of every thousandth float32 from −0 to −104.5."""
    for end in ENDS:
        same(about(end, dtype))
    for end in (0.0, -87.0, -708.0):
        around = [dtype(end)]
        for towards in (dtype(0.0), dtype(-np.inf)):
            for _ in range(40):
                around.append(np.nextafter(around[-1], towards))
            around.append(dtype(end))
        same(np.array(around))
    if dtype is SINGLES:
        same(np.arange(0x80000000, 0xC2D10000, 997, dtype=np.uint32).view(np.float32))


@needs_numba
@pytest.mark.parametrize(("dtype", "lowest"), [(DOUBLES, -800.0), (SINGLES, -103.0)])
def test_the_compiled_formulas_run_as_python_have_the_same_bits(dtype, lowest):
    from refsvm.compiled.interface import exponential

    def plain(function):
        return getattr(function, "py_func", function)

    x = np.concatenate([np.linspace(lowest, 0.0, 500), np.linspace(-1.0, 0.0, 50), [-1e4]]).astype(dtype)
    way = exponential.double_exponential if dtype is DOUBLES else exponential.single_exponential
    if plain(way) is way or dtype is SINGLES:  # the other one calls a compiled helper
        np.testing.assert_array_equal([plain(way)(each) for each in x], values_of(Arithmetic, x))


def test_a_part_of_a_larger_array_is_written_in_place():
    table = -np.arange(24.0).reshape(4, 6)
    expected = np.exp(table)
    Arithmetic.exponentials(table[1:3, ::2])
    np.testing.assert_allclose(table[1:3, ::2], expected[1:3, ::2], rtol=1e-15)
    assert table[0].tolist() == (-np.arange(6.0)).tolist()
