"""Calls that paths refuse, and a pattern of each sentence."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from refsvm import (
    RBF,
    SVMP,
    DualProblem,
    Linear,
    Precomputed,
    cost_path,
    cross_validate_path,
    epsilon_path,
    nu_path,
    parametric_path,
    regularization_path,
    solve,
)
from refsvm.analysis.paths.conformal import conformal_intervals

from ...settings import noisy_classes

pytest.importorskip("scipy")
X, SIGN = noisy_classes(30, 2, 3, noise=0.3)
BEES, THREE = np.where(SIGN > 0, "bee", "ant"), np.array(["ant", "bee", "cat"] * 10)
RANGE: dict[str, Any] = {"kernel": RBF(0.3), "C_min": 0.1, "C_max": 10.0}
TWO_PATH, THREE_PATH = (regularization_path(X, y, **RANGE) for y in (SIGN, THREE))
COSTS, GRAM = cost_path(X, SIGN, kernel=RBF(0.3)), RBF(0.3)(X, X)
START, END = (DualProblem.classification(X, SIGN, kernel=RBF(0.3), C=C) for C in (1.0, 2.0))
WEIGHTED = DualProblem.classification(X, SIGN, kernel=RBF(0.3), C=1.0 + np.arange(30))
GIVEN = DualProblem.classification(GRAM[:20, :20], SIGN[:20], kernel=Precomputed())
ONE_MORE = X[:1], SIGN[:1]
HEAVY = np.where(np.arange(30), 1.0, 1e154)
ONE_OF_ELEVEN = np.where(np.arange(11) == 4, 1, -1)


class Narrow(SVMP):
    """A tracker of C alone."""

    any_line = False


weighted = partial(regularization_path, X, SIGN, **RANGE)
CALLS: Any = [
    # what a path is asked for
    (lambda: TWO_PATH.alpha(20.0), "outside of the path, which goes from"),
    (lambda: THREE_PATH.predict(X, 99.0), "outside of the path"),
    (lambda: COSTS.roc(X, SIGN).at(1.5), "outside of the path"),
    *((lambda path=path: path.validation_error(X, np.full(30, 99)), "which is not a class of the model")
      for path in (TWO_PATH, THREE_PATH)),
    (lambda: THREE_PATH.validation_error(X, THREE[1:]), "expected 30 labels"),
    (lambda: regularization_path(DualProblem.regression(X, X[:, 0], kernel=RBF(0.3)), C_max=3.0)
     .validation_error(X, SIGN), "the path of a regression"),
    (lambda: COSTS.roc(X, SIGN, (SIGN > 0) * 1.0), "All examples of class -1 have weight 0"),
    (lambda: COSTS.roc(X[SIGN > 0], SIGN[SIGN > 0]), "y contains a single class"),
    (lambda: epsilon_path(GRAM, X[:, 0], kernel=Precomputed(), epsilon=(1.0, 0.1)).decision_function(X, 0.5),
     "one column for each of the"),
    # labels and weights
    *((lambda call=call, y=y, one=one: call(X, y, sample_weight=(y != one) * 1.0, **RANGE),
       f"All examples of class {one!r} have weight 0")
      for call in (regularization_path, cross_validate_path) for y, one in ((SIGN, 1), (BEES, "ant"), (THREE, "ant"))),
    *((lambda call=call: call(X, SIGN, sample_weight=HEAVY), r"sample_weight contains 1e\+154, .* give weights of mod")
      for call in (partial(regularization_path, **RANGE), partial(cross_validate_path, folds=3, **RANGE))),
    (lambda: TWO_PATH.validation_error(X, SIGN, HEAVY), r"sample_weight contains 1e\+154, .* give weights of mod"),
    (lambda: weighted(sample_weight=-np.ones(30)), "weights of at least 0"),
    (lambda: regularization_path(X, np.full(30, "bee"), **RANGE), "y holds a single class, 'bee'"),
    (lambda: cross_validate_path(X[BEES == "bee"], BEES[BEES == "bee"], **RANGE), "single class, 'bee'"),
    (lambda: cost_path(X, THREE, kernel=RBF(0.3), C=2.0), "y holds the labels 'ant', 'bee', 'cat'; give two classes"),
    (lambda: regularization_path(X, THREE[1:], kernel="linear"), "labels"),
    (lambda: regularization_path(X, X[:, 0], kernel=RBF(0.4)), r"y holds .*targets of a regression.*epsilon= in"),
    # ranges, folds and budgets
    (lambda: regularization_path(X, THREE, kernel="linear", C_min=2.0, C_max=1.0), "not below C_max"),
    (lambda: regularization_path(X, THREE, kernel="linear", cache_mb=1e-6), "does not hold the kernel matrix"),
    (lambda: nu_path(X, kernel=RBF(1.0), nu=(0.5, 1.5)), r"nu=1\.5 is above 1"),
    (lambda: cross_validate_path(X[:11], ONE_OF_ELEVEN, folds="loo"), "Fold 4 leaves a single class"),
    (lambda: cross_validate_path(X[:9], np.repeat([1, -1, -1], 3), folds=3, stratified=False, rng=None),
     "Fold 0 leaves a single class"),
    (lambda: cross_validate_path(X, SIGN, folds=1), "folds=1 is not a whole number"),
    # lines
    (lambda: parametric_path(START, DualProblem.classification(X, SIGN, kernel=Linear())), "different kernel matrices"),
    (lambda: parametric_path(START, END, t=(1, 1)), r"t=\(1, 1\) contains the same value twice"),
    (lambda: parametric_path(START, END, t=1.0), "is not a pair"),
    (lambda: parametric_path(START, 3), "end=3 is not a DualProblem"),
    (lambda: parametric_path(START, DualProblem.classification(y=SIGN, gram=START.gram, C=np.inf)),
     "end has an infinite bound"),
    (lambda: parametric_path(START, END, cache_mb=1e-4), "does not hold the kernel matrix"),
    (lambda: parametric_path(START, END, tracker=Narrow()), "follows only a path along C"),
    (lambda: solve(START).continue_to(END, tracker=Narrow()), "follows only a path along C"),
    (lambda: solve(START).continue_to(DualProblem.classification(X, SIGN, kernel=RBF(3.0))), "different kernel matri"),
    # problems that grow
    (lambda: WEIGHTED.extended(*ONE_MORE), "differ in C; give C="),
    (lambda: WEIGHTED.extended(np.zeros((1, 3)), SIGN[:1], C=1.0), "X has 3 features, but the problem.s examples"),
    (lambda: DualProblem(START.gram, np.zeros(30), 0.0, -np.ones(30), np.ones(30)).extended(*ONE_MORE, C=1.0),
     "not a classification, regression or novelty"),
    (lambda: GIVEN.extended(GRAM[20:, :20], SIGN[20:]), "give the kernel values with all 30 examples"),
    # intervals
    (lambda: conformal_intervals(GRAM, X[:, 0], GRAM[:1], np.ones(1), confidence=90), "confidence=90 is not between 0"),
    (lambda: conformal_intervals(GRAM, X[:, 0], GRAM[:1], np.ones(1), C=np.linspace(1.0, 2.0, 30)),
     "different penalties, so the new example's penalty is unknown"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "says"), CALLS, ids=lambda each: each[:40] if isinstance(each, str) else "")
def test_a_call_is_refused(call: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        call()
