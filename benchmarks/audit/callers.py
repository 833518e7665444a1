"""What trains a scaled problem: each caller returns the machines that it found, as α and decision values.

A `Machine` has α of its variables, and its decision values at the training and other examples, as the caller predicts
them. Rounds have none of their own: `Values` are decision values, labels or scores, each with its training examples.
"""

from __future__ import annotations

import re
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

import refsvm
from refsvm import KKTGap, Linear, Polynomial, Precomputed, Sigmoid, solve

from .scaled import Scaled

__all__ = ["TRAINED", "Answer", "Machine", "Values"]

LIMITS = {"numpy": 20_000, "numba": 300_000, "auto": 100_000}
"""Steps after which a caller gives up, by engine."""

UNFINISHED_CODE = 3
"""Exit code of a command whose solve reached a limit."""

PATH_TOL = 1e-5
"""That of paths, which stop at no tolerance of a caller's: ten times what they promise of values of size one."""


@dataclass(frozen=True, eq=False)
class Machine:
    """A decision function and the problem that it solves.

    Attributes
    ----------
    rows : ndarray of shape (m,), int
        Its training examples.
    v, lower, upper, alpha : ndarrays of shape (m,) or (2m,)
        v in long doubles; both copies of examples of regression.
    h, h_test : ndarrays of shape (m,) and (t,)
        Decision values at its examples and at others.
    tol, is_relative : float, bool
        The tolerance, and whether it is a fraction of the spread of decision values.
    """

    rows: np.ndarray
    v: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    alpha: np.ndarray
    h: np.ndarray
    h_test: np.ndarray
    tol: float
    is_relative: bool = True


@dataclass(frozen=True, eq=False)
class Values:
    """What a machine of a round says of examples that it was not trained on.

    Attributes
    ----------
    train, test : ndarrays of int
    C : ndarray of shape (n,)
        Penalties of all examples.
    kind : {"values", "signs", "score"}
    said : ndarray of shape (len(test),), or (1,) for a score
    tol, is_relative : float, bool
        As of `Machine`.
    """

    train: np.ndarray
    test: np.ndarray
    C: np.ndarray
    kind: str
    said: np.ndarray
    tol: float
    is_relative: bool = True


@dataclass(frozen=True, eq=False)
class Answer:
    """All that a caller returned, and the names of the statuses that it ended with, or that were left behind."""

    machines: list[Machine]
    values: list[Values]
    statuses: list[str]
    earlier: tuple[str, ...] = ()


def kernel_of(problem: Scaled) -> Any:
    """Return the kernel as an object."""
    gamma, coef0 = problem.gamma, problem.coef0
    return {
        "linear": Linear(), "rbf": refsvm.RBF(gamma), "precomputed": Precomputed(), "sigmoid": Sigmoid(gamma, coef0),
        "poly": Polynomial(problem.degree, gamma, coef0),
    }[problem.kernel]  # fmt: skip


def data_of(problem: Scaled, X: np.ndarray) -> Any:
    """Return examples as they are given, dense or CSR."""
    if not problem.is_sparse:
        return X
    from scipy.sparse import csr_matrix

    return csr_matrix(X)


