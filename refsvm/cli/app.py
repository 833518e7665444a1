"""The commands and their options."""

from __future__ import annotations

from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

import refsvm
from refsvm._checks import positive
from refsvm.cli import tables
from refsvm.cli.choices import ENGINES, SELECTORS, STEPS, names, one, width
from refsvm.cli.comparison import Settings, Strategy, compare_strategies, strategies
from refsvm.cli.messages import INTERRUPTED, OneSentence, note
from refsvm.cli.prediction import accuracy, label_text, open_examples
from refsvm.cli.repetition import repeat
from refsvm.datasets import Dataset, binary_labels, load, open_data
from refsvm.datasets import names as bundled_names
from refsvm.experiment import Problem
from refsvm.kernels.names import KERNELS, kernel_called
from refsvm.multiclass.model_file import read_model, whole_numbers, write_model
from refsvm.result import Status
from refsvm.solver.limits import Limits
from refsvm.stopping import KKTGap

__all__ = ["app"]

app = typer.Typer(
    cls=OneSentence, add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None
)

Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="A bundled name (see 'refsvm datasets'), NAME for NAME.npz in the data directory, or a file: "
        "LIBSVM, .csv or .npz.",
    ),
]
SeveralData = Annotated[
    list[str],
    typer.Argument(
        metavar="DATA...",
        help="Bundled names (see 'refsvm datasets'), NAME for NAME.npz in the data directory, or files: "
        "LIBSVM, .csv or .npz.",
    ),
]
Label = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="Label column of a CSV file: name, or index from 0.")
]
DataDir = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Data directory.  [default: the variable REFSVM_DATA]")
]
KernelName = Annotated[str, typer.Option(metavar="NAME", help=f"One of {', '.join(KERNELS)}.")]
Gamma = Annotated[
    str | None,
    typer.Option(
        metavar="NUMBER|scale|auto", help="Kernel width.  [default: the data set's own for rbf, else scale]"
    ),
]
Penalty = Annotated[
    float | None, typer.Option("--C", help="Penalty.  [default: the data set's own for rbf, else 1]")
]
Degree = Annotated[int, typer.Option(help="Degree of the poly kernel.")]
Coef0 = Annotated[float, typer.Option(help="Constant of the poly and sigmoid kernels.")]
Tol = Annotated[float, typer.Option(help="Stop when the KKT gap is at most this.")]
CacheMB = Annotated[float, typer.Option("--cache-mb", help="Memory for kernel rows, in MiB.")]
MaxIter = Annotated[int | None, typer.Option(help="Limit on the steps.  [default: max(10⁷, 100n)]")]
TimeLimit = Annotated[float | None, typer.Option(metavar="SECONDS", help="Limit on the time of a solve.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"refsvm {refsvm.__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def start(
    ctx: typer.Context,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit."),
    ] = False,
) -> None:
    """Train support vector machines by algorithms that can be read, swapped and compared."""
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())


@app.command()
def compare(
    data: SeveralData,
    selectors: Annotated[
        str, typer.Option(metavar="NAMES", help=f"Some of {', '.join(SELECTORS)}, comma between; or all.")
    ] = "mvp,second-order",
    steps: Annotated[
        str, typer.Option(metavar="NAMES", help=f"Some of {', '.join(STEPS)}; or all.")
    ] = "newton",
    engines: Annotated[
        str, typer.Option(metavar="NAMES", help=f"Some of {', '.join(ENGINES)}; or all.")
    ] = "all",
    kernel: KernelName = "rbf",
    gamma: Gamma = None,
    C: Penalty = None,
    degree: Degree = 3,
    coef0: Coef0 = 0.0,
    tol: Tol = 1e-6,
    shrinking: Annotated[
        bool, typer.Option("--shrinking", help="Solve block by block, not step by step on all variables.")
    ] = False,
    cache_mb: CacheMB = 200.0,
    max_iter: MaxIter = None,
    time_limit: TimeLimit = None,
    repeats: Annotated[
        int | None, typer.Option(metavar="N", help="Random orders of the examples.  [default: as they are]")
    ] = None,
    store: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Keep finished runs here and do not repeat them.")
    ] = None,
    label: Label = None,
    data_dir: DataDir = None,
    json: Json = False,
) -> None:
    """Solve two-class problems by each selector with each step in each engine, side by side.

    One DATA is solved once. With several, with --repeats or with --store it is an experiment: means over random
    orders of the examples, and a Wilcoxon test against the first strategy.
    """
    wanted = strategies(
        names("selectors", selectors, SELECTORS),
        names("steps", steps, STEPS),
        names("engines", engines, ENGINES),
    )
    settings = Settings(tol, cache_mb, max_iter, time_limit, shrinking)
    problems, descriptions = [], []
    for each in data:
        dataset = open_data(each, label=label, data_dir=data_dir)
        chosen, penalty = _kernel_and_penalty(dataset, kernel, gamma, C, degree, coef0)
        two_classes = replace(dataset, y=binary_labels(dataset.y))
        problems.append(Problem(dataset.name, partial(_itself, two_classes), chosen, penalty))
        parameters = {"kernel": {"name": kernel, **asdict(chosen)}, "C": penalty}
        descriptions.append(_described(dataset) | parameters | {"tol": tol, "shrinking": shrinking})
    if len(data) == 1 and repeats is None and store is None:
        _compare_once(problems[0], wanted, settings, descriptions[0], json)
    else:
        orders = 1 if repeats is None else repeats
        _compare_repeatedly(problems, wanted, settings, orders, store, descriptions, json)


