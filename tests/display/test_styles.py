"""Displays under all styles of Matplotlib: words and curves can be told from their ground; and of the wrong things."""

import io
import warnings

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.collections import Collection  # noqa: E402
from matplotlib.colors import to_rgba  # noqa: E402

from refsvm import (  # noqa: E402
    RBF,
    TOP,
    DualProblem,
    KKTGap,
    NewtonStep,
    PlanningAheadStep,
    SecondOrder,
    compare,
    cost_path,
    iterate,
    leave_one_out,
    nu_path,
    regularization_path,
    solve,
)
from refsvm import display as shown  # noqa: E402
from refsvm.analysis.paths import cross_validate_path  # noqa: E402
from refsvm.datasets import Dataset  # noqa: E402
from refsvm.display.contrast import LEAST, OWN_GROUND, contrast, mixed  # noqa: E402
from refsvm.experiment import Experiment, Problem, Solve  # noqa: E402

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 2))
Y = np.where(X[:, 0] + 0.5 * RNG.normal(size=40) > 0, 1.0, -1.0)
GIVEN = {"kernel": RBF(0.5)}
PROBLEM = DualProblem.classification(X, Y, C=10.0, **GIVEN)
PARTED = DualProblem.classification(np.array([[0.0], [2.0]]), [-1, 1], kernel="linear", C=0.5)
TRACED = solve(PROBLEM, step=NewtonStep(), shrinking=False, trace=True)
PLANNED = {"step": PlanningAheadStep(), "shrinking": False, "trace": True}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """One of each kind, by name; called with the axes."""
    rules = {f"rule {k}": SecondOrder(0.1 + 0.1 * k) for k in range(7)}
    plain = {"step": NewtonStep(), "shrinking": False, "trace": True}
    solved = {name: solve(PROBLEM, selector=rule, **plain) for name, rule in rules.items()}
    traces = {f"N = {k}": solve(PROBLEM, **PLANNED).trace for k in (1, 2)}
    loo = leave_one_out(X, Y, C=10.0, **GIVEN)
    path = regularization_path(X, Y, C_min=0.1, C_max=10.0, **GIVEN)
    left_out = cross_validate_path(X, Y, folds="loo", C_min=0.1, C_max=10.0, **GIVEN)
    state = next(iterate(PROBLEM))
    ways = [Solve("whole"), Solve("other", selector=SecondOrder(0.5)), Solve("cut", max_iter=2)]
    problem = Problem("p", lambda: Dataset("p", X, Y), C=10.0, **GIVEN)
    runs = Experiment(ways, [problem], tmp_path_factory.mktemp("runs") / "a.sqlite", permutations=3)
    with pytest.warns(UserWarning, match="cut did not converge in 3 of 3 runs"):
        runs.run()
    grid = {
        "params": [{"C": C, "gamma": g} for C in (1.0, 2.0) for g in (0.1, 0.2)],
        "mean_test_score": np.array([0.1, 0.4, 0.7, 1.0]),
        "mean_iterations": np.array([1.0, 2.0, 3.0, 4.0]),
    }
    without = PROBLEM.without(0), PROBLEM.without(1)
    seed = solve(without[0])
    return {
        "working set": lambda ax: shown.WorkingSetDisplay.from_state(state, state.top, state.bottom, ax=ax),
        "path": lambda ax: shown.PathDisplay.from_path(path, ax=ax),
        "leave-one-out": lambda ax: shown.LOODecisionDisplay.from_result(loo, X, ax=ax),
        "left-out gap": lambda ax: shown.LOOGapDisplay.from_problem(PROBLEM, 3, ax=ax),
        "convergence": lambda ax: shown.ConvergenceDisplay.from_solutions(solved, ax=ax),
        "step sizes": lambda ax: shown.StepSizeDisplay.from_traces(traces, ax=ax),
        "one trace": lambda ax: shown.StepSizeDisplay.from_trace(traces["N = 1"], ax=ax),
        "errors": lambda ax: shown.ValidationPathDisplay({"held out": left_out.curve}).plot(ax),
        "left-out path": lambda ax: shown.LOOPathDisplay.from_result(left_out, ax=ax),
        "costs": lambda ax: shown.CostPathDisplay({"": cost_path(X, Y, C=1.0, **GIVEN).roc(X, Y)}).plot(ax),
        "seed": lambda ax: shown.SeedDisplay.from_seeder(TOP(), seed, without[1], ax=ax),
        "grid": lambda ax: shown.GridDisplay.from_results(grid, ax=ax),
        "profile": lambda ax: shown.ProfileDisplay.from_experiment(runs, ax=ax),
        "boxes": lambda ax: shown.BoxDisplay.from_experiment(runs, ax=ax),
        "means": lambda ax: runs.compare("iterations").plot(ax),
        "ratios": lambda ax: runs.compare("iterations", "whole").plot(ax),
        "residuals": lambda ax: shown.ResidualDisplay({"a": np.arange(5.0), "b": np.ones(5)}).plot(ax),
        "derivative": lambda ax: solve(PROBLEM, stop=KKTGap(1e-9)).derivative("C").plot(ax),
        "kink": lambda ax: solve(PARTED, stop=KKTGap(1e-12)).derivative("C").plot(ax),
        "line": lambda ax: nu_path(X, nu=(0.2, 0.5), **GIVEN).plot(ax),
        "bars": lambda ax: shown.BarDisplay(("a", "b"), {"x": (1.0, 2.0), "y": (3.0, 4.0)}, "s").plot(ax),
    }


