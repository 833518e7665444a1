"""``refsvm loo``: computes the leave-one-out error for any task, or compares seeders and stopping rules."""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import Annotated, Any

from refsvm import Status
from refsvm.analysis.resampling import LeaveOneOut
from refsvm.cli import options, tables
from refsvm.cli.choices import SEEDERS, STOPS, names, one
from refsvm.cli.data import Output, Training, label_text
from refsvm.cli.messages import interrupted, note
from refsvm.cli.options import some_of
from refsvm.cli.pictures import bars, picture
from refsvm.core.engine.limits import interruptible
from refsvm.core.rounds.machine import CLASSIFICATION
from refsvm.experiment import LeaveOneOutError
from refsvm.services.summary import counted

FIT: tuple[str, ...] = tuple(name for name in STOPS if name != "working-set-gap")
BY_SIGN, BY_VALUE = "ball-rule", "kkt-gap"
"""Default stopping rules: for classification, and for tasks that predict values."""


@options.in_one()
def loo(
    data: options.Data,
    seeders: options.Seeders = "top",
    stops: Annotated[
        str | None, some_of(FIT, more="  [default: ball-rule; kkt-gap of a regression and novelty]")
    ] = None,
    engine: options.Engine = "auto",
    n_jobs: options.Threads = None,
    *,
    training: Training,
    output: Output,
) -> None:
    """Compute the exact leave-one-out error for any task; count the predictions that each check or rule decided.

    With several seeders or stopping rules, the command compares their steps, kernel rows and seconds, and how many
    predictions each check and stopping rule decided. The stopping rule ball-rule ends a solve when the sign of the
    decision value is proved; kkt-gap continues until the value is accurate.
    """
    # check the names of seeders and stopping rules first, because reading the data may take long
    starts, ends = names("seeders", seeders, SEEDERS), names("stops", stops or BY_SIGN, dict.fromkeys(FIT))
    output.refuse_unwritable(training.place_of(data))
    opened = training.opened(data)
    if stops is None and opened.task != CLASSIFICATION:
        ends = [BY_VALUE]
    description = training.described(opened, training.stop(opened))
    # create the problem once, so that all strategies get the same arrays
    instance = opened.instance()
    limits: dict[str, Any] = training.limits() | {"engine": engine}
    more: dict[str, Any] = {"n_jobs": n_jobs, "time_limit": limits.pop("time_limit")}
    strategies = [
        LeaveOneOutError(
            f"{s} {t}",
            seeder=one("seeders", s, SEEDERS)(),
            stop=training.stop(opened) if t == BY_VALUE else STOPS[t](training.tolerance, relative=True),
            **limits,
        )
        for s, t in product(starts, ends)
    ]
    if len(strategies) == 1:
        # load compiled code before the seconds are measured
        strategies[0].warm_up()
        with interruptible():  # after Ctrl-C, show the results so far
            result = strategies[0].call(instance, **strategies[0].arguments(), **more)
        _show({"problem": description, **strategies[0].measured(result)}, result, output)
        if output.plot is not None:
            with picture(output.plot) as axes:
                result.plot(axes[0])
        _end(result)
        return
    rows: list[dict[str, Any]] = []
    for strategy in strategies:
        strategy.warm_up()
        seeder, stop = strategy.name.split()
        rows.append({"seeder": seeder, "stop": stop} | strategy.run(instance, **more))
    _show_all(description, rows, output)


def _show_all(description: dict[str, Any], rows: list[dict[str, Any]], output: Output) -> None:
    """Print a table with a line for each seeder and stopping rule, and draw their seconds as bars."""
    ends = {f"{row['seeder']} {row['stop']}": Status[row["status"]] for row in rows}
    notes = [
        f"{name} is incomplete: {end.value}" for name, end in ends.items() if end is not Status.CONVERGED
    ]
    columns = {"seeder": "{seeder}", "stop": "{stop}", **tables.scores_of(rows[0]), **COLUMNS}
    columns |= {"unfinished": "{unfinished}" if any(row["unfinished"] for row in rows) else None}
    columns |= {"status": tables.status_of if notes else None}
    table = partial(tables.print_table, tables.heading(description), columns, rows)
    output.show({"problem": description, "runs": rows}, rows, table)
    if output.plot is not None:
        resting = [
            f"{name} used {counted(row['unfinished'], 'unsolved model')}."
            for name, row in zip(ends, rows, strict=True)
            if row["unfinished"] and row["status"] == Status.CONVERGED.name
        ]
        bars(output.plot, [*ends], {"": [row["seconds"] for row in rows]}, "seconds", notes + resting)
    for each in notes:
        note(f"note: {each}")


COLUMNS: tables.Columns = {
    "rounds": "{rounds}",
    "steps of\nthe rounds": "{round_iterations}",
    "kernel\nrows": "{kernel_rows}",
    "seconds": "{seconds:.4f}",
    "zero\nalpha": "{zero alpha}",
    "training\nerror": "{training error}",
    "xi-alpha\nbound": "{xi-alpha bound}",
    "ball": "{ball}",
    "duality\ngap": "{duality gap}",
    "KKT\ngap": "{kkt}",
}


def _show(document: dict[str, Any], result: LeaveOneOut, output: Output) -> None:
    """Print scores, how many predictions each check and stopping rule decided, and the cost of n separate fits."""
    is_class = result.kind == CLASSIFICATION
    each = {
        "predictions": [label_text(value) if is_class else value for value in result.predictions.tolist()],
        "decided_by": result.decided_by.tolist(),
        "decision_values": result.decision_values.tolist(),
    }
    document |= {"complete": result.is_complete, "decided": result.counts, **each}
    rows = [dict(zip(each, row, strict=True)) for row in zip(*each.values(), strict=True)]
    output.show(document, rows, partial(_tell, document["problem"], result))


def _tell(description: dict[str, Any], result: LeaveOneOut) -> None:
    """Print the problem, the result of leave-one-out, and the estimated cost of n separate fits."""
    n, steps, seconds = len(result.labels), 0, 0.0
    for full in result.full_solutions:
        steps, seconds = steps + full.iterations, seconds + full.seconds
    tables.echo(f"{tables.heading(description)}\n{result}\n")
    tables.echo(f"{n} fits like the first would take about {n * steps} steps and {n * seconds:.4f} s")


def _end(result: LeaveOneOut) -> None:
    """Print a note if the result is incomplete; after Ctrl-C, exit with the code for Ctrl-C."""
    if not result.is_complete:
        decided, n = int((result.outcomes != 0).sum()), len(result.labels)
        note(f"note: incomplete, {decided} of {n} examples are decided: {result.status.value}")
    if result.status is Status.INTERRUPTED:
        interrupted()
