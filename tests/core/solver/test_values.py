"""What each way to shrink is made of: its default settings, and the numbers that its twin gets."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from refsvm import (
    RBF,
    HybridMaximumGain,
    KKTGap,
    LOODualityGap,
    MaximumGain,
    NewtonStep,
    SecondOrder,
)
from refsvm.core.kernels import Gram
from refsvm.core.kernels.cached_rows import stored_rows
from refsvm.core.kernels.matrix import View
from refsvm.core.solver.rules import Rules, rows_at_once
from refsvm.core.solver.shrinking import CHECK_SECONDS, UNLIMITED_STEPS, steps_between_checks
from refsvm.testing import smallest_cache_mb

from ...values import dataclasses_of, never_change


class Reads(NewtonStep):
    """It reads so many rows."""

    def rows_needed(self, n):
        return 5


@pytest.mark.parametrize(
    ("selector", "step", "stop", "n", "rows"),
    [
        (SecondOrder(), NewtonStep(), KKTGap(), 100, 2),  # the pair
        (HybridMaximumGain(), NewtonStep(), KKTGap(), 100, 2),
        (MaximumGain(rows=1), NewtonStep(), KKTGap(), 100, 2),
        (SecondOrder(), Reads(), KKTGap(), 100, 5),
        (SecondOrder(), Reads(), LOODualityGap(), 100, 7),  # and two of η
        (SecondOrder(), Reads(), LOODualityGap(), 6, 6),  # there are no more
        (SecondOrder(), NewtonStep(), KKTGap(), 1, 1),
    ],
)
def test_as_many_rows_are_in_memory_as_the_rules_read_at_once(selector, step, stop, n, rows):
    assert rows_at_once(Rules(selector, step, stop), n) == rows
    assert int(smallest_cache_mb(selector, n, stop, step) * 2**20 / (8 * n)) == rows


@pytest.mark.parametrize(
    ("seconds", "filled", "steps"),
    [
        (0.0, 3, 1),  # not known
        (CHECK_SECONDS, 3, 1),
        (CHECK_SECONDS / 2.1, 3, 2),  # one step of two rows, and the one in which the clock is checked
        (CHECK_SECONDS / 8.1, 3, 5),
        (1e-30, 3, 1 + UNLIMITED_STEPS),
        (CHECK_SECONDS, 7, UNLIMITED_STEPS),  # all rows are there
    ],
)
def test_steps_between_two_looks_at_the_clock_take_about_as_long_as_it_says(seconds, filled, steps):
    rows = SimpleNamespace(filled=filled, n=7, row_seconds=seconds)
    assert steps_between_checks(SimpleNamespace(rows=rows)) == steps


@pytest.mark.parametrize("cache_mb", [1e-3, 1.0])
def test_variables_that_share_an_example_share_its_row(cache_mb):
    """Of two variables for each of six examples a row of six is stored, and no row is computed twice."""
    gram = Gram(RBF(0.5), np.random.default_rng(2).normal(size=(6, 2)))
    rows = stored_rows(View(gram, np.tile(np.arange(6), 2)), cache_mb)
    assert rows.gram.store.n == 6
    for i in (0, 6, 0):
        np.testing.assert_allclose(rows.row(i), np.tile(gram.block(np.array([0]))[0], 2))
    assert rows.gram.store.computed == 1
    alone = stored_rows(gram, cache_mb)
    assert alone.gram is gram


@pytest.mark.parametrize(
    ("rows", "kept"),
    [(2.1, 2), (3.1, 2), (64.0, 60)],
    ids=["the pair", "a sixteenth is for copies", "of many, too"],
)
def test_copies_leave_two_rows_of_the_examples_at_least(rows, kept):
    """Rows kept as float32 are read as float64: what is read are copies of what is stored."""
    gram = Gram(RBF(0.5), np.random.default_rng(2).normal(size=(1000, 2)))
    store = stored_rows(gram, rows * 1000 * 4 / 2**20, np.float32)
    assert store.gram.store.capacity == kept


def test_a_budget_for_more_than_the_shared_rows_goes_to_their_copies():
    """100 rows of 100 values take 80 000 bytes; 240 000 more hold 150 rows of the 200 variables."""
    gram = Gram(RBF(0.5), np.random.default_rng(2).normal(size=(100, 2)))
    rows = stored_rows(View(gram, np.tile(np.arange(100), 2)), 320_000 / 2**20)
    assert (rows.gram.store.capacity, rows.capacity) == (100, 150)


def test_nothing_that_a_run_holds_can_be_changed():
    never_change("core.solver")
    alone = {kind.__name__ for kind in dataclasses_of("core.solver") if kind.__eq__ is object.__eq__}
    assert alone == {"RunOptions"}
