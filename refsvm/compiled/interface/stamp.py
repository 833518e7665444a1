"""The stamp in the names of compiled code. Nothing here imports Numba."""

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
"""Files from which `layout` takes TRACE_ROW, SCALARS and TAU, and others such as `planning_ahead` and `walk` theirs."""

NOT_COMPILED: Final = {
    "auto.py", "background_compiler.py", "backend.py", "code_files.py", "packed.py", "runs.py", "session.py",
    "trouble.py", "twins.py", "warming.py",
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
