"""Experiment: computes the missing runs, and shows the finished runs."""

from __future__ import annotations

import os
import pickle
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from itertools import product, takewhile
from pathlib import Path
from typing import Any, Final

from refsvm.core._checks import pandas_for, shown, version, whole
from refsvm.core.engine.limits import Interrupted, interruptible
from refsvm.core.engine.progress import Progress
from refsvm.core.engine.unsolved import UnsolvedWarning, convergence_warning, warn
from refsvm.core.result import Status
from refsvm.core.rule import PlainNumbers
from refsvm.experiment.comparison import (
    REFUSED,
    Comparison,
    notes_of,
    summarise,
    unsolved_notes,
    unsolved_of,
    values_of,
)
from refsvm.experiment.grid import Grid
from refsvm.experiment.identity import code_of, computed_by
from refsvm.experiment.problem import Instance, Problem
from refsvm.experiment.strategy import Strategy, one_thread
from refsvm.services.identity import IDENTITY, opaque_parts
from refsvm.services.line import checked_callback, line_of
from refsvm.services.pool import by_joblib, in_turn, resubmitted, worker_count
from refsvm.services.store import RESERVED, RunStore, digest, plain
from refsvm.services.summary import Card, Shown, counted, cut


@dataclass(frozen=True)
class _Run:
    """A run: one strategy on one problem in one order, with the values that identify the run."""

    strategy: Strategy
    problem: str
    permutation: int
    config: Mapping[str, Any]
    hash: str

    def described(self) -> dict[str, Any]:
        """Return the description of the run, which a store keeps with the metrics of the run."""
        return {"config": self.config, "problem": self.problem, "strategy": self.strategy.name}


