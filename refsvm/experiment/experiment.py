"""Experiment: which runs there are, carry out those that are missing, look at the finished ones."""

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
from refsvm.services.summary import Card, Shown, cut


@dataclass(frozen=True)
class _Run:
    """One strategy on one problem in one order, and what makes it this run."""

    strategy: Strategy
    problem: str
    permutation: int
    config: Mapping[str, Any]
    hash: str

    def described(self) -> dict[str, Any]:
        """Return the description of a run that a store keeps with its metrics."""
        return {"config": self.config, "problem": self.problem, "strategy": self.strategy.name}


@dataclass(frozen=True, repr=False)
class Experiment(PlainNumbers, Shown):
    """Strategies × problems × permutations.

    Each run solves one problem, its examples in one random order, by one strategy. The k-th order of a seed is the same
    for every strategy, so the runs are paired. A finished run is stored at once and never repeated: call `run` again
    after a kill, a new strategy, or more permutations, and only what is missing is carried out.

    Parameters
    ----------
    strategies : sequence of Strategy
        With different names.
    problems : sequence of Problem
        With different names.
    store : str or path
        SQLite file for the finished runs, on a disk of this machine; made when needed. Several experiments may share
        one, also at the same time. Workers return their runs, and need not see it.
    permutations : int
        Number of orders.
    seed : int
        Of the orders: ``numpy.random.default_rng((seed, k)).permutation(n)``.

    Raises
    ------
    ValueError
        If there is no strategy or no problem, two have one name, or a number is out of range.

    Notes
    -----
    The identity of a run is the version of refsvm and the code of its numerical rooms, the strategy, its rules and the
    kernel by value (`refsvm.services.identity.digest_of`: their fields, their code, and what it closes over and calls),
    the values of X and y, C, seed and k. Names and `n_jobs` do not belong to it, unless the code of a strategy of your
    own reads its name; nor do the versions of NumPy, Numba and the BLAS and the processor, which each record tells as
    ``computed_by``. Runs that a store has from refsvm 0.3.0 or before have another identity; they stay there, are not
    taken for these, and `run` says so.

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
        told = {
            "strategies": ", ".join(cut(each.name) for each in self.strategies[:3]),
            "problems": ", ".join(cut(each.name) for each in self.problems[:3]),
            "runs": f"{len(self.strategies) * len(self.problems) * self.permutations:,}",
            "store": Path(self.store).name,
        }  # fmt: skip
        line = f"{len(self.strategies)} strategies, {len(self.problems)} problems, permutations={self.permutations}"
        return Card(line, pairs=told)

    # -- carry out -------------------------------------------------------------------------------------------------

    def run(
        self, n_jobs: int | None = None, callback: Callable[[Progress], object] | None = None,
        progress: bool | str = "auto",
    ) -> int:  # fmt: skip
        """Carry out the runs that are missing.

        Parameters
        ----------
        n_jobs : int, optional
            Processes, by joblib; −1 for one on each core. None: one after the other in this process. Runs under way
            when a worker crashes are begun anew; each run that was returned is in the store.
        callback : callable, optional
            Called with a `refsvm.core.engine.progress.Progress`, whose ``done`` and ``total`` are the numbers of
            finished runs and of all runs, at first and after each run; a true result ends it.
        progress : bool or "auto"
            A line on stderr that says how far it is. "auto" shows it in a terminal or a notebook, from two seconds on
            (`refsvm.services.line`).

        Returns
        -------
        int
            Number of runs carried out now.

        Raises
        ------
        ValueError
            If the store cannot be written, n_jobs is 0, or the callback cannot be called.
        ImportError
            If n_jobs asks for processes and joblib is not installed.
        KeyboardInterrupt
            After Ctrl-C: a `refsvm.core.engine.limits.Interrupted`, whose ``result`` is this experiment. The run under
            way is stored if it ended before that; half a run is not.
        concurrent.futures.BrokenExecutor
            If workers crash four times in a row without a finished run between.

        Warns
        -----
        ConvergenceWarning
            If runs are not solved, or rest on machines that are not; `refsvm.core.engine.unsolved.UnsolvedWarning` if
            scikit-learn is not loaded.

        Notes
        -----
        If a strategy refuses a problem, the run is stored with the status "REFUSED" and the sentence as `reason`. The
        other runs go on, and tables show a dash and the sentence. Any other error of a strategy ends the call, with a
        note that names the run; runs that workers finish meanwhile are stored before.
        """
        workers = worker_count(n_jobs)
        in_this_process = n_jobs in (None, 1)
        if not in_this_process and find_spec("joblib") is None:
            raise ImportError(f"n_jobs={n_jobs!r} needs the package joblib; install it, or leave n_jobs out.")
        callback = checked_callback(callback)
        told = Progress("Experiment.run", "runs", "these")
        line = line_of(told, progress)
        store = RunStore(Path(self.store))
        store.prepare()
        store.warn_of_old_runs()
        alike = Counter(run.hash for run in self._runs)  # problems with the same values share their runs
        finished = store.metrics(alike)
        missing = {run.hash: run for run in self._runs if run.hash not in finished}
        total, done, new = len(self._runs), sum(alike[each] for each in finished), 0
        told.begin("", total=total)
        told.tell(done)
        told.begin("")  # the time that is left is that of runs to come
        if callback is not None and callback(told):
            return new

        # One handler for all runs: a press between two of them, or just as one converges, is not lost. Processes of
        # joblib each have their own, and joblib ends them when this one is interrupted.
        failures: list[_Failure] = []

        def outcomes() -> Iterator[tuple[str, dict[str, Any] | _Failure | None]]:
            tasks = self._tasks(store, list(missing.values()))
            if in_this_process:
                return in_turn(_carry_out, tasks)
            # after a failure no more runs are begun, and those under way are waited for
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
                # what is left here is what another attempt after a crash hands out
                del missing[run]
                done, new = done + alike[run], new + (metrics is not None)
                # after the run is stored: a callback that ends the experiment loses nothing
                told.tell(done)
                if callback is not None and callback(told):
                    break
                if interrupt.pressed:
                    raise KeyboardInterrupt
        _tell(failures, ended)
        return new

    @cached_property
    def _runs(self) -> tuple[_Run, ...]:
        """All runs, those of one problem and order together; every problem is loaded once to learn its values."""
        runs = tuple(run for problem in self.problems for run in self._runs_of(problem))
        self._refuse_one_identity_for_two(runs)
        return runs

    def _refuse_one_identity_for_two(self, runs: Iterable[_Run]) -> None:
        """Refuse two runs of one hash that hold different objects, which only an `identity` of the user can give."""
        kernels = {problem.name: problem.kernel for problem in self.problems}
        first: dict[str, tuple[_Run, list[Any]]] = {}
        for run in runs:
            if run.permutation:
                continue  # another order of what was looked at
            held = opaque_parts(run.strategy, kernels[run.problem])
            other, known = first.setdefault(run.hash, (run, held))
            if any(one is not two for one, two in zip(held, known, strict=True)):
                names = f"{other.strategy.name!r} on {other.problem!r} and {run.strategy.name!r} on {run.problem!r}"
                raise ValueError(
                    f"{names} have one identity and hold different objects ({shown(known[0])}, {shown(held[0])}); give "
                    "each an identity='...' of its own."
                )

    def _runs_of(self, problem: Problem) -> Iterator[_Run]:
        """Describe the runs of a problem."""
        common = {
            "refsvm": version(),
            "examples": problem.instance().fingerprint(),
            "seed": int(self.seed),
            **problem.settings(),
            "identity": IDENTITY,
        }
        own = [
            _renamed(each.settings(), {*common, "permutation", "code"})
            | {"code": code_of(each, problem.kernel)}
            for each in self.strategies
        ]
        for k in range(int(self.permutations)):
            for strategy, settings in zip(self.strategies, own, strict=True):
                config = {**common, "permutation": k, **settings}
                yield _Run(strategy, problem.name, k, config, digest(config))

    def _tasks(self, store: RunStore, missing: Sequence[_Run]) -> Iterator[tuple[_Run, Instance | None]]:
        """Pair missing runs with their examples, one problem in memory at a time; None if a run is finished now."""
        for problem in self.problems:
            # problem after problem: examples of all problems together may not fit into memory
            runs = [run for run in missing if run.problem == problem.name]
            if runs:
                instance = problem.instance()
                if instance.fingerprint() != runs[0].config["examples"]:
                    raise ValueError(
                        f"The problem {problem.name!r} loads other examples than when this experiment was first asked; "
                        "make a new Experiment for them."
                    )
                # another process may have been faster since `run` looked
                yield from ((run, None if store.metrics([run.hash]) else instance) for run in runs)

    # -- look ------------------------------------------------------------------------------------------------------

    def records(self) -> list[dict[str, Any]]:
        """Return the finished runs: problem, strategy, permutation, and the metrics.

        Entries of a strategy's record by a name that is taken, as these are, are called ``record.problem`` and so on.
        """
        return [
            {"problem": run.problem, "strategy": run.strategy.name, "permutation": run.permutation}
            | _kept_apart(metrics, _TAKEN)
            for run, metrics in self._finished()
        ]

    def _finished(self) -> list[tuple[_Run, dict[str, Any]]]:
        """Return the finished runs with their metrics."""
        found = RunStore(Path(self.store)).metrics(run.hash for run in self._runs)
        return [(run, found[run.hash]) for run in self._runs if run.hash in found]

    def to_frame(self) -> Any:
        """Return `records` as a pandas DataFrame, with all that identifies a run.

        Columns ``identity.…`` hold what the hash of a run is of (settings, kernel, C, seed, a hash of the examples and
        one of the code), ``run`` the hash, and ``computed_by.…`` what computed it.
        """
        pd = pandas_for("to_frame()")

        runs, records = [run for run, _ in self._finished()], self.records()
        machines = [record.pop("computed_by", None) or {} for record in records]
        of_run = pd.DataFrame([run.config for run in runs]).add_prefix("identity.")
        frames = [pd.DataFrame(records).assign(run=[run.hash for run in runs]), of_run]
        return pd.concat([*frames, pd.DataFrame(machines).add_prefix("computed_by.")], axis="columns")

    def compare(self, metric: str, baseline: str | None = None) -> Comparison:
        """Summarise one metric of the solved runs.

        Runs that ended with the status MAX_ITER, TIME_LIMIT or STALLED are no measurements: they are counted, told in a
        note, and left out. Their numbers are in `records`.

        Parameters
        ----------
        metric : str
            Name of a number that the runs have; see `Solve` for its own.
        baseline : str, optional
            Name of the strategy that the others are compared with.

        Returns
        -------
        Comparison

        Raises
        ------
        ValueError
            If no run is finished, or there is no such metric or strategy.
        """
        names = tuple(strategy.name for strategy in self.strategies)
        if baseline is not None and baseline not in names:
            raise ValueError(f"baseline={baseline!r} is not a strategy here; choose from {', '.join(names)}.")
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
        """Return a metric of the solved runs, by permutation, for each problem and strategy; errors as `compare`."""
        return values_of(self.records(), metric, self.store)

    def table(
        self,
        metric: str,
        baseline: str | None = None,
        digits: int = 4,
        beside: Mapping[str, Mapping[str, float | str]] | None = None,
        adjust: bool = False,
    ) -> Grid:
        """Return one metric, the strategies side by side; see `Comparison.table`."""
        return self.compare(metric, baseline).table(digits, beside, adjust)

    def listing(
        self,
        metrics: Mapping[str, int] | Sequence[str],
        beside: Mapping[str, Mapping[tuple[str, str], float | str]] | None = None,
    ) -> Grid:
        """Return several metrics side by side, the strategies below one another.

        Parameters
        ----------
        metrics : sequence of str, or mapping of str to int
            Names, or names with their number of significant digits.
        beside : mapping, optional
            More columns, for instance published figures: header → (problem, strategy) → entry.

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
"""Names that records and frames have for what a run is."""

