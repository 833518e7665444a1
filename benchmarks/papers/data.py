"""The data sets of the two working-set papers that need more than reading a file."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np

from refsvm.datasets import Dataset, data_directory, open_data, paper_suite

__all__ = ["connect_4", "first", "mnist", "spambase"]

Directory = str | os.PathLike[str] | None


def connect_4(data_dir: Directory) -> Dataset:
    """61,108 positions without the draws, the 42 fields as −1, 0, 1 from their one-hot code."""
    data = open_data("connect4", data_dir=data_dir)
    fields = data.X.toarray().reshape(data.n, 42, 3) @ np.array([-1.0, 0.0, 1.0])
    return replace(data, X=fields)


def mnist(data_dir: Directory) -> Dataset:
    """60,000 digits as 784 grey values from 0 to 255; the class −1 are 0 to 4, the class +1 are 5 to 9."""
    data = open_data("mnist", data_dir=data_dir)
    with np.load(Path(data_directory(data_dir) or ".") / "mnist.npz") as archive:
        return replace(data, y=np.where(archive["digit"] <= 4, -1.0, 1.0))


def spambase(data_dir: Directory) -> Dataset:
    """4,601 mails, the 57 features with mean 0 and variance 1."""
    return next(problem for problem in paper_suite(data_dir) if problem.name == "spambase").load()


def first(data: Dataset, n: int) -> Dataset:
    """The first n examples in the order of ``numpy.random.default_rng(0).permutation``."""
    chosen = np.random.default_rng(0).permutation(data.n)[:n]
    return replace(data, X=data.X[chosen], y=data.y[chosen])
