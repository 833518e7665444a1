"""Is this tree slower than an earlier one? The same work in both by turns, in pairs whose order alternates.

    git worktree add ../before COMMIT
    python benchmarks/two_trees.py ../before --data-dir DIR
    python benchmarks/two_trees.py ../before --data-dir DIR --work fit loo --only heart german --seconds 4

Each tree has a process and a cache of compiled code of its own; "first" starts a new process for each turn. A row has a
set's least milliseconds before and now, their ratio, and the mean ratio of the pairs. After each kind of work stands
the geometric mean of both over the sets, the second with its 95 % interval. An interval wholly above ``--most`` ends
with exit code 1.
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parents[1]
BOTH = 2
"""Calls of a kind of work before the first that counts: they compile it and map its memory."""


def kinds(X: Any, y: Any, C: float, gamma: float) -> dict[str, Callable[[], object]]:
    """Return the kinds of work on a set, by the refsvm of this process; first calls wait for the compiler."""
    import refsvm

    kernel = refsvm.RBF(gamma)
    problem: dict[str, Any] = {"kernel": kernel, "engine": "numba"}
    grid: dict[str, Any] = {"Cs": [C / 4, C / 2, C, 2 * C], "gammas": [gamma / 4, gamma, 4 * gamma], "cv": 5}
    wide: dict[str, Any] = {"C": C, "gamma": gamma, "engine": "numba"}
    return {
        "large": lambda: refsvm.SVC(**wide).fit(X, y),
        "first": lambda: refsvm.SVC(C=C, gamma=gamma).fit(X, y),
        "fit": lambda: refsvm.SVC(C=C, gamma=gamma, engine="numba").fit(X, y),
        "loo": lambda: refsvm.leave_one_out(X[:1000], y[:1000], C=C, **problem),
        "folds": lambda: refsvm.cross_validate(X[:2000], y[:2000], folds=5, C=C, **problem),
        "grid": lambda: refsvm.SVCCV(engine="numba", **grid).fit(X[:600], y[:600]),
        "path": lambda: refsvm.regularization_path(X[:200], y[:200], **problem),
    }


def main() -> int:
    """Measure, and print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("before", type=Path, help="the root of the earlier tree")
    parser.add_argument("--data-dir", default=os.environ.get("REFSVM_DATA"))
    parser.add_argument("--work", nargs="+", default=["fit", "loo", "folds", "grid", "path"])
    parser.add_argument("--only", nargs="+", metavar="SET")
    parser.add_argument("--seconds", type=float, default=2.0, help="for each row, at least five turns")
    parser.add_argument(
        "--most", type=float, default=math.inf, help="the largest mean ratio without a complaint"
    )
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as caches:
        trees = [started(tree, caches, chosen.data_dir) for tree in (chosen.before.resolve(), HERE)]
        lows = [
            low_ratio(trees, work, chosen.only or asked(trees[0], f"sets {work}").split(), chosen.seconds)
            for work in chosen.work
        ]
        for tree in trees:
            tree.communicate()
    print(f"Load: {os.getloadavg()[0]:.1f}.")
    return int(max(lows) > chosen.most)


