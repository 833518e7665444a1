"""check_strategy finds the first step at which a twin differs from its rule."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from refsvm import KKTGap, MostViolatingPair, NewtonStep, solve
from refsvm.testing import check_strategy, first_difference, practice_problems

from ..settings import needs_numba
from .simple import fails


def named(*functions) -> dict[str, object]:
    return {function.__name__: function for function in functions}


def broken_selectors() -> dict[str, object]:
    """Compiled selectors that differ from `MostViolatingPair`; Numba is imported only here."""
    from numba import njit

    from refsvm.compiled.interface.layout import SELECT

    @njit
    def last_of_equals(parameters, state):
        """The most violating pair, ties to the highest index."""
        now, G = state.now[0], state.gradient
        if now.gap <= 0.0:
            return -1, -1
        i, j = now.top, now.bottom
        for t in range(len(G)):
            if G[t] == G[now.top] and state.alpha[t] < state.upper[t]:
                i = t
            if G[t] == G[now.bottom] and state.alpha[t] > state.lower[t]:
                j = t
        return i, j

    @njit(SELECT)
    def writes_alpha(parameters, state):
        now = state.now[0]
        if now.iteration == 3:
            state.alpha[0] += 1e-300
        return (now.top, now.bottom) if now.gap > 0.0 else (-1, -1)

    @njit
    def insatiable(parameters, state):
        """Waits for a row that it has."""
        state.now[0].missing = state.now[0].top
        return -1, -1

    return named(last_of_equals, writes_alpha, insatiable)


def broken_others() -> dict[str, object]:
    """Compiled steps and stopping rules that differ from `NewtonStep` and `KKTGap`."""
    from numba import njit

    from refsvm.compiled.interface.layout import CHECK, LENGTH

    @njit(LENGTH)
    def one_bit_off(parameters, state, i, j):
        now = state.now[0]
        return min(max(now.slope * (1.0 / now.curvature), now.low), now.high)

    @njit(CHECK)
    def another_reason(parameters, state):
        return 2 * int(state.now[0].gap <= parameters[0])

    return named(one_bit_off, another_reason)


@pytest.fixture(scope="module")
def twins():
    pytest.importorskip("numba")
    return broken_selectors() | broken_others()


def with_twin(base: type, twin, **members):
    """Subclass a shipped rule, giving it another twin."""
    return dataclass(frozen=True)(type("Broken", (base,), {"twin": lambda self: twin, **members}))()


@pytest.mark.parametrize(
    ("base", "name", "words"),
    [
        (MostViolatingPair, "last_of_equals", r"step 1: the engines differ .*: [ij] is \d+ in the readable"),
        (MostViolatingPair, "writes_alpha", r"step 4: the engines differ .*: alpha\[0\] is"),
        (MostViolatingPair, "insatiable", r"asked for kernel row .* which is in memory"),
        (NewtonStep, "one_bit_off", "the engines differ .*: step is"),
        (KKTGap, "another_reason", "the engines differ .*: reason is"),
    ],
)
@pytest.mark.slow
def test_a_wrong_twin_is_found_at_its_first_wrong_step(base, name, words, twins):
    members = {"reasons": ("one", "two")} if name == "another_reason" else {}
    sentence = fails(with_twin(base, twins[name], **members), words)
    assert "Problem " in sentence
    assert ("shrinking=" in sentence) == ("engines differ" in sentence)


@pytest.mark.slow
def test_a_right_twin_without_signature_passes(twins):
    from numba import njit

    @njit
    def most_violating(parameters, state):
        now = state.now[0]
        return (now.top, now.bottom) if now.gap > 0.0 else (-1, -1)

    report = check_strategy(with_twin(MostViolatingPair, most_violating))
    assert report.twin.startswith("Both engines agree bit for bit in ")


@needs_numba
def test_a_twin_that_counts_rows_differently_is_found():
    problem = practice_problems()["overlapping classes"]
    one, other = (solve(problem, engine=engine, shrinking=False) for engine in ("numpy", "numba"))
    assert first_difference(one, other) is None
    for name in ("kernel_rows", "kernel_hits", "iterations"):
        changed = replace(other, **{name: getattr(other, name) + 1})
        assert first_difference(one, changed)[1].startswith(f"{name} is ")
