"""RunStore: keeps finished runs in an SQLite file, one row for each run, under a hash that identifies the run.

A run is one strategy on one problem of an experiment, or one cell of a grid search. The file stays intact even if a
process that writes to it is killed.
"""

from __future__ import annotations

import hashlib
import json
import math
import sqlite3
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Final

import numpy as np

from refsvm.core._checks import is_sparse, version
from refsvm.services.identity import described as described  # noqa: PLC0414  this module exports the name since 0.3.0
from refsvm.services.identity import digest_of
from refsvm.services.summary import counted

_APPLICATION: Final = 0x52535652  # the text RSVR, which marks a store
_FORMAT: Final = 1
_WAIT_SECONDS: Final = 60.0  # seconds that a writer waits for another writer to finish
_SEAL: Final = "_digest"  # name of the entry with a digest of the metrics

_OLD: Final = """config NOT LIKE '%"identity": %'"""
"""Condition for rows of refsvm 0.3.0 and before: their description lacks the number of the identity's version."""

_WITHOUT_SEAL: Final = """config LIKE '{"refsvm": "0.2.%'"""
"""Condition for rows of refsvm 0.2.0, which have no digest."""

RESERVED: Final = (_SEAL, "computed_by")
"""Names of the entries that the store and an experiment add to the metrics."""

_TABLE: Final = """CREATE TABLE runs (
    hash TEXT NOT NULL UNIQUE,   -- of the config
    config TEXT NOT NULL,        -- JSON: everything that changes the outcome
    problem TEXT NOT NULL,       -- the names in the experiment that stored the run first, for people
    strategy TEXT NOT NULL,
    metrics TEXT NOT NULL,       -- JSON, with a digest of itself
    finished TEXT NOT NULL       -- UTC
)"""
_SCHEMA: Final = f"""
BEGIN IMMEDIATE;
{_TABLE.replace("TABLE", "TABLE IF NOT EXISTS", 1)};
PRAGMA application_id={_APPLICATION};
PRAGMA user_version={_FORMAT};
COMMIT;
"""