def seen(colour, ground, alpha=None):
    """The colour as it is seen on a ground."""
    *rgb, own = to_rgba(colour)
    return mixed(ground, rgb, own if alpha is None else alpha)


def unseen(ax):
    """What cannot be told from its ground: its name, and its contrast."""
    page = seen(ax.figure.get_facecolor(), "white")
    ground, found = seen(ax.get_facecolor(), page), []

    def look(name, colour, behind, alpha=None):
        if (ratio := contrast(seen(colour, behind, alpha), behind)) < LEAST - 1e-9:
            found.append((name, round(ratio, 2)))

    for line in ax.get_lines():
        if line.get_gid() != OWN_GROUND:
            look(f"line {line.get_label()}", line.get_color(), ground, line.get_alpha())
    for each in ax.collections:
        if isinstance(each, Collection) and each.get_array() is None and each.get_gid() != OWN_GROUND:
            for colour in (*np.atleast_2d(each.get_facecolor()), *np.atleast_2d(each.get_edgecolor())):
                if len(colour) == 4:
                    look(f"marks {each.get_label()}", colour, ground)
    labels = ax.xaxis.label, ax.yaxis.label, ax.title, ax._left_title
    for text in (*ax.get_xticklabels(), *ax.get_yticklabels(), *labels):
        look(f"word {text.get_text()!r}", text.get_color(), page)
    if (legend := ax.get_legend()) is not None:
        behind = seen(legend.get_frame().get_facecolor(), ground) if legend.get_frame_on() else ground
        for text in (*legend.get_texts(), legend.get_title()):
            look(f"legend {text.get_text()!r}", text.get_color(), behind)
    return found


STYLES = ["default", *(name for name in plt.style.available if not name.startswith("_"))]


@pytest.mark.slow
@pytest.mark.parametrize("style", STYLES)
def test_words_and_curves_are_legible_in_every_style(made, style):
    with plt.style.context(style):
        for name, draw in made.items():
            # a new figure, and axes of the caller
            drawn = draw(plt.subplots()[1] if style in ("default", "ggplot") else None)
            assert [found for each in drawn.figure_.axes for found in unseen(each)] == [], name
            plt.close("all")  # there are many


