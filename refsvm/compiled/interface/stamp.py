"""The stamp in the names of compiled code, and whether any is on disk. Nothing here imports Numba."""

from __future__ import annotations

import hashlib
import os
import sys
from functools import cache
from pathlib import Path
from typing import Final

CONSTANTS_FROM: Final = (
    "arithmetic.py",
    "result.py",
    "selectors/conjugate_second_order.py",
    "selectors/gain.py",
    "selectors/improved_smo.py",
    "guards/rounding.py",
    "state.py",
    "steps/conjugate.py",
    "steps/planning_ahead.py",
    "stopping/ball_rule.py",
    "stopping/loo_duality_gap.py",
    "stopping/midpoint.py",
    "trackers/hastie.py",
    "walk/elbow.py",
    "walk/walk.py",
)
"""Files from which `layout` takes TRACE_ROW, SCALARS and TAU, and others such as `planning_ahead` and `walk` theirs."""

COMPILED: Final = Path(__file__).parents[1]

NOT_COMPILED: Final = {
    "auto.py", "background_compiler.py", "backend.py", "packed.py", "runs.py", "session.py", "trouble.py", "twins.py",
    "warming.py",
}  # fmt: skip
"""Files of `compiled/` without compiled code: an edit of these must not recompile the rest."""


@cache
def stamp() -> str:
    """Return a name for the present contents of `compiled/` and of the files whose constants it imports."""
    digest, folder = hashlib.sha256(), Path(__file__).parents[1]
    # the order in which a disk lists its files must not change the name
    files = sorted(file for file in folder.rglob("*.py") if file.name not in NOT_COMPILED)
    for file in (*files, *(folder.parent / "core" / name for name in CONSTANTS_FROM)):
        # the name counts beside the contents: a moved file is looked up in another place
        digest.update(file.relative_to(folder.parent).as_posix().encode() + file.read_bytes())
    return digest.hexdigest()[:12]


def cache_folder() -> str | None:
    """Return the folder that the user has named for Numba's cache, if any."""
    numba = sys.modules.get("numba")
    return (os.environ.get("NUMBA_CACHE_DIR") if numba is None else numba.config.CACHE_DIR) or None


def may_be_on_disk(place: str) -> bool:
    """Whether Numba may find code of a file of `compiled/`, such as "solver/loop"; to see for certain, load it."""
    file, named = COMPILED / place, cache_folder()
    folders = [file.parent / "__pycache__"]
    if named is not None:
        source = hashlib.sha1(os.path.abspath(file.parent).encode(), usedforsecurity=False)  # noqa: PTH100  links stay
        folders.insert(0, Path(named, f"{file.parent.name}_{source.hexdigest()}"))
    # Numba takes the first folder that it may write to
    for each in folders:
        there = next(parent for parent in (each, *each.absolute().parents) if parent.exists())
        if there.is_dir() and os.access(there, os.W_OK):
            return any(True for _ in each.glob(f"{file.name}.*_{stamp()}-*.nbi"))
    return True  # in the user's own folder, whose name Numba knows
