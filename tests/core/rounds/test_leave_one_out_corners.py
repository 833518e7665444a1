"""Leave-one-out in corner cases, and what it refuses."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from inspect import signature
from typing import ClassVar

import numpy as np
import pytest

from refsvm import (
    RBF,
    DualProblem,
    KKTGap,
    LOODualityGap,
    Precomputed,
    Rounds,
    StoppingRule,
    WorkingSetSelector,
    cross_validate,
    leave_one_out,
)
from refsvm.core.kernels import Gram
from refsvm.core.rounds.round import Round
from refsvm.core.rounds.runner import for_example
from refsvm.datasets import make_chessboard

from ...settings import FAST
from .sets import data


def test_an_example_alone_in_its_class_is_wrong():
    X = np.random.default_rng(0).normal(size=(12, 2))
    y = np.where(np.arange(12) == 4, 1, -1)
    for stop in (KKTGap(), LOODualityGap()):
        loo = leave_one_out(X, y, kernel=RBF(0.5), C=10.0, stop=stop, engine=FAST)
        assert loo.predictions[4] == -1
        assert loo.is_complete
        assert loo.decision_values[4] == pytest.approx(-1.0)


def test_two_examples():
    loo = leave_one_out(np.array([[0.0], [1.0]]), [-1, 1], kernel="linear", engine=FAST)
    assert loo.predictions.tolist() == [1, -1]
    assert loo.error == 1.0


def test_an_indefinite_kernel_is_warned_about_and_decided_by_kkt():
    rng = np.random.default_rng(3)
    noise = rng.normal(size=(30, 30))
    y = np.where(rng.random(30) < 0.5, 1, -1)
    with warnings.catch_warnings(record=True, action="always") as said:
        loo = leave_one_out(noise + noise.T, y, kernel=Precomputed(), stop=LOODualityGap(), engine=FAST)
    assert any("each round ends at the KKT gap" in str(each.message) for each in said)
    assert set(loo.decided_by) <= {"zero alpha", "kkt"}


@pytest.mark.parametrize("names", [("healthy", "ill"), ("ill", "healthy"), (0.0, 1.5)])
def test_any_two_labels(names):
    X, y = data("heart", 40)
    labels = np.where(y > 0, names[1], names[0])
    named, plain = (leave_one_out(X, each, kernel=RBF(0.1), engine=FAST) for each in (labels, y))
    assert set(named.predictions) == set(names)
    assert np.array_equal(named.predictions == names[1], plain.predictions == 1)
    assert named.error == plain.error


class StandIn:
    """A splitter, as far as one can see from its class."""

    def split(self, X, y): ...


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"y": [1] * 30}, "y holds a single class, 1; give labels of at least two"),
        ({"y": [1, -1]}, r"y has shape \(2,\); expected 30 labels"),
        ({"y": np.full(30, np.nan)}, r"y\[0\] is nan, a missing value"),
        ({"C": -1.0}, "C=-1.0 is not positive"),
        ({"seeder": KKTGap}, "seeder=.* is not a Seeder; pass an instance"),
        ({"seeder": "SIR"}, "seeder='SIR' is unknown; "),
        ({"stop": "kkt"}, "stop='kkt' is unknown; did you mean 'kkt-gap'"),
        ({"checks": ["zero"]}, "checks contains 'zero'; choose from 'zero alpha'"),
        ({"checks": 3}, "checks=3 is not a list of checks; choose from 'zero alpha'"),
        ({"checks": [KKTGap]}, r"is not a Check; pass an instance, such as checks=ZeroAlpha"),
        ({"n_jobs": 0}, "n_jobs=0 is not a number of workers"),
        ({"n_jobs": 1.5}, "n_jobs=1.5 is not a number of workers"),
        ({"engine": "fast"}, "engine='fast' is unknown"),
        ({"max_iter": 0}, "max_iter"),
        ({"time_limit": -1.0}, "time_limit"),
        ({"callback": 3}, "callback=3 cannot be called"),
        ({"folds": 1}, "folds=1 is not a whole number ≥ 2.*; give "),
        ({"folds": 500}, "folds=500 exceeds the number of examples, 30"),
        ({"folds": [0, 1]}, r"folds has shape \(2,\)"),
        ({"folds": np.zeros(30, dtype=int)}, "folds holds the single fold 0"),
        ({"folds": StandIn}, "folds=StandIn is a class; pass an instance of it"),
        ({"rng": "x"}, "rng='x' cannot seed a generator"),
        ({"rng": -1}, "rng=-1 cannot seed a generator"),
    ],
)
def test_what_is_refused_by_each_call_that_takes_it(change, words):
    (name,) = change
    calls = [
        call
        for call in (leave_one_out, cross_validate)
        if name in {"X", "y", "C", *signature(call).parameters}
    ]
    assert calls
    for call in calls:
        with pytest.raises(ValueError, match=words):
            call(**dict(zip("Xy", data("heart", 30), strict=True)) | change)


def test_a_rule_for_left_out_examples_gets_to_know_which():
    assert for_example(LOODualityGap(1e-4), 7) == LOODualityGap(1e-4, example=7)
    assert for_example(KKTGap(), 7) == KKTGap()


def test_a_round_that_is_long_goes_on_with_the_example_that_its_rule_was_told():
    """With an example of C = 0 there are two whose box is empty."""
    board, C = make_chessboard(100, rng=0), np.full(100, 1e6)
    C[3] = 0.0
    problem = DualProblem.classification(board.X, board.y, kernel=RBF(0.5), C=C)
    stop = LOODualityGap(1e-9)
    [ended] = Rounds(problem, engine=FAST).run([Round(8)], stop=stop)
    assert ended.iterations > 2000
    assert ended.reason == stop.reasons[1]


@dataclass(frozen=True)
class Patient(StoppingRule):
    """Made for left-out examples, and without a field for their number."""

    left_out: ClassVar[bool] = True

    def check(self, state):
        return int(len(state.left_out) == 1 and state.gap <= 1e-3)


def test_a_rule_for_left_out_examples_may_do_without_their_number():
    X, y = data("heart", 30)
    one, other = (
        leave_one_out(X, y, kernel=RBF(0.01), stop=stop, engine="numpy") for stop in (Patient(), None)
    )
    np.testing.assert_array_equal(one.predictions, other.predictions)


@dataclass(frozen=True)
class NeverAPair(WorkingSetSelector):
    def select(self, state):
        return -1, -1


def test_a_solution_that_is_none_is_warned_about():
    with (
        pytest.warns(UserWarning, match=r"selector=NeverAPair\(\) .* stalled at ψ = 2, above 0\.001"),
        pytest.warns(
            UserWarning, match="30 of 30 machines of leave-one-out are not solved.*another selector"
        ),
    ):
        leave_one_out(*data("heart", 30), kernel=RBF(0.01), selector=NeverAPair(), engine="numpy")


PLACES, TARGETS = np.arange(4.0)[:, None], np.array([0.0, 1.0, 0.5, 2.0])
KNOWN = DualProblem.regression(PLACES, TARGETS, kernel=RBF(0.5), C=1.0, epsilon=0.1)


@pytest.mark.parametrize(
    ("v", "lower", "z"),
    [
        ([1.0, 0.5, 1.0, 0.5], [0] * 4, 1.0),  # a target for each example
        ([0.0] * 4, [-1] * 4, 1.0),  # α of both signs
        ([0.0] * 4, [0] * 4, 0.0),  # nothing to share
        (KNOWN.v, [0, 0, 0, 0, -2, -2, -2, -2], 0.0),  # a box of α′ that is wider
        (KNOWN.v, [0, 0, 0, 0, -1, -1, -2, -1], 0.0),  # for one example
        (KNOWN.v, [0, -1, 0, 0, -1, -1, -1, -1], 0.0),  # a box of α with values below 0
        (np.roll(KNOWN.v, 4), KNOWN.lower, 0.0),  # a tube turned inside out
        (KNOWN.v, KNOWN.lower, 0.5),
    ],
)
def test_a_problem_of_another_kind_is_refused(v, lower, z):
    """Novelty detection has v = 0, L = 0 and z > 0; a regression two boxes of one width for each target, and z = 0."""
    gram, upper = (Gram(RBF(0.5), PLACES), np.ones(4)) if len(v) == 4 else (KNOWN.gram, KNOWN.upper)
    problem = DualProblem(gram, np.array(v), z, np.array(lower, dtype=float), upper)
    with pytest.raises(ValueError, match="DualProblem of an unknown kind"):
        leave_one_out(problem, engine="numpy")
