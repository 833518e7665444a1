"""``refsvm tune``: choose C and γ by cross-validation."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any, Final

import numpy as np

import refsvm
from refsvm import ActiveSet
from refsvm.cli import options, tables
from refsvm.cli.data import Opened, Output, Training
from refsvm.cli.messages import interrupted
from refsvm.cli.options import option
from refsvm.cli.pictures import bars, picture
from refsvm.compiled.warming import prepare
from refsvm.core._checks import positive
from refsvm.core.rounds.machine import NOVELTY, REGRESSION
from refsvm.datasets import names
from refsvm.display import GridDisplay
from refsvm.experiment import CrossValidate


@options.in_one("gamma", "C", "time_limit", "nu")
def tune(
    data: options.Data,
    Cs: Annotated[
        str | None,
        option(
            "NUMBERS",
            "Values of C, separated by commas.  [default: 0.1,1,10,100,1000; for a regression times the standard "
            "deviation of the targets]",
            "--Cs",
        ),
    ] = None,
    gammas: Annotated[
        str | None,
        option("NUMBERS", "Values of γ, separated by commas.  [default: 5 from 0.1 to 10 times scale]"),
    ] = None,
    folds: Annotated[int, option("K", "Number of folds, stratified for a classifier.")] = 5,
    shuffle: Annotated[
        int | None, option("SEED", "Shuffle the examples first.  [default: their order in the data]")
    ] = None,
    n_jobs: Annotated[
        int | None, option("N", "Number of γ solved at a time; -1 means one for each core.", "--n-jobs")
    ] = None,
    store: options.Store = None,
    *,
    training: Training,
    output: Output,
) -> None:
    """Choose C and γ of a classifier or a regression by cross-validation; print the score of each pair (C, γ)."""
    from sklearn.model_selection import KFold, StratifiedKFold

    output.refuse_unwritable(training.place_of(data), store)
    opened = training.opened(data)
    if opened.task == NOVELTY:
        raise ValueError(
            "task='novelty' has no score to tune by: nu is the share of examples that may be outside; compare it "
            "with the share that 'refsvm loo --task novelty' finds outside."
        )
    is_regression = opened.task == REGRESSION
    kind = KFold if is_regression else StratifiedKFold
    splitter = kind(folds, shuffle=shuffle is not None, random_state=shuffle)
    grid: dict[str, Any] = {
        "gammas": 5 if gammas is None else numbers("gammas", gammas),
    }
    if is_regression:
        grid["epsilons"] = None if training.epsilon is None else [training.epsilon]
    if Cs is not None:
        grid["Cs"] = numbers("Cs", Cs)
    CrossValidate("").warm_up()
    # load the compiled code before threads start, because all threads would wait for it
    prepare(ActiveSet())
    search = _search(opened, training, cv=splitter, n_jobs=n_jobs, store=store, **grid)
    _show(search, opened, training, folds, output)


def _search(opened: Opened, training: Training, **more: Any) -> Any:
    """Score every pair (C, γ) by the accuracy, or by R² for a regression; return the fitted `SVCCV` or `SVRCV`."""
    search = refsvm.SVRCV if opened.task == REGRESSION else refsvm.SVCCV
    if training.tol is not None or opened.task != REGRESSION:
        more["tol"] = training.tolerance
    model = search(
        kernel=training.kernel, degree=training.degree, coef0=training.coef0,
        cache_size=training.cache_mb, max_iter=training.max_iter, refit=False, **more,
    )  # fmt: skip
    try:
        return model.fit(opened.data.X, opened.data.y)
    except KeyboardInterrupt:
        store = more["store"]
        notice = (
            "nothing is stored without --store" if store is None else f"the finished cells are in {store}"
        )
        interrupted(f"Interrupted; {notice}")


def _show(search: Any, opened: Opened, training: Training, folds: int, output: Output) -> None:
    """Print the score of each pair (C, γ) and the best pair, and draw the scores."""
    results = search.cv_results_
    keys = {"score": "mean_test_score", "std": "std_test_score", "iterations": "mean_iterations",
            "seconds": "mean_fit_time", "unsolved_splits": "unsolved_splits"}  # fmt: skip
    cells = [
        {**params, **{name: float(results[key][k]) for name, key in keys.items() if key in results}}
        for k, params in enumerate(results["params"])
    ]
    best = {**search.best_params_, "score": search.best_score_}
    document = {
        "problem": training.described(opened, training.stop(opened)),
        "folds": folds,
        "cells": cells,
        "best": best,
    }
    output.show(document, cells, partial(_tell, search, opened, folds))
    if output.plot is not None and "gamma" in cells[0]:
        with picture(output.plot) as axes:
            GridDisplay.from_results(results, ax=axes[0])
    elif output.plot is not None:
        scores = {"": [cell["score"] for cell in cells]}
        stars = ["*" * bool(cell.get("unsolved_splits")) for cell in cells]
        names = [f"C={cell['C']:g}{star}" for cell, star in zip(cells, stars, strict=True)]
        bars(output.plot, names, scores, "mean score", [STARRED] * any(stars))


def _tell(search: Any, opened: Opened, folds: int) -> None:
    """Print a table of scores with a line for each γ and a column for each C, and the best C and γ."""
    data, is_regression = opened.data, opened.task == REGRESSION
    results, measure = search.cv_results_, "R²" if is_regression else "error"
    scores = np.asarray(results["mean_test_score"])
    heading = f"{data.name}: {data.n} examples; {measure} in {folds} folds"
    _table(heading, results, scores if is_regression else 1.0 - scores)
    chosen = ", ".join(f"{name}={value:.6g}" for name, value in search.best_params_.items())
    # multiply by the number of folds, because the results contain the mean time of a fold
    seconds = float((results["mean_fit_time"] + results["mean_score_time"]).sum() * folds)
    score = search.best_score_ if is_regression else 1 - search.best_score_
    tables.echo(f"Best: {chosen}, {measure} {score:.4f}. {seconds:.2f} s in all cells.")
    if "unsolved_splits" in results:
        tables.echo(STARRED)
    best_options = " ".join(f"--{name} {value:.6g}" for name, value in search.best_params_.items())
    kernel = "" if search.kernel == "rbf" else f" --kernel {search.kernel}"
    tables.echo(
        f"Next: refsvm fit {data.name if data.name in names() else data.source}{kernel} {best_options} --model FILE"
    )


STARRED: Final = "* These cells have splits that did not converge."


def numbers(option: str, text: str) -> list[float]:
    """Return the positive numbers in a text such as "0.1,1,10"."""
    try:
        return [positive(option, float(word)) for word in text.split(",")]
    except ValueError:
        raise ValueError(
            f"{option}={text!r} is not a list of positive numbers; give numbers such as 0.1,1,10."
        ) from None


def _table(heading: str, results: dict[str, Any], values: np.ndarray) -> None:
    """Print a table with a line for each γ and a column for each C."""
    Cs = list(dict.fromkeys(each["C"] for each in results["params"]))
    gammas = list(dict.fromkeys(each.get("gamma") for each in results["params"]))
    errors = values.reshape(len(Cs), len(gammas))
    columns: dict[str, Any] = {"gamma": None if gammas == [None] else "{gamma:.6g}"}
    columns |= {f"C={C:g}": f"{{C{place}}}" for place, C in enumerate(Cs)}
    unsolved = np.asarray(results.get("unsolved_splits", np.zeros(values.size))).reshape(errors.shape) > 0.0
    rows = [
        {
            "gamma": gamma,
            **{f"C{c}": f"{errors[c, g]:.4f}{'*' * bool(unsolved[c, g])}" for c in range(len(Cs))},
        }
        for g, gamma in enumerate(gammas)
    ]
    tables.print_table(heading, columns, rows)
