"""``refsvm fit``: train a classifier and write it as a LIBSVM model file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from refsvm._checks import positive
from refsvm.cli.choices import ENGINES, SELECTORS, STEPS, one
from refsvm.cli.data import kernel_and_penalty, open_labelled
from refsvm.cli.messages import INTERRUPTED
from refsvm.cli.options import (
    CacheMB,
    Coef0,
    Data,
    DataDir,
    Degree,
    Gamma,
    KernelName,
    Label,
    MaxIter,
    Penalty,
    TimeLimit,
    Tol,
)
from refsvm.multiclass.model_file import whole_numbers, write_model
from refsvm.result import Status
from refsvm.solver.limits import Limits
from refsvm.stopping import KKTGap

__all__ = ["fit"]


def fit(
    data: Data,
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
    engine: Annotated[str, typer.Option(metavar="NAME", help=f"One of auto, {', '.join(ENGINES)}.")] = "auto",
    kernel: KernelName = "rbf",
    gamma: Gamma = None,
    C: Penalty = None,
    degree: Degree = 3,
    coef0: Coef0 = 0.0,
    tol: Tol = 1e-3,
    cache_mb: CacheMB = 200.0,
    max_iter: MaxIter = None,
    time_limit: TimeLimit = None,
    label: Label = None,
    data_dir: DataDir = None,
) -> None:
    """Train a classifier, of two classes or more, and write it as a LIBSVM model file."""
    from refsvm.estimators import SVC

    rules = {
        "selector": one("selector", selector, SELECTORS)(),
        "step": None if step is None else one("step", step, STEPS)(),
    }
    one("engine", engine, {"auto": None, **ENGINES})
    if not model.absolute().parent.is_dir() or model.is_dir():
        raise ValueError(f"model={str(model)!r} cannot be written; give a file in a directory that exists.")
    dataset = open_labelled(data, label, data_dir)
    chosen, penalty = kernel_and_penalty(dataset, kernel, gamma, C, degree, coef0)
    whole_numbers(np.unique(dataset.y))
    Limits(dataset.n, max_iter, time_limit)
    classifier = SVC(
        kernel=chosen,
        C=penalty,
        tol=KKTGap(tol).tol,
        engine=engine,
        cache_size=positive("cache_mb", cache_mb),
        max_iter=max_iter,
        time_limit=time_limit,
        **rules,
    )
    classifier.fit(dataset.X, dataset.y)
    write_model(classifier, model)
    wrong = float(np.mean(classifier.predict(dataset.X) != dataset.y))
    typer.echo(
        f"{dataset.name}: {dataset.n} examples, {dataset.d} features, {len(classifier.classes_)} classes; "
        f"{len(classifier.support_)} support vectors, training error {wrong:.4f}; model written to {model}."
    )
    if classifier.status_ is Status.INTERRUPTED:
        raise typer.Exit(INTERRUPTED)
