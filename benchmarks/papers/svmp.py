"""Regenerate Tables II, III and IV of Ong, Shao & Yang (2010), the whole path of C.

python benchmarks/papers/svmp.py                  # about ten minutes; finished runs are kept
python benchmarks/papers/svmp.py --quick          # a smoke test
python benchmarks/papers/svmp.py --full madelon   # sets of Table IV
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
from event_cost import EventCost, noisy
from libsvm_cost import AgainstLIBSVM
from page import Page, arguments, carried_out
from qr_updates import ALGEBRAS, updates_table
from qr_updates import HEADING as UPDATES
from r_svmpath import BesideR, installed, versions
from rounds_along_c import RoundsAlongC
from svmp_as_printed import CHECK_OFF, PaperSettings
from svmp_published import GAUSSIAN, LARGE, LARGE_GAUSSIAN, LINEAR, SECOND_COST, There
from svmp_remarks import REMARKS
from verdicts import FIFTH, listed, near

from refsvm import RBF, SVMP, Linear
from refsvm.datasets import open_data
from refsvm.experiment import Experiment, Grid, Problem, TrackPath
from refsvm.experiment.grid import number
from refsvm.paths import SVD, PivotedQR, UpdatedInverse

ARCHIVES = {
    "sonar": ("sonar", 104), "heart": ("ida_heart", 170), "ionosphere": ("ionosphere", 200), "wbc": ("wbc", 350),
    "monk 1": ("monks1", 432), "monk 2": ("monks2", 432), "monk 3": ("monks3", 432),
    "diabetes": ("ida_diabetis", 468), "HillValley": ("hill_valley_noise", 606), "german": ("ida_german", 800),
    "svmguide3": ("svmguide3", 1243), "madelon": ("madelon", 2000), "splice": ("ida_splice", 3175),
}  # fmt: skip
SLOW = ("diabetes", "HillValley", "german")
"""Sets on which the SVD of the elbow at every event takes 7 to 30 seconds: their updates are measured if asked for."""
LEFT_OUT = "Not measured: {names}, on which the SVD takes longest; `--full` with their names measures them."
TOO_LONG = "splice"
"""Not tracked with the Gaussian kernel: its elbow has some 3,000 examples."""
SETTINGS = """
Each cell: here / there. A path of this package ends where it has lost the digits of an optimum; the costs are those of
100 values of λ, or of those up to there.
"""
RANGE: dict[str, Any] = {"C_min": 1e-4, "C_max": 1e3}
TRACKERS = [
    TrackPath(name, tracker=SVMP(algebra=algebra), merge=False, **RANGE)
    for name, algebra in (
        ("SVD", SVD()), ("QR", PivotedQR()), ("inverse", UpdatedInverse())
    )
]  # fmt: skip


def examples(name: str, data_dir: Any) -> SimpleNamespace:
    """As many examples as the paper used, in a random order, each feature of mean 0 and variance 1."""
    archive, n = ARCHIVES[name]
    data = open_data(archive, data_dir=data_dir)
    chosen = np.random.default_rng(0).permutation(data.n)[:n]
    X, y = np.asarray(data.X[chosen], dtype=float), np.asarray(data.y)[chosen]
    spread = X.std(axis=0)
    return SimpleNamespace(X=(X - X.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0), y=y)


def main() -> None:
    """Run what is missing, print every table, write the page."""
    chosen = arguments(__doc__.split("\n", 1)[0], "svmp", 1, sorted([*LARGE, *SLOW]))
    page = Page("The regularisation path (Ong, Shao & Yang 2010)", "benchmarks/papers/svmp.py", chosen)
    names = ["sonar", "monk 1"] if chosen.quick else list(LINEAR)
    page.add("What we did as the paper, what not", REMARKS["about"])
    by_the_settings(page, chosen, names)
    if page.wants("The largest elbow"):
        corners(page, chosen)
    if page.wants(UPDATES):
        updates(page, chosen, names)
    if page.wants("Table IV, Gaussian"):
        large_gaussian(page, chosen)
    if page.wants("Which Gaussian"):
        which_gaussian(page, chosen, names)
    for title, kernel, there in (("Table II: linear kernel", Linear(), LINEAR),
                                 ("Table III: Gaussian kernel", RBF(2.0), GAUSSIAN)):  # fmt: skip
        if page.wants(title):
            table(page, chosen, title, kernel, there, names)
    for heading, write in (
        ("Table IV: larger", large), ("Compared with warm", beside_rounds), ("Compared with R", beside_r),
        ("Cost of an event", event_cost), ("german", larger_sets),
    ):  # fmt: skip
        if page.wants(heading):
            write(page, chosen)
    page.write()


def updates(page: Page, chosen: Any, names: list[str]) -> None:
    """Section VII: factors that are updated, beside those that are made anew and the inverse."""
    own = [name for name in names if name not in SLOW or name in chosen.full]
    sets = problems(own, RBF(2.0), chosen)
    records = carried_out(UPDATES, Experiment(ALGEBRAS, sets, chosen.store), chosen.jobs).records()
    seconds = {name: GAUSSIAN[name].seconds for name in own}
    parts: list[Any] = [*updates_table(own, records, seconds)]
    if left_out := [name for name in names if name not in own]:
        parts.append(LEFT_OUT.format(names=", ".join(left_out)))
    page.add(f"{UPDATES}, Gaussian kernel", *parts)


def by_the_settings(page: Page, chosen: Any, names: list[str]) -> None:
    """Tables II and III with the tolerances of the paper, with its KKT check and without."""
    ways = [PaperSettings("check on"), PaperSettings("check off", tracker=CHECK_OFF)]
    for title, kernel, there in (("linear", Linear(), LINEAR), ("Gaussian", RBF(2.0), GAUSSIAN)):
        if not page.wants(f"By the paper's settings: {title}"):
            continue
        sets = problems(names, kernel, chosen)
        records = carried_out(
            f"Settings, {title}", Experiment(ways, sets, chosen.store), chosen.jobs
        ).records()
        found = {(record["problem"], record["strategy"]): record for record in records}
        rows = []
        for name in names:
            on, off, line = found[name, "check on"], found[name, "check off"], there[name]
            pairs = [(on["largest_elbow"], line.elbow), (on["breakpoints"], line.events), (on["nullity"], line.nullity),
                     (on["special"], line.special), (on["repairs"], line.repairs)]  # fmt: skip
            ends = [
                f"to C = {run['reached']:.3g}" if run["reached"] < RANGE["C_max"] else "" for run in (on, off)
            ]
            cells = [f"{one:,} / {other:,}" for one, other in pairs]
            cells.append(f"{number(on['cost_percent'], 2)} / {line.cost}")
            last = f" / {SECOND_COST[name]}" if title == "Gaussian" else ""
            rows.append(
                (
                    name,
                    *cells,
                    f"{number(off['cost_percent'], 2)}{last}",
                    number(on["kkt_violation"], 2),
                    *ends,
                )
            )
        heads = ("set", "largest elbow", "events", "(m−r)max", "N_SR", "N_kkt", "c^SL %", "c^SL2 %", "KKT",
                 "check on: ends early", "check off: ends early")  # fmt: skip
        page.add(f"By the paper's settings: {title} kernel", SETTINGS, Grid(heads, tuple(rows)),
                 REMARKS[f"settings, {title}"])  # fmt: skip


def corners(page: Page, chosen: Any) -> None:
    """The monks' problems in several orders: what depends on the corner of a singular elbow."""
    tracker = TrackPath("inverse", merge=False, **RANGE)
    sets = problems(["monk 1", "monk 2", "monk 3"], Linear(), chosen)
    orders = 2 if chosen.quick else 6
    records = carried_out("Corners", Experiment([tracker], sets, chosen.store, orders), chosen.jobs).records()
    rows = []
    for name in ("monk 1", "monk 2", "monk 3"):
        own = [record for record in records if record["problem"] == name]
        cells = [", ".join(f"{record[key]:,}" for record in own) for key in ("largest_elbow", "breakpoints")]
        rows.append((name, cells[0], str(LINEAR[name].elbow), cells[1], str(LINEAR[name].events)))
    grid = Grid(("set", "largest elbow", "there", "events", "there"), tuple(rows))
    page.add("The largest elbow of the monks' problems", REMARKS["corners"], grid)


