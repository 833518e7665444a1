"""Break each entry of the map from the papers to the code, and see whether a test that it names notices.

    python benchmarks/broken_map.py                      all mutations: ten minutes on one core
    python benchmarks/broken_map.py --only Greedy WSS    those whose entry has one of these words; writes nothing

The map is `docs/papers/code.md`. `benchmarks/broken_map.toml` has at least one mutation for each of its entries: a
file, a text that occurs once in it, and what takes its place. The tests are those that the entry names, compiled
functions run as Python. All of it happens in a clone of the last commit. The report is `benchmarks/broken_map.md`. The
exit code is 1 if a mutation is not noticed.
"""

from __future__ import annotations

import argparse
import re
import tempfile
import tomllib
from pathlib import Path
from typing import Any, Final

from mutating.clone import ROOT, cloned, git
from mutating.own_tests import load_libraries, run, run_broken

MAP: Final = "docs/papers/code.md"
MUTATIONS: Final = "benchmarks/broken_map.toml"

LIMIT: Final = 600.0
"""Seconds after which the tests of an entry have run into a loop."""


def entries(root: Path) -> dict[str, list[str]]:
    """Return the tests of each entry of the map, by what the paper says there."""
    lines = (root / MAP).read_text(encoding="utf-8").splitlines()
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in lines if line.startswith("|")][2:]
    return {
        there.strip(): [f"tests/{test}" for test in re.findall(r"`([\w/]+\.py::\w+)`", tests)]
        for _, there, _, tests in rows
    }


def mutations(root: Path) -> list[dict[str, str]]:
    """Return the mutations: ``entry``, ``file``, ``old`` and ``new``."""
    found: list[dict[str, str]] = tomllib.loads((root / MUTATIONS).read_text(encoding="utf-8"))["mutation"]
    return found


def noticed(root: Path, mutation: dict[str, str], tests: list[str]) -> str:
    """Return the first test that fails on the broken source; "" if none does."""
    source = (root / mutation["file"]).read_text(encoding="utf-8")
    if source.count(mutation["old"]) != 1:
        raise SystemExit(f"{mutation['old']!r} should occur once in {mutation['file']}; mend {MUTATIONS}.")
    broken = source.replace(mutation["old"], mutation["new"])
    found = run_broken(root, mutation["file"], broken, tests, LIMIT)
    if found is None:
        return "the time limit"
    return str(found["failed"] or "the import") if found["code"] else ""


def report(outcomes: list[tuple[dict[str, str], str]], missing: list[str], commit: str) -> str:
    """Return the page."""
    count = sum(bool(test) for _, test in outcomes)
    lines = [
        "# The map, broken on purpose", "",
        "Written by `python benchmarks/broken_map.py`, which says what a mutation is and when it is noticed. Commit",
        f"{commit}; {len(outcomes)} mutations, {count} of them noticed; {len(missing)} entries without one.", "",
        "| entry | file | before | after | noticed by |", "|---|---|---|---|---|",
    ]  # fmt: skip
    for mutation, test in outcomes:
        before, after = (" ".join(mutation[key].split()).replace("|", "\\|") for key in ("old", "new"))
        by = f"`{test.removeprefix('tests/')}`" if test else "**nothing**"
        by = by.replace("|", "\\|")
        file = mutation["file"].removeprefix("refsvm/")
        lines.append(f"| {mutation['entry']} | `{file}` | `{before}` | `{after}` | {by} |")
    return "\n".join([*lines, *(f"| {entry} | | | | **no mutation** |" for entry in missing)]) + "\n"


def main() -> int:
    """Run the mutations, and write the report."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", metavar="WORD")
    chosen: Any = parser.parse_args()
    load_libraries()
    outcomes: list[tuple[dict[str, str], str]] = []
    with tempfile.TemporaryDirectory() as folder:
        root = cloned(Path(folder))
        known = entries(root)
        asked = [
            each
            for each in mutations(root)
            if not chosen.only or any(word in each["entry"] for word in chosen.only)
        ]
        tests = list(dict.fromkeys(test for each in asked for test in known[each["entry"]]))
        clean = run(root, tests, 4.0 * LIMIT)
        if clean is None or clean["code"]:
            raise SystemExit(f"The tests fail before anything is broken: {clean and clean['failed']}")
        for each in asked:
            outcomes.append((each, noticed(root, each, known[each["entry"]])))
            print(f"{each['entry']}: {outcomes[-1][1] or 'NOT NOTICED'}", flush=True)
        missing = [entry for entry in known if entry not in {each["entry"] for each in mutations(root)}]
        page = report(outcomes, missing, git("-C", str(root), "rev-parse", "--short", "HEAD").strip())
    if not chosen.only:
        (ROOT / "benchmarks" / "broken_map.md").write_text(page, encoding="utf-8")
    print(page)
    return int(not all(test for _, test in outcomes) or bool(missing))


if __name__ == "__main__":
    raise SystemExit(main())
