"""Calls that leave-one-out, folds and intervals refuse, and a pattern of each sentence."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from refsvm import RBF, BallRule, DualProblem, LOODualityGap, cross_validate, leave_one_out
from refsvm.analysis.resampling.jackknife import held_out_machines
from refsvm.analysis.resampling.weights import copies, given_weights, refuse_absent_class

RNG = np.random.default_rng(0)
X = RNG.normal(size=(36, 3))
T = np.sin(X[:, 0]) + 0.5 * X[:, 1] + 0.2 * RNG.normal(size=36)
SIGN = np.where(T > 0.0, 1, -1)
REGRESSION = DualProblem.regression(X, T, kernel=RBF(0.3))
folds_of = partial(cross_validate, X, SIGN, kernel=RBF(0.5), engine="numpy")


class Purged:
    """Trains on fewer examples than it does not hold out."""

    def split(self, X: Any, y: Any = None) -> Any:
        for some in np.split(np.arange(36), 4):
            yield np.setdiff1d(np.arange(36), some)[2:], some


def absent(*weights: float) -> None:
    refuse_absent_class(np.array(["ant", "bee", "cow"]), np.array([0, 1, 1, 2]), np.array(weights))


CALLS: Any = [
    *((lambda call=call, change=change: call(X, **{"y": T, **change}), says)
      for call in (leave_one_out, cross_validate) for change, says in [
        ({"epsilon": -1.0}, "epsilon"),
        ({"epsilon": 0.1, "nu": 0.5}, "epsilon is for regression and nu is for novelty detection; give one"),
        ({"nu": 0.5}, "nu makes the task novelty detection, which has no labels; omit y"),
        ({"nu": 1.5, "y": None}, "nu"),
        ({}, "look like the targets of a regression, .* with epsilon= in leave_one_out or cross_validate"),
    ]),
    (lambda: leave_one_out(X, T, epsilon=0.1, stop=BallRule()), "proves the sign .*, but regression needs the value"),
    (lambda: leave_one_out(X, nu=0.1, stop=LOODualityGap()), "novelty needs the value; use KKTGap"),
    *((lambda task=task: leave_one_out(X[:1], **task),
       "X holds one example, so leaving it out leaves no training data")
      for task in ({"y": [1.0], "epsilon": 0.1}, {"nu": 0.5})),
    (lambda: cross_validate(X, T, kernel="linear", epsilon=0.1, stratified=True),
     "stratified=True shares classes among the folds, but regression has"),
    (lambda: folds_of(groups=SIGN), "groups needs a splitter that uses groups, but folds=10 does not"),
    # lists of folds
    (lambda: folds_of(folds=[*Purged().split(X)][:3]), "^folds=.*list of 3> does not hold out every example"),
    (lambda: folds_of(folds=Purged()), "neither trains on some examples nor holds them out"),
    (lambda: folds_of(folds=[(range(10), range(10, 36)), (range(15, 36), range(10))]),
     "round 1 neither trains on some examples nor holds them out"),
    (lambda: folds_of(folds=[(range(15), range(15, 40)), (range(15, 36), range(15))]),
     "^folds=.*which is not a pair .* of positions from 0 to 35"),
    (lambda: folds_of(folds=[(range(15),)]), "which is not a pair"),
    (lambda: folds_of(folds=["a", "b"]), "which is not a pair"),
    # intervals and weights
    (lambda: held_out_machines(DualProblem.one_class(X, kernel="linear")),
     "Prediction intervals need a regression, but the problem is novelty"),
    (lambda: held_out_machines(REGRESSION, weights=np.full(36, 1.5)), r"the weight 1\.5 is not a whole number"),
    *((lambda wrong=wrong: copies("it", np.array([1.0, wrong]), 2),
       r"it counts copies of examples, but the weight .* is not a whole number")
      for wrong in (0.5, -1.0, 2.0**53, np.inf, np.nan)),
    (lambda: given_weights([1.0, -1.0], 2), "sample_weight contains -1; give weights of at least 0"),
    (lambda: given_weights(np.zeros(3), 3), "All examples have weight 0"),
    (lambda: given_weights([1.0, 1.0], 3), r"sample_weight has shape \(2,\)"),
    *((lambda weights=weights: absent(*weights), f"All examples of class '{name}' have weight 0, but a path")
      for weights, name in (([0, 1, 1, 1], "ant"), ([1, 0, 0, 1], "bee"), ([1, 1, 1, 0], "cow"))),
]  # fmt: skip


@pytest.mark.parametrize(("call", "says"), CALLS, ids=lambda each: each[:40] if isinstance(each, str) else "")
def test_a_call_is_refused(call: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        call()
