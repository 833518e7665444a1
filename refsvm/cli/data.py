"""The options that most commands share: data, kernel and C of a training, and the form of the output."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

import refsvm
from refsvm import KKTGap
from refsvm.analysis.multiclass.model import Scaling
from refsvm.analysis.units import relative_gap, unit_of_targets
from refsvm.cli import options, tables
from refsvm.cli.choices import TASKS, one, scale_or_number
from refsvm.cli.messages import note
from refsvm.core._checks import LARGEST_TARGET, not_negative, positive, share
from refsvm.core.rounds.machine import CLASSIFICATION, NOVELTY, REGRESSION
from refsvm.core.shown import short
from refsvm.datasets import Dataset, open_data
from refsvm.datasets.archive import STANDARD_INPUT
from refsvm.datasets.dataset import training_matrix
from refsvm.datasets.labels import MOST_CLASSES
from refsvm.datasets.opening import place_of
from refsvm.experiment import Instance
from refsvm.services.files import is_same_file
from refsvm.services.names import KERNELS, kernel_called

TOL: Final = 1e-3

_NUMBER: Final = re.compile(r"[+-]?\d+(\.\d*)?([eE][+-]?\d+)?").fullmatch
"""Pattern of labels that stay texts, such as 007, but become targets if the user chooses regression."""


class Opened(NamedTuple):
    """Holds a command's data, kernel, C, scaling of the features, task, and ε or ν."""

    data: Dataset
    kernel: Any
    C: float
    scaling: Scaling | None
    task: str
    own: dict[str, float]

    def instance(self) -> Instance:
        """Return the problem as an `Instance`: examples, labels, kernel, and the parameters of the task."""
        return Instance(self.data.X, self.data.y, self.kernel, self.C, **self.own)

    def settings_in_words(self) -> str:
        """Return the kernel and the parameters of the task as a text."""
        sizes = self.own if self.task == NOVELTY else {"C": self.C} | self.own
        return ", ".join([short(self.kernel), *(f"{name}={value:.6g}" for name, value in sizes.items())])


@dataclass(frozen=True)
class Training:
    """The options that describe a training: kernel, penalty, task, limits, and the label column."""

    kernel: options.KernelName = "rbf"
    gamma: options.Gamma = None
    C: options.Penalty = None
    degree: options.Degree = 3
    coef0: options.Coef0 = 0.0
    task: options.Task = None
    epsilon: options.Epsilon = None
    nu: options.Nu = 0.5
    tol: options.Tol = None
    cache_mb: options.CacheMB = 200.0
    max_iter: options.MaxIter = None
    time_limit: options.TimeLimit = None
    scale: options.Scale = False
    label: options.Label = None
    delimiter: options.Delimiter = None
    data_dir: options.DataDir = None

    def place_of(self, source: str) -> Path:
        """Return the file from which a command reads data, or the name of a bundled set."""
        return place_of(source, self.data_dir)

    def opened(self, source: str, tell: bool = True) -> Opened:
        """Open the data, choose kernel and C, and determine the task from --task or from the labels.

        Without --gamma and --C, an RBF kernel gets the γ and C published for the data. Otherwise γ is "scale" and C is
        1. Novelty detection needs neither labels nor C: it gives every example the penalty 1. If `tell` is true and the
        labels have fractions, a note says that they are treated as targets.
        """
        if self.task is not None:
            one("task", self.task, TASKS)
        epsilon = not_negative("epsilon", 0.1 if self.epsilon is None else self.epsilon)
        share("nu", self.nu)
        data = open_data(source, self.label, self.data_dir, self.delimiter, labelled=self.task != NOVELTY)
        # check the kernel's name here, so that the message lists the command line's names of kernels, not Python's
        one("kernel", self.kernel, KERNELS)
        if data.places is not None:
            if self.kernel != "precomputed":
                raise ValueError(
                    f"{data.source} contains a kernel matrix in LIBSVM's format, with 0:number at the start of "
                    "each row; give --kernel precomputed. If these are features, number them from 1."
                )
            data = training_matrix(data)
        scaling = self._scaling(data) if self.scale else None
        if scaling is not None:
            # drop the published C and γ, because they belong to unscaled features
            data = replace(data, X=scaling(data.X), C=None, gamma=None)
        # use the published C and γ only with the RBF kernel, for which they were published
        C, gamma = (data.C, data.gamma) if self.kernel == "rbf" else (None, None)
        width = (gamma or "scale") if self.gamma is None else scale_or_number(self.gamma)
        kernel = kernel_called(self.kernel, data.X, gamma=width, degree=self.degree, coef0=self.coef0)
        penalty = positive("C", (C or 1.0) if self.C is None else self.C)
        task = self.task if self.task == NOVELTY else task_of(data.y, self.task, tell)
        if task == NOVELTY:
            data, penalty, own = replace(data, y=np.ones(data.n)), 1.0, {"nu": self.nu}
        elif task == REGRESSION:
            data, own = replace(data, y=data.y.astype(np.float64)), {"epsilon": epsilon}
        else:
            own = {}
        return Opened(data, kernel, penalty, scaling, task, own)

    def _scaling(self, data: Dataset) -> Scaling:
        """Return shift and scale of the features; sparse features are scaled but not shifted."""
        if self.kernel == "precomputed":
            raise ValueError(
                "scale=True needs features, but kernel='precomputed' has no features; omit one option."
            )
        if (largest := float(np.abs(data.X).max())) > LARGEST_TARGET:  # a larger number's square may overflow
            where = f" in {data.source}" if data.source else ""
            raise ValueError(
                f"scale=True: {data.name} holds {largest:.6g}{where}, above the largest number that can be scaled "
                "(1e150); such a number is often a code for a missing value; correct that row or remove it."
            )
        return Scaling.of(data.X)

    def limits(self) -> dict[str, Any]:
        """Return the memory and the limits as keyword arguments of the package's functions."""
        memory = positive("cache_mb", self.cache_mb)
        return {"cache_mb": memory, "max_iter": self.max_iter, "time_limit": self.time_limit}

    def of_estimator(self) -> dict[str, Any]:
        """Return the memory and the limits as keyword arguments of the estimators."""
        limits = self.limits()
        return {"cache_size": limits.pop("cache_mb"), **limits}

    @property
    def tolerance(self) -> float:
        """The tolerance that the user gave, or the default tolerance of `refsvm.SVC`."""
        return TOL if self.tol is None else self.tol

    def stop(self, opened: Opened) -> KKTGap:
        """Return the stopping rule; without --tol, the tolerance of a regression depends on its targets."""
        follows = self.tol is None and opened.task == REGRESSION
        return relative_gap(self.tolerance, unit_of_targets(opened.data.y) if follows else None)

    def settings(self, opened: Opened | None = None) -> dict[str, Any]:
        """Return limits and stopping rule as keyword arguments; the tolerance may depend on the targets in `opened`."""
        return self.limits() | {
            "stop": KKTGap(self.tolerance, relative=True) if opened is None else self.stop(opened)
        }

    def described(self, opened: Opened, stop: KKTGap | None = None) -> dict[str, Any]:
        """Return a description of the problem for JSON, with the version of refsvm that read the data."""
        data, classes = opened.data, dict[str, Any]()
        if opened.task == CLASSIFICATION:
            classes = {"classes": [label_text(value) for value in np.unique(data.y)]}
        return {
            "refsvm": refsvm.__version__, "data": data.name, "source": data.source, "n": data.n, "d": data.d,
            "task": opened.task, **classes, "kernel": {"name": self.kernel, **asdict(opened.kernel)},
            "C": opened.C, **opened.own, "tol": self.tolerance if stop is None else stop.tol,
        }  # fmt: skip


