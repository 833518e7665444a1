"""Calls scikit-learn's scorers with decision values that the search has already computed.

A scorer is called with an estimator, examples and labels. The search passes the scorer an `SVC` or `SVR` that stands
for one cell and one split. The `decision_function` of this estimator returns the decision values of the test part,
which the search has computed from the gradient. This estimator can predict only the test part, and trains nothing.
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
"""Modules with the metrics that compare classes."""

ROUNDING: Final = 1e-11
"""Decision values are taken as equal if they differ by less than this, relative to the largest value or to 1."""


class HeldOut:
    """Base of `HeldOutSVC` and `HeldOutSVR`; returns the known decision values of one test part."""

    _part: tuple[Any, np.ndarray]

    def _decision_values(self, X: Any, reduce: Callable[[np.ndarray], np.ndarray] = np.asarray) -> np.ndarray:
        """Return `reduce(h)` for the decision values h of the test part; raise an error for other examples."""
        known, values = self._part
        if X is not known and (np.shape(X) != known.shape or (known != X).sum()):
            raise ValueError(
                "scoring= asked for predictions of examples outside the test part X; predict X only, or use "
                f"GridSearchCV({type(self).__name__.removeprefix('HeldOut')}(), ...), which trains each model."
            )
        return reduce(values)

    def _check_fitted(self) -> None:
        """Raise no error, although this estimator has no support vectors."""


class HeldOutSVC(HeldOut, SVC):
    """The classifier that a scorer gets for one split."""


class HeldOutSVR(HeldOut, SVR):
    """The regression model that a scorer gets for one split."""


@dataclass(frozen=True)
class Scoring:
    """A scorer, and the arguments that the search passes to the scorer.

    Parameters
    ----------
    scorer : callable
        Called with an estimator, X and y of a test part.
    given : str or callable
        The `scoring` that the user passed.
    model : type
        `HeldOutSVC` or `HeldOutSVR`, the class of the estimator that the scorer gets.
    settings : dict
        Parameters of the estimator that are equal in all cells.
    classes : ndarray or None
        Labels, sorted; None for regression.
    metadata : dict
        Further arguments of the scorer; an array with an entry for each example is cut to the test part.
    config : dict
        scikit-learn's configuration, which each thread sets for itself.
    repeats : bool
        Whether to pass a test example of weight 2 twice, because the scorer takes no weights.
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
        """Return a cell's score, or its scores by name, from the decision values of a test part."""
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
            if isinstance(error, ValueError) and "pos_label" in str(error) and self.classes is not None:
                raise ValueError(self._positive_class()) from error
            error.add_note(f"Raised by scoring={self.given!r} on split {split.number} with {params}.")
            raise
        several = score if isinstance(score, dict) and score else {"": score}
        if not all(isinstance(each, Number) for each in several.values()):
            raise ValueError(
                f"scoring={self.given!r} returns {score!r:.60}, which is not a number; return one number."
            )
        return {name: float(each) for name, each in score.items()} if several is score else float(score)

    def _positive_class(self) -> str:
        """Return the message for a score that needs the label 1, which y lacks; the message names a suitable scorer."""
        labels, scorers = self.classes.tolist() if self.classes is not None else [], []
        for each in getattr(self.scorer, "_scorers", {"": self.scorer}).values():
            function = getattr(each, "_score_func", None)
            response = getattr(each, "_response_method", "predict")
            if function is not None and "pos_label" in signature(function).parameters:
                more = "" if response == "predict" else ', response_method="decision_function"'
                scorers.append(f"make_scorer({function.__name__}, pos_label={labels[-1]!r}{more})")
        return (
            f"scoring={shown(self.given)} scores the class 1, and y holds {labels}; write "
            f"{' and '.join(scorers) or 'a scorer'} of sklearn.metrics, with the label of your positive class."
        )

    def _rows(self, weights: np.ndarray) -> np.ndarray:
        """Return the positions of the scorer's test examples; if `repeats`, an example of weight 2 occurs twice."""
        counts = copies("scoring", weights, len(weights)) if self.repeats else (weights > 0.0) * 1
        return np.repeat(np.arange(len(weights)), counts)

    def identity(self) -> dict[str, Any]:
        """Return a dict that identifies the scorer in a store: its name, settings and arguments.

        Raises
        ------
        ValueError
            If the scorer is a function of the user, which cannot be identified by value.
        """
        function = getattr(self.scorer, "_score_func", None)
        if function is not None and not function.__module__.startswith("sklearn."):
            described("scoring", function)
        # include parameters of the classifier that affect its votes, and arguments that affect the score
        settings = {name: value for name, value in self.settings.items() if name in ("break_ties", VOTES)}
        held = (settings, self.classes, self.metadata, self.scorer, self.repeats)
        return {"given": described("scoring", self.given), "held": digest_of(*held)}


