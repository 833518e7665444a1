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
