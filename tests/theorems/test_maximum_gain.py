"""What HMG proves about selection by maximum gain, checked on its examples and on the catalogue.

HMG is T. Glasmachers and C. Igel, "Maximum-gain working set selection for SVMs", JMLR 7, 2006.
"""

from __future__ import annotations

import numpy as np
import pytest

from refsvm import (
    DualProblem,
    Greedy,
    HybridMaximumGain,
    KKTGap,
    MaximumGain,
    MostViolatingPair,
    NewtonStep,
    Precomputed,
    SecondOrder,
    Status,
    solve,
)

from ..settings import FAST
from .replay import BANANA, Replay, classification, replay

# -- HMG, Theorem 7: maximum gain alone may stall --------------------------------------------------------------

ROOT = np.sqrt(3.0)
Q = np.array([[2, ROOT, 1, ROOT], [ROOT, 4, ROOT, 3], [1, ROOT, 2, ROOT], [ROOT, 3, ROOT, 4]])
FOUR = np.array([-1, -1, 1, 1])


def four_points(C: float) -> DualProblem:
    """The example of Theorem 7, which prints Q and C = 1/10; K = yyᵀ∘Q."""
    return DualProblem.classification(np.outer(FOUR, FOUR) * Q, FOUR, kernel=Precomputed(), C=C)


def test_the_matrix_of_theorem_7_is_the_printed_one():
    np.testing.assert_allclose(np.linalg.eigvalsh(Q), [1, 1, 1, 9])


@pytest.mark.parametrize("C", [0.1, 0.09])
@pytest.mark.parametrize("rows", [2, 1])
def test_maximum_gain_stalls_on_the_example_of_theorem_7(C, rows, engine):
    """Ties go to the lowest index, so the first pair is {1, 3}, the paper's: no other order is needed."""
    options = {"engine": engine, "shrinking": False, "trace": True}
    solution = solve(four_points(C), selector=MaximumGain(rows=rows), **options)
    assert (solution.trace["i"].tolist(), solution.trace["j"].tolist()) == ([2], [0])
    assert solution.status is Status.STALLED
    np.testing.assert_array_equal(FOUR * solution.alpha, [C, 0.0, C, 0.0])
    # ∇f(α) = (7/10, 1 − √3/5, 7/10, 1 − √3/5) for C = 1/10, so {2, 4} would still gain
    expected = [1 - 3 * C, 1 - 2 * ROOT * C] * 2
    np.testing.assert_allclose(FOUR * solution.gradient, expected, rtol=0, atol=1e-15)
    assert solution.kkt_gap == pytest.approx(2 * (1 - 2 * ROOT * C))


@pytest.mark.parametrize("C", [0.1, 0.09])
@pytest.mark.parametrize(
    "selector",
    [HybridMaximumGain(), HybridMaximumGain(eta=0.0), HybridMaximumGain(rows=1), Greedy()],
    ids=repr,
)
def test_the_hybrid_solves_the_example_of_theorem_7(C, selector, engine):
    """Figure 5 says that the second step ends with all αᵢ = C; with the printed Q that needs C ≤ 1/(7 + 2√3) ≈ 0.0956.

    With C = 1/10 the step on {2, 4} is free and ends at (1 − √3/5)/7 ≈ 0.0934.
    """
    options = {"engine": engine, "shrinking": False, "trace": True}
    solution = solve(four_points(C), selector=selector, stop=KKTGap(1e-12), **options)
    assert solution.status is Status.CONVERGED
    assert [solution.trace[name].tolist() for name in "ij"] == [[2, 3], [0, 1]]
    second = min(C, (2 - 4 * ROOT * C) / 14)
    assert (second == C) == (C == 0.09)
    np.testing.assert_allclose(FOUR * solution.alpha, [C, second, C, second], rtol=1e-14)


# -- HMG, sections 2.3 and 2.4: which pair it is ---------------------------------------------------------------


