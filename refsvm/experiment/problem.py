"""Problem: examples, kernel and C under a name. Instance: a problem with its examples in one order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from refsvm.core._checks import examples, is_sparse, not_negative, penalties, positive, share, shown, vector
from refsvm.core.kernels.functions import RBF, Linear, Precomputed
from refsvm.core.problem import DualProblem
from refsvm.core.rule import PlainNumbers
from refsvm.datasets import SuiteProblem
from refsvm.services.identity import described
from refsvm.services.labels import numbered, signed
from refsvm.services.store import fingerprint


@dataclass(frozen=True, eq=False)
class Instance:
    """A problem with its examples in one order.

    Parameters
    ----------
    X : ndarray or CSR of shape (n, d), float64
        Examples; with ``kernel=Precomputed()`` the (n, n) Gram matrix.
    y : ndarray of shape (n,), float64
        Labels ±1, or class numbers 0 … k − 1 with several classes; targets of a regression.
    kernel : kernel object
        The kernel.
    C : float or ndarray of shape (n,)
        Penalty; an array contains the penalty of each example.
    epsilon, nu : float, optional
        ε of a regression or ν of a one-class problem; by default the problem is a classification.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import Linear
    >>> from refsvm.experiment import Instance
    >>> instance = Instance(np.array([[0.0], [1.0], [2.0]]), np.array([-1.0, 1.0, 1.0]), Linear(), 1.0)
    >>> instance.permuted(seed=0, k=1).X.ravel(), instance.permuted(seed=0, k=1).y
    (array([2., 0., 1.]), array([ 1., -1.,  1.]))
    """

    X: Any = field(repr=False)
    y: np.ndarray = field(repr=False)
    kernel: Any
    C: Any = field(repr=False)
    epsilon: float | None = None
    nu: float | None = None

    def __sizeof__(self) -> int:
        """Return roughly the size of the examples in bytes, so that Dask sends large objects only once."""
        X = self.X.data if is_sparse(self.X) else self.X
        return object.__sizeof__(self) + X.nbytes + self.y.nbytes

    def permuted(self, seed: int, k: int) -> Instance:
        """Return the instance with its examples in the k-th random order of a seed.

        The order, ``numpy.random.default_rng((seed, k)).permutation(n)``, is the same for every strategy.
        """
        order = np.random.default_rng((seed, k)).permutation(len(self.y))
        both = isinstance(self.kernel, Precomputed)
        X = self.X[np.ix_(order, order)] if both else self.X[order]
        C = self.C[order] if np.ndim(self.C) else self.C
        return replace(self, X=X, y=self.y[order], C=C)

    def dual(self) -> DualProblem:
        """Return the dual problem of the C-SVM, of ε-regression, or of the one-class SVM with weights C."""
        if self.nu is not None:
            return DualProblem.one_class(self.X, kernel=self.kernel, nu=self.nu, weights=self.C)
        if self.epsilon is not None:
            return DualProblem.regression(self.X, self.y, kernel=self.kernel, C=self.C, epsilon=self.epsilon)
        return DualProblem.classification(**self.arguments())

    def arguments(self) -> dict[str, Any]:
        """Return X, y, kernel, C and ε or ν as keyword arguments of functions such as `refsvm.cross_validate`."""
        own = {"epsilon": self.epsilon, "nu": self.nu}
        arguments = {
            "X": self.X,
            "y": None if self.nu is not None else self.y,
            "kernel": self.kernel,
            "C": self.C,
        }
        return arguments | {name: value for name, value in own.items() if value is not None}

    def one_penalty(self) -> None:
        """Raise an error if C is an array; a strategy that sets C itself calls this method."""
        if np.ndim(self.C):
            raise ValueError(
                "This problem has a C for each example, but the strategy sets C itself; give C as one number, or use "
                "Solve or CrossValidate."
            )

    def fingerprint(self) -> str:
        """Return a hash of X and y."""
        return fingerprint(self.X, self.y)


@dataclass(frozen=True)
class Problem(PlainNumbers):
    """Examples, kernel and C under a name; an experiment loads the examples when needed.

    Parameters
    ----------
    name : str
        Name in the tables. A run is identified by the values of the examples, not by the name of the problem.
    load : callable
        Function without arguments that returns an object with attributes X and y, such as a
        `refsvm.datasets.Dataset`. y contains labels of at least two classes (exactly two for `Solve` and `TrackPath`),
        or targets if `epsilon` is given; y is ignored if `nu` is given.
    kernel : kernel object, default Linear()
        A kernel of this package, or a callable frozen dataclass of your own.
    C : float or sequence of n floats
        Penalty, 1 by default; a sequence contains the penalty of each example. For a one-class problem, C contains the
        weights of the examples.
    epsilon : float, optional
        ε; makes the problem an ε-insensitive regression, `DualProblem.regression`.
    nu : float, optional
        ν; makes the problem a one-class problem, `DualProblem.one_class`.

    Raises
    ------
    ValueError
        If C, epsilon or nu is out of range, epsilon and nu are both given, `load` is not callable, or the kernel
        cannot be identified by value.

    Examples
    --------
    >>> from functools import partial
    >>> from refsvm import RBF
    >>> from refsvm.datasets import load
    >>> from refsvm.experiment import Problem
    >>> Problem("heart", partial(load, "heart"), kernel=RBF(0.005), C=1.0).instance().X.shape
    (270, 13)
    """

    name: str
    load: Callable[[], Any] = field(repr=False)
    kernel: Any = Linear()  # noqa: RUF009 (a frozen object)
    C: Any = 1.0
    epsilon: float | None = None
    nu: float | None = None

    def __post_init__(self) -> None:
        if not callable(self.load):
            raise ValueError(
                f"load={shown(self.load)} cannot be called; pass a function that returns an object with X and y, "
                "such as functools.partial(refsvm.datasets.load, 'heart') or lambda: Dataset('mine', X, y)."
            )
        several = np.ndim(self.C) > 0
        C: Any = tuple(penalties(self.C, np.size(self.C)).tolist()) if several else positive("C", self.C)
        object.__setattr__(self, "C", C)
        if self.epsilon is not None and self.nu is not None:
            raise ValueError(
                f"epsilon={self.epsilon!r} makes this a regression and nu={self.nu!r} a one-class problem; give "
                "only one of them."
            )
        if self.epsilon is not None:
            not_negative("epsilon", self.epsilon)
        if self.nu is not None:
            share("nu", self.nu)
        described("kernel", self.kernel)

    @classmethod
    def of_suite(cls, problem: SuiteProblem) -> Problem:
        """Return a problem of `refsvm.datasets.paper_suite`, with its C and RBF(gamma)."""
        return cls(problem.name, problem.load, RBF(problem.gamma), problem.C)

    def instance(self) -> Instance:
        """Load and check the examples; return them as an `Instance`."""
        data = self.load()
        if not (hasattr(data, "X") and hasattr(data, "y")):
            raise ValueError(
                f"load of the problem {self.name!r} returned a {type(data).__name__}; it must return an object "
                "with X and y, such as refsvm.datasets.Dataset(name, X, y)."
            )
        X = examples(data.X, copy=True)
        n = X.shape[0]
        C = penalties(self.C, n) if np.ndim(self.C) else self.C
        if self.nu is not None:
            y = np.ones(n)
        else:
            y = labels_of(data.y, n) if self.epsilon is None else vector("y", data.y, n).copy()
        return Instance(X, y, self.kernel, C, self.epsilon, self.nu)

    def settings(self) -> dict[str, Any]:
        """Return the settings that, with the examples, identify a run; if C is an array, its hash represents it."""
        own: dict[str, Any] = {"kernel": described("kernel", self.kernel)}
        each = np.ndim(self.C) > 0
        own["C"] = fingerprint(np.array(self.C)[:, None], np.zeros(0)) if each else self.C
        kinds = {"epsilon": self.epsilon, "nu": self.nu}
        return own | {name: value for name, value in kinds.items() if value is not None}


def labels_of(y: Any, n: int) -> np.ndarray:
    """Return −1 and +1 for two labels of any type, and class numbers for more classes, as float64."""
    labels = np.asarray(y)
    several = labels.shape == (n,) and len(np.unique(labels)) > 2
    return numbered(labels, n)[1].astype(np.float64) if several else signed(y, n)[1]
