"""A store that is damaged, unreachable or full: one sentence with the name of the file, never SQLite's own error."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from refsvm.experiment import RunStore

PAGE = 4096
HASHES = [f"{k:064d}" for k in range(300)]


def add(store, run):
    store.add(run, config={}, problem="p", strategy="s", metrics={"x": 1.0})


@pytest.fixture
def store(tmp_path):
    """Some pages of runs, all in the file itself rather than in its log."""
    store = RunStore(tmp_path / "runs.sqlite")
    store.prepare()
    with closing(sqlite3.connect(store.path)) as connection:
        row = {
            "config": '{"refsvm": "0.2.0"}',
            "problem": "p",
            "strategy": "s",
            "metrics": '{"x": 1.0}',
            "finished": "now",
        }
        connection.executemany(
            "INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?)", [(run, *row.values()) for run in HASHES]
        )
        connection.commit()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return store


def refused(action, store, *words):
    with pytest.raises((ValueError, OSError)) as refusal:
        action()
    sentence = str(refusal.value)
    assert sentence.startswith(f"store={str(store.path)!r} ")
    assert sentence.endswith(" another file.")
    assert "\n" not in sentence
    for word in words:
        assert word in sentence


@pytest.mark.parametrize("metrics", ["", "{", "[1]", "7", "[" * 100_000, b"\xff", None])
def test_metrics_that_cannot_be_read_are_a_sentence(store, metrics):
    with closing(sqlite3.connect(store.path)) as connection:
        if metrics is None:
            connection.execute("ALTER TABLE runs RENAME COLUMN metrics TO measures")
        else:
            connection.execute("UPDATE runs SET metrics = ? WHERE hash = ?", (metrics, HASHES[0]))
        connection.commit()
    says = "contains more than a store's table" if metrics is None else "metrics of a run cannot be read"
    refused(lambda: store.metrics(HASHES), store, says)


def test_a_number_that_was_changed_is_told_from_a_measured_one(store):
    add(store, "new")
    with closing(sqlite3.connect(store.path)) as connection, connection:
        connection.execute("UPDATE runs SET metrics = replace(metrics, '1.0', '1.5') WHERE hash = 'new'")
    words = "is damaged (the metrics of a run do not match their digest)"
    refused(lambda: store.metrics(["new"]), store, words)


def unreachable(tmp_path):
    """In a folder that exists, at a place where no file can be made."""
    path = tmp_path / "link.sqlite"
    path.symlink_to(tmp_path / "no" / "such" / "folder")
    return RunStore(path)


def test_a_file_that_cannot_be_made_is_a_sentence(tmp_path):
    store = unreachable(tmp_path)
    for action in (store.prepare, lambda: add(store, "a"), lambda: store.kept_open().__enter__()):
        refused(action, store, "cannot be used (unable to open database file)", "close the program")


def test_a_full_disk_is_a_sentence(store, monkeypatch):
    plain = RunStore._opened

    def crowded(self):
        connection = plain(self)
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count={pages}")
        return connection

    monkeypatch.setattr(RunStore, "_opened", crowded)
    large = {"config": {"text": "x" * 10 * PAGE}, "problem": "p", "strategy": "s", "metrics": {}}
    refused(lambda: store.add("large", **large), store, "database or disk is full")


def test_an_error_of_the_body_is_not_taken_for_one_of_the_store(store):
    with pytest.raises(sqlite3.OperationalError, match="of a strategy"), store.kept_open():
        raise sqlite3.OperationalError("of a strategy")


def test_the_command_line_ends_with_a_sentence_and_code_2(store, tmp_path):
    pytest.importorskip("typer")
    from ..cli.commands import refused as refused_command

    add(store, "new")
    content = bytearray(store.path.read_bytes())
    content[PAGE:] = bytes(len(content) - PAGE)
    store.path.write_bytes(content)
    options = ["compare", "heart", "--repeats", "1", "--engines", "numpy", "--max-iter", "10", "--store"]
    assert "is damaged" in refused_command(*options, str(store.path))
    assert "cannot be used" in refused_command(*options, str(unreachable(tmp_path).path))
