"""Break single lines of the package, and see whether the tests of their own folder notice.

    python benchmarks/mutants.py                     300 mutants, as many of each folder: two hours on one core
    python benchmarks/mutants.py --count 30          fewer: the first ones of the same order
    python benchmarks/mutants.py --again             those once more that no test of now is known to notice
    python benchmarks/mutants.py --again --tests F   with these files of tests alone: quicker, and what notices notices
    python benchmarks/mutants.py --report            nothing is run: write the report of what is known

A mutant is the source with one change of Cosmic Ray's (`+` for `-`, `<` for `<=`, `not`, 2.0 for 1.0 …), drawn by the
seed; a change is noticed if a test of the folder fails on it (`mutating.own_tests.FOLDERS`), compiled functions run as
Python. All of it happens in a clone of the last commit. What is known stands in the store, so that a run may be stopped
and goes on where it was. The report is `benchmarks/mutants.md`; `benchmarks/mutants.toml` says of mutants that nothing
notices why they change no answer. The exit code is 1 if less than 80 % are noticed: outside
`core` the tests of other folders notice more.
"""

from __future__ import annotations

import argparse
import json
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any, Final

from mutating.clone import ROOT, cloned, git
from mutating.own_tests import FOLDERS, baseline, load_libraries, only, run_mutants
from mutating.places import Mutant, draw

WANTED: Final = 0.8


class Store:
    """The clone, what its tests run (all, or some files), and what is known of mutants, in a folder."""

    def __init__(self, folder: Path, tests: list[str] | None = None) -> None:
        self.tests = tests or []
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.root = folder.resolve(), cloned(folder)
        self.commit = git("-C", str(self.root), "rev-parse", "--short", "HEAD").strip()
        self.read_outcomes()

    def read_outcomes(self) -> None:
        """Read what is known."""
        self.outcomes: dict[str, Any] = self._read("outcomes.json")

    def _read(self, name: str) -> Any:
        path = self.folder / name
        return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}

    def files(self, folder: str) -> dict[str, str]:
        """Return the files of the tests of a folder, or those of them that were asked for, and the hash of each."""
        listed = git(
            "-C", str(self.root), "ls-tree", "-r", "HEAD", f"refsvm/{folder}/", *FOLDERS[folder]
        ).splitlines()
        named = (each.replace("\t", " ").split(" ") for each in listed)
        found = {path: sha for _, _, sha, path in named if path.endswith(".py")}
        return {path: sha for path, sha in found.items() if path in self.tests} if self.tests else found

    def is_due(self, mutant: Mutant, tests: Any) -> bool:
        """Return whether a mutant is not known yet, or noticed by none of these tests, where tests are given."""
        known = self.outcomes.get(mutant.key)
        return known is None or (tests is not None and known["noticed"] not in tests)

    def baseline(self, folder: str) -> Any:
        """Return which tests of a folder run which lines, measured where sources or tests are others than then."""
        source, now = git("-C", str(self.root), "rev-parse", "HEAD:refsvm"), self.files(folder)
        known = self._read("baseline.json")
        if known.get("source") != source:
            known = {"source": source, "files": {}, "seconds": {}, "failed": [], "lines": {}}
        if stale := [path for path in now if known["files"].get(path) != now[path]]:
            known.update(only(known, set(known["files"]) - set(stale)))
            found = baseline(self.root, stale)
            known["files"] |= {path: now[path] for path in stale}
            known["seconds"] |= found["seconds"]
            known["failed"] += found["failed"]
            for path, lines in found["lines"].items():
                there = known["lines"].setdefault(path, {})
                for line, tests in lines.items():
                    there[line] = [*there.get(line, ()), *tests]
            (self.folder / "baseline.json").write_text(json.dumps(known), encoding="utf-8")
        return only(known, set(now))

    def note(self, mutant: Mutant, found: dict[str, Any]) -> None:
        """Keep an outcome, and print it."""
        self.outcomes[mutant.key] = {**found, "commit": self.commit}
        (self.folder / "outcomes.json").write_text(json.dumps(self.outcomes, indent=1), encoding="utf-8")
        said = (
            f"noticed by {found['noticed']}" if found["noticed"] else f"NOT NOTICED by {found['tests']} tests"
        )
        print(f"{len(self.outcomes)} {mutant.path}:{mutant.line} {said}", flush=True)
        if not found["noticed"]:
            print(f"-{mutant.before}\n+{mutant.after}", flush=True)


