"""Wen et al. 2017, "Improving efficiency of SVM k-fold cross-validation by alpha seeding": Tables 1 to 3, Figure 2.

The features as they are, folds that share the classes, as LIBSVM's own cross-validation does. Heart and madelon in
full; of adult, webdata and MNIST the first 1,000 examples of one random order, and with ``--full`` LIBSVM's first round
on all of them.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from data import first
from page import Page, arguments, carried_out
from remarks import (
    ALL_TEXT,
    FIGURE_2_PLOT,
    FIGURE_2_TEXT,
    FIRST_TEXT,
    MIR_TEXT,
    OTHER_TEXT,
    TABLE_1_TEXT,
    TABLE_2_TEXT,
    TABLE_3_TEXT,
)
from remarks import ALPHA_ABOUT as ABOUT

from refsvm import ATO, AVG, MIR, RBF, SIR, TOP, Cold, Linear, cross_validate
from refsvm.analysis.resampling.folds import fold_numbers
from refsvm.datasets import Dataset, open_data, paper_suite
from refsvm.experiment import CrossValidate, Experiment, Grid, Problem, Strategy
from refsvm.experiment.grid import number, ratio_of
from refsvm.experiment.problem import Instance
from refsvm.experiment.strategy import Record, one_thread

# -- Strategies for the tables of Wen et al. (2017): methods in turns, LIBSVM's first round, and how K looks --

METHODS = {
    "Cold": Cold(),
    "ATO": ATO(budget=math.inf, max_free=10**6),
    "ATO, default": ATO(),
    "MIR": MIR(),
    "SIR": SIR(),
    "AVG": AVG(),
}


@dataclass(frozen=True)
class InTurns(Strategy):
    """LIBSVM (scikit-learn) and our methods on the same folds, one after the other, again and again.

    Parameters
    ----------
    folds : int
    methods : tuple of str
        Keys of `METHODS`.
    stratified : bool
    turns : int
        The least CPU seconds of so many are kept.
    rounds : int
        LIBSVM takes so many rounds, and is scaled up.
    engine : str
        Of our methods.
    """

    folds: int = 10
    methods: tuple[str, ...] = tuple(METHODS)
    stratified: bool = True
    turns: int = 3
    rounds: int = 10
    engine: str = "numba"

    def run(self, instance: Instance) -> Record:
        """Measure every method once in each turn."""
        k = min(self.folds, len(instance.y))
        fold = fold_numbers(k, (instance.y > 0).astype(int), stratified=self.stratified)
        record: Record = {}
        for _ in range(self.turns):
            with one_thread():
                for name in ("LIBSVM", *self.methods):
                    began = time.process_time()
                    own = (
                        self._libsvm(instance, fold)
                        if name == "LIBSVM"
                        else ours(instance, fold, METHODS[name], self.engine)
                    )
                    seconds = (time.process_time() - began) * own.pop("scale", 1.0)
                    least = min(seconds, record.get(f"{name}: seconds", math.inf))
                    record |= {f"{name}: {key}": value for key, value in own.items()} | {
                        f"{name}: seconds": least
                    }
        return record

    def _libsvm(self, instance: Instance, fold: np.ndarray) -> Record:
        """Train without each fold and predict it."""
        from sklearn.svm import SVC

        y, k, wrong, steps, tested = instance.y, int(fold.max()) + 1, 0, 0, 0
        count = min(self.rounds, k)
        for h in range(count):
            train, test = fold != h, fold == h
            model = SVC(C=instance.C, gamma=instance.kernel.gamma, cache_size=200).fit(
                instance.X[train], y[train]
            )
            wrong += int((model.predict(instance.X[test]) != y[test]).sum())
            steps, tested = steps + int(model.n_iter_.sum()), tested + int(test.sum())
        return {"error": wrong / tested, "iterations": steps * k // count, "scale": k / count}


def ours(instance: Instance, fold: np.ndarray, seeder: Any, engine: str) -> Record:
    """Cross-validate, each round from the one before."""
    result = cross_validate(
        instance.X, instance.y, kernel=instance.kernel, C=instance.C, folds=fold, seeder=seeder, from_full=False,
        cache_mb=2000.0, engine=engine,
    )  # fmt: skip
    share = result.seed_seconds / result.seconds
    return {"error": result.error, "iterations": result.iterations, "seed share": share}


@dataclass(frozen=True)
class FirstRound(Strategy):
    """LIBSVM without the first of ten folds, on everything."""

    def run(self, instance: Instance) -> Record:
        """Train once."""
        from sklearn.svm import SVC

        fold = fold_numbers(10, (instance.y > 0).astype(int), stratified=True)
        linear = isinstance(instance.kernel, Linear)
        kernel = {"kernel": "linear"} if linear else {"gamma": instance.kernel.gamma}
        model = SVC(C=instance.C, cache_size=3000, **kernel).fit(instance.X[fold != 0], instance.y[fold != 0])
        return {"iterations": int(model.n_iter_.sum()), "support_vectors": len(model.support_)}


@dataclass(frozen=True)
class Likeness(Strategy):
    """How far the kernel matrix of the first examples is from the identity."""

    examples: int = 1000

    def run(self, instance: Instance) -> Record:
        """Return the mean and the largest of the values off the diagonal, and the share of the larger class."""
        K = instance.kernel(instance.X[: self.examples], instance.X[: self.examples])
        beside = K[~np.eye(len(K), dtype=bool)]
        share = float(max((instance.y > 0).mean(), (instance.y < 0).mean()))
        return {"mean": float(beside.mean()), "largest": float(beside.max()), "share": share}


@dataclass(frozen=True)
class Stratified(CrossValidate):
    """Cross-validation whose folds share the classes."""

    stratified: bool = True


@dataclass(frozen=True)
class CPUCrossValidate(CrossValidate):
    """Cross-validation; the record also has ``cpu``, which other work on the machine does not stretch."""

    def run(self, instance: Instance, **more: Any) -> Record:
        """Cross-validate, and measure."""
        began = time.process_time()
        record = super().run(instance, **more)
        return record | {"cpu": time.process_time() - began}


# -- The page --------------------------------------------------------------------------------------------------

LONG = ("adult", "webdata", "mnist")
SETS = {"heart": (2182.0, 0.2), "madelon": (1.0, 0.7071), "adult": (100.0, 0.5), "webdata": (64.0, 7.8125),
        "mnist": (10.0, 0.125)}  # fmt: skip
FILES = {"heart": "ida_heart", "madelon": "madelon", "adult": "a9a", "webdata": "w8a", "mnist": "mnist"}
SIZES = {"heart": (270, 13), "madelon": (2000, 500), "adult": (32561, 123), "webdata": (49749, 300),
         "mnist": (60000, 780)}  # fmt: skip
BY_ATO = ("adult:ATO", "webdata:ATO")
"""All examples by ATO too, which follows its path whatever that costs."""
PART = 1000
CACHE_MB = 1000.0
"""Memory for kernel rows where the sets are run in full: 1,600 to 4,000 of them."""
ALL_EXAMPLES = "All examples, in a bounded cache"
PLACES = {"LIBSVM": 0, "Cold": -1, "ATO": 1, "ATO, default": -1, "MIR": 2, "SIR": 3, "AVG": -1}
"""Columns of Table 1, and where their published iterations stand, if anywhere."""
NO_PATH = ("webdata", "mnist")
"""Sets on which ATO is not made to follow its path: nearly all examples are free, and many of webdata's are equal."""
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


