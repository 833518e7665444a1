"""Comparison: one metric of all strategies on all problems: means, deviations, ratios, paired Wilcoxon tests."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from refsvm.experiment.grid import Grid, number, p_value, ratio_of

__all__ = ["Comparison", "Summary", "paired_p", "summarise"]

Values = Mapping[int, float]
"""A metric by permutation."""


@dataclass(frozen=True)
class Summary:
    """One metric of one strategy on one problem.

    Attributes
    ----------
    runs : int
        Number of permutations.
    mean, sd : float
        Over the permutations; sd with divisor runs − 1, None for a single run.
    ratio : float or None
        Of the mean to the baseline's, over the permutations that both have; None where there is no baseline.
    p : float or None
        Two-sided Wilcoxon signed-rank test of both over the same permutations; None for fewer than two.
    """

    runs: int
    mean: float
    sd: float | None
    ratio: float | None = None
    p: float | None = None

    def show(self, digits: int = 4) -> str:
        """Return "mean ± sd"."""
        spread = "" if self.sd is None else f" ± {number(self.sd, 2)}"
        return f"{number(self.mean, digits)}{spread}"


def paired_p(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Two-sided p of the Wilcoxon signed-rank test; 1 where all pairs are equal, None for fewer than two pairs.

    Parameters
    ----------
    first, second : sequences of float, of one length
        Pair after pair.

    References
    ----------
    F. Wilcoxon, "Individual comparisons by ranking methods", Biometrics Bulletin 1, 1945; computed by
    `scipy.stats.wilcoxon`.

    Examples
    --------
    >>> from refsvm.experiment import paired_p
    >>> paired_p([1.0, 2.0, 3.0, 4.0, 5.0], [1.5, 2.6, 3.7, 4.8, 5.9])
    0.0625
    """
    difference = np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64)
    if len(difference) < 2:
        return None
    if not difference.any():
        return 1.0
    from scipy.stats import wilcoxon

    return float(wilcoxon(difference).pvalue)


def summarise(values: Values, baseline: Values | None = None) -> Summary:
    """Return mean and deviation of a metric, and how it compares with a baseline on the same permutations."""
    own = np.array(list(values.values()), dtype=np.float64)
    mean, sd = float(own.mean()), float(own.std(ddof=1)) if len(own) > 1 else None
    if baseline is None:
        return Summary(len(own), mean, sd)
    shared = [k for k in values if k in baseline]
    first, second = [values[k] for k in shared], [baseline[k] for k in shared]
    total = sum(second)
    ratio = sum(first) / total if shared and total else None
    return Summary(len(own), mean, sd, ratio, paired_p(first, second))


@dataclass(frozen=True)
class Comparison:
    """One metric of all strategies on all problems; made by `Experiment.compare`.

    Attributes
    ----------
    metric : str
    problems, strategies : tuples of str
        Names, in the order of the experiment.
    baseline : str or None
        The strategy that the others are compared with.
    cells : mapping
        The `Summary` by (problem, strategy); pairs without a finished run are missing.
    notes : tuple of str
        What is to be known beside the table: runs that were refused, and why; seconds of different engines or machines.
    """

    metric: str
    problems: tuple[str, ...]
    strategies: tuple[str, ...]
    baseline: str | None
    cells: Mapping[tuple[str, str], Summary]
    notes: tuple[str, ...] = ()

    def geometric_mean(self, strategy: str) -> float | None:
        """Return exp of the mean of log ratio over the problems; None without ratios, or where one is not positive."""
        ratios = [
            cell.ratio
            for problem in self.problems
            if (cell := self.cells.get((problem, strategy))) is not None and cell.ratio is not None
        ]
        if not ratios or min(ratios) <= 0.0:
            return None
        return math.exp(sum(map(math.log, ratios)) / len(ratios))

    def table(self, digits: int = 4, beside: Mapping[str, Mapping[str, float | str]] | None = None) -> Grid:
        """Lay out a row for each problem, the strategies side by side.

        Parameters
        ----------
        digits : int
            Significant digits of a mean.
        beside : mapping, optional
            More columns, for instance published figures: header → problem → entry.

        Returns
        -------
        Grid
            Mean ± sd; with a baseline also ratio and p of the others, and a last row with the geometric means.
        """
        beside = {} if beside is None else beside
        others = [name for name in self.strategies if self.baseline not in (None, name)]
        headers = ["problem", *self.strategies]
        for name in others:
            headers += [f"{name} / {self.baseline}", "p"]
        rows = [self._row(problem, others, digits) for problem in self.problems]
        if others:
            last = ["geometric mean", *("" for _ in self.strategies)]
            for name in others:
                last += [ratio_of(self.geometric_mean(name)), ""]
            rows.append(last)
        for row, problem in zip(rows, (*self.problems, ""), strict=False):
            for column in beside.values():
                entry = column.get(problem, "")
                row.append(entry if isinstance(entry, str) else number(entry, digits))
        return Grid((*headers, *beside), tuple(map(tuple, rows)), notes=self.notes)

    def _row(self, problem: str, others: Sequence[str], digits: int) -> list[str]:
        """Return the row of a problem."""
        cells = {name: self.cells.get((problem, name)) for name in self.strategies}
        row = [problem, *("–" if cell is None else cell.show(digits) for cell in cells.values())]
        for name in others:
            cell = cells[name]
            row += ["–", "–"] if cell is None else [ratio_of(cell.ratio), p_value(cell.p)]
        return row
