"""Weights of examples: functions treat an example of weight w as w copies of the example.

An example of weight w has the box C·w, and counts w times in a score, in a rank and along a path; leave-one-out leaves
out all copies together. An example of weight 0 is ignored. If a function takes one penalty for each example, the
penalties also serve as the weights.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from refsvm.core._checks import vector

EXACT_BITS: Final = 52
"""Sums of numbers with up to this many binary digits are exact in float64."""

LARGE: Final = 1e150
"""Largest weight allowed; larger weights could make sums of weights or of weighted squares exceed float64."""


def weights_in(C: np.ndarray) -> np.ndarray | None:
    """Return the weights of examples with the penalties C; None if all weights are equal.

    If a penalty is infinite, it cannot serve as a weight, and every example with a positive penalty has weight 1.

    Parameters
    ----------
    C : ndarray of shape (n,), float64
        Penalties, at least 0.

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
    # copy C, because results keep the weights and the caller may write to C later
    return (C > 0.0).astype(np.float64) if np.isinf(C).any() else C.copy()


def given_weights(sample_weight: Any, n: int) -> np.ndarray | None:
    """Return the weights of n examples as float64; return None if `sample_weight` is None.

    Raises
    ------
    ValueError
        If the weights are not n finite numbers between 0 and 1e150, or all weights are 0.
    """
    if sample_weight is None:
        return None
    weights = vector("sample_weight", sample_weight, n)
    if (weights < 0.0).any():
        raise ValueError(f"sample_weight contains {weights.min():.6g}; give weights of at least 0.")
    if not weights.any():
        raise ValueError("All examples have weight 0; give a positive weight, such as 1.0, to some examples.")
    if (largest := weights.max()) > LARGE:
        raise ValueError(
            f"sample_weight contains {largest:.3g}, above the largest weight allowed ({LARGE:g}); give weights of "
            "moderate size, such as 1.0."
        )
    return weights


def refuse_absent_class(classes: np.ndarray, codes: np.ndarray, weights: np.ndarray | None) -> None:
    """Raise an error if all examples of a class have weight 0, because a path needs two classes.

    Raises
    ------
    ValueError
        If all examples of a class have weight 0; `codes` holds the class number of each example.
    """
    if weights is None:
        return
    for code, name in enumerate(classes.tolist()):
        if not (weights[codes == code] > 0.0).any():
            raise ValueError(
                f"All examples of class {name!r} have weight 0, but a path needs two classes with positive "
                "weights; remove the class, or give its examples a positive weight."
            )


def mean(values: Any, weights: np.ndarray | None = None) -> float:
    """Return Σ wᵢvᵢ / Σ wᵢ; NaN if all weights are 0. Values of weight 0 may be NaN.

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
    # sum values and weights in the same order, so that the mean of equal values is exact
    return float((np.asarray(values)[counts] * shares).sum() / shares.sum())


def in_exact_steps(weights: np.ndarray) -> np.ndarray:
    """Return the weights rounded to multiples of one power of 2, so that their sums are exact in any order.

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
    """Return the amount that each of n examples adds to a sum: 1, or its weight from `in_exact_steps`."""
    return np.ones(n, dtype=np.int64) if weights is None else in_exact_steps(weights)


def copies(name: str, weights: np.ndarray | None, n: int) -> np.ndarray:
    """Return the number of copies of each example, shape (n,), int64; raise an error for a weight that is not whole.

    Raises
    ------
    ValueError
        If a weight is not a whole number below 2⁵³; `name` is the subject of the message.

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
            f"{name} counts copies of examples, but the weight {odd[0]:.6g} is not a whole number, so the promised "
            "probability would not hold; give whole numbers such as 1 and 2, or no weights."
        )
    return np.asarray(weights, dtype=np.int64)


def smallest(values: np.ndarray, counts: np.ndarray, rank: int) -> np.ndarray:
    """Return, for each row of `values`, its `rank`-th smallest value; column i counts as countsᵢ equal columns.

    Parameters
    ----------
    values : ndarray of shape (m, n)
    counts : ndarray of shape (n,), int64
    rank : int
        Rank from 1 to Σ countsᵢ.

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