def raw(data: Dataset) -> Dataset:
    """The features of heart as they were before they were standardised, up to a shift, which RBF does not see.

    They are whole numbers, one of them tenths: the smallest difference in a column is its unit.
    """
    columns = [(x - x.min()) / np.diff(np.unique(x)).min() for x in data.X.T]
    X = np.rint(np.array(columns)).T
    X[:, 9] *= 0.1
    return replace(data, X=X)


def problem(name: str, chosen: object, whole: bool = False) -> Problem:
    """A set of the paper with its C and γ."""

    def load() -> Dataset:
        data = open_data(FILES[name], data_dir=chosen.data_dir)  # type: ignore[attr-defined]
        if name == "heart":
            return raw(data)
        data = replace(data, X=data.X.astype(np.float64))
        if whole or name not in LONG:
            return data
        return first(data, 300 if chosen.quick else PART)  # type: ignore[attr-defined]

    C, gamma = SETS[name]
    return Problem(name, load, RBF(gamma), C)


def mnist_as_identity(chosen: object) -> Problem:
    """MNIST in full: no value off the diagonal is above 0, so that K is that of 60,000 orthogonal unit vectors."""

    def load() -> Dataset:
        from scipy.sparse import identity

        data = open_data("mnist", data_dir=chosen.data_dir)  # type: ignore[attr-defined]
        return replace(data, X=identity(len(data.y), format="csr"))

    return Problem("mnist", load, Linear(), SETS["mnist"][0])