@dataclass(frozen=True)
class RunStore:
    """The finished runs of experiments and searches, in an SQLite file with one row for each run.

    A run is stored in one transaction of a write-ahead log, so that a killed process loses only the run it was
    computing. Several processes of one machine may write at the same time; a run that two processes finish is stored
    once. Workers on other machines return their runs to the process that started them, and this process writes the
    runs.

    Parameters
    ----------
    path : pathlib.Path
        The file, which `prepare` creates. Write-ahead logging needs a local disk, not a network file system. Files of
        refsvm 0.2.0 with runs of experiments can be read and continued.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from refsvm.services.store import RunStore
    >>> store = RunStore(Path(tempfile.mkdtemp(), "runs.sqlite"))
    >>> store.prepare()
    >>> store.add("abc", config={"C": 1.0}, problem="heart", strategy="SMO", metrics={"iterations": 102})
    >>> store.metrics(["abc", "def"])
    {'abc': {'iterations': 102}}
    """

    path: Path

    def prepare(self) -> None:
        """Create the file if it does not exist.

        Raises
        ------
        ValueError
            If the folder does not exist, or the file is damaged or not a store.
        OSError
            If the file cannot be created or written, or another process locks it for a minute.
        """
        if str(self.path) == ":memory:":  # each connection to ":memory:" opens a new, empty database
            raise self._refused("is a database in memory, which keeps nothing; give a file, or omit store.")
        if not self.path.absolute().parent.is_dir() or self.path.is_dir():
            raise self._refused("cannot be written; give a file in a folder that exists.")
        with self._connected() as connection:
            self._write_ahead(connection)
            connection.executescript(_SCHEMA)

    def add(
        self, run: str, *, config: Mapping[str, Any], problem: str, strategy: str, metrics: Mapping[str, Any]
    ) -> None:
        """Store a finished run under its hash, unless the file contains a run with this hash.

        Raises
        ------
        ValueError, OSError
            As in `prepare`.
        """
        # store the time in UTC, because processes that write to a store may be in several time zones
        finished = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        # add a digest, so that a reader can recognise metrics that come from a damaged page of the file
        sealed = json_of({**metrics, _SEAL: _seal(run, metrics)})
        row = (run, json_of(config), _text(problem), _text(strategy), sealed, finished)
        with self._connected() as connection:
            # if two processes finish the same run, keep the row of the first process
            connection.execute("INSERT OR IGNORE INTO runs VALUES (?, ?, ?, ?, ?, ?)", row)

    def metrics(self, runs: Iterable[str]) -> dict[str, dict[str, Any]]:
        """Return the metrics of the stored runs among `runs`, as a dict by hash.

        Raises
        ------
        ValueError, OSError
            As in `prepare`.
        """
        if not self.path.is_file():
            return {}
        documents = {}
        with self._connected() as connection:
            # query each run separately, because SQLite limits the number of parameters in a statement
            for run in runs:
                query = f"SELECT metrics, {_WITHOUT_SEAL} FROM runs WHERE hash = ?"
                row = connection.execute(query, (run,)).fetchone()
                if row is not None:
                    documents[run] = self._document(run, *row)
        return documents

    def old_runs(self) -> list[dict[str, Any]]:
        """Return a dict for each run of refsvm 0.3.0 or before: problem, strategy, config, metrics, finished.

        refsvm 0.3.0 and before identified a run by the text of its rules and kernels, which two different runs may
        share.

        Raises
        ------
        ValueError, OSError
            As in `prepare`.
        """
        if not self.path.is_file():
            return []
        columns = ("hash", "config", "problem", "strategy", "metrics", "finished")
        with self._connected() as connection:
            rows = connection.execute(f"SELECT {', '.join(columns)} FROM runs WHERE {_OLD}").fetchall()
        runs = [dict(zip(columns, row, strict=True)) for row in rows]
        for run in runs:
            run["config"] = self._document(run["hash"], run["config"], is_description=True)
            is_first = str(run["config"].get("refsvm")).startswith("0.2.")
            run["metrics"] = self._document(run.pop("hash"), run["metrics"], is_first)
        return runs

    def warn_of_old_runs(self) -> None:
        """Warn once if the file contains runs of refsvm 0.3.0 or before, which this version does not use."""
        with self._connected() as connection:
            count = connection.execute(f"SELECT count(*) FROM runs WHERE {_OLD}").fetchone()[0]
        if count:
            warnings.warn(
                f"store={str(self.path)!r} contains {counted(count, 'run')} of refsvm 0.3.0 or before, which "
                "identified runs by a text that different rules could share. Such runs stay in the file "
                "(RunStore.old_runs) but are not used; all runs of this call are computed again.",
                stacklevel=3,
            )

    @contextmanager
    def kept_open(self) -> Iterator[None]:
        """Keep a connection open in the block, so that SQLite does not write back the whole log after each run."""
        with self._sentences():
            connection = self._opened()
        with closing(connection):
            yield

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        """Yield a connection to the file, and close the connection after the block."""
        with self._sentences(), closing(self._opened()) as connection:
            yield connection

    def _opened(self) -> sqlite3.Connection:
        """Return a connection on which every statement is a transaction; raise an error if the file is not a store."""
        # use no implicit transactions, because a failing statement would leave a lock that blocks other processes
        connection = sqlite3.connect(self.path, timeout=_WAIT_SECONDS, isolation_level=None)
        try:
            # before reading, set the options that SQLite advises for untrusted files
            for each in ("trusted_schema=OFF", "cell_size_check=ON", "mmap_size=0"):
                connection.execute(f"PRAGMA {each}")
            self._refuse_foreign(connection)
            # with synchronous=NORMAL, a power failure may lose the last runs, but never damages the file
            connection.execute("PRAGMA synchronous=NORMAL")
        except BaseException:
            connection.close()
            raise
        return connection

    @contextmanager
    def _sentences(self) -> Iterator[None]:
        """Inside the block, turn SQLite's errors into errors whose messages name the file."""
        try:
            yield
        except sqlite3.OperationalError as error:
            reason = f"cannot be used ({_line(error)}); close the program that uses it, or give another file."
            raise OSError(str(self._refused(reason))) from error
        except (sqlite3.Error, UnicodeDecodeError) as error:  # damaged names of tables may be invalid UTF-8
            if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_NOTADB:
                raise self._refused("is not an SQLite file; give another file.") from None
            raise self._damaged(_line(error)) from error

    def _refused(self, reason: str) -> ValueError:
        return ValueError(f"store={str(self.path)!r} {reason}")

    def _damaged(self, reason: str) -> ValueError:
        return self._refused(f"is damaged ({reason}); move it away and give another file.")

    def _document(
        self, run: str, text: object, may_lack_seal: object = False, *, is_description: bool = False
    ) -> dict[str, Any]:
        """Read a run's metrics from JSON and check their digest; or read a run's description, which has no digest."""
        try:
            document = json.loads(text) if isinstance(text, str) else None
        except (ValueError, RecursionError):
            document = None
        if not isinstance(document, dict):
            raise self._damaged("the metrics of a run cannot be read")
        if is_description:
            return document
        seal = document.pop(_SEAL, None)
        if not (seal == _seal(run, document) or (may_lack_seal and seal is None)):
            raise self._damaged("the metrics of a run do not match their digest")
        return document

    def _refuse_foreign(self, connection: sqlite3.Connection) -> None:
        """Raise an error if the file is not a store, or is a store of another format."""
        # read everything in one transaction, because another process may be creating the store
        connection.execute("BEGIN")
        application, form = (
            connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")
        )
        made = connection.execute("SELECT type, name, sql FROM sqlite_master").fetchall()
        connection.execute("COMMIT")
        parts = {(kind, name, _plain_sql(sql)) for kind, name, sql in made}
        if (application, form) == (_APPLICATION, _FORMAT):
            # refuse views and triggers: the next statement could run their code for ever
            if more := [f"{kind} {_line(name)}" for kind, name, _ in sorted(parts - _PARTS)]:
                raise self._refused(
                    f"contains more than a store's table ({', '.join(more):.100}); move it away and give another "
                    "file."
                )
            return
        tables = [name for kind, name, _ in made if kind == "table"]
        if application == _APPLICATION:
            raise self._refused(
                f"has format {form} of a later refsvm, but refsvm {version()} reads format {_FORMAT}; give another "
                "file."
            )
        if tables == ["cells"]:
            raise self._refused(
                f"contains cells of a search by refsvm 0.2.0, which refsvm {version()} cannot continue; give "
                "another file."
            )
        if tables:
            raise self._refused(
                f"is an SQLite file, but not a store of refsvm {version()}; give another file."
            )

    def _write_ahead(self, connection: sqlite3.Connection) -> None:
        """Switch to write-ahead logging; wait while another process holds a lock, because SQLite does not wait."""
        deadline = time.monotonic() + _WAIT_SECONDS
        while True:
            try:
                connection.execute("PRAGMA journal_mode=WAL")
                return
            except sqlite3.OperationalError as error:
                # wait only for a lock, and only until the deadline, because a killed process may hold a lock for ever
                is_held = error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
                if not is_held or time.monotonic() > deadline:
                    raise
                time.sleep(0.01)