def report(mutants: list[tuple[str, Mutant]], store: Store, command: str) -> tuple[str, float]:
    """Return the page, and the share of all mutants that was noticed."""
    known = [
        (folder, mutant, store.outcomes[mutant.key])
        for folder, mutant in mutants
        if mutant.key in store.outcomes
    ]
    reasons = tomllib.loads((ROOT / "benchmarks" / "mutants.toml").read_text(encoding="utf-8"))["reasons"]
    noticed = sum(bool(found["noticed"]) for _, _, found in known)
    survivors = [mutant for _, mutant, found in known if not found["noticed"]]
    equivalent = sum(reasons.get(mutant.key, "").startswith("Equivalent") for mutant in survivors)
    share = noticed / max(1, len(known))
    commits = Counter(found["commit"] for _, _, found in known).most_common()
    where = ", ".join(f"{number} at commit {commit}" for commit, number in commits)
    others = len(known) - equivalent
    lines = [
        "# Broken on purpose", "",
        f"Written by `{command}`, which says what a mutant is and when it is noticed.",
        f"Of {len(mutants)} mutants {len(known)} were run: {where}.", "",
        f"* Noticed: {noticed} of {len(known)}, {share:.1%}.",
        f"* Equivalent: {equivalent}, which no test can notice. Of the other {others}: {noticed / max(1, others):.1%}.",
        "", "| folder | run | noticed | equivalent |", "|---|---|---|---|",
    ]  # fmt: skip
    for folder in FOLDERS:
        own = [(mutant, found) for other, mutant, found in known if other == folder]
        same = sum(reasons.get(each.key, "").startswith("Equivalent") for each, _ in own if each in survivors)
        lines.append(
            f"| {folder} | {len(own)} | {sum(bool(found['noticed']) for _, found in own)} | {same} |"
        )
    lines += ["", "## Not noticed", ""]
    lines += [f"* {_change(mutant)}. {reasons.get(mutant.key, 'Open.')}" for mutant in survivors]
    lines += ["", "## Noticed", ""]
    lines += [f"* {_change(mutant)}: {found['noticed']}" for _, mutant, found in known if found["noticed"]]
    return "\n".join(lines) + "\n", share


def _change(mutant: Mutant) -> str:
    before, after = (" ".join(text.split()) for text in (mutant.before, mutant.after))
    return f"`{mutant.path}`: `{before}` → `{after}`"


def main() -> int:
    """Run what is not known yet, and write the report."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1130)
    parser.add_argument("--store", type=Path, default=ROOT / "benchmarks" / ".mutants", metavar="DIR")
    parser.add_argument(
        "--folders", nargs="*", choices=FOLDERS, default=[*FOLDERS], help="run mutants of these alone"
    )
    parser.add_argument("--tests", nargs="*", metavar="FILE", help="run these of the files of tests alone")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--report", action="store_true")
    chosen = parser.parse_args()
    load_libraries()
    store, mutants = Store(chosen.store, chosen.tests), []
    for at, folder in enumerate(FOLDERS):
        number = chosen.count // len(FOLDERS) + (at < chosen.count % len(FOLDERS))
        drawn = draw(store.root, folder, chosen.seed, number)
        mutants += [(folder, mutant) for mutant in drawn]
        if folder not in chosen.folders or chosen.report:
            continue
        tests = store.baseline(folder)["seconds"] if chosen.again else None
        if due := [mutant for mutant in drawn if store.is_due(mutant, tests)]:
            run_mutants(store.root, list(store.files(folder)), due, store.baseline(folder), store.note)
            store.read_outcomes()
    page, share = report(
        mutants, store, f"python benchmarks/mutants.py --count {chosen.count} --seed {chosen.seed}"
    )
    (ROOT / "benchmarks" / "mutants.md").write_text(page, encoding="utf-8")
    print(page)
    return int(share < WANTED)


if __name__ == "__main__":
    raise SystemExit(main())
