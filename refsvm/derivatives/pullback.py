"""Pullback: from the gradient of a loss by α and b to its gradients by all parameters, with one linear system."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from refsvm._checks import examples, real, vector
from refsvm.derivatives.direction import kernel_derivative, products, support
from refsvm.derivatives.optimum import Optimum, pieces
from refsvm.derivatives.parameters import Rates, examples_of, names_of, rates_of
from refsvm.kernels.checked import cross_values
from refsvm.result import Solution


class Gradients(Mapping[str, Any]):
    """The gradients of a loss by the parameters of a problem: numbers, or arrays of one number for each example.

    Each is computed when it is first asked for, from the solution of one linear system, whose matrix is symmetric:

        A (t, u) = (g_b, g_M)        dℓ/dθ = uᵀ(v̇_M − (K̇α)_M − K_MB d_B) + t (ż − 1ᵀd_B) + g_Bᵀ d_B

    Attributes
    ----------
    optimum : Optimum
    variables, u : ndarrays of shape (m,)
        Some variables, and u of each: M, or the ends of the interval of b.
    t : float
    """

    def __init__(
        self, optimum: Optimum, by_alpha: np.ndarray, by_b: float, X: Any, by_h: np.ndarray, least_norm: bool
    ) -> None:
        self.optimum, self._by_alpha, self._X, self._by_h = optimum, by_alpha, X, by_h
        self._found: dict[str, Any] = {}
        _refuse_events(optimum)
        if optimum.has_ends:
            # b is the mean of G at both ends
            self.variables, self.t = optimum.places, 0.0
            self.u = np.full(len(self.variables), by_b / max(1, len(self.variables)))
            return
        self.variables = optimum.places[: optimum.size]
        g = _reduced(optimum, by_alpha, least_norm)
        x = optimum.solved(np.append(by_b, g[: optimum.size]))
        self.t, self.u = float(x[0]), x[1:]

    @cached_property
    def _by_bound(self) -> np.ndarray:
        """Of each variable at a bound other than 0, what the loss gains where that bound moves: g − K u − t."""
        problem, optimum = self.optimum.problem, self.optimum
        bound = np.where(optimum.upper, problem.upper, problem.lower)
        there, result = np.flatnonzero(optimum.fixed & (bound != 0.0)), np.zeros(problem.n)
        spread = np.zeros(problem.n)
        spread[self.variables] = self.u
        result[there] = self._by_alpha[there] - products(problem.gram, there, spread) - self.t
        return result

    def __getitem__(self, name: str) -> Any:
        """The gradient by a parameter; KeyError if the problem has none of this name."""
        if name not in self._found:
            if name not in names_of(self.optimum.problem):
                raise KeyError(name)
            self._found[name] = self._of(name, rates_of(self.optimum.problem, name))
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(names_of(self.optimum.problem))

    def __len__(self) -> int:
        return len(names_of(self.optimum.problem))

    def _of(self, name: str, rates: Rates) -> Any:
        if rates.kernel:
            return self._of_kernel(name)
        optimum = self.optimum
        bounds = np.where(optimum.fixed, np.where(optimum.upper, rates.upper, rates.lower), 0.0)
        gain = self.t * rates.z
        if bounds.any():
            gain = gain + bounds * self._by_bound
        gain[self.variables] += self.u * rates.v[self.variables]
        if optimum.has_ends:
            self._refuse_jump(name, rates.z - bounds, rates.each)
        if not rates.each:
            return float(gain.sum())
        gram, places = examples_of(optimum.problem.gram)
        return np.bincount(places, gain, gram.n)

    def _refuse_jump(self, name: str, sums: np.ndarray, each: bool) -> None:
        """Where no variable is free, refuse a parameter that changes the sum of the others: b jumps."""
        total = float(np.abs(sums).max(initial=0.0)) if each else abs(float(sums.sum()))
        if total > 1e-12 * float(np.abs(sums).sum()):
            raise ValueError(
                f"No variable is free, and as {name!r} moves the bounds of the others would not keep the sum of alpha: "
                "b jumps here, so that it has no derivative."
            )

    def _of_kernel(self, name: str) -> float:
        """−uᵀ K̇ α, and what a loss of h takes from the kernel itself."""
        optimum = self.optimum
        gram, places = examples_of(optimum.problem.gram)
        vectors, sums = support(optimum)
        shares = np.bincount(places[self.variables], self.u, gram.n)
        rows = np.flatnonzero(shares)
        result = -_form(gram.kernel, name, shares[rows], gram.X[rows], vectors, sums)
        if self._X is not None:
            result = result + _form(gram.kernel, name, self._by_h, self._X, vectors, sums)
        return result


def _form(kernel: Any, name: str, left: np.ndarray, X: Any, vectors: Any, right: np.ndarray) -> Any:
    """Σᵢⱼ leftᵢ ∂k(xᵢ, xⱼ)/∂θ rightⱼ, in pieces."""
    result: Any = 0.0
    for part in pieces(X.shape[0], len(right)) if len(right) else ():
        result = result + float(left[part] @ kernel_derivative(kernel, name, X[part], vectors) @ right)
    return result


def _refuse_events(optimum: Optimum) -> None:
    if len(optimum.events):
        raise ValueError(
            f"The examples {optimum.events[:10].tolist()} are at an event: they stand between two sets, and "
            "derivatives have two sides, which no gradient has. Take solution.derivative(name).left or .right, or "
            "move a parameter."
        )


def _reduced(optimum: Optimum, by_alpha: np.ndarray, least_norm: bool) -> np.ndarray:
    """Return the gradient by the free α without its part along changes of α that leave h as it is."""
    g = by_alpha[optimum.places[: optimum.free]]
    if optimum.free == optimum.size:
        return g
    part = optimum.null @ (optimum.null.T @ g)
    if not least_norm and float(np.abs(part).max()) > 1e-7 * max(float(np.abs(g).max()), 1e-300):
        raise ValueError(
            f"The loss depends on how the examples {optimum.dependent[:10].tolist()}, which depend on each other in "
            "feature space, share their alpha, and that has no unique derivative. Give a loss of h, or least_norm=True."
        )
    return np.asarray(g - part)


def pullback(
    solution: Solution,
    alpha: Any = 0.0,
    intercept: float = 0.0,
    *,
    X: Any = None,
    decision_function: Any = None,
    least_norm: bool = False,
) -> Gradients:
    """Return the gradients of a loss by all parameters, from its gradients by α, b and decision values.

    Parameters
    ----------
    alpha : array-like of shape (n,) or float
        ∂ℓ/∂α.
    intercept : float
        ∂ℓ/∂b.
    X : array-like or CSR of shape (t, d), optional
        Examples whose decision values the loss depends on; as in `Derivative.decision_function`.
    decision_function : array-like of shape (t,), optional
        ∂ℓ/∂h(x) of these. Changes of the kernel values k(x, xᵢ) with a parameter of the kernel are counted; a loss that
        was given by α and b alone takes it as none.
    least_norm : bool
        Where dα is not unique, take the smallest one.

    Returns
    -------
    Gradients
        A mapping from names of parameters to numbers, or to arrays of one number for each example.

    Raises
    ------
    ValueError
        At an event, where derivatives have two sides; where the loss depends on α that has no unique derivative.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import RBF, DualProblem, solve
    >>> X, y = np.array([[0.0], [1.0], [2.0], [4.0]]), np.array([-1, 1, -1, 1])
    >>> solution = solve(DualProblem.classification(X, y, kernel=RBF(0.5), C=3.0))
    >>> gradients = solution.pullback(X=np.array([[3.0]]), decision_function=[1.0])
    >>> list(gradients), round(gradients["gamma"], 4), gradients["weights"].round(4)
    (['C', 'weights', 'gamma'], -0.6711, array([ 0.    , -0.4855,  0.    ,  0.    ]))
    """
    optimum = Optimum(solution)
    problem = optimum.problem
    by_b = real("intercept", intercept)
    # b of the data as they are given is b around their mean less α times the offsets
    by_alpha = vector("alpha", alpha, problem.n) - by_b * optimum.offsets
    by_h = np.zeros(0)
    if (X is None) != (decision_function is None):
        raise ValueError(
            "Give X and decision_function together: the examples, and the gradient by h of each."
        )
    if X is not None:
        X = examples(X)
        by_h = vector("decision_function", decision_function, X.shape[0])
        by_b += float(by_h.sum())
        for part in pieces(X.shape[0], problem.n):
            by_alpha = by_alpha + by_h[part] @ cross_values(problem.gram, np.arange(problem.n), X[part])
    return Gradients(optimum, by_alpha, by_b, X, by_h, least_norm)


Solution.pullback = pullback
