"""Derivatives of kernels with respect to their parameters, from formulas or from differences of kernel values.

This module adds `Kernel.derivative`, `Kernel.derivative_sum` and `Kernel.smooth_parameters` to the base class of
kernels.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any, Final

import numpy as np

from refsvm.core._checks import is_sparse, vector
from refsvm.core.kernels.functions import RBF, Kernel, Polynomial, Sigmoid
from refsvm.core.kernels.products import PreparedExamples, inner_products
from refsvm.core.kernels.sparse import squared_norms
from refsvm.services.types import ArrayLike

STEP: Final = 1e-3
"""Step of the differences relative to the parameter; truncation and rounding errors are then both about 1e-12."""


def smooth_parameters(kernel: Any) -> tuple[str, ...]:
    """Return the names of the parameters of a kernel that are real numbers and not counts.

    `smooth_parameters` finds the names only if the kernel is a dataclass. For an `RBF`, the tuple contains "gamma" even
    if each feature has its own γ.

    Examples
    --------
    >>> from refsvm import Polynomial
    >>> from refsvm.analysis.derivatives.kernels import smooth_parameters
    >>> smooth_parameters(Polynomial(degree=2))
    ('gamma', 'coef0')
    """
    if not is_dataclass(kernel):
        return ()
    counts = "int", "bool", int, bool
    real = {each.name: getattr(kernel, each.name) for each in fields(kernel) if each.type not in counts}
    numbers = [
        name
        for name, value in real.items()
        if isinstance(value, int | float | np.number) and not isinstance(value, bool)
    ]
    return tuple(dict.fromkeys(("gamma", *numbers) if isinstance(kernel, RBF) else numbers))


def named(kernel: Any, name: str) -> Any:
    """Return the value of a parameter; raise a ValueError if the kernel has no derivative with respect to it."""
    names = kernel.smooth_parameters if isinstance(kernel, Kernel) else smooth_parameters(kernel)
    if name not in names:
        having = (
            f"it has derivatives with respect to {', '.join(names)}" if names else "it has no derivatives"
        )
        raise ValueError(f"{type(kernel).__name__} has no derivative with respect to {name!r}; {having}.")
    return getattr(kernel, name)


def by_differences(kernel: Callable[[Any, Any], np.ndarray], name: str, X: Any, Z: Any) -> np.ndarray:
    """Return ∂k(x, z)/∂θ for the rows of X (m, d) and Z (n, d), shape (m, n), for a kernel that is a dataclass.

        (8 (k(θ + h) − k(θ − h)) − (k(θ + 2h) − k(θ − 2h)))/(12 h),     h = |θ|/1000, or 1/1000 where θ = 0

    Parameters
    ----------
    kernel : callable
        The kernel, which is evaluated at θ ± h and at θ ± 2h, so these values of θ must be valid.
    name : str
        Name of the parameter θ.

    Raises
    ------
    ValueError
        If the kernel has no such parameter.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import RBF
    >>> from refsvm.analysis.derivatives.kernels import by_differences
    >>> x, z = np.array([[0.0]]), np.array([[2.0]])
    >>> by_differences(RBF(0.5), "gamma", x, z).round(6), RBF(0.5).derivative("gamma", x, z).round(6)
    (array([[-0.541341]]), array([[-0.541341]]))
    """
    value = float(named(kernel, name))
    h = STEP * abs(value) or STEP
    moved: Any = kernel

    def difference(step: float) -> np.ndarray:
        ends = (
            np.array(replace(moved, **{name: value + way})(X, Z), dtype=np.float64) for way in (step, -step)
        )
        return np.subtract(*ends)

    return np.asarray((8.0 * difference(h) - difference(2.0 * h)) / (12.0 * h))


# -- formulas ----------------------------------------------------------------------------------------------------------


def of_polynomial(kernel: Polynomial, name: str, X: Any, Z: Any) -> np.ndarray:
    """Return ∂k/∂c = d (γ x·z + c)ᵈ⁻¹, where d is the degree, or ∂k/∂γ = x·z ∂k/∂c, shape (m, n)."""
    named(kernel, name)
    if kernel.degree == 0:
        return np.zeros((X.shape[0], Z.shape[0]))
    by_coef0 = kernel.degree * replace(kernel, degree=kernel.degree - 1)(X, Z)
    return np.asarray(by_coef0 if name == "coef0" else by_coef0 * inner_products(X, Z))


def of_sigmoid(kernel: Sigmoid, name: str, X: Any, Z: Any) -> np.ndarray:
    """Return ∂k/∂c = 1 − k² or ∂k/∂γ = x·z ∂k/∂c, shape (m, n)."""
    named(kernel, name)
    by_coef0 = 1.0 - kernel(X, Z) ** 2
    return np.asarray(by_coef0 if name == "coef0" else by_coef0 * inner_products(X, Z))


def of_rbf(kernel: RBF, name: str, X: Any, Z: Any, along: Any = None) -> np.ndarray:
    """Return ∂k/∂γ = −‖x − z‖² k, shape (m, n).

    If each feature has its own γ, the argument `along`, shape (d,), is required: the direction a in which all γⱼ move.
    The derivative along a is −Σⱼ aⱼ(xⱼ − zⱼ)² k.
    """
    named(kernel, name)
    if not isinstance(kernel.gamma, tuple):
        return np.asarray(-squared_distances(kernel, X, Z) * kernel(X, Z))
    if along is None:
        raise ValueError(
            "Each feature has its own gamma; give along=, the direction in which the values of gamma change."
        )
    return -_weighted_distances(X, Z, vector("along", along, len(kernel.gamma))) * kernel(X, Z)


def sum_of_rbf(
    kernel: RBF, name: str, left: np.ndarray, X: Any, Z: Any, right: np.ndarray, values: np.ndarray
) -> Any:
    """Return Σᵢⱼ leftᵢ ∂k(xᵢ, zⱼ)/∂γ rightⱼ; if each feature has its own γ, an array of shape (d,).

    −Σᵢⱼ wᵢⱼ(xᵢ − zⱼ)² = 2 Σᵢ xᵢ Σⱼ wᵢⱼzⱼ − Σᵢ xᵢ² Σⱼ wᵢⱼ − Σⱼ zⱼ² Σᵢ wᵢⱼ,     wᵢⱼ = leftᵢ k(xᵢ, zⱼ) rightⱼ
    """
    named(kernel, name)
    X, Z = _near_zero(X, Z)
    squares = (left * (values @ right)) @ _squares(X) + ((left @ values) * right) @ _squares(Z)
    inner = values @ (Z.multiply(right[:, None]).tocsr() if is_sparse(Z) else right[:, None] * Z)
    both = X.multiply(inner) if is_sparse(X) else X * inner
    each = 2.0 * (left @ (both.tocsr() if is_sparse(both) else both)) - squares
    return np.asarray(each) if isinstance(kernel.gamma, tuple) else float(each.sum())


def _near_zero(X: Any, Z: Any) -> tuple[Any, Any]:
    """Subtract the mean of Z from dense data, so that differences of squares lose few digits; skip this for CSR."""
    if is_sparse(X) or is_sparse(Z):
        return X, Z
    return X - Z.mean(axis=0), Z - Z.mean(axis=0)


def _squares(X: Any) -> Any:
    return X.multiply(X).tocsr() if is_sparse(X) else X * X


def _weighted_distances(X: Any, Z: Any, weights: np.ndarray) -> np.ndarray:
    """Return Σⱼ wⱼ(xⱼ − zⱼ)² for all pairs of rows, with weights of any sign."""
    X, Z = _near_zero(X, Z)
    parts = X.multiply(weights).tocsr() if is_sparse(X) else X * weights
    norms = (_squares(each) @ weights for each in (X, Z))
    return np.asarray(next(norms)[:, None] + next(norms) - 2.0 * inner_products(parts, Z))


def squared_distances(kernel: Any, X: Any, Z: Any) -> np.ndarray:
    """Return ‖x − z‖² for all pairs of rows, shape (m, n), after shifting the data in the way the kernel does."""
    if is_sparse(X) or is_sparse(Z):
        inner, ends = inner_products(X, Z), (squared_norms(X), squared_norms(Z))
    else:
        others = PreparedExamples(kernel, np.ascontiguousarray(Z, dtype=np.float64))
        X, norms = others.prepared(np.ascontiguousarray(X, dtype=np.float64))
        inner, ends = inner_products(X, others.products.Z), (norms, others.norms)
    return np.asarray(np.maximum(ends[0][:, None] + ends[1] - 2.0 * inner, 0.0))


FORMULAS: Final[dict[type, Callable[..., np.ndarray]]] = {
    Polynomial: of_polynomial, Sigmoid: of_sigmoid, RBF: of_rbf,
}  # fmt: skip
SUMS: Final[dict[type, Callable[..., Any]]] = {RBF: sum_of_rbf}


def formula_for(kernel: Kernel, formulas: dict[type, Callable[..., Any]]) -> Callable[..., Any] | None:
    """Return the formula for a kernel's derivative, or None; a subclass with its own kernel values inherits none."""
    for base in type(kernel).__mro__:
        if base in formulas:
            return formulas[base]
        if {"from_inner", "__call__"} & vars(base).keys():
            return None
    return None