@dataclass(frozen=True, repr=False)
class Experiment(PlainNumbers, Shown):
    """Runs each strategy on each problem in several random orders of the examples.

    Each run solves one problem, with its examples in one random order, by one strategy. The k-th order of a seed is
    the same for all strategies, so that runs are paired. A finished run is stored at once and never repeated. If you
    call `run` again, for instance after the process was killed or with more permutations, only missing runs are
    computed.

    Parameters
    ----------
    strategies : sequence of Strategy
        Strategies with different names.
    problems : sequence of Problem
        Problems with different names.
    store : str or path
        SQLite file for the finished runs, on a local disk; it is created when needed. Several experiments may use one
        file, even at the same time. Workers return their runs to this process, and need no access to the file.
    permutations : int
        Number of random orders.
    seed : int
        Seed of the orders: ``numpy.random.default_rng((seed, k)).permutation(n)``.

    Raises
    ------
    ValueError
        If there is no strategy or no problem, two strategies or two problems have the same name, or a number is out of
        range.

    Notes
    -----
    Three things identify a run: the version of refsvm with the code of its numerical folders; the strategy, its rules
    and the kernel, with their fields and their code (`refsvm.services.identity.digest_of`); and the values of X, y, C,
    seed and k.

    Names and `n_jobs` do not identify a run, unless the code of your own strategy reads its name. The versions of
    NumPy, Numba and the BLAS, and the processor, do not identify a run; each record lists them under ``computed_by``.
    refsvm 0.3.0 and before identified runs differently: their runs stay in the file but are not used, and `run` warns
    about them.

    Examples
    --------
    >>> import tempfile
    >>> from functools import partial
    >>> from pathlib import Path
    >>> from refsvm import Linear, MostViolatingPair, NewtonStep, SecondOrder
    >>> from refsvm.datasets import load
    >>> from refsvm.experiment import Experiment, Problem, Solve
    >>> experiment = Experiment(
    ...     strategies=[
    ...         Solve("first order", selector=MostViolatingPair(), step=NewtonStep(), shrinking=False),
    ...         Solve("second order", selector=SecondOrder(), step=NewtonStep(), shrinking=False),
    ...     ],
    ...     problems=[Problem("monks1", partial(load, "monks1"), kernel=Linear(), C=1.0)],
    ...     store=Path(tempfile.mkdtemp(), "runs.sqlite"),
    ...     permutations=5,
    ... )
    >>> experiment.run(), experiment.run()
    (10, 0)
    >>> print(experiment.table("iterations", baseline="first order").to_markdown())
    | problem        |   first order |   second order |   second order / first order |     p |
    |:---------------|--------------:|---------------:|-----------------------------:|------:|
    | monks1         |    1,077 ± 28 |     325.4 ± 22 |                        0.302 | 0.062 |
    | geometric mean |               |                |                        0.302 |       |
    <BLANKLINE>
    With 5 orders p is at least 0.062.
    """

    strategies: Sequence[Strategy]
    problems: Sequence[Problem]
    store: str | os.PathLike[str]
    permutations: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "strategies", _named("strategies", self.strategies, Strategy))
        object.__setattr__(self, "problems", _named("problems", self.problems, Problem))
        whole("permutations", self.permutations, 1)
        whole("seed", self.seed, 0)

    def _card(self) -> Card:
        pairs = {
            "strategies": ", ".join(cut(each.name) for each in self.strategies[:3]),
            "problems": ", ".join(cut(each.name) for each in self.problems[:3]),
            "runs": f"{len(self.strategies) * len(self.problems) * self.permutations:,}",
            "store": Path(self.store).name,
        }  # fmt: skip
        strategies = counted(len(self.strategies), "strategy", "strategies")
        line = f"{strategies}, {counted(len(self.problems), 'problem')}, permutations={self.permutations}"
        return Card(line, pairs=pairs)

    # -- computing runs --------------------------------------------------------------------------------------------

    def run(
        self, n_jobs: int | None = None, callback: Callable[[Progress], object] | None = None,
        progress: bool | str = "auto",
    ) -> int:  # fmt: skip
        """Compute the runs that are missing.

        Parameters
        ----------
        n_jobs : int, optional
            Number of processes, which joblib starts; −1 means one process for each core, and None computes one run
            after another in this process. If a worker crashes, the runs that it was computing start again; finished
            runs are in the store.
        callback : callable, optional
            Function that gets a `refsvm.core.engine.progress.Progress` at the start and after each run; its ``done``
            and ``total`` count the finished runs and all runs. If the callback returns True, the call ends.
        progress : bool or "auto"
            Whether to show the progress on a line on stderr. "auto", the default, shows the line in a terminal or a
            notebook after two seconds (`refsvm.services.line`).

        Returns
        -------
        int
            Number of runs that this call computed.

        Raises
        ------
        ValueError
            If the store cannot be written, n_jobs is 0, or the callback cannot be called.
        ImportError
            If n_jobs requires processes and joblib is not installed.
        KeyboardInterrupt
            After Ctrl-C: a `refsvm.core.engine.limits.Interrupted`, whose ``result`` is this experiment. The run under
            way at Ctrl-C is not stored unless it had finished.
        concurrent.futures.BrokenExecutor
            If workers crash four times in a row without finishing a run.

        Warns
        -----
        ConvergenceWarning
            If runs, or models that the runs trained, are not solved. Without scikit-learn the warning is a
            `refsvm.core.engine.unsolved.UnsolvedWarning`.

        Notes
        -----
        If a strategy refuses a problem, the run is stored with the status "REFUSED" and the message as `reason`. A
        refusal does not end the call, and tables show a dash and the message. If a strategy raises any other error, the
        call waits for the runs in workers, stores them, and raises the error with a note that names the run.
        """
        workers = worker_count(n_jobs)
        in_this_process = n_jobs in (None, 1)
        if not in_this_process and find_spec("joblib") is None:
            raise ImportError(f"n_jobs={n_jobs!r} needs the package joblib; install it, or omit n_jobs.")
        callback = checked_callback(callback)
        run_progress = Progress("Experiment.run", "runs", "these")
        line = line_of(run_progress, progress)
        store = RunStore(Path(self.store))
        store.prepare()
        store.warn_of_old_runs()
        alike = Counter(run.hash for run in self._runs)  # runs of equal problems have the same hash
        finished = store.metrics(alike)
        missing = {run.hash: run for run in self._runs if run.hash not in finished}
        total, done, new = len(self._runs), sum(alike[each] for each in finished), 0
        run_progress.begin("", total=total)
        run_progress.tell(done)
        run_progress.begin("")  # exclude finished runs from the estimate of the remaining time
        if callback is not None and callback(run_progress):
            return new

        # Use one handler for all runs, so that a Ctrl-C between two runs is not lost.
        # joblib's processes have their own handlers of Ctrl-C, and end when this process is interrupted.
        failures: list[_Failure] = []

        def outcomes() -> Iterator[tuple[str, dict[str, Any] | _Failure | None]]:
            tasks = self._tasks(store, list(missing.values()))
            if in_this_process:
                return in_turn(_carry_out, tasks)
            # after a failure, start no further run, but wait for runs that workers are computing
            return by_joblib(_try_out, takewhile(lambda _: not failures, tasks), workers)

        ended = list[dict[str, Any]]()
        with (
            _interrupted_with(self, lambda: f"The experiment was interrupted after {done} of {total} runs."),
            line,
            store.kept_open(),
            interruptible() if in_this_process else nullcontext(interruptible()) as interrupt,
        ):
            for run, metrics in resubmitted(outcomes):
                if isinstance(metrics, _Failure):
                    failures.append(metrics)
                    continue
                if metrics is not None:
                    store.add(run, metrics=metrics, **missing[run].described())
                    names = {"problem": missing[run].problem, "strategy": missing[run].strategy.name}
                    ended.append({**names, **metrics})
                # delete the run from `missing`: after a worker's crash, the next attempt submits the runs in `missing`
                del missing[run]
                done, new = done + alike[run], new + (metrics is not None)
                # store the run before calling the callback, because the callback may end the experiment
                run_progress.tell(done)
                if callback is not None and callback(run_progress):
                    break
                if interrupt.pressed:
                    raise KeyboardInterrupt
        _tell(failures, ended)
        return new

    @cached_property
    def _runs(self) -> tuple[_Run, ...]:
        """All runs, grouped by problem and order; to identify the runs, every problem is loaded once."""
        runs = tuple(run for problem in self.problems for run in self._runs_of(problem))
        self._refuse_one_identity_for_two(runs)
        return runs

    def _refuse_one_identity_for_two(self, runs: Iterable[_Run]) -> None:
        """Raise an error if a user gave different objects the same ``identity='…'``, so that runs have equal hashes."""
        kernels = {problem.name: problem.kernel for problem in self.problems}
        first: dict[str, tuple[_Run, list[Any]]] = {}
        for run in runs:
            if run.permutation:
                continue  # the runs in all orders contain the same strategy, so check only the first order
            held = opaque_parts(run.strategy, kernels[run.problem])
            other, known = first.setdefault(run.hash, (run, held))
            if any(one is not two for one, two in zip(held, known, strict=True)):
                names = f"{other.strategy.name!r} on {other.problem!r} and {run.strategy.name!r} on {run.problem!r}"
                raise ValueError(
                    f"{names} have the same identity but contain different objects ({shown(known[0])}, "
                    f"{shown(held[0])}); give each its own identity='...'."
                )

    def _runs_of(self, problem: Problem) -> Iterator[_Run]:
        """Yield the runs of all strategies on a problem, in all its orders."""
        common = {
            "refsvm": version(),
            "examples": problem.instance().fingerprint(),
            "seed": int(self.seed),
            **problem.settings(),
            "identity": IDENTITY,
        }
        own = [
            _kept_apart(each.settings(), {*common, "permutation", "code"}, "strategy")
            | {"code": code_of(each, problem.kernel)}
            for each in self.strategies
        ]
        for k in range(int(self.permutations)):
            for strategy, settings in zip(self.strategies, own, strict=True):
                config = {**common, "permutation": k, **settings}
                yield _Run(strategy, problem.name, k, config, digest(config))

    def _tasks(self, store: RunStore, missing: Sequence[_Run]) -> Iterator[tuple[_Run, Instance | None]]:
        """Yield each run with its instance, or with None if another process has finished the run."""
        for problem in self.problems:
            # load one problem after another, because the examples of all problems together may not fit into memory
            runs = [run for run in missing if run.problem == problem.name]
            if runs:
                instance = problem.instance()
                if instance.fingerprint() != runs[0].config["examples"]:
                    raise ValueError(
                        f"The problem {problem.name!r} loaded other examples than before in this experiment; "
                        "create a new Experiment for them."
                    )
                # ask the store again, because another process may have finished the run
                yield from ((run, None if store.metrics([run.hash]) else instance) for run in runs)

    # -- results ---------------------------------------------------------------------------------------------------

    def records(self) -> list[dict[str, Any]]:
        """Return the finished runs: problem, strategy, permutation, and the metrics.

        An entry of a strategy's record with the name "problem" is renamed to ``record.problem``; other reserved names
        are handled in the same way.
        """
        return [
            {"problem": run.problem, "strategy": run.strategy.name, "permutation": run.permutation}
            | _kept_apart(metrics, _TAKEN)
            for run, metrics in self._finished()
        ]

    def _finished(self) -> list[tuple[_Run, dict[str, Any]]]:
        """Return a list of pairs (finished run, metrics)."""
        metrics = RunStore(Path(self.store)).metrics(run.hash for run in self._runs)
        return [(run, metrics[run.hash]) for run in self._runs if run.hash in metrics]

    def to_frame(self) -> Any:
        """Return `records` as a pandas DataFrame, with further columns for everything that identifies a run.

        The columns ``identity.…`` contain the parts of the hash (settings, kernel, C, seed, hashes of the examples
        and the code), ``run`` contains the hash, and ``computed_by.…`` the software and the machine.
        """
        pd = pandas_for("to_frame()")

        runs, records = [run for run, _ in self._finished()], self.records()
        machines = [record.pop("computed_by", None) or {} for record in records]
        of_run = pd.DataFrame([run.config for run in runs]).add_prefix("identity.")
        frames = [pd.DataFrame(records).assign(run=[run.hash for run in runs]), of_run]
        return pd.concat([*frames, pd.DataFrame(machines).add_prefix("computed_by.")], axis="columns")

    def compare(self, metric: str, baseline: str | None = None) -> Comparison:
        """Compare all strategies on all problems by one metric of the solved runs.

        Runs with the status MAX_ITER, TIME_LIMIT or STALLED are excluded, and a note says how many were excluded.
        `records` also contains the measurements of the excluded runs.

        Parameters
        ----------
        metric : str
            Name of a numeric entry of the records; the notes of `Solve` list the entries of its records.
        baseline : str, optional
            Name of the strategy with which the other strategies are compared.

        Returns
        -------
        Comparison
            The metric's mean, deviation, ratio and p for each problem and strategy.

        Raises
        ------
        ValueError
            If no run is finished, or the metric or the strategy does not exist.
        """
        names = tuple(strategy.name for strategy in self.strategies)
        if baseline is not None and baseline not in names:
            raise ValueError(
                f"baseline={baseline!r} is not a strategy of this experiment; choose from {', '.join(names)}."
            )
        records = self.records()
        values, cells = values_of(records, metric, self.store), {}
        unsolved = unsolved_of(records, metric)
        for problem, name in (*values, *(place for place in unsolved if place not in values)):
            others = None if baseline in (None, name) else values.get((problem, str(baseline)), {})
            place = problem, name
            cells[place] = summarise(values.get(place, {}), others, unsolved.get(place, 0))
        problems = tuple(problem.name for problem in self.problems)
        return Comparison(metric, problems, names, baseline, cells, tuple(notes_of(records, metric)))

    def values(self, metric: str) -> dict[tuple[str, str], dict[int, float]]:
        """Return, for each problem and strategy, a metric's values in the solved runs, as a dict by permutation."""
        return values_of(self.records(), metric, self.store)

    def table(
        self,
        metric: str,
        baseline: str | None = None,
        digits: int = 4,
        beside: Mapping[str, Mapping[str, float | str]] | None = None,
        adjust: bool = False,
    ) -> Grid:
        """Return a table of one metric with the strategies side by side; see `Comparison.table`."""
        return self.compare(metric, baseline).table(digits, beside, adjust)

    def listing(
        self,
        metrics: Mapping[str, int] | Sequence[str],
        beside: Mapping[str, Mapping[tuple[str, str], float | str]] | None = None,
    ) -> Grid:
        """Return a table of several metrics side by side, with a row for each problem and strategy.

        Parameters
        ----------
        metrics : sequence of str, or mapping of str to int
            Names of metrics, or names with numbers of significant digits.
        beside : mapping, optional
            Further columns, such as published figures: a dict from header to a dict from (problem, strategy) to entry.

        Returns
        -------
        Grid
            A row for each problem and strategy: mean ± sd.
        """
        digits = dict(metrics) if isinstance(metrics, Mapping) else dict.fromkeys(metrics, 4)
        comparisons = {metric: self.compare(metric) for metric in digits}
        beside = {} if beside is None else beside
        rows = []
        for problem, strategy in product(self.problems, self.strategies):
            place = (problem.name, strategy.name)
            row = list(place)
            for metric, comparison in comparisons.items():
                cell = comparison.cells.get(place)
                row.append("–" if cell is None else cell.show(digits[metric]))
            row += [str(column.get(place, "")) for column in beside.values()]
            rows.append(tuple(row))
        headers = ("problem", "strategy", *(metric.replace("_", " ") for metric in digits), *beside)
        notes = dict.fromkeys(note for comparison in comparisons.values() for note in comparison.notes)
        return Grid(headers, tuple(rows), labels=2, notes=tuple(notes))


