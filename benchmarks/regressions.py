"""Measure a search of a regression and its jackknife+, compared with refits.

    python benchmarks/regressions.py             SVRCV beside GridSearchCV(sklearn.svm.SVR): 5 x 5 x 3 cells, five folds
    python benchmarks/regressions.py --intervals jackknife+ beside MAPIE's with leave-one-out, which has to be installed

Processor seconds of one thread, taken in turns, the best of `--turns` after one that loads compiled code; tolerance
1e-3. Scores and intervals are compared, too. The exit code is 1 where scores or intervals are not those of the other.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn import svm
from sklearn.datasets import load_diabetes, make_friedman1, make_friedman2
from sklearn.model_selection import GridSearchCV, LeaveOneOut

from refsvm import SVR, SVRCV

TOL = 1e-3
CS, EPSILONS = (0.1, 1.0, 10.0, 100.0, 1000.0), (0.01, 0.1, 0.5)


def sets() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return features and targets by name, all standardised."""
    given = {
        "diabetes": load_diabetes(return_X_y=True),
        "friedman1": make_friedman1(400, noise=1.0, random_state=0),
        "friedman2": make_friedman2(400, noise=100.0, random_state=0),
    }
    return {
        name: ((X - X.mean(axis=0)) / X.std(axis=0), (y - y.mean()) / y.std())
        for name, (X, y) in given.items()
    }


def measured(calls: dict[str, Callable[[], Any]], turns: int) -> tuple[dict[str, float], dict[str, Any]]:
    """Return the least processor seconds of each call, and what it returned."""
    least, found = dict.fromkeys(calls, np.inf), {}
    next(iter(calls.values()))()
    for _ in range(turns):
        for name, call in calls.items():
            began = time.process_time()
            found[name] = call()
            least[name] = min(least[name], time.process_time() - began)
    return least, found


def search(X: np.ndarray, y: np.ndarray, turns: int) -> tuple[dict[str, float], float]:
    """Return seconds of both searches, and the largest difference of their mean scores."""
    gammas = np.logspace(-1.5, 0.5, 5) / X.shape[1]
    grid = {"C": CS, "gamma": gammas, "epsilon": EPSILONS}
    calls = {
        "refsvm": SVRCV(Cs=CS, gammas=gammas, epsilons=EPSILONS, tol=TOL, refit=False),
        "refits": GridSearchCV(svm.SVR(tol=TOL), grid, refit=False),
    }
    least, found = measured({name: lambda m=model: m.fit(X, y) for name, model in calls.items()}, turns)
    scores = [each.cv_results_["mean_test_score"] for each in found.values()]
    return least, float(np.abs(scores[0] - scores[1]).max())


def intervals(X: np.ndarray, y: np.ndarray, turns: int) -> tuple[dict[str, float], float]:
    """Return seconds of both intervals of 50 examples, and the largest difference of their ends."""
    from mapie.regression import CrossConformalRegressor

    settings: dict[str, Any] = {"C": 1.0, "gamma": 1.0 / X.shape[1], "epsilon": 0.1, "tol": TOL}
    new, X, y = X[:50], X[50:], y[50:]

    def ours() -> np.ndarray:
        return SVR(**settings).partial_fit(X, y).predict_interval(new, 0.9, method="jackknife+")

    def theirs() -> np.ndarray:
        model = CrossConformalRegressor(svm.SVR(**settings), 0.9, method="plus", cv=LeaveOneOut())
        return np.asarray(model.fit_conformalize(X, y).predict_interval(new)[1][:, :, 0])

    least, found = measured({"refsvm": ours, "MAPIE": theirs}, turns)
    return least, float(np.abs(found["refsvm"] - found["MAPIE"]).max())


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a line for each set; return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--intervals", action="store_true")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--only", nargs="*", metavar="SET")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    ratios, differences = [], []
    for name, (X, y) in sets().items():
        if options.only and name not in options.only:
            continue
        least, difference = (intervals if options.intervals else search)(X, y, options.turns)
        one, other = least.values()
        ratios.append(other / one)
        differences.append(difference)
        took = ", ".join(f"{call} {seconds:.2f} s" for call, seconds in least.items())
        print(f"{name}: {took}, ratio {ratios[-1]:.1f}; largest difference {difference:.1e}", flush=True)
    print(f"Geometric mean of the ratios: {np.exp(np.mean(np.log(ratios))):.1f}")
    return int(max(differences) > 20.0 * TOL)


if __name__ == "__main__":
    raise SystemExit(main())
