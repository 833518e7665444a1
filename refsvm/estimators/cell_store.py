"""A SQLite file that keeps the cells of a grid as they come, so that an interrupted search goes on."""

from __future__ import annotations

import hashlib
import sqlite3
from dataclasses import astuple
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from refsvm._checks import is_sparse
from refsvm.rounds.grid import Cell

__all__ = ["CellStore", "fingerprint"]


class CellStore:
    """Keep the cells of one search; without a file it forgets them. Threads may use it one at a time.

    Parameters
    ----------
    path : str, Path or None
        File; made if it does not exist.
    search : str
        Name of data and settings: cells of another search in the same file are not seen.

    Raises
    ------
    ValueError
        If the file cannot be opened, or is no SQLite file.
    """

    def __init__(self, path: str | Path | None, search: str) -> None:
        self._search, self._connection = search, None
        if path is None:
            return
        try:
            self._connection = sqlite3.connect(path, check_same_thread=False)
            self._connection.execute(
                "CREATE TABLE IF NOT EXISTS cells (search TEXT, gamma INTEGER, split INTEGER, place INTEGER, "
                "score REAL, iterations INTEGER, fit_seconds REAL, score_seconds REAL, converged INTEGER, "
                "PRIMARY KEY (search, gamma, split, place))"
            )
        except sqlite3.Error as error:
            raise ValueError(
                f"store={str(path)!r} cannot be used ({error}); give a new file in a directory that exists."
            ) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._connection is not None:
            self._connection.close()

    def cells(self) -> dict[tuple[int, int, int], Cell]:
        """Return what is kept, by number of γ, of C and of the split."""
        if self._connection is None:
            return {}
        rows = self._connection.execute(
            "SELECT gamma, split, place, score, iterations, fit_seconds, score_seconds, converged FROM cells "
            "WHERE search = ?",
            (self._search,),
        )
        return {
            (gamma, place, split): Cell(
                split, place, score, iterations, fit_seconds, score_seconds, bool(converged)
            )
            for gamma, split, place, score, iterations, fit_seconds, score_seconds, converged in rows
        }

    def keep(self, key: tuple[int, int, int], cell: Cell) -> None:
        """Write one cell; it is in the file when this returns."""
        if self._connection is not None:
            with self._connection:
                self._connection.execute(
                    "INSERT OR REPLACE INTO cells VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    (self._search, key[0], *astuple(cell)),
                )


def fingerprint(X: Any, codes: np.ndarray, search: Any) -> str:
    """Return a name for the data, the splits, the grid and the tolerance, on which the scores depend."""
    digest = hashlib.sha256()
    parts = [X.data, X.indices, X.indptr] if is_sparse(X) else [X]
    for array in [*parts, codes, search.Cs]:
        digest.update(np.ascontiguousarray(array).tobytes())
    for split in search.splits:
        for array in (split.train, split.test, split.factors, split.test_weights):
            digest.update(np.ascontiguousarray(array).tobytes())
    settings = [(column.gamma, repr(column.kernel)) for column in search.columns]
    digest.update(repr((X.shape, settings, search.options["tol"], search.options["max_iter"])).encode())
    return digest.hexdigest()
