"""Nothing is silently wrong in any unit and at any origin, and each warning is right.

Let s be the spread of the decision values, and τ = tol · min(1, s) the tolerance; where the terms of the best machine
cancel, s counts for a hundredth of what they vary by (`Optimum.cancels`). A caller that says CONVERGED, and warns of
nothing, is held to this, with Kα in extended precision:

1. The KKT gap of its α is at most 10 τ.
2. Its decision values, at the training and at other examples, are Kα + b up to 10 τ, with one b for all of them, and
   this b is optimal up to 10 τ.
3. Decision values and labels of rounds, which come without α, are those of the optimum up to 10 τ; or up to three times
   what several solves of that problem to τ, in unit scale around the origin, differ from it.
4. No example of a one-class machine is outside whose α is below its bound.

The optimum is that of the kernel matrix in extended precision, centred where 1ᵀα = 0 allows it, in a unit of one,
solved to 1e-8 of s. Where it is one of many, b may be any of them. And whatever a caller says is looked at: each
warning must be true of the problem, an error is one clear sentence, and a machine that does not depend on the origin
is found.
"""

from __future__ import annotations

import re
import traceback
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from refsvm import (
    DualProblem,
    KKTGap,
    MostViolatingPair,
    NewtonStep,
    Precomputed,
    SecondOrder,
    Solution,
    Status,
    solve,
)
from refsvm.core.kernels import Gram
from refsvm.core.kernels.matrix import View

from .callers import PATH_TOL, TRAINED, Answer, Machine, Values, variables
from .exact import EPS, Exact
from .scaled import PATHS, ROUNDS, Scaled

__all__ = ["Verdict", "verdict_of"]

FACTOR = 10.0
SOLVES = ("solve", "solve regression", "solve one class")
"""Callers whose tolerance is absolute."""

REFERENCE_TOL = 1e-8
REFERENCE_STEPS = 200_000
ROUNDING = 16.0
"""Roundings of the largest number in G, times √n, below which nothing is solved."""

PATH_START = 1e-8
"""What a path may leave, whatever the spread, and by which share of its box an α may miss its bound."""

AT_BOUND = 1e-12
"""Share of its box up to which an α is at its bound."""

SELECTORS = SecondOrder(), MostViolatingPair()
PLAIN: dict[str, Any] = {"step": NewtonStep(), "shrinking": False}
"""Other ways to solve a problem to a tolerance."""

CANCELS = 0.01
"""Share of what its terms vary by below which the decision values of the best machine say nothing of a tolerance."""

DOUBT = 100.0
"""A warning of rounding is false if the rounding is that much less than the tolerance."""


@dataclass
class Verdict:
    """What came of one problem.

    Attributes
    ----------
    outcome : {"silent", "told", "raised"}
        Whether the caller said CONVERGED and nothing else, or something, or raised.
    complaints : list of (str, str)
        Kind, and what is wrong.
    said : list of str
        Its warnings.
    """

    outcome: str = "silent"
    complaints: list[tuple[str, str]] = field(default_factory=list)
    said: list[str] = field(default_factory=list)

    def complain(self, kind: str, sentence: str) -> None:
        """Note what is wrong."""
        self.complaints.append((kind, sentence))


def verdict_of(problem: Scaled) -> Verdict:
    """Let the caller train, and judge what it returns."""
    verdict = Verdict()
    try:
        with warnings.catch_warnings(record=True, action="always") as caught:
            answer = TRAINED[problem.caller](problem)
    except Exception as error:  # noqa: BLE001  whatever it is, it is judged
        verdict.outcome = "raised"
        where = traceback.extract_tb(error.__traceback__)[-1]
        verdict.complain("error", f"{type(error).__name__} ({where.filename}:{where.lineno}): {error}")
        return verdict
    verdict.said = list(dict.fromkeys(str(each.message) for each in caught))
    finished = all(status == "CONVERGED" for status in answer.statuses)
    verdict.outcome = "silent" if finished and not verdict.said else "told"
    judge_warnings(problem, answer, verdict)
    if verdict.outcome == "silent":
        for each in answer.machines:
            judge_machine(problem, each, verdict)
        for each in answer.values:
            judge_values(problem, each, verdict)
    return verdict


