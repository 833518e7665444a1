"""Precision: what kernel rows in single precision do to the objective of large problems.

    python benchmarks/precision.py --data-dir DIR                each set in its own order and in two others
    python benchmarks/precision.py --data-dir DIR --orders 1 --set a9a w8a

Each problem is solved with `cache_dtype` as it is by default and with float64 rows. Printed is the difference of the
two objectives, relatively, both of float64 kernel values: above zero the default is the better one. Where the default
keeps float64 it is 0.
"""

from __future__ import annotations

import argparse

import numpy as np
from side_by_side.problems import large

from refsvm import RBF, DualProblem, solve

SETS = ("chessboard-10000", "ringnorm-20000", "a9a", "w8a", "mnist-20000")


def main() -> None:
    """Solve, compare and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data-dir")
    parser.add_argument("--set", nargs="+", default=SETS)
    parser.add_argument("--orders", type=int, default=3)
    options = parser.parse_args()
    worst = 0.0
    for item in large(options.data_dir):
        if item.name not in options.set:
            continue
        data = item.load()
        for seed in range(options.orders):
            order = np.random.default_rng(seed).permutation(len(data.y)) if seed else np.arange(len(data.y))
            problem = DualProblem.classification(
                data.X[order], data.y[order], kernel=RBF(item.gamma), C=item.C
            )
            double = solve(problem, cache_mb=4000.0, cache_dtype="float64")
            found = solve(problem, cache_mb=2000.0)
            best = problem.objective(double.alpha)
            difference = (problem.objective(found.alpha) - best) / best
            worst = max(worst, abs(difference))
            print(
                f"{item.name:16} order {seed}: {difference:+.1e}, {found.iterations} steps in {found.seconds:.2f} s, "
                f"with float64 {double.iterations} in {double.seconds:.2f} s",
                flush=True,
            )
    print(f"at most {worst:.1e}")


if __name__ == "__main__":
    main()
