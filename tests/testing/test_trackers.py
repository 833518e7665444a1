"""check_strategy on path trackers: shipped ones pass."""

from __future__ import annotations

import re

import pytest

from refsvm import SVMP, Hastie, PathTracker
from refsvm.analysis.paths import SVD, PivotedQR
from refsvm.testing import check_strategy, practice_problems
from refsvm.testing.trackers import path_problems

from ..settings import NUMBA

pytest.importorskip("scipy")


@pytest.mark.slow
@pytest.mark.parametrize(
    "tracker", [SVMP(), SVMP(algebra=SVD()), SVMP(algebra=PivotedQR()), Hastie()], ids=repr
)
def test_shipped_trackers_pass(tracker: PathTracker) -> None:
    report = check_strategy(tracker)
    assert report.steps > 100
    if NUMBA:
        assert re.fullmatch(r"The twin agrees bit for bit on \d+ paths\.", report.twin)
    every = tuple(path_problems(practice_problems()))
    assert report.problems == every or (tracker.may_refuse and set(report.problems) < set(every))
