"""Families of compiled code: what is loaded from disk, or compiled, together.

===============  ====================================================================
"kernels"        what Python does between the steps
"sparse"         products of sparse rows with a dense table
"loop"           the loop, for a selector, a step and a stopping rule; "single loop" of float32 rows
"rounds"         rounds, for a seeder and these three; "single rounds" of float32 rows
"twin"           the twin of one rule that Python calls: a seeder's, a tracker's
===============  ====================================================================
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from refsvm.compiled.interface.announcement import NotCompiledYet, no_compiling
from refsvm.compiled.interface.dispatch import as_arguments, entry_point, pointer_to
from refsvm.compiled.interface.twin import ready
from refsvm.compiled.kernels.rows import addition_for
from refsvm.compiled.kernels.sparse import product_for, sparse_product_for
from refsvm.compiled.rounds.rounds import ROUNDS, ROUNDS_WITH_SINGLE_ROWS, rounds, rounds_with_single_rows
from refsvm.compiled.solver.loop import run_of

__all__ = ["could_load", "load"]


def kernels(kind: type = np.float64) -> None:
    """Sums of rows, products of sparse rows, exponents, the violating pair; the last two are compiled when imported."""
    addition_for(np.dtype(kind))
    index = np.dtype(np.int32)
    sparse_product_for(index, index, np.dtype(kind))


def load_loop(*rules: Any) -> None:
    """The loop, and the twins unless they are built into it."""
    kernels()
    run_of(as_arguments(*rules), np.float64)


def load_single_loop(*rules: Any) -> None:
    """The same for float32 rows."""
    kernels(np.float32)
    run_of(as_arguments(*rules), np.float32)


def load_rounds(seeder: Any, *rules: Any) -> None:
    """The rounds, the seeder's twin, and the others unless they are built in."""
    kernels()
    pointer_to(seeder)
    entry_point(rounds, ROUNDS, as_arguments(*rules))


def load_single_rounds(seeder: Any, *rules: Any) -> None:
    """The same for float32 rows."""
    kernels(np.float32)
    pointer_to(seeder)
    entry_point(rounds_with_single_rows, ROUNDS_WITH_SINGLE_ROWS, as_arguments(*rules))


LOADERS: Final[dict[str, Callable[..., Any]]] = {
    "kernels": kernels,
    "sparse": lambda: [product_for(np.dtype(np.int32), np.dtype(kind)) for kind in (np.float64, np.float32)],
    "loop": load_loop,
    "single loop": load_single_loop,
    "rounds": load_rounds,
    "single rounds": load_single_rounds,
    "twin": ready,
}


def load(family: str, twins: tuple[Any, ...]) -> None:
    """Load the code of a family for these twins; what is not on disk is compiled."""
    import refsvm.compiled.kernels  # noqa: F401  # all families work between readable parts

    LOADERS[family](*twins)


def could_load(family: str, twins: tuple[Any, ...]) -> bool:
    """Load the code of a family if it is on disk, or return False."""
    try:
        with no_compiling():
            load(family, twins)
    except NotCompiledYet:
        return False
    return True
