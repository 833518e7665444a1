"""compare: rules by name, object, class, file or recording on one problem, side by side."""

from __future__ import annotations

import os
import signal
import sys
from dataclasses import dataclass

import numpy as np
import pytest

from refsvm import (
    RBF,
    DualProblem,
    KKTGap,
    MostViolatingPair,
    NewtonStep,
    Recording,
    SecondOrder,
    Status,
    WorkingSetSelector,
    compare,
    solve,
)
from refsvm.experiment import RuleComparison
from refsvm.experiment.own_rules import rule_in_file

from ..settings import noisy_classes

X, Y = noisy_classes(40, 3, 0)
PROBLEM = DualProblem.classification(X, Y, kernel=RBF(0.5))

MINE = """
from dataclasses import dataclass

from refsvm import WorkingSetSelector


@dataclass(frozen=True)
class Mine(WorkingSetSelector):
    def select(self, state):
        return (state.top, state.bottom) if state.gap > 0.0 else (-1, -1)
"""


@dataclass(frozen=True)
class Mine(WorkingSetSelector):
    """The most violating pair, as a student writes it."""

    def select(self, state):
        return (state.top, state.bottom) if state.gap > 0.0 else (-1, -1)


def steps_of(found):
    return {name: run.steps for name, run in found.measured().items()}


def test_a_rule_is_given_in_five_ways(tmp_path):
    file = tmp_path / "mine_in_a_race.py"
    file.write_text(MINE)
    given = ["mvp", MostViolatingPair(), MostViolatingPair, Mine, f"{file}:Mine"]
    found = compare(PROBLEM, given, engine="numpy")
    assert list(found.runs) == ["mvp", "mvp (2)", "mvp (3)", "Mine", "Mine (2)"]
    own = solve(PROBLEM, selector=MostViolatingPair(), step=NewtonStep(), shrinking=False).iterations
    assert set(steps_of(found).values()) == {own}


def test_the_numbers_are_those_of_the_solves():
    found = compare(PROBLEM, {"first": "mvp", "then": SecondOrder()}, engine="numpy", stop=KKTGap(1e-6))
    first = solve(PROBLEM, selector="mvp", step="newton", stop=KKTGap(1e-6), engine="numpy", shrinking=False)
    measured = found.measured()
    assert list(measured) == ["first", "then"]
    assert measured["first"].steps == first.iterations
    assert measured["first"].objective == first.objective
    assert measured["first"].gap == first.kkt_gap <= 1e-6
    assert measured["first"].support_vectors == np.count_nonzero(first.alpha)
    assert measured["then"].ratio == measured["then"].steps / first.iterations
    assert found.status is Status.CONVERGED
    lines = str(found).splitlines()
    assert lines[2].split()[:4] == ["rule", "steps", "/", "first"]
    assert lines[3].split()[:2] == ["first", str(first.iterations)]


def test_selectors_are_combined_with_steps():
    found = compare(PROBLEM, ["second-order", "mvp"], ["newton", "planning-ahead"], engine="numpy")
    assert list(found.runs) == ["second-order, newton", "second-order, planning-ahead", "mvp, newton"]
    assert "cannot be combined" in found.left_out["mvp, planning-ahead"]
    assert "mvp, planning-ahead" in str(found)
    with pytest.raises(ValueError, match="cannot be combined"):
        compare(PROBLEM, "mvp", "planning-ahead")


def test_a_recording_is_a_run():
    recording = Recording(PROBLEM, selector=MostViolatingPair(), step=NewtonStep())
    found = compare(PROBLEM, [recording, "mvp"], engine="numpy")
    kept, solved = found.measured().values()
    assert list(found.runs) == ["mvp, recorded", "mvp"]
    assert (kept.steps, kept.rows, kept.gap) == (solved.steps, solved.rows, solved.gap)
    assert np.isnan(kept.seconds)
    with pytest.raises(ValueError, match="belongs to another problem"):
        compare(PROBLEM.without(3), [recording])


def test_a_limit_is_no_measurement():
    found = compare(PROBLEM, ["mvp", "second-order"], engine="numpy", max_iter=3)
    assert found.status is Status.MAX_ITER
    assert all(np.isnan(run.ratio) for run in found.measured().values())
    assert repr(found) == "RuleComparison(2 rules on n=40, newton steps: none converged)"
    assert "MAX_ITER" in str(found)


def test_a_table_of_pandas():
    pytest.importorskip("pandas")
    frame = compare(PROBLEM, ["mvp", SecondOrder(0.5)], engine="numpy").to_frame()
    assert frame.index.name == "rule"
    assert frame.index[0] == "mvp"
    assert list(frame.columns) == [
        "steps", "ratio", "rows", "seconds", "objective", "gap", "support_vectors", "engine", "status",
    ]  # fmt: skip
    assert frame["ratio"].iloc[0] == 1.0


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: compare(X), "compare takes a problem"),
        (lambda: compare(PROBLEM, []), "selectors contains no rule"),
        (lambda: compare(PROBLEM, "mvq"), "'mvq' is unknown; did you mean 'mvp'"),
        (lambda: compare(PROBLEM, [NewtonStep()]), "is not a WorkingSetSelector"),
        (lambda: compare(PROBLEM, "nothing.py:Mine"), "there is no file 'nothing.py'"),
        (lambda: compare(PROBLEM, trace=False), "records every step itself"),
        (lambda: rule_in_file("selectors", "mvp", WorkingSetSelector), "names no file"),
    ],
)
def test_refusals_say_what_to_give(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()


def test_a_file_is_run_without_the_future_imports_of_the_package(tmp_path):
    file = tmp_path / "annotated.py"
    file.write_text(f"value: int = 3\n{MINE}")
    rule_in_file("selectors", f"{file}:Mine", WorkingSetSelector)
    assert sys.modules["annotated"].__annotations__ == {"value": int}


def test_an_edited_file_is_run_again(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    file = tmp_path / "edited.py"
    file.write_text(MINE)
    first = rule_in_file("selectors", f"{file}:Mine", WorkingSetSelector)
    assert rule_in_file("selectors", f"{file}:Mine", WorkingSetSelector) is first
    saved = file.stat().st_mtime_ns // 10**9 * 10**9
    # edited within a second, to as many characters: bytecode that Python keeps would be taken for that of the edit
    file.write_text(MINE.replace("state.gap > 0.0", "state.gap > 1e9"))
    os.utime(file, ns=(saved + 1, saved + 1))
    second = rule_in_file("selectors", f"{file}:Mine", WorkingSetSelector)
    assert compare(PROBLEM, second).measured()["Mine"].status == "STALLED"


def test_ctrl_c_leaves_the_runs_until_then():
    @dataclass(frozen=True)
    class Pressed(Mine):
        def select(self, state):
            if state.iteration == 2:
                signal.raise_signal(signal.SIGINT)
            return super().select(state)

    with pytest.raises(KeyboardInterrupt) as ended:
        compare(PROBLEM, ["mvp", Pressed, "second-order"], engine="numpy")
    part = ended.value.result
    assert isinstance(part, RuleComparison)
    assert list(part.runs) == ["mvp", "Pressed"]
    assert "INTERRUPTED" in repr(part)


@pytest.mark.parametrize("engine", ["auto", "numba"])
def test_rules_with_a_twin_run_compiled(engine):
    pytest.importorskip("numba")
    from refsvm.compiled.twins import numba_compiles

    if not numba_compiles():
        pytest.skip("Numba does not compile here")
    found = compare(PROBLEM, ["second-order"], engine=engine)
    assert found.measured()["second-order"].engine == "numba"
