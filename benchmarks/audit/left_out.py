"""Leave-one-out and folds beside machines trained from scratch.

It compares decision values and predictions at a KKT gap of 1e-10, of random classes, regressions and
novelty detection, with refits at the same gap that are polished. Values are wrong if they differ by more than 1e-8,
predictions if they differ where no vote is within 1e-8 of 0. Where b may be anything in an interval there is no value
to compare; such votes and those near 0 are ties. Of classes the signs by the checks and the ball are compared, too, and
each call is repeated by the readable engine and by two threads, to the last bit.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import partial
from itertools import combinations
from typing import Any, Final, NamedTuple

import numpy as np

from refsvm import (
    ATO,
    AVG,
    MIR,
    SIR,
    TOP,
    BallRule,
    Cold,
    DualProblem,
    KKTGap,
    LOODualityGap,
    Precomputed,
    Solution,
    cross_validate,
    leave_one_out,
    solve,
)

from .problems import Case, any_case

__all__ = ["complaints_about"]

EXACT: Final = KKTGap(1e-10)
NEAR: Final = 1e-8
"""Largest difference of values, in units of the targets or margins."""
BY_SIGN: Final = ("ball", "duality gap", "training error", "xi-alpha bound")
STEPS: Final = 3_000_000
"""Steps of a refit; a random problem of this size takes fewer."""
SEEDERS: Final = (AVG(), Cold(), TOP(), SIR(), MIR(), ATO(), ATO(budget=np.inf))


class Refits(NamedTuple):
    """Decision values of machines without an example, or without its fold, shape (n, machines).

    Attributes
    ----------
    values : ndarray of float64
    is_open : ndarray of bool
        Where b may be anything in an interval.
    is_constant : ndarray of bool
        Where one class is left, so that the machine votes for it.
    """

    values: np.ndarray
    is_open: np.ndarray
    is_constant: np.ndarray

    @property
    def is_tied(self) -> np.ndarray:
        """Whether a vote of an example is within the tolerance of 0, or its b is open, shape (n,)."""
        return np.asarray(((np.abs(self.values) <= NEAR) | self.is_open).any(axis=1))


def refits_of(case: Case, groups: list[np.ndarray]) -> Refits:
    """Train without each group of examples, from scratch, and ask about the group."""
    K = np.ascontiguousarray(case.kernel(case.X, case.X))
    pairs = [*combinations(range(case.classes), 2)] or [(0, 0)]
    shape = len(K), len(pairs)
    values, is_open, is_constant = np.empty(shape), np.zeros(shape, dtype=bool), np.zeros(shape, dtype=bool)
    for column, pair in enumerate(pairs):
        members = np.arange(len(K)) if case.task else np.flatnonzero(np.isin(case.y, pair))
        whole = None  # a group without members leaves the machine as it is
        for out in groups:
            rest = np.setdiff1d(members, out)
            machine = (
                whole if whole is not None and len(rest) == len(members) else trained(case, K, rest, pair)
            )
            whole = machine if len(rest) == len(members) else whole
            values[out, column] = K[np.ix_(out, rest)] @ machine.beta + machine.b
            is_open[out, column], is_constant[out, column] = machine.is_open, machine.is_constant
    return Refits(values, is_open, is_constant)


class Machine(NamedTuple):
    """A machine that was trained from scratch."""

    beta: np.ndarray
    b: float
    is_open: bool = False
    is_constant: bool = False


def trained(case: Case, K: np.ndarray, rest: np.ndarray, pair: tuple[int, int]) -> Machine:
    """Train on the rest, of a pair of classes where there are classes."""
    gram, C, y = K[np.ix_(rest, rest)], case.C[rest], None if case.y is None else case.y[rest]
    given = {"kernel": Precomputed(), "C": C}
    if "nu" in case.task:
        problem = DualProblem.one_class(gram, kernel=Precomputed(), nu=case.task["nu"], weights=C)
    elif "epsilon" in case.task:
        problem = DualProblem.regression(gram, y, epsilon=case.task["epsilon"], **given)
    else:
        # two classes: the larger one is positive; of several pairs the first
        signs = np.where(y == pair[1 if case.classes == 2 else 0], 1.0, -1.0)
        if len(np.unique(signs)) < 2:
            one = len(signs) > 0
            return Machine(np.zeros(len(rest)), float(signs[0]) if one else 0.0, not one, one)
        problem = DualProblem.classification(gram, signs, **given)
    found = solve(problem, stop=EXACT, polish=True, max_iter=STEPS, engine="numba")
    beta = found.alpha.reshape(-1, len(rest)).sum(axis=0)
    return Machine(beta, found.intercept, not is_unique(found))


def is_unique(found: Solution) -> bool:
    """Whether b can be one number only: max G over I_up and min G over I_down meet."""
    problem, G = found.problem, found.gradient
    up, down = found.alpha < problem.upper, found.alpha > problem.lower
    return bool(up.any() and down.any() and G[down].min() - G[up].max() <= 0.1 * NEAR)


def wrong_in(case: Case, how: dict[str, Any]) -> list[str]:
    """Compare leave-one-out and folds of a problem with refits, and engines and threads with each other."""
    every, wrong = np.arange(len(case.C)), list[str]()
    folds = [np.flatnonzero(case.fold == number) for number in np.unique(case.fold)]
    in_folds = partial(cross_validate, **case.arguments, folds=case.fold, stop=EXACT, **how)
    for title, groups, calls in (
        ("leave-one-out", [*every[:, None]], left_out(case)),
        (f"folds with {how}", folds, [("", in_folds)]),
    ):
        refits = refits_of(case, groups)
        for rule, call in calls:
            result = call(engine="numba")
            said = compared(case, result, refits)
            for other in ({"engine": "numpy"}, {"engine": "numba", "n_jobs": 2}):
                said += [] if same_bits(result, call(**other)) else [f"other bits with {other}"]
            wrong += [f"{title}{rule}: {each}" for each in said]
    return wrong


def left_out(case: Case) -> Iterator[tuple[str, Any]]:
    """Yield calls of leave-one-out: by values, and of classes by the checks and rules for signs."""
    call = partial(leave_one_out, **case.arguments)
    yield "", partial(call, stop=EXACT, checks=("zero alpha",))
    if not case.task:
        for rule in (BallRule(EXACT.tol), LOODualityGap(EXACT.tol), LOODualityGap(EXACT.tol, variables=1)):
            yield f" by {rule}", partial(call, stop=rule)


def same_bits(one: Any, other: Any) -> bool:
    """Whether two results are the same to the last bit."""
    names = ("predictions", "decision_values", "decided_by", "round_iterations")
    pairs = [(getattr(one, name), getattr(other, name)) for name in names if hasattr(one, name)]
    return all(a.tobytes() == b.tobytes() for a, b in pairs)


def compared(case: Case, result: Any, refits: Refits) -> list[str]:
    """Compare values and predictions; a prediction may differ where a decision is a tie, or b is open."""
    wrong = [] if result.is_complete else ["incomplete"]
    values = result.decision_values.reshape(refits.values.shape)
    by_value = ~(refits.is_open | refits.is_constant | np.isnan(values))
    if hasattr(result, "decided_by"):  # of some the sign alone is certain
        by_value &= ~np.isin(result.decided_by.reshape(values.shape), BY_SIGN)
    size = np.maximum(1.0, np.abs(refits.values))
    differ = by_value & (np.abs(values - refits.values) > NEAR * size)
    wrong += [
        f"example {r}, machine {m}: {values[r, m]:.12g} and {refits.values[r, m]:.12g}"
        for r, m in zip(*np.nonzero(differ), strict=True)
    ]
    if "epsilon" not in case.task:
        others = (result.predictions != predictions(case, refits)) & ~refits.is_tied
        wrong += [f"example {r}: another class" for r in np.flatnonzero(others)]
    return wrong


def predictions(case: Case, refits: Refits) -> np.ndarray:
    """Return what the refits predict, by votes of the pairs."""
    if "nu" in case.task:
        return np.where(refits.values[:, 0] >= 0.0, 1, -1)
    if case.classes == 2:
        return (refits.values[:, 0] >= 0.0) * 1.0
    votes = np.zeros((len(refits.values), case.classes))
    for values, (p, q) in zip(refits.values.T, combinations(range(case.classes), 2), strict=True):
        votes[np.arange(len(values)), np.where(values > 0.0, p, q)] += 1
    return votes.argmax(axis=1) * 1.0


def complaints_about(seed: int) -> list[str]:
    """Compare a random case in every way; folds of classes begin with any seed."""
    case, seeder = any_case(seed), SEEDERS[seed % len(SEEDERS)]
    how = {} if case.task else {"seeder": seeder, "from_full": seed % 3 > 0}
    with warnings.catch_warnings(action="ignore"):
        # constant machines and rounding are told of, which is right
        return [f"{case.name}: {each}" for each in wrong_in(case, how)]
