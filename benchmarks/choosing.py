"""What ten folds cost by each seeder and by LIBSVM: the tables of times in `docs/many_models.md`.

    python benchmarks/choosing.py --data-dir DIR
    python benchmarks/choosing.py --data-dir DIR --cold-linear heart thyroid diabetis
    python benchmarks/choosing.py --data-dir DIR --left-out

Milliseconds of processor time, one thread, the least of some turns; and the steps of all rounds, in thousands. LIBSVM
is scikit-learn's `cross_val_score` on the same folds in the same process. The tables are printed, then the load. The
second command has the lines "linear kernel" of the table of stopping rules, the third the two tables of leave-one-out.
"""

from __future__ import annotations

import argparse
import math
import os
import time
from collections.abc import Callable
from typing import Any

from refsvm import (
    ATO,
    AVG,
    MIR,
    RBF,
    SIR,
    TOP,
    BallRule,
    Cold,
    KKTGap,
    Linear,
    LOODualityGap,
    Seeder,
    StoppingRule,
    cross_validate,
    leave_one_out,
)
from refsvm.datasets import Dataset, load, paper_suite
from refsvm.experiment import Grid
from refsvm.experiment.strategy import one_thread

SETS = ("heart", "german", "image", "banana", "splice", "waveform", "spambase")
WAYS: dict[str, tuple[Seeder, bool]] = {
    "Cold": (Cold(), False),
    "SIR, chained": (SIR(), False),
    "SIR, from all": (SIR(), True),
    "MIR, from all": (MIR(), True),
    "ATO, from all": (ATO(), True),
}
"""Seeder, and whether every round starts from the solution on all examples."""

LEFT_OUT = ("heart", "breast-cancer", "thyroid", "diabetis", "german", "sonar")


def main() -> None:
    """Measure, and print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data-dir")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--only", nargs="+", choices=SETS, default=SETS, metavar="SET")
    parser.add_argument("--cold-linear", nargs="+", default=(), metavar="SET")
    parser.add_argument("--left-out", action="store_true")
    chosen = parser.parse_args()
    suite = {each.name.removeprefix("ida_"): each for each in paper_suite(chosen.data_dir)}
    if chosen.cold_linear:
        with one_thread():
            rows = tuple((name, *cold_linear(suite[name].load())) for name in chosen.cold_linear)
        heads = ("linear kernel, Cold", "steps, % of those of ε-KKT", "CPU time in that of ε-KKT")
        print(Grid(heads, rows).to_markdown(), f"Load: {os.getloadavg()[0]:.1f}.", sep="\n\n")
        return
    if chosen.left_out:
        with one_thread():
            columns = [left_out(name, suite, chosen.turns) for name in LEFT_OUT]
        rows = [tuple(cells) for cells in zip(*columns, strict=True)]
        names = [
            f"`{stop}`, `{seeder}`" for stop in ("BallRule", "KKTGap") for seeder in ("TOP", "AVG", "ATO")
        ]
        for k, unit in enumerate(("CPU time, ms", "steps of all rounds")):
            cells = ((name, *(cell[k] for cell in row)) for name, row in zip(names, rows, strict=True))
            print(Grid((unit, *LEFT_OUT), tuple(cells)).to_markdown(), end="\n\n")
        print(f"Load: {os.getloadavg()[0]:.1f}.")
        return
    loads, columns = [], []
    with one_thread():
        for name in chosen.only:
            loads.append(os.getloadavg()[0])
            columns.append(column(suite[name].load(), chosen.turns))
    times, steps = zip(*columns, strict=True)
    for unit, names, cells in (
        ("CPU time, ms", ("LIBSVM", *WAYS), times),
        ("iterations, thousands", WAYS, steps),
    ):
        rows = tuple(tuple(each) for each in zip(names, *cells, strict=True))
        print(Grid((unit, *chosen.only), rows).to_markdown(), end="\n\n")
    print(f"Load while it was measured: {min(loads):.1f} to {max(loads):.1f}.")


def column(data: Dataset, turns: int) -> tuple[list[str], list[str]]:
    """Return the cells of a set: milliseconds, and iterations."""
    from sklearn.model_selection import KFold, cross_val_score
    from sklearn.svm import SVC

    folds = KFold(10, shuffle=True, random_state=0)
    model = SVC(C=data.C, gamma=data.gamma)
    theirs, _ = least(lambda: cross_val_score(model, data.X, data.y, cv=folds), min(turns, 2))
    times, steps = [f"{theirs:,.0f}"], []
    for seeder, from_full in WAYS.values():
        options = {
            "kernel": RBF(data.gamma),
            "C": data.C,
            "folds": folds,
            "cache_mb": 400.0,
            "engine": "numba",
        }

        def work(seeder: Seeder = seeder, from_full: bool = from_full, options: Any = options) -> Any:
            return cross_validate(data.X, data.y, seeder=seeder, from_full=from_full, **options)

        work()  # compiles, and maps memory
        ours, result = least(work, turns)
        times.append(f"{float(f'{ours:.3g}'):,g}")
        steps.append(f"{result.iterations / 1e3:.2g}")
    return times, steps


def left_out(name: str, suite: dict[str, Any], turns: int) -> list[tuple[str, str]]:
    """Return the milliseconds and the steps of leave-one-out of a set, for each stopping rule and seeder."""
    data, C, gamma = (load("sonar"), 10.0, 0.02) if name == "sonar" else (suite[name].load(), None, None)
    cells = []
    for stop in (BallRule(relative=True), KKTGap(1e-3)):
        for seeder in (TOP(), AVG(), ATO()):
            options = {"kernel": RBF(gamma or data.gamma), "C": C or data.C, "engine": "numba"}

            def work(stop: StoppingRule = stop, seeder: Seeder = seeder, options: Any = options) -> Any:
                return leave_one_out(data.X, data.y, stop=stop, seeder=seeder, **options)

            work()  # compiles, and maps memory
            ours, result = least(work, turns)
            cells.append((f"{float(f'{ours:.3g}'):,g}", f"{int(result.round_iterations.sum()):,}"))
    return cells


def cold_linear(data: Dataset) -> tuple[str, str]:
    """Return the steps and the time of cold rounds with the leave-one-out rule in those of ε-KKT, over four C."""
    steps, times = [], []
    for stop in (KKTGap(1e-3), LOODualityGap()):

        def work(stop: StoppingRule = stop) -> int:
            made = (
                leave_one_out(data.X, data.y, kernel=Linear(), C=C, stop=stop, seeder=Cold(), engine="numba")
                for C in (0.01, 0.1, 1.0, 10.0)
            )
            return sum(int(each.round_iterations.sum()) for each in made)

        work()  # compiles
        milliseconds, taken = least(work, 1)
        times.append(milliseconds)
        steps.append(taken)
    return f"{100 * steps[1] / steps[0]:.0f}", f"{times[1] / times[0]:.2g}"


def least(work: Callable[[], Any], turns: int) -> tuple[float, Any]:
    """Return the least milliseconds of processor time of some calls, and the last result."""
    fastest, result = math.inf, None
    for _ in range(turns):
        began = time.process_time()
        result = work()
        fastest = min(fastest, 1e3 * (time.process_time() - began))
    return fastest, result


if __name__ == "__main__":
    main()
