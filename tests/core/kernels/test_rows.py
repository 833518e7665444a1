"""Stores of kernel rows against an obvious model of a store in which the least recently used row gives way."""

from __future__ import annotations

import inspect
import itertools
from types import SimpleNamespace

import numpy as np
import pytest

from refsvm import RBF, DualProblem, Kernel, Linear, Precomputed
from refsvm.core.arithmetic import Arithmetic, fastest
from refsvm.core.kernels import Gram
from refsvm.core.kernels.cached_rows import ROWS_AT_A_TIME, CachedRows, stored_rows
from refsvm.core.kernels.matrix import KernelMatrix, View
from refsvm.core.kernels.rows import KernelRows, megabytes

from ...settings import needs_numba

N = 12
X = np.random.default_rng(0).normal(size=(N, 3))
K = Gram(RBF(0.5), X).block(np.arange(N))


def budget(rows: int) -> float:
    return megabytes(rows + 0.5, N)


class SlowRows:
    """A list of row numbers, the least recently used first."""

    def __init__(self, capacity: int) -> None:
        self.capacity, self.stored, self.computed, self.hits = capacity, [], 0, 0

    def row(self, i: int) -> None:
        if i not in self.stored:
            self.computed += 1
            if len(self.stored) == self.capacity:
                self.stored.pop(0)
            self.stored.append(i)

    def use(self, i: int, j: int) -> None:
        for k in (i, j) if i in self.stored else (j, i):
            if k in self.stored:
                self.hits += 1
                self.stored.remove(k)
                self.stored.append(k)
            else:
                self.row(k)


