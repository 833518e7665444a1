"""cross_validate_path: the error at every C is that of training on each fold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from refsvm import RBF
from refsvm.analysis.paths import cross_validate_path
from refsvm.datasets import load

from ...core.paths.sets import SETS, solved

pytest.importorskip("scipy")


@pytest.mark.parametrize("name", ["overlapping, rbf", "every row three times"])
@pytest.mark.parametrize("folds", [4, "all"])
def test_error_is_that_of_independent_fits(name: str, folds: int | str) -> None:
    X, y, kernel = SETS[name]
    if folds == "all":
        X, y, folds = X[:18], y[:18], 18
    found = cross_validate_path(X, y, kernel=kernel, C_min=1e-2, C_max=50.0, folds=folds)
    assert found.curve.count == len(y)
    for C in (0.011, 0.4, 7.0):
        wrong = 0
        for fold in range(folds):
            rest, held = found.fold != fold, found.fold == fold
            solution = solved(X[rest], y[rest], kernel, C, tol=1e-11)
            values = kernel(X[held], X[rest]) @ solution.alpha + solution.intercept
            wrong += int(((values >= 0) != (y[held] > 0)).sum())
        assert found.curve.at(C) == pytest.approx(wrong / len(y), abs=1e-12)


def test_folds_are_stratified_and_repeatable() -> None:
    X, y = load("heart").X[:90], load("heart").y[:90]
    options: Any = {"kernel": RBF(0.005), "C_min": 0.1, "C_max": 10.0, "folds": 5, "rng": 3}
    first, second = (cross_validate_path(X, y, **options) for _ in range(2))
    np.testing.assert_array_equal(first.fold, second.fold)
    np.testing.assert_array_equal(first.curve.errors, second.curve.errors)
    assert np.ptp([(y[first.fold == k] > 0).sum() for k in range(5)]) <= 1


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"folds": "loo"}, "Fold 4 leaves a single class"),
        ({"folds": 3, "stratified": False, "rng": None}, "Fold 0 leaves a single class"),
        ({"folds": 1}, "folds=1 is not a whole number"),
    ],
)
def test_folds_that_leave_one_class_are_refused(options: dict[str, Any], sentence: str) -> None:
    X, y, kernel = SETS["one against many"]
    with pytest.raises(ValueError, match=sentence):
        cross_validate_path(X, y, kernel=kernel, **options)
