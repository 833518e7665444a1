"""``refsvm path``: trains for every C of a range, and shows the error as a function of C."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from refsvm import Status, regularization_path
from refsvm.analysis.paths import (
    ErrorCurve,
    OneVsOnePath,
    RegularizationPath,
    cross_validate_path,
)
from refsvm.analysis.scheme import OneVsOne
from refsvm.cli import options, tables
from refsvm.cli.choices import TRACKERS, one
from refsvm.cli.data import Opened, Output, Training, label_text
from refsvm.cli.messages import interrupted
from refsvm.cli.options import flag, one_of, option
from refsvm.cli.pictures import picture
from refsvm.core._checks import whole
from refsvm.core.engine.limits import interruptible
from refsvm.core.rounds.machine import CLASSIFICATION, NOVELTY, REGRESSION
from refsvm.datasets import binary_labels
from refsvm.experiment import TrackPath


@options.in_one("C", "nu", "tol", "max_iter", cache_mb=1000.0)
def path(
    data: options.Data,
    tracker: Annotated[str, one_of(TRACKERS)] = "svmp",
    c_min: Annotated[float, flag("--C-min", "Smallest C.")] = 1e-4,
    c_max: Annotated[float, flag("--C-max", "Largest C.")] = 1e3,
    folds: Annotated[int | None, option("K", "Also cross-validate at every C, with K folds.")] = None,
    *,
    engine: options.Engine = "auto",
    training: Training,
    output: Output,
) -> None:
    """Train a classifier or regression for every C of a range; print the breakpoints and, with --folds, the best C."""
    chosen = one("tracker", tracker, TRACKERS)()
    if folds is not None:
        whole("folds", folds, 2)
    output.refuse_unwritable(training.place_of(data))
    opened = training.opened(data)
    arguments, labels = machines_of(opened, folds, output.plot)
    common: dict[str, Any] = {
        "C_min": c_min, "C_max": c_max, "tracker": chosen, "engine": engine, "cache_mb": training.cache_mb,
    }  # fmt: skip
    # load compiled code before the seconds are measured
    TrackPath("", chosen, c_min, c_max, engine=engine).warm_up()
    curve = None
    with interruptible():  # after Ctrl-C, show the path so far
        result = regularization_path(**arguments, time_limit=training.time_limit, **common)
    is_cut = result.status is Status.INTERRUPTED
    if folds is not None and not is_cut:
        curve = cross_validate_path(opened.data.X, labels, kernel=opened.kernel, folds=folds, **common).curve
    summary = {**training.described(opened), **_summary(result), **_best(curve)}
    if output.plot is not None:
        _draw(result, curve, output.plot)
    output.show(summary, _rows(summary), partial(_tell, opened, result, summary))
    if is_cut:
        interrupted()


def machines_of(opened: Opened, folds: int | None, plot: Path | None) -> tuple[dict[str, Any], np.ndarray]:
    """Return the arguments of `regularization_path`, and the labels; raise an error for novelty detection."""
    if opened.task == NOVELTY:
        raise ValueError(
            "task='novelty' has no path of C, because C only scales alpha; follow nu with refsvm.nu_path in Python."
        )
    if opened.task == REGRESSION and folds is not None:
        raise ValueError(
            f"folds={folds!r} needs the error along the path, but a regression's error is not a step function of C; "
            "omit --folds, and call 'refsvm cv' for some C."
        )
    y = opened.data.y
    if opened.task == CLASSIFICATION and (k := len(np.unique(y))) > 2:
        if plot is not None and folds is None:
            raise ValueError(
                f"With {k} classes, plot={str(plot)!r} draws the error along the path; add --folds to compute it."
            )
        return {"X": opened.data.X, "y": y, "kernel": opened.kernel}, y
    y = y if opened.task == REGRESSION else binary_labels(y)
    problem = opened._replace(data=replace(opened.data, y=y), C=1.0).instance().dual()
    return {"X": problem}, problem.v


def _summary(result: RegularizationPath | OneVsOnePath) -> dict[str, Any]:
    """Return a dict of numbers that summarise a path, or the paths of all pairs of classes."""
    if isinstance(result, OneVsOnePath):
        return _summary_of_pairs(result)
    result.check_not_empty()
    kinds, counts = np.unique(result.record.kind, return_counts=True)
    return TrackPath("").measured(result) | {
        "tracker": result.tracker,
        "C_min": float(result.C[0]),
        "C_max": float(result.C[-1]),
        "kinds": dict(zip(kinds.tolist(), counts.tolist(), strict=True)),
        "C": result.C.tolist(),
        "elbow": result.record.elbow.tolist(),
    }


def _summary_of_pairs(paths: OneVsOnePath) -> dict[str, Any]:
    """Return a dict with the summary of each pair's path, and with sums and extremes over the pairs."""
    parts = [_summary(path) for path in paths.paths]
    names = OneVsOne(len(paths.classes)).named(np.array([*map(label_text, paths.classes.tolist())]))
    kinds = Counter[str]()
    for part in parts:
        kinds.update(part["kinds"])
    summed, largest = ("breakpoints", "events"), ("largest_elbow", "kkt_violation")
    return {
        **{name: sum(part[name] for part in parts) for name in summed},
        **{name: max(part[name] for part in parts) for name in largest},
        "seconds": paths.seconds,
        "status": paths.status.name,
        "tracker": parts[0]["tracker"],
        "C_min": max(part["C_min"] for part in parts),
        "C_max": min(part["C_max"] for part in parts),
        "kinds": dict(kinds),
        "C": paths.C.tolist(),
        "pairs": [{"first": p, "second": q, **part} for (p, q), part in zip(names, parts, strict=True)],
    }


