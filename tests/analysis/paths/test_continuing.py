"""Solution.continue_to and DualProblem.extended: the next problem from the last solution, by events alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from refsvm import RBF, DualProblem, KKTGap, Precomputed, Status, solve
from refsvm.datasets import make_banana

from ...settings import FAST
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


@pytest.mark.parametrize("most", [1, 3, 10**6])
def test_a_limit_leaves_the_point_of_that_event_in_both_engines(most: int) -> None:
    start, end, _ = line("C", "rbf")
    solution = solve(start, engine="numpy")
    one, other = (solution.continue_to(end, max_events=most, engine=each) for each in ("numpy", FAST))
    assert one.iterations == other.iterations <= most
    np.testing.assert_array_equal(one.alpha, other.alpha)
    assert one.status is (Status.MAX_ITER if one.iterations == most else Status.CONVERGED)
    assert (one.iterations == most) == (most < 10)
    assert one.alpha.sum() == pytest.approx(0.0, abs=1e-12)


def test_a_given_matrix_grows_by_its_rows() -> None:
    X, y, _, kernel = examples("rbf")
    K = kernel(X, X)
    problem = DualProblem.classification(K[:10, :10], y[:10], kernel=Precomputed())
    grown = problem.extended(K[10:], y[10:])
    np.testing.assert_allclose(grown.gram.dense, K, rtol=1e-12)  # type: ignore[arg-type]


def test_examples_that_are_added_may_have_a_penalty_of_their_own() -> None:
    X, y, _, kernel = examples("rbf")
    weighted = DualProblem.classification(X, y, kernel=kernel, C=1.0 + np.arange(len(y)))
    assert weighted.extended(X[:1], y[:1], C=7.0).upper[-1] + 7.0 * (y[0] < 0) == 7.0


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
