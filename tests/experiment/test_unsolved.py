"""Runs that ended at a limit or stalled are no measurements: out of means, ratios, ranks, tests and pictures."""

import math
import re
import warnings
from dataclasses import dataclass

import pytest

from refsvm.experiment import Experiment, Problem, Strategy, Summary
from refsvm.experiment.comparison import summarise

from .echoes import numbered, refused

SAID = {"open": "found that no function of the kernel separates the classes in"}
PROBLEMS = [Problem(f"p{k}", numbered, C=1.0 + k) for k in range(3)]


@dataclass(frozen=True)
class Cut(Strategy):
    """Ends with a status at some orders, by the example that comes first."""

    below: float = 0.0
    status: str = "MAX_ITER"
    factor: float = 1.0
    only: float = 0.0

    def run(self, instance):
        first = float(instance.X[0, 0])
        is_cut = first < self.below and self.only in (0.0, instance.C)
        return {"steps": self.factor * first, "status": self.status if is_cut else "CONVERGED"}


def runs_of(store, *strategies, **options):
    """Carry them out; one warning says which of the new ones ended unsolved."""
    experiment = Experiment(strategies, PROBLEMS, store, **({"permutations": 6} | options))
    known = {record["strategy"] for record in experiment.records()}
    with warnings.catch_warnings(record=True, action="always") as said:
        experiment.run()
    unsolved = {record["strategy"] for record in experiment.records() if record["status"] != "CONVERGED"}
    unsolved -= known
    assert len(said) == bool(unsolved)
    wanted = {name: SAID.get(name, "did not converge in") for name in unsolved}
    assert all(f"{name} {words}" in str(each.message) for name, words in wanted.items() for each in said)
    return experiment


@pytest.mark.parametrize("status", ["MAX_ITER", "STALLED", "TIME_LIMIT", "max_iter"])
def test_what_is_cut_short_wins_nothing_and_a_note_says_so(store, status):
    pytest.importorskip("scipy")
    experiment = runs_of(store, Cut("whole"), Cut("cut", 99.0, status, 0.1), Cut("other", factor=2.0))
    comparison = experiment.compare("steps", "whole")
    cell = comparison.cells["p0", "cut"]
    assert (cell.runs, cell.unsolved, cell.pairs) == (0, 6, 0)
    assert all(math.isnan(value) for value in (cell.mean, cell.ratio, cell.p))
    assert comparison.geometric_mean("cut") is None
    assert comparison.geometric_mean("other") == pytest.approx(2.0)
    assert set(comparison.adjusted()) == {(f"p{k}", "other") for k in range(3)}
    where = "p0 6 of 6, p1 6 of 6, p2 6 of 6"
    note = f"cut did not converge in 18 of 18 runs ({status.upper()}; {where}), which are excluded."
    assert comparison.notes == (note,)
    assert ("p0", "cut") not in experiment.values("steps")
    assert {record["status"] for record in experiment.records() if record["strategy"] == "cut"} == {status}
    refused(comparison.friedman, "3 strategies with solved runs on 0 common problems")
    pytest.importorskip("tabulate")
    table = experiment.table("steps", "whole")
    for grid in (table, experiment.table("steps"), experiment.listing(["steps"])):
        assert note in grid.to_markdown()
        assert note in grid.to_latex()
    assert [row[2] for row in table.rows] == ["–", "–", "–", ""]


def test_what_has_no_solution_is_said_by_its_own_word(store):
    strategies = [Cut("whole"), Cut("open", 99.0, "INSEPARABLE", only=1.0), Cut("both", 6.0, "inseparable")]
    experiment = runs_of(store, *strategies[:2])
    note = (
        "open found that no function of the kernel separates the classes in 6 of 18 runs (INSEPARABLE; p0 6 of 6), "
        "which have no solution to measure and are excluded."
    )
    comparison = experiment.compare("steps")
    assert comparison.notes == (note,)
    assert (comparison.cells["p0", "open"].runs, comparison.cells["p0", "open"].unsolved) == (0, 6)
    assert comparison.cells["p1", "open"].runs == 6
    both = Experiment([strategies[2]], PROBLEMS, store, permutations=6)
    with pytest.warns(UserWarning, match="if nothing separates the classes, give a finite C"):
        both.run()
    assert "both found that no function" in " ".join(both.compare("steps").notes)


