"""refsvm beside LIBSVM, oneDAL and ThunderSVM: seconds to fit and to predict, in one process run.

    python benchmarks/peers.py --fit --predict --data-dir DIR        the suite of eighteen sets
    python benchmarks/peers.py --growth --data-dir DIR               seconds against n, fitted exponents

Every library trains the same problem through its scikit-learn estimator: the same C, γ, tolerance 1e-3, 1 GB of cache.
The libraries take turns, round after round, so that a change of the machine's speed meets all of them; the fastest
round of each counts. The dual objective of every result is computed here, by the same code, and has to agree to 1e-5:
nobody wins by stopping early. What Numba compiles is stated apart.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from refsvm import RBF, SVC, DualProblem
from refsvm.datasets import make_chessboard, make_ringnorm, paper_suite

TOL, CACHE_MB = 1e-3, 1000


@dataclass(frozen=True)
class Peer:
    """A library: its name and how to make its estimator."""

    name: str
    make: Callable[..., Any]


@dataclass(frozen=True)
class Case:
    """A training problem."""

    name: str
    X: Any
    y: np.ndarray
    C: float
    gamma: float


@dataclass
class Timing:
    """What one library did on one problem: seconds of the fastest round, and the dual objective."""

    fit: float = math.inf
    predict: float = math.inf
    objective: float = math.nan


def peers() -> list[Peer]:
    """Return refsvm and the libraries that are installed here."""
    import sklearn.svm

    found = [Peer("refsvm", SVC), Peer("LIBSVM", sklearn.svm.SVC)]
    try:
        import sklearnex.svm

        found.append(Peer("oneDAL", sklearnex.svm.SVC))
    except ImportError:
        print("oneDAL (scikit-learn-intelex) is not installed; left out.", file=sys.stderr)
    try:
        import thundersvm

        found.append(Peer("ThunderSVM", thundersvm.SVC))
    except (ImportError, OSError):
        print("ThunderSVM (thundersvm-cpu) is not installed; left out.", file=sys.stderr)
    return found


def suite(data_dir: str | None) -> Iterator[Case]:
    """Yield the eighteen sets with their published C and γ."""
    for entry in paper_suite(data_dir):
        data = entry.load()
        yield Case(entry.name.removeprefix("ida_"), data.X, data.y, entry.C, entry.gamma)


def growing(n: int) -> Iterator[Case]:
    """Yield the two families whose size can be chosen."""
    ringnorm, board = make_ringnorm(n, rng=0), make_chessboard(n, rng=0)
    yield Case("ringnorm", ringnorm.X, ringnorm.y, 2.0, 0.1)
    yield Case("chessboard", board.X, board.y, 1e3, 0.5)


def dual_objective(case: Case, estimator: Any) -> float:
    """f(α) of a fitted estimator, from its support vectors and their coefficients."""
    alpha = np.zeros(len(case.y))
    coef = estimator.dual_coef_
    coef = np.asarray(coef.todense() if hasattr(coef, "todense") else coef).ravel()
    alpha[np.asarray(estimator.support_, dtype=np.int64)] = coef
    if alpha @ case.y < 0:  # the classes in the other order
        alpha = -alpha
    problem = DualProblem.classification(case.X, case.y, kernel=RBF(case.gamma), C=case.C)
    return problem.objective(alpha)


def timed(case: Case, libraries: list[Peer], rounds: int) -> dict[str, Timing]:
    """Let the libraries take turns on one problem."""
    timings = {peer.name: Timing() for peer in libraries}
    for turn in range(rounds):
        for peer in libraries[turn % len(libraries) :] + libraries[: turn % len(libraries)]:
            estimator = peer.make(C=case.C, kernel="rbf", gamma=case.gamma, tol=TOL, cache_size=CACHE_MB)
            timing = timings[peer.name]
            began = time.perf_counter()
            estimator.fit(case.X, case.y)
            fitted = time.perf_counter()
            estimator.predict(case.X)
            ended = time.perf_counter()
            timing.fit = min(timing.fit, fitted - began)
            timing.predict = min(timing.predict, ended - fitted)
            if turn == 0:
                timing.objective = dual_objective(case, estimator)
    return timings


def table(results: dict[str, dict[str, Timing]], what: str) -> str:
    """Return a Markdown table: milliseconds of each library, and refsvm over the fastest of the others."""
    names = list(next(iter(results.values())))
    lines = ["| set | " + " | ".join(names) + " | ratio to the fastest |", "|---" * (len(names) + 2) + "|"]
    ratios = []
    for case, timings in results.items():
        seconds = [getattr(timings[name], what) for name in names]
        ratios.append(seconds[0] / min(seconds[1:]))
        lines.append(
            f"| {case} | " + " | ".join(f"{1e3 * s:.3g}" for s in seconds) + f" | {ratios[-1]:.2f} |"
        )
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    return "\n".join([*lines, f"| geometric mean | {'| ' * len(names)}| **{mean:.2f}** |"])


def disagreements(results: dict[str, dict[str, Timing]]) -> list[str]:
    """Return a sentence for each library whose objective differs from the best by more than 1e-5."""
    found = []
    for case, timings in results.items():
        best = max(timing.objective for timing in timings.values())
        for name, timing in timings.items():
            if best - timing.objective > 1e-5 * abs(best):
                found.append(f"{case}: {name} ends at {timing.objective:.8g}, the best at {best:.8g}.")
    return found


def growth(libraries: list[Peer], sizes: list[int], rounds: int) -> str:
    """Return a Markdown table of seconds against n, and the exponent of n fitted to each column."""
    seconds: dict[tuple[str, str], list[float]] = {}
    for n in sizes:
        for case in growing(n):
            for name, timing in timed(case, libraries, rounds).items():
                seconds.setdefault((case.name, name), []).append(timing.fit)
                print(f"{case.name} n={n} {name}: {timing.fit:.3g} s", file=sys.stderr)
    lines = ["| set | library | " + " | ".join(f"n={n}" for n in sizes) + " | exponent |"]
    lines.append("|---" * (len(sizes) + 3) + "|")
    for (case_name, name), column in seconds.items():
        exponent = np.polyfit(np.log(sizes), np.log(column), 1)[0]
        cells = " | ".join(f"{s:.3g}" for s in column)
        lines.append(f"| {case_name} | {name} | {cells} | {exponent:.2f} |")
    return "\n".join(lines)


def first_use() -> float:
    """Seconds of the first fit in this process, compilation or loading from the disk cache included."""
    began = time.perf_counter()
    SVC().fit(np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([-1, 1, 1, -1]))
    return time.perf_counter() - began


def main() -> None:
    """Measure what was asked for and print, or write, Markdown."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--fit", action="store_true", help="seconds to fit, on the suite")
    parser.add_argument(
        "--predict", action="store_true", help="seconds to predict the training set, on the suite"
    )
    parser.add_argument("--growth", action="store_true", help="seconds to fit against n")
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 2000, 5000, 10000])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", nargs="+", help="names of sets")
    parser.add_argument("--data-dir", help="directory of the archives; otherwise REFSVM_DATA")
    parser.add_argument("--output", type=Path, help="write the Markdown there")
    asked = parser.parse_args()
    parts = [f"First use of refsvm in this process: {first_use():.2f} s, compilation included."]
    libraries = peers()
    if asked.fit or asked.predict:
        results = {}
        for case in suite(asked.data_dir):
            if not asked.only or case.name in asked.only:
                results[case.name] = timed(case, libraries, asked.rounds)
                print(
                    case.name,
                    {k: f"{1e3 * t.fit:.3g} ms" for k, t in results[case.name].items()},
                    file=sys.stderr,
                )
        parts += [
            f"## {what}\n\nMilliseconds.\n\n{table(results, what)}"
            for what in ("fit", "predict")
            if getattr(asked, what)
        ]
        parts.append("\n".join(disagreements(results)) or "All dual objectives agree to 1e-5.")
    if asked.growth:
        parts.append(f"## growth\n\nSeconds.\n\n{growth(libraries, asked.sizes, asked.rounds)}")
    text = "\n\n".join(parts) + "\n"
    if asked.output:
        asked.output.write_text(text)
    print(text)


if __name__ == "__main__":
    main()
