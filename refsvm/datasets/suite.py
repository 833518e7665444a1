"""The suite of 18 problems that the papers' tables and our benchmarks use."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np

from refsvm.datasets.dataset import BUNDLE, PUBLISHED, Dataset
from refsvm.datasets.generators import make_chessboard
from refsvm.datasets.opening import data_directory
from refsvm.datasets.readers import read_npz

CHESSBOARD_SEED: Final = 0
STANDARDISED: Final = ("ida_ringnorm", "ida_twonorm")
"""Archives on which models have about the published numbers of support vectors if features are standardised."""


@dataclass(frozen=True, eq=False)
class SuiteProblem:
    """A data set with the C and γ that the papers use for it; `load` reads the data.

    Parameters
    ----------
    name : str
        Name of the problem in the papers' tables.
    C, gamma : float
        Penalty, and γ of k(x, x') = exp(−γ‖x − x'‖²).
    read : callable
        Function without arguments that returns the `Dataset`.

    Examples
    --------
    >>> from functools import partial
    >>> board = SuiteProblem("board", C=10.0, gamma=0.5, read=partial(make_chessboard, 50, rng=0))
    >>> data = board.load()
    >>> data, data.C
    (Dataset('board', n=50, d=2), 10.0)
    """

    name: str
    C: float
    gamma: float
    read: Callable[[], Dataset]

    def load(self) -> Dataset:
        """Read the data of the problem.

        Returns
        -------
        Dataset
            The data with y ±1, and with this problem's name, C and gamma.

        Raises
        ------
        FileNotFoundError
            If the archive is not in the data directory.
        ValueError
            If the archive is malformed.
        """
        return replace(self.read(), name=self.name, C=self.C, gamma=self.gamma)


def paper_suite(data_dir: str | os.PathLike[str] | None = None) -> list[SuiteProblem]:
    """List the 18 problems: the 13 sets of the IDA benchmark, chessboard-1000 and four UCI sets.

    Parameters
    ----------
    data_dir : str, path or None
        Directory of the archives, by default the value of the environment variable REFSVM_DATA.

    Returns
    -------
    list of SuiteProblem
        The problems in the order of the paper's table (see Notes). `SuiteProblem.load` reads the data, standardises the
        features of ida_ringnorm and ida_twonorm, and leaves the other archives unchanged. chessboard-1000 is generated
        with seed 0, and internet_ads_adbench is sparse (CSR).

    Raises
    ------
    FileNotFoundError
        If no data directory is given, or the directory does not exist.

    Notes
    -----
    C and γ come from T. Glasmachers (2008), "The Planning-ahead SMO Algorithm", arXiv:1307.8305, Table 1. The paper
    does not say how its sets were prepared. On the sets that this module returns, models have about as many support
    vectors as in the paper, except on ida_waveform and internet_ads_adbench; ``benchmarks/papers/preparations.py``
    compares the numbers. Another paper may prepare sets differently. `data_instructions` says where to get the sets.

    Examples
    --------
    >>> import tempfile
    >>> suite = paper_suite(tempfile.mkdtemp())
    >>> len(suite), suite[13].name, suite[13].load()
    (18, 'chessboard-1000', Dataset('chessboard-1000', n=1000, d=2))
    """
    directory = data_directory(data_dir)
    if directory is None:
        raise FileNotFoundError(
            "data_dir=None and REFSVM_DATA is not set; set either to the directory with the archives "
            "(refsvm.datasets.data_instructions() says where to get them)."
        )
    readers: dict[str, Callable[[], Dataset]] = {
        name: partial(_read_archive, directory / f"{name}.npz") for name in PUBLISHED
    }
    readers["chessboard-1000"] = partial(make_chessboard, 1000, rng=CHESSBOARD_SEED)
    readers |= {name: partial(_read_standardised, directory / f"{name}.npz") for name in STANDARDISED}
    return [SuiteProblem(name, C, gamma, readers[name]) for name, (C, gamma) in PUBLISHED.items()]


def data_instructions() -> str:
    """Return a text that says where to download each set of the papers, and under which name to store it.

    Returns
    -------
    str
        A page in Markdown.

    Examples
    --------
    >>> "zenodo.18110" in data_instructions()
    True
    """
    return (BUNDLE / "OBTAINING.md").read_text(encoding="utf-8")


def _read_archive(path: Path) -> Dataset:
    if not path.is_file():
        raise FileNotFoundError(
            f"{path.name!r} is not in data_dir={str(path.parent)!r}; store the set there under that name "
            f"(refsvm.datasets.data_instructions() says where to get it)."
        )
    X, y = read_npz(path)
    return Dataset(path.stem, X, y.astype(np.float64), source=str(path))


def standardised(data: Dataset) -> Dataset:
    """Return a data set whose features have mean 0 and standard deviation 1; constant features become 0.

    Parameters
    ----------
    data : Dataset
        Dense data.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.datasets import Dataset
    >>> from refsvm.datasets.suite import standardised
    >>> two = Dataset("two", X=np.array([[1.0, 7.0], [3.0, 7.0]]), y=np.array([-1.0, 1.0]))
    >>> standardised(two).X.tolist()
    [[-1.0, 0.0], [1.0, 0.0]]
    """
    spread = data.X.std(axis=0)
    return replace(data, X=(data.X - data.X.mean(axis=0)) / np.where(spread > 0, spread, 1.0))


def _read_standardised(path: Path) -> Dataset:
    return standardised(_read_archive(path))
