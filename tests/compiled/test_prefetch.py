"""prefetch: memory of long rows is asked for ahead, and no number changes."""

from __future__ import annotations

import numpy as np
import pytest

from ..settings import needs_jit

pytest.importorskip("numba")

from numba import njit

from refsvm.compiled.interface.rows import LONG, prefetch


def summed(row):
    """The sum, in tiles that ask ahead."""
    total = 0.0
    for start in range(0, len(row), 128):
        prefetch(row, start, 128)
        for t in range(start, min(start + 128, len(row))):
            total += row[t]
    return total


@needs_jit
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [1, LONG - 1, LONG, LONG + 77])
@pytest.mark.slow
def test_compiled_code_asks_ahead_and_counts_the_same(n, dtype):
    compiled = njit(summed)
    assert compiled(np.arange(n, dtype=dtype)) == n * (n - 1) / 2
    assert "call void @llvm.prefetch" in next(iter(compiled.inspect_llvm().values()))
