"""SVCCV through joblib's Dask backend, on a cluster of two worker processes on this machine."""

from __future__ import annotations

import os
import signal
import threading
import time

import numpy as np
import pytest

pytest.importorskip("sklearn")
distributed = pytest.importorskip("distributed")

from joblib import parallel_config  # noqa: E402

from refsvm import SVCCV  # noqa: E402
from refsvm.datasets import load  # noqa: E402

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


def test_a_worker_that_is_killed_costs_a_retry(client):
    heart = load("heart")
    victim = next(iter(client.run(os.getpid).values()))
    first = {worker["pid"] for worker in client.run(_pid).values()}

    killed = []

    def kill():
        time.sleep(0.2)
        os.kill(victim, signal.SIGKILL)
        killed.append(time.monotonic())

    killer = threading.Thread(target=kill)
    with parallel_config(backend="dask"):
        killer.start()
        there = SVCCV(**GRID, n_jobs=-1, cv=100).fit(heart.X, heart.y).cv_results_["mean_test_score"]
    ended = time.monotonic()
    killer.join()
    assert killed[0] < ended, "the search was over before a worker was killed"
    client.wait_for_workers(2)
    np.testing.assert_array_equal(there, searched(heart, cv=100))
    assert {worker["pid"] for worker in client.run(_pid).values()} != first


def _pid():
    return {"pid": os.getpid()}
