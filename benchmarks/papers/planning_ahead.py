"""Tables 1 and 2, Figure 4, §7.2 and §7.3 of T. Glasmachers, "The planning-ahead SMO algorithm", 2008.

python benchmarks/papers/planning_ahead.py --data-dir DIR
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise, product
from typing import Any

import data
import numpy as np
from candidate_step import CandidateStep
from cpu_solve import CPUSolve
from page import Page, arguments, carried_out, joined, relative
from page_tables import geometric
from page_tables import number as number_in
from remarks import PLANNING_AHEAD as REMARKS
from verdicts import Family, either_way, listed

from refsvm import (
    RBF,
    ConjugateSecondOrder,
    ConjugateStep,
    EagerPlanningStep,
    HybridMaximumGain,
    LIBSVMShrinking,
    MostViolatingPair,
    NewtonStep,
    NoShrinking,
    OverrelaxedNewtonStep,
    PlanningAheadStep,
    Restriction,
    SecondOrder,
    Solution,
)
from refsvm.datasets import Dataset, make_chessboard, paper_suite
from refsvm.experiment import STEP_RATIO_EDGES, Experiment, Grid, Problem, Solve, paired_p
from refsvm.experiment.grid import number, p_value, ratio_of
from refsvm.experiment.strategy import Record

# -- The published figures of Glasmachers (2008): Table 1 and Table 2 ----------------------------------------


@dataclass(frozen=True)
class Published:
    """A line of Table 1 and of Table 2."""

    n: int
    sv: int
    bsv: int
    seconds: tuple[float, float]
    iterations: tuple[int, int]

    @property
    def ratio(self) -> float:
        """Iterations of PA-SMO over those of SMO."""
        return self.iterations[1] / self.iterations[0]


PUBLISHED = {
    "ida_banana": Published(5300, 1223, 1199, (2.07, 2.08), (23295, 19721)),
    "ida_breast-cancer": Published(277, 178, 131, (0.02, 0.02), (313, 292)),
    "ida_diabetis": Published(768, 445, 414, (0.08, 0.10), (361, 358)),
    "ida_flare-solar": Published(1066, 744, 709, (0.18, 0.19), (792, 744)),
    "ida_german": Published(1000, 620, 426, (0.20, 0.19), (908, 879)),
    "ida_heart": Published(270, 158, 149, (0.02, 0.02), (113, 112)),
    "ida_image": Published(2310, 301, 84, (0.45, 0.46), (6553, 6359)),
    "ida_ringnorm": Published(7400, 625, 86, (2.41, 2.27), (1569, 1537)),
    "ida_splice": Published(3175, 1426, 7, (4.04, 3.92), (6643, 5854)),
    "ida_thyroid": Published(215, 17, 3, (0.02, 0.01), (744, 667)),
    "ida_titanic": Published(2201, 934, 915, (0.54, 0.47), (3375, 1653)),
    "ida_twonorm": Published(7400, 734, 662, (2.67, 2.65), (641, 642)),
    "ida_waveform": Published(5000, 1262, 980, (3.03, 2.99), (1610, 1539)),
    "chessboard-1000": Published(1000, 41, 3, (3.86, 2.98), (1883310, 1186963)),
    "tic_tac_toe": Published(958, 104, 0, (0.10, 0.10), (8321, 7786)),
    "ionosphere": Published(351, 190, 8, (0.03, 0.04), (411, 408)),
    "spambase": Published(4601, 1982, 583, (8.36, 8.36), (9641, 9171)),
    "internet_ads_adbench": Published(2358, 1350, 6, (2.38, 2.31), (2785, 2750)),
    "chessboard-10000": Published(10000, 129, 84, (76.72, 75.36), (32130476, 24997371)),
    "chessboard-100000": Published(100000, 556, 504, (475.37, 428.18), (145364030, 105199379)),
    "connect-4": Published(61108, 13485, 5994, (1268.04, 1243.56), (82076, 77690)),
    "king-rook-vs-king": Published(28056, 5815, 206, (272.80, 273.06), (69410, 64067)),
}


# -- Shrinking × step × selector: the steps of every combination that the rules allow, for the page on planning ahead --

COMBINED = "Shrinking × step × selector"
SHRINKINGS = {"none": NoShrinking(), "LIBSVM's": LIBSVMShrinking(), "restriction": Restriction()}
PAIRS = {  # planned steps need the candidates of second order
    ("most violating pair", "Newton"): (MostViolatingPair(), NewtonStep()),
    ("most violating pair", "conjugate"): (MostViolatingPair(), ConjugateStep()),
    ("second order", "Newton"): (SecondOrder(), NewtonStep()),
    ("second order", "planned"): (SecondOrder(), PlanningAheadStep()),
    ("second order", "conjugate"): (SecondOrder(), ConjugateStep()),
    ("HMG", "Newton"): (HybridMaximumGain(), NewtonStep()),
    ("HMG", "conjugate"): (HybridMaximumGain(), ConjugateStep()),
    ("its own", "conjugate"): (ConjugateSecondOrder(), ConjugateStep()),
}
NEWTON_PAIR = ("second order", "Newton")
SHOWN = (("second order", "planned"), ("its own", "conjugate"))
COMBINED_ORDERS = 2


def shrinking_tables(page: Page, chosen: Any, problems: Sequence[Problem]) -> None:
    """Carry out all combinations and write the section, unless the page keeps its own."""
    if not page.wants(COMBINED):
        return
    engine = "numpy" if chosen.quick else "auto"  # to compile them all takes minutes
    common = {"cache_mb": 600.0, "max_iter": 10**9, "engine": engine}
    strategies = [
        Solve(combination(pair, words), selector=selector, step=step, shrinking=rule, **common)
        for (words, rule), (pair, (selector, step)) in product(SHRINKINGS.items(), PAIRS.items())
    ]
    orders = min(COMBINED_ORDERS, chosen.permutations)
    runs = carried_out(COMBINED, Experiment(strategies, problems, chosen.store, orders), chosen.jobs)
    text = (
        f"The table uses {len(problems)} sets and {orders} order{'s' * (orders > 1)} of the examples, with ε = 0.001 "
        "and all kernel rows in memory."
    )
    page.add(
        COMBINED, text,
        "The first table shows the numbers of steps divided by the number of steps of second order with Newton steps "
        "and without shrinking: geometric means over the sets, and the least and the largest ratio in brackets.",
        over_all(runs), "The second table divides the numbers of steps by the number of steps of second order with "
        "Newton steps and the same shrinking:",
        by_set(runs),
        REMARKS["shrinking tables"],
    )  # fmt: skip


def combination(pair: tuple[str, str], words: str) -> str:
    """Return what a combination is called in the store."""
    return ", ".join((*pair, words))


def over_all(runs: Experiment) -> Grid:
    """A row for each selector and step, a column for each shrinking."""
    comparison = runs.compare("iterations", combination(NEWTON_PAIR, "none"))
    rows = []
    for pair in PAIRS:
        row = list(pair)
        for words in SHRINKINGS:
            own = combination(pair, words)
            cells = [comparison.cells[each.name, own].ratio or 1.0 for each in runs.problems]
            mean = 1.0 if own == comparison.baseline else comparison.geometric_mean(own)
            row.append(f"{ratio_of(mean)} ({min(cells):.2f} … {max(cells):.2f})")
        rows.append(tuple(row))
    return Grid(("selector", "step", *SHRINKINGS), tuple(rows), labels=2)


def by_set(runs: Experiment) -> Grid:
    """A row for each set: planned steps, and conjugate ones with their selector, under each shrinking."""
    compared = {}
    for words in SHRINKINGS:
        names = [combination(pair, words) for pair in (NEWTON_PAIR, *SHOWN)]
        some = replace(runs, strategies=[each for each in runs.strategies if each.name in names])
        compared[words] = some.compare("iterations", combination(NEWTON_PAIR, words))
    columns = [(pair, words) for pair, words in product(SHOWN, SHRINKINGS)]
    rows = [
        (
            each.name,
            *(
                ratio_of(compared[words].cells[each.name, combination(pair, words)].ratio)
                for pair, words in columns
            ),
        )
        for each in runs.problems
    ]
    means = (ratio_of(compared[words].geometric_mean(combination(pair, words))) for pair, words in columns)
    headers = (f"{pair[1]}, {words}" for pair, words in columns)
    return Grid(("problem", *headers), (*rows, ("geometric mean", *means)))


# -- How long planned steps are: Figure 3 and §7.3 of Glasmachers (2008) -------------------------------------

TRACED_ORDERS = 2
LARGEST = "largest μ/μ̂ − 1"
"""The column of the longest planned step."""


@dataclass(frozen=True)
class TracedSolve(Solve):
    """One solve with its trace; the record also has ``largest``, the largest μ/μ̂ − 1 of its planned steps."""

    trace: bool = True

    def measured(self, result: Solution) -> Record:
        """Return the stored numbers of a solution."""
        assert result.trace is not None
        planned = result.trace["planned"] == 1
        ratio = result.trace["step"][planned] / result.trace["newton"][planned] - 1.0
        return super().measured(result) | {"largest": float(ratio.max(initial=0.0))}


TRACED = TracedSolve(
    "PA-SMO", selector=SecondOrder(), step=PlanningAheadStep(), shrinking=False, cache_mb=1000.0, max_iter=10**10,
    cache_dtype="float64",
)  # fmt: skip


def step_sizes(page: Page, chosen: Any, problems: Sequence[Problem], board: Sequence[Problem]) -> None:
    """Measure the histograms of Figure 3, on all sets, and on the large chessboard in one order if it is asked for."""
    some = Experiment([TRACED], problems, chosen.store, min(TRACED_ORDERS, chosen.permutations))
    records = carried_out("Step sizes", some, chosen.jobs).records()
    if board:
        one = Experiment([TRACED], board, chosen.store)
        records += carried_out("Step sizes, large", one, chosen.jobs).records()
    names = list(dict.fromkeys(record["problem"] for record in records))
    counts = {name: total(records, name, "step_ratio_histogram") for name in names}
    largest = {name: max(each["largest"] for each in records if each["problem"] == name) for name in names}
    edges = [number(edge, 3) if np.isfinite(edge) else "" for edge in STEP_RATIO_EDGES]
    bins = [f"{low} … {high}".strip() for low, high in pairwise(edges)]
    rows = []
    for name in names:
        orders = sum(record["problem"] == name for record in records)
        planned = 100 * counts[name].sum() / total(records, name, "iterations")
        shares = [share(count, counts[name].sum()) for count in counts[name]]
        rows.append((name, f"{orders}", f"{planned:.1f}", *shares, number(largest[name], 3)))
    heads = ("problem", "orders", "planned, % of all steps", *bins, LARGEST)
    page.add(
        "§7.3: planned step sizes",
        "The table shows the shares of the planned steps in bins of μ/μ̂ − 1, in per cent:", Grid(heads, tuple(rows)),
        remark(counts, largest),
    )  # fmt: skip


def total(records: Sequence[Record], name: str, metric: str) -> Any:
    """Add up a metric over the orders of a problem."""
    return np.sum([record[metric] for record in records if record["problem"] == name], axis=0)


def share(count: int, of: int) -> str:
    """Return a share in per cent, without hiding that a few of millions are there."""
    percent = 100 * count / max(of, 1)
    return "0" if not count else f"{percent:.2f}" if percent >= 0.01 else f"{percent:.0e}"


def remark(counts: dict[str, np.ndarray], largest: dict[str, float]) -> str:
    """Say what the histograms have in common."""
    low = np.array(STEP_RATIO_EDGES[:-1])
    shares = {name: each / max(each.sum(), 1) for name, each in counts.items()}
    by_a_fifth = [each[(low >= -0.1) & (low < 0.2)].sum() for each in shares.values()]
    doubled = [100 * each[low >= 1.0].sum() for each in shares.values()]
    longest = max(largest, key=largest.__getitem__)
    text = REMARKS["7.3 thousands"] if largest[longest] >= 1000.0 else REMARKS["7.3 no thousands"]
    return REMARKS["7.3 sizes"].format(
        half=sum(each > 0.5 for each in by_a_fifth), of=len(counts), least=f"{min(doubled):.0f}",
        most=f"{max(doubled):.0f}", shorter=sum(int(each[low < -0.1].sum()) for each in counts.values()),
        below=f"{100 * max(each[low == -0.1].sum() for each in shares.values()):.2f}",
    ) + text.format(largest=number(largest[longest], 3), where=longest)  # fmt: skip


# -- The page --------------------------------------------------------------------------------------------------

BOARD = "chessboard-1000"
THOUSANDS = "chessboard-10000"
"""The set on which Figure 3's longest steps are looked for."""
LONGEST = "chessboard-100000"
EVERY = ":all"
"""`chessboard-100000:all`: in as many orders as the other long sets, where it has one otherwise."""
LONG = (THOUSANDS, LONGEST, f"{LONGEST}{EVERY}", "connect-4", "king-rook-vs-king")
SWEEP = (
    "ida_banana",
    "ida_image",
    "ida_splice",
    "ida_thyroid",
    "ida_titanic",
    "chessboard-1000",
    "tic_tac_toe",
    "spambase",
)
FEW = 20
"""Orders with the shrinking of this package."""
SOME = 20
"""Orders of Figure 4, §7.2, §7.3 and Algorithm 2."""
SEVERAL = 20
"""Orders of the long sets at most; of four sets six could show nothing."""
QUICK = ("ida_breast-cancer", "ida_heart", "ida_thyroid", "ionosphere")

