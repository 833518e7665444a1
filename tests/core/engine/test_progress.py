"""How far a call is: one line on stderr where somebody looks, and one object for callbacks."""

from __future__ import annotations

import copy
import io
import multiprocessing.process
import os
import re
import select
import signal
import subprocess
import sys
import textwrap
import threading
import time
from importlib.util import find_spec
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest

from refsvm import (
    RBF,
    Cold,
    DualProblem,
    KKTGap,
    NewtonStep,
    Rounds,
    SecondOrder,
    Status,
    cost_path,
    cross_validate,
    leave_one_out,
    regularization_path,
    solve,
)
from refsvm.analysis.paths import cross_validate_path
from refsvm.analysis.resampling.task_table import TaskTable
from refsvm.core.engine.limits import Limits, interruptible
from refsvm.core.engine.progress import Progress
from refsvm.services import line
from refsvm.services.line import in_words, line_of

if find_spec("sklearn"):
    from refsvm import estimators

from ...settings import interrupted, noisy_classes

X, Y = noisy_classes(40, 2, 0)
OPTIONS = {"kernel": RBF(0.5), "C": 10.0, "engine": "numpy"}

needs_tqdm = pytest.mark.skipif(find_spec("tqdm") is None, reason="tqdm rewrites the line")


class Terminal(io.StringIO):
    """A stderr that is looked at."""

    def __init__(self):
        super().__init__()
        self.drawn = threading.Event()

    def isatty(self):
        return True

    def write(self, text):
        if text.strip():
            self.drawn.set()
        return super().write(text)

    def clear(self):
        """Forget what was written."""
        self.seek(0)
        self.truncate()
        self.drawn.clear()

    @property
    def states(self):
        """What has been on the line, one after the other."""
        return [state for state in self.getvalue().split("\r") if state.strip()]


@pytest.fixture
def terminal(monkeypatch):
    """A terminal whose line is there at once, and looked at in each call of a callback."""
    made = Terminal()
    # pytest puts its own stderr into the place of another one after each fixture
    monkeypatch.setattr(line, "sys", SimpleNamespace(stderr=made, modules=sys.modules))
    for name in ("SHOWN_FROM", "REFRESH_SECONDS"):
        monkeypatch.setattr(line, name, 0.0)
    monkeypatch.setattr(line.Bar, "seconds", 0.0)
    monkeypatch.setattr(line, "LOOK_SECONDS", 0.001)
    monkeypatch.setattr(line, "_place", line.Place())
    return made


def slowly(at):
    """Let the thread look once or twice."""
    time.sleep(0.01)


class Slow(SecondOrder):
    """Second order, each step of which lets the thread look."""

    def select(self, state):
        time.sleep(0.002)
        return super().select(state)


# -- the line ----------------------------------------------------------------------------------------------------------


@needs_tqdm
def test_a_line_is_rewritten_and_goes_away(terminal):
    leave_one_out(X[:20], Y[:20], **OPTIONS, checks=(), stop=KKTGap(), selector=Slow())
    states = terminal.states
    assert len(states) > 1
    assert all(state.startswith("leave_one_out: ") for state in states)
    assert "of 20 examples" in states[-1]
    assert "wrong" in states[-1]
    assert "Ctrl-C keeps the" in states[-1]
    text = terminal.getvalue()
    assert "\n" not in text
    assert text.endswith("\r")
    assert text.rstrip("\r").rsplit("\r", 1)[-1].strip() == ""


def test_limits_watch_the_gap():
    limits, progress = Limits(5), Progress("solve")
    assert limits.reached(SimpleNamespace(gap=0.5, iteration=1), 1) is None
    limits.progress = progress
    for tell, steps in ((limits.reached, 1234), (limits.should_return_early, 5678)):
        tell(SimpleNamespace(gap=0.25, iteration=steps), 0)
        assert f"KKT gap 0.25, {steps:,} steps" in progress.text()


@needs_tqdm
def test_a_call_within_has_no_line(terminal):
    def ask(at):
        slowly(at)
        cross_validate(X, Y, **OPTIONS, folds=3)

    leave_one_out(X, Y, **OPTIONS, checks=(), callback=ask)
    assert {state.partition(":")[0] for state in terminal.states} == {"leave_one_out"}