def gain_of_every_pair(steps: Replay, t: int) -> np.ndarray:
    """Exact gain before step t of moving each pair, (n, n); −inf where i cannot rise or j cannot fall."""
    problem, K, alpha = steps.solution.problem, steps.kernel, steps.alpha[t]
    for bound in (problem.lower, problem.upper):
        alpha = np.where(np.isclose(alpha, bound, rtol=0, atol=1e-9), bound, alpha)
    G, k = problem.v - K @ alpha, np.diag(K)
    room = np.minimum((problem.upper - alpha)[:, None], alpha - problem.lower)
    curvature = k[:, None] + k - 2.0 * K
    np.fill_diagonal(curvature, 1.0)
    slope = G[:, None] - G
    mu = np.minimum(slope / curvature, room)
    return np.where((slope > 0) & (room > 0), mu * slope - 0.5 * mu**2 * curvature, -np.inf)


@pytest.mark.parametrize("C", [0.1, 10.0])
@pytest.mark.parametrize("selector", [Greedy(), MaximumGain(), HybridMaximumGain(), HybridMaximumGain(0.2)])
def test_the_pair_of_largest_gain_is_taken(selector, C):
    """Of all pairs, or of those related to the previous one; in a corner HMG takes the most violating pair."""
    problem = classification(BANANA, C=C, gamma=0.25)
    steps = replay(problem, 40 if FAST == "numpy" else 400, selector=selector, stop=KKTGap(1e-4))
    corners = 0
    for t in range(1, len(steps.rows)):
        i, j, last = steps.rows["i"][t], steps.rows["j"][t], steps.rows[t - 1]
        gain, previous = gain_of_every_pair(steps, t), [last["i"], last["j"]]
        to_bound = np.minimum(steps.alpha[t] - problem.lower, problem.upper - steps.alpha[t])
        eta = getattr(selector, "eta", -1.0)  # of the hybrid alone
        if (to_bound[previous] <= (eta + 1e-9) * C).all():
            corners += 1
            G = problem.v - steps.kernel @ steps.alpha[t]
            violation = np.where(np.isfinite(gain), G[:, None] - G, 0.0)
            assert violation[i, j] == pytest.approx(violation.max())
            continue
        if not isinstance(selector, Greedy):
            related = np.zeros_like(gain, dtype=bool)
            related[previous] = related[:, previous] = True
            gain[~related] = -np.inf
        assert gain[i, j] == pytest.approx(gain.max(), rel=1e-7), t
    assert len(steps.rows) >= 40
    assert (corners > 0) == (isinstance(selector, HybridMaximumGain) and (C == 0.1 or selector.eta == 0.2))


# -- HMG, section 2.3: the cost in kernel rows -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("problem", "corners"),
    [(classification(BANANA, C=100.0, gamma=0.25), False), (classification(BANANA, C=0.1, gamma=0.25), True)],
    ids=["mostly free", "mostly bounded"],
)
def test_the_hybrid_computes_at_most_one_row_a_step(problem, corners, engine):
    """Three rows fit: the previous set and a new one. Two are needed only where the set comes from the other rule."""
    cache_mb = 3.5 * 8 * problem.n / 2**20
    steps = replay(problem, 3000, selector=HybridMaximumGain(), engine=engine, cache_mb=cache_mb)
    assert steps.solution.status is Status.CONVERGED
    i, j = steps.rows["i"], steps.rows["j"]
    new = np.diff(steps.rows["rows"])
    pairs = np.sort(np.column_stack([i, j]), axis=1)
    related = (pairs[1:, :, None] == pairs[:-1, None, :]).any(axis=(1, 2))
    assert new[related].max() <= 1
    assert new.max() <= 2
    assert (~related).any() == corners
    # an unrelated set is chosen only where both variables of the previous one stand at a bound
    for t in np.flatnonzero(~related) + 1:
        for b in (i[t - 1], j[t - 1]):
            at = steps.alpha[t, b]
            assert min(abs(at - problem.lower[b]), abs(at - problem.upper[b])) <= 1.01e-8 * 0.1


@pytest.mark.slow
def test_the_hybrid_needs_fewer_rows_where_they_do_not_fit(engine):
    problem = classification(BANANA, C=100.0, gamma=0.25)
    options = {"step": NewtonStep(), "engine": engine, "shrinking": False, "cache_mb": 3.5 * 800 / 2**20}
    selectors = HybridMaximumGain(), SecondOrder(), MostViolatingPair()
    rows = [solve(problem, selector=selector, **options).kernel_rows for selector in selectors]
    assert rows[0] < 0.7 * rows[1] < 0.7 * rows[2]
