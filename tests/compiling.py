"""Workers of a whole run share what there is to compile, so that no two of them wait for the same function."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest

from .settings import INTERPRETED, NUMBA

FOLDER = "REFSVM_TESTS_COMPILED"


def offer(config: pytest.Config) -> None:
    """Make the folder in which workers say what they compile; only where several run all tests."""
    several = config.getoption("numprocesses", None) and not hasattr(config, "workerinput")
    if several and NUMBA and not INTERPRETED and config.args_source is config.ArgsSource.TESTPATHS:
        os.environ[FOLDER] = tempfile.mkdtemp(prefix="refsvm-tests-")


def withdraw(config: pytest.Config) -> None:
    """Take the folder away, at the end of the process that made it."""
    if FOLDER in os.environ and not hasattr(config, "workerinput"):
        shutil.rmtree(os.environ.pop(FOLDER), ignore_errors=True)


def compile_a_share() -> None:
    """Compile what no other worker has begun with: loops and rounds with one step and one type of rows go together."""
    if FOLDER not in os.environ:
        return
    from refsvm.compiled.interface.families import load
    from refsvm.engine.warming import FAMILIES

    groups: dict[object, list[tuple[str, tuple[Any, ...]]]] = {}
    for family, rules in FAMILIES:
        key = (family.startswith("single"), rules[-2]) if len(rules) > 1 else (family, rules)
        groups.setdefault(key, []).append((family, rules))
    for number, group in enumerate(groups.values()):
        try:
            Path(os.environ[FOLDER], str(number)).touch(exist_ok=False)
        except FileExistsError:
            continue
        for family, rules in group:
            load(family, tuple(rule.twin() for rule in rules))