# -- machines --------------------------------------------------------------------------------------------------------


def judge_machine(problem: Scaled, found: Machine, verdict: Verdict) -> None:
    """Check a machine against its own conditions of optimality."""
    exact, copies = problem.exact(found.rows), len(found.v) // len(found.rows)
    beta = found.alpha.reshape(copies, -1).sum(axis=0)
    if not np.isfinite(found.alpha).all() or not np.isfinite(found.h).all():
        verdict.complain("not finite", "α or decision values are not finite")
        return
    A = found.rows
    sums = exact.sums(problem.X[A][:, A] if problem.kernel == "precomputed" else problem.X[A], beta)
    others = problem.T[:, A] if problem.kernel == "precomputed" else problem.T
    G, spread = found.v - np.tile(sums, copies), float(np.ptp(sums))
    top, bottom = ends(G, found, PATH_START if problem.caller in PATHS else AT_BOUND)
    apart = found.h - sums
    if len(found.h_test):
        apart = np.append(apart, found.h_test - exact.sums(others, beta))
    b, off = float(np.median(apart)), float(np.ptp(apart))
    limit = FACTOR * tolerance(problem, found, spread)
    if max(off, top - bottom) > limit:
        limit = max(limit, limit_of_constant(problem, found))
    visible = FACTOR * found.tol * spread  # of values far above one, a share of them
    if max(off, top - bottom) > max(limit, visible) and judge_word(problem, exact, beta, spread, limit):
        shown = f"the KKT gap is {top - bottom:.3g}, decision values are off by {off:.3g} of {spread:.3g}"
        verdict.complain("no word", f"kernel values are rounded by more than {limit:.3g}: {shown}")
        return
    limit += rounding(exact, found, G, beta)
    check(verdict, "gap", "the KKT gap is", top - bottom, limit)
    check(verdict, "prediction", "decision values differ from Kα + b by", off, limit)
    check(verdict, "intercept", "b is beyond its interval by", max(top - b, b - bottom), limit)
    if problem.caller == "OneClassSVM":
        lost = (found.h < 0.0) & (found.alpha < found.upper)
        if lost.any():
            verdict.complain(
                "outside", f"{lost.sum()} of {len(lost)} examples are outside whose α is below its bound"
            )


def check(verdict: Verdict, kind: str, what: str, value: float, limit: float) -> None:
    """Complain of a value above its limit."""
    if not value <= limit:
        verdict.complain(kind, f"{what} {float(value):.3g}, above {limit:.3g}")


def ends(G: np.ndarray, box: Machine, near: float = AT_BOUND) -> tuple[float, float]:
    """Return the largest G that may rise and the smallest that may fall; b is between them.

    An α is at a bound up to that share of its box: next to where a box closes, an event of a path that is found to 1e-9
    of the widest box is many widths of this one away, and what is between two events is in between.
    """
    slight = near * (box.upper - box.lower)
    up, down = box.alpha < box.upper - slight, box.alpha > box.lower + slight
    return float(G[up].max(initial=-np.inf)), float(G[down].min(initial=np.inf))


def tolerance(problem: Scaled, found: Machine | Values, spread: float) -> float:
    """Return τ; that of a path has the unit of its targets, or of the decision values where it has none."""
    if problem.caller in PATHS:
        unit = spread if problem.task == "one class" else problem.target_unit
        return found.tol * min(unit, spread) + PATH_START * unit
    return found.tol * min(1.0, spread) if found.is_relative else found.tol


def rounding(exact: Exact, found: Machine, G: np.ndarray, beta: np.ndarray) -> float:
    """Return what float64 leaves in G, where the origin is moved that can be."""
    size = float(np.abs(G).max() + np.abs(found.v).max() + np.abs(beta).max() * exact.largest())
    return FACTOR * ROUNDING * EPS * float(np.sqrt(len(found.v))) * size


