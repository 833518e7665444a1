"""Scores of predictions for examples left out of training: errors of classes, residuals of targets.

An example of weight w counts w times (`refsvm.analysis.resampling.weights`). While some examples have no prediction, a
score is NaN, and its bounds are the lowest and highest value that the missing predictions permit.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final, TypeAlias

import numpy as np

from refsvm.analysis.resampling.weights import mean
from refsvm.core.result import Status
from refsvm.core.rounds.machine import CLASSIFICATION, NOVELTY, REGRESSION
from refsvm.services.summary import Shown

SCORES: Final = {CLASSIFICATION: ("error",), REGRESSION: ("rmse", "mae", "r2"), NOVELTY: ("outside",)}
"""Attributes with the scores of each kind of task."""


Score: TypeAlias = Callable[[np.ndarray, np.ndarray, np.ndarray | None], float]
"""Type of a function that computes a score from labels, predictions and weights (None: all weights equal)."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Scores(Shown, ABC):
    """The scores of `LeaveOneOut` and `CrossValidation`.

    Each kind of task has its own scores; reading a score of another kind of task raises an AttributeError.
    The docstrings of `LeaveOneOut` and `CrossValidation` list the scores.
    """

    kind: str
    classes: np.ndarray
    predictions: np.ndarray
    labels: np.ndarray
    decision_values: np.ndarray
    iterations: int
    kernel_rows: int
    seconds: float
    status: Status
    weights: np.ndarray | None = None
    machine: str = ""
    index: Any = None

    @property
    @abstractmethod
    def is_known(self) -> np.ndarray:
        """Whether an example has a prediction, shape (n,)."""

    def _only(self, name: str, *kinds: str) -> None:
        """Raise an AttributeError unless the task is of one of the `kinds` for which the score `name` is defined."""
        if self.kind not in kinds:
            *others, last = (*("residuals",) * (self.kind == REGRESSION), *SCORES[self.kind])
            has = f"{', '.join(others)} and {last}" if others else last
            raise AttributeError(f"{name} is not a score of {self.kind}, which has {has}.")

    @property
    def outcomes(self) -> np.ndarray:
        """1 for each certainly correct example, −1 for each certainly wrong example, 0 if the outcome is unknown."""
        # for some examples, leave-one-out computes only the sign of h
        sides = getattr(self, "sides", self.decision_values)
        if sides is not None and len(self.classes):
            return outcomes_of(sides, np.searchsorted(self.classes, self.labels), len(self.classes))
        return np.where(self.is_known, np.where(self.predictions == self.labels, 1, -1), 0)

    @property
    def is_complete(self) -> bool:
        """Whether every example has a prediction."""
        return bool(self.is_known.all())

    @property
    def is_finished(self) -> bool:
        """Whether every example with positive weight has a prediction, so that the scores are known."""
        known = self.is_known
        return bool(known.all() if self.weights is None else known[self.weights > 0.0].all())

    def _of_all(self, name: str, score: Score, *kinds: str) -> float:
        """Return a score over all examples; NaN if a prediction with positive weight is missing."""
        self._only(name, *kinds)
        return self._of_some(score, self.is_known) if self.is_finished else float("nan")

    def _of_some(self, score: Score, some: np.ndarray) -> float:
        """Return a score over the examples in the mask `some`; NaN if all examples in the mask have weight 0."""
        weights = None if self.weights is None else self.weights[some]
        counts = some.any() if weights is None else weights.any()
        return score(self.labels[some], self.predictions[some], weights) if counts else float("nan")

    @property
    def scores(self) -> dict[str, float]:
        """A dict from name to score: error for classification; rmse, mae and r2 for regression; outside for novelty."""
        return {name: getattr(self, name) for name in SCORES[self.kind]}

    @property
    def error(self) -> float:
        """Weighted share of wrong predictions; not defined for regression; NaN while predictions are missing."""
        return self._of_all("error", share_wrong, CLASSIFICATION, NOVELTY)

    @property
    def bounds(self) -> dict[str, tuple[float, float]]:
        """The lowest and highest possible value of each score by name.

        If the result is complete and has no ties, the lowest value of a score equals its highest value.
        """
        return {name: getattr(self, f"{name}_bounds") for name in SCORES[self.kind]}

    @property
    def error_bounds(self) -> tuple[float, float]:
        """The lowest and the highest possible error, which are equal in a complete result without ties.

        An example that leave-one-out marks as a tie counts as correct in the lower bound and as an error in the upper
        bound. With several classes, an example counts as correct or wrong in both bounds once the missing pairs cannot
        change the winner of the vote.
        """
        return self._share_bounds("error_bounds", CLASSIFICATION, NOVELTY)

    @property
    def outside_bounds(self) -> tuple[float, float]:
        """The lowest and highest possible share of examples outside the region; for novelty detection only."""
        return self._share_bounds("outside_bounds", NOVELTY)

    def _share_bounds(self, name: str, *kinds: str) -> tuple[float, float]:
        self._only(name, *kinds)
        outcomes = self.outcomes
        return mean(outcomes == -1, self.weights), mean(outcomes != 1, self.weights)

    @property
    def rmse_bounds(self) -> tuple[float, float]:
        """The lowest and highest possible `rmse`; the upper end is ∞ while a residual is missing."""
        self._only("rmse_bounds", REGRESSION)
        if self.is_finished:
            return self.rmse, self.rmse
        return float(np.sqrt(self._mean_loss(2.0))), np.inf

    @property
    def mae_bounds(self) -> tuple[float, float]:
        """The lowest and highest possible `mae`; the upper end is ∞ while a residual is missing."""
        self._only("mae_bounds", REGRESSION)
        return (self.mae, self.mae) if self.is_finished else (self._mean_loss(1.0), np.inf)

    @property
    def r2_bounds(self) -> tuple[float, float]:
        """The lowest and highest possible `r2`; the lower end is −∞ while a residual is missing."""
        self._only("r2_bounds", REGRESSION)
        if self.is_finished:
            return self.r2, self.r2
        spread = variance(self.labels, self.weights)
        return -np.inf, float(1.0 - self._mean_loss(2.0) / spread) if spread > 0.0 else float("nan")

    def _mean_loss(self, power: float) -> float:
        """Return the mean of |residual|ᵖ over all examples, where a missing prediction has the residual 0."""
        return mean(np.where(self.is_known, np.abs(self.residuals) ** power, 0.0), self.weights)

    @property
    def outside(self) -> float:
        """Share of examples that lie outside the region of the model trained without them; for novelty detection."""
        return self._of_all("outside", share_wrong, NOVELTY)

    @property
    def residuals(self) -> np.ndarray:
        """Target minus prediction of each example, shape (n,); NaN for a missing prediction. For regression only."""
        self._only("residuals", REGRESSION)
        return np.asarray(self.labels - self.predictions)

    @property
    def rmse(self) -> float:
        """Root mean square of the residuals; for regression only."""
        return self._of_all("rmse", root_mean_square, REGRESSION)

    @property
    def mae(self) -> float:
        """Mean absolute residual; for regression only."""
        return self._of_all("mae", mean_absolute_error, REGRESSION)

    @property
    def r2(self) -> float:
        """1 − Σ residuals² / Σ (target − mean target)²; for regression only."""
        return self._of_all("r2", r_squared, REGRESSION)


