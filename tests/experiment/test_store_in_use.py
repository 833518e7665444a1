"""The store in use: kills and several writers lose nothing, and what is no store is refused."""

import signal
import sqlite3
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from threading import Timer

import pytest

from refsvm.experiment import Problem, RunStore

from .echoes import Echo, echoes, numbered, refused, rows_of, without_seconds
from .two_hundred import two_hundred


def child(store):
    """Start a process that works on the 200 runs and says after each one how many are finished."""
    script = Path(__file__).with_name("two_hundred.py")
    return subprocess.Popen([sys.executable, script, store], stdout=subprocess.PIPE, text=True)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no SIGKILL")
def test_an_experiment_killed_half_way_resumes_and_gives_the_same_table(store, tmp_path, solved):
    process = child(store)
    with process.stdout:
        for line in process.stdout:
            if line.split() == ["100", "200"]:
                process.send_signal(signal.SIGKILL)
                break
    assert process.wait() == -signal.SIGKILL
    before = rows_of(store)
    assert 100 <= len(before) < 200
    experiment = two_hundred(store)
    assert experiment.run() == len(solved) == 200 - len(before)
    after = rows_of(store)
    assert set(before) <= set(after)
    assert len(after) == 200
    undisturbed = two_hundred(tmp_path / "undisturbed.sqlite")
    assert undisturbed.run() == 200
    assert without_seconds(experiment) == without_seconds(undisturbed)
    for metric in ("iterations", "kernel_rows", "objective"):
        assert experiment.compare(metric) == undisturbed.compare(metric)


def test_several_processes_fill_one_store(store):
    processes = [child(store) for _ in range(3)]
    outputs = [process.communicate()[0].splitlines() for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0]
    assert all(lines[-1] == "200 200" for lines in outputs)
    assert len(rows_of(store)) == 200
    assert len(two_hundred(store).records()) == 200


def test_a_second_writer_waits_for_the_first(store):
    experiment = echoes(store)
    RunStore(store).prepare()
    other = sqlite3.connect(store, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    release = Timer(0.3, lambda: other.execute("ROLLBACK"))
    release.start()
    assert experiment.run() == 24
    release.join()
    other.close()


def test_a_run_finished_by_somebody_else_meanwhile_is_left_alone(store):
    class Meanwhile(Echo):
        def run(self, instance):
            if self.factor == 1.0:
                echoes(store, 2.0, problems=[Problem("numbered", numbered)]).run()
            return super().run(instance)

    mine = echoes(store, problems=[Problem("numbered", numbered)])
    hooked = replace(mine, strategies=[Meanwhile("times 1"), Echo("times 2", 2.0)])
    assert hooked.run() == 6
    assert len(rows_of(store)) == 12


def test_the_store_is_plain_sqlite_in_write_ahead_mode(store):
    echoes(store, 1.0).run()
    with sqlite3.connect(store) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        config, metrics = connection.execute("SELECT config, metrics FROM runs LIMIT 1").fetchone()
    assert '"examples": ' in config
    assert '"nothing": null' in metrics
    assert "pickle" not in config + metrics


def test_the_store_keeps_the_first_of_two_rows(store):
    runs = RunStore(store)
    runs.prepare()
    for iterations in (1, 2):
        runs.add("abc", config={}, problem="p", strategy="s", metrics={"iterations": iterations})
    assert runs.metrics(["abc"]) == {"abc": {"iterations": 1}}


def test_a_bad_store_is_refused(tmp_path):
    refused(lambda: echoes(tmp_path).run(), "store=", "a folder that exists")
    refused(lambda: echoes(tmp_path / "no" / "runs.sqlite").run(), "store=", "a folder that exists")
    text = tmp_path / "text.txt"
    text.write_text("no database, but long enough to have a header of the size that one has" * 20)
    refused(lambda: echoes(text).run(), "text.txt", "not an SQLite file")
    assert text.read_text().startswith("no database")
    other = tmp_path / "other.sqlite"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE runs (x)")
    connection.close()
    refused(lambda: echoes(other).run(), "other.sqlite", "did not make")


def test_a_store_that_cannot_be_used_is_refused(store, monkeypatch):
    from refsvm.experiment import store as module

    monkeypatch.setattr(module, "_WAIT_SECONDS", 0.05)
    runs = RunStore(store)
    runs.prepare()
    other = sqlite3.connect(store, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    refused(lambda: runs.add("a", config={}, problem="p", strategy="s", metrics={}), "locked", "another file")
    other.close()
    runs.add("a", config={}, problem="p", strategy="s", metrics={})
