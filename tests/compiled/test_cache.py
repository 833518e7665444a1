"""What a new process compiles: nothing, or what depends on a file that was edited."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import refsvm

from ..catalogue import RULES
from ..programs import printed_by
from ..settings import needs_jit

pytestmark = needs_jit

SOLVE = """
from refsvm import RBF, DualProblem, MaximumGain, MostViolatingPair, NewtonStep, SecondOrder, solve
problem = DualProblem.classification(np.arange(6.0)[:, None], [-1, 1, 1, -1, 1, -1], kernel=RBF(1.0))
# selectors
for selector in selectors:
    solution = solve(problem, selector=selector(), step=NewtonStep(), engine="numba", shrinking=False, max_iter=50)
    result.append(solution.iterations)
"""

LEAVE_ONE_OUT = """
from refsvm import RBF, KKTGap, leave_one_out
found = leave_one_out(
    np.arange(6.0)[:, None], [-1, 1, 1, -1, 1, -1], kernel=RBF(1.0), stop=KKTGap(), checks=(), engine="numba"
)
result.append(found.error)
"""


REPORT = """
import json, sys
from numba.core.dispatcher import Dispatcher
found = {}
for name in [name for name in sys.modules if name.startswith("refsvm.compiled.")]:
    for member in vars(sys.modules[name]).values():
        if isinstance(member, Dispatcher) and member.py_func.__module__ == name:
            counts = sum(member.stats.cache_hits.values()), sum(member.stats.cache_misses.values())
            if type(member._cache).__name__ != "NullCache" and any(counts):
                found[f"{name.removeprefix('refsvm.compiled.')}.{member.__name__}"] = counts
print(json.dumps([result, found]))
"""


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """Copy the package, and give it a cache of its own."""
    root = tmp_path_factory.mktemp("copy")
    source = Path(refsvm.__file__).parent
    shutil.copytree(source, root / "refsvm", ignore=shutil.ignore_patterns("__pycache__", "bundle"))
    return root


def run(root, code):
    """Run code in a new process; return its result, and hits and misses of the cache for each twin.

    `root` is where the copy is; None is the package itself, with the cache of these tests.
    """
    own = {} if root is None else {"PYTHONPATH": str(root), "NUMBA_CACHE_DIR": str(root / "cache")}
    code = f"import numpy as np\nresult = []\n{code}{REPORT}"
    result, found = json.loads(printed_by("-c", code, cwd=root, **own))
    return result, {name: tuple(counts) for name, counts in found.items()}


LOADED = {  # the default rules are parts of their loop; the other loop calls twins
    SOLVE.replace("# selectors", "selectors = SecondOrder, MaximumGain"): (
        "solver.loop.compiled_steps", "solver.loop.resumed_steps", "selectors.maximum_gain.maximum_gain",
        "steps.newton.newton", "stopping.kkt_gap.kkt_gap", "problem.most_violating_pair",
    ),
    LEAVE_ONE_OUT: (  # with the loop of the full solution, and the seeder's twin
        "solver.loop.compiled_steps", "rounds.rounds.compiled_rounds", "seeders.top.top", "problem.most_violating_pair",
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("code", "needed"), LOADED.items(), ids=["solves", "rounds"])
def test_code_is_loaded_by_the_next_process_with_no_more_than_it_needs(code, needed):
    first, _ = run(None, code)
    again, loaded = run(None, code)
    assert again == first
    assert loaded == dict.fromkeys(needed, (1, 0))


@pytest.mark.slow
def test_code_is_loaded_without_what_only_the_compiler_needs():
    """And a process that has loaded some still compiles: the compiler fetches that by itself."""
    run(None, SOLVE.replace("# selectors", "selectors = [SecondOrder]"))  # now it is on disk
    loading = (
        SOLVE.replace("# selectors", "import sys; selectors = [SecondOrder]")
        + """
needed = "numba.np.linalg", "numba.cpython.setobj", "scipy.linalg"
result.append([name for name in needed if name in sys.modules])
from numba import njit
result.append(njit(lambda x: np.linalg.det(x * np.eye(2)))(2.0))
result.append([name for name in needed if name in sys.modules])
"""
    )
    (_, loaded, determinant, compiled), counts = run(None, loading)
    assert counts["solver.loop.compiled_steps"] == (1, 0)
    assert loaded == []
    assert determinant == 4.0
    assert len(compiled) == 3


@pytest.mark.slow
def test_a_loop_is_compiled_again_after_an_edit_of_a_rule_built_into_it(root):
    code = SOLVE.replace("# selectors", "selectors = [SecondOrder]")
    (first,), compiled = run(root, code)
    assert compiled["solver.loop.compiled_steps"] == (0, 1)
    rule, file = "    now = state.now[0]\n", root / "refsvm/compiled/steps/newton.py"
    assert rule in file.read_text()
    file.write_text(file.read_text().replace(rule, rule + "    now.slope *= 0.5\n"))
    (other,), changed = run(root, code)
    assert changed["solver.loop.compiled_steps"] == (0, 1)
    assert other > first


def test_every_file_counts(tmp_path, monkeypatch):
    """An edit of any file with compiled code, or of those with the constants, makes new names; so does a file more."""
    from refsvm.compiled.interface import stamp as module

    folder = tmp_path / "compiled"
    shutil.copytree(Path(module.__file__).parents[1], folder, ignore=shutil.ignore_patterns("__pycache__"))
    for name in (f"core/{each}" for each in module.CONSTANTS_FROM):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(Path(refsvm.__file__).parent / name, tmp_path / name)
    monkeypatch.setattr(module, "__file__", str(folder / "interface" / "stamp.py"))
    stamp = module.stamp.__wrapped__
    seen = {module.stamp(), stamp()}
    assert len(seen) == 1
    files = [*tmp_path.rglob("*.py")]
    for file in files:
        file.write_text(file.read_text() + "# edited\n")
        before = len(seen)
        seen.add(stamp())
        assert (len(seen) == before) == (file.name in module.NOT_COMPILED), file
    before = len(seen)
    (folder / "another.py").touch()
    assert len(seen | {stamp()}) == before + 1


def test_every_twin_is_cached_under_a_name_with_the_stamp():
    """One that is not would be compiled in every process, or go stale."""
    from refsvm.compiled.interface.layout import CHECK, LENGTH, LENGTH_AND_CARRY, SELECT
    from refsvm.compiled.interface.seeding import SEED
    from refsvm.compiled.interface.stamp import stamp

    for rule in RULES:
        twin = getattr(rule, "twin", lambda: None)()
        if twin is not None:
            assert twin.py_func.__qualname__ == f"{twin.__name__}_{stamp()}"
            assert type(twin._cache).__name__ == "CodeOnDisk", f"the twin of {rule} is not made by twin()"
            assert twin.signature in (SELECT, LENGTH, LENGTH_AND_CARRY, CHECK, SEED), rule
