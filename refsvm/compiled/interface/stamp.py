"""The stamp in the names of files of compiled code. This module does not import Numba."""

from __future__ import annotations

import hashlib
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
"""Files outside `compiled/` from which compiled files import constants, such as TRACE_ROW, SCALARS and TAU."""

NOT_COMPILED: Final = {
    "auto.py", "background_compiler.py", "backend.py", "code_files.py", "packed.py", "runs.py", "session.py",
    "trouble.py", "twins.py", "warming.py",
}  # fmt: skip
"""Files of `compiled/` without compiled code; after an edit of these files, no code has to be compiled again."""


@cache
def stamp() -> str:
    """Return a stamp of the files with compiled code, and of the files from which they import constants."""
    digest, folder = hashlib.sha256(), Path(__file__).parents[1]
    # sort the files, because the stamp must not depend on the order in which a disk lists files
    files = sorted(file for file in folder.rglob("*.py") if file.name not in NOT_COMPILED)
    for file in (*files, *(folder.parent / "core" / name for name in CONSTANTS_FROM)):
        # include the path, because compiled code is stored under the path of its source file
        digest.update(file.relative_to(folder.parent).as_posix().encode() + file.read_bytes())
    return digest.hexdigest()[:12]