def outcomes_of(values: np.ndarray, codes: np.ndarray, k: int) -> np.ndarray:
    """Return 1 if an example's class wins for all possible votes of missing pairs, −1 if it never wins, otherwise 0.

    Parameters
    ----------
    values : ndarray of shape (n, k(k − 1)/2), float64
        Decision values, or any numbers with the signs of the decision values;
        NaN for a missing pair.
    codes : ndarray of shape (n,), int64
        Class number of each example.
    k : int
        Number of classes.

    Returns
    -------
    ndarray of shape (n,), int64

    Examples
    --------
    For the first example, the pairs (0, 1) and (0, 2) vote for class 0, which wins whatever the pair (1, 2) votes:

    >>> import numpy as np
    >>> from refsvm.analysis.resampling.scores import outcomes_of
    >>> outcomes_of(np.array([[1.0, 1.0, np.nan], [np.nan, 1.0, 1.0]]), np.array([0, 0]), 3)
    array([1, 0])
    """
    n, every = len(codes), np.arange(len(codes))
    least = np.zeros((n, k), dtype=np.int64)
    most = least.copy()
    for column, (p, q) in enumerate(combinations(range(k), 2)):
        h = values[:, column]
        # count signs and ties as in `OneVsOne.votes`
        is_open = np.isnan(h)
        for_p = h < 0.0 if k == 2 else h > 0.0
        least[:, p] += for_p
        least[:, q] += ~for_p & ~is_open
        most[:, p] += for_p | is_open
        most[:, q] += ~for_p
    own, rivals = codes[:, None], np.arange(k)[None, :]
    # among classes with equally many votes, the class with the lowest number wins
    loses = np.where(rivals < own, most >= least[every, codes][:, None], most > least[every, codes][:, None])
    beaten = np.where(rivals < own, least >= most[every, codes][:, None], least > most[every, codes][:, None])
    others = rivals != own
    outcomes = np.where((loses & others).any(axis=1), 0, 1) - (beaten & others).any(axis=1)
    for i in np.flatnonzero((outcomes == 0) & np.isnan(values).any(axis=1)) if k > 2 else ():
        left = [pair for pair, h in zip(combinations(range(k), 2), values[i], strict=True) if np.isnan(h)]
        if not _may_win(int(codes[i]), least[i], int(most[i, codes[i]]), left):
            outcomes[i] = -1
    return outcomes


