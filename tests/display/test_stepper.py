"""A stepper takes the steps of its rules, follows what is changed, and shows a rule of the user that fails."""

from __future__ import annotations

import base64
import json
import re
import sys
from itertools import permutations
from signal import SIGINT, raise_signal

import numpy as np
import pytest

from refsvm import (
    RBF,
    TOP,
    ConjugateSecondOrder,
    ConjugateStep,
    DualProblem,
    Linear,
    MostViolatingPair,
    NewtonStep,
    Polynomial,
    SecondOrder,
    WorkingSetSelector,
    solve,
)
from refsvm.datasets import make_banana
from refsvm.display import Stepper
from refsvm.display.task import NODES
from refsvm.display.widget import Reach, _widget_class, examples_of, run_of

DATA = make_banana(40, rng=1)


def race(**given):
    """Two runs in the plane."""
    rules = {"selector": MostViolatingPair(), "against": (SecondOrder(), NewtonStep())}
    return Stepper(DATA.X, DATA.y, **{"kernel": RBF(0.5), "C": 10.0, **rules, **given})


@pytest.fixture
def stepper():
    """Such a stepper, where there is a widget, whose class is made anew."""
    pytest.importorskip("anywidget")
    _widget_class.cache_clear()
    return race()


def problem_of(stepper, **changed):
    """The problem that a stepper of classification should have."""
    given = {"X": DATA.X, "y": DATA.y, "kernel": RBF(0.5), "C": 10.0}
    return DualProblem.classification(**{**given, **changed})


def same_problem(a, b):
    every = np.arange(a.n)
    assert np.array_equal(a.gram.block(every), b.gram.block(every))
    assert all(np.array_equal(getattr(a, name), getattr(b, name)) for name in ("v", "lower", "upper"))


def test_both_runs_take_the_steps_of_solve():
    stepper = race()
    seen = [[state] for state in stepper.now]
    while stepper.may_step:
        stepper.receive({"do": "step"})
        for states, state in zip(seen, stepper.now, strict=True):
            states.append(state)
    for states, rules in zip(seen, stepper.rules, strict=True):
        solution = solve(problem_of(stepper), **rules._asdict(), trace=True, shrinking=False, engine="numpy")
        steps = solution.iterations
        assert [state.gap for state in states[1 : steps + 1]] == solution.trace["gap"].tolist()
        assert [state.next.i for state in states[:steps]] == solution.trace["i"].tolist()
        # the shorter one stands at its end
        assert {id(state) for state in states[steps:]} == {id(states[-1])}
        assert np.array_equal(states[-1].alpha, solution.alpha)
    assert stepper.k == max(len(each.states) for each in stepper.recordings) - 1
    assert [stepper.ending(run) for run in (0, 1)] == ["The KKT gap is at most tol."] * 2


def test_going_back_and_forth_takes_no_step_twice():
    stepper = race()
    stepper.step(9)
    states = stepper.now
    stepper.receive({"do": "back"})
    stepper.back(100)
    assert stepper.k == 0
    stepper.receive({"do": "to", "with": [9]})
    assert all(a is b for a, b in zip(stepper.now, states, strict=True))
    assert len(stepper.gaps(0)) == 10
    assert stepper.ending(0) == ""
    stepper.end()
    most = max(len(each.states) for each in stepper.recordings) - 1
    assert stepper.k == most
    stepper.step()
    assert stepper.k == most


@pytest.mark.parametrize("factor", [0.1, 3.0 / 7.0])
def test_another_penalty_goes_on_from_the_share_of_every_variable(factor):
    stepper = race()
    stepper.end()
    before = [state.alpha for state in stepper.now]
    stepper.receive({"do": "C", "with": [10.0 * factor]})
    assert stepper.k == 0
    same_problem(stepper.task.problem, problem_of(stepper, C=10.0 * factor))
    for alpha, state in zip(before, stepper.now, strict=True):
        np.testing.assert_allclose(state.alpha, factor * alpha, atol=1e-12 * factor)
        bounded = np.abs(alpha) == 10.0
        assert bounded.any()
        assert (np.abs(state.alpha[bounded]) == 10.0 * factor).all()
    stepper.set_penalty(3.0, warm=False)
    assert not any(state.alpha.any() for state in stepper.now)
    stepper.reset()
    assert stepper.task.C == 10.0


def test_a_seeder_says_where_another_penalty_begins():
    stepper = race(seeder=TOP())
    stepper.set_penalty(20.0)
    seed = TOP().seed(solve(problem_of(stepper)), problem_of(stepper, C=20.0))
    assert np.array_equal(stepper.now[0].alpha, seed)
    assert stepper.note == "C = 20, seeded by TOP()"


