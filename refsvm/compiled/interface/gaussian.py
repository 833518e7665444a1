"""Values of the Gaussian kernel in one pass over inner products, with the bits of NumPy or not at all."""

from __future__ import annotations

import numpy as np
from numba import float64, void

from refsvm.compiled.interface.exponential import DOUBLE_ROWS, SINGLE_ROWS, VECTOR, exponentials, exponents_of
from refsvm.compiled.interface.twin import from_python


@from_python(*(void(rows, float64, VECTOR, VECTOR) for rows in (DOUBLE_ROWS, SINGLE_ROWS)))
def gaussian(inner, gamma, x_norms, z_norms):  # type: ignore[no-untyped-def]
    """Twin of `refsvm.arithmetic.Arithmetic.gaussian`, where `has_bits_of_numpy`."""
    for i in range(len(inner)):
        exponents_of(inner[i], gamma, gamma * x_norms[i], z_norms)
        exponentials(inner[i])


def has_bits_of_numpy() -> bool:
    """Whether `gaussian` has the bits of `np.exp`, for some thousand values, many of which are hard to round.

    Examples
    --------
    >>> from refsvm.compiled.interface.gaussian import has_bits_of_numpy
    >>> type(has_bits_of_numpy())
    <class 'bool'>
    """
    k = np.arange(1000.0)
    for dtype, parts, end in ((np.float64, 128, 1000), (np.float32, 1, 150)):
        # halfway between two multiples of ln(2)/parts, where a sum that is rounded otherwise leads to another k
        halfway = ((k * parts).round() % (end * parts) + 0.5) * (np.log(2.0) / parts)
        near = np.concatenate([halfway, np.nextafter(halfway, 0.0), np.nextafter(halfway, 1e3)])
        values = np.negative(np.concatenate([near, 0.757 * k, 0.0137 * k]))[None].astype(dtype)
        found, zeros = values.copy(), np.zeros(values.shape[1])
        gaussian(found, 0.5, zeros[:1], zeros)
        with np.errstate(under="ignore"):
            if not np.array_equal(found, np.exp(values)):
                return False
    return True
