"""The grid behind SVCCV: its cells, the workers that solve them, and the table of results."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import rankdata

from refsvm._checks import is_sparse
from refsvm.engine.pool import in_workers, resubmitted, worker_count
from refsvm.kernels import Kernel, Precomputed
from refsvm.kernels.checked import gram_on
from refsvm.kernels.gram import dense_gram, held_from_products
from refsvm.kernels.matrix import KernelMatrix
from refsvm.kernels.origin import around
from refsvm.kernels.precision import share_held
from refsvm.kernels.products import inner_products
from refsvm.kernels.rows import megabytes
from refsvm.kernels.sparse import squared_norms
from refsvm.rounds.grid import Cell, Split, left_out_cells, solve_cells
from refsvm.seeders.base import Seeder
from refsvm.solver.run import CoarseError
from refsvm.stopping.kkt_gap import KKTGap
from refsvm.store import RunStore, described, digest, fingerprint

Key = tuple[int, int, int]
"""Numbers of γ, of C and of the split."""


@dataclass(frozen=True)
class GammaColumn:
    """One γ (None where the kernel has none) and its kernel."""

    gamma: float | None
    kernel: Any


@dataclass(frozen=True)
class Search:
    """A grid of γ × C on some splits.

    Parameters
    ----------
    columns : list of GammaColumn
    Cs : ndarray of float64
    splits : list of Split
    seeder : Seeder or None
    options : dict
        ``tol``, ``stop`` (None for the KKT gap of ``tol``) and further options of `refsvm.Rounds`.
    one_out : bool
        Whether each split leaves out one example and all else is the same: then `refsvm.leave_one_out` scores them.
    """

    columns: list[GammaColumn]
    Cs: np.ndarray
    splits: list[Split]
    seeder: Seeder | None
    options: dict[str, Any] = field(repr=False)
    one_out: bool = False

    def __sizeof__(self) -> int:
        """About the bytes of all splits: Dask sends what is large to the workers once, not with each task."""
        arrays = [(split.train, split.test, split.factors, split.test_weights) for split in self.splits]
        return object.__sizeof__(self) + sum(array.nbytes for split in arrays for array in split)

    def run(
        self,
        X: Any,
        codes: np.ndarray,
        *,
        n_jobs: int | None,
        store: str | Path | None,
        tell: Callable[[int, int], object],
    ) -> dict[Key, Cell]:
        """Solve every cell that the store does not hold.

        Parameters
        ----------
        X : ndarray or CSR
            Checked data; for `Precomputed` the kernel matrix.
        codes : ndarray of shape (n,)
        n_jobs : int or None
            Columns solved at once.
        store : path or None
        tell : callable
            Called after each cell, with the number of those that are done and of all.

        Returns
        -------
        dict
            A `Cell` for each (γ, C, split).
        """
        token, total = uuid.uuid4().hex, len(self.columns) * len(self.Cs) * len(self.splits)
        kept = None if store is None else StoredCells(RunStore(Path(store)), self._identities(X, codes))
        with nullcontext() if kept is None else kept.runs.kept_open():
            cells: dict[Key, Cell] = {} if kept is None else kept.cells()

            def take(number: int, cell: Cell) -> None:
                key = (number, cell.place, cell.split)
                # two workers may bring the same cell after one of them was thought lost
                if key not in cells:
                    if kept is not None:
                        kept.keep(key, cell)
                    cells[key] = cell
                    tell(len(cells), total)

            try:
                # after the workers the loop below solves what is left: with one column there was nothing to share
                if (workers := worker_count(n_jobs)) > 1:
                    self._solve_at_once(X, codes, token, workers, cells, take)
                for number, wanted in self._tasks(cells):
                    for cell in self._column(X, codes, token, self.columns[number], wanted):
                        take(number, cell)
            finally:
                forget(token)
        return cells

    def _identities(self, X: Any, codes: np.ndarray) -> dict[Key, dict[str, Any]]:
        """Return what the score of each cell depends on: data, kernel, C, split and tolerance."""
        common = {
            "strategy": "refsvm: SVCCV",
            "examples": fingerprint(X, codes),
            **{name: described(name, self.options[name]) for name in ("tol", "max_iter", "stop")},
        }
        kernels = [described("kernel", column.kernel) for column in self.columns]
        parts = [fingerprint(each.train, each.test, each.factors, each.test_weights) for each in self.splits]
        return {
            (g, c, split.number): {**common, "kernel": kernel, "C": float(C), "split": part}
            for g, kernel in enumerate(kernels)
            for c, C in enumerate(self.Cs)
            for split, part in zip(self.splits, parts, strict=True)
        }

    def _tasks(self, cells: dict[Key, Cell]) -> list[tuple[int, list[list[int]]]]:
        """Return the numbers of the columns where cells are missing, and which: places in `Cs` for each split."""
        # ascending: a solution for a smaller C seeds the next one, and not the reverse
        order = np.argsort(self.Cs, kind="stable").tolist()
        tasks = []
        for number in range(len(self.columns)):
            wanted = [
                [place for place in order if (number, place, split.number) not in cells]
                for split in self.splits
            ]
            if any(wanted):
                tasks.append((number, wanted))
        return tasks

    def _solve_at_once(
        self,
        X: Any,
        codes: np.ndarray,
        token: str,
        workers: int,
        cells: dict[Key, Cell],
        take: Callable[[int, Cell], None],
    ) -> None:
        """Solve several columns at once."""
        delivery = Delivery(take)

        def attempt() -> Iterator[tuple[int, list[Cell]]]:
            arguments = [(self, X, codes, token, *task) for task in self._tasks(cells)]
            return in_workers(delivery, arguments, workers) if len(arguments) > 1 else iter(())

        try:
            for number, column in resubmitted(attempt):
                for cell in column:
                    take(number, cell)
        finally:
            delivery.close()

    def _column(
        self, X: Any, codes: np.ndarray, token: str, column: GammaColumn, wanted: list[list[int]]
    ) -> Iterator[Cell]:
        """Solve the wanted cells of one γ."""
        options = dict(self.options)
        kkt = KKTGap(options.pop("tol"), relative=True)
        stop = options.pop("stop") or kkt
        # what is proved of a left-out example is proved of rows in double precision
        tol = 0.0 if self.one_out else stop.tolerance
        # float32 rows have to be precise enough for the largest of the penalties that are solved here
        largest = float(self.Cs[[place for places in wanted for place in places]].max())
        C = largest * np.max([split.factors for split in self.splits], axis=0)
        held = partial(column_gram, X, token, column.kernel, options["cache_mb"], C)
        if self.one_out:
            del options["shrinking"]  # rounds of one example less are short
            yield from left_out_cells(held(tol), codes, self.Cs, self.splits, wanted, stop=stop, **options)
            return
        refuses, done = not isinstance(column.kernel, Precomputed), set[tuple[int, int]]()
        work: Callable[..., Iterator[Cell]] = partial(solve_cells, seeder=self.seeder, stop=stop, **options)
        try:
            for cell in work(held(tol), codes, self.Cs, self.splits, wanted, refuses_float32=refuses):
                done.add((cell.split, cell.place))
                yield cell
        except CoarseError:  # the decision values vary by so little
            left = [
                [place for place in places if (split.number, place) not in done]
                for split, places in zip(self.splits, wanted, strict=True)
            ]
            yield from work(held(0.0), codes, self.Cs, self.splits, left)


class StoredCells:
    """The cells of a search, each a run of a store.

    Parameters
    ----------
    runs : RunStore
    identities : dict
        By key; see `Search._identities`.
    """

    def __init__(self, runs: RunStore, identities: dict[Key, dict[str, Any]]) -> None:
        runs.prepare()
        self.runs, self._identities = runs, identities
        self._hashes = {key: digest(identity) for key, identity in identities.items()}

    def cells(self) -> dict[Key, Cell]:
        """Return the stored cells by key."""
        stored = self.runs.metrics(self._hashes.values())
        found = {key: stored[run] for key, run in self._hashes.items() if run in stored}
        return {key: Cell(split=key[2], place=key[1], **metrics) for key, metrics in found.items()}

    def keep(self, key: Key, cell: Cell) -> None:
        """Store a cell."""
        metrics = {name: np.asarray(value).item() for name, value in cell._asdict().items()}
        del metrics["split"], metrics["place"]  # their numbers differ in another grid
        config = self._identities[key]
        names = {"problem": f"C={config['C']:g}, {config['kernel']}, split {key[2]}", "strategy": "SVCCV"}
        self.runs.add(self._hashes[key], config=config, metrics=metrics, **names)


class Delivery:
    """Solves the wanted cells of a column and takes in each as it comes, in this process from any thread.

    What another process gets, pickled, only returns them.

    Parameters
    ----------
    take : callable, optional
        Called with the number of γ and the cell, by one thread at a time.
    """

    def __init__(self, take: Callable[[int, Cell], object] | None = None) -> None:
        self._take, self._lock, self._is_open = take, threading.Lock(), True

    def __reduce__(self) -> tuple[type[Delivery], tuple[()]]:
        return Delivery, ()

    def __call__(
        self, search: Search, X: Any, codes: np.ndarray, token: str, number: int, wanted: list[list[int]]
    ) -> tuple[int, list[Cell]]:
        """Return the number of γ and the cells."""
        cells = []
        for cell in search._column(X, codes, token, search.columns[number], wanted):
            cells.append(cell)
            with self._lock:
                # after Ctrl-C threads go on for a moment: what they bring would be told after the end
                if not self._is_open:
                    break
                if self._take is not None:
                    self._take(number, cell)
        return number, cells

    def close(self) -> None:
        """Take no more, and let threads that are still at work end."""
        with self._lock:
            self._is_open = False


def column_gram(X: Any, token: str, kernel: Any, cache_mb: float, C: np.ndarray, tol: float) -> KernelMatrix:
    """Return the kernel matrix of one γ, computed from inner products that all share where the budget holds them.

    It is held as float32 where that is precise enough for penalties up to C, shape (n,), and the tolerance.
    """
    gram, n = gram_on(kernel, X).centred, X.shape[0]
    # rows are then computed and stored one by one, within the budget, by each column for itself
    if isinstance(kernel, Precomputed) or megabytes(n, n) > cache_mb:
        return gram
    if not isinstance(kernel, Kernel):
        return dense_gram(gram)
    origin = gram.origin
    if kernel.distance_scale > 0.0 and not is_sparse(X):
        origin = X.mean(axis=0)
    inner, norms = shared_products(X, token, origin)
    return held_from_products(
        gram, kernel, inner, norms, np.float32 if share_held(gram, C, tol) else np.float64
    )


_products: dict[tuple[str, bytes], tuple[np.ndarray, np.ndarray]] = {}
_lock = threading.Lock()


def shared_products(X: Any, token: str, origin: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Return x·z of all pairs and ‖x‖² around an origin, computed once for each search in this process.

    Parameters
    ----------
    X : ndarray or CSR of shape (n, d)
    token : str
        Of the search; products of an earlier one are dropped.
    origin : ndarray of shape (d,) or None
        For a kernel that depends on distances alone the mean of dense data, where ‖x‖² + ‖z‖² − 2 x·z loses the fewest
        digits; for a linear one that of its matrix (`refsvm.kernels.origin`).
    """
    key = token, b"" if origin is None else origin.tobytes()
    with _lock:
        if key not in _products:
            # one at a time: each is as large as a kernel matrix
            _products.clear()
            X = around(origin, X)
            _products[key] = inner_products(X, X), squared_norms(X)
        return _products[key]


