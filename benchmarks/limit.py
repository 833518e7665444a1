"""How near is a fit to the limit of this machine: the same rows and steps in C, and an estimator that only validates.

    python benchmarks/limit.py --write                     eighteen sets; the tables of docs/how_measured.md
    python benchmarks/limit.py --only heart banana         some of them, printed

The limit of a fit is a sum of three times, each taken in turn with the fit:

entry   an estimator of scikit-learn that validates its data and numbers the classes
rows    as many kernel rows as the fit computed, by a fused C kernel, or by BLAS and a C exponential, whichever is
        faster; on all cores, and half of them if all n are needed, as K is symmetric
steps   as many steps as the fit took, on as many variables as it took them on, by a C loop that selects and updates

The C compiler of the system (CC, cc, gcc or clang) makes `limit.c`; without one the script says so and ends.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from side_by_side.libraries import machine
from side_by_side.problems import suite
from side_by_side.report import geometric_mean
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import validate_data

import refsvm
from refsvm import SVC
from refsvm.compiled.backend import CompiledBackend
from refsvm.datasets import SuiteProblem
from refsvm.services.float32 import FLOAT32_FROM

PAGE = Path(__file__).parents[1] / "docs" / "_static" / "how_fast" / "limit.md"
FLAGS = (
    "-O3 -march=native -fno-math-errno -ffinite-math-only -fno-signed-zeros -fno-trapping-math -shared -fPIC"
)
SAMPLE_ENTRIES = 2**22  # kernel values, or variables in steps, that are timed; more are a multiple of them
TURNS = 5


class Entry(ClassifierMixin, BaseEstimator):
    """What every classifier of scikit-learn does first."""

    def fit(self, X: Any, y: Any) -> Entry:
        """Validate, and number the classes."""
        X, y = validate_data(self, X, y, dtype=np.float64, order="C")
        self.classes_, self.codes_ = np.unique(y, return_inverse=True)
        return self


class Fit(NamedTuple):
    """A fit, and the limit of its parts, in seconds."""

    name: str
    n: int
    fit: float
    entry: float
    rows: float
    steps: float

    @property
    def limit(self) -> float:
        """Sum of the parts."""
        return self.entry + self.rows + self.steps


class Counts(NamedTuple):
    """Kernel rows that a fit computed, its steps, and the variables that a step was taken on, on average."""

    rows: int
    steps: int
    size: int


def compiled(folder: str) -> ctypes.CDLL:
    """Compile `limit.c` into this folder and load it; without a compiler end with a sentence."""
    compiler = next(filter(None, map(shutil.which, [os.environ.get("CC", ""), "cc", "gcc", "clang"])), None)
    if compiler is None:
        sys.exit(
            "There is no C compiler (CC, cc, gcc, clang), and the limit is that of C: nothing was measured."
        )
    library = Path(folder) / "limit.so"
    source = Path(__file__).with_suffix(".c")
    subprocess.run([compiler, *FLAGS.split(), str(source), "-o", str(library)], check=True)
    return ctypes.CDLL(str(library))


def commit() -> str:
    """Return the commit of this repository, in brackets; "" without git."""
    command = ["git", "-C", str(Path(__file__).parent), "rev-parse", "--short", "HEAD"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return f" (commit {done.stdout.strip()})" if done.returncode == 0 else ""


def least(work: Callable[[], object], budget: float = 0.1) -> float:
    """Return the least seconds of some calls."""
    best, end = float("inf"), time.perf_counter() + budget
    while True:
        began = time.perf_counter()
        work()
        now = time.perf_counter()
        best = min(best, now - began)
        if now > end:
            return best


def call(function: Any, *arguments: Any) -> int:
    """Call a C function: arrays by their address, whole numbers as 64 bits; other threads may run meanwhile."""
    function.restype = ctypes.c_int64
    kinds = {int: ctypes.c_int64, float: ctypes.c_double, np.float32: ctypes.c_float}
    passed = [
        ctypes.c_void_p(each.ctypes.data) if isinstance(each, np.ndarray) else kinds[type(each)](each)
        for each in arguments
    ]
    return int(function(*passed))


def counted(model: SVC, X: np.ndarray, y: np.ndarray) -> Counts:
    """Fit once, and count."""
    take, touched, steps = CompiledBackend.steps, 0, 0

    def watched(backend: Any, state: Any, *arguments: Any) -> int:
        nonlocal touched, steps
        before = state.iteration
        code = take(backend, state, *arguments)
        steps += state.iteration - before
        touched += (state.iteration - before) * len(state.alpha)
        return code

    CompiledBackend.steps = watched  # type: ignore[method-assign]
    try:
        model.fit(X, y)
    finally:
        CompiledBackend.steps = take  # type: ignore[method-assign]
    return Counts(int(np.sum(model.n_kernel_rows_)), steps, max(1, round(touched / max(1, steps))))


def rows_seconds(C: ctypes.CDLL, X: np.ndarray, gamma: float, rows: int, dtype: Any) -> float:
    """Return the least seconds for so many rows, on all cores; half of them for all n."""
    n, d = X.shape
    name, cores = np.dtype(dtype).name, os.cpu_count() or 1
    width = -(-n // 16) * 16
    X = (X - X.mean(axis=0)).astype(dtype)
    Z = np.zeros((d, width), dtype)
    Z[:, :n] = X.T
    norms = np.zeros(width, dtype)
    norms[:n] = gamma * np.einsum("ij,ij->i", X, X)
    some = max(4 * cores, min(rows, SAMPLE_ENTRIES // n) // (4 * cores) * 4 * cores)
    chosen, out = np.arange(some) % n, np.empty((some, n), dtype)
    twice = dtype(2.0 * gamma) if dtype is np.float32 else float(2.0 * gamma)
    parts = np.split(np.arange(some), cores)
    fused, exponentials = C[f"{name}_rows"], C[f"{name}_exponentials"]
    features = np.ascontiguousarray(Z[:, :n])

    def by_kernel(part: np.ndarray) -> None:
        call(fused, len(part), n, d, width, chosen[part], Z, norms, twice, out[part[0] : part[-1] + 1])

    def by_blas(part: np.ndarray) -> None:
        piece = out[part[0] : part[-1] + 1]
        call(exponentials, len(part), n, chosen[part], norms, twice, piece)

    with ThreadPoolExecutor(cores) as pool:
        kernel = least(lambda: list(pool.map(by_kernel, parts)))
        values = out.copy()
        blas = least(lambda: (np.matmul(X[chosen], features, out=out), [*pool.map(by_blas, parts)]))
    # both round an exponent by what its largest term rounds
    if not np.allclose(values[:4], out[:4], atol=max(1e-4, 32.0 * np.finfo(dtype).eps * float(norms.max()))):
        raise RuntimeError("The rows by C and those by BLAS differ.")
    needed = rows / 2 if rows >= n else rows
    return min(kernel, blas) * needed / some


def steps_seconds(C: ctypes.CDLL, counts: Counts, dtype: Any) -> float:
    """Return the least seconds for so many steps, on rows that fit the memory a fit reads."""
    size = counts.size
    rows = max(2, min(size, counts.rows, 2**25 // size))
    K = np.random.default_rng(0).uniform(0.0, 1.0, (rows, size)).astype(dtype)
    some = max(16, min(counts.steps, SAMPLE_ENTRIES // size))
    G = np.random.default_rng(1).normal(size=size)
    taken = least(lambda: call(C[f"{np.dtype(dtype).name}_steps"], size, rows, some, K, G))
    return taken * counts.steps / some


def measured(C: ctypes.CDLL, problem: SuiteProblem) -> Fit:
    """Time a fit and its parts in turn."""
    data = problem.load()
    X, y = np.ascontiguousarray(data.X), data.y
    model = SVC(C=problem.C, gamma=problem.gamma, cache_size=1000, engine="numba")
    counts = counted(model.fit(X, y), X, y)
    dtype = np.float32 if len(X) >= FLOAT32_FROM else np.float64
    best = [float("inf")] * 4
    for _ in range(TURNS):
        turn = (
            least(lambda: model.fit(X, y)),
            least(lambda: Entry().fit(X, y), 0.01),
            rows_seconds(C, X, problem.gamma, counts.rows, dtype),
            steps_seconds(C, counts, dtype),
        )
        best = [min(pair) for pair in zip(best, turn, strict=True)]
    return Fit(problem.name, len(X), *best)


def bandwidths(C: ctypes.CDLL) -> str:
    """Return what reading and first writing of memory take here, as a table."""
    cores, values = os.cpu_count() or 1, np.ones(2**25, dtype=np.int64)
    parts = np.split(values, cores)
    with ThreadPoolExecutor(cores) as pool:
        one = least(lambda: call(C.read_all, len(values), values))
        every = least(lambda: [*pool.map(lambda part: call(C.read_all, len(part), part), parts)])
    fresh = least(lambda: np.empty(2**24).fill(0.0))
    lines = [
        "| memory | value | unit |", "|---|---:|---|",
        f"| read by one core | {values.nbytes / one / 1e9:.1f} | GB/s |",
        f"| read by {cores} cores | {values.nbytes / every / 1e9:.1f} | GB/s |",
        f"| first write to a fresh array of 128 MiB | {fresh / 2**27 * 1e9:.2f} | ns a byte |",
    ]  # fmt: skip
    return "\n".join(lines)


def table(fits: Sequence[Fit]) -> str:
    """Return the sets, their fits in milliseconds over the limit, and the parts of the limit."""
    lines = ["| set | n | fit, ms | limit, ms | fit / limit | entry | rows | steps |", "|---|" + "---:|" * 7]
    for each in fits:
        shares = " | ".join(f"{part / each.limit:.0%}" for part in (each.entry, each.rows, each.steps))
        times = f"{1e3 * each.fit:.2f} | {1e3 * each.limit:.2f} | {each.fit / each.limit:.2f}"
        lines.append(f"| {each.name} | {each.n:,} | {times} | {shares} |")
    mean = geometric_mean([each.fit / each.limit for each in fits])
    lines.append(f"| **geometric mean** | | | | **{mean:.2f}** | | | |")
    return "\n".join(lines)


TEXT = """{table}

{memory}

The script measured refsvm {version}{commit} on {machine}.
"""


def main() -> None:
    """Measure, print, and write the tables of the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--data-dir", help="directory of the archives; otherwise REFSVM_DATA")
    parser.add_argument("--only", nargs="+", metavar="SET", help="names of sets")
    parser.add_argument(
        "--write", type=Path, nargs="?", const=PAGE, metavar="FILE", help=f"by default {PAGE.name}"
    )
    chosen, fits = parser.parse_args(), []
    with tempfile.TemporaryDirectory() as folder:
        C = compiled(folder)
        for problem in suite(chosen.data_dir):
            if chosen.only is None or problem.name in chosen.only:
                if not isinstance(problem.load().X, np.ndarray):
                    continue
                fits.append(measured(C, problem))
                print(table(fits[-1:]).splitlines()[-2], file=sys.stderr, flush=True)
        text = TEXT.format(
            table=table(fits),
            memory=bandwidths(C),
            version=refsvm.__version__,
            commit=commit(),
            machine=machine(),
        )
    print(text)
    if chosen.write is not None:
        chosen.write.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
