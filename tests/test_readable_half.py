"""Without the folder `compiled/` the package is a complete NumPy package."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import refsvm

from .programs import printed_by

ROOT = Path(__file__).parents[1]
ROOMS = (
    "tests/core/solver/test_solve.py tests/core/solver/test_rounds.py tests/core/rounds/test_trace.py "
    "tests/core/seeders/test_exchange.py tests/core/seeders/test_spread.py tests/core/paths/test_hastie.py"
)
"""Some of each room: all of them, without Numba, are a stage of `.ci/run`."""


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A copy of the package and its tests, without compiled code."""
    root = tmp_path_factory.mktemp("readable")
    left_out = shutil.ignore_patterns("__pycache__", "compiled")
    shutil.copytree(Path(refsvm.__file__).parent, root / "refsvm", ignore=left_out)
    shutil.copytree(ROOT / "tests", root / "tests", ignore=left_out)
    shutil.copy(ROOT / "pyproject.toml", root)
    return root


def run(copy, *arguments):
    """Run Python on the copy; return what that prints."""
    return printed_by(*arguments, cwd=copy, PYTHONPATH=str(copy))


def test_it_says_what_is_there(copy):
    code = """
import refsvm, sys
assert refsvm.__file__.startswith(sys.argv[1])
assert not hasattr(refsvm, "warm_up") and "warm_up" not in refsvm.__all__
problem = refsvm.DualProblem.classification([[0.0], [1.0], [2.0]], [-1, 1, -1], kernel=refsvm.RBF(1.0))
print(refsvm.solve(problem).engine, refsvm.SecondOrder().twin())
try:
    refsvm.solve(problem, engine="numba")
except ValueError as error:
    print(error)
print("numba" in sys.modules)
"""
    printed = run(copy, "-c", code, str(copy)).splitlines()
    assert printed == ["numpy None", 'engine=\'numba\' is unknown; choose "auto" or "numpy".', "False"]


@pytest.mark.slow
def test_the_readable_tests_pass(copy):
    """Of solver, rounds, seeders, walk and trackers: those that need no compiled code."""
    some = ["-p", "no:cacheprovider", "-m", "not slow and not data", *ROOMS.split()]
    assert "passed" in run(copy, "-m", "pytest", "-q", *some)
