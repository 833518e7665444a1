"""SearchScores: scores the cells of a search, and passes metadata of `fit` to the splitter and the scorers."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, Final

import numpy as np
from sklearn import get_config
from sklearn.metrics import get_scorer
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import check_is_fitted

from refsvm.analysis.resampling.grid import Split
from refsvm.estimators.choosing import ChoosingEstimator
from refsvm.estimators.results_table import SINGLE
from refsvm.estimators.scoring import (
    Scoring,
    SeveralScorings,
    named_scores,
    refuse_probabilities,
    refuse_refit,
    takes_weights,
)
from refsvm.services.types import ArrayLike, FoldsLike, RefitLike, ScorerLike

MOST_COPIES: Final = 1000
"""If a scorer takes no weights, weights above this are not replaced by copies of the example."""


class SearchScores(ChoosingEstimator):
    """The part of `SearchCV` that reads the parameters `scoring` and `refit`."""

    scoring: ScorerLike
    refit: RefitLike
    cv: FoldsLike

    _held_out: ClassVar[type]
    """The class of the estimator that a scorer gets, which knows the decision values of one test part."""

    _usual: ClassVar[str]
    """The name of the score that is used if `scoring` is None."""

    @property
    def _named_scoring(self) -> Any:
        """The parameter `scoring`, or None if it means the default score."""
        return None if isinstance(self.scoring, str) and self.scoring == self._usual else self.scoring

    @property
    def _scorings(self) -> dict[str, Any]:
        """A dict from name to score: a single score is called "score", and the default score gives an empty dict."""
        scoring = self._named_scoring
        if isinstance(scoring, dict):
            return scoring
        if isinstance(scoring, list | tuple):
            return {name: name for name in scoring}
        return {} if scoring is None else {SINGLE: scoring}

    def _refuse_scoring(self) -> None:
        """Raise an error before the search if several scores have no names or `refit` does not choose a score."""
        if isinstance(self.scoring, dict | list | tuple):
            named_scores(self.scoring)
            refuse_refit(self.refit, self._scorings)
        for scoring in self._scorings.values():
            refuse_probabilities(scoring, self._model.__name__)

    def _scorers(self) -> dict[str, Any]:
        """Return the scorers by name; a scorer given by its name gets the weights if its metric takes weights."""
        scorers = {}
        for name, scorer in self._scorings.items():
            if isinstance(scorer, str):
                scorer = get_scorer(scorer)
                if get_config()["enable_metadata_routing"] and takes_weights(scorer):
                    scorer.set_score_request(sample_weight=True)
            scorers[name] = scorer
        return scorers

    def _scoring_with(
        self, classes: np.ndarray | None, metadata: dict[str, dict[str, Any]], splits: list[Split]
    ) -> Scoring | SeveralScorings | None:
        """Return the function that scores cells; None for the default score."""
        scorings, scorers, shared, config = self._scorings, self._scorers(), self._shared(), get_config()
        unweighted = [name for name, scorer in scorers.items() if not takes_weights(scorer)]
        repeats = bool(unweighted) and self._are_copies(splits, [scorings[name] for name in unweighted])
        made = {
            name: Scoring(
                scorer, scorings[name], self._held_out, shared, classes, metadata[name], config,
                repeats=repeats and name in unweighted,
            )
            for name, scorer in scorers.items()
        }  # fmt: skip
        return SeveralScorings(made) if isinstance(self.scoring, dict | list | tuple) else made.get(SINGLE)

    @staticmethod
    def _are_copies(splits: list[Split], unweighted: list[Any]) -> bool:
        """Return whether all weights of test examples are whole numbers; warn if a weight is not whole.

        `unweighted` are the names of scores that take no weights; their scorers get an example of weight 2 twice.
        """
        unequal = [each.test_weights for each in splits if (each.test_weights != each.test_weights[0]).any()]
        if all((weights == np.floor(weights)).all() and weights.max() <= MOST_COPIES for weights in unequal):
            return bool(unequal)
        names = ", ".join(map(repr, unweighted))
        warnings.warn(
            f"scoring={names} take{'s' * (len(unweighted) == 1)} no weights, so all examples of a split count "
            "equally; use a scorer with an argument sample_weight, or give whole numbers as weights.",
            stacklevel=4,
        )
        return False

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike = None) -> float:
        """Return the score of the best estimator on these examples, as the parameter `scoring` defines it.

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
        best = self._best()
        scorer = self.scorer_
        more = {} if sample_weight is None else {"sample_weight": sample_weight}
        if isinstance(scorer, dict):
            if not isinstance(self.refit, str):
                raise ValueError(
                    f"score() needs one score, but scoring= names {', '.join(scorer)}; pass one name as refit=."
                )
            scorer = scorer[self.refit]
        # pass the trained estimator and not the search: a scorer may call the method `score` of its argument
        score = scorer(best, self._checked(X, reset=False), y, **more)
        return float(score[self.refit] if isinstance(score, dict) else score)

    @property
    def scorer_(self) -> Any:
        """The scorer; with several scores a dictionary of scorers by name."""
        check_is_fitted(self, "cv_results_")
        if isinstance(self.scoring, dict | list | tuple):
            return self._scorers()
        return self._scorers().get(SINGLE) or get_scorer(self._usual)

    def get_metadata_routing(self) -> Any:
        """Return which metadata the splitter and the scorer request, such as groups."""
        router = MetadataRouter(owner=self).add_self_request(self)
        mapping = {name: MethodMapping().add(caller="fit", callee=name) for name in ("split", "score")}
        router.add(splitter=self.cv, method_mapping=mapping["split"])
        for name, scorer in self._scorers().items():
            router.add(**{f"scorer {name}": scorer}, method_mapping=mapping["score"])
        return router

    def _routed(
        self, params: dict[str, Any], weights: np.ndarray | None
    ) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """Return the metadata for the splitter, and the metadata for each scorer."""
        scorers, weighted = self._scorers(), {} if weights is None else {"sample_weight": weights}
        if get_config()["enable_metadata_routing"] and (params or scorers):
            routed = process_routing(self, "fit", **(params | weighted if scorers else params))
            return routed["splitter"]["split"], {name: routed[f"scorer {name}"]["score"] for name in scorers}
        if unknown := sorted(set(params) - {"groups"}):
            raise TypeError(
                f"{type(self).__name__}.fit() got an unexpected keyword argument {unknown[0]!r}; it takes "
                "sample_weight and groups, and, for the splitter and the scorer, other arrays if "
                "sklearn.set_config(enable_metadata_routing=True) is called."
            )
        for_splits = {name: value for name, value in params.items() if value is not None}
        return for_splits, {name: weighted if takes_weights(each) else {} for name, each in scorers.items()}