def limit_of_constant(problem: Scaled, found: Machine) -> float:
    """Return what a machine is held to whose best is constant, or nearly so; 0 for others.

    No ψ is a tenth of s where s falls with ψ, as it does where the best machine is constant: at its training examples,
    of which more are free than the kernel has dimensions, or everywhere. Its terms then cancel, and no machine, not
    the optimum in float64, has a spread that is right to a digit. The rule promises a hundredth of the spread that it
    met on its way, and what is seen of the kernel here is by how much the terms may vary.
    """
    A, z = found.rows, float(found.alpha.sum()) if problem.task == "one class" else 0.0
    C = np.maximum(np.abs(found.lower), found.upper).reshape(-1, len(A)).max(axis=0)
    best = optimum(problem, A, problem.y[A], C, z)
    if not best.cancels:
        return 0.0
    # a regression whose targets are all within ε has α = 0, and no terms
    targets = float(np.ptp(found.v)) if problem.task == "regression" else 0.0
    return FACTOR * found.tol * min(1.0, max(CANCELS * best.terms, targets))


def judge_word(problem: Scaled, exact: Exact, beta: np.ndarray, spread: float, limit: float) -> bool:
    """Whether a kernel that depends on its origin is rounded by so much that it has to be said."""
    if problem.moves or problem.kernel == "precomputed":
        return False
    rounded = exact.rounded() * float(np.sqrt(np.square(beta).sum()))
    may_be_flat = problem.task == "one class" or problem.kernel == "sigmoid"
    flat = may_be_flat and spread < DOUBT * rounded  # the machine is constant
    return not flat and rounded > limit


# -- rounds ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Optimum:
    """The optimum on some examples, in unit scale.

    Attributes
    ----------
    exact, dual, alpha : Exact, DualProblem, ndarray
        α as the dual problem has it.
    beta : ndarray of shape (m,)
        In the units of the problem.
    factor : float
        Of α in the units of the problem.
    spread, interval : float, (float, float)
        s, and both ends of the optimal b, in the units of the problem.
    rounding : float
        What float64 leaves in decision values.
    terms : float
        What Σ|βᵢ| k(x, xᵢ) may vary by, with K around its mean where Σα = 0.
    steps, status : int, Status
        Steps of all solves that led here.
    """

    exact: Exact
    dual: DualProblem
    alpha: np.ndarray
    factor: float
    spread: float
    interval: tuple[float, float]
    rounding: float
    terms: float
    steps: int
    status: Status

    @property
    def cancels(self) -> bool:
        """Whether its decision values vary by far less than their terms, as where the best machine is constant."""
        return self.spread <= max(self.rounding, CANCELS * self.terms)


def optimum(problem: Scaled, rows: np.ndarray, y: np.ndarray, C: np.ndarray, z: float = 0.0) -> Optimum:
    """Solve the problem of some examples in unit scale around the origin."""
    exact, v = problem.exact(rows), variables(problem, y, C)[0]
    K = exact.matrix()
    if z == 0.0:
        K = K - K.mean(axis=0) - K.mean(axis=0)[:, None] + K.mean()
    K = 0.5 * (K + K.T)
    size, unit = float(np.abs(K).max()) or 1.0, problem.target_unit
    factor = unit / size  # of α
    _, lower, upper = variables(problem, y, C / factor if problem.task != "one class" else C)
    targets = ((v - problem.target_origin) / unit).astype(np.float64)
    if problem.task == "one class":
        factor = 1.0
    gram = np.ascontiguousarray((K / size).astype(np.float64))
    dual = dual_of(problem, gram, targets, lower, upper, z)
    tol, steps, solution = REFERENCE_TOL, 0, None
    for _ in range(2):
        start = None if solution is None else solution.alpha
        solution = quietly(dual, stop=KKTGap(tol), start=start, polish=True)
        steps += solution.iterations
        tol = max(1e-14, REFERENCE_TOL * min(1.0, float(np.ptp(dual.v - solution.gradient))))
    copies = len(v) // len(rows)
    beta = solution.alpha.reshape(copies, -1).sum(axis=0) * factor
    sums = exact.sums(exact.X, beta)
    G, box = (
        v - np.tile(sums, copies),
        Machine(rows, v, dual.lower, dual.upper, solution.alpha, sums, sums, tol),
    )
    terms = float(np.abs(beta).sum() * np.ptp(K, axis=1).max())
    return Optimum(
        exact, dual, solution.alpha, factor, float(np.ptp(sums)), ends(G, box), rounding(exact, box, G, beta), terms,
        steps, solution.status,
    )  # fmt: skip


