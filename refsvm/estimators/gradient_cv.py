"""SVCGradientCV and SVRGradientCV: estimators that choose many parameters by the gradient of a held-out loss.

`refsvm.analysis.derivatives.tuning` finds the parameters with which an `SVC` or `SVR` is then trained.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from dataclasses import dataclass
from numbers import Integral, Real
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.model_selection import check_cv
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from refsvm.analysis.derivatives.held_out import held_out_loss
from refsvm.analysis.derivatives.losses import Loss
from refsvm.analysis.derivatives.tuning import Tuning, minimised
from refsvm.analysis.resampling.folds import pairs_of
from refsvm.analysis.units import unit_of_targets
from refsvm.core._checks import refuses, targets
from refsvm.core.engine.limits import Interrupted
from refsvm.estimators.choosing import ChoosingClassifier, ChoosingEstimator
from refsvm.estimators.stored_values import StoredValues
from refsvm.estimators.svc import SVC
from refsvm.estimators.svr import SVR
from refsvm.estimators.svrcv import EPSILON, TOL
from refsvm.estimators.validation import encoded
from refsvm.services.names import KERNELS
from refsvm.services.summary import counted
from refsvm.services.types import ArrayLike, FoldsLike, LossLike, NamesLike, RandomLike


@dataclass(kw_only=True, eq=False, repr=False)
class GradientCV(ChoosingEstimator, ABC):
    """Base of `SVCGradientCV` and `SVRGradientCV`, which describe the parameters."""

    parameters: NamesLike = ("C", "gamma")
    loss: LossLike = None
    cv: FoldsLike = 5
    C: float | None = 1.0
    gamma: ArrayLike = "scale"
    bounds: dict[str, Any] | None = None
    n_starts: int = 3
    max_evaluations: int = 60
    time_limit: float | None = None
    n_jobs: int | None = None
    store: str | Path | None = None
    random_state: RandomLike = None

    _parameter_constraints: ClassVar[dict[str, Any]] = ChoosingEstimator._parameter_constraints | {
        "kernel": [StrOptions(set(KERNELS) - {"precomputed"})],
        "parameters": ["array-like", str],
        "loss": [str, Loss, None],
        "C": [Interval(Real, 0.0, None, closed="neither")],
        "gamma": [StrOptions({"scale", "auto"}), Interval(Real, 0.0, None, closed="neither")],
        "bounds": [dict, None],
        "n_starts": [Interval(Integral, 1, None, closed="left")],
        "max_evaluations": [Interval(Integral, 1, None, closed="left")],
        "time_limit": [Interval(Real, 0.0, None, closed="neither"), None],
        "random_state": ["random_state"],
    }

    @refuses(sample_weight="leave sample_weight={} out, or use SVCCV or SVRCV, whose fit takes it")
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Minimise the held-out loss along its gradient, then train with the best parameters.

        Parameters
        ----------
        X : array-like or sparse of shape (n, d)
        y : array-like of shape (n,)
            Labels of two classes, or targets.

        Returns
        -------
        SVCGradientCV or SVRGradientCV
            The estimator itself.

        Raises
        ------
        ValueError
            If parameters are out of range, X or y contains NaN, or a classifier gets more or fewer than two
            classes.
        KeyboardInterrupt
            After Ctrl-C: a `refsvm.core.engine.limits.Interrupted` whose ``result`` lists the evaluations, as
            ``cv_results_`` does. No model is trained.

        Warns
        -----
        ConvergenceWarning
            If the time limit ends the search; the model is trained with the best parameters found so far.
        """
        self._validate_params()
        X, y = self._checked(X, y, reset=True)
        marks, more = self._marks(y)
        if isinstance(self.cv, str):
            folds: Any = self.cv
            self.n_splits_ = len(marks)
        else:
            splitter = check_cv(self.cv, y, classifier=self._is_classifier)
            folds = list(pairs_of(splitter, X, y, name="cv"))
            self.n_splits_ = len(folds)
        # without a seed from the user, draw the same starting points in every fit
        seed = (
            0 if self.random_state is None else int(check_random_state(self.random_state).randint(2**31 - 1))
        )
        try:
            tuning = self._search(X, marks, folds, seed, more)
        except Interrupted as interrupted:
            self._keep(interrupted.result)
            rows = interrupted.result.evaluations
            raise Interrupted(
                f"{type(self).__name__}.fit was interrupted after {counted(len(rows), 'evaluation')}; error.result "
                "lists them.",
                rows,
            ) from None
        self._keep(tuning)
        arguments = self._shared() | more | {"tol": self._tolerance(marks)}
        self.best_estimator_ = self._model(**arguments | self.best_params_).fit(X, y)
        return self

    def _search(self, X: Any, marks: np.ndarray, folds: Any, seed: int, more: dict[str, Any]) -> Tuning:
        """Search for the best parameters; return a `refsvm.analysis.derivatives.tuning.Tuning`."""
        began = time.perf_counter()
        J = held_out_loss(
            X, marks, parameters=self.parameters, loss=self.loss, folds=folds, rng=seed, kernel=self.kernel,
            gamma=self.gamma, degree=self.degree, coef0=self.coef0, bounds=self.bounds, engine=self.engine,
            cache_mb=self.cache_size, n_jobs=self.n_jobs, **more,
        )  # fmt: skip
        return minimised(
            J, J if self.store is None else StoredValues(J, self.store, type(self).__name__), starts=self.n_starts,
            max_evaluations=self.max_evaluations, rng=seed, time_limit=self.time_limit,
            progress=self.verbose if self.verbose == "auto" else bool(self.verbose), began=began,
        )  # fmt: skip

    @abstractmethod
    def _marks(self, y: np.ndarray) -> tuple[np.ndarray, dict[str, Any]]:
        """Return the labels −1 and +1, or the targets; and C and ε of the first starting point."""

    def _tolerance(self, marks: np.ndarray) -> float:
        """Return the tolerance of the final model."""
        tol: Any = self.tol
        return float(tol)

    def _named(self, params: dict[str, Any]) -> dict[str, Any]:
        """Return the tuned parameters as keyword arguments of `SVC` or `SVR`."""
        return params

    def _keep(self, tuning: Tuning) -> None:
        """Set the fitted attributes from the result of the search."""
        self.__dict__.pop("best_estimator_", None)
        rows = tuning.evaluations
        losses = np.array([each.loss for each in rows])
        by_fold = np.array([each.fold_losses for each in rows]).reshape(len(rows), self.n_splits_)
        order = np.argsort(losses, kind="stable")
        ranks = np.empty(len(rows), dtype=np.int32)
        ranks[order] = np.arange(1, len(rows) + 1)
        self.cv_results_ = {
            "params": [self._named(each.params) for each in rows], "mean_test_score": -losses,
            "std_test_score": by_fold.std(axis=1), "rank_test_score": ranks,
            **{f"split{k}_test_score": -column for k, column in enumerate(by_fold.T)},
            "start": np.array([each.start for each in rows], dtype=np.int64),
            "slope": np.array([each.slope for each in rows]),
            "events": np.array([each.events for each in rows], dtype=np.int64),
            "seconds": np.array([each.elapsed for each in rows]),
        }  # fmt: skip
        self.best_index_ = int(order[0]) if len(rows) else -1
        self.best_score_, self.best_params_ = -tuning.loss, self._named(tuning.best)
        self.n_iter_ = max(1, len(rows))


