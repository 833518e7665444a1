"""conformal_intervals: exact full conformal intervals of a regression, from paths on which a new target varies.

    p(t) = #{i ≤ n + 1 : Rᵢ(t) ≥ Rₙ₊₁(t)} / (n + 1),    Rᵢ(t) = |yᵢ − h_t(xᵢ)|,    yₙ₊₁ = t

The model h_t is trained on the n examples and the new example with target t. An example of weight w counts as w
examples, and the new example has weight 1. The interval contains every target t with p(t) > 1 − confidence. If the
examples are exchangeable, the interval contains the next target with probability at least `confidence`.

To treat all examples alike in spite of rounding errors, p(t) takes nearly equal scores as equal: Rᵢ counts unless it is
below Rₙ₊₁ by more than 10⁻⁷ times the range of all n + 1 targets. If the model fits every example exactly, for instance
with ε = 0 and more features than examples, all scores are equal while the α of the new example is inside its box, and
the interval contains all these t.

Other methods evaluate p on a grid of t and train a model for each point. This module instead tracks the optimum along
t. A change of t changes only v of the new example's two variables. Between two events, h_t and all residuals are
therefore affine in t, and two scores change their order at the root of a linear function.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np

from refsvm.analysis.resampling.weights import copies, smallest, weights_in
from refsvm.analysis.solve import solve
from refsvm.core._checks import real
from refsvm.core.kernels.functions import Precomputed
from refsvm.core.kernels.gram import Gram
from refsvm.core.paths.tracking import DEFAULT_TRACKER, EPS_START, largest
from refsvm.core.problem import DualProblem
from refsvm.core.stopping.kkt_gap import KKTGap
from refsvm.core.trackers.backup import solve_at
from refsvm.core.walk.line import ProblemLine
from refsvm.core.walk.state import PathState

TIED: Final = 1e-7
"""Scores that differ by less than this, in units of the range of the targets, count as equal. All free variables have
the score ε, which the walk computes to about 10⁻⁹."""

AT_BOUND: Final = 1e-13
"""A variable nearer to its bound than this, relative to the largest |α|, counts as at the bound."""


class Examples(NamedTuple):
    """The data that serve all new examples: K; y, C and copies (counts) of the n examples; a new example's C; and ε."""

    K: np.ndarray
    y: np.ndarray
    C: np.ndarray
    copies: np.ndarray
    C_new: float
    epsilon: float
    engine: str