def large_gaussian(page: Page, chosen: Any) -> None:
    """The Gaussian half of Table IV."""
    limited = TrackPath("inverse", merge=False, time_limit=600.0, cache_mb=2000.0, **RANGE)
    names = [name for name in LARGE_GAUSSIAN if name in chosen.full and name != TOO_LONG]
    if not names:
        return
    sets = problems(names, RBF(2.0), chosen)
    rows = []
    for record in carried_out("Table IV", Experiment([limited], sets, chosen.store), chosen.jobs).records():
        ours = record["largest_elbow"], record["breakpoints"], record["nullity"]
        cells = [f"{a:,} / {b:,}" for a, b in zip(ours, LARGE_GAUSSIAN[record["problem"]], strict=True)]
        rows.append((record["problem"], *cells, number(record["kkt_violation"], 2), record["status"]))
    heads = ("set", "largest elbow", "events", "(m−r)max", "KKT", "end")
    page.add(
        "Table IV, Gaussian kernel",
        "Each cell: here / there.",
        Grid(heads, tuple(rows)),
        REMARKS["IV, Gaussian"],
    )


def problems(names: list[str], kernel: Any, chosen: Any) -> list[Problem]:
    """Sets of the paper with one kernel."""
    return [Problem(name, partial(examples, name, chosen.data_dir), kernel) for name in names]


