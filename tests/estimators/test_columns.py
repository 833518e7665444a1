"""The columns of a search, one for each γ, in one thread and in several."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("sklearn")

from refsvm import SVCCV
from refsvm.datasets import load
from refsvm.services.pool import in_workers

from ..settings import FAST

X, y = load("heart").X, load("heart").y
GRID = {"Cs": [10.0, 0.1, 1.0], "gammas": [0.01, 0.1]}


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
    found = SVCCV(**GRID | {"engine": engine}, n_jobs=2).fit(X, y)
    assert bool(handed) is shared
    if handed:
        assert len(handed[0]) == len(GRID["gammas"])
    expected = SVCCV(**GRID | {"engine": engine}).fit(X, y).cv_results_
    for name in ("mean_test_score", "mean_iterations"):
        np.testing.assert_array_equal(found.cv_results_[name], expected[name])
