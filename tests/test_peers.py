"""The comparison with other libraries: its tables, its checks, and what it does with a library that crashes."""

import doctest
import json
import math
import multiprocessing
import re
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from refsvm import RBF, DualProblem, KKTGap, solve
from refsvm.datasets import Dataset, load

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"

LIBRARY = '''
import os, signal, time
import numpy as np
from refsvm import RBF, DualProblem, KKTGap, solve

class Machine:
    """Trains with the readable engine; misbehaves on request, if there are at least so many examples."""

    def __init__(self, C, gamma, tol, kernel, cache_size, fault="", least=0):
        self.C, self.gamma, self.tol, self.fault, self.least = C, gamma, tol, fault, least

    def fit(self, X, y):
        fault = self.fault if len(y) >= self.least else ""
        if fault == "crash":
            os.kill(os.getpid(), signal.SIGSEGV)
        if fault == "sleep":
            time.sleep(5.0)
        if fault == "eat":
            self.eaten = np.ones(2**26)
            time.sleep(5.0)
        if fault == "raise":
            raise SystemExit(3)
        problem = DualProblem.classification(X, y, kernel=RBF(self.gamma), C=self.C)
        alpha = solve(problem, stop=KKTGap(self.tol), engine="numpy").alpha
        self.support_ = np.flatnonzero(alpha)
        self.dual_coef_ = -alpha[None, self.support_] * (0.9 if fault == "early" else 1.0)
        return self

    def predict(self, X):
        return np.ones(len(X))
'''


@pytest.fixture
def peers(monkeypatch, tmp_path):
    """Import the benchmark; put a library that misbehaves on the path, for this process and those it starts."""
    monkeypatch.syspath_prepend(BENCHMARKS)
    (tmp_path / "misbehaving.py").write_text(LIBRARY)
    monkeypatch.syspath_prepend(tmp_path)
    return lambda name: import_module(f"side_by_side.{name}")


@pytest.fixture
def thyroid():
    data = load("thyroid")
    return Dataset("thyroid", data.X, data.y, C=10.0, gamma=0.05)


def library(peers, name, fault="", least=0):
    options = {"fault": fault, "least": least}
    return peers("libraries").Library(name, "misbehaving:Machine", "none", options)


def row(peers, name, n=1000, **seconds):
    turns = peers("turns")
    outcomes = {
        key: turns.Outcome(stopped=value) if isinstance(value, str) else turns.Outcome(value, objective=1.0)
        for key, value in seconds.items()
    }
    return turns.Row(name, n, 2, outcomes)


@pytest.mark.parametrize(
    "name", ["agreement", "growth", "libraries", "problems", "report", "watching", "worker"]
)
def test_the_examples_hold(peers, name):
    assert doctest.testmod(peers(name)).failed == 0


# -- tables ------------------------------------------------------------------------------------------------------------


def cells(table):
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]


def test_the_table_shows_the_ratio_to_the_fastest_of_the_others_and_the_geometric_mean(peers):
    pytest.importorskip("tabulate")
    rows = [
        row(peers, "a", ours=0.001, b=0.004, c=0.002),
        row(peers, "b", ours=0.016, b=0.008, c="crashed: SIGSEGV"),
    ]
    head, _, a, b, mean = cells(peers("report").times_table(rows))
    assert head == ["set", "n", "d", "ours", "b", "c", "ratio to the fastest"]
    assert a == ["a", "1,000", "2", "1.00", "4.00", "2.00", "0.50"]
    assert b == ["b", "1,000", "2", "16.0", "8.00", "crashed: SIGSEGV", "2.00"]
    assert mean[-1] == "**1.00**"


def test_a_row_without_our_result_has_no_ratio(peers):
    pytest.importorskip("tabulate")
    rows = [row(peers, "a", ours="over 10 min", b=1.0), row(peers, "b", ours=1.0, b=4.0)]
    *_, a, _, mean = cells(peers("report").times_table(rows))
    assert a[-1] == "–"
    assert mean[-1] == "**0.25**"
    assert "a (no result)" in peers("report").slower(rows)


def test_a_small_loss_on_a_small_set_is_told_as_such(peers):
    rows = [row(peers, "tiny", n=200, ours=1.2e-3, b=1e-3), row(peers, "large", ours=1.2e-3, b=1e-3)]
    found = peers("report").slower(rows)
    assert "tiny (by 0.200 ms, small and by less than 0.3 ms), large (by 0.200 ms)" in found
    assert peers("report").slower([row(peers, "a", ours=1.0, b=2.0)]) == "ours is the fastest on all."


