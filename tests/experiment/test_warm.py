"""No code is compiled, or loaded from disk, inside a clock."""

from __future__ import annotations

import pytest

from ..programs import printed_by
from ..settings import needs_jit

SCRIPT = """
import sys
from functools import partial
from refsvm import MostViolatingPair, NewtonStep, RBF, KKTGap, compare
from refsvm.compiled.interface.twin import CodeOnDisk
from refsvm.datasets import load, make_chessboard
from refsvm.experiment import LeaveOneOutError, Problem, Solve
from refsvm.experiment import race

asked, plain = [], CodeOnDisk.load_overload

def load_overload(self, *given):
    asked.append(self._py_func.__name__)
    return plain(self, *given)

CodeOnDisk.load_overload = load_overload
board = Problem("board", partial(make_chessboard, 1000, rng=0), kernel=RBF(0.5), C=10.0).instance()
heart = Problem("heart", partial(load, "heart"), kernel=RBF(0.005), C=1.0).instance()
if sys.argv[1] == "experiment":
    rules = {"selector": MostViolatingPair(), "step": NewtonStep(), "shrinking": False}
    for options in (rules, {}):
        for engine in ("numba", "auto"):
            strategy = Solve("s", engine=engine, stop=KKTGap(1e-6), **options)
            strategy.warm_up()
            warmed = len(asked)
            for instance in (heart, board):
                record = strategy.run(instance)
                assert record["engine"] == "numba"
            assert options or record["iterations"] > 1000  # it shrinks
            assert len(asked) == warmed > 0, asked[warmed:]
    rounds = LeaveOneOutError("rounds")
    rounds.warm_up()
    assert rounds.run(heart)["engine"] == "numba"
else:
    plain_solve = race.solve

    def solve(problem, **options):
        before = len(asked)
        found = plain_solve(problem, **options)
        assert problem.n == 8 or asked[before:] == [], asked[before:]
        return found

    race.solve = solve
    compare(board.dual(), ["second-order"], ["newton", "planning-ahead"], shrinking=True, stop=KKTGap(1e-6))
"""


@needs_jit
@pytest.mark.parametrize("of", ["experiment", "race"])
def test_a_run_loads_no_code(of):
    printed_by("-c", SCRIPT, of)
