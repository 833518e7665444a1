"""The tests of a folder on its source, in a clone of the repository: which test runs which line, and notices a change.

The tests of a folder are collected once, and each mutant is a fork of the process that has collected them: there the
functions get the code of the mutant, and its tests are run until one fails. What is run by the import (a constant, a
default) is broken before the import, in a fork of the process that has loaded the libraries alone: seconds, not
milliseconds.
What is broken is readable, so the tests of ``engine="numba"`` are left out, and other compiled functions are run as
Python. Tests that take minutes that way are left out too (`WALKS`). The quickest tests that run the line come first. Of
what the import runs any test may tell.
"""

from __future__ import annotations

import ast
import contextlib
import gc
import importlib
import json
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any, Final

import coverage
import pytest

if TYPE_CHECKING:
    from .places import Mutant

__all__ = ["FOLDERS", "Baseline", "baseline", "load_libraries", "only", "run", "run_broken", "run_mutants"]

FOLDERS: Final[dict[str, tuple[str, ...]]] = {
    "core/selectors": ("tests/core/selectors", "tests/core/test_rules.py"),
    "core/steps": ("tests/core/steps", "tests/core/test_rules.py"),
    "core/stopping": ("tests/core/stopping", "tests/core/test_rules.py"),
    "core/seeders": ("tests/core/seeders", "tests/core/test_rules.py"),
    "core/trackers": ("tests/core/trackers", "tests/core/test_rules.py", "tests/core/paths"),
    "core/paths": ("tests/core/paths",),
    "core/walk": ("tests/core/walk", "tests/core/paths", "tests/core/seeders"),
    "core/kernels": ("tests/core/kernels",),
    "core/engine": ("tests/core/engine",),
    "core/guards": ("tests/core/guards", "tests/services/guards"),
    "analysis/derivatives": ("tests/analysis/derivatives",),
    "analysis/multiclass": ("tests/analysis/multiclass",),
    "analysis/paths": ("tests/analysis/paths",),
    "analysis/paths/lines": ("tests/analysis/paths",),
    "analysis/small": ("tests/analysis/small",),
    "datasets": ("tests/datasets",),
    "services": ("tests/services",),
    "services/guards": ("tests/services/guards",),
    "services/identity": ("tests/experiment",),
    "experiment": ("tests/experiment",),
    "testing": ("tests/testing",),
    "cli": ("tests/cli",),
    "display": ("tests/display",),
    "estimators": ("tests/estimators",),
    "core/solver": ("tests/core/solver", "tests/test_any_problem.py", "tests/test_properties.py"),
    "core/rounds": ("tests/core/rounds", "tests/analysis/resampling"),
    "analysis/resampling": ("tests/analysis/resampling", "tests/core/rounds"),
}
"""The tests of each folder, to which the examples in its docstrings come. Quick folders come first."""

PATIENCE: Final = 15.0
"""Processor seconds of tests, by their own time, that are run on a mutant."""

LOADED: Final = (
    "numpy", "scipy.linalg", "scipy.optimize", "scipy.sparse", "scipy.spatial", "sklearn.svm",
    "sklearn.model_selection", "sklearn.utils.estimator_checks", "numba", "qpsolvers", "joblib", "hypothesis",
)  # fmt: skip

WALKS: Final = ("at_a_large_penalty_is_walked_to", "at_an_easy_penalty_is_walked_to")
"""Tests of `rounds` that take minutes where compiled functions are run as Python: two thirds of all of its tests."""

OPTIONS: Final = [
    "-q", "-x", "-s", "--no-header", "--tb=no", "--assert=plain", "-m", "not slow",
    "-k", " and ".join(f"not {name}" for name in ("numba", *WALKS)),
    "-p", "no:cacheprovider", "-p", "no:xdist", "--timeout", "0",
]  # fmt: skip

LONGEST: Final = 60
"""Seconds of a test that is tried on mutants: interpreted, a few take minutes."""

TOO_LONG: Final = "the time limit"

Baseline = dict[str, Any]
"""``seconds`` of each test that passes, those that ``failed``, and for each file the tests that run each of its
``lines`` ("" is the import)."""

