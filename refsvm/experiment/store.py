"""RunStore: one row for each finished run, in one SQLite file that a kill at any moment leaves whole."""

from __future__ import annotations

import json
import math
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, is_dataclass
from pathlib import Path
from typing import Any, Final

__all__ = ["RunStore", "json_of"]

_APPLICATION: Final = 0x52535652  # "RSVR", in the header of the file
_FORMAT: Final = 1
_WAIT_SECONDS: Final = 60.0  # seconds to wait for another writer

_SCHEMA: Final = f"""
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS runs (
    hash TEXT NOT NULL UNIQUE,   -- of the config
    config TEXT NOT NULL,        -- JSON: everything that changes the outcome
    problem TEXT NOT NULL,       -- the names in the experiment that stored the run first, for people
    strategy TEXT NOT NULL,
    metrics TEXT NOT NULL,       -- JSON
    finished TEXT NOT NULL       -- UTC
);
PRAGMA application_id={_APPLICATION};
PRAGMA user_version={_FORMAT};
COMMIT;
"""


@dataclass(frozen=True)
class RunStore:
    """The finished runs of experiments, one row each.

    A run is stored in one transaction of a write-ahead log, so a process that is killed loses the run under way and
    nothing else. Several processes may write at once. Two of them that finish the same run store it once.

    Parameters
    ----------
    path : pathlib.Path
        The file; made by `prepare`. Write-ahead logging needs a local disk, not a network file system.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from refsvm.experiment import RunStore
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
        finished = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        row = (run, json_of(config), problem, strategy, json_of(metrics), finished)
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
            for run in runs:
                row = connection.execute("SELECT metrics FROM runs WHERE hash = ?", (run,)).fetchone()
                if row is not None:
                    found[run] = self._document(row[0])
        return found

    @contextmanager
    def kept_open(self) -> Iterator[None]:
        """Keep the file open: while somebody does, closing it elsewhere does not write back the whole log."""
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
        """Say what SQLite says, and of which file."""
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

    def _document(self, text: object) -> dict[str, Any]:
        """Read the metrics of a run."""
        try:
            document = json.loads(text) if isinstance(text, str) else None
        except (ValueError, RecursionError):
            document = None
        if not isinstance(document, dict):
            raise self._damaged("the metrics of a run cannot be read")
        return document

    def _refuse_foreign(self, connection: sqlite3.Connection) -> None:
        """Refuse a file that is no store, or one of another format."""
        tables, application, form = (
            connection.execute(text).fetchone()[0]
            for text in ("SELECT count(*) FROM sqlite_master", "PRAGMA application_id", "PRAGMA user_version")
        )
        if tables and (application, form) != (_APPLICATION, _FORMAT):
            raise self._refused("is an SQLite file that this version of refsvm did not make; give another.")

    def _write_ahead(self, connection: sqlite3.Connection) -> None:
        """Switch to write-ahead logging; SQLite does not wait for other processes here, so this does."""
        deadline = time.monotonic() + _WAIT_SECONDS
        while True:
            try:
                connection.execute("PRAGMA journal_mode=WAL")
                return
            except sqlite3.OperationalError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.01)


def _line(message: object) -> str:
    """Return what SQLite says as one line."""
    return "".join(c for c in " ".join(str(message).split()) if c.isprintable())


def json_of(document: Any, indent: int | None = None) -> str:
    """Return JSON, also of dataclasses; NaN and infinity, which it does not have, become null.

    Examples
    --------
    >>> from refsvm.experiment.store import json_of
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
