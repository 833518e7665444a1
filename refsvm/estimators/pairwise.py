"""Computes a `Solution` for each pair of classes of a fitted SVC, for derivatives and other analyses."""

from __future__ import annotations

from itertools import combinations
from typing import Any, Final

import numpy as np

from refsvm.analysis.solve import solve
from refsvm.core._checks import penalties
from refsvm.core.kernels.checked import gram_of_rows
from refsvm.core.problem import DualProblem
from refsvm.core.result import Solution
from refsvm.estimators.validation import checked_weights, penalties_of
from refsvm.services.names import is_precomputed

OTHERS: Final = (
    "X and y are not the examples that the model was trained on ({}); pass the examples given to fit."
)

CLOSE: Final = 1e-9
"""How far rounding errors may move an α inside its box, relative to the largest α."""

AS_FAR: Final = 2.0
"""If the gap exceeds the sum of fit's gap and the tolerance by this factor, the examples count as different."""


def solutions_of_pairs(
    model: Any, X: Any, y: Any, sample_weight: Any = None
) -> dict[tuple[Any, Any], Solution]:
    """Return the solution for each pair of classes; see `refsvm.estimators.svc.SVC.solutions`."""
    model._check_fitted()
    X, y = model._checked(X, y, kernel=model.kernel_, reset=False)
    if len(y) != model.shape_fit_[0] or not np.isin(y, model.classes_).all():
        raise ValueError(
            f"X and y hold {len(y)} examples of {len(np.unique(y))} classes, but the model was trained on "
            f"{model.shape_fit_[0]} examples of {len(model.classes_)} classes; pass the examples given to fit."
        )
    if not is_precomputed(model.kernel_) and (X[model.support_] != model.support_vectors_).sum():
        raise ValueError(OTHERS.format("X differs"))
    codes, C = np.searchsorted(model.classes_, y), penalties(model.C, len(y))
    if not (model.class_weight is None and sample_weight is None):
        C = penalties_of(model.C, model.class_weight_, codes, checked_weights(sample_weight, X))
    solutions = {}
    every = combinations(model.classes_.tolist(), 2)
    for pair, result in zip(every, model.binary_results_, strict=True):
        rows = result.rows
        labels = np.where(codes[rows] == result.positive, 1, -1)
        if abs(labels.sum()) == len(rows):
            continue  # no solution: all examples of one class have weight 0
        gram = gram_of_rows(model.kernel_, X, rows, origin=result.origin, may_move=False)
        gram.columns = tuple(getattr(model, "feature_names_in_", ()))
        problem = DualProblem.classification(y=labels, gram=gram, C=C[rows])
        start = problem.feasible(result.alpha)
        stays = np.abs(start - result.alpha).max() <= CLOSE * np.abs(result.alpha).max()
        solutions[pair] = solve(problem, start=start, stop=model._stopping_rule, engine=model.engine)
        # a gap far above the gap at the end of `fit` shows that these are not the examples of `fit`
        allowed = AS_FAR * (result.kkt_gap + model._stopping_rule.tolerance)
        if not stays or (solutions[pair].iterations and problem.kkt_gap(start) > allowed):
            raise ValueError(OTHERS.format(f"y, sample_weight or C of {pair} differ"))
    return solutions
