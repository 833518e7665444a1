"""Are leave-one-out and folds those of refits, for every machine? Values to 1e-8, engines and threads to the last bit.

    python benchmarks/every_machine.py --data-dir DIR              twelve sets of classes, six of targets, novelty
    python benchmarks/every_machine.py --data-dir DIR --random 2000    and random small problems
    python benchmarks/every_machine.py --only iris wine --examples 100    some of the sets, so many examples of each

`leave_one_out` and `cross_validate` at a KKT gap of 1e-10 stand beside machines that `solve` trains from scratch
without each example and each fold, at the same gap, and polishes. Decision values and residuals count as wrong if they
differ by more than 1e-8, predictions if they differ where no vote is within 1e-8 of 0. Where b may be anything in an
interval there is no value to compare; such votes and those near 0 are counted as ties. Of classes the signs by the
checks and the ball are compared, too. Each call is repeated by the readable engine and by two threads. Finished
problems stay in --store, so that a run that was killed goes on. The exit code is 1 if anything is wrong.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from beside_refits.cases import Case, named_cases, random_case
from beside_refits.refits import verdict_on

from refsvm.experiment import Grid
from refsvm.experiment.grid import number

COLUMNS = ("values", "open", "predictions", "ties", "ties that differ", "other runs", "unfinished")


def judged(case: Case) -> dict[str, Any]:
    """Compare one problem, and return a line of the store."""
    began = time.perf_counter()
    with warnings.catch_warnings():
        # constant machines and rounding are told of, which is right
        warnings.simplefilter("ignore")
        counts, worst, wrong = verdict_on(case)
    row = {
        "name": case.name,
        "n": len(case.C),
        "classes": case.classes,
        **counts,
        "worst": worst,
        "wrong": wrong,
    }
    return row | {"seconds": time.perf_counter() - began}


def stored(file: Path) -> dict[tuple[str, int], dict[str, Any]]:
    """Return the finished problems by their names and sizes."""
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    return {(row["name"], row["n"]): row for row in map(json.loads, lines)}


def problems(options: argparse.Namespace) -> Iterator[Case]:
    """Yield the problems that are asked for."""
    yield from named_cases(options.data_dir, options.examples, options.only)
    yield from map(random_case, range(options.first, options.first + options.random))


def line(title: str, rows: list[dict[str, Any]]) -> tuple[str, ...]:
    """Return a line of the table: several problems in one."""
    total = Counter[str]()
    for row in rows:
        total.update({name: row.get(name, 0) for name in COLUMNS})
    sizes = {row["n"] for row in rows}, {row["classes"] for row in rows}
    n, classes = (f"{min(each)} to {max(each)}" if len(each) > 1 else f"{min(each)}" for each in sizes)
    counted = (f"{total[name]:,}" for name in COLUMNS)
    wrong = sum(bool(row["wrong"]) for row in rows)
    return title, n, classes, *counted, number(max(row["worst"] for row in rows), 2), str(wrong)


def table(rows: list[dict[str, Any]]) -> str:
    """Return a line for each named problem, one for all random ones, and one for everything."""
    drawn = [row for row in rows if row["name"].startswith("random ")]
    lines = [line(row["name"], [row]) for row in rows if row not in drawn]
    lines += [line(f"{len(drawn):,} random problems", drawn)] if drawn else []
    lines.append(line("all", rows))
    return Grid(
        ("problem", "n", "classes", *COLUMNS, "largest difference", "bad"), tuple(lines)
    ).to_markdown()


def page(rows: list[dict[str, Any]]) -> str:
    """Return the page: the table, and what is wrong."""
    said = [f"* {row['name']}: {each}" for row in rows for each in row["wrong"]]
    minutes = sum(row["seconds"] for row in rows) / 60.0
    head = (
        "# Every machine beside refits\n\n"
        "Written by `python benchmarks/every_machine.py`, which says what is compared.\n"
        f"{len(rows):,} problems are finished, in {minutes:.0f} minutes on a busy machine; "
        f"{sum(bool(row['wrong']) for row in rows)} bad. A run that was stopped goes on where it was.\n"
    )
    return "\n".join([head, table(rows), "", *said]).rstrip() + "\n"


def main() -> int:
    """Run what is missing, print the table, and return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data-dir", help="directory of the archives; otherwise REFSVM_DATA")
    parser.add_argument("--only", nargs="*", metavar="SET", help="names of sets; without a name no set")
    parser.add_argument("--examples", type=int, default=300, help="most of a set")
    parser.add_argument("--random", type=int, default=0, metavar="N", help="number of random problems")
    parser.add_argument("--first", type=int, default=0, metavar="SEED", help="first seed of those")
    parser.add_argument("--store", type=Path, default=Path("every_machine.jsonl"))
    parser.add_argument("--stored", action="store_true", help="run nothing: the page of what is finished")
    parser.add_argument("--output", type=Path, help="where the page goes; printed otherwise")
    options = parser.parse_args()
    known, rows = stored(options.store), list[dict[str, Any]]()
    if options.stored:
        rows = list(known.values())
    for case in () if options.stored else problems(options):
        row = known.get((case.name, len(case.C)))
        if row is None:
            row = judged(case)
            with options.store.open("a", encoding="utf-8") as store:
                store.write(json.dumps(row) + "\n")
            for each in row["wrong"]:
                print(f"{case.name}: {each}", flush=True)
        rows.append(row)
    if options.output is None:
        print(page(rows))
    else:
        options.output.write_text(page(rows), encoding="utf-8")
    return 1 if any(row["wrong"] for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
