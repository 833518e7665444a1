"""Experiments: nothing is run twice, nothing finished is lost, and the tables say what the runs did."""

import json
import signal
import sqlite3
import subprocess
import sys
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from threading import Timer

import numpy as np
import pytest

from refsvm import (
    RBF,
    KKTGap,
    Linear,
    MostViolatingPair,
    NewtonStep,
    PlanningAheadStep,
    Precomputed,
    SecondOrder,
    Status,
)
from refsvm.datasets import Dataset, make_banana, make_chessboard
from refsvm.experiment import (
    STEP_RATIO_EDGES,
    Comparison,
    Experiment,
    Grid,
    Instance,
    Problem,
    RunStore,
    Solve,
    Strategy,
    Summary,
    paired_p,
    strategy,
)
from refsvm.experiment.comparison import summarise
from refsvm.experiment.grid import p_value
from refsvm.experiment.identity import described, digest, fingerprint

from ..settings import FAST, NUMBA
from .two_hundred import two_hundred


@dataclass(frozen=True)
class Echo(Strategy):
    """Measures the order that it is given: examples are numbered, the metric depends on the first one."""

    factor: float = 1.0

    def measure(self, instance):
        return {
            "first": self.factor * float(instance.X[0, 0]),
            "order": instance.X[:, 0].tolist(),
            "nothing": float("nan"),
            "status": "CONVERGED",
        }


def numbered(n=20):
    return Dataset("numbered", np.arange(1.0, n + 1)[:, None], np.where(np.arange(n) % 2 == 0, -1.0, 1.0))


def echoes(store, *factors, **changes):
    arguments = {
        "strategies": [Echo(f"times {factor:g}", factor) for factor in factors or (1.0, 2.0)],
        "problems": [Problem("numbered", numbered), Problem("long", partial(numbered, 40))],
        "store": store,
        "permutations": 6,
    }
    return Experiment(**(arguments | changes))


@pytest.fixture
def store(tmp_path):
    return tmp_path / "runs.sqlite"


@pytest.fixture
def solved(monkeypatch):
    """The instances that are measured in this process, in order."""
    seen = []

    def counted(self, instance):
        seen.append((self.name, instance))
        return plain(self, instance)

    plain = Solve.measure
    monkeypatch.setattr(Solve, "measure", counted)
    return seen


def without_seconds(experiment):
    return [
        {key: value for key, value in record.items() if key != "seconds"} for record in experiment.records()
    ]


def rows_of(store):
    with sqlite3.connect(store) as connection:
        return connection.execute("SELECT hash, config, problem, strategy, metrics FROM runs").fetchall()


# -- runs --------------------------------------------------------------------------------------------------------------


def test_a_finished_run_is_not_repeated(store, solved):
    small = replace(two_hundred(store), permutations=2)
    assert small.run() == len(solved) == 8
    larger = replace(small, permutations=3)
    assert larger.run() == 4
    assert len(solved) == 12
    assert larger.run() == 0
    assert len(solved) == 12
    assert len(larger.records()) == len(rows_of(store)) == 12


def test_every_strategy_gets_the_same_orders_and_every_order_is_another_one(store):
    experiment = echoes(store, seed=5)
    assert experiment.run() == 24
    orders = {}
    for record in experiment.records():
        orders.setdefault((record["problem"], record["permutation"]), []).append(record["order"])
    assert all(len(pair) == 2 and pair[0] == pair[1] for pair in orders.values())
    assert len({tuple(pair[0]) for pair in orders.values()}) == 12
    expected = np.arange(1.0, 21)[np.random.default_rng((5, 3)).permutation(20)]
    assert orders["numbered", 3][0] == expected.tolist()


@pytest.mark.parametrize("kernel", [RBF(0.5), Precomputed()])
def test_a_permutation_moves_labels_with_examples(kernel):
    data = make_banana(12, rng=0)
    X = RBF(0.5)(data.X, data.X) if isinstance(kernel, Precomputed) else data.X
    instance = Instance(X, data.y, kernel, 1.0)
    moved = instance.permuted(seed=4, k=2)
    order = np.random.default_rng((4, 2)).permutation(12)
    assert np.array_equal(moved.y, data.y[order])
    everything = np.arange(12)
    assert np.array_equal(
        moved.dual().gram.block(everything),
        instance.dual().gram.block(everything)[np.ix_(order, order)],
    )


