"""An experiment that is killed and resumed, and one that loses a worker, have the tables of one that nothing disturbs.

    python benchmarks/killed.py            three selectors × two steps × four sets × ten orders, 240 runs, three times
    python benchmarks/killed.py --orders 2 the same with fewer orders

First undisturbed; then in a process that gets SIGKILL after a quarter of the runs, and is resumed in another one; then
on two Dask workers, one of which gets SIGKILL after a quarter of the runs. The exit code is 1 if a table differs.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
from functools import partial
from itertools import product
from pathlib import Path

from refsvm import (
    RBF,
    HybridMaximumGain,
    Linear,
    MostViolatingPair,
    NewtonStep,
    OverrelaxedNewtonStep,
    SecondOrder,
)
from refsvm.datasets import load, make_banana
from refsvm.engine.progress import Progress
from refsvm.experiment import Experiment, Problem, Solve

SELECTORS = {"MVP": MostViolatingPair(), "second order": SecondOrder(), "HMG": HybridMaximumGain()}
STEPS = {"": NewtonStep(), ", 1.1": OverrelaxedNewtonStep(1.1)}
PROBLEMS = [
    Problem("heart", partial(load, "heart"), kernel=RBF(0.005), C=1e4),
    Problem("sonar", partial(load, "sonar"), kernel=RBF(0.5), C=10.0),
    Problem("monks1", partial(load, "monks1"), kernel=Linear(), C=1.0),
    Problem("banana", partial(make_banana, 200, rng=0), kernel=RBF(0.5), C=316.0),
]


def experiment(store: Path, orders: int) -> Experiment:
    """All runs, kept in this file."""
    strategies = [
        Solve(name + words, selector=selector, step=step, shrinking=False)
        for (name, selector), (words, step) in product(SELECTORS.items(), STEPS.items())
    ]
    return Experiment(strategies, PROBLEMS, store, permutations=orders)


def tables(runs: Experiment) -> list[str]:
    """What must not depend on how the runs came about."""
    return [runs.listing([metric]).to_markdown() for metric in ("iterations", "kernel_rows", "objective")]


def killed_and_resumed(store: Path, orders: int) -> Experiment:
    """Begin in a child, which gets SIGKILL after a quarter of the runs; carry out the rest in this process."""
    command = [sys.executable, __file__, "--orders", str(orders), "--begin", str(store)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        for line in child.stdout or ():
            done, total = map(int, line.split())
            if 4 * done >= total:
                child.send_signal(signal.SIGKILL)
                break
    runs = experiment(store, orders)
    print(
        f"killed with code {child.returncode}: {len(runs.records())} runs kept, {runs.run()} carried out now"
    )
    return runs


def on_two_workers(store: Path, orders: int) -> Experiment:
    """Carry out all runs on two Dask workers, and kill one after a quarter of them."""
    from distributed import Client, LocalCluster
    from joblib import parallel_config

    runs = experiment(store, orders)
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None) as cluster,
        Client(cluster) as client,
        parallel_config(backend="dask"),
    ):
        workers = set(client.run(os.getpid).values())
        victims = sorted(workers)[:1]

        def kill(at: Progress) -> None:
            if 4 * at.done >= (at.total or 0) and victims:
                os.kill(victims.pop(), signal.SIGKILL)

        carried_out = runs.run(n_jobs=-1, callback=kill)
        client.wait_for_workers(2, timeout=60)
        replaced = len(set(client.run(os.getpid).values()) - workers)
    print(f"two Dask workers: {carried_out} runs carried out, {replaced} worker replaced")
    if replaced != 1:
        raise SystemExit("No worker was killed: the check says nothing.")
    return runs


def main() -> int:
    """Compare the three; return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--orders", type=int, default=10)
    parser.add_argument(
        "--begin", type=Path, metavar="STORE", help="begin here, and say how many runs are done"
    )
    chosen = parser.parse_args()
    if chosen.begin:
        experiment(chosen.begin, chosen.orders).run(callback=lambda at: print(at.done, at.total, flush=True))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        undisturbed = experiment(Path(folder, "undisturbed.sqlite"), chosen.orders)
        print(f"undisturbed: {undisturbed.run()} runs carried out")
        expected, wrong = tables(undisturbed), 0
        for way in (killed_and_resumed, on_two_workers):
            same = tables(way(Path(folder, f"{way.__name__}.sqlite"), chosen.orders)) == expected
            print(f"{way.__name__}: {'the same tables' if same else 'OTHER TABLES'}")
            wrong += not same
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
