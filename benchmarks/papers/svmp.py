"""Regenerate Tables II, III and IV of Ong, Shao & Yang (2010), the whole path of C.

python benchmarks/papers/svmp.py                  # about ten minutes; finished runs are kept
python benchmarks/papers/svmp.py --quick          # a smoke test
python benchmarks/papers/svmp.py --full madelon   # sets of Table IV
"""

from __future__ import annotations

import subprocess
import tempfile
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from shutil import which
from types import SimpleNamespace
from typing import Any

import numpy as np
from page import Page, arguments, carried_out
from remarks import SVMP as REMARKS
from verdicts import FIFTH, listed, near

from refsvm import RBF, SVMP, ActiveSet, DualProblem, KKTGap, Linear, PathTracker, Rounds, regularization_path
from refsvm.analysis.paths import SVD, PivotedQR, UpdatedInverse, UpdatedQR
from refsvm.datasets import open_data
from refsvm.experiment import Experiment, Grid, Instance, Problem, Strategy, TrackPath
from refsvm.experiment.grid import number
from refsvm.experiment.strategy import EIGHT_POINTS, Record, one_thread

# -- The published figures of Ong, Shao & Yang (2010): Tables II, III and IV ---------------------------------


@dataclass(frozen=True)
class There:
    """A line of Table II or III: what the paper found."""

    elbow: int
    events: int
    nullity: int
    seconds: tuple[float, float, float]
    cost: float
    special: int
    repairs: int


LINEAR = {
    "sonar": There(42, 207, 0, (1.046, 1.030, 1.290), 0.2153, 1, 0),
    "heart": There(14, 336, 0, (1.593, 1.625, 1.891), 0.003, 1, 0),
    "ionosphere": There(34, 388, 0, (1.968, 1.935, 2.437), 0.0233, 1, 0),
    "wbc": There(11, 507, 6, (4.328, 4.297, 4.515), 0.0075, 30, 0),
    "monk 1": There(105, 52, 98, (5.703, 11.82, 12.29), 0.0012, 7, 0),
    "monk 2": There(290, 1, 283, (2.687, 2.328, 2.359), 0.0004, 0, 0),
    "monk 3": There(119, 74, 86, (5.765, 6.062, 6.000), 0.0033, 24, 0),
    "diabetes": There(9, 350, 0, (3.578, 3.687, 3.906), 0.0004, 1, 0),
    "HillValley": There(17, 610, 0, (9.453, 9.312, 9.931), 0.0003, 2, 0),
    "german": There(28, 440, 3, (12.97, 13.18, 13.85), 0.0003, 0, 4),
}
GAUSSIAN = {
    "sonar": There(104, 8, 0, (0.265, 0.265, 0.312), 0.0823, 2, 1),
    "heart": There(170, 55, 0, (2.031, 1.218, 1.468), 0.0832, 6, 1),
    "ionosphere": There(193, 13, 1, (4.015, 2.328, 2.312), 0.2073, 0, 1),
    "wbc": There(195, 285, 29, (28.17, 20.62, 20.73), 0.0683, 3, 0),
    "monk 1": There(432, 32, 0, (21.43, 3.312, 3.708), 0.0089, 32, 0),
    "monk 2": There(432, 143, 0, (173.1, 20.65, 13.42), 0.1818, 0, 1),
    "monk 3": There(432, 270, 0, (211.1, 27.18, 20.62), 0.0965, 7, 1),
    "diabetes": There(457, 180, 0, (214.5, 27.97, 18.10), 0.0674, 1, 3),
    "HillValley": There(172, 641, 2, (42.65, 23.65, 27.21), 0.0016, 18, 11),
    "german": There(800, 112, 0, (728.2, 92.20, 41.48), 0.2456, 15, 1),
}
LARGE = {"svmguide3": (22, 920, 0, 58.28), "madelon": (501, 4061, 0, 754.8), "splice": (62, 6340, 3, 674.1)}
LARGE_GAUSSIAN = {"svmguide3": (1223, 266, 0), "madelon": (2000, 2, 0), "splice": (3149, 156, 179)}
SECOND_COST = {"sonar": 30.06, "heart": 11.00, "ionosphere": 10.82, "wbc": 0.0657, "monk 1": 0.0088, "monk 2": 13.74,
               "monk 3": 3.667, "diabetes": 7.703, "HillValley": 0.0198, "german": 22.256}  # fmt: skip
