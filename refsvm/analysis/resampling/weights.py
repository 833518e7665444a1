"""The weight of an example: how many copies of it there are, in everything.

An example of weight w has the box C·w and counts w times in a score, in a rank and along a path; of weight 0 it is not
there. All of its copies leave together. Where a function is given a penalty for each example, those are the weights.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from refsvm.core._checks import vector

EXACT_BITS: Final = 52
"""Sums of up to so many binary digits are exact in float64."""

LARGE: Final = 1e150
"""Weights whose sum, or their product with a square, may be beyond the range of float64."""


def weights_in(C: np.ndarray) -> np.ndarray | None:
    """Return the weights of examples with these penalties; None if all count alike.

    Where a penalty is infinite it is no number of copies: the examples whose penalty is positive then count once.

    Parameters
    ----------
    C : ndarray of shape (n,), float64
        Penalties, none negative.

    Returns
    -------
    ndarray of shape (n,), float64, or None

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.analysis.resampling.weights import weights_in
    >>> weights_in(np.array([2.0, 0.0, 6.0])), weights_in(np.array([5.0, 5.0]))
    (array([2., 0., 6.]), None)
    """
    if len(C) == 0 or C.min() == C.max():
        return None
    # a result keeps them: the caller may write to C later
    return (C > 0.0).astype(np.float64) if np.isinf(C).any() else C.copy()


def given_weights(sample_weight: Any, n: int) -> np.ndarray | None:
    """Return the weights of n examples as float64; None for None.

    Raises
    ------
    ValueError
        If they are no n finite numbers ≥ 0, beyond 1e150, or all 0.
    """
    if sample_weight is None:
        return None
    weights = vector("sample_weight", sample_weight, n)
    if (weights < 0.0).any():
        raise ValueError(f"sample_weight contains {weights.min():.6g}; weights must not be negative.")
    if not weights.any():
        raise ValueError("All examples have weight 0; give those that count a weight such as 1.0.")
    if (largest := weights.max()) > LARGE:
        raise ValueError(
            f"sample_weight contains {largest:.3g}, beyond what can be computed with ({LARGE:g}); give weights of "
            "moderate size, such as 1.0."
        )
    return weights


def refuse_absent_class(classes: np.ndarray, codes: np.ndarray, weights: np.ndarray | None) -> None:
    """Refuse weights that leave a class without examples, on a path.

    Raises
    ------
    ValueError
        If all examples of a class have weight 0; `codes` are the numbers of the classes.
    """
    if weights is None:
        return
    for code, name in enumerate(classes.tolist()):
        if not (weights[codes == code] > 0.0).any():
            raise ValueError(
                f"All examples of class {name!r} have weight 0; leave the class out, or give weights. A path needs two "
                "classes, all of which count."
            )


def mean(values: Any, weights: np.ndarray | None = None) -> float:
    """Return Σ wᵢvᵢ / Σ wᵢ; NaN if no example counts. Values of weight 0 may be NaN.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.analysis.resampling.weights import mean
    >>> mean(np.array([1.0, 4.0, np.nan]), np.array([2.0, 1.0, 0.0]))
    2.0
    """
    if weights is None:
        return float(np.mean(values)) if len(values) else math.nan
    counts = weights > 0.0
    if not counts.any():
        return math.nan
    shares = weights[counts]
    if shares.max() > LARGE:
        shares = shares / shares.max()
    # two sums in one order, so that the mean of equal values is that value
    return float((np.asarray(values)[counts] * shares).sum() / shares.sum())


def in_exact_steps(weights: np.ndarray) -> np.ndarray:
    """Return weights that add up without rounding in any order: whole multiples of a power of 2, of all bits but 52.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.analysis.resampling.weights import in_exact_steps
    >>> w = in_exact_steps(np.array([0.1, 0.2, 0.3]))
    >>> bool((w[0] + w[1]) + w[2] == w[0] + (w[1] + w[2])), bool(np.abs(w - [0.1, 0.2, 0.3]).max() < 1e-15)
    (True, True)
    """
    total = float(weights.sum())
    if total == 0.0:
        return weights
    step = math.ldexp(1.0, max(math.frexp(total)[1] - EXACT_BITS, -1000))
    return np.asarray(np.rint(weights / step) * step)


def steps_of(weights: np.ndarray | None, n: int) -> np.ndarray:
    """Return how much each of n examples adds to a sum: 1, as int64, or `in_exact_steps` of its weight."""
    return np.ones(n, dtype=np.int64) if weights is None else in_exact_steps(weights)


def copies(name: str, weights: np.ndarray | None, n: int) -> np.ndarray:
    """Return how many copies of each example there are, shape (n,), int64; refuse weights that are no whole numbers.

    Raises
    ------
    ValueError
        If one of the weights is no whole number below 2⁵³; `name` says what they belong to.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.analysis.resampling.weights import copies
    >>> copies("an interval", np.array([1.0, 0.0, 3.0]), 3)
    array([1, 0, 3])
    """
    if weights is None:
        return np.ones(n, dtype=np.int64)
    odd = weights[(weights != np.floor(weights)) | (weights < 0.0) | (weights >= 2.0**53)]
    if len(odd):
        raise ValueError(
            f"{name} counts examples, and the weight {odd[0]:.6g} is no number of copies, so that no probability would "
            "hold. Give whole weights, such as 1 and 2, or none."
        )
    return np.asarray(weights, dtype=np.int64)


def smallest(values: np.ndarray, counts: np.ndarray, rank: int) -> np.ndarray:
    """Return the value of this rank, counted from 1, in each row of `values`, in which column i stands countsᵢ times.

    Parameters
    ----------
    values : ndarray of shape (m, n)
    counts : ndarray of shape (n,), int64
    rank : int
        1 … Σ countsᵢ.

    Returns
    -------
    ndarray of shape (m,)

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.analysis.resampling.weights import smallest
    >>> smallest(np.array([[5.0, 1.0, 3.0]]), np.array([1, 2, 1]), 3)
    array([3.])
    """
    if (counts == 1).all():
        return np.asarray(np.partition(values, rank - 1, axis=1)[:, rank - 1])
    order = values.argsort(axis=1)
    place = (counts[order].cumsum(axis=1) >= rank).argmax(axis=1)
    rows = np.arange(len(values))
    return np.asarray(values[rows, order[rows, place]])
