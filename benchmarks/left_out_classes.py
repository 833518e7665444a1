"""Leave-one-out of many classes beside refits by scikit-learn: seconds by turns, and the peak of memory.

    python benchmarks/left_out_classes.py                all twelve cells: minutes
    python benchmarks/left_out_classes.py --most 300     cells of up to 300 examples
    python benchmarks/left_out_classes.py --memory       the peak above the start of the call, a process for each cell

Each turn takes `refsvm.leave_one_out` and then the refits. Compiled code is loaded before the first. Where the refits
of all examples take over a minute, every tenth is refitted and its seconds count ten times.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from itertools import product
from statistics import median

import numpy as np

CLASSES, EXAMPLES = (3, 10, 30, 100), (3, 10, 30)
MINUTE = 60.0
CACHE_MB = 200.0


def data(k: int, m: int, rng: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return m examples of each of k classes around random centres."""
    generator = np.random.default_rng(rng)
    y = np.repeat(np.arange(k), m)
    return (2.0 * generator.normal(size=(k, 5)))[y] + generator.normal(size=(k * m, 5)), y


def refits(X: np.ndarray, y: np.ndarray, every: int) -> float:
    """Return the seconds of refits by scikit-learn, of all examples, from every so many of them."""
    from sklearn.svm import SVC

    began = time.perf_counter()
    for i in range(0, len(y), every):
        SVC(cache_size=CACHE_MB).fit(np.delete(X, i, axis=0), np.delete(y, i)).predict(X[i : i + 1])
    return (time.perf_counter() - began) * len(y) / len(range(0, len(y), every))


def turn(X: np.ndarray, y: np.ndarray, every: int, calls: int) -> tuple[float, float]:
    """Return the seconds of leave-one-out and of the refits, of so many calls each, by turns."""
    from refsvm import leave_one_out

    ours = theirs = 0.0
    for _ in range(calls):
        began = time.perf_counter()
        leave_one_out(X, y, progress=False)
        ours += time.perf_counter() - began
        theirs += refits(X, y, every)
    return ours / calls, theirs / calls


def peak_above(k: int, m: int) -> tuple[float, float]:
    """Return the peak of the memory above the start of the call, and the arrays of the answer, in MiB."""
    import resource

    from refsvm import leave_one_out

    X, y = data(k, m)
    leave_one_out(*data(10, 3), progress=False)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = leave_one_out(X, y, progress=False, cache_mb=CACHE_MB)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    arrays = [each for each in vars(found).values() if isinstance(each, np.ndarray)]
    for solution in found.full_solutions:
        arrays += [solution.alpha, solution.gradient]
    return (after - before) / 1024.0, sum(each.nbytes for each in arrays) / 2**20


def main() -> None:
    """Print a line for each cell."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--most", type=int, default=10**6, help="most examples of a cell")
    parser.add_argument("--least", type=int, default=1, help="fewest examples of a cell")
    parser.add_argument("--every", type=int, help="refit every so many examples alone")
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--cell", type=int, nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.cell:
        print(*peak_above(*given.cell))
        return
    cells = [(k, m) for k, m in product(CLASSES, EXAMPLES) if given.least <= k * m <= given.most]
    if given.memory:
        print("classes  examples each  peak MiB  answer MiB  (peak - cache_mb) / answer")
        for k, m in cells:
            command = [sys.executable, __file__, "--cell", str(k), str(m)]
            told = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
            peak, answer = map(float, told)
            print(
                f"{k:7}  {m:13}  {peak:8.1f}  {answer:10.1f}  {(peak - CACHE_MB) / answer:9.2f}", flush=True
            )
        return
    from refsvm import leave_one_out, warm_up

    warm_up()
    leave_one_out(*data(10, 3), engine="numba", progress=False)
    print("classes  examples each  refsvm s  refits s  median ratio")
    for k, m in cells:
        X, y = data(k, m)
        leave_one_out(X[: 30 * m], y[: 30 * m], progress=False)
        once = refits(X, y, max(1, len(y) // 10))
        every, calls = given.every or (10 if once > MINUTE else 1), max(1, round(0.2 / once))
        turns = [turn(X, y, every, calls) for _ in range(1 if once > MINUTE else given.turns)]
        ours, theirs = (median(each) for each in zip(*turns, strict=True))
        ratio = median(a / b for a, b in turns)
        print(f"{k:7}  {m:13}  {ours:8.4f}  {theirs:8.4f}  {ratio:12.3f}", flush=True)


if __name__ == "__main__":
    main()
