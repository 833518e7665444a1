"""A search holds one kernel matrix at a time, and inner products that several share only if the budget holds both."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

pytest.importorskip("sklearn")

from refsvm import RBF, SVCCV
from refsvm.datasets import make_banana
from refsvm.estimators import column_matrix, search

from ..settings import FAST

N = 60
DATA = make_banana(N, rng=0)
MATRIX_MB = 8 * N**2 / 2**20


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
