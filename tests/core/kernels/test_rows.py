"""Stores of kernel rows against an obvious model of a store in which the least recently used rows give way."""

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


def budget(rows: int, dtype=np.float64) -> float:
    return megabytes(rows + 0.5, N, dtype)


class Asked(KernelMatrix):
    """A matrix that fails while it is told to."""

    def __init__(self):
        self.n, self.fails, self.calls = N, False, 0

    def block(self, rows, columns=None, out=None):
        if self.fails:
            raise RuntimeError("not now")
        self.calls += 1
        values = K[rows] if columns is None else K[np.ix_(rows, columns)]
        return values if out is None else np.copyto(out, values) or out

    def diagonal(self):
        return K.diagonal()


class Model:
    """When each stored row was used last, and what has been counted: those used longest ago give way, and no others."""

    def __init__(self, store):
        self.store, self.stamps = store, {}
        self.computed = self.hits = self.clock = 0

    def stored(self):
        return {*np.flatnonzero(self.store.slots >= 0).tolist()}

    def now_has(self, wanted, stamps, is_there=True):
        """After rows were asked for, and have these stamps; they are not there where the kernel has failed."""
        before, stored, asked = dict(self.stamps), self.stored(), dict(zip(wanted, stamps, strict=True))
        new = {*wanted} - before.keys()
        more = len(before) + len(new) - self.store.capacity
        gone, kept = before.keys() - stored, before.keys() & stored
        assert stored == (kept | new if is_there else kept)
        assert len(gone) == max(0, more) if is_there else len(gone) <= max(0, more)
        assert not gone or max(before[k] for k in gone) <= min(
            (before[k] for k in kept - {*wanted}), default=np.inf
        )
        assert not gone & {*wanted}
        self.stamps = {k: asked.get(k, before.get(k)) for k in stored}
        self.computed += len(new) * is_there
        self.clock = max([self.clock, *stamps])

    def use(self, i, j):
        pair = [*dict.fromkeys((i, j) if i in self.stamps else (j, i))]
        self.hits += len({i, j} & self.stamps.keys()) + (i == j)
        self.store.use(i, j)
        last = self.clock + 2  # of one variable its second use is another
        self.now_has(pair, [last] if i == j else [last - 1, last])

    def row(self, i):
        np.testing.assert_array_equal(self.store.row(i), K[i].astype(self.store.values.dtype))
        self.now_has([i], [self.stamps.get(i, self.clock + 1)])

    def several(self, wanted, ask):
        ask(np.array(wanted))
        self.now_has(wanted, [self.clock + 1] * len(wanted))

    def block(self, wanted, columns):
        exact = K[np.ix_(wanted, columns)].astype(self.store.values.dtype)
        self.several(
            wanted, lambda rows: np.testing.assert_array_equal(self.store.block(rows, columns), exact)
        )

    def fail(self, wanted):
        """One row, or several: what is counted and what else is stored stays, but for those that had to give way."""
        self.store.gram.fails = True
        with pytest.raises(RuntimeError, match="not now"):
            self.store.ensure(wanted[0]) if len(wanted) == 1 else self.store.fetch(np.array(wanted))
        self.store.gram.fails = False
        self.now_has(
            wanted, [self.clock + 1] * len(wanted) if len(wanted) > 1 else [self.clock], is_there=False
        )

    def product(self, coefficients):
        """Row after row in this order, whichever are stored; all are, if there is a slot for each of them."""
        some, expected = np.flatnonzero(coefficients), np.zeros(N)
        missing = {*some.tolist()} - self.stamps.keys()
        for i in some:
            expected += coefficients[i] * K[i].astype(self.store.values.dtype).astype(float)
        np.testing.assert_array_equal(self.store.product(coefficients), expected)
        if self.store.holds_all:
            self.now_has(some.tolist(), [self.clock + 1] * len(some))
        else:
            self.computed += len(missing)

    def agrees(self):
        store, stored = self.store, [*self.stamps]
        assert (store.computed, store.hits, store.clock) == (self.computed, self.hits, self.clock)
        assert store.stamps[store.slots[stored]].tolist() == [*self.stamps.values()]
        assert all(owner < 0 or store.slots[owner] == slot for slot, owner in enumerate(store.owners))
        assert store.owners[store.slots[stored]].tolist() == stored
        np.testing.assert_array_equal(store.values[store.slots[stored]], K[stored].astype(store.values.dtype))
        assert store.row_seconds == 2.0**-4 * store.gram.calls / max(1, store.computed)
        assert store.seconds_for(np.arange(N)) == store.row_seconds * (N - len(stored))


