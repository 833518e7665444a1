"""Results draw themselves."""

from __future__ import annotations

import tempfile
from functools import cache, partial
from pathlib import Path

import numpy as np
import pytest

from refsvm import (
    RBF,
    DualProblem,
    KKTGap,
    MostViolatingPair,
    Recording,
    compare,
    cost_path,
    cross_validate,
    iterate,
    leave_one_out,
    nu_path,
    regularization_path,
    solve,
)
from refsvm.analysis.paths import cross_validate_path
from refsvm.analysis.resampling.jackknife import held_out_machines
from refsvm.datasets import Dataset, load
from refsvm.display import (
    BarDisplay,
    ConvergenceDisplay,
    CostPathDisplay,
    DerivativeDisplay,
    LOODecisionDisplay,
    MeanDisplay,
    PathDisplay,
    ProfileDisplay,
    ResidualDisplay,
    ValidationPathDisplay,
    WorkingSetDisplay,
)
from refsvm.experiment import Experiment, Problem, Ranking, Solve

plt = pytest.importorskip("matplotlib.pyplot")

HEART = load("heart")
X, Y = HEART.X[:60], HEART.y[:60]
PROBLEM = DualProblem.classification(X, Y)
REGRESSION = DualProblem.regression(X[:, 1:], X[:, 0], kernel=RBF(0.01))


@cache
def finished():
    """Return an experiment whose runs are finished."""
    ways = [Solve("mvp", selector=MostViolatingPair()), Solve("default")]
    problems = [Problem(name, partial(Dataset, "p", X[:, k:], Y), RBF(0.01)) for k, name in enumerate("ab")]
    found = Experiment(ways, problems, Path(tempfile.mkdtemp(), "runs.sqlite"), permutations=2)
    found.run()
    return found


DRAWN = {
    "solution": (lambda: solve(PROBLEM, trace=True), ConvergenceDisplay),
    "race": (lambda: compare(PROBLEM, engine="numpy"), ConvergenceDisplay),
    "recording": (lambda: Recording(PROBLEM), ConvergenceDisplay),
    "leave-one-out": (lambda: leave_one_out(X, Y), BarDisplay),
    "leave-one-out in a plane": (lambda: leave_one_out(X[:, :2], Y), LOODecisionDisplay),
    "folds": (lambda: cross_validate(X, Y, folds=3), BarDisplay),
    "folds of a regression": (lambda: cross_validate(X[:, 1:], X[:, 0], folds=3, epsilon=1.0), BarDisplay),
    "path": (lambda: regularization_path(X, Y, C_max=1.0), PathDisplay),
    "folds of paths": (lambda: cross_validate_path(X, Y, C_max=1.0, folds=2), ValidationPathDisplay),
    "curve": (lambda: regularization_path(X, Y, C_max=1.0).validation_error(X, Y), ValidationPathDisplay),
    "path of three": (lambda: regularization_path(X, np.arange(60) % 3, C_max=0.1), PathDisplay),
    "another line": (lambda: nu_path(X, nu=(0.2, 0.5)), PathDisplay),
    "trace": (lambda: solve(PROBLEM, trace=True).trace, ConvergenceDisplay),
    "state": (lambda: next(iterate(PROBLEM)), WorkingSetDisplay),
    "held-out machines": (lambda: held_out_machines(REGRESSION), ResidualDisplay),
    "derivative": (lambda: solve(PROBLEM, stop=KKTGap(1e-9)).derivative("C"), DerivativeDisplay),
    "experiment": (finished, ProfileDisplay),
    "comparison": (lambda: finished().compare("iterations"), MeanDisplay),
    "comparison with a baseline": (lambda: finished().compare("iterations", "mvp"), MeanDisplay),
    "ranking": (lambda: Ranking({"a": 1.5, "b": 1.0}, 0.2, 4), BarDisplay),
    "operating points": (lambda: cost_path(X, Y).roc(X, Y), CostPathDisplay),
}


