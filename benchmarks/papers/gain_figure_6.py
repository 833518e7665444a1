"""Figure 6 of Glasmachers & Igel (2006): HMG beside the other selectors over C and γ."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

from gain_problems import HMG_KKT, MVP, SECOND, strategies, tasks
from page import carried_out
from remarks import MAXIMUM_GAIN as REMARKS

from refsvm import RBF
from refsvm.experiment import Experiment, Grid, Problem
from refsvm.experiment.grid import ratio_of

__all__ = ["figure_6"]


def figure_6(script: Any, data_dir: Path | None, n: int) -> None:
    """HMG against the others over C and γ."""
    base = tasks(data_dir, {"connect-4": n})["connect-4"]
    factors = (0.01, 0.1, 1.0, 10.0, 100.0)
    gamma = 1 / (2 * base.sigma**2)
    problems = {
        (a, b): Problem(f"C = {a * base.C:g}, γ = {b * gamma:.3g}", base.load, RBF(b * gamma), a * base.C)
        for a, b in product(factors, factors)
    }
    solves = [solve for solve in strategies(base, False) if solve.name in (MVP, SECOND, HMG_KKT)]
    runs = carried_out("Figure 6", Experiment(solves, list(problems.values()), script.store), script.jobs)
    marks = degenerate(runs, n)
    grids = []
    for metric, other in product(("kernel_rows", "cpu"), (MVP, SECOND)):
        comparison = runs.compare(metric, other)
        rows = tuple(
            (f"γ = {b * gamma:.3g}", *(ratio_of(comparison.cells[problems[a, b].name, HMG_KKT].ratio)
                                       + marks[problems[a, b].name] for a in factors))
            for b in factors
        )  # fmt: skip
        what = f"{'CPU seconds' if metric == 'cpu' else 'kernel rows'} of HMG / {other}"
        grids.append(Grid((what, *(f"C = {a * base.C:g}" for a in factors)), rows))
    text = (
        f"All solves of {base.name} are in one order, without shrinking, and end by the KKT gap. Below 1 HMG is ahead. "
        "† at least 99 % of the examples are support vectors; ‡ at least 99 % of the support vectors are at the bound."
    )
    ahead = {
        metric: sum(
            (runs.compare(metric, SECOND).cells[each.name, HMG_KKT].ratio or 1.0) < 1.0
            for each in problems.values()
        )
        for metric in ("kernel_rows", "cpu")
    }
    own = " and ".join(
        ratio_of(runs.compare("kernel_rows", other).cells[problems[1.0, 1.0].name, HMG_KKT].ratio)
        for other in (MVP, SECOND)
    )
    remark = REMARKS["figure 6"].format(own=own, rows=ahead["kernel_rows"], seconds=ahead["cpu"])
    script.page.add("Figure 6: C and γ", text, *grids, remark)


def degenerate(runs: Experiment, n: int) -> dict[str, str]:
    """The marks of the figure: nearly all examples support vectors, nearly all of those at the bound."""
    vectors, bounded = (
        runs.compare(metric).cells for metric in ("support_vectors", "bounded_support_vectors")
    )
    marks = {}
    for problem in runs.problems:
        place = problem.name, SECOND
        many, tied = vectors[place].mean >= 0.99 * n, bounded[place].mean >= 0.99 * vectors[place].mean
        marks[problem.name] = " " + "†" * many + "‡" * tied
    return marks
