"""Pullback: turns the gradient of a loss with respect to α and b into gradients for all parameters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from refsvm.analysis.derivatives.direction import support
from refsvm.analysis.derivatives.kernels import by_differences
from refsvm.analysis.derivatives.optimum import HELD, Optimum, pieces
from refsvm.analysis.derivatives.parameters import Rates, examples_of, names_of, rates_of
from refsvm.core._checks import real, vector
from refsvm.core.kernels.checked import cross_values, examples_like
from refsvm.core.kernels.functions import Kernel
from refsvm.core.result import Solution
from refsvm.core.shown import Stamped
from refsvm.services.types import ArrayLike


@dataclass(frozen=True, eq=False)
class Probes:
    """The examples on whose decision values a loss depends.

    Attributes
    ----------
    optimum : Optimum
        The optimum.
    X : ndarray or CSR of shape (t, d)
        The examples.
    by_h : ndarray of shape (t,)
        The derivative of the loss with respect to each h.
    """

    optimum: Optimum
    X: Any
    by_h: np.ndarray

    def parts(self) -> list[slice]:
        """Return slices of the rows of X; kernel values are computed for one slice at a time."""
        return pieces(len(self.by_h), max(len(self.optimum.columns), self.X.shape[1]))

    def values(self, part: slice) -> np.ndarray:
        """Return the kernel values between some rows and ``optimum.columns``; compute them again if not stored."""
        return self._values(part) if self._held is None else self._held[part]

    def _values(self, part: slice) -> np.ndarray:
        return cross_values(self.optimum.matrix, self.optimum.columns, self.X[part])

    @cached_property
    def _held(self) -> np.ndarray | None:
        if len(self.by_h) * len(self.optimum.columns) > HELD:
            return None
        blocks = [self._values(part) for part in self.parts()]
        return blocks[0] if len(blocks) == 1 else np.concatenate(blocks)


class Gradients(Stamped, Mapping[str, Any]):
    """The gradients of a loss with respect to the parameters: numbers, or arrays over examples or features.

    Each gradient is computed at its first use, from the solution of one linear system with a symmetric matrix:

        A (t, u) = (g_b, g_M)        dℓ/dθ = uᵀ(v̇_M − (K̇α)_M − K_MB d_B) + t (ż − 1ᵀd_B) + g_Bᵀ d_B

    Attributes
    ----------
    optimum : Optimum
        The optimum.
    variables, u : ndarrays of shape (m,)
        The free variables (without free variables, the variables at the ends of the interval of b), and their entries
        of u.
    t : float
        t, the first entry of the system's solution (t, u).
    """

    def __init__(
        self, optimum: Optimum, by_alpha: np.ndarray, by_b: float, probes: Probes | None, least_norm: bool
    ) -> None:
        self.optimum, self._by_alpha, self._probes = optimum, by_alpha, probes
        self._names = names_of(optimum.problem)
        self._found: dict[str, Any] = {}
        _refuse_events(optimum)
        if optimum.has_ends:
            # no variable is free, so b is the mean of the two entries of G that bound its interval
            self.variables, self.t = optimum.places, 0.0
            self.u = np.full(len(self.variables), by_b / max(1, len(self.variables)))
            return
        self.variables = optimum.places[: optimum.size]
        g = _reduced(optimum, by_alpha, least_norm)
        x = optimum.system.solve(np.append(by_b, g[: optimum.size]))
        self.t, self.u = float(x[0]), x[1:]

    @cached_property
    def _by_bound(self) -> np.ndarray:
        """For each variable at a nonzero bound: ∂ℓ/∂(this bound) = g − K u − t, with g, u and t as in `Gradients`."""
        problem, optimum = self.optimum.problem, self.optimum
        bound = np.where(optimum.upper, problem.upper, problem.lower)
        there, result = np.flatnonzero(optimum.fixed & (bound != 0.0)), np.zeros(problem.n)
        product = np.zeros(len(optimum.columns))
        for part in pieces(len(self.u), len(product)):
            product += self.u[part] @ optimum.values(part)
        product = product[optimum.column_of[optimum.example[there]]]
        result[there] = self._by_alpha[there] - product - self.t
        return result

    @np.errstate(under="ignore")
    def __getitem__(self, name: str) -> Any:
        """Return the gradient with respect to a parameter; raise a KeyError if the problem lacks this parameter."""
        if name not in self._found:
            if name not in self._names:
                raise KeyError(name)
            self._found[name] = self._of(name, rates_of(self.optimum.problem, name))
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

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
        """Raise an error if b jumps because no variable is free and the parameter would change the sum of α."""
        total = float(np.abs(sums).max(initial=0.0)) if each else abs(float(sums.sum()))
        if total > 1e-12 * float(np.abs(sums).sum()):
            raise ValueError(
                f"No variable is free, and as {name!r} moves, the moving bounds would change the sum of alpha: "
                "b jumps here and has no derivative."
            )

    def _of_kernel(self, name: str) -> Any:
        """Return −uᵀ K̇ α; if the loss depends on h, add the direct effect of the kernel parameter on h."""
        optimum = self.optimum
        result: Any = np.zeros(np.shape(getattr(optimum.matrix.kernel, name)))
        X = optimum.matrix.X[optimum.example[self.variables]]
        for part in pieces(len(self.u), max(len(optimum.columns), X.shape[1])):
            result = result - self._form(name, self.u[part], X[part], optimum.values(part))
        if (probes := self._probes) is not None:
            for part in probes.parts():
                result = result + self._form(name, probes.by_h[part], probes.X[part], probes.values(part))
        return result if result.ndim else float(result)

    def _form(self, name: str, left: np.ndarray, X: Any, values: np.ndarray) -> Any:
        """Return Σᵢⱼ leftᵢ ∂k(xᵢ, xⱼ)/∂θ αⱼ: a number, or an array over the features."""
        kernel, (vectors, sums) = self.optimum.matrix.kernel, support(self.optimum)
        if isinstance(kernel, Kernel):
            return kernel.derivative_sum(name, left, X, vectors, sums, values)
        return float(left @ by_differences(kernel, name, X, vectors) @ sums)


def _refuse_events(optimum: Optimum) -> None:
    if len(optimum.events):
        raise ValueError(
            f"The examples {optimum.events[:10].tolist()} are at an event: their variables reach or leave a bound, "
            "so derivatives have two sides and a gradient does not exist. Use solution.derivative(name).left or "
            ".right, or change a parameter slightly."
        )


def _reduced(optimum: Optimum, by_alpha: np.ndarray, least_norm: bool) -> np.ndarray:
    """Return the gradient for the free α, without its component along changes of α that leave h constant."""
    g = by_alpha[optimum.places[: optimum.free]]
    if optimum.free == optimum.size:
        return g
    part = optimum.null @ (optimum.null.T @ g)
    if not least_norm and float(np.abs(part).max()) > 1e-7 * max(float(np.abs(g).max()), 1e-300):
        raise ValueError(
            f"The examples {optimum.dependent[:10].tolist()} depend on each other in feature space, so their alpha has "
            "no unique derivative, but the loss depends on alpha. Use a loss of h alone, or least_norm=True."
        )
    return np.asarray(g - part)


@np.errstate(under="ignore")
def pullback(
    solution: Solution,
    alpha: ArrayLike = 0.0,
    intercept: float = 0.0,
    *,
    X: ArrayLike = None,
    decision_function: ArrayLike = None,
    least_norm: bool = False,
) -> Gradients:
    """Return the gradients of a loss with respect to all parameters, given its gradients with respect to α, b and h.

    Parameters
    ----------
    alpha : array-like of shape (n,) or float
        The gradient ∂ℓ/∂α.
    intercept : float
        The derivative ∂ℓ/∂b.
    X : array-like or CSR of shape (t, d), optional
        Examples on whose decision values the loss depends, in the form that `Derivative.decision_function` takes.
    decision_function : array-like of shape (t,), optional
        The derivatives ∂ℓ/∂h(x) at these examples. If `decision_function` is given, the returned gradients include the
        direct effect of a kernel parameter on k(x, xᵢ), not only its effect through α and b.
    least_norm : bool
        If dα is not unique: whether to use the dα of smallest norm.

    Returns
    -------
    Gradients
        A mapping from names of parameters to numbers, or to arrays with one entry for each example or feature.

    Raises
    ------
    ValueError
        If the optimum is at an event, where the left and the right derivative differ; or if the loss depends on an α
        that has no unique derivative.
    MemoryError
        If there is no memory for four matrices of m² numbers, for m free variables; `derivative` needs ten matrices.

    Notes
    -----
    `pullback` computes kernel values and factorises a linear system, with m³/3 multiplications, once for all
    parameters.

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
    # if the solver shifts the data, b of the original data is b of the shifted data minus α times the offsets
    by_alpha = vector("alpha", alpha, problem.n) - by_b * optimum.offsets
    probes = None
    if (X is None) != (decision_function is None):
        raise ValueError(
            "X and decision_function must be given together: the examples, and the derivative of the loss with respect "
            "to the decision value of each example."
        )
    if X is not None:
        X = examples_like(problem.gram, X)
        probes = Probes(optimum, X, vector("decision_function", decision_function, X.shape[0]))
        by_b += float(probes.by_h.sum())
        # `by_alpha` is arbitrary for examples outside of `columns`; no code reads it there, because their α stay at 0
        gain = np.zeros(len(optimum.columns))
        for part in probes.parts():
            gain += probes.by_h[part] @ probes.values(part)
        by_alpha = by_alpha + gain[optimum.column_of[optimum.example]]
    return Gradients(optimum, by_alpha, by_b, probes, least_norm)


Solution.pullback = pullback