"""c^SL2 of Table III: the check turned off."""


# -- EventCost: a strategy that measures what one event costs, against the size of the elbow and n -----------


def noisy(n: int) -> SimpleNamespace:
    """n normal points in ten dimensions; the label is the sign of x₁x₂ + ½x₃ + noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 10))
    return SimpleNamespace(
        X=X, y=np.where(X[:, 0] * X[:, 1] + 0.5 * X[:, 2] + 0.5 * rng.normal(size=n) > 0, 1, -1)
    )


@dataclass(frozen=True)
class EventCost(Strategy):
    """Track `repeats` times; the fastest counts, without the kernel matrix and the start."""

    tracker: PathTracker = field(default_factory=SVMP)
    C_min: float = 1e-3
    C_max: float = 1e2
    repeats: int = 3

    def run(self, instance: Instance) -> Record:
        """Measure."""
        seconds = []
        for _ in range(self.repeats):
            path = regularization_path(
                instance.X, instance.y, kernel=instance.kernel, C_min=self.C_min, C_max=self.C_max,
                tracker=self.tracker,
            )  # fmt: skip
            seconds.append(path.seconds - path.start_seconds)
        return {
            "breakpoints": len(path.C),
            "mean_elbow": float(path.record.elbow.mean()),
            "largest_elbow": int(path.record.elbow.max()),
            "microseconds": 1e6 * min(seconds) / len(path.C),
        }


# -- AgainstLIBSVM: a strategy that compares the cost along a path with LIBSVM's at random λ -----------------


@dataclass(frozen=True)
class AgainstLIBSVM(Strategy):
    """The largest relative difference of the primal cost, as c_max of the paper, and of the dual objective.

    ``lambdas`` values of λ are drawn log-uniformly between 1/C_max and 1/C_min. LIBSVM stops at `tol`, or after
    `max_iter` steps; then the value is left out and counted as ``unfinished``.
    """

    C_min: float = 1e-4
    C_max: float = 1e3
    lambdas: int = 100
    tol: float = 1e-8
    max_iter: int = 100_000

    def run(self, instance: Instance) -> Record:
        """Track once, and train with LIBSVM at every λ."""
        X, y, kernel = instance.X, instance.y, instance.kernel
        path = regularization_path(X, y, kernel=kernel, C_min=self.C_min, C_max=self.C_max)
        K = np.ascontiguousarray(kernel(X, X))
        Cs = np.exp(
            np.random.default_rng(0).uniform(np.log(self.C_min), np.log(self.C_max), size=self.lambdas)
        )
        found = [values for C in Cs.tolist() if (values := self._compared(path, K, y, C)) is not None]
        primal, dual = np.array(found).T if found else (np.array([np.nan]),) * 2
        return {
            "cost_percent": 100.0 * float(np.abs(primal).max()),
            "objective_difference": float(np.abs(dual).max()),
            "unfinished": self.lambdas - len(found),
            "kkt_violation": path.kkt_audit().worst,
        }

    def _compared(self, path, K, y, C):
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.svm import SVC

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            peer = SVC(kernel="precomputed", C=C, tol=self.tol, max_iter=self.max_iter, cache_size=500).fit(
                K, y
            )
        if int(peer.n_iter_[0]) >= self.max_iter:
            return None
        theirs, ours = np.zeros(len(y)), path.alpha(C)
        theirs[peer.support_] = peer.dual_coef_[0]
        # ½αᵀKα + C Σ max(0, 1 − yh)
        costs = [
            0.5 * a @ K @ a + C * np.maximum(0.0, 1.0 - y * (K @ a + b)).sum()
            for a, b in ((ours, path.intercept(C)), (theirs, peer.intercept_[0]))
        ]
        duals = [y @ a - 0.5 * a @ K @ a for a in (ours, theirs)]
        return costs[0] / costs[1] - 1.0, duals[0] / duals[1] - 1.0


# -- RoundsAlongC: the strategy that a path replaces, warm-started rounds at given values of C ---------------


@dataclass(frozen=True)
class RoundsAlongC(Strategy):
    """Solve at every breakpoint of the path, each round from the one before, and compare with tracking in one process.

    ``tol`` is the KKT gap of a round. The path itself is exact to about 1e-12, far below that.
    """

    C_min: float = 1e-4
    C_max: float = 1e3
    tol: float = 1e-3
    repeats: int = 3

    def run(self, instance: Instance) -> Record:
        """Track and solve, `repeats` times each in turn; medians."""
        paths, rounds, iterations = [], [], 0
        for _ in range(self.repeats):
            began = time.process_time()
            path = regularization_path(
                instance.X, instance.y, kernel=instance.kernel, C_min=self.C_min, C_max=self.C_max
            )
            paths.append(time.process_time() - began)
            began = time.process_time()
            iterations = self._rounds(instance, path.C)
            rounds.append(time.process_time() - began)
        tracked, solved = float(np.median(paths)), float(np.median(rounds))
        return {
            "breakpoints": len(path.C),
            "seconds": tracked,
            "rounds_seconds": solved,
            "ratio": solved / tracked,
            "microseconds_per_event": 1e6 * tracked / len(path.C),
            "mean_elbow": float(path.record.elbow.mean()),
            "round_iterations": iterations,
        }

    def _rounds(self, instance: Instance, values: np.ndarray) -> int:
        problem = DualProblem.classification(instance.X, instance.y, kernel=instance.kernel, C=1.0)
        rounds, seeder, solution, iterations = Rounds(problem, stop=KKTGap(self.tol)), ActiveSet(), None, 0
        for C in values.tolist():
            lower, upper = C * problem.lower, C * problem.upper
            start = None if solution is None else seeder.seed(solution, rounds.boxed(lower, upper))
            solution = rounds.solve(lower=lower, upper=upper, start=start)
            iterations += solution.iterations
        return iterations


# -- PaperSettings: a strategy that tracks with the tolerances of Ong, Shao & Yang (2010), its cost beside ours --

NEVER = 10**9

AS_PRINTED = SVMP(
    algebra=PivotedQR(), eps_kkt=1e-3, eps_smo=1e-6, tau=1e-4, tau_2=1e-8, gamma=0.01, ell=50, refresh=NEVER,
    starts_at_bound=True,
)  # fmt: skip
"""ε_kkt, τ, τ₂, γ and ℓ of §VIII, QR with pivoting, a start by (55); ξ is updated by (39), never computed afresh."""

CHECK_OFF = replace(AS_PRINTED, eps_kkt=1e300)
"""The same without the check (56)."""


@dataclass(frozen=True)
class PaperSettings(Strategy):
    """Tracks once with `tracker`, once with ``SVMP()``, and compares their primal costs at random λ.

    ``lambdas`` values of λ are drawn log-uniformly between 1/C_max and 1/C_min.
    """

    tracker: SVMP = AS_PRINTED
    C_min: float = 1e-4
    C_max: float = 1e3
    lambdas: int = 100
    time_limit: float = 120.0

    def run(self, instance: Instance) -> Record:
        """Return what Tables II and III count."""
        X, y, kernel = instance.X, instance.y, instance.kernel
        span = {"C_min": self.C_min, "C_max": self.C_max, "kernel": kernel}
        found = regularization_path(
            X, y, tracker=self.tracker, merge=False, time_limit=self.time_limit, **span
        )
        ours = regularization_path(X, y, **span)
        K = np.ascontiguousarray(kernel(X, X))
        Cs = np.exp(
            np.random.default_rng(0).uniform(np.log(self.C_min), np.log(self.C_max), size=self.lambdas)
        )
        Cs = Cs[(found.C.min() <= Cs) & (found.C.max() >= Cs)]  # a path that loses its digits ends there
        # ½αᵀKα + C Σ max(0, 1 − yh)
        costs = [
            [0.5 * a @ K @ a + C * np.maximum(0.0, 1.0 - y * (K @ a + path.intercept(C))).sum() for path, a in
             ((found, found.alpha(C)), (ours, ours.alpha(C)))]
            for C in Cs.tolist()
        ]  # fmt: skip
        one, other = np.array(costs).T
        return {
            "largest_elbow": int(found.record.elbow.max()),
            "breakpoints": len(found.C),
            "nullity": found.nullity,
            "special": found.counts.get("special", 0),
            "repairs": found.counts.get("repair", 0) + found.counts.get("backup", 0),
            "cost_percent": 100.0 * float(np.abs(one / other - 1.0).max()),
            "kkt_violation": found.kkt_audit().worst,
            "reached": float(found.C.max()),
            "status": found.status.name,
        }


# -- CPU seconds of the path with each linear algebra of the elbow, section VII of Ong, Shao & Yang (2010) among them --

UPDATES = "Updates of QR factors"
NAMES = "SVD", "QR", "updated QR", "inverse"

REMARK = """
The table shows CPU seconds of one thread, including the kernel matrix and the start, with our default tolerances. For
short paths we take the fastest of the runs that fit into a second. The columns *of SVD* and *there* show the share of
the SVD's time that updates save, $1-t^{{UD}}/t^{{SVD}}$, in our runs and in Table III. Updates save up to {most} % of
this time in our runs, and up to 94 % in the paper's Table III (its conclusion says "up to 90%"). On {alike} of {of}
sets our share differs from the published share by at most 20 points. The factors come from `scipy.linalg.qr_insert` and
`qr_delete`; if the rank is in doubt, `UpdatedQR` computes the factors anew with pivots.
"""


@dataclass(frozen=True)
class CPUOfPath(Strategy):
    """Tracks, again and again for a second; its record has the least CPU seconds, and how many events the path has."""

    tracker: PathTracker = field(default_factory=SVMP)
    C_min: float = 1e-4
    C_max: float = 1e3
    enough: float = 1.0

    def warm_up(self) -> None:
        """Load compiled code and the linear algebra, or the first set would pay for them."""
        regularization_path(EIGHT_POINTS.X, EIGHT_POINTS.y, kernel=EIGHT_POINTS.kernel, engine="numba")
        replace(self, enough=0.0).run(EIGHT_POINTS)

    def run(self, instance: Instance) -> Record:
        """Measure."""
        turns: list[float] = []
        while not turns or sum(turns) < self.enough:
            with one_thread():
                began = time.process_time()
                path = regularization_path(
                    instance.X, instance.y, kernel=instance.kernel, C_min=self.C_min, C_max=self.C_max,
                    tracker=self.tracker, merge=False,
                )  # fmt: skip
                turns.append(time.process_time() - began)
        return {
            "cpu": min(turns),
            "breakpoints": len(path.C),
            "largest_elbow": int(path.record.elbow.max()),
            "kkt_violation": path.kkt_audit().worst,
        }


ALGEBRAS = [
    CPUOfPath(name, tracker=SVMP(algebra=algebra))
    for name, algebra in zip(NAMES, (SVD(), PivotedQR(), UpdatedQR(), UpdatedInverse()), strict=True)
]


def updates_table(
    names: Sequence[str], records: Sequence[dict[str, Any]], there: dict[str, tuple[float, float, float]]
) -> tuple[Grid, str]:
    """Return the table, and what it shows; `there` has the seconds of SVD, QR and updates in the paper."""
    found = {(record["problem"], record["strategy"]): record for record in records}
    rows, savings = [], []
    for name in names:
        own = [found[name, algebra] for algebra in NAMES]
        cpu = [record["cpu"] for record in own]
        saved, published = 1.0 - cpu[2] / cpu[0], 1.0 - there[name][2] / there[name][0]
        savings.append((saved, published))
        rows.append(
            (name, f"{own[2]['largest_elbow']:,}", f"{own[2]['breakpoints']:,}", *(number(each, 3) for each in cpu),
             f"{100 * saved:.0f} %", f"{100 * published:.0f} %", number(own[2]["kkt_violation"], 2))
        )  # fmt: skip
    heads = ("set", "largest elbow", "events", *(f"{name} (s)" for name in NAMES), "of SVD", "there", "KKT")
    alike = sum(abs(ours - other) <= 0.2 for ours, other in savings)
    text = REMARK.format(alike=alike, of=len(names), most=f"{100 * max(saved for saved, _ in savings):.0f}")
    return Grid(heads, tuple(rows)), text


# -- BesideR: a strategy that tracks the same data with R's package svmpath (Hastie) and with refsvm, in turns --

TRACK = """
suppressMessages(library(svmpath))
given <- commandArgs(TRUE)
table <- unname(as.matrix(read.csv(given[1], header = FALSE)))
y <- table[, 1]; x <- table[, -1]
began <- proc.time()
path <- try(svmpath(x, y, kernel.function = radial.kernel, param.kernel = as.numeric(given[2]),
                    lambda.min = as.numeric(given[3])), silent = TRUE)