def test_words_and_curves_are_legible_in_the_dark(made):
    with plt.style.context("dark_background"):
        for name, draw in made.items():
            drawn = draw(None)
            assert [found for each in drawn.figure_.axes for found in unseen(each)] == [], name
            plt.close("all")


def drawn_with(one, other, folder):
    """Displays of things with two names, and the words in which these stand."""
    two, x = {one: np.arange(5.0), other: np.arange(1.0, 6.0)}, (np.arange(1.0, 4.0), np.arange(1.0, 4.0))
    y = np.where(Y > 0, one, other)
    path = regularization_path(X, y, C_min=0.1, C_max=10.0, **GIVEN)
    roc = cost_path(X, Y, C=1.0, **GIVEN).roc(X, Y)
    problem = Problem(one, lambda: Dataset("p", X, Y), C=10.0, **GIVEN)
    runs = Experiment([Solve(other, max_iter=2), Solve(one)], [problem], folder / "a.sqlite", permutations=3)
    with warnings.catch_warnings(action="ignore"):
        runs.run()
    boxes = {(problem, strategy): np.ones(3) for problem in two for strategy in two}
    yield shown.ConvergenceDisplay({one: x, other: x}).plot(), two
    yield shown.ConvergenceDisplay.from_solutions({one: TRACED, other: TRACED}), two
    yield compare(PROBLEM, {one: "mvp", other: "second-order"}).plot(), two
    yield shown.StepSizeDisplay(two).plot(), two
    yield shown.ResidualDisplay(two).plot(), two
    yield shown.ValidationPathDisplay({one: path.validation_error(X, y)}).plot(), [one]
    yield shown.CostPathDisplay({one: roc, other: roc}).plot(), two
    yield (
        shown.BarDisplay((one, other), {f"{name}!": (1.0, 2.0) for name in two}, "s").plot(),
        [*two, f"{one}!"],
    )
    yield shown.ProfileDisplay(two, "s").plot(), two
    yield shown.BoxDisplay(boxes, "s", one).plot(), [*two, f"s / {one}"]
    yield runs.compare("iterations").plot(), [one, f"{other} did not converge"]
    yield path.plot(), [f"class {name}" for name in two]
    yield (
        shown.LOODecisionDisplay.from_result(leave_one_out(X, y, **GIVEN), X),
        [f"class {name}" for name in two],
    )


@pytest.mark.parametrize(
    "names", [("$5_to_$9", "_Mine"), ("__", "$"), ("$a$ b$^$", "\\alpha"), ("50 %", "a_b_c")]
)
def test_names_of_users_are_drawn_as_they_are(names, tmp_path):
    """They are no formulas, no commands, and no curve is left out of the legend."""
    for drawn, words in drawn_with(*names, tmp_path):
        drawn.figure_.savefig(io.BytesIO())
        texts = [
            text._preprocess_math(text.get_text()) for text in drawn.figure_.findobj(matplotlib.text.Text)
        ]
        plain = [" ".join(text.split()) for text, is_formula in texts if not is_formula]
        for word in words:
            assert any(text.startswith(word) for text in plain), (word, plain)
        plt.close(drawn.figure_)


def test_an_underscore_puts_no_part_of_a_parameter_below_the_line():
    rate = shown.DerivativeDisplay("my_rate", {"": np.ones(2)}).plot().ax_.get_ylabel()
    assert rate == r"$d\alpha_i/d\mathrm{my\_rate}$"


def test_a_colour_of_the_caller_stays(made):
    curve = {"a": (np.arange(1.0, 4.0), np.arange(1.0, 4.0))}
    assert shown.ConvergenceDisplay(curve).plot(color="#ffff00").lines_["a"].get_color() == "#ffff00"
    _, ax = plt.subplots()
    (before,) = ax.plot([0.0, 1.0], color="#ffff00")
    shown.ConvergenceDisplay(curve).plot(ax)
    assert before.get_color() == "#ffff00"


