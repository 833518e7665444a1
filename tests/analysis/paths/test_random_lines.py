"""Lines through random problems are right at random places, and both engines find the same ones."""

import pytest

from ...programs import module

pytest.importorskip("numba")
pytest.importorskip("scipy")
lines = module("audit.lines")


@pytest.mark.seeds(*range(60))
def test_a_line_is_right_and_the_same_in_both_engines(seed):
    kind, problems = lines.random_line(seed)
    found = lines.check(problems, merge=bool(seed % 2), values=4)
    assert not found.bad, (kind, found)