@pytest.mark.parametrize("name", DRAWN)
def test_a_result_draws_itself(name):
    made, kind = DRAWN[name]
    _, (_, axes) = plt.subplots(2)
    drawn = made().plot(ax=axes)
    assert type(drawn) is kind
    assert repr(drawn) == f"<{kind.__name__}>"
    assert drawn.ax_ is axes
    assert axes.get_xlabel()
    assert axes.get_ylabel() or kind is BarDisplay  # whose names stand at its bars


def test_bars_are_the_numbers():
    found = cross_validate(X, Y, folds=3)
    drawn = found.plot(color="black")
    assert [bar.get_width() for bar in drawn.ax_.patches] == found.errors.tolist()
    parts = {"seeds": (1.0, 2.0), "rounds": (3.0, 4.0)}
    both = BarDisplay(("cold", "sir"), parts, "seconds", ("sir is not solved.",)).plot()
    assert [bar.get_x() for bar in both.ax_.patches] == [0.0, 0.0, 1.0, 2.0]
    assert both.ax_.get_title(loc="left") == "sir is not solved."


def test_a_result_without_a_picture_names_those_that_have_one():
    with pytest.raises(ValueError, match="DualProblem cannot be drawn; give one of RuleComparison, Solution"):
        PROBLEM.plot()


def test_a_model_or_a_fitted_search_is_drawn():
    pytest.importorskip("sklearn")
    from refsvm import SVC, SVCCV

    names = np.where(Y > 0, "ill", "well")
    search = SVCCV(Cs=[0.1, 1.0], gammas=[0.01, 0.1], cv=3).fit(X, names)
    best = SVC(C=search.best_params_["C"], gamma=search.best_params_["gamma"])
    for display, said in ((ValidationPathDisplay, "10 folds"), (CostPathDisplay, "training")):
        drawn, again = (display.from_estimator(model, X, names) for model in (search, best))
        (curve,), (other,) = drawn.curves.values(), again.curves.values()
        assert [*drawn.curves] == [said]
        for name, value in vars(curve).items():
            assert np.array_equal(value, getattr(other, name))
    legend = PathDisplay.from_estimator(search, X, names).ax_.get_legend()
    assert [text.get_text() for text in legend.get_texts()][:2] == ["class ill", "class well"]
    drawn = LOODecisionDisplay.from_estimator(SVC(), X[:, :2], names)
    assert drawn.wrong.sum() == round(leave_one_out(X[:, :2], names).error * 60)
    unfitted = SVCCV(Cs=[0.1, 1.0], gammas=[0.01], cv=3, refit=False).fit(X, names)
    with pytest.raises(ValueError, match="not trained a model"):
        ValidationPathDisplay.from_estimator(unfitted, X, names)
    with pytest.raises(ValueError, match="is not an SVC"):
        CostPathDisplay.from_estimator(X, X, names)


@pytest.mark.parametrize(
    "name", ["race", "path", "curve", "folds of paths", "operating points", "comparison"]
)
def test_a_legend_covers_nothing(name):
    """It stands above the axes, and below the edge of the figure."""
    drawn = DRAWN[name][0]().plot()
    drawn.figure_.canvas.draw()
    legend, axes = (each.get_window_extent() for each in (drawn.ax_.get_legend(), drawn.ax_))
    assert legend.y0 >= axes.y1 - 1.0
    assert legend.y1 <= drawn.figure_.bbox.y1


def test_notes_stand_below_the_legend():
    drawn = solve(DualProblem.classification(X, Y, C=100.0), trace=True, max_iter=3, engine="numpy").plot()
    drawn.figure_.canvas.draw()
    note = drawn.ax_._left_title
    assert note.get_text() == "solve did not converge (MAX_ITER)."
    assert drawn.ax_.get_legend().get_window_extent().y0 >= note.get_window_extent().y1 - 1.0