seconds <- sum((proc.time() - began)[1:2])
if (inherits(path, "try-error")) {
    cat("failed", gsub("\\\\s+", " ", as.character(path)))
} else {
    cat("tracked", length(path$lambda), max(path$lambda), seconds)
}
"""


VERSIONS = """
of <- as.character(packageVersion("svmpath"))
cat(R.version.string, ", svmpath ", of, ", BLAS ", basename(La_library()), sep = "")
"""


def versions() -> str:
    """Say which R, which svmpath and which BLAS these are."""
    return subprocess.run(["Rscript", "-e", VERSIONS], capture_output=True, text=True, check=True).stdout


def installed() -> bool:
    """Whether Rscript finds svmpath."""
    if which("Rscript") is None:
        return False
    command = ["Rscript", "-e", "quit(status = !requireNamespace('svmpath', quietly = TRUE))"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


@dataclass(frozen=True)
class BesideR(Strategy):
    """CPU seconds of both from svmpath's first λ down to 1/C_max, kernel matrix included; the fastest turn of each.

    It needs Rscript and the package svmpath; `installed` tells whether both are there.
    """

    C_max: float = 1e3
    repeats: int = 5

    def run(self, instance: Instance) -> Record:
        """Take turns; if svmpath fails, keep its message."""
        C_min, theirs, ours, events = 1e-4, [], [], 0
        message = ""
        for _ in range(self.repeats):
            answer = self._tracked_by_r(instance).split(maxsplit=1)
            if answer[0] == "tracked":
                count, first, seconds = (float(part) for part in answer[1].split())
                events, C_min = int(count), 1.0 / first
                theirs.append(seconds)
            else:
                message = answer[1]
            began = time.process_time()
            path = regularization_path(
                instance.X, instance.y, kernel=instance.kernel, C_min=C_min, C_max=self.C_max
            )
            ours.append(time.process_time() - began)
        return {
            "n": len(instance.y),
            "events_r": events,
            "seconds_r": min(theirs, default=0.0),
            "failure": message,
            "breakpoints": len(path.C),
            "seconds": min(ours),
            "kkt_violation": path.kkt_audit().worst,
        }

    def _tracked_by_r(self, instance: Instance) -> str:
        """Return 'tracked', events, first λ and seconds, or 'failed' and why."""
        gamma: float = instance.kernel.gamma  # type: ignore[union-attr]
        with tempfile.TemporaryDirectory() as folder:
            data, script = Path(folder) / "data.csv", Path(folder) / "track.R"
            np.savetxt(data, np.column_stack([instance.y, instance.X]), delimiter=",", fmt="%.17g")
            script.write_text(TRACK)
            command = ["Rscript", str(script), str(data), repr(gamma), repr(1.0 / self.C_max)]
            return subprocess.run(command, capture_output=True, text=True, check=True).stdout


# -- The page --------------------------------------------------------------------------------------------------

ARCHIVES = {
    "sonar": ("sonar", 104), "heart": ("ida_heart", 170), "ionosphere": ("ionosphere", 200), "wbc": ("wbc", 350),
    "monk 1": ("monks1", 432), "monk 2": ("monks2", 432), "monk 3": ("monks3", 432),
    "diabetes": ("ida_diabetis", 468), "HillValley": ("hill_valley_noise", 606), "german": ("ida_german", 800),
    "svmguide3": ("svmguide3", 1243), "madelon": ("madelon", 2000), "splice": ("ida_splice", 3175),
}  # fmt: skip
SLOW = ("diabetes", "HillValley", "german")
"""Sets on which the SVD of the elbow at every event takes 7 to 30 seconds: their updates are measured if asked for."""
LEFT_OUT = "Not measured: {names}, on which the SVD takes longest; `--full` with their names measures them."
SETTINGS = """
Each cell shows our figure / the published figure. A path of this package ends when, because of rounding errors, it
violates the optimality conditions by more than the tolerance. We compare the costs at 100 values of λ, except values
that the path does not reach.
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
    names = [name for name in LARGE_GAUSSIAN if name in chosen.full]
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
        "Each cell shows our figure / the published figure.",
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
    page.add(
        "Which Gaussian",
        "The table counts breakpoints with σ = 0.5:",
        Grid(headers, tuple(rows)),
        REMARKS["gaussian"],
    )


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
    page.add(title, "Each cell shows our figure / the published figure.", Grid(headers, tuple(rows)),
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
        "Each cell shows our figure / the published figure.",
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
    text = "The data set is Breast cancer (Wisconsin, diagnostic), 569 × 30 standardised; the kernel is RBF(0.1)."
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
    page.add("german (n = 1,000) and image (n = 2,310)",
             "The path goes from C = 0.001 to 100. The seconds include the kernel matrix and the start.",
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
