"""Every result, finished or interrupted, prints a short line and a table without arrays or addresses; it has a card."""

from __future__ import annotations

import html
import pickle
import re
import tempfile
from dataclasses import fields, is_dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import refsvm
from refsvm import (
    RBF,
    DualProblem,
    KKTGap,
    MostViolatingPair,
    Precomputed,
    Recording,
    Rounds,
    SecondOrder,
    Status,
    compare,
    cost_path,
    cross_validate,
    epsilon_path,
    iterate,
    leave_one_out,
    nu_path,
    parametric_path,
    regularization_path,
    solve,
    weight_path,
)
from refsvm.analysis.derivatives import Evaluation, Tuning, influence
from refsvm.analysis.paths import cross_validate_path
from refsvm.analysis.resampling import CrossValidation
from refsvm.analysis.resampling.jackknife import held_out_machines
from refsvm.analysis.resampling.scores import outcomes_of
from refsvm.analysis.scheme import OneVsOne
from refsvm.core.kernels.cached_rows import AllRows
from refsvm.core.shown import VERSION
from refsvm.core.walk.breakpoint import Breakpoint, LinePoint, Move
from refsvm.datasets import Dataset, load
from refsvm.experiment import Experiment, Grid, Problem, Ranking, RuleComparison, Solve
from refsvm.services.summary import card_of
from refsvm.testing import StrategyReport

from .interrupts import pressing
from .settings import interrupted

X, NOISE = np.random.default_rng(0).standard_normal((60, 3)), np.random.default_rng(1).standard_normal(60)
NAMES = {
    "two": ["ill", "well"],
    "three": ["a", "b", "a class whose name is longer than any table would want"],
}


