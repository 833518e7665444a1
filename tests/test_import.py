"""What importing loads and costs, and what a second process compiles: nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import refsvm

from .settings import needs_jit

ROOT = Path(refsvm.__file__).parents[1]


def run(code: str, **environment: str) -> str:
    paths = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": paths, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_importing_loads_numpy_only_and_is_quick():
    code = (
        # of the processor: other work on the machine must not count
        "import time; began = time.process_time(); import refsvm; print(time.process_time() - began);"
        "import sys; print(*sys.modules)"
    )
    seconds = []
    for _ in range(5):
        first, modules = run(code).splitlines()
        seconds.append(float(first))
    heavy = {"numba", "llvmlite", "scipy", "sklearn", "matplotlib", "pandas", "joblib", "typer", "rich"}
    assert not heavy & set(modules.split())
    assert min(seconds) < 0.3


@pytest.mark.parametrize("module", ["testing", "datasets", "cli", "solver"])
def test_modules_that_need_numpy_only(module):
    if module == "cli":
        pytest.importorskip("typer")
    code = f"import refsvm.{module}, sys; print(*({{'numba', 'sklearn', 'matplotlib'}} & set(sys.modules)))"
    assert run(code).split() == []


def test_the_readable_engine_needs_numpy_only():
    code = """
import sys
sys.modules.update(dict.fromkeys(["numba", "scipy", "sklearn", "matplotlib", "pandas"]))  # importing these fails
import numpy as np
import refsvm
from refsvm import DualProblem, RBF, solve
problem = DualProblem.classification(np.arange(6.0)[:, None], [-1, 1, 1, -1, 1, -1], kernel=RBF(1.0))
solution = solve(problem)
from refsvm.testing import check_strategy
report = check_strategy(refsvm.KKTGap())
print(solution.status.name, solution.engine, report.twin)
"""
    assert run(code).strip() == "CONVERGED numpy The twin was not compared: Numba is not installed."


TWINS = """
import importlib, inspect, json, pkgutil
import numpy as np
import refsvm
import refsvm.fast
from refsvm import RBF, DualProblem, MostViolatingPair, NewtonStep, PlanningAheadStep, SecondOrder, solve
problem = DualProblem.classification(np.arange(6.0)[:, None], [-1, 1, 1, -1, 1, -1], kernel=RBF(1.0))
for selector, step in (
    (SecondOrder(), PlanningAheadStep()), (SecondOrder(), NewtonStep()), (MostViolatingPair(), NewtonStep())
):
    assert solve(problem, selector=selector, step=step, engine="numba").status.name == "CONVERGED"
refsvm.leave_one_out(np.arange(6.0)[:, None], [-1, 1, 1, -1, 1, -1], kernel=RBF(1.0), checks=(), engine="numba")
found = {}
for module in pkgutil.iter_modules(refsvm.fast.__path__, "refsvm.fast."):
    for name, member in inspect.getmembers(importlib.import_module(module.name)):
        if hasattr(member, "py_func") and member.py_func.__module__ == module.name:
            if member._cache.__class__.__name__ == "NullCache":
                continue  # compiled into the functions that call it
            hits, misses = member.stats.cache_hits, member.stats.cache_misses
            found[f"{module.name}.{name}"] = [sum(hits.values()), sum(misses.values())]
print(json.dumps(found))
"""


@needs_jit
def test_the_second_process_compiles_nothing(tmp_path):
    cold, warm = (json.loads(run(TWINS, NUMBA_CACHE_DIR=str(tmp_path))) for _ in range(2))
    assert cold.keys() == warm.keys()
    assert {"refsvm.fast.loop.loop", "refsvm.fast.selectors.second_order"} <= warm.keys()
    for name in warm:
        # the loop for two built-in combinations and for any other rules; sparse data with two kinds of indices
        times = {"refsvm.fast.loop.loop": 3, "refsvm.fast.sparse.times": 2}.get(name, 1)
        assert cold[name] == [0, times], f"{name} was to be compiled in the first process"
        assert warm[name] == [times, 0], f"{name} was to come from the cache in the second process"


@needs_jit
def test_every_twin_is_cached_or_part_of_one_that_is():
    """A twin that is neither would be compiled in every process."""
    from .catalogue import RULES

    for rule in RULES:
        twin = getattr(rule, "twin", lambda: None)()
        if twin is not None:
            assert len(twin.signatures) == 1, rule
            assert type(twin._cache).__name__ != "NullCache", f"the twin of {rule} lacks cache=True"