def test_sparse_examples_are_permuted_too(store):
    sparse = pytest.importorskip("scipy.sparse")
    dense = make_banana(15, rng=0)
    compressed = replace(dense, X=sparse.csr_matrix(dense.X))
    exact = Solve("SMO", stop=KKTGap(1e-10), engine="numpy")
    results = []
    for name, data in (("dense", dense), ("sparse", compressed)):
        one = Experiment([exact], [Problem(name, lambda data=data: data, RBF(0.5))], store)
        assert one.run() == 1
        results.append(one.records()[0]["objective"])
    assert results[0] == pytest.approx(results[1], rel=1e-9)
    assert len(rows_of(store)) == 2


def smo(**changes):
    return Solve("SMO", **({"engine": "numpy", "selector": SecondOrder(), "step": NewtonStep()} | changes))


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 1},
        {"problems": [Problem("banana", partial(make_banana, 30, rng=0), RBF(0.5), C=2.0)]},
        {"problems": [Problem("banana", partial(make_banana, 30, rng=0), RBF(0.6))]},
        {"problems": [Problem("banana", partial(make_banana, 30, rng=0), Linear())]},
        {"problems": [Problem("banana", partial(make_banana, 30, rng=1), RBF(0.5))]},
        {"strategies": [smo(selector=MostViolatingPair())]},
        {"strategies": [smo(selector=SecondOrder(planned_range=0.5))]},
        {"strategies": [smo(step=PlanningAheadStep())]},
        {"strategies": [smo(stop=KKTGap(1e-4))]},
        {"strategies": [smo(cache_mb=1.0)]},
        {"strategies": [smo(shrinking=False)]},
        {"strategies": [smo(max_iter=3)]},
        {"strategies": [smo(time_limit=100.0)]},
        {"strategies": [smo(trace=True)]},
        {"strategies": [Echo("SMO")]},
    ],
)
def test_what_changes_the_outcome_makes_another_run(store, change):
    experiment = Experiment(
        [smo()],
        [Problem("banana", partial(make_banana, 30, rng=0), RBF(0.5))],
        store,
    )
    assert experiment.run() == 1
    assert replace(experiment, **change).run() == 1
    assert experiment.run() == 0


def test_names_make_no_other_run(store):
    experiment = Experiment([Echo("a")], [Problem("one", numbered)], store)
    assert experiment.run() == 1
    renamed = Experiment([Echo("b"), Echo("c", 3.0)], [Problem("two", numbered)], store)
    assert renamed.run() == 1
    assert [(r["problem"], r["strategy"]) for r in renamed.records()] == [("two", "b"), ("two", "c")]


def test_a_new_version_repeats_the_runs(store, monkeypatch):
    assert echoes(store).run() == 24
    monkeypatch.setattr("refsvm.__version__", "999")
    assert echoes(store).run() == 24


def test_progress_counts_what_was_there_before(store):
    experiment = echoes(store, permutations=1)
    experiment.run()
    told = []
    replace(experiment, permutations=2).run(progress=lambda done, total: told.append((done, total)))
    assert told == [(4, 8), (5, 8), (6, 8), (7, 8), (8, 8)]


def test_several_processes_find_what_one_finds(store, tmp_path):
    pytest.importorskip("joblib")
    experiment = replace(two_hundred(store), permutations=3)
    assert experiment.run(n_jobs=2) == 12
    alone = replace(experiment, store=tmp_path / "alone.sqlite")
    assert alone.run() == 12
    assert without_seconds(experiment) == without_seconds(alone)
    assert experiment.run(n_jobs=2) == 0


def test_an_interrupted_run_is_not_stored(store, monkeypatch):
    def interrupted(*arguments, **more):
        return replace(plain(*arguments, **more), status=Status.INTERRUPTED)

    plain = strategy.solve
    monkeypatch.setattr(strategy, "solve", interrupted)
    experiment = replace(two_hundred(store), permutations=1)
    with pytest.raises(KeyboardInterrupt):
        experiment.run()
    assert rows_of(store) == []
    monkeypatch.undo()
    assert experiment.run() == 4