_warm: set[str] = set()
"""Descriptions of the strategies that are warmed up in this process."""


@dataclass(frozen=True)
class _Failure:
    """An error of a strategy in a worker."""

    error: Exception


@contextmanager
def _interrupted_with(result: Any, message: Callable[[], str]) -> Iterator[None]:
    """Give a KeyboardInterrupt, between two runs or within one, a result and a sentence."""
    try:
        yield
    except KeyboardInterrupt:
        raise Interrupted(message(), result) from None


def _carry_out(run: _Run, instance: Instance | None) -> tuple[str, dict[str, Any] | None]:
    """Carry out a run, here or in a worker; return its hash and its metrics. A finished run has no instance."""
    if instance is None:
        return run.hash, None
    with interruptible() as interrupt:
        # warmed up once for each process, as it is run: what is loaded or compiled is no part of its seconds; the
        # experiment tells of all that is not solved at its end
        with one_thread(), warnings.catch_warnings():
            for kind in (convergence_warning(), UnsolvedWarning):
                warnings.simplefilter("ignore", kind)
            record = _measured(run, instance)
        metrics = _metrics_of(run, record)
        # a strategy without a status says nothing about Ctrl-C, so that its run does not count after one
        ended = metrics.get("status", Status.INTERRUPTED.name if interrupt.pressed else "")
        if ended == Status.INTERRUPTED.name:
            raise KeyboardInterrupt
    return run.hash, {**metrics, "computed_by": computed_by()}


