"""Compiled product of sparse rows with a dense table."""

from __future__ import annotations

from numba import float64, int32, int64, njit, types, void

__all__ = ["times"]

_values = types.Array(float64, 1, "C", readonly=True)
_table, _out = types.Array(float64, 2, "C", readonly=True), types.Array(float64, 2, "C")
_indices = [types.Array(kind, 1, "C", readonly=True) for kind in (int32, int64)]


@njit(
    [void(_values, indices, indices, _table, _out) for indices in _indices],
    cache=True, error_model="numpy", _nrt=False, nogil=True,
)  # fmt: skip
def times(data, indices, indptr, table, out):  # type: ignore[no-untyped-def]
    """outᵢₜ = Σₖ Xᵢₖ tableₖₜ for the rows i of a CSR matrix X; shapes (d, m) and (h, m).

    Four rows of the table at a time, so that the sums are fetched and put back a quarter as often; the inner loop runs
    along the table, where several sums fit into one register.
    """
    for i in range(len(out)):
        sums, stop = out[i], indptr[i + 1]
        for t in range(len(sums)):
            sums[t] = 0.0
        place = indptr[i]
        while place + 4 <= stop:
            a, b, c, d = data[place], data[place + 1], data[place + 2], data[place + 3]
            first, second = table[indices[place]], table[indices[place + 1]]
            third, fourth = table[indices[place + 2]], table[indices[place + 3]]
            for t in range(len(sums)):
                sums[t] += (a * first[t] + b * second[t]) + (c * third[t] + d * fourth[t])
            place += 4
        while place < stop:
            a, first = data[place], table[indices[place]]
            for t in range(len(sums)):
                sums[t] += a * first[t]
            place += 1