# Without shrinking and with memory for every kernel row: the steps of the paper's Algorithm 5, one by one.
plain = partial(CPUSolve, selector=SecondOrder(), shrinking=False, cache_mb=600.0)
SMO = plain("SMO", step=NewtonStep())
PLANNED = plain("PA-SMO", step=PlanningAheadStep())
EAGER = plain("Algorithm 2", step=EagerPlanningStep())
NEWTON_GAIN = SecondOrder(planned_range=1 - 1e-9)  # §7.2 ranks by the Newton gain, never by the exact one
SELECTION_ONLY = plain("Algorithm 3 alone", selector=NEWTON_GAIN, step=CandidateStep())
OVERRELAXED = plain("1.1 Newton", step=OverrelaxedNewtonStep(1.1))
OVERRELAXED_SELECTION = plain("1.1 Newton, Algorithm 3", selector=NEWTON_GAIN, step=CandidateStep(1.1))


def main() -> None:
    """Run what is asked for; print it and write the page."""
    chosen = arguments(__doc__ or "", "planning_ahead", 20, LONG)
    problems = [Problem.of_suite(each) for each in paper_suite(chosen.data_dir)]
    if chosen.quick:
        problems = [each for each in problems if each.name in QUICK]
        chosen.permutations = min(chosen.permutations, 3)
    page = Page("Planning ahead (Glasmachers 2008), again", "benchmarks/papers/planning_ahead.py", chosen)
    orders = chosen.permutations
    page.add("What we did as the paper, what not", REMARKS["about"])
    page.add("Figure 2: the gain against the length of a step", REMARKS["figure 2"])
    if page.wants("Table 2 with shrinking"):
        shrunk = [replace(each, shrinking=True) for each in (SMO, PLANNED)]
        few = Experiment(shrunk, problems, chosen.store, min(orders, FEW))
        shrinking(page, carried_out("With shrinking", few, chosen.jobs))
    if page.wants("Table 2 with LIBSVM's shrinking"):
        shrunk = [replace(each, shrinking=LIBSVMShrinking()) for each in (SMO, PLANNED)]
        runs = Experiment(shrunk, problems, chosen.store, orders)
        libsvm_shrinking(page, carried_out("With LIBSVM's shrinking", runs, chosen.jobs))
    shrinking_tables(page, chosen, problems)
    published_tables(page, chosen, problems)
    of_steps(page, chosen, problems)
    if page.wants("Algorithm 2"):
        both = Experiment([PLANNED, EAGER], problems, chosen.store, min(orders, SOME))
        algorithm_2(page, carried_out("Algorithm 2", both, chosen.jobs))
    if page.wants("The long sets") and chosen.full:
        long_sets(page, chosen)
    if not chosen.quick and page.wants("Claims checked"):
        claims(page, main_runs(chosen, problems))
    page.write()


