"""The code of this package, as a part of the identity of what it computes."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import Final

NOT_NUMERICAL: Final = ("cli", "datasets", "display", "experiment", "services/identity", "testing")
"""Folders of this package that no number of a run depends on, but by the examples and the strategy's own file."""


def hash_of_folders(root: Path) -> bytes:
    """Return a hash of the files of a package that compute, those in `NOT_NUMERICAL` left out."""
    summary = hashlib.blake2b(digest_size=16)
    left_out = {root / folder for folder in NOT_NUMERICAL}
    # whatever the disk lists first, the hash is the same
    for file in sorted(root.rglob("*.py")):
        if left_out.isdisjoint(file.parents):
            summary.update(file.read_bytes())
    return summary.digest()


@cache
def package_code() -> str:
    """Return the hash of the files of this package that compute, 32 hexadecimal digits."""
    return hash_of_folders(Path(__file__).parents[2]).hex()
