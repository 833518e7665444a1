"""Compiled twin of `refsvm.core.arithmetic`: importing this file installs the compiled version of the arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, ClassVar

import numba
import numpy as np
from numba import float64, from_dtype, int64, types, void

from refsvm.compiled.interface.code_files import LOOKS
from refsvm.compiled.interface.elimination import solutions
from refsvm.compiled.interface.twin import cached, copied
from refsvm.compiled.kernels import sparse
from refsvm.compiled.kernels.functions.rbf import gaussian, gaussian_rows
from refsvm.compiled.kernels.functions.sigmoid import hyperbolic_tangents
from refsvm.compiled.kernels.products import norms, products, products_of_rows
from refsvm.compiled.kernels.rows import add_rows_from_python
from refsvm.compiled.problem import most_violating_pair
from refsvm.core import arithmetic

_indices = types.Array(int64, 1, "C", readonly=True)


@cache
def compiled(function: Callable[..., Any], kind: np.dtype) -> Callable[..., Any]:
    """Return `function`, compiled or loaded from disk, for arrays of the type `kind`."""
    value = from_dtype(kind)
    vector, matrix = (types.Array(value, k, "C", readonly=True) for k in (1, 2))
    line, table, stack = (types.Array(value, k, "C") for k in (1, 2, 3))
    signature = {
        norms: void(matrix, line),
        products: void(matrix, _indices, matrix, int64, table),
        products_of_rows: void(matrix, matrix, table),
        solutions: void(stack, stack, stack),
        hyperbolic_tangents: void(table),
        gaussian: void(table, float64, vector, vector),
        gaussian_rows: void(matrix, _indices, vector, matrix, vector, int64, float64, table),
    }[function]
    return cached(copied(function, f"{function.__name__}_{kind}"), signature, nogil=True)


_loaded: dict[tuple[Any, np.dtype], Callable[..., Any]] = {}


def loaded_twin(function: Callable[..., Any], kind: np.dtype) -> Callable[..., Any] | None:
    """Return the compiled function for arrays of the type `kind`, or None while a child process compiles the function.

    Each function is compiled when it is first called, because few programs need all functions.
    """
    if (twin := _loaded.get((function, kind))) is not None:
        return twin
    order = f"{function.__name__} {kind}", (), function.__module__
    if not all(look(*order) for look in LOOKS):
        return None
    _loaded[function, kind] = compiled(function, kind)
    return _loaded[function, kind]


def calling(function: Callable[..., Any], typed_by: int = -1) -> Any:
    """Return a static method that calls the NumPy version of a function until the compiled version is loaded.

    The function is compiled for the dtype of the argument at position `typed_by`.
    """
    readable = getattr(arithmetic.Arithmetic, function.__name__)
    return staticmethod(lambda *args: (loaded_twin(function, args[typed_by].dtype) or readable)(*args))


class CompiledArithmetic(arithmetic.Arithmetic):
    """Computes the same bits as the NumPy arithmetic, in compiled code that reads each array only once."""

    threads = int(numba.config.NUMBA_NUM_THREADS)
    sparse: ClassVar = sparse
    add_rows = staticmethod(add_rows_from_python)
    products, products_of_rows = calling(products), calling(products_of_rows)
    gaussian, gaussian_rows = calling(gaussian, typed_by=0), calling(gaussian_rows)
    hyperbolic_tangents = calling(hyperbolic_tangents)
    most_violating_pair = staticmethod(most_violating_pair)

    @staticmethod
    def norms(X: np.ndarray) -> np.ndarray:
        """Return ‖x‖² of each row."""
        twin = loaded_twin(norms, X.dtype)
        if twin is None:
            return arithmetic.Arithmetic.norms(X)
        out = np.empty(len(X), X.dtype)
        twin(X, out)
        return out

    @staticmethod
    def solutions(A: np.ndarray, B: np.ndarray) -> np.ndarray:
        """Solve many systems AX = B."""
        twin = loaded_twin(solutions, B.dtype)
        if twin is None:
            return arithmetic.Arithmetic.solutions(A, B)
        X = np.empty(B.shape)
        twin(A.copy(), B.copy(), X)
        return X


if not numba.config.DISABLE_JIT:  # without JIT, Python would run the loops, which takes longer than NumPy
    arithmetic.install(CompiledArithmetic())
