"""What importing loads and costs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import refsvm

from .programs import printed_by

ROOT = Path(refsvm.__file__).parents[1]


def run(code: str, **environment: str) -> str:
    paths = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    return printed_by("-c", code, PYTHONPATH=paths, **environment)


def test_importing_loads_numpy_only_and_is_quick():
    code = (
        # of the processor, in those of NumPy: neither other work on the machine must count, nor how fast it is
        "import time; began = time.process_time(); import numpy; between = time.process_time(); import refsvm;"
        "print((time.process_time() - between) / (between - began)); import sys; print(*sys.modules)"
    )
    shares = []
    for _ in range(5):
        # from the second time on with the bytecode that the first has written, as at a user's, whatever is set here
        first, modules = run(code, PYTHONDONTWRITEBYTECODE="").splitlines()
        shares.append(float(first))
    heavy = {"numba", "llvmlite", "scipy", "sklearn", "matplotlib", "pandas", "joblib", "typer", "rich"}
    assert not heavy & set(modules.split())
    assert min(shares) < 3.0


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
    assert run(code).strip() == "CONVERGED numpy No twin was compared: Numba or refsvm.compiled is missing."
