"""Comparison: compares strategies on several problems by a metric, with means, deviations, ratios and tests."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from refsvm.core._checks import hint
from refsvm.core.engine.unsolved import REMEDY
from refsvm.core.result import Status
from refsvm.experiment.grid import Grid, number, p_value, ratio_of
from refsvm.services.summary import Card, Shown, Table, counted, cut

REFUSED: Final = "REFUSED"
"""Status of a run whose problem the strategy refused."""

UNSOLVED: Final = tuple(status.name for status in REMEDY)
"""Statuses of runs without a solution: a limit ended them, or no function separates the classes."""

Values = Mapping[int, float]
"""The values of a metric, by permutation."""


def values_of(
    records: Sequence[Mapping[str, Any]], metric: str, store: object
) -> dict[tuple[str, str], dict[int, float]]:
    """Return, for each problem and strategy, a metric's values in the solved runs, as a dict by permutation.

    If the metric is unknown, the error lists the metrics that exist.
    """
    if not records:
        raise ValueError(
            f"store={str(store)!r} contains no finished run of this experiment; call run() first."
        )
    numeric = {key for each in records for key, value in each.items() if isinstance(value, int | float)}
    numeric -= {"permutation"}  # a permutation is not a measurement
    refused = [record.get("reason", "") for record in records if record.get("status") == REFUSED]
    if len(refused) == len(records):
        raise ValueError(f"The strategies refused every problem; the first message: {refused[0]}")
    if metric not in numeric:
        near = hint(metric, numeric, f"choose from {', '.join(sorted(numeric))}.")
        raise ValueError(f"metric={metric!r} is not a metric of the finished runs; {near}")
    values: dict[tuple[str, str], dict[int, float]] = {}
    for record in records:
        if record.get(metric) is not None and not is_unsolved(record):
            place = values.setdefault((record["problem"], record["strategy"]), {})
            place[record["permutation"]] = record[metric]
    return values


def is_unsolved(record: Mapping[str, Any]) -> bool:
    """Return whether a run is unsolved: a limit ended it, it stalled, or its problem has no solution."""
    return _status(record) in UNSOLVED


def _status(record: Mapping[str, Any]) -> str:
    """Return the status of a run in capital letters."""
    return str(record.get("status")).upper()


def unsolved_of(records: Iterable[Mapping[str, Any]], metric: str) -> dict[tuple[str, str], int]:
    """Return, for each problem and strategy, the number of unsolved runs whose record contains the metric."""
    measured = (record for record in records if record.get(metric) is not None and is_unsolved(record))
    return dict(Counter((record["problem"], record["strategy"]) for record in measured))


def notes_of(records: Sequence[Mapping[str, Any]], metric: str) -> Iterator[str]:
    """Yield notes on refused problems, unsolved runs and seconds that cannot be compared."""
    refused = [record for record in records if record.get("status") == REFUSED]
    # yield only the first refusal for each problem and strategy
    for record in {(each["problem"], each["strategy"]): each for each in reversed(refused)}.values():
        yield f"{record['strategy']} refused {record['problem']}: {record.get('reason', '')}"
    yield from unsolved_notes(records)
    if "seconds" not in metric:
        return
    measured = [record for record in records if record.get(metric) is not None]
    for key in ("engine", "computed_by"):
        values = sorted({str(record[key]) for record in measured if key in record})
        if len(values) > 1:
            yield f"These seconds differ in how they were measured ({key.replace('_', ' ')}: {'; '.join(values)})."


def unsolved_notes(records: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield notes on each strategy's unsolved runs, runs without a solution, and runs with unsolved models.

    A note states the number of runs, the reasons and the problems.
    """
    for name in dict.fromkeys(record["strategy"] for record in records):
        own = [record for record in records if record["strategy"] == name]
        lost = [record for record in own if is_unsolved(record)]
        cut = [record for record in lost if _status(record) != Status.INSEPARABLE.name]
        if cut:
            reasons = ", ".join(sorted({_status(record) for record in cut}))
            yield (
                f"{name} did not converge in {len(cut)} of {len(own)} runs ({reasons}; {_where(cut, own)}), "
                "which are excluded."
            )
        if answered := [record for record in lost if record not in cut]:
            yield (
                f"{name} found that no function of the kernel separates the classes in {len(answered)} of {len(own)} "
                f"runs (INSEPARABLE; {_where(answered, own)}), which have no solution to measure and are excluded."
            )
        if resting := [record for record in own if record.get("unfinished") and not is_unsolved(record)]:
            yield (
                f"{name} used models that are not solved in {len(resting)} of {len(own)} runs "
                f"({_where(resting, own)})."
            )


def _where(some: Sequence[Mapping[str, Any]], runs: Sequence[Mapping[str, Any]]) -> str:
    """Return a text: for each problem, the number of its runs in `some` and in `runs`."""
    count, total = (Counter(record["problem"] for record in each) for each in (some, runs))
    return ", ".join(f"{problem} {count[problem]} of {total[problem]}" for problem in count)