def which_gaussian(page: Page, chosen: Any, names: list[str]) -> None:
    """The paper prints k = ‖x − y‖/σ: compare the events of both usual forms with Table III."""
    counts: dict[str, list[int]] = {name: [] for name in names}
    for gamma in (4.0, 2.0):  # exp(−‖x − y‖²/σ²) and exp(−‖x − y‖²/(2σ²)) for σ = 0.5
        runs = carried_out(
            f"RBF({gamma})",
            Experiment(TRACKERS[2:], problems(names, RBF(gamma), chosen), chosen.store),
            chosen.jobs,
        )
        for record in runs.records():
            counts[record["problem"]].append(record["breakpoints"])
    rows = [(name, *(f"{count:,}" for count in counts[name]), f"{GAUSSIAN[name].events:,}") for name in names]
    headers = ("set", "exp(−‖x−y‖²/σ²)", "exp(−‖x−y‖²/(2σ²))", "events there")
    page.add("Which Gaussian", "Breakpoints with σ = 0.5:", Grid(headers, tuple(rows)), REMARKS["gaussian"])


def table(
    page: Page, chosen: Any, title: str, kernel: Any, there: dict[str, There], names: list[str]
) -> None:
    """One of Tables II and III, ours and theirs in alternate columns."""
    sets = problems(names, kernel, chosen)
    runs = carried_out(title, Experiment(TRACKERS, sets, chosen.store), chosen.jobs)
    cost = AgainstLIBSVM("LIBSVM", lambdas=3 if chosen.quick else 100, **RANGE)
    costs = carried_out(f"{title}, LIBSVM", Experiment([cost], sets, chosen.store), chosen.jobs)
    found = {(record["problem"], record["strategy"]): record for record in runs.records()}
    peers = {record["problem"]: record for record in costs.records()}
    rows, speeds = [], []
    for name in names:
        ours, line, peer = found[name, "inverse"], there[name], peers[name]
        pairs = (
            (ours["largest_elbow"], line.elbow), (ours["breakpoints"], line.events), (ours["nullity"], line.nullity),
            (ours["special"], line.special), (ours["repair"] + ours["backup"], line.repairs),
        )  # fmt: skip
        rows.append((name, *(f"{one:,} / {other:,}" for one, other in pairs),
                     f"{number(peer['cost_percent'], 2)} / {line.cost}", number(peer["objective_difference"], 2),
                     str(peer["unfinished"]), number(ours["kkt_violation"], 2)))  # fmt: skip
        times = [found[name, kind]["tracking_seconds"] for kind in ("SVD", "QR", "inverse")]
        inverse = ours["tracking_seconds"]
        speeds.append((name, *(f"{number(time, 3)} / {other}" for time, other in zip(times, line.seconds, strict=True)),
                       number(ours["start_seconds"], 2),
                       number(1e6 * inverse / ours["breakpoints"], 3)))  # fmt: skip
    headers = (
        "set",
        "largest elbow",
        "events",
        "(m−r)max",
        "N_SR",
        "N_kkt",
        "c_max %",
        "objective",
        "unfinished",
        "KKT",
    )
    page.add(title, "Each cell: here / there.", Grid(headers, tuple(rows)),
             Grid(("set", "t SVD (s)", "t QR (s)", "t inverse / updates (s)", "start (s)", "µs an event"),
                  tuple(speeds)),
             REMARKS[title].format(near=near_events(rows)))  # fmt: skip


