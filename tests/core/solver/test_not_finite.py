"""A kernel matrix that somebody else writes to during a solve: no engine takes NaN for a solution."""

import numpy as np
import pytest

from refsvm import DualProblem, Precomputed, Status, solve

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 2))
Y = np.where(X[:, 0] + 0.5 * RNG.normal(size=300) > 0, 1, -1)
K = np.exp(-((X[:, None] - X[None]) ** 2).sum(-1))


@pytest.mark.filterwarnings("ignore:invalid value", "ignore:The kernel is not positive semi-definite")
@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("where", [np.s_[:], np.s_[:, 7]], ids=["everywhere", "one column"])
@pytest.mark.parametrize("cache_mb", [0.05, 200.0])
def test_a_number_that_is_not_finite_ends_the_run_with_a_status(value, where, cache_mb, shrinking, engine):
    given = K.copy()

    def spoil(progress):
        given[where] = value

    problem = DualProblem.classification(given, Y, kernel=Precomputed(), C=1e4)
    found = solve(
        problem, engine=engine, callback=spoil, max_iter=5000, cache_mb=cache_mb, shrinking=shrinking
    )
    assert found.status is Status.NOT_FINITE
    assert found.reason == found.status.value
