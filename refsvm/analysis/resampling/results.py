"""The results of leave-one-out and cross-validation."""

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

DECIDERS = ("zero alpha", "training error", "xi-alpha bound", "ball", "duality gap", "path", "kkt", "limit")
"""What may decide an example, by name: the checks, the stopping rules, a walk to the end, a limit before either."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class LeaveOneOut(Scores):
    """The result of leave-one-out.

    The scores are `error` of classes; `residuals`, `rmse`, `mae` and `r2` of a regression; `outside` of novelty
    detection (`refsvm.analysis.resampling.scores.Scores`). They are NaN while an example is left; `bounds` holds
    whatever follows.

    Attributes
    ----------
    kind : {"classification", "regression", "novelty"}
        The kind of machine.
    classes : ndarray of shape (k,)
        The labels, sorted; empty without classes.
    predictions : ndarray of shape (n,)
        Prediction for each example by a machine trained without it: a class, a value, or 1 for inside and −1 for
        outside. The training label if the example is not decided yet, which only happens in an incomplete result; of a
        regression NaN.
    labels : ndarray of shape (n,)
        The labels or targets given; 1 for each example of novelty detection.
    decided_by : ndarray of shape (n,) of str
        "zero alpha", "training error" or "xi-alpha bound" (no training was needed), "ball" or "duality gap" (training
        ended once the sign was certain, that is at once where the ball proves it at the seed), "path" (the seeder has
        followed the optimum to the end, and no step was needed), "kkt" (it went on to the tolerance, and beyond it
        where h is next to zero), "limit" (it ended at `max_iter`), or "" if nothing has decided the example yet.
        Of three classes and more shape (n, k(k − 1)/2), a column for each pair: "other class" where the example is of
        none of the two, so that the machine of all has never used it.
    decision_values : ndarray of shape (n,), float64
        h(xᵣ) of the machine without r; NaN where it was not computed. After "ball" and "duality gap" its sign alone is
        certain. Of three classes and more shape (n, k(k − 1)/2), signs and order as in `refsvm.SVC`.
    iterations, round_iterations : int, ndarray of shape (n,) of int
        Steps of all rounds and the full solution together; of the round of each example. A round that goes on
        beyond the tolerance begins anew, and both count.
    kernel_rows : int
        Kernel rows computed.
    seconds : float
        Wall time of the whole call.
    full_solutions : tuple of Solution
        The machines trained on all examples: one for each pair of classes, in the order of the columns.
    status : Status
        CONVERGED, or why the result is incomplete.
    engine : str
        Engine of the rounds.
    gap_rule_kept : bool or None
        Outcome of the efficiency test; None if there was none to be made.
    traces : dict of int to Trace
        The steps of each round, by example, if they were asked for; of three classes and more by (r, p, q), the example
        and the numbers of two classes.
    weights : ndarray of shape (n,), float64, or None
        How often each example counts in the scores; None if all count alike.
    is_solved : ndarray of shape (n,), bool
        Whether an example is decided by machines that are solved: neither a limit nor a selector that stalled ended
        them before.
    sides : ndarray of shape (n, k(k − 1)/2), float64
        The decision value of each machine that is decided, or a number of its sign; NaN of one that is not. One column
        without classes.
    machine : str
        The kernel, γ of "scale" as a number, and C.
    index : pandas.Index or None
        The names of the examples, if X is a frame.
    """

    decided_by: np.ndarray
    round_iterations: np.ndarray
    full_solutions: tuple[Solution, ...]
    engine: str
    gap_rule_kept: bool | None = None
    traces: dict[Any, Trace] = field(default_factory=dict)
    is_solved: np.ndarray = field(default_factory=lambda: np.ones(0, dtype=bool))
    sides: np.ndarray | None = None

    def _card(self) -> Card:
        full = self.full_solutions
        unit = "examples" if len(full) < 2 else "examples and pairs"
        decided = Parts("decided by", unit, self.counts, self.decided_by.size)
        return scored(self, "exact leave-one-out", decided)

    @property
    def standard_error(self) -> float:
        """Standard error of the first of `scores`, from the spread of the examples; NaN of an unfinished result."""
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
        """The machine trained on all examples; of three classes and more there are several: `full_solutions`."""
        if len(self.full_solutions) > 1:
            raise AttributeError(
                f"{len(self.full_solutions)} machines are trained on all examples, one for each pair of classes: see "
                "full_solutions."
            )
        return self.full_solutions[0]

    @property
    def is_known(self) -> np.ndarray:
        """Whether an example is decided, by the machines of all pairs, shape (n,)."""
        decided = self.decided_by != ""
        return np.asarray(decided.all(axis=1) if decided.ndim > 1 else decided)

    @property
    def counts(self) -> dict[str, int]:
        """Numbers of examples that each check and rule decided; of three classes and more, those of each pair."""
        names = dict.fromkeys((*DECIDERS, *filter(None, self.decided_by.ravel().tolist())))
        return {name: int((self.decided_by == name).sum()) for name in names}

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with a row for each example: its prediction, the reason, its steps.

        Its index is that of X, if X is a frame.

        Of three classes and more the columns of a pair have the names of its classes at their end.
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
        """Return `traces` as one pandas DataFrame, one row a step; the column "example" says whose round it is."""
        if self.decided_by.ndim > 1:
            pairs = {(r, (p, q)): trace for (r, p, q), trace in self.traces.items()}
            return stacked(pairs, ["example", "pair"])
        return stacked({(r,): trace for r, trace in self.traces.items()}, ["example"])


@dataclass(frozen=True)
class FoldReport:
    """One round: a fold held out, for one pair of classes.

    Attributes
    ----------
    fold : int
        The fold held out.
    pair : (int, int)
        Numbers of the two classes.
    iterations, kernel_rows : int
        Steps; kernel rows computed in this round.
    seed_seconds, solve_seconds : float
        Time to make the start, and to solve from there. Rounds that are made and run in one go share both alike.
    status : Status
    trace : Trace, optional
        Its steps, if they were asked for.
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
    """The result of cross-validation, with its cost.

    The scores are `error` of classes; `residuals`, `rmse`, `mae` and `r2` of a regression; `outside` of novelty
    detection (`refsvm.analysis.resampling.scores.Scores`). They are NaN while a round is missing; `bounds` holds
    whatever follows.

    Attributes
    ----------
    kind : {"classification", "regression", "novelty"}
        The kind of machine.
    classes : ndarray of shape (k,)
        The labels, sorted; empty without classes.
    predictions : ndarray of shape (n,)
        Prediction for each example by the round that held it out: a class, a value, or 1 for inside and −1 for outside.
        Its own label if that round is missing, which only happens in an incomplete result; of a regression NaN.
    labels : ndarray of shape (n,)
        The labels or targets given; 1 for each example of novelty detection.
    decision_values : ndarray of shape (n, k(k − 1)/2), float64
        h of each pair in that round, signs and order as in `refsvm.SVC`; NaN if it is missing. One column without
        classes.
    fold : ndarray of shape (n,), int64
        Fold of each example.
    rounds : tuple of FoldReport
        One for each fold and pair, pair after pair.
    status : Status
        CONVERGED; INTERRUPTED after Ctrl-C; or that of the first round that was not solved to the tolerance.
    iterations, kernel_rows : int
        Of all rounds, and of the full solution where one was the origin.
    seconds : float
        Wall time.
    weights : ndarray of shape (n,), float64, or None
        How often each example counts in the scores; None if all count alike.
    machine : str
        The kernel, γ of "scale" as a number, and C.
    index : pandas.Index or None
        The names of the examples, if X is a frame.
    """

    fold: np.ndarray
    rounds: tuple[FoldReport, ...]

    def _card(self) -> Card:
        folds, heights = int(self.fold.max()) + 1, self.of_folds[1]
        return scored(self, f"{folds} folds", None, tuple(heights.tolist()))

    @property
    def standard_error(self) -> float:
        """Standard error of the first of `scores`, from its spread over the folds; NaN of an unfinished result."""
        found = self.of_folds[1] if self.is_finished else np.zeros(0)
        return float(found.std(ddof=1) / np.sqrt(len(found))) if len(found) > 1 else float("nan")

    @property
    def is_known(self) -> np.ndarray:
        """Whether all rounds of an example were run, shape (n,)."""
        return ~np.isnan(self.decision_values).any(axis=1)

    @property
    def of_folds(self) -> tuple[str, np.ndarray]:
        """The name of the first of `scores`, and its value in each fold, shape (folds,); NaN if a round is missing."""
        return SCORES[self.kind][0], self._of_folds(FIRST_OF[self.kind])

    @property
    def errors(self) -> np.ndarray:
        """`error` of each fold, shape (folds,), float64; NaN if a round of it is missing."""
        self._only("errors", CLASSIFICATION, NOVELTY)
        return self._of_folds(share_wrong)

    @property
    def fold_rmse(self) -> np.ndarray:
        """`rmse` of each fold, shape (folds,), float64; NaN if a round of it is missing."""
        self._only("fold_rmse", REGRESSION)
        return self._of_folds(root_mean_square)

    @property
    def fold_mae(self) -> np.ndarray:
        """`mae` of each fold, shape (folds,), float64; NaN if a round of it is missing."""
        self._only("fold_mae", REGRESSION)
        return self._of_folds(mean_absolute_error)

    @property
    def fold_r2(self) -> np.ndarray:
        """`r2` of each fold, shape (folds,), float64; NaN if a round is missing, or all of its targets are one."""
        self._only("fold_r2", REGRESSION)
        return self._of_folds(r_squared)

    def _of_folds(self, score: Score) -> np.ndarray:
        """Return a score of each fold, shape (folds,); NaN if a round of it is missing, or none of it counts."""
        known, result = self.is_known, np.full(int(self.fold.max()) + 1, np.nan)
        for h in range(len(result)):
            held_out = self.fold == h
            if known[held_out].all():
                result[h] = self._of_some(score, held_out)
        return result

    @property
    def seed_seconds(self) -> float:
        """Time all seeds took."""
        return sum(each.seed_seconds for each in self.rounds)

    @property
    def solve_seconds(self) -> float:
        """Time all rounds took from their seeds on."""
        return sum(each.solve_seconds for each in self.rounds)

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with a row for each example: label, prediction, fold and decision value.

        Its index is that of X, if X is a frame. Of three classes and more there is a decision value for each pair,
        with the names of its classes. An example whose rounds are missing has no prediction.
        """
        pd = pandas_for("to_frame()")
        known = self.is_known
        found = pd.Series(self.predictions).where(pd.Series(known))
        predictions = self.predictions if known.all() else found.to_numpy()
        columns: dict[str, Any] = {"label": self.labels, "prediction": predictions, "fold": self.fold}
        if self.decision_values.shape[1] == 1:
            columns["decision_value"] = self.decision_values[:, 0]
        else:
            for pair, names in enumerate(OneVsOne(len(self.classes)).named(self.classes)):
                columns["decision_value {} {}".format(*names)] = self.decision_values[:, pair]
        return pd.DataFrame(columns, index=self.index)

    def rounds_frame(self) -> Any:
        """Return `rounds` as a pandas DataFrame, one row each; the status by its name."""
        pd = pandas_for("to_frame()")

        names = [each.name for each in fields(FoldReport) if each.name not in ("status", "trace")]
        rows = [{name: getattr(each, name) for name in names} for each in self.rounds]
        return pd.DataFrame(rows).assign(status=[each.status.name for each in self.rounds])

    def trace_frame(self) -> Any:
        """Return the traces of `rounds` as one pandas DataFrame, one row a step; "fold" and "pair" say whose it is."""
        traces = {(each.fold, each.pair): each.trace for each in self.rounds if each.trace is not None}
        return stacked(traces, ["fold", "pair"])


def stacked(traces: Mapping[tuple[Any, ...], Trace], names: list[str]) -> Any:
    """Return all traces as one DataFrame; the first columns, of these names, tell the round of each step."""
    pd = pandas_for("to_frame()")

    if not traces:
        raise ValueError("no steps were recorded; pass trace=True.")
    frames = []
    for key, trace in traces.items():
        frame = trace.to_frame()
        for place, (name, value) in enumerate(zip(names, key, strict=True)):
            frame.insert(place, name, [value] * len(frame))
        frames.append(frame)
    return pd.concat(frames, ignore_index=True)