def main_runs(chosen: Any, problems: Sequence[Problem]) -> Experiment:
    """Carry out SMO and PA-SMO without shrinking, all of one order before the next, so that seconds compare."""
    runs = Experiment([SMO, PLANNED], problems, chosen.store, chosen.permutations)
    return carried_out("Tables 1 and 2", runs, chosen.jobs)


def published_tables(page: Page, chosen: Any, problems: Sequence[Problem]) -> None:
    """Tables 1 and 2, and the objective that both reach."""
    for heading, write in (
        ("Table 1", table_1), ("Table 2: iterations", table_2), ("Table 2: seconds", seconds_of_table_2),
        ("The objective reached", objective),
    ):  # fmt: skip
        if page.wants(heading):
            write(page, main_runs(chosen, problems))


def of_steps(page: Page, chosen: Any, problems: Sequence[Problem]) -> None:
    """Figure 4, §7.2 and §7.3."""
    orders = min(chosen.permutations, SOME)
    single = [SMO, PLANNED, SELECTION_ONLY, OVERRELAXED, OVERRELAXED_SELECTION]
    if page.wants("Figure 4"):
        both = Experiment(histories(), selected(problems, SWEEP), chosen.store, orders)
        figure_4(page, carried_out("Figure 4", both, chosen.jobs))
    parts = Experiment(single, problems, chosen.store, orders)
    if page.wants("§7.2"):
        section_7_2(page, carried_out("§7.2 and §7.3", parts, chosen.jobs))
    if page.wants("§7.3: planned"):
        board = [long_problem(THOUSANDS, chosen)] if THOUSANDS in chosen.full else []
        step_sizes(page, chosen, problems, board)
    if page.wants("§7.3: steps 1.1"):
        longer_steps(page, carried_out("§7.2 and §7.3", parts, chosen.jobs))