def table_1(page: Page, records: list[Record]) -> None:
    """Seconds, iterations and errors at k = 10."""
    seconds, counts = [], []
    for record in records:
        name = record["problem"]
        there = TABLE_1[name]
        row = [name, number(record["LIBSVM: seconds"], 3), there[0], number(record["Cold: seconds"], 3)]
        for place, method in enumerate(("ATO", "MIR", "SIR"), 1):
            share, whole = (record.get(f"{method}: {key}") for key in ("seed share", "seconds"))
            both = "–" if share is None else f"{number(share * whole, 2)} + {number((1 - share) * whole, 2)}"
            row += [both, " + ".join(there[place])]
        seconds.append(tuple(row))
        cells = [name]
        for method, place in PLACES.items():
            steps = record.get(f"{method}: iterations")
            cells.append("–" if steps is None else number(steps))
            if place >= 0:
                cells.append(number(there[4][place]))
        accuracies = {
            f"{100 * (1 - record[f'{m}: error']):.2f}"
            for m in ("LIBSVM", *METHODS)
            if f"{m}: error" in record
        }
        counts.append((*cells, " – ".join(sorted(accuracies)), there[5]))
    page.add(
        "Table 1: ten folds",
        TABLE_1_TEXT,
        "The table shows iterations, and the accuracy in per cent: one accuracy if all seven methods agree.",
        Grid(
            ("set", "LIBSVM", "there", "Cold", "ATO", "there", "ATO, default", "MIR", "there", "SIR", "there", "AVG",
             "accuracy", "there"),
            tuple(counts),
        ),
        "The second table shows CPU seconds of one thread: seconds of the seeds + all other seconds, which include the "
        "kernel matrix. We ran all methods one after the other, three times, and show the least seconds of each "
        "method.",
        Grid(
            ("set", "LIBSVM", "there", "Cold", "ATO", "there", "MIR", "there", "SIR", "there"),
            tuple(seconds),
        ),
    )  # fmt: skip


def table_2(page: Page, records: list[Record]) -> None:
    """The sets, and how their kernel matrices look."""
    rows = []
    for record in records:
        name = record["problem"]
        (C, gamma), (n, d) = SETS[name], SIZES[name]
        values = f"{record['mean']:.1e}", f"{record['largest']:.1e}", f"{100 * record['share']:.2f}"
        rows.append((name, f"{n:,}", f"{d:,}", f"{C:g}", f"{gamma:g}", *values, TABLE_1[name][5]))
    heads = "cardinality", "dimension", "C", "γ", "mean K", "largest K", "larger class %", "accuracy there"
    page.add("Table 2: sets", TABLE_2_TEXT, Grid(("set", *heads), tuple(rows)))


def first_rounds(page: Page, records: list[Record]) -> None:
    """LIBSVM's first round on everything."""
    rows = [
        (record["problem"], f"{SIZES[record['problem']][0]:,}", number(record["iterations"]),
         number(10 * record["iterations"]), number(TABLE_1[record["problem"]][4][0]),
         number(record["support_vectors"]))
        for record in records
    ]  # fmt: skip
    heads = "set", "n", "steps of the first round", "times ten", "there, all ten", "support vectors"
    page.add("The first round at full size", FIRST_TEXT, *([Grid(heads, tuple(rows))] if rows else []))


def in_full(chosen: Any) -> list[str]:
    """Return the sets that are asked for in full, by whatever methods."""
    return list(dict.fromkeys(each.removesuffix(":ATO") for each in chosen.full))


def all_examples(page: Page, run: Any, chosen: Any) -> None:
    """Ten folds of the sets asked for, on everything, with memory for a part of the kernel rows."""
    cache = 1.0 if chosen.quick else CACHE_MB
    rows = []
    for name in in_full(chosen) if not chosen.quick else ["heart"]:
        methods = ("SIR", "MIR", *(["ATO"] if f"{name}:ATO" in chosen.full else []))
        ways = [Stratified(each, seeder=METHODS[each], from_full=False, cache_mb=cache) for each in methods]
        whole = mnist_as_identity(chosen) if name == "mnist" else problem(name, chosen, True)
        for record in run(f"All of {name}", ways, [whole]).records():
            n, steps = SIZES[name][0], TABLE_1[name][4][PLACES[record["strategy"]]]
            in_memory = min(1.0, cache * 2**20 / (8.0 * n * n))
            rows.append(
                (name, record["strategy"], f"{n:,}", f"{100 * in_memory:.1f} %", number(record["iterations"]),
                 f"{steps:,}", f"{100 * (1 - record['error']):.2f}", TABLE_1[name][5],
                 number(record["kernel_rows"]), number(record["seconds"], 3))
            )  # fmt: skip
    heads = (
        "set",
        "method",
        "n",
        "K in memory",
        "iterations",
        "there",
        "accuracy",
        "there",
        "kernel rows",
        "seconds",
    )
    if rows:
        page.add(ALL_EXAMPLES, ALL_TEXT, Grid(heads, tuple(rows)))