def _itself(dataset: Dataset) -> Dataset:
    return dataset


def _compare_repeatedly(
    problems: list[Problem],
    wanted: list[Strategy],
    settings: Settings,
    repeats: int,
    store: Path | None,
    descriptions: list[dict[str, Any]],
    json: bool,
) -> None:
    """Compare in an experiment."""
    with tables.counter() as count:
        repetition = repeat(problems, wanted, settings, repeats, store, count)
    _say_what_was_left_out(repetition.left_out)
    if json:
        tables.print_json(tables.repetition_document(descriptions, repeats, repetition))
    elif repetition.rows:
        tables.repetition_table(descriptions, repeats, repetition.rows)
    if repetition.interrupted:
        total = len(problems) * (len(wanted) - len(repetition.left_out)) * repeats
        note(f"note: Interrupted; {sum(row.runs for row in repetition.rows)} of {total} runs are finished")
        raise typer.Exit(INTERRUPTED)


def _say_what_was_left_out(left_out: list[tuple[Strategy, str]]) -> None:
    for strategy, reason in left_out:
        note(f"note: {strategy.selector}, {strategy.step}, {strategy.engine} left out: {reason}")


def _compare_once(
    problem: Problem, wanted: list[Strategy], settings: Settings, description: dict[str, Any], json: bool
) -> None:
    """Compare on the examples as they are."""
    with tables.progress(len(wanted)) as watch:
        comparison = compare_strategies(problem.instance().dual(), wanted, settings, watch)
    _say_what_was_left_out(comparison.left_out)
    if json:
        tables.print_json(tables.comparison_document(description, comparison))
    elif comparison.runs:
        tables.comparison_table(description, comparison.runs)
    if comparison.interrupted:
        note(f"note: Interrupted; {len(comparison.runs)} of {len(wanted)} strategies were tried")
        raise typer.Exit(INTERRUPTED)


@app.command()
def fit(
    data: Data,
    model: Annotated[
        Path, typer.Option(metavar="FILE", help="Where to write the model, in LIBSVM's format.")
    ],
    selector: Annotated[
        str, typer.Option(metavar="NAME", help=f"One of {', '.join(SELECTORS)}.")
    ] = "second-order",
    step: Annotated[str, typer.Option(metavar="NAME", help=f"One of {', '.join(STEPS)}.")] = "newton",
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

    rules = {"selector": one("selector", selector, SELECTORS)(), "step": one("step", step, STEPS)()}
    one("engine", engine, {"auto": None, **ENGINES})
    if not model.absolute().parent.is_dir() or model.is_dir():
        raise ValueError(f"model={str(model)!r} cannot be written; give a file in a directory that exists.")
    dataset = open_data(data, label=label, data_dir=data_dir)
    chosen, penalty = _kernel_and_penalty(dataset, kernel, gamma, C, degree, coef0)
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


@app.command()
def predict(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A model file of 'refsvm fit' or LIBSVM.")],
    data: Data,
    output: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where to write the labels.  [default: stdout]")
    ] = None,
    label: Label = None,
    data_dir: DataDir = None,
) -> None:
    """Print the predicted labels, one a line; and the accuracy, if the data have labels, on stderr."""
    classifier = read_model(model)
    X, y = open_examples(data, label, data_dir)
    predicted = [label_text(each) for each in classifier.predict(X)]
    lines = "".join(f"{each}\n" for each in predicted)
    if output is None:
        typer.echo(lines, nl=False)
    else:
        output.write_text(lines, encoding="utf-8")
    if y is not None:
        note(accuracy(classifier, predicted, y))


@app.command()
def datasets(json: Json = False) -> None:
    """List the bundled data sets."""
    bundled = [load(name) for name in bundled_names()]
    if json:
        told = ("name", "n", "d", "description", "source", "licence", "C", "gamma")
        tables.print_json([{key: getattr(dataset, key) for key in told} for dataset in bundled])
    else:
        tables.datasets_table(bundled)


def _kernel_and_penalty(
    dataset: Dataset, kernel: str, gamma: str | None, C: float | None, degree: int, coef0: float
) -> tuple[Any, float]:
    """Kernel and C: as given, else as published for the data set with the RBF kernel, else gamma "scale" and C = 1."""
    one("kernel", kernel, KERNELS)
    published = (dataset.C, dataset.gamma) if kernel == "rbf" else (None, None)
    if C is None:
        C = 1.0 if published[0] is None else published[0]
    given: str | float = "scale" if published[1] is None else published[1]
    chosen = kernel_called(
        kernel, dataset.X, gamma=given if gamma is None else width(gamma), degree=degree, coef0=coef0
    )
    return chosen, positive("C", C)


def _described(dataset: Dataset) -> dict[str, Any]:
    """Say which data are compared on, and by which version."""
    return {
        "refsvm": refsvm.__version__,
        "data": dataset.name,
        "source": dataset.source,
        "n": dataset.n,
        "d": dataset.d,
        "classes": [label_text(value) for value in np.unique(dataset.y)],
    }