@needs_tqdm
@pytest.mark.usefixtures("_ctrl_c_as_in_a_terminal")
def test_an_error_and_ctrl_c_end_the_line(terminal):
    def broken(at):
        assert terminal.drawn.wait(60)
        raise OSError("broken")

    with pytest.raises(OSError, match="broken"):
        leave_one_out(X, Y, **OPTIONS, checks=(), callback=broken)
    assert terminal.states
    assert terminal.getvalue().endswith("\r")
    pressed = []

    def press(at):
        assert terminal.drawn.wait(60)
        if not pressed:
            pressed.append(at.done)
            signal.raise_signal(signal.SIGINT)

    terminal.clear()
    loo = interrupted(leave_one_out, X, Y, **OPTIONS, checks=(), callback=press)
    assert 0 < loo.is_known.sum() < 40
    assert terminal.getvalue().endswith("\r")
    # the place is free again
    terminal.clear()
    leave_one_out(X, Y, **OPTIONS, checks=(), callback=lambda at: not terminal.drawn.wait(60))
    assert terminal.states


def test_where_nobody_looks_there_is_no_thread(monkeypatch, capsys):
    monkeypatch.setattr(line, "_place", line.Place())
    monkeypatch.setattr(line, "SHOWN_FROM", 0.0)
    for asked in ("auto", False):
        leave_one_out(X, Y, **OPTIONS, progress=asked)
        cross_validate(X, Y, **OPTIONS, progress=asked)
    assert line._place._thread is None
    assert capsys.readouterr().err == ""


@needs_tqdm
def test_false_is_silent_in_a_terminal_too(terminal):
    leave_one_out(X, Y, **OPTIONS, checks=(), callback=slowly, progress=False)
    with line_of(Progress("a program with a line of its own"), False):
        leave_one_out(X, Y, **OPTIONS, checks=(), callback=slowly)
    assert terminal.getvalue() == ""


@needs_tqdm
def test_workers_have_no_line(terminal, monkeypatch):
    seen = []
    thread = threading.Thread(target=lambda: seen.append(line.is_watched()))
    thread.start()
    thread.join()
    seen.append(line.is_watched())
    monkeypatch.setattr(multiprocessing.process.current_process(), "_name", "LokyProcess-1")
    seen.append(line.is_watched())
    assert seen == [False, True, False]


def test_without_tqdm_there_is_no_line(terminal, monkeypatch):
    monkeypatch.setattr(line, "has_tqdm", lambda: False)
    leave_one_out(X, Y, **OPTIONS, checks=(), callback=slowly)
    assert terminal.getvalue() == ""


def test_true_writes_sentences_to_a_file(capsys):
    cross_validate(X, Y, **OPTIONS, progress=True)
    *_, last = capsys.readouterr().err.splitlines()
    assert last.startswith("cross_validate: 10 of 10 folds")


class TakenAway(Terminal):
    """A terminal that its host takes away while the thread draws; the host has errors of its own."""

    def write(self, text):
        return raises() if threading.current_thread() is not threading.main_thread() else super().write(text)


def raises(*given):
    raise RuntimeError("the log server is gone")


def strange_streams():
    """Yield what host programs put in the place of stderr: nothing, closed files, and objects with parts of a file."""
    closed, detached = Terminal(), io.TextIOWrapper(io.BytesIO())
    closed.close()
    detached.detach()
    yield from (TakenAway(), None, closed, detached, object())
    methods = {
        "isatty": (None, raises, lambda: False, lambda: True), "write": (None, raises, len),
        "flush": (None, raises, lambda: None), "fileno": (None, raises, lambda: 1000),
    }  # fmt: skip
    for each in product(*methods.values()):
        yield SimpleNamespace(**{name: method for name, method in zip(methods, each, strict=True) if method})


@pytest.mark.parametrize("asked", ["auto", True])
def test_no_stream_ends_a_computation(asked, terminal, monkeypatch):
    for count, stream in enumerate(strange_streams()):
        monkeypatch.setattr(line.sys, "stderr", stream)
        progress = Progress("work")
        with line_of(progress, asked):
            progress.begin("", total=2)
            time.sleep(0.003 * (count % 5 == 0))  # for the thread that draws
            progress.tell(1)
        assert line._place.take(None)  # it was given back
        line._place.free()
        thread = line._place._thread
        assert thread is None or thread.is_alive()  # it serves the next call
    with monkeypatch.context() as patch:  # what tqdm or a widget raises ends the line alone
        patch.setattr(line.sys, "stderr", terminal)
        patch.setattr(line, "tqdm_here", lambda: raises)
        assert leave_one_out(X[:9], Y[:9], **OPTIONS, progress=asked).is_finished


