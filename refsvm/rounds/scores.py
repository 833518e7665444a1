"""Scores of predictions of examples that were not trained on: errors of classes, residuals of targets.

An example of weight w counts w times (`refsvm.rounds.weights`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Final, TypeAlias

import numpy as np

from refsvm.rounds.task import CLASSIFICATION, NOVELTY, REGRESSION
from refsvm.rounds.weights import mean

SCORES: Final = {CLASSIFICATION: ("error",), REGRESSION: ("rmse", "mae", "r2"), NOVELTY: ("outside",)}
"""Numbers that sum up the predictions of a task."""


Score: TypeAlias = Callable[[np.ndarray, np.ndarray, np.ndarray | None], float]
"""Labels, predictions and weights (None: all count alike) to a number."""


class Scores(ABC):
    """The scores of `LeaveOneOut` and `CrossValidation`; each task has its own, and asking for another's is refused."""

    kind: str
    labels: np.ndarray
    predictions: np.ndarray
    weights: np.ndarray | None

    @property
    @abstractmethod
    def is_known(self) -> np.ndarray:
        """Whether an example is predicted yet, shape (n,)."""

    def _only(self, name: str, *kinds: str) -> None:
        """Refuse a score that the task does not have."""
        if self.kind not in kinds:
            *others, last = (*("residuals",) * (self.kind == REGRESSION), *SCORES[self.kind])
            has = f"{', '.join(others)} and {last}" if others else last
            raise AttributeError(f"{name} is not a score of {self.kind}, which has {has}.")

    def _of_known(self, score: Score) -> float:
        """Return a score of the examples that are predicted; NaN if none is."""
        return self._of_some(score, self.is_known)

    def _of_some(self, score: Score, some: np.ndarray) -> float:
        """Return a score of the examples in a mask; NaN if none of them counts."""
        weights = None if self.weights is None else self.weights[some]
        counts = some.any() if weights is None else weights.any()
        return score(self.labels[some], self.predictions[some], weights) if counts else float("nan")

    @property
    def scores(self) -> dict[str, float]:
        """The scores of the task by their names: error; rmse, mae and r2; or outside."""
        return {name: getattr(self, name) for name in SCORES[self.kind]}

    @property
    def error(self) -> float:
        """Share of wrong predictions among the examples decided, weighted; NaN if none is. Not of a regression."""
        self._only("error", CLASSIFICATION, NOVELTY)
        return self._of_known(share_wrong)

    @property
    def outside(self) -> float:
        """Share of the examples that the machine without them puts outside of its region; of novelty detection only."""
        self._only("outside", NOVELTY)
        return self._of_known(share_wrong)

    @property
    def residuals(self) -> np.ndarray:
        """Target less prediction for each example, shape (n,), float64; of a regression only. NaN where not known."""
        self._only("residuals", REGRESSION)
        return np.asarray(self.labels - self.predictions)

    @property
    def rmse(self) -> float:
        """Root of the mean square of the residuals; of a regression only."""
        self._only("rmse", REGRESSION)
        return self._of_known(root_mean_square)

    @property
    def mae(self) -> float:
        """Mean of the residuals' absolute values; of a regression only."""
        self._only("mae", REGRESSION)
        return self._of_known(mean_absolute_error)

    @property
    def r2(self) -> float:
        """1 − Σ residuals² / Σ (target − mean target)²; of a regression only."""
        self._only("r2", REGRESSION)
        return self._of_known(r_squared)


def share_wrong(labels: np.ndarray, predictions: np.ndarray, weights: np.ndarray | None = None) -> float:
    """Return the share of predictions that are not the label: Σ w·wrong / Σ w."""
    return mean(predictions != labels, weights)


def root_mean_square(labels: np.ndarray, predictions: np.ndarray, weights: np.ndarray | None = None) -> float:
    """√ mean (y − h)²."""
    return float(np.sqrt(mean((labels - predictions) ** 2, weights)))


def mean_absolute_error(
    labels: np.ndarray, predictions: np.ndarray, weights: np.ndarray | None = None
) -> float:
    """Mean |y − h|."""
    return mean(np.abs(labels - predictions), weights)


def r_squared(labels: np.ndarray, predictions: np.ndarray, weights: np.ndarray | None = None) -> float:
    """1 − Σ w (y − h)² / Σ w (y − ȳ)², with the weighted mean ȳ; NaN where all targets that count are one number.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.rounds.scores import r_squared
    >>> r_squared(np.array([0.0, 1.0, 2.0]), np.array([0.0, 1.0, 1.0]))
    0.5
    """
    spread = variance(labels, weights)
    lost = mean((labels - predictions) ** 2, weights)
    return float(1.0 - lost / spread) if spread > 0.0 else float("nan")


def variance(labels: np.ndarray, weights: np.ndarray | None = None) -> float:
    """Σ w (y − ȳ)² / Σ w; 0 where all targets that count are one number, whatever their mean rounds to."""
    counting = labels if weights is None else labels[weights > 0.0]
    if len(counting) == 0 or (counting == counting[0]).all():
        return 0.0
    return mean((labels - mean(labels, weights)) ** 2, weights)
