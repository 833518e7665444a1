"""The Gaussian kernel, with a single γ or with one γ for each feature."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from refsvm.core import arithmetic
from refsvm.core._checks import ArrayLike, column_names, is_sparse, not_negative, numbers, vector
from refsvm.core.kernels.functions.base import Kernel
from refsvm.core.kernels.memory import reused
from refsvm.core.kernels.products import Columns, PreparedExamples


@dataclass(frozen=True)
class RBF(Kernel):
    """The Gaussian kernel k(x, z) = exp(−γ‖x − z‖²), or exp(−Σⱼ γⱼ(xⱼ − zⱼ)²) with one γ for each feature.

    Parameters
    ----------
    gamma : float or array-like of shape (d,)
        The factor γ ≥ 0, or one γⱼ ≥ 0 for each feature; the γⱼ are stored as a tuple. A width σ corresponds to γ =
        1/(2σ²). Features with γⱼ = 0 have no influence.

    Raises
    ------
    ValueError
        If gamma is negative or not finite, or if its number of entries differs from the number of features of the data.

    Notes
    -----
    With one γ for each feature, the kernel equals ``RBF(1.0)`` on features multiplied by √γⱼ. `scaled` multiplies the
    features, once for each matrix and once for each prediction.

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

    gamma: float | Sequence[float] | np.ndarray = None  # type: ignore[assignment]  # __post_init__ refuses None
    name = "rbf"
    is_psd = is_bounded = has_unit_diagonal = supports_float32 = True

    def __post_init__(self) -> None:
        gamma: Any = self.gamma
        if gamma is None or (isinstance(gamma, str) and gamma in ("scale", "auto")):
            raise ValueError(
                f"gamma={gamma!r} is not a number; give RBF a number, such as RBF(0.5). For gamma='scale', give the "
                "kernel by its name: kernel='rbf', gamma='scale'."
            )
        if isinstance(gamma, str | bytes | dict | set) or not np.iterable(gamma):
            not_negative("gamma", gamma)
        else:
            # store the values as a tuple, because kernels are compared, hashed and printed
            object.__setattr__(self, "gamma", _one_for_each_feature(gamma))

    @property
    def distance_scale(self) -> float:
        """γ; or 1 if there is one γ for each feature, because `scaled` has then multiplied the features by √γⱼ."""
        return 1.0 if isinstance(self.gamma, tuple) else self.gamma  # type: ignore[return-value]

    def scaled(self, X: ArrayLike) -> Any:
        """Return X with each feature multiplied by its √γⱼ, shape (m, d), dense or CSR; with a single γ, return X.

        Raises
        ------
        ValueError
            If the number of features of X differs from the number of entries of gamma.
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
        """Return the kernel matrix between the rows of X (m, d) and Z (n, d)."""
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
        """Write K[rows] to `out`; for dense examples, compute products and exponentials in one pass."""
        features, norms, start = columns
        if features is None or type(self).from_inner is not RBF.from_inner:
            super().rows(examples, rows, columns, out)
        else:
            arithmetic.current.gaussian_rows(
                examples.products.Z, rows, examples.norms, features, norms, start, self.distance_scale, out
            )


def _one_for_each_feature(gamma: Any) -> tuple[float, ...]:
    """Check the γ of all features and return them as a tuple."""
    if names := column_names(gamma):
        raise ValueError(
            f"gamma has the labels {names[0]!r}, …, but a kernel object does not know the column names of X; give "
            "gamma[X.columns].to_numpy(), or give the kernel by its name and the Series as gamma=."
        )
    values = numbers("gamma", gamma if hasattr(gamma, "__array__") else list(gamma))
    values = vector("gamma", values, values.size)
    if not values.size or (values < 0.0).any():
        raise ValueError(
            f"gamma={values.tolist()!r:.200} is empty or contains a negative number; give a γ ≥ 0 for each feature."
        )
    return tuple(values.tolist())
