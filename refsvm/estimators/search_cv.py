"""SearchCV: base of SVCCV and SVRCV, which choose their parameters by cross-validation.

For one γ, all folds, all C and all ε use the same kernel matrix. The kernel matrices for different γ are computed from
shared inner products.
"""

from __future__ import annotations

import logging
import warnings
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral
from pathlib import Path
from typing import Any, ClassVar, Final, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import get_scorer_names
from sklearn.model_selection import LeaveOneOut, check_cv
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from refsvm.analysis.resampling.folds import pairs_of
from refsvm.analysis.resampling.grid import Split
from refsvm.core._checks import numbers, shown
from refsvm.core.engine.progress import Progress
from refsvm.core.seeders.base import Seeder
from refsvm.core.stopping.ball_rule import BallRule
from refsvm.core.stopping.base import StoppingRule
from refsvm.estimators.results_table import SINGLE, names_of_scores, results_table
from refsvm.estimators.scoring import refuse_refit
from refsvm.estimators.search import GammaColumn, Search
from refsvm.estimators.search_scores import SearchScores
from refsvm.estimators.validation import (
    LARGEST_SQUARED_WEIGHT,
    checked_weights,
)
from refsvm.services.names import gamma_on
from refsvm.services.types import ArrayLike, FoldsLike, RefitLike, ScorerLike

_log = logging.getLogger("refsvm")

WITH_GAMMA: Final = ("rbf", "poly", "sigmoid")

CS: Final = (0.1, 1.0, 10.0, 100.0, 1000.0)
"""Default values of C; for regression in units of the targets' standard deviation."""


