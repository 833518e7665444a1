"""The displays of leave-one-out."""

import numpy as np
import pytest

pytest.importorskip("matplotlib").use("agg")

from refsvm import RBF, DualProblem, KKTGap, LOODualityGap, leave_one_out, solve  # noqa: E402
from refsvm.datasets import make_banana  # noqa: E402
from refsvm.display import LOODecisionDisplay, LOOGapDisplay  # noqa: E402

DATA = make_banana(80, rng=0)
PROBLEM = DualProblem.classification(DATA.X, DATA.y, kernel=RBF(0.25), C=2.0)


def test_the_curves_meet_where_the_rule_stops():
    display = LOOGapDisplay.from_problem(PROBLEM, 5)
    stopped = solve(PROBLEM.without(5), stop=LOODualityGap(), engine="numpy", shrinking=False)
    assert stopped.reason == LOODualityGap.reasons[1]
    # the rule looks every tenth step
    assert 0 <= stopped.iterations - display.decided_after <= 10
    assert (np.diff(display.bound) >= -1e-9).all()
    assert (display.dual <= display.primal + 1e-9).all()
    exact = solve(PROBLEM.without(5), stop=KKTGap(1e-9))
    assert display.bound.max() > exact.objective - 1e-6
    assert display.dual[-1] == pytest.approx(exact.objective, rel=1e-3)
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert "the sign is certain" in labels
    display.figure_.canvas.draw()


def test_every_example_is_drawn_once():
    loo = leave_one_out(DATA.X, DATA.y, kernel=RBF(0.25), C=2.0)
    display = LOODecisionDisplay.from_result(loo, DATA.X)
    drawn = sum(len(points.get_offsets()) for points in display.ax_.collections)
    assert drawn == 80 + int((loo.predictions != loo.labels).sum())
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert f"kkt: {loo.counts['kkt']}" in labels
    display.figure_.canvas.draw()


def test_more_than_two_features_are_refused():
    loo = leave_one_out(DATA.X, DATA.y, kernel=RBF(0.25))
    with pytest.raises(ValueError, match=r"X has shape \(80, 1\); expected the two features of 80 examples"):
        LOODecisionDisplay.from_result(loo, DATA.X[:, :1])
