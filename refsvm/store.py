"""RunStore: one row for each finished run in one SQLite file, and the identity by which a run is found again.

A run is one strategy on one problem of an experiment, or one cell of a grid search. A kill at any moment leaves the
file intact.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import sqlite3
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, is_dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from refsvm._checks import is_sparse, version

_APPLICATION: Final = 0x52535652  # "RSVR", in the header of the file
_FORMAT: Final = 1
_WAIT_SECONDS: Final = 60.0  # seconds to wait for another writer
_SEAL: Final = "_digest"  # the entry of the stored metrics that tells a damaged number from a measured one

_SCHEMA: Final = f"""
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS runs (
    hash TEXT NOT NULL UNIQUE,   -- of the config
    config TEXT NOT NULL,        -- JSON: everything that changes the outcome
    problem TEXT NOT NULL,       -- the names in the experiment that stored the run first, for people
    strategy TEXT NOT NULL,
    metrics TEXT NOT NULL,       -- JSON, with a digest of itself
    finished TEXT NOT NULL       -- UTC
);
PRAGMA application_id={_APPLICATION};
PRAGMA user_version={_FORMAT};
COMMIT;
"""


@dataclass(frozen=True)
class RunStore:
    """The finished runs of experiments and searches, one row each.

    A run is stored in one transaction of a write-ahead log, so a process that is killed loses the run under way and
    nothing else. Several processes of one machine may write at once. Two of them that finish the same run store it
    once. Workers elsewhere return their runs to the process that called them, which writes.

    Parameters
    ----------
    path : pathlib.Path
        The file; made by `prepare`. Write-ahead logging needs a disk of this machine, not a network file system.
        Files of refsvm 0.2.0 that hold runs of experiments are read and continued.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from refsvm.store import RunStore
    >>> store = RunStore(Path(tempfile.mkdtemp(), "runs.sqlite"))
    >>> store.prepare()
    >>> store.add("abc", config={"C": 1.0}, problem="heart", strategy="SMO", metrics={"iterations": 102})
    >>> store.metrics(["abc", "def"])
    {'abc': {'iterations': 102}}
    """

    path: Path

    def prepare(self) -> None:
        """Make the file if it is not there.

        Raises
        ------
        ValueError
            If the folder does not exist, or the file is something else or damaged.
        OSError
            If the file cannot be made or written, or another process holds it for a minute.
        """
        if not self.path.absolute().parent.is_dir() or self.path.is_dir():
            raise self._refused("cannot be written; give a file in a folder that exists.")
        with self._connected() as connection:
            self._write_ahead(connection)
            connection.executescript(_SCHEMA)

    def add(
        self, run: str, *, config: Mapping[str, Any], problem: str, strategy: str, metrics: Mapping[str, Any]
    ) -> None:
        """Store a finished run under its hash; a run that is already there stays as it is.

        Raises
        ------
        ValueError, OSError
            As in `prepare`.
        """
        # in UTC: workers of one store may stand in several time zones
        finished = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        # a digest beside the numbers tells a damaged page of the file from a result
        sealed = json_of({**metrics, _SEAL: _seal(run, metrics)})
        row = (run, json_of(config), problem, strategy, sealed, finished)
        with self._connected() as connection:
            # of two processes that finish the same run, the first has the row
            connection.execute("INSERT OR IGNORE INTO runs VALUES (?, ?, ?, ?, ?, ?)", row)

    def metrics(self, runs: Iterable[str]) -> dict[str, dict[str, Any]]:
        """Return the metrics of those of the runs that are finished, by hash.

        Raises
        ------
        ValueError, OSError
            As in `prepare`.
        """
        if not self.path.is_file():
            return {}
        found = {}
        with self._connected() as connection:
            # one by one: SQLite allows so many parameters in a statement and no more
            for run in runs:
                row = connection.execute("SELECT metrics FROM runs WHERE hash = ?", (run,)).fetchone()
                if row is not None:
                    found[run] = self._document(run, row[0])
        return found

    @contextmanager
    def kept_open(self) -> Iterator[None]:
        """Keep the file open: while it is open, closing it elsewhere does not write back the whole log."""
        with self._sentences():
            connection = self._opened()
        with closing(connection):
            yield

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        """Open the file for some statements, and close it."""
        with self._sentences(), closing(self._opened()) as connection:
            yield connection

    def _opened(self) -> sqlite3.Connection:
        """Open the file, in a mode where every statement is a transaction of its own; refuse a foreign file."""
        # without implicit transactions: a statement that fails leaves no lock to other processes
        connection = sqlite3.connect(self.path, timeout=_WAIT_SECONDS, isolation_level=None)
        try:
            self._refuse_foreign(connection)
            # a loss of power may take the last runs, never the file
            connection.execute("PRAGMA synchronous=NORMAL")
        except BaseException:
            connection.close()
            raise
        return connection

    @contextmanager
    def _sentences(self) -> Iterator[None]:
        """Turn errors of SQLite into sentences that name the file."""
        try:
            yield
        except sqlite3.OperationalError as error:
            reason = f"cannot be used ({_line(error)}); free it or give another file."
            raise OSError(str(self._refused(reason))) from error
        except (sqlite3.Error, UnicodeDecodeError) as error:  # a damaged name may stand in SQLite's message
            if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_NOTADB:
                raise self._refused("is not an SQLite file; give another file.") from None
            raise self._damaged(_line(error)) from error

    def _refused(self, reason: str) -> ValueError:
        return ValueError(f"store={str(self.path)!r} {reason}")

    def _damaged(self, reason: str) -> ValueError:
        return self._refused(f"is damaged ({reason}); move it away and give another file.")

    def _document(self, run: str, text: object) -> dict[str, Any]:
        """Read the metrics of a run."""
        try:
            document = json.loads(text) if isinstance(text, str) else None
        except (ValueError, RecursionError):
            document = None
        if not isinstance(document, dict):
            raise self._damaged("the metrics of a run cannot be read")
        seal = document.pop(_SEAL, None)
        if seal not in (None, _seal(run, document)):  # runs of 0.2.0 have none
            raise self._damaged("the metrics of a run are not those that were stored")
        return document

    def _refuse_foreign(self, connection: sqlite3.Connection) -> None:
        """Refuse a file that is no store, or one of another format."""
        connection.execute("BEGIN")  # one look: another process may be making the store meanwhile
        application, form = (
            connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")
        )
        tables = [
            name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        ]
        connection.execute("COMMIT")
        if (application, form) == (_APPLICATION, _FORMAT):
            return
        if application == _APPLICATION:
            raise self._refused(
                f"has format {form} of a later refsvm, and refsvm {version()} reads format {_FORMAT}; give another "
                "file."
            )
        if tables == ["cells"]:
            raise self._refused(
                f"holds the cells of a search by refsvm 0.2.0, which refsvm {version()} keeps in another way; give "
                "another file."
            )
        if tables:
            raise self._refused(f"is an SQLite file that refsvm {version()} did not make; give another file.")

    def _write_ahead(self, connection: sqlite3.Connection) -> None:
        """Switch to write-ahead logging; SQLite does not wait for other processes here, so this does."""
        deadline = time.monotonic() + _WAIT_SECONDS
        while True:
            try:
                connection.execute("PRAGMA journal_mode=WAL")
                return
            except sqlite3.OperationalError:
                # a process that was killed may hold the lock for ever
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.01)


def _line(message: object) -> str:
    """Return what SQLite says as one line."""
    return "".join(c for c in " ".join(str(message).split()) if c.isprintable())


def _seal(run: str, metrics: Mapping[str, Any]) -> str:
    """Return a digest of a run's hash and metrics."""
    return hashlib.sha256(f"{run} {json_of(metrics)}".encode()).hexdigest()[:16]


