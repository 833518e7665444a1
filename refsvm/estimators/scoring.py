"""Scorers of scikit-learn on decision values that are known already.

A scorer is called with an estimator, examples and labels. The estimator here is an `SVC` or `SVR` of one split, with
the parameters of its cell, whose decision values of the test part were read off the gradient: it predicts that part and
nothing else, so that no cell is trained or evaluated a second time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from inspect import signature
from numbers import Number
from typing import Any, ClassVar, Final

import numpy as np
from sklearn import config_context
from sklearn.metrics import get_scorer, get_scorer_names
from sklearn.utils.validation import _check_method_params

from refsvm.analysis.resampling.grid import Split
from refsvm.analysis.resampling.weights import copies
from refsvm.analysis.scheme import OneVsOne
from refsvm.core._checks import shown
from refsvm.estimators.base import PROBABILITIES
from refsvm.estimators.svc import SVC
from refsvm.estimators.svr import SVR
from refsvm.services.identity import described, digest_of
from refsvm.services.names import is_precomputed

VOTES: Final = "decision_function_shape"

OF_CLASSES: Final = "sklearn.metrics._classification", "sklearn.metrics._scorer", "sklearn.metrics.cluster"
"""Where metrics are that compare classes."""

ROUNDING: Final = 1e-11
"""Decision values that differ by less, relative to the largest or to 1, are equal."""


class HeldOut:
    """Part of `HeldOutSVC` and `HeldOutSVR`: the decision values of one test part."""

    _part: tuple[Any, np.ndarray]

    def _decision_values(self, X: Any, reduce: Callable[[np.ndarray], np.ndarray] = np.asarray) -> np.ndarray:
        """Return what `reduce` makes of the decision values of the test part; nothing else is known."""
        known, values = self._part
        if X is not known and (np.shape(X) != known.shape or (known != X).sum()):
            raise ValueError(
                "scoring= may ask for predictions of the test part only, the X that it is called with; search by "
                f"GridSearchCV({type(self).__name__.removeprefix('HeldOut')}(), ...) where a scorer needs more."
            )
        return reduce(values)

    def _check_fitted(self) -> None:
        """Pass: the decision values are here, though no support vectors are."""


class HeldOutSVC(HeldOut, SVC):
    """A classifier of one split."""


class HeldOutSVR(HeldOut, SVR):
    """A regression of one split."""


@dataclass(frozen=True)
class Scoring:
    """A scorer, and its arguments.

    Parameters
    ----------
    scorer : callable
        Called with an estimator, X and y of a test part.
    given : str or callable
        The scoring that the user has passed.
    model : type
        `HeldOutSVC` or `HeldOutSVR`.
    settings : dict
        Its parameters that all cells share.
    classes : ndarray of shape (k,) or None
        Labels, sorted; None for a regression.
    metadata : dict
        Further arguments of the scorer; those with an entry for each example are cut to the test part.
    config : dict
        scikit-learn's configuration, which belongs to a thread.
    repeats : bool
        Whether the scorer gets a test example of weight 2 twice, as it takes no weights.
    """

    scorer: Callable[..., Any]
    given: str | Callable[..., Any]
    model: type[HeldOutSVC] | type[HeldOutSVR]
    settings: dict[str, Any] = field(repr=False)
    classes: np.ndarray | None = field(repr=False)
    metadata: dict[str, Any] = field(repr=False)
    config: dict[str, Any] = field(repr=False)
    repeats: bool = False

    WEIGHT: ClassVar[str] = "sample_weight"

    def __call__(
        self, X: Any, labels: np.ndarray, split: Split, params: dict[str, float], values: np.ndarray
    ) -> Any:
        """Return the score of a cell, or several by name, from the decision values (t, machines) of its test part."""
        rows, settings = self._rows(split.test_weights), self.settings | params
        test, values = split.test[rows], values[rows]
        model: Any = self.model(**settings)
        part, y = X[np.ix_(test, split.train)] if is_precomputed(model.kernel) else X[test], labels[test]
        if self.classes is not None:
            present = np.unique(labels[split.factors > 0.0])
            values, y = of_present(with_ties(values), present, len(self.classes)), self.classes[y]
            model.classes_ = self.classes[present]
        model._part = part, values
        more = _check_method_params(X, self.metadata, indices=test)
        if self.WEIGHT in more:
            more[self.WEIGHT] = split.test_weights[rows]
        try:
            with config_context(**self.config):
                score = self.scorer(model, part, y, **more)
        except Exception as error:
            error.add_note(f"Raised by scoring={self.given!r} on split {split.number} with {params}.")
            raise
        several = score if isinstance(score, dict) and score else {"": score}
        if not all(isinstance(each, Number) for each in several.values()):
            raise ValueError(
                f"scoring={self.given!r} returns {score!r:.60}, which is no number; return one score."
            )
        return {name: float(each) for name, each in score.items()} if several is score else float(score)

    def _rows(self, weights: np.ndarray) -> np.ndarray:
        """Return the places of the test examples that count, each as often as the scorer is to see it."""
        counts = copies("scoring", weights, len(weights)) if self.repeats else (weights > 0.0) * 1
        return np.repeat(np.arange(len(weights)), counts)

    def identity(self) -> dict[str, Any]:
        """Return the scorer, its settings and its arguments in a store; refuse one whose function is the user's.

        Raises
        ------
        ValueError
            If it has no identity by value.
        """
        function = getattr(self.scorer, "_score_func", None)
        if function is not None and not function.__module__.startswith("sklearn."):
            described("scoring", function)
        # a classifier's parameters decide its votes, and the arguments of a scorer its score
        settings = {name: value for name, value in self.settings.items() if name in ("break_ties", VOTES)}
        held = (settings, self.classes, self.metadata, self.scorer, self.repeats)
        return {"given": described("scoring", self.given), "held": digest_of(*held)}


@dataclass(frozen=True)
class SeveralScorings:
    """Scorers by name."""

    each: dict[str, Scoring]

    def __call__(
        self, X: Any, labels: np.ndarray, split: Split, params: dict[str, float], values: np.ndarray
    ) -> dict[str, float]:
        """Return the scores of a cell by name."""
        scores = {name: scoring(X, labels, split, params, values) for name, scoring in self.each.items()}
        for name, score in scores.items():
            if isinstance(score, dict):
                raise ValueError(
                    f"scoring={{{name!r}: ...}} returns {score!r:.60}, which is no number; return one score."
                )
        return scores

    def identity(self) -> Any:
        """Return the names of the scorers in a store, as `Scoring.identity`."""
        return {name: scoring.identity() for name, scoring in self.each.items()}


def named_scores(scoring: Any) -> None:
    """Refuse a list or dictionary that does not name scores as GridSearchCV takes them.

    Raises
    ------
    ValueError
        If it is empty, names one twice, or holds what is no score.
    """
    is_dict = isinstance(scoring, dict)
    known = set(get_scorer_names())
    wrong = [
        each
        for each in (scoring.values() if is_dict else scoring)
        if not ((isinstance(each, str) and each in known) or (is_dict and callable(each)))
    ]
    unnamed = [] if not is_dict else [each for each in scoring if not isinstance(each, str) or not each]
    if wrong or unnamed or not scoring or len(set(scoring)) < len(scoring):
        what = (
            f"{(wrong + unnamed)[0]!r:.60} is none"
            if wrong or unnamed
            else "empty"
            if not scoring
            else "one twice"
        )
        raise ValueError(
            f"scoring={shown(scoring)} names several scores, but {what}; give different names of scikit-learn's scores "
            "(sklearn.metrics.get_scorer_names()), or a dictionary of scores and scorers by name."
        )


def refuse_refit(refit: Any, names: Iterable[str]) -> None:
    """Refuse a `refit` that does not say which of several scores is to choose the best cell."""
    names = [*names]
    if refit is False or callable(refit) or (isinstance(refit, str) and refit in names):
        return
    raise ValueError(
        f"refit={refit!r} does not say which of the scores {', '.join(names)} chooses the best cell; give one of these "
        "names, a function of cv_results_ that returns its place, or False."
    )


def refuse_probabilities(given: Any, model: str) -> None:
    """Refuse a score of probabilities, which a support vector machine does not have; say what has them.

    Raises
    ------
    AttributeError
        As ``SVC().predict_proba`` does.
    ValueError
        Of a regression, if it is a score of classes.
    """
    scorer = get_scorer(given) if isinstance(given, str) else given
    asked = getattr(scorer, "_response_method", None)
    if asked == "predict_proba" and model == "SVC":
        raise AttributeError(
            f"scoring={given!r} needs probabilities, and SVC {PROBABILITIES.format(name='SVC')}. Search with "
            "GridSearchCV(CalibratedClassifierCV(SVC(), ensemble=False), {'estimator__C': [...]}, scoring=...)."
        )
    home = getattr(getattr(scorer, "_score_func", None), "__module__", "")
    of_classes = asked not in (None, "predict") or home.startswith(OF_CLASSES)
    if model == "SVR" and of_classes:
        raise ValueError(
            f"scoring={given!r} is a score of classes, and SVR predicts targets; give one of regressions, such as "
            "'neg_mean_absolute_error', or search with SVCCV."
        )


def of_present(values: np.ndarray, present: np.ndarray, k: int) -> np.ndarray:
    """Return the decision values of the pairs of classes that a split trains on, with the signs of `SVC`.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.estimators.scoring import of_present
    >>> of_present(np.array([[1.0, 2.0, 3.0]]), np.array([0, 2]), 3)
    array([[-2.]])
    """
    if len(present) == k:
        return values
    chosen = values[:, OneVsOne(k).places(present)]
    return -chosen if len(present) == 2 else chosen  # of two classes the second is the positive one


def with_ties(values: np.ndarray) -> np.ndarray:
    """Return decision values, shape (t, machines); those that differ by rounding alone become equal.

    h = v − G + b of two equal examples with different labels may round differently, and a score of ranks would see it.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.estimators.scoring import with_ties
    >>> with_ties(np.array([[0.3], [2.0], [0.1 + 0.2]])).ravel()
    array([0.3, 2. , 0.3])
    """
    order = values.argsort(axis=0)
    ascending = np.take_along_axis(values, order, axis=0)
    noise = ROUNDING * np.abs(values).max(axis=0, initial=1.0)
    differs = np.diff(ascending, axis=0, prepend=-np.inf) > noise
    # the first of each group stands for all of it
    first = np.maximum.accumulate(np.where(differs, np.arange(len(values))[:, None], 0), axis=0)
    equal = np.empty_like(values)
    np.put_along_axis(equal, order, np.take_along_axis(ascending, first, axis=0), axis=0)
    return equal


def takes_weights(scorer: Callable[..., Any]) -> bool:
    """Whether a scorer, or the metric in it, has an argument ``sample_weight``."""
    return "sample_weight" in signature(getattr(scorer, "_score_func", scorer)).parameters
