"""What every command does with its data: open them, choose kernel and C, say what they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import refsvm
from refsvm._checks import positive
from refsvm.cli.choices import one, scale_or_number
from refsvm.datasets import Dataset, open_data
from refsvm.datasets.readers import csv_rows
from refsvm.kernels.names import KERNELS, kernel_called

__all__ = ["described", "kernel_and_penalty", "label_text", "open_labelled"]


def open_labelled(source: str, label: str | None, data_dir: Path | None) -> Dataset:
    """Open data with labels.

    Raises
    ------
    ValueError
        As `open_data`; and for a CSV file where ``--label`` is missing.
    """
    if label is None and source.lower().endswith(".csv") and Path(source).is_file():
        first = ", ".join(csv_rows(Path(source))[0][:10])
        raise ValueError(
            f"{source!r} is a CSV file; name its label column with --label (first row: {first})."
        )
    return open_data(source, label=label, data_dir=data_dir)


def kernel_and_penalty(
    dataset: Dataset, kernel: str, gamma: str | None, C: float | None, degree: int, coef0: float
) -> tuple[Any, float]:
    """Kernel and C: as given, else as published for the data set with the RBF kernel, else gamma "scale" and C = 1."""
    one("kernel", kernel, KERNELS)
    published = (dataset.C, dataset.gamma) if kernel == "rbf" else (None, None)
    if C is None:
        C = 1.0 if published[0] is None else published[0]
    given: str | float = "scale" if published[1] is None else published[1]
    chosen = kernel_called(
        kernel,
        dataset.X,
        gamma=given if gamma is None else scale_or_number(gamma),
        degree=degree,
        coef0=coef0,
    )
    return chosen, positive("C", C)


def described(dataset: Dataset) -> dict[str, Any]:
    """Say which data they are, and by which version of refsvm they were read."""
    return {
        "refsvm": refsvm.__version__,
        "data": dataset.name,
        "source": dataset.source,
        "n": dataset.n,
        "d": dataset.d,
        "classes": [label_text(value) for value in np.unique(dataset.y)],
    }


def label_text(label: Any) -> str:
    """Write a label as LIBSVM does: whole numbers without a decimal point."""
    if isinstance(label, str):
        return label
    return str(int(label)) if label == int(label) else repr(float(label))