@dataclass(frozen=True)
class Summary:
    """The statistics of a metric for one strategy on one problem.

    Attributes
    ----------
    runs : int
        Number of permutations with a solved run.
    mean, sd : float
        Mean and standard deviation (with the divisor `runs` − 1) of the metric in the solved runs. `sd` is None for a
        single run; without solved runs the mean is NaN.
    ratio : float or None
        Ratio of the strategy's mean to the baseline's mean, over the permutations that strategy and baseline have both
        solved. `ratio` is None if there is no baseline or no common permutation, and NaN if the strategy has no solved
        run.
    p : float or None
        Two-sided p of the Wilcoxon signed-rank test between strategy and baseline, over the permutations that both have
        solved. `p` is None for fewer than two permutations, and NaN without a solved run.
    pairs : int or None
        Number of permutations that strategy and baseline have both solved; `pairs` is None without a baseline.
    unsolved : int
        Number of permutations whose run is unsolved: a limit ended it, it stalled, or no function separates the
        classes. Unsolved runs are excluded from all other numbers.
    """

    runs: int
    mean: float
    sd: float | None
    ratio: float | None = None
    p: float | None = None
    pairs: int | None = None
    unsolved: int = 0

    def show(self, digits: int = 4) -> str:
        """Return "mean ± sd", or a dash without a solved run."""
        if not self.runs:
            return number(None)
        spread = "" if self.sd is None else f" ± {number(self.sd, 2)}"
        return f"{number(self.mean, digits)}{spread}"


