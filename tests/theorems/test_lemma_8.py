"""Lemma 8 of HMG: a free variable of the previous working set always leads on.

HMG is T. Glasmachers and C. Igel, "Maximum-gain working set selection for SVMs", JMLR 7, 2006.
"""

from __future__ import annotations

import itertools
import os

import numpy as np
import pytest

from refsvm import DualProblem, HybridMaximumGain, KKTGap, MaximumGain, OverrelaxedNewtonStep, Precomputed
from refsvm.core.kernels import Gram
from refsvm.core.kernels.cached_rows import stored_rows
from refsvm.core.problem import most_violating_pair
from refsvm.core.selectors.gain import exact_gain
from refsvm.core.solver.rules import Rules

ALL_CASES = os.environ.get("REFSVM_ALL_CASES", "0") not in ("", "0")
"""Whether Lemma 8 is checked on every case for the selectors themselves, which takes minutes."""


LEVELS = np.array(list(itertools.product(range(-4, 5), repeat=4)), dtype=float)
"""Footnote 4: these 9⁴ gradients show every combination of signs of the six differences."""
LABELS = list(itertools.product([-1, 1], repeat=4))
PLACES = list(itertools.product([0.0, 0.5, 1.0], repeat=3))


def gains(a, y, gradients):
    """Whether a pair gains, for each of the six pairs and each gradient ∂f/∂a; C = 1 and q = 1 change no sign."""
    a, y = np.array(a), np.array(y)
    alpha, G = y * a, y * gradients
    rise, fall = np.maximum(0, y) - alpha, alpha - np.minimum(0, y)
    return {
        pair: np.any(
            [
                exact_gain(G[:, i] - G[:, j], np.ones(len(G)), np.full(len(G), min(rise[i], fall[j]))) > 0
                for i, j in (pair, pair[::-1])
            ],
            axis=0,
        )
        for pair in itertools.combinations(range(4), 2)
    }


RELATED = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3)]
"""The pairs related to B₁ = {1, 2}, counted from zero."""


def counter_examples(first, pairs=RELATED):
    """Number of cases with α₁ at `first`, and of those in which some pair gains but none of `pairs` does."""
    cases = found = 0
    for places, y in itertools.product(PLACES, LABELS):
        gain = gains((first, *places), y, LEVELS)
        some = np.any([gain[pair] for pair in pairs], axis=0)
        found += int((np.any(list(gain.values()), axis=0) & ~some).sum())
        cases += len(LEVELS)
    return cases, found


def test_lemma_8_holds_in_every_case():
    """All cases of the paper's enumeration, on the exact gain that the selectors rank by."""
    assert counter_examples(first=0.5) == (2_834_352, 0)


def test_the_pairs_of_the_free_variable_are_enough():
    """If no pair {1, t} gains, G₁ separates what may rise from what may fall: ψ ≤ 0. Each of the three is needed."""
    own = [(0, 1), (0, 2), (0, 3)]
    assert counter_examples(0.5, own)[1] == 0
    assert counter_examples(0.5, own[1:])[1] > 0


def test_lemma_8_needs_the_free_variable():
    """With both variables of B₁ at a bound there are counter-examples: Theorem 7 shows one."""
    for bound in (0.0, 1.0):
        assert counter_examples(first=bound)[1] > 0


@pytest.mark.parametrize("selector", [MaximumGain(), HybridMaximumGain()], ids=repr)
def test_maximum_gain_finds_the_pair_of_lemma_8(selector):
    """One case in 1009 for the selectors themselves; all of them if REFSVM_ALL_CASES is set."""
    problem = DualProblem(Gram(Precomputed(), np.eye(4)), np.zeros(4), 0.0, -np.ones(4), np.ones(4))
    rows = stored_rows(problem.gram)
    state = Rules(selector, OverrelaxedNewtonStep(), KKTGap()).begin(problem, np.zeros(4), rows)
    state.working_sets[0] = 0, 1
    combined = itertools.product(PLACES, LABELS, range(len(LEVELS)))
    checked = left = 0
    for places, y, g in itertools.islice(combined, 0, None, 1 if ALL_CASES else 1009):
        state.upper[:] = np.maximum(0, y)
        state.lower[:] = state.upper - 1.0
        state.alpha[:] = y * np.array([0.5, *places])
        state.gradient[:] = y * LEVELS[g]
        point = state.alpha, state.gradient, state.lower, state.upper
        state.top, state.bottom, state.gap = most_violating_pair(*point)
        i, j = selector.select(state)
        if state.gap > 0.0:
            assert {i, j} & {0, 1}, (places, y, LEVELS[g])
            assert state.gradient[i] > state.gradient[j]
            assert state.alpha[i] < state.upper[i]
            assert state.alpha[j] > state.lower[j]
            left += 1
        else:
            assert (i, j) == (-1, -1)
        checked += 1
    assert checked == (2_834_352 if ALL_CASES else 2810)
    assert left > 0.9 * checked
