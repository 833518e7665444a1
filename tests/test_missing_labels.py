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


MISSING = {
    "None": lambda: with_missing(None),
    "nan": lambda: with_missing(float("nan")),
    "NA of pandas": lambda: with_missing(pytest.importorskip("pandas").NA),
    "NaT of pandas": lambda: with_missing(pytest.importorskip("pandas").NaT),
    "a list": lambda: [*with_missing(None)],
    "a series of texts": lambda: pytest.importorskip("pandas").Series(with_missing(None), dtype="string"),
}


@pytest.mark.parametrize("caller", CALLERS)
@pytest.mark.parametrize("what", MISSING)
def test_what_is_missing_is_no_label(caller, what):
    is_none = "None" if what in ("None", "a list") else ".*"
    with pytest.raises(
        ValueError, match=rf"y\[3\] is {is_none}, a missing value; complete that example or remove"
    ):
        CALLERS[caller](MISSING[what]())


@pytest.mark.parametrize("caller", [*sorted(CALLERS.keys() - {"binary_labels"}), "problem"])
def test_nan_among_numbers_has_its_place(caller):
    y = np.where(X[:, 0] > 0, 1.0, -1.0)
    y[3] = np.nan
    sentence = "Input y contains NaN" if caller in ("SVC", "SVCCV") else r"y\[3\] is nan, a missing value"
    with pytest.raises(ValueError, match=sentence):  # estimators have that of scikit-learn
        CALLERS.get(caller, lambda y: DualProblem.classification(X, y))(y)


@pytest.mark.parametrize("caller", CALLERS)
def test_labels_of_several_types_are_refused(caller):
    says = r"y mixes labels of different types|uniformly strings or numbers"
    with pytest.raises((ValueError, TypeError), match=says):
        CALLERS[caller](with_missing(7))