def test_gamma_of_kernels_that_have_one():
    stepper = race()
    stepper.step(5)
    alpha = stepper.now[0].alpha
    stepper.receive({"do": "gamma", "with": [2.0]})
    same_problem(stepper.task.problem, problem_of(stepper, kernel=RBF(2.0)))
    assert np.array_equal(stepper.now[0].alpha, alpha)
    assert race(kernel=Polynomial(degree=2)).task.gamma == 1.0
    linear = race(kernel=Linear())
    linear.receive({"do": "gamma", "with": [2.0]})
    assert (
        linear.note
        == "ValueError: gamma cannot be changed, as the kernel has no single gamma; use a kernel such as RBF(0.5)."
    )
    each = race(kernel=RBF([0.5, 2.0]))  # one γ for each feature
    each.step(2)
    assert each.task.gamma is None
    same_problem(each.task.problem, problem_of(each, kernel=RBF([0.5, 2.0])))


def test_examples_are_moved_relabelled_and_added():
    stepper = race()
    stepper.step(30)
    alpha = stepper.now[0].alpha
    t = int(np.flatnonzero(alpha)[0])
    X, y = DATA.X.copy(), DATA.y.copy()
    X[t] = [0.25, -0.5]
    stepper.receive({"do": "move", "with": [t, [0.25, -0.5]]})
    same_problem(stepper.task.problem, problem_of(stepper, X=X))
    assert np.array_equal(stepper.now[0].alpha, alpha)
    np.testing.assert_allclose(stepper.now[0].gradient, stepper.task.problem.gradient(alpha), atol=1e-12)
    np.testing.assert_allclose(stepper.task.columns, RBF(0.5)(places(stepper), X), atol=1e-12)
    y[t] *= -1
    stepper.receive({"do": "relabel", "with": [t]})
    same_problem(stepper.task.problem, problem_of(stepper, X=X, y=y))
    stepper.receive({"do": "add", "with": [[1e9, 0.0], -1]})
    x = stepper.task.X[-1]
    assert x[0] == stepper.task.ranges[1, 0]  # the edge of the picture
    same_problem(stepper.task.problem, problem_of(stepper, X=np.vstack([X, x]), y=np.append(y, -1)))
    for state in stepper.now:
        assert state.alpha.sum() == pytest.approx(0.0, abs=1e-12)
        assert (np.abs(state.alpha) <= 10.0).all()
    assert np.array_equal(DATA.X, make_banana(40, rng=1).X)
    stepper.receive({"do": "reset"})
    same_problem(stepper.task.problem, problem_of(stepper))


LABELS = [(-1, 1), (1, 2), (-2, -1), (False, True), ("a", "b"), (0.5, 7.0)]


@pytest.mark.parametrize("names", LABELS, ids=str)
@pytest.mark.parametrize("turned", [False, True])
def test_an_example_is_added_to_the_class_that_is_named(names, turned):
    y = np.array(names)[(DATA.y > 0).astype(int)]
    stepper = Stepper(DATA.X, y, kernel=RBF(0.5), pair=names[::-1] if turned else None)
    for name in names:
        stepper.add([0.0, 0.0], name)
        assert {stepper.task.signs[-1]} == {*stepper.task.signs[: len(y)][y == name]}
    for other in ("c", 9, None):
        with pytest.raises(
            ValueError, match=re.escape(f"label={other!r} is not a class of this stepper; give ")
        ):
            stepper.add([0.0, 0.0], other)


def places(stepper):
    """The nodes of the grid, as picture.js has them."""
    low, high = stepper.task.ranges
    half = 0.58 * np.ptp(DATA.X, axis=0).max()
    middle = (DATA.X.max(0) + DATA.X.min(0)) / 2
    np.testing.assert_allclose([low, high], middle + half * np.array([[-1], [1]]))
    x, y = (np.linspace(low[d], high[d], NODES) for d in (0, 1))
    return np.array([[a, b] for b in y for a in x])