def _tell(failures: Sequence[_Failure], ended: Sequence[Mapping[str, Any]]) -> None:
    """Raise the first error of the workers; warn of runs that are not solved."""
    if failures:
        raise failures[0].error
    if said := " ".join(unsolved_notes(ended)):
        warn(
            f"{said} What they measure is not that of a solution: raise the limits, or scale the features; where "
            "nothing separates the classes, give a finite C."
        )


def _try_out(run: _Run, instance: Instance | None) -> tuple[str, dict[str, Any] | _Failure | None]:
    """Carry out a run in a worker; an error is returned, so that the runs of other workers are not lost with it."""
    try:
        return _carry_out(run, instance)
    except Exception as error:  # noqa: BLE001  whatever a strategy of the user raises
        text = "".join(traceback.format_exception(error))
        # not every error survives the way to another process
        try:
            same = type(pickle.loads(pickle.dumps(error))) is type(error)
        except Exception:  # noqa: BLE001  and in whatever way it cannot be sent
            same = False
        told = error if same else RuntimeError(f"{type(error).__name__}: {error}")
        told.add_note(f"In a worker:\n{text}")
        return run.hash, _Failure(told)


def _measured(run: _Run, instance: Instance) -> Any:
    """Return the record of a run; errors name the run, and one that would end a loop in silence becomes another one."""
    where = f"strategy {run.strategy.name!r} on the problem {run.problem!r}, order {run.permutation}"
    try:
        if (settings := digest(run.strategy.settings())) not in _warm:
            with suppress(ValueError):  # what is refused here may suit the problem, or is refused there
                run.strategy.warm_up()
            _warm.add(settings)
        try:
            return run.strategy.run(instance.permuted(run.config["seed"], run.permutation))
        # stored, so that a table can say it and a second call does not try again
        except ValueError as refusal:
            return {"status": REFUSED, "reason": str(refusal)}
    except (StopIteration, StopAsyncIteration) as error:
        raise RuntimeError(
            f"The {where}, raised {type(error).__name__}, as next() does where nothing is left; give next() a default."
        ) from error
    except Exception as error:
        error.add_note(f"Raised by the {where}.")
        raise


