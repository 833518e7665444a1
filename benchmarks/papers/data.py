"""The data sets of the two working-set papers that need more than reading a file.

Preparation belongs to a paper, not to a data set: spambase is standardised in one and raw in the other.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np

from refsvm.datasets import Dataset, data_directory, open_data
from refsvm.datasets.suite import standardised

__all__ = ["connect_4", "first", "king_rook", "mnist", "one_hot", "standardised_spambase"]

Directory = str | os.PathLike[str] | None


def connect_4(data_dir: Directory) -> Dataset:
    """61,108 positions without the draws, the 42 fields as −1, 0, 1 from their one-hot code."""
    data = open_data("connect4", data_dir=data_dir)
    fields = data.X.toarray().reshape(data.n, 42, 3) @ np.array([-1.0, 0.0, 1.0])
    return replace(data, X=fields)


def mnist(data_dir: Directory) -> Dataset:
    """60,000 digits as 784 grey values from 0 to 255; the class −1 are 0 to 4, the class +1 are 5 to 9."""
    return split_by("mnist", "digit", 4, data_dir)


def king_rook(data_dir: Directory, last: int = 11) -> Dataset:
    """28,056 endgames of king and rook against king; the class −1 are those with a `class_id` up to the last one.

    The class_id is 0 for a draw and 1 + m for a win in m moves. With 11, draws and wins in at most ten moves, the
    support vectors are those of the planning-ahead paper, which does not name its two classes.
    """
    return split_by("krkopt", "class_id", last, data_dir)


def split_by(name: str, classes: str, last: int, data_dir: Directory) -> Dataset:
    """An archive of several classes: −1 are those up to the last one named, +1 the others."""
    data = open_data(name, data_dir=data_dir)
    with np.load(Path(data_directory(data_dir) or ".") / f"{name}.npz") as archive:
        return replace(data, y=np.where(archive[classes] <= last, -1.0, 1.0))


def standardised_spambase(data_dir: Directory) -> Dataset:
    """4,601 mails, the 57 features with mean 0 and variance 1, as the maximum-gain paper had them."""
    return standardised(open_data("spambase", data_dir=data_dir))


def one_hot(name: str, data_dir: Directory) -> Dataset:
    """An archive by the one-hot code of its features, which it holds as well."""
    data = open_data(name, data_dir=data_dir)
    with np.load(Path(data_directory(data_dir) or ".") / f"{name}.npz") as archive:
        return replace(data, X=archive["Xonehot"].astype(np.float64))


def first(data: Dataset, n: int) -> Dataset:
    """The first n examples in the order of ``numpy.random.default_rng(0).permutation``."""
    chosen = np.random.default_rng(0).permutation(data.n)[:n]
    return replace(data, X=data.X[chosen], y=data.y[chosen])
