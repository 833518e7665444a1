"""Check: proves leave-one-out predictions from the full solution, without training again; four checks are shipped."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

import numpy as np

from refsvm.core.kernels.functions import RBF
from refsvm.core.kernels.rows import KernelRows
from refsvm.core.problem import EPSILON, DualProblem, total
from refsvm.core.result import Solution
from refsvm.core.rounds.runner import checked_seed, read_only_solution
from refsvm.core.rule import Rule, is_builtin
from refsvm.core.seeders import TOP, Seeder
from refsvm.core.stopping.midpoint import EXCESS, Rounding, certain_sign, distances, ends_elsewhere, gap


def known_to(full: Solution, rows: KernelRows) -> tuple[float, np.ndarray]:
    """Return a full solution's duality gap at its b (∞ for an unbounded box), and a bound of the error of each Gᵢ."""
    problem, alpha, G, diagonal = full.problem, full.alpha, full.gradient, rows.diagonal()
    share = problem.n * rows.facts.rounding + EPSILON * full.iterations
    term = float(np.abs(alpha).max()) * math.sqrt(float(np.abs(diagonal).max()))
    error = Rounding(share, float(np.abs(G).max()), term).at(diagonal)
    if problem.is_open:
        return math.inf, error
    return gap(alpha, G - full.intercept, problem.lower, problem.upper, error), error


class Check(Rule):
    """Base of checks, which prove for some examples what a model trained without them would predict.

    A check gets the solution on all examples, where v holds the labels ±1. α is only known up to the duality gap; a
    check that proves a sign must allow for this gap and for rounding errors (`known_to`). Leave-one-out ignores the
    result of a check for an example that is alone in its class.

    Attributes
    ----------
    name : str
        Entry in `LeaveOneOut.decided_by` for the examples that the check decides.
    needs_convex : bool
        True if the proof needs a positive semi-definite K.
    keeps_machine : bool
        True if the model without the example is the full model, so that the decision value is also known.
    """

    example_call: ClassVar[str] = "ZeroAlpha()"
    name: ClassVar[str] = ""
    needs_convex: ClassVar[bool] = True
    keeps_machine: ClassVar[bool] = False

    @abstractmethod
    def decide(self, full: Solution, rows: KernelRows) -> np.ndarray:
        """Return for each example r the sign of h(xᵣ) without r, 1 or −1, or 0 if it is not known; shape (n,).

        `rows` are the kernel rows that are in memory after the solve on all examples.
        """


@dataclass(frozen=True)
class ZeroAlpha(Check):
    """Take h(xᵣ) from the full solution if αᵣ = 0, because the solution without r is the same.

    If αᵣ = 0, α is feasible without r, and its duality gap without r is at most the gap δ with r. From δ, the check
    proves the sign of h(xᵣ) as in `refsvm.core.stopping.midpoint`, but reads no kernel row, because it bounds ‖φᵢ − φᵣ‖
    by √Kᵢᵢ + √Kᵣᵣ. If the proof fails, the check leaves r undecided. The check also leaves r undecided if no variable
    is free and r determines an end of the interval of b, because this interval is longer without r. In regression, both
    variables of the example must be 0, and the check proves no sign.

    References
    ----------
    V. Franc, P. Laskov and K.-R. Müller, ICML 2008, Table 1.
    """

    name: ClassVar[str] = "zero alpha"
    needs_convex: ClassVar[bool] = False
    keeps_machine: ClassVar[bool] = True

    def decide(self, full: Solution, rows: KernelRows) -> np.ndarray:
        """Find the r with αᵣ = 0, and test whether both bounds of h(xᵣ) that follow from δ have the same sign."""
        problem, alpha, h = full.problem, full.alpha, full.decision_values
        decided = np.where(alpha == 0.0, np.where(h >= 0.0, 1, -1), 0)
        if not ((problem.lower < alpha) & (alpha < problem.upper)).any():
            decided[[i for i in full.most_violating[:2] if i >= 0]] = 0
        delta, error = known_to(full, rows)
        if not problem.has_labels or delta == math.inf:
            return decided
        sizes = np.sqrt(np.maximum(rows.diagonal(), 0.0))
        low, high = ends_elsewhere(alpha, full.gradient, problem.lower, problem.upper, delta, sizes)
        # compute fᵣ ± √δ √Kᵣᵣ, and the bounds of b that follow from all variables except r
        f, reach = problem.v - full.gradient, math.sqrt(delta) * sizes * (1.0 + EXCESS) + error
        above, below = f + largest_but_own(low - error), largest_but_own(-high - error) - f
        return np.where(decided == (above > reach) * 1 - (below > reach), decided, 0)


