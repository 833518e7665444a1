"""Rows that differ in their last digits are not taken for equal."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from refsvm.core.kernels.precision import distinct_rows


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_rows_far_from_the_origin_are_told_apart(form):
    """Features near 1e6 in units of 1e-6: a sum of products rounds at 1e-10, where they differ by that."""
    B = np.random.default_rng(0).normal(size=(3000, 3))
    X = 1e6 + 1e-6 * np.concatenate([B, B[:50]])
    numbers = distinct_rows(form(X))
    assert len(np.unique(numbers)) == len(np.unique(X, axis=0))
    assert (numbers[3000:] == numbers[:50]).all()


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_minus_zero_is_zero(form):
    assert len(np.unique(distinct_rows(form(np.array([[-0.0, 1.0], [0.0, 1.0]]))))) == 1


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_rows_next_to_nothing_are_told_apart(form):
    assert distinct_rows(form(1e-30 * np.array([[1.0, 2.0], [1.0, 3.0], [1.0, 2.0]]))).tolist() == [0, 1, 0]