def test_a_large_problem_shows_seconds_and_memory_and_why_there_are_none(peers):
    pytest.importorskip("tabulate")
    found = row(peers, "a", ours=2.0, b="over 16 GB")
    found.outcomes["ours"].peak = 1.5e9
    *_, line = cells(peers("report").large_table([found]))
    assert line == ["a", "1,000", "2", "2.00", "1.50", "over 16 GB", "–", "–"]


def test_the_defaults_are_compared_with_the_first_variant(peers):
    pytest.importorskip("tabulate")
    rows = [row(peers, "a", ours=1.0, other=2.0), row(peers, "b", ours=1.0, other=8.0)]
    *_, mean = cells(peers("report").defaults_table(rows))
    assert mean == ["geometric mean", "", "4.00"]


def test_the_shares_of_the_parts_add_up_to_the_whole(peers):
    pytest.importorskip("tabulate")
    found = row(peers, "a", ours=4.0)
    found.outcomes["ours"].parts = {"kernel rows": 3.0, "rest": 1.0}
    head, _, line = cells(peers("report").shares_table([found]))
    shares = dict(zip(head, line, strict=True))
    assert (shares["kernel rows"], shares["loop"], shares["rest"]) == ("75%", "0%", "25%")


# -- the same answer ---------------------------------------------------------------------------------------------------


def evidence(peers, data, factor=1.0, dtype=np.float64):
    problem = DualProblem.classification(data.X, data.y, kernel=RBF(data.gamma), C=data.C)
    alpha = solve(problem, stop=KKTGap(1e-6), engine="numpy").alpha
    support = np.flatnonzero(alpha)
    coef = (factor * alpha[support]).astype(dtype).astype(np.float64)
    return peers("tasks").Evidence(support=support, coef=coef), problem.objective(alpha)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_objective_is_that_of_the_whole_problem_whichever_class_comes_first(peers, thyroid, sign):
    found, objective = evidence(peers, thyroid, factor=sign)
    assert peers("agreement").dual_objective(thyroid, found) == pytest.approx(objective, rel=1e-12)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_gap_is_that_on_all_examples(peers, thyroid, sign):
    found, _ = evidence(peers, thyroid, factor=sign)
    assert peers("agreement").kkt_gap(thyroid, found) <= 1e-6
    spoiled, _ = evidence(peers, thyroid, factor=0.9 * sign)
    assert peers("agreement").kkt_gap(thyroid, spoiled) > 1e-2


def test_single_precision_does_not_lift_an_objective_above_the_optimum(peers, thyroid):
    found, objective = evidence(peers, thyroid, dtype=np.float32)
    rounded = peers("agreement").dual_objective(thyroid, found)
    assert rounded == pytest.approx(objective, rel=1e-6)
    assert rounded <= objective * (1 + 1e-9)


def test_a_library_that_stops_early_is_named_and_only_that_one(peers, thyroid):
    turns, agreement = peers("turns"), peers("agreement")
    objectives = [
        agreement.dual_objective(thyroid, evidence(peers, thyroid, factor)[0]) for factor in (1.0, 0.99)
    ]
    outcomes = {
        name: turns.Outcome(1.0, objective=value) for name, value in zip("ab", objectives, strict=True)
    }
    (sentence,) = agreement.disagreements([turns.Row("thyroid", 215, 5, outcomes)])
    assert sentence.startswith("thyroid: b ends ")
    assert "a never falls short" in peers("report").objectives([turns.Row("thyroid", 215, 5, outcomes)])


def test_the_report_says_if_it_is_us_who_stop_early(peers):
    found = row(peers, "a", ours=1.0, b=1.0)
    assert peers("report").objectives([found]) == "All dual objectives agree to 1e-5, relatively."
    found.outcomes["ours"].objective = 1.0 - 2e-5
    assert "**ours is among those that fall short.**" in peers("report").objectives([found])


def test_a_library_without_a_result_disagrees_with_nobody(peers):
    assert peers("agreement").disagreements([row(peers, "a", ours=1.0, b="crashed: SIGSEGV")]) == []


def test_predictions_of_another_class_are_told(peers):
    found = row(peers, "a", ours=1.0, b=1.0, c=1.0)
    for name, wrong in (("ours", 0), ("b", 1), ("c", 5)):
        found.outcomes[name].labels = np.where(np.arange(100) < wrong, -1, 1)
    (sentence,) = peers("agreement").differing(found)
    assert sentence == "a: c predicts another class than ours for 5.0% of the examples."


