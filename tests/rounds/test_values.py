"""What each check of leave-one-out is made of, and what the results of rounds are like."""

from __future__ import annotations

import re
from dataclasses import FrozenInstanceError, fields

import numpy as np
import pytest

from refsvm import RBF, Ball, Linear, TrainingError, XiAlphaBound, ZeroAlpha, cross_validate, leave_one_out

from ..values import is_a_value


@pytest.mark.parametrize(
    ("check", "shown", "name", "needs_convex", "keeps_machine"),
    [
        (ZeroAlpha(), "ZeroAlpha()", "zero alpha", False, True),
        (TrainingError(), "TrainingError()", "training error", True, False),
        (XiAlphaBound(), "XiAlphaBound()", "xi-alpha bound", True, False),
        (Ball(), "Ball(seeder=TOP())", "ball", True, False),
    ],
    ids=repr,
)
def test_a_check_is_a_value(check, shown, name, needs_convex, keeps_machine):
    """Only an example whose α is 0 leaves the machine as it is, and any kernel will do for that."""
    is_a_value(check, shown, ())
    assert (check.name, check.needs_convex, check.keeps_machine) == (name, needs_convex, keeps_machine)


RNG = np.random.default_rng(0)
X = RNG.normal(size=(24, 2))
Y = np.where(X[:, 0] + 0.5 * RNG.normal(size=24) > 0.0, 1, -1)
RESULTS = {
    "leave-one-out": lambda: leave_one_out(X, Y, kernel=RBF(0.5)),
    "folds": lambda: cross_validate(X, Y, kernel=RBF(0.5), folds=3),
}


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_is_printed_in_a_line_and_stays_as_it_is(name):
    result = RESULTS[name]()
    shown = repr(result)
    assert "Solution(" not in shown
    assert not any(
        isinstance(getattr(result, name), np.ndarray)
        for name in re.findall(r"(\w+)=", shown)
        if name != "classes"
    )
    assert len(shown) < 300
    for field in fields(result):
        with pytest.raises(FrozenInstanceError):
            setattr(result, field.name, None)
    # two results are compared by what is in them, and not as a whole: that would be arrays of truths
    assert result != RESULTS[name]()
    assert result == result  # noqa: PLR0124


def test_of_one_fold_nothing_is_left_to_train_on():
    assert len(cross_validate(X, Y, kernel=RBF(0.5), folds=2).errors) == 2
    with pytest.raises(ValueError, match=r"folds=1 .*; give "):
        cross_validate(X, Y, kernel=RBF(0.5), folds=1)


def test_folds_of_data_far_from_the_origin_are_those_of_data_near_it():
    """Σα = 0: an offset of all examples moves no decision value, and the kernel is that around their mean."""
    near, far = (
        cross_validate(X + offset, Y, kernel=Linear(), C=0.5, folds=3, rng=1) for offset in (0.0, 2.0**23)
    )
    np.testing.assert_allclose(far.decision_values, near.decision_values, atol=1e-6)
