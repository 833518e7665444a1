"""Many classes of few examples: their pairs are solved together, with the answers of one after another."""

from __future__ import annotations

from itertools import combinations
from unittest.mock import patch

import numpy as np
import pytest
from scipy import sparse

from refsvm import RBF, SVC, DualProblem, HybridMaximumGain, KKTGap, Status, solve
from refsvm.analysis.multiclass import one_vs_one, prediction, small_pairs
from refsvm.analysis.scheme import OneVsOne

from ...settings import needs_numba

REFUSE = "a small pair was solved by itself"


def faces(sizes, seed=0, d=6, spread=0.7):
    """Classes of these sizes around centres of their own, in random order."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    return rng.normal(size=(len(sizes), d))[y] + spread * rng.normal(size=(len(y), d)), y


def refused(*_, **__):
    raise AssertionError(REFUSE)


SETS = {
    "three of each": [3] * 12,
    "one of each": [1] * 9,
    "of all sizes": [1, 2, 3, 5, 8, 13, 2, 1],
    "some large": [70, 3, 2, 80, 4],
}


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("sizes", SETS.values(), ids=SETS)
@needs_numba
def test_engines_agree(sizes, kernel):
    X, y = faces(sizes)
    one, other = (SVC(kernel=kernel, C=2.0, engine=name).fit(X, y) for name in ("numpy", "numba"))
    for attribute in ("alpha_", "intercept_", "n_iter_"):
        np.testing.assert_array_equal(getattr(other, attribute), getattr(one, attribute))


@pytest.mark.parametrize(
    "change", ["weights", "sparse", "kernel matrix", "little memory", "other rules", "function"]
)
def test_each_pair_is_the_machine_of_its_own_problem(change):
    """By `refsvm.solve`, one after another."""
    X, y = faces([3, 4, 2, 5, 3, 1, 2])
    weight, options, data = np.ones(len(y)), {}, X
    if change == "weights":
        weight = np.random.default_rng(1).uniform(0.2, 3.0, len(y))
        weight[[3, 7]] = 0.0
    elif change == "sparse":
        data = sparse.csr_matrix(np.where(np.abs(X) < 0.3, 0.0, X))
        X = data.toarray()
    elif change == "kernel matrix":
        data, options = RBF(0.3)(X, X), {"kernel": "precomputed"}
    elif change == "little memory":
        options = {"cache_size": 0.001}
    elif change == "other rules":
        options = {"selector": HybridMaximumGain()}
    elif change == "function":
        options = {"kernel": lambda A, B: RBF(0.3)(A, B)}  # noqa: PLW0108  a kernel of the user's
    with (
        patch.object(one_vs_one, "solved", refused),
        patch("refsvm.analysis.small.small_pairs.FEWEST_EXAMPLES", 8),
        patch("refsvm.analysis.small.small_pairs.FEW", 6 if change == "little memory" else 64),
    ):
        if change == "little memory":  # pairs of more than six are no small ones then
            with pytest.raises(AssertionError, match=REFUSE):
                SVC(gamma=0.3, tol=1e-9, **options).fit(data, y)
            X, y = X[np.isin(y, [0, 2, 4, 5, 6])], y[np.isin(y, [0, 2, 4, 5, 6])]
            data, weight = X, np.ones(len(y))
        model = SVC(gamma=0.3, C=3.0, tol=1e-9, **options).fit(data, y, weight)
    for result, (p, q) in zip(model.binary_results_, combinations(model.classes_, 2), strict=True):
        rows = np.flatnonzero(np.isin(y, (p, q)) & (weight > 0))
        assert np.array_equal(result.rows, rows)
        problem = DualProblem.classification(
            X[rows], np.where(y[rows] == p, 1, -1), kernel=RBF(0.3), C=3.0 * weight[rows]
        )
        whole = solve(problem, stop=KKTGap(1e-9), polish=True)
        assert result.status is Status.CONVERGED
        assert result.dual_objective == pytest.approx(whole.objective, rel=1e-8)
        assert result.primal_objective == pytest.approx(whole.primal_objective, rel=1e-7)
        np.testing.assert_allclose(result.alpha, whole.alpha, rtol=0, atol=1e-6)
        assert result.intercept == pytest.approx(whole.intercept, abs=1e-6)
        assert problem.kkt_gap(result.alpha) <= 2e-9


def test_what_is_not_small_after_all_is_left_to_solve():
    """An indefinite kernel is said, an infinite C is hard, and a limit on steps is one of each pair."""
    X, y = faces([3] * 6, spread=0.2)
    with pytest.warns(UserWarning, match="not positive semi-definite"):
        SVC(kernel="sigmoid", gamma=2.0, coef0=-3.0).fit(X, y)
    hard = SVC(C=np.inf, tol=1e-8).fit(X, y)
    assert hard.fit_status_ == 0
    assert (hard.predict(X) == y).all()
    with pytest.warns(UserWarning, match="15 of 15|iteration limit"):
        cut = SVC(max_iter=1).fit(X, y)
    assert cut.status_ is Status.MAX_ITER
    assert (cut.n_iter_ == 1).all()


def test_when_time_is_up_every_pair_has_taken_its_first_step():
    X, y = faces([3] * 10, spread=2.0)
    with pytest.warns(UserWarning, match="time limit"):
        model = SVC(time_limit=1e-9).fit(X, y)
    assert model.status_ is Status.TIME_LIMIT
    assert (model.n_iter_ == 1).all()
    assert (np.abs(model.alpha_).sum(axis=1) > 0).all()


def test_features_far_from_the_origin():
    X, y = faces([2, 3, 2, 4])
    near, far = (SVC(kernel="linear", tol=1e-8).fit(X + shift, y) for shift in (0.0, 1e7))
    np.testing.assert_allclose(far.decision_function(X + 1e7), near.decision_function(X), rtol=0, atol=1e-5)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_votes_do_not_depend_on_how_many_values_are_in_memory(kernel):
    X, y = faces([3] * 9, spread=2.0)
    model = SVC(kernel=kernel).fit(X, y)
    values = model.set_params(decision_function_shape="ovo").decision_function(X)
    count = np.zeros((len(X), 9), dtype=int)
    for number, (p, q) in enumerate(combinations(range(9), 2)):
        for row, value in enumerate(values[:, number]):
            count[row, p if value > 0 else q] += 1
    assert np.array_equal(OneVsOne(9).votes(values), count.argmax(axis=1))
    assert np.array_equal(model.predict(X), count.argmax(axis=1))
    with patch.object(prediction, "REDUCED_ENTRIES", 100):
        assert np.array_equal(model.predict(X), count.argmax(axis=1))


def test_small_pairs_take_the_rows_of_one_matrix():
    X, y = faces([3] * 8)
    assert SVC(kernel="rbf").fit(X, y).n_kernel_rows_ == 24
    assert small_pairs.FEW >= 6
