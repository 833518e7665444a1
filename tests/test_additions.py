"""A selector, a step, a seeder, a kernel and a line are each added by one file, its twin, and one line."""

from __future__ import annotations

import re
import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest

import refsvm

from .programs import printed_by
from .settings import needs_numba

ROOT = Path(__file__).parents[1]
ADDITIONS = ROOT / "docs" / "additions"
LINES = {
    "core/selectors": "from refsvm.core.selectors.constant_factor import ConstantFactor as ConstantFactor",
    "core/steps": "from refsvm.core.steps.short import ShortStep as ShortStep",
    "core/seeders": "from refsvm.core.seeders.half import Half as Half",
    "core/kernels/functions": "from refsvm.core.kernels.functions.cauchy import Cauchy as Cauchy",
    "analysis/paths/lines": "from refsvm.analysis.paths.lines.penalty import penalty_path as penalty_path",
}
"""The folder of each addition, and the line in its ``__init__.py``; docs/write_a_rule.md shows them."""

pytestmark = pytest.mark.skipif(not ADDITIONS.is_dir(), reason="the additions are not here")

BEGIN = """
import sys, numpy as np, refsvm
from refsvm import *
from refsvm.testing import check_strategy, practice_problems, strategy
sys.path[:0] = ["docs/_ext", "."]
from tests import catalogue
from refsvm.cli import choices
from refsvm.datasets import make_banana
X, y = (data := make_banana(40, rng=1)).X, data.y
problem = DualProblem.classification(X, y, kernel=RBF(0.5), C=2.0)
few = list(practice_problems().items())[1::4]  # a check on all of them takes half a minute
strategy.practice_problems = lambda rng: dict(few)
def in_both(run):
    numpy, numba = (run(engine) for engine in ("numpy", "numba"))
    assert np.array_equal(numpy, numba), "the engines differ"
    return numpy
def twin_agrees(rule):
    said = check_strategy(rule).twin
    assert "bit for bit" in said, said
def in_table(rule):
    if "pages" not in sys.argv:
        return
    import rules
    assert rule in [row[1] for row in rules.rows()]
"""
CHECKS = {
    "core/selectors": """
assert ConstantFactor() in catalogue.RULES and choices.SELECTORS["constant-factor"] is ConstantFactor
best = solve(problem, stop=KKTGap(1e-8)).objective
def run(engine):
    found = solve(problem, selector=ConstantFactor(), stop=KKTGap(1e-6), engine=engine)
    assert found.engine == engine and abs(found.objective / best - 1.0) < 1e-6
    return found.alpha
in_both(run)
in_both(lambda engine: SVC(selector=ConstantFactor(), engine=engine).fit(X, y).alpha_)
in_both(lambda engine: leave_one_out(X, y, kernel=RBF(0.5), selector=ConstantFactor(), engine=engine).predictions)
twin_agrees(ConstantFactor())
in_table(ConstantFactor)
""",
    "core/steps": """
assert ShortStep() in catalogue.RULES and choices.STEPS["short"] is ShortStep
best = solve(problem, stop=KKTGap(1e-8)).objective
def run(engine):
    found = solve(problem, step=ShortStep(), stop=KKTGap(1e-6), engine=engine)
    assert found.engine == engine and abs(found.objective / best - 1.0) < 1e-6
    return found.alpha
in_both(run)
in_both(lambda engine: SVC(step=ShortStep(), engine=engine).fit(X, y).alpha_)
twin_agrees(ShortStep())
in_table(ShortStep)
""",
    "core/seeders": """
assert Half() in catalogue.SEEDERS and choices.SEEDERS["half"] is Half
cold = cross_validate(X, y, kernel=RBF(0.5), folds=5, rng=0, seeder=Cold()).predictions
found = in_both(lambda engine: cross_validate(
    X, y, kernel=RBF(0.5), folds=5, rng=0, seeder=Half(), engine=engine).predictions)
assert np.array_equal(found, cold)
in_both(lambda engine: leave_one_out(X, y, kernel=RBF(0.5), seeder=Half(), engine=engine).predictions)
twin_agrees(Half())
in_table(Half)
""",
    "core/kernels/functions": """
import tempfile
from pathlib import Path
from refsvm.core.kernels import Gram
from refsvm.services.names import KERNELS
from refsvm.analysis.paths import load_path, save_path
assert KERNELS["cauchy"] is Cauchy
K = 1.0 / (1.0 + 0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=-1))
check_strategy(Gram(Cauchy(0.5), X))
given = solve(DualProblem.classification(K, y, kernel=Precomputed(), C=2.0), stop=KKTGap(1e-8))
own = DualProblem.classification(X, y, kernel=Cauchy(0.5), C=2.0)
found = in_both(lambda engine: solve(own, stop=KKTGap(1e-8), engine=engine).alpha)
assert np.abs(found - given.alpha).max() < 1e-5
in_both(lambda engine: leave_one_out(X, y, kernel=Cauchy(0.5), engine=engine).predictions)
in_both(lambda engine: cross_validate(X, y, kernel=Cauchy(0.5), folds=4, engine=engine).predictions)
path = regularization_path(X, y, kernel=Cauchy(0.5), C_min=0.5, C_max=2.0)
assert np.abs(path.alpha(2.0) - given.alpha).max() < 1e-5
folder = Path(tempfile.mkdtemp())
save_path(path, folder / "path.npz")
assert np.array_equal(load_path(folder / "path.npz").decision_function(X, 1.0), path.decision_function(X, 1.0))
named, made = SVC(kernel="cauchy", gamma=0.5).fit(X, y), SVC(kernel=Cauchy(0.5)).fit(X, y)
assert np.array_equal(named.alpha_, made.alpha_) and named.kernel_ == Cauchy(0.5)
try:
    write_model(named, folder / "file.model")
except ValueError as error:
    assert "cannot be stored in a LIBSVM model file" in str(error) and not (folder / "file.model").exists()
else:
    raise AssertionError("LIBSVM cannot read this file")
in_table(Cauchy)
""",
    "analysis/paths/lines": """
def run(engine):
    path = penalty_path(X, y, kernel=RBF(0.5), C=(0.5, 4.0), engine=engine)
    assert path.kkt_audit().worst < 1e-8
    return path.alpha(2.0)
assert np.abs(in_both(run) - solve(problem, stop=KKTGap(1e-9)).alpha).max() < 1e-6
assert "penalty_path" in refsvm.__all__
in_table(penalty_path)
""",
}


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A copy of the package with one addition of each kind."""
    root = tmp_path_factory.mktemp("additions")
    left_out = shutil.ignore_patterns("__pycache__", "version_0_*")
    shutil.copytree(Path(refsvm.__file__).parent, root / "refsvm", ignore=left_out)
    shutil.copytree(ROOT / "docs" / "_ext", root / "docs" / "_ext", ignore=left_out)
    (root / "tests").mkdir()
    shutil.copy(ROOT / "tests" / "catalogue.py", root / "tests")
    shutil.copytree(ADDITIONS, root / "refsvm", dirs_exist_ok=True)
    for room, line in LINES.items():
        file = root / "refsvm" / room / "__init__.py"
        before, export, after = file.read_text(encoding="utf-8").partition(
            "from refsvm.core.rule import export\n"
        )
        file.write_text(f"{before}{line}\n{export}{after}", encoding="utf-8")
    return root


@pytest.mark.slow
@needs_numba
def test_each_is_one_file_its_twin_and_one_line(copy):
    pytest.importorskip("sklearn")
    pages = ["pages"] if find_spec("sphinx") and find_spec("typer") else []
    checks = BEGIN + "".join(f"print({kind!r}, flush=True)\n{CHECKS[kind]}" for kind in LINES)
    # interpreted: compiling would take a minute
    said = printed_by("-c", checks, *pages, cwd=copy, PYTHONPATH=str(copy), NUMBA_DISABLE_JIT="1")
    assert said.split() == [*LINES]


def test_the_page_shows_these_lines():
    page = (ROOT / "docs" / "write_a_rule.md").read_text(encoding="utf-8")
    files = {file.relative_to(ADDITIONS).as_posix() for file in ADDITIONS.rglob("*.py")}
    assert files == set(re.findall(r"`refsvm/(\w+/\S+\.py)` \|", page))
    assert [line for line in LINES.values() if f"`{line}`" not in page] == []
