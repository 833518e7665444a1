"""SearchCV: base of SVCCV and SVRCV, an estimator that chooses its parameters by cross-validation.

All folds and all C of one γ and one ε are one family of problems over one kernel matrix, which all ε share; all γ share
one matrix of inner products.
"""

from __future__ import annotations

import logging
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from numbers import Integral
from pathlib import Path
from typing import Any, ClassVar, Final, Self

import numpy as np
from sklearn import get_config
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import get_scorer, get_scorer_names
from sklearn.model_selection import LeaveOneOut, check_cv
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import check_is_fitted

from refsvm._checks import shown
from refsvm.estimators.base import KernelEstimator
from refsvm.estimators.results_table import results_table
from refsvm.estimators.scoring import Scoring, takes_weights
from refsvm.estimators.search import GammaColumn, Search
from refsvm.estimators.validation import NO_LABELS, checked_data, checked_weights
from refsvm.kernels.names import gamma_on, is_precomputed, is_user_kernel
from refsvm.rounds.grid import Split
from refsvm.seeders.base import Seeder
from refsvm.stopping.ball_rule import BallRule
from refsvm.stopping.base import StoppingRule

_log = logging.getLogger("refsvm")

WITH_GAMMA: Final = ("rbf", "poly", "sigmoid")


@dataclass(kw_only=True, eq=False, repr=False)
class SearchCV(KernelEstimator, ABC):
    """Base of `SVCCV` and `SVRCV`, which describe the parameters.

    A subclass says what labels are, what else the grid varies, and which splits cannot be trained on.
    """

    Cs: Any = (0.1, 1.0, 10.0, 100.0, 1000.0)
    gammas: Any = 5
    cv: Any = 5
    scoring: Any = None
    stop: StoppingRule | None = None
    seeder: Seeder | None = None
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
        "scoring": [StrOptions(set(get_scorer_names())), callable, None],
        "stop": [StoppingRule, None],
        "seeder": [Seeder, None],
        "n_jobs": [Integral, None],
        "store": [str, Path, None],
        "refit": ["boolean"],
    }

    _model: ClassVar[type]
    """The estimator whose parameters are chosen."""

    _held_out: ClassVar[type]
    """The same as a scorer gets it."""

    _usual: ClassVar[str]
    """The score that is taken where none is named."""

    _is_classifier: ClassVar[bool] = False

    _label_checks: ClassVar[dict[str, Any]] = {}
    """What scikit-learn should ask of y."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> Self:
        """Score every cell of the grid, and train with the best one.

        Parameters
        ----------
        X : array-like or sparse of shape (n, d)
            Examples; for ``kernel="precomputed"`` the dense (n, n) kernel matrix.
        y : array-like of shape (n,)
            Labels, at least two different ones; targets of a regression.
        sample_weight : array-like of shape (n,), optional
            Factor of C for each example, and its weight in the scores; those with 0 or less are left out.
        **params
            For the splitter: ``groups``, array-like of shape (n,), or, with scikit-learn's metadata routing enabled,
            the arrays that it or the scorer requests.

        Returns
        -------
        SVCCV or SVRCV
            Itself.

        Raises
        ------
        ValueError
            On parameters out of range, NaN, a class without examples, and splits that train on one class or on nothing,
            or test on nothing; nothing is trained then.
        TypeError
            On other parameters than groups where metadata routing is not enabled.

        Warns
        -----
        ConvergenceWarning
            If cells are not solved to the tolerance.
        UserWarning
            If mean scores are not finite, as that of R² in splits of one example.
        """
        self._validate_params()
        X, y = self._checked(X, y, reset=True)
        labels, classes = self._labels(y)
        weights = checked_weights(sample_weight, X)
        self._refuse_weights(labels, classes, weights)
        Cs, gammas = self._values("Cs", self.Cs), self._gammas(X, weights)
        one_out, stop = self._stop()
        options = {
            "tol": self.tol, "selector": self.selector, "step": self.step, "shrinking": self.shrinking,
            "engine": self.engine, "cache_mb": self.cache_size, "stop": stop,
            "max_iter": None if self.max_iter == -1 else self.max_iter,
        }  # fmt: skip
        for_splits, for_scorer = self._routed(params, weights)
        search = Search(
            name=type(self).__name__,
            columns=[GammaColumn(gamma, self._kernel(X, 1.0 if gamma is None else gamma)) for gamma in gammas],
            epsilons=self._epsilons(), Cs=Cs, splits=self._splits(X, y, labels, weights, for_splits),
            seeder=self.seeder, options=options, one_out=one_out, is_loo=isinstance(self.cv, str),
            scoring=self._scoring_with(classes, for_scorer),
        )  # fmt: skip
        tell = partial(_log.log, logging.INFO if self.verbose else logging.DEBUG, "%d of %d fits are done")
        cells = search.run(X, labels, n_jobs=self.n_jobs, store=self.store, tell=tell)
        if classes is not None:
            self.classes_ = classes
        self._keep(search, cells)
        self.__dict__.pop("best_estimator_", None)  # of an earlier fit
        if self.refit:
            self.best_estimator_ = self._model(**{**self._shared(), **self.best_params_})
            self.best_estimator_.fit(X, y, weights)
        return self

    # -- what a subclass says --------------------------------------------------------------------------------------

    @abstractmethod
    def _labels(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """Return class numbers and the labels, sorted; or targets and None."""

    def _refuse_weights(self, labels: np.ndarray, classes: Any, weights: np.ndarray | None) -> None:
        """Refuse weights that leave a class empty; before the splits, so that the sentence names the weights."""

    def _epsilons(self) -> list[float | None]:
        """Return the values of ε."""
        return [None]

    def _factors(self, y: np.ndarray, train: np.ndarray) -> np.ndarray:
        """Return what C is multiplied by for each example of a training part, but for the weights."""
        # an example that is named twice counts twice
        return np.bincount(train, minlength=len(y)).astype(np.float64)

    def _refuse_split(self, number: int, train: np.ndarray, counting: np.ndarray) -> None:
        """Refuse a split by the labels that it trains on; `counting` are those of a positive weight."""
        if not len(counting):
            raise ValueError(
                f"Split {number} of cv={shown(self.cv)} trains on no example of a positive weight; leave that split "
                "out."
            )

    # -- the grid --------------------------------------------------------------------------------------------------

    def _checked(self, X: Any, y: Any = NO_LABELS, *, reset: bool) -> Any:
        """Check X, and y in `fit`, by scikit-learn; a user's kernel takes tables of numbers here."""
        # after a fit the kernel is that of the best estimator, whatever was set since
        kernel = self.kernel if reset else self.best_estimator_.kernel
        sparse = False if is_user_kernel(kernel) or is_precomputed(kernel) else "csr"
        checks = {"accept_sparse": sparse, "dtype": np.float64, "order": "C"}
        return checked_data(self, X, y, reset=reset, **checks, **(self._label_checks if reset else {}))

    def _values(self, name: str, given: Any, zero: bool = False) -> np.ndarray:
        """Return a parameter that is a list of positive numbers, in its order."""
        values = np.asarray(given, dtype=np.float64)
        in_range = values >= 0.0 if zero else values > 0.0
        if values.ndim != 1 or not len(values) or not (np.isfinite(values) & in_range).all():
            kind = "finite numbers ≥ 0" if zero else "positive finite numbers"
            raise ValueError(f"{name}={given!r} is not a list of {kind}; give at least one.")
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

    @property
    def _leaves_one_out(self) -> bool:
        """Whether each split leaves out one example, and no penalty changes."""
        return isinstance(self.cv, str) and self.seeder is None

    def _stop(self) -> tuple[bool, StoppingRule | None]:
        """Return whether `refsvm.leave_one_out` scores the cells, and the rule that was chosen."""
        one_out, by_sign = self._leaves_one_out, self._leaves_one_out and self._is_classifier
        if by_sign and self.stop is None:
            return True, BallRule(self.tol, relative=True)
        if self.stop is not None and self.stop.left_out and not by_sign:
            raise ValueError(
                f"stop={self.stop!r} decides the class of examples that are left out one at a time; it takes "
                'cv="loo", seeder=None and no scoring, break_ties or class_weight="balanced". Give these, or leave '
                "stop out."
            )
        return one_out, self.stop

    # -- scores ----------------------------------------------------------------------------------------------------

    @property
    def _named_scoring(self) -> Any:
        """`scoring`, None for the usual score."""
        return None if isinstance(self.scoring, str) and self.scoring == self._usual else self.scoring

    def _scorer(self) -> Any:
        """Return the scorer; one that is named takes weights, if its metric does."""
        scorer = self._named_scoring
        if isinstance(scorer, str):
            scorer = get_scorer(scorer)
            if get_config()["enable_metadata_routing"] and takes_weights(scorer):
                scorer.set_score_request(sample_weight=True)
        return scorer

    def _scoring_with(self, classes: np.ndarray | None, metadata: dict[str, Any]) -> Scoring | None:
        """Return how cells are scored; None for the usual score."""
        if (scorer := self._scorer()) is None:
            return None
        return Scoring(
            scorer, self._named_scoring, self._held_out, self._shared(), classes, metadata, get_config()
        )

    def _shared(self) -> dict[str, Any]:
        """Return the parameters that the search and the estimator have by one name."""
        # `verbose` tells of cells here, and of steps there
        names = (set(self._model().get_params()) & set(self.get_params())) - {"verbose"}
        return {name: getattr(self, name) for name in names}

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Score of the best estimator on other examples, by `scoring`.

        Parameters
        ----------
        X : array-like or sparse of shape (t, d)
        y : array-like of shape (t,)
            Labels or targets.
        sample_weight : array-like of shape (t,), optional

        Returns
        -------
        float
        """
        scorer = get_scorer(self._usual) if self._named_scoring is None else self._scorer()
        return float(
            scorer(self, X, y, **({} if sample_weight is None else {"sample_weight": sample_weight}))
        )

    # -- splits ----------------------------------------------------------------------------------------------------

    def get_metadata_routing(self) -> Any:
        """Return which metadata goes where: to the splitter and the scorer what they request, such as groups."""
        router = MetadataRouter(owner=self).add_self_request(self)
        mapping = {name: MethodMapping().add(caller="fit", callee=name) for name in ("split", "score")}
        router.add(splitter=self.cv, method_mapping=mapping["split"])
        if (scorer := self._scorer()) is not None:
            router.add(scorer=scorer, method_mapping=mapping["score"])
        return router

    def _routed(
        self, params: dict[str, Any], weights: np.ndarray | None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return what goes to the splitter, and what to the scorer."""
        scorer, weighted = self._scorer(), {} if weights is None else {"sample_weight": weights}
        if get_config()["enable_metadata_routing"] and (params or scorer is not None):
            given = params if scorer is None else params | weighted
            routed = process_routing(self, "fit", **given)
            return routed["splitter"]["split"], {} if scorer is None else routed["scorer"]["score"]
        if unknown := sorted(set(params) - {"groups"}):
            raise TypeError(
                f"{type(self).__name__}.fit() got an unexpected keyword argument {unknown[0]!r}; it takes "
                "sample_weight and groups, and what the splitter and the scorer request once "
                "sklearn.set_config(enable_metadata_routing=True) is called."
            )
        for_splits = {name: value for name, value in params.items() if value is not None}
        return for_splits, weighted if scorer is not None and takes_weights(scorer) else {}

    def _splits(
        self, X: Any, y: np.ndarray, labels: np.ndarray, weights: np.ndarray | None, params: dict[str, Any]
    ) -> list[Split]:
        """Return the splits, with the factors of C that each has."""
        splitter: Any = (
            LeaveOneOut()
            if isinstance(self.cv, str)
            else check_cv(self.cv, y, classifier=self._is_classifier)
        )
        splits = []
        for number, (train, test) in enumerate(splitter.split(X, y, **params)):
            train, test = (np.arange(len(y))[part] for part in (train, test))
            factors = self._factors(y, train)
            if weights is not None:
                factors = factors * weights
            self._refuse_split(number, labels[train], labels[factors > 0.0])
            if not len(test):
                raise ValueError(
                    f"Split {number} of cv={shown(self.cv)} has no example to test; leave that split out."
                )
            # scikit-learn's scorers weigh the test examples, too
            counts = np.ones(len(test)) if weights is None else weights[test]
            splits.append(Split(number, train, test, factors, counts if counts.any() else np.ones(len(test))))
        if not splits:
            raise ValueError(
                f"cv={shown(self.cv)} yields no split; give a list of (train, test) or a splitter. A generator yields "
                "its splits once: make a list of it to fit again."
            )
        return splits

    # -- what was found --------------------------------------------------------------------------------------------

    def _keep(self, search: Search, cells: dict[tuple[int, int, int], Any]) -> None:
        """Set what the search has found."""
        self.n_splits_ = len(search.splits)
        # scikit-learn's checks want at least one iteration of a fitted estimator
        self.n_iter_ = max(1, sum(cell.iterations for cell in cells.values()))
        self.cv_results_ = results_table(search, cells)
        self.best_index_ = int(self.cv_results_["rank_test_score"].argmin())
        means = self.cv_results_["mean_test_score"]
        self.best_score_ = float(means[self.best_index_])
        self.best_params_ = self.cv_results_["params"][self.best_index_]
        if not np.isfinite(means).all():
            warnings.warn(
                f"{(~np.isfinite(means)).sum()} of {len(means)} mean test scores are not finite, and rank last: a "
                "split may be too small for the score. Give larger splits or another scoring.",
                stacklevel=3,
            )
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

    def _best(self) -> Any:
        """Return the trained estimator."""
        check_is_fitted(self, "cv_results_")
        if not hasattr(self, "best_estimator_"):
            name = type(self).__name__
            raise AttributeError(f"{name}(refit=False) has no model to predict with; set refit=True.")
        return self.best_estimator_

    def predict(self, X: Any) -> np.ndarray:
        """Prediction for each row of X by the best estimator; see `SVC.predict` and `SVR.predict`."""
        best = self._best()
        return np.asarray(best.predict(self._checked(X, reset=False)))
