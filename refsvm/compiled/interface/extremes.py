"""The largest of many floats, found by comparing integers.

The processor looks for the largest of several integers at once. For floats the compiler must go one by one, because of
NaN.
"""

from __future__ import annotations

import numpy as np

from refsvm.compiled.interface.twin import inlined

__all__ = ["LARGEST", "TILE", "WIDE_TILE", "bits", "first_equal", "from_bits", "sortable_bits"]

LARGEST = np.int64(0x7FFFFFFFFFFFFFFF)
TILE = 256
"""Variables looked at before the running extremes are compared. Where an extreme stands is looked up among as many."""
WIDE_TILE = 512
"""The same for the gains of second-order selection, most of whose time goes into divisions."""


@inlined
def sortable_bits(x):  # type: ignore[no-untyped-def]
    """Return an integer that compares like the float x. Adding 0 makes −0 and 0 one number."""
    bits = np.float64(x + 0.0).view(np.int64)
    return bits ^ ((bits >> np.int64(63)) & LARGEST)


@inlined
def bits(x):  # type: ignore[no-untyped-def]
    """Return an integer that compares like the float x ≥ 0."""
    return np.float64(x + 0.0).view(np.int64)


@inlined
def from_bits(key):  # type: ignore[no-untyped-def]
    """Return the float x ≥ 0 of `bits`."""
    return np.int64(key).view(np.float64)


@inlined
def first_equal(values, largest):  # type: ignore[no-untyped-def]
    """Return the lowest index whose value has the sortable bits `largest`."""
    place = len(values)
    for t in range(len(values)):
        place = min(place, t if sortable_bits(values[t]) == largest else len(values))
    return place
