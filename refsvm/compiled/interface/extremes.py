"""The largest of many floats, found by comparing integers.

The processor looks for the largest of several integers at once. For floats the compiler must go one by one, because of
NaN.
"""

from __future__ import annotations

import numpy as np

from refsvm.compiled.interface.twin import inlined

LARGEST = np.int64(0x7FFFFFFFFFFFFFFF)
TILE = 128
"""Variables looked at before the running extremes are compared. Where an extreme stands is looked up among as many."""
TILE_OF_GAINS = 256
"""The same for the gains of second-order selection, most of whose time goes into divisions."""


@inlined
def sortable_bits(x):  # type: ignore[no-untyped-def]
    """Return an integer that compares like the float x. Adding 0 makes −0 and 0 one number."""
    bits = np.float64(x + 0.0).view(np.int64)
    return bits ^ ((bits >> np.int64(63)) & LARGEST)


@inlined
def bits(x):  # type: ignore[no-untyped-def]
    """Return an integer that compares like the float x ≥ 0, and is below 0 for x < 0."""
    return np.float64(x).view(np.int64)


@inlined
def from_bits(key):  # type: ignore[no-untyped-def]
    """Return the float x ≥ 0 of `bits`."""
    return np.int64(key).view(np.float64)


@inlined
def first_gain(gains, largest):  # type: ignore[no-untyped-def]
    """Return the lowest index of the gain with the bits `largest`."""
    place = len(gains)
    for t in range(len(gains)):
        place = min(place, t if bits(gains[t]) == largest else len(gains))
    return place


@inlined
def place_on_side(values, sides, side, extreme):  # type: ignore[no-untyped-def]
    """Return the lowest index on this side whose value has the sortable bits `extreme`."""
    # the bits themselves: one sign for all, so that no value needs its own
    wanted, place = extreme ^ ((extreme >> np.int64(63)) & LARGEST), len(values)
    for t in range(len(values)):
        here = (bits(values[t] + 0.0) == wanted) & ((sides[t] & side) != 0)
        place = min(place, t if here else len(values))
    return place
