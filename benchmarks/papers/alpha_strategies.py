"""Strategies for the tables of Wen et al. (2017): methods in turns, LIBSVM's first round, and how K looks."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from refsvm import ATO, AVG, MIR, SIR, Cold, Linear, cross_validate
from refsvm.experiment import CrossValidate, Strategy
from refsvm.experiment.problem import Instance
from refsvm.experiment.strategy import Record, one_thread
from refsvm.rounds.folds import fold_numbers

__all__ = ["METHODS", "CPUCrossValidate", "FirstRound", "InTurns", "Likeness", "Stratified"]

METHODS = {
    "Cold": Cold(),
    "ATO": ATO(budget=math.inf, max_free=10**6),
    "ATO, default": ATO(),
    "MIR": MIR(),
    "SIR": SIR(),
    "AVG": AVG(),
}


@dataclass(frozen=True)
class InTurns(Strategy):
    """LIBSVM (scikit-learn) and our methods on the same folds, one after the other, again and again.

    Parameters
    ----------
    folds : int
    methods : tuple of str
        Keys of `METHODS`.
    stratified : bool
    turns : int
        The least CPU seconds of so many are kept.
    rounds : int
        LIBSVM takes so many rounds, and is scaled up.
    engine : str
        Of our methods.
    """

    folds: int = 10
    methods: tuple[str, ...] = tuple(METHODS)
    stratified: bool = True
    turns: int = 3
    rounds: int = 10
    engine: str = "numba"

    def run(self, instance: Instance) -> Record:
        """Measure every method once in each turn."""
        k = min(self.folds, len(instance.y))
        fold = fold_numbers(k, (instance.y > 0).astype(int), stratified=self.stratified)
        record: Record = {}
        for _ in range(self.turns):
            with one_thread():
                for name in ("LIBSVM", *self.methods):
                    began = time.process_time()
                    own = (
                        self._libsvm(instance, fold)
                        if name == "LIBSVM"
                        else ours(instance, fold, METHODS[name], self.engine)
                    )
                    seconds = (time.process_time() - began) * own.pop("scale", 1.0)
                    least = min(seconds, record.get(f"{name}: seconds", math.inf))
                    record |= {f"{name}: {key}": value for key, value in own.items()} | {
                        f"{name}: seconds": least
                    }
        return record

    def _libsvm(self, instance: Instance, fold: np.ndarray) -> Record:
        """Train without each fold and predict it."""
        from sklearn.svm import SVC

        y, k, wrong, steps, tested = instance.y, int(fold.max()) + 1, 0, 0, 0
        count = min(self.rounds, k)
        for h in range(count):
            train, test = fold != h, fold == h
            model = SVC(C=instance.C, gamma=instance.kernel.gamma, cache_size=200).fit(
                instance.X[train], y[train]
            )
            wrong += int((model.predict(instance.X[test]) != y[test]).sum())
            steps, tested = steps + int(model.n_iter_.sum()), tested + int(test.sum())
        return {"error": wrong / tested, "iterations": steps * k // count, "scale": k / count}


def ours(instance: Instance, fold: np.ndarray, seeder: Any, engine: str) -> Record:
    """Cross-validate, each round from the one before."""
    result = cross_validate(
        instance.X, instance.y, kernel=instance.kernel, C=instance.C, folds=fold, seeder=seeder, from_full=False,
        cache_mb=2000.0, engine=engine,
    )  # fmt: skip
    share = result.seed_seconds / result.seconds
    return {"error": result.error, "iterations": result.iterations, "seed share": share}


@dataclass(frozen=True)
class FirstRound(Strategy):
    """LIBSVM without the first of ten folds, on everything."""

    def run(self, instance: Instance) -> Record:
        """Train once."""
        from sklearn.svm import SVC

        fold = fold_numbers(10, (instance.y > 0).astype(int), stratified=True)
        linear = isinstance(instance.kernel, Linear)
        kernel = {"kernel": "linear"} if linear else {"gamma": instance.kernel.gamma}
        model = SVC(C=instance.C, cache_size=3000, **kernel).fit(instance.X[fold != 0], instance.y[fold != 0])
        return {"iterations": int(model.n_iter_.sum()), "support_vectors": len(model.support_)}


@dataclass(frozen=True)
class Likeness(Strategy):
    """How far the kernel matrix of the first examples is from the identity."""

    examples: int = 1000

    def run(self, instance: Instance) -> Record:
        """Return the mean and the largest of the values off the diagonal, and the share of the larger class."""
        K = instance.kernel(instance.X[: self.examples], instance.X[: self.examples])
        beside = K[~np.eye(len(K), dtype=bool)]
        share = float(max((instance.y > 0).mean(), (instance.y < 0).mean()))
        return {"mean": float(beside.mean()), "largest": float(beside.max()), "share": share}


@dataclass(frozen=True)
class Stratified(CrossValidate):
    """Cross-validation whose folds share the classes."""

    stratified: bool = True


@dataclass(frozen=True)
class CPUCrossValidate(CrossValidate):
    """Cross-validation; the record also has ``cpu``, which other work on the machine does not stretch."""

    def run(self, instance: Instance, **more: Any) -> Record:
        """Cross-validate, and measure."""
        began = time.process_time()
        record = super().run(instance, **more)
        return record | {"cpu": time.process_time() - began}