_TAKEN: Final = ("problem", "strategy", "permutation", "run")
"""Names in records and frames for the parts that identify a run."""

_warm: set[str] = set()
"""Descriptions of the strategies that this process has warmed up."""


@dataclass(frozen=True)
class _Failure:
    """An error that a strategy raised in a worker, and the run in which the error was raised."""

    error: Exception


@contextmanager
def _interrupted_with(result: Any, message: Callable[[], str]) -> Iterator[None]:
    """Turn a KeyboardInterrupt raised in this block into an `Interrupted` with a result and a message."""
    try:
        yield
    except KeyboardInterrupt:
        raise Interrupted(message(), result) from None


def _carry_out(run: _Run, instance: Instance | None) -> tuple[str, dict[str, Any] | None]:
    """Compute a run in this process; return its hash and metrics. `instance` is None for a finished run."""
    if instance is None:
        return run.hash, None
    with interruptible() as interrupt:
        # load and compile code once in each process, before the seconds of its first run are measured
        with one_thread(), warnings.catch_warnings():
            for kind in (convergence_warning(), UnsolvedWarning):
                warnings.simplefilter("ignore", kind)
            record = _measured(run, instance)
        metrics = _metrics_of(run, record)
        # if Ctrl-C was pressed, discard a run that reports no status, because Ctrl-C may have ended the run early
        ended = metrics.get("status", Status.INTERRUPTED.name if interrupt.pressed else "")
        if ended == Status.INTERRUPTED.name:
            raise KeyboardInterrupt
    return run.hash, {**metrics, "computed_by": computed_by()}


