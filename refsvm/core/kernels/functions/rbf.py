"""The Gaussian kernel, with one γ or one for each feature."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from refsvm.core import arithmetic
from refsvm.core._checks import is_sparse, not_negative, vector
from refsvm.core.kernels.differences import named
from refsvm.core.kernels.functions.base import Kernel
from refsvm.core.kernels.memory import reused
from refsvm.core.kernels.products import Columns, PreparedExamples, inner_products, squared_distances


@dataclass(frozen=True)
class RBF(Kernel):
    """k(x, z) = exp(−γ‖x − z‖²), the Gaussian kernel; with one γ for each feature, exp(−Σⱼ γⱼ(xⱼ − zⱼ)²).

    Parameters
    ----------
    gamma : float or array-like of shape (d,)
        γ ≥ 0. Papers that use a width σ mean γ = 1/(2σ²). One γ for each feature is kept as a tuple; a feature of
        γⱼ = 0 does not count.

    Raises
    ------
    ValueError
        If gamma is negative or not finite; on data that have another number of features than gamma has entries.

    Notes
    -----
    With one γ for each feature the kernel is ``RBF(1.0)`` on features that are multiplied by √γⱼ. `scaled` does so,
    once for each matrix and once for each prediction.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import RBF
    >>> RBF(gamma=0.5)(np.array([[0.0]]), np.array([[0.0], [2.0]])).round(4)
    array([[1.    , 0.1353]])
    >>> x, z = np.array([[0.0, 0.0]]), np.array([[2.0, 3.0]])
    >>> RBF(gamma=[0.5, 0.0])(x, z).round(4), RBF(gamma=[0.5, 0.0]).scaled(z).round(4)
    (array([[0.1353]]), array([[1.4142, 0.    ]]))
    """

    gamma: float | Sequence[float] | np.ndarray = None  # type: ignore[assignment]  # refused with a sentence
    name = "rbf"
    is_psd = is_bounded = has_unit_diagonal = supports_float32 = True

    def __post_init__(self) -> None:
        gamma: Any = self.gamma
        if gamma is None or (isinstance(gamma, str) and gamma in ("scale", "auto")):
            raise ValueError(
                f"gamma={gamma!r} is not a number; RBF needs one, such as RBF(0.5). 'scale' is of data, and belongs "
                "to a kernel that is given by name: kernel='rbf', gamma='scale'."
            )
        if isinstance(gamma, str | bytes | dict | set) or not np.iterable(gamma):
            not_negative("gamma", gamma)
        else:
            # a tuple: kernels are values, which are compared, hashed and shown
            object.__setattr__(self, "gamma", _one_for_each_feature(gamma))

    @property
    def distance_scale(self) -> float:
        """γ; 1 where each feature has one, by which it is scaled."""
        return 1.0 if isinstance(self.gamma, tuple) else self.gamma  # type: ignore[return-value]

    def scaled(self, X: Any) -> Any:
        """Return X with each feature multiplied by its √γⱼ, shape (m, d), dense or CSR; X itself where there is one γ.

        Raises
        ------
        ValueError
            If X has another number of features.
        """
        if not isinstance(self.gamma, tuple):
            return X
        if X.shape[1] != len(self.gamma):
            raise ValueError(
                f"gamma has {len(self.gamma)} entries, but X has {X.shape[1]} features; give one number for each "
                "feature."
            )
        roots = np.sqrt(self.gamma)
        if not is_sparse(X):
            return X * roots
        return type(X)((X.data * roots[X.indices], X.indices, X.indptr), shape=X.shape)

    def from_inner(self, inner: np.ndarray, x_norms: np.ndarray, z_norms: np.ndarray) -> np.ndarray:
        """Evaluate −γ‖x − z‖² and its exponential."""
        way = arithmetic.current if inner.flags.c_contiguous else arithmetic.Arithmetic
        norms = (each.astype(inner.dtype, copy=False) for each in (x_norms, z_norms))
        way.gaussian(inner, self.distance_scale, *norms)
        return inner

    def __call__(self, X: Any, Z: Any) -> np.ndarray:
        """Kernel matrix between the rows of X (m, d) and the rows of Z (n, d), of dense examples in one pass."""
        if is_sparse(X) or is_sparse(Z) or type(self).from_inner is not RBF.from_inner:
            return super().__call__(X, Z)
        others = PreparedExamples(self, np.ascontiguousarray(Z, dtype=np.float64))
        X, norms = others.prepared(np.ascontiguousarray(X, dtype=np.float64))
        features, z_norms, start = others.columns(None)
        out, rows = reused((len(X), len(z_norms))), np.arange(len(X))
        assert features is not None
        arithmetic.current.gaussian_rows(X, rows, norms, features, z_norms, start, self.distance_scale, out)
        return out

    def rows(self, examples: PreparedExamples, rows: np.ndarray, columns: Columns, out: np.ndarray) -> None:
        """Write K[rows], of dense examples in one pass."""
        features, norms, start = columns
        if features is None or type(self).from_inner is not RBF.from_inner:
            super().rows(examples, rows, columns, out)
        else:
            arithmetic.current.gaussian_rows(
                examples.products.Z, rows, examples.norms, features, norms, start, self.distance_scale, out
            )

    @property
    def smooth_parameters(self) -> tuple[str, ...]:
        """γ, as a number or one for each feature, and what a subclass adds."""
        return tuple(dict.fromkeys(("gamma", *super().smooth_parameters)))

    def derivative(self, name: str, X: Any, Z: Any, along: Any = None) -> np.ndarray:
        """∂k/∂γ = −‖x − z‖² k, shape (m, n).

        Parameters
        ----------
        name : str
            "gamma".
        along : array-like of shape (d,), optional
            Where each feature has a γ, the direction a in which all move together, required: −Σⱼ aⱼ(xⱼ − zⱼ)² k.

        Raises
        ------
        ValueError
            If the kernel has no such parameter, or along is missing.
        """
        named(self, name)
        if not isinstance(self.gamma, tuple):
            return -squared_distances(self, X, Z) * self(X, Z)
        if along is None:
            raise ValueError(
                "Each feature has a gamma of its own; give the direction in which they move as along=."
            )
        return -_weighted_distances(X, Z, vector("along", along, len(self.gamma))) * self(X, Z)

    def derivative_sum(
        self, name: str, left: np.ndarray, X: Any, Z: Any, right: np.ndarray, values: np.ndarray
    ) -> Any:
        """Σᵢⱼ leftᵢ ∂k(xᵢ, zⱼ)/∂γ rightⱼ from one product; where each feature has a γ, all of them, shape (d,).

        −Σᵢⱼ wᵢⱼ(xᵢ − zⱼ)² = 2 Σᵢ xᵢ Σⱼ wᵢⱼzⱼ − Σᵢ xᵢ² Σⱼ wᵢⱼ − Σⱼ zⱼ² Σᵢ wᵢⱼ,     wᵢⱼ = leftᵢ k(xᵢ, zⱼ) rightⱼ
        """
        named(self, name)
        X, Z = _near_zero(X, Z)
        squares = (left * (values @ right)) @ _squares(X) + ((left @ values) * right) @ _squares(Z)
        inner = values @ (Z.multiply(right[:, None]).tocsr() if is_sparse(Z) else right[:, None] * Z)
        both = X.multiply(inner) if is_sparse(X) else X * inner
        each = 2.0 * (left @ (both.tocsr() if is_sparse(both) else both)) - squares
        return np.asarray(each) if isinstance(self.gamma, tuple) else float(each.sum())


def _near_zero(X: Any, Z: Any) -> tuple[Any, Any]:
    """Return dense data around the mean of Z, where differences of squares lose few digits; sparse ones as they are."""
    if is_sparse(X) or is_sparse(Z):
        return X, Z
    return X - Z.mean(axis=0), Z - Z.mean(axis=0)


def _squares(X: Any) -> Any:
    return X.multiply(X).tocsr() if is_sparse(X) else X * X


def _weighted_distances(X: Any, Z: Any, weights: np.ndarray) -> np.ndarray:
    """Σⱼ wⱼ(xⱼ − zⱼ)² for all pairs of rows, with weights of any sign."""
    X, Z = _near_zero(X, Z)
    parts = X.multiply(weights).tocsr() if is_sparse(X) else X * weights
    norms = (_squares(each) @ weights for each in (X, Z))
    return np.asarray(next(norms)[:, None] + next(norms) - 2.0 * inner_products(parts, Z))


def _one_for_each_feature(gamma: Any) -> tuple[float, ...]:
    """Return γ of each feature, checked."""
    gamma = list(gamma)
    values = vector("gamma", gamma, len(gamma))
    if not gamma or (values < 0.0).any():
        raise ValueError(f"gamma={gamma!r:.200} should hold a number for each feature, none negative.")
    return tuple(values.tolist())