Tell = Callable[["Mutant", dict[str, Any]], None]


class Watcher:
    """Plugin of pytest: seconds of each test, what it covers or its limit, the first failure."""

    def __init__(
        self,
        measured: coverage.Coverage | None = None,
        known: Baseline | None = None,
        tests: list[str] | None = None,
    ) -> None:
        self.measured, self.known, self.tests = measured, known, tests
        self.seconds, self.failed, self.failures = dict[str, float](), "", set[str]()

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Keep the tests that were asked for, in that order, and those that are called otherwise now."""
        if self.tests is not None and self.known is not None:
            place = {test: at for at, test in enumerate(self.tests)}
            others = {*self.known["seconds"], *self.known["failed"]}
            wanted = [each for each in items if each.nodeid in place or each.nodeid not in others]
            items[:] = sorted(wanted, key=lambda each: place.get(each.nodeid, -1))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Name what is covered by the test, and time it."""
        if self.known is not None:
            set_limit(10.0 + 10.0 * self.known["seconds"].get(item.nodeid, 1.0))
        if self.measured is not None:
            self.measured.switch_context(item.nodeid)
        began = processor_seconds()
        result = yield
        self.seconds[item.nodeid] = processor_seconds() - began
        if self.measured is not None:
            self.measured.switch_context("")
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note the first failure, and all."""
        if report.failed:
            self.failed = self.failed or report.nodeid
            self.failures.add(report.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note a file that cannot be imported."""
        if report.failed:
            self.failed = self.failed or report.nodeid


