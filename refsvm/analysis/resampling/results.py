"""The result classes of leave-one-out and cross-validation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from refsvm.analysis.resampling.scores import (
    SCORES,
    Score,
    Scores,
    mean_absolute_error,
    r_squared,
    root_mean_square,
    share_wrong,
)
from refsvm.analysis.resampling.shown import FIRST_OF, scored
from refsvm.analysis.resampling.weights import mean
from refsvm.analysis.scheme import OneVsOne
from refsvm.core._checks import pandas_for
from refsvm.core.result import Solution, Status, Trace
from refsvm.core.rounds.machine import CLASSIFICATION, NOVELTY, REGRESSION
from refsvm.services.summary import Card, Parts

DECIDERS = (
    "zero alpha", "training error", "xi-alpha bound", "ball", "duality gap", "path", "kkt", "tie", "limit",
)  # fmt: skip
"""How an example was decided: by a check, a stopping rule or a path to the optimum, as a tie, or by a limit."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class LeaveOneOut(Scores):
    """The result of leave-one-out.

    The scores are `error` for classification; `residuals`, `rmse`, `mae` and `r2` for regression; `outside` for
    novelty detection (`refsvm.analysis.resampling.scores.Scores`). While an example is undecided, scores are NaN, and
    `bounds` contains the lowest and highest possible value of each score.

    Attributes
    ----------
    kind : {"classification", "regression", "novelty"}
        The kind of task.
    classes : ndarray of shape (k,)
        The sorted labels; empty for regression and novelty detection.
    predictions : ndarray of shape (n,)
        Prediction for each example by a model trained without it: a class, a value, or 1 for inside and −1 for
        outside. In an incomplete result, the prediction for an undecided example is its own label, or NaN for a
        regression.
    labels : ndarray of shape (n,)
        The labels or targets passed by the user; 1 for each example of novelty detection.
    decided_by : ndarray of shape (n,) of str
        How each example was decided, in the words that the notes list. With three or more classes the shape is
        (n, k(k − 1)/2), with a column for each pair of classes.
    decision_values : ndarray of shape (n,), float64
        h(xᵣ) of the model trained without r; NaN if h(xᵣ) was not computed. If "ball" or "duality gap" decided an
        example, only the sign of h(xᵣ) is certain. With three or more classes the shape is (n, k(k − 1)/2), with signs
        and order as in `refsvm.SVC`.
    iterations, round_iterations : int, ndarray of shape (n,) of int
        Number of steps in all rounds and in the full solution, and number of steps in each example's round. If a round
        was repeated to reach a smaller gap, the steps of both runs are counted.
    kernel_rows : int
        Kernel rows computed.
    seconds : float
        Wall time of the whole call in seconds.
    full_solutions : tuple of Solution
        Solutions on all examples, one for each pair of classes, in the order of the columns of `decided_by`.
    status : Status
        CONVERGED, or the reason why the result is incomplete.
    engine : str
        Engine that ran the rounds.
    gap_rule_kept : bool or None
        Whether, for every machine, the stopping rule ended enough of the first rounds early; None if not tested.
    traces : dict of int to Trace
        The recorded steps of each round, if `trace` was set. The key is the number of the left-out example; with three
        or more classes, the key (r, p, q) is this number and the numbers of two classes.
    weights : ndarray of shape (n,), float64, or None
        Weight of each example in the scores; None if all weights are equal.
    is_solved : ndarray of shape (n,), bool
        True for each decided example, unless a limit or a stalled selector ended a round that predicts the example.
    sides : ndarray of shape (n, k(k − 1)/2), float64
        For each machine, the decision value h of the example, or a number with the sign of h; NaN if the example is a
        tie or undecided. In regression and novelty detection there is one column.
    is_proved : ndarray of shape (n,), bool, or None
        Whether a proof shows that h of the exact model without the example has the sign in `sides`. False for a tie.
        False for all examples if K is not positive semi-definite, C is infinite or kernel values are float32, and in
        regression and novelty detection. With three or more classes the shape is (n, k(k − 1)/2). refsvm does not
        verify proofs by your own checks and rules. Results of version 0.4.0, which recorded no proofs, contain None.
    machine : str
        A text that names the kernel and gives its parameters, followed by C, by C and ε, or by ν.
    index : pandas.Index or None
        The index of X, if X is a DataFrame.

    Notes
    -----
    Each entry of `decided_by` is one of these texts:

    - "zero alpha", "training error" or "xi-alpha bound": a check decided the example, without training;
    - "ball" or "duality gap": training ended as soon as the sign was certain; with "ball", often before the first step;
    - "path": the seeder followed a path to the optimum of the round, so that the round needed no step;
    - "kkt": training reached the tolerance, or continued to a smaller gap at which the sign is proved;
    - "tie": the sign cannot be proved, however small the tolerance is;
    - "limit": training ended at `max_iter`;
    - "other class": the example belongs to neither class of the pair, so the pair's machine never trained on it;
    - "": the example is undecided.
    """

    decided_by: np.ndarray
    round_iterations: np.ndarray
    full_solutions: tuple[Solution, ...]
    engine: str
    gap_rule_kept: bool | None = None
    traces: dict[Any, Trace] = field(default_factory=dict)
    is_solved: np.ndarray = field(default_factory=lambda: np.ones(0, dtype=bool))
    sides: np.ndarray | None = None
    is_proved: np.ndarray | None = None

    def _card(self) -> Card:
        full = self.full_solutions
        unit = "examples" if len(full) < 2 else "examples and pairs"
        decided = Parts("decided by", unit, self.counts, self.decided_by.size)
        return scored(self, f"exact leave-one-out{self._unproved()}", decided)

    def _unproved(self) -> str:
        """Return a text with the number of unproved signs, which a notebook shows; "" if all signs are proved."""
        if self.kind != CLASSIFICATION or self.is_proved is None or self.is_proved.all():
            return ""
        if not self.is_proved.any():
            return " up to the tolerance (no sign is proved)"
        return f" but for {np.count_nonzero(~self.is_proved):,} signs that are not proved"

    @property
    def standard_error(self) -> float:
        """Standard error of `error`, `rmse` or `outside`, estimated from all examples; NaN for an incomplete result."""
        n = len(self.labels) if self.weights is None else self.weights.sum() ** 2 / (self.weights**2).sum()
        if not self.is_finished or n <= 1.0:
            return float("nan")
        if self.kind != REGRESSION:
            return float(np.sqrt(self.error * (1.0 - self.error) / (n - 1.0)))
        squares, rmse = self.residuals**2, self.rmse
        spread = mean((squares - rmse**2) ** 2, self.weights) / (n - 1.0)
        return float(np.sqrt(spread) / (2.0 * rmse)) if rmse > 0.0 else 0.0

    @property
    def full_solution(self) -> Solution:
        """The solution on all examples; with three or more classes, `full_solutions` contains one for each pair."""
        if len(self.full_solutions) > 1:
            raise AttributeError(
                f"{len(self.full_solutions)} machines were trained on all examples, one for each pair of classes; "
                "use full_solutions."
            )
        return self.full_solutions[0]

    @property
    def is_known(self) -> np.ndarray:
        """Whether the machines of all pairs have decided an example, shape (n,)."""
        decided = self.decided_by != ""
        return np.asarray(decided.all(axis=1) if decided.ndim > 1 else decided)

    @property
    def counts(self) -> dict[str, int]:
        """Number of examples that each check or rule decided, summed over the pairs of classes."""
        names = dict.fromkeys((*DECIDERS, *filter(None, self.decided_by.ravel().tolist())))
        return {name: int((self.decided_by == name).sum()) for name in names}

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with the prediction, the deciding check or rule, and the steps of each example.

        If X is a DataFrame, the returned DataFrame has the index of X. With three or more classes, the names of the
        columns of a pair end with the names of its two classes.
        """
        pd = pandas_for("to_frame()")

        columns: dict[str, Any] = {"label": self.labels, "prediction": self.predictions}
        if self.decided_by.ndim == 1:
            columns |= {"decided_by": self.decided_by, "decision_value": self.decision_values}
        else:
            for pair, names in enumerate(OneVsOne(len(self.classes)).named(self.classes)):
                end = " {} {}".format(*names)
                columns["decided_by" + end] = self.decided_by[:, pair]
                columns["decision_value" + end] = self.decision_values[:, pair]
        return pd.DataFrame(columns | {"iterations": self.round_iterations}, index=self.index)

    def trace_frame(self) -> Any:
        """Return `traces` as one pandas DataFrame, in which each row is a step of the round of an example."""
        if self.decided_by.ndim > 1:
            pairs = {(r, (p, q)): trace for (r, p, q), trace in self.traces.items()}
            return stacked(pairs, ["example", "pair"])
        return stacked({(r,): trace for r, trace in self.traces.items()}, ["example"])


@dataclass(frozen=True)
class FoldReport:
    """A report of one round of cross-validation, which holds out one fold of one pair of classes.

    Attributes
    ----------
    fold : int
        Number of the fold.
    pair : (int, int)
        Numbers of the two classes.
    iterations, kernel_rows : int
        Number of steps, and number of kernel rows computed in this round.
    seed_seconds, solve_seconds : float
        Time to make the round's starting point, and time to solve from this point. If several rounds run together,
        each of them gets the same share of their time.
    status : Status
        How the round ended.
    trace : Trace, optional
        The recorded steps of the round, if `trace` was set.
    """

    fold: int
    pair: tuple[int, int]
    iterations: int
    kernel_rows: int
    seed_seconds: float
    solve_seconds: float
    status: Status
    trace: Trace | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class CrossValidation(Scores):
    """The result of cross-validation.

    The scores are `error` for classification; `residuals`, `rmse`, `mae` and `r2` for regression; `outside` for
    novelty detection (`refsvm.analysis.resampling.scores.Scores`). While a round is missing, scores are NaN, and
    `bounds` contains the lowest and highest possible value of each score.

    Attributes
    ----------
    kind : {"classification", "regression", "novelty"}
        The kind of task.
    classes : ndarray of shape (k,)
        The sorted labels; empty for regression and novelty detection.
    predictions : ndarray of shape (n,)
        Prediction for each example by the round that held it out: a class, a value, or 1 for inside and −1 for
        outside. In an incomplete result, the prediction for an example whose round is missing is its own label, or NaN
        for a regression.
    labels : ndarray of shape (n,)
        The labels or targets passed by the user; 1 for each example of novelty detection.
    decision_values : ndarray of shape (n, k(k − 1)/2), float64
        h of each pair in the round that held the example out, with signs and order as in `refsvm.SVC`; NaN if the
        round is missing. Regression and novelty detection have one column.
    fold : ndarray of shape (n,), int64
        Fold number of each example.
    rounds : tuple of FoldReport
        One report for each fold and pair, ordered by pairs.
    status : Status
        CONVERGED if all rounds were solved to the tolerance; INTERRUPTED after Ctrl-C; otherwise the status of the
        first round that was not solved to the tolerance.
    iterations, kernel_rows : int
        Number of steps, and number of computed kernel rows, summed over all rounds. If the rounds started from the
        solution on all examples, its steps and rows are included.
    seconds : float
        Wall time of the call in seconds.
    weights : ndarray of shape (n,), float64, or None
        Weight of each example in the scores; None if all weights are equal.
    machine : str
        A text that names the kernel and gives its parameters, followed by C, by C and ε, or by ν.
    index : pandas.Index or None
        The index of X, if X is a DataFrame.
    """

    fold: np.ndarray
    rounds: tuple[FoldReport, ...]

    def _card(self) -> Card:
        folds, heights = int(self.fold.max()) + 1, self.of_folds[1]
        return scored(self, f"{folds} folds", None, tuple(heights.tolist()))

    @property
    def standard_error(self) -> float:
        """Standard error of `error`, `rmse` or `outside`, from the spread over folds; NaN for an incomplete result."""
        scores = self.of_folds[1] if self.is_finished else np.zeros(0)
        return float(scores.std(ddof=1) / np.sqrt(len(scores))) if len(scores) > 1 else float("nan")

    @property
    def is_known(self) -> np.ndarray:
        """Whether all rounds that hold out an example were run, shape (n,)."""
        return ~np.isnan(self.decision_values).any(axis=1)

    @property
    def of_folds(self) -> tuple[str, np.ndarray]:
        """The name "error", "rmse" or "outside", and this score by fold, shape (folds,); NaN if a round is missing."""
        return SCORES[self.kind][0], self._of_folds("of_folds", FIRST_OF[self.kind], self.kind)

    @property
    def errors(self) -> np.ndarray:
        """`error` of each fold, shape (folds,); NaN if a round of the fold is missing."""
        return self._of_folds("errors", share_wrong, CLASSIFICATION, NOVELTY)

    @property
    def fold_rmse(self) -> np.ndarray:
        """`rmse` of each fold, shape (folds,); NaN if the fold's round is missing."""
        return self._of_folds("fold_rmse", root_mean_square, REGRESSION)

    @property
    def fold_mae(self) -> np.ndarray:
        """`mae` of each fold, shape (folds,); NaN if the fold's round is missing."""
        return self._of_folds("fold_mae", mean_absolute_error, REGRESSION)

    @property
    def fold_r2(self) -> np.ndarray:
        """`r2` of each fold, shape (folds,); NaN if the fold's round is missing or all its targets are equal."""
        return self._of_folds("fold_r2", r_squared, REGRESSION)

    def _of_folds(self, name: str, score: Score, *kinds: str) -> np.ndarray:
        """Return a score of each fold, shape (folds,); NaN if a round is missing or all weights in the fold are 0."""
        self._only(name, *kinds)
        known, result = self.is_known, np.full(int(self.fold.max()) + 1, np.nan)
        for h in range(len(result)):
            held_out = self.fold == h
            if known[held_out].all():
                result[h] = self._of_some(score, held_out)
        return result

    @property
    def seed_seconds(self) -> float:
        """Sum of the times to make the starting points, in seconds."""
        return sum(each.seed_seconds for each in self.rounds)

    @property
    def solve_seconds(self) -> float:
        """Sum of the times to solve from the starting points, in seconds."""
        return sum(each.solve_seconds for each in self.rounds)

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with a row for each example: label, prediction, fold and decision value.

        If X is a DataFrame, the returned DataFrame has the index of X. With three or more classes, the DataFrame has a
        column of decision values for each pair, named after the two classes. An example whose rounds are missing has no
        prediction.
        """
        pd = pandas_for("to_frame()")
        known = self.is_known
        known_predictions = pd.Series(self.predictions).where(pd.Series(known))
        predictions = self.predictions if known.all() else known_predictions.to_numpy()
        columns: dict[str, Any] = {"label": self.labels, "prediction": predictions, "fold": self.fold}
        if self.decision_values.shape[1] == 1:
            columns["decision_value"] = self.decision_values[:, 0]
        else:
            for pair, names in enumerate(OneVsOne(len(self.classes)).named(self.classes)):
                columns["decision_value {} {}".format(*names)] = self.decision_values[:, pair]
        return pd.DataFrame(columns, index=self.index)

    def rounds_frame(self) -> Any:
        """Return `rounds` as a pandas DataFrame with a row for each round; the status is given by its name."""
        pd = pandas_for("to_frame()")

        names = [each.name for each in fields(FoldReport) if each.name not in ("status", "trace")]
        rows = [{name: getattr(each, name) for name in names} for each in self.rounds]
        return pd.DataFrame(rows).assign(status=[each.status.name for each in self.rounds])

    def trace_frame(self) -> Any:
        """Return the traces of `rounds` as one pandas DataFrame, in which each row is a step of a round."""
        traces = {(each.fold, each.pair): each.trace for each in self.rounds if each.trace is not None}
        return stacked(traces, ["fold", "pair"])


def stacked(traces: Mapping[tuple[Any, ...], Trace], names: list[str]) -> Any:
    """Return all traces as one DataFrame; its first columns, with the names `names`, identify each step's round."""
    pd = pandas_for("to_frame()")

    if not traces:
        raise ValueError("No steps were recorded, because trace was False; pass trace=True.")
    frames = []
    for key, trace in traces.items():
        frame = trace.to_frame()
        for place, (name, value) in enumerate(zip(names, key, strict=True)):
            frame.insert(place, name, [value] * len(frame))
        frames.append(frame)
    return pd.concat(frames, ignore_index=True)
