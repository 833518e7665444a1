"""A kernel matrix that somebody else writes to during a solve: no engine takes NaN for a solution."""

import numpy as np
import pytest

from refsvm import (
    SVMP,
    DualProblem,
    Hastie,
    KKTGap,
    Precomputed,
    Rounds,
    Status,
    cross_validate,
    leave_one_out,
    regularization_path,
    solve,
)
from refsvm.core.rounds.round import Round

from ...settings import noisy_classes

X, Y = noisy_classes(300, 2, 0, noise=0.5)
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
    for stop in (KKTGap(), KKTGap(relative=True)):
        given[:] = K
        found = solve(
            problem,
            engine=engine,
            callback=spoil,
            max_iter=5000,
            cache_mb=cache_mb,
            shrinking=shrinking,
            stop=stop,
        )
        assert found.status is Status.NOT_FINITE
        assert found.reason == found.status.value


@pytest.mark.parametrize("relative", [False, True])
@pytest.mark.parametrize("where", [np.s_[:], np.s_[:, 7]], ids=["everywhere", "one column"])
def test_no_round_after_it_has_converged(where, relative, engine):
    given = K[:60, :60].copy()
    problem = DualProblem.classification(given, Y[:60], kernel=Precomputed(), C=100.0)
    rounds = Rounds(problem, engine=engine, stop=KKTGap(relative=relative))
    assert len([*rounds.run([Round(keep="all"), *(Round(r, "all") for r in range(10))])]) == 11
    given[where] = np.nan
    found = [*rounds.run([Round(r, "all") for r in range(10, 60)])]
    assert [each.status for each in found] == [Status.NOT_FINITE] * 50


@pytest.mark.filterwarnings(
    "ignore:.* not solved", "ignore:invalid value", "ignore:The kernel is not positive"
)
@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("call", [leave_one_out, cross_validate])
def test_it_ends_the_rounds_of_a_call(call, value, engine):
    given = K[:120, :120].copy()

    def spoil(progress):
        given[:] = value

    found = call(given, Y[:120], kernel="precomputed", C=100.0, engine=engine, callback=spoil)
    assert found.status is Status.NOT_FINITE
    known = found.outcomes != 0 if call is leave_one_out else found.is_known
    assert not known.all()


@pytest.mark.filterwarnings("ignore:invalid value", "ignore:Ill-conditioned")
@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("after", [1, 3, 40])
@pytest.mark.parametrize("tracker", [SVMP(), Hastie()], ids=["svmp", "hastie"])
def test_it_ends_a_path_at_a_point_before_it(tracker, after, value, engine):
    pytest.importorskip("scipy")
    given, told = K[:120, :120].copy(), []

    def spoil(point):
        told.append(point)
        if len(told) == after:
            given[:] = value

    def path(matrix, callback=None):
        return regularization_path(
            matrix,
            Y[:120],
            kernel="precomputed",
            C_max=10.0,
            engine=engine,
            callback=callback,
            tracker=tracker,
        )

    with pytest.warns(UserWarning, match="The path ends at .* before its end. A gradient is NaN"):
        found = path(given, spoil)
    assert found.status is Status.NOT_FINITE
    whole = path(K[:120, :120].copy())
    m = len(found.record.t)
    assert 1 <= m < len(whole.record.t)
    np.testing.assert_array_equal(found.record.t, whole.record.t[:m])
    np.testing.assert_array_equal(found.record.intercept, whole.record.intercept[:m])
