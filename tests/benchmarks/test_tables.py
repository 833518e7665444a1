"""The tables of the comparison with other libraries."""

import doctest
import sys
from importlib import import_module

import numpy as np
import pytest

from refsvm.datasets import load

from .rows import BENCHMARKS, cells, library, row


@pytest.mark.parametrize(
    "name", ["agreement", "growth", "libraries", "problems", "report", "watching", "worker"]
)
def test_the_examples_hold(peers, name):
    assert doctest.testmod(peers(name)).failed == 0


def test_the_table_shows_the_ratio_to_the_fastest_of_the_others_and_the_geometric_mean(peers):
    pytest.importorskip("tabulate")
    rows = [
        row(peers, "a", ours=0.001, b=0.004, c=0.002),
        row(peers, "b", ours=0.016, b=0.008, c="crashed: SIGSEGV"),
    ]
    head, _, a, b, mean = cells(peers("report").times_table(rows))
    assert head == ["set", "n", "d", "ours", "b", "c", "refsvm / best other"]
    assert a == ["a", "1,000", "2", "1.00", "4.00", "2.00", "0.50"]
    assert b == ["b", "1,000", "2", "16.0", "8.00", "crashed: SIGSEGV", "2.00"]
    assert mean[-1] == "**1.00**"


def test_the_table_of_first_fits_shows_those(peers):
    pytest.importorskip("tabulate")
    only = row(peers, "a", ours=0.001, b=0.004)
    for outcome, first in zip(only.outcomes.values(), (0.009, 0.006), strict=True):
        outcome.first = first
    assert cells(peers("report").times_table([only], "first"))[2][3:] == ["9.00", "6.00", "1.50"]


def test_a_row_without_our_result_has_no_ratio(peers):
    pytest.importorskip("tabulate")
    rows = [row(peers, "a", ours="over 10 min", b=1.0), row(peers, "b", ours=1.0, b=4.0)]
    *_, a, _, mean = cells(peers("report").times_table(rows))
    assert a[-1] == "–"
    assert mean[-1] == "**0.25**"
    assert "a (no result)" in peers("report").slower(rows)


def test_a_small_loss_on_a_small_set_is_told_as_such(peers):
    rows = [row(peers, "tiny", n=200, ours=1.2e-3, b=1e-3), row(peers, "large", ours=1.2e-3, b=1e-3)]
    found = peers("report").slower(rows)
    assert "tiny (by 0.200 ms, small and by less than 0.3 ms), large (by 0.200 ms)" in found
    assert peers("report").slower([row(peers, "a", ours=1.0, b=2.0)]) == "ours is the fastest on all."


def test_a_large_problem_shows_seconds_and_memory_and_why_there_are_none(peers):
    pytest.importorskip("tabulate")
    found = row(peers, "a", ours=2.0, b="over 16 GB")
    found.outcomes["ours"].peak = 1.5e9
    *_, line = cells(peers("report").large_table([found]))
    assert line == ["a", "1,000", "2", "2.00", "1.50", "over 16 GB", "–", "–"]


def test_the_defaults_are_compared_with_the_first_variant(peers):
    pytest.importorskip("tabulate")
    rows = [row(peers, "a", ours=1.0, other=2.0), row(peers, "b", ours=1.0, other=8.0)]
    *_, mean = cells(peers("report").defaults_table(rows))
    assert mean == ["geometric mean", "", "4.00"]


def test_the_shares_of_the_parts_add_up_to_the_whole(peers):
    pytest.importorskip("tabulate")
    found = row(peers, "a", ours=4.0)
    found.outcomes["ours"].parts = {"kernel rows": 3.0, "rest": 1.0}
    head, _, line = cells(peers("report").shares_table([found]))
    shares = dict(zip(head, line, strict=True))
    assert (shares["kernel rows"], shares["loop"], shares["rest"]) == ("75%", "0%", "25%")


def test_every_table_has_an_option_and_its_own_name(peers, monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    script = import_module("peers")
    names = [table.name for table in peers("tables").TABLES]
    assert len(set(names)) == len(names)
    assert {"fit", "predict", "large", "growth", "shares", "defaults"} <= set(names)
    options = script.arguments(["--fit", "--sizes", "10", "20"])
    assert [name for name in names if getattr(options, name)] == ["fit"]
    assert options.sizes == [10, 20]


@pytest.mark.slow
def test_a_table_is_measured_from_end_to_end(peers, monkeypatch, capsys, tmp_path, thyroid):
    pytest.importorskip("tabulate")
    base = peers("tables.base")
    SuiteProblem = peers("problems").SuiteProblem
    monkeypatch.setattr(base, "suite", lambda _: [SuiteProblem("thyroid", 10.0, 0.05, lambda: thyroid)])
    monkeypatch.setattr(peers("tables.fit"), "first_fits", lambda library: f"First: {library.name}.")
    monkeypatch.setattr(base, "versions", lambda libraries: "no versions")
    options = import_module("peers").arguments(["--fit", "--rounds", "1"])
    both = [library(peers, "sound"), library(peers, "hasty", "early")]
    part = peers("tables.fit").FitTable().part(options, both)
    assert part.text.startswith("| set")
    assert "| thyroid" in part.text
    assert "thyroid: hasty ends" in part.text
    assert "First: sound." in part.text
    assert "turns of each: 1." in part.text


def test_a_library_in_another_environment_answers_or_is_left_out(peers, monkeypatch):
    pytest.importorskip("sklearn")
    monkeypatch.syspath_prepend(BENCHMARKS)
    heart, elsewhere = load("heart"), peers("elsewhere")
    program = (
        "import sys, numpy as np; given = np.load(sys.argv[1]);"
        "print('RESULT', [len(given['X']), float(given['z'].sum()), int(sys.argv[2])])"
    )
    assert elsewhere.answer_of(sys.executable, program, heart, 7, z=np.ones(2)) == [270, 2.0, 7]
    with pytest.raises(RuntimeError, match="no such module"):
        elsewhere.answer_of(sys.executable, "raise ImportError('no such module')", heart)
    options = import_module("peers").arguments([])
    for table in peers("tables").TABLES:
        if table.name in ("liquid", "torchkm"):
            assert "is left out" in table.part(options, []).text