@pytest.mark.parametrize("capacity", [2, 3, 7, N])
@pytest.mark.parametrize("seed", range(5))
def test_the_least_recently_used_row_gives_way(capacity, seed):
    rng = np.random.default_rng(seed)
    rows, model = CachedRows(Gram(RBF(0.5), X), budget(capacity)), SlowRows(capacity)
    assert rows.capacity == capacity
    for i, j in rng.integers(N, size=(300, 2)).tolist():
        if rng.random() < 0.6:
            rows.use(i, j)
            model.use(i, j)
            assert min(rows.slots[[i, j]]) >= 0
        else:
            np.testing.assert_allclose(rows.row(i), K[i], rtol=1e-12)
            model.row(i)
        assert sorted(model.stored) == np.flatnonzero(rows.slots >= 0).tolist()
        assert (rows.computed, rows.hits) == (model.computed, model.hits)
        assert rows.clock == model.computed + model.hits
        assert rows.owners[rows.slots[model.stored]].tolist() == model.stored
        np.testing.assert_allclose(rows.values[rows.slots[model.stored]], K[model.stored], rtol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_fetching_keeps_what_is_asked_for_and_computes_only_what_is_missing(seed):
    rng = np.random.default_rng(seed)
    rows = CachedRows(Gram(RBF(0.5), X), budget(6))
    for _ in range(30):
        wanted = rng.choice(N, size=rng.integers(1, 7), replace=False)
        stored, before, now = set(np.flatnonzero(rows.slots >= 0).tolist()), rows.computed, rows.clock
        rows.fetch(wanted)
        assert rows.computed - before == len(set(wanted.tolist()) - stored)
        assert (rows.clock, rows.stamps[rows.slots[wanted]].tolist()) == (now + 1, [now + 1] * len(wanted))
        assert (rows.slots[wanted] >= 0).all()
        assert (rows.slots >= 0).sum() <= 6
        np.testing.assert_allclose(rows.values[rows.slots[wanted]], K[wanted], rtol=1e-12)
        rows.use(*rng.integers(N, size=2).tolist())
        for slot, owner in enumerate(rows.owners):
            assert owner < 0 or rows.slots[owner] == slot


@pytest.mark.parametrize("capacity", [2, N])
def test_products_are_right_and_counted(capacity):
    rows = CachedRows(Gram(RBF(0.5), X), budget(capacity))
    coefficients = np.where(np.arange(N) % 3, 0.0, np.arange(N) - 4.0)
    np.testing.assert_allclose(rows.product(coefficients), K @ coefficients, rtol=1e-12)
    assert rows.computed == 4
    rows.product(coefficients)
    assert rows.computed == (4 if rows.holds_all else 8)


def test_a_long_product_goes_block_by_block():
    wide = np.random.default_rng(1).normal(size=(600, 2))
    rows = CachedRows(Gram(Linear(), wide), cache_mb=0.1)
    coefficients = np.random.default_rng(2).normal(size=600)
    np.testing.assert_allclose(rows.product(coefficients), wide @ (wide.T @ coefficients), rtol=1e-9)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("capacity", [2, 5, N])
def test_a_product_has_the_same_bits_whichever_rows_are_stored(capacity, dtype):
    """One row a product, so that BLAS cannot round a batch differently."""
    gram = Gram(RBF(0.5), X)
    gram.block = lambda rows, columns=None, out=None: (
        K[rows] if out is None else np.copyto(out, K[rows]) or out
    )
    coefficients = np.random.default_rng(3).normal(size=N) * np.logspace(0, 12, N)
    results = []
    for order in ([], [3], [11, 0], [7, 2, 9, 4]):
        rows = CachedRows(gram, megabytes(capacity + 0.5, N, dtype), dtype)
        for i in order:
            rows.row(i)
        results.append(rows.product(coefficients))
    for result in results:
        np.testing.assert_array_equal(result, results[0])
    np.testing.assert_allclose(results[0], K @ coefficients, rtol=1e-10 if dtype is np.float64 else 1e-6)


@pytest.mark.parametrize("compiled", [True, False])
def test_float32_rows_are_summed_like_their_copies_as_float64(compiled, monkeypatch):
    if not compiled:
        monkeypatch.setattr("refsvm.core.arithmetic.current", Arithmetic())
    else:
        pytest.importorskip("numba")
        fastest()
    rows, coefficients = (
        stored_rows(Gram(RBF(0.5), X), 1.0, np.float32),
        np.random.default_rng(3).normal(size=N),
    )
    coefficients[4] = 0.0  # eleven are left: compiled code takes four at a time
    expected = np.zeros(N)
    for i in range(N):
        expected += coefficients[i] * rows.row(i)
    found = rows.product(coefficients)
    np.testing.assert_array_equal(found, expected)
    assert rows.computed == N
    assert np.abs(found - K @ coefficients).max() > 1e-9  # they are rounded


@pytest.mark.parametrize("capacity", [2, 5, N])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_blocks_of_stored_rows_equal_those_of_the_matrix(capacity, dtype):
    rng, rows = (
        np.random.default_rng(0),
        CachedRows(Gram(RBF(0.5), X), megabytes(capacity + 0.5, N, dtype), dtype),
    )
    exact, near = K.astype(dtype).astype(float), {"rtol": 1e-12 if dtype is np.float64 else 2e-6}
    chosen = rng.permutation(N)[:9]
    part = rows.restrict(chosen)
    for size in (1, 2, 7, 9, 1):
        some, others = rng.integers(0, 9, size), rng.permutation(9)[:4]
        for found, there, across in [
            (rows.block(some), some, np.arange(N)),
            (rows.block(some, others), some, others),
            (part.block(some), chosen[some], chosen),
            (part.block(some, others), chosen[some], chosen[others]),
            (rows.restrict(np.arange(N)).block(some), some, np.arange(N)),
        ]:
            assert found.dtype == np.float64
            np.testing.assert_allclose(found, exact[np.ix_(there, across)], **near)
    out = np.empty((3, N), np.float32)
    assert rows.block(chosen[:3], out=out) is out
    np.testing.assert_allclose(out, K[chosen[:3]], rtol=2e-6)


def test_all_rows_in_another_order_are_not_the_same_matrix():
    """Nor where they are those of a lazy matrix: problems over two orders of the variables differ."""
    backwards, some = np.arange(N)[::-1], np.array([0, 3])
    for matrix in (CachedRows(Gram(RBF(0.5), X)), View(Gram(RBF(0.5), X), np.arange(N))):
        part = matrix.restrict(backwards)
        np.testing.assert_allclose(part.block(some), K[[11, 8]][:, ::-1], rtol=1e-12)
        np.testing.assert_allclose(stored_rows(part).block(some), K[[11, 8]][:, ::-1], rtol=1e-12)


def test_a_block_computes_each_row_once():
    rows = CachedRows(Gram(RBF(0.5), X))
    rows.block(np.array([3, 5, 7]))
    rows.block(np.array([5, 3, 1]), np.array([0]))
    assert rows.computed == 4
    assert rows.hits == 0


def test_megabytes_are_those_of_the_store():
    for dtype in (np.float64, np.float32):
        rows = CachedRows(Gram(Linear(), X), megabytes(3, N, dtype), dtype)
        assert rows.capacity == 3
        assert rows.values.nbytes == megabytes(3, N, dtype) * 2**20
    assert stored_rows(Gram(Linear(), X), 1.0, np.float32).evaluator.values.dtype == np.float32


def test_nothing_is_computed_for_a_matrix_of_the_caller():
    rows = KernelRows(Gram(Precomputed(), K), cache_mb=1e-9)
    rows.use(3, 4)
    np.testing.assert_array_equal(rows.row(3), K[3])
    rows.product(np.ones(N))
    rows.fetch(np.arange(N))
    assert rows.values is K
    assert (rows.computed, rows.hits, rows.holds_all) == (0, 2, True)


@pytest.mark.parametrize("cache_mb", [budget(1), 1e-9])
def test_a_budget_below_two_rows_is_refused_with_the_least_that_works(cache_mb):
    with pytest.raises(ValueError, match="does not hold two kernel rows of 12 float64 values") as refusal:
        CachedRows(Gram(Linear(), X), cache_mb)
    assert f"cache_mb={cache_mb!r}" in str(refusal.value)
    least = float(str(refusal.value).split("at least ")[1].rstrip("."))
    assert CachedRows(Gram(Linear(), X), least * 1.01).capacity == 2


def test_a_few_rows_are_computed_at_once_unless_they_are_copies():
    few, many = CachedRows(Gram(RBF(0.5), X)), CachedRows(Gram(RBF(0.5), X))
    few.fetch_if_few(N)
    many.fetch_if_few(N - 1)
    assert (few.computed, many.computed) == (N, 0)
    copies = CachedRows(few)
    copies.fetch_if_few(N)
    assert copies.filled == 0
    two_of_each = stored_rows(View(Gram(RBF(0.5), X), np.tile(np.arange(N), 2)))
    two_of_each.fetch_if_few(2 * N)
    assert (two_of_each.filled, two_of_each.computed) == (2 * N, N)


@pytest.mark.parametrize(("most", "computed"), [(N // 2 - 1, 0), (N // 2, N)])
def test_rows_that_two_variables_share_are_computed_at_once_for_half_as_many(most, computed):
    two_of_each = stored_rows(View(Gram(RBF(0.5), X), np.tile(np.arange(N), 2)))
    two_of_each.fetch_if_few(most)
    assert (two_of_each.filled, two_of_each.computed) == (0, computed)


@pytest.fixture
def clock(monkeypatch):
    """Each look at it takes 2⁻⁴ s."""
    ticks = itertools.count(7)
    ticking = SimpleNamespace(perf_counter=lambda: next(ticks) * 2.0**-4)
    monkeypatch.setattr("refsvm.core.kernels.cached_rows.time", ticking)


@pytest.mark.usefixtures("clock")
def test_the_seconds_of_a_row_are_the_mean_of_those_that_were_computed():
    rows = CachedRows(Gram(RBF(0.5), X), budget(6))
    assert rows.row_seconds == rows.seconds_for(np.arange(5)) == 0.0
    rows.ensure(0)
    assert rows.row_seconds == 2.0**-4
    rows.fetch(np.array([0, 1, 2, 3]))
    assert rows.row_seconds == 2.0**-5
    assert rows.seconds_for(np.array([0, 3, 4, 5, 11])) == 3 * 2.0**-5
    assert rows.seconds_for(np.array([1, 2])) == 0.0


@pytest.mark.usefixtures("clock")
def test_rows_that_variables_share_take_the_seconds_of_their_examples():
    rows = stored_rows(View(Gram(RBF(0.5), X), np.tile(np.arange(N), 2)))
    rows.gram.store.fetch(np.array([0, 1]))
    asked = np.array([0, 3, N, N + 3, N + 4])
    assert rows.seconds_for(asked) == 2 * 2.0**-5


def test_a_store_reads_the_rows_of_another_and_says_where_they_stand():
    rows = CachedRows(Gram(RBF(0.5), X))
    order = np.random.default_rng(0).permutation(N)
    some = CachedRows(CachedRows(CachedRows(rows).restrict(order)).restrict(np.array([5, 2, 7])))
    assert some.evaluator is rows
    np.testing.assert_array_equal(some.indices, order[[5, 2, 7]])
    np.testing.assert_allclose(some.row(1), K[order[2], order[[5, 2, 7]]], rtol=1e-12)
    assert (some.computed, rows.computed) == (1, 1)


def test_an_infinite_budget_holds_all():
    assert CachedRows(Gram(Linear(), X), np.inf).holds_all


@pytest.mark.parametrize("cache_mb", [0, -1.0, np.nan, "much", None])
def test_a_budget_that_is_no_size_is_refused(cache_mb):
    for gram in (Gram(Linear(), X), Gram(Precomputed(), K)):
        with pytest.raises(ValueError, match="cache_mb="):
            stored_rows(gram, cache_mb)


@needs_numba
def test_nothing_is_subtracted_from_rows_that_variables_share():
    """Compiled sums take numbers; `np.bincount` of nothing counts in integers."""
    fastest()
    X = np.array([[0.0], [1.0], [3.0]])
    rows = stored_rows(DualProblem.regression(X, X[:, 0], kernel="linear").gram, 1.0)
    rows.fetch(np.arange(6))
    target, nothing = np.ones(6), np.array([], dtype=np.int64)
    rows.subtract(target, nothing, np.array([]))
    assert np.array_equal(target, np.ones(6))


def test_rows_that_gave_way_to_a_block_are_computed_anew():
    """Two slots are free and three rows are wanted: one of the stored rows gives way, and is no longer there."""
    rows = CachedRows(Gram(RBF(0.5), X), budget(6))
    rows.fetch(np.array([0, 1, 2, 9]))
    rows.use(1, 2)
    np.testing.assert_allclose(rows.block(np.array([4, 5, 6, 9])), K[[4, 5, 6, 9]], rtol=1e-12)
    assert rows.slots[0] == -1
    for i in (0, 1, 2, 9, 4, 5, 6, 0):
        np.testing.assert_allclose(rows.row(i), K[i], rtol=1e-12)
        np.testing.assert_allclose(rows.block(np.array([i, 9])), K[[i, 9]], rtol=1e-12)


@pytest.mark.parametrize("missing", ["block", "diagonal"])
def test_a_kernel_matrix_has_blocks_and_a_diagonal(missing):
    own = {name: getattr(View, name) for name in ("block", "diagonal") if name != missing}
    with pytest.raises(TypeError, match=missing):
        type("Own", (KernelMatrix,), own)()


def test_memory_that_was_released_is_there_again_and_empty():
    rows = CachedRows(Gram(Linear(), X), budget(4))
    rows.fetch(np.arange(3))
    rows.release()
    assert (len(rows.values), rows.capacity, rows.filled) == (2, 2, 0)
    assert rows.row(3) == pytest.approx(X @ X[3])
    rows.reserve()
    assert (len(rows.values), rows.capacity, rows.filled, rows.computed) == (4, 4, 0, 4)
    assert rows.row(0) == pytest.approx(X @ X[0])


class Failing:
    """The product of numbers, which notes for which rows it is asked, and fails while it is told to."""

    def __init__(self):
        self.fails, self.asked = False, []

    def __call__(self, A, B):
        if self.fails:
            raise RuntimeError("not now")
        self.asked.append(A[:, 0].tolist())
        return A @ B.T

    def fail_once(self, ask, what):
        self.fails = True
        with pytest.raises(RuntimeError, match="not now"):
            ask(what)
        self.fails = False
        self.asked.clear()


def test_a_kernel_that_fails_once_costs_no_other_row():
    """Rows 0 and 3 are stored; row 1 takes the place of row 0 at its second attempt, and row 3 stays."""
    X, kernel = np.arange(4.0)[:, None], Failing()
    rows = CachedRows(Gram(kernel, X), megabytes(2, 4))
    rows.row(0)
    rows.row(3)
    kernel.fail_once(rows.row, 1)
    for i, computed in ((1, 3), (3, 3), (0, 4)):
        np.testing.assert_array_equal(rows.row(i), i * X[:, 0])
        assert rows.computed == computed


@pytest.mark.parametrize("is_large", [False, True])
def test_compiled_code_fills_the_slots_whose_memory_is_there(is_large, monkeypatch):
    """None before a few rows were timed; all of a small store; of a large one those that were mapped ahead."""
    monkeypatch.setattr("refsvm.core.kernels.cached_rows.KEPT_FROM_BYTES", 1 if is_large else 2**40)
    rows = CachedRows(Gram(RBF(0.5), X), budget(5))
    timed = []
    for i in range(5):
        rows.ensure(i)
        timed.append(rows.ready)
    assert timed[:3] == [-1, -1, -1]
    mapped = rows._buffer.ready if is_large else rows.capacity
    assert timed[3:] == [mapped, mapped]
    rows._open(3)
    if is_large:
        rows._buffer._ready = 2
    assert rows.ready == (2 if is_large else 3)


def overrides(of):
    """Each class below this one, and the methods that it has of its own in their place."""
    for each in of.__subclasses__():
        if each.__module__.startswith("refsvm."):
            for name, method in vars(each).items():
                if inspect.isfunction(method) and inspect.isfunction(getattr(of, name, None)):
                    yield name, method, getattr(of, name)
            yield from overrides(each)


@pytest.mark.parametrize("base", [KernelRows, KernelMatrix, Kernel], ids=lambda each: each.__name__)
def test_a_method_in_the_place_of_another_has_its_defaults(base):
    """Whoever calls it need not know which of them it is."""
    found = [*overrides(base)]
    for name, own, known in found:
        own, known = (inspect.signature(each).parameters for each in (own, known))
        for each in own.keys() & known.keys() - {"self"}:
            if not name.startswith("__"):
                assert own[each].default == known[each].default, (name, each)
    assert len(found) >= {KernelRows: 4}.get(base, 1)


def test_a_kernel_that_fails_on_a_block_costs_no_row_but_those_that_gave_way():
    """Rows 0 to 3 are stored, 0 and 1 the latest used: 2 and 3 give way to two rows that are not there in the end."""
    X, kernel = np.arange(8.0)[:, None], Failing()
    rows = CachedRows(Gram(kernel, X), megabytes(4, 8))
    rows.fetch(np.array([2, 3, 0, 1]))
    rows.use(0, 1)
    kernel.fail_once(rows.fetch, np.array([5, 6]))
    rows.fetch(np.array([5, 6]))
    assert kernel.asked == [[5.0, 6.0]]
    assert rows.slots.tolist() == [rows.slots[0], rows.slots[1], -1, -1, -1, rows.slots[5], rows.slots[6], -1]
    assert sorted(rows.slots[[0, 1, 5, 6]].tolist()) == [0, 1, 2, 3]
    for i in (0, 1, 5, 6):
        np.testing.assert_array_equal(rows.row(i), i * X[:, 0])
    assert kernel.asked == [[5.0, 6.0]]


@pytest.mark.parametrize("count", [1, ROWS_AT_A_TIME, ROWS_AT_A_TIME + 1, 3 * ROWS_AT_A_TIME - 5])
def test_a_long_sum_says_how_many_rows_are_left(count):
    """Before each part of it: all of them first, and at last no more than a part."""
    X, left = np.random.default_rng(0).normal(size=(count + 3, 2)), []
    rows = CachedRows(Gram(RBF(0.5), X), megabytes(2, count + 3))
    some, coefficients = np.arange(count), np.linspace(-1.0, 1.0, count)
    target = np.zeros(count + 3)
    rows.subtract(target, some, coefficients, watch=left.append)
    assert left == [*range(count, 0, -ROWS_AT_A_TIME)]
    K = np.exp(-0.5 * np.square(X[:, None] - X).sum(axis=2))
    np.testing.assert_allclose(target, -K[:, :count] @ coefficients, atol=1e-12 * count)


def test_a_matrix_says_whether_its_values_are_held():
    evaluated, held = Gram(RBF(0.5), X), Gram(Precomputed(), K)
    for matrix, is_held in (
        (evaluated, False), (held, True), (View(evaluated, np.arange(2)), False), (View(held, np.arange(2)), False),
    ):  # fmt: skip
        assert (matrix.dense is not None) == is_held
        assert ("held in memory" in matrix._repr_html_()) == is_held
        assert ("evaluated in blocks" in matrix._repr_html_()) != is_held
