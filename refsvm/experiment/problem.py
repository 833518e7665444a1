"""Problem: examples, kernel and C by name. Instance: its examples in one order, ready to be solved."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from refsvm._checks import examples, positive, signs
from refsvm.datasets import SuiteProblem
from refsvm.experiment.identity import described, fingerprint
from refsvm.kernels import RBF, Linear, Precomputed
from refsvm.problem import DualProblem

__all__ = ["Instance", "Problem"]


@dataclass(frozen=True, eq=False)
class Instance:
    """A problem with its examples in one order.

    Parameters
    ----------
    X : ndarray or CSR of shape (n, d), float64
        Examples; with ``kernel=Precomputed()`` the (n, n) Gram matrix.
    y : ndarray of shape (n,), float64
        Labels ±1.
    kernel : kernel object
    C : float
        Penalty.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import Linear
    >>> from refsvm.experiment import Instance
    >>> instance = Instance(np.array([[0.0], [1.0], [2.0]]), np.array([-1.0, 1.0, 1.0]), Linear(), 1.0)
    >>> instance.permuted(seed=0, k=1).X.ravel(), instance.permuted(seed=0, k=1).y
    (array([2., 0., 1.]), array([ 1., -1.,  1.]))
    """

    X: Any
    y: np.ndarray
    kernel: Any
    C: float

    def permuted(self, seed: int, k: int) -> Instance:
        """Return the instance with its examples in the k-th random order of a seed.

        The order is ``numpy.random.default_rng((seed, k)).permutation(n)``: the same for every strategy.
        """
        order = np.random.default_rng((seed, k)).permutation(len(self.y))
        both = isinstance(self.kernel, Precomputed)
        X = self.X[np.ix_(order, order)] if both else self.X[order]
        return replace(self, X=X, y=self.y[order])

    def dual(self) -> DualProblem:
        """Return the dual of the C-SVM."""
        return DualProblem.classification(self.X, self.y, kernel=self.kernel, C=self.C)

    def fingerprint(self) -> str:
        """Return a hash of X and y."""
        return fingerprint(self.X, self.y)


@dataclass(frozen=True)
class Problem:
    """Examples, kernel and C by name; the examples are loaded when they are needed.

    Parameters
    ----------
    name : str
        Name in the tables. It does not belong to a run's identity: the examples do, by their values.
    load : callable
        Takes no argument and returns an object with attributes X and y (±1), such as a `refsvm.datasets.Dataset`.
    kernel : kernel object, default Linear()
        A kernel of this package, or a frozen dataclass of your own that can be called.
    C : float
        Penalty.

    Raises
    ------
    ValueError
        If C is not positive, load cannot be called, or the kernel has no lasting description.

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
    load: Callable[[], Any]
    kernel: Any = Linear()  # noqa: RUF009 (a frozen object)
    C: float = 1.0

    def __post_init__(self) -> None:
        if not callable(self.load):
            raise ValueError(
                f"load={self.load!r} cannot be called; pass a function that returns an object with X and y, such as "
                "functools.partial(refsvm.datasets.load, 'heart')."
            )
        object.__setattr__(self, "C", positive("C", self.C))
        described("kernel", self.kernel)

    @classmethod
    def of_suite(cls, problem: SuiteProblem) -> Problem:
        """Return a problem of `refsvm.datasets.paper_suite`, with its C and RBF(gamma)."""
        return cls(problem.name, problem.load, RBF(problem.gamma), problem.C)

    def instance(self) -> Instance:
        """Load the examples and check them."""
        data = self.load()
        X = examples(data.X)
        return Instance(X, signs(data.y, X.shape[0]), self.kernel, self.C)
