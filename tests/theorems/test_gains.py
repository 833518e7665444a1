"""Gains of single steps, over-relaxed ones included, for every combination of rules on the catalogue and at random.

PA is T. Glasmachers, "The planning-ahead SMO algorithm", 2008.
"""

from __future__ import annotations

import numpy as np
import pytest

from refsvm import Greedy, KKTGap, OverrelaxedNewtonStep

from ..catalogue import PROBLEMS, combinations
from ..settings import FAST
from .replay import BANANA, LIMIT, classification, random_problem, replay

COMBINATIONS = list(combinations())
PAIRS_ALONE = [(selector, step) for selector, step in COMBINATIONS if not step.uses_momentum]
"""A trace tells what the pair of a step moved, from which the gain is computed; a step with momentum moves more."""


def problems():
    """The catalogue without the problems made for shrinking, and twenty random ones."""
    yield from ((name, known.problem) for name, known in PROBLEMS.items() if not known.large)
    yield from ((f"random {seed}", random_problem(seed)) for seed in range(20))


@pytest.mark.parametrize(("selector", "step"), PAIRS_ALONE, ids=repr)
@pytest.mark.slow
def test_no_step_loses_and_no_planned_pair_does(selector, step):
    """Every SMO step gains; a planned step and the next gain at least (1 − η²) of the Newton gain (PA, Lemma 3)."""
    limit = 20 if isinstance(selector, Greedy) and FAST == "numpy" else LIMIT
    pairs = 0
    for name, problem in problems():
        steps = replay(problem, limit, selector=selector, step=step, stop=KKTGap(1e-6))
        gain, planned, slack = steps.gain, steps.planned, steps.rounding
        assert (gain[~planned] >= -slack[~planned]).all(), name
        if not step.history:
            assert not planned.any(), name
            continue
        t = np.flatnonzero(planned[:-1])
        newton = 0.5 * steps.slope[t] ** 2 / steps.curvature[t]
        sure = (1.0 - selector.planned_range**2) * newton
        assert (gain[t] + gain[t + 1] >= sure - slack[t] - slack[t + 1] - 1e-9 * newton).all(), name
        pairs += len(t)
    assert bool(pairs > 1000) == bool(step.history)


# -- PA, section 7.3: over-relaxed steps -----------------------------------------------------------------------


@pytest.mark.parametrize("factor", [0.5, 1.1, 1.9])
def test_an_over_relaxed_step_keeps_its_share_of_the_newton_gain(factor, engine):
    """g(ωμ̂) = (2ω − ω²) g̃ for a free step: 99 % for ω = 1.1."""
    problem = classification(BANANA, C=10.0, gamma=0.25)
    steps = replay(problem, step=OverrelaxedNewtonStep(factor), engine=engine)
    newton = 0.5 * steps.slope**2 / steps.curvature
    share = (steps.gain / newton)[steps.free]
    np.testing.assert_allclose(share, 2.0 * factor - factor**2, rtol=1e-7)
    assert len(share) > 20