@needs_tqdm
def test_a_line_changes_no_result(terminal, monkeypatch):
    real = TaskTable._copy

    def late(self, part, table):  # the line's thread writes older results when the rounds have ended
        if threading.current_thread() is not threading.main_thread():
            table = copy.copy(table)
            table.values = table.values.copy()
            time.sleep(0.1)
        return real(self, part, table)

    quiet = [call(X, Y, **OPTIONS) for call in (leave_one_out, cross_validate)]
    monkeypatch.setattr(TaskTable, "_copy", late)
    monkeypatch.setattr(line, "LOOK_SECONDS", 0.001)
    told = [call(X, Y, **OPTIONS, progress=True) for call in (leave_one_out, cross_validate)]
    for one, other in zip(quiet, told, strict=True):
        assert np.array_equal(one.decision_values, other.decision_values, equal_nan=True)
        assert one.iterations == other.iterations


# -- what a callback is told -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [2, 3])
def test_a_callback_is_told_what_is_known(classes):
    labels = np.digitize(X[:, 0], np.linspace(-1.0, 1.0, classes + 1)[1:-1])
    seen, total = [], 40 * (classes - 1)

    def noted(at):
        assert at.call == "leave_one_out"
        assert at.under_way == ""
        assert at.seconds > 0.0
        seen.append((at.done, at.total, at.wrong))

    loo = leave_one_out(X, labels, **OPTIONS, checks=(), callback=noted)
    counts = [done for done, _, _ in seen]
    assert counts == sorted(counts)
    assert seen[-1] == (total, total, round(loo.error * 40))
    assert {all_of_them for _, all_of_them, _ in seen} == {total}


def test_counts_never_fall_nor_pass_the_total():
    progress = Progress("folds")
    progress.begin("", total=10)
    for done, known in ((3, 3), (2, 3), (12, 10)):
        progress.tell(done)
        assert progress.done == known
    assert progress.seconds_left == pytest.approx(0.0)


def test_the_rest_is_estimated_from_what_was_counted():
    progress = Progress("rounds", "decided")
    progress.begin("solution on all examples", total=100)
    assert progress.seconds_left is None
    progress.tell(50)  # decided without a round
    progress.begin("")
    assert progress.seconds_left is None
    time.sleep(0.02)
    progress.tell(60)
    assert progress.seconds_left >= 0.08
    assert f"{in_words(progress.seconds_left)} left" in progress.text()


def long_problem(C=1e4):
    """Return a problem on which SMO takes many steps."""
    x = np.linspace(0.0, 4.5, 30)[:, None]
    return DualProblem.classification(x, np.where(np.arange(30) % 3, 1, -1), kernel=RBF(3.0), C=C)


@pytest.mark.parametrize("n", [6, 40])
@pytest.mark.parametrize(
    "kind",
    [{"y": Y}, {"y": np.arange(40) % 3}, {"y": X[:, 0], "epsilon": 0.1}, {"nu": 0.4}],
    ids=["two", "three", "regression", "novelty"],
)
def test_a_callback_is_called_after_each_fold_and_in_each_solve_however_small(kind, n, engine):
    """The way that small problems take, and the clock, do not decide whether a caller sees them."""
    given = {**kind, "kernel": RBF(0.5), "engine": engine}
    if "y" in kind:
        given["y"] = kind["y"][:n]
    machines = 3 if len({*given.get("y", [])}) == 3 else 1
    for more in (
        {"folds": 2},
        {"folds": 3, "seeder": Cold()},
        {"folds": 2, "n_jobs": 2},
        {"folds": 3, "from_full": False},
    ):
        seen = []
        whole = cross_validate(
            X[:n], **given, **more, callback=lambda at, seen=seen: seen.append((at.call, at.total, at.done))
        )
        assert whole.is_finished
        total = len(whole.rounds)
        assert {*seen} >= {("cross_validate", total, done) for done in range(1, total + 1)}
        assert seen == sorted(seen)
        assert len(whole.rounds) == machines * more["folds"]
        cut = cross_validate(X[:n], **given, **more, callback=lambda at: True)
        assert cut.status is Status.CALLBACK
        assert len(cut.rounds) < len(whole.rounds)
    problem = DualProblem.classification(X[:n], np.where(X[:n, 0] > 0, 1, -1), kernel=RBF(0.5))
    for solved in (solve, lambda p, **options: Rounds(p, **options).solve()):
        seen = []
        assert solved(problem, engine=engine, callback=seen.append).status is Status.CONVERGED
        assert seen[-1].state.gap <= 1e-3


def test_an_attribute_that_nothing_has_is_refused():
    with pytest.raises(AttributeError, match="'Progress' object has no attribute 'alpha'"):
        Progress("solve").alpha  # noqa: B018


# -- solves, fits, searches --------------------------------------------------------------------------------------------