@dataclass(kw_only=True, eq=False, repr=False)
class SVCGradientCV(ChoosingClassifier, GradientCV):
    """Support vector classification of two classes, with parameters chosen by the gradient of a held-out loss.

    `SVCCV` searches a grid of two parameters. `SVCGradientCV` follows a gradient instead of searching a grid, and can
    tune C, γ, one γ for each feature, and the weight of a class together.

    Parameters
    ----------
    parameters : sequence of str, default ("C", "gamma")
        The parameters to tune: "C"; "gamma", or "gammas" for one γ for each feature of "rbf"; "class_weight", the
        factor of C for ``classes_[1]``.
    loss : {"squared hinge", "logistic"} or Loss, default "squared hinge"
        The held-out loss; see `refsvm.analysis.derivatives.losses`.
    cv : int, "loo", splitter or iterable of (train, test), default 5
        Folds that hold out every example once. An integer means stratified folds, as in scikit-learn; "loo" means
        leave-one-out.
    C, gamma : float, default 1.0 and "scale"
        Values of the first starting point; a parameter that is not tuned keeps its value.
    bounds : dict of str to (float, float), optional
        Lower and upper bounds, as in `refsvm.analysis.derivatives.tuning.tune_by_gradient`.
    n_starts, max_evaluations : int, default 3 and 60
        Number of starting points, and the largest number of evaluations of the loss from each starting point.
    time_limit : float, optional
        Limit in seconds on the whole search.
    random_state : int, RandomState or None
        Seed of all starting points after the first; with None, every fit draws the same points.
    n_jobs : int, optional
        Number of threads that share the folds of an evaluation.
    store : str or path, optional
        SQLite file in which each evaluation is stored. An interrupted search on the same data continues from this file.
    kernel : {"linear", "poly", "rbf", "sigmoid"}, default "rbf"
        Name of the kernel.
    degree, coef0, tol, selector, step, shrinking, cache_size, engine, max_iter
        As in `SVC`. `tol` and the rules apply to the final fit; the search solves problems to a tolerance of 1e-10.
    verbose : bool, int or "auto", default "auto"
        Whether to show the progress of the search on one line, as in `SVCCV`.

    Attributes
    ----------
    best_params_ : dict
        The best parameters, as `SVC` takes them; with one γ for each feature, "gamma" is a tuple.
    best_score_, best_index_ : float, int
        Minus the smallest loss, and the index in `cv_results_` of the evaluation with this loss.
    cv_results_ : dict
        An entry for each evaluation: "params", "mean_test_score" and "split0_test_score" (minus the loss), "start",
        "slope" (the largest entry of the gradient), "events" and "seconds".
    n_splits_, n_iter_ : int
        Number of folds, and number of evaluations.
    best_estimator_ : SVC
        The estimator trained on all examples. The attributes of `best_estimator_` are also attributes of the search.
    classes_, n_features_in_, feature_names_in_
        As in `SVC`.

    Examples
    --------
    >>> from refsvm import SVCGradientCV
    >>> from refsvm.datasets import load
    >>> heart = load("heart")
    >>> model = SVCGradientCV(n_starts=1, max_evaluations=10).fit(heart.X, heart.y)
    >>> sorted(model.best_params_), bool(model.best_score_ > model.cv_results_["mean_test_score"][0])
    (['C', 'gamma'], True)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = GradientCV._parameter_constraints

    _model = SVC

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that the classifier takes only two classes."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _marks(self, y: np.ndarray) -> tuple[np.ndarray, dict[str, Any]]:
        classes, codes = encoded(y)
        if len(classes) > 2:
            raise ValueError(
                "Only binary classification is supported. The type of the target is multiclass: y holds "
                f"{len(classes)} classes; use SVCCV for more than two."
            )
        self.classes_ = classes
        return np.where(codes == 1, 1.0, -1.0), {"C": self.C}

    def _named(self, params: dict[str, Any]) -> dict[str, Any]:
        if "class_weight" not in params:
            return params
        return {**params, "class_weight": {self.classes_.tolist()[1]: params["class_weight"]}}


@dataclass(kw_only=True, eq=False, repr=False)
class SVRGradientCV(RegressorMixin, GradientCV):
    """Support vector regression with parameters chosen by the gradient of a held-out loss.

    Parameters
    ----------
    parameters : sequence of str, default ("C", "gamma", "epsilon")
        The parameters to tune: "C"; "gamma", or "gammas" for one γ for each feature of "rbf"; "epsilon".
    C, epsilon : float, optional
        Values of the first starting point; a parameter that is not tuned keeps its value. By default, C is the standard
        deviation of the targets, and ε is 0.1 times this deviation.
    tol : float, optional
        Tolerance of the final fit, as in `SVRCV`. The search solves problems to a tolerance of 1e-10 times the standard
        deviation of the targets.
    loss : {"squared", "huber", "pinball"} or Loss, default "squared"
        The held-out loss; see `refsvm.analysis.derivatives.losses`.
    cv, gamma, bounds, n_starts, max_evaluations, time_limit, random_state, n_jobs, store, verbose
        As in `SVCGradientCV`; with an integer `cv`, each fold consists of consecutive examples.
    kernel, degree, coef0, selector, step, shrinking, cache_size, engine, max_iter
        As in `SVCGradientCV`.

    Attributes
    ----------
    best_params_, best_score_, best_index_, cv_results_, n_splits_, n_iter_
        As in `SVCGradientCV`.
    best_estimator_ : SVR
        The estimator trained on all examples.
    n_features_in_, feature_names_in_
        As in `SVR`.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import SVRGradientCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0.0, 6.0, (60, 1))
    >>> y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=60)
    >>> model = SVRGradientCV(n_starts=1, max_evaluations=10).fit(X, y)
    >>> model.score(X, y) > 0.95
    True
    """

    parameters: NamesLike = ("C", "gamma", "epsilon")
    C: float | None = None
    epsilon: float | None = None
    tol: float | None = None

    _parameter_constraints: ClassVar[dict[str, Any]] = GradientCV._parameter_constraints | {
        "C": [*GradientCV._parameter_constraints["C"], None],
        "tol": [*GradientCV._parameter_constraints["tol"], None],
        "epsilon": [Interval(Real, 0.0, None, closed="left"), None],
    }

    _model = SVR
    _label_checks: ClassVar[dict[str, Any]] = {"y_numeric": True}

    def _marks(self, y: np.ndarray) -> tuple[np.ndarray, dict[str, Any]]:
        y = targets(np.asarray(y, dtype=np.float64), len(y))
        unit = unit_of_targets(y)
        epsilon = EPSILON * unit if self.epsilon is None else self.epsilon
        return y, {"C": unit if self.C is None else self.C, "epsilon": epsilon}

    def _tolerance(self, marks: np.ndarray) -> float:
        return TOL * max(1.0, unit_of_targets(marks)) if self.tol is None else super()._tolerance(marks)