def forget(token: str) -> None:
    """Drop the inner products of a search."""
    with _lock:
        for key in [key for key in _products if key[0] == token]:
            del _products[key]


def results_table(search: Search, cells: dict[Key, Cell]) -> dict[str, Any]:
    """Return ``cv_results_`` with the keys and the order of GridSearchCV: C outside, γ inside."""
    places = [(c, g) for c in range(len(search.Cs)) for g in range(len(search.columns))]
    numbers = [split.number for split in search.splits]

    def table(name: str) -> np.ndarray:
        return np.array(
            [[getattr(cells[g, c, s], name) for s in numbers] for c, g in places], dtype=np.float64
        )

    params = []
    for c, g in places:
        gamma = search.columns[g].gamma
        params.append({"C": float(search.Cs[c])} | ({} if gamma is None else {"gamma": gamma}))
    scores, result = table("score"), {}
    for name in ("fit", "score"):
        seconds = table(f"{name}_seconds")
        result[f"mean_{name}_time"], result[f"std_{name}_time"] = seconds.mean(axis=1), seconds.std(axis=1)
    for name in params[0]:
        result[f"param_{name}"] = np.ma.MaskedArray([each[name] for each in params])
    result["params"] = params
    for s, column in enumerate(scores.T):
        result[f"split{s}_test_score"] = column
    means = scores.mean(axis=1)
    result["mean_test_score"], result["std_test_score"] = means, scores.std(axis=1)
    # equal up to rounding is equal; GridSearchCV lets the last digit of a mean decide
    result["rank_test_score"] = rankdata(-np.round(means, 12), method="min").astype(np.int32)
    result["mean_iterations"] = table("iterations").mean(axis=1)
    return result
