"""Compares weights with copies for every caller, and scores of real weights with refits by hand.

    python benchmarks/weights.py                       500 problems with weights in {0, 1, 2, 3}, 500 with real ones
    python benchmarks/weights.py --count 20            20 of each
    python benchmarks/weights.py --first 17 --count 1  one of each

A seed stands for a small problem of two classes, of three, of a regression or of novelty detection;
`fuzzing.copies` says what is checked. The exit code is 1 if anything is wrong.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence

from fuzzing.copies import complaints_about


def main(arguments: Sequence[str] | None = None) -> int:
    """Try the seeds, print what is wrong and a summary; return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--first", type=int, default=0, metavar="SEED", help="first seed")
    parser.add_argument("--count", type=int, default=500, metavar="N", help="number of problems of each kind")
    parser.add_argument("--engine", default="auto")
    options = parser.parse_args(arguments)
    began, wrong = time.perf_counter(), {"whole": 0, "real": 0}
    for seed in range(options.first, options.first + options.count):
        for kind in wrong:
            complaints = complaints_about(seed, kind == "whole", options.engine)
            wrong[kind] += bool(complaints)
            for each in complaints:
                print(f"seed {seed}, {kind} weights: {each}", flush=True)
    seconds = time.perf_counter() - began
    for kind, bad in wrong.items():
        print(f"{options.count} problems with {kind} weights: {bad} bad")
    print(f"{seconds:.0f} s")
    return int(any(wrong.values()))


if __name__ == "__main__":
    sys.exit(main())
