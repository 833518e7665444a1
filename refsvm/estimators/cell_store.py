"""A SQLite file that keeps the cells of a grid as they come, so that an interrupted search goes on."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from refsvm._checks import is_sparse
from refsvm.rounds.grid import Cell

__all__ = ["CellStore", "fingerprint"]


class CellStore:
    """Keep the cells of one search. Threads may use it one at a time.

    Each row carries a digest of itself, so that a damaged number is told from a score.

    Parameters
    ----------
    path : str or Path
        File; made if it does not exist.
    search : str
        Name of data and settings: cells of another search in the same file are not seen.

    Raises
    ------
    ValueError
        If the file cannot be opened, read or written, is no SQLite file or none of this kind, or is damaged.
    """

    def __init__(self, path: str | Path, search: str) -> None:
        self._path, self._search = str(path), search
        with self._sentences():
            self._connection = sqlite3.connect(path, check_same_thread=False)
            self._connection.execute(
                "CREATE TABLE IF NOT EXISTS cells (search TEXT, gamma INTEGER, split INTEGER, place INTEGER, "
                "score REAL, iterations INTEGER, fit_seconds REAL, score_seconds REAL, converged INTEGER, "
                "digest TEXT, PRIMARY KEY (search, gamma, split, place))"
            )

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    @contextmanager
    def _sentences(self) -> Iterator[None]:
        """Say what SQLite says, and of which file."""
        try:
            yield
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise self._refused(" ".join(str(error).split())) from error

    def _refused(self, reason: str) -> ValueError:
        return ValueError(
            f"store={self._path!r} cannot be used ({reason}); give a new file in a directory that exists."
        )

    def cells(self) -> dict[tuple[int, int, int], Cell]:
        """Return what is kept, by number of γ, of C and of the split."""
        with self._sentences():
            rows = self._connection.execute(
                "SELECT gamma, split, place, score, iterations, fit_seconds, score_seconds, converged, digest "
                "FROM cells WHERE search = ?",
                (self._search,),
            ).fetchall()
        for *values, digest in rows:
            if digest != self._digest(values):
                raise self._refused("a row of it is damaged")
        return {
            (gamma, place, split): Cell(split, place, score, iterations, fit, scoring, bool(converged))
            for gamma, split, place, score, iterations, fit, scoring, converged, _ in rows
        }

    def keep(self, key: tuple[int, int, int], cell: Cell) -> None:
        """Write one cell; it is in the file when this returns."""
        values = [key[0], *(number.item() if hasattr(number, "item") else number for number in cell)]
        values[-1] = int(cell.converged)
        with self._sentences(), self._connection:
            self._connection.execute(
                "INSERT OR REPLACE INTO cells VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (self._search, *values, self._digest(values)),
            )

    def _digest(self, values: Sequence[object]) -> str:
        """Return a digest of a row, search included; numbers of another type give another one."""
        return hashlib.sha256(repr((self._search, *values)).encode()).hexdigest()[:32]


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
    options = search.options
    limits = (options["tol"], options["max_iter"]) + (() if options["stop"] is None else (options["stop"],))
    digest.update(repr((X.shape, settings, *limits)).encode())
    return digest.hexdigest()
