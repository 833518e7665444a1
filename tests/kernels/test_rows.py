"""KernelRows against an obvious model of a store in which the least recently used row gives way."""

from __future__ import annotations

import numpy as np
import pytest

from refsvm import RBF, Linear, Precomputed
from refsvm.kernels import Gram
from refsvm.kernels.rows import KernelRows

N = 12
X = np.random.default_rng(0).normal(size=(N, 3))
K = Gram(RBF(0.5), X).block(np.arange(N))


def budget(rows: int) -> float:
    return (rows + 0.5) * 8 * N / 2**20


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

    def use(self, i: int) -> None:
        if i in self.stored:
            self.hits += 1
            self.stored.remove(i)
            self.stored.append(i)
        else:
            self.row(i)


@pytest.mark.parametrize("capacity", [2, 3, 7, N])
@pytest.mark.parametrize("seed", range(5))
def test_the_least_recently_used_row_gives_way(capacity, seed):
    rng = np.random.default_rng(seed)
    rows, model = KernelRows(Gram(RBF(0.5), X), budget(capacity)), SlowRows(capacity)
    assert rows.capacity == capacity
    for i in rng.integers(N, size=300).tolist():
        action = "use" if rng.random() < 0.6 else "row"
        got = getattr(rows, action)(i)
        getattr(model, action)(i)
        np.testing.assert_allclose(got, K[i], rtol=1e-12)
        assert sorted(model.stored) == np.flatnonzero(rows.slots >= 0).tolist()
        assert (rows.computed, rows.hits) == (model.computed, model.hits)
        for stored in model.stored:
            assert rows.owners[rows.slots[stored]] == stored
            np.testing.assert_allclose(rows.values[rows.slots[stored]], K[stored], rtol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_fetching_keeps_what_is_asked_for_and_computes_only_what_is_missing(seed):
    rng = np.random.default_rng(seed)
    rows = KernelRows(Gram(RBF(0.5), X), budget(6))
    for _ in range(30):
        wanted = rng.choice(N, size=rng.integers(1, 7), replace=False)
        stored, before = set(np.flatnonzero(rows.slots >= 0).tolist()), rows.computed
        rows.fetch(wanted)
        assert rows.computed - before == len(set(wanted.tolist()) - stored)
        assert (rows.slots[wanted] >= 0).all()
        assert (rows.slots >= 0).sum() <= 6
        np.testing.assert_allclose(rows.values[rows.slots[wanted]], K[wanted], rtol=1e-12)
        rows.use(int(rng.integers(N)))
        for slot, owner in enumerate(rows.owners):
            assert owner < 0 or rows.slots[owner] == slot


@pytest.mark.parametrize("capacity", [2, N])
def test_products_are_right_and_counted(capacity):
    rows = KernelRows(Gram(RBF(0.5), X), budget(capacity))
    coefficients = np.where(np.arange(N) % 3, 0.0, np.arange(N) - 4.0)
    np.testing.assert_allclose(rows.product(coefficients), K @ coefficients, rtol=1e-12)
    assert rows.computed == 4
    rows.product(coefficients)
    assert rows.computed == (4 if rows.holds_all else 8)


def test_a_long_product_goes_block_by_block():
    wide = np.random.default_rng(1).normal(size=(600, 2))
    rows = KernelRows(Gram(Linear(), wide), cache_mb=0.1)
    coefficients = np.random.default_rng(2).normal(size=600)
    np.testing.assert_allclose(rows.product(coefficients), wide @ (wide.T @ coefficients), rtol=1e-9)


def test_nothing_is_computed_for_a_matrix_of_the_caller():
    rows = KernelRows(Gram(Precomputed(), K), cache_mb=1e-9)
    np.testing.assert_array_equal(rows.use(3), K[3])
    rows.product(np.ones(N))
    rows.fetch(np.arange(N))
    assert rows.values is K
    assert (rows.computed, rows.hits, rows.holds_all) == (0, 1, True)


@pytest.mark.parametrize("cache_mb", [budget(1), 1e-9])
def test_a_budget_below_two_rows_is_refused_with_the_least_that_works(cache_mb):
    with pytest.raises(ValueError, match="does not hold two kernel rows of 12 float64 values") as refusal:
        KernelRows(Gram(Linear(), X), cache_mb)
    assert f"cache_mb={cache_mb!r}" in str(refusal.value)
    least = float(str(refusal.value).split("at least ")[1].rstrip("."))
    assert KernelRows(Gram(Linear(), X), least * 1.01).capacity == 2


def test_an_infinite_budget_holds_all():
    assert KernelRows(Gram(Linear(), X), np.inf).holds_all


@pytest.mark.parametrize("cache_mb", [0, -1.0, np.nan, "much", None])
def test_a_budget_that_is_no_size_is_refused(cache_mb):
    with pytest.raises(ValueError, match="cache_mb="):
        KernelRows(Gram(Linear(), X), cache_mb)
