"""Comparison: one metric of all strategies on all problems: means, deviations, ratios, paired Wilcoxon tests."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from refsvm import Status
from refsvm._checks import hint
from refsvm.experiment.grid import Grid, number, p_value, ratio_of

REFUSED: Final = "REFUSED"
"""Status of a run that the strategy refused."""

Values = Mapping[int, float]
"""A metric by permutation."""


def values_of(
    records: Sequence[Mapping[str, Any]], metric: str, store: object
) -> dict[tuple[str, str], dict[int, float]]:
    """Return a metric by permutation, for each problem and strategy; a refusal lists the metrics that exist."""
    if not records:
        raise ValueError(f"store={str(store)!r} holds no finished run of this experiment; call run() first.")
    numeric = {key for each in records for key, value in each.items() if isinstance(value, int | float)}
    numeric -= {"permutation"}  # it numbers the runs, and measures nothing
    refused = [record["reason"] for record in records if record.get("status") == REFUSED]
    if len(refused) == len(records):
        raise ValueError(f"Every run was refused; the first: {refused[0]}")
    if metric not in numeric:
        near = hint(metric, numeric, f"choose from {', '.join(sorted(numeric))}.")
        raise ValueError(f"metric={metric!r} is not a number that the finished runs have; {near}")
    values: dict[tuple[str, str], dict[int, float]] = {}
    for record in records:
        if record.get(metric) is not None:
            place = values.setdefault((record["problem"], record["strategy"]), {})
            place[record["permutation"]] = record[metric]
    return values


def notes_of(records: Sequence[Mapping[str, Any]], metric: str) -> Iterator[str]:
    """Yield the notes below a table of a metric: refusals, runs that did not converge, seconds that do not compare."""
    refused = [record for record in records if record.get("status") == REFUSED]
    # one sentence for each pair; the last one put into a dict stays, which is the first refusal
    for record in {(each["problem"], each["strategy"]): each for each in reversed(refused)}.values():
        yield f"{record['strategy']} refused {record['problem']}: {record['reason']}"
    yield from unsolved_notes(records)
    if "seconds" not in metric:
        return
    measured = [record for record in records if record.get(metric) is not None]
    for key in ("engine", "computed_by"):
        found = sorted({str(record[key]) for record in measured if key in record})
        if len(found) > 1:
            yield f"These seconds were not all measured alike ({key.replace('_', ' ')}: {'; '.join(found)})."


def unsolved_notes(records: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a sentence for each strategy with runs that did not converge, or rest on machines that did not."""
    runs: dict[str, list[str]] = {}
    for record in records:
        if record.get("status") != REFUSED:
            runs.setdefault(record["strategy"], []).append(ending_of(record))
    for strategy, endings in runs.items():
        if unfinished := [each for each in endings if each]:
            names = ", ".join(sorted({*unfinished}))
            yield f"{len(unfinished)} of {len(endings)} runs of {strategy} did not converge ({names})."


def ending_of(record: Mapping[str, Any]) -> str:
    """Return why a run is not solved; "" if it is, or says nothing of that."""
    status = record.get("status", Status.CONVERGED.name)
    if status not in (Status.CONVERGED.name, REFUSED):
        return str(status)
    return "unfinished rounds" if record.get("unfinished") else ""


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


def least_p(pairs: int) -> float:
    """Return the smallest p that `paired_p` can give for so many different pairs: 2/2ⁿ, all on one side.

    Examples
    --------
    >>> from refsvm.experiment.comparison import least_p
    >>> least_p(5), least_p(6)
    (0.0625, 0.03125)
    """
    return float(2.0 ** (1 - pairs))


def holm(p: Mapping[Any, float]) -> dict[Any, float]:
    """Adjust p-values for being several, by Holm's step-down method: at most α of all these claims are wrong by chance.

    The k-th smallest of m becomes the largest of (m − j + 1) p₍ⱼ₎ over j ≤ k, and at most 1.

    References
    ----------
    S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6, 1979.

    Examples
    --------
    >>> from refsvm.experiment import holm
    >>> holm({"a": 0.01, "b": 0.04, "c": 0.03})
    {'a': 0.03, 'c': 0.06, 'b': 0.06}
    """
    adjusted, least = {}, 0.0
    for rank, (key, value) in enumerate(sorted(p.items(), key=lambda item: item[1])):
        least = max(least, min(1.0, (len(p) - rank) * value))
        adjusted[key] = least
    return adjusted


