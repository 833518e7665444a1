"""A rule of the user's by FILE.py:NAME."""

from __future__ import annotations

import warnings

import pytest

from ..experiment.test_race import MINE
from .commands import json_of, refused, run, works

OTHERS = """
from refsvm import NewtonStep


class Half(NewtonStep):
    def length(self, state, i, j):
        return 0.5 * super().length(state, i, j)


@dataclass(frozen=True)
class Stuck(WorkingSetSelector):
    def select(self, state):
        return 0, 1


number = 3
"""


@pytest.fixture
def mine(write):
    return write("mine.py", MINE + OTHERS)


def test_a_selector_of_a_file_is_compared(mine):
    chosen = ["--engines", "numpy", "--selectors", f"mvp,{mine}:Mine"]
    first, second = json_of("compare", "heart", *chosen)["runs"]
    assert second["selector"] == f"{mine}:Mine"
    assert (first["iterations"], first["objective"]) == (second["iterations"], second["objective"])
    assert (
        f"{mine}:Mine"
        in works("compare", "heart", "thyroid", *chosen, "--steps", f"{mine}:Half", "--wide").stdout
    )


def test_without_a_twin_it_is_left_out_of_compiled_code(mine):
    pytest.importorskip("numba")
    said = works("compare", "heart", "--selectors", f"{mine}:Mine").stderr
    assert "Mine, newton, numba left out:" in said


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("{}:Min", "has no Min; did you mean Mine?"),
        (
            "{}:number",
            "is not a complete WorkingSetSelector; make it a subclass of refsvm.WorkingSetSelector",
        ),
    ],
)
def test_refusals_name_the_file(mine, name, sentence):
    assert sentence in refused("compare", "heart", "--selectors", name.format(mine))


def test_a_file_that_fails_is_told(write):
    path = write("broken.py", "import nothing_of_this_name")
    said = refused("compare", "heart", "--selectors", f"{path}:Mine")
    assert "raised ModuleNotFoundError: No module named 'nothing_of_this_name'." in said


def test_other_names_are_of_tables_alone(mine):
    said = refused("loo", "heart", "--engine", f"{mine}:Mine")
    assert "this option takes no rule from a file; choose from" in said


def test_a_warning_is_given_once_and_not_of_the_points_that_warm_up(mine):
    chosen = ["--engines", "numpy", "--steps", "newton", "--selectors", f"{mine}:Stuck"]
    with warnings.catch_warnings(action="always"):
        said = run("compare", "heart", *chosen).stderr
    assert said.count("The selector returned (0, 1), which cannot move") == 1
    assert "on 270 variables" in said