def conformal_intervals(
    K: np.ndarray,
    y: np.ndarray,
    cross: np.ndarray,
    own: np.ndarray,
    *,
    C: float | np.ndarray = 1.0,
    epsilon: float = 0.1,
    confidence: float = 0.9,
    engine: str = "auto",
    weights: np.ndarray | None = None,
) -> np.ndarray:
    """Return for each new example an interval that contains its target with probability at least `confidence`.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        The positive semi-definite kernel matrix of the examples.
    y : ndarray of shape (n,)
        The targets of the examples.
    cross, own : ndarrays of shape (m, n) and (m,)
        Kernel values k(x, xᵢ) and k(x, x) of the new examples.
    C : float
        Penalty of the new example, and of each copy of a training example, as in `DualProblem.regression`. An array
        must contain n equal numbers; use `weights` for different penalties.
    epsilon : float
        Half the width of the tube.
    confidence : float
        The least probability, in (0, 1), with which an interval contains the target.
    engine : {"auto", "numba", "numpy"}
        As in `refsvm.parametric_path`.
    weights : ndarray of shape (n,), optional
        Number of copies of each example, as whole numbers: example i has the penalty C wᵢ, and counts wᵢ times.

    Returns
    -------
    ndarray of shape (m, 2)
        Lower and upper ends of the smallest interval that contains all accepted targets; their set may have gaps.
        The ends of the interval are infinite if confidence > n/(n + 1), where an example of weight w counts w times.

    Raises
    ------
    ValueError
        If the confidence is not between 0 and 1, weights are not whole numbers, different penalties are given without
        weights, or rounding errors end a path early.

    References
    ----------
    V. Vovk, A. Gammerman and G. Shafer, "Algorithmic Learning in a Random World", 2005 (probability of the interval);
    J. Lei, "Fast exact conformalization of the lasso using piecewise linear homotopy", Biometrika 106, 2019 (walk along
    t).

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import RBF
    >>> from refsvm.analysis.paths.conformal import conformal_intervals
    >>> x = np.linspace(0.0, 6.0, 30)[:, None]
    >>> y, new, kernel = np.sin(x[:, 0]) + 0.2 * np.cos(40.0 * x[:, 0]), np.array([[1.5]]), RBF(0.5)
    >>> conformal_intervals(kernel(x, x), y, kernel(new, x), np.ones(1), C=1.0, confidence=0.8).round(2)
    array([[0.75, 1.2 ]])
    """
    if not 0.0 < (share := real("confidence", confidence)) < 1.0:
        raise ValueError(f"confidence={confidence!r} is not between 0 and 1; give a number such as 0.9.")
    confidence = share
    penalties = np.broadcast_to(np.asarray(C, dtype=np.float64), y.shape)
    if weights_in(penalties) is not None:
        raise ValueError(
            "C contains different penalties, so the new example's penalty is unknown; give a single C, and whole "
            "numbers as weights=."
        )
    counts = copies("an interval", weights, len(y))
    # add 1e-9, because 0.9 is not exact in binary and the product may lie just below a whole number
    few = math.floor((1.0 - confidence) * (int(counts.sum()) + 1) + 1e-9)
    if few == 0:
        return np.tile([-np.inf, np.inf], (len(cross), 1))
    bounds = penalties * counts
    # store the data that do not depend on the new example
    shared = Examples(K, y, bounds, counts, float(penalties[0]), epsilon, engine)
    problem = DualProblem.regression(
        y=y, gram=Gram(Precomputed(), K, is_checked=True), C=bounds, epsilon=epsilon
    )
    unit = max(float(np.ptp(problem.v)), 1e-300)
    # start at the target h(x): at this target the new example has α = 0, so the model without it is optimal
    solved = solve(problem, stop=KKTGap(EPS_START * unit), engine=engine)
    beta = solved.alpha.reshape(2, -1)
    intervals = np.empty((len(cross), 2))
    for number, row in enumerate(cross):
        whole = np.block([[K, row[:, None]], [row, own[number]]])
        here = float(row @ beta.sum(axis=0)) + solved.intercept
        for side, way in enumerate((-1.0, 1.0)):
            intervals[number, side] = _farthest(shared, whole, beta, here, way, few)
    return intervals


def _farthest(
    shared: Examples, whole: np.ndarray, beta: np.ndarray, here: float, way: float, few: int
) -> float:
    """On one side of h(x), return the farthest t with p(t) > 1 − confidence; h(x) itself has p = 1."""
    # after the α of the new example has reached its bound, t changes only the score of the new example
    far, bounded = float(np.ptp(shared.y)) + 2.0 * shared.epsilon or 1.0, False
    while not bounded:
        t, residuals, bounded = _followed(shared, whole, beta, here, here + way * far)
        # if the new example's α is not at its bound yet, walk four times as far; the first walk nearly always suffices
        far *= 4.0
    # for each t, compute the range of the n targets and t
    unit = np.maximum(shared.y.max(), t) - np.minimum(shared.y.min(), t)
    last = np.abs(residuals[-1])
    ranked = -float(smallest(-last[None, :-1], shared.copies, few)[0])
    if ranked >= last[-1] - TIED * unit[-1]:
        return float(t[-1] + way * max(ranked - last[-1], 0.0))
    for k in range(len(t) - 2, -1, -1):
        tied = TIED * max(unit[k], unit[k + 1])
        share = _last_inside(residuals[k], residuals[k + 1], shared.copies, few, tied)
        if share is not None:
            return float(t[k] + share * (t[k + 1] - t[k]))
    return here


def _last_inside(
    one: np.ndarray, other: np.ndarray, counts: np.ndarray, few: int, tied: float
) -> float | None:
    """Return the last t, as a fraction of a segment, at which `few` or more scores reach the new example's score."""
    # |rᵢ| ≥ |rₙ₊₁| means (rᵢ − rₙ₊₁)(rᵢ + rₙ₊₁) ≥ 0; both factors are linear, so the order changes at their roots
    begin = np.concatenate([one[:-1] - one[-1], one[:-1] + one[-1]])
    end = np.concatenate([other[:-1] - other[-1], other[:-1] + other[-1]])
    # scores change their order only at these roots, so test one t between each two neighbouring roots
    crossed = begin * end < 0.0
    roots = begin[crossed] / (begin[crossed] - end[crossed])
    cuts = np.concatenate([[0.0], np.sort(roots), [1.0]])
    middle = 0.5 * (cuts[1:] + cuts[:-1])[:, None]
    scores = np.abs((1.0 - middle) * one + middle * other)
    inside = np.flatnonzero((scores[:, :-1] >= scores[:, -1:] - tied) @ counts >= few)
    return float(cuts[inside[-1] + 1]) if len(inside) else None


