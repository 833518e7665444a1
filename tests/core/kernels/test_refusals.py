"""What kernels, kernel matrices and stores of rows refuse: a call, and a part of the sentence that names it."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest

from refsvm import RBF, Linear, Polynomial, Precomputed, Sigmoid
from refsvm.analysis.paths.extending import grown
from refsvm.core.kernels import Gram
from refsvm.core.kernels import gram as module
from refsvm.core.kernels.cached_rows import CachedRows, stored_rows
from refsvm.core.kernels.checked import cross_values, gram_of_rows
from refsvm.core.kernels.matrix import KernelMatrix, View
from refsvm.core.kernels.rows import megabytes

X = np.random.default_rng(0).normal(size=(12, 3))
K = X @ X.T
SOME = np.arange(3)
NO_GAMMAS = (
    (-1.0, "gamma=-1.0"), (math.nan, "gamma=nan"), ("scale", "gamma='scale'"),
    ([1.0, -1.0], r"gamma=\[1.0, -1.0\] .* negative number"), ([1.0, math.nan], "gamma contains NaN"),
    ([], r"gamma=\[\] "), ([[1.0], [2.0]], r"gamma has shape \(2, 1\)"), (["a"], "gamma holds 'a'"),
)  # fmt: skip
FEW_GAMMAS = "gamma has 2 entries, but X has 3 features; give one number"

REFUSED = [
    *((partial(RBF, gamma), words) for gamma, words in NO_GAMMAS),
    (partial(Gram, RBF([1.0, 2.0]), X), FEW_GAMMAS),
    (partial(RBF([1.0, 2.0]), X, X), FEW_GAMMAS),
    (partial(Polynomial, degree=-1), "degree=-1"),
    (partial(Polynomial, degree=2.5), "degree=2.5"),
    (partial(Polynomial, gamma=-0.5), "gamma=-0.5"),
    (partial(Polynomial, coef0=math.inf), "coef0=inf"),
    (partial(Sigmoid, gamma=-2.0), "gamma=-2.0"),
    (partial(Sigmoid, coef0=math.nan), "coef0=nan"),
    *((partial(stored_rows, Gram(kernel, data), cache_mb), "cache_mb=")
      for cache_mb in (0, -1.0, np.nan, "much", None)
      for kernel, data in ((Linear(), X), (Precomputed(), K))),
    (partial(gram_of_rows, Precomputed(), K[:5], SOME),
     r"shape \(5, 12\); expected a square matrix, shape \(5, 5\)"),
    (partial(cross_values, View(Gram(Precomputed(), K), SOME), SOME, np.ones((2, 5))),
     r"X has shape \(2, 5\); .* for each of the 12 training examples"),
    (partial(cross_values, Gram(Linear(), X), SOME, np.ones((2, 2))),
     "X has 2 features; give 3, as in the training data"),
    (partial(Gram, Precomputed(), np.full((2, 2), np.nan)), "takes the value nan"),
    (partial(grown, Gram(Precomputed(), K[:3, :3]), K[3:5, :3]), r"all 5 examples, shape \(2, 5\)"),
    *((partial(grown, Gram(kernel, np.zeros((3, 2))), np.zeros((1, 4))),
       "X has 4 features, but the problem's examples have 2") for kernel in (RBF(0.1), Linear())),
]  # fmt: skip


@pytest.mark.parametrize(("call", "words"), REFUSED)
def test_what_is_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_a_matrix_grows_by_whole_rows():
    np.testing.assert_array_equal(
        grown(Gram(Precomputed(), K[:3, :3]), K[3:5, :5]).block(np.arange(5)), K[:5, :5]
    )
    assert grown(Gram(RBF(0.1), np.zeros((3, 2))), np.ones((2, 2))).n == 5


@pytest.mark.parametrize("cache_mb", [megabytes(1.5, 12), 1e-9])
def test_a_budget_below_two_rows_is_refused_with_the_least_that_works(cache_mb):
    with pytest.raises(ValueError, match="does not hold two kernel rows of 12 float64 values") as refusal:
        CachedRows(Gram(Linear(), X), cache_mb)
    assert f"cache_mb={cache_mb!r}" in str(refusal.value)
    least = float(str(refusal.value).split("at least ")[1].rstrip("."))
    assert CachedRows(Gram(Linear(), X), least * 1.01).capacity == 2


@pytest.mark.parametrize("missing", ["block", "diagonal"])
def test_a_kernel_matrix_has_blocks_and_a_diagonal(missing):
    own = {name: getattr(View, name) for name in ("block", "diagonal") if name != missing}
    with pytest.raises(TypeError, match=missing):
        type("Own", (KernelMatrix,), own)()


@pytest.mark.filterwarnings("ignore:overflow encountered")
@pytest.mark.parametrize("tile", [35, 36], ids=["mirrored", "row by row"])
@pytest.mark.parametrize("is_sparse", [False, True])
def test_values_that_overflow_are_refused_whatever_part_is_asked_for(is_sparse, tile, monkeypatch):
    """As float64 above 1e300, as float32 above 3.4e38; of a kernel with a bound there are none."""
    monkeypatch.setattr(module, "TILE_ENTRIES", tile)
    make = pytest.importorskip("scipy.sparse").csr_matrix if is_sparse else np.asarray
    too_large, large = (make(size * np.arange(1.0, 7.0)[:, None]) for size in (1e120, 1e20))
    cube, every = Polynomial(degree=3, gamma=1.0), np.arange(6)
    exact = (np.arange(1.0, 7.0) * np.arange(1.0, 7.0)[:, None]) ** 3 * 1e120
    for asked in ((every,), (every[:2],), (every[:2], every[:3]), (every[[4, 2]],), (every[1:2],)):
        with pytest.raises(
            ValueError, match=r"the value inf, but .* between -1e300 and 1e300; scale the data"
        ):
            Gram(cube, too_large).block(*asked)
        part = exact[asked[0]] if len(asked) == 1 else exact[np.ix_(*asked)]
        np.testing.assert_allclose(Gram(cube, large).block(*asked), part, rtol=1e-12)
        with pytest.raises(ValueError, match='cache_dtype="float64"'):
            Gram(cube, large).block(*asked, out=np.empty(part.shape, np.float32))
        assert np.isfinite(Gram(RBF(1.0), large).block(*asked)).all()