@pytest.fixture
def clock(monkeypatch):
    """Each look at it takes 2⁻⁴ s."""
    ticks = itertools.count(7)
    ticking = SimpleNamespace(perf_counter=lambda: next(ticks) * 2.0**-4)
    monkeypatch.setattr("refsvm.core.kernels.cached_rows.time", ticking)


@pytest.mark.usefixtures("clock")
@pytest.mark.parametrize("is_compiled", [True, False])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("capacity", [2, 3, 7, N])
def test_the_least_recently_used_rows_give_way(capacity, dtype, is_compiled, monkeypatch):
    fastest()
    if not is_compiled:
        monkeypatch.setattr("refsvm.core.arithmetic.current", Arithmetic())
    for seed in range(3):
        rng, model = np.random.default_rng(seed), Model(CachedRows(Asked(), budget(capacity, dtype), dtype))
        rows = model.store
        for step in range(300):
            some = rng.permutation(N)[: rng.integers(2, capacity + 1)].tolist()
            match rng.choice(["use", "row", "fetch", "block", "product", "failing", "memory"]):
                case "use":
                    model.use(*rng.integers(N, size=2).tolist())
                case "row":
                    model.row(int(rng.integers(N)))
                case "fetch":
                    model.several(some, rows.fetch)
                case "block":
                    model.block(some, rng.permutation(N)[:4])
                case "product":
                    model.product(
                        np.where(rng.random(N) < 0.4, 0.0, rng.normal(size=N) * np.logspace(0, 12, N))
                    )
                case "failing" if {*some} - model.stamps.keys():
                    missing = [k for k in some if k not in model.stamps]
                    model.fail(missing[:1] if step % 2 else some)
                case "memory" if step % 10 == 0:
                    rows.release()
                    assert (len(rows.values), rows.capacity, rows.filled) == (2, 2, 0)
                    rows.reserve()
                    model.stamps = {}
            assert (rows.capacity, rows.holds_all) == (capacity, capacity == N)
            assert rows.values.nbytes == capacity * N * np.dtype(dtype).itemsize
            model.agrees()
    assert CachedRows(Gram(Linear(), X), np.inf).holds_all


def test_a_store_says_where_its_rows_stand_in_the_one_that_it_reads():
    rows, order = CachedRows(Gram(RBF(0.5), X)), np.random.default_rng(0).permutation(N)
    some = CachedRows(CachedRows(CachedRows(rows).restrict(order)).restrict(np.array([5, 2, 7])))
    assert some.evaluator is rows
    np.testing.assert_array_equal(some.indices, order[[5, 2, 7]])
    some.row(1)
    assert (some.computed, rows.computed) == (1, 1)


def test_rows_that_are_kept_as_float32_are_read_as_float64():
    found = stored_rows(Gram(RBF(0.5), X), dtype=np.float32).row(3)
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, found.astype(np.float32))
    np.testing.assert_allclose(found, K[3], rtol=1e-6)


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


@pytest.mark.usefixtures("clock")
def test_rows_that_variables_share_take_the_seconds_of_their_examples():
    rows = stored_rows(View(Gram(RBF(0.5), X), np.tile(np.arange(N), 2)))
    rows.gram.store.fetch(np.array([0, 1]))
    asked = np.array([0, 3, N, N + 3, N + 4])
    assert rows.seconds_for(asked) == 2 * 2.0**-5


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
