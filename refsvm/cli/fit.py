"""``refsvm fit``: train a classifier, a regression or a novelty detector, and write it as a LIBSVM model file."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple

import numpy as np

import refsvm
from refsvm import KKTGap, Status, write_model
from refsvm.analysis.multiclass.model_file import different_names, whole_numbers
from refsvm.cli import options, tables
from refsvm.cli.choices import SELECTORS, STEPS, one
from refsvm.cli.data import Opened, Output, Training, writable
from refsvm.cli.messages import interrupted, is_watched, unfinished
from refsvm.cli.options import one_of, option
from refsvm.core.engine.limits import Limits
from refsvm.core.rounds.machine import CLASSIFICATION, NOVELTY, REGRESSION
from refsvm.datasets import Dataset


@options.in_one("plot")
def fit(
    data: options.Data,
    model: Annotated[Path, option("FILE", "Where to write the model, in LIBSVM's format.")],
    selector: Annotated[str, one_of(SELECTORS)] = "second-order",
    step: Annotated[
        str | None, one_of(STEPS, "  [default: planning-ahead, or newton with a selector that cannot plan]")
    ] = None,
    engine: options.Engine = "auto",
    *,
    training: Training,
    output: Output,
) -> None:
    """Train a classifier, a regression or a novelty detector; write a LIBSVM model file."""
    chosen_step = None if step is None else one("step", step, STEPS)()
    rules = {"selector": one("selector", selector, SELECTORS)(), "step": chosen_step}
    writable("model", model, training.place_of(data))
    opened = training.opened(data, tell=False)  # print no note about the task: the result names it
    dataset, of_task = opened.data, ESTIMATORS[opened.task]
    _refuse_unwritable(dataset, opened.task)
    estimator = made(opened, training)
    estimator.set_params(**rules, kernel=opened.kernel, engine=engine)
    is_cut = trained(estimator, dataset)
    write_model(estimator, model, dataset.columns, opened.scaling)
    metrics = of_task.summary(estimator, dataset)
    solved = {"status": estimator.status_.name, "iterations": int(np.sum(estimator.n_iter_))}
    row = {"task": opened.task, "support_vectors": len(estimator.support_)} | metrics | solved
    row["model"] = str(model)
    sentence = (
        f"{dataset.name}: {dataset.n} examples, {dataset.d} features, {opened.settings_in_words()}, "
        f"{of_task.sentence.format_map(row)}; model written to {model}."
    )
    output.show({"problem": training.described(opened), **row}, [row], lambda: tables.echo(sentence))
    _end(estimator.status_, is_cut)


def _refuse_unwritable(dataset: Dataset, task: str) -> None:
    """Raise an error before training if a model file cannot store the labels or column names."""
    different_names(dataset.columns or ())
    if task == CLASSIFICATION:
        whole_numbers(np.unique(dataset.y))


def made(opened: Opened, training: Training) -> Any:
    """Return the estimator for the task of the data, with the parameters and limits of the command."""
    own = opened.own if opened.task == NOVELTY else {"C": opened.C, **opened.own}
    # check the limits here, so that an error message names the options
    Limits(opened.data.n, training.max_iter, training.time_limit)
    return getattr(refsvm, ESTIMATORS[opened.task].name)(
        **own, **training.of_estimator(), tol=KKTGap(training.tolerance).tol, verbose=is_watched()
    )


def _end(status: Status, is_cut: bool) -> None:
    """Exit with the code 130 after Ctrl-C, or with 3 if the training did not converge."""
    if is_cut:
        interrupted("Interrupted from the keyboard; the model is the last point reached")
    if status is not Status.CONVERGED:
        unfinished(
            f"{status.value} The model is the last point reached; scale the features (--scale), or raise --max-iter, "
            "--time-limit or --tol."
        )


def trained(estimator: Any, dataset: Dataset) -> bool:
    """Train the estimator; return True if Ctrl-C ended the training after the estimator had stored the last α."""
    # import scikit-learn here, so that other commands need not wait for it
    from sklearn.exceptions import ConvergenceWarning

    try:
        with warnings.catch_warnings():
            # suppress the estimator's warning, which suggests Python arguments; `fit` prints another message
            warnings.simplefilter("ignore", ConvergenceWarning)
            estimator.fit(dataset.X, dataset.y)
    except KeyboardInterrupt:
        if not hasattr(estimator, "dual_coef_"):
            raise
        return True
    return False


def _classes(estimator: Any, dataset: Dataset) -> dict[str, float]:
    wrong = float(np.mean(estimator.predict(dataset.X) != dataset.y))
    return {"classes": len(estimator.classes_), "training_error": wrong}


def _errors(estimator: Any, dataset: Dataset) -> dict[str, float]:
    return {"mean_absolute_error": float(np.abs(estimator.predict(dataset.X) - dataset.y).mean())}


def _outside(estimator: Any, dataset: Dataset) -> dict[str, float]:
    return {"share_outside": float(np.mean(estimator.predict(dataset.X) < 0))}


class Estimator(NamedTuple):
    """Stores for a task the estimator's name, a function that summarises the training, and the sentence to print."""

    name: str
    summary: Callable[[Any, Dataset], dict[str, float]]
    sentence: str


ESTIMATORS: Final = {
    CLASSIFICATION: Estimator(
        "SVC",
        _classes,
        "{classes} classes; {support_vectors} support vectors, training error {training_error:.4f}",
    ),
    REGRESSION: Estimator(
        "SVR",
        _errors,
        "targets; {support_vectors} support vectors, mean absolute training error {mean_absolute_error:.4g}",
    ),
    NOVELTY: Estimator(
        "OneClassSVM",
        _outside,
        "labels not used; {support_vectors} support vectors, {share_outside:.4f} of the examples outside",
    ),
}