class Forks:
    """Plugin of pytest: in place of the run of all tests a fork for each mutant."""

    def __init__(self, root: Path, mutants: list[Mutant], known: Baseline, tell: Tell) -> None:
        self.root, self.mutants, self.known, self.tell = root, mutants, known, tell

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Tell the outcome of each."""
        items, functions = {item.nodeid: item for item in session.items}, functions_by_file(self.root)
        gc.collect()
        gc.freeze()
        for mutant in self.mutants:
            tests = tests_of(mutant, self.known, imported=False)

            def work(mutant: Mutant = mutant, tests: list[str] = tests) -> dict[str, str]:
                put_in(mutant, functions.get(mutant.path, []), self.root)
                watcher = Watcher(known=self.known)
                session.config.pluginmanager.register(watcher)
                ordered = [items[test] for test in tests]
                for item, following in zip(ordered, [*ordered[1:], None], strict=True):
                    session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
                    if watcher.failed:
                        break
                return {"failed": watcher.failed}

            self.tell(mutant, outcome(self.root, mutant, tests, work))
        return True


def load_libraries() -> None:
    """Load what all tests load, once for all forks."""
    os.environ.update(
        NUMBA_DISABLE_JIT="1", CI="1", OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MPLBACKEND="agg"
    )
    sys.dont_write_bytecode = True  # of two mutants in the same second Python would take one for the other
    for name in LOADED:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    if "refsvm" in sys.modules:
        raise RuntimeError("The package is loaded already; its mutants would not be.")


def baseline(root: Path, files: list[str]) -> Baseline:
    """Run all tests of these files on the source as it is."""

    def work() -> Baseline:
        include = [f"{root}/refsvm/{folder}/*" for folder in FOLDERS]
        measured = coverage.Coverage(include=include, data_file=None, config_file=False)
        sys.dont_write_bytecode = False
        measured.start()
        watcher = Watcher(measured)
        options = [each for each in OPTIONS if each != "-x"]
        code = pytest.main([*options, "--timeout", str(LONGEST), *files], [watcher])
        measured.stop()
        data = measured.get_data()
        lines = {
            str(Path(path).relative_to(root)): data.contexts_by_lineno(path) for path in data.measured_files()
        }
        kept = {test: took for test, took in watcher.seconds.items() if test not in watcher.failures}
        return {"code": int(code), "failed": [*watcher.failures], "seconds": kept, "lines": lines}

    _enter(root)
    found = forked(root, work)
    if found.get("code") not in {0, 1, 5}:  # 1: some fail, 5: there is none
        said = (root.parent / "output.txt").read_text(encoding="utf-8", errors="replace")[-3000:]
        raise SystemExit(f"The tests of {files} do not run before anything is broken:\n{said}")
    for test in found["failed"]:
        print(
            f"left out, because it fails or takes {LONGEST} s before anything is broken: {test}", flush=True
        )
    return json.loads(json.dumps(found))  # type: ignore[no-any-return]


def only(known: Baseline, files: set[str]) -> Baseline:
    """Return what is known of the tests of these files, and of the import."""
    seconds = {test: time for test, time in known["seconds"].items() if _file(test) in files}
    lines = {
        path: {line: [test for test in tests if not test or test in seconds] for line, tests in found.items()}
        for path, found in known["lines"].items()
    }
    failed = [test for test in known["failed"] if _file(test) in files]
    return {"seconds": seconds, "lines": lines, "failed": failed}


def run_mutants(root: Path, files: list[str], mutants: list[Mutant], known: Baseline, tell: Tell) -> None:
    """Tell the outcome of mutants of a folder, in a fork: this process has to stay without the package."""
    if child := os.fork():
        os.waitpid(child, 0)
        return
    try:
        _enter(root)
        imported = [mutant for mutant in mutants if is_imported(root, mutant, known)]
        for mutant in imported:
            tests = tests_of(mutant, known, imported=True)

            def work(tests: list[str] = tests) -> dict[str, str]:
                set_limit(60.0)
                watcher = Watcher(known=known, tests=tests)
                code = pytest.main([*OPTIONS, *dict.fromkeys(map(_file, tests))], [watcher])
                return {"failed": (watcher.failed or "the import") if code else ""}

            tell(mutant, outcome(root, mutant, tests, work))
        in_functions = [mutant for mutant in mutants if mutant not in imported]
        pytest.main([*OPTIONS, *files], [Forks(root, in_functions, known, tell)])
    finally:
        sys.stdout.flush()
        os._exit(0)


def outcome(root: Path, mutant: Mutant, tests: list[str], work: Callable[[], Any]) -> dict[str, Any]:
    """Break the line on disk too, for processes that tests start; return what noticed it, "" if nothing did."""
    with broken(root / mutant.path, mutant.source):
        found = forked(root, work) if tests else {"failed": ""}
    return {"noticed": found["failed"], "tests": len(tests)}


def run(root: Path, tests: Sequence[str], limit: float) -> Any:
    """Run tests up to the first that fails; return pytest's code and that test, None after so many seconds."""

    def work() -> dict[str, Any]:
        _enter(root)
        set_limit(limit)
        watcher = Watcher()
        # tests that are named are run, the slow ones too
        code = pytest.main([*OPTIONS, "-m", "slow or not slow", "-k", "not numba", *tests], [watcher])
        return {"code": int(code), "failed": watcher.failed}

    found = forked(root, work)
    return None if found["failed"] == TOO_LONG else {"code": -1, **found}


def run_broken(root: Path, path: str, source: str, tests: Sequence[str], limit: float) -> Any:
    """Run tests with another source in place of this file, which is restored."""
    with broken(root / path, source):
        return run(root, tests, limit)


@contextlib.contextmanager
def broken(path: Path, source: str) -> Iterator[None]:
    """Put another source in place of a file, and restore it."""
    before = path.read_text(encoding="utf-8")
    try:
        path.write_text(source, encoding="utf-8")
        yield
    finally:
        path.write_text(before, encoding="utf-8")


def forked(root: Path, work: Callable[[], Any]) -> Any:
    """Return what a fork makes of this work, by way of a file, or what ended it."""
    answer = root.parent / "answer.json"
    answer.unlink(missing_ok=True)
    child = os.fork()
    if not child:
        os.setsid()
        output = os.open(root.parent / "output.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(output, 1)
        os.dup2(output, 2)
        try:
            answer.write_text(json.dumps(work()), encoding="utf-8")
        except BaseException:  # noqa: BLE001
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            sys.stdout.flush()
            os._exit(0)
    ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)  # processes that a test has left behind
    if ended in {-signal.SIGPROF, -signal.SIGALRM}:
        return {"failed": TOO_LONG}
    if ended:
        return {"failed": f"signal {-ended}"}
    if not answer.exists():
        raise SystemExit((root.parent / "output.txt").read_text(encoding="utf-8", errors="replace")[-3000:])
    return json.loads(answer.read_text(encoding="utf-8"))


