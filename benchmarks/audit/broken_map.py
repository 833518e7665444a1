"""The audit "broken_map": each entry of the map from the papers to the code is broken, and a test of it notices.

The map is `docs/papers/code.md`. `broken_map.toml` has at least one mutation for each of its entries: a file, a text
that occurs once in it, and what takes its place. The tests are those that the entry names, compiled
functions run as Python; the one that fails has to pass on the source as it is. All of it happens in a clone of the last
commit. A run of all of them writes the report, `broken_map.md`.
"""

from __future__ import annotations

import re
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from .frame import Audit, Found

HERE: Final = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
from mutating.clone import cloned, git  # noqa: E402
from mutating.own_tests import load_libraries, run, run_broken  # noqa: E402

MAP: Final = "docs/papers/code.md"
MUTATIONS: Final = [
    {"entry": entry, "file": file, "old": old, "new": new}
    for entry, files in tomllib.loads((HERE / "broken_map.toml").read_text(encoding="utf-8")).items()
    for file, texts in files.items()
    for old, new in texts
]

LIMIT: Final = 900.0
"""Seconds after which the tests of an entry have run into a loop."""

CLONE: Final[list[Path]] = []
NOTICED: Final[dict[int, str]] = {}
"""By number of the mutation, the test that noticed it."""


@contextmanager
def in_a_clone() -> Iterator[None]:
    """Clone the last commit."""
    load_libraries()
    with tempfile.TemporaryDirectory() as folder:
        CLONE[:] = [cloned(Path(folder))]
        yield


def entries(root: Path) -> dict[str, list[str]]:
    """Return the tests of each entry of the map, by what the paper says there."""
    lines = (root / MAP).read_text(encoding="utf-8").splitlines()
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in lines if line.startswith("|")][2:]
    return {
        there.strip(): [f"tests/{test}" for test in re.findall(r"`([\w/]+\.py::\w+)`", tests)]
        for _, there, _, tests in rows
    }


def noticed(root: Path, mutation: dict[str, str], tests: list[str]) -> str:
    """Return the first test that fails on the broken source and passes on the other; "" if none does."""
    source = (root / mutation["file"]).read_text(encoding="utf-8")
    if source.count(mutation["old"]) != 1:
        raise SystemExit(
            f"{mutation['old']!r} should occur once in {mutation['file']}; mend broken_map.toml."
        )
    broken = source.replace(mutation["old"], mutation["new"])
    found = run_broken(root, mutation["file"], broken, tests, LIMIT)
    if found is None:
        return "the time limit"
    if not found["code"]:
        return ""
    failed = found["failed"]
    clean = run(root, [failed], LIMIT) if "::" in failed else run(root, tests, LIMIT)
    if clean is None or clean["code"]:
        raise SystemExit(f"{failed} fails before anything is broken.")
    return failed or "the import"


def case(number: int, options: Any) -> Found:
    """Break one place."""
    mutation = MUTATIONS[number]
    NOTICED[number] = test = noticed(CLONE[0], mutation, entries(CLONE[0])[mutation["entry"]])
    return Found([] if test else ["no test notices it"], [], f"{mutation['entry']}: {test or 'NOTHING'}")


def report(count: int, counts: Counter[str]) -> list[str]:
    """Write the page if all mutations were tried; return the entries that have none."""
    missing = [entry for entry in entries(CLONE[0]) if entry not in {each["entry"] for each in MUTATIONS}]
    at = git("-C", str(CLONE[0]), "rev-parse", "--short", "HEAD").strip()
    lines = [
        "# The map, broken on purpose", "",
        "Written by `python -m benchmarks.audit broken_map`, which says what a mutation is and when it is noticed.",
        f"{sum(map(bool, NOTICED.values()))} of {len(MUTATIONS)} mutations are noticed, broken at {at}.", "",
        "| entry | file | before | after | noticed by |", "|---|---|---|---|---|",
    ]  # fmt: skip
    for number, test in NOTICED.items():
        each = MUTATIONS[number]
        before, after = (" ".join(each[name].split()) for name in ("old", "new"))
        cells = [each["file"].removeprefix("refsvm/"), before, after, test.removeprefix("tests/")]
        entry, *quoted = (each["entry"], *(f"`{cell}`" if cell else "**nothing**" for cell in cells))
        lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in (entry, *quoted))} |")
    if len(NOTICED) == len(MUTATIONS):
        (HERE / "broken_map.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return [f"{entry} has no mutation" for entry in missing]


AUDIT: Final = Audit(
    "Does a test notice if an entry of the map from papers to code is broken?", case, len(MUTATIONS),
    all_of_them=report, around=in_a_clone,
)  # fmt: skip