def largest_but_own(values: np.ndarray) -> np.ndarray:
    """Return for each position the largest of all other values, shape (n,).

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.core.rounds.sufficiency import largest_but_own
    >>> largest_but_own(np.array([1.0, 5.0, 3.0]))
    array([5., 3., 5.])
    """
    second, first = np.sort(np.append(values, [-np.inf, -np.inf]))[-2:]
    return np.where(values == first, second, first)


@dataclass(frozen=True)
class TrainingError(Check):
    """Count r as an error if yᵣh(xᵣ) < −δ/Cᵣ, because the model without r then has yᵣh(xᵣ) ≤ 0.

    δ is the duality gap at the b of h, and Cᵣ is the penalty of r, including its weight. Let (w, b) be the full model,
    P_R the primal objective without r, and (w_R, b_R) the minimiser of P_R. Then P_R(w, b) + Cᵣξᵣ ≤ P_R(w_R, b_R) +
    Cᵣξᵣ(w_R, b_R) + δ and P_R(w_R, b_R) ≤ P_R(w, b). So without r, the slack of r is at least ξᵣ − δ/Cᵣ > 1.

    References
    ----------
    V. Franc, P. Laskov and K.-R. Müller, ICML 2008, Table 1; T. Joachims, "Estimating the generalization performance of
    an SVM efficiently", ICML 2000.
    """

    name: ClassVar[str] = "training error"

    def decide(self, full: Solution, rows: KernelRows) -> np.ndarray:
        """Find the r with yᵣh(xᵣ) < −δ/Cᵣ, allowing for rounding."""
        problem, (delta, error) = full.problem, known_to(full, rows)
        penalty, limit = problem.upper - problem.lower, np.full(problem.n, np.inf)
        np.divide(delta, penalty, limit, where=(penalty > 0.0) & (penalty < np.inf))
        return np.where(problem.v * full.decision_values < -(limit * (1.0 + EXCESS) + error), -problem.v, 0)


