"""Families of compiled functions; the functions of a family are loaded from disk, or compiled, together.

===============  ====================================================================
"kernels"        functions that Python calls between steps
"norms float64"  a function of `refsvm.compiled.arithmetic` (here `norms`) for values of a type
"sparse"         products of sparse rows with a dense table
"loop"           the loop for a selector, a step and a stopping rule; "single loop" for float32 rows
"small"          the steps of many small problems for three such rules
"rounds"         rounds for a seeder and three such rules; "single rounds" for float32 rows
"twin"           the twin of a seeder or a tracker, which Python calls
===============  ====================================================================
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any, Final

import numpy as np

from refsvm.compiled.analysis.small.small import SMALL, small
from refsvm.compiled.interface.dispatch import as_arguments, entry_point, pointer_to
from refsvm.compiled.interface.twin import only_loads, ready
from refsvm.compiled.kernels.rows import addition_for
from refsvm.compiled.kernels.sparse import product_for, sparse_product_for
from refsvm.compiled.rounds.rounds import ROUNDS, ROUNDS_WITH_SINGLE_ROWS, rounds, rounds_with_single_rows
from refsvm.compiled.solver.loop import run_of


def kernels(kind: Any = np.float64) -> None:
    """Load the functions for sums of rows, products and kernel values, and `most_violating_pair`."""
    import_module("refsvm.compiled.arithmetic")  # every family needs the arithmetic
    addition_for(np.dtype(kind))
    if not only_loads():  # compile code for sparse features here, but load it at its first use
        index = np.dtype(np.int32)
        sparse_product_for(index, index, np.dtype(kind))


def loop(kind: Any, *rules: Any) -> None:
    """Load the loop, and the twins of rules that are not built into the loop."""
    kernels(kind)
    run_of(as_arguments(*rules), kind)


def small_problems(*rules: Any) -> None:
    """Load the function that takes the steps of many small problems, and the twins that are not built into it."""
    kernels()
    entry_point(small, SMALL, as_arguments(*rules))


def rounds_of(kind: Any, seeder: Any, *rules: Any) -> None:
    """Load the function that runs rounds, the seeder's twin, and the twins that are not built into the function."""
    kernels(kind)
    pointer_to(seeder)
    run, signature = (
        (rounds, ROUNDS) if kind is np.float64 else (rounds_with_single_rows, ROUNDS_WITH_SINGLE_ROWS)
    )
    entry_point(run, signature, as_arguments(*rules))


def sparse() -> None:
    """Load the function that multiplies sparse rows by a dense table."""
    kernels()
    for kind in (np.float64, np.float32):
        product_for(np.dtype(np.int32), np.dtype(kind))


def single_twin(rule: Any) -> None:
    """Load the twin of a single seeder or tracker."""
    kernels()
    ready(rule)


LOADERS: Final[dict[str, Callable[..., Any]]] = {
    "kernels": kernels, "sparse": sparse, "twin": single_twin,
    "loop": partial(loop, np.float64), "single loop": partial(loop, np.float32),
    "small": small_problems,
    "rounds": partial(rounds_of, np.float64), "single rounds": partial(rounds_of, np.float32),
}  # fmt: skip


def load(family: str, twins: tuple[Any, ...]) -> None:
    """Load the functions of a family for these twins, or compile functions that are not on disk."""
    if family in LOADERS:
        LOADERS[family](*twins)
    else:
        arithmetic, (name, kind) = import_module("refsvm.compiled.arithmetic"), family.split()
        arithmetic.compiled(getattr(arithmetic, name), np.dtype(kind))
