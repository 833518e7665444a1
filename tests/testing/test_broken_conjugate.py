"""check_strategy finds what is wrong with broken conjugate steps, their selector and the ball."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from refsvm import BallRule, ConjugateSecondOrder, ConjugateStep
from refsvm.testing import check_strategy


class Readable:
    """No twin: what is broken is the readable rule."""

    def twin(self):
        return None


@dataclass(frozen=True)
class NeverCut(Readable, ConjugateStep):
    """Forgets the bounds of the support."""

    def _inside(self, state, i, j, sigma, mu):
        return mu, mu * sigma


@dataclass(frozen=True)
class CutAtThePairAlone(Readable, ConjugateStep):
    def _inside(self, state, i, j, sigma, mu):
        return min(mu, state.high), min(mu, state.high) * sigma


@dataclass(frozen=True)
class TooFar(Readable, ConjugateStep):
    """Three times the step to the maximum."""

    def _inside(self, state, i, j, sigma, mu):
        return super()._inside(state, i, j, sigma, 3.0 * mu)


@dataclass(frozen=True)
class Swapped(Readable, ConjugateStep):
    def length(self, state, i, j):
        return super().length(state, i, j)[::-1]


@dataclass(frozen=True)
class OtherSign(Readable, ConjugateStep):
    """Goes along the displacement instead of against it, as far as the conjugate direction would."""

    def length(self, state, i, j):
        mu, kappa = super().length(state, i, j)
        return mu, -30.0 * kappa


@dataclass(frozen=True)
class OneNumber(Readable, ConjugateStep):
    def length(self, state, i, j):
        return super().length(state, i, j)[0]


@dataclass(frozen=True)
class AnyJ(Readable, ConjugateSecondOrder):
    """Takes j where nothing can fall."""

    def select(self, state):
        i, j = super().select(state)
        stuck = np.flatnonzero(state.alpha <= state.lower)
        return (i, int(stuck[0])) if i >= 0 and len(stuck) and stuck[0] != i else (i, j)


@dataclass(frozen=True)
class Backwards(Readable, ConjugateSecondOrder):
    def select(self, state):
        return super().select(state)[::-1]


@dataclass(frozen=True)
class OneVariable(Readable, ConjugateSecondOrder):
    def select(self, state):
        i, _ = super().select(state)
        return i, i


@dataclass(frozen=True)
class GivesUp(Readable, ConjugateSecondOrder):
    """Ends with the first chain."""

    def select(self, state):
        return super().select(state) if state.last_free or state.iteration < 3 else (-1, -1)


@dataclass(frozen=True)
class WritesImage(Readable, ConjugateSecondOrder):
    def select(self, state):
        if state.displacement_image is not None:
            state.gradient += 1e-6 * state.displacement_image
        return super().select(state)


@dataclass(frozen=True)
class Floats(Readable, ConjugateSecondOrder):
    def select(self, state):
        i, j = super().select(state)
        return float(i), float(j) + 0.5


@dataclass(frozen=True)
class TooSure(Readable, BallRule):
    """Proves whatever it likes: the other sign than that of h."""

    def check(self, state):
        r = int(np.flatnonzero((state.lower == 0.0) & (state.upper == 0.0))[0])
        h = state.v[r] - state.gradient[r] + 0.5 * (state.gradient[state.top] + state.gradient[state.bottom])
        return 3 if h >= 0.0 else 2


@dataclass(frozen=True)
class OtherReasons(Readable, BallRule):
    """Says positive where negative is proved."""

    reasons: ClassVar[tuple[str, ...]] = tuple(BallRule.reasons[k] for k in (0, 2, 1, 3))

    def outcome(self, reason, value):
        return BallRule.outcome(BallRule(), reason, value)


@dataclass(frozen=True)
class NoSuchReason(Readable, BallRule):
    def check(self, state):
        return 5 if super().check(state) > 1 else super().check(state)


@dataclass(frozen=True)
class WritesBox(Readable, BallRule):
    def check(self, state):
        state.lower[state.lower < 0.0] -= 1.0
        return super().check(state)


@dataclass(frozen=True)
class ForgetsWhatItSaid(Readable, BallRule):
    """Says something else when it is asked again."""

    def check(self, state):
        state.stop_memory[4] += 1.0
        return 2 if state.stop_memory[4] > 6.0 else 0


@dataclass(frozen=True)
class SharedMemory(Readable, BallRule):
    def memory(self, problem, steps=0):
        return MEMORY


MEMORY = np.zeros(64)

BROKEN = [
    NeverCut(), CutAtThePairAlone(), TooFar(), Swapped(), OtherSign(), OneNumber(),
    AnyJ(), Backwards(), OneVariable(), GivesUp(), WritesImage(), Floats(),
    TooSure(), OtherReasons(), NoSuchReason(), WritesBox(), ForgetsWhatItSaid(), SharedMemory(),
]  # fmt: skip


@pytest.mark.parametrize("rule", BROKEN, ids=lambda rule: type(rule).__name__)
def test_every_broken_version_fails(rule):
    with pytest.raises(AssertionError):
        check_strategy(rule)