def low_ratio(trees: list[Any], work: str, names: list[str], seconds: float) -> float:
    """Print the rows of a kind of work; return the lower end of the interval of its mean ratio."""
    ratios, means, errors = [], [], []
    for name in names:
        for tree in trees:
            asked(tree, f"{work} {name}")
        times: tuple[list[float], list[float]] = ([], [])
        end = time.perf_counter() + seconds
        while len(times[0]) < 6 or time.perf_counter() < end:
            for side in (0, 1) if len(times[0]) % 2 else (1, 0):
                times[side].append(float(asked(trees[side], "go")))
        logs = sorted(math.log(now / before) for before, now in zip(*times, strict=True))
        # a turn in which the machine did something else says nothing: a tenth is cut off at each end
        logs = logs[len(logs) // 10 : len(logs) - len(logs) // 10]
        means.append(statistics.fmean(logs))
        errors.append(statistics.stdev(logs) / math.sqrt(len(logs)))
        ratios.append(math.log(min(times[1]) / min(times[0])))
        print(
            f"{work:6}{name:20}{1e3 * min(times[0]):10.3f}{1e3 * min(times[1]):10.3f}{math.exp(ratios[-1]):8.3f}"
            f"{math.exp(means[-1]):8.3f}",
            flush=True,
        )
    mean, wide = statistics.fmean(means), 1.96 * math.hypot(*errors) / len(errors)
    low, high = math.exp(mean - wide), math.exp(mean + wide)
    print(
        f"{work:6}{'geometric mean':20}{math.exp(statistics.fmean(ratios)):28.3f}{math.exp(mean):8.3f}"
        f"  [{low:.3f}, {high:.3f}], at most {math.exp(max(ratios)):.3f}\n",
        flush=True,
    )
    return low


def started(tree: Path, caches: str, data_dir: str | None) -> subprocess.Popen[str]:
    """Return a process that imports the refsvm of a tree, and its own benchmarks."""
    cache = Path(caches) / ("now" if tree == HERE else "before")
    paths = os.pathsep.join(map(str, (tree, tree / "benchmarks")))
    environment = {**os.environ, "PYTHONPATH": paths, "NUMBA_CACHE_DIR": str(cache)}
    command = [sys.executable, __file__, "--answers", str(data_dir or "")]
    return subprocess.Popen(
        command, env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )


def asked(tree: Any, line: str) -> str:
    """Send a line to a process, and return its answer."""
    print(line, file=tree.stdin, flush=True)
    answer: str = tree.stdout.readline().strip()
    if not answer:
        raise SystemExit(f"{line!r} has no answer: the process has ended, and its error stands above.")
    return answer


def answers(data_dir: str) -> None:
    """Answer lines: the names of the sets, a kind of work and a set to make ready, and go."""
    import numpy as np

    from refsvm import warm_up
    from refsvm.datasets import make_chessboard, make_waveform, paper_suite

    warm_up()  # or some code would come from a child process, in the midst of what is measured
    sets = {each.name: each for each in paper_suite(data_dir or None)}
    large = {
        "chessboard 5,000": lambda: (make_chessboard(5000, rng=0), 1e4, 0.5),
        "waveform 10,000": lambda: (make_waveform(10_000, rng=0), 1.0, 0.05),
        "waveform 20,000": lambda: (make_waveform(20_000, rng=0), 0.5, 0.02),
    }
    work: Callable[[], object] = dict
    for line in sys.stdin:
        match line.strip().split(maxsplit=1):
            case ["sets", "large"]:
                print(*(name.replace(" ", "_") for name in large), flush=True)
            case ["sets", _]:
                print(*sets, flush=True)
            case ["go"]:
                began = time.perf_counter()
                work()
                print(time.perf_counter() - began, flush=True)
            case [kind, name]:
                if kind == "large":
                    data, C, gamma = large[name.replace("_", " ")]()
                else:
                    data = sets[name].load()
                    C, gamma = float(data.C or 1.0), float(data.gamma or 1.0)
                order = np.random.default_rng(0).permutation(len(data.y))  # some sets are sorted by class
                work = kinds(data.X[order], data.y[order], C, gamma)[kind]
                if kind == "first":
                    command = [sys.executable, __file__, "--once", data_dir, name]
                    work = partial(subprocess.run, command, check=True)
                for _ in range(BOTH):
                    work()
                print("ready", flush=True)


def once(data_dir: str, name: str) -> None:
    """Fit a set in this process, for the first time."""
    from refsvm.datasets import paper_suite

    data = next(each for each in paper_suite(data_dir or None) if each.name == name).load()
    kinds(data.X, data.y, float(data.C or 1.0), float(data.gamma or 1.0))["first"]()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--answers"]:
        answers(sys.argv[2])
    elif sys.argv[1:2] == ["--once"]:
        once(*sys.argv[2:])
    else:
        sys.exit(main())