def of_a_solve(asked):
    found = solve(long_problem(), step=NewtonStep(), shrinking=False, engine="numpy", progress=asked)
    return f"{found.status.value} KKT gap {found.kkt_gap:.3g}, {found.iterations:,} steps"


def of_folds(asked):
    cross_validate(X, Y, **OPTIONS, progress=asked)
    return "10 of 10 folds"


def of_left_out_examples(asked):
    leave_one_out(X, Y, **OPTIONS, progress=asked)
    return "40 of 40 examples"


def of_a_path(asked):
    path = regularization_path(X, Y, kernel=RBF(0.5), C_min=0.1, C_max=10.0, engine="numpy", progress=asked)
    return f"C = 10, {len(path.C) - 1} breakpoints, 100 percent"


def of_three_paths(asked):
    labels = np.digitize(X[:, 0], [-0.3, 0.3])
    regularization_path(X, labels, kernel=RBF(0.5), C_max=10.0, engine="numpy", progress=asked)
    return "100 percent"


def of_paths_of_folds(asked):
    cross_validate_path(X, Y, kernel=RBF(0.5), engine="numpy", progress=asked, C_max=10.0, folds=3)
    return "3 of 3 folds"


def of_costs(asked):
    cost_path(X, Y, kernel=RBF(0.5), engine="numpy", progress=asked, C=1.0)
    return "C₊ = 1, "


def of_a_walk(asked):
    problem = DualProblem.classification(X, Y, kernel=RBF(0.5), C=10.0)
    solution = solve(problem, engine="numpy", progress=False)
    found = solution.continue_to(solution.problem.without([0, 1, 2]), engine="numpy", progress=asked)
    return f"continue_to: {found.iterations} breakpoints, 100 percent"


def of_a_fit(asked):
    estimators.SVC(engine="numpy", verbose=int(asked)).fit(X, np.digitize(X[:, 0], [-0.5, 0.5]))
    return "SVC: The stopping rule is satisfied. KKT gap "


def of_a_search(asked):
    grid = {"Cs": [1.0, 10.0], "gammas": [0.1, 1.0], "cv": 3}
    model = estimators.SVCCV(**grid, engine="numpy", verbose=int(asked)).fit(X, Y)
    best = ", ".join(f"{name}={value:.4g}" for name, value in model.best_params_.items())
    return f"12 of 12 fits, best {model.best_score_:.4g} at {best}"


def of_examples_that_come(asked):
    model = estimators.SVC(gamma=0.5, engine="numpy", verbose=0).partial_fit(X[:30], Y[:30])
    model.set_params(verbose=int(asked)).partial_fit(X[30:], Y[30:])
    return " breakpoints, "


def of_examples_that_go(asked):
    model = estimators.SVC(gamma=0.5, engine="numpy", verbose=0).partial_fit(
        X, np.digitize(X[:, 0], [-0.5, 0.5])
    )
    model.set_params(verbose=int(asked)).forget([0, 1])
    return " breakpoints, "


CALLS = {
    of_a_solve: "solve", of_folds: "cross_validate", of_left_out_examples: "leave_one_out",
    of_a_path: "regularization_path", of_three_paths: "regularization_path",
    of_paths_of_folds: "cross_validate_path", of_costs: "cost_path", of_a_walk: "continue_to",
}  # fmt: skip
FITS = {of_a_fit: "SVC", of_a_search: "SVCCV", of_examples_that_come: "SVC", of_examples_that_go: "SVC"}


@needs_tqdm
@pytest.mark.parametrize("call", [*CALLS, *(FITS if find_spec("sklearn") else ())])
def test_true_leaves_the_last_state_and_false_is_silent(call, terminal):
    call(False)
    assert terminal.getvalue() == ""
    end = call(True)
    assert terminal.getvalue().count("\n") == 1
    assert terminal.getvalue().endswith("\n")
    assert {state.partition(":")[0] for state in terminal.states} == {(CALLS | FITS)[call]}
    assert end in terminal.states[-1]
    assert not re.search("Ctrl-C| left", terminal.states[-1])  # true on the way alone


@pytest.mark.parametrize("asked", [None, 1, "yes"])
@pytest.mark.parametrize("call", CALLS)
def test_other_values_are_refused(call, asked):
    with pytest.raises(ValueError, match=f"progress={asked!r} is unknown"):
        call(asked)


