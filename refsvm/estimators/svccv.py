"""SVCCV: a support vector classifier that chooses C and γ by cross-validation, as RidgeCV chooses its penalty.

With the best parameters, `SVCCV` trains an `SVC`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import StrOptions

from refsvm.core._checks import shown
from refsvm.estimators.choosing import ChoosingClassifier
from refsvm.estimators.scoring import HeldOutSVC
from refsvm.estimators.search_cv import SearchCV
from refsvm.estimators.svc import SVC
from refsvm.estimators.validation import class_weights, encoded, penalties_of, refuse_single_class


@dataclass(kw_only=True, eq=False, repr=False)
class SVCCV(ChoosingClassifier, SearchCV):
    """C-support vector classification with C and γ chosen by cross-validation.

    The estimator searches the same grid, computes the same scores and makes the same choice as
    ``GridSearchCV(SVC(...), {"C": Cs, "gamma": gammas}, cv=cv)``, at a lower cost; see the notes.

    Parameters
    ----------
    Cs : array-like of float, default (0.1, 1, 10, 100, 1000)
        Values of C.
    gammas : int, array-like of float, {"scale", "auto"}, default 5
        Values of γ for "rbf", "poly" and "sigmoid". An integer m means m values between 0.1 and 10 times the γ of
        "scale", computed once from all examples.
    kernel, degree, coef0, tol, selector, step, shrinking, engine, decision_function_shape, break_ties, max_iter
        As in `SVC`.
    class_weight : dict or "balanced", optional
        As in `SVC`; "balanced" is computed from the training part of each split.
    cv : int, "loo", splitter or iterable of (train, test), default 5
        Folds: an integer means stratified folds, as in scikit-learn; "loo" is leave-one-out, as in
        `refsvm.leave_one_out`. An example that a split names twice counts twice in training and in the score.
    scoring : str, callable, list, tuple or dict, optional
        Name of a scikit-learn score, such as "roc_auc", or a ``scorer(estimator, X, y)``; accuracy by default.
        Give several scores as in `GridSearchCV`; `refit` then says which score chooses the best cell. The notes say
        what a scorer may use.
    stop : StoppingRule, optional
        Rule that ends the solve of a cell: ``KKTGap(tol, relative=True)`` by default, and ``BallRule(tol,
        relative=True)`` with ``cv="loo"``. The notes say when other rules can be used.
    seeder : Seeder, optional
        Rule that makes the starting point of a solve from the solution for the previous C. By default, the search adds
        to this solution the change of α between the same two values of C on the previous fold; `ActiveSet` sets α of
        examples that are not in the previous fold's training part.
    cache_size : float, default 200
        Budget for the kernel matrix in MiB; inner products that all γ share may take as much memory in addition. A
        matrix that exceeds the budget is computed row by row.
    n_jobs : int, optional
        Number of γ whose cells are solved at the same time, by threads or by the backend of joblib, such as Dask.
    store : str or path, optional
        SQLite file in which each cell is stored. An interrupted search on the same data continues from this file.
    refit : bool, str or callable, default True
        Whether to train on all examples with the best parameters; if False, the search cannot predict. With several
        scores, the name of the score that chooses the best cell, or a function that gets `cv_results_` and returns the
        index of the best cell.
    verbose : "auto", bool or int, default "auto"
        Whether to show a line on stderr with the finished fits, the best parameters so far and the time left. "auto"
        shows the line in a terminal or a notebook after two seconds (`refsvm.services.line`). 1 shows the line
        everywhere, and the logger ``refsvm`` counts the fits at level INFO instead of DEBUG.

    Attributes
    ----------
    best_params_ : dict
        "C", and "gamma" if the kernel has this parameter.
    best_score_, best_index_ : float, int
        Mean score of the best cell (missing if a function `refit` chooses the cell), and its index in `cv_results_`. If
        several means agree to 12 digits, the first cell is the best; `GridSearchCV` lets rounding errors decide.
    cv_results_ : dict of ndarrays
        A dict with the keys and the order of `sklearn.model_selection.GridSearchCV`, and with ``mean_iterations``.
        Scores are weighted by `sample_weight` if the scorer takes weights. If some cells did not converge,
        ``unsolved_splits`` counts, for each cell, the splits whose solve did not converge.
    n_splits_, n_iter_ : int
        Number of splits, and number of steps of all cells together (at least 1).
    best_estimator_ : SVC
        The estimator trained on all examples. The attributes of `best_estimator_`, such as ``support_`` and ``coef_``,
        are also attributes of the search.
    multimetric_, scorer_ : bool, callable or dict
        Whether there are several scores (the keys of `cv_results_` then end with their names); and the scorer, or a
        dictionary of scorers by name.
    classes_, n_features_in_, feature_names_in_
        As in `SVC`.

    Notes
    -----
    The search costs less than `GridSearchCV` for three reasons. Kernel values are computed once for all folds and all
    C. Each solve starts from the solution for the previous C, plus the change of α between the same two values of C on
    the previous fold. The gradient of the solve gives the decision values of the test part.

    The scorer gets an estimator that knows the parameters of the cell and the decision values of the test part X, and
    that raises an error for any other X. `SVCCV` refuses scores that need probabilities. With ``cv="loo"`` each score
    is computed from one example.

    A rule for left-out examples, such as `BallRule`, proves the sign of h at most left-out examples without a step.
    Such a rule requires ``cv="loo"``, accuracy as the score, no seeder, and penalties that do not depend on the split.

    Examples
    --------
    >>> from refsvm import SVCCV
    >>> from refsvm.datasets import load
    >>> heart = load("heart")
    >>> model = SVCCV(Cs=[0.1, 1.0, 10.0], gammas=[0.001, 0.01, 0.1]).fit(heart.X, heart.y)
    >>> model.best_params_, round(model.best_score_, 2)
    ({'C': 1.0, 'gamma': 0.01}, 0.84)
    >>> by_area = SVCCV(Cs=[0.1, 1.0, 10.0], gammas=[0.001, 0.01], scoring="roc_auc").fit(heart.X, heart.y)
    >>> by_area.best_params_, round(by_area.best_score_, 2)
    ({'C': 0.1, 'gamma': 0.01}, 0.91)
    """

    class_weight: dict[Any, float] | str | None = None
    decision_function_shape: str = "ovr"
    break_ties: bool = False

    _parameter_constraints: ClassVar[dict[str, Any]] = SearchCV._parameter_constraints | {
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "decision_function_shape": [StrOptions({"ovr", "ovo"})],
        "break_ties": ["boolean"],
    }

    _model, _held_out, _usual = SVC, HeldOutSVC, "accuracy"

    score = SearchCV.score  # take this `score`, because ClassifierMixin defines another

    def _labels(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return class numbers and the sorted labels."""
        classes, codes = encoded(y)
        return codes, classes

    def _refuse_weights(self, labels: np.ndarray, classes: Any, weights: np.ndarray | None) -> None:
        """Raise an error unless examples of at least two classes have positive weight."""
        if weights is not None:
            refuse_single_class(classes, labels[weights > 0.0])

    def _factors(self, y: np.ndarray, train: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        """Return each example's weight, multiplied by the weight that its class has in the training part."""
        factors = super()._factors(y, train, weights)
        if self.class_weight is not None and len(train):
            present, places = np.unique(y[train], return_inverse=True)
            some = None if weights is None else weights[train]
            by_class = class_weights(self.class_weight, present, y[train], some)
            factors[train] *= penalties_of(1.0, by_class, places, None)
        return factors

    def _refuse_split(self, number: int, train: np.ndarray, counting: np.ndarray) -> None:
        """Raise an error if all training examples of a split belong to one class."""
        if len(np.unique(counting)) < 2:
            weightless = " that counts" if len(np.unique(train)) > 1 else ""
            raise ValueError(
                f"Split {number} of cv={shown(self.cv)} trains on one class only{weightless}; use fewer folds or "
                "stratified folds."
            )

    @property
    def _leaves_one_out(self) -> bool:
        """Return whether each split leaves out one example, keeps all penalties, and is scored by the sign of h."""
        # exclude class_weight="balanced", because it changes the penalties of all examples in every split
        return super()._leaves_one_out and self.class_weight != "balanced" and self._named_scoring is None

    @property
    def _named_scoring(self) -> Any:
        """The parameter `scoring`; None if it means accuracy and `break_ties` is false."""
        scoring = super()._named_scoring
        return self._usual if scoring is None and self.break_ties else scoring
