"""Labels that are the targets of a regression, taken for classes."""

import warnings

import numpy as np
import pytest

from refsvm import SVC, SVCCV, cross_validate, leave_one_out, regularization_path
from refsvm.analysis.paths import cross_validate_path
from refsvm.services.labels import FEW_EXAMPLES

CALLS = {
    "SVC.fit": lambda X, y: SVC().fit(X, y),
    "SVCCV.fit": lambda X, y: SVCCV(cv="loo").fit(X, y),
    "leave_one_out": leave_one_out,
    "cross_validate": cross_validate,
    "regularization_path": regularization_path,
    "cross_validate_path": cross_validate_path,
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_prices_are_not_taken_for_classes_without_a_word(call):
    # the warning comes before any work: as an error it ends the call
    y = 300_000.0 + np.random.default_rng(0).permutation(60)
    with warnings.catch_warnings(action="error"), pytest.raises(UserWarning, match="different labels"):
        call(np.arange(60.0)[:, None], y)


def test_as_many_classes_as_scikit_learn_bears_are_borne():
    n = FEW_EXAMPLES + 2
    X, y = np.arange(float(n))[:, None], np.arange(n) // 2
    with warnings.catch_warnings(action="error"):
        SVC().fit(X, y)
        leave_one_out(X[:-2], np.arange(n - 2))
    with pytest.warns(UserWarning, match="12 different labels"):
        leave_one_out(X, np.minimum(np.arange(n), 11))