def quietly(dual: DualProblem, **options: Any) -> Solution:
    """Solve without a warning: of an indefinite kernel the caller has been told."""
    with warnings.catch_warnings(action="ignore"):
        return solve(dual, max_iter=REFERENCE_STEPS, **options)


def dual_of(
    problem: Scaled, gram: np.ndarray, v: np.ndarray, lower: np.ndarray, upper: np.ndarray, z: float
) -> DualProblem:
    """Return the dual problem over a kernel matrix."""
    held = Gram(Precomputed(), gram)
    n = len(gram)
    return DualProblem(held if len(v) == n else View(held, np.tile(np.arange(n), 2)), v, z, lower, upper)


def judge_values(problem: Scaled, said: Values, verdict: Verdict) -> None:
    """Check what rounds say of examples that are left out."""
    train = said.train[said.C[said.train] > 0.0]
    y = problem.y[train]
    if len(np.unique(y)) < 2 or problem.kernel == "sigmoid":  # no machine, or one of many
        return
    best = optimum(problem, train, y, said.C[train])
    if best.status is not Status.CONVERGED and best.status is not Status.STALLED:
        return
    limit = FACTOR * tolerance(problem, said, best.spread) + best.rounding
    if best.cancels and said.is_relative:
        limit = max(limit, FACTOR * said.tol * min(1.0, CANCELS * best.terms))
    if wrong(problem, said, best, limit):
        limit += 3.0 * width(problem, said, best)
        for complaint in wrong(problem, said, best, limit):
            verdict.complain(said.kind, complaint)


def wrong(problem: Scaled, said: Values, best: Optimum, limit: float) -> list[str]:
    """Return what is further from the optimum than this."""
    sums = sums_at(problem, said, best, best.alpha)
    low, high = sums + min(best.interval) - limit, sums + max(best.interval) + limit
    if said.kind == "values":
        off = np.maximum(low - said.said, said.said - high).max() + limit
        return (
            [f"decision values differ from the optimum by {off:.3g}, above {limit:.3g}"]
            if not off <= limit
            else []
        )
    positive, negative = low > 0.0, high < 0.0
    if said.kind == "signs":
        bad = (positive & (said.said < 0)) | (negative & (said.said > 0))
        least = float(np.abs(sums + np.mean(best.interval))[bad].max(initial=0.0))
        return (
            [f"{bad.sum()} of {len(bad)} labels are wrong, h up to {least:.3g}, limit {limit:.3g}"]
            if bad.any()
            else []
        )
    y = problem.y[said.test]
    right = ((y > 0) & positive) | ((y < 0) & negative)
    unsure = ~(positive | negative)
    least, most = right.mean(), (right | unsure).mean()
    score = float(said.said[0])
    inside = least - 1e-9 <= score <= most + 1e-9
    return [] if inside else [f"the score is {score:.3f}, not {least:.3f} to {most:.3f}"]


def sums_at(problem: Scaled, said: Values, best: Optimum, alpha: np.ndarray) -> np.ndarray:
    """Return Σ βᵢ k(x, xᵢ) at the examples that are left out."""
    A = problem.X[said.test]
    if problem.kernel == "precomputed":
        A = A[:, said.train]
    return best.exact.sums(A, alpha * best.factor).astype(np.float64)


def width(problem: Scaled, said: Values, best: Optimum) -> float:
    """Return how far solves to τ are from the optimum, in unit scale, decision values around their own b."""
    tol = max(1e-13, tolerance(problem, said, best.spread) / problem.target_unit)
    middle = sums_at(problem, said, best, best.alpha) + float(np.mean(best.interval))
    farthest = 0.0
    for rules in ({}, {"start": 0.9 * best.alpha}, *({"selector": each, **PLAIN} for each in SELECTORS)):
        found = quietly(best.dual, stop=KKTGap(tol), **rules)
        beta = found.alpha * best.factor
        G = np.asarray(best.dual.v) - best.exact.sums(best.exact.X, beta)
        box = Machine(said.train, G, best.dual.lower, best.dual.upper, found.alpha, G, G, tol)
        h = sums_at(problem, said, best, found.alpha) + float(np.mean(ends(G, box)))
        farthest = max(farthest, float(np.abs(h - middle).max()))
    return farthest


