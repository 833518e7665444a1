"""Jackknife+ and CV+: prediction intervals from the models that leave-one-out or cross-validation trains.

    ŷ₋ᵢ is the model trained without example i, or without its fold;   Rᵢ = |yᵢ − ŷ₋ᵢ(xᵢ)|
    lower end: the ⌊a(n + 1)⌋-th smallest of ŷ₋ᵢ(x) − Rᵢ,   upper end: the ⌈(1 − a)(n + 1)⌉-th smallest of ŷ₋ᵢ(x) + Rᵢ

For exchangeable examples, the interval of confidence 1 − a contains the next target with a probability of at least
1 − 2a, and usually of about 1 − a; with k folds, this least probability falls by at most (1 − k/n)/(k + 1). An example
of weight w counts as w examples, which are left out together. A model without one example differs from the full model
in few α, so `HeldOutMachines` stores only the differences.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from refsvm.analysis.resampling.task import task_given
from refsvm.analysis.resampling.weights import copies, smallest
from refsvm.core import arithmetic
from refsvm.core._checks import real
from refsvm.core.engine.unsolved import unsolved, warn_of_unsolved
from refsvm.core.problem import DualProblem
from refsvm.core.rounds.machine import REGRESSION
from refsvm.core.rounds.round import Round
from refsvm.core.rounds.rounds import Rounds
from refsvm.core.rounds.sufficiency import ZeroAlpha, sufficient
from refsvm.core.seeders.top import TOP
from refsvm.core.stopping.base import StoppingRule
from refsvm.services.summary import Card, Shown

AT_ONCE: Final = 256
"""Number of rounds whose solutions are in memory at the same time."""


@dataclass(frozen=True, eq=False, repr=False)
class HeldOutMachines(Shown):
    """The models of a regression, each trained without one example or one fold.

    Parameters
    ----------
    beta : ndarray of shape (n,), float64
        β = αᵢ + αₙ₊ᵢ of the full model, trained on all examples.
    changes : list of (ndarray of int64, ndarray of float64)
        For each model, the examples whose β differs from β of the full model, and the differences.
    intercepts : ndarray of float64
        b of each model.
    number : ndarray of shape (n,), int64
        For each example, the index of the model that was trained without the example.
    residuals : ndarray of shape (n,), float64
        |yᵢ − ŷ₋ᵢ(xᵢ)| of each example i.
    copies : ndarray of shape (n,), int64, optional
        Number of copies of each example, by default 1.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import RBF, DualProblem
    >>> from refsvm.analysis.resampling.jackknife import held_out_machines
    >>> x = np.linspace(0.0, 6.0, 30)[:, None]
    >>> y, kernel = np.sin(x[:, 0]) + 0.2 * np.cos(40.0 * x[:, 0]), RBF(0.5)
    >>> machines = held_out_machines(DualProblem.regression(x, y, kernel=kernel))
    >>> machines.intervals(kernel(np.array([[1.5]]), x), confidence=0.8).round(1)
    array([[0.7, 1.2]])
    """

    beta: np.ndarray
    changes: list[tuple[np.ndarray, np.ndarray]]
    intercepts: np.ndarray
    number: np.ndarray
    residuals: np.ndarray
    copies: np.ndarray | None = None

    def _card(self) -> Card:
        changed = sum(len(where) > 0 for where, _ in self.changes)
        counts = f"{len(self.intercepts)} machines of {len(self.residuals)} examples"
        return Card(f"{counts}; {changed} differ from the full model")

    def predictions(self, cross: np.ndarray) -> np.ndarray:
        """Return ŷ₋ᵢ(x) of each model, shape (m, models), from kernel values k(x, xᵢ) of shape (m, n)."""
        every = np.ascontiguousarray(cross.T)
        values = arithmetic.product(self.beta[None], every).T + self.intercepts
        for column, (where, change) in enumerate(self.changes):
            if len(where):
                values[:, column] += arithmetic.product(change[None], every[where])[0]
        return values

    def intervals(self, cross: np.ndarray, confidence: float) -> np.ndarray:
        """Return the ends of the interval of each new example, shape (m, 2); infinite if n is too small.

        Parameters
        ----------
        cross : ndarray of shape (m, n)
            Kernel values k(x, xᵢ) between the new examples and the training examples.
        confidence : float
            The confidence 1 − a, in (0, 1).

        References
        ----------
        R. F. Barber, E. J. Candès, A. Ramdas and R. J. Tibshirani, "Predictive inference with the jackknife+", Annals
        of Statistics 49, 2021.
        """
        if not 0.0 < (share := real("confidence", confidence)) < 1.0:
            raise ValueError(f"confidence={confidence!r} is not between 0 and 1; give a number such as 0.9.")
        counts = copies("an interval", self.copies, len(self.residuals))
        n, values = int(counts.sum()), self.predictions(cross)[:, self.number]
        # few = ⌊a(n + 1)⌋ = n + 1 − ⌈(1 − a)(n + 1)⌉; add 1e-9 so that rounding does not turn 5 into 4.999… and 4
        few = math.floor((1.0 - share) * (n + 1) + 1e-9)
        if few == 0:
            return np.tile([-np.inf, np.inf], (len(cross), 1))
        low = smallest(values - self.residuals, counts, few)
        high = smallest(values + self.residuals, counts, n + 1 - few)
        return np.column_stack([low, high])


def held_out_machines(
    problem: DualProblem,
    folds: np.ndarray | None = None,
    *,
    weights: np.ndarray | None = None,
    stop: StoppingRule | None = None,
    engine: str = "auto",
    **options: Any,
) -> HeldOutMachines:
    """Train models, each without one example or one fold, starting from the full model.

    Parameters
    ----------
    problem : DualProblem
        A problem of regression.
    folds : ndarray of shape (n,), int64, optional
        The fold of each example; by default each example has a fold of its own.
    weights : ndarray of shape (n,), optional
        Number of copies of each example, as whole numbers; the problem's penalties must be proportional to the weights.
        The default is 1. If penalties differ and `weights` is missing, no probability is proved for the intervals.
    stop : StoppingRule, optional
        Rule that ends a round, by default the KKT gap at 1e-3 times the standard deviation of the targets.
    engine, **options
        As in `refsvm.Rounds`.

    Raises
    ------
    ValueError
        If the problem is not a regression, or a weight is not a whole number.

    Warns
    -----
    ConvergenceWarning
        If some models are not solved; a `refsvm.core.engine.unsolved.UnsolvedWarning` without scikit-learn.
    """
    task = task_given(problem, None, None, None)
    if task.kind != REGRESSION:
        raise ValueError(
            f"Prediction intervals need a regression, but the problem is {task.kind}; use DualProblem.regression."
        )
    n, machine = task.gram.n, next(task.machines())
    counts = None if weights is None else copies("an interval", weights, n)
    number = np.arange(n) if folds is None else np.unique(folds, return_inverse=True)[1]
    stop = task.gap() if stop is None else stop
    rounds = Rounds(problem, stop=stop, engine=engine, cache_dtype="float64", **options)
    full = rounds.solutions["all"] = rounds.solve().in_solver_coordinates(rounds.problem)
    beta, count = full.alpha.reshape(2, n).sum(axis=0), int(number.max()) + 1
    nothing = np.zeros(0, dtype=np.int64), np.zeros(0)
    changes, intercepts = [nothing] * count, np.full(count, full.intercept)
    names, _, values = sufficient(full, rounds.rows, (ZeroAlpha(),), copies=2)
    members = [np.flatnonzero(number == place) for place in range(count)]
    plan = [place for place, some in enumerate(members) if len(some) > 1 or not names[some[0]]]
    ends = [full.status]
    for begin in range(0, len(plan), AT_ONCE):
        some = plan[begin : begin + AT_ONCE]
        turns = [
            Round(machine.variables(members[place]), "all", place, evaluate=members[place]) for place in some
        ]
        for place, ended in zip(some, rounds.run(turns, TOP()), strict=True):
            values[members[place]] = ended.values
            ends.append(ended.status)
            solution = rounds.solutions.pop(place)
            change = solution.alpha.reshape(2, n).sum(axis=0) - beta
            where = np.flatnonzero(change)
            changes[place], intercepts[place] = (where, change[where]), solution.intercept
    warn_of_unsolved(
        "machines trained for the intervals", unsolved(ends), len(ends), "the intervals depend on them"
    )
    return HeldOutMachines(beta, changes, intercepts, number, np.abs(task.labels - values), counts)
