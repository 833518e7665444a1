"""Wherever rounds of cross-validation start, the answers are the same: predictions by every seeder, and their steps.

Twelve sets × 2 values of C × k = 3, 10, 100: out-of-fold predictions of every way to start beside those of cold rounds,
the examples where they differ with their decision values, and the iterations. Five more sets with ``--full``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from page import Page, arguments, carried_out

from refsvm import ATO, AVG, MIR, SIR, TOP, Cold, KKTGap, Seeder, cross_validate
from refsvm.analysis.resampling.results import CrossValidation
from refsvm.datasets import paper_suite
from refsvm.experiment import Experiment, Grid, Problem, Strategy
from refsvm.experiment.grid import number, ratio_of
from refsvm.experiment.problem import Instance
from refsvm.experiment.strategy import Record, one_thread

LONG = ("ida_ringnorm", "ida_splice", "ida_twonorm", "spambase", "internet_ads_adbench")
WAYS: dict[str, tuple[Seeder, bool]] = {
    "Cold": (Cold(), False),
    "SIR": (SIR(), False),
    "MIR": (MIR(), False),
    "ATO": (ATO(), False),
    "SIR, full": (SIR(), True),
    "MIR, full": (MIR(), True),
    "ATO, full": (ATO(), True),
    "AVG, full": (AVG(), True),
    "TOP, full": (TOP(), True),
}
"""Seeder, and whether every round starts from the solution on all examples."""

FOLDS = (3, 10, 100)


@dataclass(frozen=True)
class EveryWay(Strategy):
    """Cross-validate once for each of `WAYS` on the same folds."""

    folds: int = 10
    tight: float = 1e-6

    def run(self, instance: Instance) -> Record:
        """Return the iterations of each way, and where its predictions are not those of cold rounds.

        Where there are such examples, both are solved again to the tolerance `tight`.
        """
        record: Record = {}
        with one_thread():
            results = {name: self._by(instance, *way) for name, way in WAYS.items()}
        cold = results["Cold"]
        record["error"] = cold.error
        for name, result in results.items():
            apart = np.flatnonzero(result.predictions != cold.predictions)
            values = np.maximum(np.abs(result.decision_values[:, 0]), np.abs(cold.decision_values[:, 0]))
            record |= {
                f"{name}: iterations": result.iterations,
                f"{name}: apart": len(apart),
                f"{name}: farthest": float(values[apart].max(initial=0.0)),
                f"{name}: examples": " ".join(f"{i}" for i in apart.tolist()),
                f"{name}: apart if tight": self._apart_if_tight(instance, *WAYS[name]) if len(apart) else 0,
            }
        return record

    def _apart_if_tight(self, instance: Instance, seeder: Seeder, from_full: bool) -> int:
        with one_thread():
            one = self._by(instance, seeder, from_full, self.tight)
            other = self._by(instance, Cold(), False, self.tight)
        return int((one.predictions != other.predictions).sum())

    def _by(self, instance: Instance, seeder: Seeder, from_full: bool, tol: float = 1e-3) -> CrossValidation:
        return cross_validate(
            instance.X, instance.y, kernel=instance.kernel, C=instance.C, folds=min(self.folds, len(instance.y)),
            seeder=seeder, from_full=from_full, rng=0, cache_mb=500.0, stop=KKTGap(tol),
        )  # fmt: skip


def answers(page: Page, records: list[Record]) -> None:
    """Where predictions differ."""
    rows, cells, predictions, farthest, tight, single = [], 0, 0, 0.0, 0, 0.0
    for record in records:
        cells += 1
        if record["C"] >= least_penalty(record["strategy"]):
            steps = [float(record[f"{name}, full: iterations"]) for name in ("AVG", "SIR")]
            single = max(single, abs(steps[0] / steps[1] - 1.0))
        for name in list(WAYS)[1:]:
            predictions += 1
            if record[f"{name}: apart"]:
                where = f"{record['problem']}, {record['strategy']}"
                far = float(record[f"{name}: farthest"])
                farthest = max(farthest, far)
                tight += record[f"{name}: apart if tight"] > 0
                rows.append((where, name, str(record[f"{name}: examples"]), f"{far:.1e}"))
    page.add(
        "The same predictions",
        f"For each of {cells} combinations of set, C and the number k of folds, we compare cold rounds with "
        f"{len(WAYS) - 1} other ways to start the rounds. {predictions - len(rows)} of {predictions} vectors of "
        "predictions agree with cold rounds in every example. For each other vector, the table lists the examples "
        "that differ, and the largest |h| at these examples, from cold rounds or from the other way to start. "
        f"This |h| is {farthest:.1e} at most: near h = 0, two results with the "
        "tolerance of 1e-3 in the KKT conditions may differ by as much in h. At a tolerance of 1e-6, "
        f"{len(rows) - tight} of the {len(rows)} other vectors agree with cold rounds. A round that starts "
        "from the solution on all examples removes examples and adds none, so SIR, MIR and AVG compute the same "
        "seed: they spread the weight of the removed examples over the free variables. AVG reads no kernel rows, so "
        "only rounds with AVG may keep kernel rows in float32. For this reason *AVG, full* and *SIR, full* differ in "
        f"the tables below, by {100 * single:.0f} % of the steps at most.",
        Grid(("set, C, folds", "way", "examples", r"largest \|h\|"), tuple(rows)),
    )


def least_penalty(k: str) -> float:
    """Return the least C that the table of this number of folds has."""
    return 10.0 if k == "10 folds" else 1.0


def iterations(page: Page, records: list[Record], k: str, at_least: float) -> None:
    """Steps of every way in those of cold rounds."""
    names, rows, logs = list(WAYS)[1:], [], []
    for record in records:
        if record["strategy"] != k or record["C"] < at_least:
            continue
        cold = float(record["Cold: iterations"])
        ratios = [float(record[f"{name}: iterations"]) / cold for name in names]
        logs.append(np.log(ratios))
        rows.append((record["problem"], number(cold), *(ratio_of(ratio) for ratio in ratios)))
    rows.append(("geometric mean", "", *(ratio_of(mean) for mean in np.exp(np.mean(logs, axis=0)))))
    page.add(f"Iterations, {k}, C of at least {at_least:g}", Grid(("set", "Cold", *names), tuple(rows)))


def main() -> None:
    """Run what is missing; print it and write the page."""
    chosen = arguments(__doc__ or "", "seeds_and_answers", 1, LONG)
    page = Page("What a seed changes, and what not", "benchmarks/papers/seeds_and_answers.py", chosen)
    suite = [each for each in paper_suite(chosen.data_dir) if not each.name.startswith("chess")]
    suite = [each for each in suite if each.name not in LONG or each.name in chosen.full]
    if chosen.quick:
        suite = [each for each in suite if each.name in ("ida_heart", "ida_thyroid")]
    problems, penalties = [], {}
    for each in suite:
        for C in (1.0, max(10.0, each.C)):
            problems.append(replace(Problem.of_suite(each), name=f"{each.name}, C = {C:g}", C=C))
            penalties[problems[-1].name] = C
    folds = FOLDS[:2] if chosen.quick else FOLDS
    ways = [EveryWay(f"{k} folds", folds=k) for k in folds]
    runs = carried_out("All ways", Experiment(ways, problems, chosen.store, 1), chosen.jobs)
    records = [record | {"C": penalties[record["problem"]]} for record in runs.records()]
    answers(page, records)
    for k in folds:
        iterations(page, records, f"{k} folds", least_penalty(f"{k} folds"))
    page.write()


if __name__ == "__main__":
    main()
