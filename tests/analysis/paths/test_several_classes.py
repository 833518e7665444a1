"""Paths of several classes: the machines and the errors of refits, at any C and at both sides of every crossing."""

from __future__ import annotations

import signal
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest

from refsvm import (
    RBF,
    KKTGap,
    Linear,
    Precomputed,
    Status,
    cross_validate,
    leave_one_out,
    regularization_path,
)
from refsvm.analysis.paths import OneVsOnePath, cross_validate_path, several_classes
from refsvm.analysis.paths.error_curve import Turns, voted_curve
from refsvm.analysis.paths.several_classes import common_range
from refsvm.analysis.scheme import OneVsOne

from ...settings import FAST

sparse = pytest.importorskip("scipy.sparse")
svm = pytest.importorskip("sklearn.svm")

NAMES = np.array(["cat", "ant", "bee", "dog"])
SMALL = {"C_min": 0.05, "C_max": 20.0}


def examples(sizes=(7, 6, 8), seed=0, d=3, spread=0.9):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    X = (rng.normal(size=(len(sizes), d))[y] + spread * rng.normal(size=(len(y), d))).round(2)
    return X, NAMES[y]


def refit(K, y, C, cross, weight=None):
    """Decision values and predictions of LIBSVM, or None where some b may be anything of an interval."""
    weight = np.ones(len(y)) if weight is None else weight
    some = np.flatnonzero(weight > 0.0)  # scikit-learn leaves out a weight of 0, but not its column of K
    K, y, cross, weight = K[np.ix_(some, some)], y[some], cross[:, some], weight[some]
    model = svm.SVC(C=C, kernel="precomputed", tol=1e-10, decision_function_shape="ovo").fit(K, y, weight)
    share = np.abs(model.dual_coef_) / (C * weight[model.support_])
    codes = np.unique(y, return_inverse=True)[1][model.support_]
    for p, q in combinations(range(len(model.classes_)), 2):
        own = np.where(codes == p, share[q - 1], np.where(codes == q, share[p], 0.0))
        if not ((own > 1e-7) & (own < 1 - 1e-7)).any():
            return None
    values = model.decision_function(cross)
    return values.reshape(len(cross), -1), model.predict(cross)


def beside(curve):
    """Values of C at both sides of every step, and some between."""
    steps = curve.C[1:-1]
    return np.concatenate(
        [steps * (1 - 1e-6), steps * (1 + 1e-6), np.geomspace(curve.C[0], curve.C[-1], 7)[1:-1]]
    )


@pytest.mark.parametrize(
    "given", ["rbf", "linear", "far", "sparse", "matrix", "gram", "weights", "equal", "four"]
)
@pytest.mark.slow
def test_machines_votes_and_errors_are_those_of_refits(given):
    X, y = examples((6, 4, 5, 6) if given == "four" else (7, 6, 8))
    T, true = examples((6, 4, 5, 6) if given == "four" else (7, 6, 8), seed=5)
    kernel, options, weight = RBF(0.3), {}, None
    if given in ("linear", "far"):
        kernel = Linear()
        X, T = (X + 1e6, T + 1e6) if given == "far" else (X, T)
    elif given == "equal":
        X, y = np.repeat(X, 2, axis=0), np.repeat(y, 2)
    elif given == "weights":
        weight = np.random.default_rng(3).uniform(0.2, 2.0, len(y))
        weight[2] = 0.0
        options = {"sample_weight": weight}
    mean = X.mean(axis=0) if given == "far" else 0.0  # LIBSVM is asked around the mean
    K, cross = kernel(X - mean, X - mean), kernel(T - mean, X - mean)
    data, asked = (X, T)
    if given == "sparse":
        data, asked = sparse.csr_matrix(X), sparse.csr_matrix(T)
    elif given in ("matrix", "gram"):
        data, asked = K, cross
        kernel = Precomputed() if given == "matrix" else None
    first = {"gram": data, "y": y} if given == "gram" else {"X": data, "y": y, "kernel": kernel}
    path = regularization_path(**first, **SMALL, **options)
    assert isinstance(path, OneVsOnePath)
    assert path.status is Status.CONVERGED
    assert path.kkt_audit().worst < 1e-6
    curve = path.validation_error(asked, true)
    assert len(curve.C) > 3
    compared = 0
    for C in beside(curve):
        if (machine := refit(K, y, C, cross, weight)) is None:
            continue
        (values, labels), compared = machine, compared + 1
        np.testing.assert_allclose(path.decision_function(asked, C), values, rtol=0, atol=1e-5)
        assert np.array_equal(path.predict(asked, C), labels)
        assert curve.at(C) == pytest.approx((labels != true).mean(), abs=1e-12)
    assert compared >= len(curve.C)


def test_alpha_and_intercept_make_the_decision_values():
    X, y = examples()
    path = regularization_path(X + 50.0, y, kernel=Linear(), **SMALL)
    C = 1.3
    values = path.alpha(C) @ Linear()(X + 50.0, X + 50.0) + path.intercept(C)[:, None]
    np.testing.assert_allclose(values.T, path.decision_function(X + 50.0, C), rtol=0, atol=1e-8)
    assert path.n_support(C) == (path.alpha(C) != 0).any(axis=0).sum()
    audits = [each.kkt_audit().worst for each in path.paths]
    assert path.kkt_audit().worst == max(audits) > min(audits)
    pytest.importorskip("pandas")
    frame = path.to_frame()
    assert set(frame["first"]) | set(frame["second"]) == set(y)
    assert frame["C"].is_monotonic_increasing
    for row in frame.to_dict("records"):
        assert y[row["index"]] in (row["first"], row["second"])


