"""Strategies side by side on several problems, each in several random orders of its examples."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from refsvm.cli.comparison import Choice, Outcome, strategies
from refsvm.experiment.experiment import Experiment
from refsvm.experiment.problem import Problem
from refsvm.experiment.solve import Solve
from refsvm.result import Status

__all__ = ["compare_in_orders"]

METRICS: Final = ("iterations", "kernel_rows", "seconds", "objective")


def compare_in_orders(
    wanted: Iterable[Choice],
    settings: Mapping[str, Any],
    problems: Sequence[Problem],
    repeats: int,
    store: Path | None,
    progress: Callable[[int, int], object],
) -> Outcome:
    """Solve every problem by every strategy in `repeats` orders, until done or Ctrl-C.

    Parameters
    ----------
    wanted : iterable of Choice
        One whose rules do not fit together is left out.
    settings : mapping
        Arguments of `Solve` that all have in common.
    problems : sequence of Problem
    repeats : int
    store : path, optional
        Where finished runs are kept, and found again; they are forgotten without.
    progress : callable
        Called with the number of finished runs and of all runs.

    Returns
    -------
    Outcome
        A row is the name of the problem (``data``), the choice, the number of finished ``runs`` and how many of them
        ``converged``, and a `Summary` of each metric, compared with the first strategy over the same orders.

    Raises
    ------
    ValueError
        If every strategy is refused, or one refuses a problem.
    """
    chosen, left_out = strategies(wanted, settings)
    outcome = Outcome(len(problems) * len(chosen) * repeats, left_out=left_out)
    with _kept(store) as path:
        experiment = Experiment(list(chosen.values()), problems, path, repeats)
        try:
            experiment.run(progress=progress)
        except KeyboardInterrupt:
            outcome.interrupted = True
        outcome.rows = list(_rows(experiment, chosen))
    return outcome


@contextmanager
def _kept(store: Path | None) -> Iterator[Path]:
    """Name the store; one that is forgotten if none is given."""
    if store is not None:
        yield store
        return
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder, "runs.sqlite")


def _rows(experiment: Experiment, chosen: Mapping[Choice, Solve]) -> Iterator[dict[str, Any]]:
    """Summarise the finished runs."""
    records = experiment.records()
    if not records:
        return
    baseline = next(iter(chosen.values())).name
    cells = {metric: experiment.compare(metric, baseline).cells for metric in METRICS}
    for problem in experiment.problems:
        for choice, strategy in chosen.items():
            place = problem.name, strategy.name
            own = [record for record in records if (record["problem"], record["strategy"]) == place]
            if own:
                converged = sum(record["status"] == Status.CONVERGED.name for record in own)
                yield {"data": problem.name, **asdict(choice), "runs": len(own), "converged": converged} | {
                    metric: cells[metric][place] for metric in METRICS
                }
