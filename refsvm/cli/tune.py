"""``refsvm tune``: choose C and γ by cross-validation."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
import typer

from refsvm._checks import positive
from refsvm.cli import options
from refsvm.cli.data import described, open_labelled
from refsvm.cli.messages import INTERRUPTED, note
from refsvm.cli.tables import print_json, print_table

__all__ = ["tune"]


def tune(
    data: options.Data,
    Cs: Annotated[
        str, typer.Option("--Cs", metavar="NUMBERS", help="Values of C, comma between.")
    ] = "0.1,1,10,100,1000",
    gammas: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBERS", help="Values of γ, comma between.  [default: 5 from 0.1 to 10 times scale]"
        ),
    ] = None,
    folds: Annotated[int, typer.Option(metavar="K", help="Number of stratified folds.")] = 5,
    shuffle: Annotated[
        int | None, typer.Option(metavar="SEED", help="Shuffle the examples first.  [default: as they are]")
    ] = None,
    n_jobs: Annotated[
        int | None, typer.Option("--n-jobs", metavar="N", help="Values of γ at once; -1: one for each core.")
    ] = None,
    store: options.Store = None,
    kernel: options.KernelName = "rbf",
    degree: options.Degree = 3,
    coef0: options.Coef0 = 0.0,
    tol: options.Tol = 1e-3,
    cache_mb: options.CacheMB = 200.0,
    max_iter: options.MaxIter = None,
    label: options.Label = None,
    data_dir: options.DataDir = None,
    json: options.Json = False,
) -> None:
    """Choose C and γ by cross-validation: the error of each cell of a grid, and the best one."""
    from sklearn.model_selection import StratifiedKFold

    from refsvm.estimators import SVCCV

    dataset = open_labelled(data, label, data_dir)
    splitter = StratifiedKFold(folds, shuffle=shuffle is not None, random_state=shuffle)
    model = SVCCV(
        Cs=numbers("Cs", Cs),
        gammas=5 if gammas is None else numbers("gammas", gammas),
        kernel=kernel, degree=degree, coef0=coef0, tol=tol, cv=splitter, cache_size=cache_mb, max_iter=max_iter,
        n_jobs=n_jobs, store=store, refit=False,
    )  # fmt: skip
    try:
        model.fit(dataset.X, dataset.y)
    except KeyboardInterrupt:
        kept = "nothing is kept without --store" if store is None else f"the finished cells are in {store}"
        note(f"note: Interrupted; {kept}")
        raise typer.Exit(INTERRUPTED) from None
    results = model.cv_results_
    if json:
        cells = [
            {**params, "score": float(mean), "std": float(std), "iterations": float(steps), "seconds": float(seconds)}
            for params, mean, std, steps, seconds in zip(
                results["params"], results["mean_test_score"], results["std_test_score"],
                results["mean_iterations"], results["mean_fit_time"], strict=True,
            )
        ]  # fmt: skip
        best = {**model.best_params_, "score": model.best_score_}
        print_json({"problem": described(dataset), "folds": folds, "cells": cells, "best": best})
        return
    _table(f"{dataset.name}: {dataset.n} examples; error in {folds} folds", results)
    chosen = ", ".join(f"{name}={value:.6g}" for name, value in model.best_params_.items())
    seconds = float((results["mean_fit_time"] + results["mean_score_time"]).sum() * folds)
    typer.echo(f"Best: {chosen}, error {1 - model.best_score_:.4f}. {seconds:.2f} s in all cells.")


def numbers(option: str, text: str) -> list[float]:
    """Split a list of positive numbers."""
    try:
        return [positive(option, float(word)) for word in text.split(",")]
    except ValueError:
        raise ValueError(
            f"{option}={text!r} is not a list of positive numbers; give e.g. 0.1,1,10."
        ) from None


def _table(heading: str, results: dict[str, Any]) -> None:
    """Print a line for each γ and a column for each C."""
    Cs = list(dict.fromkeys(each["C"] for each in results["params"]))
    gammas = list(dict.fromkeys(each.get("gamma") for each in results["params"]))
    errors = 1.0 - np.asarray(results["mean_test_score"]).reshape(len(Cs), len(gammas))
    columns: dict[str, Any] = {}
    if gammas != [None]:
        columns["gamma"] = lambda row: f"{gammas[row]:.6g}"
    for place, C in enumerate(Cs):
        columns[f"C={C:g}"] = lambda row, place=place: f"{errors[place, row]:.4f}"
    print_table(heading, columns, list(range(len(gammas))), names=())
