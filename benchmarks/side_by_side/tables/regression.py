"""Seconds to fit a regression, and to fit a novelty detector."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from refsvm import RBF, DualProblem
from refsvm.datasets import Dataset
from side_by_side.libraries import Library, installed
from side_by_side.problems import suite
from side_by_side.report import Part, objectives, slower, times_table
from side_by_side.results import Evidence, Row
from side_by_side.round_robin import RoundRobin, Settings
from side_by_side.targets import Recipe, novelty_problems, regression_problems
from side_by_side.tasks import TOL, Fit

from .base import Table, provenance, settings

__all__ = ["FitNovelty", "FitRegression", "RegressionTable"]

EPSILON, NU = 0.1, 0.1


class FitRegression(Fit):
    """Train SVR."""

    name = "fit SVR"
    own: ClassVar[dict[str, Any]] = {"epsilon": EPSILON}

    def estimator(self, **more: Any) -> Any:
        """Return a new estimator of the library."""
        given = {"C": self.data.C, "gamma": self.data.gamma, "tol": TOL, "cache_size": self.cache_mb}
        return self.library.make(kernel="rbf", **(given | self.own | more))

    def warm_up(self) -> None:
        """Fit a few of the examples."""
        for options in self.library.warm_up:
            self.estimator(**options).fit(self.data.X[:200], self.data.y[:200])

    @classmethod
    def problem(cls, data: Dataset) -> DualProblem:
        """Return the dual problem."""
        return DualProblem.regression(
            data.X, data.y, kernel=RBF(data.gamma or 0.0), C=data.C or 1.0, epsilon=EPSILON
        )

    @classmethod
    def point(cls, data: Dataset, evidence: Evidence) -> np.ndarray:
        """Return what the library found as a point of the problem; made feasible, as float32 misses the box."""
        beta = np.zeros(data.n)
        if evidence.support is not None and evidence.coef is not None:
            beta[evidence.support] = evidence.coef
        return np.concatenate([beta.clip(0.0, None), beta.clip(None, 0.0)])

    @classmethod
    def objective(cls, data: Dataset, evidence: Evidence) -> float:
        """f(α), by the same code for all."""
        problem = cls.problem(data)
        return problem.objective(problem.feasible(cls.point(data, evidence)))

    @classmethod
    def gap(cls, data: Dataset, evidence: Evidence) -> float:
        """ψ(α) of what came out."""
        problem = cls.problem(data)
        return problem.kkt_gap(problem.feasible(cls.point(data, evidence)))


class FitNovelty(FitRegression):
    """Train OneClassSVM."""

    name = "fit OneClassSVM"
    own: ClassVar[dict[str, Any]] = {"nu": NU}

    def estimator(self, **more: Any) -> Any:
        """Return a new estimator of the library, which has no C."""
        given = {"gamma": self.data.gamma, "tol": TOL, "cache_size": self.cache_mb}
        return self.library.make(kernel="rbf", **(given | self.own | more))

    @classmethod
    def problem(cls, data: Dataset) -> DualProblem:
        """Return the dual problem."""
        return DualProblem.one_class(data.X, kernel=RBF(data.gamma or 0.0), nu=NU)

    @classmethod
    def point(cls, data: Dataset, evidence: Evidence) -> np.ndarray:
        """Return α."""
        alpha = np.zeros(data.n)
        if evidence.support is not None and evidence.coef is not None:
            alpha[evidence.support] = evidence.coef
        return alpha


def with_estimator(libraries: Sequence[Library], name: str) -> list[Library]:
    """Return the libraries with another of their estimators; those that do not have it are left out."""
    missing = {("oneDAL", "OneClassSVM")}
    others = [
        replace(library, estimator=f"{library.estimator.split(':')[0]}:{name}")
        for library in libraries
        if (library.name, name) not in missing
    ]
    return installed(others)


class RegressionTable(Table):
    """Milliseconds to fit SVR and OneClassSVM."""

    name = "regression"
    help = "seconds to fit SVR and OneClassSVM"

    def part(self, options: argparse.Namespace, libraries: Sequence[Library]) -> Part:
        """Measure."""
        how = settings(options, rounds=5)
        regressors, detectors = (with_estimator(libraries, name) for name in ("SVR", "OneClassSVM"))
        rows = measured(FitRegression, regression_problems(), regressors, how, options)
        more = measured(FitNovelty, novelty_problems(suite(options.data_dir)), detectors, how, options)
        return Part(
            self.name,
            f"**SVR**, ε = {EPSILON:g}",
            times_table(rows),
            f"The table shows milliseconds. {slower(rows)}",
            objectives(rows),
            f"**OneClassSVM**, ν = {NU:g}",
            times_table(more),
            f"The table shows milliseconds. {slower(more)} scikit-learn-intelex has no OneClassSVM of its own.",
            objectives(more),
            provenance(libraries, how),
        )


def measured(
    task: type[Fit],
    problems: list[Recipe],
    libraries: list[Library],
    how: Settings,
    options: argparse.Namespace,
) -> list[Row]:
    """Measure a task on the problems that are wanted."""
    with RoundRobin(libraries, how) as turns:
        return [
            turns.measure(task, problem.load())
            for problem in problems
            if not options.only or problem.name in options.only
        ]
