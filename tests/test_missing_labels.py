"""Labels that are missing, as tables read from SQL and JSON have them, and labels of several types."""

import numpy as np
import pytest

from refsvm import RBF, DualProblem, cross_validate, leave_one_out
from refsvm.datasets import binary_labels

pytest.importorskip("sklearn")
SVC, SVCCV = (getattr(pytest.importorskip("refsvm"), name) for name in ("SVC", "SVCCV"))
X = np.random.default_rng(0).normal(size=(20, 2))
Y = np.where(X[:, 0] > 0, "yes", "no").astype(object)
CALLERS = {
    "SVC": lambda y: SVC(engine="numpy").fit(X, y),
    "SVCCV": lambda y: SVCCV(engine="numpy").fit(X, y),
    "leave_one_out": lambda y: leave_one_out(X, y, kernel=RBF(0.5), engine="numpy"),
    "cross_validate": lambda y: cross_validate(X, y, kernel=RBF(0.5), folds=3, engine="numpy"),
    "binary_labels": binary_labels,
}


def with_missing(value):
    y = Y.copy()
    y[3] = value
    return y


@pytest.mark.parametrize("caller", CALLERS)
def test_none_is_no_label(caller):
    with pytest.raises(
        ValueError, match=r"y\[3\] is None, a missing value; complete that example or drop it"
    ):
        CALLERS[caller](with_missing(None))


@pytest.mark.parametrize("caller", CALLERS)
@pytest.mark.parametrize("name", ["NA", "NaT", "nan"])
def test_what_pandas_makes_of_null_is_no_label(caller, name):
    missing = float("nan") if name == "nan" else getattr(pytest.importorskip("pandas"), name)
    with pytest.raises(ValueError, match=r"y\[3\] is .*, a missing value"):
        CALLERS[caller](with_missing(missing))


@pytest.mark.parametrize("form", [list, lambda y: pytest.importorskip("pandas").Series(y, dtype="string")])
@pytest.mark.parametrize("caller", CALLERS)
def test_missing_labels_of_other_forms(caller, form):
    with pytest.raises(ValueError, match=r"y\[3\] is .*, a missing value"):
        CALLERS[caller](form(with_missing(None)))


@pytest.mark.parametrize("caller", [*sorted(CALLERS.keys() - {"binary_labels"}), "problem"])
def test_nan_among_numbers_has_its_place(caller):
    y = np.where(X[:, 0] > 0, 1.0, -1.0)
    y[3] = np.nan
    sentence = "Input y contains NaN" if caller in ("SVC", "SVCCV") else r"y\[3\] is nan, a missing value"
    with pytest.raises(ValueError, match=sentence):  # estimators have that of scikit-learn
        CALLERS.get(caller, lambda y: DualProblem.classification(X, y))(y)


@pytest.mark.parametrize("caller", CALLERS)
def test_labels_of_several_types_are_refused(caller):
    with pytest.raises(
        (ValueError, TypeError), match=r"y mixes labels of different types|uniformly strings or numbers"
    ):
        CALLERS[caller](with_missing(7))