# -- what is said ----------------------------------------------------------------------------------------------------

UNFINISHED = ("limit was reached", "stalled", "not solved", "no pair that still", "point so far")
ROUNDED = ("errors of kernel values are about", "rounded so much", "rounding moves decision values by about")


def judge_warnings(problem: Scaled, answer: Answer, verdict: Verdict) -> None:
    """Check that each warning is true, and that nothing ends early for no reason."""
    finished = all(status == "CONVERGED" for status in answer.statuses)
    throughout = finished and all(status == "CONVERGED" for status in answer.earlier)
    rounds = any(words in each for each in verdict.said for words in ROUNDED)
    for each in verdict.said:
        if any(words in each for words in ROUNDED):
            judge_rounding(problem, each, verdict)
        elif "positive semi-definite" in each:
            if problem.kernel not in ("sigmoid", "precomputed") and not rounds:
                verdict.complain("false warning", f"of a kernel that is positive semi-definite: {each}")
        elif any(words in each for words in UNFINISHED):
            if throughout and problem.caller not in ROUNDS:
                verdict.complain("false warning", f"of a solve that converged: {each}")
        else:
            verdict.complain("unknown warning", each)
    if not finished and not rounds and (problem.moves or problem.origin == 0.0):
        judge_ending(problem, answer, verdict)


def judge_rounding(problem: Scaled, sentence: str, verdict: Verdict) -> None:
    """Check a warning that kernel values, or targets, are rounded by more than the tolerance, and its figures."""
    largest = problem.exact().largest(as_given=problem.is_sparse or not problem.moves)
    penalties = problem.weights * (1.0 if problem.task == "one class" else problem.C)
    rounded = 8.0 * EPS * largest * max(1.0, float(penalties.sum()))  # of a decision value, at most
    tol = PATH_TOL if problem.caller in PATHS else problem.tol
    if "targets up to" in sentence:
        rounded = EPS * float(np.abs(problem.y).max())
    if DOUBT * rounded < tol * min(1.0, problem.target_unit):
        verdict.complain("false warning", f"kernel values are right to {EPS * largest:.1g}: {sentence}")
    figures = [float(each) for each in re.findall(r"(?<![\w.])\d+(?:\.\d+)?(?:e[+-]?\d+)?", sentence)]
    if "about" in sentence and len(figures) >= 2 and figures[0] < figures[1]:
        verdict.complain("false warning", f"its own figures deny it: {sentence}")


def judge_ending(problem: Scaled, answer: Answer, verdict: Verdict) -> None:
    """Complain if the same problem in unit scale is solved in a tenth of the steps."""
    unlike = problem.caller in ("SVC of three classes", "command line", *ROUNDS)
    if problem.n > 400 or unlike or problem.kernel == "sigmoid":
        return
    C = problem.weights * (1.0 if problem.task == "one class" else problem.C)
    z = problem.nu * float(C.sum()) if problem.task == "one class" else 0.0
    best = optimum(problem, np.arange(problem.n), problem.y, C, z)
    if (
        problem.is_sparse
        and EPS * problem.exact().largest(as_given=True) * float(C.max()) > 1e-3 * problem.tol
    ):
        return
    # G is not known to this tolerance, be it by the size of K or by that of targets far from 0
    wanted = problem.tol * (problem.target_unit if problem.caller in SOLVES else min(1.0, best.spread))
    if wanted < best.rounding / (FACTOR * ROUNDING):
        return
    if best.status is Status.CONVERGED and best.steps < REFERENCE_STEPS // 10:
        verdict.complain(
            "gives up", f"{answer.statuses}, where unit scale takes {best.steps} steps: {verdict.said}"
        )
