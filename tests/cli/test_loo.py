"""``refsvm loo``: the error, what decided it, and the table of seeders and stopping rules."""

from itertools import product

import pytest

from refsvm import RBF, leave_one_out
from refsvm.cli.choices import SEEDERS
from refsvm.datasets import load

from ..settings import noisy_classes
from .commands import json_of, works


@pytest.fixture
def small(write):
    X, y = noisy_classes(24, 2, 0, noise=0.5)
    lines = [f"{label:+d} 1:{a:.17g} 2:{b:.17g}" for label, (a, b) in zip(y, X, strict=True)]
    return write("small.libsvm", "\n".join(lines) + "\n")


def test_the_error_and_what_decided_it():
    shown = works("loo", "heart", "--engine", "numpy").stdout
    assert "LeaveOneOut(error 0.1444 ± 0.021: 39 of 270 wrong, exact leave-one-out; " in shown
    assert "270 fits like the first would take about" in shown
    heart = load("heart")
    counts = leave_one_out(heart.X, heart.y, kernel=RBF(0.005), C=1.0, engine="numpy").counts
    rows = [tuple(line.rsplit(maxsplit=1)) for line in shown.splitlines()]
    assert {(f"  {name}", str(count)) for name, count in counts.items() if count} <= {*rows}
    assert counts["ball"] > counts["kkt"]


def test_the_decision_values_are_asked_for_by_the_rule_that_goes_on_to_them():
    shown = works("loo", "heart", "--stops", "kkt-gap", "--engine", "numpy").stdout
    assert "LeaveOneOut(error 0.1444 ± 0.021: 39 of 270 wrong, exact leave-one-out; " in shown
    assert "  kkt                  118\n" in shown


def test_json_is_what_python_returns(small):
    chosen = ["--C", 2, "--gamma", 0.5, "--stops", "loo-duality-gap", "--engine", "numpy"]
    document = json_of("loo", small, *chosen)
    assert document["complete"] is True
    assert sum(document["decided"].values()) == 24
    assert len(document["predictions"]) == len(document["decided_by"]) == 24
    heart = load("heart")
    expected = leave_one_out(heart.X, heart.y, kernel=RBF(0.005), C=1.0)
    assert json_of("loo", "heart", "--engine", "numpy")["error"] == expected.error


@pytest.mark.slow
def test_all_seeders_and_stops_tell_one_error(small):
    found = json_of("loo", small, "--seeders", "all", "--stops", "all", "--engine", "numpy")["runs"]
    stops = ("ball-rule", "kkt-gap", "loo-duality-gap")
    assert sorted((run["seeder"], run["stop"]) for run in found) == sorted(product(SEEDERS, stops))
    assert len({run["error"] for run in found}) == 1


def test_a_time_limit_holds_side_by_side_too(small):
    side_by_side = ("loo", small, "--seeders", "cold,top", "--engine", "numpy", "--time-limit", 1e-9)
    result = works(*side_by_side)
    assert "note: cold ball-rule is incomplete: The time limit was reached" in result.stderr
    assert [run["status"] for run in json_of(*side_by_side)["runs"]] == ["TIME_LIMIT", "TIME_LIMIT"]
