"""Means, ratios, paired tests, and their tables."""

import itertools

import numpy as np
import pytest

from refsvm.experiment import Comparison, Grid, Summary, holm, paired_p
from refsvm.experiment.comparison import least_p, summarise
from refsvm.experiment.grid import p_value

from .echoes import echoes, ran, refused


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
    experiment = ran(store, 1.0, 2.0)
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
    table = COMPARISON.table(beside={"published": {"heart_x": 1883310.0, "image": "6,553"}})
    lines = table.to_markdown().splitlines()
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
    experiment = ran(store, 1.0, 2.0, permutations=1)
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
    frame = ran(store).to_frame()
    assert len(frame) == 24
    own = ["problem", "strategy", "permutation", "first", "order", "nothing", "status", "run"]
    assert list(frame.columns[:8]) == own
    # what the hash of a run is of, and what computed it
    assert frame["run"].is_unique
    named = {column.partition(".")[2] for column in frame.columns if column.startswith("identity.")}
    assert {"refsvm", "examples", "seed", "kernel", "C", "code", "factor", "permutation", "strategy"} <= named
    assert frame["identity.factor"].nunique() == 2
    assert {"computed_by.python", "computed_by.numpy", "computed_by.blas"} < set(frame.columns)
    assert frame["nothing"].isna().all()
    means = frame.groupby("strategy")["first"].mean()
    assert means["times 2"] == pytest.approx(2 * means["times 1"])


def test_without_tabulate_there_is_a_sentence(monkeypatch):
    from refsvm.experiment import grid

    monkeypatch.setattr(grid, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"need the package tabulate; install it"):
        Grid(("a",), (("b",),)).to_markdown()


def test_tables_of_what_is_not_there_are_refused(store):
    experiment = echoes(store)
    refused(lambda: experiment.compare("first"), "no finished run", "call run() first")
    experiment.run()
    refused(lambda: experiment.compare("fist"), "metric='fist'", "did you mean 'first'?")
    refused(lambda: experiment.compare("permutation"), "metric='permutation'")
    refused(lambda: experiment.compare("status"), "metric='status'", "is not a metric")
    refused(lambda: experiment.compare("first", baseline="x"), "baseline='x'", "times 1, times 2")


def test_holm_adjusts_for_the_number_of_tests():
    """Against the definition: the k-th smallest times what is left, never falling, never above 1."""
    p = {"a": 0.5, "b": 0.01, "c": 0.02, "d": 0.9}
    assert holm(p) == pytest.approx({"b": 0.04, "c": 0.06, "a": 1.0, "d": 1.0})
    assert holm({}) == {}
    assert COMPARISON.adjusted() == pytest.approx({("heart_x", "B"): 0.0000382, ("image", "B"): 0.0312})
    assert COMPARISON.table(adjust=True).headers[-1] == "p (Holm)"


@pytest.mark.parametrize("orders", [5, 6])
def test_the_smallest_p_is_said_where_orders_are_few(store, orders):
    pytest.importorskip("scipy")
    experiment = ran(store, permutations=orders)
    comparison = experiment.compare("first", "times 1")
    assert comparison.cells["long", "times 2"].p == least_p(orders) == 2 / 2**orders
    (note,) = experiment.table("first", "times 1").notes
    assert note.startswith(f"With {orders} orders p is at least 0.0")
    assert experiment.table("first").notes == ()


def test_friedman_ranks_over_the_problems():
    """Three strategies, always in this order: mean ranks 1, 2, 3, and χ² = 2n = 8 with two degrees of freedom."""
    pytest.importorskip("scipy")
    places = itertools.product(range(4), enumerate("abc"))
    means = {(f"p{k}", name): Summary(1, 10.0 * k + place, None) for k, (place, name) in places}
    ranking = Comparison("x", ("p0", "p1", "p2", "p3", "lost"), tuple("abc"), None, means).friedman()
    assert ranking.mean_rank == {"a": 1.0, "b": 2.0, "c": 3.0}
    assert (ranking.problems, ranking.p) == (4, pytest.approx(np.exp(-4.0)))
    alike = {place: Summary(1, 1.0, None) for place in means}
    assert Comparison("x", ("p0", "p1"), tuple("abc"), None, alike).friedman().p == 1.0
    few = Comparison("x", ("p0", "p1"), ("a", "b"), None, means)
    refused(few.friedman, "2 strategies with solved runs on 2 common problems")
