"""Check: a proof of a leave-one-out prediction from the full solution, without training again. Four are shipped."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

import numpy as np

from refsvm.core.kernels.functions import RBF
from refsvm.core.kernels.rows import KernelRows
from refsvm.core.problem import DualProblem, total
from refsvm.core.result import Solution
from refsvm.core.rounds.runner import checked_seed, read_only_solution
from refsvm.core.rule import Rule, is_builtin
from refsvm.core.seeders import TOP, Seeder
from refsvm.core.stopping.midpoint import certain_sign, distances, radius


class Check(Rule):
    """Decides examples for which the machine trained without them is proved to predict one class.

    It sees the solution on all examples, where v holds the labels ±1. α is only known up to the KKT gap: a check keeps
    a distance from its limit. Examples that are alone in their class are never asked about.

    Attributes
    ----------
    name : str
        Entry in `LeaveOneOut.decided_by` for the examples that it decides.
    needs_convex : bool
        Whether the proof needs a positive semi-definite K.
    keeps_machine : bool
        Whether the machine is the same without the example, so that its decision value is known too.
    """

    example_call: ClassVar[str] = "ZeroAlpha()"
    name: ClassVar[str] = ""
    needs_convex: ClassVar[bool] = True
    keeps_machine: ClassVar[bool] = False

    @abstractmethod
    def decide(self, full: Solution, rows: KernelRows) -> np.ndarray:
        """Return the sign of h(xᵣ) without example r, 1 or −1, and 0 where it is not known; shape (n,).

        `rows` are the kernel rows that the full solution has left in memory.
        """


@dataclass(frozen=True)
class ZeroAlpha(Check):
    """αᵣ = 0. The solution is the same without r, and so is h(xᵣ).

    Not decided if no variable is free and r is an end of the interval of b: without r it is longer. Of regression an
    example has two variables, and both are 0.

    References
    ----------
    V. Franc, P. Laskov and K.-R. Müller, ICML 2008, Table 1.
    """

    name: ClassVar[str] = "zero alpha"
    needs_convex: ClassVar[bool] = False
    keeps_machine: ClassVar[bool] = True

    def decide(self, full: Solution, rows: KernelRows) -> np.ndarray:
        """Compare α with 0."""
        decided = np.where(full.alpha == 0.0, np.where(full.decision_values >= 0.0, 1, -1), 0)
        problem, alpha = full.problem, full.alpha
        if not ((problem.lower < alpha) & (alpha < problem.upper)).any():
            decided[[i for i in full.most_violating[:2] if i >= 0]] = 0
        return decided


@dataclass(frozen=True)
class TrainingError(Check):
    """yᵣh(xᵣ) < 0. Without r it is no larger.

    References
    ----------
    V. Franc, P. Laskov and K.-R. Müller, ICML 2008, Table 1; T. Joachims, "Estimating the generalization performance of
    an SVM efficiently", ICML 2000.
    """

    name: ClassVar[str] = "training error"

    def decide(self, full: Solution, rows: KernelRows) -> np.ndarray:
        """Compare yh with 0."""
        y = full.problem.v
        return np.where(y * full.decision_values < -max(full.kkt_gap, 0.0), -y, 0)


@dataclass(frozen=True)
class XiAlphaBound(Check):
    """2|αᵣ|R² + ξᵣ < 1, where R² ≥ k(x, x) − k(x, x′) for all pairs, and the other free variables can take αᵣ over.

    For yᵣ = 1 the last condition is Σ (Uⱼ − αⱼ) > αᵣ over the free j ≠ r; for yᵣ = −1 it is Σ (αⱼ − Lⱼ) > −αᵣ. The
    paper asks for one free support vector; with weights that is not enough, nor is room among the others of the class.
    For yᵣ = 1, with w_R the machine without r and f the dual objective:

    1. Moved to the free ones, αᵣ leaves a feasible point of the problem without r, at which f is lower by
       αᵣξᵣ + ½αᵣ²d², where d is a distance between xᵣ and a mixture of theirs, d² ≤ 2R². The optimum without r is
       lower by αᵣξᵣ + ½‖w − w_R‖² at least. So ‖w − w_R‖ ≤ √2 R αᵣ.
    2. Hence w_R·(φᵢ − φᵣ) ≤ h(xᵢ) − h(xᵣ) + 2R²αᵣ < h(xᵢ) for all i.
    3. h_R(xᵣ) minimises Σ Cᵢ max(0, 1 − yᵢ(w_R·(φᵢ − φᵣ) + η)) over η. At η = 0 the slope is at most the sum of the Cⱼ
       of the negative ones with h > −1, which are bounded, less that of the positive support vectors but r: that is αᵣ
       less the room of the free ones, below 0. So all minimisers are positive, whether b is unique or not.

    Not used without a bound R², which takes an RBF kernel or all rows in memory.

    References
    ----------
    T. Joachims, "Estimating the generalization performance of an SVM efficiently", ICML 2000: one C for all.
    """

    name: ClassVar[str] = "xi-alpha bound"

    def decide(self, full: Solution, rows: KernelRows) -> np.ndarray:
        """Compare 2|α|R² + ξ with 1."""
        problem, alpha, y = full.problem, full.alpha, full.problem.v
        free = (alpha > problem.lower) & (alpha < problem.upper)
        radius = largest_distance(rows) if free.any() else np.inf
        if radius == np.inf:  # 0 · ∞ decides nothing either, with a warning
            return np.zeros(problem.n)
        # ξᵣ = max(0, 1 − yᵣh(xᵣ)),  2|αᵣ|R² + ξᵣ < 1
        slack = np.maximum(0.0, 1.0 - y * full.decision_values)
        certain = 2.0 * np.abs(alpha) * radius + slack < 1.0 - 2.0 * max(full.kkt_gap, 0.0)
        # Σ (Uⱼ − αⱼ) > αᵣ or Σ (αⱼ − Lⱼ) > −αᵣ over the free j ≠ r; a hard margin takes anything
        rise, fall = (
            np.where(free, np.minimum(room, 1e200), 0.0)
            for room in (problem.upper - alpha, alpha - problem.lower)
        )
        others = np.where(y > 0.0, rise.sum() - rise, fall.sum() - fall)
        return np.where(certain & (others > np.abs(alpha) * (1.0 + 1e-9)), y, 0)


@dataclass(frozen=True)
class Ball(Check):
    """A ball around the full machine and that of a seed holds the machine without r, and leaves one sign to h(xᵣ).

    It is `refsvm.BallRule` before the first step of a round, here for every support vector, in NumPy. As `checks` come
    before the rounds, it leaves fewer of them to a stopping rule that does not know the ball.

    Parameters
    ----------
    seeder : Seeder
        Its seed, α without r, is the second machine.

    References
    ----------
    `refsvm.core.stopping.midpoint` has the proof, and names what is near.

    Examples
    --------
    >>> from refsvm import RBF, KKTGap, leave_one_out
    >>> from refsvm.datasets import load
    >>> heart = load("heart")
    >>> loo = leave_one_out(heart.X, heart.y, kernel=RBF(0.005), checks=("zero alpha", "ball"), stop=KKTGap())
    >>> loo.counts["ball"] > 0
    True
    """

    seeder: Seeder = field(default_factory=TOP)
    name: ClassVar[str] = "ball"

    def decide(self, full: Solution, rows: KernelRows) -> np.ndarray:
        """Try each support vector."""
        signs, problem, v, shown = (
            np.zeros(full.problem.n),
            full.problem,
            full.problem.v,
            read_only_solution(full),
        )
        if problem.is_open or rows.values.dtype == np.float32:  # P is infinite but for rounding; K is rounded
            return signs
        excess = full.gradient - full.intercept
        losses = np.maximum(problem.upper * excess, problem.lower * excess)
        # P(w) = ½‖w‖² + Σ max(Uᵢ(Gᵢ − b), Lᵢ(Gᵢ − b)) over the others
        primal = 0.5 * total(full.alpha * (v - full.gradient)) + total(losses)
        for r in np.flatnonzero(full.alpha).tolist():
            left_out, gradient = problem.without(r), full.gradient.copy()
            alpha = checked_seed(self.seeder, self.seeder.seed(shown, left_out), left_out)
            # G̃ = G − K(α̃ − α)
            for i in np.flatnonzero(alpha != full.alpha).tolist():
                gradient -= (alpha[i] - full.alpha[i]) * rows.row(i)
            dual = 0.5 * total(alpha * (v + gradient))
            separation = total((full.alpha - alpha) * (gradient - full.gradient))
            outputs = 0.5 * ((v - full.gradient) + (v - gradient))
            reach = radius(primal - losses[r], dual, separation) * distances(rows.row(r), rows.diagonal(), r)
            signs[r] = certain_sign(outputs - outputs[r], reach, v, left_out.lower, left_out.upper)
        return signs


SHIPPED: Final[dict[str, Check]] = {
    check.name: check for check in (ZeroAlpha(), TrainingError(), XiAlphaBound(), Ball())
}
CHECKS: Final = tuple(SHIPPED)[:3]
"""The names of the paper's checks, which are used by default: the ball is part of the default stopping rule."""