@dataclass(frozen=True)
class XiAlphaBound(Check):
    """Count r as correct if 2|αᵣ|R² + ξᵣ < 1 and the other free variables can take over αᵣ.

    Joachims assumes an exact solution, and a bound R² ≥ k(x, x) − k(x, x′) for all pairs. The other free variables can
    take over αᵣ if Σ (Uⱼ − αⱼ) > αᵣ over the free j ≠ r for yᵣ = 1, and Σ (αⱼ − Lⱼ) > −αᵣ for yᵣ = −1. Joachims
    requires only that one support vector is free. If examples have weights, this requirement does not suffice, even if
    all other examples of the class of r together can take over αᵣ. The proof for yᵣ = 1 uses the duality gap δ at b,
    the weight vector w_R without r, and f = Kα:

    1. Moving αᵣ to free variables gives α̃, which is feasible without r, and ‖w − w̃‖² ≤ 2R²αᵣ². The sum T of
       `refsvm.core.stopping.midpoint` satisfies ``T(α̃, G − b) ≤ δ + αᵣ max |Gⱼ − b|`` over the free j. So w_R is
       within ``ρ = αᵣR/√2 + √(½αᵣ²R² + δ + αᵣ max |Gⱼ − b|)`` of w, and each w_R·(φᵢ − φᵣ) is within √2 Rρ of fᵢ − fᵣ.
    2. h_R(xᵣ) is a minimiser η of Σ Cᵢ max(0, 1 − yᵢ(w_R·(φᵢ − φᵣ) + η)) over i ≠ r. With w in place of w_R, this sum
       decreases in η up to fᵣ + min G over I_down, because its slope there is at most αᵣ − Σ (Uⱼ − αⱼ) over the free
       j ≠ r. So h_R(xᵣ) ≥ fᵣ + min G − √2 Rρ, whether b is unique or not.

    The check decides nothing if no bound R² is known; a bound is known for an RBF kernel, or if all kernel rows are in
    memory.

    References
    ----------
    T. Joachims, "Estimating the generalization performance of an SVM efficiently", ICML 2000 (one C for all examples).
    """

    name: ClassVar[str] = "xi-alpha bound"

    def decide(self, full: Solution, rows: KernelRows) -> np.ndarray:
        """Find the r for which yᵣ(fᵣ + b) exceeds √2 Rρ and the other free variables can take over αᵣ."""
        problem, weight, y, G = full.problem, np.abs(full.alpha), full.problem.v, full.gradient
        free = (full.alpha > problem.lower) & (full.alpha < problem.upper)
        square, (delta, error) = largest_distance(rows), known_to(full, rows)
        if not free.any() or math.inf in (square, delta):
            return np.zeros(problem.n)
        # ρ = |αᵣ|R/√2 + √(½αᵣ²R² + δ + |αᵣ| max |Gⱼ − b|)
        loss = float((np.abs(G - full.intercept) + error)[free].max())
        half = 0.5 * square * weight**2
        reach = math.sqrt(2.0 * square) * (np.sqrt(half) + np.sqrt(half + delta + weight * loss))
        # compute yᵣ(fᵣ + b) for the end of the interval of b that makes this value smaller
        ends = np.where(y > 0.0, G[full.most_violating[1]], G[full.most_violating[0]])
        certain = y * (y - G + ends) > reach * (1.0 + EXCESS) + 2.0 * error.max()
        # Σ (Uⱼ − αⱼ) > αᵣ or Σ (αⱼ − Lⱼ) > −αᵣ over the free j ≠ r
        rise, fall = free * (problem.upper - full.alpha), free * (full.alpha - problem.lower)
        others = np.where(y > 0.0, rise.sum() - rise, fall.sum() - fall)
        return np.where(certain & (others > weight * (1.0 + 1e-9)), y, 0)


@dataclass(frozen=True)
class Ball(Check):
    """Prove that h(xᵣ) has the same sign for all models in a ball that contains the model without r.

    The ball is computed from the full model and the model of a seed. `refsvm.BallRule` tests the same ball before the
    first step of a round. This check tests the balls of all support vectors in NumPy before the rounds; use this
    check if the stopping rule is not `BallRule`.

    Parameters
    ----------
    seeder : Seeder
        The seeder whose seed, an α without r, gives the second model.

    References
    ----------
    `refsvm.core.stopping.midpoint` contains the proof and cites related work.

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
        """Test each support vector r with a ball that contains the model without r."""
        problem, alpha, G, diagonal = full.problem, full.alpha, full.gradient, rows.diagonal()
        signs, shown, (delta, error) = np.zeros(problem.n), read_only_solution(full), known_to(full, rows)
        if delta == math.inf:
            return signs
        # allow twice the error of G: moving at most n variables to the seed at most doubles this error
        off = 2.0 * float(error.max())
        for r in np.flatnonzero(alpha).tolist():
            left_out, gradient = problem.without(r), G.copy()
            seed = checked_seed(self.seeder, self.seeder.seed(shown, left_out), left_out)
            # G̃ = G − K(α̃ − α)
            for i in np.flatnonzero(seed != alpha).tolist():
                gradient -= (seed[i] - alpha[i]) * rows.row(i)
            # ρ² = ¼‖w − w̃‖² + T(α̃, G − b),  ‖w − w̃‖² = (α − α̃)ᵀ(G̃ − G)
            separation = total((alpha - seed) * (gradient - G)) + 2.0 * off * total(np.abs(alpha - seed))
            box = seed, left_out.lower, left_out.upper
            square = 0.25 * separation + gap(seed, G - full.intercept, *box[1:], off)
            t = 0.5 * (G + gradient)
            apart = distances(rows.row(r), diagonal, diagonal[r], rows.facts.rounding)
            signs[r] = certain_sign(t + (problem.v[r] - t[r]), apart, square, 2.0 * off, *box)
        return signs


SHIPPED: Final[dict[str, Check]] = {
    check.name: check for check in (ZeroAlpha(), TrainingError(), XiAlphaBound(), Ball())
}
CHECKS: Final = tuple(SHIPPED)[:3]
"""Names of the paper's checks, which are the default; the ball is already part of the default stopping rule."""


