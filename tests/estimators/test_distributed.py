"""Through joblib's Dask backend, on a cluster of two worker processes on this machine."""

from __future__ import annotations

import importlib.util
import os
import signal
from pathlib import Path

import numpy as np
import pytest

distributed = pytest.importorskip("distributed")

import cloudpickle  # noqa: E402
from joblib import parallel_config  # noqa: E402

from refsvm import SVCCV  # noqa: E402
from refsvm.datasets import load, make_waveform  # noqa: E402

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]

GRID = {"Cs": [1.0, 10.0], "gammas": [0.003, 0.01, 0.03, 0.1], "refit": False}


@pytest.fixture(scope="module")
def client():
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address=None
    )
    with cluster, distributed.Client(cluster) as client:
        yield client


def searched(heart, **options):
    return SVCCV(**GRID, **options).fit(heart.X, heart.y).cv_results_["mean_test_score"]


def test_rows_that_are_named_twice_count_twice_there_too(client):
    heart, rows = load("heart"), np.arange(270)
    third, sixth = rows % 3, rows % 6
    cv = [(np.r_[rows[third != k], np.repeat(rows[sixth == k + 3], 2)], rows[third == k]) for k in range(3)]
    with parallel_config(backend="dask"):
        there = searched(heart, n_jobs=-1, cv=cv)
    np.testing.assert_array_equal(there, searched(heart, cv=cv))
    assert (there != searched(heart, cv=[(np.unique(train), test) for train, test in cv])).any()


def watched(client, monkeypatch):
    """What is scattered from now on, and the tasks that are sent."""
    scatter, submit, scattered, tasks = client.scatter, client.submit, [], []

    def watched_scatter(data, **options):
        scattered.append(data)
        return scatter(data, **options)

    def watched_submit(function, **options):
        tasks.append(cloudpickle.dumps((function, options)))
        return submit(function, **options)

    monkeypatch.setattr(client, "scatter", watched_scatter)
    monkeypatch.setattr(client, "submit", watched_submit)
    return scattered, tasks


def test_data_is_sent_once_and_the_kernel_matrix_never(client, monkeypatch):
    heart = load("heart")
    with parallel_config(backend="dask"):
        searched(heart, n_jobs=-1, cv=2)  # workers that compile for seconds hear from the scheduler meanwhile
    scattered, tasks = watched(client, monkeypatch)
    before = sum(client.run(_received).values())
    with parallel_config(backend="dask"):
        searched(heart, n_jobs=-1, cv=20)
    received = sum(client.run(_received).values()) - before
    matrix, splits = 8 * heart.n**2, 20 * 8 * 3 * heart.n
    assert sum(np.shape(data) == heart.X.shape for data in scattered) == 1
    assert len(tasks) == len(GRID["gammas"])
    assert max(map(len, tasks)) < 20_000 < splits
    assert received < heart.X.nbytes + splits < matrix


def test_an_experiment_sends_its_examples_once_and_never_the_store(client, page, monkeypatch, tmp_path):
    scattered, tasks = watched(client, monkeypatch)
    with parallel_config(backend="dask"):
        runs = page.experiment(tmp_path / "runs.sqlite")
    assert len(tasks) == len(runs.records()) == 8
    assert sum(hasattr(each, "permuted") for each in np.ravel(np.array(scattered, dtype=object))) == 1
    assert max(map(len, tasks)) < 20_000 < load("heart").X.nbytes
    assert not any(b"runs.sqlite" in task for task in tasks)


class KillOnce(distributed.WorkerPlugin):
    """Kills the worker that begins the first task of all."""

    def __init__(self, mark):
        self.mark = mark

    def transition(self, key, start, finish, **kwargs):
        """Note that a task begins; the worker that can make the mark's file is the first."""
        if finish == "executing":
            try:
                self.mark.touch(exist_ok=False)
            except FileExistsError:
                return
            os.kill(os.getpid(), signal.SIGKILL)


@pytest.fixture
def killed(client, tmp_path):
    """A file that exists once a worker was killed in the middle of its first task."""
    mark = tmp_path / "killed"
    client.register_plugin(KillOnce(mark), name="kill once")
    yield mark
    client.unregister_worker_plugin("kill once")


@pytest.fixture(scope="module")
def page():
    """The script that the page on several machines shows."""
    file = Path(__file__).parents[2] / "docs" / "examples" / "several_machines.py"
    specification = importlib.util.spec_from_file_location("several_machines", file)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["left_out", "folds", "search", "experiment"])
def test_what_the_page_shows_survives_the_loss_of_a_worker(client, page, name, killed, tmp_path, monkeypatch):
    # rounds are shared however fast they are, after the first of them
    monkeypatch.setattr("refsvm.services.pool.WORTH_SECONDS", 0.0)
    monkeypatch.setattr("refsvm.compiled.rounds.packed.FIRST_CHUNK", 1)
    waves = make_waveform(300, rng=0)

    def result(folder):
        if name == "search":
            return searched(load("heart"), n_jobs=-1)
        if name != "experiment":
            return getattr(page, name)(waves.X, waves.y).decision_values
        folder.mkdir()
        return np.array([run["iterations"] for run in page.experiment(folder / "runs.sqlite").records()])

    with parallel_config(backend="dask"):
        there = result(tmp_path / "there")
    assert killed.exists()
    client.wait_for_workers(2, timeout=120)
    # a worker computes its kernel rows in other blocks, which BLAS may round otherwise
    np.testing.assert_allclose(there, result(tmp_path / "here"), atol=1e-9)


def _received(dask_worker):
    """Bytes that a worker got from other workers."""
    return sum(transfer["total"] for transfer in dask_worker.transfer_incoming_log)
