"""The store in use: kills and several writers lose nothing, and what is no store is refused."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import BrokenExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from threading import Timer

import numpy as np
import pytest

import refsvm
from refsvm.experiment import Experiment, Problem, RunStore, Strategy

from ..programs import until
from .echoes import Echo, echoes, numbered, refused, rows_of, without_seconds
from .two_hundred import two_hundred


def child(store):
    """Start a process that works on the 200 runs and says after each one how many are finished."""
    script = Path(__file__).with_name("two_hundred.py")
    return subprocess.Popen([sys.executable, script, store], stdout=subprocess.PIPE, text=True)


@pytest.mark.slow
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


@pytest.mark.slow
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


def test_a_run_finished_by_another_process_meanwhile_is_left_alone(store):
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
    refused(lambda: echoes(other).run(), "other.sqlite", "not a store of refsvm")


def test_a_store_that_cannot_be_used_is_refused(store, monkeypatch):
    from refsvm.services import store as module

    monkeypatch.setattr(module, "_WAIT_SECONDS", 0.05)
    runs = RunStore(store)
    runs.prepare()
    other = sqlite3.connect(store, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    refused(lambda: runs.add("a", config={}, problem="p", strategy="s", metrics={}), "locked", "another file")
    other.close()
    runs.add("a", config={}, problem="p", strategy="s", metrics={})


def test_a_store_that_another_process_makes_meanwhile_is_no_foreign_file(store):
    class Interrupted:
        """A connection that is late for its second question: the store is made before it."""

        def execute(self, statement):
            if "sqlite_master" in statement:
                RunStore(store).prepare()
            return connection.execute(statement)

    with closing(sqlite3.connect(store, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        RunStore(store)._refuse_foreign(Interrupted())
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() != []  # it was made


def first_of(order):
    """Return the number of the example that comes first in an order."""
    return int(np.arange(1, 41)[np.random.default_rng((0, order)).permutation(40)][0])


def crashing(store, marks):
    """An experiment of six orders, the third of which kills the first process that computes it.

    Whichever worker is late, the next run to be handed out begins beside the third and is held until both are ended.
    """

    @dataclass(frozen=True)  # here, so that it reaches a worker by value
    class Crash(Strategy):
        def run(self, instance):
            first = int(instance.X[0, 0])
            crashed = (marks / "crashed").exists()
            with (marks / f"{first}").open("a") as mark:
                mark.write("begun\n")
            if first == fatal and not crashed:
                until((marks / "held").exists)
                until(lambda: stored() == len([*marks.glob("[0-9]*")]) - 2)  # all but the two under way
                (marks / "crashed").touch()
                os.kill(os.getpid(), signal.SIGKILL)
            if first not in before and not crashed:
                until((marks / f"{fatal}").exists)
                (marks / "held").touch()
                time.sleep(60)  # until this worker is ended, too
            return {"first": first}

    def stored():
        with closing(sqlite3.connect(store)) as connection:
            return connection.execute("SELECT COUNT(*) FROM runs").fetchone()[0]

    *before, fatal = (first_of(order) for order in range(3))
    problem = Problem("numbered", partial(numbered, 40))
    return Experiment([Crash("crash")], [problem], store, permutations=6)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no SIGKILL")
@pytest.mark.slow
def test_the_crash_of_a_worker_loses_its_runs_under_way_and_nothing_else(store, tmp_path):
    pytest.importorskip("joblib")
    (tmp_path / "marks").mkdir()
    experiment, finished = crashing(store, tmp_path / "marks"), []

    def watched(at):
        finished.append({record["first"] for record in experiment.records()})

    assert experiment.run(n_jobs=2, callback=watched) == 6
    assert [record["first"] for record in experiment.records()] == [first_of(order) for order in range(6)]
    assert [len(stored) for stored in finished] == [*range(7)]  # each is in the file before it is told
    begun = [len(mark.read_text().splitlines()) for mark in (tmp_path / "marks").glob("[0-9]*")]
    assert sum(begun) <= 6 + 2  # joblib ends both workers; each had one run under way


def test_crashes_in_a_row_end_the_experiment_and_what_is_finished_is_kept(store, monkeypatch):
    pytest.importorskip("joblib")
    pools = []

    def broken(work, arguments, workers):
        pools.append(workers)
        if len(pools) in (1, 4):  # one result, then a crash; three more without one
            yield work(*next(iter(arguments)))
        raise BrokenExecutor("a worker is gone")

    monkeypatch.setattr("refsvm.experiment.experiment.by_joblib", broken)
    with pytest.raises(BrokenExecutor, match="a worker is gone"):
        echoes(store).run(n_jobs=2)
    assert pools == [2] * 7
    assert len(echoes(store).records()) == 2
    assert echoes(store).run() == 22


def test_workers_are_not_told_of_the_store(store, monkeypatch):
    cloudpickle = pytest.importorskip("cloudpickle")
    sent = []

    def elsewhere(work, arguments, workers):
        for each in arguments:
            sent.append(cloudpickle.dumps((work, each)))
            yield work(*each)

    monkeypatch.setattr("refsvm.experiment.experiment.by_joblib", elsewhere)
    assert echoes(store).run(n_jobs=2) == len(sent) == len(rows_of(store)) == 24
    assert not any(str(store).encode() in task or b"RunStore" in task for task in sent)


def test_a_file_of_a_later_format_is_refused(store):
    echoes(store, 1.0).run()
    with closing(sqlite3.connect(store)) as connection:
        connection.execute("PRAGMA user_version = 2")
    for action in (echoes(store, 1.0).run, echoes(store, 1.0).records):
        refused(action, "format 2", "format 1", refsvm.__version__)
