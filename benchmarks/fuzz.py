"""Random problems, solved by both engines, until one shows something wrong.

    python benchmarks/fuzz.py                            10,000 problems: seeds 0 to 9,999
    python benchmarks/fuzz.py --first 10000 --count 500  others; a run that was stopped goes on this way
    python benchmarks/fuzz.py --seconds 60               as many as fit into a minute
    python benchmarks/fuzz.py --first 17 --count 1 -v    one of them, in full
    python benchmarks/fuzz.py --single                   with float32 rows, which one seed in sixteen has otherwise
    python benchmarks/fuzz.py --families                 leave-one-out, folds, grids and paths, from scratch

A seed stands for a problem of 2 to 40 variables with any linear term, sum and box (`fuzzing.trials`), all scales from
1e-8 to 1e8, any rules, a cache of few rows or of all, any start; `fuzzing.verdict` says what is checked. With
``--families`` it stands for a weighted data set, and `fuzzing.families` says what is checked. The exit code is 1 if
anything is wrong.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Sequence

from fuzzing.families import FAMILIES, complaints_of
from fuzzing.trials import any_trial
from fuzzing.verdict import Verdict


def main(arguments: Sequence[str] | None = None) -> int:
    """Try the seeds, print what is wrong and a summary; return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--first", type=int, default=0, metavar="SEED", help="first seed")
    parser.add_argument("--count", type=int, default=10_000, metavar="N", help="number of problems")
    parser.add_argument("--seconds", type=float, help="end after so much time")
    parser.add_argument(
        "--families",
        nargs="*",
        choices=[*FAMILIES],
        metavar="NAME",
        help=f"these, or all of {', '.join(FAMILIES)}",
    )
    parser.add_argument("--single", action="store_true", help="keep kernel rows as float32 in all of them")
    parser.add_argument("-v", "--verbose", action="store_true", help="describe every problem")
    options = parser.parse_args(arguments)
    began, statuses, bad, seed = time.perf_counter(), Counter[str](), 0, options.first
    try:
        for seed in range(options.first, options.first + options.count):
            if options.seconds is not None and time.perf_counter() - began > options.seconds:
                break
            if options.families is None:
                bad += not tried(seed, statuses, options.verbose, options.single)
            else:
                bad += not tried_families(seed, options.families or [*FAMILIES], statuses)
        else:
            seed += 1
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
    seconds = time.perf_counter() - began
    ended = ", ".join(f"{count} {name}" for name, count in statuses.most_common())
    tried_seeds = seed - options.first
    print(
        f"{tried_seeds} problems (seeds {options.first} to {seed - 1}), {bad} bad; {ended}; "
        f"{seconds:.0f} s, {tried_seeds / seconds:.0f} a second; go on with --first {seed}."
    )
    return 1 if bad else 0


def tried(seed: int, statuses: Counter[str], verbose: bool, single: bool) -> bool:
    """Try one seed; return whether all is well."""
    trial = any_trial(seed)
    if single:
        trial.options["cache_dtype"] = "float32"
    try:
        verdict = Verdict(trial)
    except Exception as error:  # noqa: BLE001  # whatever it is, it is a find
        statuses["RAISED"] += 1
        complaints = [f"{type(error).__name__}: {error}"]
    else:
        statuses[verdict.solution.status.name] += 1
        complaints = verdict.complaints
    if verbose:
        print(f"seed {seed}: {trial}")
    for complaint in complaints:
        print(f"seed {seed}: {complaint}", flush=True)
    return not complaints


def tried_families(seed: int, names: Sequence[str], statuses: Counter[str]) -> bool:
    """Try one seed on these families; return whether all is well."""
    all_is_well = True
    for name in names:
        complaints = complaints_of(name, seed)
        for complaint in complaints:
            print(f"seed {seed}, {name}: {complaint}", flush=True)
        statuses[f"{name} {'bad' if complaints else 'well'}"] += 1
        all_is_well = all_is_well and not complaints
    return all_is_well


if __name__ == "__main__":
    sys.exit(main())
