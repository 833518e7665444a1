"""Comparison: one metric of all strategies on all problems: means, deviations, ratios, paired Wilcoxon tests."""

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
from refsvm.services.summary import Card, Shown, Table, cut

REFUSED: Final = "REFUSED"
"""Status of a run that the strategy refused."""

UNSOLVED: Final = tuple(status.name for status in REMEDY)
"""Status of runs without a solution: they were cut short, or nothing separates the classes."""

Values = Mapping[int, float]
"""A metric by permutation."""


def values_of(
    records: Sequence[Mapping[str, Any]], metric: str, store: object
) -> dict[tuple[str, str], dict[int, float]]:
    """Return a metric of the solved runs by permutation, for each problem and strategy.

    A refusal lists the metrics that exist.
    """
    if not records:
        raise ValueError(f"store={str(store)!r} holds no finished run of this experiment; call run() first.")
    numeric = {key for each in records for key, value in each.items() if isinstance(value, int | float)}
    numeric -= {"permutation"}  # it numbers the runs, and measures nothing
    refused = [record.get("reason", "") for record in records if record.get("status") == REFUSED]
    if len(refused) == len(records):
        raise ValueError(f"Every run was refused; the first: {refused[0]}")
    if metric not in numeric:
        near = hint(metric, numeric, f"choose from {', '.join(sorted(numeric))}.")
        raise ValueError(f"metric={metric!r} is not a number that the finished runs have; {near}")
    values: dict[tuple[str, str], dict[int, float]] = {}
    for record in records:
        if record.get(metric) is not None and not is_unsolved(record):
            place = values.setdefault((record["problem"], record["strategy"]), {})
            place[record["permutation"]] = record[metric]
    return values


def is_unsolved(record: Mapping[str, Any]) -> bool:
    """Whether a run ended at a limit, stalled, or has no solution."""
    return _status(record) in UNSOLVED


def _status(record: Mapping[str, Any]) -> str:
    """Return the status of a run in capital letters."""
    return str(record.get("status")).upper()


def unsolved_of(records: Iterable[Mapping[str, Any]], metric: str) -> dict[tuple[str, str], int]:
    """Return how many runs with a metric ended unsolved, for each problem and strategy that has some."""
    measured = (record for record in records if record.get(metric) is not None and is_unsolved(record))
    return dict(Counter((record["problem"], record["strategy"]) for record in measured))


def notes_of(records: Sequence[Mapping[str, Any]], metric: str) -> Iterator[str]:
    """Yield the notes below a table of a metric: refusals, runs that ended unsolved, seconds that do not compare."""
    refused = [record for record in records if record.get("status") == REFUSED]
    # one sentence for each pair; the last one put into a dict stays, which is the first refusal
    for record in {(each["problem"], each["strategy"]): each for each in reversed(refused)}.values():
        yield f"{record['strategy']} refused {record['problem']}: {record.get('reason', '')}"
    yield from unsolved_notes(records)
    if "seconds" not in metric:
        return
    measured = [record for record in records if record.get(metric) is not None]
    for key in ("engine", "computed_by"):
        found = sorted({str(record[key]) for record in measured if key in record})
        if len(found) > 1:
            yield f"These seconds were not all measured alike ({key.replace('_', ' ')}: {'; '.join(found)})."