def selected(problems: Sequence[Problem], names: Sequence[str]) -> list[Problem]:
    """Return the problems of those names; all, in a smoke test, where there are few."""
    found = [problem for problem in problems if problem.name in names]
    return found or list(problems)


def column(name: str, *path: Any) -> dict[str, float]:
    """Return a published column by problem."""
    values = {problem: getattr(line, name) for problem, line in PUBLISHED.items()}
    return {problem: value[path[0]] if path else value for problem, value in values.items()}


def table_1(page: Page, runs: Experiment) -> None:
    """Sizes, parameters, support vectors."""
    cells = [runs.compare(name).cells for name in ("support_vectors", "bounded_support_vectors")]
    rows = []
    for problem in runs.problems:
        there, n = PUBLISHED[problem.name], len(problem.instance().y)
        ours = [number(each[problem.name, "SMO"].mean, 4) for each in cells]
        both = [ours[0], f"{there.sv:,}", ours[1], f"{there.bsv:,}"]
        rows.append(
            (problem.name, f"{n:,}", f"{there.n:,}", f"{problem.C:g}", f"{problem.kernel.gamma:g}", *both)
        )
    headers = ("problem", "n", "n there", "C", "γ", "SV", "SV there", "BSV", "BSV there")
    exact = sum(
        abs(cells[0][each.name, "SMO"].mean - PUBLISHED[each.name].sv) <= 1.0 for each in runs.problems
    )
    remark = REMARKS["table 1"].format(exact=exact)
    page.add("Table 1: problems and their support vectors", Grid(headers, tuple(rows)), remark)