def mir_limits(page: Page, run: Any, problems: list[Problem], engine: str) -> None:
    """MIR as it is, and to the end of its least squares."""
    ways = {"Cold": Cold(), "MIR()": MIR(), "MIR(10,000, 1e-10)": MIR(10_000, 1e-10)}
    strategies = [
        Stratified(name, seeder=s, from_full=False, cache_mb=2000.0, engine=engine)
        for name, s in ways.items()
    ]
    records: list[Record] = run("MIR", list(strategies), problems).records()
    names = list(dict.fromkeys(record["strategy"] for record in records))
    found = {(record["problem"], record["strategy"]): record["iterations"] for record in records}
    sets = dict.fromkeys(record["problem"] for record in records)
    rows = [(each, *(number(found[each, name]) for name in names)) for each in sets]
    page.add("MIR's least squares", MIR_TEXT, Grid(("set", *names), tuple(rows)))


def table_3(page: Page, records: dict[int, list[Record]]) -> None:
    """LIBSVM against SIR for several k."""
    rows = []
    for place, name in enumerate(record["problem"] for record in records[3]):
        row = [name]
        for column, found in enumerate(records.values()):
            one = found[place]
            row += [
                " / ".join(number(one[f"{method}: seconds"], 3) for method in ("LIBSVM", "Cold", "SIR")),
                TABLE_3.get(name, ("", "", ""))[column],
                " / ".join(number(one[f"{method}: iterations"]) for method in ("LIBSVM", "Cold", "SIR")),
            ]
        rows.append(tuple(row))
    heads = [head for k in records for head in (f"k = {k}: s", "s, there", "iterations")]
    page.add("Table 3: LIBSVM / Cold / SIR", TABLE_3_TEXT, Grid(("set", *heads), tuple(rows)))


def figure_2(page: Page, runs: Experiment, libsvm: dict[str, Record]) -> None:
    """Leave-one-out by five seeders."""
    names = [each.name for each in runs.strategies]
    head, grids = ("set", "LIBSVM", *names), []
    for metric, of_libsvm, digits in (("iterations", "iterations", 4), ("cpu", "seconds", 3)):
        cells = runs.compare(metric).cells
        rows = [
            (
                each.name,
                number(libsvm[each.name][f"LIBSVM: {of_libsvm}"], digits),
                *(number(cells[each.name, s].mean, digits) for s in names),
            )
            for each in runs.problems
        ]
        grids.append(Grid(head, tuple(rows)))
    page.add(
        "Supplement, Figure 2: leave-one-out", FIGURE_2_TEXT, grids[0], "The second table shows CPU seconds of one "
        "thread, measured once:",
        grids[1], FIGURE_2_PLOT,
    )  # fmt: skip


def mean(runs: Experiment, metric: str, name: str, strategy: str) -> float:
    """Return the mean of a metric."""
    return runs.compare(metric).cells[name, strategy].mean


def many_sets(page: Page, runs: Experiment) -> None:
    """Iterations and CPU seconds of all seeders on the sets of the suite."""
    steps, seconds = (partial(mean, runs, metric) for metric in ("iterations", "cpu"))
    cold, *names = [each.name for each in runs.strategies]
    sets = [each.name for each in runs.problems]
    ratios = {
        (each, name): (steps(each, name) / steps(each, cold), seconds(each, name) / seconds(each, cold))
        for each in sets
        for name in names
    }
    rows = []
    for each in runs.problems:
        row = [
            f"{each.name}, C = {each.C:g}",
            number(steps(each.name, cold)),
            number(seconds(each.name, cold), 3),
        ]
        own = (ratios[each.name, name] for name in names)
        rows.append((*row, *(f"{ratio_of(a)}, {ratio_of(b)}" for a, b in own)))
    means = {name: np.exp(np.mean(np.log([ratios[each, name] for each in sets]), axis=0)) for name in names}
    rows.append(("geometric mean", "", "", *(f"{ratio_of(a)}, {ratio_of(b)}" for a, b in means.values())))

    def where(name: str, way: int, low: float, high: float = math.inf) -> str:
        found = [each.removeprefix("ida_") for each in sets if low < ratios[each, name][way] <= high]
        return ", ".join(found) or "nowhere"

    text = OTHER_TEXT.format(
        sir=f"{100 * (1 - means['SIR'][0]):.0f}", mir=f"{100 * (1 - means['MIR'][0]):.0f}",
        half=where("ATO", 0, 0.0, 0.5), full=where("ATO, full", 0, 0.0, 0.5), more=where("SIR", 0, 1.0),
        lost="; ".join(f"*{name}* on {where(name, 1, 1.1)}" for name in names),
    )  # fmt: skip
    head = (
        "The table shows the iterations and CPU seconds of cold rounds; then, for each seeder, iterations and seconds "
        "relative to cold rounds. In the columns *full* every round starts from the solution on all examples; the "
        "figures include the cost of this solution."
    )
    page.add(
        "Other sets: ten folds, C of at least 10", text, head, Grid(("set", cold, "s", *names), tuple(rows))
    )


