"""Is the path right? Its objective at random C beside LIBSVM's, and its KKT conditions, on fifteen sets.

    python benchmarks/path_check.py --data-dir DIR                     two kernels, 50 values of C; a few minutes
    python benchmarks/path_check.py --data-dir DIR --steps 2e7         LIBSVM may take twenty million steps a fit
    python benchmarks/path_check.py --only heart thyroid --values 5    a part

Each path covers C from 0.001 to 100. Features have mean 0 and variance 1; the RBF has γ = 1/d. LIBSVM trains at
tolerance 1e-8 on the kernel matrix. Where it does not end within the steps, or differs by more than 1e-8, Clarabel, an
interior-point method, solves the primal problem too. Every fit is appended to --store: a run that was killed goes
on, and a run with more steps repeats only what was unfinished.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from refsvm import RBF, Linear, regularization_path
from refsvm.datasets import open_data
from refsvm.experiment import Grid
from refsvm.experiment.grid import number

SETS = (
    "sonar", "ida_heart", "ida_breast-cancer", "ida_titanic", "ida_thyroid", "ionosphere", "monks1", "monks2", "monks3",
    "wbc", "ida_diabetis", "ida_german", "tic_tac_toe", "hill_valley_noise",
)  # fmt: skip
TRIPLED = "heart, every row three times"
LEAST, MOST = 1e-3, 1e2
NEAR = 1e-8


class Fit(NamedTuple):
    """One value of C: the relative difference of the dual objectives, and how the other solver fared."""

    key: str
    C: float
    peer: str  # LIBSVM, or Clarabel where LIBSVM did not end
    difference: float
    gap: float  # our own duality gap, relative
    steps: int  # of LIBSVM
    seconds: float
    # the relative difference from Clarabel, where LIBSVM ended further off than NEAR
    arbiter: float | None = None
    # that from LIBSVM's last point, where it did not end
    unfinished: float | None = None


class Whole(NamedTuple):
    """One path."""

    key: str
    n: int
    breakpoints: int
    end: str
    seconds: float
    audit: float


@cache
def data(name: str, directory: str | None) -> tuple[np.ndarray, np.ndarray]:
    """Features of mean 0 and variance 1, labels ±1."""
    if name == TRIPLED:
        X, y = data("ida_heart", directory)
        return np.repeat(X, 3, axis=0), np.repeat(y, 3)
    found = open_data(name, data_dir=directory)
    X, y = np.asarray(found.X, dtype=float), np.asarray(found.y, dtype=float)
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0), y


@cache
def tracked(key: str, directory: str | None) -> tuple[Any, np.ndarray, np.ndarray]:
    """The path, the kernel matrix of all examples, and their labels."""
    name, kind = key.rsplit(" / ", 1)
    X, y = data(name, directory)
    kernel = Linear() if kind == "linear" else RBF(1.0 / X.shape[1])
    path = regularization_path(X, y, kernel=kernel, C_min=LEAST, C_max=MOST)
    return path, np.ascontiguousarray(kernel(X, X)), y


def whole(key: str, directory: str | None) -> Whole:
    """Track and audit."""
    path, _, y = tracked(key, directory)
    return Whole(key, len(y), len(path.C), path.status.name, path.seconds, path.kkt_audit().worst)


def fit(key: str, C: float, steps: int, directory: str | None) -> Fit:
    """Train another solver at one C and compare."""
    path, K, y = tracked(key, directory)
    alpha = path.alpha(C)
    ours = float(y @ alpha - 0.5 * alpha @ (K @ alpha))
    # primal − dual, at the intercept of the path
    slack = np.maximum(0.0, 1.0 - y * (K @ alpha + path.intercept(C)))
    gap = float(alpha @ (K @ alpha) + C * slack.sum() - y @ alpha)
    began = time.perf_counter()
    theirs, taken = libsvm(K, y, C, steps)
    peer, arbiter, unfinished = "LIBSVM", None, None
    if taken >= steps:
        unfinished = abs(ours / theirs - 1.0)
        peer, theirs = "Clarabel", clarabel(K, y, C)
    elif abs(ours - theirs) > NEAR * abs(theirs):
        arbiter = abs(ours / clarabel(K, y, C) - 1.0)
    seconds = time.perf_counter() - began
    return Fit(key, C, peer, abs(ours / theirs - 1.0), gap / ours, taken, seconds, arbiter, unfinished)


def libsvm(K: np.ndarray, y: np.ndarray, C: float, steps: int) -> tuple[float, int]:
    """Return LIBSVM's dual objective where it ended, or stopped after so many steps, and its steps."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.svm import SVC

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        peer = SVC(kernel="precomputed", C=C, tol=1e-8, max_iter=steps, cache_size=1000).fit(K, y)
    taken = int(peer.n_iter_[0])
    alpha = np.zeros(len(y))
    alpha[peer.support_] = peer.dual_coef_[0]
    return float(y @ alpha - 0.5 * alpha @ (K @ alpha)), taken


