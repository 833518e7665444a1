"""The grid that SVCCV and SVRCV solve: its cells, and the workers that solve them."""

from __future__ import annotations

import threading
import uuid
from collections import defaultdict
from collections.abc import Callable, Generator, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from refsvm.analysis.resampling.grid import Cell, Score, Split, left_out_cells, left_out_score, solve_cells
from refsvm.analysis.resampling.task import Task, task_given
from refsvm.analysis.resampling.weights import mean
from refsvm.core import arithmetic
from refsvm.core._checks import version
from refsvm.core.engine.limits import Interrupted
from refsvm.core.engine.progress import Progress
from refsvm.core.rounds.machine import REGRESSION
from refsvm.core.seeders.base import Seeder
from refsvm.core.stopping.kkt_gap import KKTGap
from refsvm.estimators.column_matrix import column_gram, forget
from refsvm.estimators.progress import Pace
from refsvm.estimators.scoring import Scoring, SeveralScorings
from refsvm.services.identity import IDENTITY, described, package_code
from refsvm.services.pool import in_workers, joblib_is_set_up, resubmitted, worker_count
from refsvm.services.store import RunStore, digest, fingerprint
from refsvm.services.types import ArrayLike, KernelLike

Key = tuple[int, int, int]
"""Identifies a cell: index of γ, joint index of ε and C (all C of the first ε come first), index of the split."""


@dataclass(frozen=True)
class GammaColumn:
    """A column of the grid: one value of γ and the kernel with this γ; γ is None if the kernel has no γ."""

    gamma: float | None
    kernel: KernelLike