@dataclass(kw_only=True, eq=False, repr=False)
class SearchCV(SearchScores, ABC):
    """Base of `SVCCV` and `SVRCV`, which describe the parameters.

    A subclass checks the labels, may add a parameter to the grid, and refuses splits that it cannot train on.
    """

    Cs: ArrayLike = CS
    gammas: ArrayLike = 5
    cv: FoldsLike = 5
    scoring: ScorerLike = None
    stop: StoppingRule | None = None
    seeder: Seeder | None = None
    n_jobs: int | None = None
    store: str | Path | None = None
    refit: RefitLike = True

    _parameter_constraints: ClassVar[dict[str, Any]] = SearchScores._parameter_constraints | {
        "Cs": ["array-like"],
        "gammas": [Interval(Integral, 1, None, closed="left"), "array-like", StrOptions({"scale", "auto"})],
        "scoring": [StrOptions(set(get_scorer_names())), callable, list, tuple, dict, None],
        "stop": [StoppingRule, None],
        "seeder": [Seeder, str, type, None],
        "refit": ["boolean", str, callable],
    }

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike = None, **params: Any) -> Self:
        """Score every cell of the grid, then train with the best parameters.

        Parameters
        ----------
        X : array-like or sparse of shape (n, d)
            Examples; for ``kernel="precomputed"``, the dense (n, n) kernel matrix.
        y : array-like of shape (n,)
            Labels of at least two classes, or real targets.
        sample_weight : array-like of shape (n,), optional
            Factor of C for each example, which is also the weight of the example in the scores; examples of weight 0 or
            less are left out. A split's score uses the weights of its examples; the mean over the splits gives all
            splits equal weight. If each split tests one example, as with ``cv="loo"``, the mean gives a split the
            weight of its example.
        **params
            Arguments for the splitter and the scorer: ``groups``, array-like of shape (n,), or, if scikit-learn's
            metadata routing is enabled, the arrays that splitter and scorer request.

        Returns
        -------
        SVCCV or SVRCV
            The estimator itself.

        Raises
        ------
        ValueError
            If parameters are out of range, X or y contains NaN, only one class has positive weights, or a split trains
            on one class or no example, or tests no example. After an error, nothing is trained.
        TypeError
            If ``**params`` contains a name other than ``groups`` while metadata routing is disabled.

        Warns
        -----
        ConvergenceWarning
            If some cells were not solved to the tolerance.
        UserWarning
            If mean scores are not finite, such as R² in splits that test one example; or if a scorer takes no weights
            and some weights are not whole numbers. Such a scorer counts all examples of a split equally.
        """
        self._validate_params()
        self._refuse_scoring()
        X, y = self._checked(X, y, reset=True)
        labels, classes = self._labels(y)
        weights = checked_weights(sample_weight, X, most=LARGEST_SQUARED_WEIGHT)
        self._refuse_weights(labels, classes, weights)
        self._look_at(labels, weights)
        Cs, gammas = self._penalties(), self._gammas(X, weights)
        one_out, stop = self._stop()
        options = {
            "tol": self._tolerance, "selector": self.selector, "step": self.step, "shrinking": self.shrinking,
            "engine": self.engine, "cache_mb": self.cache_size, "stop": stop,
            "max_iter": None if self.max_iter == -1 else self.max_iter,
        }  # fmt: skip
        for_splits, for_scorer = self._routed(params, weights)
        search = Search(
            name=type(self).__name__,
            columns=[GammaColumn(gamma, self._kernel(X, 1.0 if gamma is None else gamma)) for gamma in gammas],
            epsilons=self._epsilons(), Cs=Cs, splits=self._splits(X, y, labels, weights, for_splits),
            seeder=self.seeder, options=options, one_out=one_out, is_loo=isinstance(self.cv, str), weights=weights,
        )  # fmt: skip
        search = replace(search, scoring=self._scoring_with(classes, for_scorer, search.splits))
        level = logging.INFO if self.verbose and self.verbose != "auto" else logging.DEBUG
        tell = partial(_log.log, level, "%d of %d fits are finished")
        with self._line("fits", "these") as shown:
            progress = shown or Progress(type(self).__name__)
            cells = search.run(X, labels, n_jobs=self.n_jobs, store=self.store, tell=tell, progress=progress)
            if classes is not None:
                self.classes_ = classes
            self._keep(search, cells)
            if self.refit:
                progress.begin("training with the best")
                self.best_estimator_ = self._model(**{**self._shared(), **self.best_params_})
                self.best_estimator_.fit(X, y, weights)
                progress.under_way = ""
        return self

    # -- defined by the subclass -----------------------------------------------------------------------------------

    @abstractmethod
    def _labels(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """Return the class numbers of y and the sorted labels; for regression, return the targets and None."""

    def _refuse_weights(self, labels: np.ndarray, classes: Any, weights: np.ndarray | None) -> None:
        """Raise an error if only one class has positive weights."""

    def _look_at(self, labels: np.ndarray, weights: np.ndarray | None) -> None:
        """Store quantities from which default values are computed, such as the standard deviation of the targets."""

    def _penalties(self) -> np.ndarray:
        """Return the grid's values of C."""
        return self._values("Cs", self.Cs)

    def _epsilons(self) -> list[float | None]:
        """Return the grid's values of ε."""
        return [None]

    def _factors(self, y: np.ndarray, train: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        """Return the factor of C for each example of a training part."""
        # an example that a split names twice has twice the penalty
        counts = np.bincount(train, minlength=len(y)).astype(np.float64)
        return counts if weights is None else counts * weights

    def _refuse_split(self, number: int, train: np.ndarray, counting: np.ndarray) -> None:
        """Raise an error if a split cannot be used; `counting` lists the labels of its weighted training examples."""
        if not len(counting):
            raise ValueError(
                f"Split {number} of cv={shown(self.cv)} trains on no example with a positive weight; remove "
                "this split from cv."
            )

    # -- the grid --------------------------------------------------------------------------------------------------

    def _values(self, name: str, argument: Any, zero: bool = False) -> np.ndarray:
        """Return a list of numbers as an array; raise an error unless all numbers are positive and finite."""
        values = numbers(name, argument)
        in_range = values >= 0.0 if zero else values > 0.0
        if values.ndim != 1 or not len(values) or not (np.isfinite(values) & in_range).all():
            kind = "finite numbers ≥ 0" if zero else "positive finite numbers"
            raise ValueError(f"{name}={argument!r} is not a list of {kind}; give at least one number.")
        return values

    def _gammas(self, X: Any, weights: np.ndarray | None) -> list[float | None]:
        """Return the grid's values of γ; a single None for a kernel without γ."""
        if not (isinstance(self.kernel, str) and self.kernel in WITH_GAMMA):
            return [None]
        if isinstance(self.gammas, str):
            return [gamma_on(X, self.gammas, weights)]
        if isinstance(self.gammas, Integral):
            count = int(self.gammas)
            factors = np.logspace(-1.0, 1.0, count) if count > 1 else np.ones(1)
            return [float(value) for value in factors * gamma_on(X, "scale", weights)]
        return [float(value) for value in self._values("gammas", self.gammas)]

    @property
    def _leaves_one_out(self) -> bool:
        """Return whether each split leaves out one example and keeps the penalties of all other examples."""
        return isinstance(self.cv, str) and self.seeder is None

    def _stop(self) -> tuple[bool, StoppingRule | None]:
        """Return whether `refsvm.leave_one_out` scores the cells, and the stopping rule of the cells."""
        one_out, by_sign = self._leaves_one_out, self._leaves_one_out and self._is_classifier
        if by_sign and self.stop is None:
            return True, BallRule(self._tolerance, relative=True)
        if self.stop is not None and self.stop.left_out and not by_sign:
            raise ValueError(
                f"stop={self.stop!r} only decides the class of a single left-out example, so it needs "
                'cv="loo", seeder=None and no scoring, break_ties or class_weight="balanced". Change these '
                "arguments, or omit stop."
            )
        return one_out, self.stop

    @property
    def _tolerance(self) -> float:
        """The tolerance of the final model."""
        tol: Any = self.tol
        return float(tol)

    def _tolerance_in_words(self) -> str:
        return f"tol={self._tolerance:g} times the range of their decision values, or times 1 if that is less"

    def _warn_of_edges(self, ranks: np.ndarray) -> None:
        """Warn if the smallest or largest value of a default grid is best, and better than the value next to it."""
        is_default = {
            "C": self.Cs is None or (isinstance(self.Cs, tuple) and self.Cs == CS),
            "gamma": isinstance(self.gammas, Integral),
        }
        for name in is_default.keys() & self.best_params_.keys():
            values = np.array([params[name] for params in self.cv_results_["params"]])
            grid, best = np.unique(values), self.best_params_[name]
            if not is_default[name] or len(grid) < 3 or best not in (grid[0], grid[-1]):
                continue
            beside = grid[1 if best == grid[0] else -2]
            if ranks[values == beside].min() > ranks.min():
                end, other = ("smallest", "smaller") if best == grid[0] else ("largest", "larger")
                warnings.warn(
                    f"The best {name}={best:.4g} is the {end} value of the default grid; {other} values may be "
                    f"better. Pass {name}s=[…] with {other} values.",
                    stacklevel=4,
                )

    def _shared(self) -> dict[str, Any]:
        """Return the parameters that search and estimator share, and the tolerance of the final model."""
        return super()._shared() | {"tol": self._tolerance}

    # -- splits ----------------------------------------------------------------------------------------------------

    def _splits(
        self, X: Any, y: np.ndarray, labels: np.ndarray, weights: np.ndarray | None, params: dict[str, Any]
    ) -> list[Split]:
        """Return the splits of `cv`, each with a factor of C for each example."""
        splitter: Any = LeaveOneOut()
        if not isinstance(self.cv, str):
            splitter = check_cv(self.cv, y, classifier=self._is_classifier)
        splits = []
        by_groups = set(params) <= {"groups"}
        parts = pairs_of(splitter, X, y, name="cv", **params) if by_groups else splitter.split(X, y, **params)
        for number, (train, test) in enumerate(parts):
            train, test = (np.arange(len(y))[part] for part in (train, test))
            factors = self._factors(y, train, weights)
            self._refuse_split(number, labels[train], labels[factors > 0.0])
            if not len(test):
                raise ValueError(
                    f"Split {number} of cv={shown(self.cv)} has no example to test; remove this split from cv."
                )
            splits.append(Split(number, train, test, factors, np.ones(len(test))))
        if splits and weights is not None:
            splits = self._weighted(splits, weights)
        if not splits:
            raise ValueError(
                f"cv={shown(self.cv)} yields no split; give a list of (train, test) or a splitter. A generator "
                "yields its splits only once: convert it to a list to fit again."
            )
        return splits

    def _weighted(self, splits: list[Split], weights: np.ndarray) -> list[Split]:
        """Give a weight to each test example, or to each split if every split tests one example; return the splits."""
        if all((split.test == split.test[0]).all() for split in splits):
            return [replace(split, weight=float(weights[split.test].sum())) for split in splits]
        for split in splits:
            if not weights[split.test].any():
                raise ValueError(
                    f"Split {split.number} of cv={shown(self.cv)} has no test example with a positive weight; remove "
                    "this split from cv."
                )
        return [replace(split, test_weights=weights[split.test]) for split in splits]

    # -- results ---------------------------------------------------------------------------------------------------

    def _keep(self, search: Search, cells: dict[tuple[int, int, int], Any]) -> None:
        """Set the fitted attributes of the search from the solved cells."""
        self.n_splits_ = len(search.splits)
        # n_iter_ is at least 1, because scikit-learn's checks require it
        self.n_iter_ = max(1, sum(cell.iterations for cell in cells.values()))
        self.cv_results_ = results_table(search, cells)
        scores = names_of_scores(cells)
        self.multimetric_ = scores != [SINGLE]
        if self.multimetric_:
            refuse_refit(self.refit, scores)
        # delete results of an earlier search
        for name in ("best_index_", "best_score_", "best_params_", "best_estimator_"):
            self.__dict__.pop(name, None)
        if self.refit is not False or not self.multimetric_:
            self._choose(self.refit if self.multimetric_ and isinstance(self.refit, str) else SINGLE)
        means = np.array([self.cv_results_[f"mean_test_{name}"] for name in scores])
        if not np.isfinite(means).all():
            warnings.warn(
                f"{(~np.isfinite(means)).sum()} of {means.size} mean test scores are not finite, and rank last: a "
                "split may be too small for the score. Give larger splits or another scoring.",
                stacklevel=3,
            )
        self._unfinished = unfinished = sum(not cell.converged for cell in cells.values())
        if unfinished:
            precision = self._tolerance_in_words()
            if self.stop is not None:
                precision = f"the precision of stop={self.stop!r}"
            warnings.warn(
                f"{unfinished} of {len(cells)} cells are not solved to {precision}. Scale the features "
                "(StandardScaler), leave out the largest values of C, or raise max_iter.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _choose(self, score: str) -> None:
        """Choose the best cell: the cell that the function `refit` returns, or the cell with the highest mean score."""
        results = self.cv_results_
        if callable(self.refit):
            place, count = self.refit(results), len(results["params"])
            if not isinstance(place, int | np.integer) or not 0 <= place < count:
                raise ValueError(
                    f"refit={self.refit!r:.80} returned {place!r}; return the index of a cell in cv_results_, an "
                    f"integer from 0 to {count - 1}."
                )
            self.best_index_ = int(place)
        else:
            self.best_index_ = int(results[f"rank_test_{score}"].argmin())
            self.best_score_ = float(results[f"mean_test_{score}"][self.best_index_])
        self.best_params_ = results["params"][self.best_index_]
        if not callable(self.refit):
            self._warn_of_edges(results[f"rank_test_{score}"])

    def _best(self) -> Any:
        """Return the trained estimator."""
        check_is_fitted(self, "cv_results_")
        if not hasattr(self, "best_estimator_"):
            name = type(self).__name__
            raise AttributeError(f"{name}(refit=False) trained no model to predict with; set refit=True.")
        return self.best_estimator_
