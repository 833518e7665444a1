"""Break each entry of the map from the papers to the code, and see whether a test that it names notices.

    python benchmarks/broken_map.py            all mutations: some three minutes on one core
    python benchmarks/broken_map.py --again    not from the store, where those stand that a test has noticed

The map is `docs/papers/code.md`. `benchmarks/broken_map.toml` has at least one mutation for each of its entries: a
file, a text that occurs once in it, and what takes its place. The tests are those that the entry names, compiled
functions run as Python; the one that fails has to pass on the source as it is. All of it happens in a clone of the last
commit. The report is `benchmarks/broken_map.md`. What was noticed is kept, so that a run may be stopped and goes on
where it was. The exit code is 1 if a mutation is not noticed.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
import tomllib
from collections import Counter
from pathlib import Path
from typing import Final

from mutating.clone import ROOT, cloned, git
from mutating.own_tests import load_libraries, run, run_broken

MAP: Final = "docs/papers/code.md"
MUTATIONS: Final = "benchmarks/broken_map.toml"

LIMIT: Final = 900.0
"""Seconds after which the tests of an entry have run into a loop."""

Outcomes = dict[str, tuple[str, str]]
"""By file, old and new text: the test that noticed the mutation, and the commit that was broken."""


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
    """Return the first test that fails on the broken source and passes on the other; "" if none does."""
    source = (root / mutation["file"]).read_text(encoding="utf-8")
    if source.count(mutation["old"]) != 1:
        raise SystemExit(f"{mutation['old']!r} should occur once in {mutation['file']}; mend {MUTATIONS}.")
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


def report(mutations: list[dict[str, str]], outcomes: Outcomes, missing: list[str]) -> str:
    """Return the page."""
    count = sum(bool(outcomes[key_of(each)][0]) for each in mutations)
    commits = Counter(outcomes[key_of(each)][1] for each in mutations)
    at = ", ".join(f"{number} at {commit}" for commit, number in commits.items())
    lines = [
        "# The map, broken on purpose", "",
        "Written by `python benchmarks/broken_map.py`, which says what a mutation is and when it is noticed.",
        f"{count} of {len(mutations)} mutations are noticed; {len(missing)} entries have none. Broken: {at}.", "",
        "| entry | file | before | after | noticed by |", "|---|---|---|---|---|",
    ]  # fmt: skip
    for each in mutations:
        before, after = (" ".join(each[name].split()) for name in ("old", "new"))
        test = outcomes[key_of(each)][0].removeprefix("tests/")
        cells = [each["file"].removeprefix("refsvm/"), before, after, test]
        entry, *quoted = (each["entry"], *(f"`{cell}`" if cell else "**nothing**" for cell in cells))
        lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in (entry, *quoted))} |")
    return "\n".join([*lines, *(f"| {entry} | | | | **no mutation** |" for entry in missing)]) + "\n"


def key_of(mutation: dict[str, str]) -> str:
    """Return what an outcome is kept by."""
    return "\n".join(mutation[name] for name in ("file", "old", "new"))


def main() -> int:
    """Run what is not known to be noticed, and write the report."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--again", action="store_true")
    parser.add_argument(
        "--store", type=Path, default=ROOT / "benchmarks" / "runs" / "broken_map.json", metavar="FILE"
    )
    chosen = parser.parse_args()
    load_libraries()
    chosen.store.parent.mkdir(exist_ok=True)
    kept = chosen.store.exists() and not chosen.again
    outcomes: Outcomes = json.loads(chosen.store.read_text(encoding="utf-8")) if kept else {}
    with tempfile.TemporaryDirectory() as folder:
        root = cloned(Path(folder))
        known, asked = entries(root), mutations(root)
        commit = git("-C", str(root), "rev-parse", "--short", "HEAD").strip()
        for each in asked:
            if not outcomes.get(key_of(each), ("", ""))[0]:
                test = noticed(root, each, known[each["entry"]])
                outcomes[key_of(each)] = test, commit
                chosen.store.write_text(json.dumps(outcomes), encoding="utf-8")
                print(f"{each['entry']}: {test or 'NOT NOTICED'}", flush=True)
    missing = [entry for entry in known if entry not in {each["entry"] for each in asked}]
    page = report(asked, outcomes, missing)
    (ROOT / "benchmarks" / "broken_map.md").write_text(page, encoding="utf-8")
    print(page)
    return int(not all(outcomes[key_of(each)][0] for each in asked) or bool(missing))


if __name__ == "__main__":
    raise SystemExit(main())
