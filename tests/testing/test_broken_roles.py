"""What is said of a shrinking, or a check of leave-one-out, that is wrong; and of a rule that hangs."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
import pytest

from refsvm import (
    RBF,
    Check,
    DualProblem,
    PathTracker,
    Seeder,
    Shrinking,
    TrainingError,
    leave_one_out,
    solve,
)
from refsvm.datasets import load
from refsvm.testing import check_strategy, seeds, strategy, trackers

from .simple import Pair, fails

HEART = load("heart")
PROBLEM = DualProblem.classification(HEART.X[:40], HEART.y[:40], kernel=RBF(0.01), C=10.0)


@dataclass(frozen=True)
class Around(Shrinking):
    """Does whatever it is told."""

    slip: str = ""

    def steps(self, backend, limits, state, rules, budget, trace):
        if self.slip == "raises":
            return backend.nothing
        return 0 if self.slip == "idle" else backend.steps(state, rules, budget, trace)


@pytest.mark.parametrize(
    ("slip", "words", "error"),
    [
        ("idle", r"Around\(slip='idle'\) took no step in 10000 calls of steps\(\)", RuntimeError),
        ("raises", "has no attribute 'nothing'", AttributeError),
    ],
)
def test_a_shrinking_that_is_wrong_is_named(slip, words, error):
    sentence = fails(Around(slip), words)
    assert "Problem 'five hundred examples' with Around(slip=" in sentence
    with pytest.raises(error, match=words):
        solve(PROBLEM, shrinking=Around(slip), engine="numpy")


def test_a_shrinking_that_leaves_all_to_the_loop_passes():
    check_strategy(Around())


@dataclass(frozen=True)
class Says(TrainingError):  # noqa: N818  no exception
    """The check on training errors, and a slip."""

    slip: str = ""

    def decide(self, full, rows):
        signs = super().decide(full, rows)
        if self.slip == "writes":
            full.alpha[:] = 0.0
        answers = {"None": None, "short": signs[1:], "nan": np.nan * signs, "two": 2.0 * signs}
        return answers.get(self.slip, signs)


@pytest.mark.parametrize(
    ("slip", "words"),
    [
        ("None", r"decide\(\) returned array\(None"),
        ("short", r"expected 1, −1 or 0 for each of \d+ examples"),
        ("nan", r"decide\(\) returned array\(\["),
        ("two", r"expected 1, −1 or 0"),
        ("writes", "read-only"),
    ],
)
def test_a_check_that_is_wrong_is_named(slip, words):
    check: Check = Says(slip)
    assert "Says(" in fails(check, words)


def test_a_check_may_only_read_the_solution():
    with pytest.raises(ValueError, match="read-only"):
        leave_one_out(PROBLEM, checks=(Says("writes"),), engine="numpy")


@dataclass(frozen=True)
class Searches(Pair):
    """Looks for a pair until it has one, in vain."""

    def select(self, state):
        while True:
            if state.gap < 0.0:
                return 0, 1


@dataclass(frozen=True)
class Ponders(Seeder):
    def seed(self, solved, problem):
        while True:
            pass


@dataclass(frozen=True)
class Wanders(PathTracker):
    def follow(self, walk, end):
        while True:
            time.sleep(0.001)


@pytest.mark.parametrize(
    ("rule", "method"),
    [
        pytest.param(Searches(), "select", marks=pytest.mark.slow),
        pytest.param(Ponders(), "seed", marks=pytest.mark.slow),
        (Wanders(), "follow"),
    ],
)
def test_a_rule_that_hangs_is_told(rule, method, monkeypatch):
    for room in (strategy, seeds, trackers):
        monkeypatch.setattr(room, "MOST_SECONDS", 0.5)
    if isinstance(rule, PathTracker):
        pytest.importorskip("scipy")
    name = f"{type(rule).__name__}.{method}"
    fails(rule, rf"Problem '[\w ]+' with .*: {name}\(\) hangs: no answer after 0\.5 seconds\.")
