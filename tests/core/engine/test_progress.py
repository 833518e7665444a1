"""How far a call is: one line on stderr where somebody looks, and one object for callbacks."""

from __future__ import annotations

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
from refsvm.core.engine.limits import Limits, interruptible
from refsvm.core.engine.progress import Progress
from refsvm.services import line
from refsvm.services.line import in_words, line_of

from ...settings import interrupted

RNG = np.random.default_rng(0)
X = RNG.standard_normal((40, 2))
Y = np.where(X[:, 0] + RNG.standard_normal(40) > 0.0, 1, -1)
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


@needs_tqdm
@pytest.mark.parametrize("call", [leave_one_out, cross_validate])
def test_true_leaves_the_last_state(call, terminal):
    call(X, Y, **OPTIONS, progress=True)
    assert terminal.getvalue().count("\n") == 1
    assert terminal.getvalue().endswith("\n")
    assert not re.search("Ctrl-C|left|KKT gap", terminal.states[-1])  # true on the way alone
    done = "40 of 40 examples" if call is leave_one_out else "10 of 10 folds"
    assert f"{call.__name__}: {done}" in terminal.states[-1]


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
def test_an_error_and_ctrl_c_end_the_line(terminal):
    def broken(at):
        assert terminal.drawn.wait(60)
        raise OSError("broken")

    with pytest.raises(OSError, match="broken"):
        leave_one_out(X, Y, **OPTIONS, checks=(), callback=broken)
    assert terminal.states
    assert terminal.getvalue().endswith("\r")
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals reach the main thread only")
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    pressed = []

    def press(at):
        assert terminal.drawn.wait(60)
        if not pressed:
            pressed.append(at.done)
            signal.raise_signal(signal.SIGINT)

    terminal.clear()
    try:
        loo = interrupted(leave_one_out, X, Y, **OPTIONS, checks=(), callback=press)
    finally:
        signal.signal(signal.SIGINT, before)
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


def raises(*given):
    raise RuntimeError("the log server is gone")


def strange_streams():
    """Yield what host programs put in the place of stderr: nothing, closed files, and objects with parts of a file."""
    closed, detached = Terminal(), io.TextIOWrapper(io.BytesIO())
    closed.close()
    detached.detach()
    yield from (None, closed, detached, object())
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
    with monkeypatch.context() as patch:  # what tqdm or a widget raises ends the line alone
        patch.setattr(line.sys, "stderr", terminal)
        patch.setattr(line, "tqdm_here", lambda: raises)
        assert leave_one_out(X[:9], Y[:9], **OPTIONS, progress=asked).is_finished


class TakenAway(Terminal):
    """A terminal that its host takes away while the thread draws; the host has errors of its own."""

    is_gone = False

    def write(self, text):
        self.is_gone = self.is_gone or threading.current_thread() is not threading.main_thread()
        return raises() if self.is_gone else super().write(text)

    def flush(self):
        return raises() if self.is_gone else super().flush()


@needs_tqdm
def test_a_stream_that_is_taken_away_while_a_thread_draws_ends_neither_the_thread_nor_the_call(
    terminal, monkeypatch
):
    stream = TakenAway()
    monkeypatch.setattr(line.sys, "stderr", stream)
    for _ in range(2):  # the thread serves the next call, too
        assert leave_one_out(X[:20], Y[:20], **OPTIONS, checks=(), callback=slowly, progress=True).is_finished
        assert stream.is_gone
        assert line._place._thread.is_alive()


@pytest.mark.parametrize("asked", [None, 1, "yes"])
def test_other_values_are_refused(asked):
    for call in (leave_one_out, cross_validate):
        with pytest.raises(ValueError, match=f"progress={asked!r} is unknown"):
            call(X, Y, progress=asked)


@needs_tqdm
def test_a_line_changes_no_result(terminal):
    for call in (leave_one_out, cross_validate):
        quiet, told = (call(X, Y, **OPTIONS, progress=asked) for asked in (False, True))
        assert np.array_equal(quiet.decision_values, told.decision_values, equal_nan=True)
        assert quiet.iterations == told.iterations


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


def test_a_callback_of_a_solve_is_told_of_its_state():
    seen = []

    def noted(at):
        assert (at.gap, at.steps) == (at.state.gap, at.state.iteration)
        assert at.alpha is at.state.alpha  # as before there was this object
        assert not hasattr(at, "nothing_of_that_name")
        seen.append(at.steps)
        return len(seen) == 3

    found = solve(long_problem(), step=NewtonStep(), shrinking=False, engine="numpy", callback=noted)
    assert (found.status.name, found.iterations) == ("CALLBACK", seen[-1])
    assert seen == sorted(seen)


def test_a_callback_of_folds_is_told_of_them():
    seen = []
    cross_validate(
        long_problem(1e2), step=NewtonStep(), shrinking=False, engine="numpy", folds=4,
        callback=lambda at: seen.append((at.call, at.done, at.total, at.state.iteration)),
    )  # fmt: skip
    assert {call for call, *_ in seen} == {"cross_validate"}
    assert {total for _, _, total, _ in seen} == {4}
    counts = [done for _, done, _, _ in seen]
    assert counts == sorted(counts)
    assert {*counts} == {0, 1, 2, 3, 4}


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
        whole = cross_validate(X[:n], **given, **more, callback=lambda at, seen=seen: seen.append(at.done))
        assert whole.is_finished
        assert {*seen} >= {*range(1, len(whole.rounds) + 1)}
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


