"""A path that ended early: its curves carry its status, and what is taken from all of it warns."""

from contextlib import nullcontext

import numpy as np
import pytest

pytest.importorskip("scipy")

from refsvm import RBF, Status, cost_path, regularization_path
from refsvm.analysis.paths import ErrorCurve, RocCurve

from ...settings import noisy_classes

X, Y = noisy_classes(60, 2, 3, noise=0.8, above=0.5)
THREE = np.where(X[:, 1] > 0.5, 2, Y)
OPTIONS = {"kernel": RBF(0.5), "engine": "numpy"}


@pytest.mark.parametrize("labels", [Y, THREE])
@pytest.mark.parametrize("limit", [{"max_events": 10}, {"callback": lambda point: point.C > 1e-3}])
def test_the_best_c_of_an_unfinished_path_warns(labels, limit):
    # you have asked for the end by a callback yourself
    with pytest.warns(UserWarning, match="The path ends at C=") if "max_events" in limit else nullcontext():
        path = regularization_path(X, labels, C_max=10.0, **limit, **OPTIONS)
    # the curve carries the status; what it is asked for warns, once
    curve = path.validation_error(X, labels)
    assert curve.status is path.status is not Status.CONVERGED
    with pytest.warns(UserWarning, match=rf"The path ended early, at C=.* \({path.status.name}\)") as said:
        curve.best()
    assert [each.filename for each in said] == [__file__]


def test_the_operating_points_of_an_unfinished_path_warn():
    with pytest.warns(UserWarning, match="The path ends at C₊="):
        path = cost_path(X, Y, C=4.0, max_events=10, **OPTIONS)
    with pytest.warns(
        UserWarning, match=r"The curve of operating points ends at C₊=.*ended early \(MAX_ITER\); scale"
    ) as said:
        curve = path.roc(X, Y)
    assert curve.status is path.status
    assert said[0].filename == __file__
    assert curve.t[-1] < 4.0


def test_a_sum_of_curves_has_the_status_of_the_first_that_is_unfinished():
    ends, errors = np.array([1.0, 2.0]), np.array([1])
    done, cut = ErrorCurve(ends, errors, 3), ErrorCurve(ends, errors, 3, Status.STALLED)
    assert ErrorCurve.total([done, done]).status is Status.CONVERGED
    assert ErrorCurve.total([done, cut]).status is Status.STALLED
    assert RocCurve(ends, errors, errors).status is Status.CONVERGED
