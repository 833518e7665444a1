"""The first calls in a new process, beside those of the readable engine.

    python benchmarks/first_calls.py                 nine kinds of work, three calls each, with an empty cache
    python benchmarks/first_calls.py --cache FOLDER  with what is compiled there; `refsvm warm-up` fills it
    python benchmarks/first_calls.py path grid       some of them
    python benchmarks/first_calls.py --rounds 3      the least seconds of three processes, one of each engine in turn
    python benchmarks/first_calls.py --processor     seconds of the processor, where other work is on the machine

Each kind runs in processes of its own, one with ``engine="numpy"`` and one with ``engine="auto"``. A call is late if it
takes longer than 1.2 times the readable one and 0.3 s (with a full cache: the readable one and 0.3 s; with an empty one
and one core, as under ``taskset -c 0``: 1.6 times and 0.5 s). The exit code is 1 if one is.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence

import numpy as np

from refsvm import (
    ATO,
    RBF,
    SIR,
    SVC,
    SVCCV,
    SVR,
    BallRule,
    LOODualityGap,
    cross_validate,
    leave_one_out,
    regularization_path,
)
from refsvm.datasets import load

CALLS = 3


def scaled() -> tuple[np.ndarray, np.ndarray]:
    """Return heart, each feature with mean 0 and deviation 1."""
    data = load("heart")
    return (data.X - data.X.mean(axis=0)) / data.X.std(axis=0), data.y


def large() -> tuple[np.ndarray, np.ndarray]:
    """Return 4,000 points, of which some are on the wrong side."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 10))
    return X, np.where(X[:, 0] + X[:, 1] ** 2 + 0.5 * rng.normal(size=4000) > 0.7, 1, -1)


def targets() -> tuple[np.ndarray, np.ndarray]:
    """Return 1,000 points on a noisy wave."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-3.0, 3.0, size=(1000, 4))
    return X, np.sin(X).sum(axis=1) + 0.1 * rng.normal(size=1000)


Data = Callable[[], tuple[np.ndarray, np.ndarray]]
WORK: dict[str, tuple[Data, Callable[..., object]]] = {
    "fit": (scaled, lambda X, y, engine: SVC(engine=engine).fit(X, y)),
    "fit, n = 4,000": (large, lambda X, y, engine: SVC(engine=engine).fit(X, y)),
    "regression": (targets, lambda X, y, engine: SVR(C=10.0, engine=engine).fit(X, y)),
    "leave-one-out, ball": (
        scaled,
        lambda X, y, engine: leave_one_out(X, y, kernel=RBF(0.05), C=1.0, stop=BallRule(), engine=engine),
    ),
    "leave-one-out, gap": (
        scaled,
        lambda X, y, engine: leave_one_out(
            X, y, kernel=RBF(0.05), C=1.0, stop=LOODualityGap(), engine=engine
        ),
    ),
    "folds, SIR": (
        scaled,
        lambda X, y, engine: cross_validate(
            X, y, kernel=RBF(0.05), C=100.0, seeder=SIR(), rng=0, engine=engine
        ),
    ),
    "folds, ATO": (
        scaled,
        lambda X, y, engine: cross_validate(
            X, y, kernel=RBF(0.05), C=100.0, seeder=ATO(), rng=0, engine=engine
        ),
    ),
    "grid": (scaled, lambda X, y, engine: SVCCV(cv=5, engine=engine).fit(X, y)),
    "path": (scaled, lambda X, y, engine: regularization_path(X, y, kernel=RBF(0.05), engine=engine)),
}


def calls(name: str, engine: str, clock: Callable[[], float]) -> list[float]:
    """Return the seconds of a few calls in this process."""
    data, work = WORK[name]
    X, y = data()
    seconds = []
    for _ in range(CALLS):
        began = clock()
        work(X, y, engine)
        seconds.append(clock() - began)
    return seconds


def in_a_process(name: str, engine: str, cache: str, *more: str) -> list[float]:
    """Return the seconds of a few calls in a new one."""
    done = subprocess.run(
        [sys.executable, __file__, name, "--engine", engine, *more],
        env={**os.environ, "NUMBA_CACHE_DIR": cache}, stdout=subprocess.PIPE, check=True,
    )  # fmt: skip
    found: list[float] = json.loads(done.stdout)
    return found


def compared(name: str, cache: str | None, rounds: int, *more: str) -> bool:
    """Print the seconds of one kind of work by both engines; return whether no call was late."""
    best = {}
    for _ in range(rounds):
        for engine in ("numpy", "auto"):
            with tempfile.TemporaryDirectory() as empty:
                seconds = in_a_process(name, engine, cache or empty, *more)
            best[engine] = np.minimum(best.get(engine, np.inf), seconds)
    factor, seconds = (1.0, 0.3) if cache is not None else (1.6, 0.5) if has_one_core() else (1.2, 0.3)
    allowed = factor * best["numpy"] + seconds
    late = best["auto"] > allowed
    cells = (" ".join(f"{each:7.2f}" for each in best[engine]) for engine in ("numpy", "auto"))
    print(f"{name:20}  {'   '.join(cells)}   {'late' if late.any() else ''}", flush=True)
    return not late.any()


def has_one_core() -> bool:
    """Whether this process may use one processor only."""
    return (len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()) == 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the work that is named, or all of it, and print a table; return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="WORK", help=f"some of: {'; '.join(WORK)}")
    parser.add_argument("--cache", metavar="FOLDER", help="where compiled code is")
    parser.add_argument("--rounds", type=int, default=1, metavar="N", help="processes for each engine")
    parser.add_argument(
        "--processor", action="store_true", help="seconds of the processor, children not counted"
    )
    parser.add_argument("--engine", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.engine is not None:
        clock = time.process_time if options.processor else time.perf_counter
        print(json.dumps(calls(options.names[0], options.engine, clock)))
        return 0
    load_before = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
    print(f"{'seconds of calls':20}  {'numpy':>23}   {'auto':>23}   (load average {load_before:.1f})")
    more = ["--processor"] if options.processor else []
    fine = [compared(name, options.cache, options.rounds, *more) for name in options.names or WORK]
    return 0 if all(fine) else 1


if __name__ == "__main__":
    raise SystemExit(main())
