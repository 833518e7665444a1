"""The tests of a room on its source, in a clone of the repository: which test runs which line and notices which change.

Each run is a fork of this process, which has loaded the libraries and not the package. What is broken is readable, so
the tests of ``engine="numba"`` are left out, and other compiled functions are run as Python. Of the tests that run a
line the quickest come first, up to half a minute's worth.
"""

from __future__ import annotations

import contextlib
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
from typing import TYPE_CHECKING, Any, Final

import coverage
import pytest

if TYPE_CHECKING:
    from .places import Mutant

__all__ = ["ROOMS", "Baseline", "baseline", "outcome", "run", "run_broken"]

ROOMS: Final[dict[str, tuple[str, ...]]] = {
    "selectors": ("tests/selectors",),
    "steps": ("tests/steps",),
    "stopping": ("tests/stopping",),
    "seeders": ("tests/seeders",),
    "trackers": ("tests/trackers", "tests/paths"),
    "walk": ("tests/walk", "tests/paths", "tests/seeders"),
    "solver": ("tests/solver",),
    "rounds": ("tests/rounds",),
    "kernels": ("tests/kernels",),
}
"""The tests of each room, to which the examples in its docstrings come."""

PATIENCE: Final = 30.0
"""Seconds of tests, by their own time, that are run on a mutant."""

LIMIT: Final = 60.0
"""Seconds more than four times that, after which a mutant has run into a loop."""

LOADED: Final = (
    "numpy", "scipy.linalg", "scipy.optimize", "scipy.sparse", "scipy.spatial", "sklearn.svm",
    "sklearn.model_selection", "sklearn.utils.estimator_checks", "numba", "qpsolvers", "joblib",
)  # fmt: skip

Baseline = dict[str, Any]
"""``seconds`` of each test, and for each file the tests that run each of its ``lines``."""

_clock = iter(range(1_000_000_000, 2_000_000_000, 10))


class Watcher:
    """Plugin of pytest: seconds, coverage of each test by itself, the first failure."""

    def __init__(self, measured: coverage.Coverage | None = None) -> None:
        self.measured, self.seconds, self.failed = measured, dict[str, float](), ""

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Name what is covered by the test."""
        if self.measured is not None:
            self.measured.switch_context(item.nodeid)
        result = yield
        if self.measured is not None:
            self.measured.switch_context("")
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add up the seconds; note the first failure."""
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0.0) + report.duration
        if report.failed:
            self.failed = self.failed or report.nodeid

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note a file that cannot be imported."""
        if report.failed:
            self.failed = self.failed or report.nodeid


def load_libraries() -> None:
    """Load what all tests load, once for all forks."""
    os.environ.update(
        NUMBA_DISABLE_JIT="1", CI="1", OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MPLBACKEND="agg"
    )
    for name in LOADED:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    if "refsvm" in sys.modules:
        raise RuntimeError("The package is loaded already; its mutants would not be.")


def forked(root: Path, work: Callable[[], Any], seconds: float) -> Any:
    """Return what a fork makes of this work, by way of a file; None after so many seconds."""
    answer = root.parent / "answer.json"
    answer.unlink(missing_ok=True)
    child = os.fork()
    if not child:
        os.setsid()
        output = os.open(root.parent / "output.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(output, 1)
        os.dup2(output, 2)
        try:
            os.chdir(root)
            sys.path.insert(0, str(root))
            answer.write_text(json.dumps(work()), encoding="utf-8")
        except BaseException:
            traceback.print_exc()
            raise
        finally:
            sys.stderr.flush()
            sys.stdout.flush()
            os._exit(0)
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if os.waitpid(child, os.WNOHANG)[0]:
            break
        time.sleep(0.05)
    else:
        os.killpg(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return None
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)  # processes that a test has left behind
    return (
        json.loads(answer.read_text(encoding="utf-8")) if answer.exists() else {"code": -1, "failed": "crash"}
    )


def baseline(root: Path, tests: str) -> Baseline:
    """Run all tests of a folder on the source as it is."""

    def work() -> Baseline:
        include = [f"{root}/refsvm/{room}/*" for room in ROOMS]
        measured = coverage.Coverage(include=include, data_file=None, config_file=False)
        measured.start()
        watcher = Watcher(measured)
        code = pytest.main([*OPTIONS, tests], [watcher])
        measured.stop()
        data = measured.get_data()
        lines = {
            str(Path(path).relative_to(root)): {
                line: [test for test in tests if test]
                for line, tests in data.contexts_by_lineno(path).items()
            }
            for path in data.measured_files()
        }
        return {"code": int(code), "failed": watcher.failed, "seconds": watcher.seconds, "lines": lines}

    found = forked(root, work, 3600.0)
    if found is None or found["code"] not in {0, 5}:  # 5: there is none
        said = (root.parent / "output.txt").read_text(encoding="utf-8", errors="replace")[-3000:]
        raise SystemExit(f"{tests} fails before anything is broken: {found and found['failed']}\n{said}")
    return found


OPTIONS: Final = [
    "-q", "-x", "--no-header", "--tb=no", "--assert=plain", "-m", "not slow", "-k", "not numba",
    "-p", "no:cacheprovider", "-p", "no:xdist",
]  # fmt: skip


def tests_of(mutant: Mutant, known: Baseline) -> list[str]:
    """Return the tests that run the line, quickest first, as far as patience goes; if none does, all of them."""
    lines = known["lines"].get(mutant.path, {})
    last = mutant.line + mutant.before.count("\n")
    run = {test for line in range(mutant.line, last + 1) for test in lines.get(str(line), ())}
    run = run or set(known["seconds"])  # it is run while the file is imported
    ordered = sorted(run, key=lambda test: (known["seconds"][test], test))
    sums = accumulate(known["seconds"][test] for test in ordered)
    return [test for test, total in zip(ordered, sums, strict=True) if total <= PATIENCE]


def outcome(root: Path, mutant: Mutant, known: Baseline) -> dict[str, Any]:
    """Break the line, run its tests, restore the line; return what noticed it, "" if nothing did."""
    tests = tests_of(mutant, known)
    limit = LIMIT + 4.0 * sum(known["seconds"][test] for test in tests)
    if not tests:
        return {"noticed": "", "tests": 0}
    found = run_broken(root, mutant.path, mutant.source, tests, limit)
    if found is None:
        return {"noticed": "the time limit", "tests": len(tests)}
    if found["code"] and not found["failed"]:  # nothing could be collected: by the mutant's fault?
        clean = run(root, tests, limit)
        if clean is None or clean["code"]:
            raise SystemExit(f"The tests of {mutant.path} are others than those measured: remove the store.")
    return {"noticed": (found["failed"] or "the import") if found["code"] else "", "tests": len(tests)}


def run(root: Path, tests: Sequence[str], limit: float) -> Any:
    """Run tests up to the first that fails; return pytest's code and that test, None after so many seconds."""

    def work() -> dict[str, Any]:
        watcher = Watcher()
        return {"code": int(pytest.main([*OPTIONS, *tests], [watcher])), "failed": watcher.failed}

    return forked(root, work, limit)


def run_broken(root: Path, path: str, source: str, tests: Sequence[str], limit: float) -> Any:
    """Run tests with another source in place of this file, which is restored."""
    place = root / path
    before = place.read_text(encoding="utf-8")
    try:
        _write(place, source)
        return run(root, tests, limit)
    finally:
        _write(place, before)


def _write(path: Path, source: str) -> None:
    """Write a file, with a time of its own: Python recognises by it what it has compiled."""
    path.write_text(source, encoding="utf-8")
    moment = next(_clock)
    os.utime(path, (moment, moment))
