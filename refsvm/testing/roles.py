"""The contracts of shrinking, of the checks before leave-one-out rounds, and of a kernel matrix."""

from __future__ import annotations

import numpy as np

from refsvm import Check, DualProblem, Restriction, Shrinking, solve
from refsvm.core.kernels import KernelMatrix
from refsvm.core.kernels.cached_rows import stored_rows
from refsvm.core.rounds.runner import read_only_solution
from refsvm.testing import engines
from refsvm.testing.contract import Case
from refsvm.testing.engines import check_engines
from refsvm.testing.failures import explain_failures, require

EARLY = Restriction(period=100, copy_cost=0.1)

TIMES = 10
"""Largest ratio of steps with shrinking to steps without it; sound shrinking takes up to three times as many steps."""

FEW = 2_000
"""Largest number of examples for which the eigenvalues of a kernel matrix are computed."""


def check_large(case: Case, shrinking: Shrinking = EARLY) -> None:
    """Check that a solve with shrinking reaches the f of a solve without shrinking, in a bounded number of steps.

    Raises
    ------
    AssertionError
        If the solve ends with another status or at another point, or takes more than `TIMES` times the steps of the
        solve without shrinking, plus a thousand.
    """
    plain = case.solve(shrinking=False, max_iter=100_000)
    shrunk = case.solve(shrinking, shrinking=shrinking, max_iter=TIMES * plain.iterations + 1000)
    sentence = (
        f"with {shrinking!r} the solve ends with {shrunk.status.name} at f = {shrunk.objective:.6g}; unshrunk, it "
        f"ends with {plain.status.name} after {plain.iterations} steps at {plain.objective:.6g}; a stopping rule that "
        "is not called before every step must declare it with `period`."
    )
    # a user's rule may stop early, at a point that depends on when the rule is called
    same = abs(shrunk.objective - plain.objective) <= 0.02 * abs(plain.objective)
    ended = shrunk.status is plain.status and (same or case.rules.selector.may_stall)
    case.require(ended, shrunk.iterations, sentence)


def check_shrinking(shrinking: Shrinking, cases: list[Case]) -> int:
    """Check that both engines solve every problem to its tolerance with equal results; return the number of steps.

    Raises
    ------
    AssertionError
        If the result differs from the result without shrinking, or the engines differ.
    """
    taken = 0
    for case in cases:
        tol = case.rules.stop.tolerance
        result = case.solve(shrinking, shrinking=shrinking, engine="numpy", max_iter=20_000)
        gap = case.problem.kkt_gap(result.alpha)
        message = (
            f"{shrinking!r} ends with {result.status.name} at ψ = {gap:.3g}, with a tolerance of {tol:g}."
        )
        case.require(gap <= 1.01 * tol, result.iterations, message)
        if engines.can_compare():
            check_engines(case, shrinking=shrinking)
        taken += result.iterations
    return taken


def check_check(check: Check, problems: dict[str, DualProblem]) -> int:
    """Compare a check's sign for each example with h of the model without this example; return the number of signs.

    Raises
    ------
    AssertionError
        If a sign is wrong, or the check does not return a sign or 0 for each example.
    """
    decided = 0
    rules = Case.default_rules(tol=1e-6)
    for name, problem in problems.items():
        if not problem.has_labels or (check.needs_convex and "indefinite" in name):
            continue
        case = Case(name, problem, rules)
        rows = stored_rows(problem.gram)
        rows.fetch(np.arange(problem.n))
        with explain_failures(name, (check,)):
            signs = np.asarray(
                check.decide(read_only_solution(solve(problem, stop=rules.stop, engine="numpy")), rows)
            )
        right = signs.shape == (problem.n,) and np.isin(signs, (-1, 0, 1)).all()
        message = f"{check!r}.decide() returned {signs!r:.80}; expected 1, −1 or 0 for each of {problem.n} examples."
        case.require(right, 0, message)
        counts = [(problem.v == label).sum() for label in problem.v]
        # skip the only example of a class, because no model can be trained without it
        for r in np.flatnonzero((signs != 0) & (np.array(counts) > 1)).tolist():
            with explain_failures(name, (check,)):
                h = solve(problem.without(r), stop=rules.stop, engine="numpy").decision_values[r]
            message = (
                f"{check!r} decides that h has the sign {signs[r]:g} without example {r}, but h = {h:.3g}."
            )
            case.require(signs[r] * h >= -1e-3, 0, message)
            decided += 1
    return decided


def check_matrix(gram: KernelMatrix) -> int:
    """Check that all methods of a kernel matrix return the same, symmetric values; return the number of values.

    Raises
    ------
    AssertionError
        If a block has the wrong shape, contains NaN or infinity, or contradicts another block or the diagonal.
    """
    name, n = "a block of rows", getattr(gram, "n", None)
    subject = f"Problem {name!r} with {gram!r}"
    ok = isinstance(n, int | np.integer) and n > 1
    all_rows = np.arange(int(n) if ok and n is not None else 0)
    few, others = all_rows[:5:2], all_rows[::-3].copy()

    require(ok, f"{subject}: n is {n!r}; give the number of variables.")
    with explain_failures(name, (gram,)):
        K, some = gram.block(all_rows), gram.block(few, others)
        out = np.full((len(few), len(others)), np.nan)
        gram.block(few, others, out)
        diagonal, part = gram.diagonal(), gram.restrict(others).block(np.arange(len(others)))
        again = gram.block(all_rows)
    right = isinstance(K, np.ndarray) and K.shape == (n, n) and K.dtype == np.float64  # type: ignore[redundant-expr]
    shape = f"{type(K).__name__} of shape {np.shape(K)}"
    require(right, f"{subject}: block(rows) returned {shape}; expected float64 of {(n, n)}.")
    require(np.isfinite(K).all(), f"{subject}: block(rows) contains NaN or infinity; return finite numbers.")
    # the same kernel value may differ in its last digit between blocks of different shapes
    size = 1e-12 * float(np.abs(K).max())
    for values, expected, message in (
        (K, K.T, "the matrix is not symmetric"),
        (again, K, "a second call of block() returns other values"),
        (some, K[np.ix_(few, others)], "block(rows, columns) differs from block(rows)"),
        (out, K[np.ix_(few, others)], "block(rows, columns, out) does not write to out"),
        (diagonal, K.diagonal(), "diagonal() differs from the diagonal of block()"),
        (part, K[np.ix_(others, others)], "restrict(indices) returns other values"),
    ):
        require(
            np.shape(values) == expected.shape, f"{subject}: {message}: it has the shape {np.shape(values)}."
        )
        off = np.abs(values - expected)
        place = tuple(int(each) for each in np.unravel_index(off.argmax(), off.shape))
        require(off.max() <= size, f"{subject}: {message}, by {off.max():.3g} at {place}.")
    if gram.facts.is_psd and len(K) <= FEW:
        least = float(np.linalg.eigvalsh(K)[0])
        message = f"is_psd is True, but the matrix has the eigenvalue {least:.3g}; remove is_psd"
        require(least >= -1e-8 * np.abs(K).max(), f"{subject}: {message}.")
    return 6 * int(K.size)
