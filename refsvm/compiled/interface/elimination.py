"""Compiled twin of `refsvm.core.arithmetic.Arithmetic.solutions`."""

from __future__ import annotations

import numpy as np

from refsvm.compiled.interface.twin import inlined


def solutions(A, B, X):  # type: ignore[no-untyped-def]
    """Write the solutions of the systems AX = B to X, one system after another, overwriting A and B."""
    for p in range(len(A)):
        eliminate(A[p], B[p])
        if not substitute(A[p], B[p], X[p]):
            X[p] = np.nan


@inlined
def eliminate(a, b):  # type: ignore[no-untyped-def]
    """Transform `a` to triangular form by elimination with pivots, and apply the same operations to `b`."""
    n = len(a)
    for k in range(n):
        pivot = k
        for i in range(k + 1, n):
            pivot = i if abs(a[i, k]) > abs(a[pivot, k]) else pivot
        for j in range(k, n):
            a[k, j], a[pivot, j] = a[pivot, j], a[k, j]
        for j in range(b.shape[1]):
            b[k, j], b[pivot, j] = b[pivot, j], b[k, j]
        for i in range(k + 1, n):
            factor = a[i, k] / a[k, k]
            for j in range(k + 1, n):
                a[i, j] -= factor * a[k, j]
            for j in range(b.shape[1]):
                b[i, j] -= factor * b[k, j]


@inlined
def substitute(a, b, x):  # type: ignore[no-untyped-def]
    """Solve the triangular systems, beginning with the last row; return True if all numbers are finite."""
    is_regular = True
    for k in range(len(a) - 1, -1, -1):
        for j in range(b.shape[1]):
            x[k, j] = b[k, j] / a[k, k]
            is_regular &= np.isfinite(x[k, j])
            for i in range(k):
                b[i, j] -= a[i, k] * x[k, j]
    return is_regular
