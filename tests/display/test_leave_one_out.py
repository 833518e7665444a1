"""The displays of leave-one-out."""

from itertools import combinations

import numpy as np
import pytest

pytest.importorskip("matplotlib").use("agg")

from matplotlib.colors import to_rgb  # noqa: E402

from refsvm import RBF, DualProblem, KKTGap, LOODualityGap, leave_one_out, solve  # noqa: E402
from refsvm.datasets import make_banana  # noqa: E402
from refsvm.display import LOODecisionDisplay, LOOGapDisplay  # noqa: E402
from refsvm.display.leave_one_out import COLOURS  # noqa: E402

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
    assert {f"{name}: {count}" for name, count in loo.counts.items() if count} <= {*labels}
    assert labels[-2:] == ["class 1", "class -1"]
    assert display.ax_.get_xlabel()
    assert display.ax_.get_ylabel()
    display.figure_.canvas.draw()


@pytest.mark.parametrize(
    ("labels", "named"),
    [
        (np.array([-1.0, 1.0], dtype=np.float32), ["class 1", "class -1"]),
        (np.array([0.5, 2.5], dtype=np.float32), ["class 2.5", "class 0.5"]),
        (np.array([False, True]), ["class True", "class False"]),
        (np.array(["ill", "well"]), ["class well", "class ill"]),
        (np.array(["ill", "well"], dtype=object), ["class well", "class ill"]),
    ],
    ids=["single", "halves", "bool", "str", "object"],
)
def test_classes_are_called_as_they_are_given(labels, named):
    y = labels[(DATA.y[:30] > 0).astype(int)]
    loo = leave_one_out(DATA.X[:30], y, kernel=RBF(0.25), engine="numpy")
    display = LOODecisionDisplay.from_result(loo, DATA.X[:30])
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()][-2:] == named


# What a display shows to readers who do not see red or green, in linear RGB (G. Machado and others, 2009).
UNSEEN = {
    "all seen": np.eye(3),
    "no green": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
    "no red": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
}


def lab(colour, seen):
    """L*, a*, b* of a colour as it is seen."""
    rgb = np.array(to_rgb(colour))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    X, Y, Z = np.cbrt(to_xyz @ np.clip(np.array(seen) @ linear, 0.0, 1.0) / [0.9505, 1.0, 1.089])
    return np.array([116 * Y - 16, 500 * (X - Y), 200 * (Y - Z)])


@pytest.mark.parametrize("seen", UNSEEN.values(), ids=UNSEEN)
@pytest.mark.parametrize("stop", ["ball", "duality gap", "kkt"])
def test_reasons_that_occur_together_are_told_apart(seen, stop):
    together = ["zero alpha", "training error", "xi-alpha bound", "kkt", "tie", stop]
    shades = {name: lab(COLOURS[name], seen) for name in together}
    assert min(np.linalg.norm(shades[a] - shades[b]) for a, b in combinations(shades, 2)) > 20.0


def test_more_than_two_features_are_refused():
    loo = leave_one_out(DATA.X, DATA.y, kernel=RBF(0.25))
    with pytest.raises(ValueError, match=r"X has shape \(80, 1\); expected the two features of 80 examples"):
        LOODecisionDisplay.from_result(loo, DATA.X[:, :1])