def near_events(rows: Sequence[Sequence[str]]) -> str:
    """Name the sets whose number of events is near the paper's."""
    events = {row[0]: [float(part.replace(",", "")) for part in row[2].split(" / ")] for row in rows}
    here, there = ({name: pair[k] for name, pair in events.items()} for k in (0, 1))
    return listed(near(here, there, FIFTH))


def large(page: Page, chosen: Any) -> None:
    """Table IV, as far as asked for."""
    names = [name for name in LARGE if name in chosen.full]
    if not names:
        return
    limited = TrackPath("inverse", merge=False, time_limit=600.0, cache_mb=2000.0, **RANGE)
    runs = carried_out(
        "Table IV", Experiment([limited], problems(names, Linear(), chosen), chosen.store), chosen.jobs
    )
    rows = []
    for record in runs.records():
        line = LARGE[record["problem"]]
        ours = (record["largest_elbow"], record["breakpoints"], record["nullity"])
        cells = [f"{one:,} / {other:,}" for one, other in zip(ours, line, strict=False)]
        cells.append(f"{number(record['tracking_seconds'], 3)} / {line[3]}")
        rows.append((record["problem"], *cells, number(record["kkt_violation"], 2)))
    headers = ("set", "largest elbow", "events", "(m−r)max", "t inverse (s)", "KKT")
    page.add(
        "Table IV: larger sets, linear kernel",
        "Each cell: here / there.",
        Grid(headers, tuple(rows)),
        REMARKS["IV"],
    )


def beside_rounds(page: Page, chosen: Any) -> None:
    """The path beside warm-started rounds at its breakpoints."""
    cancer = Problem("breast cancer, γ = 0.1", wisconsin, RBF(0.1))
    strategies = [
        RoundsAlongC(f"{tol:g}", tol=tol, repeats=1 if chosen.quick else 5) for tol in (1e-3, 1e-6, 1e-9)
    ]
    runs = carried_out("Rounds", Experiment(strategies, [cancer], chosen.store), chosen.jobs)
    rows = tuple(
        (record["strategy"], f"{record['breakpoints']:,}", number(record["seconds"], 3),
         number(record["rounds_seconds"], 3), number(record["ratio"], 3), number(record["microseconds_per_event"], 3))
        for record in runs.records()
    )  # fmt: skip
    headers = (
        "tolerance of a round",
        "breakpoints",
        "path (s)",
        "rounds (s)",
        "rounds / path",
        "µs an event",
    )
    text = "Breast cancer (Wisconsin, diagnostic), 569 × 30 standardised, RBF(0.1)."
    page.add("Compared with warm-started rounds", text, Grid(headers, rows), REMARKS["rounds"])


def beside_r(page: Page, chosen: Any) -> None:
    """R's svmpath and this package, on the same data in turns."""
    heading = "Compared with R's svmpath"
    if not installed():
        if not page.keeps(heading):
            page.add(heading, "Rscript, or its package svmpath, is not installed here.")
        return
    sets = [Problem("breast cancer", wisconsin, RBF(0.1)), Problem("noise", partial(noisy, 1000), RBF(0.1)),
            Problem("breast cancer, 50 rows twice", repeated, RBF(0.1))]  # fmt: skip
    strategy = BesideR("R", repeats=1 if chosen.quick else 5)
    runs = carried_out(
        heading, Experiment([strategy], sets[:1] if chosen.quick else sets, chosen.store), chosen.jobs
    )
    rows = []
    for record in runs.records():
        ratio = number(record["seconds_r"] / record["seconds"], 3)
        there = (f"{record['events_r']:,}", number(record["seconds_r"], 3), ratio)
        rows.append((record["problem"], f"{record['n']:,}", *(("stops", "—", "—") if record["failure"] else there),
                     f"{record['breakpoints']:,}", number(record["seconds"], 3),
                     number(record["kkt_violation"], 2)))  # fmt: skip
    failures = [
        f"svmpath says: `{record['failure'].strip()}`" for record in runs.records() if record["failure"]
    ]
    headers = ("set", "n", "events there", "R (s)", "R / path", "breakpoints", "path (s)", "KKT")
    page.add(heading, Grid(headers, tuple(rows)), *failures, REMARKS["R"].format(versions=versions()))


