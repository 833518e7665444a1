"""Is this tree slower than an earlier one? The same work in both by turns, the least seconds of each.

    git worktree add ../before COMMIT
    python benchmarks/two_trees.py ../before --data-dir DIR
    python benchmarks/two_trees.py ../before --data-dir DIR --work fit loo --only heart german --seconds 4

Each tree has a process and a cache of compiled code of its own. A row has a set's milliseconds before and now and their
ratio; after each kind of work stands the geometric mean of the ratios. A mean above ``--most`` ends with exit code 1.
"""

from __future__ import annotations

import argparse
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
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
    return {
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
        names = chosen.only or asked(trees[0], "sets").split()
        means = [mean_ratio(trees, work, names, chosen.seconds) for work in chosen.work]
        for tree in trees:
            tree.communicate()
    print(f"Load: {os.getloadavg()[0]:.1f}.")
    return int(max(means) > chosen.most)


def mean_ratio(trees: list[Any], work: str, names: list[str], seconds: float) -> float:
    """Print the rows of a kind of work, and return the geometric mean of its ratios."""
    ratios = []
    for name in names:
        for tree in trees:
            asked(tree, f"{work} {name}")
        least, turns, end = [math.inf, math.inf], 0, time.perf_counter() + seconds
        while turns < 5 or time.perf_counter() < end:
            least = [min(best, float(asked(tree, "go"))) for best, tree in zip(least, trees, strict=True)]
            turns += 1
        ratios.append(least[1] / least[0])
        print(f"{work:6}{name:20}{1e3 * least[0]:10.3f}{1e3 * least[1]:10.3f}{ratios[-1]:8.3f}", flush=True)
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(f"{work:6}{'geometric mean':20}{mean:28.3f}, at most {max(ratios):.3f}\n", flush=True)
    return mean


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
    from refsvm.datasets import paper_suite

    sets = {each.name: each for each in paper_suite(data_dir or None)}
    work: Callable[[], object] = dict
    for line in sys.stdin:
        match line.split():
            case ["sets"]:
                print(*sets, flush=True)
            case ["go"]:
                began = time.perf_counter()
                work()
                print(time.perf_counter() - began, flush=True)
            case [kind, name]:
                data = sets[name].load()
                work = kinds(data.X, data.y, float(data.C or 1.0), float(data.gamma or 1.0))[kind]
                for _ in range(BOTH):
                    work()
                print("ready", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--answers"]:
        answers(sys.argv[2])
    else:
        sys.exit(main())
