"""What leave-one-out returns."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from refsvm.result import Solution, Status

__all__ = ["DECIDERS", "LeaveOneOut"]

DECIDERS = ("zero alpha", "training error", "xi-alpha bound", "duality gap", "kkt", "limit")
"""What can decide an example: the three checks, the two stopping rules, and a limit reached before either."""


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
        "zero alpha", "training error" or "xi-alpha bound" (no training was needed), "duality gap" (training ended once
        the sign was certain), "kkt" (it went on to the tolerance), "limit" (it ended at `max_iter`), or "" if nothing
        has decided the example yet.
    decision_values : ndarray of shape (n,), float64
        h(xᵣ) of the machine without r; NaN where it was not computed. After "duality gap" its sign alone is certain.
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
        return {name: int((self.decided_by == name).sum()) for name in DECIDERS}
