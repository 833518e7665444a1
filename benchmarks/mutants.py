"""Break single lines of the readable half, and see whether the tests of their own room notice.

    python benchmarks/mutants.py                     300 mutants, in turn of the nine rooms: two hours on one core
    python benchmarks/mutants.py --count 30          fewer: the first ones of the same order
    python benchmarks/mutants.py --again             those once more that nothing has noticed, with the tests of now
    python benchmarks/mutants.py --report            nothing is run: write the report of what is known

A mutant is the source with one change of Cosmic Ray's (`+` for `-`, `<` for `<=`, `not`, 2.0 for 1.0 …), drawn by the
seed; a change is noticed if a test of the room fails on it (`mutating.own_tests.ROOMS`), compiled functions run as
Python. All of it happens in a clone of the last commit. What is known stands in the store, so that a run may be stopped
and goes on where it was. The report is `benchmarks/mutants.md`; `benchmarks/mutants.toml` says of mutants that nothing
notices why they change no answer. The exit code is 1 if less than 92 % are noticed.
"""

from __future__ import annotations

import argparse
import json
import time
import tomllib
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any, Final

from mutating.clone import ROOT, cloned, git
from mutating.own_tests import ROOMS, baseline, load_libraries, outcome
from mutating.places import Mutant, draw

WANTED: Final = 0.92


class Store:
    """The clone, what its tests run, and what is known of mutants, in a folder."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.root = folder.resolve(), cloned(folder)
        self.outcomes: dict[str, Any] = self._read("outcomes.json")

    def _read(self, name: str) -> Any:
        path = self.folder / name
        return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}

    def baseline(self, room: str) -> Any:
        """Return which tests of a room run which lines, measured where sources or tests are others than then."""
        merged: dict[str, Any] = {"seconds": {}, "lines": {}}
        for tests in (f"refsvm/{room}", *ROOMS[room]):
            tree = git("-C", str(self.root), "ls-tree", "HEAD", "refsvm/", tests)
            if tests not in tree:
                continue
            name = f"{tests.replace('/', '_')}.json"
            known = self._read(name)
            if known.get("tree") != tree:
                known = json.loads(json.dumps({**baseline(self.root, tests), "tree": tree}))
                (self.folder / name).write_text(json.dumps(known), encoding="utf-8")
            merged["seconds"] |= known["seconds"]
            for path, lines in known["lines"].items():
                there = merged["lines"].setdefault(path, {})
                for line, found in lines.items():
                    there[line] = [*there.get(line, ()), *found]
        return merged

    def note(self, mutant: Mutant, found: Any) -> None:
        """Keep an outcome."""
        self.outcomes[mutant.key] = found
        (self.folder / "outcomes.json").write_text(json.dumps(self.outcomes), encoding="utf-8")


def in_turn(root: Path, seed: int, count: int) -> list[tuple[str, Mutant]]:
    """Return the mutants, one of each room after the other."""
    each = -(-count // len(ROOMS))
    drawn = [[(room, mutant) for mutant in draw(root, room, seed, each)] for room in ROOMS]
    return [pair for pair in chain(*zip_longest(*drawn)) if pair][:count]


def report(mutants: list[tuple[str, Mutant]], store: Store, seed: int) -> tuple[str, float]:
    """Return the page and the share that was noticed."""
    known = [
        (room, mutant, store.outcomes[mutant.key]) for room, mutant in mutants if mutant.key in store.outcomes
    ]
    reasons = tomllib.loads((ROOT / "benchmarks" / "mutants.toml").read_text(encoding="utf-8"))["reasons"]
    noticed = sum(bool(found["noticed"]) for _, _, found in known)
    share = noticed / max(1, len(known))
    lines = [
        "# Broken on purpose", "",
        "Written by `python benchmarks/mutants.py`, which says what a mutant is and when it is noticed.",
        f"Seed {seed}: of {len(mutants)} mutants {len(known)} were run, and {noticed} were noticed: {share:.1%}.", "",
        "| room | run | noticed |", "|---|---|---|",
    ]  # fmt: skip
    for room in ROOMS:
        own = [bool(found["noticed"]) for other, _, found in known if other == room]
        lines.append(f"| {room} | {len(own)} | {sum(own)} |")
    lines += ["", "## Not noticed", ""]
    for _, mutant, found in known:
        if not found["noticed"]:
            reason = reasons.get(mutant.key, "Open.")
            before, after = (" ".join(text.split()) for text in (mutant.before, mutant.after))
            lines += [f"* `{mutant.path}`: `{before}` → `{after}`. {reason}"]
    return "\n".join(lines) + "\n", share


def main() -> int:
    """Run what is not known yet, and write the report."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=47)
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin no mutant after this time")
    parser.add_argument("--store", type=Path, default=ROOT / "benchmarks" / ".mutants", metavar="DIR")
    parser.add_argument(
        "--rooms", nargs="*", choices=ROOMS, default=[*ROOMS], help="run mutants of these alone"
    )
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--report", action="store_true")
    chosen = parser.parse_args()
    load_libraries()
    store, until = Store(chosen.store), time.monotonic() + 60.0 * chosen.minutes
    mutants = in_turn(store.root, chosen.seed, chosen.count)
    for number, (room, mutant) in enumerate(mutants, 1):
        known = store.outcomes.get(mutant.key)
        is_due = known is None or (chosen.again and not known["noticed"])
        if chosen.report or not is_due or room not in chosen.rooms or time.monotonic() > until:
            continue
        found = outcome(store.root, mutant, store.baseline(room))
        store.note(mutant, found)
        said = (
            f"noticed by {found['noticed']}" if found["noticed"] else f"NOT NOTICED by {found['tests']} tests"
        )
        print(f"{number} {mutant.path}:{mutant.line} {said}", flush=True)
        if not found["noticed"]:
            print(f"-{mutant.before}\n+{mutant.after}", flush=True)
    page, share = report(mutants, store, chosen.seed)
    (ROOT / "benchmarks" / "mutants.md").write_text(page, encoding="utf-8")
    print(page)
    return int(share < WANTED)


if __name__ == "__main__":
    raise SystemExit(main())
