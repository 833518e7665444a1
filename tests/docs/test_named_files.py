"""Files of `benchmarks/` that a page, a comment or a script names are there."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAST = ("CHANGELOG.md",)
"""Files that speak of earlier versions."""

MADE = ("benchmarks/runs/", "benchmarks/.mutants/", "benchmarks/papers/SCRIPT.py")
"""What a run makes, and what stands for any script."""

NAMED = re.compile(r"(?<![\w:/.])benchmarks/[\w./-]*\w/?")
"""A path from the root; `git show COMMIT:benchmarks/x.py` is one of a past commit."""


AUDIT = re.compile(r"python -m benchmarks\.audit (\w+)")


def gone(text: str) -> list[str]:
    """Return the files and the audits that a text names and that are not there."""
    found = {each for each in NAMED.findall(text) if not each.startswith(MADE)}
    missing = sorted(each for each in found if not (ROOT / each).exists())
    names = re.search(
        r"^NAMES: .*", (ROOT / "benchmarks/audit/frame.py").read_text(encoding="utf-8"), re.MULTILINE
    )
    known = set(re.findall(r'"(\w+)"', names[0]))
    return missing + sorted(set(AUDIT.findall(text)) - known - {"NAME"})


def tracked() -> list[Path]:
    """Return the files of the last commit or of the index that may be texts."""
    told = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], capture_output=True, text=True, check=False)
    if told.returncode or not (ROOT / "benchmarks").is_dir():
        pytest.skip("the repository is not here")
    return [ROOT / name for name in told.stdout.split("\0") if name and name not in PAST]


def test_files_of_benchmarks_that_are_named_are_there():
    missing, texts = {}, 0
    for file in tracked():
        if file == Path(__file__) or not file.is_file():
            continue
        try:
            named = gone(file.read_text(encoding="utf-8"))
        except UnicodeDecodeError:
            continue
        texts += 1
        if named:
            missing[str(file.relative_to(ROOT))] = named
    assert missing == {}
    assert texts > 500
    gone_ones = (
        "benchmarks/no_such.py, python -m benchmarks.audit none, benchmarks/runs/x.json, 1a:benchmarks/a.py"
    )
    assert gone(gone_ones) == ["benchmarks/no_such.py", "none"]


def test_a_script_of_the_table_is_there():
    """The first column of `benchmarks/README.md`, whose names begin in that folder."""
    page = ROOT / "benchmarks" / "README.md"
    if not page.is_file():
        pytest.skip("the repository is not here")
    names = re.findall(r"^\| `([\w./]+)` \|", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert len(names) > 15
    assert [each for each in names if not (page.parent / each).exists()] == []
