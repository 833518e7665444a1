"""check_strategy on path trackers: shipped ones pass, broken ones are told what is wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from refsvm import SVMP, Hastie, PathTracker
from refsvm.paths import SVD, PivotedQR
from refsvm.testing import check_strategy, practice_problems
from refsvm.testing.trackers import path_problems

from ..settings import NUMBA

pytest.importorskip("scipy")


@pytest.mark.slow
@pytest.mark.parametrize(
    "tracker",
    [SVMP(), *(SVMP(algebra=algebra) for algebra in (SVD(), PivotedQR())), Hastie()],
    ids=repr,
)
def test_shipped_trackers_pass(tracker: PathTracker) -> None:
    report = check_strategy(tracker)
    assert report.steps > 100
    if NUMBA:
        assert re.fullmatch(r"The twin agrees bit for bit on \d+ paths\.", report.twin)
    every = tuple(path_problems(practice_problems()))
    assert report.problems == every or (tracker.may_refuse and set(report.problems) < set(every))


@dataclass(frozen=True)
class Skips(PathTracker):
    """Forgets every third breakpoint."""

    def follow(self, walk: Any, end: float) -> Iterator[Any]:
        for number, point in enumerate(SVMP().follow(walk, end)):
            if number % 3 or point.C * end >= 1.0 - 1e-12:
                yield point


@dataclass(frozen=True)
class StopsEarly(PathTracker):
    def follow(self, walk: Any, end: float) -> Iterator[Any]:
        return SVMP().follow(walk, 2.0 * end)


@dataclass(frozen=True)
class Shifts(PathTracker):
    """Reports a wrong intercept at breakpoints."""

    def follow(self, walk: Any, end: float) -> Iterator[Any]:
        for point in SVMP().follow(walk, end):
            yield point._replace(intercept=point.intercept + 1e-4 / point.C)


@dataclass(frozen=True)
class Refuses(PathTracker):
    may_refuse = True

    def follow(self, walk: Any, end: float) -> Iterator[Any]:
        raise ValueError("No.")


@dataclass(frozen=True)
class Numbers(PathTracker):
    def follow(self, walk: Any, end: float) -> Iterator[Any]:
        yield 1.0 / end


class Remembers(SVMP):
    """Starts a little later at every other call."""

    calls = 0

    def follow(self, walk: Any, end: float) -> Iterator[Any]:
        Remembers.calls += 1
        for point in SVMP().follow(walk, end):
            yield point._replace(intercept=point.intercept + 1e-15 * (Remembers.calls % 2))


@pytest.mark.parametrize(
    ("tracker", "sentence"),
    [
        (Skips(), "between them"),
        (StopsEarly(), "not from 0.001 to 100"),
        (Shifts(), "optimality conditions are violated"),
        (Refuses(), "has refused every problem"),
        (Numbers(), r"Numbers\(\).follow\(\) yielded 100.0; it must yield what walk.breakpoint"),
        (Remembers(), "A second call gives another path"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_broken_trackers_are_found_out(tracker: PathTracker, sentence: str) -> None:
    with pytest.raises(AssertionError, match=sentence):
        check_strategy(tracker)