def _tell(failures: Sequence[_Failure], ended: Sequence[Mapping[str, Any]]) -> None:
    """Raise the first error that a worker returned; warn about runs that are not solved."""
    if failures:
        raise failures[0].error
    if problems := " ".join(unsolved_notes(ended)):
        warn(
            f"{problems} Their metrics do not describe a solution: raise the limits, or scale the features; if "
            "nothing separates the classes, give a finite C."
        )


def _try_out(run: _Run, instance: Instance | None) -> tuple[str, dict[str, Any] | _Failure | None]:
    """Compute a run in a worker; return an error as a `_Failure`, so that the runs of other workers are not lost."""
    try:
        return _carry_out(run, instance)
    except Exception as error:  # noqa: BLE001  a user's strategy may raise anything
        text = "".join(traceback.format_exception(error))
        # if the error cannot be pickled, return a RuntimeError, because workers return errors as pickles
        try:
            same = type(pickle.loads(pickle.dumps(error))) is type(error)
        except Exception:  # noqa: BLE001  pickling it may raise anything
            same = False
        raised = error if same else RuntimeError(f"{type(error).__name__}: {error}")
        raised.add_note(f"In a worker:\n{text}")
        return run.hash, _Failure(raised)


def _measured(run: _Run, instance: Instance) -> Any:
    """Return the record of a run; add the name of the run to errors, and turn StopIteration into a RuntimeError."""
    where = f"strategy {run.strategy.name!r} on the problem {run.problem!r}, order {run.permutation}"
    try:
        if (settings := digest(run.strategy.settings())) not in _warm:
            with suppress(ValueError):  # `run` raises the error again
                run.strategy.warm_up()
            _warm.add(settings)
        try:
            return run.strategy.run(instance.permuted(run.config["seed"], run.permutation))
        # return a record of the refusal, so that tables can show the reason and a second call does not try again
        except ValueError as refusal:
            return {"status": REFUSED, "reason": str(refusal)}
    except (StopIteration, StopAsyncIteration) as error:
        raise RuntimeError(
            f"The {where}, raised {type(error).__name__}, as next() does at the end of an iterator; give next() a "
            "default."
        ) from error
    except Exception as error:
        error.add_note(f"Raised by the {where}.")
        raise