# -- processes ---------------------------------------------------------------------------------------------------------


def started_since(before):
    """Return the processes that are running now and were not before: other tests may keep some."""
    return set(multiprocessing.active_children()) - before


def test_a_crash_costs_one_cell_and_the_library_goes_on_with_the_next_problem(peers, thyroid):
    turns = peers("turns")
    few = Dataset("few", thyroid.X[100:200], thyroid.y[100:200], C=1.0, gamma=0.05)
    both = [library(peers, "sound"), library(peers, "crashing", "crash", least=201)]
    with turns.Turns(both, turns.Side(rounds=2)) as side_by_side:
        rows = [side_by_side.row("fit", data) for data in (thyroid, few)]
    sound, crashed = rows[0].outcomes.values()
    assert math.isfinite(sound.seconds)
    assert crashed.stopped == "crashed: SIGSEGV"
    assert crashed.seconds == math.inf
    assert [outcome.stopped for outcome in rows[1].outcomes.values()] == ["", ""]
    assert peers("agreement").disagreements(rows) == []


def test_early_stopping_is_found_through_the_process(peers, thyroid):
    turns = peers("turns")
    both = [library(peers, "sound"), library(peers, "hasty", "early")]
    with turns.Turns(both, turns.Side(rounds=1)) as side_by_side:
        (sentence,) = peers("agreement").disagreements([side_by_side.row("fit", thyroid)])
    found = re.fullmatch(
        r"thyroid: hasty ends (.*) below the best objective, with a KKT gap of (.*)\.", sentence
    )
    assert found is not None
    assert float(found[1]) > 1e-5
    assert float(found[2]) > 1e-3


@pytest.mark.parametrize(
    ("fault", "limits", "reason"),
    [
        ("sleep", {"seconds": 0.6}, "over 0.01 min"),
        ("eat", {"size": 4e8}, "over 0.4 GB"),
        ("raise", {}, "failed: exit code 3"),
    ],
)
def test_a_library_is_stopped_at_its_limits(peers, thyroid, tmp_path, fault, limits, reason):
    if fault == "eat" and not Path("/proc/self/status").is_file():
        pytest.skip("the resident size is read from /proc")
    worker = peers("worker")
    problem = peers("problems").store(thyroid, tmp_path)
    before = set(multiprocessing.active_children())
    with worker.Worker(library(peers, "bad", fault), worker.Limits(**limits)) as running:
        assert running.ask("fit", problem, 100.0) == worker.Stopped(reason)
        assert not started_since(before)


def test_a_stopped_or_killed_process_is_started_anew(peers, thyroid, tmp_path):
    tasks, worker, store = peers("tasks"), peers("worker"), peers("problems").store
    few = Dataset("few", thyroid.X[100:200], thyroid.y[100:200], C=1.0, gamma=0.05)
    for data in (thyroid, few):
        (tmp_path / data.name).mkdir()
    large, small = (store(data, tmp_path / data.name) for data in (thyroid, few))
    before = set(multiprocessing.active_children())
    with worker.Worker(library(peers, "bad", "crash", least=201)) as running:
        assert isinstance(running.ask("fit", large, 100.0), worker.Stopped)
        assert isinstance(running.ask("fit", small, 100.0), tasks.Answer)
        for child in started_since(before):
            child.kill()
            child.join()
        assert isinstance(running.ask("fit", small, 100.0), tasks.Answer)


def test_a_process_reports_its_own_peak_and_not_that_of_the_one_that_started_it(peers, thyroid, tmp_path):
    if not Path("/proc/self/status").is_file():
        pytest.skip("the resident size is read from /proc")
    large = np.ones(2**26)  # 0.5 GB here
    problem = peers("problems").store(thyroid, tmp_path)
    with peers("worker").Worker(library(peers, "sound")) as running:
        answer = running.ask("fit", problem, 100.0)
    assert 1e7 < answer.peak < large.nbytes


# -- problems, growth, shares, the store -------------------------------------------------------------------------------


def test_a_stored_problem_is_read_back_bit_for_bit(peers, thyroid, tmp_path):
    read = peers("problems").store(thyroid, tmp_path).open()
    assert read.X.tobytes() == thyroid.X.tobytes()
    assert (read.name, read.C, read.gamma) == ("thyroid", 10.0, 0.05)


def test_a_sparse_problem_stays_sparse(peers, tmp_path):
    sparse = pytest.importorskip("scipy.sparse")
    X = sparse.csr_matrix(np.eye(4))
    read = (
        peers("problems")
        .store(Dataset("eye", X, np.array([1, -1, 1, -1]), C=1.0, gamma=1.0), tmp_path)
        .open()
    )
    assert sparse.issparse(read.X)
    assert read.y.dtype == np.float64


