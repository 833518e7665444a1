"""Makes the table of a search in GridSearchCV's layout, and ranks its cells."""

from __future__ import annotations

from itertools import product
from typing import Any, Final

import numpy as np
from scipy.stats import rankdata

from refsvm.analysis.resampling.grid import Cell
from refsvm.analysis.resampling.weights import mean
from refsvm.estimators.search import Key, Search

SINGLE: Final = "score"
"""The name of a score if the user gave none."""


def results_table(search: Search, cells: dict[Key, Cell]) -> dict[str, Any]:
    """Return ``cv_results_`` with the keys and the order of GridSearchCV: C varies slowest, then ε, then γ."""
    m, n_epsilons = len(search.Cs), len(search.epsilons)
    places = [(g, e * m + c) for c, e, g in product(range(m), range(n_epsilons), range(len(search.columns)))]
    numbers = [split.number for split in search.splits]

    def table(name: str) -> np.ndarray:
        return np.array(
            [[getattr(cells[g, place, s], name) for s in numbers] for g, place in places], dtype=np.float64
        )

    params, result = [search.params(*each) for each in places], {}
    for name in ("fit", "score"):
        seconds = table(f"{name}_seconds")
        result[f"mean_{name}_time"], result[f"std_{name}_time"] = seconds.mean(axis=1), seconds.std(axis=1)
    for name in params[0]:
        result[f"param_{name}"] = np.ma.MaskedArray([each[name] for each in params])
    result["params"] = params
    weights = np.array([split.weight for split in search.splits])
    for name in names_of_scores(cells):
        cell_scores = [[cells[g, place, s].score for s in numbers] for g, place in places]
        scores = np.array(
            [[each[name] if isinstance(each, dict) else each for each in row] for row in cell_scores],
            dtype=np.float64,  # NumPy converts None, which a store contains for NaN, to NaN
        )
        for s, column in enumerate(scores.T):
            result[f"split{s}_test_{name}"] = column
        means, deviations = moments(scores, weights)
        result[f"mean_test_{name}"], result[f"std_test_{name}"] = means, deviations
        result[f"rank_test_{name}"] = ranks(means)
    result["mean_iterations"] = table("iterations").mean(axis=1)
    unsolved = (table("converged") == 0.0).sum(axis=1)
    if unsolved.any():
        result["unsolved_splits"] = unsolved
    return result


def moments(scores: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and standard deviation of each cell's scores over the splits, weighted by `weights`.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.estimators.results_table import moments
    >>> moments(np.array([[1.0, 0.0, np.nan]]), np.array([3.0, 1.0, 0.0]))
    (array([0.75]), array([0.4330127]))
    """
    if (weights == 1.0).all():
        return scores.mean(axis=1), scores.std(axis=1)
    means = np.array([mean(row, weights) for row in scores])
    squares = [mean((row - m) ** 2, weights) for row, m in zip(scores, means, strict=True)]
    return means, np.sqrt(squares)


def names_of_scores(cells: dict[Key, Cell]) -> list[str]:
    """Return the names of the scores of all cells; a single score is called "score".

    Raises
    ------
    ValueError
        If a scoring function returned different names for different cells.
    """
    names = [[*cell.score] if isinstance(cell.score, dict) else [SINGLE] for cell in cells.values()]
    if other := next((each for each in names if {*each} != {*names[0]}), None):
        raise ValueError(
            f"scoring= returns {', '.join(names[0])} for one cell and {', '.join(other)} for another cell; return "
            "the same names for all cells."
        )
    return names[0]


def ranks(means: np.ndarray) -> np.ndarray:
    """Return the rank of each mean score: 1 for the highest score, and the last rank for NaN.

    Scores that agree to 12 digits have equal ranks. GridSearchCV ranks such scores by their rounding errors.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.estimators.results_table import ranks
    >>> ranks(np.array([np.nan, 0.1 + 0.2, 0.3, -1e-20]))
    array([4, 1, 1, 3], dtype=int32)
    """
    rounded = np.array([float(f"{mean:.12g}") for mean in means])
    known = np.isfinite(rounded)
    lowest = rounded[known].min() if known.any() else 0.0
    return rankdata(-np.where(known, rounded, np.nextafter(lowest, -np.inf)), method="min").astype(np.int32)
