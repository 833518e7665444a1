"""Twin of `refsvm.arithmetic`: importing it loads or compiles the passes between the steps, and installs them."""

from __future__ import annotations

from typing import ClassVar

import numba

from refsvm import arithmetic
from refsvm.compiled.kernels import sparse
from refsvm.compiled.kernels.functions.rbf import exponents, gaussian, has_bits_of_numpy
from refsvm.compiled.kernels.rows import add_rows_from_python
from refsvm.compiled.problem import most_violating_pair


class CompiledArithmetic(arithmetic.Arithmetic):
    """The same bits, in one pass each."""

    threads = int(numba.config.NUMBA_NUM_THREADS)
    sparse: ClassVar = sparse
    add_rows = staticmethod(add_rows_from_python)
    exponents = staticmethod(exponents)
    most_violating_pair = staticmethod(most_violating_pair)


class WithExponentials(CompiledArithmetic):
    """Exponentials too, in the same pass."""

    gaussian = staticmethod(gaussian)


if not numba.config.DISABLE_JIT:  # interpreted, they are slower than NumPy
    arithmetic.install((WithExponentials if has_bits_of_numpy() else CompiledArithmetic)())
