"""Computes b of a one-class problem with a margin for rounding errors of decision values."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from refsvm.core.kernels.matrix import KernelMatrix
from refsvm.core.kernels.precision import noise_of_values
from refsvm.core.problem import EPSILON
from refsvm.core.stopping.relative import ROUNDED

MOST_ROUNDED: Final = 1e-10
"""Largest margin for rounding errors in b of a one-class problem, relative to the terms of a decision value."""


def intercept_of_inside(
    gram: KernelMatrix, alpha: np.ndarray, gradient: np.ndarray, inside: np.ndarray, otherwise: float
) -> float:
    """Return the least b, with a margin for rounding, for which no example in the mask `inside` has h < 0.

    h(xᵢ) = b − Gᵢ. A prediction adds the terms of h(xᵢ) in a different order than the solver. The rounding
    error of a prediction is therefore proportional to the size of these terms, not of their sum.

    Parameters
    ----------
    gram : KernelMatrix
    alpha, gradient : ndarrays of shape (n,)
        α and G.
    inside : ndarray of shape (n,), bool
        Whether each example has αᵢ below its upper bound.
    otherwise : float
        b if no example is inside.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import Linear
    >>> from refsvm.core.kernels import Gram
    >>> from refsvm.analysis.paths.novelty import intercept_of_inside
    >>> gram, alpha = Gram(Linear(), np.array([[1.0], [3.0]])), np.array([1.0, 0.5])
    >>> round(intercept_of_inside(gram, alpha, np.array([-2.5, -7.5]), alpha < 1.0, 0.0), 9)
    -7.5
    """
    b = float(gradient[inside].max()) if inside.any() else otherwise
    largest = float(np.abs(gram.diagonal()).max())
    terms = float(np.abs(gradient).max()) + float(alpha.max()) * largest
    share = ROUNDED * math.sqrt(len(alpha)) * max(1.0, gram.facts.data_error / EPSILON)
    # a prediction computes kernel values again; far from the origin, errors of these values exceed the error of the sum
    noise = 2.0 * noise_of_values(gram, largest) * float(np.linalg.norm(alpha))
    return b + max(min(share, MOST_ROUNDED) * terms, noise)
