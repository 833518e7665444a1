"""Twins of `refsvm.kernels`; and, loaded as one thing, the compiled parts of what Python does between the steps."""

import numba

from refsvm.compiled.kernels.functions import exponents
from refsvm.compiled.kernels.rows import add_rows_from_python as add_rows
from refsvm.compiled.problem import most_violating_pair

__all__ = ["AVAILABLE", "add_rows", "exponents", "most_violating_pair"]

AVAILABLE = not numba.config.DISABLE_JIT
"""False where Numba interprets instead of compiling: NumPy is faster then. Set last: other threads wait for it."""