def table_2(page: Page, runs: Experiment) -> None:
    """Iterations."""
    there = {"SMO there": column("iterations", 0), "PA-SMO there": column("iterations", 1)}
    ratios = {name: ratio_of(line.ratio) for name, line in PUBLISHED.items()}
    iterations = runs.table("iterations", "SMO", beside={**there, "ratio there": ratios})
    compared = runs.compare("iterations", "SMO")
    splice = compared.cells.get(("ida_splice", "PA-SMO"))
    saved = percent(1.0 - (splice.ratio or 1.0)) if splice else "–"
    words = words_of_steps(Family.of_runs(compared, "PA-SMO", runs.permutations))
    remark = REMARKS["table 2"].format(**baseline(runs), **words, splice=saved)
    page.add(
        "Table 2: iterations",
        f"The table uses {runs.permutations} orders of the examples.",
        iterations,
        remark,
    )


def seconds_of_table_2(page: Page, runs: Experiment) -> None:
    """CPU seconds."""
    times = {"SMO there": column("seconds", 0), "PA-SMO there": column("seconds", 1)}
    seconds = runs.table("cpu", "SMO", digits=3, beside=times)
    remark = words_of_seconds(Family.of_runs(runs.compare("cpu", "SMO"), "PA-SMO", runs.permutations))
    page.add(
        "Table 2: seconds",
        f"The table shows CPU seconds and uses {runs.permutations} orders of the examples.",
        seconds,
        remark,
    )


def objective(page: Page, runs: Experiment) -> None:
    """The objective at the end."""
    grid = objectives(runs)
    # more than half of the orders higher stands for a ratio above one
    family = Family(
        {row[0]: 2 * int(row[3].split()[0]) / runs.permutations for row in grid.rows},
        {row[0]: float(row[4].strip("< ")) for row in grid.rows if row[4] != "–"},
        runs.permutations,
    )
    page.add(
        "The objective reached",
        f"The table uses {runs.permutations} orders of the examples.",
        grid,
        words_of_objective(family),
    )


def shrinking(page: Page, runs: Experiment) -> None:
    """Iterations with the shrinking of this package."""
    there = {"ratio there": {name: ratio_of(line.ratio) for name, line in PUBLISHED.items()}}
    table = runs.table("iterations", "SMO", beside=there)
    page.add(
        "Table 2 with shrinking",
        f"The table uses {runs.permutations} orders of the examples.",
        table,
        REMARKS["shrinking"],
    )


def libsvm_shrinking(page: Page, runs: Experiment) -> None:
    """Iterations with the shrinking that the paper had."""
    beside: dict[str, dict[str, Any]] = {
        "SMO there": column("iterations", 0),
        "PA-SMO there": column("iterations", 1),
        "ratio there": {name: ratio_of(line.ratio) for name, line in PUBLISHED.items()},
    }
    table = runs.table("iterations", "SMO", beside=beside)
    orders, saved = (
        f"The table uses {runs.permutations} orders of the examples.",
        runs.compare("iterations", "SMO").geometric_mean("PA-SMO"),
    )
    share = beyond(runs)
    others = ", ".join(f"{name} ({share[name]:+.0%})" for name in share if abs(share[name]) > 0.05)
    near = sum(abs(each) <= 0.05 for each in share.values())
    remark = REMARKS["libsvm shrinking"].format(near=near, others=others, saved=percent(1.0 - (saved or 1.0)))
    page.add("Table 2 with LIBSVM's shrinking", orders, table, remark)


OTHERS = ("internet_ads_adbench",)
"""Sets that are other problems here than in the paper."""