@dataclass(frozen=True)
class SeveralScorings:
    """Several scorers; a call returns a dict of scores by name."""

    each: dict[str, Scoring]

    def __call__(
        self, X: Any, labels: np.ndarray, split: Split, params: dict[str, float], values: np.ndarray
    ) -> dict[str, float]:
        """Return the scores of a cell by name."""
        scores = {name: scoring(X, labels, split, params, values) for name, scoring in self.each.items()}
        for name, score in scores.items():
            if isinstance(score, dict):
                raise ValueError(
                    f"scoring={{{name!r}: ...}} returns {score!r:.60}, which is not a number; return one number."
                )
        return scores

    def identity(self) -> Any:
        """Return a dict from the name of each scorer to its `Scoring.identity`."""
        return {name: scoring.identity() for name, scoring in self.each.items()}


def named_scores(scoring: Any) -> None:
    """Raise an error if a list or dictionary does not name scores in the form that GridSearchCV takes.

    Raises
    ------
    ValueError
        If `scoring` is empty, repeats a name, or contains an entry that is not a score.
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
        what = "it names one twice" if scoring else "it is empty"
        if wrong or unnamed:
            what = f"{(wrong + unnamed)[0]!r:.60} is not a score"
        raise ValueError(
            f"scoring={shown(scoring)} should name several scores, but {what}; give different names of scikit-learn's "
            "scores (sklearn.metrics.get_scorer_names()), or a dictionary of scores and scorers by name."
        )


def refuse_refit(refit: Any, names: Iterable[str]) -> None:
    """Raise an error if `refit` does not say which of several scores chooses the best cell."""
    names = [*names]
    if refit is False or callable(refit) or (isinstance(refit, str) and refit in names):
        return
    raise ValueError(
        f"refit={refit!r} does not say which of the scores {', '.join(names)} chooses the best cell; give one of "
        "these names, a function that gets cv_results_ and returns the position of the best cell, or False."
    )


def refuse_probabilities(scoring: Any, model: str) -> None:
    """Raise an error for a score that needs probabilities or does not fit the model; the error names an alternative.

    Raises
    ------
    AttributeError
        If a classification score needs probabilities, which `SVC` does not compute.
    ValueError
        If a regression gets a score that compares classes.
    """
    scorer = get_scorer(scoring) if isinstance(scoring, str) else scoring
    method = getattr(scorer, "_response_method", None)
    if method == "predict_proba" and model == "SVC":
        raise AttributeError(
            f"scoring={scoring!r} needs probabilities, and SVC {PROBABILITIES.format(name='SVC')}. Search with "
            "GridSearchCV(CalibratedClassifierCV(SVC(), ensemble=False), {'estimator__C': [...]}, scoring=...)."
        )
    home = getattr(getattr(scorer, "_score_func", None), "__module__", "")
    of_classes = method not in (None, "predict") or home.startswith(OF_CLASSES)
    if model == "SVR" and of_classes:
        raise ValueError(
            f"scoring={scoring!r} compares classes, but SVR predicts targets; give a regression score, such as "
            "'neg_mean_absolute_error', or use SVCCV."
        )


def of_present(values: np.ndarray, present: np.ndarray, k: int) -> np.ndarray:
    """Return the decision values for the pairs of classes in the training part, with the signs that `SVC` uses.

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
    return -chosen if len(present) == 2 else chosen  # with two classes, h > 0 predicts the second class


def with_ties(values: np.ndarray) -> np.ndarray:
    """Make values in a column equal if they differ only by rounding errors; return the new decision values.

    The search computes h = v − G + b from the labels v and the gradient G. For two equal examples with different
    labels, rounding may make h differ, which would change a score that depends on ranks.

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
    # replace all values of a group of nearly equal values by the first value of the group
    first = np.maximum.accumulate(np.where(differs, np.arange(len(values))[:, None], 0), axis=0)
    equal = np.empty_like(values)
    np.put_along_axis(equal, order, np.take_along_axis(ascending, first, axis=0), axis=0)
    return equal


def takes_weights(scorer: Callable[..., Any]) -> bool:
    """Return whether a scorer, or the metric inside it, has an argument ``sample_weight``."""
    return "sample_weight" in signature(getattr(scorer, "_score_func", scorer)).parameters
