"""Whole weights beside repeated rows, real ones beside refits at C·w.

An example of weight w is w examples, in everything; all of them leave together. With whole weights every caller has to
say what it says of repeated rows whose copies share a fold. With real weights fits are those of the penalties C·w, and
scores are Σ w·right / Σ w of refits without each example.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from sklearn import __version__ as version
from sklearn.model_selection import LeaveOneOut, LeavePOut

from refsvm import (
    RBF,
    SVC,
    SVCCV,
    SVR,
    SVRCV,
    DualProblem,
    KKTGap,
    OneClassSVM,
    cross_validate,
    leave_one_out,
    solve,
)
from refsvm.analysis.paths import cross_validate_path, regularization_path
from refsvm.analysis.resampling.jackknife import held_out_machines

from .callers import values_of

__all__ = ["TASKS", "Weighted", "any_weighted", "complaints_about"]

TASKS: Final = ("two classes", "three classes", "regression", "novelty")

GAMMA: Final = 0.6

EXACT: Final = 1e-9
"""KKT gap of every machine."""

CLOSE: Final = 1e-6
"""How far decision values and scores made of them may be apart."""

TIED: Final = 1e-6
"""A decision value so near 0 has the sign that rounding gives it."""

FOLDS: Final = 3


@dataclass
class Weighted:
    """One problem.

    Attributes
    ----------
    task : str
        One of `TASKS`.
    X, y, w, new : ndarrays of shapes (n, d), (n,), (n,), (m, d)
    C, epsilon : float
    balanced : bool
    fold : ndarray of shape (n,)
        Each fold leaves two classes to train on.
    engine : str
    """

    task: str
    X: np.ndarray
    y: np.ndarray
    w: np.ndarray
    new: np.ndarray
    C: float
    epsilon: float
    balanced: bool
    fold: np.ndarray
    engine: str

    @property
    def rep(self) -> np.ndarray:
        """The row of each copy."""
        return np.repeat(np.arange(len(self.w)), self.w.astype(int))

    @property
    def is_class(self) -> bool:
        """Whether it has classes."""
        return self.task.endswith("classes")

    def estimator(self, **more: Any) -> Any:
        """The estimator of the task."""
        settings = {"gamma": GAMMA, "tol": EXACT, "engine": self.engine} | more
        if self.is_class:
            return SVC(C=self.C, class_weight="balanced" if self.balanced else None, **settings)
        if self.task == "regression":
            return SVR(C=self.C, epsilon=self.epsilon, **settings)
        return OneClassSVM(nu=0.4, **settings)

    def searched(self) -> dict[str, Any]:
        """Return the parameters of a search over one cell."""
        return {"Cs": [self.C], "gammas": [GAMMA], "tol": EXACT, "engine": self.engine, "refit": False}

    def arguments(self) -> dict[str, Any]:
        """What functions are given, but for X, y and C."""
        kind = {"regression": {"epsilon": self.epsilon}, "novelty": {"nu": 0.4}}
        return {"kernel": RBF(GAMMA), "engine": self.engine, "stop": KKTGap(EXACT), **kind.get(self.task, {})}


def any_weighted(seed: int, whole: bool, engine: str = "auto") -> Weighted:
    """Return the problem of a seed, with whole weights from 0 to 3, or with real ones."""
    rng, task = np.random.default_rng(seed), TASKS[seed % len(TASKS)]
    n = int(rng.integers(14, 22))
    X = rng.normal(size=(n, 2))
    if rng.random() < 0.3:  # equal examples
        X = np.round(2.0 * X) / 2.0
    w = rng.integers(0, 4, n).astype(float) if whole else rng.exponential(size=n) * (rng.random(n) < 0.8)
    fold, k = rng.permutation(np.arange(n) % FOLDS), 3 if task == "three classes" else 2
    y: np.ndarray = X[:, 0] + 0.5 * rng.normal(size=n)
    if task.endswith("classes"):
        y = np.argsort(np.argsort(y)) * k // n
        # two of each class count, in two folds
        for code in range(k):
            first = np.flatnonzero(y == code)[:2]
            w[first], fold[first] = np.maximum(w[first], 1.0 if whole else 0.3), [0, 1]
        if k == 3 and rng.random() < 0.3:  # a class that is not there
            w[y == int(rng.integers(3))] = 0.0
    else:
        w[:6], fold[:6] = np.maximum(w[:6], 1.0 if whole else 0.3), np.arange(6) % FOLDS
    if task.endswith("classes"):  # each fold tests something
        last = np.flatnonzero(np.isin(y, y[w > 0.0]))[-1]
        w[last], fold[last] = max(w[last], 1.0 if whole else 0.3), FOLDS - 1
    y = np.ones(n) if task == "novelty" else y
    new, C = rng.normal(size=(5, 2)), float(np.exp(rng.uniform(-1.0, 3.0)))
    return Weighted(task, X, y, w, new, C, 0.1, bool(rng.random() < 0.5), fold, engine)


def complaints_about(seed: int, whole: bool, engine: str = "auto") -> list[str]:
    """Return what is wrong with the problem of a seed; nothing if all is right."""
    it = any_weighted(seed, whole, engine)
    checks = [*(WITH_COPIES if whole else ()), *WITH_REFITS]
    found = []
    with warnings.catch_warnings(action="ignore"):  # scores that are not defined in a small fold
        for check in checks:
            found += [f"{it.task}, {check.__name__}: {each}" for each in check(it)]
    return found


def differ(name: str, one: Any, other: Any, tolerance: float = CLOSE) -> Iterator[str]:
    """Yield a sentence if two results are not the same."""
    one, other = np.asarray(one, dtype=float), np.asarray(other, dtype=float)
    if one.shape != other.shape or not np.allclose(
        one, other, rtol=tolerance, atol=tolerance, equal_nan=True
    ):
        yield f"{name} {one.ravel()[:4]} and {other.ravel()[:4]}"


# -- whole weights beside copies ---------------------------------------------------------------------------------------


def fits(it: Weighted) -> Iterator[str]:
    """A fit with weights is one on copies."""
    rep = it.rep
    one = it.estimator().fit(it.X, it.y, sample_weight=it.w)
    other = it.estimator().fit(it.X[rep], it.y[rep])
    if not it.is_class or len(np.unique(it.y)) == len(np.unique(it.y[rep])):
        scale = max(1.0, it.C)
        yield from differ("decision values", values_of(one, it.new) / scale, values_of(other, it.new) / scale)
    else:  # a class that is not there
        yield from differ("predictions", one.predict(it.new), other.predict(it.new))


def folds(it: Weighted) -> Iterator[str]:
    """Folds, and leave-one-out as folds, of copies that leave together."""
    rep, more = it.rep, it.arguments()
    y, copied = (None, None) if it.task == "novelty" else (it.y, it.y[rep])
    C, own = (it.w, 1.0) if it.task == "novelty" else (it.C * it.w, it.C)
    one = cross_validate(it.X, y, C=C, folds=it.fold, **more)
    if it.task != "regression" and np.abs(one.decision_values).min() < TIED:  # rounding decides
        return
    other = cross_validate(it.X[rep], copied, C=own, folds=it.fold[rep], **more)
    for name in one.scores:
        yield from differ(name, getattr(one, name), getattr(other, name))
    of_folds = "fold_rmse" if it.task == "regression" else "errors"
    yield from differ(of_folds, getattr(one, of_folds), getattr(other, of_folds))
    loo = leave_one_out(it.X, y, C=C, **more)
    if it.task != "regression" and np.nanmin(np.abs(loo.decision_values)) < TIED:
        return
    _, each = np.unique(rep, return_inverse=True)
    together = cross_validate(it.X[rep], copied, C=own, folds=each, **more)
    for name in loo.scores:
        yield from differ(f"{name} of leave-one-out", getattr(loo, name), getattr(together, name))


def searches(it: Weighted) -> Iterator[str]:
    """A search on given splits, with scores that take weights and scores that do not."""
    if it.task == "novelty":
        return
    rep, rng = it.rep, np.random.default_rng(len(it.w))
    E, names = (SVCCV, CLASS_SCORES) if it.is_class else (SVRCV, VALUE_SCORES)
    places = [np.flatnonzero(rep == i) for i in range(len(it.w))]
    cv, copied = [], []
    for k in range(FOLDS):
        out, rest = np.flatnonzero(it.fold == k), np.flatnonzero(it.fold != k)
        cv.append((rest, out))
        copied.append(tuple(np.concatenate([places[i] for i in part]) for part in (rest, out)))
        if it.is_class and len(np.unique(it.y[rest][it.w[rest] > 0.0])) > 1:
            fitted = it.estimator().fit(it.X[rest], it.y[rest], it.w[rest])
            if np.abs(_votes(fitted, it.X[out])).min() < TIED:
                return
    scoring = names[int(rng.integers(len(names)))]
    more = it.searched()
    if it.is_class:
        more["class_weight"] = "balanced" if it.balanced else None
    one = E(cv=cv, scoring=scoring, **more).fit(it.X, it.y, it.w)
    other = E(cv=copied, scoring=scoring, **more).fit(it.X[rep], it.y[rep])
    yield from differ(f"scores {scoring!r}", one.best_score_, other.best_score_)


def spread_of(model: Any, X: np.ndarray, y: np.ndarray) -> float:
    """A scorer that takes no weights, of the distribution of the predictions."""
    return float(np.mean((model.predict(X) == y) * (1.0 + y)))


CLASS_SCORES: Final = (None, "accuracy", "balanced_accuracy", "f1_macro", spread_of)
VALUE_SCORES: Final = (
    None,
    "neg_mean_absolute_error",
    "neg_root_mean_squared_error",
    "neg_max_error",
    # before 1.8, the weighted median of scikit-learn is not the median of copies
    *([] if version.startswith(("1.6.", "1.7.")) else ["neg_median_absolute_error"]),
)


def curves(it: Weighted) -> Iterator[str]:
    """Error curves along C, of folds and of other examples."""
    if not it.is_class or len(np.unique(it.y[it.rep])) < len(np.unique(it.y)):
        return
    rep = it.rep
    y = np.where(it.y == 1, 1, -1) if it.task == "two classes" else it.y
    more: dict[str, Any] = {
        "kernel": RBF(GAMMA),
        "C_min": 0.5 * it.C,
        "C_max": 2.0 * it.C,
        "engine": it.engine,
    }
    one = cross_validate_path(it.X, y, folds=it.fold, sample_weight=it.w, **more)
    other = cross_validate_path(it.X[rep], y[rep], folds=it.fold[rep], **more)
    at = it.C * np.array([0.55, 0.9, 1.3, 1.9])
    yield from differ("errors of folds", one.curve.at(at), other.curve.at(at))
    path = regularization_path(it.X, y, sample_weight=it.w, **more)
    copied = regularization_path(it.X[rep], y[rep], **more)
    shifted = it.X + 0.3
    yield from differ(
        "errors of others",
        path.validation_error(shifted, y, it.w).at(at),
        copied.validation_error(shifted[rep], y[rep]).at(at),
    )


def intervals(it: Weighted) -> Iterator[str]:
    """Intervals for the target of one example more."""
    if it.task != "regression":
        return
    rep, some = it.rep, np.flatnonzero(it.w > 0.0)
    model = it.estimator().partial_fit(it.X, it.y, it.w)
    copied = it.estimator().partial_fit(it.X[rep], it.y[rep])
    problem = DualProblem.regression(it.X[rep], it.y[rep], kernel=RBF(GAMMA), C=it.C, epsilon=it.epsilon)
    cross = RBF(GAMMA)(it.new, it.X[rep])
    for confidence in (0.7, 0.9, 0.97):
        yield from differ(
            f"full {confidence}",
            np.nan_to_num(model.predict_interval(it.new, confidence)),
            np.nan_to_num(copied.predict_interval(it.new, confidence)),
        )
        each = np.searchsorted(some, rep)
        for method, number in (("jackknife+", each), ("cv+", each % 10)):
            machines = held_out_machines(problem, number, stop=KKTGap(EXACT), engine=it.engine)
            yield from differ(
                f"{method} {confidence}",
                np.nan_to_num(model.predict_interval(it.new, confidence, method)),
                np.nan_to_num(machines.intervals(cross, confidence)),
            )


WITH_COPIES: Final = (fits, folds, searches, curves, intervals)


# -- any weights beside refits -----------------------------------------------------------------------------------------


def penalised(it: Weighted) -> Iterator[str]:
    """A fit with weights is that of the penalties C·w."""
    if it.task == "three classes" or (it.balanced and it.is_class):
        return
    K = RBF(GAMMA)
    if it.is_class:
        problem = DualProblem.classification(it.X, 2 * it.y - 1, kernel=K, C=it.C * it.w)
    elif it.task == "regression":
        problem = DualProblem.regression(it.X, it.y, kernel=K, C=it.C * it.w, epsilon=it.epsilon)
    else:
        problem = DualProblem.one_class(it.X, kernel=K, nu=0.4, weights=it.w)
    solution = solve(problem, stop=KKTGap(EXACT), polish=True, engine=it.engine)
    beta = solution.alpha.reshape(-1, len(it.X)).sum(axis=0)
    model = it.estimator().fit(it.X, it.y, sample_weight=it.w)
    yield from differ("h at C·w", values_of(model, it.new), K(it.new, it.X) @ beta + solution.intercept)


def left_out(it: Weighted) -> Iterator[str]:
    """Scores of leave-one-out, by every caller, are those of refits by hand."""
    # leave_one_out and paths have no class weights
    told = told_by_refits(it, **({"class_weight": None} if it.is_class else {}))
    if told is None:
        return
    counting = np.flatnonzero(it.w > 0.0)
    w, y = it.w[counting], it.y[counting]
    target, C = (None, it.w) if it.task == "novelty" else (it.y, it.C * it.w)
    loo = leave_one_out(it.X, target, C=C, **it.arguments())
    if it.task == "regression":
        error = (y - told[counting]) ** 2
        spread = w @ (y - w @ y / w.sum()) ** 2
        yield from differ("rmse", loo.rmse, np.sqrt(w @ error / w.sum()))
        yield from differ("mae", loo.mae, w @ np.sqrt(error) / w.sum())
        right: Any = 1.0 - (w @ error) / spread
        yield from differ("r2", loo.r2, right)
    else:
        right = w @ (told[counting] == y) / w.sum()
        yield from differ("error", loo.error, 1.0 - right)
    if it.task == "novelty":
        return
    E, more = (SVCCV, {}) if it.is_class else (SVRCV, {"epsilons": [it.epsilon]})
    more |= it.searched()
    yield from differ('cv="loo"', E(cv="loo", **more).fit(it.X, it.y, it.w).best_score_, right)
    name = "accuracy" if it.is_class else "neg_mean_absolute_error"
    score = right if it.is_class else -float(w @ np.abs(y - told[counting]) / w.sum())
    for cv in ("loo", LeaveOneOut(), LeavePOut(1)):
        found = E(cv=cv, scoring=name, **more).fit(it.X, it.y, it.w).best_score_
        yield from differ(f"{cv!r} by {name}", found, score)
    if it.is_class and len(np.unique(it.y[counting])) == len(np.unique(it.y)):
        labels = np.where(it.y == 1, 1, -1) if it.task == "two classes" else it.y
        ends: dict[str, Any] = {"C_min": 0.9 * it.C, "C_max": 1.1 * it.C, "engine": it.engine}
        path = cross_validate_path(it.X, labels, kernel=RBF(GAMMA), folds="loo", sample_weight=it.w, **ends)
        yield from differ("curve of leave-one-out", path.curve.at(it.C), 1.0 - right)


def left_out_balanced(it: Weighted) -> Iterator[str]:
    """Leave-one-out of a search whose class weights are those of each training part."""
    if not (it.is_class and it.balanced):
        return
    told = told_by_refits(it)
    if told is None:
        return
    more = it.searched()
    found = SVCCV(cv="loo", class_weight="balanced", **more).fit(it.X, it.y, it.w).best_score_
    yield from differ('cv="loo" with balanced weights', found, it.w @ (told == it.y) / it.w.sum())


def told_by_refits(it: Weighted, **parameters: Any) -> np.ndarray | None:
    """Return what refits predict for the examples left out of them; None if a refit is refused, or rounding decides."""
    told = np.full(len(it.w), np.nan)
    for r in np.flatnonzero(it.w > 0.0):
        rest = np.where(np.arange(len(it.w)) == r, 0.0, it.w)
        if it.is_class and len(np.unique(it.y[rest > 0.0])) < 2:
            return None
        refit = it.estimator().set_params(**parameters).fit(it.X, it.y, sample_weight=rest)
        if it.task != "regression" and np.abs(_votes(refit, it.X[[r]])).min() < TIED:
            return None
        told[r] = refit.predict(it.X[[r]])[0]
    return told


def _votes(model: Any, X: np.ndarray) -> np.ndarray:
    """Return the values by which a prediction is made."""
    if isinstance(model, SVC):
        return np.asarray(model.set_params(decision_function_shape="ovo").decision_function(X))
    return np.asarray(model.decision_function(X))


def vanishing(it: Weighted) -> Iterator[str]:
    """A weight of 1e-12 is none, within the tolerance, where each class keeps other weight."""
    some = np.flatnonzero(it.w > 0.0)[1::4]
    gone = np.isin(np.arange(len(it.w)), some)
    if it.is_class and len(np.unique(it.y[(it.w > 0.0) & ~gone])) < len(np.unique(it.y[it.w > 0.0])):
        return
    if np.count_nonzero((it.w > 0.0) & ~gone) < 3:
        return
    tiny, none = np.where(gone, 1e-12 * it.w, it.w), np.where(gone, 0.0, it.w)
    models = [it.estimator(gamma=GAMMA).fit(it.X, it.y, sample_weight=each) for each in (tiny, none)]
    unique = all(_has_free(model, it) for model in models)
    if unique:
        one, other = (values_of(model, it.new) for model in models)
        yield from differ("values at 1e-12", one, other)
    if it.task == "regression":
        one, other = (leave_one_out(it.X, it.y, C=it.C * each, **it.arguments()).mae for each in (tiny, none))
        yield from differ("mean absolute error at 1e-12", one, other, 1e-3)


def _has_free(model: Any, it: Weighted) -> bool:
    """Whether a variable is free by more than rounding, so that b is unique."""
    alpha = np.abs(np.atleast_2d(model.alpha_))
    bound = it.w * (it.C if it.task != "novelty" else 1.0)
    inside = (alpha > 1e-6 * bound) & (alpha < (1.0 - 1e-6) * bound) & (bound > 0.0)
    return bool(inside.any(axis=1).all()) and not it.balanced


WITH_REFITS: Final = (penalised, left_out, left_out_balanced, vanishing)