def percent(share: float) -> str:
    """A share as a whole number of hundredths."""
    return f"{100 * share:.0f} %"


def beyond(runs: Experiment) -> dict[str, float]:
    """By what share SMO takes more iterations than there."""
    cells = runs.compare("iterations", "SMO").cells
    return {
        each.name: cells[each.name, "SMO"].mean / PUBLISHED[each.name].iterations[0] - 1.0
        for each in runs.problems
    }


def baseline(runs: Experiment) -> dict[str, int]:
    """On how many sets SMO takes nearly the published number of iterations."""
    shares = [abs(share) for name, share in beyond(runs).items() if name not in OTHERS]
    near = sum(share <= 0.04 for share in shares)
    return {"near": near, "further": sum(share <= 0.16 for share in shares) - near}


def words_of_steps(family: Family) -> dict[str, Any]:
    """On how many sets planned steps are fewer, on how many significantly, and significantly more."""
    fewer = sum(ratio < 1.0 for ratio in family.ratio.values())
    return {
        "fewer": fewer, "sure": len(family.less), "worse": len(family.more) or "none", "within": family.within(),
    }  # fmt: skip


def words_of_seconds(family: Family) -> str:
    """Say on how many sets planned steps are faster and slower, and what that says of "never slower"."""
    return REMARKS["seconds"].format(
        faster=len(family.less), slower=len(family.more) or "none", of=len(family.ratio), within=family.within(),
        higher=len(family.higher) or "none", never=words_of_never_slower(family),
    )  # fmt: skip


def words_of_never_slower(family: Family) -> str:
    """Say what the times say of the claim "never slower"."""
    if family.more:
        return f"does not hold, because PA-SMO is significantly slower on {listed(family.more)}"
    if family.higher:
        return "stays open, because the longer times may be due to chance"
    return "holds, because no mean time is longer"


def words_of_objective(family: Family) -> str:
    """Say on how many sets planned steps end higher and lower."""
    lower = len(family.less) or "none"
    return REMARKS["objective"].format(higher=len(family.more), lower=lower, within=family.within())


def words_of_selection(family: Family) -> str:
    """Name the sets on which the selection alone takes significantly fewer steps, and by how much."""
    shares = [f"{each.removeprefix('ida_')} by {percent(1.0 - family.ratio[each])}" for each in family.less]
    return listed(shares)


def objectives(runs: Experiment) -> Grid:
    """By how much the planned runs end higher, relative to the objective."""
    values: dict[tuple[str, str], list[float]] = {}
    for record in runs.records():
        values.setdefault((record["problem"], record["strategy"]), []).append(record["objective"])
    rows = []
    for problem in runs.problems:
        first, second = (np.array(values[problem.name, name]) for name in ("SMO", "PA-SMO"))
        higher = f"{(second > first).sum()} of {len(first)}"
        gain = number(float(np.mean((second - first) / first)), 2)
        rows.append(
            (
                problem.name,
                number(float(first.mean()), 8),
                gain,
                higher,
                p_value(paired_p(list(second), list(first))),
            )
        )
    return Grid(("problem", "SMO", "(PA-SMO − SMO)/SMO", "PA-SMO higher in", "p"), tuple(rows))


def histories() -> list[Solve]:
    """Planning with the N most recent working sets."""
    return [
        replace(PLANNED, name=f"N = {n}", step=PlanningAheadStep(history=n)) for n in (1, 2, 3, 5, 10, 20)
    ]


def figure_4(page: Page, runs: Experiment) -> None:
    """Iterations and seconds relative to one working set."""
    grids = [relative(runs.compare(metric, "N = 1")) for metric in ("iterations", "cpu")]
    orders = (
        f"The tables use {runs.permutations} orders of the examples; they show ratios to planning with one working "
        "set (N = 1), and p in brackets."
    )
    both = ("Iterations:", grids[0], "CPU seconds:", grids[1])
    twenty = [
        cell.ratio or 1.0
        for (_, name), cell in runs.compare("cpu", "N = 1").cells.items()
        if name == "N = 20"
    ]
    costs = runs.compare("iterations", "N = 1")
    columns = {n: Family.of_runs(costs, n, runs.permutations) for n in costs.strategies if n != "N = 1"}
    worse = {problem for family in columns.values() for problem in family.more}
    last = columns["N = 20"]
    saved = {each: 1.0 - ratio for each, ratio in last.ratio.items()}
    much = sorted((each for each in saved if saved[each] > 0.1), key=saved.__getitem__, reverse=True)
    where = ", ".join(f"{percent(saved[each])} on {each.removeprefix('ida_')}" for each in much)
    remark = REMARKS["figure 4"].format(
        worse=len(worse) or "none", of=len(saved), less=len(last.less) or "none", within=last.within(),
        least=ratio_of(min(twenty)), most=ratio_of(max(twenty)), saved=where or "on none",
    )  # fmt: skip
    page.add("Figure 4: planning with the N most recent working sets", orders, *both, remark)


