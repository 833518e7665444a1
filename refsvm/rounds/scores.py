"""Scores of predictions of examples that were not trained on: errors of classes, residuals of targets."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from refsvm.rounds.task import CLASSIFICATION, NOVELTY, REGRESSION

SCORES: Final = {CLASSIFICATION: ("error",), REGRESSION: ("rmse", "mae", "r2"), NOVELTY: ("outside",)}
"""Numbers that sum up the predictions of a task."""


class Scores(ABC):
    """The scores of `LeaveOneOut` and `CrossValidation`; each task has its own, and asking for another's is refused."""

    kind: str
    labels: np.ndarray
    predictions: np.ndarray

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

    def _of_known(self, score: Callable[[np.ndarray, np.ndarray], float]) -> float:
        """Return a score of the examples that are predicted; NaN if none is."""
        known = self.is_known
        return score(self.labels[known], self.predictions[known]) if known.any() else float("nan")

    @property
    def scores(self) -> dict[str, float]:
        """The scores of the task by their names: error; rmse, mae and r2; or outside."""
        return {name: getattr(self, name) for name in SCORES[self.kind]}

    @property
    def error(self) -> float:
        """Share of wrong predictions among the examples decided; NaN if none is. Not of a regression."""
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


def share_wrong(labels: np.ndarray, predictions: np.ndarray) -> float:
    """Return the share of predictions that are not the label."""
    return float((predictions != labels).mean())


def root_mean_square(labels: np.ndarray, predictions: np.ndarray) -> float:
    """√ mean (y − h)²."""
    return float(np.sqrt(np.mean((labels - predictions) ** 2)))


def mean_absolute_error(labels: np.ndarray, predictions: np.ndarray) -> float:
    """Mean |y − h|."""
    return float(np.abs(labels - predictions).mean())


def r_squared(labels: np.ndarray, predictions: np.ndarray, weights: np.ndarray | float = 1.0) -> float:
    """1 − Σ w (y − h)² / Σ w (y − ȳ)², with the weighted mean ȳ; NaN where all targets are one number.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.rounds.scores import r_squared
    >>> r_squared(np.array([0.0, 1.0, 2.0]), np.array([0.0, 1.0, 1.0]))
    0.5
    """
    weights = np.broadcast_to(weights, labels.shape)
    spread: Any = (weights * (labels - np.average(labels, weights=weights)) ** 2).sum()
    lost = (weights * (labels - predictions) ** 2).sum()
    return float(1.0 - lost / spread) if spread > 0.0 else float("nan")