def chosen_checks(checks: Iterable[str | Check] | str | Check) -> tuple[Check, ...]:
    """Return the checks, those shipped first and in the order of the paper; they may be given by their names.

    Examples
    --------
    >>> from refsvm.core.rounds.sufficiency import chosen_checks
    >>> chosen_checks({"xi-alpha bound", "zero alpha"})
    (ZeroAlpha(), XiAlphaBound())
    """
    if not isinstance(checks, Iterable | Check):
        raise ValueError(
            f"checks={checks!r} is no list of checks; choose from {', '.join(map(repr, CHECKS))}."
        )
    given: list[Any] = [checks] if isinstance(checks, str | Check) else list(checks)
    for check in given:
        if isinstance(check, str) and check not in SHIPPED:
            raise ValueError(f"checks contains {check!r}; choose from {', '.join(map(repr, SHIPPED))}.")
    chosen = [SHIPPED[check] if isinstance(check, str) else Check.checked("checks", check) for check in given]
    own = [check for check in chosen if check not in SHIPPED.values()]
    return (*(check for check in SHIPPED.values() if check in chosen), *own)


def sufficient(
    full: Solution, rows: KernelRows, checks: Iterable[Check], copies: int = 1
) -> tuple[np.ndarray, ...]:
    """Apply the checks, each to the examples that the ones before have left undecided.

    Parameters
    ----------
    full : Solution
        Of all examples; v holds the labels ±1 of a classification.
    rows : KernelRows
    checks : iterable of Check
    copies : int
        Variables of an example: a check has to decide all of them.

    Returns
    -------
    names : ndarray of shape (n,) of str
        The check that decided, or "".
    signs : ndarray of shape (n,), float64
        Sign of h(xᵣ) then, 1 or −1; the label if nothing is decided.
    values : ndarray of shape (n,), float64
        h(xᵣ) where it is known, else NaN.
    """
    problem, n = full.problem, full.problem.n // copies
    names, values, labels = np.full(n, "", dtype=object), np.full(n, np.nan), problem.v[:n]
    signs = labels.copy()
    alone = are_alone(problem) if copies == 1 else np.zeros(n, dtype=bool)
    for check in checks:
        decided = check.decide(full if is_builtin(type(check)) else read_only_solution(full), rows)
        if copies > 1:
            decided = np.where(decided.reshape(copies, n).all(axis=0), decided[:n], 0)
        new = (names == "") & ~alone & (decided != 0)
        names[new], signs[new] = check.name, decided[new]
        if check.keeps_machine:
            values[new] = full.decision_values[:n][new]
    return names, signs, values


def are_alone(problem: DualProblem) -> np.ndarray:
    """Whether an example is alone in its class, shape (n,): without it there is nothing to learn.

    That machine is trained, and wrong.
    """
    y, takes_part = problem.v, problem.lower < problem.upper
    counts = [int((takes_part & (y == label)).sum()) for label in (-1.0, 1.0)]
    if 1 not in counts:
        return np.zeros(problem.n, dtype=bool)
    return np.asarray(takes_part & (np.where(y > 0.0, counts[1], counts[0]) == 1))


def largest_distance(rows: KernelRows) -> float:
    """R², a bound on k(x, x) − k(x, x′): 1 for an RBF kernel, max Kᵢᵢ − min Kᵢⱼ where all rows are stored, else ∞."""
    if isinstance(getattr(rows.gram, "kernel", None), RBF):
        return 1.0
    if not (rows.holds_all and rows.filled == rows.gram.n):
        return np.inf
    return float(rows.gram.diagonal().max() - rows.values.min())