@dataclass(frozen=True)
class Search:
    """A grid of γ × ε × C on some splits.

    Parameters
    ----------
    name : str
        Name of the estimator, for messages.
    columns : list of GammaColumn
        Values of γ with their kernels.
    epsilons : list of float or None
        Values of ε; a single None for classification.
    Cs : ndarray of float64
        Values of C.
    splits : list of Split
        Training and test part of each split.
    seeder : Seeder or None
        Rule that makes the starting point for one C from the solution for the previous C.
    options : dict
        ``tol``, ``stop`` (None means the KKT gap of ``tol``) and further options of `refsvm.Rounds`.
    one_out : bool
        Whether `refsvm.leave_one_out` scores the splits; each split must then leave out one example and keep all
        penalties.
    scoring : Scoring, SeveralScorings or None
        The scorers; None for accuracy or R². For R² with `is_loo`, the score of a split is the contribution of its test
        example to the R² of all examples.
    is_loo : bool
        Whether the splits come from ``cv="loo"``.
    weights : ndarray of shape (n,) or None
        Weights of the examples.
    """

    name: str
    columns: list[GammaColumn]
    epsilons: list[float | None]
    Cs: np.ndarray
    splits: list[Split]
    seeder: Seeder | None
    options: dict[str, Any] = field(repr=False)
    one_out: bool = False
    scoring: Scoring | SeveralScorings | None = None
    is_loo: bool = False
    weights: np.ndarray | None = field(default=None, repr=False)

    def __sizeof__(self) -> int:
        """Return roughly the size of all splits in bytes, so that Dask sends the large object to a worker only once."""
        arrays = [(split.train, split.test, split.factors, split.test_weights) for split in self.splits]
        return object.__sizeof__(self) + sum(array.nbytes for split in arrays for array in split)

    def params(self, number: int, place: int) -> dict[str, float]:
        """Return the parameters of a cell by name."""
        e, c = divmod(place, len(self.Cs))
        named = {"C": float(self.Cs[c]), "epsilon": self.epsilons[e], "gamma": self.columns[number].gamma}
        return {name: value for name, value in named.items() if value is not None}

    def run(
        self,
        X: ArrayLike,
        labels: np.ndarray,
        *,
        n_jobs: int | None,
        store: str | Path | None,
        tell: Callable[[int, int], object],
        progress: Progress | None = None,
    ) -> dict[Key, Cell]:
        """Solve every cell that is not in the store.

        Parameters
        ----------
        X : ndarray or CSR
            Checked data; for `Precomputed` the kernel matrix.
        labels : ndarray of shape (n,)
            Class numbers, or targets.
        n_jobs : int or None
            Number of columns (values of γ) solved at the same time.
        store : path or None
            SQLite file with the cells of earlier calls.
        tell : callable
            Called after each cell with the numbers of finished cells and of all cells.
        progress : Progress, optional
            Object that shows the number of cells and the best score so far.

        Returns
        -------
        dict
            A `Cell` for each `Key`.
        """
        token = uuid.uuid4().hex
        total = len(self.columns) * len(self.epsilons) * len(self.Cs) * len(self.splits)
        stored = None
        if store is not None:
            stored = StoredCells(RunStore(Path(store)), self._identities(X, labels), self.name)
            stored.runs.warn_of_old_runs()
        with nullcontext() if stored is None else stored.runs.kept_open():
            cells: dict[Key, Cell] = {} if stored is None else stored.cells()
            if progress is not None:
                progress.begin("", total=total, look=partial(self._look, progress, cells))
            pace = Pace(X.shape[0], total - len(cells), worker_count(n_jobs))

            def take(number: int, cell: Cell) -> None:
                key = (number, cell.place, cell.split)
                # ignore a cell that another worker has returned: a worker that seemed lost may still return its cell
                if key not in cells:
                    if stored is not None:
                        stored.keep(key, cell)
                    cells[key] = cell
                    tell(len(cells), total)
                    pace.take()

            try:
                # the loop below solves cells that workers leave unsolved
                workers = worker_count(n_jobs)
                if workers > 1 and (joblib_is_set_up() or self._is_compiled):
                    self._solve_at_once(X, labels, token, workers, cells, take)
                for number, wanted in self._tasks(cells):
                    for cell in self._column(X, labels, token, number, wanted):
                        take(number, cell)
            except KeyboardInterrupt:
                done = [
                    {**self.params(g, c), "split": s, "score": cell.score}
                    for (g, c, s), cell in cells.items()
                ]
                raise Interrupted(
                    f"{self.name}.fit was interrupted after {len(cells)} of {total} fits; error.result lists them.",
                    done,
                ) from None
            finally:
                forget(token)
                pace.close()
                if progress is not None:
                    progress.close()
        return cells

    def _look(self, progress: Progress, cells: dict[Key, Cell]) -> None:
        """Show the number of finished cells, and the best parameters for which all splits are finished."""
        done, scores = cells.copy(), defaultdict[tuple[int, int], dict[int, Any]](dict)
        for (number, place, split), cell in done.items():
            scores[number, place][split] = cell.score
        progress.tell(len(done))
        weights = np.array([split.weight for split in self.splits])
        means = {
            key: mean(np.array([by_split[split.number] for split in self.splits]), weights)
            for key, by_split in scores.items()
            if len(by_split) == len(self.splits)
            and all(isinstance(score, float) for score in by_split.values())
        }
        if means:
            best = max(means, key=lambda key: means[key])
            named = ", ".join(f"{name}={value:.4g}" for name, value in self.params(*best).items())
            progress.best = f"{means[best]:.4g} at {named}"

    def _identities(self, X: Any, labels: np.ndarray) -> dict[Key, dict[str, Any]]:
        """Return everything that a score depends on: data, kernel, ε, C, split, tolerance, rules, scoring and code."""
        names = ("tol", "max_iter", "stop", "selector", "step", "shrinking")
        common = {
            "identity": IDENTITY,
            "refsvm": version(),
            "code": package_code(),
            "strategy": f"refsvm: {self.name}",
            "examples": fingerprint(X, labels),
            **{name: described(name, self.options[name]) for name in names},
            "seeder": described("seeder", self.seeder),
            **({} if self.scoring is None else {"scoring": self.scoring.identity()}),
            # R² of leave-one-out depends on the weights of all examples
            **({} if self.weights is None or not self.is_loo else {"weights": fingerprint(self.weights)}),
        }
        kernels = [described("kernel", column.kernel) for column in self.columns]
        parts = [fingerprint(each.train, each.test, each.factors, each.test_weights) for each in self.splits]
        places = range(len(self.epsilons) * len(self.Cs))
        return {
            # the description of the kernel contains γ
            (g, place, split.number): {**common, **self.params(g, place), "kernel": kernels[g], "split": part}
            for g, place in product(range(len(kernels)), places)
            for split, part in zip(self.splits, parts, strict=True)
        }

    def _tasks(self, cells: dict[Key, Cell]) -> list[tuple[int, list[list[int]]]]:
        """Return the columns with unsolved cells, and for each column and split the positions of these cells."""
        # solve in ascending order of C, because the solution for a small C is a good start for a larger C
        ascending, m = np.argsort(self.Cs, kind="stable"), len(self.Cs)
        order = [int(e * m + c) for e in range(len(self.epsilons)) for c in ascending]
        tasks = []
        for number in range(len(self.columns)):
            wanted = [
                [place for place in order if (number, place, split.number) not in cells]
                for split in self.splits
            ]
            if any(wanted):
                tasks.append((number, wanted))
        return tasks

    @property
    def _is_compiled(self) -> bool:
        """Return whether the solves run in compiled code, so that threads save time."""
        return self.options.get("engine") != "numpy" and arithmetic.current.sparse is not None

    def _solve_at_once(
        self,
        X: Any,
        labels: np.ndarray,
        token: str,
        workers: int,
        cells: dict[Key, Cell],
        take: Callable[[int, Cell], None],
    ) -> None:
        """Solve several columns of the grid at the same time, in threads or processes."""
        delivery = Delivery(take)

        def attempt() -> Iterator[tuple[int, list[Cell]]]:
            arguments = [(self, X, labels, token, *task) for task in self._tasks(cells)]
            return in_workers(delivery, arguments, workers) if len(arguments) > 1 else iter(())

        try:
            for number, column in resubmitted(attempt):
                for cell in column:
                    take(number, cell)
        finally:
            delivery.close()

    def _column(
        self, X: Any, labels: np.ndarray, token: str, number: int, wanted: list[list[int]]
    ) -> Generator[Cell, None, None]:
        """Solve the wanted cells of one γ with one kernel matrix, for one ε after another."""
        m, stop = len(self.Cs), self.options["stop"] or KKTGap(self.options["tol"], relative=True)
        gram = column_gram(X, token, self.columns[number].kernel, self.options["cache_mb"])
        for e, epsilon in enumerate(self.epsilons):
            some = [[place % m for place in places if place // m == e] for places in wanted]
            if any(some):
                task = task_given(None, labels, None, gram, epsilon=epsilon)
                score = self._score(X, labels, number, e * m, task)
                for cell in self._cells(task, some, score, stop=stop, epsilon=epsilon):
                    yield cell._replace(place=cell.place + e * m)

    def _cells(self, task: Task, wanted: list[list[int]], score: Score | None, **more: Any) -> Iterator[Cell]:
        """Solve the wanted cells of one γ and one ε, for all their values of C."""
        options = {name: value for name, value in self.options.items() if name not in ("tol", "stop")} | more
        if self.one_out:
            del options["shrinking"]  # leave-one-out rounds are short, so shrinking would save no time
            return left_out_cells(task, self.Cs, self.splits, wanted, score, **options)
        del options["epsilon"]  # drop epsilon, because the task contains it
        return solve_cells(task, self.Cs, self.splits, wanted, self.seeder, score, **options)

    def _score(self, X: Any, labels: np.ndarray, number: int, first: int, task: Task) -> Score | None:
        """Return the scoring function of one ε's cells, or None for `usual_score`; the first cell is number `first`."""
        scoring = self.scoring
        if scoring is not None:
            return lambda split, place, values: scoring(
                X, labels, split, self.params(number, first + place), values
            )
        if self.is_loo and task.kind == REGRESSION:
            return partial(left_out_score, task, weights=self.weights)
        return None


class StoredCells:
    """Reads cells of a search from a store of runs, and writes new cells to the store.

    Parameters
    ----------
    runs : RunStore
        The open store.
    identities : dict
        The identity of each cell by its key; see `Search._identities`.
    name : str
        Name of the estimator.
    """

    def __init__(self, runs: RunStore, identities: dict[Key, dict[str, Any]], name: str) -> None:
        runs.prepare()
        self.runs, self._identities, self._name = runs, identities, name
        self._hashes = {key: digest(identity) for key, identity in identities.items()}

    def cells(self) -> dict[Key, Cell]:
        """Return a dict from the key of each stored cell to the cell."""
        stored = self.runs.metrics(self._hashes.values())
        metrics_of = {key: stored[run] for key, run in self._hashes.items() if run in stored}
        return {key: Cell(split=key[2], place=key[1], **metrics) for key, metrics in metrics_of.items()}

    def keep(self, key: Key, cell: Cell) -> None:
        """Store a cell."""
        metrics = {name: np.asarray(value).item() for name, value in cell._asdict().items()}
        del metrics["split"], metrics["place"]  # drop both: another grid may number its cells differently
        config = self._identities[key]
        names = {"problem": f"C={config['C']:g}, {config['kernel']}, split {key[2]}", "strategy": self._name}
        self.runs.add(self._hashes[key], config=config, metrics=metrics, **names)


class Delivery:
    """Solves the wanted cells of a column and passes each finished cell to `take`.

    In the search's own process, any thread may call `take`. A pickled copy in another process has no `take`, and only
    returns the cells.

    Parameters
    ----------
    take : callable, optional
        Function that is called with the index of γ and the cell, never by two threads at the same time.
    """

    def __init__(self, take: Callable[[int, Cell], object] | None = None) -> None:
        self._take, self._lock, self._is_open = take, threading.Lock(), True

    def __reduce__(self) -> tuple[type[Delivery], tuple[()]]:
        return Delivery, ()

    def __call__(
        self, search: Search, X: Any, labels: np.ndarray, token: str, number: int, wanted: list[list[int]]
    ) -> tuple[int, list[Cell]]:
        """Solve the wanted cells of a column; return the index of γ and the cells."""
        cells = []
        for cell in search._column(X, labels, token, number, wanted):
            cells.append(cell)
            with self._lock:
                # ignore cells that threads finish after Ctrl-C has ended the search
                if not self._is_open:
                    break
                if self._take is not None:
                    self._take(number, cell)
        return number, cells

    def close(self) -> None:
        """Ignore cells from now on; running threads end by themselves."""
        with self._lock:
            self._is_open = False
