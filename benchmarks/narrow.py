"""Random narrow boxes and starts next to a bound, by every selector that ranks pairs by exact gain, in both engines.

    python benchmarks/narrow.py                            500 problems: seeds 0 to 499
    python benchmarks/narrow.py --first 500 --count 99     others
    python benchmarks/narrow.py --first 17 --count 1 -v    one of them, described
    python benchmarks/narrow.py --readable                 without compiled code

A seed stands for a problem and its rules (`fuzzing.narrow`). Each solve has to converge if second order with the same
step does, and both engines have to take the same steps. The exit code is 1 if one does not.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Sequence

from fuzzing.narrow import any_narrow, complaints_about


def main(arguments: Sequence[str] | None = None) -> int:
    """Solve the problems, print what is wrong and a summary; return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--first", type=int, default=0, metavar="SEED", help="first seed")
    parser.add_argument("--count", type=int, default=500, metavar="N", help="number of problems")
    parser.add_argument("--readable", action="store_true", help="only the readable engine")
    parser.add_argument("-v", "--verbose", action="store_true", help="describe every problem")
    options = parser.parse_args(arguments)
    began, selectors, bad = time.perf_counter(), Counter[str](), 0
    for seed in range(options.first, options.first + options.count):
        trial = any_narrow(seed)
        complaints = complaints_about(trial, compiled=not options.readable)
        if options.verbose or complaints:
            print(f"seed {seed}: {trial}")
        for complaint in complaints:
            print(f"    {complaint}", flush=True)
        bad += bool(complaints)
        selectors[type(trial.options["selector"]).__name__] += 1
    drawn = ", ".join(f"{count} {name}" for name, count in selectors.most_common())
    print(f"{options.count} problems, {bad} bad; {drawn}; {time.perf_counter() - began:.0f} s.")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
