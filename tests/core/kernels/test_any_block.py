"""Any block of any kernel matrix, by the formula in extended precision: of views, stores and copies of it, too."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from refsvm import RBF, Kernel, Linear, Polynomial, Precomputed, Sigmoid
from refsvm.core import arithmetic
from refsvm.core.arithmetic import Arithmetic, fastest
from refsvm.core.kernels import Gram, blocks, sparse
from refsvm.core.kernels import gram as module
from refsvm.core.kernels.cached_rows import CachedRows, stored_rows
from refsvm.core.kernels.checked import cross_values, gram_of_rows
from refsvm.core.kernels.gram import dense_gram, held_from_products
from refsvm.core.kernels.matrix import View
from refsvm.core.kernels.rows import KernelRows, megabytes
from refsvm.testing import check_strategy

N, D = 40, 5
GAMMAS = np.array([0.7, 0.0, 2.0, 0.1, 0.3])


@dataclass(frozen=True)
class Cauchy(Kernel):
    """1/(1 + ‖x − z‖²), without the flags that allow faster code."""

    def from_inner(self, inner, x_norms, z_norms):
        return 1.0 / (1.0 + np.maximum(x_norms[:, None] + z_norms - 2.0 * inner, 0.0))


@dataclass(frozen=True)
class Root(Kernel):
    """‖x‖ + ‖z‖ − ‖x − z‖, whose diagonal is 2‖x‖."""

    def from_inner(self, inner, x_norms, z_norms):
        distances = np.sqrt(np.maximum(x_norms[:, None] + z_norms - 2.0 * inner, 0.0))
        return np.sqrt(x_norms)[:, None] + np.sqrt(z_norms) - distances


@dataclass(frozen=True)
class Anew(Kernel):
    """2 x·z + 1 in an array of its own: a kernel need not write to the inner products."""

    def from_inner(self, inner, x_norms, z_norms):
        return 2.0 * inner + 1.0


def smaller(A, B):
    return np.minimum(A[:, None], B).sum(axis=2)


def inner(A, B):
    return (A[:, None] * B).sum(axis=2)


def squares(A, B, gammas=1.0):
    return (gammas * (A[:, None] - B) ** 2).sum(axis=2)


def root(A, B):
    lengths = [np.sqrt((each * each).sum(axis=1)) for each in (A, B)]
    return lengths[0][:, None] + lengths[1] - np.sqrt(squares(A, B))


KERNELS = {
    "linear": (Linear(), inner),
    "rbf": (RBF(0.3), lambda A, B: np.exp(-0.3 * squares(A, B))),
    "rbf of features": (RBF(GAMMAS), lambda A, B: np.exp(-squares(A, B, GAMMAS))),
    "cubic": (Polynomial(3, 0.5, 1.5), lambda A, B: (0.5 * inner(A, B) + 1.5) ** 3),
    "square": (Polynomial(2, 2.0, -1.0), lambda A, B: (2.0 * inner(A, B) - 1.0) ** 2),
    "sigmoid": (Sigmoid(0.3, -0.2), lambda A, B: np.tanh(0.3 * inner(A, B) - 0.2)),
    "own, of distances": (Cauchy(), lambda A, B: 1.0 / (1.0 + squares(A, B))),
    "own, of norms": (Root(), root),
    "own, of products": (Anew(), lambda A, B: 2.0 * inner(A, B) + 1.0),
    "a function": (smaller, smaller),
    "whole numbers": (lambda A, B: np.ones((len(A), len(B)), dtype=int), lambda A, B: np.ones((len(A), len(B)))),
}  # fmt: skip


def numbers():
    rng = np.random.default_rng(3)
    return np.where(rng.random((N, D)) < 0.6, rng.normal(size=(N, D)), 0.0)


def stored(X, kind="csr_array", columns=None):
    """As CSR, each entry in two parts if `kind` says so, with the features in these of 2·10⁹ columns."""
    scipy_sparse = pytest.importorskip("scipy.sparse")
    S = getattr(scipy_sparse, "csr_matrix" if kind == "csr_matrix" else "csr_array")(X)
    if kind == "in parts":
        parts = np.repeat(S.data, 2) * np.tile([0.25, 0.75], S.nnz), np.repeat(S.indices, 2), 2 * S.indptr
        S = type(S)(parts, shape=S.shape)
    if kind == "read-only":
        for part in (S.data, S.indices, S.indptr):
            part.flags.writeable = False
    if kind == "wide":
        S = type(S)((S.data, 400_000_000 * S.indices.astype(np.int64), S.indptr), shape=(len(X), 2 * 10**9))
    return S


DATA = {
    "dense": numbers,
    "transposed": lambda: np.asfortranarray(numbers()),
    "far": lambda: numbers() + 1e6 * np.arange(1.0, D + 1.0),
    "few entries": lambda: np.pad(numbers(), ((0, 0), (0, 4000))),
    **{kind: lambda kind=kind: stored(numbers(), kind)
       for kind in ("csr_matrix", "csr_array", "in parts", "read-only", "wide")},
}  # fmt: skip

SCIPY = {"current": Arithmetic()}
WAYS = {
    "as it is": {},
    "in small parts": {
        "TILE_ENTRIES": 100, "FEWEST_ROWS": 8, "BLOCK_ENTRIES": 64, "TILE_ROWS": 16, "TILE_COLUMNS": 11,
        "ROWS_AT_ONCE": 7, "SHARED_FROM": 50,
    },
    "without compiled code": SCIPY,
    "by a table": {"TABLE_FROM_ENTRIES": 1},
    "SciPy, sparse": {**SCIPY, "SPARSE_BELOW": 1.0, "WORK_BYTES": 700},
    "SciPy, dense columns": {**SCIPY, "SPARSE_BELOW": 0.0, "WORK_BYTES": 700},
}  # fmt: skip

SPARSE = ["few entries", "csr_matrix", "csr_array", "in parts", "read-only", "wide"]
CASES = [
    *((kernel, "dense", way) for kernel in KERNELS for way in ("as it is", "in small parts", "without compiled code")),
    *((kernel, data, "as it is") for kernel in ("linear", "rbf") for data in DATA if data != "dense"),
    *((kernel, "csr_array", "as it is") for kernel in KERNELS if kernel not in ("a function", "whole numbers")),
    *(("rbf", data, way) for data in SPARSE for way in WAYS),
    *(("rbf", "far", way) for way in WAYS),
]  # fmt: skip


@pytest.fixture(params=dict.fromkeys(CASES), ids=", ".join)
def case(request, monkeypatch):
    """A matrix, its data and its formula, evaluated in one of the ways."""
    name, data, way = request.param
    fastest()
    if data == "few entries":
        monkeypatch.setattr(sparse, "COMPRESSED_ENTRIES", 1)
    for constant, value in WAYS[way].items():
        for place in (module, blocks, sparse, arithmetic):
            if hasattr(place, constant):
                monkeypatch.setattr(place, constant, value)
    kernel, formula = KERNELS[name]
    X = DATA[data]()
    if name == "rbf of features" and data == "few entries":
        kernel = RBF(np.append(GAMMAS, np.zeros(4000)))
    values = DATA["far"]() if data == "far" else numbers()
    K = formula(values.astype(np.longdouble), values.astype(np.longdouble)).astype(float)
    return Gram(kernel, X), K


def parts(n):
    """Rows and columns that may be asked for."""
    every, some, one = np.arange(n), np.array([n - 1, 0, 7, 7, 3]), np.array([5])
    down = every[::-1].copy()
    yield from ((every, None), (down, None), (some, None), (one, None))
    yield from ((every, some), (some, down), (one, some), (some, np.array([2])))


def agree(matrix, K, near):
    """Each block of a matrix, as float64 and as float32, in C order; the rows and the diagonal."""
    for rows, columns in parts(len(K)):
        expected = K[rows] if columns is None else K[np.ix_(rows, columns)]
        found, out = matrix.block(rows, columns), np.full(expected.shape, np.nan, np.float32)
        assert (found.dtype, found.flags.c_contiguous) == (np.float64, True)
        np.testing.assert_allclose(found, expected, rtol=near, atol=near)
        assert matrix.block(rows, columns, out) is out
        np.testing.assert_allclose(out, expected, rtol=3e-6, atol=3e-6 * np.abs(K).max())
    np.testing.assert_allclose(matrix.diagonal(), K.diagonal(), rtol=near, atol=near)
    rows = [matrix.row(i).copy() for i in range(len(K))]  # a store writes the next row over the last one
    np.testing.assert_allclose(rows, K, rtol=near, atol=near)


def test_a_block_follows_the_formula(case):
    gram, K = case
    near = 2e-7 if isinstance(gram.kernel, Root) else 1e-12  # the root of the rounding of ‖x − x‖²
    agree(gram, K, near)
    if gram.facts.has_unit_diagonal:
        assert gram.block(np.arange(N)).max() == 1.0
        assert all(gram.block(np.array([i]))[0, i] == gram.block(np.arange(N))[i, i] == 1.0 for i in range(N))


def test_so_does_a_block_of_what_is_made_of_it(case):
    gram, K = case
    near = 2e-7 if isinstance(gram.kernel, Root) else 1e-12
    order, single = np.array([4, 31, 1, 1, 39, 4, 0, 18, 22]), 2e-6 * max(1.0, np.abs(K).max())
    down = np.arange(N)[::-1].copy()
    held, rounded, few = dense_gram(gram), dense_gram(gram, np.float32), megabytes(9.5, N)
    for matrix, places, close in (
        (gram.restrict(order), order, near),
        (View(gram, order), order, near),
        (View(View(gram, down), order), down[order], near),
        (View(stored_rows(gram), order), order, near),
        (stored_rows(View(gram, order)), order, near),
        (CachedRows(gram, few), np.arange(N), near),
        (CachedRows(gram, few).restrict(order), order, near),
        (stored_rows(CachedRows(gram).restrict(down)), down, near),
        (stored_rows(View(gram, down)), down, near),
        (CachedRows(CachedRows(CachedRows(gram).restrict(order)).restrict(np.arange(8))), order[:8], near),
        (CachedRows(gram, few, np.float32), np.arange(N), single),
        (stored_rows(gram, 1.0, np.float32), np.arange(N), single),
        (KernelRows(held), np.arange(N), near),
        (held, np.arange(N), near),
        (held.restrict(order), order, near),
        (rounded, np.arange(N), single),
        (stored_rows(rounded), np.arange(N), single),
        (rounded.restrict(order), order, single),
    ):
        agree(matrix, K[np.ix_(places, places)], close)
    coefficients = np.where(np.arange(N) % 3, 0.0, np.arange(N) - 4.0)
    for rows in (CachedRows(gram, few), CachedRows(gram), KernelRows(held)):
        product = np.abs(K).max() * np.abs(coefficients).sum()
        np.testing.assert_allclose(
            rows.product(coefficients), K @ coefficients, rtol=0.0, atol=near * product
        )
    if np.ndim(gram.X) == 2 and isinstance(gram.X, np.ndarray) and isinstance(gram.kernel, Kernel):
        X = gram.kernel.scaled(gram.X - gram.X.mean(axis=0) if gram.kernel.distance_scale else gram.X)
        agree(held_from_products(gram, gram.kernel, X @ X.T, (X * X).sum(axis=1)), K, max(near, 1e-11))


def test_a_matrix_of_an_own_kernel_passes_the_check():
    check_strategy(Gram(Cauchy(), numbers()))


@pytest.mark.parametrize("origin", [False, True])
@pytest.mark.parametrize("kinds", ["dd", "ds", "sd", "ss"])
@pytest.mark.parametrize("name", [name for name in KERNELS if "own" not in name])
def test_so_do_the_values_of_new_examples_and_the_matrix_of_some(name, kinds, origin):
    """In any form, with variables that share examples; around an origin x·z is that of the differences."""
    kernel, formula = KERNELS[name]
    if callable(kernel) and not isinstance(kernel, Kernel) and "s" in kinds:
        pytest.skip("this function takes arrays")
    X, new = numbers(), np.random.default_rng(4).normal(size=(3, D))
    c = np.full(D, 0.5) if origin else np.zeros(D)
    A, B = ((stored(each) if kind == "s" else each) for each, kind in zip((new, X), kinds, strict=True))
    moving, order = {"origin": c} if origin else {}, np.array([41, 0, 45])
    if origin and name != "linear":
        pytest.skip("a linear kernel alone has an origin")
    gram = Gram(kernel, B, **moving)
    found = cross_values(View(gram, np.tile(np.arange(N), 2)), order, A)
    np.testing.assert_allclose(found, formula(new - c, (X - c)[order % N]), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(kernel(A, B), formula(new, X), rtol=1e-12, atol=1e-12)
    for rows in (np.arange(N), np.arange(N - 1), np.array([4, 1]), np.array([3])):
        part = gram_of_rows(kernel, B, rows, **moving)
        K = formula((X - c)[rows], (X - c)[rows])
        np.testing.assert_allclose(part.block(np.arange(len(rows))), K, rtol=1e-12, atol=1e-12)
        assert (part.X is B) == (len(rows) == N)
        given = gram_of_rows(Precomputed(), formula(X - c, X - c), rows)
        np.testing.assert_allclose(given.block(np.arange(len(rows))), K, rtol=1e-12, atol=1e-12)
    given = View(Gram(Precomputed(), formula(X, X)), np.tile(np.arange(N), 2))
    np.testing.assert_array_equal(cross_values(given, order, formula(new, X)), formula(new, X)[:, order % N])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_matrix_of_the_caller_is_used_as_it_is(dtype):
    """Rounded once if it is float32; nothing is computed for it."""
    X = numbers()
    K = np.exp(-0.3 * squares(X, X)).astype(dtype)
    gram = Gram(Precomputed(), K)
    assert gram.dense is K
    assert not gram.full_matrix_only
    order = np.array([4, 31, 1, 1, 39, 4, 0, 18, 22])
    for matrix, places in ((gram, np.arange(N)), (gram.restrict(order), order), (View(gram, order), order)):
        agree(matrix, K[np.ix_(places, places)].astype(float), 0.0 if dtype == np.float32 else 1e-300)
    rows = stored_rows(gram)
    rows.use(3, 4)
    rows.fetch(np.arange(N))
    np.testing.assert_allclose(rows.product(np.ones(N)), K.astype(float).sum(axis=0), rtol=1e-12)
    assert rows.holds_all
    assert (rows.values is K) == (dtype == np.float64)
    assert (rows.computed, rows.hits) == ((0, 2) if dtype == np.float64 else (N, 0))
    assert gram.facts.data_error >= np.abs(K - np.exp(-0.3 * squares(X, X))).max()


@pytest.mark.parametrize("n", [40, 400])
@pytest.mark.parametrize("size", [1e-25, 1e-10, 1.0, 1e10, 1e25])
@pytest.mark.parametrize("offset", [0.0, 10.0, 30.0, 300.0, 1e5])
def test_float32_rows_are_right_wherever_the_data_are_and_in_any_unit(offset, size, n):
    """γ‖x‖² is 0 … 10¹⁰; the rows are rounded, so they differ from those of float64."""
    gamma = 0.3
    near = np.random.default_rng(0).normal(size=(n, 3)) + np.linspace(-2.0, 2.0, n)[:, None]
    gram = Gram(RBF(gamma / size**2), size * (near + offset))
    assert gram.supports_float32 == (1e-15 < size < 1e15)
    K = np.exp(-gamma * squares(near, near))
    for rows in (np.array([7]), np.array([3, n - 1, 0]), np.arange(n)):
        found = gram.block(rows, out=np.empty((len(rows), n), np.float32))
        np.testing.assert_allclose(found, K[rows], rtol=0.0, atol=5e-6)
        assert np.abs(found - K[rows]).max() > 0.0
        assert found.max() == 1.0


def test_float32_rows_of_far_examples_are_computed_in_float64():
    gram = Gram(RBF(100.0), numbers())
    assert not gram.supports_float32
    found = gram.block(np.arange(N), out=np.empty((N, N), np.float32))
    np.testing.assert_array_equal(found, gram.block(np.arange(N)).astype(np.float32))