def paired_p(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Return the two-sided p of the Wilcoxon signed-rank test: 1 for equal samples, None for fewer than two pairs.

    Parameters
    ----------
    first, second : sequences of float, of one length
        The paired values.

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
    """Return the smallest p that `paired_p` can return for n pairs of different values, 2/2ⁿ.

    `paired_p` returns the smallest p if all differences have the same sign.

    Examples
    --------
    >>> from refsvm.experiment.comparison import least_p
    >>> least_p(5), least_p(6)
    (0.0625, 0.03125)
    """
    return float(2.0 ** (1 - pairs))


def holm(p: Mapping[Any, float]) -> dict[Any, float]:
    """Adjust p-values for multiple tests by Holm's method.

    If you call a difference significant when its adjusted p is below α, the probability of any wrong claim is at most
    α.

    Let p₍ⱼ₎ be the j-th smallest of m p-values. p₍ₖ₎ becomes the largest of (m − j + 1) p₍ⱼ₎ over j ≤ k, but at most 1.

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


@dataclass(frozen=True, repr=False)
class Ranking(Shown):
    """The ranks of strategies over several problems, as `Comparison.friedman` returns them.

    Attributes
    ----------
    mean_rank : mapping of str to float
        Mean rank over the problems, by strategy. On each problem the strategy with the smallest mean has rank 1, and
        strategies with equal means share their ranks.
    p : float
        p of the Friedman test, whose hypothesis is that all strategies have equal ranks.
    problems : int
        Number of problems on which every strategy has a solved run.
    notes : tuple of str
        Notes of the comparison, which say why problems are left out.
    """

    mean_rank: Mapping[str, float]
    p: float
    problems: int
    notes: tuple[str, ...] = ()

    def _card(self) -> Card:
        ranks = sorted(self.mean_rank.items(), key=lambda item: item[1])
        line = f"{len(ranks)} strategies on {counted(self.problems, 'problem')}, p={p_value(self.p)}"
        rows = [(name, f"{rank:.2f}") for name, rank in ranks]
        return Card(line, sentence=line, tables=(Table(("strategy", "mean rank"), rows),))


def summarise(values: Values, baseline: Values | None = None, unsolved: int = 0) -> Summary:
    """Return a `Summary` of the values of a metric, compared with a baseline on the same permutations.

    `unsolved` is the number of unsolved runs, which have no entry in `values`.
    """
    if not values:
        alone = Summary(0, math.nan, None, unsolved=unsolved)
        return alone if baseline is None else replace(alone, ratio=math.nan, p=math.nan, pairs=0)
    own = np.array(list(values.values()), dtype=np.float64)
    mean, sd = float(own.mean()), float(own.std(ddof=1)) if len(own) > 1 else None
    if baseline is None:
        return Summary(len(own), mean, sd, unsolved=unsolved)
    shared = [k for k in values if k in baseline]
    first, second = [values[k] for k in shared], [baseline[k] for k in shared]
    total = sum(second)
    ratio = sum(first) / total if shared and total else None
    return Summary(len(own), mean, sd, ratio, paired_p(first, second), len(shared), unsolved)


@dataclass(frozen=True, repr=False)
class Comparison(Shown):
    """The statistics of a metric for all strategies and problems, as `Experiment.compare` returns them.

    Attributes
    ----------
    metric : str
        Name of the metric.
    problems, strategies : tuples of str
        Names, in the order of the experiment.
    baseline : str or None
        The strategy with which all others are compared.
    cells : mapping
        A `Summary` by (problem, strategy); pairs without a finished run are missing.
    notes : tuple of str
        Notes below the table. They state which problems were refused and why, which runs are unsolved, and whether
        seconds were measured with different engines or machines.
    """

    metric: str
    problems: tuple[str, ...]
    strategies: tuple[str, ...]
    baseline: str | None
    cells: Mapping[tuple[str, str], Summary]
    notes: tuple[str, ...] = ()

    def _card(self) -> Card:
        than = "" if self.baseline is None else f" compared with {cut(self.baseline)}"
        strategies = counted(len(self.strategies), "strategy", "strategies")
        line = f"{self.metric} of {strategies} on {counted(len(self.problems), 'problem')}{than}"
        return Card(line, sentence=line, tables=self.table()._card().tables)

    def geometric_mean(self, strategy: str) -> float | None:
        """Return the geometric mean of the ratios over the problems; None without ratios or for a ratio ≤ 0."""
        cells = (self.cells.get((problem, strategy)) for problem in self.problems)
        ratios = [cell.ratio for cell in cells if cell is not None and cell.ratio is not None]
        known = [ratio for ratio in ratios if not math.isnan(ratio)]
        if not known or min(known) <= 0.0:
            return None
        return math.exp(sum(map(math.log, known)) / len(known))

    def adjusted(self) -> dict[tuple[str, str], float]:
        """Return a dict from (problem, strategy) to p, adjusted by `holm` for the number of comparisons."""
        return holm({place: cell.p for place, cell in self.cells.items() if cell.p is not None and cell.runs})

    def friedman(self) -> Ranking:
        """Rank the strategies by their means on each problem, and test the hypothesis that their ranks are equal.

        Returns
        -------
        Ranking
            The mean ranks, and p.

        Raises
        ------
        ValueError
            If there are fewer than three strategies, or fewer than two problems on which all strategies have solved
            runs.

        References
        ----------
        M. Friedman, "The use of ranks to avoid the assumption of normality implicit in the analysis of variance",
        Journal of the American Statistical Association 32, 1937; J. Demšar, "Statistical comparisons of classifiers
        over multiple data sets", JMLR 7, 2006. Computed by `scipy.stats.friedmanchisquare`.
        """
        whole = [
            problem
            for problem in self.problems
            if all((cell := self.cells.get((problem, name))) and cell.runs for name in self.strategies)
        ]
        if len(self.strategies) < 3 or len(whole) < 2:
            raise ValueError(
                f"{len(self.strategies)} strategies with solved runs on {len(whole)} common problems cannot be "
                "ranked; give at least three strategies and two problems, or use paired_p."
            )
        from scipy.stats import friedmanchisquare, rankdata

        means = np.array([[self.cells[problem, name].mean for name in self.strategies] for problem in whole])
        ranks = rankdata(means, axis=1).mean(axis=0)
        same = bool((means == means[:, :1]).all())  # if all means are equal, Friedman's statistic is 0/0
        p = 1.0 if same else float(friedmanchisquare(*means.T).pvalue)
        return Ranking(dict(zip(self.strategies, ranks.tolist(), strict=True)), p, len(whole), self.notes)

    def _bounds(self) -> tuple[str, ...]:
        """Return a note with the smallest possible p, if there are too few pairs for a p below 0.01."""
        tested = [cell for cell in self.cells.values() if cell.p is not None and cell.runs]
        runs = [cell.runs if cell.pairs is None else cell.pairs for cell in tested]
        few = min(runs, default=99)  # without a test, use a number of orders so large that no note follows
        return (f"With {few} orders p is at least {number(least_p(few), 2)}.",) if least_p(few) > 0.01 else ()

    def table(
        self,
        digits: int = 4,
        beside: Mapping[str, Mapping[str, float | str]] | None = None,
        adjust: bool = False,
    ) -> Grid:
        """Return a table with a row for each problem and the strategies side by side.

        Parameters
        ----------
        digits : int
            Significant digits of a mean, 4 by default.
        adjust : bool
            Whether to show p-values that `holm` has adjusted for all tests of the table.
        beside : mapping, optional
            Further columns, such as published figures: a dict from each header to a dict from problem to entry.

        Returns
        -------
        Grid
            A table of mean ± sd. With a baseline, the table shows ratio and p of the other strategies, and a last row
            with the geometric means of the ratios.
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
        """Return the row for a problem."""
        cells = {name: self.cells.get((problem, name)) for name in self.strategies}
        row = [problem, *("–" if cell is None else cell.show(digits) for cell in cells.values())]
        for name in others:
            cell = cells[name]
            if cell is None or not cell.runs:
                row += ["–", "–"]
            else:
                row += [ratio_of(cell.ratio), p_value(p.get((problem, name)))]
        return row
