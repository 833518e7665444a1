"""Problems of any unit and origin, drawn from a seed, with the same problem in unit scale around the origin.

Features are unit · B + origin with B of size one, targets alike; γ, C and ε carry the units that undo them. What is
trained is exactly these float64 numbers: the truth starts from them too, and not from B.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .exact import Exact

__all__ = ["CALLERS", "Scaled", "any_scaled"]

CLASSES = ("solve", "SVC", "SVC of three classes", "model file", "partial_fit", "command line")
ROUNDS = ("leave_one_out", "cross_validate", "SVCCV")
PATHS = ("regularization_path", "cost_path", "weight_path", "epsilon_path", "nu_path")
WALKS = (*PATHS, "partial_fit", "partial_fit SVR")
"""Callers that refuse an indefinite kernel."""

OTHERS = ("SVR", "OneClassSVM", "solve regression", "solve one class", "partial_fit SVR")
CALLERS = CLASSES + ROUNDS + PATHS + OTHERS
"""What trains; `callers` has a function for each."""

OFTEN = {"SVC": 4.0, "SVR": 4.0, "OneClassSVM": 4.0, "solve": 2.0, "cross_validate": 2.0, "command line": 0.4}
"""How often callers are drawn; 1 for the others."""

REGRESSION = ("SVR", "solve regression", "partial_fit SVR", "epsilon_path")
ONE_CLASS = ("OneClassSVM", "solve one class", "nu_path")

UNITS = np.concatenate([np.zeros(6, dtype=int), np.arange(-6, 7)])
ORIGINS = (0.0, 0.0, 0.0, 1.0, 1e2, 1e3, 1e4, 101325.0, 1e6, 1e7, 3e7, 1e8, 1e9)

THRESHOLDS = {
    "cross_validate": (1_500,),
    "SVCCV": (1_500,),
    "solve": (3_000, 10_000),
    "SVC": (3_000, 10_000),
    "OneClassSVM": (3_000, 10_000),
    "SVR": (1_500, 5_000),
}
"""Numbers of examples at which another branch of the code begins, by caller."""


@dataclass(frozen=True, eq=False)
class Scaled:
    """A problem to train, and what its units and origins are.

    Attributes
    ----------
    seed, caller : int, str
    kernel, gamma, coef0, degree : str, float, float, int
        In the units of X.
    X, T : ndarrays of shape (n, d) and (t, d)
        Training and other examples; of "precomputed" kernel values with the training examples.
    is_sparse : bool
        Whether X and T are given as CSR.
    y : ndarray of shape (n,)
        Labels ±1, numbers of three classes, targets; zeros for one class.
    C, epsilon, nu : float
        In the units of X and y.
    weights : ndarray of shape (n,)
        Factors of C.
    tol : float
    unit, origin : float
        Of the features.
    target_unit, target_origin : float
    engine : str
    rng : numpy.random.Generator
        For further choices of the caller.
    """

    seed: int
    caller: str
    kernel: str
    gamma: float
    coef0: float
    degree: int
    X: np.ndarray
    T: np.ndarray
    is_sparse: bool
    y: np.ndarray
    C: float
    epsilon: float
    nu: float
    weights: np.ndarray
    tol: float
    unit: float
    origin: float
    target_unit: float
    target_origin: float
    engine: str
    rng: np.random.Generator = field(repr=False)

    def __str__(self) -> str:
        kind = " CSR" if self.is_sparse else ""
        return (
            f"{self.caller}, {self.kernel}{kind}, n={self.n}, d={self.X.shape[1]}, unit {self.unit:g}, origin "
            f"{self.origin:g}, targets {self.target_unit:g} + {self.target_origin:g}, C={self.C:.3g}, "
            f"nu={self.nu:.3g}, tol={self.tol:g}, engine={self.engine}"
        )

    @property
    def n(self) -> int:
        """Number of training examples."""
        return len(self.X)

    @property
    def task(self) -> str:
        """Which formulation it is."""
        return (
            "regression"
            if self.caller in REGRESSION
            else "one class"
            if self.caller in ONE_CLASS
            else "classes"
        )

    @property
    def moves(self) -> bool:
        """Whether the machine does not depend on the origin of the features."""
        return self.kernel == "rbf" or (self.kernel == "linear" and self.task != "one class")

    def exact(self, rows: Any = slice(None)) -> Exact:
        """Return the kernel in extended precision on some of the training examples."""
        X = self.X[rows][:, rows] if self.kernel == "precomputed" else self.X[rows]
        return Exact(self.kernel, X, self.gamma, self.coef0, self.degree, self.moves)


def any_scaled(seed: int, only: str | None = None) -> Scaled:
    """Draw a problem, of one caller or of any.

    Examples
    --------
    >>> from benchmarks.audit.scaled import any_scaled
    >>> str(any_scaled(1)) == str(any_scaled(1))
    True
    """
    rng = np.random.default_rng([seed, 42])
    shares = np.array([OFTEN.get(name, 1.0) for name in CALLERS])
    caller = CALLERS[rng.choice(len(CALLERS), p=shares / shares.sum())] if only is None else only
    n, engine = any_size(rng, caller)
    unit, origin = 10.0 ** rng.choice(UNITS), float(rng.choice(ORIGINS))
    B, y = any_examples(rng, n + 40, caller)
    X, is_sparse = placed(rng, B, unit, origin)
    kernel = str(rng.choice(["linear", "linear", "rbf", "rbf", "poly", "sigmoid", "precomputed"]))
    unknown = {"sigmoid": caller in WALKS, "precomputed": caller.startswith("partial_fit") or n > 200}
    if unknown.get(kernel) or (n > 200 and kernel in ("poly", "sigmoid")):
        kernel = ("linear", "rbf")[rng.integers(2)]
    gamma, k = float(10.0 ** rng.uniform(-1.5, 0.5)) / unit**2, 1.0
    degree = int(rng.integers(2, 4))
    if kernel == "precomputed":
        X, is_sparse, k = given_matrix(X, n, unit, gamma, bool(rng.integers(2))), False, unit**2
    elif kernel == "linear":
        k = unit**2
    elif kernel == "poly" and rng.integers(2):  # far from the origin its values are as large as this
        k = max(1.0, gamma * float(np.square(X).sum(axis=1).max())) ** (degree - 1)
    target_unit, target_origin = 1.0, 0.0
    if caller in REGRESSION:
        target_unit, target_origin = 10.0 ** rng.choice(UNITS), float(rng.choice(ORIGINS))
        y = target_unit * y + target_origin
    return Scaled(
        seed=seed, caller=caller, kernel=kernel, gamma=gamma, degree=degree, is_sparse=is_sparse, unit=unit,
        coef0=float(rng.choice([0.0, 1.0])) if kernel == "poly" else float(rng.choice([-1.0, 0.0])),
        X=X[:n], T=X[n:], y=y[:n], C=any_penalty(rng, kernel, n) * target_unit / k, nu=any_share(rng),
        epsilon=float(rng.choice([0.01, 0.1])) * target_unit, tol=any_tolerance(rng, n), engine=engine, origin=origin,
        weights=rng.choice([0.5, 1.0, 2.0], size=n) if rng.uniform() < 0.2 else np.ones(n),
        target_unit=target_unit, target_origin=target_origin, rng=rng,
    )  # fmt: skip


def any_size(rng: np.random.Generator, caller: str) -> tuple[int, str]:
    """Draw the number of examples, seldom one beside a threshold, and the engine."""
    engine = str(rng.choice(["numba", "numba", "auto", "numpy"]))
    beside = THRESHOLDS.get(caller)
    if beside is not None and rng.uniform() < 0.12:
        threshold = int(beside[0] if len(beside) == 1 or rng.uniform() < 0.75 else beside[1])
        return threshold + int(rng.choice([-2, 2])), "numba"
    if caller in ("leave_one_out", "SVCCV", "command line", *PATHS):
        return int(rng.integers(6, 31)), engine
    return int(rng.choice([rng.integers(4, 12), rng.integers(10, 60), rng.integers(60, 121)])), engine


def any_examples(rng: np.random.Generator, n: int, caller: str) -> tuple[np.ndarray, np.ndarray]:
    """Draw examples of size one, some repeated or of few values, and what is to be learned of them."""
    d = int(rng.integers(1, 5))
    B = rng.normal(size=(n, d))
    kind = rng.integers(5)
    if kind == 1:
        B = B.round(1)
    elif kind == 2:
        B = B[rng.integers(max(3, n // 3) if n < 1000 else 10, size=n)]
    f = B[:, 0] + 0.4 * np.sin(2.0 * B[:, -1]) + rng.choice([0.1, 0.5]) * rng.normal(size=n)
    if caller in REGRESSION:
        return B, f
    if caller == "SVC of three classes":
        y = np.digitize(f, np.quantile(f, [0.4, 0.7]))
        y[:6] = 0, 1, 2, 0, 1, 2
        return B, y
    y = np.where(f > np.quantile(f, rng.choice([0.5, 0.5, 0.95])), 1, -1)
    y[:4] = 1, -1, 1, -1
    return B, y


def placed(rng: np.random.Generator, B: np.ndarray, unit: float, origin: float) -> tuple[np.ndarray, bool]:
    """Put examples in their unit and at their origin; return them, and whether they are to be sparse."""
    d = B.shape[1]
    kind = rng.integers(4)
    offsets = np.full(d, origin)
    if kind == 0:  # one column beside others
        offsets[1:] = 0.0
    elif kind == 1:
        offsets *= rng.choice([-1.0, 0.5, 1.0], size=d)
    X = unit * B + offsets
    if kind == 2 and d > 1:  # a constant column
        X[:, -1] = offsets[-1] + unit
    is_sparse = bool(rng.uniform() < 0.3)
    if is_sparse and rng.integers(2):
        X[rng.uniform(size=X.shape) < 0.4] = 0.0
    return X, is_sparse


def given_matrix(X: np.ndarray, n: int, unit: float, gamma: float, is_linear: bool) -> np.ndarray:
    """Return a kernel matrix as its user gives it, in the squared unit, with all rows and the training columns."""
    kernel = Exact("linear" if is_linear else "rbf", X[:n], gamma, moves=True)
    scale = 1.0 if is_linear else unit**2
    return np.asarray(kernel.values(kernel.moved(X)) * scale, dtype=np.float64)


def any_penalty(rng: np.random.Generator, kernel: str, n: int) -> float:
    """Draw C in unit scale: tiny, or such that some are free and some bounded."""
    if n > 1000:
        return float(10.0 ** rng.uniform(-4.0, 0.0))
    return float(10.0 ** rng.uniform(-5.0, {"linear": 1.0, "poly": 0.0}.get(kernel, 2.0)))


def any_share(rng: np.random.Generator) -> float:
    """Draw ν, tiny or ordinary."""
    return float(10.0 ** rng.uniform(-5.0, -0.1)) if rng.integers(2) else float(rng.uniform(0.02, 0.9))


def any_tolerance(rng: np.random.Generator, n: int) -> float:
    """Draw the tolerance: the default, or a finer one."""
    if n > 1000:
        return float(rng.choice([1e-3, 1e-3, 1e-4]))
    return float(rng.choice([1e-3, 1e-3, 1e-4, 1e-6]))
