"""Random searches, by `refsvm.SVCCV` or `SVRCV` and by scikit-learn's GridSearchCV over `SVC` or `SVR`.

    python benchmarks/searches.py                        500 searches: seeds 0 to 499
    python benchmarks/searches.py --first 500 --count 99  others
    python benchmarks/searches.py --first 17 --count 1 -v one of them, described
    python benchmarks/searches.py --engine numpy         without compiled code
    python benchmarks/searches.py --scores               by other scores, a regression in every second one

A seed stands for 24 to 60 examples of two to four classes, a grid of C and γ, splits of one kind (`fuzzing.searches`:
repeated, overlapping and missing rows, groups, masks, generators), and maybe weights. Scores have to be equal to 1e-9
and the choice but for ties; what one refuses the other has to refuse. The exit code is 1 if anything differs.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Sequence

from fuzzing.searches import any_search, complaints_about, scored_search


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the searches, print what differs and a summary; return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--first", type=int, default=0, metavar="SEED", help="first seed")
    parser.add_argument("--count", type=int, default=500, metavar="N", help="number of searches")
    parser.add_argument("--engine", choices=["numpy", "numba"], help="of all searches; drawn otherwise")
    parser.add_argument("--scores", action="store_true", help="other scores than accuracy, and regressions")
    parser.add_argument("-v", "--verbose", action="store_true", help="describe every search")
    options = parser.parse_args(arguments)
    began, kinds, bad = time.perf_counter(), Counter[str](), 0
    for seed in range(options.first, options.first + options.count):
        search = scored_search(seed) if options.scores else any_search(seed)
        search.settings["engine"] = options.engine or search.settings["engine"]
        if options.verbose:
            print(f"seed {seed}: {search.kind}, {search.X.shape}, {search.settings}, {search.grid}")
        complaints = complaints_about(search)
        for complaint in complaints:
            print(f"seed {seed}: {complaint}", flush=True)
        bad += bool(complaints)
        kinds[search.kind] += 1
    seconds = time.perf_counter() - began
    print(f"{options.count} searches on splits of {len(kinds)} kinds, {bad} bad; {seconds:.0f} s.")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