def test_orders_that_both_have_solved_are_compared(store):
    pytest.importorskip("scipy")
    experiment = runs_of(store, Cut("whole", 6.0), Cut("some", 9.0, factor=3.0))
    comparison = experiment.compare("steps", "whole")
    whole, some = (
        {r["permutation"]: r["steps"] for r in experiment.records()
         if (r["problem"], r["strategy"], r["status"]) == ("p0", name, "CONVERGED")}
        for name in ("whole", "some")
    )  # fmt: skip
    cell = comparison.cells["p0", "some"]
    assert 0 < len(some) < len(whole) < 6
    assert (cell.runs, cell.unsolved) == (len(some), 6 - len(some))
    assert cell.mean == pytest.approx(sum(some.values()) / len(some))
    assert cell.pairs == len(some.keys() & whole.keys())
    assert cell.ratio == pytest.approx(3.0)
    assert len(comparison.notes) == 2
    assert f"With {cell.pairs} orders p is at least" in comparison.table().notes[-1]


def test_ranks_are_of_the_problems_that_all_solve_and_say_so(store):
    pytest.importorskip("scipy")
    experiment = runs_of(store, Cut("a"), Cut("b", factor=2.0), Cut("c", 99.0, factor=0.1, only=1.0))
    ranking = experiment.compare("steps").friedman()
    assert ranking.problems == 2
    assert "c did not converge in 6 of 18 runs (MAX_ITER; p0 6 of 6)" in ranking.notes[0]


@dataclass(frozen=True)
class Resting(Strategy):
    """Rounds, of which one is not solved on the second problem."""

    status: str = "CONVERGED"

    def run(self, instance):
        return {"steps": 1.0, "status": self.status, "unfinished": int(instance.C == 2.0)}


def test_runs_that_rest_on_unsolved_machines_stay_and_a_note_says_so(store):
    experiment = Experiment([Resting("rounds")], PROBLEMS, store, permutations=2)
    note = "rounds used models that are not solved in 2 of 6 runs (p1 2 of 2)."
    with pytest.warns(UserWarning, match=re.escape(note)):
        experiment.run()
    comparison = experiment.compare("steps")
    assert comparison.notes == (note,)
    assert comparison.cells["p1", "rounds"].runs == 2
    limited = Experiment([Resting("rounds", "MAX_ITER")], PROBLEMS, store, permutations=2)
    with pytest.warns(UserWarning, match="did not converge in 6 of 6 runs"):
        limited.run()
    assert len(limited.compare("steps").notes) == 1


def test_a_summary_of_no_solved_run():
    assert summarise({}, unsolved=2) == Summary(0, math.nan, None, unsolved=2)
    assert summarise({}).show() == "–"
    assert summarise({0: 1.0}, {}, 3).unsolved == 3


def test_a_baseline_that_is_cut_short_compares_with_nothing(store):
    experiment = runs_of(store, Cut("base", 99.0), Cut("other"))
    comparison = experiment.compare("steps", "base")
    assert comparison.cells["p0", "other"].ratio is None
    assert comparison.geometric_mean("other") is None
    assert [row[3] for row in comparison.table().rows] == ["–"] * 4


def texts(display):
    from matplotlib.text import Text

    return [each.get_text() for each in display.figure_.findobj(Text)]


@pytest.mark.parametrize("which", ["ProfileDisplay", "BoxDisplay"])
def test_pictures_leave_out_what_is_cut_short_and_say_so(store, which):
    pytest.importorskip("matplotlib")
    from refsvm import display

    experiment = runs_of(store, Cut("whole"), Cut("cut", 9.0, factor=0.1), Cut("none", 99.0, factor=0.1))
    drawn = getattr(display, which).from_experiment(experiment, "steps")
    said = " ".join(" ".join(texts(drawn)).split())
    assert "cut did not converge in" in said
    assert "none did not converge in 18 of 18 runs" in said
    if which == "ProfileDisplay":
        assert not math.isfinite(drawn.ratios["none"].min())
    else:
        assert ("p0", "none") not in drawn.values
        assert {"whole", "cut"} <= set(texts(drawn))


@pytest.mark.parametrize("which", ["ProfileDisplay", "BoxDisplay"])
def test_a_picture_of_nothing_solved_is_refused(store, which):
    pytest.importorskip("matplotlib")
    from refsvm import display

    experiment = runs_of(store, Cut("cut", 99.0))
    draw = getattr(display, which).from_experiment
    refused(lambda: draw(experiment, "steps"), "did not converge in 18 of 18")
    other = runs_of(store, Cut("base", 99.0), Cut("other"))
    if which == "BoxDisplay":
        refused(lambda: draw(other, "steps", "base"), "baseline='base'", "no solved run")
