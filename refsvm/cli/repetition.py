"""Strategies side by side on several problems, each in several random orders of its examples."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from refsvm.cli.choices import SELECTORS, STEPS
from refsvm.cli.comparison import Settings, Strategy
from refsvm.experiment import Experiment, Problem, Solve, Summary
from refsvm.result import Status
from refsvm.stopping import KKTGap

__all__ = ["Repeated", "Repetition", "repeat"]


@dataclass(frozen=True)
class Repeated:
    """What one strategy did on one problem, over the orders; compared with the first strategy over the same ones."""

    data: str
    selector: str
    step: str
    engine: str
    runs: int
    converged: int
    iterations: Summary
    kernel_rows: Summary
    seconds: Summary
    objective: Summary


@dataclass
class Repetition:
    """The rows in the order asked for, and the strategies left out, with the reason."""

    rows: list[Repeated] = field(default_factory=list)
    left_out: list[tuple[Strategy, str]] = field(default_factory=list)
    interrupted: bool = False


def repeat(
    problems: Sequence[Problem],
    wanted: Iterable[Strategy],
    settings: Settings,
    repeats: int,
    store: Path | None,
    progress: Callable[[int, int], object],
) -> Repetition:
    """Solve every problem by every strategy in `repeats` orders, until done or Ctrl-C.

    Parameters
    ----------
    problems : sequence of Problem
    wanted : iterable of Strategy
        One whose rules do not fit together is left out.
    settings : Settings
    repeats : int
    store : path, optional
        Where finished runs are kept, and found again; they are forgotten without.
    progress : callable
        Called with the number of finished runs and of all runs.

    Returns
    -------
    Repetition
        After Ctrl-C: what was finished until then.

    Raises
    ------
    ValueError
        If every strategy is refused, or one refuses a problem.
    """
    repetition, chosen = Repetition(), {}
    for strategy in wanted:
        name = f"{strategy.selector}, {strategy.step}, {strategy.engine}"
        try:
            chosen[strategy] = _solve(name, strategy, settings)
        except ValueError as refusal:
            repetition.left_out.append((strategy, str(refusal)))
    if not chosen:
        raise ValueError(repetition.left_out[0][1])
    with _kept(store) as path:
        experiment = Experiment(list(chosen.values()), problems, path, repeats)
        try:
            experiment.run(progress=progress)
        except KeyboardInterrupt:
            repetition.interrupted = True
        repetition.rows = list(_rows(experiment, chosen))
    return repetition


def _solve(name: str, strategy: Strategy, settings: Settings) -> Solve:
    """Return the strategy of an experiment."""
    return Solve(
        name,
        selector=SELECTORS[strategy.selector](),
        step=STEPS[strategy.step](),
        stop=KKTGap(settings.tol),
        shrinking=settings.shrinking,
        cache_mb=settings.cache_mb,
        engine=strategy.engine,
        max_iter=settings.max_iter,
        time_limit=settings.time_limit,
    )


@contextmanager
def _kept(store: Path | None) -> Iterator[Path]:
    """Name the store; one that is forgotten if none is given."""
    if store is not None:
        yield store
        return
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder, "runs.sqlite")


def _rows(experiment: Experiment, chosen: dict[Strategy, Solve]) -> Iterator[Repeated]:
    """Summarise the finished runs."""
    records = experiment.records()
    if not records:
        return
    baseline = next(iter(chosen.values())).name
    metrics = ("iterations", "kernel_rows", "seconds", "objective")
    cells = {metric: experiment.compare(metric, baseline).cells for metric in metrics}
    for problem in experiment.problems:
        for strategy, solve in chosen.items():
            place = problem.name, solve.name
            own = [record for record in records if (record["problem"], record["strategy"]) == place]
            if own:
                yield Repeated(
                    problem.name,
                    strategy.selector,
                    strategy.step,
                    strategy.engine,
                    len(own),
                    sum(record["status"] == Status.CONVERGED.name for record in own),
                    **{metric: cells[metric][place] for metric in metrics},
                )