def test_a_part_of_a_figure_has_the_whole_figure():
    figure = plt.figure()
    ax = figure.subfigures(1, 2)[0].subplots()
    curve = {"a": (np.arange(1.0, 4.0), np.arange(1.0, 4.0))}
    assert shown.ConvergenceDisplay(curve).plot(ax).figure_ is figure


UNTRACED = solve(PROBLEM)
WRONG = {
    "step sizes without a trace": (
        lambda: shown.StepSizeDisplay.from_trace(UNTRACED.trace),
        "is not of type Trace",
    ),
    "a list of solutions": (lambda: shown.ConvergenceDisplay.from_solutions([UNTRACED]), "has no names"),
    "arrays for solutions": (
        lambda: shown.ConvergenceDisplay.from_solutions({"a": X}),
        "is not of type Solution",
    ),
    "no trace": (lambda: shown.ConvergenceDisplay.from_solutions({"a": UNTRACED}), "has no trace"),
    "no path": (
        lambda: shown.PathDisplay.from_result(UNTRACED),
        "of type RegularizationPath or ParametricPath",
    ),
    "a path of classes": (
        lambda: shown.PathDisplay.from_path(regularization_path(X, np.arange(40) % 3, C_max=0.01, **GIVEN)),
        "one of .paths",
    ),
    "no results": (lambda: shown.GridDisplay.from_results({}), "give cv_results_ of a fitted SVCCV"),
    "folds": (lambda: shown.LOOPathDisplay.from_result(X), "is not of type PathCrossValidation"),
    "another curve": (lambda: shown.ValidationPathDisplay({"a": X}).plot(), "is not of type ErrorCurve"),
    "no roc": (lambda: shown.CostPathDisplay({"a": X}).plot(), "is not of type RocCurve"),
    "no leave-one-out": (
        lambda: shown.LOODecisionDisplay.from_result(UNTRACED, X),
        "is not of type LeaveOneOut",
    ),
    "no problem": (lambda: shown.LOOGapDisplay.from_problem(UNTRACED, 1), "is not of type DualProblem"),
    "no state": (lambda: shown.WorkingSetDisplay.from_state(UNTRACED, 0, 1), "is not of type SolverState"),
    "no seeder": (lambda: shown.SeedDisplay.from_seeder(None, UNTRACED, PROBLEM), "is not of type Seeder"),
    "no experiment": (lambda: shown.ProfileDisplay.from_experiment(X), "is not an Experiment"),
}


@pytest.mark.parametrize("what", WRONG)
def test_the_wrong_thing_is_a_sentence(what):
    call, words = WRONG[what]
    with pytest.raises(ValueError) as refusal:  # noqa: PT011  the words are looked at
        call()
    assert words in str(refusal.value)
    assert str(refusal.value).endswith(".")


def test_several_axes_are_a_sentence(made):
    both, figure = plt.subplots(2)[1], plt.figure()
    for draw in made.values():
        for wrong in (both, list(both), figure, "ax"):
            with pytest.raises(ValueError, match=r"^ax=.* is not an Axes of matplotlib"):
                draw(wrong)


def test_a_solve_that_is_cut_short_is_told_in_its_picture():
    limits = {"whole": {}, "cut": {"max_iter": 3}}
    solved = {name: solve(PROBLEM, trace=True, shrinking=False, **limit) for name, limit in limits.items()}
    drawn = shown.ConvergenceDisplay.from_solutions(solved)
    assert drawn.ax_.get_title(loc="left") == "cut did not converge (MAX_ITER)."
    with pytest.warns(UserWarning, match="The path ends at C="):
        cut = regularization_path(X, Y, max_events=5, **GIVEN)
    assert "The path ended at C" in shown.PathDisplay.from_path(cut).ax_.get_title(loc="left")
    curve = cut.validation_error(X, Y)
    with pytest.warns(UserWarning, match=r"The path ended early"):
        drawn = shown.ValidationPathDisplay({"cut": curve}).plot()
    assert drawn.ax_.get_title(loc="left") == "The path of cut ended early (MAX_ITER)."
