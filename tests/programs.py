"""Programs and packages that a few tests need beyond those of all tests, and modules beside the package.

Where one is missing, its tests are skipped. Where the variable REFSVM_REQUIRED names it, they fail: the gate sets it.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from html import unescape
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest


def missing(name: str) -> bool:
    """Whether there is neither a program nor a package of this name."""
    return shutil.which(name) is None and find_spec(name) is None


def needs(*names: str) -> pytest.MarkDecorator:
    """Mark of tests that are skipped where one of these is missing.

    Raises
    ------
    RuntimeError
        If REFSVM_REQUIRED names one that is missing.
    """
    absent = [name for name in names if missing(name)]
    required = set(os.environ.get("REFSVM_REQUIRED", "").split())
    if refused := required.intersection(absent):
        raise RuntimeError(f"REFSVM_REQUIRED names what is not installed: {', '.join(sorted(refused))}.")
    return pytest.mark.skipif(bool(absent), reason=f"not installed: {', '.join(absent)}")


def module(name: str, folder: str = "benchmarks") -> ModuleType:
    """Import a module of a folder of the repository, which is on the path for as long."""
    place = str(Path(__file__).parents[1] / folder)
    sys.path.insert(0, place)
    try:
        return import_module(name)
    finally:
        sys.path.remove(place)


def printed_by(*arguments: object, cwd: Path | None = None, **own: str) -> str:
    """Return what a new process of Python prints, which has to end well; it may have variables of its own."""
    done = subprocess.run(
        [sys.executable, *map(str, arguments)], cwd=cwd, env={**os.environ, **own},
        capture_output=True, text=True, check=False, timeout=3600,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


def seen_in_chromium(address: str, folder: Path, *options: str) -> Any:
    """Return what a page that drives itself has left in its element "found"; no error may be seen there."""
    command = [
        str(shutil.which("chromium")), "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
        "--dump-dom", "--virtual-time-budget=5000", f"--user-data-dir={folder / 'profile'}", *options, address,
    ]  # fmt: skip
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert re.findall(r".*CONSOLE.*", run.stderr) == []
    found = re.search(r'<pre id="found">(.*?)</pre>', run.stdout)
    assert found, run.stdout
    return json.loads(unescape(found[1]))


def until(condition: Callable[[], object], seconds: float = 60.0) -> None:
    """Wait until something holds, and fail if it never does."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)
