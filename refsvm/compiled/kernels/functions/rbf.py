"""Compiled twin of `refsvm.RBF`: computes products and kernel values in one pass."""

from __future__ import annotations

from refsvm.compiled.interface.exponential import exponential
from refsvm.compiled.interface.twin import inlined
from refsvm.compiled.kernels.products import COLUMNS, COLUMNS_OF_MANY, write_products


@inlined
def gaussian_values(values, gamma, x_norm, norms):  # type: ignore[no-untyped-def]
    """Overwrite x·z, for one x and several z, with exp(−γ‖x − z‖²); γ must have the type of the values."""
    zero = values.dtype.type(0)
    for t in range(len(values)):
        distance = (x_norm + norms[t]) - (values[t] + values[t])
        values[t] = exponential(-gamma * max(distance, zero))


def gaussian(inner, gamma, x_norms, z_norms):  # type: ignore[no-untyped-def]
    """Compiled twin of `refsvm.core.arithmetic.Arithmetic.gaussian`."""
    for r in range(len(inner)):
        gaussian_values(inner[r], inner.dtype.type(gamma), x_norms[r], z_norms)


def gaussian_rows(X, rows, x_norms, features, norms, start, gamma, out):  # type: ignore[no-untyped-def]
    """Compiled twin of `refsvm.core.arithmetic.Arithmetic.gaussian_rows`."""
    width, of_type = COLUMNS if len(rows) == 1 else COLUMNS_OF_MANY, out.dtype.type(gamma)
    for left in range(0, out.shape[1], width):
        right = min(left + width, out.shape[1])
        write_products(X, rows, features, start, out, left, right)
        for r in range(len(rows)):
            gaussian_values(
                out[r, left:right], of_type, x_norms[rows[r]], norms[start + left : start + right]
            )