def variables(problem: Scaled, y: np.ndarray, C: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return v, L and U of a formulation, v in long doubles."""
    if problem.task == "one class":
        return np.zeros(len(y), np.longdouble), np.zeros(len(y)), C
    if problem.task == "regression":
        targets, zero = y.astype(np.longdouble), np.zeros(len(y))
        v = np.concatenate([targets - problem.epsilon, targets + problem.epsilon])
        return v, np.concatenate([zero, -C]), np.concatenate([C, zero])
    return y.astype(np.longdouble), np.minimum(0.0, y * C), np.maximum(0.0, y * C)


def machine(
    problem: Scaled, beta: np.ndarray, h: np.ndarray, h_test: np.ndarray, C: Any = None, **more: Any
) -> Machine:
    """Return the machine of all examples; `beta` has one value for each, or for each variable."""
    penalties = problem.weights * (1.0 if problem.task == "one class" else problem.C) if C is None else C
    v, lower, upper = variables(problem, problem.y, penalties)
    alpha = np.concatenate([beta.clip(0.0), -(-beta).clip(0.0)]) if len(v) == 2 * len(beta) else beta
    return Machine(np.arange(problem.n), v, lower, upper, alpha, h, h_test, **{"tol": problem.tol, **more})


def dual_problem(problem: Scaled) -> Any:
    """Return the problem as `solve` and paths take it."""
    made = refsvm.DualProblem
    X, given = data_of(problem, problem.X), {"kernel": kernel_of(problem)}
    if problem.task == "one class":
        return made.one_class(X, nu=problem.nu, weights=problem.weights, **given)
    C = problem.C * problem.weights
    if problem.task == "regression":
        return made.regression(X, problem.y, C=C, epsilon=problem.epsilon, **given)
    return made.classification(X, problem.y, C=C, **given)


def by_solve(problem: Scaled) -> Answer:
    """Solve; decision values at other examples are left out."""
    tol, limit = problem.tol * problem.target_unit, LIMITS[problem.engine]
    solution = solve(dual_problem(problem), stop=KKTGap(tol), engine=problem.engine, max_iter=limit)
    h = solution.decision_values[: problem.n]
    found = machine(problem, solution.alpha, h, np.empty(0), tol=tol, is_relative=False)
    return Answer([found], [], [solution.status.name])


def estimator_of(problem: Scaled, name: str, **more: Any) -> Any:
    """Return an estimator with the parameters of the problem."""
    own = {
        "SVC": {"C": problem.C},
        "SVR": {"C": problem.C, "epsilon": problem.epsilon},
        "OneClassSVM": {"nu": problem.nu},
    }
    return getattr(refsvm, name)(
        kernel=problem.kernel, gamma=problem.gamma, coef0=problem.coef0, degree=problem.degree, tol=problem.tol,
        engine=problem.engine, max_iter=LIMITS[problem.engine], **own[name], **more,
    )  # fmt: skip


def values_of(model: Any, X: Any) -> np.ndarray:
    """Return h(x) of a fitted estimator or model, whichever it is."""
    has = hasattr(model, "decision_function")
    return np.asarray(model.decision_function(X) if has else model.predict(X))


def machine_of(problem: Scaled, model: Any, read: Any = None, C: Any = None) -> Machine:
    """Return the machine of an estimator that was fitted, which predicts itself or as it is `read` from a file."""
    reader = model if read is None else read
    parts = (values_of(reader, data_of(problem, A)) for A in (problem.X, problem.T))
    return machine(problem, model.alpha_, *parts, C)


def by_estimator(problem: Scaled) -> Answer:
    """Fit SVC, SVR or OneClassSVM."""
    model = estimator_of(problem, problem.caller)
    given = {} if (problem.weights == 1.0).all() else {"sample_weight": problem.weights}
    model.fit(data_of(problem, problem.X), None if problem.task == "one class" else problem.y, **given)
    return Answer([machine_of(problem, model)], [], [model.status_.name])


def by_three_classes(problem: Scaled) -> Answer:
    """Fit SVC on three classes."""
    model = estimator_of(problem, "SVC", decision_function_shape="ovo")
    X = data_of(problem, problem.X)
    model.fit(X, problem.y, sample_weight=problem.weights)
    h, h_test, machines = values_of(model, X), values_of(model, data_of(problem, problem.T)), []
    for number, pair in enumerate(model.binary_results_):
        rows = pair.rows
        labels = np.where(problem.y[rows] == pair.positive, 1.0, -1.0)
        box = variables(problem, labels, problem.C * problem.weights[rows])
        machines.append(Machine(rows, *box, pair.alpha, h[rows, number], h_test[:, number], problem.tol))
    return Answer(machines, [], [pair.status.name for pair in model.binary_results_])


def by_model_file(problem: Scaled) -> Answer:
    """Fit SVC, write it to a file, and predict by what was read."""
    model = estimator_of(problem, "SVC")
    model.fit(data_of(problem, problem.X), problem.y, sample_weight=problem.weights)
    with tempfile.TemporaryDirectory() as folder:
        refsvm.write_model(model, Path(folder, "model"))
        read = refsvm.read_model(Path(folder, "model"))
    return Answer([machine_of(problem, model, read)], [], [model.status_.name])


def by_partial_fit(problem: Scaled) -> Answer:
    """Let examples come in parts, one of them without weight."""
    name = "SVR" if problem.task == "regression" else "SVC"
    model, n, weights = estimator_of(problem, name), problem.n, problem.weights.copy()
    first = max(4, n // 2)
    cuts = [0, first, *sorted(problem.rng.integers(first, n + 1, size=2).tolist()), n]
    weights[cuts[2] : cuts[3]] = 0.0
    X, statuses = data_of(problem, problem.X), []
    for a, b in pairwise(cuts):
        if b > a:
            model.partial_fit(X[a:b], problem.y[a:b], sample_weight=weights[a:b])
            statuses.append(model.status_.name)
    found = machine_of(problem, model, C=problem.C * weights)
    return Answer([found], [], statuses[-1:], tuple(statuses[:-1]))


def by_command_line(problem: Scaled) -> Answer:
    """Run ``refsvm fit`` and ``refsvm predict``, which prints labels."""
    with tempfile.TemporaryDirectory() as folder:
        data, model = Path(folder, "data.csv"), Path(folder, "model")
        rows = [
            f"{label},{','.join(map(repr, row))}"
            for label, row in zip(problem.y, problem.X.tolist(), strict=True)
        ]
        names = ",".join(["label", *(f"x{i}" for i in range(problem.X.shape[1]))])
        data.write_text("\n".join([names, *rows, ""]))
        flags = {"kernel": problem.kernel, "gamma": problem.gamma, "C": problem.C, "coef0": problem.coef0,
                 "degree": problem.degree, "tol": problem.tol, "label": "label"}  # fmt: skip
        fitted = run("fit", data, f"--model={model}", *(f"--{name}={value}" for name, value in flags.items()))
        if fitted.exit_code not in (0, UNFINISHED_CODE):
            raise RuntimeError(
                f"exit code {fitted.exit_code}: {fitted.stderr.strip()[-300:]} {fitted.exception!r}"
            )
        labels = run("predict", model, data, "--label=label").stdout.split()
    for each in re.findall(r"note: (.+)", fitted.stderr):
        warnings.warn(each, stacklevel=2)
    every, C = np.arange(problem.n), np.full(problem.n, problem.C)
    signs = Values(every, every, C, "signs", np.array(labels, dtype=float), problem.tol)
    return Answer([], [signs], ["LIMIT" if fitted.exit_code else "CONVERGED"])


def run(*arguments: Any) -> Any:
    """Run a command of refsvm in this process."""
    from typer.testing import CliRunner

    from refsvm.cli.app import app

    return CliRunner().invoke(app, [*map(str, arguments)])


def folds_of(problem: Scaled) -> np.ndarray:
    """Return the number of each example's fold, of three, such that each part has both classes."""
    fold = problem.rng.integers(3, size=problem.n)
    for label in (-1, 1):
        some = np.flatnonzero(problem.y == label)
        fold[some[:2]] = 0, 1
    return fold


def by_cross_validate(problem: Scaled) -> Answer:
    """Cross-validate over three folds."""
    fold, C, by_default = folds_of(problem), problem.C * problem.weights, problem.tol == 1e-3
    found = refsvm.cross_validate(
        data_of(problem, problem.X), problem.y, kernel=kernel_of(problem), C=C, folds=fold,
        stop=None if by_default else KKTGap(problem.tol), engine=problem.engine, max_iter=LIMITS[problem.engine],
    )  # fmt: skip
    values = []
    for k in np.unique(fold):
        out = fold == k
        said = found.decision_values[out, 0]
        values.append(
            Values(np.flatnonzero(~out), np.flatnonzero(out), C, "values", said, problem.tol, by_default)
        )
    return Answer([], values, [found.status.name])


def by_leave_one_out(problem: Scaled) -> Answer:
    """Leave each example out."""
    found = refsvm.leave_one_out(
        data_of(problem, problem.X), problem.y, kernel=kernel_of(problem), C=problem.C * problem.weights,
        engine=problem.engine, max_iter=LIMITS[problem.engine],
    )  # fmt: skip
    every, C = np.arange(problem.n), problem.C * problem.weights
    values = [
        Values(np.delete(every, r), every[[r]], C, "signs", found.predictions[[r]], 1e-3)
        for r in every[~np.isin(found.decided_by, ("limit", "tie"))]
    ]
    return Answer([], values, [found.status.name])


def by_svccv(problem: Scaled) -> Answer:
    """Search over two values of C, with three splits, and fit again."""
    fold, n = folds_of(problem), np.arange(problem.n)
    splits = [(n[fold != k], n[fold == k]) for k in np.unique(fold)]
    Cs = [0.1 * problem.C, problem.C]
    model = refsvm.SVCCV(
        Cs=Cs, gammas=[problem.gamma], cv=splits, kernel=problem.kernel, coef0=problem.coef0, degree=problem.degree,
        tol=problem.tol, engine=problem.engine, max_iter=LIMITS[problem.engine],
    )  # fmt: skip
    model.fit(data_of(problem, problem.X), problem.y)
    scores = [model.cv_results_[f"split{k}_test_score"] for k in range(len(splits))]
    values = [
        Values(train, test, np.full(problem.n, C), "score", scores[k][[place]], problem.tol)
        for place, C in enumerate(Cs)
        for k, (train, test) in enumerate(splits)
    ]
    best, penalties = model.best_estimator_, np.full(problem.n, model.best_params_["C"])
    return Answer([machine_of(problem, best, C=penalties)], values, [best.status_.name])


def by_path(problem: Scaled) -> Answer:
    """Follow a path, and look at it between its ends."""
    X, C, weights, nu = data_of(problem, problem.X), problem.C, problem.weights, problem.nu
    given: dict[str, Any] = {"kernel": kernel_of(problem), "engine": problem.engine, "time_limit": 20.0}
    part = float(problem.rng.uniform(0.2, 0.8))
    if problem.caller == "regularization_path":
        ends = {"C_min": 0.1 * C, "C_max": 3.0 * C}
        at, found = C, refsvm.regularization_path(X, problem.y, sample_weight=weights, **ends, **given)
        penalties = C * weights
    elif problem.caller == "cost_path":
        at, found = part * C, refsvm.cost_path(X, problem.y, C=C, **given)
        penalties = np.where(problem.y > 0, at, C - at)
    elif problem.caller == "weight_path":
        first, last = C * np.ones(problem.n), C * weights * 2.0
        at, found = part, refsvm.weight_path(X, problem.y, C=(first, last), **given)
        penalties = (1.0 - part) * first + part * last
    elif problem.caller == "epsilon_path":
        at = problem.epsilon
        found = refsvm.epsilon_path(X, problem.y, C=C * weights, epsilon=(3.0 * at, 0.5 * at), **given)
        penalties = C * weights
    else:
        at, found = nu, refsvm.nu_path(X, nu=(0.5 * nu, min(1.0, 1.2 * nu)), weights=weights, **given)
        penalties = weights
    status = found.status.name
    if status != "CONVERGED":
        return Answer([], [], [status])
    h, h_test = (np.asarray(found.decision_function(data_of(problem, A), at)) for A in (problem.X, problem.T))
    return Answer([machine(problem, found.alpha(at), h, h_test, penalties, tol=PATH_TOL)], [], [status])


TRAINED: dict[str, Callable[[Scaled], Answer]] = {
    "solve": by_solve, "solve regression": by_solve, "solve one class": by_solve, "SVC": by_estimator,
    "SVR": by_estimator, "OneClassSVM": by_estimator, "SVC of three classes": by_three_classes,
    "model file": by_model_file, "partial_fit": by_partial_fit, "partial_fit SVR": by_partial_fit,
    "command line": by_command_line, "leave_one_out": by_leave_one_out, "cross_validate": by_cross_validate,
    "SVCCV": by_svccv, "regularization_path": by_path, "cost_path": by_path, "weight_path": by_path,
    "epsilon_path": by_path, "nu_path": by_path,
}  # fmt: skip
"""A function for each caller."""