def test_a_refusal_names_the_run_and_keeps_those_before_it(store):
    experiment = Experiment(
        [Echo("echo"), Solve("tight", engine="numpy", cache_mb=1e-9)], [Problem("numbered", numbered)], store
    )
    with pytest.raises(ValueError, match="does not hold two kernel rows") as caught:
        experiment.run()
    assert caught.value.__notes__ == ["Refused: strategy 'tight' on problem 'numbered'."]
    assert len(rows_of(store)) == 1


def test_strategies_are_warmed_up_once_in_a_process(store, monkeypatch):
    from refsvm.experiment import experiment as module

    @dataclass(frozen=True)
    class Warm(Echo):
        def warm_up(self):
            warmed.append(self.factor)

    warmed = []
    monkeypatch.setattr(module, "_warm", set())
    problems = [Problem("numbered", numbered), Problem("long", partial(numbered, 40))]
    Experiment([Warm("a"), Warm("b", 2.0)], problems, store, permutations=3).run()
    assert warmed == [1.0, 2.0]


# -- kills, and several writers ----------------------------------------------------------------------------------------


def child(store):
    """Start a process that works on the 200 runs and says after each one how many are finished."""
    script = Path(__file__).with_name("two_hundred.py")
    return subprocess.Popen([sys.executable, script, store], stdout=subprocess.PIPE, text=True)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no SIGKILL")
def test_an_experiment_killed_half_way_resumes_and_gives_the_same_table(store, tmp_path, solved):
    process = child(store)
    with process.stdout:
        for line in process.stdout:
            if line.split() == ["100", "200"]:
                process.send_signal(signal.SIGKILL)
                break
    assert process.wait() == -signal.SIGKILL
    before = rows_of(store)
    assert 100 <= len(before) < 200
    experiment = two_hundred(store)
    assert experiment.run() == len(solved) == 200 - len(before)
    after = rows_of(store)
    assert set(before) <= set(after)
    assert len(after) == 200
    undisturbed = two_hundred(tmp_path / "undisturbed.sqlite")
    assert undisturbed.run() == 200
    assert without_seconds(experiment) == without_seconds(undisturbed)
    for metric in ("iterations", "kernel_rows", "objective"):
        assert experiment.compare(metric) == undisturbed.compare(metric)


def test_several_processes_fill_one_store(store):
    processes = [child(store) for _ in range(3)]
    outputs = [process.communicate()[0].splitlines() for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0]
    assert all(lines[-1] == "200 200" for lines in outputs)
    assert len(rows_of(store)) == 200
    assert len(two_hundred(store).records()) == 200


