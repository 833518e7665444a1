"""A matrix that grows in a larger array."""

from __future__ import annotations

import numpy as np

from refsvm.kernels.growing import GrowingMatrix


def test_room_for_more_rows_holds_no_number_that_memory_held_before(monkeypatch):
    """An example that was forgotten may have stood there."""
    monkeypatch.setattr(np, "empty", lambda shape, *kind: np.full(shape, 7.25))
    one = GrowingMatrix(np.eye(3))
    for matrix in (one, one.without(np.array([0, 2])), one.grown(2, lambda some: np.ones((2, 5))[some])):
        assert not (matrix.array == 7.25).any()