def asked(kind):
    """Return the arguments of a task."""
    if kind in NAMES:
        k = len(NAMES[kind])
        return {"y": np.array(NAMES[kind])[np.argsort(np.argsort(X[:, 0] + NOISE)) * k // 60]}
    if kind == "regression":
        return {"y": X[:, 0] + X[:, 1] ** 2, "epsilon": 0.1}
    return {"nu": 0.3}


KINDS = [*NAMES, "regression", "novelty"]
CALLS = {
    "loo": (leave_one_out, {}),
    "cv": (cross_validate, {"folds": 5, "rng": 0, "stop": KKTGap(1e-9), "shrinking": False}),
}


def has_columns(result):
    """Return whether a card has a column for each rule, or each fold: of folds that have run."""
    if isinstance(result, CrossValidation):
        return not np.isnan(result.of_folds[1]).all()
    return isinstance(result, RuleComparison)


def problem(kind):
    """Return a dual problem of each kind, and one of a form of its own."""
    kernel, labels = RBF(0.5), np.where(X[:, 0] > 0, 1, -1)
    if kind == "regression":
        return DualProblem.regression(X, X[:, 1], kernel=kernel)
    if kind == "novelty":
        return DualProblem.one_class(X, kernel=kernel)
    if kind == "weighted":
        return DualProblem.classification(X, labels, kernel=kernel, C=np.exp(NOISE))
    if kind == "callable":
        return DualProblem.classification(X, labels, kernel=lambda A, B: A @ B.T)
    whole = DualProblem.classification(X, labels, kernel=kernel)
    return whole if kind == "two" else DualProblem(whole.gram, whole.v, 1.0, whole.lower, whole.upper)


class Distances:
    """A kernel matrix of a caller, which prints its address."""

    n = 60

    def block(self, rows, columns=None):
        """Return values of the kernel."""
        return RBF(0.5)(X[rows], X if columns is None else X[columns])


def results_of_paths(y):
    """Yield paths, and curves along them, by name."""
    yield "path", lambda: regularization_path(X, y, C_max=10.0)
    yield "path that a limit has ended", lambda: regularization_path(X, y, C_max=10.0, max_events=3)
    yield "path before anything", lambda: regularization_path(X, y, C_max=10.0, time_limit=1e-9)
    yield "path of three before anything", lambda: regularization_path(X, **asked("three"), time_limit=1e-9)
    yield (
        "path of tubes before anything",
        lambda: epsilon_path(X, X[:, 0], epsilon=(1.0, 0.1), time_limit=1e-9),
    )
    yield "path of tubes", lambda: epsilon_path(X, X[:, 0], epsilon=(1.0, 0.1))
    yield "path of shares", lambda: nu_path(X, nu=(0.2, 0.4))
    yield "path of weights", lambda: weight_path(X, y, C=(np.ones(60), np.exp(0.1 * NOISE)))
    yield "path of costs", lambda: cost_path(X, y)
    yield "line", lambda: parametric_path(problem("two"), problem("weighted"))
    yield "path of three", lambda: regularization_path(X, **asked("three"), C_max=10.0)
    yield "curve", lambda: regularization_path(X, y, C_max=10.0).validation_error(X, y)
    yield "folds of a path", lambda: cross_validate_path(X, y, C_max=10.0, folds=3)
    yield "operating points", lambda: cost_path(X, y).roc(X, y)


def results():  # noqa: PLR0915
    """Yield everything that is shown, by name."""
    for kind in ("two", "regression", "novelty", "weighted", "callable", "own"):
        yield f"problem {kind}", lambda kind=kind: problem(kind)
        yield f"solution {kind}", lambda kind=kind: solve(problem(kind), max_iter=5)
    for name, (call, options) in CALLS.items():
        for kind in KINDS:
            yield f"{name} {kind}", lambda call=call, kind=kind, o=options: call(X, **asked(kind), **o)
            yield (
                f"{name} {kind}, weights",
                lambda call=call, kind=kind, o=options: call(X, **asked(kind), **o, C=np.exp(NOISE)),
            )
            yield (
                f"{name} {kind}, before anything",
                lambda call=call, kind=kind, o=options: call(X, **asked(kind), **o, time_limit=1e-9),
            )
            yield (
                f"{name} {kind} interrupted",
                lambda call=call, kind=kind, o=options: interrupted(
                    call, X, **asked(kind), **o, callback=pressing(lambda _: None, 1)[0], engine="numpy"
                ),
            )
    y = np.where(X[:, 0] + NOISE > 0.0, 1, -1)
    yield "model", lambda: pytest.importorskip("sklearn") and leave_one_out(refsvm.SVC(C=10.0), X, y)
    yield from results_of_paths(y)
    yield "intervals", lambda: held_out_machines(problem("regression"))
    yield "trace", lambda: solve(problem("two"), trace=True).trace
    yield "derivative", lambda: solve(problem("two"), stop=KKTGap(1e-9)).derivative("C")
    yield "derivative at a kink", lambda: solve(PARTED, stop=KKTGap(1e-12)).derivative("C")
    yield "influence", lambda: influence(problem("two"), [[0], [1, 2]])
    cut = {"callback": pressing(lambda _: None, 1)[0]}
    yield "influence cut short", lambda: interrupted(influence, problem("two"), [[0], [1]], **cut)
    late = {"time_limit": 1e-9}
    yield "influence before anything", lambda: influence(problem("two"), loss="logistic", **late)
    yield "influence of a regression", lambda: influence(problem("regression"), [[0], [1]], loss="squared")
    yield "tuning", tuned
    yield "tuning before anything", lambda: Tuning({}, np.nan, [], Status.TIME_LIMIT, 0.1)
    yield "new recording", lambda: Recording(problem("two"))
    yield "recording", ended_recording
    yield "recorded state", lambda: ended_recording().at(2)
    yield "ranking", lambda: Ranking({"mvp": 2.0, "second-order": 1.0}, 0.04, 3)
    rules, limit = ["mvp", "second-order"], {"engine": "numpy", "max_iter": 2}
    yield "race", lambda: compare(problem("two"), rules, engine="numpy")
    yield "race with a limit", lambda: compare(problem("two"), rules, ["newton", "planning-ahead"], **limit)
    yield "rounds", lambda: Rounds(problem("two"))
    yield "state", ended_state
    yield "matrix", lambda: problem("two").gram
    yield "view", lambda: problem("regression").gram
    yield "rows", lambda: Rounds(problem("two")).rows
    yield "numbers", lambda: DualProblem.classification(RBF(0.5)(X, X), y, kernel=Precomputed()).gram
    yield "matrix of a caller", lambda: DualProblem.classification(gram=Distances(), y=y).gram
    yield "all rows", lambda: AllRows(problem("two").gram)
    yield "first state", lambda: next(iter(iterate(problem("two"))))
    yield "data", lambda: load("heart")
    yield "data without labels", lambda: Dataset("no labels", X, None)
    yield "experiment", experiment
    yield "comparison", lambda: ran(experiment()).compare("iterations")
    yield "its table", lambda: ran(experiment()).table("iterations")
    yield "report", lambda: StrategyReport("SecondOrder(planned_range=0.9)", ("one",) * 15, 1331, "Said.")
    yield "table", lambda: Grid(("set", *map(str, range(30))), (("heart", *["1,234,567"] * 30),))


# the box of both is where the hard margin is: α grows with C below, and stands above
PARTED = DualProblem.classification(np.array([[0.0], [2.0]]), [-1, 1], kernel="linear", C=0.5)


def experiment():
    """Return an experiment of two strategies on one problem."""
    strategies = [Solve("first", selector=MostViolatingPair()), Solve("second", selector=SecondOrder())]
    problems = [Problem("plane", lambda: Dataset("plane", X, problem("two").v), kernel=RBF(0.5))]
    return Experiment(strategies, problems, Path(tempfile.mkdtemp(), "runs.sqlite"), permutations=3)


def ran(given):
    """Run an experiment and return it."""
    given.run()
    return given


def tuned():
    """Return a search along the gradient that was ended."""
    params = {"C": 2.0, "gamma": (0.5, 0.1)}
    rows = [Evaluation(params, loss, np.full(5, loss), 0, 0.1, 0, 1.0) for loss in (0.5, 0.25)]
    return Tuning(params, 0.25, rows, Status.TIME_LIMIT, 1.5)


def ended_recording():
    """Return the recording of a whole solve."""
    recording = Recording(problem("two"))
    assert len([*recording]) > 2
    return recording


def ended_state():
    """Return the state of rounds that have run."""
    rounds = Rounds(problem("two"))
    rounds.solve()
    return rounds.state


SHOWN = {name: cache(call) for name, call in results()}
ABSTRACT = ("KernelMatrix", "KernelRows", "Scores", "TrackedPath")
T_OF_THE_CALL = ("path of weights", "line")
OF_PATHS = ("line", "curve", "folds of a path", "operating points")


UNFINISHED = pytest.mark.filterwarnings("ignore:.*(not (solved|decided)|converge|before its end)")


@UNFINISHED
@pytest.mark.parametrize("name", SHOWN)
def test_results_say_what_was_asked(name):
    if name in OF_PATHS or "path" in name:
        pytest.importorskip("scipy")
    result = SHOWN[name]()
    lines = [repr(result), *str(result).splitlines()]
    assert repr(result).startswith(type(result).__name__)
    assert "\n" not in repr(result)
    assert max(map(len, lines)) <= 100, max(lines, key=len)
    page = result._repr_html_()
    for text in (*lines, page):
        assert "object at 0x" not in text
        assert "array(" not in text
    assert not re.search(r"<script|https?:|url\(", page)
    assert page.count("<div") == page.count("</div>")
    # no row is empty or says that there is nothing, and no parameter has a name that the call did not use
    assert not re.search(r"<t[dh][^>]*>\s*</t[dh]>|\b(nan|None)\b", page)
    assert not re.search(r"\bnan\b|\bNone\b", lines[0])
    assert name in T_OF_THE_CALL or not re.search(r"\bt (from|=)", page + lines[0])
    assert f'<div class="refsvm" role="group" aria-label="{type(result).__name__}">' in page
    pictures = re.findall(r'<div class="(?:bar|columns)"([^>]*)>', page)
    assert all(re.fullmatch(r' role="img" aria-label="[^"]+\d"', told) for told in pictures)
    has_parts = "solution" in name or (name.startswith(("loo", "model")) and any(result.counts.values()))
    assert len(pictures) == has_parts + has_columns(result)
    told = card_of(result)
    assert html.escape(told.sentence or told.line) in page
    assert ('class="partial"' in page) == told.is_partial


LOCAL = {"problem callable", "solution callable", "new recording", "recording", "experiment", "state"}
"""Results that hold a function of a test, or a computation under way, which cannot be pickled."""


def written_and_read():
    """Return what is read of a file of a model."""
    file = Path(tempfile.mkdtemp(), "two.model")
    refsvm.write_model(refsvm.SVC().fit(X, X[:, 0] > 0.0), file)
    return refsvm.read_model(file)


NOT_SHOWN = {
    "audit": lambda: SHOWN["path"]().kkt_audit(),
    "side of a derivative": lambda: SHOWN["derivative"]().right,
    "gradients": lambda: solve(problem("two"), stop=KKTGap(1e-9)).pullback(intercept=1.0),
    "model of a file": lambda: pytest.importorskip("sklearn") and written_and_read(),
}


@UNFINISHED
@pytest.mark.parametrize("name", [*(name for name in SHOWN if name not in LOCAL), *NOT_SHOWN])
def test_a_pickle_names_the_version_that_wrote_it_and_only_what_can_be_used_is_read(name, monkeypatch):
    if name in OF_PATHS or "path" in name or name in NOT_SHOWN:
        pytest.importorskip("scipy")
    result = {**SHOWN, **NOT_SHOWN}[name]()
    again = pickle.loads(pickle.dumps(result))
    assert type(again) is type(result)
    assert name in NOT_SHOWN or str(again) == str(result)
    with monkeypatch.context() as patch:
        patch.setattr(refsvm, "__version__", "9.1.0")
        later = pickle.dumps(result)
    with pytest.raises(
        ValueError, match=rf"^refsvm 9\.1\.0 wrote this \w+, and refsvm {refsvm.__version__} cannot"
    ):
        pickle.loads(later)
    own = fields(result) if is_dataclass(result) else ()
    for field in (*type(result).needed, *(each.name for each in own)):
        state = {key: value for key, value in result.__getstate__().items() if key not in (field, VERSION)}
        if not hasattr(type(result), field):
            with pytest.raises(
                ValueError, match=rf"^refsvm 0\.3\.0 or earlier wrote this {type(result).__name__}"
            ):
                object.__new__(type(result)).__setstate__(state)


@pytest.mark.parametrize("name", ["loo two", "loo three", "cv two", "cv three", "loo novelty", "cv novelty"])
def test_the_numbers_are_the_attributes(name):
    result = SHOWN[name]()
    assert f"{result.error:.4f}" in repr(result)
    assert f"{result.error:.4f}" in result._repr_html_()
    assert result.error_bounds == (result.error, result.error)
    assert f"{int((result.predictions != result.labels).sum())} of 60" in repr(result)


@pytest.mark.parametrize("name", ["loo regression", "cv regression"])
def test_the_numbers_of_a_regression_are_the_attributes(name):
    result = SHOWN[name]()
    for text in (str(result), result._repr_html_()):
        assert all(f"{value:.4g}" in text for value in (result.rmse, result.mae, result.r2))
    assert "epsilon=0.1" in str(result)


@pytest.mark.parametrize("name", [name for name in SHOWN if name.endswith("interrupted")])
def test_the_ends_of_a_partial_result_are_those_of_its_bounds(name):
    part = SHOWN[name]()
    decided = f"{np.count_nonzero(part.outcomes)} of 60 examples decided"
    for text in (repr(part), part._repr_html_()):
        assert decided in text
    for score, (low, high) in part.bounds.items():
        assert f"<td>{low:.4g} to {high:.4g}</td>" in part._repr_html_(), score


def test_an_example_whose_votes_are_settled_is_decided():
    """Where a bound has moved, some examples are decided, though not all of their pairs have run."""
    part = SHOWN["loo three interrupted"]()
    low, high = part.error_bounds
    assert not part.is_known.any()
    assert 0.0 < 1.0 - (high - low) == pytest.approx(np.count_nonzero(part.outcomes) / 60)


def test_votes_that_are_settled_count():
    """An example is open if and only if the pairs that are left can make it right and wrong."""
    rng = np.random.default_rng(1)
    for k in (2, 3, 4, 5):
        pairs = k * (k - 1) // 2
        values, codes = rng.standard_normal((100, pairs)), rng.integers(0, k, 100)
        values[rng.random(values.shape) < 0.4] = np.nan
        signs = np.where(np.arange(2**pairs)[:, None] >> np.arange(pairs) & 1, 1.0, -1.0)
        for row, code, outcome in zip(values, codes, outcomes_of(values, codes, k), strict=True):
            seen = set(OneVsOne(k).votes(np.where(np.isnan(row), signs, row)) == code)
            assert seen == ({0, 1} if outcome == 0 else {max(outcome, 0)})


def test_the_numbers_of_a_solution_and_of_a_path_are_the_attributes():
    pytest.importorskip("scipy")
    solution, path = SHOWN["solution two"](), SHOWN["path"]()
    for text in (str(solution), solution._repr_html_()):
        for value in (solution.objective, solution.primal_objective, solution.intercept):
            assert f"{value:.6f}" in text
        assert f"{solution.kkt_gap:.2e}" in text
        assert all(f"{value}" in text for value in (np.count_nonzero(solution.alpha), solution.iterations))
    assert f"({len(path.C)} breakpoints, C from {path.C[0]:.6g} to {path.C[-1]:.6g}, CONVERGED)" in repr(path)


def test_a_count_of_one_has_a_singular_noun():
    two = DualProblem.classification(np.array([[0.0], [1.0]]), [-1, 1])
    recording = Recording(two)
    assert repr(recording.at(1)).startswith("RecordedState(after 1 step: ")
    assert repr(recording).startswith("Recording(1 step so far, ")
    assert repr(solve(two, trace=True).trace).startswith("Trace(1 step: ")


def test_a_path_of_one_breakpoint_is_singular():
    pytest.importorskip("scipy")
    path = SHOWN["path"]()
    short = replace(path, record=path.record.until(1))
    assert f"(1 breakpoint, C from {path.C[0]:.6g} to {path.C[0]:.6g}, " in repr(short)


def test_a_derivative_without_free_variables_has_no_condition_number():
    two = DualProblem.classification(np.array([[0.0], [5.0]]), [-1, 1], C=0.5)
    rate = solve(two).derivative("C")
    assert rate.condition == 0.0
    assert repr(rate).endswith(", no variable is free)")
    assert "condition  no variable is free" in str(rate)


def test_a_solution_says_the_reason_of_the_rule():
    class Enough(KKTGap):
        reasons = ("The exam is over.",)

    solution = solve(problem("two"), stop=Enough())
    assert solution.reason == "The exam is over."
    assert "The exam is over." in solution._repr_html_()


GRID = {"Cs": [1.0, 10.0], "cv": 2}
SEARCHES = {
    "two": lambda: refsvm.SVCCV(**GRID, gammas=2),
    "three": lambda: refsvm.SVCCV(**GRID, gammas=2),
    "regression": lambda: refsvm.SVRCV(**GRID, gammas=2),
    "several scores": lambda: refsvm.SVCCV(**GRID, scoring=["accuracy", "f1_macro"], refit="f1_macro"),
    "gradient": lambda: refsvm.SVCGradientCV(n_starts=1, max_evaluations=3, cv=2),
    "linear": lambda: refsvm.SVCCV(**GRID, kernel="linear"),
}


def fitted(kind):
    """Return a fitted search."""
    y = X[:, 0] + X[:, 1] ** 2 if kind == "regression" else asked("three" if kind == "three" else "two")["y"]
    return SEARCHES[kind]().fit(X, y)


@pytest.mark.parametrize("kind", SEARCHES)
def test_a_fitted_search_shows_and_draws_what_it_has_found(kind):
    pytest.importorskip("sklearn")
    pytest.importorskip("matplotlib").use("agg")
    search = SEARCHES[kind]()
    assert 'class="refsvm"' not in search._repr_html_()
    search = fitted(kind)
    for page in (search._repr_html_(), search._repr_mimebundle_()["text/html"]):
        card = page[: page.index("</div>", page.index('class="refsvm"'))]
        assert f">{search.best_score_:.4g}<" in card
        for name, value in search.best_params_.items():
            assert f'<th scope="row" class="dim">{name}</th><td>{value:.4g}</td>' in card
        assert not re.search(r"<t[dh][^>]*>\s*</t[dh]>|\b(nan|None)\b", card)
    look = {"score": "f1_macro"} if kind == "several scores" else {}
    assert search.plot(**look).ax_.has_data()


@UNFINISHED
def test_every_class_of_results_is_shown():
    """The table has a result of each class that inherits from those that print."""
    bases = {"Shown"}
    pattern = re.compile(r"^class (\w+)\(([\w, ]+)\):", re.MULTILINE)
    files = [path.read_text(encoding="utf-8") for path in Path(refsvm.__file__).parent.rglob("*.py")]
    classes = dict(pair for text in files for pair in pattern.findall(text))
    while more := {name for name, given in classes.items() if bases & set(given.split(", "))} - bases:
        bases |= more
    pytest.importorskip("scipy")
    slow = "interrupted|loo (three|regression)|^model|its table"
    quick = [name for name in SHOWN if not re.search(slow, name)]
    assert {type(SHOWN[name]()).__name__ for name in quick} == bases - {"Shown", *ABSTRACT}


def test_parts_of_results_print_a_line_without_arrays():
    pytest.importorskip("scipy")
    path, of_experiment = SHOWN["path"](), experiment().problems[0]
    alpha, moves = np.linspace(0.0, 1.0, 60), (Move(3, -1, 0, "full rank"),)
    points = Breakpoint(2.5, alpha, 0.1, "full rank", moves, 7), LinePoint(0.25, alpha, 0.1, "end", (), 1200)
    side = SHOWN["derivative at a kink"]().left
    printed = (path.record, path.merged, of_experiment, of_experiment.instance(), *points, side)
    assert not [text for text in map(repr, printed) if len(text) > 100 or re.search("array|0x|\n", text)]
