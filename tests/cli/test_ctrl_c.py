"""Ctrl-C on the command line: what was computed is printed, and the exit code is 130."""

import json
import signal
import sys

import pytest
import typer

import refsvm
from refsvm.core.engine.limits import Limits, interruptible
from refsvm.experiment import CrossValidate

from ..interrupts import press_in_solve
from .commands import run, works


@pytest.mark.parametrize(
    ("k", "times", "statuses"),
    [
        (4, 1, ["CONVERGED", "INTERRUPTED"]),  # in the second run
        (3, 1, ["CONVERGED"]),  # while the second strategy is compiled
        (4, 2, ["CONVERGED"]),  # impatiently
        (1, 1, []),
    ],
)
@pytest.mark.slow
def test_ctrl_c_prints_what_was_computed_and_exits_130(monkeypatch, k, times, statuses):
    before = signal.getsignal(signal.SIGINT)
    press_in_solve(monkeypatch, k, least=0, times=times)
    result = run("compare", "thyroid", "--engines", "numpy", "--json")
    assert result.exit_code == 130
    document = json.loads(result.stdout)
    assert [r["status"] for r in document["runs"]] == statuses
    assert document["interrupted"] is True
    assert result.stderr == f"note: Interrupted; {len(statuses)} of 3 strategies were tried.\n"
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.parametrize(("k", "said"), [(4, True), (1, False)])
def test_ctrl_c_prints_the_table_too_if_there_was_a_run(monkeypatch, k, said):
    press_in_solve(monkeypatch, k, least=0)
    result = run("compare", "thyroid", "--engines", "numpy")
    assert result.exit_code == 130
    assert "interrupted" in result.stdout if said else result.stdout == ""


def test_ctrl_c_in_fit_keeps_the_model(monkeypatch, tmp_path):
    reached = Limits.reached

    def pressed(limits, *seen):
        signal.raise_signal(signal.SIGINT)
        return reached(limits, *seen)

    monkeypatch.setattr(Limits, "reached", pressed)
    result = run("fit", "thyroid", "--model", tmp_path / "m", "--C", 1e8, "--tol", 1e-9, "--engine", "numpy")
    assert result.exit_code == 130
    assert "model written to" in result.stdout
    assert result.stderr.startswith("note: Interrupted from the keyboard")
    assert works("predict", tmp_path / "m", "thyroid").stdout.count("\n") == 215


@pytest.mark.parametrize("signalled", [KeyboardInterrupt, typer.Abort])
def test_ctrl_c_anywhere_else_exits_130(monkeypatch, signalled):
    def interrupted(*_, **__):
        raise signalled

    monkeypatch.setattr("refsvm.cli.data.open_data", interrupted)
    result = run("compare", "heart")
    assert result.exit_code == 130
    assert result.stderr == "note: Interrupted; there is no result yet.\n"


@pytest.mark.parametrize(("k", "runs"), [(1, 0), (2, 1), (4, 2)])
def test_ctrl_c_in_cv_prints_the_random_folds_that_all_seeders_have_seen(monkeypatch, k, runs):
    count = 0

    def pressed(*arguments, **options):
        nonlocal count
        count += 1
        with interruptible():
            if count == k:
                signal.raise_signal(signal.SIGINT)
            return refsvm.cross_validate(*arguments, **options)

    monkeypatch.setattr(sys.modules["refsvm.cli.cv"], "cross_validate", pressed)
    monkeypatch.setattr(CrossValidate, "warm_up", lambda strategy: None)
    arguments = ("cv", "thyroid", "--folds", 3, "--repeats", 2, "--seeders", "cold,sir", "--engine", "numpy")
    result = run(*arguments)
    assert result.exit_code == 130
    assert result.stderr.startswith(f"note: Interrupted; {k - 1} of 4 runs are finished")
    assert [name for name in ("cold", "sir") if name in result.stdout] == ["cold", "sir"][:runs]