def _plain_sql(statement: object) -> str:
    """Return a statement without comments and line ends, because the comments differ between versions of refsvm."""
    lines = str(statement or "").split("\n")
    return " ".join(" ".join(line.partition("--")[0].split()) for line in lines)


_PARTS: Final = {
    ("table", "runs", _plain_sql(_TABLE)),
    ("index", "sqlite_autoindex_runs_1", ""),
    ("table", "sqlite_stat1", "CREATE TABLE sqlite_stat1(tbl,idx,stat)"),
    ("table", "sqlite_stat4", "CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)"),
}
"""The tables of a store; the last two appear if another program analyses the file."""


def _line(message: object) -> str:
    """Return a message of SQLite as a single line."""
    return "".join(c for c in " ".join(str(message).split()) if c.isprintable())


def _seal(run: str, metrics: Mapping[str, Any]) -> str:
    """Return a digest of a run's hash and metrics."""
    return hashlib.sha256(f"{run} {json_of(metrics)}".encode()).hexdigest()[:16]


def fingerprint(*arrays: Any) -> str:
    """Return a hash of arrays, for instance of examples and labels.

    Parameters
    ----------
    *arrays : ndarray or CSR
        The arrays, in order.

    Returns
    -------
    str
        32 hexadecimal digits.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.services.store import fingerprint
    >>> X, y = np.array([[0.0], [1.0]]), np.array([-1.0, 1.0])
    >>> fingerprint(X, y) == fingerprint(X.copy(), y), fingerprint(X, y) == fingerprint(X, -y)
    (True, False)
    """
    return digest_of(*map(_canonical, arrays))


