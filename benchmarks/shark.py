"""Compares gradients by C and γ with those of Shark's `CSvmDerivative`, and the seconds of both.

    python benchmarks/shark.py PROGRAM

PROGRAM is benchmarks/shark.cpp, compiled. Both take the mean of h over 400 examples, by C and one γ, and by C and one γ
for each of 20 features. The exit code is 1 if they differ by more than 1e-8 of the largest.
"""

from __future__ import annotations

import subprocess
import sys
import time

import numpy as np

from refsvm import RBF, DualProblem, KKTGap, solve, warm_up

C, GAMMA, PROBES = 3.0, 0.03, 400


def ours(X: np.ndarray, y: np.ndarray, kernel: RBF) -> tuple[np.ndarray, float, float]:
    """Return the gradients, and the seconds of the fit and of the gradients: the least of five."""
    seconds = []
    for _ in range(5):
        points = [time.perf_counter()]
        problem = DualProblem.classification(X[:-PROBES], y[:-PROBES], kernel=kernel, C=C)
        solution = solve(problem, stop=KKTGap(1e-9), engine="numba")
        points.append(time.perf_counter())
        found = solution.pullback(X=X[-PROBES:], decision_function=np.full(PROBES, 1.0 / PROBES))
        gradients = np.append(found["gamma"], found["C"])
        points.append(time.perf_counter())
        seconds.append(np.diff(points))
    fit, gradient = np.min(seconds, axis=0)
    return gradients, float(fit), float(gradient)


def theirs(program: str, X: np.ndarray, y: np.ndarray, each: bool) -> tuple[np.ndarray, float, float]:
    """Return the same of Shark."""
    head = f"{len(X) - PROBES} {PROBES} {X.shape[1]} {C} {GAMMA} {int(each)}"
    rows = [" ".join(map(repr, [int(label), *x.tolist()])) for label, x in zip(y, X, strict=True)]
    told = subprocess.run(
        [program], input="\n".join([head, *rows]), capture_output=True, text=True, check=True
    )
    *gradients, fit, gradient = map(float, told.stdout.split())
    found = np.array(gradients)
    if each:
        found[:-1] /= GAMMA  # its parameters are logarithms
    return found, fit, gradient


def main(program: str) -> int:
    """Print a table; return the exit code."""
    warm_up()
    worst = 0.0
    print("| n | gammas | apart | fit (s) | gradient (s) | Shark: fit (s) | gradient (s) |")
    print("|---:|---:|---:|---:|---:|---:|---:|")
    for n in (500, 1000, 2000):
        rng = np.random.default_rng(n)
        X = rng.normal(size=(n + PROBES, 20))
        y = np.where(X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * rng.normal(size=len(X)) > 0.0, 1, -1)
        for each in (False, True):
            one, fit, gradient = ours(X, y, RBF(np.full(20, GAMMA)) if each else RBF(GAMMA))
            other, their_fit, their_gradient = theirs(program, X, y, each)
            apart = float(np.abs(one - other).max() / np.abs(one).max())
            worst = max(worst, apart)
            print(f"| {n} | {20 if each else 1} | {apart:.1e} | {fit:.4f} | {gradient:.4f} | {their_fit:.3f} | "
                  f"{their_gradient:.3f} |", flush=True)  # fmt: skip
    return int(worst > 1e-8)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
