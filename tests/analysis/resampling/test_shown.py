"""How results of rounds are shown: the numbers in the line, on the card and in the tables, worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from refsvm import Status, leave_one_out
from refsvm.analysis.resampling.results import CrossValidation

SIX = CrossValidation(
    kind="classification", classes=np.array(["a", "b"]), predictions=np.array([*"aabbba"]),
    labels=np.array([*"aaabbb"]), decision_values=np.array([-1.0, -1.0, 1.0, 1.0, 1.0, -1.0])[:, None],
    fold=np.array([0, 0, 1, 1, 2, 2]), rounds=(), status=Status.CONVERGED, iterations=1234, kernel_rows=56,
    seconds=1.25, machine="RBF(0.5), C=1",
)  # fmt: skip
FOUR = replace(
    SIX, kind="regression", classes=np.zeros(0), predictions=np.array([1.0, 2.0, 3.0, 4.0]), machine="",
    labels=np.array([1.0, 2.0, 3.0, 6.0]), decision_values=np.array([[1.0], [2.0], [3.0], [4.0]]),
    fold=np.array([0, 0, 1, 1]),
)  # fmt: skip
INSIDE = replace(
    SIX, kind="novelty", classes=np.zeros(0), labels=np.ones(6, int),
    predictions=np.array([1, 1, -1, 1, 1, 1]),
)  # fmt: skip
UNKNOWN = np.where(np.arange(6)[:, None] < 2, np.nan, SIX.decision_values)


@pytest.mark.parametrize(
    ("result", "line", "pairs"),
    [
        (SIX, "error 0.3333 ± 0.17: 2 of 6 wrong, 3 folds; 1.25 s", {"error of a fold": "0 to 0.5"}),
        (replace(SIX, weights=np.array([1.0, 2.0, 1.0, 0.0, 1.0, 1.0])),
         "error 0.3333 ± 0.29, weighted, 3 folds; 1.25 s", {"error of a fold": "0 to 1"}),
        (replace(SIX, status=Status.MAX_ITER),
         "error 0.3333 ± 0.17: 2 of 6 wrong, 3 folds, MAX_ITER; 1.25 s", {"error of a fold": "0 to 0.5"}),
        (replace(SIX, decision_values=UNKNOWN, status=Status.TIME_LIMIT),
         "TIME_LIMIT: 4 of 6 examples decided; error between 0.3333 and 0.6667; 1.25 s",
         {"error of a fold": "0.5 to 0.5", "error": "0.3333 to 0.6667"}),
        (FOUR, "rmse 1 ± 0.71, 2 folds; 1.25 s", {"rmse of a fold": "0 to 1.414", "mae": "0.5", "r2": "0.7143"}),
        (INSIDE, "outside 0.1667 ± 0.17: 1 of 6 outside, 3 folds; 1.25 s", {"outside of a fold": "0 to 0.5"}),
    ],
    ids=["classes", "weighted", "steps used up", "time used up", "regression", "novelty"],
)  # fmt: skip
def test_the_line_and_the_numbers_of_folds(result, line, pairs):
    shown = result._card()
    assert shown.line == line
    name, _, value = line.partition(":")[0].partition(" ")
    if result.is_complete:
        assert shown.headline == value.split()[0]
        assert shown.sentence == line.removesuffix("; 1.25 s").replace(f" {shown.headline}", "", 1)
    else:
        assert (shown.headline, shown.sentence) == ("0.3333 … 0.6667", line.removesuffix("; 1.25 s"))
        name = "error"
    assert shown.is_partial == (result.status is not Status.CONVERGED)
    machine = {"machine": result.machine} if result.machine else {}
    assert shown.pairs == machine | {"steps": "1,234", "kernel rows": "56", "seconds": "1.250"} | pairs
    assert shown.heights_of == f"{name} of each fold"
    np.testing.assert_array_equal(shown.heights, result.of_folds[1])
    tables = [table.rows for table in shown.tables]
    has_classes = result.kind == "classification" and result.is_complete
    assert tables == [[("a", "3", "1", "0.3333"), ("b", "3", "1", "0.3333")]] * has_classes


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


@pytest.mark.parametrize("machines", [1, 2, 3])
def test_the_bar_of_leave_one_out_is_as_long_as_all_that_is_decided(machines):
    decided = np.array(["zero alpha", "kkt", "kkt", "ball", "zero alpha"])
    if machines > 1:
        decided = np.column_stack([decided] * machines)
    found = replace(LEFT, full_solutions=LEFT.full_solutions * machines, decided_by=decided)
    parts = found._card().parts
    assert (parts.unit, parts.whole) == ("examples" if machines == 1 else "examples and pairs", 5 * machines)
    counts = {name: count / machines for name, count in parts.counts.items() if count}
    assert counts == {"zero alpha": 2, "kkt": 2, "ball": 1}
