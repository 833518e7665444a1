"""The columns of a search, one for each γ: threads share them, and one kernel matrix is held at a time."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

from refsvm import RBF, SVCCV
from refsvm.datasets import load, make_banana
from refsvm.estimators import column_matrix, search
from refsvm.services.pool import in_workers

from ..settings import FAST

N = 60
DATA = make_banana(N, rng=0)
MATRIX_MB = 8 * N**2 / 2**20
HEART, GRID = load("heart"), {"Cs": [10.0, 0.1, 1.0], "gammas": [0.01, 0.1]}


@pytest.fixture
def matrices(monkeypatch):
    """Of the matrices that were made, each with how many of those before it were still there."""
    make, made, alive = search.column_gram, [], []

    def watched(*given):
        alive.append(sum(each() is not None for each in made))
        gram = make(*given)
        made.append(weakref.ref(gram))
        return gram

    monkeypatch.setattr(search, "column_gram", watched)
    return alive


@pytest.mark.parametrize("engine", sorted({"numpy", FAST}))
@pytest.mark.parametrize("cv", [3, "loo"])
def test_a_matrix_is_gone_before_the_next_one_is_made(engine, cv, matrices):
    gc.disable()  # a cycle of references would keep it until the collector runs
    try:
        SVCCV(Cs=[0.1, 1.0], gammas=[0.1, 1.0, 10.0], cv=cv, engine=engine).fit(DATA.X, DATA.y)
    finally:
        gc.enable()
    assert matrices == [0, 0, 0]


@pytest.mark.parametrize(("matrices_held", "are_shared"), [(2.01, True), (1.99, False)])
def test_inner_products_are_shared_if_the_budget_holds_them_beside_the_matrix(
    matrices_held, are_shared, monkeypatch
):
    asked, share = [], column_matrix.shared_products

    def watched(*given):
        asked.append(given)
        return share(*given)

    monkeypatch.setattr(column_matrix, "shared_products", watched)
    gram = search.column_gram(DATA.X, "budget", RBF(0.5), matrices_held * MATRIX_MB)
    search.forget("budget")
    assert bool(asked) == are_shared
    expected = np.exp(-0.5 * ((DATA.X[:, None] - DATA.X) ** 2).sum(axis=2))
    np.testing.assert_allclose(gram.dense, expected, rtol=1e-12)


@pytest.mark.parametrize(("engine", "shared"), [(FAST, FAST == "numba"), ("numpy", False)])
def test_columns_are_shared_where_that_pays(engine, shared, monkeypatch):
    """Readable code, which holds the interpreter's lock, is over sooner in one thread."""
    handed = []

    def noted(work, arguments, workers):
        handed.append([*arguments])
        return in_workers(work, handed[-1], workers)

    monkeypatch.setattr("refsvm.estimators.search.in_workers", noted)
    if FAST == "numba":
        import refsvm.compiled.arithmetic  # noqa: F401  as after some tenths of a second
    found = SVCCV(**GRID | {"engine": engine}, n_jobs=2).fit(HEART.X, HEART.y)
    assert bool(handed) is shared
    if handed:
        assert len(handed[0]) == len(GRID["gammas"])
    expected = SVCCV(**GRID | {"engine": engine}).fit(HEART.X, HEART.y).cv_results_
    for name in ("mean_test_score", "mean_iterations"):
        np.testing.assert_array_equal(found.cv_results_[name], expected[name])