def _followed(
    shared: Examples, whole: np.ndarray, beta: np.ndarray, here: float, there: float
) -> tuple[np.ndarray, np.ndarray, bool]:
    """Track the optimum as the new example's target moves from `here` to `there`; return the residuals at each event.

    Returns
    -------
    t : ndarray of shape (k,)
        Targets of the new example.
    residuals : ndarray of shape (k, n + 1)
        yᵢ − h(xᵢ) of the n examples and, last, of the new example.
    bounded : bool
        Whether the α of the new example is at a bound at the last target.
    """
    gram, bounds = Gram(Precomputed(), whole, is_checked=True), np.append(shared.C, shared.C_new)
    start, end = (
        DualProblem.regression(y=np.append(shared.y, t), gram=gram, C=bounds, epsilon=shared.epsilon)
        for t in (here, there)
    )
    K = np.tile(whole, (2, 2))
    walk = PathState(start, K, shared.engine, ProblemLine(start, end, (here, there), largest(K)))
    # both variables of the new example start with α = 0
    walk.variables.alpha[:] = np.column_stack([beta, [0.0, 0.0]]).ravel()
    points = []
    if solve_at(walk, here, EPS_START, "start"):
        points = [(here, walk.variables.alpha.copy(), walk.b)]
        points += [(p[0], p[1].copy(), p.intercept) for p in DEFAULT_TRACKER.follow(walk, there)]
    if walk.status is not None:
        raise ValueError(
            f"The walk along a new example's target ended at the target {walk.t:.6g} ({walk.status.name}) because "
            "rounding errors hide the optimum; scale the features and the targets, or choose a smaller C."
        )
    middle = [_middles(walk, K, *pair) for pair in pairwise(points)]
    points = [each for point, more in zip(points, [*middle, []], strict=True) for each in (point, *more)]
    t, alpha, b = (np.array(each) for each in zip(*points, strict=True))
    n = len(shared.y)
    values = (alpha[:, : n + 1] + alpha[:, n + 1 :]) @ whole + b[:, None]
    targets = np.column_stack([np.tile(shared.y, (len(t), 1)), t])
    # with ε = 0, both variables of an example may have α ≠ 0, with opposite signs, so compare their sum with C
    return t, targets - values, bool(abs(alpha[-1, n] + alpha[-1, -1]) == shared.C_new)


def _middles(walk: PathState, K: np.ndarray, one: Any, other: Any) -> list[Any]:
    """Return the t at which the slope of b(t) changes on a segment without free variables, where b is a midpoint.

    Without free variables α is constant and only the new example's G moves, so the slope of b changes where this G
    passes the G of another example. With b at the midpoint, all examples are treated alike, which the
    guarantee of `conformal_intervals` requires.
    """
    alpha = one[1]
    # rounding errors of LAPACK may leave an α slightly short of a bound that it has reached
    short = AT_BOUND * float(np.abs(alpha).max())
    rises, falls = walk.problem.upper - alpha > short, alpha - walk.problem.lower > short
    # compare α with the bounds, because the walk may count an example's two variables at their bounds as free
    if (rises & falls).any() or not np.array_equal(alpha, other[1]):
        return []
    old = np.ones(len(alpha), dtype=bool)
    old[[len(alpha) // 2 - 1, -1]] = False
    first, last = one[0], other[0]
    begin, end = (walk.along.arrays(t)[0] - alpha @ K for t in (first, last))
    if first == last:
        return []
    times = [0.0, 1.0]
    for level in (begin[rises & old].max(initial=-np.inf), begin[falls & old].min(initial=np.inf)):
        times += ((level - begin[~old]) / (end - begin)[~old]).tolist()
    points = []
    for share in sorted(each for each in times if 0.0 <= each <= 1.0):
        now = (1.0 - share) * begin + share * end
        b = 0.5 * (float(now[rises].max()) + float(now[falls].min()))
        points.append(((1.0 - share) * first + share * last, alpha, b))
    return points
