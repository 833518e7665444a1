"""A library that misbehaves on request, rows of tables, and their cells."""

from pathlib import Path

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"

LIBRARY = '''
import os, signal, time
import numpy as np
from refsvm import RBF, DualProblem, KKTGap, solve

class Machine:
    """Trains with the readable engine; misbehaves on request, if there are at least so many examples."""

    def __init__(self, C, gamma, tol, kernel, cache_size, fault="", least=0):
        self.C, self.gamma, self.tol, self.fault, self.least = C, gamma, tol, fault, least

    def fit(self, X, y):
        fault = self.fault if len(y) >= self.least else ""
        if fault == "crash":
            os.kill(os.getpid(), signal.SIGSEGV)
        if fault == "sleep":
            time.sleep(5.0)
        if fault == "eat":
            self.eaten = np.ones(2**26)
            time.sleep(5.0)
        if fault == "raise":
            raise SystemExit(3)
        problem = DualProblem.classification(X, y, kernel=RBF(self.gamma), C=self.C)
        alpha = solve(problem, stop=KKTGap(self.tol), engine="numpy").alpha
        self.support_ = np.flatnonzero(alpha)
        self.dual_coef_ = -alpha[None, self.support_] * (0.9 if fault == "early" else 1.0)
        return self

    def predict(self, X):
        return np.ones(len(X))
'''


def library(peers, name, fault="", least=0):
    options = {"fault": fault, "least": least}
    return peers("libraries").Library(name, "misbehaving:Machine", "none", options)


def row(peers, name, n=1000, **seconds):
    results = peers("results")

    def outcome(value):
        is_time = not isinstance(value, str)
        return results.Outcome(value, objective=1.0) if is_time else results.Outcome(stopped=value)

    return results.Row(name, n, 2, {key: outcome(value) for key, value in seconds.items()})


def cells(table):
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
