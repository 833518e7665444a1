"""``refsvm path``: the whole path of C, and the error along it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from refsvm import DualProblem, Status, regularization_path
from refsvm._checks import whole
from refsvm.cli import options, tables
from refsvm.cli.choices import TRACKERS, one
from refsvm.cli.data import Opened, Output, Training
from refsvm.cli.messages import interrupted
from refsvm.cli.options import flag, one_of, option
from refsvm.cli.pictures import picture
from refsvm.datasets import binary_labels
from refsvm.experiment import TrackPath
from refsvm.paths import Breakpoint, RegularizationPath, cross_validate_path
from refsvm.rounds.task import CLASSIFICATION, NOVELTY, REGRESSION


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
    """Train for every C of a range at once, two classes or a regression: breakpoints of α, and the best C of folds."""
    chosen = one("tracker", tracker, TRACKERS)()
    if folds is not None:
        whole("folds", folds, 2)
    opened = training.opened(data)
    problem, n = problem_of(opened, folds), opened.data.n
    common: dict[str, Any] = {
        "C_min": c_min, "C_max": c_max, "tracker": chosen, "engine": engine, "cache_mb": training.cache_mb,
    }  # fmt: skip
    # compiled before the clock starts, by which the rest is estimated
    TrackPath("", chosen, c_min, c_max, engine=engine).warm_up()
    curve = None
    with tables.working() as show:
        show(f"{n} examples: a kernel matrix of {n**2 / 2**17:.3g} MiB, and the start")
        # no callback where nothing is shown: each call takes time from the path
        watch = None if show is tables.unseen else _Watch(show, c_min, c_max)
        found = regularization_path(problem, time_limit=training.time_limit, callback=watch, **common)
        is_cut = found.status is Status.INTERRUPTED
        if folds is not None and not is_cut:
            # a path per fold takes about as long as the one that is known
            show(f"{folds} paths for cross-validation, about {folds * found.seconds:.0f} s in all")
            some = {"kernel": opened.kernel, "folds": folds, **common}
            curve = cross_validate_path(opened.data.X, problem.v, **some).curve
        show(f"checking the optimality conditions of {len(found.C)} breakpoints")
        summary = {**training.described(opened), **_summary(found, curve)}
    if output.plot is not None:
        _draw(found, curve, output.plot)
    rows = [{"C": C, "elbow": elbow} for C, elbow in zip(summary["C"], summary["elbow"], strict=True)]
    output.show(summary, rows, partial(_tell, opened, summary))
    if is_cut:
        interrupted()


def problem_of(opened: Opened, folds: int | None) -> DualProblem:
    """Return the problem of a path of C, that of C = 1, or refuse a task that has none."""
    if opened.task == NOVELTY:
        raise ValueError(
            "task='novelty' has no path of C, which is a scale there; follow nu by refsvm.nu_path in Python."
        )
    if opened.task == REGRESSION and folds is not None:
        raise ValueError(
            f"folds={folds!r} asks for the error along the path, and that of a regression is no step function of C; "
            "leave it out, and call 'refsvm cv' at some C."
        )
    y, several = opened.data.y, len(np.unique(opened.data.y)) > 2
    if opened.task == CLASSIFICATION and several:
        raise ValueError(
            f"{opened.data.name} has {len(np.unique(y))} classes, and this command follows two of them or targets; "
            "follow several by refsvm.regularization_path in Python, give two classes, or choose C by 'refsvm tune'."
        )
    y = y if opened.task == REGRESSION else binary_labels(y)
    return opened._replace(data=replace(opened.data, y=y), C=1.0).instance().dual()


class _Watch:
    """Shows how far a path is, and how long the rest may take: as long as what was done, on the axis of log C."""

    def __init__(self, show: Callable[[str], None], c_min: float, c_max: float) -> None:
        self._show, self._range, self._began = show, (c_min, c_max), time.monotonic()
        self._last, self._count = 0.0, 0

    def __call__(self, point: Breakpoint) -> bool:
        """Show the progress at a breakpoint; never end the path."""
        now, (low, high) = time.monotonic(), self._range
        self._count += 1
        if now - self._last > tables.REFRESH_SECONDS:
            self._last, done = now, math.log(point.C / low) / math.log(high / low)
            rest = f", about {(now - self._began) * (1.0 / done - 1.0):.0f} s left" if done > 0.0 else ""
            self._show(f"C = {point.C:.3g}, {self._count} breakpoints, {point.elbow} on the elbow{rest}")
        return False


def _summary(found: RegularizationPath, curve: Any) -> dict[str, Any]:
    """Collect what is worth knowing about a path."""
    found.check_not_empty()
    kinds, counts = np.unique(found.record.kind, return_counts=True)
    summary = TrackPath("").measured(found) | {
        "tracker": found.tracker,
        "C_min": float(found.C[0]),
        "C_max": float(found.C[-1]),
        "kinds": dict(zip(kinds.tolist(), counts.tolist(), strict=True)),
        "C": found.C.tolist(),
        "elbow": found.record.elbow.tolist(),
    }
    if curve is not None:
        low, high, error = curve.best()
        summary["cross_validation"] = {
            "best_C": [low, high],
            "error": error,
            "C": curve.C.tolist(),
            "errors": curve.error.tolist(),
        }
    return summary


def _tell(opened: Opened, summary: dict[str, Any]) -> None:
    """Print a summary in sentences."""
    kinds = ", ".join(f"{count} {kind}" for kind, count in summary["kinds"].items())
    sentence = (
        "{data}, {told}: C from {C_min:.6g} to {C_max:.6g}, {breakpoints} breakpoints ({shown}), at most "
        "{largest_elbow} points on the elbow, {seconds:.2f} s."
    )
    own = ", ".join([repr(opened.kernel), *(f"{name}={value:.6g}" for name, value in opened.own.items())])
    typer.echo(sentence.format(shown=kinds, told=own, **summary))
    typer.echo(f"Worst violation of the optimality conditions: {summary['kkt_violation']:.1e}.")
    if summary["status"] != "CONVERGED":
        typer.echo(Status[summary["status"]].value)
    if "cross_validation" in summary:
        (low, high), error = summary["cross_validation"]["best_C"], summary["cross_validation"]["error"]
        typer.echo(f"Least error of cross-validation: {error:.4f}, for C from {low:.6g} to {high:.6g}.")


def _draw(found: RegularizationPath, curve: Any, file: Path) -> None:
    """Draw the path, and below it the error."""
    from refsvm.display import PathDisplay, ValidationPathDisplay

    with picture(file, rows=1 if curve is None else 2) as axes:
        PathDisplay.from_path(found, ax=axes[0])
        if curve is not None:
            ValidationPathDisplay({"cross-validation": curve}).plot(axes[1])