def _may_win(own: int, least: np.ndarray, most: int, left: list[tuple[int, int]]) -> bool:
    """Return whether a class can win if it gets `most` votes, which include the votes of all its missing pairs.

    Each missing pair of two rivals must vote for one of them. The class can win if these votes can be divided so that
    no rival beats it. If neither rival of a pair may get another vote, the function moves the vote of another pair from
    one of these rivals to a third class. Such a move can require further moves.
    """
    room = [most - (d < own) - int(count) for d, count in enumerate(least)]
    holds: list[list[tuple[int, int]]] = [[] for _ in room]

    def placed(pair: tuple[int, int], seen: set[int]) -> bool:
        for d in pair:
            if d in seen:
                continue
            seen.add(d)
            if len(holds[d]) < room[d]:
                holds[d].append(pair)
                return True
            for other in holds[d]:
                if placed(other, seen):
                    holds[d].remove(other)
                    holds[d].append(pair)
                    return True
        return False

    return all(placed(pair, set()) for pair in left if own not in pair)


def share_wrong(labels: np.ndarray, predictions: np.ndarray, weights: np.ndarray | None = None) -> float:
    """Return the weighted share of predictions that differ from the label: Σ w·wrong / Σ w."""
    return mean(predictions != labels, weights)


def root_mean_square(labels: np.ndarray, predictions: np.ndarray, weights: np.ndarray | None = None) -> float:
    """Return the root of the weighted mean of (y − h)²."""
    return float(np.sqrt(mean((labels - predictions) ** 2, weights)))


def mean_absolute_error(
    labels: np.ndarray, predictions: np.ndarray, weights: np.ndarray | None = None
) -> float:
    """Return the weighted mean of |y − h|."""
    return mean(np.abs(labels - predictions), weights)


def r_squared(labels: np.ndarray, predictions: np.ndarray, weights: np.ndarray | None = None) -> float:
    """Return 1 − Σ w (y − h)² / Σ w (y − ȳ)², where ȳ is the weighted mean of y; NaN if all targets are equal.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.analysis.resampling.scores import r_squared
    >>> r_squared(np.array([0.0, 1.0, 2.0]), np.array([0.0, 1.0, 1.0]))
    0.5
    """
    spread = variance(labels, weights)
    lost = mean((labels - predictions) ** 2, weights)
    return float(1.0 - lost / spread) if spread > 0.0 else float("nan")


def variance(labels: np.ndarray, weights: np.ndarray | None = None) -> float:
    """Return Σ w (y − ȳ)² / Σ w, exactly 0 if all targets of positive weight are equal."""
    counting = labels if weights is None else labels[weights > 0.0]
    if len(counting) == 0 or (counting == counting[0]).all():
        return 0.0
    return mean((labels - mean(labels, weights)) ** 2, weights)