def _metrics_of(run: _Run, record: Any) -> dict[str, Any]:
    """Return a record as it is stored; entries by a name that is taken are renamed.

    Raises
    ------
    ValueError
        If it is no dict.
    """
    if not isinstance(record, Mapping):
        raise ValueError(
            f"The strategy {run.strategy.name!r} returned {shown(record)} on the problem {run.problem!r}; its run() "
            "must return a dict of measurements by name."
        )
    metrics: dict[str, Any] = plain(record)
    return _kept_apart(metrics, (*_TAKEN, *RESERVED))


def _kept_apart(metrics: Mapping[str, Any], taken: Container[str]) -> dict[str, Any]:
    """Return metrics; those by a name that is taken are renamed."""
    return {f"record.{name}" if name in taken else name: value for name, value in metrics.items()}


def _renamed(settings: Mapping[str, Any], taken: Container[str]) -> dict[str, Any]:
    """Return the settings of a strategy; those by a name that the experiment has for its own are renamed."""
    return {f"strategy.{name}" if name in taken else name: value for name, value in settings.items()}


def _named(argument: str, items: Any, base: type) -> tuple[Any, ...]:
    """Return the items as a tuple, or refuse what is of another kind, nothing at all, or two of one name."""
    items = (items,) if isinstance(items, base) else tuple(items)
    for item in items:
        if not isinstance(item, base):
            data = "; for X and y of your own: Problem('mine', lambda: Dataset('mine', X, y))"
            raise ValueError(
                f"{argument} holds {shown(item)}, which is no {base.__name__}; pass objects of that class"
                f"{data if base is Problem else ''}."
            )
    if not items:
        raise ValueError(f"{argument} is empty; give at least one {base.__name__}.")
    twice = [name for name, count in Counter(item.name for item in items).items() if count > 1]
    if twice:
        raise ValueError(f"{argument} holds two of the name {twice[0]!r}; give each its own.")
    return items
