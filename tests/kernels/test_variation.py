"""By how much the terms of a decision value vary: what tells a constant machine from one that rounding has spoiled."""

import numpy as np
import pytest

from refsvm import Linear
from refsvm.kernels import Gram
from refsvm.kernels.precision import variation


def test_what_all_rows_have_in_common_counts_where_alpha_has_a_sum():
    """x = 100, 101, 102, and α = ±1 at the ends: k(x, z) = xz varies by 200 and 204; around the mean row by 2."""
    gram, alpha, among = (
        Gram(Linear(), np.array([[100.0], [101.0], [102.0]])),
        np.array([1.0, 0.0, -1.0]),
        np.arange(3),
    )
    assert variation(gram, alpha, among, z=2.0) == pytest.approx(2.0 * 204.0)
    assert variation(gram, alpha, among, z=0.0) == pytest.approx(2.0 * 2.0)
