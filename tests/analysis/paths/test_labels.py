"""Two labels of any kind: the paths of two classes take what `leave_one_out` and the paths of three classes take."""

import numpy as np
import pytest

pytest.importorskip("scipy")

from refsvm import RBF, cost_path, leave_one_out, regularization_path, weight_path
from refsvm.analysis.paths import cross_validate_path, load_path, save_path

from ...settings import noisy_classes

X, SIGN = noisy_classes(30, 2, 3, noise=0.3)
RANGE = {"kernel": RBF(0.3), "C_min": 0.1, "C_max": 10.0}
CODINGS = [
    np.array(["ant", "bee"]), np.array(["b", "a"]), np.array([0, 1]), np.array([2.5, 7.0]), np.array([False, True]),
    np.array([3, -3]), np.array(["no", "yes"], dtype=object), np.array([1.0, -1.0]),
]  # fmt: skip


@pytest.fixture(params=CODINGS, ids=lambda each: f"{each.dtype} {each.tolist()}")
def coded(request):
    """Labels, and the same as −1 and +1: the larger label is +1."""
    names = request.param
    y = names[(SIGN > 0) * 1]
    return y, np.where(y == max(names.tolist()), 1, -1)


def test_the_path_is_that_of_the_signs(coded):
    y, signs = coded
    path, plain = regularization_path(X, y, **RANGE), regularization_path(X, signs, **RANGE)
    np.testing.assert_array_equal(path.decision_function(X, 1.0), plain.decision_function(X, 1.0))
    assert path.classes.tolist() == sorted(set(y.tolist()))
    assert (path.predict(X, 1.0) == y).mean() == (plain.predict(X, 1.0) == signs).mean() > 0.7
    assert path.predict(X, 1.0).tolist() == path.classes[(plain.predict(X, 1.0) > 0) * 1].tolist()
    assert path.validation_error(X, y) == plain.validation_error(X, signs) or np.array_equal(
        path.validation_error(X, y).errors, plain.validation_error(X, signs).errors
    )


@pytest.mark.parametrize("folds", [3, "loo"])
def test_cross_validation_is_that_of_the_signs(coded, folds):
    y, signs = coded
    curves = [cross_validate_path(X, each, folds=folds, **RANGE).curve for each in (y, signs)]
    np.testing.assert_array_equal(curves[0].errors, curves[1].errors)
    if folds == "loo":
        loo = leave_one_out(X, y, kernel=RBF(0.3), C=1.0)
        assert curves[0].at(1.0) == pytest.approx(loo.error)


def test_other_lines_of_two_classes(coded):
    y, signs = coded
    path, plain = (cost_path(X, each, kernel=RBF(0.3), C=2.0) for each in (y, signs))
    assert path.classes.tolist() == sorted(set(y.tolist()))
    np.testing.assert_array_equal(path.roc(X, y).tpr, plain.roc(X, signs).tpr)
    path, plain = (weight_path(X, each, kernel=RBF(0.3), C=(0.5, 2.0)) for each in (y, signs))
    np.testing.assert_array_equal(path.alpha(0.5), plain.alpha(0.5))


def test_a_file_keeps_the_labels(coded, tmp_path):
    y, _ = coded
    path = regularization_path(X, y, **RANGE)
    save_path(path, tmp_path / "path.npz")
    assert load_path(tmp_path / "path.npz").predict(X, 1.0).tolist() == path.predict(X, 1.0).tolist()
