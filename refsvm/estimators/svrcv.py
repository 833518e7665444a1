"""SVRCV: a support vector regression that chooses C, γ and ε by cross-validation.

With the best parameters, `SVRCV` trains an `SVR`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin

from refsvm.analysis.units import relative_gap, unit_of_targets
from refsvm.core._checks import targets
from refsvm.core.stopping.base import StoppingRule
from refsvm.estimators.scoring import HeldOutSVR
from refsvm.estimators.search_cv import CS, SearchCV
from refsvm.estimators.svr import SVR
from refsvm.services.types import ArrayLike

EPSILON, TOL = 0.1, 1e-3
"""Default values of ε and of the tolerance, as multiples of the standard deviation of the targets."""


@dataclass(kw_only=True, eq=False, repr=False)
class SVRCV(RegressorMixin, SearchCV):
    """ε-insensitive support vector regression with C, γ and ε chosen by cross-validation.

    The estimator searches the same grid, computes the same scores and makes the same choice as
    ``GridSearchCV(SVR(...), {"C": Cs, "gamma": gammas, "epsilon": epsilons}, cv=cv)``, at a lower cost; see the notes.

    Parameters
    ----------
    Cs : array-like of float, optional
        Values of C. By default 0.1, 1, 10, 100 and 1000 times the standard deviation of the targets.
    gammas : int, array-like of float, {"scale", "auto"}, default 5
        As in `SVCCV`.
    epsilons : array-like of float, optional
        Values of ε ≥ 0, in the unit of the targets. The default is 0.1 times the standard deviation of the targets.
    tol : float, optional
        Tolerance, as in `SVR`. The default is 1e-3 times the standard deviation of the targets, or 1e-3 times the range
        of the decision values if this range is smaller.
    kernel, degree, coef0, selector, step, shrinking, engine, max_iter
        As in `SVR`.
    cv : int, "loo", splitter or iterable of (train, test), default 5
        Folds: with an integer, each fold consists of consecutive examples, as in scikit-learn; "loo" is leave-one-out,
        as in `refsvm.leave_one_out`. An example that a split names twice counts twice in training and in the score.
    scoring : str, callable, list, tuple or dict, optional
        Name of a scikit-learn score, such as "neg_mean_absolute_error", or a ``scorer(estimator, X, y)``; R² by
        default. Give several scores as in `SVCCV`. The notes say what a scorer may use.
    stop : StoppingRule, optional
        Rule that ends the solve of a cell: the KKT gap of `tol` by default. `SVRCV` refuses rules that prove the sign
        of h.
    seeder, cache_size, n_jobs, store, refit, verbose
        As in `SVCCV`.

    Attributes
    ----------
    best_params_ : dict
        "C", "epsilon", and "gamma" if the kernel has this parameter.
    best_score_, best_index_, cv_results_, n_splits_, n_iter_, multimetric_, scorer_
        As in `SVCCV`.
    best_estimator_ : SVR
        The estimator trained on all examples. The attributes of `best_estimator_`, such as ``coef_``, are also
        attributes of the search.
    n_features_in_, feature_names_in_
        As in `SVR`.

    Notes
    -----
    The search costs less than `GridSearchCV` for three reasons. Kernel values are computed once for all folds, all C
    and all ε. Each solve starts from the solution for the previous C, plus the change of α between the same two values
    of C on the previous fold. The gradient of the solve gives the predictions for the test part.

    The scorer gets an estimator that knows the parameters of the cell and the predictions for the test part X, and that
    raises an error for any other X. A single example has no R²: with ``cv="loo"`` an example's score is 1 − n (y − h)²
    / Σ (y − ȳ)², so that the mean over all examples is the R² of leave-one-out.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import SVRCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0.0, 6.0, (60, 1))
    >>> y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=60)
    >>> model = SVRCV(Cs=[1.0, 10.0], gammas=[0.1, 1.0], epsilons=[0.01, 0.1, 0.5]).fit(X, y)
    >>> model.best_params_, round(model.best_score_, 2)
    ({'C': 10.0, 'epsilon': 0.1, 'gamma': 0.1}, 0.97)
    """

    Cs: ArrayLike = None
    tol: float | None = None
    epsilons: ArrayLike = None

    _parameter_constraints: ClassVar[dict[str, Any]] = SearchCV._parameter_constraints | {
        "Cs": [*SearchCV._parameter_constraints["Cs"], None],
        "tol": [*SearchCV._parameter_constraints["tol"], None],
        "epsilons": ["array-like", None],
    }

    _model, _held_out, _usual = SVR, HeldOutSVR, "r2"
    _label_checks: ClassVar[dict[str, Any]] = {"y_numeric": True}

    score = SearchCV.score  # take this `score`, because RegressorMixin defines another

    def _labels(self, y: np.ndarray) -> tuple[np.ndarray, None]:
        """Return the targets, and None in place of classes."""
        return targets(np.asarray(y, dtype=np.float64), len(y)), None

    def _epsilons(self) -> list[float | None]:
        """Return the grid's values of ε."""
        if self.epsilons is None:
            return [EPSILON * self._unit]
        return [*self._values("epsilons", self.epsilons, zero=True).tolist()]

    def _look_at(self, labels: np.ndarray, weights: np.ndarray | None) -> None:
        """Store the standard deviation of the targets, which multiplies the default values."""
        self._unit = unit_of_targets(labels, weights)

    def _penalties(self) -> np.ndarray:
        return np.array(CS) * self._unit if self.Cs is None else super()._penalties()

    @property
    def _tolerance(self) -> float:
        # do not go below TOL: the model multiplies its tolerance by the range of h if this range is below 1
        return TOL * max(1.0, self._unit) if self.tol is None else super()._tolerance

    def _tolerance_in_words(self) -> str:
        if self.tol is not None:
            return super()._tolerance_in_words()
        return (
            f"{TOL:g} times the standard deviation of the targets, or times the range of the decision values"
        )

    def _stop(self) -> tuple[bool, StoppingRule | None]:
        one_out, stop = super()._stop()
        is_default = stop is None and self.tol is None
        return one_out, relative_gap(TOL, self._unit) if is_default else stop