def event_cost(page: Page, chosen: Any) -> None:
    """Microseconds of an event against n and the elbow, for the inverse and for QR."""
    sizes, gammas = ((100,), (0.1,)) if chosen.quick else ((250, 500, 1000), (0.01, 0.05, 0.2))
    sets = [
        Problem(f"n = {n:,}, γ = {gamma:g}", partial(noisy, n), RBF(gamma)) for n in sizes for gamma in gammas
    ]
    algebras = {"QR": PivotedQR(), "inverse": UpdatedInverse()}
    strategies = [EventCost(name, tracker=SVMP(algebra=algebra)) for name, algebra in algebras.items()]
    runs = carried_out("Cost of an event", Experiment(strategies, sets, chosen.store), chosen.jobs)
    found = {(record["problem"], record["strategy"]): record for record in runs.records()}
    rows = []
    for problem in sets:
        line = found[problem.name, "inverse"]
        costs = (number(found[problem.name, name]["microseconds"], 3) for name in algebras)
        elbow = number(line["mean_elbow"], 3), f"{line['largest_elbow']:,}"
        rows.append((problem.name, f"{line['breakpoints']:,}", *elbow, *costs))
    headers = ("data", "breakpoints", "mean elbow", "largest elbow", *(f"{name} (µs)" for name in algebras))
    page.add("Cost of an event", Grid(headers, tuple(rows)), REMARKS["cost"])


def larger_sets(page: Page, chosen: Any) -> None:
    """german and image in full, with both kernels."""
    strategy = TrackPath("inverse", C_min=1e-3, C_max=1e2)
    names = ("ida_german",) if chosen.quick else ("ida_german", "ida_image")
    sets = [Problem(f"{name.removeprefix('ida_')}, {kind}", partial(whole, name, chosen.data_dir), kernel)
            for name in names for kind, kernel in (("linear", Linear()), ("RBF(0.05)", RBF(0.05)))]  # fmt: skip
    runs = carried_out("german and image", Experiment([strategy], sets, chosen.store), chosen.jobs)
    rows = tuple(
        (record["problem"], f"{record['breakpoints']:,}", f"{record['largest_elbow']:,}", number(record["seconds"], 3),
         number(record["kkt_violation"], 2), record["status"])
        for record in runs.records()
    )  # fmt: skip
    headers = ("set", "breakpoints", "largest elbow", "seconds", "KKT", "end")
    page.add("german (n = 1,000) and image (n = 2,310)", "C from 0.001 to 100, kernel matrix and start included.",
             Grid(headers, rows))  # fmt: skip


def whole(name: str, data_dir: Any) -> SimpleNamespace:
    """All examples, each feature of mean 0 and variance 1."""
    data = open_data(name, data_dir=data_dir)
    X = np.asarray(data.X, dtype=float)
    spread = X.std(axis=0)
    return SimpleNamespace(X=(X - X.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0), y=np.asarray(data.y))


def repeated() -> SimpleNamespace:
    """The breast cancer data with the first 50 rows once more."""
    data = wisconsin()
    return SimpleNamespace(X=np.concatenate([data.X, data.X[:50]]), y=np.append(data.y, data.y[:50]))


def wisconsin() -> SimpleNamespace:
    """Scikit-learn's breast cancer data, each feature of mean 0 and variance 1."""
    from sklearn.datasets import load_breast_cancer

    data = load_breast_cancer()
    return SimpleNamespace(
        X=(data.data - data.data.mean(axis=0)) / data.data.std(axis=0), y=2 * data.target - 1
    )


if __name__ == "__main__":
    main()
