"""Compare on several problems, in several orders of the examples, with a store."""

import os
import sqlite3

import pytest

from refsvm import NewtonStep, SecondOrder
from refsvm.core.kernels import RBF
from refsvm.core.stopping import KKTGap
from refsvm.datasets import load
from refsvm.experiment import Experiment, Problem, Solve

from ..interrupts import press_in_solve
from ..settings import FAST
from .commands import json_of, run, works

TWO = ("compare", "heart", "ionosphere", "--engines", FAST)


def test_means_over_orders_are_those_of_the_experiment(tmp_path):
    document = json_of(*TWO, "--repeats", 4, "--tol", 1e-3)
    assert document["repeats"] == 4
    assert [problem["data"] for problem in document["problems"]] == ["heart", "ionosphere"]
    assert [(row["data"], row["selector"]) for row in document["results"]] == [
        ("heart", "mvp"), ("heart", "second-order"), ("heart", "second-order"),
        ("ionosphere", "mvp"), ("ionosphere", "second-order"), ("ionosphere", "second-order"),
    ]  # fmt: skip
    heart = load("heart")
    way = Solve("x", SecondOrder(), NewtonStep(), KKTGap(1e-3), shrinking=False, engine=FAST)
    problem = Problem("heart", lambda: heart, RBF(heart.gamma), heart.C)
    one = Experiment([way], [problem], tmp_path / "runs.sqlite", permutations=4)
    one.run()
    row = document["results"][1]
    expected = one.compare("iterations").cells["heart", "x"]
    assert (row["iterations"]["mean"], row["iterations"]["sd"]) == (expected.mean, expected.sd)
    first = document["results"][0]["iterations"]["mean"]
    assert row["iterations"]["ratio"] == pytest.approx(expected.mean / first)
    assert document["results"][0]["iterations"]["ratio"] is None
    assert 0 < row["iterations"]["p"] <= 1
    assert all(row["runs"] == row["converged"] == 4 for row in document["results"])


def test_a_store_keeps_finished_runs(tmp_path, monkeypatch):
    store = tmp_path / "runs.sqlite"
    first = json_of(*TWO, "--repeats", 2, "--store", store)
    monkeypatch.setattr(Solve, "run", None)  # a run that is carried out again fails
    assert json_of(*TWO, "--repeats", 2, "--store", store) == first
    with sqlite3.connect(store) as connection:
        assert connection.execute("SELECT count(*) FROM runs").fetchone() == (12,)


def test_without_a_store_nothing_is_left_behind(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    works(*TWO, "--repeats", 1)
    assert list(tmp_path.iterdir()) == []


def test_a_limit_shows_in_a_column_of_its_own():
    assert "0 of 2" in works(*TWO, "--repeats", 2, "--max-iter", 3).stdout
    for more in ([], ["--wide"]):
        said = works(*TWO, "--repeats", 2, *more).stdout
        assert said.startswith("heart: 270 examples, 13 features; ")
        assert "converged" not in said


def test_rules_that_do_not_fit_are_left_out():
    result = works("compare", "heart", "--steps", "newton,planning-ahead", "--engines", FAST, "--repeats", 2)
    assert result.stderr.startswith(f"note: mvp, planning-ahead, {FAST} left out: ")
    rows = [line for line in result.stdout.splitlines() if line.split()[:1] == ["heart"]]
    assert sum("second-order" in line for line in rows) == 2


@pytest.mark.skipif(os.name != "posix", reason="signals are delivered at once there only")
@pytest.mark.parametrize(("k", "finished"), [(1, 0), (4, 3)])
def test_ctrl_c_shows_what_is_finished_and_keeps_it(monkeypatch, tmp_path, k, finished):
    store = tmp_path / "runs.sqlite"
    press_in_solve(monkeypatch, k)
    result = run(*TWO, "--repeats", 2, "--store", store, "--json")
    assert result.exit_code == 130
    assert result.stderr == f"note: Interrupted; {finished} of 12 runs are finished.\n"
    with sqlite3.connect(store) as connection:
        assert connection.execute("SELECT count(*) FROM runs").fetchone() == (finished,)
