"""Four long computations on the workers that joblib is set up for: a search, two error estimates, an experiment."""

from functools import partial

from refsvm import RBF, SVCCV, MostViolatingPair, NewtonStep, SecondOrder, cross_validate, leave_one_out
from refsvm.datasets import load
from refsvm.experiment import Experiment, Problem, Solve


def search(X, y):
    """Search a grid: one task for each γ."""
    return SVCCV(Cs=[1.0, 10.0], gammas=[0.003, 0.01, 0.03, 0.1], n_jobs=-1).fit(X, y)


def left_out(X, y):
    """Leave one out: a task is a chunk of examples."""
    return leave_one_out(X, y, kernel=RBF(0.005), n_jobs=-1)


def folds(X, y):
    """Cross-validate: a task is a part of the folds."""
    return cross_validate(X, y, kernel=RBF(0.005), folds=10, rng=0, n_jobs=-1)


def experiment(store):
    """Compare two selectors: a task is one run, and this process writes it to the store."""
    strategies = [
        Solve(type(selector).__name__, selector=selector, step=NewtonStep(), shrinking=False)
        for selector in (MostViolatingPair(), SecondOrder())
    ]
    problems = [Problem("heart", partial(load, "heart"), kernel=RBF(0.005), C=1.0)]
    compared = Experiment(strategies, problems, store, permutations=4)
    compared.run(n_jobs=-1)
    return compared
