"""The C code that the limit of a fit is measured with computes what it is timed for."""

from __future__ import annotations

import os
import shutil
import sys
from importlib import import_module

import numpy as np
import pytest

pytest.importorskip("sklearn")

from .rows import BENCHMARKS

needs_compiler = pytest.mark.skipif(
    not any(map(shutil.which, [os.environ.get("CC", ""), "cc", "gcc", "clang"])), reason="no C compiler"
)


@pytest.fixture
def limit(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    return import_module("limit")


@needs_compiler
@pytest.mark.skipif(sys.platform == "win32", reason="flags of gcc and clang")
@pytest.mark.parametrize(("dtype", "error"), [(np.float32, 1e-6), (np.float64, 1e-14)])
@pytest.mark.slow
def test_rows_are_those_of_the_kernel(limit, dtype, error, tmp_path):
    C, name = limit.compiled(str(tmp_path)), np.dtype(dtype).name
    n, d, width, gamma = 53, 7, 64, 0.3
    X = np.random.default_rng(0).normal(size=(n, d)).astype(dtype)
    Z, norms, chosen = np.zeros((d, width), dtype), np.zeros(width, dtype), np.array([3, 0, 52, 17, 9, 9])
    Z[:, :n], norms[:n] = X.T, gamma * (X**2).sum(axis=1)
    twice = dtype(2 * gamma) if dtype is np.float32 else 2 * gamma
    out = np.empty((6, n), dtype)
    limit.call(C[f"{name}_rows"], 6, n, d, width, chosen, Z, norms, twice, out)
    expected = np.exp(-gamma * ((X[chosen, None].astype(float) - X) ** 2).sum(axis=2))
    np.testing.assert_allclose(out, expected, atol=error, rtol=10 * error)
    products = X[chosen] @ X.T
    limit.call(C[f"{name}_exponentials"], 6, n, chosen, norms, twice, products)
    np.testing.assert_allclose(products, expected, atol=error, rtol=10 * error)


@needs_compiler
@pytest.mark.skipif(sys.platform == "win32", reason="flags of gcc and clang")
def test_a_step_along_one_row_leaves_the_gradient(limit, tmp_path):
    C = limit.compiled(str(tmp_path))
    K, G = np.random.default_rng(0).uniform(size=(1, 300)), np.random.default_rng(1).normal(size=300)
    before = G.copy()
    limit.call(C["float64_steps"], 300, 1, 9, K, G)  # of one row, Kᵢ − Kⱼ = 0
    assert np.array_equal(G, before)
