"""Makes the cards on which notebooks show `error`, `rmse` or `outside` of a result, or the bounds of this score."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from refsvm.analysis.resampling.scores import SCORES, Score, root_mean_square, share_wrong
from refsvm.core.result import Status
from refsvm.core.rounds.machine import CLASSIFICATION, NOVELTY, REGRESSION
from refsvm.services.summary import Card, Parts, Table, cut

FIRST_OF: Final[dict[str, Score]] = {
    CLASSIFICATION: share_wrong,
    REGRESSION: root_mean_square,
    NOVELTY: share_wrong,
}
"""The score of each kind of task that its card shows first."""

MOST_CLASSES: Final = 20
"""Largest number of classes in a table."""


def scored(result: Any, how: str, parts: Parts | None, heights: tuple[float, ...] = ()) -> Card:
    """Return the card that a notebook shows for a result.

    Parameters
    ----------
    result : LeaveOneOut or CrossValidation
        The result.
    how : str
        Words that follow the score on the card.
    parts : Parts, optional
        Number of examples that each check or rule decided.
    heights : tuple of float
        The score `error`, `rmse` or `outside` in each fold; the card draws a bar for each fold.
    """
    name = SCORES[result.kind][0]
    pairs = {"machine": result.machine} if result.machine else {}
    pairs |= {
        "steps": f"{result.iterations:,}",
        "kernel rows": f"{result.kernel_rows:,}",
        "seconds": f"{result.seconds:.3f}",
    }
    if known := [value for value in heights if not np.isnan(value)]:
        pairs[f"{name} of a fold"] = f"{min(known):.4g} to {max(known):.4g}"
    columns, seconds = (parts, heights, f"{name} of each fold"), f"{result.seconds:.2f} s"
    if not result.is_finished:
        ends = {key: "{:.4g} to {:.4g}".format(*ends) for key, ends in result.bounds.items()}
        low, high = result.bounds[name]
        decided = f"{np.count_nonzero(result.outcomes):,} of {len(result.labels):,} examples decided"
        sentence = f"{result.status.name}: {decided}; {name} between {low:.4g} and {high:.4g}"
        return Card(
            f"{sentence}; {seconds}", f"{low:.4g} … {high:.4g}", sentence, True, pairs | ends, *columns
        )
    value, spread = result.scores[name], result.standard_error
    shown = f"{value:.4g}" if result.kind == REGRESSION else f"{value:.4f}"
    sentence = name + ("" if np.isnan(spread) else f" ± {spread:.2g}") + _counted(result) + f", {how}"
    if result.status is not Status.CONVERGED:
        sentence += f", {result.status.name}"
    line = f"{name} {shown}{sentence.removeprefix(name)}; {seconds}"
    pairs |= {key: f"{other:.4g}" for key, other in result.scores.items() if key != name}
    is_partial = result.status is not Status.CONVERGED
    return Card(line, shown, sentence, is_partial, pairs, *columns, _of_classes(result))


def _counted(result: Any) -> str:
    """Return a text that says how many predictions are wrong, or that examples have weights; "" for a regression."""
    if result.weights is not None:
        return ", weighted"
    if result.kind == REGRESSION:
        return ""
    wrong = int((result.predictions != result.labels).sum())
    return f": {wrong:,} of {len(result.labels):,} {'outside' if result.kind == NOVELTY else 'wrong'}"


def _of_classes(result: Any) -> tuple[Table, ...]:
    """Return a table with the number of examples and of wrong predictions of each class."""
    rows = []
    for name in result.classes.tolist()[:MOST_CLASSES]:
        own = result.labels == name
        wrong = int((result.predictions[own] != name).sum())
        label = f"{name:g}" if isinstance(name, float) else cut(name)
        rows.append((label, f"{own.sum():,}", f"{wrong:,}", f"{wrong / own.sum():.4f}"))
    return (Table(("class", "examples", "wrong", "error"), rows),) if rows else ()