def test_the_one_hot_fields_become_signs(peers):
    sparse = pytest.importorskip("scipy.sparse")
    one_hot = sparse.csr_matrix(np.array([[1, 0, 0, 0, 0, 1], [0, 1, 0, 1, 0, 0]], dtype=float))
    signs = peers("problems").one_hot_to_signs(one_hot)
    assert signs.toarray().tolist() == [[-1.0, 1.0], [0.0, -1.0]]
    assert signs.nnz == 3


def test_thundersvm_gets_a_copy_of_sparse_data_and_labels_with_the_bits_of_floats(peers):
    sparse = pytest.importorskip("scipy.sparse")
    X, y = sparse.csr_matrix(np.eye(2)), np.array([-1.0, 1.0])
    mine, bits = peers("libraries").for_thundersvm(X, y)
    assert not np.shares_memory(mine.data, X.data)
    assert bits.astype(np.int32).view(np.float32).tolist() == [-1.0, 1.0]
    dense, labels = peers("libraries").for_thundersvm(X.toarray(), y)
    assert labels is y
    assert isinstance(dense, np.ndarray)


def test_the_exponent_is_that_of_the_power_law_whatever_is_missing(peers):
    sizes = np.array([1e3, 2e3, 5e3, 1e4])
    times = 3e-7 * sizes**1.7
    times[2] = math.nan
    assert peers("growth").exponent(sizes, times) == pytest.approx(1.7)
    assert math.isnan(peers("growth").exponent(sizes[:1], times[:1]))


def grown(peers):
    rows = [
        row(peers, "board", n=n, ours=1e-6 * n, b=1e-9 * n**2, c="over 10 min") for n in (1000, 2000, 4000)
    ]
    return peers("growth").Growth("board", "n", rows)


def test_the_growth_table_ends_with_the_exponents(peers):
    pytest.importorskip("tabulate")
    lines = cells(peers("report").growth_tables([grown(peers)]).split("\n\n")[1])
    assert lines[0] == ["", "n = 1,000", "n = 2,000", "n = 4,000", "exponent"]
    assert [(line[0], line[-1]) for line in lines[2:]] == [
        ("ours, s", "1.00"), ("b, s", "2.00"), ("c, s", "–"), ("ours, iterations", "–"), ("ours, kernel rows", "–"),
    ]  # fmt: skip


def test_the_plot_is_a_small_png(peers, tmp_path):
    pytest.importorskip("matplotlib")
    peers("growth").plotted([grown(peers)], tmp_path / "growth.png")
    drawn = (tmp_path / "growth.png").read_bytes()
    assert drawn.startswith(b"\x89PNG")
    assert len(drawn) < 200_000


def test_the_stopwatch_books_nested_parts_apart(peers):
    ticks = iter([0.0, 1.0, 3.0, 7.0, 8.0, 16.0])
    stopwatch = peers("watching").Stopwatch(clock=lambda: next(ticks))
    inner = stopwatch.timed("rows", lambda: None)
    stopwatch.timed("loop", inner)()
    stopwatch.turn()
    assert dict(stopwatch.seconds) == {"rest": 1.0 + 8.0, "loop": 2.0 + 1.0, "rows": 4.0}


def test_a_watched_fit_shows_every_part_and_leaves_the_package_as_it_was(peers, thyroid):
    pytest.importorskip("sklearn")
    pytest.importorskip("numba")
    from refsvm.kernels import Gram

    before = Gram.block
    ours = peers("libraries").LIBRARIES[0]
    parts = peers("watching").Watch(ours, thyroid, 100.0).answer().evidence.parts
    assert {"kernel rows", "loop", "rest"} <= set(parts)
    assert min(parts[part] for part in ("kernel rows", "loop", "rest")) > 0.0
    assert Gram.block is before


def test_finished_rows_are_kept_and_a_new_one_replaces_the_old(peers, tmp_path):
    keep, path = peers("store").keep, tmp_path / "runs" / "large.json"
    for seconds in (1.0, 2.0):
        keep(path, row(peers, "a", ours=seconds, b="over 16 GB"))
    keep(path, row(peers, "b", ours=3.0))
    assert len(json.loads(path.read_text())) == 2
    kept = peers("store").kept(path)
    assert (kept["a"].outcomes["ours"].seconds, kept["a"].outcomes["b"].stopped) == (2.0, "over 16 GB")
