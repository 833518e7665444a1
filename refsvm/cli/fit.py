"""``refsvm fit``: train a classifier, a regression or a novelty detector, and write it as a LIBSVM model file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Final

import numpy as np
import typer

from refsvm._checks import positive
from refsvm.cli import options
from refsvm.cli.choices import SELECTORS, STEPS, one
from refsvm.cli.data import kernel_and_penalty, open_labelled
from refsvm.cli.messages import INTERRUPTED, note
from refsvm.datasets import Dataset
from refsvm.multiclass.model_file import whole_numbers, write_model
from refsvm.solver.limits import Limits
from refsvm.stopping import KKTGap

__all__ = ["fit"]


def fit(
    data: options.Data,
    model: Annotated[
        Path, typer.Option(metavar="FILE", help="Where to write the model, in LIBSVM's format.")
    ],
    selector: Annotated[
        str, typer.Option(metavar="NAME", help=f"One of {', '.join(SELECTORS)}.")
    ] = "second-order",
    step: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help=f"One of {', '.join(STEPS)}.  [default: planning-ahead, or newton with a selector that cannot plan]",
        ),
    ] = None,
    engine: options.Engine = "auto",
    kernel: options.KernelName = "rbf",
    gamma: options.Gamma = None,
    C: options.Penalty = None,
    degree: options.Degree = 3,
    coef0: options.Coef0 = 0.0,
    tol: options.Tol = 1e-3,
    cache_mb: options.CacheMB = 200.0,
    max_iter: options.MaxIter = None,
    time_limit: options.TimeLimit = None,
    task: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="classification, regression or novelty.  [default: regression if the labels are numbers and not all "
            "whole, else classification]",
        ),
    ] = None,
    epsilon: Annotated[float, typer.Option(help="Half width of the tube of a regression.")] = 0.1,
    nu: Annotated[
        float, typer.Option(help="Share of the examples that a novelty detector may leave outside.")
    ] = 0.5,
    label: options.Label = None,
    data_dir: options.DataDir = None,
) -> None:
    """Train a classifier of two classes or more, a regression or a novelty detector; write a LIBSVM model file."""
    rules = {
        "selector": one("selector", selector, SELECTORS)(),
        "step": None if step is None else one("step", step, STEPS)(),
    }
    if not model.absolute().parent.is_dir() or model.is_dir():
        raise ValueError(f"model={str(model)!r} cannot be written; give a file in a directory that exists.")
    dataset = open_labelled(data, label, data_dir)
    chosen, penalty = kernel_and_penalty(dataset, kernel, gamma, C, degree, coef0)
    wanted = task_of(dataset.y, task)
    Limits(dataset.n, max_iter, time_limit)
    estimator = TASKS[wanted](penalty, epsilon, nu)
    estimator.set_params(
        kernel=chosen,
        tol=KKTGap(tol).tol,
        engine=engine,
        cache_size=positive("cache_mb", cache_mb),
        max_iter=max_iter,
        time_limit=time_limit,
        **rules,
    )
    interrupted = trained(estimator, dataset, wanted)
    write_model(estimator, model)
    typer.echo(
        f"{dataset.name}: {dataset.n} examples, {dataset.d} features, {SUMMARIES[wanted](estimator, dataset)}; model "
        f"written to {model}."
    )
    if interrupted:
        note("note: Interrupted from the keyboard; the model is the best point so far")
        raise typer.Exit(INTERRUPTED)


def task_of(y: np.ndarray, given: str | None) -> str:
    """Return the task: that of the option, else regression where the labels are numbers and not all whole."""
    if given is not None:
        one("task", given, TASKS)
    numeric = y.dtype.kind in "iuf"
    if given == "regression" and not numeric:
        raise ValueError("task='regression' needs labels that are numbers; choose task='classification'.")
    fractions = numeric and bool((y != np.floor(y)).any())
    wanted = given or ("regression" if fractions else "classification")
    if wanted == "classification":
        whole_numbers(np.unique(y))
    return wanted


def trained(estimator: Any, dataset: Dataset, wanted: str) -> bool:
    """Train, and say whether Ctrl-C ended it; the estimator holds the best point then."""
    y = dataset.y.astype(np.float64) if wanted == "regression" else dataset.y
    try:
        estimator.fit(dataset.X, y)
    except KeyboardInterrupt:
        if not hasattr(estimator, "dual_coef_"):
            raise
        return True
    return False


def _classifier(C: float, epsilon: float, nu: float) -> Any:
    from refsvm.estimators import SVC

    return SVC(C=C)


def _regression(C: float, epsilon: float, nu: float) -> Any:
    from refsvm.estimators import SVR

    return SVR(C=C, epsilon=epsilon)


def _novelty(C: float, epsilon: float, nu: float) -> Any:
    from refsvm.estimators import OneClassSVM

    return OneClassSVM(nu=nu)


TASKS: Final = {"classification": _classifier, "regression": _regression, "novelty": _novelty}


def _classes(estimator: Any, dataset: Dataset) -> str:
    wrong = float(np.mean(estimator.predict(dataset.X) != dataset.y))
    support = len(estimator.support_)
    return f"{len(estimator.classes_)} classes; {support} support vectors, training error {wrong:.4f}"


def _errors(estimator: Any, dataset: Dataset) -> str:
    error = float(np.abs(estimator.predict(dataset.X) - dataset.y).mean())
    return f"targets; {len(estimator.support_)} support vectors, mean absolute training error {error:.4g}"


def _outside(estimator: Any, dataset: Dataset) -> str:
    share = float(np.mean(estimator.predict(dataset.X) < 0))
    return f"labels not used; {len(estimator.support_)} support vectors, {share:.4f} of the examples outside"


SUMMARIES: Final = {"classification": _classes, "regression": _errors, "novelty": _outside}
