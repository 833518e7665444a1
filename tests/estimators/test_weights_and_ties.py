"""Weights in γ; of SVR and OneClassSVM weights that leave nothing, points on the border; what reaches the solver."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.exceptions import ConvergenceWarning

from refsvm import SVC, SVR, OneClassSVM

rng = np.random.default_rng(0)
X = rng.normal(size=(40, 3)) * [1.0, 5.0, 0.2]
TARGETS = X[:, 0] + 0.1 * rng.normal(size=40)


@pytest.mark.parametrize("estimator", [SVC(), SVR(), OneClassSVM()], ids=repr)
def test_a_whole_weight_counts_as_copies_in_gamma(estimator):
    weights, y = rng.integers(0, 3, size=40), TARGETS > 0.0 if isinstance(estimator, SVC) else TARGETS
    copies = np.repeat(np.arange(40), weights)
    weighted = estimator.fit(X, y, sample_weight=weights).kernel_.gamma
    assert weighted == pytest.approx(1.0 / (3 * X[copies].var()), rel=1e-12)
    assert weighted == pytest.approx(estimator.fit(X[copies], y[copies]).kernel_.gamma, rel=1e-12)
    assert abs(weighted / estimator.fit(X, y).kernel_.gamma - 1.0) > 1e-3


@pytest.mark.parametrize("estimator", [SVR(warm_start=True), OneClassSVM(warm_start=True)], ids=repr)
def test_a_warm_start_knows_which_examples_were_left_out(estimator):
    weights = 1.0 * (np.arange(40) > 12)
    first = estimator.fit(X, TARGETS, sample_weight=weights).n_iter_
    assert first > 1
    assert estimator.fit(X, TARGETS, sample_weight=weights).n_iter_ == 1


def test_the_time_limit_reaches_the_solver():
    estimator = SVR(C=1e6, time_limit=1e-9, tol=1e-12)
    with pytest.warns(ConvergenceWarning, match="time limit"):
        estimator.fit(X, TARGETS)
    assert estimator.status_.name == "TIME_LIMIT"


def test_a_point_on_the_border_is_inside(monkeypatch):
    model = OneClassSVM(nu=0.2).fit(X)
    values = np.array([[-1e-300], [0.0], [1e-300]])
    monkeypatch.setattr(OneClassSVM, "_decision_values", lambda self, X: values)
    assert model.predict(X[:3]).tolist() == [-1, 1, 1]


def test_the_last_digits_are_polished_and_the_end_is_shown(capsys):
    model = SVR(C=0.5, verbose=1).fit(X, TARGETS)
    assert model.kkt_gap_ < 1e-9
    assert "KKT gap" in capsys.readouterr().err


def test_the_rows_of_a_users_kernel_are_counted():
    assert SVR(kernel=lambda A, B: A @ B.T).fit(X, TARGETS).n_kernel_rows_ == 40
