"""Through joblib's Dask backend, on a cluster of two worker processes on this machine."""

from __future__ import annotations

import importlib.util
import os
import signal
import threading
import time
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sklearn")
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


def test_two_processes_find_what_one_finds(client):
    heart = load("heart")
    with parallel_config(backend="dask"):
        there = searched(heart, n_jobs=-1)
    np.testing.assert_array_equal(there, searched(heart))


def test_data_is_sent_once_and_the_kernel_matrix_never(client, monkeypatch):
    heart, scattered, tasks = load("heart"), [], []
    with parallel_config(backend="dask"):
        searched(heart, n_jobs=-1, cv=2)  # workers that compile for seconds hear from the scheduler meanwhile
    scatter, submit = client.scatter, client.submit

    def watched_scatter(data, **options):
        scattered.append(data)
        return scatter(data, **options)

    def watched_submit(function, **options):
        tasks.append(len(cloudpickle.dumps((function, options))))
        return submit(function, **options)

    monkeypatch.setattr(client, "scatter", watched_scatter)
    monkeypatch.setattr(client, "submit", watched_submit)
    before = sum(client.run(_received).values())
    with parallel_config(backend="dask"):
        searched(heart, n_jobs=-1, cv=20)
    received = sum(client.run(_received).values()) - before
    matrix, splits = 8 * heart.n**2, 20 * 8 * 3 * heart.n
    assert sum(np.shape(data) == heart.X.shape for data in scattered) == 1
    assert len(tasks) == len(GRID["gammas"])
    assert max(tasks) < 20_000 < splits
    assert received < heart.X.nbytes + splits < matrix


def test_a_worker_that_is_killed_costs_a_retry(client):
    heart = load("heart")
    pids = client.run(os.getpid)
    victim = next(iter(pids))
    first = {worker["pid"] for worker in client.run(_pid).values()}

    killed = []

    def kill():
        while not client.run(_is_at_work, workers=[victim])[victim]:
            time.sleep(0.01)
        os.kill(pids[victim], signal.SIGKILL)
        killed.append(time.monotonic())

    killer = threading.Thread(target=kill)
    fine = {"cv": 100, "tol": 1e-9}  # more work than the killer needs time
    with parallel_config(backend="dask"):
        killer.start()
        there = SVCCV(**GRID, **fine, n_jobs=-1).fit(heart.X, heart.y).cv_results_["mean_test_score"]
    ended = time.monotonic()
    killer.join()
    assert killed[0] < ended, "the search was over before a worker was killed"
    client.wait_for_workers(2)
    np.testing.assert_array_equal(there, searched(heart, **fine))
    assert {worker["pid"] for worker in client.run(_pid).values()} != first


@pytest.fixture(scope="module")
def page():
    """The script that the page on several machines shows."""
    file = Path(__file__).parents[2] / "docs" / "examples" / "several_machines.py"
    specification = importlib.util.spec_from_file_location("several_machines", file)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["left_out", "folds", "experiment"])
def test_what_the_page_shows_survives_the_loss_of_a_worker(client, page, name, tmp_path):
    killed = []
    waves = make_waveform(
        {"left_out": 1500, "folds": 4000}.get(name, 10), rng=0
    )  # longer than the killer needs

    def result(folder):
        if name != "experiment":
            return getattr(page, name)(waves.X, waves.y).decision_values
        folder.mkdir()
        return np.array([run["iterations"] for run in page.experiment(folder / "runs.sqlite").records()])

    def kill():
        while not killed:
            for worker, at_work in client.run(_is_at_work).items():
                if at_work and not killed:
                    killed.append(worker)
                    os.kill(client.run(os.getpid, workers=[worker])[worker], signal.SIGKILL)
            if done:
                return
            time.sleep(0.01)

    done = []
    killer = threading.Thread(target=kill)
    killer.start()
    with parallel_config(backend="dask"):
        there = result(tmp_path / "there")
    done.append(True)
    killer.join()
    client.wait_for_workers(2)
    np.testing.assert_array_equal(there, result(tmp_path / "here"))
    assert killed, "nobody was at work when a worker was to be killed"


def _received(dask_worker):
    """Bytes that a worker got from other workers."""
    return sum(transfer["total"] for transfer in dask_worker.transfer_incoming_log)


def _is_at_work(dask_worker):
    return dask_worker.state.executing_count > 0


def _pid():
    return {"pid": os.getpid()}
