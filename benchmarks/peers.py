"""refsvm beside LIBSVM, oneDAL and ThunderSVM: seconds to fit and to predict, memory, growth, and where they go.

    python benchmarks/peers.py --fit --predict --data-dir DIR        the suite of eighteen sets
    python benchmarks/peers.py --large --data-dir DIR                large problems, with peak memory
    python benchmarks/peers.py --growth                              seconds against n and d, fitted exponents, a plot
    python benchmarks/peers.py --loo --data-dir DIR                  leave-one-out beside LeaveOneOut and SVC
    python benchmarks/peers.py --shares --defaults --data-dir DIR    refsvm alone: its parts, its defaults
    python benchmarks/peers.py --fit --coretype Haswell ...          on the paths of another processor

Every library trains the same problem through its scikit-learn estimator: the same C, γ, tolerance 1e-3 and cache.
Each lives in a process of its own, and they take turns, round after round; the fastest turn of each counts, and
beside it the first. The dual objective of every result is computed here, by the same code: no library wins by
stopping early. A library that crashes or passes its limits costs its cell of the table. What Numba compiles is stated
apart.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from side_by_side.libraries import LIBRARIES, installed
from side_by_side.report import PLACE
from side_by_side.tables import TABLES


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    for table in TABLES:
        parser.add_argument(f"--{table.name}", action="store_true", help=table.help)
    names = [library.name for library in LIBRARIES]
    written = "write what is printed; into the documentation by default"
    parser.add_argument("--write", type=Path, nargs="?", const=PLACE, metavar="DIR", help=written)
    parser.add_argument("--data-dir", help="directory of the archives; otherwise REFSVM_DATA")
    parser.add_argument("--only", nargs="+", metavar="SET", help="names of sets")
    parser.add_argument("--libraries", nargs="+", choices=names, default=names, help="all by default")
    parser.add_argument("--rounds", type=int, help="turns of each library; each table has its own default")
    parser.add_argument("--cache", type=float, help="MB for kernel rows; 1000 by default, 2000 for --large")
    parser.add_argument(
        "--coretype", metavar="NAME", help="OPENBLAS_CORETYPE of every process, such as Haswell for AVX2"
    )
    parser.add_argument("--minutes", type=float, default=10.0, help="limit for one turn")
    parser.add_argument("--gigabytes", type=float, default=16.0, help="limit for the resident memory")
    for table in TABLES:
        table.add_options(parser)
    return parser.parse_args(given)


def main() -> None:
    """Measure what is asked for, print it and, if wanted, write it."""
    options = arguments()
    if find_spec("tabulate") is None:  # better now than after the measurements
        raise SystemExit("The tables need the package tabulate; install the extra refsvm[bench].")
    if options.coretype is not None:  # read where NumPy is imported, in the processes of the libraries
        os.environ["OPENBLAS_CORETYPE"] = options.coretype
    libraries = [library for library in installed() if library.name in options.libraries]
    for library in LIBRARIES:
        if library.name in options.libraries and library not in libraries:
            print(f"{library.name} ({library.package}) is not installed; left out.", file=sys.stderr)
    for table in TABLES:
        if getattr(options, table.name):
            table.part(options, libraries).publish(options.write)


if __name__ == "__main__":
    main()