@dataclass(frozen=True)
class Output:
    """The options of the output; without options, a command prints a table for people."""

    json: options.Json = False
    csv: options.Csv = False
    plot: options.Plot = None

    def __post_init__(self) -> None:
        if self.plot is not None and find_spec("matplotlib") is None:
            raise ValueError("--plot needs matplotlib, which is not installed; run: pip install matplotlib.")
        # refuse JSON together with CSV, because both go to standard output, and no program could read the mixture
        if self.json and self.csv:
            raise ValueError("json=True and csv=True were both given; give only one option.")

    def refuse_unwritable(self, *read: str | Path | None) -> None:
        """Raise an error if the file for the picture cannot be written, or is a file that the command reads."""
        if self.plot is not None:
            writable("plot", self.plot, *read)

    def show(self, document: Any, rows: list[Any], tell: Callable[[], object]) -> None:
        """Print the document as JSON, the rows as CSV, or the text for people."""
        if self.json:
            tables.print_json(document)
        elif self.csv:
            tables.print_csv(rows)
        else:
            tell()


def task_of(y: np.ndarray, wanted: str | None, tell: bool) -> str:
    """Return the task from --task; without --task, regression if labels have fractions, otherwise classification.

    Without --task, a note says that labels with fractions are treated as targets, but only if `tell` is true. A note
    also says that labels without fractions are treated as classes if more than `MOST_CLASSES` are different.
    """
    numeric = y.dtype.kind in "iuf"
    if wanted == "regression" and not numeric and not all(map(_NUMBER, y)):
        raise ValueError("task='regression' needs labels that are numbers; choose task='classification'.")
    # treat integer labels as classes, because integer targets are far less common
    fractions = numeric and bool((y != np.floor(y)).any())
    if wanted is None and fractions and tell:
        note(
            "note: The labels have fractions, so they are taken for targets; give --task classification if they "
            "are classes"
        )
    elif wanted is None and not fractions and (count := len(np.unique(y))) > MOST_CLASSES:
        note(
            f"note: The {count} different labels are taken for classes; give --task regression if they are targets"
        )
    return wanted or ("regression" if fractions else "classification")


def label_text(label: Any) -> str:
    """Return the text of a label as LIBSVM writes it, an integer without a decimal point."""
    if isinstance(label, str):
        return label
    return str(int(label)) if label == int(label) else repr(float(label))


def writable(option: str, file: Path, *read: str | Path | None) -> None:
    """Raise an error if an output file cannot be written, or is a file that the command reads.

    Call `writable` before the computation, so that training does not end with an error for a misspelt folder.
    """
    if not file.absolute().parent.is_dir() or file.is_dir():
        raise ValueError(f"{option}={str(file)!r} cannot be written; give a file in a directory that exists.")
    for each in read:
        if each is not None and is_same_file(file, "/dev/stdin" if str(each) == STANDARD_INPUT else each):
            raise ValueError(
                f"{option}={str(file)!r} is the file {str(each)!r}, which this command reads; give another file."
            )