def section_7_2(page: Page, runs: Experiment) -> None:
    """The selection of Algorithm 3 without planned steps."""
    three = replace(runs, strategies=[SMO, SELECTION_ONLY, PLANNED])
    orders = (
        f"The table uses {runs.permutations} orders of the examples; it shows iterations relative to SMO, and p in "
        "brackets."
    )
    compared = three.compare("iterations", "SMO")
    cells = {each: compared.cells[each, SELECTION_ONLY.name] for each in compared.problems}
    ratios = {each: cell.ratio or 1.0 for each, cell in cells.items()}
    family = Family.of_runs(compared, SELECTION_ONLY.name, runs.permutations)
    means = [compared.geometric_mean(each.name) or 1.0 for each in (SELECTION_ONLY, PLANNED)]
    remark = REMARKS["7.2"].format(
        least=f"{min(ratios.values()):.2f}", most=f"{max(ratios.values()):.2f}", mean=f"{means[0]:.2f}",
        saved=percent(1.0 - means[1]), better=words_of_selection(family), within=family.within(),
        ambiguous=either_way(family, "fewer", "more").partition(":")[0],
    )  # fmt: skip
    page.add("§7.2: the modified selection without planning", orders, relative(compared), remark)


def longer_steps(page: Page, runs: Experiment) -> None:
    """Steps that are 1.1 times too long."""
    longer = replace(runs, strategies=[SMO, OVERRELAXED, OVERRELAXED_SELECTION, PLANNED])
    orders = (
        f"The table uses {runs.permutations} orders of the examples; it shows iterations relative to SMO, and p in "
        "brackets."
    )
    compared = longer.compare("iterations", "SMO")
    names = (OVERRELAXED.name, OVERRELAXED_SELECTION.name, PLANNED.name)
    families = [Family.of_runs(compared, name, runs.permutations) for name in names]
    page.add("§7.3: steps 1.1 times as long", orders, relative(compared), words_of_longer_steps(*families))


def words_of_longer_steps(plain: Family, three: Family, planned: Family) -> str:
    """Say what steps 1.1 times as long save by either selection, and where they are fewer than planned ones."""
    saved = [percent(1.0 - geometric(list(each.ratio.values()))) for each in (plain, three)]
    better = [each.removeprefix("ida_") for each in plain.ratio if plain.ratio[each] < planned.ratio[each]]
    board = [ratio_of(each.ratio.get(BOARD)) for each in (plain, three, planned)]
    return REMARKS["7.3 longer"].format(
        saved=saved[0],
        three=saved[1],
        better=listed(better),
        board=board[0],
        board_three=board[1],
        planned=board[2],
    )


def algorithm_2(page: Page, runs: Experiment) -> None:
    """Planning after clipped steps too, beside Algorithm 4."""
    compared = runs.compare("iterations", PLANNED.name)
    family = Family.of_runs(compared, EAGER.name, runs.permutations)
    page.add(
        "Algorithm 2: planning after clipped steps too", f"The table uses {runs.permutations} orders of the examples.",
        runs.table("iterations", PLANNED.name), words_of_algorithm_2(family),
    )  # fmt: skip


def words_of_algorithm_2(family: Family) -> str:
    """Say on how many sets Algorithm 2 takes the steps of Algorithm 4, and on how many significantly others."""
    near_one = sum(f"{ratio:.3f}" == "1.000" for ratio in family.ratio.values())
    return REMARKS["algorithm 2"].format(
        same=near_one, of=len(family.ratio), less=len(family.less) or "none", more=len(family.more) or "none",
        within=family.within(), lowest=f"{min(family.ratio.values()):.3f}",
        highest=f"{max(family.ratio.values()):.3f}",
    )  # fmt: skip


def long_problem(name: str, chosen: Any) -> Problem:
    """Return one of the sets that take minutes."""
    readers: dict[str, tuple[Callable[[], Dataset], float, float]] = {
        THOUSANDS: (partial(make_chessboard, 10_000, rng=0), 1e6, 0.5),
        LONGEST: (partial(make_chessboard, 100_000, rng=0), 1e6, 0.5),
        "connect-4": (partial(data.connect_4, chosen.data_dir), 4.5, 0.2),
        "king-rook-vs-king": (partial(data.king_rook, chosen.data_dir), 10.0, 0.5),
    }
    load, C, gamma = readers[name]
    return Problem(name, load, RBF(gamma), C)