def test_breakpoints_walked_for_an_example_are_those_of_its_pairs():
    X, y = examples((5, 6, 4), seed=2)
    given = {"kernel": RBF(0.3), **SMALL, "folds": "loo"}
    walked = np.zeros(len(y), dtype=int)
    for pair in combinations(np.unique(y), 2):
        rows = np.flatnonzero(np.isin(y, pair))
        labels = np.where(y[rows] == pair[1], 1, -1)
        walked[rows] += cross_validate_path(X[rows], labels, **given).breakpoints
    assert walked.any()
    assert cross_validate_path(X, y, **given).breakpoints == tuple(walked)


def test_curves_stand_where_all_pairs_have_a_path():
    paths = [SimpleNamespace(C=np.array(C), check_not_empty=lambda: None) for C in ([1.0, 8.0], [2.0, 9.0])]
    assert common_range(paths) == (2.0, 8.0)


@pytest.mark.parametrize("folds", ["loo", "one class"])
def test_an_example_alone_in_its_class_and_a_fold_with_all_of_one(folds):
    """The other classes are left, and vote as before."""
    X, y = examples((1, 5, 6, 4), seed=4)
    given, exact = {"kernel": RBF(0.3)}, {"stop": KKTGap(1e-9), "engine": FAST}
    fold = "loo" if folds == "loo" else np.where(y == NAMES[3], 0, 1 + np.arange(len(y)) % 2)
    found = cross_validate_path(X, y, folds=fold, **given, **SMALL)
    for C in np.geomspace(0.06, 19.0, 6):
        call, how = (leave_one_out, {}) if folds == "loo" else (cross_validate, {"folds": fold})
        assert found.curve.at(C) == pytest.approx(call(X, y, C=C, **given, **exact, **how).error, abs=1e-12)


def test_a_decision_value_of_zero_votes_as_in_svc():
    """Between two classes that mirror each other h = 0 at x = 0 for every C."""
    from refsvm import SVC

    X, y = np.array([[-1.0], [-2.0], [1.0], [2.0], [30.0], [31.0]]), np.array([0, 0, 1, 1, 2, 2])
    path = regularization_path(X, y, kernel=Linear(), C_min=1.0, C_max=10.0)
    for C in (1.5, 9.0):
        ours, theirs = path.decision_function([[0.0]], C), SVC(kernel="linear", C=C, tol=1e-10).fit(X, y)
        assert abs(ours[0, 0]) < 1e-12
        if ours[0, 0] == 0.0:
            assert path.predict([[0.0]], C) == theirs.predict([[0.0]]) == 1
    curve = path.validation_error([[0.0]], [1])
    assert curve.at(2.0) == float(path.predict([[0.0]], 2.0)[0] != 1)


@pytest.mark.parametrize("seed", range(8))
def test_votes_along_the_path_are_counted_as_at_each_place(seed):
    """Against the votes at some C, one after another; several pairs turn at the same C."""
    rng = np.random.default_rng(seed)
    k, t = int(rng.integers(3, 6)), int(rng.integers(1, 7))
    places, codes = np.arange(2.0, 9.0), rng.integers(0, k, t)
    steps, turns = {}, []
    for p in range(k):
        for q in range(p + 1, k):
            state = rng.random((t, len(places) + 1)) < 0.5
            i, j = np.nonzero(state[:, 1:] != state[:, :-1])
            steps[p, q] = state
            shuffled = rng.permutation(len(i))
            i, j = i[shuffled], j[shuffled]
            turns.append(Turns(p, q, state[:, 0], places[j], i, state[i, j + 1]))
    whole = voted_curve(turns, codes, k, (1.0, 10.0))
    for number, C in enumerate(np.arange(1.5, 9.0)):
        # h > 0 is a vote for the first class
        values = np.column_stack([np.where(state[:, number], -1.0, 1.0) for state in steps.values()])
        wrong = OneVsOne(k).votes(values) != codes
        assert whole.at(C) == pytest.approx(wrong.mean())


def test_limits_end_all_pairs():
    X, y = examples()
    seen = []
    path = regularization_path(
        X, y, kernel=RBF(0.3), **SMALL, callback=lambda point: seen.append(point) or len(seen) == 3
    )
    assert path.status is Status.CALLBACK
    assert len(seen) == 3
    with pytest.warns(UserWarning, match=r"The path ends at C=.*max_events was reached"):
        path = regularization_path(X, y, kernel=RBF(0.3), **SMALL, max_events=2)
    assert path.status is Status.MAX_ITER
    assert path.predict(X, path.C[0]).shape == y.shape
    with pytest.warns(UserWarning, match=r"The path .*time_limit was reached"):
        path = regularization_path(X, y, kernel=RBF(0.3), **SMALL, time_limit=1e-9)
    assert path.status is Status.TIME_LIMIT


def test_ctrl_c_in_one_pair_begins_no_other(monkeypatch):
    begun, plain = [], several_classes.track

    def track(*given, **options):
        begun.append(given)
        return plain(*given, **options)

    def press(_):
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(several_classes, "track", track)
    X, y = examples(sizes=(4, 4, 4, 4))
    with pytest.raises(KeyboardInterrupt) as raised:
        regularization_path(X, y, callback=press, **SMALL)
    path = raised.value.result
    assert len(begun) == 1
    assert len(path.paths) == 6
    assert path.status is Status.INTERRUPTED
    assert "6 pairs of classes" in repr(path)
    assert "INTERRUPTED" in path._repr_html_()
