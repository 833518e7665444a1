"""How long planned steps are: Figure 3 and §7.3 of Glasmachers (2008)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from page import Page, carried_out
from remarks import PLANNING_AHEAD as REMARKS

from refsvm import PlanningAheadStep, SecondOrder, Solution
from refsvm.experiment import STEP_RATIO_EDGES, Experiment, Grid, Problem, Solve
from refsvm.experiment.grid import number
from refsvm.experiment.strategy import Record

__all__ = ["LARGEST", "TracedSolve", "step_sizes"]

ORDERS = 2
LARGEST = "largest μ/μ̂ − 1"
"""The column of the longest planned step."""


@dataclass(frozen=True)
class TracedSolve(Solve):
    """One solve with its trace; the record also has ``largest``, the largest μ/μ̂ − 1 of its planned steps."""

    trace: bool = True

    def measured(self, result: Solution) -> Record:
        """Return the stored numbers of a solution."""
        assert result.trace is not None
        planned = result.trace["planned"] == 1
        ratio = result.trace["step"][planned] / result.trace["newton"][planned] - 1.0
        return super().measured(result) | {"largest": float(ratio.max(initial=0.0))}


TRACED = TracedSolve(
    "PA-SMO", selector=SecondOrder(), step=PlanningAheadStep(), shrinking=False, cache_mb=1000.0, max_iter=10**10,
    cache_dtype="float64",
)  # fmt: skip


def step_sizes(page: Page, chosen: Any, problems: Sequence[Problem], board: Sequence[Problem]) -> None:
    """Measure the histograms of Figure 3, on all sets, and on the large chessboard in one order if it is asked for."""
    some = Experiment([TRACED], problems, chosen.store, min(ORDERS, chosen.permutations))
    records = carried_out("Step sizes", some, chosen.jobs).records()
    if board:
        one = Experiment([TRACED], board, chosen.store)
        records += carried_out("Step sizes, large", one, chosen.jobs).records()
    names = list(dict.fromkeys(record["problem"] for record in records))
    counts = {name: total(records, name, "step_ratio_histogram") for name in names}
    largest = {name: max(each["largest"] for each in records if each["problem"] == name) for name in names}
    edges = [number(edge, 3) if np.isfinite(edge) else "" for edge in STEP_RATIO_EDGES]
    bins = [f"{low} … {high}".strip() for low, high in pairwise(edges)]
    rows = []
    for name in names:
        orders = sum(record["problem"] == name for record in records)
        planned = 100 * counts[name].sum() / total(records, name, "iterations")
        shares = [share(count, counts[name].sum()) for count in counts[name]]
        rows.append((name, f"{orders}", f"{planned:.1f}", *shares, number(largest[name], 3)))
    heads = ("problem", "orders", "planned, % of all steps", *bins, LARGEST)
    page.add(
        "§7.3: planned step sizes", "Percent of the planned steps by μ/μ̂ − 1:", Grid(heads, tuple(rows)),
        remark(counts, largest),
    )  # fmt: skip


def total(records: Sequence[Record], name: str, metric: str) -> Any:
    """Add up a metric over the orders of a problem."""
    return np.sum([record[metric] for record in records if record["problem"] == name], axis=0)


def share(count: int, of: int) -> str:
    """Return a share in per cent, without hiding that a few of millions are there."""
    percent = 100 * count / max(of, 1)
    return "0" if not count else f"{percent:.2f}" if percent >= 0.01 else f"{percent:.0e}"


def remark(counts: dict[str, np.ndarray], largest: dict[str, float]) -> str:
    """Say what the histograms have in common."""
    low = np.array(STEP_RATIO_EDGES[:-1])
    shares = {name: each / max(each.sum(), 1) for name, each in counts.items()}
    by_a_fifth = [each[(low >= -0.1) & (low < 0.2)].sum() for each in shares.values()]
    doubled = [100 * each[low >= 1.0].sum() for each in shares.values()]
    longest = max(largest, key=largest.__getitem__)
    text = REMARKS["7.3 thousands"] if largest[longest] >= 1000.0 else REMARKS["7.3 no thousands"]
    return REMARKS["7.3 sizes"].format(
        half=sum(each > 0.5 for each in by_a_fifth), of=len(counts), least=f"{min(doubled):.0f}",
        most=f"{max(doubled):.0f}", shorter=sum(int(each[low < -0.1].sum()) for each in counts.values()) or "none",
        below=f"{100 * max(each[low == -0.1].sum() for each in shares.values()):.2f}",
    ) + text.format(largest=number(largest[longest], 3), where=longest)  # fmt: skip
