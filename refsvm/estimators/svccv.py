"""SVCCV: a support vector classifier that chooses C and γ by cross-validation, as RidgeCV chooses its penalty.

All folds and all C of one γ are one family of problems over one kernel matrix; all γ share one matrix of inner
products. The estimator that remains is an `SVC`.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from numbers import Integral
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from sklearn import get_config
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import LeaveOneOut, check_cv
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import check_is_fitted

from refsvm._checks import shown
from refsvm.estimators.base import KernelEstimator
from refsvm.estimators.search import GammaColumn, Search, results_table
from refsvm.estimators.svc import SVC
from refsvm.estimators.validation import (
    NO_LABELS,
    checked_data,
    checked_weights,
    class_weights,
    encoded,
    penalties_of,
    refuse_empty_classes,
)
from refsvm.kernels.names import gamma_on, is_precomputed, is_user_kernel
from refsvm.rounds.grid import Split
from refsvm.seeders.base import Seeder
from refsvm.stopping.ball_rule import BallRule
from refsvm.stopping.base import StoppingRule

_log = logging.getLogger("refsvm")

WITH_GAMMA = ("rbf", "poly", "sigmoid")


@dataclass(kw_only=True, eq=False, repr=False)
class SVCCV(ClassifierMixin, KernelEstimator):
    """C-support vector classification with C and γ chosen by cross-validation.

    The same cells, scores and choice as ``GridSearchCV(SVC(...), {"C": Cs, "gamma": gammas}, cv=cv)``. What they cost
    is less: kernel values are computed once for all folds and all C, each C starts from the one before (`ActiveSet`)
    and from what changed in the fold before, and the decision values of a fold are read off the gradient. From 1500
    examples on, the matrix of an RBF kernel is held in single precision where that is precise enough for the largest C:
    2.4e-7 C √n, for n different examples, is at most a tenth of `tol`, and `tol` at least 1e-4.

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
    stop : StoppingRule, optional
        When a cell is solved: ``KKTGap(tol, relative=True)`` by default, and ``BallRule(tol, relative=True)`` with
        ``cv="loo"``, where most examples are decided without a step. Rules for left-out examples take no other folds,
        no seeder, and no weights that depend on the split.
    seeder : Seeder, optional
        From one C to the next, and nothing else; by default `ActiveSet` and what changed in the fold before.
    cache_size : float, default 200
        Budget for a kernel matrix in MiB. Where it holds all of it, it is computed in one product; the
        inner products that all γ share take as much again.
    n_jobs : int, optional
        Values of γ solved at once, by threads or by the joblib backend that is in force, such as Dask's.
    store : str or path, optional
        SQLite file that keeps each cell as it comes; an interrupted search on the same data goes on from there.
    refit : bool, default True
        Train on all examples with the best parameters; without it there is nothing to predict with.
    verbose : bool or int, default 0
        Whether the logger ``refsvm`` counts the fits that are done at level INFO rather than DEBUG.

    Attributes
    ----------
    best_params_ : dict
        "C", and "gamma" where the kernel has one.
    best_score_, best_index_ : float, int
        Mean score of the best cell, and its place in `cv_results_`. Of means that are equal to 12 digits the first is
        taken; `GridSearchCV` takes the one that rounding has made the largest.
    cv_results_ : dict of ndarrays
        Keys and order of `sklearn.model_selection.GridSearchCV`, and ``mean_iterations``. Scores are accuracies,
        weighted by `sample_weight`.
    n_splits_, n_iter_ : int
        Number of splits; steps of all cells together, at least 1.
    best_estimator_ : SVC
        Trained on all examples.
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
    """

    Cs: Any = (0.1, 1.0, 10.0, 100.0, 1000.0)
    gammas: Any = 5
    cv: Any = 5
    stop: StoppingRule | None = None
    class_weight: dict[Any, float] | str | None = None
    seeder: Seeder | None = None
    decision_function_shape: str = "ovr"
    break_ties: bool = False
    n_jobs: int | None = None
    store: str | Path | None = None
    refit: bool = True

    _parameter_constraints: ClassVar[dict[str, Any]] = KernelEstimator._parameter_constraints | {
        "Cs": ["array-like"],
        "gammas": [Interval(Integral, 1, None, closed="left"), "array-like", StrOptions({"scale", "auto"})],
        "cv": [
            Interval(Integral, 2, None, closed="left"),
            StrOptions({"loo"}),
            HasMethods(["split"]),
            Iterable,
        ],
        "stop": [StoppingRule, None],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "seeder": [Seeder, None],
        "decision_function_shape": [StrOptions({"ovr", "ovo"})],
        "break_ties": ["boolean"],
        "n_jobs": [Integral, None],
        "store": [str, Path, None],
        "refit": ["boolean"],
    }

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> Self:
        """Score every cell of the grid, and train with the best one.

        Parameters
        ----------
        X : array-like or sparse of shape (n, d)
            Examples; for ``kernel="precomputed"`` the dense (n, n) kernel matrix.
        y : array-like of shape (n,)
            Labels, at least two different ones.
        sample_weight : array-like of shape (n,), optional
            Factor of C for each example, and what it counts in the scores; those with 0 or less are left out.
        **params
            For the splitter: ``groups``, array-like of shape (n,), or, with scikit-learn's metadata routing enabled,
            whatever it requests.

        Returns
        -------
        SVCCV
            Itself.

        Raises
        ------
        ValueError
            On parameters out of range, NaN, a class without examples, and splits that train on one class or test on
            nothing; nothing is trained then.
        TypeError
            On other parameters than groups where metadata routing is not enabled.

        Warns
        -----
        ConvergenceWarning
            If cells are not solved to the tolerance.
        """
        self._validate_params()
        X, y = self._checked(X, y, reset=True)
        classes, codes = encoded(y)
        weights = checked_weights(sample_weight, X)
        # before the splits: the sentence names the weights, and not a split that lacks the class
        if weights is not None:
            refuse_empty_classes(classes, codes[weights > 0.0])
        Cs, gammas = self._values("Cs", self.Cs), self._gammas(X, weights)
        columns = [GammaColumn(gamma, self._kernel(X, 1.0 if gamma is None else gamma)) for gamma in gammas]
        one_out, stop = self._stop()
        options = {
            "tol": self.tol, "selector": self.selector, "step": self.step, "shrinking": self.shrinking,
            "engine": self.engine, "cache_mb": self.cache_size, "stop": stop,
            "max_iter": None if self.max_iter == -1 else self.max_iter,
        }  # fmt: skip
        splits = self._splits(X, y, codes, weights, self._routed(params))
        search = Search(columns, Cs, splits, self.seeder, options, one_out)
        tell = partial(_log.log, logging.INFO if self.verbose else logging.DEBUG, "%d of %d fits are done")
        cells = search.run(X, codes, n_jobs=self.n_jobs, store=self.store, tell=tell)
        self._keep(classes, search, cells)
        if self.refit:
            self._refit(X, y, weights)
        return self

    def _checked(self, X: Any, y: Any = NO_LABELS, *, reset: bool) -> Any:
        """Check X, and y in `fit`, by scikit-learn; a user's kernel takes tables of numbers here."""
        sparse = False if is_user_kernel(self.kernel) or is_precomputed(self.kernel) else "csr"
        return checked_data(self, X, y, reset=reset, accept_sparse=sparse, dtype=np.float64, order="C")

    def _values(self, name: str, given: Any) -> np.ndarray:
        """Return a parameter that is a list of positive numbers, in its order."""
        values = np.asarray(given, dtype=np.float64)
        if values.ndim != 1 or not len(values) or not (np.isfinite(values) & (values > 0.0)).all():
            raise ValueError(f"{name}={given!r} is not a list of positive finite numbers; give at least one.")
        return values

    def _gammas(self, X: Any, weights: np.ndarray | None) -> list[float | None]:
        """Return the values of γ; a single None for a kernel that has none."""
        if not (isinstance(self.kernel, str) and self.kernel in WITH_GAMMA):
            return [None]
        if isinstance(self.gammas, str):
            return [gamma_on(X, self.gammas, weights)]
        if isinstance(self.gammas, Integral):
            count = int(self.gammas)
            factors = np.logspace(-1.0, 1.0, count) if count > 1 else np.ones(1)
            return [float(value) for value in factors * gamma_on(X, "scale", weights)]
        return [float(value) for value in self._values("gammas", self.gammas)]

    def _stop(self) -> tuple[bool, StoppingRule | None]:
        """Return whether each split leaves out one example and all else is the same, and the rule that was chosen."""
        # with balanced weights each split has penalties of its own, so that a round is more than one example less
        one_out = isinstance(self.cv, str) and self.seeder is None and self.class_weight != "balanced"
        if one_out and self.stop is None:
            return True, BallRule(self.tol, relative=True)
        if self.stop is not None and self.stop.left_out and not one_out:
            raise ValueError(
                f"stop={self.stop!r} decides examples that are left out one at a time; it takes "
                'cv="loo", seeder=None and no class_weight="balanced". Give these, or leave stop out.'
            )
        return one_out, self.stop

    def get_metadata_routing(self) -> Any:
        """Return which metadata goes where: to the splitter what it requests, such as groups."""
        router = MetadataRouter(owner=self).add_self_request(self)
        to_split = MethodMapping().add(caller="fit", callee="split")
        return router.add(splitter=self.cv, method_mapping=to_split)

    def _routed(self, params: dict[str, Any]) -> dict[str, Any]:
        """Return what goes to the splitter."""
        if params and get_config().get("enable_metadata_routing", False):
            routed: dict[str, Any] = process_routing(self, "fit", **params)["splitter"]["split"]
            return routed
        if unknown := sorted(set(params) - {"groups"}):
            raise TypeError(
                f"SVCCV.fit() got an unexpected keyword argument {unknown[0]!r}; it takes sample_weight and groups, "
                "and what the splitter requests once sklearn.set_config(enable_metadata_routing=True) is called."
            )
        return {name: value for name, value in params.items() if value is not None}

    def _splits(
        self, X: Any, y: np.ndarray, codes: np.ndarray, weights: np.ndarray | None, params: dict[str, Any]
    ) -> list[Split]:
        """Return the splits, with the factors of C that each has."""
        if isinstance(self.cv, str):
            splitter: Any = LeaveOneOut()
        else:
            splitter = check_cv(self.cv, y, classifier=True)
        splits = []
        for number, (train, test) in enumerate(splitter.split(X, y, **params)):
            train, test = (np.arange(len(y))[part] for part in (train, test))
            # an example that is named twice counts twice
            factors = np.bincount(train, minlength=len(y)).astype(np.float64)
            if self.class_weight is not None and len(train):
                present, places = np.unique(y[train], return_inverse=True)
                found = class_weights(self.class_weight, present, y[train])
                factors[train] *= penalties_of(1.0, found, places, None)
            if weights is not None:
                factors = factors * weights
            self._refuse_split(number, codes[train], codes[factors > 0.0], test)
            # scikit-learn's scorers weigh the test examples, too
            counts = np.ones(len(test)) if weights is None else weights[test]
            splits.append(Split(number, train, test, factors, counts if counts.any() else np.ones(len(test))))
        if not splits:
            raise ValueError(
                f"cv={shown(self.cv)} yields no split; give a list of (train, test) or a splitter. A generator yields "
                "its splits once: make a list of it to fit again."
            )
        return splits

    def _refuse_split(self, number: int, train: np.ndarray, counting: np.ndarray, test: np.ndarray) -> None:
        """Refuse a split that tests nothing or trains on one class; `counting` are classes of a positive weight."""
        if len(classes := np.unique(counting)) < len(np.unique(train)):
            raise ValueError(
                f"The weights leave a class without training examples in split {number} of cv={shown(self.cv)}, which "
                "has some of weight 0; give one a positive weight, or leave them out of the split."
            )
        if len(classes) < 2:
            raise ValueError(
                f"Split {number} of cv={shown(self.cv)} trains on one class only; use fewer folds or stratified ones."
            )
        if not len(test):
            raise ValueError(
                f"Split {number} of cv={shown(self.cv)} has no example to test; leave that split out."
            )

    def _keep(self, classes: np.ndarray, search: Search, cells: dict[tuple[int, int, int], Any]) -> None:
        """Set what the search has found."""
        self.classes_, self.n_splits_ = classes, len(search.splits)
        # scikit-learn's checks want at least one iteration of a fitted estimator
        self.n_iter_ = max(1, sum(cell.iterations for cell in cells.values()))
        self.cv_results_ = results_table(search, cells)
        self.best_index_ = int(self.cv_results_["rank_test_score"].argmin())
        self.best_score_ = float(self.cv_results_["mean_test_score"][self.best_index_])
        self.best_params_ = self.cv_results_["params"][self.best_index_]
        unfinished = sum(not cell.converged for cell in cells.values())
        if unfinished:
            asked = f"tol={self.tol:g} times the range of their decision values, or times 1 if that is less"
            if self.stop is not None:
                asked = f"what stop={self.stop!r} asks for"
            warnings.warn(
                f"{unfinished} of {len(cells)} cells are not solved to {asked}. Scale the features (StandardScaler), "
                "leave out the largest values of C, or raise max_iter.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _refit(self, X: Any, y: np.ndarray, weights: np.ndarray | None) -> None:
        """Train on all examples."""
        # what both have by the same name; `verbose` tells of cells here, and of steps there
        names = (set(SVC().get_params()) & set(self.get_params())) - {"verbose"}
        shared = {name: getattr(self, name) for name in names}
        self.best_estimator_ = SVC(**{**shared, **self.best_params_})
        self.best_estimator_.fit(X, y, weights)

    def _best(self) -> SVC:
        """Return the trained SVC."""
        check_is_fitted(self, "cv_results_")
        if not self.refit:
            raise AttributeError("SVCCV(refit=False) has no classifier to predict with; set refit=True.")
        return self.best_estimator_

    def decision_function(self, X: Any) -> np.ndarray:
        """Decision values of the best classifier; see `SVC.decision_function`."""
        best = self._best()
        return best.decision_function(self._checked(X, reset=False))

    def predict(self, X: Any) -> np.ndarray:
        """Class of each row of X by the best classifier; see `SVC.predict`."""
        best = self._best()
        return best.predict(self._checked(X, reset=False))