def set_limit(seconds: float) -> None:
    """End this process after so many seconds of the processor, or after a hundred times that in a deadlock."""
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_REAL, 100.0 * seconds)


def processor_seconds() -> float:
    """Return the seconds of this process and of those it has waited for."""
    return time.process_time() + sum(os.times()[2:4])


def tests_of(mutant: Mutant, known: Baseline, imported: bool) -> list[str]:
    """Return the tests of a mutant in their order, as far as patience goes."""
    direct = runs(mutant, known) - {""}
    same_file = {test for tests in known["lines"].get(mutant.path, {}).values() for test in tests}
    everywhere = imported or not direct

    def rank(test: str) -> tuple[float, str]:
        # what the import runs may be noticed by a quick test that runs no line of the file
        return known["seconds"][test] * (10.0 if everywhere and test not in same_file else 1.0), test

    ordered = sorted(known["seconds"] if everywhere else direct, key=rank)
    sums = accumulate(known["seconds"][test] for test in ordered)
    return [test for test, total in zip(ordered, sums, strict=True) if total <= PATIENCE]


def runs(mutant: Mutant, known: Baseline) -> set[str]:
    """Return the tests that run a line of the statement that a mutant changes, "" if the import does.

    Of a statement of several lines a test may run the first ones alone: where they are broken, it runs the others.
    """
    lines, (first, last) = known["lines"].get(mutant.path, {}), statement(mutant)
    return {test for line in range(first, last + 1) for test in lines.get(str(line), ())}


def statement(mutant: Mutant) -> tuple[int, int]:
    """Return the first and the last line of the statement that a mutant changes; of one with a body, those above it."""
    first, last = mutant.line, mutant.line + mutant.before.count("\n")
    around = [
        node
        for node in ast.walk(ast.parse(mutant.source))
        if isinstance(node, ast.stmt) and node.lineno <= first <= (node.end_lineno or 0)
    ]
    if not around:  # a decorator
        return first, last
    inner = max(around, key=lambda node: node.lineno)
    body = getattr(inner, "body", None)
    end = body[0].lineno - 1 if body else inner.end_lineno or last
    return (inner.lineno, max(end, last)) if first <= max(end, inner.lineno) else (first, last)


def is_imported(root: Path, mutant: Mutant, known: Baseline) -> bool:
    """Return whether the import of the package runs what is broken: all that is in no function, and some that is."""

    def outside(source: str) -> str:
        tree = ast.parse(source)
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                node.body = []
        return ast.dump(tree)

    source = (root / mutant.path).read_text(encoding="utf-8")
    return "" in runs(mutant, known) or outside(mutant.source) != outside(source)


def functions_by_file(root: Path) -> dict[str, list[FunctionType]]:
    """Return the functions of the package that there are, by the file of their code."""
    found: dict[str, list[FunctionType]] = {}
    for function in gc.get_objects():
        if isinstance(function, FunctionType) and function.__code__.co_filename.startswith(f"{root}/refsvm/"):
            found.setdefault(str(Path(function.__code__.co_filename).relative_to(root)), []).append(function)
    return found


def put_in(mutant: Mutant, functions: list[FunctionType], root: Path) -> None:
    """Give the functions of a file the code of the mutant."""
    codes: dict[str, list[CodeType]] = {}

    def collect(code: CodeType) -> None:
        codes.setdefault(code.co_qualname, []).append(code)
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                collect(constant)

    collect(compile(mutant.source, str(root / mutant.path), "exec", dont_inherit=True))
    for function in functions:
        code = function.__code__
        # without its decorator a function begins a line later
        function.__code__ = min(
            codes[code.co_qualname], key=lambda other: abs(other.co_firstlineno - code.co_firstlineno)
        )


def _file(test: str) -> str:
    return test.partition("::")[0]


def _enter(root: Path) -> None:
    os.chdir(root)
    if sys.path[0] != str(root):
        sys.path.insert(0, str(root))