@needs_tqdm
@pytest.mark.skipif(find_spec("sqlite3") is None, reason="a store is a file of SQLite")
def test_a_line_of_an_experiment(terminal, tmp_path):
    from refsvm.experiment import Experiment, Problem, Solve

    problem = Problem("noise", lambda: SimpleNamespace(X=X, y=Y), RBF(0.5), C=1.0)
    experiment = Experiment([Solve("default", engine="numpy")], [problem], tmp_path / "runs", 3)
    counts = []
    experiment.run(callback=lambda at: slowly(at) or counts.append((at.call, at.done, at.total)))
    assert counts == [("Experiment.run", done, 3) for done in range(4)]
    assert {state.partition(":")[0] for state in terminal.states} == {"Experiment.run"}
    assert "of 3 runs" in terminal.states[-1]


# -- in a terminal and in a notebook -----------------------------------------------------------------------------------

LONG = """
    import sys, time
    import numpy as np
    from refsvm import RBF, leave_one_out
    X = np.random.default_rng(0).standard_normal((120, 2))
    y = np.where(X[:, 0] > 0.0, 1, -1)
    print("begins", file=sys.stderr, flush=True)
    leave_one_out(X, y, kernel=RBF(0.5), checks=(), engine="numpy", callback=lambda at: time.sleep(0.04))
"""


@needs_tqdm
@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="pseudo-terminals of POSIX")
def test_a_terminal_sees_one_line_in_time():
    import pty

    ours, theirs = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(LONG)], stdout=subprocess.DEVNULL, stderr=theirs
    )
    os.close(theirs)
    try:
        pieces = read_until_closed(ours, seconds=120.0)
    finally:
        child.kill()
        child.wait(10)
        os.close(ours)
    began = next(at for at, piece in pieces if "begins" in piece)
    first = next(at for at, piece in pieces if "leave_one_out" in piece)
    assert 1.5 < first - began < 5.0  # 2 s, and what a busy machine adds
    text = "".join(piece for _, piece in pieces).partition("begins")[2].lstrip()
    assert "\n" not in text
    states = [state for state in text.split("\r") if state.strip()]
    assert len(states) > 3
    assert all(state.startswith("leave_one_out: ") for state in states)
    assert all(len(state) <= 80 for state in states)


def read_until_closed(ours, seconds):
    """Return what came from a pseudo-terminal, with the times; never wait longer than so many seconds."""
    pieces, end = [], time.monotonic() + seconds
    while time.monotonic() < end:
        ready, _, _ = select.select([ours], [], [], 0.2)
        if not ready:
            continue
        try:
            piece = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        pieces.append((time.monotonic(), piece.decode()))
    return pieces


@needs_tqdm
@pytest.mark.slow
@pytest.mark.skipif(
    any(find_spec(name) is None for name in ("nbclient", "nbformat", "ipykernel", "ipywidgets")),
    reason="a notebook needs a kernel and a client",
)
def test_a_notebook_sees_one_line():
    import nbclient
    import nbformat

    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(textwrap.dedent(LONG))])
    client = nbclient.NotebookClient(book, timeout=120, kernel_name="python3")
    with interruptible():  # the client sets a handler of its own
        client.execute()
    (cell,) = book.cells
    shown_there = [each for each in cell.outputs if each.output_type == "display_data"]
    assert len(shown_there) <= 1
    widgets = book.metadata.get("widgets", {}).get("application/vnd.jupyter.widget-state+json", {})
    values = [each["state"].get("value") for each in widgets.get("state", {}).values()]
    texts = [value for value in values if isinstance(value, str)]
    assert any("leave_one_out" in text for text in texts), (cell.outputs, texts)
    streams = "".join(each.text for each in cell.outputs if each.output_type == "stream")
    assert streams == "begins\n"
    assert not [
        each for each in widgets.get("state", {}).values() if each["state"].get("bar_style") == "danger"
    ]


@needs_tqdm
@pytest.mark.skipif(find_spec("ipywidgets") is None, reason="widgets draw the bar")
@pytest.mark.parametrize("stays", [False, True])
def test_widgets_draw_one_bar_and_keep_no_red_one(stays, monkeypatch):
    pytest.importorskip("IPython")
    monkeypatch.setattr(line, "in_notebook", lambda: True)
    progress = Progress("leave_one_out", "decided", "these")
    progress.begin("", total=100)
    progress.tell(40)
    bar = line.Bar(stays)
    bar.write(progress, progress.text())
    container = bar._bar.container
    words, drawn, rest = container.children
    assert words.value.replace("\u2007", " ").rstrip().endswith("the stop button keeps these")
    assert "|" not in words.value + rest.value
    assert (drawn.value, drawn.max) == (40, 100)
    bar.close()
    is_gone = container.comm is None or container.layout.visibility == "hidden"
    assert is_gone == (not stays)
    assert stays or drawn.bar_style != "danger"