def described(name: str, value: Any) -> str | int | float | bool | None:
    """Return a value as JSON can hold it; an object by its package and its repr.

    Parameters
    ----------
    name : str
        Name of the value, for the message.
    value : object
        None, a number, a string, or an object whose repr says all that matters: a frozen dataclass.

    Returns
    -------
    str, int, float, bool or None

    Raises
    ------
    ValueError
        If the repr holds a memory address, as that of a function does: it is another one in every process.

    Examples
    --------
    >>> from refsvm import RBF
    >>> from refsvm.store import described
    >>> described("kernel", RBF(gamma=0.5)), described("cache_mb", float("inf")), described("trace", False)
    ('refsvm: RBF(gamma=0.5)', 'inf', False)
    """
    if isinstance(value, np.generic):
        # a NumPy number and the Python one make the same run
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    # NumPy shortens long arrays and rounds numbers: two rules could have one repr
    with np.printoptions(threshold=sys.maxsize, floatmode="unique"):
        text = repr(value)
    if re.search(r"\bat 0x[0-9a-fA-F]+", text):
        raise ValueError(
            f"{name}={text} has no lasting description, by which a finished run could be found again; make it a "
            "frozen dataclass (with __call__ if it is a function)."
        )
    return f"{type(value).__module__.partition('.')[0]}: {text}"


def fingerprint(*arrays: Any) -> str:
    """Return a hash of arrays: examples and labels, or the parts of a split.

    Parameters
    ----------
    *arrays : ndarray or CSR

    Returns
    -------
    str
        32 hexadecimal digits.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.store import fingerprint
    >>> X, y = np.array([[0.0], [1.0]]), np.array([-1.0, 1.0])
    >>> fingerprint(X, y) == fingerprint(X.copy(), y), fingerprint(X, y) == fingerprint(X, -y)
    (True, False)
    """
    summary = hashlib.blake2b(digest_size=16)
    for array in arrays:
        summary.update(repr((array.shape, is_sparse(array))).encode())
        # SciPy takes 32 or 64 bits for indices as it sees fit: the examples are the same
        sparse = is_sparse(array)
        parts = (
            [array.data, *(a.astype(np.int64) for a in (array.indices, array.indptr))] if sparse else [array]
        )
        for part in parts:
            summary.update(np.ascontiguousarray(part).data)
    return summary.hexdigest()


def digest(config: Mapping[str, Any]) -> str:
    """Return the hash of a configuration: SHA-256 of its JSON with sorted keys, 64 hexadecimal digits."""
    # sorted: the order in which a dataclass lists its fields is no part of a run
    text = json.dumps(config, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def json_of(document: Any, indent: int | None = None) -> str:
    """Return JSON, also of dataclasses; NaN and infinity, which it does not have, become null.

    Examples
    --------
    >>> from refsvm.store import json_of
    >>> json_of({"steps": 3, "gaps": [0.5, float("inf")]})
    '{"steps": 3, "gaps": [0.5, null]}'
    """
    return json.dumps(_strict(document), indent=indent, ensure_ascii=False, allow_nan=False)


def _strict(value: Any) -> Any:
    """Return a value whose numbers are all finite."""
    if is_dataclass(value) and not isinstance(value, type):
        return _strict(vars(value))
    if isinstance(value, dict):
        return {key: _strict(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_strict(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
