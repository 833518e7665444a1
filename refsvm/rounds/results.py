"""What leave-one-out and cross-validation return."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from refsvm.result import Solution, Status, Trace

DECIDERS = ("zero alpha", "training error", "xi-alpha bound", "ball", "duality gap", "path", "kkt", "limit")
"""What can decide an example: the checks, the stopping rules, a walk to the end, and a limit reached before either."""


@dataclass(frozen=True, eq=False)
class LeaveOneOut:
    """The leave-one-out error, and how it came about.

    Attributes
    ----------
    predictions : ndarray of shape (n,)
        For each example, the class that a machine trained without it predicts. The training label where nothing has
        decided yet, which only happens in an incomplete result.
    labels : ndarray of shape (n,)
        The labels given.
    decided_by : ndarray of shape (n,) of str
        "zero alpha", "training error" or "xi-alpha bound" (no training was needed), "ball" or "duality gap" (training
        ended once the sign was certain, that is at once where the ball proves it at the seed), "path" (the seeder has
        followed the optimum to the end, and no step was needed), "kkt" (it went on to the tolerance), "limit" (it ended
        at `max_iter`), or "" if nothing has decided the example yet.
    decision_values : ndarray of shape (n,), float64
        h(xᵣ) of the machine without r; NaN where it was not computed. After "ball" and "duality gap" its sign alone is
        certain.
    iterations, round_iterations : int, ndarray of shape (n,) of int
        Steps of all rounds and the full solution together; of the round of each example.
    kernel_rows : int
        Kernel rows computed.
    seconds : float
        Wall time of the whole call.
    full_solution : Solution
        The machine trained on all examples.
    status : Status
        CONVERGED, or why the result is incomplete.
    engine : str
        What ran the rounds.
    gap_rule_kept : bool or None
        Outcome of the efficiency test; None if there was none to be made.
    traces : dict of int to Trace
        The steps of each round, by example, if they were asked for.
    """

    predictions: np.ndarray = field(repr=False)
    labels: np.ndarray = field(repr=False)
    decided_by: np.ndarray = field(repr=False)
    decision_values: np.ndarray = field(repr=False)
    iterations: int
    round_iterations: np.ndarray = field(repr=False)
    kernel_rows: int
    seconds: float
    full_solution: Solution = field(repr=False)
    status: Status
    engine: str
    gap_rule_kept: bool | None = None
    traces: dict[int, Trace] = field(default_factory=dict, repr=False)

    @property
    def is_complete(self) -> bool:
        """Whether every example is decided."""
        return bool((self.decided_by != "").all())

    @property
    def error(self) -> float:
        """Share of wrong predictions among the examples decided; NaN if none is."""
        decided = self.decided_by != ""
        wrong = self.predictions != self.labels
        return float(wrong[decided].mean()) if decided.any() else float("nan")

    @property
    def counts(self) -> dict[str, int]:
        """How many examples each check and rule decided."""
        names = dict.fromkeys((*DECIDERS, *filter(None, self.decided_by.tolist())))
        return {name: int((self.decided_by == name).sum()) for name in names}

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with a row for each example: what was predicted, what decided it, its steps."""
        import pandas as pd

        return pd.DataFrame(
            {
                "label": self.labels, "prediction": self.predictions, "decided_by": self.decided_by,
                "decision_value": self.decision_values, "iterations": self.round_iterations,
            }
        )  # fmt: skip

    def trace_frame(self) -> Any:
        """Return `traces` as one pandas DataFrame, one row a step; the column "example" says whose round it is."""
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


@dataclass(frozen=True)
class CrossValidation:
    """What cross-validation found, and what it cost.

    Attributes
    ----------
    classes : ndarray of shape (k,)
        The labels, sorted.
    predictions : ndarray of shape (n,)
        Label predicted for each example by the round that held it out; its own label if that round is missing, which
        only happens in an incomplete result.
    decision_values : ndarray of shape (n, k(k − 1)/2), float64
        h of each pair in that round, signs and order as in `refsvm.SVC`; NaN if it is missing.
    fold : ndarray of shape (n,), int64
        Fold of each example.
    errors : ndarray of shape (folds,), float64
        Part of each fold that is predicted wrongly; NaN if a round of it is missing.
    error : float
        Part of all examples that is, those of missing rounds left out.
    rounds : tuple of FoldReport
        One for each fold and pair, pair after pair.
    status : Status
        CONVERGED; INTERRUPTED after Ctrl-C; or that of the first round that was not solved to the tolerance.
    iterations, kernel_rows : int
        Of all rounds, and of the full solution where one was the origin.
    seconds : float
        Wall time.
    """

    classes: np.ndarray
    predictions: np.ndarray = field(repr=False)
    decision_values: np.ndarray = field(repr=False)
    fold: np.ndarray = field(repr=False)
    errors: np.ndarray = field(repr=False)
    error: float
    rounds: tuple[FoldReport, ...] = field(repr=False)
    status: Status
    iterations: int
    kernel_rows: int
    seconds: float

    @property
    def is_complete(self) -> bool:
        """Whether every round was run."""
        return not np.isnan(self.decision_values).any()

    @property
    def seed_seconds(self) -> float:
        """Time all seeds took."""
        return sum(each.seed_seconds for each in self.rounds)

    @property
    def solve_seconds(self) -> float:
        """Time all rounds took from their seeds on."""
        return sum(each.solve_seconds for each in self.rounds)

    def to_frame(self) -> Any:
        """Return `rounds` as a pandas DataFrame, one row each; the status by its name."""
        import pandas as pd

        names = [each.name for each in fields(FoldReport) if each.name not in ("status", "trace")]
        rows = [{name: getattr(each, name) for name in names} for each in self.rounds]
        return pd.DataFrame(rows).assign(status=[each.status.name for each in self.rounds])

    def trace_frame(self) -> Any:
        """Return the traces of `rounds` as one pandas DataFrame, one row a step; "fold" and "pair" say whose it is."""
        traces = {(each.fold, each.pair): each.trace for each in self.rounds if each.trace is not None}
        return stacked(traces, ["fold", "pair"])


def stacked(traces: Mapping[tuple[Any, ...], Trace], names: list[str]) -> Any:
    """Return traces below one another, the first columns of these names saying whose steps they are."""
    import pandas as pd

    if not traces:
        raise ValueError("no steps were recorded; pass trace=True.")
    frames = []
    for key, trace in traces.items():
        frame = trace.to_frame()
        for place, (name, value) in enumerate(zip(names, key, strict=True)):
            frame.insert(place, name, [value] * len(frame))
        frames.append(frame)
    return pd.concat(frames, ignore_index=True)
