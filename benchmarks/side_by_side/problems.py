"""The problems: the suite of eighteen, the large ones, and families whose size can be chosen."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from papers.data import first, mnist

from refsvm.datasets import (
    Dataset,
    SuiteProblem,
    make_chessboard,
    make_ringnorm,
    make_twonorm,
    make_waveform,
    open_data,
    paper_suite,
)

__all__ = ["FAMILIES", "Stored", "drawn", "large", "one_hot_to_signs", "ringnorm_in", "store", "suite"]

Directory = str | os.PathLike[str] | None


def suite(data_dir: Directory) -> list[SuiteProblem]:
    """List the eighteen sets with their published C and γ."""
    return [replace(problem, name=problem.name.removeprefix("ida_")) for problem in paper_suite(data_dir)]


def large(data_dir: Directory) -> list[SuiteProblem]:
    """List the large problems; nothing is read yet."""
    digits = 1.0 / (2.0 * 3500.0**2)
    return [
        SuiteProblem("chessboard-10000", 1e3, 0.5, partial(make_chessboard, 10_000, rng=0)),
        SuiteProblem("chessboard-50000", 1e3, 0.5, partial(make_chessboard, 50_000, rng=0)),
        SuiteProblem("ringnorm-20000", 2.0, 0.1, partial(make_ringnorm, 20_000, rng=0)),
        SuiteProblem("a9a", 1.0, 0.05, partial(open_data, "a9a", data_dir=data_dir)),
        SuiteProblem("w8a", 1.0, 0.05, partial(open_data, "w8a", data_dir=data_dir)),
        SuiteProblem("connect-4", 4.5, 0.2, partial(sparse_connect_4, data_dir)),
        SuiteProblem("mnist-20000", 50.0, digits, partial(some_digits, data_dir)),
        SuiteProblem("mnist-60000", 50.0, digits, partial(mnist, data_dir)),
    ]


def drawn() -> list[SuiteProblem]:
    """List the larger ones that are drawn, with C = 1 and the published γ; minutes each, so measured if named only."""
    sizes = [
        (make_ringnorm, 0.1, (50_000, 100_000, 200_000)),
        (make_waveform, 0.05, (50_000, 100_000)),
        (make_twonorm, 0.02, (100_000,)),
    ]
    return [
        SuiteProblem(f"{make.__name__.removeprefix('make_')}-{n}", 1.0, gamma, partial(make, n, rng=0))
        for make, gamma, several in sizes
        for n in several
    ]


def sparse_connect_4(data_dir: Directory) -> Dataset:
    """Return the 61,108 positions with the 42 fields as −1, 0, 1, in CSR; an empty field is not stored."""
    data = open_data("connect4", data_dir=data_dir)
    return replace(data, X=one_hot_to_signs(data.X))


def one_hot_to_signs(X: Any) -> Any:
    """Return −1, 0, 1 for each three columns of a one-hot code, as CSR without stored zeros."""
    from scipy.sparse import csr_matrix

    fields = X.shape[1] // 3
    places = 3 * np.repeat(np.arange(fields), 2) + np.tile([0, 2], fields)  # between them stands 0
    code = (np.tile([-1.0, 1.0], fields), (places, places // 3))
    return csr_matrix(X @ csr_matrix(code, shape=(X.shape[1], fields)))


def some_digits(data_dir: Directory) -> Dataset:
    """Return 20,000 of the digits."""
    return first(mnist(data_dir), 20_000)


def ringnorm_in(d: int, n: int = 2000) -> Dataset:
    """Ringnorm in d dimensions instead of 20: N(a1, I) with a = 2/√d inside N(0, 4I); γ = 2/d."""
    rng = np.random.default_rng(0)
    y = rng.choice([-1.0, 1.0], size=n)
    e = rng.standard_normal((n, d))
    return Dataset(
        "ringnorm", np.where(y[:, None] > 0, 2.0 / np.sqrt(d) + e, 2.0 * e), y, C=2.0, gamma=2.0 / d
    )


def ringnorm(n: int) -> Dataset:
    """Return n examples of ringnorm, with the suite's C and γ."""
    return replace(make_ringnorm(n, rng=0), C=2.0, gamma=0.1)


def chessboard(n: int) -> Dataset:
    """Return n examples of the chessboard, with the C of the large problems."""
    return replace(make_chessboard(n, rng=0), C=1e3, gamma=0.5)


FAMILIES: dict[tuple[str, str], Callable[[int], Dataset]] = {
    ("ringnorm", "n"): ringnorm,
    ("chessboard, C = 1000", "n"): chessboard,
    ("ringnorm, n = 2000", "d"): ringnorm_in,
}
"""Name and what grows: the data set of that size."""


@dataclass(frozen=True)
class Stored:
    """A problem on disk, where each library's process reads it; so all of them get the same bits."""

    directory: Path
    name: str
    C: float
    gamma: float

    def open(self) -> Dataset:
        """Read it: X of shape (n, d), dense or CSR, y of ±1."""
        dense = self.directory / "X.npy"
        if dense.is_file():
            X = np.load(dense)
        else:
            from scipy.sparse import load_npz

            X = load_npz(self.directory / "X.npz")
        return Dataset(self.name, X, np.load(self.directory / "y.npy"), C=self.C, gamma=self.gamma)


def store(data: Dataset, directory: Path) -> Stored:
    """Write a problem to an empty directory."""
    if data.C is None or data.gamma is None:
        raise ValueError(f"{data!r} comes without C or gamma; give both.")
    if hasattr(data.X, "indptr"):
        from scipy.sparse import save_npz

        save_npz(directory / "X.npz", data.X, compressed=False)
    else:
        np.save(directory / "X.npy", np.ascontiguousarray(data.X, dtype=np.float64))
    np.save(directory / "y.npy", np.asarray(data.y, dtype=np.float64))
    return Stored(directory, data.name, data.C, data.gamma)


def halves(data: Dataset, size: int = 200) -> Dataset:
    """Return up to `size` examples, half of each class: something to warm up with."""
    chosen = np.sort(np.concatenate([np.flatnonzero(data.y == label)[: size // 2] for label in (-1.0, 1.0)]))
    return replace(data, X=data.X[chosen], y=data.y[chosen])


def chosen(problems: list[SuiteProblem], only: list[str] | None) -> Iterator[SuiteProblem]:
    """Yield the problems that are named, all by default; refuse a name that there is not."""
    names = [problem.name for problem in problems]
    if unknown := set(only or ()) - set(names):
        raise SystemExit(f"--only {' '.join(sorted(unknown))} is not among {', '.join(names)}.")
    yield from (problem for problem in problems if not only or problem.name in only)
