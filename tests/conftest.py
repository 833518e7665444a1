"""What the tests share: the engines to run them in, and how hypothesis behaves."""

from __future__ import annotations

import os
import signal
from importlib.util import find_spec

import pytest

from refsvm.core.solver.shrinking import ShrinkingPolicy
from refsvm.testing import SHRINK_EARLY

from .settings import INTERPRETED, needs_numba

# Calls that need compiled code wait for it here: which engine takes which step does not depend on what is on disk,
# and no test leaves a process behind.
os.environ["REFSVM_COMPILE_BESIDE"] = "0"
# Workers of pytest-xdist, which inherit it, share the cores already: threads of BLAS would wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# These compare with scikit-learn and SciPy throughout, and import them at once.
if find_spec("sklearn") is None:
    collect_ignore = [
        "analysis/multiclass", "core/solver/test_precision.py", "core/stopping/test_relative.py", "estimators",
        "services/test_labels.py", "services/writers.py", "test_origin.py", "test_rounding_is_said.py",
        "test_scales.py",
    ]  # fmt: skip

try:
    from hypothesis import settings
except ImportError:  # the tests that need it are skipped
    pass
else:
    # the same problems in every run; `.ci/nightly` draws new ones
    settings.register_profile("same", deadline=None, max_examples=40, derandomize=True)
    settings.register_profile("new", deadline=None, max_examples=1000)
    settings.load_profile("new" if os.environ.get("REFSVM_NEW_PROBLEMS") else "same")

# a shell ignores Ctrl-C in what it runs in the background
signal.signal(signal.SIGINT, signal.default_int_handler)


MANY = 1000
"""Tests of a session that need all compiled code."""


def pytest_collection_finish(session: pytest.Session) -> None:
    """Let each worker of a long session compile a part of the package; what one has compiled the others load."""
    worker = getattr(session.config, "workerinput", None)
    if (
        worker is None
        or not session.config.getoption("full")
        or len(session.items) < MANY
        or INTERPRETED
        or not find_spec("numba")
    ):
        return
    from refsvm.compiled.warming import FAMILIES, load

    for family, rules in FAMILIES[int(worker["workerid"].removeprefix("gw")) :: worker["workercount"]]:
        load(family, rules)


@pytest.fixture(params=["numpy", pytest.param("numba", marks=needs_numba)])
def engine(request: pytest.FixtureRequest) -> str:
    """Both engines, the compiled one where there is one."""
    return str(request.param)


@pytest.fixture(params=[False, True], ids=["plain", "shrinking"])
def shrinking(request: pytest.FixtureRequest) -> bool | ShrinkingPolicy:
    """Without and with shrinking, which begins so early here that small problems are shrunk too."""
    return bool(request.param) and SHRINK_EARLY
