"""Leave-one-out against refits from scratch; when it is ended early."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import ClassVar

import numpy as np
import pytest

from refsvm import (
    ATO,
    AVG,
    RBF,
    TOP,
    Check,
    Cold,
    KKTGap,
    Linear,
    LOODualityGap,
    Precomputed,
    Status,
    StoppingRule,
    TrainingError,
    XiAlphaBound,
    ZeroAlpha,
    leave_one_out,
)
from refsvm.core.rounds.left_out_table import LeftOutTable
from refsvm.core.rounds.sufficiency import CHECKS
from refsvm.datasets import make_banana

from ...settings import FAST
from .sets import KERNELS, brute_force, data


@pytest.mark.parametrize("name", ["heart", "ionosphere", "banana"])
def test_a_walk_to_the_end_needs_no_step_after_it(name):
    X, y = data(name)
    values = brute_force(X, y, RBF(0.1), 1.0)
    loo = leave_one_out(
        X, y, kernel=RBF(0.1), seeder=ATO(margin=np.inf, budget=np.inf), checks="zero alpha", engine=FAST
    )
    assert set(loo.decided_by) == {"zero alpha", "path"}
    assert loo.counts["path"] > 0.4 * len(y)
    assert not loo.round_iterations.any()
    assert np.array_equal(loo.predictions, np.where(values >= 0.0, 1, -1))
    np.testing.assert_allclose(loo.decision_values, values, atol=1e-6)


def test_a_walk_that_meets_what_is_singular_is_ended_by_steps():
    X, y = data("banana")
    values = brute_force(X, y, Linear(), 1.0)
    loo = leave_one_out(
        X, y, kernel=Linear(), seeder=ATO(margin=np.inf, budget=np.inf), checks=(), engine=FAST
    )
    assert set(loo.decided_by) <= {"path", "kkt"}  # which is which, rounding decides
    assert np.array_equal(loo.decided_by == "path", loo.round_iterations == 0)
    np.testing.assert_allclose(loo.decision_values, values, atol=1e-6)


@pytest.mark.parametrize("engine", ["numpy", FAST])
def test_of_equal_examples_the_curvature_is_0_and_all_checks_stand(engine):
    """0 is not below 0: a positive semi-definite matrix of equal rows is no reason to leave checks out."""
    X, y = data("thyroid")
    X, y = np.vstack([X[:40], X[:20]]), np.append(y[:40], -y[:20])  # equal examples of both classes
    loo = leave_one_out(RBF(0.5)(X, X), y, kernel=Precomputed(), C=1.0, engine=engine)  # warnings are errors
    assert loo.counts["ball"] + loo.counts["xi-alpha bound"] + loo.counts["training error"] > 0
    np.testing.assert_array_equal(loo.predictions, np.where(brute_force(X, y, RBF(0.5), 1.0) >= 0.0, 1, -1))


@pytest.mark.parametrize("check", CHECKS)
def test_each_check_alone_is_right(check):
    decided = 0
    for name in ("heart", "sonar", "thyroid", "banana"):
        X, y = data(name)
        for kernel, C in ((RBF(0.1), 1.0), (RBF(1.0), 0.2), (Linear(), 0.1)):
            some, none = (
                leave_one_out(X, y, kernel=kernel, C=C, checks=checks, stop=KKTGap(), engine=FAST)
                for checks in (check, ())
            )
            assert np.array_equal(some.predictions, none.predictions)
            assert set(none.decided_by) == {"kkt"}
            assert set(some.decided_by) <= {check, "kkt"}
            decided += some.counts[check]
    assert decided > 10


# -- the efficiency test -----------------------------------------------------------------------------------------------


def test_a_rule_that_seldom_decides_early_is_given_up():
    X, y = data("ionosphere")
    rule = LOODualityGap(tol=0.5)  # the KKT gap is reached first
    loo = leave_one_out(X, y, kernel=RBF(0.1), stop=rule, checks=(), engine=FAST)
    assert loo.gap_rule_kept is False
    early = loo.decided_by[:10] == "duality gap"
    assert early.sum() < 5
    assert (loo.decided_by[10:] == "kkt").all()
    kept = leave_one_out(X, y, kernel=RBF(0.1), stop=rule, checks=(), engine=FAST, efficiency_test=False)
    assert kept.gap_rule_kept is None
    # no such rule is tried where there is none, and the ball is never given up
    assert leave_one_out(X, y, kernel=RBF(0.1), stop=KKTGap(), engine=FAST).gap_rule_kept is None
    assert leave_one_out(X, y, kernel=RBF(0.1), engine=FAST).gap_rule_kept is None


@dataclass(frozen=True)
class Early(StoppingRule):
    """It ends each round before its first step, and says of the first examples that it has decided them."""

    left_out: ClassVar[bool] = True
    reasons: ClassVar[tuple[str, ...]] = ("early", "late")
    first: int = 5

    def check(self, state):
        return 1 if state.left_out[0] < self.first else 2

    def outcome(self, reason, value):
        return "early" if reason == "early" else "kkt", value


@pytest.mark.parametrize(("first", "kept"), [(6, True), (5, True), (4, False)])
def test_half_of_the_first_ten_rounds_are_enough(first, kept, monkeypatch):
    monkeypatch.setattr(LeftOutTable, "ties", lambda table: [])  # no round goes on until its sign is proved
    X, y = data("heart", 30)
    loo = leave_one_out(X, y, kernel=RBF(0.1), stop=Early(first=first), checks=(), engine="numpy")
    assert loo.gap_rule_kept is kept
    assert (loo.counts["early"], loo.counts["kkt"] + loo.counts["tie"]) == (first, 30 - first)
    assert (loo.round_iterations[10:].sum() > 0) == (not kept)


@pytest.mark.parametrize("kernel", list(KERNELS))
def test_seeds_and_the_gap_rule_save_steps(kernel):
    (X, y), taken = data("heart", 40), {}
    options = {"kernel": KERNELS[kernel], "C": 5.0, "checks": (), "efficiency_test": False, "engine": FAST}
    for seeder, stop in product((Cold(), AVG(), TOP()), (KKTGap(), LOODualityGap())):
        loo = leave_one_out(X, y, seeder=seeder, stop=stop, **options)
        taken[type(seeder), type(stop)] = loo.round_iterations.sum()
    for stop in (KKTGap, LOODualityGap):
        assert taken[AVG, stop] < taken[Cold, stop]
        assert taken[TOP, stop] < taken[Cold, stop]
    assert taken[Cold, LOODualityGap] < (0.6 if kernel == "linear" else 0.8) * taken[Cold, KKTGap]


# -- limits ------------------------------------------------------------------------------------------------------------


def test_the_callback_sees_progress_and_can_end_it():
    X, y = data("heart")
    seen = []
    # novelty detection has a machine for each sum of the weights
    for C in (1.0, np.linspace(0.5, 1.5, 20)):
        seen.clear()
        leave_one_out(
            X[:20], kernel=RBF(0.1), nu=0.3, C=C, checks=(), engine="numpy",
            callback=lambda at: seen.append((at.done, at.total)),
        )  # fmt: skip
        assert seen[-1] == (20, 20)
    loo = leave_one_out(X, y, kernel=RBF(0.1), engine="numpy", callback=lambda at: True)
    assert loo.status is Status.CALLBACK
    assert not loo.is_complete
    assert "" in loo.decided_by
    decided = loo.decided_by != ""
    assert np.isnan(loo.error)
    wrong = (loo.predictions != y)[decided].sum()
    assert loo.error_bounds == (wrong / len(y), (wrong + (~decided).sum()) / len(y))


def test_a_time_limit_ends_it():
    X, y = data("heart")
    with pytest.warns(UserWarning, match=r"(\d+) of \1 examples are not decided.*Raise time_limit"):
        loo = leave_one_out(X, y, kernel=RBF(0.1), engine="numpy", time_limit=1e-9)
    assert loo.status is Status.TIME_LIMIT
    assert not loo.is_complete


@dataclass(frozen=True)
class Confident(Check):
    """An own check: no example far inside of its class is trained without."""

    name: ClassVar[str] = "far inside"
    least: float = 1.1

    def decide(self, full, rows):
        y = full.problem.v
        return np.where(y * full.decision_values > self.least, y, 0)


def test_a_check_of_ones_own_decides_what_the_shipped_ones_leave():
    X, y = data("heart")
    options = {"kernel": RBF(0.1), "C": 1.0, "engine": FAST}
    plain = leave_one_out(X, y, **options)
    own = leave_one_out(X, y, checks=[Confident(), "training error"], **options)
    inside = y * own.full_solution.decision_values > 1.1
    assert own.counts["far inside"] == inside.sum() > 0
    assert np.array_equal(own.predictions, plain.predictions)
    assert np.isnan(own.decision_values[inside]).all()
    assert list(own.counts)[-1] == "far inside"


def test_checks_are_given_by_name_or_as_instances():
    X, y = data("heart")
    options = {"kernel": RBF(0.1), "C": 1.0, "engine": FAST}
    named = leave_one_out(X, y, **options)
    given = leave_one_out(X, y, checks=(XiAlphaBound(), TrainingError(), ZeroAlpha()), **options)
    assert np.array_equal(named.decided_by, given.decided_by)


def test_the_xi_alpha_bound_asks_whether_the_free_ones_can_take_the_weight_over():
    """The free example is full before it has all of what r had, and b moves until one far away takes the rest."""
    X, y = np.array([[0.0], [-1.0], [-0.9], [0.5]]), np.array([1, -1, 1, 1])
    C = np.array([0.995, 1.0, 0.01, 10.0])
    options = {"kernel": Linear(), "C": C, "stop": KKTGap(1e-8), "engine": FAST}
    checked, refitted = leave_one_out(X, y, **options), leave_one_out(X, y, checks=(), **options)
    assert refitted.decision_values[2] == pytest.approx(-0.4035)
    assert np.array_equal(checked.predictions, refitted.predictions)


def test_a_frame_has_a_row_for_each_example():
    pytest.importorskip("pandas")
    data = make_banana(30, rng=0)
    loo = leave_one_out(data.X, data.y, kernel=RBF(0.5), C=10.0, engine="numpy")
    frame = loo.to_frame()
    assert list(frame) == ["label", "prediction", "decided_by", "decision_value", "iterations"]
    assert (frame["label"] != frame["prediction"]).mean() == loo.error
    assert frame["iterations"].sum() + loo.full_solution.iterations == loo.iterations
