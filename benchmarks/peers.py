"""refsvm beside LIBSVM, oneDAL and ThunderSVM: seconds to fit and to predict, memory, growth, and where they go.

    python benchmarks/peers.py --fit --predict --data-dir DIR        the suite of eighteen sets
    python benchmarks/peers.py --large --data-dir DIR                large problems, with peak memory
    python benchmarks/peers.py --growth                              seconds against n and d, fitted exponents, a plot
    python benchmarks/peers.py --shares --defaults --data-dir DIR    refsvm alone: its parts, its defaults

Every library trains the same problem through its scikit-learn estimator: the same C, γ, tolerance 1e-3 and cache. Each
lives in a process of its own, and they take turns, round after round; the fastest turn of each counts. The dual
objective of every result is computed here, by the same code: nobody wins by stopping early. A library that crashes or
passes its limits costs its cell of the table. What Numba compiles is stated apart.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from side_by_side.agreement import differing
from side_by_side.growth import Growth, plotted
from side_by_side.libraries import DEFAULTS, LIBRARIES, Library, installed, machine, versions
from side_by_side.problems import FAMILIES, chosen, large, ringnorm_in, store, suite
from side_by_side.report import (
    PLACE,
    Part,
    defaults_table,
    growth_tables,
    large_table,
    objectives,
    shares_table,
    slower,
    times_table,
)
from side_by_side.store import keep, kept
from side_by_side.tasks import TOL
from side_by_side.turns import Row, Side, Turns
from side_by_side.worker import Limits, Stopped, Worker

SIZES, DIMENSIONS = (1000, 2000, 5000, 10_000, 20_000, 50_000), (2, 8, 32, 128, 512)


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    for name, told in (
        ("fit", "seconds to fit, on the suite"),
        ("predict", "seconds to predict the training set, on the suite"),
        ("large", "seconds and peak memory on large problems, each in a process of its own"),
        ("growth", "seconds to fit against n and d"),
        ("shares", "refsvm alone: which part of the work takes which share of the seconds"),
        ("defaults", "refsvm alone: what another default would change"),
    ):
        parser.add_argument(f"--{name}", action="store_true", help=told)
    names = [library.name for library in LIBRARIES]
    written = "write what is printed; into the documentation by default"
    parser.add_argument("--write", type=Path, nargs="?", const=PLACE, metavar="DIR", help=written)
    parser.add_argument("--data-dir", help="directory of the archives; otherwise REFSVM_DATA")
    parser.add_argument("--only", nargs="+", metavar="SET", help="names of sets")
    parser.add_argument("--libraries", nargs="+", choices=names, default=names, help="all by default")
    parser.add_argument(
        "--rounds", type=int, help="turns; 5 by default, 3 for --growth and --defaults, 1 for --large"
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="n, for --growth")
    parser.add_argument("--dimensions", type=int, nargs="*", default=DIMENSIONS, help="d, for --growth")
    parser.add_argument("--cache", type=float, help="MB for kernel rows; 1000 by default, 2000 for --large")
    parser.add_argument("--minutes", type=float, default=10.0, help="limit for one turn")
    parser.add_argument("--gigabytes", type=float, default=16.0, help="limit for the resident memory")
    kept_in = Path(__file__).parent / "runs" / "large.json"
    parser.add_argument("--store", type=Path, default=kept_in, help="where finished rows of --large are kept")
    return parser.parse_args(given)


def side(asked: argparse.Namespace, rounds: int, cache_mb: float = 1000.0, fresh: bool = False) -> Side:
    """Return how turns are taken: as asked, otherwise by these defaults."""
    limits = Limits(60.0 * asked.minutes, 1e9 * asked.gigabytes)
    return Side(asked.cache or cache_mb, asked.rounds or rounds, limits, fresh)


def provenance(libraries: Sequence[Library], how: Side) -> str:
    """Return a paragraph: the machine, the versions, the threads of each library, and how turns were taken."""
    threads = []
    with tempfile.TemporaryDirectory() as directory:
        problem = store(ringnorm_in(2, n=20), Path(directory))
        for library in libraries:
            with Worker(library) as worker:
                answer = worker.ask("threads", problem, 10.0)
            count = "?" if isinstance(answer, Stopped) else f"{answer.evidence.parts['threads']:.0f}"
            threads.append(f"{library.name} {count}")
    return (
        f"Measured on {machine()}, with {versions(libraries)}. Threads each may use: {', '.join(threads)}. "
        f"Tolerance {TOL:g}, {how.cache_mb:g} MB for kernel rows, turns of each: {how.rounds}."
    )


def first_fits(library: Library) -> str:
    """Return a sentence: seconds of the first fit of a process, before anything is compiled and after."""
    with tempfile.TemporaryDirectory() as directory, tempfile.TemporaryDirectory() as compiled:
        problem = store(ringnorm_in(20, n=500), Path(directory))
        told = []
        for _ in range(2):
            with Worker(library, environment={"NUMBA_CACHE_DIR": compiled}) as worker:
                answer = worker.ask("first fit", problem, 100.0)
            told.append(answer.reason if isinstance(answer, Stopped) else f"{answer.seconds:.2g} s")
    return (
        f"Not in the table: the first fit of {library.name} after installation compiles its loop and takes {told[0]}; "
        f"the first fit of any later process loads it from disk, {told[1]}, the imports of both included."
    )


def on_suite(task: str, asked: argparse.Namespace, libraries: Sequence[Library], how: Side) -> list[Row]:
    """Measure a task on the eighteen sets."""
    with Turns(libraries, how) as turns:
        return [turns.row(task, problem.load()) for problem in chosen(suite(asked.data_dir), asked.only)]


def fit(asked: argparse.Namespace, libraries: Sequence[Library]) -> Part:
    """Seconds to fit."""
    how = side(asked, rounds=5)
    rows = on_suite("fit", asked, libraries, how)
    first = first_fits(libraries[0])
    return Part("fit", times_table(rows), f"Milliseconds. {slower(rows)}", objectives(rows), first,
                provenance(libraries, how))  # fmt: skip


def predict(asked: argparse.Namespace, libraries: Sequence[Library]) -> Part:
    """Seconds to predict."""
    how = side(asked, rounds=5)
    rows = on_suite("predict", asked, libraries, how)
    found = [sentence for row in rows for sentence in differing(row)]
    agreed = " ".join(found) or "All libraries predict the same classes, up to 1 % of the examples."
    return Part(
        "predict", times_table(rows), f"Milliseconds. {slower(rows)}", agreed, provenance(libraries, how)
    )


def on_large(asked: argparse.Namespace, libraries: Sequence[Library]) -> Part:
    """Seconds and memory on the large problems; rows measured in earlier calls are shown too."""
    how = side(asked, rounds=1, cache_mb=2000.0, fresh=True)
    problems = large(asked.data_dir)
    for problem in chosen(problems, asked.only):
        with Turns(libraries, how) as turns:
            keep(asked.store, turns.row("fit", problem.load()))
    finished = kept(asked.store)
    rows = [finished[problem.name] for problem in problems if problem.name in finished]
    return Part("large", large_table(rows), slower(rows), objectives(rows), provenance(libraries, how))


def growth(asked: argparse.Namespace, libraries: Sequence[Library]) -> Part:
    """Seconds against size."""
    how = side(asked, rounds=3)
    growths = []
    for (family, variable), make in FAMILIES.items():
        sizes = asked.sizes if variable == "n" else asked.dimensions
        if not sizes or (asked.only and family not in asked.only):
            continue
        with Turns(libraries, how) as turns:
            rows = [turns.row("fit", make(size)) for size in sizes]
        growths.append(Growth(family, variable, rows))
    rows = [row for found in growths for row in found.rows]
    picture = ""
    if asked.write:
        asked.write.mkdir(parents=True, exist_ok=True)
        plotted(growths, asked.write / "growth.png")
        picture = f"![Seconds to fit against size]({PLACE.parent.name}/{PLACE.name}/growth.png)"
    return Part("growth", picture, growth_tables(growths), objectives(rows), provenance(libraries, how))


def shares(asked: argparse.Namespace, libraries: Sequence[Library]) -> Part:
    """Where the seconds of refsvm go."""
    how = side(asked, rounds=3)
    rows = on_suite("watch", asked, libraries[:1], how)
    return Part("shares", shares_table(rows), provenance(libraries[:1], how))


def defaults(asked: argparse.Namespace, _: Sequence[Library]) -> Part:
    """Measure refsvm with one default changed at a time."""
    how = side(asked, rounds=3)
    rows = on_suite("fit", asked, DEFAULTS, how)
    return Part("defaults", defaults_table(rows), objectives(rows), provenance(DEFAULTS[:1], how))


def main() -> None:
    """Measure what is asked for, print it and, if wanted, write it."""
    asked = arguments()
    if find_spec("tabulate") is None:  # better now than after the measurements
        raise SystemExit("The tables need the package tabulate; install the extra refsvm[bench].")
    libraries = [library for library in installed() if library.name in asked.libraries]
    for library in LIBRARIES:
        if library.name in asked.libraries and library not in libraries:
            print(f"{library.name} ({library.package}) is not installed; left out.", file=sys.stderr)
    parts = {
        "fit": fit,
        "predict": predict,
        "large": on_large,
        "growth": growth,
        "shares": shares,
        "defaults": defaults,
    }
    for name, part in parts.items():
        if getattr(asked, name):
            part(asked, libraries).publish(asked.write)


if __name__ == "__main__":
    main()
