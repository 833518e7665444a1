"""Which tests a session runs: the quick ones, or all of them with ``--full``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent

QUICK = (
    # every rule against its oracle and its twin
    "tests/core/selectors", "tests/core/steps", "tests/core/stopping", "tests/core/seeders", "tests/core/trackers",
    "tests/core/walk", "tests/core/test_rules.py",
    "tests/theorems", "tests/test_truth.py", "tests/test_properties.py", "tests/test_any_problem.py",
    # the quickest tests that notice breaks of the rest of the reference
    "tests/core/guards", "tests/core/engine/test_limits.py", "tests/core/kernels/test_rows.py",
    "tests/core/kernels/test_sparse.py", "tests/core/kernels/test_values.py", "tests/core/paths/test_hastie.py",
    "tests/core/paths/test_regularization_path.py", "tests/core/paths/test_ties.py", "tests/core/paths/test_units.py",
    "tests/core/rounds/test_algorithm_1.py", "tests/core/rounds/test_leave_one_out_corners.py",
    "tests/core/rounds/test_runner.py", "tests/core/rounds/test_values.py", "tests/core/solver/test_conjugate.py",
    "tests/core/solver/test_safe_screening.py", "tests/core/solver/test_shrinking.py",
    # each public function, estimator and command once: their examples, and the commands on every kind of problem
    "README.md", "refsvm", "tests/cli/test_every_task.py", "tests/test_import.py",
)  # fmt: skip
"""What runs where no path, mark or keyword is given; nothing else is collected then."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    parser.addoption("--full", action="store_true", help="run all tests, not only the quick ones")
    parser.addoption("--seeds", type=int, metavar="N", help="random problems of each test that draws some")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Draw as many random problems as the option says, or from the few seeds in the mark of the test."""
    if mark := metafunc.definition.get_closest_marker("seeds"):
        most = metafunc.config.option.seeds
        metafunc.parametrize("seed", mark.args if most is None else range(most))


def pytest_configure(config: pytest.Config) -> None:
    """Run all tests that a path, a mark or a keyword names, whether they are quick or not."""
    is_named = config.args_source is not pytest.Config.ArgsSource.TESTPATHS
    is_chosen = bool(config.option.keyword) or config.option.markexpr != "not slow"
    config.option.full |= is_named or is_chosen
    if hasattr(config, "workerinput"):
        config.option.full = config.workerinput["full"]


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Let each worker of pytest-xdist run what the session runs."""
    node.workerinput["full"] = node.config.option.full


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out what is not quick."""
    if config.getoption("full") or not collection_path.is_relative_to(ROOT):
        return None
    place = collection_path.relative_to(ROOT)
    are_near = (place.is_relative_to(quick) or Path(quick).is_relative_to(place) for quick in QUICK)
    return None if any(are_near) else True
