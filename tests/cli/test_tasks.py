"""``refsvm fit`` and ``predict`` by task: classification, regression, novelty detection."""

import numpy as np
import pytest

import refsvm

from .commands import works

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 2)).round(3)


@pytest.fixture
def table(write):
    """Write a CSV file with these labels."""

    def make(labels):
        rows = "".join(f"{a},{b},{label}\n" for (a, b), label in zip(X.tolist(), labels, strict=True))
        return write("t.csv", "a,b,y\n" + rows)

    return make


@pytest.mark.parametrize("given", [[], ["--task", "regression"]])
def test_labels_with_fractions_are_targets(table, tmp_path, given):
    y = (X[:, 0] + X[:, 1] ** 2).round(3)
    path = table(y)
    options = ["--label", "y", "--C", 10, "--gamma", 0.5, "--epsilon", 0.05, "--tol", 1e-8]
    told = works("fit", path, "--model", tmp_path / "m", *options, *given).stdout
    fitted = refsvm.SVR(C=10.0, gamma=0.5, epsilon=0.05, tol=1e-8).fit(X, y)
    sizes = "40 examples, 2 features, RBF(gamma=0.5), C=10, epsilon=0.05, targets"
    assert f"{sizes}; {len(fitted.support_)} support vectors" in told
    assert "mean absolute training error" in told
    result = works("predict", tmp_path / "m", path, "--label", "y")
    np.testing.assert_allclose([float(v) for v in result.stdout.split()], fitted.predict(X), atol=1e-9)
    error = np.abs(fitted.predict(X) - y).mean()
    assert result.stderr == f"Mean absolute error {error:.4g}, R² {fitted.score(X, y):.4f}.\n"


def test_novelty_detection_needs_no_labels(table, tmp_path):
    path = table(["a", "b"] * 20)
    options = ["--label", "y", "--task", "novelty", "--nu", 0.2, "--gamma", 0.5]
    told = works("fit", path, "--model", tmp_path / "m", *options).stdout
    fitted = refsvm.OneClassSVM(nu=0.2, gamma=0.5).fit(X)
    outside = float((fitted.predict(X) < 0).mean())
    assert f"{len(fitted.support_)} support vectors, {outside:.4f} of the examples outside" in told
    result = works("predict", tmp_path / "m", path, "--label", "y")
    assert [int(v) for v in result.stdout.split()] == fitted.predict(X).tolist()
    assert result.stderr == f"{round(40 * (1 - outside))} of 40 are inside.\n"


def test_targets_in_small_units_are_fitted_as_in_large_ones(table, tmp_path):
    y, predictions = np.sin(X[:, 0]).round(3), []
    for unit in (1.0, 1e-6):
        path = table((y * unit).tolist())
        sizes = ["--C", 10 * unit, "--epsilon", 0.05 * unit, "--gamma", 0.5]
        works("fit", path, "--model", tmp_path / "m", "--label", "y", *sizes)
        told = works("predict", tmp_path / "m", path, "--label", "y").stdout
        predictions.append(np.array(told.split(), dtype=float) / unit)
    assert np.abs(predictions[0] - y).max() < 0.2
    np.testing.assert_allclose(predictions[1], predictions[0], atol=5e-3)


def test_whole_numbers_are_classes_unless_the_task_says_otherwise(table, tmp_path):
    given = ["fit", table((X[:, 0] > 0).astype(int)), "--model", tmp_path / "m", "--label", "y"]
    assert "2 classes" in works(*given).stdout
    assert "targets;" in works(*given, "--task", "regression").stdout