def _canonical(array: Any) -> Any:
    """Return a sparse matrix as CSR with one entry for each nonzero value, so that equal matrices have equal hashes."""
    if not is_sparse(array):
        return array
    rows = array.tocsr(copy=True)
    rows.sum_duplicates()
    rows.eliminate_zeros()
    return rows.shape, rows.data, *(places.astype(np.int64) for places in (rows.indices, rows.indptr))


def digest(config: Mapping[str, Any]) -> str:
    """Return the hash of a configuration: SHA-256 of its JSON with sorted keys, 64 hexadecimal digits."""
    # sort the keys, because the order of a dataclass's fields must not change the identity of a run
    text = json.dumps(config, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def json_of(document: Any, indent: int | None = None) -> str:
    """Convert dataclasses, arrays and NumPy numbers in a document; return it as JSON, with null for NaN and infinity.

    A value that JSON cannot represent is written as its `repr`, so that the rest of the document is not lost.

    Examples
    --------
    >>> from refsvm.services.store import json_of
    >>> json_of({"steps": 3, "gaps": [0.5, float("inf")]})
    '{"steps": 3, "gaps": [0.5, null]}'
    """
    return json.dumps(plain(document), indent=indent, ensure_ascii=False, allow_nan=False)


def plain(value: Any, levels: int = 40) -> Any:
    """Return a value converted to dicts, lists, finite numbers, texts, truth values and None, which JSON can read back.

    A value nested more deeply than `levels` becomes a text, so that a list may contain itself.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.services.store import plain
    >>> plain({"steps": np.int64(3), "gaps": (np.float32(0.5), np.nan), 4: np.arange(2)})
    {'steps': 3, 'gaps': [0.5, None], '4': [0, 1]}
    """
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, Enum):
        value = value.name
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, Integral | Real):
        return _plain_number(value)
    if is_dataclass(value) and not isinstance(value, type):
        value = {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, Mapping) and levels:
        return {_text(key): plain(entry, levels - 1) for key, entry in value.items()}
    if isinstance(value, list | tuple | set | frozenset) and levels:
        return [plain(entry, levels - 1) for entry in value]
    return _text(value) if isinstance(value, str) else _text(f"{value!r:.200}")


def _plain_number(value: Any) -> int | float | None:
    """Return the Python number for a number of any type; None for NaN and infinity."""
    if isinstance(value, Integral):
        return int(value)
    # a Fraction may be too large for a float
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _text(value: Any) -> str:
    """Return a text with question marks in place of lone surrogates, which no file can store."""
    return str(value).encode(errors="replace").decode()
