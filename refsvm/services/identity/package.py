"""Hashes the code of this package, which is a part of the identity of a run."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import Final

NOT_NUMERICAL: Final = ("cli", "datasets", "display", "experiment", "services/identity", "testing")
"""Folders of this package that affect a run only through the examples and the file of a strategy."""


def hash_of_folders(root: Path) -> bytes:
    """Return a hash of a package's files, without the folders in `NOT_NUMERICAL`."""
    summary = hashlib.blake2b(digest_size=16)
    left_out = {root / folder for folder in NOT_NUMERICAL}
    # sort the files, so that the hash does not depend on the order in which the disk lists them
    for file in sorted(root.rglob("*.py")):
        if left_out.isdisjoint(file.parents):
            summary.update(file.read_bytes())
    return summary.digest()


@cache
def package_code() -> str:
    """Return a hash, 32 hexadecimal digits, of the files of this package that affect results."""
    return hash_of_folders(Path(__file__).parents[2]).hex()