def chosen_checks(checks: Iterable[str | Check] | str | Check) -> tuple[Check, ...]:
    """Return the checks that are given as objects or names: first the shipped checks, in the order of the paper.

    Examples
    --------
    >>> from refsvm.core.rounds.sufficiency import chosen_checks
    >>> chosen_checks({"xi-alpha bound", "zero alpha"})
    (ZeroAlpha(), XiAlphaBound())
    """
    if not isinstance(checks, Iterable | Check):
        raise ValueError(
            f"checks={checks!r} is not a list of checks; choose from {', '.join(map(repr, CHECKS))}."
        )
    items: list[Any] = [checks] if isinstance(checks, str | Check) else list(checks)
    for check in items:
        if isinstance(check, str) and check not in SHIPPED:
            raise ValueError(f"checks contains {check!r}; choose from {', '.join(map(repr, SHIPPED))}.")
    chosen = [SHIPPED[check] if isinstance(check, str) else Check.checked("checks", check) for check in items]
    own = [check for check in chosen if check not in SHIPPED.values()]
    return (*(check for check in SHIPPED.values() if check in chosen), *own)


def sufficient(
    full: Solution, rows: KernelRows, checks: Iterable[Check], copies: int = 1
) -> tuple[np.ndarray, ...]:
    """Apply the checks in order, each to the examples that the previous checks left undecided.

    Parameters
    ----------
    full : Solution
        The solution on all examples; in classification, v holds the labels ±1.
    rows : KernelRows
        The kernel rows in memory.
    checks : iterable of Check
        The checks to apply.
    copies : int
        Number of variables per example; a check must decide all variables of an example.

    Returns
    -------
    names : ndarray of shape (n,) of str
        Name of the check that decided the example, or "".
    signs : ndarray of shape (n,), float64
        Sign of h(xᵣ), 1 or −1; the label if the example is undecided.
    values : ndarray of shape (n,), float64
        h(xᵣ) if it is known, otherwise NaN.
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
    """Return a mask, shape (n,), of the examples that are alone in their class.

    The model without such an example r is trained on one class only, and therefore predicts the wrong class for r.
    """
    y, takes_part = problem.v, problem.lower < problem.upper
    counts = [int((takes_part & (y == label)).sum()) for label in (-1.0, 1.0)]
    if 1 not in counts:
        return np.zeros(problem.n, dtype=bool)
    return np.asarray(takes_part & (np.where(y > 0.0, counts[1], counts[0]) == 1))


def largest_distance(rows: KernelRows) -> float:
    """Return R² ≥ k(x, x) − k(x, x′): 1 for an RBF kernel, max Kᵢᵢ − min Kᵢⱼ if all rows are stored, otherwise ∞."""
    if isinstance(getattr(rows.gram, "kernel", None), RBF):
        return 1.0
    if not (rows.holds_all and rows.filled == rows.gram.n):
        return np.inf
    return float(rows.gram.diagonal().max() - rows.values.min())