def _metrics_of(run: _Run, record: Any) -> dict[str, Any]:
    """Return a record in the form in which it is stored; rename entries that have a reserved name.

    Raises
    ------
    ValueError
        If the record is not a dict.
    """
    if not isinstance(record, Mapping):
        raise ValueError(
            f"The strategy {run.strategy.name!r} returned {shown(record)} on the problem {run.problem!r}; its run() "
            "must return a dict of measurements by name."
        )
    metrics: dict[str, Any] = plain(record)
    return _kept_apart(metrics, (*_TAKEN, *RESERVED))


def _kept_apart(entries: Mapping[str, Any], taken: Container[str], kind: str = "record") -> dict[str, Any]:
    """Return metrics or settings; put `kind` and a dot before names that `taken` contains, as in ``record.problem``."""
    return {f"{kind}.{name}" if name in taken else name: value for name, value in entries.items()}


def _named(argument: str, items: Any, base: type) -> tuple[Any, ...]:
    """Return the items as a tuple; raise an error for other types, an empty list, and two items with the same name."""
    items = (items,) if isinstance(items, base) else tuple(items)
    for item in items:
        if not isinstance(item, base):
            data = "; for X and y of your own: Problem('mine', lambda: Dataset('mine', X, y))"
            raise ValueError(
                f"{argument} holds {shown(item)}, which is not a {base.__name__}; pass objects of that class"
                f"{data if base is Problem else ''}."
            )
    if not items:
        raise ValueError(f"{argument} is empty; give at least one {base.__name__}.")
    twice = [name for name, count in Counter(item.name for item in items).items() if count > 1]
    if twice:
        raise ValueError(f"{argument} contains two items with the name {twice[0]!r}; give each its own name.")
    return items