def main() -> None:
    """Run what is asked for; print it and write the page."""
    chosen = arguments(__doc__ or "", "alpha_seeding", 1, [*LONG, *BY_ATO])
    # to compile the rounds of all seeders takes minutes: a smoke test does without
    engine, in_turns = ("numpy", partial(InTurns, engine="numpy")) if chosen.quick else ("auto", InTurns)
    page = Page("Alpha seeding (Wen et al. 2017), again", "benchmarks/papers/alpha_seeding.py", chosen)
    page.add("What we did as the paper, what not", ABOUT)
    names = ["heart"] if chosen.quick else list(SETS)
    problems = [problem(name, chosen) for name in names]
    small = [each for each in problems if each.name in ("heart", "madelon")]

    def run(title: str, strategies: list[Strategy], sets: list[Problem]) -> Experiment:
        return carried_out(title, Experiment(strategies, sets, chosen.store, 1), chosen.jobs)

    if page.wants("Table 1"):
        turns, records = 1 if chosen.quick else 3, []
        for each in problems:
            methods = tuple(name for name in METHODS if "ATO" not in name or each.name not in NO_PATH)
            strategy = in_turns("in turns", methods=methods, turns=turns)
            records += run(f"Table 1, {each.name}", [strategy], [each]).records()
        table_1(page, records)
    if page.wants("Table 2"):
        table_2(page, run("Table 2", [Likeness("K")], problems).records())
    if page.wants("The first round"):
        whole = [
            mnist_as_identity(chosen) if name == "mnist" else problem(name, chosen, True)
            for name in in_full(chosen)
        ]
        rounds = run("First round", [FirstRound("LIBSVM")], whole).records() if whole else []
        first_rounds(page, rounds)
    if page.wants(ALL_EXAMPLES):
        all_examples(page, run, chosen)
    if page.wants("MIR's"):
        mir_limits(page, run, problems, engine)
    if page.wants("Table 3"):
        pairs = {
            k: in_turns("in turns", folds=k, methods=("Cold", "SIR"), turns=1 if chosen.quick else 3)
            for k in (3, 10, 100)
        }
        table_3(page, {k: run(f"Table 3, k = {k}", [pair], small).records() for k, pair in pairs.items()})
    if page.wants("Supplement, Figure 2"):
        left_out_one_by_one(page, run, small, engine)
    if page.wants("Other sets"):
        suite = [
            Problem.of_suite(each)
            for each in paper_suite(chosen.data_dir)
            if not each.name.startswith("chess")
        ]
        suite = [replace(each, C=max(10.0, each.C)) for each in suite]
        if chosen.quick:
            suite = [each for each in suite if each.name in ("ida_heart", "ida_thyroid")]
        cross = partial(CPUCrossValidate, folds=10, cache_mb=500.0, engine=engine)
        ways = [cross(type(s).__name__, seeder=s, from_full=False) for s in (Cold(), SIR(), MIR(), ATO())]
        ways += [cross("SIR, full", seeder=SIR()), cross("ATO, full", seeder=ATO())]
        many_sets(page, run("Other sets", ways, suite))
    page.write()


def left_out_one_by_one(page: Page, run: Any, problems: list[Problem], engine: str) -> None:
    """Carry out Figure 2."""
    full = partial(CPUCrossValidate, folds=10**9, cache_mb=2000.0, engine=engine)
    chain = {name: METHODS[name] for name in ("ATO, default", "MIR", "SIR")}
    ways = [full("AVG", seeder=AVG()), full("TOP", seeder=TOP())]
    ways += [full(name, seeder=s, from_full=False) for name, s in chain.items()]
    estimate = InTurns("estimate", folds=10**9, methods=(), turns=1)
    estimates = run("Figure 2, LIBSVM", [estimate], problems).records()
    figure_2(page, run("Figure 2", ways, problems), {each["problem"]: each for each in estimates})


if __name__ == "__main__":
    main()
