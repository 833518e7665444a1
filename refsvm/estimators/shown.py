"""Makes the summary of a fitted search that a notebook shows: best parameters, best score, and best cells."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from refsvm.services.summary import Card, Table, parameter

BEST: Final = 5
"""Number of rows in the table of cells."""


def card_of_search(search: Any) -> Card:
    """Return the summary of a fitted search."""
    results = search.cv_results_
    kind = "cells" if "mean_iterations" in results else "evaluations"
    pairs = {name: parameter(value) for name, value in getattr(search, "best_params_", {}).items()}
    pairs |= {kind: f"{len(results['params']):,}", "splits": f"{search.n_splits_:,}"}
    means = [name for name in results if name.startswith("mean_test_")]
    chosen = search.refit if getattr(search, "multimetric_", False) else "score"
    first = f"mean_test_{chosen}" if f"mean_test_{chosen}" in means else means[0]
    name = score_name(search, first.removeprefix("mean_test_"))
    tables, best = cells(results, first, name), getattr(search, "best_score_", float("nan"))
    if not np.isfinite(best):
        return Card(
            "no best score", sentence="no score chooses the best parameters", pairs=pairs, tables=tables
        )
    sentence = f"{name}, the best mean over the splits"
    return Card(f"{sentence}: {best:.4g}", f"{best:.4g}", sentence, pairs=pairs, tables=tables)


def score_name(search: Any, score: str) -> str:
    """Return the name of a score: the name that the user gave, or the name of the default score."""
    if score != "score":
        return score
    if "mean_iterations" not in search.cv_results_:
        return f"less the {search.loss or 'held-out'} loss"
    scoring = getattr(search, "scoring", None)
    default = "accuracy" if search._is_classifier else "R²"
    return default if scoring is None else scoring if isinstance(scoring, str) else "score"


def cells(results: dict[str, Any], first: str, name: str) -> tuple[Table, ...]:
    """Return the table of the best cells with their parameters and scores."""
    finite = np.isfinite(results[first])
    order = [
        int(k) for k in np.argsort(-np.where(finite, results[first], -np.inf), kind="stable") if finite[k]
    ]
    if not order:
        return ()
    params = results["params"]
    names = tuple(params[order[0]])
    rows = [
        (f"{rank}", *(parameter(params[k][each]) for each in names), f"{results[first][k]:.4g}")
        for rank, k in enumerate(order[:BEST], 1)
    ]
    return (Table(("rank", *names, name), rows),)