def clarabel(K: np.ndarray, y: np.ndarray, C: float) -> float:
    """Return the optimum of the primal problem min ½‖w‖² + C Σξ with y(Zw + b) ≥ 1 − ξ, where ZZᵀ = K."""
    import clarabel as solver
    from scipy import sparse

    sizes, vectors = np.linalg.eigh(K)
    kept = sizes > 1e-15 * len(K) * sizes[-1]
    Z = vectors[:, kept] * np.sqrt(sizes[kept])
    (n, r), eye = Z.shape, sparse.identity(len(y))
    settings = solver.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_rel = settings.tol_gap_abs = settings.tol_feas = 1e-11
    quadratic = sparse.diags(np.concatenate([np.ones(r), np.zeros(n + 1)])).tocsc()
    linear = np.concatenate([np.zeros(r + 1), np.full(n, C)])
    margins = sparse.hstack([-y[:, None] * Z, -y[:, None], -eye])  # −y(Zw + b) − ξ ≤ −1
    slacks = sparse.hstack([sparse.csr_matrix((n, r + 1)), -eye])
    limits = np.concatenate([-np.ones(n), np.zeros(n)])
    cones = [solver.NonnegativeConeT(2 * n)]
    constraints = sparse.vstack([margins, slacks]).tocsc()
    found = solver.DefaultSolver(quadratic, linear, constraints, limits, cones, settings).solve()
    return float(found.obj_val)


def penalties(values: int) -> list[float]:
    """Values of C, uniform in log C."""
    return np.exp(np.random.default_rng(0).uniform(np.log(LEAST), np.log(MOST), size=values)).tolist()


def stored(file: Path) -> tuple[dict[tuple[str, float], Fit], dict[str, Whole]]:
    """Read what earlier runs have found; the last line of a fit counts."""
    fits: dict[tuple[str, float], Fit] = {}
    paths: dict[str, Whole] = {}
    for line in file.read_text().splitlines() if file.exists() else []:
        row = json.loads(line)
        if "peer" in row:
            fits[row["key"], row["C"]] = Fit(**row)
        else:
            paths[row["key"]] = Whole(**row)
    return fits, paths


def missing(keys: list[str], chosen: argparse.Namespace) -> Iterator[tuple[Any, ...]]:
    """The calls that have yet to be made: function and arguments."""
    fits, paths = stored(chosen.store)
    for key in keys:
        if key not in paths:
            yield whole, key, chosen.data_dir
        for C in penalties(chosen.values):
            known = fits.get((key, C))
            if known is None or (known.peer != "LIBSVM" and known.steps < chosen.steps):
                yield fit, key, C, chosen.steps, chosen.data_dir


def summary(keys: list[str], chosen: argparse.Namespace) -> Grid:
    """One line for each path."""
    fits, paths = stored(chosen.store)
    rows = []
    for key in keys:
        found = [fits[key, C] for C in penalties(chosen.values)]
        by = {peer: [one.difference for one in found if one.peer == peer] for peer in ("LIBSVM", "Clarabel")}
        by["Clarabel"] += [one.arbiter for one in found if one.arbiter is not None]
        line = paths[key]
        rows.append(
            (key, f"{line.n:,}", f"{line.breakpoints:,}", line.end, number(line.seconds, 2), number(line.audit, 2),
             *(cell for peer in by.values() for cell in (str(len(peer)), number(max(peer, default=0.0), 2))),
             number(max(one.gap for one in found), 2))
        )  # fmt: skip
    headers = (
        "set", "n", "breakpoints", "end", "path (s)", "KKT", "LIBSVM", "difference", "Clarabel", "difference ",
        "own gap",
    )  # fmt: skip
    return Grid(headers, tuple(rows))


def main() -> None:
    """Run what is missing and print the summary."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--data-dir", help="directory of the archives; otherwise REFSVM_DATA")
    parser.add_argument("--only", nargs="+", default=[*SETS, TRIPLED], metavar="SET")
    parser.add_argument("--values", type=int, default=50, help="of C")
    parser.add_argument(
        "--steps", type=lambda text: int(float(text)), default=1_000_000, help="most steps of LIBSVM"
    )
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--store", type=Path, default=Path("path_check.jsonl"))
    chosen = parser.parse_args()
    keys = [f"{name} / {kind}" for name in chosen.only for kind in ("linear", "RBF")]
    calls = list(missing(keys, chosen))
    with ProcessPoolExecutor(chosen.jobs) as pool, chosen.store.open("a", encoding="utf-8") as store:
        for done in pool.map(_carried_out, calls, chunksize=5):
            store.write(json.dumps(done._asdict()) + "\n")
            store.flush()
    print(summary(keys, chosen).to_markdown())
    print(conclusion(keys, chosen))


def conclusion(keys: list[str], chosen: argparse.Namespace) -> str:
    """The worst of everything."""
    fits, paths = stored(chosen.store)
    here = [one for (key, _), one in fits.items() if key in keys]
    unfinished = [one for one in here if one.peer != "LIBSVM"]
    off = [one for one in here if one.arbiter is not None]
    ended = max((one.difference for one in here if one.peer == "LIBSVM"), default=0.0)
    beyond = max((one.arbiter or 0.0 for one in off), default=0.0)
    instead = max((one.difference for one in unfinished), default=0.0)
    all_the_same = sum(one.unfinished is not None and one.unfinished <= 1e-7 for one in unfinished)
    return (
        f"\n{len(here):,} fits. Worst audit {max(paths[key].audit for key in keys):.1e}. LIBSVM ended at "
        f"{len(here) - len(unfinished):,}, worst difference {ended:.1e}; at {len(off)} it differs by more than "
        f"{NEAR:g}, and Clarabel there by {beyond:.1e}. At {len(unfinished)} it did not end within {chosen.steps:,} "
        f"steps, and Clarabel differs there by {instead:.1e}; LIBSVM's last point is within 1e-7 at {all_the_same}."
    )


def _carried_out(call: tuple[Any, ...]) -> Fit | Whole:
    function, *arguments = call
    return function(*arguments)  # type: ignore[no-any-return]


if __name__ == "__main__":
    main()
