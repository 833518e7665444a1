"""Scores: outcomes that no round can change any more, the ends of scores, standard errors, and tables of classes."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from refsvm import Status, leave_one_out
from refsvm.analysis.resampling.results import CrossValidation
from refsvm.analysis.resampling.scores import outcomes_of
from refsvm.analysis.scheme import OneVsOne


@pytest.mark.parametrize("k", [2, 3, 4])
def test_an_outcome_is_certain_where_it_is_the_same_however_the_open_pairs_end(k):
    """Of two and three classes all values are tried, of four classes some."""
    pairs = k * (k - 1) // 2
    every = np.array([*product([1.0, -1.0, np.nan], repeat=pairs)])
    if k == 4:
        every = every[np.random.default_rng(0).choice(len(every), 150, replace=False)]
    ends = np.array([*product([1.0, -1.0], repeat=pairs)])
    for own in range(k):
        found = outcomes_of(every, np.full(len(every), own), k)
        for values, outcome in zip(every, found, strict=True):
            wins = OneVsOne(k).votes(np.where(np.isnan(values), ends, values)) == own
            assert outcome == (1 if wins.all() else 0 if wins.any() else -1)


def test_of_two_classes_a_tie_is_won_by_the_second():
    assert outcomes_of(np.array([[0.0], [0.0]]), np.array([0, 1]), 2).tolist() == [-1, 1]
    assert outcomes_of(np.array([[0.0, -1.0, -1.0]]), np.array([1]), 3).tolist() == [-1]


WEIGHTS = np.array([1.0, 2.0, 0.0, 4.0])
FOUR = CrossValidation(
    kind="regression", classes=np.zeros(0), labels=np.array([1.0, 2.0, 3.0, 6.0]),
    predictions=np.array([2.0, 2.0, 9.0, 3.0]), decision_values=np.array([[2.0], [2.0], [9.0], [3.0]]),
    fold=np.array([0, 0, 1, 1]), rounds=(), status=Status.TIME_LIMIT, iterations=1, kernel_rows=1, seconds=1.0,
)  # fmt: skip


def unknown(result, *some):
    """The result while these examples are not predicted."""
    values, predictions = result.decision_values.copy(), result.predictions.astype(float)
    values[[*some]] = np.nan
    predictions[[*some]] = np.nan if result.kind == "regression" else result.labels[[*some]]
    return replace(result, decision_values=values, predictions=predictions)


def test_the_ends_of_scores_of_a_regression():
    """A residual that is left may be 0, or any number: Σw(y − ȳ)² is 14 without weights."""
    assert FOUR.bounds == {name: (value, value) for name, value in FOUR.scores.items()}
    assert FOUR.scores == {"rmse": np.sqrt(46.0 / 4.0), "mae": 10.0 / 4.0, "r2": 1.0 - 46.0 / 14.0}
    part = unknown(FOUR, 2)
    assert np.isnan([*part.scores.values()]).all()
    assert part.rmse_bounds == (np.sqrt(10.0 / 4.0), np.inf)
    assert part.mae_bounds == (1.0, np.inf)
    assert part.r2_bounds == (-np.inf, 1.0 - 10.0 / 14.0)
    weighted = replace(part, weights=WEIGHTS)  # the one that is left does not count
    assert weighted.is_finished
    assert weighted.rmse_bounds == (np.sqrt(37.0 / 7.0),) * 2
    assert weighted.mae_bounds == (13.0 / 7.0,) * 2
    open_ = replace(unknown(FOUR, 1), weights=WEIGHTS)
    assert open_.rmse_bounds == (np.sqrt(37.0 / 7.0), np.inf)
    assert open_.mae_bounds == (13.0 / 7.0, np.inf)
    mean_label = (1.0 + 4.0 + 24.0) / 7.0
    spread = (1.0 * (1 - mean_label) ** 2 + 2 * (2 - mean_label) ** 2 + 4 * (6 - mean_label) ** 2) / 7.0
    assert open_.r2_bounds == pytest.approx((-np.inf, 1.0 - 37.0 / 7.0 / spread), rel=1e-14)
    same = replace(part, labels=np.full(4, 2.0))
    assert np.isnan(same.r2_bounds[1])


def test_the_ends_of_a_share():
    inside = replace(
        FOUR, kind="novelty", labels=np.ones(4), predictions=np.array([1, -1, -1, 1]), weights=None
    )
    assert (inside.outside, inside.outside_bounds, inside.error_bounds) == (0.5, (0.5, 0.5), (0.5, 0.5))
    part = unknown(inside, 0, 1)
    assert part.outside_bounds == part.error_bounds == (0.25, 0.75)
    assert replace(part, weights=WEIGHTS).outside_bounds == (0.0, 3.0 / 7.0)
    classes = replace(
        FOUR, kind="classification", classes=np.array([0.0, 1.0]), labels=np.array([0.0, 0.0, 1.0, 1.0]),
        predictions=np.array([0.0, 1.0, 0.0, 1.0]), decision_values=np.array([[-1.0], [1.0], [-1.0], [1.0]]),
    )  # fmt: skip
    assert (classes.error, classes.error_bounds) == (0.5, (0.5, 0.5))
    assert unknown(classes, 1).error_bounds == (0.25, 0.5)
    assert unknown(classes, 0).error_bounds == (0.5, 0.75)


@pytest.mark.parametrize(
    ("kind", "refused", "has"),
    [
        ("regression", "error error_bounds errors outside outside_bounds", "residuals, rmse, mae and r2"),
        ("novelty", "residuals rmse mae r2 rmse_bounds mae_bounds r2_bounds fold_rmse fold_mae", "outside"),
        ("classification", "residuals outside outside_bounds r2_bounds fold_r2", "error"),
    ],
)
def test_a_score_of_another_task_is_refused(kind, refused, has):
    result = replace(FOUR, kind=kind)
    for name in refused.split():
        with pytest.raises(AttributeError, match=f"^{name} is not a score of {kind}, which has {has}.$"):
            getattr(result, name)


SIX = CrossValidation(
    kind="classification", classes=np.array(["a", "b"]), predictions=np.array([*"aabbba"]),
    labels=np.array([*"aaabbb"]), decision_values=np.array([-1.0, -1.0, 1.0, 1.0, 1.0, -1.0])[:, None],
    fold=np.array([0, 0, 1, 1, 2, 2]), rounds=(), status=Status.CONVERGED, iterations=1234, kernel_rows=56,
    seconds=1.25, machine="RBF(0.5), C=1",
)  # fmt: skip


PART = replace(
    SIX,
    decision_values=np.where(np.arange(6)[:, None] < 2, np.nan, SIX.decision_values),
    status=Status.TIME_LIMIT,
)
TARGETS = replace(
    SIX, kind="regression", predictions=np.array([1.0, 2.0, 3.0, 4.0]), labels=np.array([1.0, 2.0, 3.0, 6.0]),
    classes=np.zeros(0), decision_values=np.zeros((4, 1)), fold=np.array([0, 0, 1, 1]),
)  # fmt: skip


@pytest.mark.parametrize(
    ("result", "line", "pairs"),
    [
        (SIX, "error 0.3333 ± 0.17: 2 of 6 wrong, 3 folds; 1.25 s", {"error of a fold": "0 to 0.5"}),
        (replace(SIX, weights=np.array([1.0, 2.0, 1.0, 0.0, 1.0, 1.0])),
         "error 0.3333 ± 0.29, weighted, 3 folds; 1.25 s", {"error of a fold": "0 to 1"}),
        (PART, "TIME_LIMIT: 4 of 6 examples decided; error between 0.3333 and 0.6667; 1.25 s",
         {"error of a fold": "0.5 to 0.5", "error": "0.3333 to 0.6667"}),
        (TARGETS, "rmse 1 ± 0.71, 2 folds; 1.25 s", {"rmse of a fold": "0 to 1.414", "mae": "0.5", "r2": "0.7143"}),
    ],
)  # fmt: skip
def test_the_line_and_the_numbers_of_folds(result, line, pairs):
    shown = result._card()
    assert (shown.line, shown.is_partial) == (line, result is PART)
    same = {"machine": result.machine, "steps": "1,234", "kernel rows": "56", "seconds": "1.250"}
    assert shown.pairs == same | pairs
    np.testing.assert_array_equal(shown.heights, result.of_folds[1])
    wrong = [("a", "3", "1", "0.3333"), ("b", "3", "1", "0.3333")]
    assert [table.rows for table in shown.tables] == [wrong] * (result is not PART and result is not TARGETS)


@pytest.mark.parametrize("k", [3, 20, 21])
def test_twenty_classes_have_a_row(k):
    """Numbers without a decimal point that they do not need; the first of the classes is taken for the last."""
    codes = np.arange(float(k))
    found = replace(
        SIX, classes=codes, labels=codes, predictions=codes % (k - 1), fold=np.arange(k) % 2,
        decision_values=np.zeros((k, k * (k - 1) // 2)),
    )  # fmt: skip
    (table,) = found._card().tables
    wrong = [int(code == k - 1) for code in range(min(k, 20))]
    assert table.rows == [(str(code), "1", str(bad), f"{bad:.4f}") for code, bad in enumerate(wrong)]


X, Y = np.array([[0.0], [1.0], [2.0], [3.0], [4.0]]), np.array([-1, -1, 1, 1, -1])
LEFT = leave_one_out(X, Y)
LEFT = replace(LEFT, predictions=np.array([-1, -1, 1, 1, 1]), sides=None, decided_by=np.full(5, "kkt"))


@pytest.mark.parametrize(
    ("weights", "expected"),
    [
        (None, np.sqrt(0.2 * 0.8 / 4.0)),
        (np.full(5, 3.0), np.sqrt(0.2 * 0.8 / 4.0)),
        (np.array([1.0, 1.0, 0.0, 0.0, 2.0]), np.sqrt(0.5 * 0.5 / (16.0 / 6.0 - 1.0))),
        (np.array([0.0, 0.0, 0.0, 0.0, 2.0]), np.nan),  # one alone tells no spread
    ],
)
def test_the_standard_error_of_a_share(weights, expected):
    """√ of p(1 − p) over n − 1; of weights n is (Σw)²/Σw²."""
    found = replace(LEFT, weights=weights).standard_error
    assert found == pytest.approx(expected, rel=1e-12, nan_ok=True)
    assert np.isnan(replace(LEFT, decided_by=np.array(["kkt"] * 4 + [""])).standard_error)


@pytest.mark.parametrize(
    ("residuals", "expected"),
    [
        ([3.0, 0.0, 0.0, 0.0, 4.0], np.sqrt((16.0 + 3 * 25.0 + 121.0) / 5.0 / 4.0) / (2.0 * np.sqrt(5.0))),
        ([2.0, -2.0, 2.0, 2.0, 2.0], 0.0),
        ([0.0] * 5, 0.0),
    ],
)
def test_the_standard_error_of_a_root_of_mean_squares(residuals, expected):
    """That of the mean square over twice the root."""
    found = replace(
        LEFT, kind="regression", classes=np.zeros(0), labels=np.array(residuals), predictions=np.zeros(5)
    )
    assert found.standard_error == pytest.approx(expected, rel=1e-12, abs=0.0)


def test_the_standard_error_of_folds_that_are_not_all_there_is_not_known():
    """No fold is looked at then; of one fold alone there is no spread."""
    left = np.where(np.arange(6)[:, None] < 2, np.nan, 0.0)
    for result in (replace(SIX, decision_values=left), replace(SIX, fold=np.zeros(6, int))):
        assert np.isnan(result.standard_error)  # warnings are errors
    assert replace(SIX, predictions=SIX.labels).standard_error == 0.0
