"""Table 3 and Figure 1 of Franc, Laskov & Müller (2008) with deviations over realisations, by either solver.

The paper used Improved SMO; the sections *as printed* move the most violating pair.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from refsvm.experiment import Grid

__all__ = [
    "COLUMNS",
    "figure_1_with_deviations",
    "table_3_by_realisation",
    "table_3_with_deviations",
    "what_their_table_says",
    "where_curves_part",
]

COLUMNS = {
    "banana": (109.5, 222.4), "breast-cancer": (34.6, 74.0), "diabetis": (432.1, 382.3), "flare-solar": (4.7, 189.1),
    "german": (3685.7, 549.4), "heart": (90.1, 20.7), "image": (4793.8, 514.5), "ringnorm": (1536.0, 47.4),
    "splice": (2222.1, 453.8), "thyroid": (8.2, 3.3), "titanic": (0.1, 7.9), "twonorm": (8.3, 36.8),
    "waveform": (503.3, 59.4),
}  # fmt: skip
"""KerEval of the standard approach in Table 3, millions of kernel columns in five realisations: linear, RBF."""


def table_3_with_deviations(
    names: Sequence[str],
    records: Mapping[str, list[dict[str, Any]]],
    published: Mapping[str, tuple[float, float, float]],
    kernel: str,
) -> Grid:
    """Speed-ups and Prec of each realisation, summed over its models: means and standard deviations of a set."""
    rows = []
    for name in names:
        solved = [record for record in records[name] if record["standard: error"] is not None]
        parts = _by_realisation(solved)
        there = (*published[name], COLUMNS[name][kernel == "RBF"])
        columns = [_columns(part) for part in parts]
        wrong = sum(record["standard: wrong"] != record["proposed: wrong"] for record in solved)
        rows.append((
            name, f"{len(parts)}",
            _mean([_sum(part, "standard: cpu") / _sum(part, "proposed: cpu") for part in parts]), f"{there[0]:.1f}",
            _mean([a / b for a, b in columns]), f"{there[1]:.1f}",
            _mean([_sum(part, "standard: values") / _sum(part, "proposed: values") for part in parts]),
            _mean([100 * _sum(part, "proposed: early") / max(_sum(part, "proposed: rounds"), 1) for part in parts]),
            f"{there[2]:.1f}",
            f"{1e-6 * 5 * np.mean([a for a, _ in columns]):.3g}", f"{there[3]:.3g}",
            f"{1e-6 * 5 * np.mean([_sum(part, 'standard: values') for part in parts]):.3g}",
            f"{sum(bool(record['proposed: kept']) for record in solved)} of {len(solved)}",
            f"{len(records[name]) - len(solved)}", f"{wrong}",
        ))  # fmt: skip
    heads = (
        "set", "realisations", "time", "there", "KerEval", "there", "known G", "Prec %", "there",
        "KerEval of the standard approach, 10⁶", "there", "known G, 10⁶", "models that keep the rule",
        "models not solved", "models with other errors",
    )  # fmt: skip
    return Grid(heads, tuple(rows))


def table_3_by_realisation(
    names: Sequence[str],
    records: Mapping[str, list[dict[str, Any]]],
    published: Mapping[str, tuple[float, float, float]],
) -> Grid:
    """The table as printed, with the mean and the standard deviation of the realisations of each set."""
    rows = []
    for name in names:
        parts = _by_realisation([each for each in records[name] if each["standard: error"] is not None])
        there = published[name]
        rows.append((
            name, f"{len(parts)}",
            _mean([_sum(part, "standard: cpu") / _sum(part, "proposed: cpu") for part in parts], 2), f"{there[0]:.1f}",
            _mean([a / b for a, b in map(_columns, parts)]), f"{there[1]:.1f}",
            _mean([100 * _sum(part, "proposed: early") / max(_sum(part, "proposed: rounds"), 1) for part in parts]),
            f"{there[2]:.1f}",
        ))  # fmt: skip
    heads = "set", "realisations", "time", "there", "KerEval", "there", "Prec %", "there"
    return Grid(heads, tuple(rows))


def where_curves_part(records: Sequence[dict[str, Any]], tolerances: Sequence[str]) -> list[str]:
    """Return for each realisation the largest ε up to which both curves of Figure 1 coincide, if it chooses alone."""
    too_long = {record["problem"] for record in records if record["error"] is None}
    solved = [record for record in records if record["problem"] not in too_long]
    found = []
    for order in sorted({record["permutation"] for record in solved}):
        errors: dict[str, dict[str, float]] = {tol: {} for tol in tolerances}
        for each in (each for each in solved if each["permutation"] == order):
            errors[each["strategy"]][each["problem"]] = each["error"]
        best, last = min(errors[tolerances[0]], key=errors[tolerances[0]].__getitem__), tolerances[0]
        for tol in tolerances:
            if min(errors[tol].values()) < errors[tol][best]:
                break
            last = tol
        found.append(last)
    return found


def what_their_table_says(table: Grid) -> str:
    """Say where the figures of the paper lie within two standard deviations of ours."""
    rows = [dict(zip(_distinct(table.headers), row, strict=True)) for row in table.rows]
    words = []
    for name, there, what in (
        ("time", "there", "the speed-up in time"), ("KerEval", "there:1", "the speed-up in whole columns"),
        ("known G", "there:1", "the speed-up in known G"), ("Prec %", "there:2", "Prec"),
    ):  # fmt: skip
        near = [
            row["set"]
            for row in rows
            if abs(_parts(row[name])[0] - float(row[there])) <= 2 * _parts(row[name])[1]
        ]
        words.append(f"{what} on {len(near)} of {len(rows)} sets" + (f" ({', '.join(near)})" if near else ""))
    apart = sum(int(row["models with other errors"]) for row in rows)
    ways = ("KerEval of the standard approach, 10⁶", "known G, 10⁶")
    whole, known = ([float(row[way]) / float(row["there:3"]) for row in rows] for way in ways)
    return (
        "These published figures lie within two standard deviations of our means: "
        f"{'; '.join(words)}. Counted in whole columns, KerEval of our standard approach is {min(whole):.2g} "
        f"to {max(whole):.2g} times the paper's KerEval; counted by *known G*, it is {min(known):.2g} to "
        f"{max(known):.2g} times the paper's KerEval. The number of models for which the two approaches count "
        f"different numbers of errors is {apart}."
    )


def _distinct(names: Sequence[str]) -> list[str]:
    """Number the columns of one name, as `page_tables.Tables` does."""
    return [f"{name}:{names[:i].count(name)}" if name in names[:i] else name for i, name in enumerate(names)]


def _parts(cell: str) -> tuple[float, float]:
    """Return the mean and the deviation of a cell; infinity if there is one realisation."""
    mean, _, spread = cell.partition(" ± ")
    return float(mean), float(spread or "inf")


def figure_1_with_deviations(records: Sequence[dict[str, Any]], tolerances: Sequence[str]) -> Grid:
    """The error at each ε of the model with the smallest one, and of the model chosen at the first ε.

    As in the paper a model is chosen by the mean of its errors in all realisations. The deviations are those of the
    change from the first ε, which is known better than the error itself.
    """
    too_long = {record["problem"] for record in records if record["error"] is None}
    errors: dict[str, dict[str, dict[int, float]]] = {tol: {} for tol in tolerances}
    for each in (each for each in records if each["problem"] not in too_long):
        errors[each["strategy"]].setdefault(each["problem"], {})[each["permutation"]] = 100.0 * each["error"]
    chosen = {tol: min(models, key=lambda name: _average(models[name])) for tol, models in errors.items()}
    first, rows = tolerances[0], []
    orders = sorted(errors[first][chosen[first]])
    reference = np.array([errors[first][chosen[first]][order] for order in orders])
    for tol in tolerances:
        cells = []
        for model in (chosen[tol], chosen[first]):
            here = np.array([errors[tol][model][order] for order in orders])
            change = here - reference
            cells += [
                f"{here.mean():.2f}",
                f"{change.mean():+.2f} ± {change.std(ddof=1) if len(change) > 1 else 0:.2f}",
            ]
        runs = [each for each in records if each["strategy"] == tol and each["problem"] not in too_long]
        rows.append(
            (tol, *cells, f"{sum(each['iterations'] for each in runs):,}", f"{_sum(runs, 'cpu'):.1f}")
        )
    heads = (
        "ε", "LOO % of the model chosen at ε", "change", "LOO % at ε of the model chosen at 1e-4", "change of that",
        "steps", "CPU s",
    )  # fmt: skip
    return Grid(heads, tuple(rows))


def _by_realisation(records: Sequence[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Return the records of each order of the examples."""
    parts: dict[int, list[dict[str, Any]]] = {}
    for record in records:
        parts.setdefault(record["permutation"], []).append(record)
    return list(parts.values())


def _columns(part: Sequence[dict[str, Any]]) -> tuple[float, float]:
    """Return the kernel columns of both approaches if each step reads whole ones: two for α, one for η."""
    standard = 2 * _sum(part, "standard: iterations")
    return standard, 2 * _sum(part, "proposed: iterations") + _sum(part, "proposed: gamma_steps")


def _mean(values: Sequence[float], digits: int = 1) -> str:
    """Return a mean, and its standard deviation if there are two values or more."""
    spread = f" ± {np.std(values, ddof=1):.{digits}f}" if len(values) > 1 else ""
    return f"{np.mean(values):.{digits}f}{spread}"


def _average(errors: Mapping[int, float]) -> float:
    return float(np.mean(list(errors.values())))


def _sum(records: Sequence[dict[str, Any]], metric: str) -> float:
    return float(sum(record[metric] for record in records))
