"""The quick checks let through what scikit-learn's checks return unchanged, and nothing else."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from refsvm import SVC
from refsvm.estimators import validation
from refsvm.estimators.validation import checked_data, encoded

X = np.random.default_rng(0).normal(size=(6, 3))
LABELS = np.array([1, 0, 1, 0, 1, 1])
TABLES = {
    "plain": X,
    "list": X.tolist(),
    "float32": X.astype(np.float32),
    "whole numbers": (10 * X).astype(int),
    "other byte order": X.astype(">f8"),
    "column order": np.asfortranarray(X),
    "every second row": np.repeat(X, 2, axis=0)[::2],
    "matrix": np.ma.masked_array(X),
    "huge": 1e200 * X,
    "NaN": np.where(X > 1, np.nan, X),
    "infinity": np.where(X > 1, np.inf, X),
    "minus infinity": np.where(X > 1, -np.inf, X),
    "no feature": X[:, :0],
    "no example": X[:0],
    "vector": X[0],
    "cube": X[:, :, None],
    "too few": X[:5],
    "objects": X.astype(object),
    "complex": X + 1j,
}
TARGETS = {
    "plain": LABELS,
    "list": LABELS.tolist(),
    "float": LABELS.astype(float),
    "strings": LABELS.astype("U"),
    "bool": LABELS > 0,
    "NaN": np.where(LABELS > 0, np.nan, 0.0),
    "infinity": np.where(LABELS > 0, np.inf, 0.0),
    "column": LABELS[:, None],
    "too many": np.tile(LABELS, 2),
    "objects": LABELS.astype(object),
    "none": None,
}


class Plain(BaseEstimator):
    """An estimator without parameters."""


def outcome(check, *arguments, **options):
    """What a check returns or how it refuses, and the number of features it notes down."""
    estimator = Plain()
    with np.errstate(all="ignore"):
        try:
            result = check(
                estimator, *arguments, reset=True, accept_sparse="csr", dtype=np.float64, order="C", **options
            )
        except (ValueError, TypeError) as error:
            return type(error), str(error)
    return result, estimator.n_features_in_


def same(ours, theirs):
    if isinstance(theirs, tuple):
        return type(ours) is type(theirs) and all(map(same, ours, theirs))
    if isinstance(theirs, np.ndarray):
        return ours.dtype == theirs.dtype and ours.flags.c_contiguous and np.array_equal(ours, theirs)
    return ours == theirs


@pytest.mark.filterwarnings("ignore:A column-vector y was passed")
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("table", TABLES)
def test_fit_gets_what_scikit_learn_would_give(table, target):
    arguments = TABLES[table], TARGETS[target]
    assert same(outcome(checked_data, *arguments), outcome(validate_data, *arguments))


@pytest.mark.parametrize("table", TABLES)
def test_predict_gets_what_scikit_learn_would_give(table):
    assert same(outcome(checked_data, TABLES[table]), outcome(validate_data, TABLES[table]))


def test_the_plain_case_asks_scikit_learn_nothing(monkeypatch):
    for name in ("validate_data", "check_classification_targets"):
        monkeypatch.delattr(validation, name)
    model = SVC().fit(X, LABELS.astype(float))
    assert model.n_features_in_ == 3
    assert model.predict(X).dtype == float


def test_names_of_features_are_forgotten_and_missed():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=list("abc"))
    model = SVC().fit(frame, LABELS)
    assert model.feature_names_in_.tolist() == list("abc")
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame[list("cba")])
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        model.predict(X)
    assert not hasattr(model.fit(X, LABELS), "feature_names_in_")


def by_sorting(y):
    """Number the classes with scikit-learn and NumPy alone."""
    check_classification_targets(y)
    return np.unique(y, return_inverse=True)


@pytest.mark.parametrize(
    "y",
    [
        [1, 0, 1], [-1.0, 1.0], [3, 3, 7], [2, 1, 0], [True, False], [0.5, 1.0, 0.5], [0.0, 1.5], [1.0, 2.0, 1.5],
        [-128, 127], [0, 255, 3],
    ],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("dtype", [None, np.float32, np.int8, np.uint8, "U"])
def test_labels_are_numbered_as_by_sorting(y, dtype):
    with np.errstate(all="ignore"):
        y = np.array(y) if dtype is None else np.array(y).astype(dtype)
    if y.dtype.kind == "f" and (y % 1 != 0).any():
        for number in (by_sorting, encoded):
            with pytest.raises(ValueError, match="Unknown label type: continuous"):
                number(y)
        return
    for ours, theirs in zip(encoded(y), by_sorting(y), strict=True):
        assert ours.dtype == theirs.dtype
        assert np.array_equal(ours, theirs)


def test_a_subclass_with_other_defaults_is_checked_where_it_differs_from_them():
    class Narrow(SVC):
        def __init__(self, width=0.1, **parameters):
            super().__init__(gamma=1 / (2 * width**2), **parameters)
            self.width = width

    class Needy(SVC):
        def __init__(self, C):
            super().__init__(C=C)

    assert Narrow().fit(X, LABELS).kernel_.gamma == pytest.approx(50.0)
    with pytest.raises(ValueError, match="'C' parameter of Needy"):
        Needy(-1.0).fit(X, LABELS)
    with pytest.raises(ValueError, match="'tol' parameter"):
        SVC().set_params(tol=-1.0).fit(X, LABELS)
