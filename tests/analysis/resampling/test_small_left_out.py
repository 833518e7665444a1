"""Leave-one-out of many small classes in stacks: the signs, ties and machines of the rounds."""

from __future__ import annotations

import signal
from importlib import import_module

import numpy as np
import pytest

from refsvm import RBF, KKTGap, Linear, Status, leave_one_out
from refsvm.analysis.resampling.task_table import TaskTable

from ...settings import FAST, interrupted

MODULE = import_module("refsvm.analysis.resampling.leave_one_out")
"""The module: its package has a function of that name."""


def examples(seed, sizes, spread):
    """Return examples of classes of these sizes, some of them equal, and weights."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    X = (rng.normal(size=(len(sizes), 2))[y] + spread * rng.normal(size=(len(y), 2))).round(1)
    return X, y, rng.choice([0.5, 1.0, 2.0], len(y))


def by_rounds(monkeypatch, *given, **options):
    """Return the result without stacks."""
    with monkeypatch.context() as patch:
        patch.setattr(MODULE, "have_small_pairs", lambda *_: False)
        return leave_one_out(*given, **options)


CASES = {
    "apart": ((3, 3, 3, 3), 0.3, RBF(0.5), 1.0),
    "sizes": ((1, 2, 5, 3, 1), 0.6, RBF(0.5), 1.0),
    "overlapping": ((4, 5, 4, 6), 1.5, RBF(1.0), 3.0),
    "small C": ((3, 4, 3, 3), 0.4, Linear(), 0.1),
    "linear": ((4, 4, 4), 0.8, Linear(), 1.0),
    "weights": ((4, 5, 3, 4), 1.0, RBF(0.5), None),
}


@pytest.mark.parametrize("name", CASES)
def test_signs_and_ties_are_those_of_the_rounds(name, monkeypatch):
    sizes, spread, kernel, C = CASES[name]
    ties = 0
    for seed in range(2):
        X, y, w = examples(seed, sizes, spread)
        options = {"kernel": kernel, "C": w if C is None else C, "engine": FAST}
        stacked, solved = leave_one_out(X, y, **options), by_rounds(monkeypatch, X, y, **options)
        proved = stacked.is_proved & solved.is_proved
        np.testing.assert_array_equal(np.sign(stacked.sides[proved]), np.sign(solved.sides[proved]))
        assert not (stacked.is_proved & (stacked.decided_by == "tie")).any()
        assert (stacked.is_proved | (stacked.decided_by == "tie")).all()
        # a tie of the rounds may be proved here, where the machine is more exact; a tie here is one of the interval
        assert not (solved.is_proved & ~stacked.is_proved).any()
        is_clear = ~(stacked.decided_by == "tie").any(axis=1)
        np.testing.assert_array_equal(stacked.predictions[is_clear], solved.predictions[is_clear])
        assert stacked.error_bounds[0] >= solved.error_bounds[0]
        assert stacked.error_bounds[1] <= solved.error_bounds[1]
        readable = leave_one_out(X, y, **{**options, "engine": "numpy"})
        np.testing.assert_array_equal(readable.decided_by, stacked.decided_by)
        np.testing.assert_allclose(readable.decision_values, stacked.decision_values, atol=1e-9)
        ties += (stacked.decided_by == "tie").sum()
        for one, other in zip(stacked.full_solutions, solved.full_solutions, strict=True):
            assert one.objective == pytest.approx(other.objective, rel=1e-5)
            assert one.kkt_gap <= 1e-3
    assert ties > 0 or name != "small C"


def test_proved_ties_need_no_rounds(monkeypatch):
    def begin(*_):
        raise AssertionError("a pair was left to the rounds")

    monkeypatch.setattr(TaskTable, "begin", begin)
    sizes, spread, kernel, C = CASES["small C"]
    X, y, _ = examples(0, sizes, spread)
    found = leave_one_out(X, y, kernel=kernel, C=C, engine=FAST)
    assert (found.decided_by == "tie").any()


def test_slices_of_pairs_keep_the_results_and_share_their_texts(monkeypatch):
    X, y, _ = examples(0, (3,) * 12, 0.3)
    whole, tables = leave_one_out(X, y), []
    monkeypatch.setattr("refsvm.analysis.resampling.small_left_out.SLICE_ENTRIES", 200)
    monkeypatch.setattr(MODULE, "warn_of", lambda table, _: tables.append(table))
    found = leave_one_out(X, y)
    for name in ("decided_by", "decision_values", "sides", "is_proved", "predictions"):
        np.testing.assert_array_equal(getattr(found, name), getattr(whole, name))
    # a text for each entry would take more memory than the answer
    assert len({id(each) for each in tables[0].decided.flat}) < 20


def test_rounds_are_left_to_pairs_that_are_not_small(monkeypatch):
    X, y, _ = examples(0, (70, 3, 3), 0.8)
    options = {"kernel": RBF(0.5), "engine": FAST}
    stacked, solved = leave_one_out(X, y, **options), by_rounds(monkeypatch, X, y, **options)
    np.testing.assert_array_equal(stacked.predictions, solved.predictions)
    np.testing.assert_array_equal(stacked.decided_by[:, :2], solved.decided_by[:, :2])
    assert len(stacked.full_solutions) == 3


@pytest.mark.parametrize(
    "given", [{"stop": KKTGap(1e-6)}, {"checks": ()}, {"max_iter": 10_000}, {"trace": True}]
)
def test_what_the_caller_asks_for_is_heeded(given):
    X, y, _ = examples(1, (3, 4, 3), 0.8)
    plain, asked = leave_one_out(X, y, kernel=RBF(0.5)), leave_one_out(X, y, kernel=RBF(0.5), **given)
    np.testing.assert_array_equal(plain.predictions, asked.predictions)
    if "trace" in given:
        assert asked.traces
    if "checks" in given:
        assert asked.counts["zero alpha"] == 0
    assert not plain.traces


@pytest.mark.filterwarnings("ignore:.*not decided")
def test_limits_and_ctrl_c_end_the_stacks():
    X, y, _ = examples(2, (2, 3, 4, 3, 2), 0.8)

    presses = [signal.SIGINT]

    def press(_):
        if presses:  # a second press would interrupt at once
            signal.raise_signal(presses.pop())

    ended = {
        Status.INTERRUPTED: interrupted(leave_one_out, X, y, callback=press),
        Status.TIME_LIMIT: leave_one_out(X, y, time_limit=1e-9),
        Status.CALLBACK: leave_one_out(X, y, callback=lambda _: True),
    }
    for status, found in ended.items():
        assert found.status is status
        assert not found.is_finished
        assert found.error_bounds[0] < found.error_bounds[1]
        assert len(found.full_solutions) < 10
    assert leave_one_out(X, y, callback=lambda _: False).is_finished
    X, y, _ = examples(0, (70, 3, 3), 0.8)  # a limit comes before the first pair, which is not small
    assert not leave_one_out(X, y, time_limit=1e-9).is_finished
