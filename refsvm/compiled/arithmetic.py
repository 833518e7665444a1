"""Twin of `refsvm.arithmetic`: importing it loads or compiles the passes between the steps, and installs them."""

from __future__ import annotations

from typing import ClassVar

import numba
from llvmlite.binding import get_host_cpu_features

from refsvm import arithmetic
from refsvm.compiled.kernels import sparse
from refsvm.compiled.kernels.rows import add_rows_from_python
from refsvm.compiled.problem import most_violating_pair


class CompiledArithmetic(arithmetic.Arithmetic):
    """The same bits, in one pass each."""

    threads = int(numba.config.NUMBA_NUM_THREADS)
    sparse: ClassVar = sparse
    add_rows = staticmethod(add_rows_from_python)
    most_violating_pair = staticmethod(most_violating_pair)


def load_kernel_values() -> None:
    """Load one pass for the values of the Gaussian kernel; where NumPy rounds them otherwise, for their exponents."""
    # loading takes milliseconds, and with AVX-512 NumPy has a formula of its own
    if not get_host_cpu_features().get("avx512f"):
        from refsvm.compiled.interface.gaussian import gaussian, has_bits_of_numpy

        if has_bits_of_numpy():
            CompiledArithmetic.gaussian = staticmethod(gaussian)  # type: ignore[method-assign]
            return
    from refsvm.compiled.kernels.functions.rbf import exponents

    CompiledArithmetic.exponents = staticmethod(exponents)  # type: ignore[method-assign]


if not numba.config.DISABLE_JIT:  # interpreted, they are slower than NumPy
    load_kernel_values()
    arithmetic.install(CompiledArithmetic())