@needs_tqdm
def test_a_line_of_a_solve(terminal):
    found = solve(long_problem(), step=NewtonStep(), shrinking=False, engine="numpy", progress=True)
    assert all(state.startswith("solve: ") for state in terminal.states)
    assert any("Ctrl-C keeps the last point" in state for state in terminal.states)
    said = f"{found.status.value} KKT gap {found.kkt_gap:.3g}, {found.iterations:,} steps"
    assert said in terminal.states[-1]
    with pytest.raises(ValueError, match="progress='yes' is unknown"):
        solve(long_problem(), progress="yes")


@needs_tqdm
@pytest.mark.skipif(find_spec("sklearn") is None, reason="estimators need scikit-learn")
def test_a_line_of_fits_and_searches(terminal):
    from refsvm import SVC, SVCCV, SVR

    SVR(C=1e4, gamma=3.0, engine="numpy").fit(X, X[:, 0])
    assert {state.partition(":")[0] for state in terminal.states} <= {"SVR"}
    terminal.clear()
    labels = np.digitize(X[:, 0], [-0.5, 0.5])
    SVC(engine="numpy", verbose=1).fit(X, labels)
    assert terminal.states[-1].startswith("SVC: The stopping rule is satisfied. KKT gap ")
    terminal.clear()
    model = SVCCV(Cs=[1.0, 10.0], gammas=[0.1, 1.0], cv=3, engine="numpy", verbose=1).fit(X, Y)
    assert {state.partition(":")[0] for state in terminal.states} == {"SVCCV"}  # the best machine included
    best = ", ".join(f"{name}={value:.4g}" for name, value in model.best_params_.items())
    assert "12 of 12 fits" in terminal.states[-1]
    assert f"best {model.best_score_:.4g} at {best}" in terminal.states[-1]
    terminal.clear()
    SVCCV(Cs=[1.0], gammas=[0.1], cv=3, engine="numpy", verbose=0).fit(X, Y)
    SVC(engine="numpy", verbose=0).fit(X, Y)
    assert terminal.getvalue() == ""


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


@needs_tqdm
@pytest.mark.parametrize("classes", [2, 3])
def test_a_line_of_a_path(classes, terminal):
    labels = np.digitize(X[:, 0] + 0.5 * X[:, 1], np.linspace(-1.0, 1.0, classes + 1)[1:-1])
    options = {"kernel": RBF(0.5), "C_min": 0.1, "C_max": 10.0, "engine": "numpy"}
    seen = []
    told = regularization_path(X, labels, **options, callback=lambda at: seen.append(at.C) or slowly(at))
    assert {state.partition(":")[0] for state in terminal.states} == {"regularization_path"}
    assert any("C = " in state and "breakpoints" in state for state in terminal.states)
    assert any(" percent" in state for state in terminal.states)
    terminal.clear()
    quiet = regularization_path(X, labels, **options, progress=False)
    assert terminal.getvalue() == ""
    counts = [sum(map(len, [each.C for each in getattr(path, "paths", [path])])) for path in (told, quiet)]
    assert counts[0] == counts[1] == len(seen) + (1 if classes == 2 else 3)
    regularization_path(X, labels, **options, progress=True)
    assert "100 percent" in terminal.states[-1]
    if classes == 2:
        assert f"C = 10, {counts[0] - 1} breakpoints" in terminal.states[-1]


@needs_tqdm
@pytest.mark.parametrize(
    ("call", "given", "end"),
    [(cross_validate_path, {"C_max": 10.0, "folds": 3}, "3 of 3 folds"), (cost_path, {"C": 1.0}, "C₊ = 1, ")],
)
def test_the_last_line_of_folds_and_of_another_line(call, given, end, terminal):
    call(X, Y, kernel=RBF(0.5), engine="numpy", progress=True, **given)
    assert {state.partition(":")[0] for state in terminal.states} == {call.__name__}
    assert end in terminal.states[-1]


@needs_tqdm
def test_a_line_of_a_walk_from_one_problem_to_another(terminal):
    solution = solve(DualProblem.classification(X, Y, kernel=RBF(0.5), C=10.0), engine="numpy")
    found = solution.continue_to(solution.problem.without([0, 1, 2]), engine="numpy", progress=True)
    said = f"continue_to: {found.iterations} breakpoints, 100 percent"
    assert terminal.states[-1].startswith(said)
    terminal.clear()
    solution.continue_to(solution.problem.without(0), engine="numpy", progress=False)
    assert terminal.getvalue() == ""
    with pytest.raises(ValueError, match="progress='yes' is unknown"):
        solution.continue_to(solution.problem.without(0), progress="yes")


@needs_tqdm
@pytest.mark.skipif(find_spec("sklearn") is None, reason="estimators need scikit-learn")
@pytest.mark.parametrize("classes", [2, 3])
def test_a_line_of_examples_that_come_and_go(classes, terminal):
    from refsvm import SVC

    labels = np.digitize(X[:, 0], np.linspace(-0.5, 0.5, classes + 1)[1:-1])
    model = SVC(gamma=0.5, engine="numpy", verbose=0).partial_fit(X[:30], labels[:30])
    assert terminal.getvalue() == ""
    model.set_params(verbose=1)
    for call in (lambda: model.partial_fit(X[30:], labels[30:]), lambda: model.forget([0, 1])):
        terminal.clear()
        call()
        assert {state.partition(":")[0] for state in terminal.states} == {"SVC"}
        assert " breakpoints, " in terminal.states[-1]
        assert "100 percent" in terminal.states[-1]


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
