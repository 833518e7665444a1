"""Results draw themselves."""

from __future__ import annotations

import numpy as np
import pytest

from refsvm import (
    DualProblem,
    Recording,
    compare,
    cost_path,
    cross_validate,
    leave_one_out,
    regularization_path,
    solve,
)
from refsvm.datasets import load
from refsvm.display import (
    BarDisplay,
    ConvergenceDisplay,
    CostPathDisplay,
    LOODecisionDisplay,
    PathDisplay,
    ValidationPathDisplay,
)
from refsvm.paths import cross_validate_path

plt = pytest.importorskip("matplotlib.pyplot")

HEART = load("heart")
X, Y = HEART.X[:60], HEART.y[:60]

DRAWN = {
    "solution": (lambda: solve(DualProblem.classification(X, Y), trace=True), ConvergenceDisplay),
    "race": (lambda: compare(DualProblem.classification(X, Y), engine="numpy"), ConvergenceDisplay),
    "recording": (lambda: Recording(DualProblem.classification(X, Y)), ConvergenceDisplay),
    "leave-one-out": (lambda: leave_one_out(X, Y), BarDisplay),
    "leave-one-out in a plane": (lambda: leave_one_out(X[:, :2], Y), LOODecisionDisplay),
    "folds": (lambda: cross_validate(X, Y, folds=3), BarDisplay),
    "folds of a regression": (
        lambda: cross_validate(X[:, 1:], X[:, 0], folds=3, epsilon=1.0, C=0.1),
        BarDisplay,
    ),
    "path": (lambda: regularization_path(X, Y, C_max=1.0), PathDisplay),
    "folds of paths": (lambda: cross_validate_path(X, Y, C_max=1.0, folds=2), ValidationPathDisplay),
    "curve": (lambda: regularization_path(X, Y, C_max=1.0).validation_error(X, Y), ValidationPathDisplay),
    "operating points": (lambda: cost_path(X, Y).roc(X, Y), CostPathDisplay),
}


@pytest.fixture(autouse=True)
def _figures_are_closed():
    yield
    plt.close("all")


@pytest.mark.parametrize("name", DRAWN)
def test_a_result_draws_itself(name):
    made, kind = DRAWN[name]
    _, (_, axes) = plt.subplots(2)
    drawn = made().plot(ax=axes)
    assert type(drawn) is kind
    assert drawn.ax_ is axes


def test_bars_are_the_numbers():
    found = cross_validate(X, Y, folds=3)
    drawn = found.plot(color="black")
    assert [bar.get_width() for bar in drawn.ax_.patches] == found.errors.tolist()
    parts = {"seeds": (1.0, 2.0), "rounds": (3.0, 4.0)}
    both = BarDisplay(("cold", "sir"), parts, "seconds", ("sir is not solved.",)).plot()
    assert [bar.get_x() for bar in both.ax_.patches] == [0.0, 0.0, 1.0, 2.0]
    assert both.ax_.get_title(loc="left") == "sir is not solved."


def test_a_result_without_a_picture_names_those_that_have_one():
    with pytest.raises(
        ValueError, match=r"DualProblem has no picture; these have one: RuleComparison, Solution, Rec"
    ):
        DualProblem.classification(X, Y).plot()


def test_a_search_is_drawn_as_it_is():
    pytest.importorskip("sklearn")
    from refsvm import SVCCV
    from refsvm.display import GridDisplay

    search = SVCCV(Cs=[0.1, 1.0], gammas=[0.01, 0.1], cv=3, refit=False).fit(X, Y)
    drawn = GridDisplay.from_results(search)
    assert np.array_equal(drawn.scores, GridDisplay.from_results(search.cv_results_).scores)