@pytest.mark.parametrize("seed", range(5))
def test_a_pair_of_the_reader_lets_f_rise_forwards_or_is_refused_by_name(seed):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat([-1.0, 1.0], 4))
    C = 10.0 ** rng.uniform(-1.0, 2.0)
    stepper = Stepper(rng.normal(size=(8, 2)), y, kernel=RBF(0.5), C=C, selector=MostViolatingPair())
    stepper.step(3)
    alpha, before, problem = stepper.now[0].alpha, stepper.now[0], stepper.task.problem
    said = dict.fromkeys(["blocked", "backwards", "moved", "nothing"], 0)
    for i, j in permutations(range(8), 2):
        stepper._begin(stepper.task, [alpha])
        stepper.receive({"do": "own", "with": [i, j]})
        kind = next((each for each in said if each in stepper.note), "nothing")
        said[kind] += 1
        after, room = stepper.now[0].alpha, problem.upper - alpha
        if kind == "moved":
            assert after[i] > alpha[i]
            assert after[j] < alpha[j]
            assert stepper.now[0].objective > before.objective
            continue
        assert np.array_equal(after, alpha)
        rises, falls = (i, j) if before.gradient[i] > before.gradient[j] else (j, i)
        if kind == "blocked":
            assert (f"α of {rises} is at its upper" in stepper.note) == (room[rises] == 0.0)
            assert (f"α of {falls} is at its lower" in stepper.note) == (alpha[falls] == problem.lower[falls])
        if kind == "backwards":
            stepper.receive({"do": "own", "with": [j, i]})
            assert f"({j}, {i}) has moved" in stepper.note
    assert min(said["blocked"], said["backwards"], said["moved"]) > 0


class Slip(WorkingSetSelector):
    """Prints, and fails at the fourth step."""

    def select(self, state):
        print("looked", state.iteration)
        return (state.top, state.bottom) if state.iteration < 3 else state.nothing


def test_a_rule_of_the_user_that_fails_is_seen(monkeypatch):
    monkeypatch.setattr("refsvm.display.stepper.SLICE_SECONDS", 60.0)  # the end is one message
    stepper = race(selector=Slip())
    assert stepper.error is None
    for _ in range(3):
        stepper.receive({"do": "step"})
    assert isinstance(stepper.error, AttributeError)
    assert stepper.ending(0) == "AttributeError: 'SolverState' object has no attribute 'nothing'"
    assert "state.nothing" in stepper.failure(0)
    assert "after 3 steps" in stepper.failure(0)
    assert ", with Slip, NewtonStep(), " in " ".join(stepper.failure(0).split())
    assert stepper.failure(1) == ""
    stepper.receive({"do": "end"})
    assert stepper.now[0].iteration == 3  # the other run goes on
    assert stepper.now[1].next is None
    assert stepper.log == "looked 0\nlooked 1\nlooked 2\nlooked 3\n"
    stepper.receive({"do": "back"})
    stepper.to(1)
    assert stepper.failure(0) == stepper.ending(0) == ""
    assert stepper.log == "looked 0\nlooked 1\n"
    assert stepper.error is None


class Named(Slip):
    def __repr__(self):
        return "mine(2)"


def test_a_rule_of_the_user_has_the_name_of_its_class():
    data = make_banana(20, rng=1)
    stepper = Stepper(data.X, data.y, selector=Slip(), step=NewtonStep(), against=[Named(), NewtonStep()])
    assert [stepper.rules_of(run) for run in range(2)] == ["Slip, NewtonStep()", "mine(2), NewtonStep()"]


def test_a_strip_does_not_tell_what_comes(capsys):
    stepper = race(selector=Slip())
    assert len(stepper._repr_html_()) > 1000
    assert (stepper.k, stepper.error, stepper.ending(0), stepper.log) == (0, None, "", "looked 0\n")
    for _ in range(3):
        stepper.receive({"do": "step"})
    assert isinstance(stepper.error, AttributeError)
    assert stepper.log.endswith("looked 3\n")
    assert stepper.log.count("looked") == 4
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ({"do": "C", "with": [-1.0]}, "C=-1.0 is not positive"),
        ({"do": "move", "with": [40, [0.0, 0.0]]}, "t=40 is not an example"),
        ({"do": "move", "with": [0, [np.nan, 0.0]]}, "NaN"),
        ({"do": "own", "with": [3, 3]}, "no pair"),
        ({"do": "own", "with": [3, 99]}, "indices from 0 to 39"),
        ({"do": "own", "with": [-1, -1]}, "indices from 0 to 39"),
        ({"do": "__init__"}, "KeyError"),
    ],
    ids=["C", "example", "place", "same", "beyond", "below", "name"],
)
def test_a_message_that_cannot_be_followed_changes_nothing(message, said):
    stepper = race()
    stepper.step(3)
    task, states = stepper.task, stepper.now
    stepper.receive(message)
    assert said in stepper.note
    assert stepper.task is task
    assert all(a is b for a, b in zip(stepper.now, states, strict=True))