def test_a_second_writer_waits_for_the_first(store):
    experiment = echoes(store)
    RunStore(store).prepare()
    other = sqlite3.connect(store, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    release = Timer(0.3, lambda: other.execute("ROLLBACK"))
    release.start()
    assert experiment.run() == 24
    release.join()
    other.close()


def test_a_run_finished_by_somebody_else_meanwhile_is_left_alone(store):
    class Meanwhile(Echo):
        def measure(self, instance):
            if self.factor == 1.0:
                echoes(store, 2.0, problems=[Problem("numbered", numbered)]).run()
            return super().measure(instance)

    mine = echoes(store, problems=[Problem("numbered", numbered)])
    hooked = replace(mine, strategies=[Meanwhile("times 1"), Echo("times 2", 2.0)])
    assert hooked.run() == 6
    assert len(rows_of(store)) == 12


# -- the store ---------------------------------------------------------------------------------------------------------


def test_the_store_is_plain_sqlite_in_write_ahead_mode(store):
    echoes(store, 1.0).run()
    with sqlite3.connect(store) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        config, metrics = connection.execute("SELECT config, metrics FROM runs LIMIT 1").fetchone()
    assert '"examples": ' in config
    assert '"nothing": null' in metrics
    assert "pickle" not in config + metrics


def test_the_store_keeps_the_first_of_two_rows(store):
    runs = RunStore(store)
    runs.prepare()
    for iterations in (1, 2):
        runs.add("abc", config={}, problem="p", strategy="s", metrics={"iterations": iterations})
    assert runs.metrics(["abc"]) == {"abc": {"iterations": 1}}


def test_the_hash_is_of_the_whole_config(store):
    assert digest({"a": 1, "b": 2.5}) == digest({"b": 2.5, "a": 1})
    assert digest({"a": 1}) != digest({"a": 2})
    echoes(store, 1.0, permutations=1).run()
    assert all(digest(json.loads(config)) == run for run, config, *_ in rows_of(store))


def test_a_fingerprint_sees_every_value():
    X, y = np.zeros((3, 2)), np.array([1.0, -1.0, 1.0])
    other = X.copy()
    other[2, 1] = 1e-300
    prints = {fingerprint(X, y), fingerprint(other, y), fingerprint(X, -y), fingerprint(X.reshape(2, 3), y)}
    assert len(prints) == 4
    sparse = pytest.importorskip("scipy.sparse")
    both = sparse.csr_matrix(np.eye(3)), sparse.csr_matrix(np.eye(3)[::-1])
    assert len({fingerprint(each, y) for each in both}) == 2


# -- what is measured --------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not NUMBA, reason="Numba is not installed")
def test_the_metrics_are_those_of_the_solution():
    board = Problem("board", partial(make_chessboard, 60, rng=0), RBF(0.5), C=1000.0).instance()
    plain = Solve("SMO", shrinking=False, engine=FAST)
    solution = plain._solve(board)
    metrics = plain.measure(board)
    for name in ("iterations", "kernel_rows", "kernel_hits", "objective", "kkt_gap", "duality_gap", "engine"):
        assert metrics[name] == getattr(solution, name)
    assert metrics["status"] == "CONVERGED"
    assert metrics["support_vectors"] == np.count_nonzero(solution.alpha)
    assert metrics["bounded_support_vectors"] == np.count_nonzero(np.abs(solution.alpha) == 1000.0)
    assert "planned_steps" not in metrics


def test_a_traced_run_counts_its_planned_steps():
    board = Problem("board", partial(make_chessboard, 60, rng=0), RBF(0.5), C=1000.0).instance()
    planned = Solve("planned", step=PlanningAheadStep(), shrinking=False, engine=FAST, trace=True)
    metrics = planned.measure(board)
    trace = planned._solve(board).trace
    assert 0 < metrics["planned_steps"] < metrics["free_steps"] <= metrics["iterations"]
    rows = trace.rows[trace["planned"] == 1]
    ratio = rows["step"] / rows["newton"] - 1.0
    by_hand = [int(((low <= ratio) & (ratio < high)).sum()) for low, high in pairwise(STEP_RATIO_EDGES)]
    assert metrics["step_ratio_histogram"] == by_hand
    assert sum(by_hand) == metrics["planned_steps"]


# -- numbers and tables ------------------------------------------------------------------------------------------------


def test_the_p_value_is_that_of_the_signed_rank_test():
    scipy_stats = pytest.importorskip("scipy.stats")
    # Plant heights, in R's and SciPy's documentation: W = 24, p = 0.041259765625.
    difference = np.array([6, 8, 14, 16, 23, 24, 28, 29, 41, -48, 49, 56, 60, -67, 75.0])
    second = np.linspace(3, 9, 15)
    assert paired_p(second + difference, second) == pytest.approx(0.041259765625, rel=1e-12)
    assert paired_p(second + difference, second) == scipy_stats.wilcoxon(difference).pvalue
    assert paired_p([1.0, 2.0], [1.0, 2.0]) == 1.0
    assert paired_p([1.0], [2.0]) is None


@pytest.mark.parametrize(
    ("p", "shown"), [(0.00099, "< 0.001"), (0.001, "0.001"), (0.0125, "0.013"), (1.0, "1.000"), (None, "–")]
)
def test_small_p_values_are_shown_as_a_bound(p, shown):
    assert p_value(p) == shown


def test_a_summary_pairs_by_permutation():
    pytest.importorskip("scipy")
    baseline = {k: 10.0 + k for k in range(6)}
    own = {9: 1000.0} | {k: 10.1 + 1.01 * k for k in range(5, -1, -1)}  # always more, but only pair by pair
    summary = summarise(own, baseline)
    assert summary.runs == 7
    assert summary.mean == pytest.approx(np.mean(list(own.values())))
    assert summary.sd == pytest.approx(np.std(list(own.values()), ddof=1))
    assert summary.ratio == pytest.approx(sum(10.1 + 1.01 * k for k in range(6)) / 75)
    assert summary.p == pytest.approx(2 / 2**6)
    assert summarise({0: 3.0}) == Summary(1, 3.0, None)


def test_a_comparison_has_means_ratios_and_their_geometric_mean(store):
    pytest.importorskip("scipy")
    experiment = echoes(store, 1.0, 2.0)
    experiment.run()
    comparison = experiment.compare("first", baseline="times 1")
    first = [record["first"] for record in experiment.records() if record["strategy"] == "times 1"]
    assert comparison.cells["numbered", "times 1"].mean == pytest.approx(np.mean(first[:6]))
    assert comparison.cells["long", "times 1"].mean == pytest.approx(np.mean(first[6:]))
    assert comparison.cells["numbered", "times 2"].ratio == pytest.approx(2.0)
    assert comparison.cells["numbered", "times 1"].ratio is None
    assert comparison.geometric_mean("times 2") == pytest.approx(2.0)
    assert comparison.geometric_mean("times 1") is None


CELLS = {
    ("heart_x", "A"): Summary(20, 1883310.4, 1234.56),
    ("heart_x", "B"): Summary(20, 1186963.0, 99.5, 0.6302536, 0.0000191),
    ("image", "A"): Summary(20, 0.02134, 0.0001),
    ("image", "B"): Summary(20, 0.02, 0.0001, 0.9372, 0.0312),
    ("lost", "A"): Summary(1, 5.0, None),
}
COMPARISON = Comparison("iterations", ("heart_x", "image", "lost"), ("A", "B"), "A", CELLS)


def test_a_table_in_markdown():
    pytest.importorskip("tabulate")
    lines = (
        COMPARISON.table(beside={"published": {"heart_x": 1883310.0, "image": "6,553"}})
        .to_markdown()
        .splitlines()
    )
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert cells[0] == ["problem", "A", "B", "B / A", "p", "published"]
    assert lines[1].startswith("|:--")
    assert cells[2] == ["heart_x", "1,883,310 ± 1,235", "1,186,963 ± 100", "0.630", "< 0.001", "1,883,310"]
    assert cells[3] == ["image", "0.02134 ± 1.0e-04", "0.02000 ± 1.0e-04", "0.937", "0.031", "6,553"]
    assert cells[4] == ["lost", "5.000", "–", "–", "–", ""]
    assert cells[5] == ["geometric mean", "", "", "0.769", "", ""]
    assert len(cells) == 6


def test_a_table_in_latex():
    pytest.importorskip("tabulate")
    text = COMPARISON.table().to_latex()
    assert text.startswith("\\begin{tabular}{lrrrr}\n\\toprule\n")
    assert text.endswith("\\bottomrule\n\\end{tabular}")
    assert " heart\\_x " in text
    assert "\\ensuremath{<} 0.001 \\\\" in text
    assert text.count("\\\\\n") == 5


def test_a_table_without_a_baseline_has_no_ratios():
    grid = Comparison("iterations", ("image",), ("A", "B"), None, CELLS).table(digits=2)
    assert grid == Grid(("problem", "A", "B"), (("image", "0.021 ± 1.0e-04", "0.020 ± 1.0e-04"),))


def test_a_listing_has_a_row_for_each_strategy(store):
    experiment = echoes(store, 1.0, 2.0, permutations=1)
    experiment.run()
    grid = experiment.listing({"first": 2}, beside={"there": {("long", "times 2"): 7.0}})
    assert grid.headers == ("problem", "strategy", "first", "there")
    assert [row[:2] for row in grid.rows] == [
        ("numbered", "times 1"), ("numbered", "times 2"), ("long", "times 1"), ("long", "times 2"),
    ]  # fmt: skip
    assert [row[3] for row in grid.rows] == ["", "", "", "7.0"]
    assert float(grid.rows[3][2]) == 2 * float(grid.rows[2][2])
    assert grid.labels == 2


def test_a_frame_has_a_row_for_each_run(store):
    pytest.importorskip("pandas")
    experiment = echoes(store)
    experiment.run()
    frame = experiment.to_frame()
    assert len(frame) == 24
    assert list(frame.columns) == [
        "problem",
        "strategy",
        "permutation",
        "first",
        "order",
        "nothing",
        "status",
    ]
    assert frame["nothing"].isna().all()
    assert frame.groupby("strategy")["first"].mean()["times 2"] == pytest.approx(
        2 * frame.groupby("strategy")["first"].mean()["times 1"]
    )


def test_without_tabulate_there_is_a_sentence(monkeypatch):
    from refsvm.experiment import grid

    monkeypatch.setattr(grid, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"need the package tabulate; install it"):
        Grid(("a",), (("b",),)).to_markdown()


# -- refusals ----------------------------------------------------------------------------------------------------------


def refused(action, *parts):
    with pytest.raises((ValueError, OSError)) as caught:
        action()
    sentence = str(caught.value)
    assert sentence.endswith((".", "?"))
    assert "\n" not in sentence
    for part in parts:
        assert part in sentence


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        ({"strategies": []}, ["strategies is empty", "at least one Strategy"]),
        ({"problems": []}, ["problems is empty"]),
        ({"strategies": [NewtonStep()]}, ["strategies holds NewtonStep()", "no Strategy"]),
        ({"strategies": [Echo("a"), Echo("a", 2.0)]}, ["two of the name 'a'"]),
        ({"problems": [numbered]}, ["problems holds", "no Problem"]),
        ({"permutations": 0}, ["permutations=0", "whole number"]),
        ({"seed": -1}, ["seed=-1"]),
        ({"seed": 1.5}, ["seed=1.5"]),
    ],
)
def test_a_bad_experiment_is_refused(store, change, parts):
    refused(lambda: echoes(store, **change), *parts)


