"""``refsvm path``: the whole path of C, and the error along it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from refsvm._checks import whole
from refsvm.cli import options
from refsvm.cli.choices import one
from refsvm.cli.data import described, kernel_and_penalty, open_labelled
from refsvm.cli.messages import INTERRUPTED
from refsvm.datasets import binary_labels
from refsvm.paths import SVMP, Hastie, RegularizationPath, cross_validate_path, regularization_path
from refsvm.result import Status

__all__ = ["path"]

TRACKERS = {"svmp": SVMP, "hastie": Hastie}


def path(
    data: options.Data,
    tracker: Annotated[str, typer.Option(metavar="NAME", help=f"One of {', '.join(TRACKERS)}.")] = "svmp",
    kernel: options.KernelName = "rbf",
    gamma: options.Gamma = None,
    c_min: Annotated[float, typer.Option("--C-min", help="Smallest C.")] = 1e-4,
    c_max: Annotated[float, typer.Option("--C-max", help="Largest C.")] = 1e3,
    folds: Annotated[
        int | None, typer.Option(metavar="K", help="Also cross-validate at every C, with K folds.")
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw the path, and the error with --folds, as .png or .pdf."),
    ] = None,
    degree: options.Degree = 3,
    coef0: options.Coef0 = 0.0,
    engine: options.Engine = "auto",
    cache_mb: Annotated[
        float, typer.Option("--cache-mb", help="Memory for the kernel matrix, in MiB.")
    ] = 1000.0,
    time_limit: options.TimeLimit = None,
    as_json: options.Json = False,
    label: options.Label = None,
    data_dir: options.DataDir = None,
) -> None:
    """Train for every C of a range at once: breakpoints of α, and where cross-validation is best."""
    chosen = one("tracker", tracker, TRACKERS)()
    if folds is not None:
        whole("folds", folds, 2)
    if plot is not None and (not plot.absolute().parent.is_dir() or plot.is_dir()):
        raise ValueError(f"plot={str(plot)!r} cannot be written; give a file in a directory that exists.")
    dataset = open_labelled(data, label, data_dir)
    y = binary_labels(dataset.y)
    k, _ = kernel_and_penalty(dataset, kernel, gamma, None, degree, coef0)
    common: dict[str, Any] = {
        "kernel": k, "C_min": c_min, "C_max": c_max, "tracker": chosen, "engine": engine, "cache_mb": cache_mb
    }  # fmt: skip
    found = regularization_path(dataset.X, y, time_limit=time_limit, **common)
    interrupted = found.status is Status.INTERRUPTED
    curve = None
    if folds is not None and not interrupted:
        curve = cross_validate_path(dataset.X, y, folds=folds, **common).curve
    if plot is not None:
        _draw(found, curve, plot)
    summary = _summary(found, curve)
    if as_json:
        typer.echo(json.dumps({**described(dataset), "kernel": repr(k), **summary}))
    else:
        _tell(dataset.name, repr(k), summary)
    if interrupted:
        raise typer.Exit(INTERRUPTED)


def _summary(found: RegularizationPath, curve: Any) -> dict[str, Any]:
    """Collect what is worth knowing about a path."""
    kinds, counts = np.unique(found.record.kind, return_counts=True)
    summary: dict[str, Any] = {
        "tracker": found.tracker,
        "status": found.status.name,
        "C_min": float(found.C[0]),
        "C_max": float(found.C[-1]),
        "breakpoints": len(found.C),
        "events": len(found.events),
        "kinds": dict(zip(kinds.tolist(), counts.tolist(), strict=True)),
        "largest_elbow": int(found.record.elbow.max()),
        "kkt_violation": found.kkt_audit().worst,
        "seconds": found.seconds,
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


def _tell(name: str, kernel: str, summary: dict[str, Any]) -> None:
    """Print a summary in sentences."""
    kinds = ", ".join(f"{count} {kind}" for kind, count in summary["kinds"].items())
    typer.echo(
        f"{name}, {kernel}: C from {summary['C_min']:.6g} to {summary['C_max']:.6g}, {summary['breakpoints']} "
        f"breakpoints ({kinds}), at most {summary['largest_elbow']} points on the elbow, {summary['seconds']:.2f} s."
    )
    typer.echo(f"Worst violation of the optimality conditions: {summary['kkt_violation']:.1e}.")
    if summary["status"] != "CONVERGED":
        typer.echo(Status[summary["status"]].value)
    if "cross_validation" in summary:
        (low, high), error = summary["cross_validation"]["best_C"], summary["cross_validation"]["error"]
        typer.echo(f"Least error of cross-validation: {error:.4f}, for C from {low:.6g} to {high:.6g}.")


def _draw(found: RegularizationPath, curve: Any, file: Path) -> None:
    """Draw the path, and below it the error."""
    try:
        import matplotlib as mpl
    except ImportError:
        raise ValueError("--plot needs matplotlib; install it with pip install 'refsvm[plot]'.") from None
    mpl.use("agg")
    import matplotlib.pyplot as plt

    from refsvm.display import PathDisplay, ValidationPathDisplay

    rows = 1 if curve is None else 2
    figure, axes = plt.subplots(rows, 1, figsize=(8, 4 * rows), squeeze=False, layout="constrained")
    PathDisplay.from_path(found, ax=axes[0, 0])
    if curve is not None:
        ValidationPathDisplay({"cross-validation": curve}).plot(axes[1, 0])
    try:
        figure.savefig(file)
    except ValueError as error:
        raise ValueError(f"plot={str(file)!r} cannot be written: {error}.") from None
    finally:
        plt.close(figure)
