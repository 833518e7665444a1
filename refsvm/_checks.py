"""Checks of what a caller hands in: each refuses with one sentence naming the argument, the value and the remedy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def is_sparse(X: Any) -> bool:
    """Whether X is a scipy sparse matrix or array (scipy is not imported to find out)."""
    return hasattr(X, "tocsr")


def real(name: str, value: Any) -> float:
    """A finite real number, as float."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name}={value!r} is not a number; give a finite real number.") from None
    if not math.isfinite(number):
        raise ValueError(f"{name}={value!r} is not finite; give a finite real number.")
    return number


def positive(name: str, value: Any) -> float:
    """A finite number above zero, as float."""
    number = real(name, value)
    if number <= 0:
        raise ValueError(f"{name}={value!r} is not positive; give a number above 0.")
    return number


def positive_or_inf(name: str, value: Any) -> float:
    """A number above zero, or infinity, as float."""
    return math.inf if value == math.inf else positive(name, value)


def whole(name: str, value: Any, least: int) -> int:
    """A whole number of at least `least`."""
    number = (
        math.nan
        if isinstance(value, bool) or not isinstance(value, int | float | np.number)
        else float(value)
    )
    if not (number >= least and number.is_integer()):
        raise ValueError(
            f"{name}={value!r} is not a whole number ≥ {least}; give e.g. {name}={max(least, 1)}."
        )
    return int(number)


def numbers(name: str, values: Any) -> np.ndarray:
    """Real numbers as a float64 array."""
    array = np.asarray(values)
    if array.dtype.kind not in "fiub":
        try:
            array = np.asarray(values, dtype=object).astype(np.float64)
        except (TypeError, ValueError):
            raise ValueError(
                f"{name} holds {array.dtype} values that are not real numbers; give real numbers."
            ) from None
    return np.asarray(array, dtype=np.float64)


def vector(name: str, values: Any, n: int, *, infinite: bool = False) -> np.ndarray:
    """Return a finite float64 vector of length n; a single number is repeated. `infinite` allows ±inf, but no NaN."""
    array = numbers(name, values)
    if array.ndim == 0:
        array = np.full(n, float(array))
    if array.shape != (n,):
        raise ValueError(f"{name} has shape {array.shape}; expected one number or {n} of them.")
    if infinite and np.isnan(array).any():
        raise ValueError(f"{name} contains NaN; give numbers.")
    if not infinite and not np.isfinite(array).all():
        raise ValueError(f"{name} contains NaN or infinity; give finite numbers.")
    return array


def examples(X: Any) -> Any:
    """Data as a C-ordered float64 array or CSR of shape (n, d), finite, n ≥ 1."""
    if is_sparse(X):
        X = X.tocsr().astype(np.float64)
        values = X.data
    else:
        X = np.ascontiguousarray(numbers("X", X))
        values = X
    if X.ndim != 2 or X.shape[0] == 0:
        raise ValueError(f"X has shape {X.shape}; expected a table of at least one row, shape (n, d).")
    if not np.isfinite(values).all():
        raise ValueError("X contains NaN or infinity; drop or impute those entries first.")
    return X


def signs(y: Any, n: int) -> np.ndarray:
    """Labels as float64 ±1, both present, one for each of n examples."""
    array = np.asarray(y)
    if array.shape != (n,):
        raise ValueError(f"y has shape {array.shape}; expected {n} labels, one for each row of X.")
    if array.dtype.kind in "if" and (np.abs(array) == 1).all() and array.min() < array.max():
        return array.astype(np.float64)
    values = np.unique(array)
    if len(values) == 1:
        raise ValueError(
            f"y holds a single class, {values[0].item()!r}; two classes are needed to train a classifier."
        )
    if len(values) != 2 or set(values.tolist()) != {-1, 1}:
        shown = ", ".join(repr(v) for v in values[:4].tolist()) + (", …" if len(values) > 4 else "")
        raise ValueError(f"y holds the labels {shown}; code the two classes as -1 and +1.")
    return array.astype(np.float64)
