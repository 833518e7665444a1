"""Wen et al. 2017, "Improving efficiency of SVM k-fold cross-validation by alpha seeding": Tables 1 and 3, Figure 2.

Heart and madelon in full; of adult, webdata and MNIST the first 2,000 examples in one random order, all of them with
``--full``. LIBSVM (scikit-learn) runs beside ours; where its rounds are many, the first ones are measured and the rest
is estimated, as in the paper.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from data import first
from page import Page, arguments, carried_out

from refsvm import ATO, AVG, MIR, RBF, SIR, TOP, Cold
from refsvm.datasets import Dataset, open_data, paper_suite
from refsvm.experiment import CrossValidate, Experiment, Grid, Problem, Strategy
from refsvm.experiment.grid import number, ratio_of
from refsvm.experiment.problem import Instance
from refsvm.experiment.strategy import Record, one_thread

LONG = ("adult", "webdata", "mnist")
SETS = {"heart": (2182.0, 0.2), "madelon": (1.0, 0.7071), "adult": (100.0, 0.5), "webdata": (64.0, 7.8125),
        "mnist": (10.0, 0.125)}  # fmt: skip
FILES = {"heart": "ida_heart", "madelon": "madelon", "adult": "a9a", "webdata": "w8a", "mnist": "mnist"}
PART = 2000
TABLE_1 = {  # LIBSVM s; init. and rest of ATO, MIR, SIR; iterations of the four; accuracy
    "heart": ("0.36", ("0.016", "0.19"), ("0.058", "0.083"), ("0.003", "0.24"), (6988, 4882, 1443, 3968), "55.56"),
    "madelon": ("54.5", ("2.0", "24.6"), ("1.7", "12.8"), ("1.2", "13.5"), (9000, 5408, 1800, 1800), "50.0"),
    "adult": (
        "6,783", ("3,824", "5,738"), ("2,034", "3,717"), ("57", "3,705"), (397565, 361914, 318169, 317110), "82.36"
    ),
    "webdata": (
        "24,689", ("11,166", "9,394"), ("6,172", "7,574"), ("133", "11,901"), (783208, 245385, 230357, 356528), "97.70"
    ),
    "mnist": (
        "172,816", ("35,410", "69,435"), ("30,897", "38,696"), ("1,416", "36,406"), (1291068, 575250, 280820, 258500),
        "50.85",
    ),
}  # fmt: skip
TABLE_3 = {
    "heart": ("0.09 / 0.08", "0.36 / 0.25", "3.39 / 1.17"),
    "madelon": ("8.8 / 7.8", "54.5 / 14.7", "620 / 19.5"),
}


@dataclass(frozen=True)
class Libsvm(Strategy):
    """scikit-learn's SVC on every fold, or on the first `rounds` of them, scaled up."""

    folds: int = 10
    rounds: int = 1000

    def run(self, instance: Instance) -> Record:
        """Train without each fold and predict it."""
        from sklearn.svm import SVC

        y, k = instance.y, min(self.folds, len(instance.y))
        fold, wrong, steps, tested = np.arange(len(y)) * k // len(y), 0, 0, 0
        count = min(self.rounds, k)
        model = SVC(C=instance.C, gamma=instance.kernel.gamma, cache_size=200)
        with one_thread():
            began = time.perf_counter()
            for h in range(count):
                train, test = fold != h, fold == h
                model.fit(instance.X[train], y[train])
                wrong += int((model.predict(instance.X[test]) != y[test]).sum())
                steps, tested = steps + int(model.n_iter_.sum()), tested + int(test.sum())
            seconds = time.perf_counter() - began
        scale = k / count
        return {"error": wrong / tested, "iterations": int(steps * scale), "seed_seconds": 0.0,
                "rest_seconds": seconds * scale, "seconds": seconds * scale}  # fmt: skip


def methods(k: int, rounds: int = 1000) -> list[Strategy]:
    """The methods of Table 1: each round from the one before; ATO follows its path whatever that costs."""
    cross = partial(CrossValidate, folds=k, from_full=False, cache_mb=2000.0)
    seeders = Cold(), ATO(budget=math.inf), MIR(), SIR()
    ours = [cross(type(s).__name__, seeder=s) for s in seeders]
    return [Libsvm("LIBSVM", folds=k, rounds=rounds), *ours]


