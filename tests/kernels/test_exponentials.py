"""Compiled Gaussian kernel values have the bits of NumPy's, wherever they are used at all."""

from __future__ import annotations

import numpy as np
import pytest

from refsvm import RBF
from refsvm.arithmetic import Arithmetic, fastest

from ..settings import INTERPRETED, NUMBA, needs_jit

DOUBLES, SINGLES = np.float64, np.float32


def values_of(way, exponents):
    """Return e^x of some x ≤ 0, as the kernel of these inner products with γ = ½."""
    inner, zeros = exponents[None].copy(), np.zeros(len(exponents))
    way.gaussian(inner, 0.5, zeros[:1], zeros)
    return inner[0]


def same(exponents):
    with np.errstate(under="ignore"):
        np.testing.assert_array_equal(
            *(values_of(way, exponents) for way in (fastest(), Arithmetic)), strict=True
        )


@needs_jit
@pytest.mark.parametrize("dtype", [DOUBLES, SINGLES])
@pytest.mark.parametrize("end", [1e-300, 1e-9, 1.0, 40.0, 104.0, 511.0, 513.0, 708.0, 746.0, 1e5])
def test_values_have_the_same_bits_up_to_this_exponent(dtype, end):
    same(-np.random.default_rng(0).uniform(0.0, end, 40_000).astype(dtype))


@needs_jit
@pytest.mark.parametrize(
    "end", [0.0, -103.2789, -103.97208, -103.97209, -512.0, -708.0, -708.3964, -745.1332, -746.0, -np.inf]
)
@pytest.mark.parametrize("dtype", [DOUBLES, SINGLES])
def test_values_have_the_same_bits_where_a_formula_changes(dtype, end):
    """Where they become subnormal, where they become 0, and where the C library fuses one operation less."""
    around = [dtype(end)]
    for towards in (dtype(0.0), dtype(-np.inf)):
        for _ in range(40):
            around.append(np.nextafter(around[-1], towards))
        around.append(dtype(end))
    same(np.array(around))


@pytest.mark.skipif(not (NUMBA and INTERPRETED), reason="compiled helpers have no entry for Python")
@pytest.mark.parametrize(("dtype", "lowest"), [(DOUBLES, -745.0), (SINGLES, -103.0)])
def test_the_formulas_run_as_python_are_the_exponential(dtype, lowest):
    """To two units in the last place, as nothing is fused there; and 0 beyond the least number."""
    from refsvm.compiled.interface import exponential

    way = exponential.double_exponentials if dtype is DOUBLES else exponential.single_exponentials
    x = np.concatenate([np.linspace(lowest, 0.0, 700), np.linspace(-1.0, 0.0, 50), [-800.0, -np.inf]]).astype(
        dtype
    )
    found = x.copy()
    way(found)
    expected = np.exp(x.astype(np.longdouble)).astype(dtype)
    assert (np.abs(found - expected) <= 2.0 * np.spacing(expected)).all()
    assert found[-2:].tolist() == [0.0, 0.0]


@needs_jit
def test_float32_values_have_the_same_bits_for_every_thousandth_float32():
    bits = np.arange(0x80000000, 0xC2D10000, 997, dtype=np.uint32)  # from −0 to −104.5
    same(bits.view(np.float32))


@needs_jit
def test_compiled_values_are_not_used_where_numpy_rounds_otherwise(monkeypatch):
    """As with AVX-512, and with other C libraries."""
    from refsvm.compiled.interface.gaussian import has_bits_of_numpy

    exp = np.exp
    for dtype in (DOUBLES, SINGLES):
        monkeypatch.setattr(
            np, "exp", lambda x, dtype=dtype: np.nextafter(exp(x), 1.0) if x.dtype == dtype else exp(x)
        )
        assert not has_bits_of_numpy()


@needs_jit
def test_a_kernel_is_the_exponential_of_distances():
    fastest()
    X = np.random.default_rng(1).normal(size=(40, 3))
    distances = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(RBF(0.7)(X, X), np.exp(-0.7 * distances), rtol=1e-13, atol=1e-300)