def unsolved_notes(records: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a note for each strategy with runs that ended unsolved or without a solution, or rest on machines that did.

    It says how many, why, and on which problems.
    """
    for name in dict.fromkeys(record["strategy"] for record in records):
        own = [record for record in records if record["strategy"] == name]
        lost = [record for record in own if is_unsolved(record)]
        cut = [record for record in lost if _status(record) != Status.INSEPARABLE.name]
        if cut:
            reasons = ", ".join(sorted({_status(record) for record in cut}))
            yield (
                f"{name} did not converge in {len(cut)} of {len(own)} runs ({reasons}; {_where(cut, own)}), "
                "which are left out."
            )
        if answered := [record for record in lost if record not in cut]:
            yield (
                f"{name} found that no function of the kernel separates the classes in {len(answered)} of {len(own)} "
                f"runs (INSEPARABLE; {_where(answered, own)}), which have no solution to be measured and are left out."
            )
        if resting := [record for record in own if record.get("unfinished") and not is_unsolved(record)]:
            yield (
                f"{name} rests on machines that are not solved in {len(resting)} of {len(own)} runs "
                f"({_where(resting, own)})."
            )


def _where(some: Sequence[Mapping[str, Any]], runs: Sequence[Mapping[str, Any]]) -> str:
    """Return how many of some runs there are on each problem that has one."""
    count, total = (Counter(record["problem"] for record in each) for each in (some, runs))
    return ", ".join(f"{problem} {count[problem]} of {total[problem]}" for problem in count)


@dataclass(frozen=True)
class Summary:
    """One metric of one strategy on one problem.

    Attributes
    ----------
    runs : int
        Number of permutations that were solved.
    mean, sd : float
        Over these; sd with divisor runs − 1, None for a single run. The mean of no run is NaN.
    ratio : float or None
        Of the mean to the baseline's, over the permutations that both have solved; None where there is no baseline, NaN
        where no run is solved.
    p : float or None
        Two-sided Wilcoxon signed-rank test of both over the same permutations; None for fewer than two, NaN where no
        run is solved.
    pairs : int or None
        Number of these permutations; None where there is no baseline.
    unsolved : int
        Number of permutations whose run ended at a limit, stalled, or found that nothing separates the classes. They
        count in nothing else.
    """

    runs: int
    mean: float
    sd: float | None
    ratio: float | None = None
    p: float | None = None
    pairs: int | None = None
    unsolved: int = 0

    def show(self, digits: int = 4) -> str:
        """Return "mean ± sd", a dash if no run is solved."""
        if not self.runs:
            return number(None)
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


@dataclass(frozen=True, repr=False)
class Ranking(Shown):
    """Strategies over several problems; made by `Comparison.friedman`.

    Attributes
    ----------
    mean_rank : mapping of str to float
        By strategy, over the problems; 1 is the smallest mean. Equal means share their ranks.
    p : float
        Of the Friedman test that all strategies rank alike.
    problems : int
        How many problems have all strategies, each with a solved run.
    notes : tuple of str
        Those of the comparison: why problems are left out.
    """

    mean_rank: Mapping[str, float]
    p: float
    problems: int
    notes: tuple[str, ...] = ()

    def _card(self) -> Card:
        ranks = sorted(self.mean_rank.items(), key=lambda item: item[1])
        line = f"{len(ranks)} strategies on {self.problems} problems, p={p_value(self.p)}"
        rows = [(name, f"{rank:.2f}") for name, rank in ranks]
        return Card(line, sentence=line, tables=(Table(("strategy", "mean rank"), rows),))


def _is_number(value: float | None) -> bool:
    """Whether a ratio is known."""
    return value is not None and not math.isnan(value)


def summarise(values: Values, baseline: Values | None = None, unsolved: int = 0) -> Summary:
    """Return mean and deviation of a metric, and how it compares with a baseline on the same permutations.

    `unsolved` counts the runs whose values are none.
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
        Remarks on the table: runs that were refused, and why; how many ended unsolved; seconds of different engines or
        machines.
    """

    metric: str
    problems: tuple[str, ...]
    strategies: tuple[str, ...]
    baseline: str | None
    cells: Mapping[tuple[str, str], Summary]
    notes: tuple[str, ...] = ()

    def _card(self) -> Card:
        than = "" if self.baseline is None else f" compared with {cut(self.baseline)}"
        line = f"{self.metric} of {len(self.strategies)} strategies on {len(self.problems)} problems{than}"
        return Card(line, sentence=line, tables=self.table()._card().tables)

    def geometric_mean(self, strategy: str) -> float | None:
        """Return exp of the mean of log ratio over the problems; None without ratios, or where one is not positive."""
        ratios = [
            cell.ratio
            for problem in self.problems
            if (cell := self.cells.get((problem, strategy))) is not None and _is_number(cell.ratio)
        ]
        known = [ratio for ratio in ratios if ratio is not None]
        if not known or min(known) <= 0.0:
            return None
        return math.exp(sum(map(math.log, known)) / len(known))

    def adjusted(self) -> dict[tuple[str, str], float]:
        """Return the p of every (problem, strategy) that is compared, adjusted by `holm` for being so many."""
        return holm({place: cell.p for place, cell in self.cells.items() if cell.p is not None and cell.runs})

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
            if all((cell := self.cells.get((problem, name))) and cell.runs for name in self.strategies)
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
        return Ranking(dict(zip(self.strategies, ranks.tolist(), strict=True)), p, len(whole), self.notes)

    def _bounds(self) -> tuple[str, ...]:
        """Return a note on the smallest p, if there are too few pairs for one below 0.01."""
        tested = [cell for cell in self.cells.values() if cell.p is not None and cell.runs]
        runs = [cell.runs if cell.pairs is None else cell.pairs for cell in tested]
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
            row += (
                ["–", "–"]
                if cell is None or not cell.runs
                else [ratio_of(cell.ratio), p_value(p.get((problem, name)))]
            )
        return row
