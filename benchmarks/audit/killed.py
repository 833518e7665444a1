"""The audit "killed": an experiment that is killed, or loses a worker, has the tables of an undisturbed one.

Three selectors × two steps × four sets × ten orders, 240 runs: undisturbed; in a process that gets SIGKILL after a
quarter of the runs, and is resumed in another one; and on two Dask workers, one of which gets SIGKILL after a quarter.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

from refsvm import (
    RBF,
    HybridMaximumGain,
    Linear,
    MostViolatingPair,
    NewtonStep,
    OverrelaxedNewtonStep,
    SecondOrder,
)
from refsvm.core.engine.progress import Progress
from refsvm.datasets import load, make_banana
from refsvm.experiment import Experiment, Problem, Solve

from .frame import Audit, Found, two_workers

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
    command = [sys.executable, "-m", __name__, str(store), str(orders)]
    folder = Path(__file__).parents[__name__.count(".")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=folder) as child:
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
    runs = experiment(store, orders)
    with two_workers() as client:
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
        raise RuntimeError("No worker was killed: the check says nothing.")
    return runs


WAYS = killed_and_resumed, on_two_workers


def case(number: int, options: Any) -> Found:
    """Compare an undisturbed experiment with one that is disturbed in one of two ways."""
    way = WAYS[number]
    with tempfile.TemporaryDirectory() as folder:
        undisturbed = experiment(Path(folder, "undisturbed.sqlite"), options.orders)
        undisturbed.run()
        same = tables(way(Path(folder, "disturbed.sqlite"), options.orders)) == tables(undisturbed)
    return Found(["other tables"] * (not same), ["the same tables"] * same, way.__name__)


ORDERS = {"type": int, "default": 10, "help": "of the examples"}
AUDITS = {
    "killed": Audit(
        "Has an experiment that is killed the tables of an undisturbed one?",
        case,
        len(WAYS),
        {"--orders": ORDERS},
    )
}

if __name__ == "__main__":  # begin here, and say how many runs are done
    experiment(Path(sys.argv[1]), int(sys.argv[2])).run(
        callback=lambda at: print(at.done, at.total, flush=True)
    )
