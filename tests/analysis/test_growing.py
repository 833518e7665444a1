"""A matrix that grows in a larger array."""

from __future__ import annotations

import numpy as np
import pytest

from refsvm.analysis.growing import GrowingMatrix


def test_room_for_more_rows_holds_no_number_that_memory_held_before(monkeypatch):
    """An example that was forgotten may have stood there."""
    monkeypatch.setattr(np, "empty", lambda shape, *kind: np.full(shape, 7.25))
    one = GrowingMatrix(np.eye(3))
    for matrix in (one, one.without(np.array([0, 2])), one.grown(2, lambda some: np.ones((2, 5))[some])):
        assert not (matrix.array == 7.25).any()


RNG = np.random.default_rng(8)
WHOLE = RNG.normal(size=(300, 300))
WHOLE += WHOLE.T


def rows_of(K, n, m, asked):
    """The rows that come after n of K, some at a time, as a matrix asks for them."""

    def rows(some):
        asked.append((some.start, some.stop))
        return K[n : n + m][some, : n + m]

    return rows


@pytest.mark.parametrize("parts", [[1, 1, 1], [64, 1, 63], [65, 130, 2], [7, 64, 64, 65, 90]])
@pytest.mark.parametrize("together", [1, 64, 100])
def test_a_matrix_that_grows_is_the_corner_of_the_whole(parts, together):
    n, matrix = 10, GrowingMatrix(WHOLE[:10, :10])
    for m in parts:
        asked = []
        before, matrix = matrix, matrix.grown(m, rows_of(WHOLE, n, m, asked), together=together)
        assert asked == [(first, min(first + together, m)) for first in range(0, m, together)]
        np.testing.assert_array_equal(before.K, WHOLE[:n, :n])
        n += m
        np.testing.assert_array_equal(matrix.K, WHOLE[:n, :n])
    for kept in (np.arange(n), np.arange(0, n, 3), np.array([n - 1])):
        np.testing.assert_array_equal(matrix.without(kept).K, WHOLE[np.ix_(kept, kept)])
    np.testing.assert_array_equal(matrix.K, WHOLE[:n, :n])


@pytest.mark.parametrize(
    ("n", "most", "room"),
    [
        (1, np.inf, 65),  # 64 to spare
        (519, np.inf, 583),
        (520, np.inf, 585),  # or an eighth
        (1000, np.inf, 1125),
        (10, 30.0, 30),  # no more than there is memory for, but the matrix itself
        (10, 10.0, 10),
        (10, 3.0, 10),
    ],
)
def test_room_to_spare(n, most, room):
    assert GrowingMatrix(np.zeros((n, n)), most).array.shape == (room, room)
    grown = GrowingMatrix(np.zeros((n - 1, n - 1)), 0.0).grown(1, lambda some: np.zeros((1, n)), most)
    assert grown.array.shape == (room, room)


def test_values_that_are_computed_twice_are_their_mean():
    odd = np.arange(9.0).reshape(3, 3)
    found = GrowingMatrix(np.ones((1, 1))).grown(
        3, lambda some: np.column_stack([np.full(3, 5.0), odd])[some]
    )
    np.testing.assert_array_equal(found.K[1:, 1:], 0.5 * (odd + odd.T))
    np.testing.assert_array_equal(found.K[0], [1.0, 5.0, 5.0, 5.0])
    np.testing.assert_array_equal(found.K, found.K.T)
