"""Files that are cut off at every length, and with single flipped bits: few of them by default, all if it is asked for.

``REFSVM_ALL_DAMAGE=1`` asks for every length and 2,000 flipped bits; `.ci/nightly` does.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

ALL = os.environ.get("REFSVM_ALL_DAMAGE", "0") != "0"
FLIPS = 2000 if ALL else 60
LENGTHS = None if ALL else 60
"""Number of lengths at which a file is cut off; None for all."""


def lengths(size: int) -> np.ndarray:
    """Return the lengths at which a file of this size is cut off: all, or some, and the last ones among them."""
    if LENGTHS is None or size <= LENGTHS:
        return np.arange(size)
    return np.unique(np.concatenate([np.linspace(0, size - 1, LENGTHS).astype(int), size - 1 - np.arange(3)]))


def flips(size: int, rng: np.random.Generator) -> Iterator[tuple[int, int]]:
    """Yield places and bits, different ones; all of a small file."""
    for number in rng.permutation(8 * size)[:FLIPS].tolist():
        yield number // 8, 1 << number % 8


def damaged(whole: bytes, rng: np.random.Generator) -> Iterator[bytes]:
    """Yield what is left of a file after each damage."""
    for length in lengths(len(whole)).tolist():
        yield whole[:length]
    for place, bit in flips(len(whole), rng):
        yield whole[:place] + bytes([whole[place] ^ bit]) + whole[place + 1 :]


def outcomes(
    file: Path,
    read: Callable[[Path], Any],
    rng: np.random.Generator,
    sentences: tuple[type[Exception], ...] = (ValueError,),
) -> Iterator[tuple[bytes, Any]]:
    """Damage a file in each way; yield the content and what is read, None if it is refused with a sentence."""
    whole = file.read_bytes()
    for content in damaged(whole, rng):
        file.write_bytes(content)
        try:
            found = read(file)
        except sentences as error:
            assert str(file) in str(error), error  # noqa: PT017
            assert "\n" not in str(error), error  # noqa: PT017
            found = None
        yield content, found
    file.write_bytes(whole)