def _best(curve: ErrorCurve | None) -> dict[str, Any]:
    """Return the best C and the curve of the cross-validation error as a dict; an empty dict without --folds."""
    if curve is None:
        return {}
    low, high, error = curve.best()
    description = {
        "best_C": [low, high],
        "error": error,
        "C": curve.C.tolist(),
        "errors": curve.error.tolist(),
    }
    return {"cross_validation": description}


def _rows(summary: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a row for each breakpoint; with several pairs of classes, a row names the classes of its pair."""
    return [
        {name: part[name] for name in ("first", "second") if name in part} | {"C": C, "elbow": elbow}
        for part in summary.get("pairs", [summary])
        for C, elbow in zip(part["C"], part["elbow"], strict=True)
    ]


def _tell(opened: Opened, result: RegularizationPath | OneVsOnePath, summary: dict[str, Any]) -> None:
    """Print the data, the summary of the path, its largest KKT violation, and the C chosen by cross-validation."""
    own = ", ".join([repr(opened.kernel), *(f"{name}={value:.6g}" for name, value in opened.own.items())])
    tables.echo(f"{summary['data']}, {own}\n{result}\n")
    tables.echo(f"Worst violation of the optimality conditions: {summary['kkt_violation']:.1e}.")
    if result.status is not Status.CONVERGED:
        tables.echo(result.status.value)
    if "cross_validation" in summary:
        (low, high), error = summary["cross_validation"]["best_C"], summary["cross_validation"]["error"]
        tables.echo(f"Least error of cross-validation: {error:.4f}, for C from {low:.6g} to {high:.6g}.")


def _draw(result: RegularizationPath | OneVsOnePath, curve: ErrorCurve | None, file: Path) -> None:
    """Draw the path if it is the only path, and the curve of the cross-validation error if it was computed."""
    from refsvm.display import PathDisplay, ValidationPathDisplay

    path = result if isinstance(result, RegularizationPath) else None
    with picture(file, rows=(path is not None) + (curve is not None)) as axes:
        if path is not None:
            PathDisplay.from_path(path, ax=axes[0])
        if curve is not None:
            ValidationPathDisplay({"cross-validation": curve}).plot(axes[-1])