def long_sets(page: Page, chosen: Any) -> None:
    """The sets that take minutes, with shrinking, as in the paper."""
    names = list(dict.fromkeys(each.removesuffix(EVERY) for each in chosen.full))
    long: dict[str, Any] = {"shrinking": True, "cache_mb": 2000.0, "max_iter": 10**10}
    strategies = [replace(SMO, **long), replace(PLANNED, **long)]
    runs = {}
    for name in names:
        alone = Experiment(strategies, [long_problem(name, chosen)], chosen.store, long_orders(name, chosen))
        runs[name] = carried_out(f"Long sets, {name}", alone, chosen.jobs)
    there: dict[str, dict[str, Any]] = {
        "SMO there": column("iterations", 0),
        "PA-SMO there": column("iterations", 1),
        "ratio there": {name: ratio_of(line.ratio) for name, line in PUBLISHED.items()},
    }
    vectors = {"SV there": column("sv"), "BSV there": column("bsv")}
    listing = [
        replace(each, strategies=strategies[:1]).listing(
            {"support_vectors": 4, "bounded_support_vectors": 4},
            beside={
                name: {(problem, "SMO"): f"{value:,}" for problem, value in values.items()}
                for name, values in vectors.items()
            },
        )
        for each in runs.values()
    ]
    iterations, seconds = (
        with_orders(runs, {name: each.table(metric, "SMO", beside=beside) for name, each in runs.items()})
        for metric, beside in (("iterations", there), ("cpu", None))
    )
    page.add("The long sets, with shrinking", orders_in_words(runs), "Iterations:", iterations, "CPU seconds:",
             seconds, joined(listing), REMARKS["long"].format(**saved_on_long_sets(runs)))  # fmt: skip


def long_orders(name: str, chosen: Any) -> int:
    """Return the orders of a long set; one of the longest, unless it is named `chessboard-100000:all`."""
    most = min(chosen.permutations, SEVERAL)
    return 1 if name == LONGEST and f"{name}{EVERY}" not in chosen.full else most


def with_orders(runs: Mapping[str, Experiment], tables: Mapping[str, Grid]) -> Grid:
    """Put the tables of single sets below one another, with the orders of each and the geometric mean of the ratios."""
    rows = []
    for name, table in tables.items():
        rows.append((table.rows[0][0], str(runs[name].permutations), *table.rows[0][1:]))
    headers = next(iter(tables.values())).headers
    place = headers.index("PA-SMO / SMO") + 1
    mean = ["geometric mean", *[""] * len(headers)]
    mean[place] = ratio_of(geometric([number_in(row[place]) for row in rows]))
    return Grid((headers[0], "orders", *headers[1:]), (*rows, tuple(mean)))


def orders_in_words(runs: Mapping[str, Experiment]) -> str:
    """Say how many orders the long sets have, and which of them one alone."""
    orders = {name: each.permutations for name, each in runs.items()}
    most = max(orders.values())
    once = [name for name, count in orders.items() if count == 1]
    return "1 order." if most == 1 else f"{most} orders{f', {listed(once)} in one' if once else ''}."


def saved_on_long_sets(runs: Mapping[str, Experiment]) -> dict[str, str]:
    """Say what planning saves on the two chessboards and on connect-4, if they are measured."""
    places = {"small": THOUSANDS, "large": LONGEST, "connect": "connect-4"}
    found = {
        key: runs[name].compare("iterations", "SMO").cells[name, PLANNED.name].ratio if name in runs else None
        for key, name in places.items()
    }
    return {key: percent(1.0 - ratio) if ratio else "–" for key, ratio in found.items()}


def claims(page: Page, runs: Experiment) -> None:
    """What this package promises of planning ahead, checked on the runs above."""
    comparison = runs.compare("iterations", "SMO")
    ratios = {problem: comparison.cells[problem, "PA-SMO"].ratio or 1.0 for problem in comparison.problems}
    worst = max(ratios, key=ratios.__getitem__)
    mean, board = comparison.geometric_mean("PA-SMO") or 1.0, ratios["chessboard-1000"]
    rows = (
        ("geometric mean of the ratios below 0.95", f"{mean:.3f}", "yes" if mean < 0.95 else "no"),
        ("no ratio above 1.05", f"{ratios[worst]:.3f} ({worst})", "yes" if ratios[worst] <= 1.05 else "no"),
        ("chessboard-1000: a quarter fewer iterations", f"{board:.3f}", "yes" if board <= 0.75 else "no"),
    )
    text = (
        "Each ratio is the mean number of iterations of PA-SMO divided by the mean number of SMO, on "
        f"{len(ratios)} sets and {runs.permutations} orders."
    )
    page.add("Claims checked", text, Grid(("claim", "ratio", "holds"), rows))


if __name__ == "__main__":
    main()
