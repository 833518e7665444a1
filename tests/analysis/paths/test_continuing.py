"""Solution.continue_to and DualProblem.extended: the next problem from the last solution, by events alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from refsvm import RBF, DualProblem, KKTGap, Precomputed, Status, solve
from refsvm.datasets import make_banana

from ...settings import FAST, needs_numba
from .lines import DATA, LINES, examples, line

pytest.importorskip("scipy")
TIGHT = KKTGap(1e-10)


@pytest.mark.parametrize("kind", LINES)
@pytest.mark.slow
def test_the_end_of_any_line_is_reached(kind: str) -> None:
    for data in DATA[::2]:
        start, end, _ = line(kind, data)
        solution = solve(start, engine="numpy").continue_to(end, engine="numpy")
        assert solution.status is Status.CONVERGED
        assert solution.problem is end
        best = solve(end, stop=TIGHT, engine="numpy").objective
        assert solution.objective == pytest.approx(best, rel=1e-8, abs=1e-10)
        assert solution.kkt_gap <= 1e-7


@pytest.mark.parametrize("data", DATA)
def test_examples_come_and_go(data: str) -> None:
    X, y, targets, kernel = examples(data)
    m = len(X) - 3
    for problem, all_of_them, new in (
        (
            DualProblem.classification(X[:m], y[:m], kernel=kernel, C=2.0),
            DualProblem.classification(X, y, kernel=kernel, C=2.0),
            y[m:],
        ),
        (
            DualProblem.regression(X[:m], targets[:m], kernel=kernel, C=2.0, epsilon=0.2),
            DualProblem.regression(X, targets, kernel=kernel, C=2.0, epsilon=0.2),
            targets[m:],
        ),
        (
            DualProblem.one_class(X[:m], kernel=kernel, nu=0.4),
            DualProblem.one_class(X, kernel=kernel, nu=0.4),
            None,
        ),
    ):
        grown = problem.extended(X[m:], new)
        for name in ("v", "lower", "upper", "z"):
            np.testing.assert_allclose(getattr(grown, name), getattr(all_of_them, name), atol=1e-12)
        solution = solve(problem, engine="numpy").continue_to(grown, engine="numpy")
        best = solve(all_of_them, stop=TIGHT, engine="numpy")
        assert solution.objective == pytest.approx(best.objective, rel=1e-8, abs=1e-10)
        assert solution.problem is grown


def test_the_walk_takes_no_steps_of_smo_from_an_exact_point(monkeypatch: pytest.MonkeyPatch) -> None:
    from refsvm.core.trackers import backup

    data = make_banana(60, rng=0)
    problem = DualProblem.classification(data.X, data.y, kernel=RBF(0.5), C=5.0)
    exact = solve(problem, stop=TIGHT, engine="numpy")
    steps: list[int] = []
    honest = backup.solved

    def counted(*arguments: Any, **options: Any) -> Any:
        steps.append((solution := honest(*arguments, **options)).iterations)
        return solution

    monkeypatch.setattr(backup, "solved", counted)
    away = exact.continue_to(problem.without(np.arange(4)), engine="numpy")
    assert steps == [0]
    assert 0 < away.iterations < 60
    assert not away.alpha[:4].any()


@needs_numba
def test_both_engines_arrive_at_the_same_bits() -> None:
    start, end, _ = line("a fold out", "rbf")
    solution = solve(start, engine="numpy")
    one, other = (solution.continue_to(end, engine=engine) for engine in ("numpy", "numba"))
    np.testing.assert_array_equal(one.alpha, other.alpha)


@pytest.mark.parametrize("most", [1, 3])
def test_a_limit_leaves_the_point_of_that_event_in_both_engines(most: int) -> None:
    start, end, _ = line("C", "rbf")
    solution = solve(start, engine="numpy")
    one, other = (solution.continue_to(end, max_events=most, engine=each) for each in ("numpy", FAST))
    assert one.iterations == other.iterations == most
    np.testing.assert_array_equal(one.alpha, other.alpha)
    assert one.status is Status.MAX_ITER
    assert one.alpha.sum() == pytest.approx(0.0, abs=1e-12)


def test_what_cannot_grow_is_refused() -> None:
    X, y, _, kernel = examples("rbf")
    weighted = DualProblem.classification(X, y, kernel=kernel, C=1.0 + np.arange(len(y)))
    with pytest.raises(ValueError, match="differ in C; give C="):
        weighted.extended(X[:1], y[:1])
    assert weighted.extended(X[:1], y[:1], C=7.0).upper[-1] + 7.0 * (y[0] < 0) == 7.0
    with pytest.raises(ValueError, match="X has 3 features, but the problem's examples have 2"):
        weighted.extended(np.zeros((1, 3)), y[:1], C=1.0)
    start, _, _ = line("anything", "rbf")
    with pytest.raises(ValueError, match="not a classification, regression or novelty"):
        start.extended(X[:1], y[:1], C=1.0)
    with pytest.raises(ValueError, match="different kernel matrices"):
        solve(weighted).continue_to(DualProblem.classification(X, y, kernel=RBF(3.0)))


def test_a_given_matrix_grows_by_its_rows() -> None:
    X, y, _, kernel = examples("rbf")
    K = kernel(X, X)
    problem = DualProblem.classification(K[:10, :10], y[:10], kernel=Precomputed())
    grown = problem.extended(K[10:], y[10:])
    np.testing.assert_allclose(grown.gram.dense, K, rtol=1e-12)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="give the values with all 14 examples"):
        problem.extended(K[10:, :10], y[10:])


@pytest.mark.slow
def test_the_steps_at_the_end_of_a_walk_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where rounding hides the optimum no number of steps would find it: there are as many as where a path starts."""
    given: list[dict[str, Any]] = []

    def noted(problem: DualProblem, **options: Any) -> Any:
        given.append(options)
        return solve(problem, **options)

    data = make_banana(12, rng=0)
    X, y = data.X, data.y
    solution = solve(DualProblem.classification(X, y, kernel=RBF(0.5), C=10.0), engine="numpy")
    for name, value in (("solve", noted), ("POLISHED", 1e-18), ("rounding_of_gradient", lambda *_: 0.0)):
        monkeypatch.setattr(f"refsvm.analysis.paths.continuing.{name}", value)
    solution.continue_to(solution.problem.without(1), engine="numpy", time_limit=50.0)
    assert len(given) == 1
    assert given[0]["max_iter"] == 20_000
    assert 0.0 < given[0]["time_limit"].left() <= 50.0
