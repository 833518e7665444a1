"""Finds kernels by name, as in scikit-learn's SVC, LIBSVM and the command line.

A function that takes the name of a kernel also takes the kernel's parameters; γ may depend on the data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, Final, NamedTuple

import numpy as np

from refsvm.core._checks import column_names, hint, is_sparse, not_negative
from refsvm.core.arithmetic import dot
from refsvm.core.kernels import functions
from refsvm.core.kernels.functions import Kernel, Precomputed
from refsvm.core.kernels.sparse import canonical
from refsvm.core.rule import rules_in
from refsvm.core.shown import short

KERNELS: Final[dict[str, Any]] = {
    kernel.name: kernel for kernel in rules_in(functions) if issubclass(kernel, Kernel)
} | {"precomputed": Precomputed}
"""The kernels of this package by name."""


class Named(NamedTuple):
    """The name of a kernel with the kernel parameters of `refsvm.SVC`; γ may be a rule such as "scale"."""

    name: str = "rbf"
    gamma: Any = "scale"
    degree: int = 3
    coef0: float = 0.0

    def on(self, X: Any, columns: tuple[str, ...] = ()) -> Any:
        """Return the kernel for the examples X, whose columns may have the names `columns`."""
        gamma = in_order(self.gamma, columns)
        return kernel_called(self.name, X, gamma=gamma, degree=self.degree, coef0=self.coef0)


DEFAULT: Final = Named()
"""The default kernel of `refsvm.SVC` and of all functions."""


def chosen_kernel(kernel: Any = None, gamma: Any = "scale", degree: Any = 3, coef0: Any = 0.0) -> Any:
    """Return the kernel that a caller passed: a kernel object unchanged; for a name, `Named` with the parameters.

    For the default kernel, return None, because the caller may have passed a kernel matrix or a problem instead.

    Raises
    ------
    ValueError
        If the name is unknown, a parameter is out of range, a kernel object is combined with kernel parameters, or
        a kernel other than "rbf" gets one γ for each feature.

    Examples
    --------
    >>> from refsvm.services.names import chosen_kernel
    >>> chosen_kernel("poly", degree=2), chosen_kernel("rbf")
    (Named(name='poly', gamma='scale', degree=2, coef0=0.0), None)
    """
    if kernel is None or isinstance(kernel, str):
        return _called("rbf" if kernel is None else kernel, gamma, degree, coef0)
    if (gamma if isinstance(gamma, str) else None, degree, coef0) != DEFAULT[1:]:
        raise ValueError(
            f"kernel={short(kernel)} contains its own parameters; set them on the kernel, or pass a name, such as "
            'kernel="rbf", gamma=0.5.'
        )
    return kernel


def kernel_named(*arguments: Any) -> Any:
    """Call `chosen_kernel` with the arguments and return its result; without arguments, return `DEFAULT`."""
    return chosen_kernel(*arguments) if arguments else DEFAULT


def _called(kernel: str, gamma: Any, degree: Any, coef0: Any) -> Named | None:
    """Return the kernel for a name, after checking its parameters; None for the default kernel."""
    if not column_names(gamma):
        gamma = of_features(gamma, kernel)
    named = Named(kernel, gamma, degree, coef0)
    if named.name not in KERNELS:
        near = hint(
            named.name.lower(), KERNELS, f"choose from {', '.join(KERNELS)}, or give an object: RBF(0.5)."
        )
        raise ValueError(f"kernel={kernel!r} is unknown; {near}")
    if isinstance(gamma, str) and gamma not in ("scale", "auto"):
        near = hint(gamma.lower(), ("scale", "auto"), 'give "scale", "auto" or a number.')
        raise ValueError(f"gamma={gamma!r} is unknown; {near}")
    if column_names(gamma):
        return named
    if not isinstance(gamma, str | tuple):
        not_negative("gamma", gamma)
    return None if named == DEFAULT else named


def in_order(gamma: Any, columns: Sequence[str]) -> Any:
    """Return γ; if γ is a pandas Series with a name for each feature, put its values in the order of `columns`.

    Raises
    ------
    ValueError
        If the names differ from the column names of X.

    Examples
    --------
    >>> import pandas as pd
    >>> from refsvm.services.names import in_order
    >>> in_order(pd.Series({"age": 0.5, "size": 2.0}), ("size", "age")), in_order(0.5, ())
    ([2.0, 0.5], 0.5)
    """
    if not (names := column_names(gamma)):
        return gamma
    if sorted(names) != sorted(columns):
        named, there = (", ".join(map(repr, each[:4])) for each in (names, columns))
        raise ValueError(
            f"gamma names the features {named}, but X {there or 'no column names'}; give a number for each column "
            "of X under its name, or pass gamma.to_numpy() in the order of the columns."
        )
    values = dict(zip(names, np.ravel(gamma).tolist(), strict=True))
    return [values[name] for name in columns]


def of_features(gamma: Any, kernel: Any = "rbf") -> Any:
    """Return one γ for each feature as a tuple of floats; return any other γ unchanged.

    Parameters
    ----------
    gamma : {"scale", "auto"}, float or array-like of shape (d,)
        γ as the user passed it.
    kernel : str or object
        The kernel; only "rbf" takes one γ for each feature, and a kernel object contains its own γ.

    Raises
    ------
    ValueError
        If an entry is negative or not a number, or the named kernel takes a single γ.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.services.names import of_features
    >>> of_features(np.array([0.5, 2.0])), of_features(0.5), of_features("scale")
    ((0.5, 2.0), 0.5, 'scale')
    """
    several: bool = np.iterable(gamma) and not isinstance(gamma, str | bytes)
    if not several:
        return gamma
    if isinstance(kernel, str) and kernel != "rbf":
        raise ValueError(
            f"gamma has {len(list(gamma))} entries, but kernel={kernel!r} takes one number; one gamma for each "
            'feature needs kernel="rbf".'
        )
    return functions.RBF(gamma).gamma


def kernel_called(
    kernel: Any,
    X: Any,
    *,
    gamma: Any = "scale",
    degree: int = 3,
    coef0: float = 0.0,
    weights: np.ndarray | None = None,
) -> Any:
    """Return the kernel for a name, with the parameters that this kernel takes; return a kernel object unchanged.

    Kernel parameters other than γ, degree and coef0 keep their defaults.

    Parameters
    ----------
    kernel : str, or Kernel, Precomputed or callable
        A key of `KERNELS`, or a kernel object with its own parameters.
    X : ndarray or CSR of shape (n, d)
        The data, from which γ may be computed.
    gamma : {"scale", "auto"}, float or array-like of shape (d,)
        See `gamma_on` and `of_features`.
    degree : int
        The exponent of "poly".
    coef0 : float
        The constant of "poly" and "sigmoid".
    weights : ndarray of shape (n,), optional
        See `gamma_on`.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.services.names import kernel_called
    >>> kernel_called("rbf", np.array([[0.0, 1.0], [2.0, 1.0]]), gamma="auto")
    RBF(gamma=0.5)
    """
    if not isinstance(kernel, str):
        return kernel
    known = parameters_named(kernel)
    values: dict[str, Any] = {"degree": int(degree), "coef0": float(coef0)}
    if "gamma" in known:
        gamma = of_features(gamma, kernel)
        values["gamma"] = gamma if isinstance(gamma, tuple) else gamma_on(X, gamma, weights)
    return KERNELS[kernel](**{name: values[name] for name in known})


def parameters_named(kernel: str) -> list[str]:
    """Return which of LIBSVM's kernel parameters gamma, degree and coef0 the named kernel takes.

    Examples
    --------
    >>> from refsvm.services.names import parameters_named
    >>> parameters_named("rbf"), parameters_named("linear")
    (['gamma'], [])
    """
    return [field.name for field in fields(KERNELS[kernel]) if field.name in ("gamma", "degree", "coef0")]


def gamma_on(X: Any, gamma: str | float, weights: np.ndarray | None = None) -> float:
    """Return γ as a number: "scale" is 1/(d · variance of all entries of X), "auto" is 1/d, as in scikit-learn.

    Parameters
    ----------
    X : ndarray or CSR of shape (n, d)
        The data. For constant data the variance is taken as 1/d.
    gamma : {"scale", "auto"} or float
        A rule, or the number itself.
    weights : ndarray of shape (n,), optional
        Weights of the examples, at least 0; an example of weight 2 counts as two examples. scikit-learn's SVC computes
        γ without weights.

    Raises
    ------
    ValueError
        If the variance is so extreme that γ is not positive and finite.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.services.names import gamma_on
    >>> X = np.array([[0.0, 0.0], [4.0, 0.0]])
    >>> gamma_on(X, "scale"), gamma_on(X, "auto"), gamma_on(X, 0.1)
    (0.16666666666666666, 0.5, 0.1)
    """
    if not isinstance(gamma, str):
        return float(gamma)
    if gamma == "auto":
        return 1.0 / X.shape[1]
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        variance = _sparse_variance(X, weights) if is_sparse(X) else _variance(X, weights)
        value = float(1.0 / np.float64(X.shape[1] * variance)) if variance != 0.0 else 1.0
    if not 0.0 < value < np.inf:
        raise ValueError(
            f'gamma="scale" gives {value} on data of variance {variance:.3g}; scale the features (StandardScaler), '
            "or give gamma as a number."
        )
    return value


def _variance(X: np.ndarray, weights: np.ndarray | None) -> float:
    """Return the weighted variance of all entries of X."""
    if weights is None:
        return float(X.var())
    mean = np.average(X.mean(axis=1), weights=weights)
    return float(np.average(np.square(X - mean).mean(axis=1), weights=weights))


def _sparse_variance(X: Any, weights: np.ndarray | None) -> float:
    """Return the weighted variance of all entries of a CSR matrix, including the zeros that it does not store."""
    X = canonical(X)
    n, d = X.shape
    of_rows = np.ones(n) if weights is None else weights
    stored = np.repeat(of_rows, np.diff(X.indptr))
    total = d * of_rows.sum()
    mean = dot(stored, X.data) / total
    return float((dot(stored, np.square(X.data - mean)) + (total - stored.sum()) * mean**2) / total)


def is_precomputed(kernel: Any) -> bool:
    """Return whether the user gives a kernel matrix in place of examples."""
    return isinstance(kernel, Precomputed) or (isinstance(kernel, str) and kernel == "precomputed")


def is_user_kernel(kernel: Any) -> bool:
    """Return whether the kernel is a function of the user, which may take examples of any kind."""
    return callable(kernel) and not isinstance(kernel, Kernel)