@pytest.mark.parametrize("n_jobs", [0, 1.5, "two", True])
def test_a_bad_number_of_processes_is_refused(store, n_jobs):
    refused(lambda: echoes(store).run(n_jobs=n_jobs), f"n_jobs={n_jobs!r}", "-1")


def test_a_bad_problem_is_refused():
    refused(lambda: Problem("x", numbered, C=0), "C=0", "positive")
    refused(lambda: Problem("x", 3), "load=3", "cannot be called")
    refused(
        lambda: Problem("x", numbered, kernel=lambda X, Z: X @ Z.T), "kernel=<function", "frozen dataclass"
    )
    refused(lambda: described("step", object()), "step=<object object at")


def test_rules_that_do_not_fit_are_refused_when_the_strategy_is_made():
    refused(lambda: Solve("x", selector=MostViolatingPair(), step=PlanningAheadStep()), "cannot be combined")


def test_a_bad_store_is_refused(tmp_path):
    refused(lambda: echoes(tmp_path).run(), "store=", "a folder that exists")
    refused(lambda: echoes(tmp_path / "no" / "runs.sqlite").run(), "store=", "a folder that exists")
    text = tmp_path / "text.txt"
    text.write_text("no database, but long enough to have a header of the size that one has" * 20)
    refused(lambda: echoes(text).run(), "text.txt", "not an SQLite file")
    assert text.read_text().startswith("no database")
    other = tmp_path / "other.sqlite"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE runs (x)")
    connection.close()
    refused(lambda: echoes(other).run(), "other.sqlite", "did not make")


def test_a_store_that_cannot_be_used_is_refused(store, monkeypatch):
    from refsvm.experiment import store as module

    monkeypatch.setattr(module, "_PATIENCE", 0.05)
    runs = RunStore(store)
    runs.prepare()
    other = sqlite3.connect(store, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    refused(lambda: runs.add("a", config={}, problem="p", strategy="s", metrics={}), "locked", "another file")
    other.close()
    runs.add("a", config={}, problem="p", strategy="s", metrics={})


def test_tables_of_what_is_not_there_are_refused(store):
    experiment = echoes(store)
    refused(lambda: experiment.compare("first"), "no finished run", "call run() first")
    experiment.run()
    refused(lambda: experiment.compare("fist"), "metric='fist'", "did you mean 'first'?")
    refused(lambda: experiment.compare("permutation"), "metric='permutation'")
    refused(lambda: experiment.compare("status"), "metric='status'", "not a number")
    refused(lambda: experiment.compare("first", baseline="x"), "baseline='x'", "times 1, times 2")
