"""SVCCV: a support vector classifier that chooses C and γ by cross-validation, as RidgeCV chooses its penalty.

The estimator that remains is an `SVC`.
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

    The same cells, scores and choice as ``GridSearchCV(SVC(...), {"C": Cs, "gamma": gammas}, cv=cv)``. They cost less:
    kernel values are computed once for all folds and all C, each C starts from the one before (`ActiveSet`) and from
    what changed in the fold before, and the decision values of a fold are read off the gradient. From 1500 examples on,
    the matrix of an RBF kernel is held in single precision where that is precise enough for the largest C: 2.4e-7 C √n,
    for n different examples, is at most a tenth of `tol`, and `tol` at least 1e-4.

    Parameters
    ----------
    Cs : array-like of float, default (0.1, 1, 10, 100, 1000)
        Values of C.
    gammas : int, array-like of float, {"scale", "auto"}, default 5
        Values of γ for "rbf", "poly" and "sigmoid"; a number stands for as many from 0.1 to 10 times "scale", which is
        computed once on all examples.
    kernel, degree, coef0, tol, selector, step, shrinking, engine, decision_function_shape, break_ties, max_iter
        As in `SVC`.
    class_weight : dict or "balanced", optional
        As in `SVC`; "balanced" is computed on the training part of each split.
    cv : int, "loo", splitter or iterable of (train, test), default 5
        Folds: a number is stratified, as in scikit-learn; "loo" is leave-one-out, as `refsvm.leave_one_out` does it.
        An example that a split names twice counts twice, in training and in the score.
    scoring : str, callable, list, tuple or dict, optional
        Accuracy by default; a name or a ``scorer(estimator, X, y)`` of scikit-learn, such as "roc_auc" or
        "balanced_accuracy". Several names, scorers by name, or a scorer that returns scores by name, as in
        `GridSearchCV`; then `refit` says which of them chooses. Scores of probabilities are refused. The estimator that
        it gets knows the decision values of the test part X, and the parameters of the cell; it refuses other X. With
        ``cv="loo"`` scores are those of one example each.
    stop : StoppingRule, optional
        When a cell is solved: ``KKTGap(tol, relative=True)`` by default, and ``BallRule(tol, relative=True)`` with
        ``cv="loo"``, where most examples are decided without a step. Rules for left-out examples take no other folds,
        no seeder, no other score, and no weights that depend on the split.
    seeder : Seeder, optional
        For the step from one C to the next only; by default `ActiveSet` with the change in the fold before.
    cache_size : float, default 200
        Budget for a kernel matrix in MiB. Where it holds all of it, it is computed in one product; the
        inner products that all γ share take as much again.
    n_jobs : int, optional
        Values of γ solved at once, by threads or by the joblib backend that is in force, such as Dask's.
    store : str or path, optional
        SQLite file that keeps each cell as it comes; an interrupted search on the same data goes on from there.
    refit : bool, str or callable, default True
        Train on all examples with the best parameters; without it there is nothing to predict with. Of several scores
        the name of the one that chooses; or a function that gets `cv_results_` and returns the place of the best cell.
    verbose : "auto", bool or int, default "auto"
        A line on stderr with the fits that are done, the best parameters so far and the time left. "auto" shows it in a
        terminal or a notebook, from two seconds on (`refsvm.services.line`); 1 shows it everywhere, and the logger
        ``refsvm`` counts the fits at level INFO rather than DEBUG.

    Attributes
    ----------
    best_params_ : dict
        "C", and "gamma" where the kernel has one.
    best_score_, best_index_ : float, int
        Mean score of the best cell, unless a function has chosen it, and its place in `cv_results_`. Of means that are
        equal to 12 digits the first is taken; `GridSearchCV` takes the one that rounding has made the largest.
    cv_results_ : dict of ndarrays
        Keys and order of `sklearn.model_selection.GridSearchCV`, and ``mean_iterations``. Scores are
        weighted by `sample_weight`, if the scorer takes it. Where cells did not converge, ``unsolved_splits`` counts
        the splits of each cell that did not.
    n_splits_, n_iter_ : int
        Number of splits; steps of all cells together, at least 1.
    best_estimator_ : SVC
        Trained on all examples. The search has its attributes, too: ``coef_`` of a
        linear kernel, ``support_`` and others.
    multimetric_, scorer_ : bool, callable or dict
        Whether there are several scores, whose keys in `cv_results_` end in their names; the scorer, or all by name.
    classes_, n_features_in_, feature_names_in_
        As in `SVC`.

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

    score = SearchCV.score  # before that of the mixin

    def _labels(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return class numbers, and the labels, sorted."""
        classes, codes = encoded(y)
        return codes, classes

    def _refuse_weights(self, labels: np.ndarray, classes: Any, weights: np.ndarray | None) -> None:
        """Two classes keep an example that counts."""
        if weights is not None:
            refuse_single_class(classes, labels[weights > 0.0])

    def _factors(self, y: np.ndarray, train: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        """Return weights, times the weight of the class among the training examples."""
        factors = super()._factors(y, train, weights)
        if self.class_weight is not None and len(train):
            present, places = np.unique(y[train], return_inverse=True)
            some = None if weights is None else weights[train]
            found = class_weights(self.class_weight, present, y[train], some)
            factors[train] *= penalties_of(1.0, found, places, None)
        return factors

    def _refuse_split(self, number: int, train: np.ndarray, counting: np.ndarray) -> None:
        """Refuse a split that trains on one class."""
        if len(np.unique(counting)) < 2:
            weightless = " that counts" if len(np.unique(train)) > 1 else ""
            raise ValueError(
                f"Split {number} of cv={shown(self.cv)} trains on one class only{weightless}; use fewer folds or "
                "stratified ones."
            )

    @property
    def _leaves_one_out(self) -> bool:
        """Whether each split leaves out one example, no penalty changes, and the sign of h decides the score."""
        # with balanced weights each split has penalties of its own, so that a round is more than one example less
        return super()._leaves_one_out and self.class_weight != "balanced" and self._named_scoring is None

    @property
    def _named_scoring(self) -> Any:
        """`scoring`, None for the share of right votes; ties that are broken by values are no votes."""
        scoring = super()._named_scoring
        return self._usual if scoring is None and self.break_ties else scoring