def problem(name: str, chosen: object) -> Problem:
    """A set of the paper with its C and γ."""

    def load() -> Dataset:
        data = open_data(FILES[name], data_dir=chosen.data_dir)  # type: ignore[attr-defined]
        if name == "mnist":
            data = replace(data, X=np.asarray(data.X, dtype=np.float64) / 255.0)
        whole = name not in LONG or name in chosen.full  # type: ignore[attr-defined]
        return data if whole else first(data, 300 if chosen.quick else PART)  # type: ignore[attr-defined]

    C, gamma = SETS[name]
    return Problem(name, load, RBF(gamma), C)


def mean(experiment: Experiment, metric: str) -> Callable[[str, str], float]:
    """Return what gives the mean of a metric by problem and strategy."""
    cells = experiment.compare(metric).cells
    return lambda name, strategy: cells[name, strategy].mean


def table_1(page: Page, runs: Experiment) -> None:
    """Seconds, iterations and errors at k = 10."""
    init, rest, steps, error = (
        mean(runs, name) for name in ("seed_seconds", "rest_seconds", "iterations", "error")
    )
    seconds, counts = [], []
    for each in runs.problems:
        name, there = each.name, TABLE_1[each.name]
        row = [name, number(rest(name, "LIBSVM"), 3), there[0]]
        for place, method in enumerate(("Cold", "ATO", "MIR", "SIR")):
            row.append(f"{number(init(name, method), 2)} + {number(rest(name, method), 3)}")
            if place:
                row.append(" + ".join(there[place]))
        seconds.append(tuple(row))
        cells = [name]
        for place, method in enumerate(("LIBSVM", "Cold", "ATO", "MIR", "SIR")):
            cells.append(number(steps(name, method)))
            if place != 1:
                cells.append(number(there[4][max(0, place - 1)]))
        accuracies = {f"{100 * (1 - error(name, m)):.2f}" for m in ("LIBSVM", "Cold", "ATO", "MIR", "SIR")}
        counts.append((*cells, " – ".join(sorted(accuracies)), there[5]))
    three = [head for method in ("ATO", "MIR", "SIR") for head in (method, "there")]
    page.add(
        "Table 1: ten folds",
        "**Reproduces**: every method ends at one accuracy, SIR's seeds cost next to nothing, and all three save "
        "steps. **Does not**: how many. On madelon the published 1,800 steps of MIR and SIR are 900 for the cold round "
        "and 100, half a fold, for each of the nine others; ours go down by a quarter. Heart has other features there "
        "(55.56 % is the share of the larger class). Our adult, webdata and MNIST are 2,000 examples, so only ratios "
        "can be set against the published figures, and there ATO hardly follows its path, because more than 500 "
        "support vectors are free (`max_free`).",
        "Seconds of the seeds + the rest. Ours include the kernel matrix, which is computed once for all rounds; "
        "heart comes first, and its columns include the time to load compiled code.",
        Grid(("set", "LIBSVM", "there", "Cold", *three), tuple(seconds)),
        "Iterations, and accuracy in per cent (all five methods; one figure where they agree).",
        Grid(("set", "LIBSVM", "there", "Cold", *three, "accuracy", "there"), tuple(counts)),
    )


def table_3(page: Page, runs: dict[int, Experiment]) -> None:
    """LIBSVM against SIR for several k."""
    rows = []
    for each in runs[3].problems:
        row = [each.name]
        for place, experiment in enumerate(runs.values()):
            seconds = mean(experiment, "seconds")
            row.append(f"{number(seconds(each.name, 'LIBSVM'), 3)} / {number(seconds(each.name, 'SIR'), 3)}")
            row.append(TABLE_3.get(each.name, ("", "", ""))[place])
        rows.append(tuple(row))
    heads = [head for k in runs for head in (f"k = {k}", "there")]
    page.add("Table 3: seconds of LIBSVM / SIR", Grid(("set", *heads), tuple(rows)))


def figure_2(page: Page, runs: Experiment) -> None:
    """Leave-one-out by five seeders."""
    seconds, steps = mean(runs, "seconds"), mean(runs, "iterations")
    names = [each.name for each in runs.strategies]
    rows = [
        (each.name, *(f"{number(seconds(each.name, s), 3)} s, {number(steps(each.name, s))}" for s in names))
        for each in runs.problems
    ]
    page.add(
        "Supplement, Figure 2: leave-one-out",
        "Seconds and iterations. AVG and TOP start from the solution on all examples, the others from the round "
        "before; ATO with at most 100 free variables. LIBSVM is estimated from its first rounds. The paper shows this "
        "as a plot without figures.",
        Grid(("set", *names), tuple(rows)),
    )


