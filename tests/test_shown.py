"""Every result, finished or interrupted, prints a short line and a table without arrays or addresses; it has a card."""

from __future__ import annotations

import re
import signal

import numpy as np
import pytest

from refsvm import (
    RBF,
    DualProblem,
    KKTGap,
    Recording,
    Rounds,
    cost_path,
    cross_validate,
    leave_one_out,
    regularization_path,
    solve,
)
from refsvm.datasets import Dataset, load
from refsvm.experiment import Grid
from refsvm.paths import cross_validate_path
from refsvm.rounds.jackknife import held_out_machines
from refsvm.rounds.scores import outcomes_of
from refsvm.scheme import OneVsOne

from .settings import interrupted

X, NOISE = np.random.default_rng(0).standard_normal((60, 3)), np.random.default_rng(1).standard_normal(60)
NAMES = {
    "two": ["ill", "well"],
    "three": ["a", "b", "a class whose name is longer than any table would want it"],
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


def pressed(k):
    """Return a callback that presses Ctrl-C in its k-th call."""
    calls = []

    def press(*_):
        calls.append(1)
        if len(calls) == k:
            signal.raise_signal(signal.SIGINT)

    return press


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


def results():
    """Yield everything that is shown, by name."""
    for kind in ("two", "regression", "novelty", "weighted", "callable", "own"):
        yield f"problem {kind}", lambda kind=kind: problem(kind)
        yield f"solution {kind}", lambda kind=kind: solve(problem(kind), max_iter=5)
    for name, (call, options) in CALLS.items():
        for kind in KINDS:
            yield f"{name} {kind}", lambda call=call, kind=kind, o=options: call(X, **asked(kind), **o)
            yield (
                f"{name} {kind} interrupted",
                lambda call=call, kind=kind, o=options: interrupted(
                    call, X, **asked(kind), **o, callback=pressed(1), engine="numpy"
                ),
            )
    y = np.where(X[:, 0] + NOISE > 0.0, 1, -1)
    yield "path", lambda: regularization_path(X, y, C_max=10.0)
    yield "path of three", lambda: regularization_path(X, **asked("three"), C_max=10.0)
    yield "curve", lambda: regularization_path(X, y, C_max=10.0).validation_error(X, y)
    yield "folds of a path", lambda: cross_validate_path(X, y, C_max=10.0, folds=3)
    yield "operating points", lambda: cost_path(X, y).roc(X, y)
    yield "intervals", lambda: held_out_machines(problem("regression"))
    yield "trace", lambda: solve(problem("two"), trace=True).trace
    yield "derivative", lambda: solve(problem("two"), stop=KKTGap(1e-9)).derivative("C")
    yield "derivative at a kink", lambda: solve(PARTED, stop=KKTGap(1e-12)).derivative("C")
    yield "new recording", lambda: Recording(problem("two"))
    yield "recording", ended_recording
    yield "recorded state", lambda: ended_recording().at(2)
    yield "rounds", lambda: Rounds(problem("two"))
    yield "state", ended_state
    yield "matrix", lambda: problem("two").gram
    yield "view", lambda: problem("regression").gram
    yield "rows", lambda: Rounds(problem("two")).rows
    yield "data", lambda: load("heart")
    yield "data without labels", lambda: Dataset("no labels", X, None)
    yield "table", lambda: Grid(("set", *map(str, range(30))), (("heart", *["1,234,567"] * 30),))


# the box of both is where the hard margin is: α grows with C below, and stands above
PARTED = DualProblem.classification(np.array([[0.0], [2.0]]), [-1, 1], kernel="linear", C=0.5)


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


SHOWN = dict(results())
OF_PATHS = ("path", "path of three", "curve", "folds of a path", "operating points")


@pytest.mark.filterwarnings("ignore:.* are not (solved|decided)", "ignore:.*converge")
@pytest.mark.parametrize("name", SHOWN)
def test_results_say_what_was_asked(name):
    if name in OF_PATHS:
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
    assert all(f'role="img" aria-label="{label}' for label in re.findall(r'aria-label="([^"]+)', page))


@pytest.mark.parametrize("name", ["loo two", "loo three", "cv two", "cv three", "loo novelty", "cv novelty"])
def test_the_numbers_are_the_attributes(name):
    result = SHOWN[name]()
    assert f"{result.error:.4f}" in repr(result)
    assert f"{result.error:.4f}" in result._repr_html_()
    assert result.error_bounds == (result.error, result.error)
    assert f"{int((result.predictions != result.labels).sum())} of 60" in repr(result)


@pytest.mark.parametrize("name", [name for name in SHOWN if name.endswith("interrupted")])
def test_a_partial_result_has_no_score_and_bounds_that_hold(name):
    part, whole = SHOWN[name](), SHOWN[name.removesuffix(" interrupted")]()
    assert "INTERRUPTED" in repr(part)
    assert not part.is_finished
    for score, (low, high) in part.bounds.items():
        assert np.isnan(getattr(part, score))
        assert low < high
    if part.kind == "regression":
        assert part.rmse_bounds[1] == np.inf
        assert part.r2_bounds[0] == -np.inf
        assert part.rmse_bounds[0] <= whole.rmse


def test_votes_that_are_settled_count():
    """An example is open if and only if the pairs that are left can make it right and wrong."""
    rng = np.random.default_rng(1)
    for k in (2, 3, 4, 5):
        pairs = k * (k - 1) // 2
        values, codes = rng.standard_normal((100, pairs)), rng.integers(0, k, 100)
        values[rng.random(values.shape) < 0.4] = np.nan
        found = outcomes_of(values, codes, k)
        for row, code, outcome in zip(values, codes, found, strict=True):
            seen = set()
            for bits in range(2**pairs):
                signs = np.array([1.0 if bits >> p & 1 else -1.0 for p in range(pairs)])
                filled = np.where(np.isnan(row), signs, row)[None]
                seen.add(int(OneVsOne(k).votes(filled)[0] == code))
            assert seen == ({0, 1} if outcome == 0 else {max(outcome, 0)})


def test_results_can_be_compared():
    first, second = solve(problem("two")), solve(problem("two"))
    assert first == first  # noqa: PLR0124
    assert first != second
    assert len({first, second}) == 2


def test_a_display_prints_a_line():
    pytest.importorskip("matplotlib").use("agg")
    from refsvm.display import LOODecisionDisplay

    loo = leave_one_out(X[:, :2], np.where(X[:, 0] > 0.0, 1, -1))
    assert repr(LOODecisionDisplay.from_result(loo, X[:, :2])) == "<LOODecisionDisplay>"
