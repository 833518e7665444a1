"""What a type checker says of a user's script, and what a star import brings."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

import refsvm

from .test_import import run

SCRIPT = """
import numpy as np

from refsvm import RBF, SVC, SVCCV, SVR, SVRCV, TOP, DualProblem, KKTGap, OneClassSVM, PlanningAheadStep, SecondOrder
from refsvm import Solution, cross_validate, iterate, leave_one_out, read_model, regularization_path, solve, write_model

X, y = np.arange(6.0)[:, None], np.array([-1, 1, 1, -1, 1, -1])
problem = DualProblem.classification(X, y, kernel=RBF(0.5), C=1.0)
solution: Solution = solve(problem, selector=SecondOrder(), step=PlanningAheadStep(), stop=KKTGap(1e-3))
steps = [state.iteration for state in iterate(problem)]
error: float = leave_one_out(X, y, kernel=RBF(0.5), seeder=TOP()).error + cross_validate(X, y, folds=3).error
breakpoints: np.ndarray = regularization_path(X, y, kernel=RBF(0.5)).C
model = SVC(C=1.0, kernel="rbf").fit(X, y)
SVR(epsilon=0.1).fit(X, y), OneClassSVM(nu=0.5).fit(X), SVCCV(Cs=[1.0, 10.0]).fit(X, y)
SVRCV(epsilons=[0.1]).fit(X, y)
write_model(model, "m")
print(read_model("m").predict(X), model.predict(X))
"""


def complaints(path: Path, text: str) -> str:
    """What mypy --strict prints about a script."""
    pytest.importorskip("mypy")
    pytest.importorskip("sklearn")
    path.write_text(text)
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--config-file=", path]
    given = {"cwd": path.parent, "env": {**os.environ, "MYPYPATH": str(Path(refsvm.__file__).parents[1])}}
    return subprocess.run(command, capture_output=True, text=True, check=False, **given).stdout


@pytest.mark.slow
def test_every_public_name_has_a_type(tmp_path):
    lines = ["from collections.abc import Callable", f"from refsvm import {', '.join(refsvm.__all__)}"]
    for name in refsvm.__all__:
        kind = "type[object]" if isinstance(getattr(refsvm, name), type) else "Callable[..., object]"
        lines.append(f"of_{name}: {kind} = {name}")
    assert complaints(tmp_path / "names.py", "\n".join([*lines, SCRIPT])).startswith("Success")


@pytest.mark.slow
def test_a_misspelt_name_is_an_error(tmp_path):
    assert 'has no attribute "SVCC"' in complaints(tmp_path / "typo.py", "from refsvm import SVCC\n")


@pytest.mark.parametrize("missing", [[], ["sklearn"], ["sklearn", "scipy", "numba"]])
@pytest.mark.slow
def test_a_star_import_takes_what_is_there(missing):
    code = f"""
import sys
sys.modules.update(dict.fromkeys({missing}))  # importing these fails
from refsvm import *
print(*({{"solve", "SVC", "SVR"}} & set(globals())))
"""
    found = set(run(code).split())
    assert found >= {"solve"}
    if "sklearn" in missing:
        assert found == {"solve"}


HOOKS = {"left_out", "problem", "rule", "options"}
"""What rules are called with, and options that are handed on."""


def test_signatures_in_the_help_say_what_an_argument_may_be():
    """No argument of a public function, method or class is shown as 'Any'."""
    found = set()
    for name in refsvm.__all__:
        thing = getattr(refsvm, name)
        called = {name: thing}
        if isinstance(thing, type):
            called |= {f"{name}.{key}": getattr(thing, key) for key in vars(thing) if not key.startswith("_")}
        for key, each in called.items():
            with suppress(TypeError, ValueError):
                arguments = inspect.signature(each).parameters.items()
                found |= {(key, given) for given, it in arguments if it.annotation == "Any"}
    assert not [each for each in found if each[1] not in HOOKS]
