"""GridSearch: a strategy that chooses C and γ by cross-validation."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from refsvm.core.kernels.functions.linear import Linear
from refsvm.core.kernels.functions.rbf import RBF
from refsvm.core.result import Status
from refsvm.core.seeders.base import Seeder
from refsvm.core.selectors.base import WorkingSetSelector
from refsvm.core.steps.base import StepRule
from refsvm.experiment.problem import Instance
from refsvm.experiment.strategy import Call, Record

NAMES: dict[type, str] = {RBF: "rbf", Linear: "linear"}
"""Kernels that `refsvm.SVCCV` takes by name; for an RBF kernel it chooses γ."""


@dataclass(frozen=True)
class GridSearch(Call):
    """A strategy that calls ``refsvm.SVCCV(...).fit`` once, without the final training; its fields are the arguments.

    The strategy ignores C and γ of the instance. A kernel other than `RBF` and `Linear` keeps its parameters.

    Parameters
    ----------
    name : str
        Name in the tables.
    Cs, gammas, cv, seeder, selector, step, tol, cache_size, engine
        As in `refsvm.SVCCV`.

    Notes
    -----
    The metrics are ``score`` (the best mean), ``C`` and ``gamma`` (of the best cell), ``iterations``, ``cells``,
    ``seconds``, and ``unfinished``, the number of cells that are not solved.

    Examples
    --------
    >>> from functools import partial
    >>> from refsvm import RBF
    >>> from refsvm.datasets import load
    >>> from refsvm.experiment import GridSearch, Problem
    >>> heart = Problem("heart", partial(load, "heart"), kernel=RBF(0.005)).instance()
    >>> record = GridSearch("grid", Cs=(0.1, 1.0), gammas=(0.01, 0.1)).run(heart)
    >>> record["C"], record["gamma"], round(record["score"], 2), record["cells"]
    (1.0, 0.01, 0.84, 20)
    """

    Cs: tuple[float, ...] = (0.1, 1.0, 10.0, 100.0, 1000.0)
    gammas: tuple[float, ...] = (0.001, 0.01, 0.1, 1.0)
    cv: int | str = 5
    seeder: Seeder | None = None
    selector: WorkingSetSelector | None = None
    step: StepRule | None = None
    tol: float = 1e-3
    cache_size: float = 200.0
    engine: str = "auto"

    def call(self, instance: Instance, **arguments: Any) -> Any:
        """Run the search on an instance; return the search with its seconds and a status."""
        from refsvm.estimators import SVCCV  # import scikit-learn only for a search

        instance.one_penalty()
        if instance.epsilon is not None or instance.nu is not None:
            raise ValueError(
                "SVCCV chooses C and γ of a classifier, but this problem has epsilon or nu; use "
                "CrossValidate with several values of C."
            )
        kernel = NAMES.get(type(instance.kernel), instance.kernel)
        # take at most as many folds as the smallest class has examples, so that each fold can contain one
        cv, fewest = arguments["cv"], int(np.unique(instance.y, return_counts=True)[1].min())
        arguments["cv"] = cv if isinstance(cv, str) else max(2, min(cv, fewest))
        model = SVCCV(kernel=kernel, refit=False, **arguments)
        began = time.perf_counter()
        model.fit(instance.X, instance.y)
        return SearchResult(model, time.perf_counter() - began)

    def measured(self, result: SearchResult) -> Record:
        """Return the score and the parameters of the best cell, and the costs of all cells."""
        model = result.model
        return {
            "score": model.best_score_,
            "C": model.best_params_["C"],
            "gamma": model.best_params_.get("gamma"),
            "iterations": model.n_iter_,
            "cells": model.n_splits_ * len(model.cv_results_["params"]),
            "seconds": result.seconds,
            "unfinished": model._unfinished,
        }


@dataclass(frozen=True)
class SearchResult:
    """A finished search with its seconds and the status CONVERGED."""

    model: Any
    seconds: float
    status: Status = Status.CONVERGED
