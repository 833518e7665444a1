"""Tuning of a regression, by scikit-learn's own over `refsvm.SVR`."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import numpy as np

import refsvm
from refsvm.cli.data import Opened, Training


def _model(training: Training, **more: Any) -> Any:
    """Return the regression that the options of a training describe."""
    return refsvm.SVR(tol=training.tol, **training.of_estimator(), **more)


def errors_of(predicted: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Return the mean absolute error, and the share of the variance that is explained, R²; NaN if there is none."""
    residual, spread = predicted - y, y - y.mean()
    explained = 1.0 - float(residual @ residual) / float(spread @ spread) if spread.any() else np.nan
    return float(np.abs(residual).mean()), explained


def tuned(
    opened: Opened,
    training: Training,
    grid: dict[str, Any],
    splitter: Any,
    n_jobs: int | None,
    show: Callable[[str], None],
) -> Any:
    """Search C and γ of a regression, by default five values around that of the kernel; the scores are R²."""
    from sklearn.model_selection import GridSearchCV, ParameterGrid

    if "gamma" not in grid and hasattr(opened.kernel, "gamma"):
        grid = grid | {"gamma": (np.logspace(-1.0, 1.0, 5) * opened.kernel.gamma).tolist()}
    model = _model(
        training, kernel=training.kernel, degree=training.degree, coef0=training.coef0, **opened.own
    )
    numbers, total = count(1), len(ParameterGrid(grid)) * splitter.get_n_splits()

    def score(fitted: Any, X: Any, y: Any) -> float:
        show(f"{next(numbers)} of {total} fits are done")
        return float(fitted.score(X, y))

    # what shows progress on this terminal cannot go to other processes
    scoring = score if n_jobs in (None, 1) else None
    search = GridSearchCV(model, grid, cv=splitter, n_jobs=n_jobs, refit=False, scoring=scoring)
    return search.fit(opened.data.X, opened.data.y)