def test_the_end_comes_in_slices_and_ctrl_c_stops_it(monkeypatch):
    class Pressed(MostViolatingPair):
        def select(self, state):
            if state.iteration == 50:
                raise_signal(SIGINT)
            return super().select(state)

    stepper = race(selector=Pressed(), against=None, kernel=Linear(), C=1e4)
    stepper.end()
    assert 48 <= stepper.k <= 51
    assert stepper.may_step
    monkeypatch.setattr("refsvm.display.stepper.SLICE_SECONDS", 1e-9)
    stepper.receive({"do": "end"})
    assert stepper.k <= 51


KINDS = {
    "regression": {"y": DATA.X[:, 0], "epsilon": 0.1},
    "novelty": {"nu": 0.3},
    "hard margin": {"y": DATA.y, "C": np.inf, "kernel": RBF(5.0)},
    "four features": {"X": np.hstack([DATA.X, DATA.X]), "y": DATA.y},
    "texts": {"y": np.where(DATA.y > 0, "yes", "no")},
    "three classes": {"y": np.arange(40) % 3, "pair": (2, 0)},
    "whole problem": {"X": DualProblem.regression(DATA.X, DATA.X[:, 1], kernel=RBF(0.5)), "kernel": None},
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_problem_is_stepped_through_and_packed(kind):
    stepper = Stepper(**{"X": DATA.X, "kernel": RBF(0.5), **KINDS[kind]}, selector=MostViolatingPair())
    reach = Reach()
    for _ in range(6):
        stepper.receive({"do": "step"})
        run, examples = run_of(stepper, 0, reach.of(stepper.recordings[0])), examples_of(stepper)
        for each in (run, examples):  # what is no array must be JSON, which has no infinity and no NaN
            plain = {name: value for name, value in each.items() if not isinstance(value, bytes)}
            json.dumps(plain, allow_nan=False)
    state, numbers = stepper.now[0], np.frombuffer(run["numbers"])
    assert numbers[:6].tolist() == [
        6, state.gap, state.intercept, state.objective, state.primal_objective, state.kernel_rows,
    ]  # fmt: skip
    assert numbers[6] >= np.abs(state.gradient - state.intercept).max()
    step = np.frombuffer(run["next"])
    assert step[:4].tolist() == [state.next.i, state.next.j, state.next.length, state.next.slope]
    assert step[-2:].tolist() == list(state.next.after)
    assert np.array_equal(np.frombuffer(run["alpha"]), state.alpha)
    costs = [6, state.objective, state.primal_objective, state.gap]
    assert np.frombuffer(run["history"]).reshape(-1, 4)[-1].tolist() == costs
    problem = stepper.task.problem
    assert np.array_equal(np.frombuffer(examples["box"]), [*problem.lower, *problem.upper])
    in_plane = kind not in ("regression", "four features", "whole problem")
    assert (examples["X"] is not None) == stepper.task.in_plane == in_plane
    if stepper.task.in_plane:
        grid = np.frombuffer(run["grid"], dtype=np.float32).reshape(NODES, NODES)
        kernel = stepper.task.instance.kernel
        row, column = 20, 41
        place = [[np.linspace(*stepper.task.ranges[:, d], NODES)[k] for d, k in ((0, column), (1, row))]]
        h = kernel(place, stepper.task.X) @ state.alpha + state.intercept
        assert grid[row, column] == pytest.approx(h[0], abs=1e-4)
        assert len(stepper.task.X) == (27 if kind == "three classes" else 40)


def test_of_three_classes_the_second_of_the_pair_is_positive():
    y = np.arange(40) % 3
    stepper = Stepper(DATA.X, y, pair=(2, 0))
    chosen = y != 1
    assert np.array_equal(stepper.task.X, DATA.X[chosen])
    assert np.array_equal(stepper.task.signs, np.where(y[chosen] == 0, 1.0, -1.0))
    assert np.array_equal(race().task.signs, DATA.y)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"y": np.arange(40) % 3}, "3 classes; choose two of them"),
        ({"y": np.arange(40) % 3, "pair": (0, 7)}, "is not a pair of labels"),
        ({"against": TOP()}, "against=TOP"),
        ({"against": ()}, "against="),
        ({"against": (SecondOrder(), MostViolatingPair())}, "give a selector, a step rule, or both"),
        ({"selector": ConjugateSecondOrder(), "step": "neutron"}, "step='neutron'"),
        ({"X": DualProblem.one_class(DATA.X, nu=0.5), "y": DATA.y}, "which already contains y"),
        ({"X": DualProblem.one_class(DATA.X, nu=0.5), "y": None, "C": 2.0}, "which already contains C"),
    ],
    ids=["classes", "pair", "seeder", "nothing", "selectors", "text", "labels", "penalty"],
)
def test_arguments_are_refused_in_a_sentence(given, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        Stepper(**{"X": DATA.X, "y": DATA.y, **given})


def test_a_whole_problem_cannot_be_changed():
    stepper = Stepper(problem_of(None), selector=ConjugateSecondOrder(), step=ConjugateStep())
    for name, change in {
        "C": {"do": "C", "with": [3.0]},
        "X": {"do": "move", "with": [0, [0.0, 0.0]]},
    }.items():
        stepper.receive(change)
        assert f"{name} cannot be changed" in stepper.note
    with pytest.raises(ValueError, match="C cannot be changed in novelty detection"):
        Stepper(DATA.X, None, nu=0.5).set_penalty(3.0)


def test_a_strip_is_seen_without_a_kernel():
    pytest.importorskip("contourpy")
    stepper = race()
    stepper.step(3)
    html = stepper._repr_html_()
    assert stepper.k == 3
    assert len(html) < 60_000
    alt, data = re.fullmatch(r'<img alt="(.*?)" src="data:image/svg\+xml;base64,(.*?)">', html).groups()
    taken = [len(each.states) - 1 for each in stepper.recordings]
    assert f"{stepper.rules_of(1)}: {taken[1]} steps" in alt
    svg = base64.b64decode(data).decode()
    assert svg.count("<circle") == 2 * 3 * np.count_nonzero(DATA.y < 0)
    assert svg.count("<polyline") == 2
    assert f"{taken[0]} steps, ψ = " in svg
    assert Stepper(problem_of(None))._repr_html_().startswith("<img")


def test_a_notebook_shows_the_strip_until_the_widget_hides_it(stepper, monkeypatch):
    shown = []
    monkeypatch.setattr("IPython.display.display", lambda each, **options: shown.append((each, options)))
    stepper._ipython_display_()
    (strip, raw), (widget, nothing) = shown
    assert (raw, nothing) == ({"raw": True}, {})
    assert strip["text/html"].startswith(f'<div class="{widget.hides}"><img')
    assert widget is stepper.widget
    rules = "MostViolatingPair(), NewtonStep() against SecondOrder(planned_range=0.9), NewtonStep()"
    assert strip["text/plain"] == repr(stepper) == f"<Stepper: {rules}; step 0>"
    assert race().widget.hides != widget.hides


def test_the_widget_answers_messages(stepper):
    widget = stepper.widget
    serial, examples = widget.serial, widget.examples
    widget._handle_custom_msg({"do": "step", "with": []}, [])
    assert widget.serial == serial + 1
    assert widget.examples is examples  # not sent again
    assert np.array_equal(np.frombuffer(widget.runs[0]["alpha"]), stepper.now[0].alpha)
    stepper.step()
    assert widget.serial == serial + 2
    widget._handle_custom_msg({"do": "C", "with": [2.0, True]}, [])
    assert np.frombuffer(widget.examples["numbers"])[0] == 2.0
    assert "C = 2" in widget.words["note"]


def test_a_widget_that_somebody_has_closed_is_made_anew(stepper):
    for close in (lambda: stepper.widget.close(), lambda: type(stepper.widget).close_all()):  # noqa: PLW0108
        before = stepper.widget
        close()
        stepper.step()  # which refreshes what is there
        assert stepper.widget is not before
        assert stepper.widget is stepper.widget
        assert stepper.widget._repr_mimebundle_() is not None
        assert np.array_equal(np.frombuffer(stepper.widget.runs[0]["alpha"]), stepper.now[0].alpha)


def test_marimo_is_shown_the_widget_and_a_page_without_a_kernel_a_sentence(stepper):
    assert stepper._display_() is stepper.widget
    assert repr(stepper.widget) == "<StepperWidget: run the cell to step through it>"


def test_without_anywidget_there_is_a_sentence_and_the_strip(monkeypatch):
    monkeypatch.setitem(sys.modules, "anywidget", None)
    _widget_class.cache_clear()
    stepper = race()
    with pytest.raises(NotImplementedError):  # so IPython takes the strip
        stepper._ipython_display_()
    with pytest.raises(ImportError, match=re.escape('pip install "refsvm[notebook]"')):
        stepper.widget  # noqa: B018
    stepper.step()
    assert stepper._repr_html_().startswith("<img")
    assert stepper._display_()._repr_html_() == stepper._repr_html_()