def many_sets(page: Page, runs: Experiment) -> None:
    """Iterations and seconds of all seeders on the sets of the suite."""
    steps, seconds = mean(runs, "iterations"), mean(runs, "seconds")
    names = [each.name for each in runs.strategies]
    rows = []
    for each in runs.problems:
        base = steps(each.name, "Cold"), seconds(each.name, "Cold")
        row = [f"{each.name}, C = {each.C:g}", number(base[0]), number(base[1], 3)]
        row += [
            f"{ratio_of(steps(each.name, name) / base[0])}, {ratio_of(seconds(each.name, name) / base[1])}"
            for name in names[1:]
        ]
        rows.append(tuple(row))
    logs = [
        [np.log(metric(each.name, name) / metric(each.name, "Cold")) for metric in (steps, seconds)]
        for name in names[1:]
        for each in runs.problems
    ]
    means = np.exp(np.array(logs).reshape(len(names) - 1, len(runs.problems), 2).mean(axis=1))
    rows.append(("geometric mean", "", "", *(f"{ratio_of(a)}, {ratio_of(b)}" for a, b in means)))
    page.add(
        "Other sets: ten folds, C of at least 10",
        "SIR and MIR save a seventh of the steps. ATO follows its path only where that is expected to take less than "
        "0.3 of the work of a cold round (`budget`): on banana, image, thyroid and tic-tac-toe. Elsewhere it spreads "
        "what is removed, as SIR does. From the solution on all examples the inverse of its system is computed once "
        "for all rounds; in a chain each round needs another, and its path is longer, because a fold comes back as "
        "another one leaves. **Who loses**: in a chain every way costs more time than it saves on the smallest sets, "
        "whose cold rounds are over in a tenth of a millisecond (heart, thyroid, ionosphere), and MIR on nearly all. "
        "From the full solution SIR and ATO lose time on titanic, whose examples are many times equal, SIR a little on "
        "tic-tac-toe, where it takes more steps than cold rounds, and ATO on breast-cancer, where few of the folds "
        "follow a path and pay for the inverse.",
        "Iterations and seconds of Cold; then, for each way to start, its iterations and its seconds in those of "
        "Cold. *full*: every round starts from the solution on all examples, which is counted.",
        Grid(("set", "Cold", "s", *names[1:]), tuple(rows)),
    )


def main() -> None:
    """Run what is asked for; print it and write the page."""
    chosen = arguments(__doc__ or "", "alpha_seeding", 1, LONG)
    page = Page("Alpha seeding (Wen et al. 2017), again", "benchmarks/papers/alpha_seeding.py", chosen)
    names = ["heart"] if chosen.quick else list(SETS)
    problems, orders = [problem(name, chosen) for name in names], 1
    ten = carried_out("Table 1", Experiment(methods(10), problems, chosen.store, orders), chosen.jobs)
    table_1(page, ten)
    several = {}
    for k in (3, 10, 100):
        pair = [each for each in methods(k, rounds=10) if each.name in ("LIBSVM", "SIR")]
        some = [each for each in problems if each.name in TABLE_3]
        several[k] = carried_out(
            f"Table 3, k = {k}", Experiment(pair, some, chosen.store, orders), chosen.jobs
        )
    table_3(page, several)
    full = partial(CrossValidate, folds=10**9, cache_mb=2000.0)
    left_out = [
        Libsvm("LIBSVM", folds=10**9, rounds=10),
        full("AVG", seeder=AVG()),
        full("TOP", seeder=TOP()),
    ]
    left_out += [full(type(s).__name__, seeder=s, from_full=False) for s in (ATO(max_free=100), MIR(), SIR())]
    some = [
        each for each in problems if each.name == "heart" or (each.name == "madelon" and not chosen.quick)
    ]
    figure_2(page, carried_out("Figure 2", Experiment(left_out, some, chosen.store, orders), chosen.jobs))
    suite = [
        Problem.of_suite(each) for each in paper_suite(chosen.data_dir) if not each.name.startswith("chess")
    ]
    suite = [replace(each, C=max(10.0, each.C)) for each in suite]
    if chosen.quick:
        suite = [each for each in suite if each.name in ("ida_heart", "ida_thyroid")]
    cross = partial(CrossValidate, folds=10, cache_mb=500.0)
    ways = [cross(type(s).__name__, seeder=s, from_full=False) for s in (Cold(), SIR(), MIR(), ATO())]
    ways += [cross("SIR, full", seeder=SIR()), cross("ATO, full", seeder=ATO())]
    many_sets(page, carried_out("Other sets", Experiment(ways, suite, chosen.store, orders), chosen.jobs))
    page.write()


if __name__ == "__main__":
    main()
