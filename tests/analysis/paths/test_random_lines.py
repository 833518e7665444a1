"""Lines through random problems are right at random places, and both engines find the same ones."""

import pytest

from ...programs import complaints_of

pytest.importorskip("numba")
pytest.importorskip("scipy")
line = complaints_of("lines")


@pytest.mark.parametrize("seed", range(60))
def test_a_line_is_right_and_the_same_in_both_engines(seed):
    assert line(seed) == []