def derivative(kernel: Kernel, name: str, X: ArrayLike, Z: ArrayLike, *along: ArrayLike) -> np.ndarray:
    """Return ∂k(x, z)/∂θ for the rows of X (m, d) and Z (n, d), shape (m, n).

    For your own kernel, `derivative` computes differences of kernel values, with about ten correct digits. To use a
    formula, override `derivative` in your kernel's class.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    name : str
        Name of the parameter θ, one of ``kernel.smooth_parameters``.
    X, Z : ndarray or CSR
        The examples.
    *along : array-like of shape (d,)
        The direction in which the γ of all features move; required for an `RBF` with one γ for each feature.

    Raises
    ------
    ValueError
        If the kernel has no such parameter.
    """
    formula = formula_for(kernel, FORMULAS)
    values = by_differences(kernel, name, X, Z) if formula is None else formula(kernel, name, X, Z, *along)
    return np.asarray(values)


def derivative_sum(
    kernel: Kernel,
    name: str,
    left: np.ndarray,
    X: ArrayLike,
    Z: ArrayLike,
    right: np.ndarray,
    values: np.ndarray,
) -> Any:
    """Return Σᵢⱼ leftᵢ ∂k(xᵢ, zⱼ)/∂θ rightⱼ for vectors `left`, shape (m,), and `right`, shape (n,).

    `values`, shape (m, n), contains the kernel values between X and Z.
    """
    formula = formula_for(kernel, SUMS)
    if formula is None:
        return float(left @ kernel.derivative(name, X, Z) @ right)
    return formula(kernel, name, left, X, Z, right, values)


Kernel.smooth_parameters = property(smooth_parameters)
Kernel.derivative, Kernel.derivative_sum = derivative, derivative_sum