@dataclass(frozen=True)
class Ranking:
    """Strategies over several problems; made by `Comparison.friedman`.

    Attributes
    ----------
    mean_rank : mapping of str to float
        By strategy, over the problems; 1 is the smallest mean. Equal means share their ranks.
    p : float
        Of the Friedman test that all strategies rank alike.
    problems : int
        How many problems have all strategies.
    """

    mean_rank: Mapping[str, float]
    p: float
    problems: int


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
        Remarks on the table: runs that were refused, and why; seconds of different engines or machines.
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

    def adjusted(self) -> dict[tuple[str, str], float]:
        """Return the p of every (problem, strategy) that is compared, adjusted by `holm` for being so many."""
        return holm({place: cell.p for place, cell in self.cells.items() if cell.p is not None})

    def friedman(self) -> Ranking:
        """Rank the strategies by their means on each problem, and test whether they rank alike.

        Returns
        -------
        Ranking

        Raises
        ------
        ValueError
            If fewer than three strategies, or two problems that have all of them, are there to be ranked.

        References
        ----------
        M. Friedman, "The use of ranks to avoid the assumption of normality implicit in the analysis of variance",
        Journal of the American Statistical Association 32, 1937; J. Demšar, "Statistical comparisons of classifiers
        over multiple data sets", JMLR 7, 2006. Computed by `scipy.stats.friedmanchisquare`.
        """
        whole = [
            problem
            for problem in self.problems
            if all((problem, name) in self.cells for name in self.strategies)
        ]
        if len(self.strategies) < 3 or len(whole) < 2:
            raise ValueError(
                f"{len(self.strategies)} strategies on {len(whole)} problems that have all of them cannot be ranked; "
                "give three strategies and two problems, or use paired_p."
            )
        from scipy.stats import friedmanchisquare, rankdata

        means = np.array([[self.cells[problem, name].mean for name in self.strategies] for problem in whole])
        ranks = rankdata(means, axis=1).mean(axis=0)
        same = bool((means == means[:, :1]).all())  # nothing to rank: the statistic is 0/0
        p = 1.0 if same else float(friedmanchisquare(*means.T).pvalue)
        return Ranking(dict(zip(self.strategies, ranks.tolist(), strict=True)), p, len(whole))

    def _bounds(self) -> tuple[str, ...]:
        """Return a note on the smallest p, if there are too few pairs for one below 0.01."""
        runs = [cell.runs for cell in self.cells.values() if cell.p is not None]
        few = min(runs, default=99)  # without a test there is nothing to be said
        return (f"With {few} orders p is at least {number(least_p(few), 2)}.",) if least_p(few) > 0.01 else ()

    def table(
        self,
        digits: int = 4,
        beside: Mapping[str, Mapping[str, float | str]] | None = None,
        adjust: bool = False,
    ) -> Grid:
        """Lay out a row for each problem, the strategies side by side.

        Parameters
        ----------
        digits : int
            Significant digits of a mean.
        adjust : bool
            Show p adjusted by `holm` for all tests of this table.
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
            headers += [f"{name} / {self.baseline}", "p (Holm)" if adjust else "p"]
        p = self.adjusted() if adjust else {place: cell.p for place, cell in self.cells.items()}
        rows = [self._row(problem, others, digits, p) for problem in self.problems]
        if others:
            last = ["geometric mean", *("" for _ in self.strategies)]
            for name in others:
                last += [ratio_of(self.geometric_mean(name)), ""]
            rows.append(last)
        for row, problem in zip(rows, (*self.problems, ""), strict=False):
            for column in beside.values():
                entry = column.get(problem, "")
                row.append(entry if isinstance(entry, str) else number(entry, digits))
        return Grid((*headers, *beside), tuple(map(tuple, rows)), notes=self.notes + self._bounds())

    def _row(
        self, problem: str, others: Sequence[str], digits: int, p: Mapping[tuple[str, str], float | None]
    ) -> list[str]:
        """Return the row of a problem."""
        cells = {name: self.cells.get((problem, name)) for name in self.strategies}
        row = [problem, *("–" if cell is None else cell.show(digits) for cell in cells.values())]
        for name in others:
            cell = cells[name]
            row += ["–", "–"] if cell is None else [ratio_of(cell.ratio), p_value(p.get((problem, name)))]
        return row
