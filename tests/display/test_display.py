"""The displays: what they show is what was solved, and nothing is changed by looking."""

from __future__ import annotations

import copy
import subprocess
import sys

import numpy as np
import pytest

from refsvm import (
    RBF,
    DualProblem,
    KKTGap,
    MostViolatingPair,
    NewtonStep,
    OverrelaxedNewtonStep,
    PlanningAheadStep,
    Recording,
    SecondOrder,
    iterate,
    solve,
)
from refsvm.datasets import make_chessboard
from refsvm.display import ConvergenceDisplay, StepSizeDisplay, WorkingSetDisplay
from refsvm.display.convergence import POINTS

from ..settings import FAST

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")
import matplotlib.pyplot as plt  # noqa: E402

BOARD = make_chessboard(80, rng=0)
PROBLEM = DualProblem.classification(BOARD.X, BOARD.y, kernel=RBF(0.5), C=100.0)


def solved(**options):
    usual = {"engine": FAST, "step": NewtonStep(), "shrinking": False, "trace": True}
    return solve(PROBLEM, **usual | options)


# -- all of them -------------------------------------------------------------------------------------------


def test_matplotlib_is_imported_when_something_is_drawn():
    code = "import sys, refsvm.display; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_missing_matplotlib_is_named(monkeypatch):
    display = ConvergenceDisplay.from_solutions({"a": solved()})
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    monkeypatch.delattr(matplotlib, "pyplot")
    with pytest.raises(ImportError, match=r"^ConvergenceDisplay needs .*: pip install matplotlib$"):
        display.plot()


# -- convergence -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("against", ["iterations", "rows", "seconds"])
def test_convergence_shows_the_gap_of_every_recorded_step(against):
    solutions = {"second order": solved(), "planned": solved(step=PlanningAheadStep(), trace=3)}
    display = ConvergenceDisplay.from_solutions(solutions, against=against)
    assert display.ax_.get_yscale() == "log"
    assert list(display.curves) == list(display.lines_) == list(solutions)
    column = {"iterations": "iteration"}.get(against, against)
    for name, solution in solutions.items():
        x, gap = display.curves[name]
        positive = solution.trace["gap"] > 0
        np.testing.assert_array_equal(x, solution.trace[column])
        np.testing.assert_array_equal(gap[positive], solution.trace["gap"][positive])
        assert np.isnan(gap[~positive]).all()
        thick = display.lines_[name].get_ydata()
        np.testing.assert_array_equal(thick, np.fmin.accumulate(gap))
        assert display.lines_[name].get_label() == name


def test_convergence_measures_the_objective_from_the_best():
    loose, tight = solved(), solved(stop=KKTGap(1e-9))
    display = ConvergenceDisplay.from_solutions({"loose": loose, "tight": tight}, metric="objective")
    best = max(tight.objective, tight.trace["objective"].max())
    np.testing.assert_array_equal(display.curves["loose"][1], best - loose.trace["objective"])
    assert np.nanmin(display.curves["tight"][1]) > 0.0
    given = ConvergenceDisplay.from_solutions({"loose": loose}, metric="objective", best=best + 1.0)
    np.testing.assert_array_equal(given.curves["loose"][1], best + 1.0 - loose.trace["objective"])


def test_a_recording_is_drawn_as_the_trace_of_its_solve():
    steps = {"Newton": NewtonStep(), "planned": PlanningAheadStep()}
    recordings = {name: Recording(PROBLEM, step=step) for name, step in steps.items()}
    solutions = {name: solved(step=step) for name, step in steps.items()}
    for metric in ("gap", "objective"):
        options = {"metric": metric, "against": "rows"}
        drawn = ConvergenceDisplay.from_solutions(recordings, **options).curves
        wanted = ConvergenceDisplay.from_solutions(solutions, **options).curves
        np.testing.assert_equal(drawn, wanted)
    sizes = StepSizeDisplay.from_trace(recordings["planned"].trace).sizes
    np.testing.assert_equal(sizes, StepSizeDisplay.from_trace(solutions["planned"].trace).sizes)


def test_a_recording_that_was_cut_short_says_so():
    class Broken(MostViolatingPair):
        def select(self, state):
            return super().select(state) if state.iteration < 3 else state.nothing

    cut = {"short": Recording(PROBLEM, limit=5), "broken": Recording(PROBLEM, selector=Broken())}
    display = ConvergenceDisplay.from_solutions(cut)
    assert [len(x) for x, _ in display.curves.values()] == [5, 3]
    whys = {"short": "MAX_ITER", "broken": "AttributeError"}
    assert display.notes == tuple(f"{name} did not converge ({why})." for name, why in whys.items())
    with pytest.raises(ValueError, match=r"^solutions\['short'\] is a recording, which has no seconds"):
        ConvergenceDisplay.from_solutions(cut, against="seconds")


def test_long_curves_are_thinned_without_losing_their_extremes():
    x = np.arange(20 * POINTS)
    values = 2.0 + np.sin(x)
    values[[1, 12345, -2]] = 1e-3, 1e3, 1e-4
    values[7000:7100] = np.nan
    display = ConvergenceDisplay({"long": (x, values)}).plot()
    every = display.ax_.lines[1]
    assert len(every.get_xdata()) <= POINTS + 1
    assert {1, 12345, len(x) - 2, len(x) - 1} <= set(every.get_xdata().tolist())
    assert display.lines_["long"].get_ydata()[-1] == 1e-4
    display.figure_.canvas.draw()


@pytest.mark.parametrize(
    ("solution", "options", "words"),
    [
        (solved, {"metric": "loss"}, "metric='loss' is unknown; choose 'gap' or 'objective'"),
        (
            solved,
            {"against": "time"},
            "against='time' is unknown; choose 'iterations' or 'rows' or 'seconds'",
        ),
        (solved, {"best": np.nan}, "best=nan is not finite"),
        (lambda: solved(trace=False), {}, r"solutions\['a'\] has no trace; .*trace=True"),
        (lambda: Recording(PROBLEM, start=solved().alpha), {}, r"solutions\['a'\] took no step\.$"),
        (None, {}, r"solutions=\{\} is empty; "),
    ],
    ids=["metric", "against", "best", "no trace", "no step", "nothing"],
)
def test_convergence_refuses_what_it_cannot_draw(solution, options, words):
    with pytest.raises(ValueError, match="^" + words):
        ConvergenceDisplay.from_solutions({} if solution is None else {"a": solution()}, **options)


# -- working sets ------------------------------------------------------------------------------------------


def states_about_to_move(step):
    """Pairs of a state and the working set that moves next, of one solve."""
    rule = SecondOrder()
    for state in iterate(PROBLEM, step=step, selector=rule):
        i, j = rule.select(state)
        if i >= 0:
            yield state, i, j


def everything(state):
    numbers = {name: value for name, value in vars(state).items() if name not in ("problem", "rows")}
    rows = (state.rows.computed, state.rows.hits, state.rows.clock, state.rows.slots.copy())
    return copy.deepcopy((numbers, rows))


def test_looking_changes_nothing():
    step = PlanningAheadStep()
    for _, (state, i, j) in zip(range(6), states_about_to_move(step), strict=False):
        before = everything(state)
        WorkingSetDisplay.from_state(state, i, j, step=step)
        np.testing.assert_equal(everything(state), before)


def test_a_recorded_step_is_drawn_as_its_state():
    step, kinds = PlanningAheadStep(), set()
    recording = Recording(PROBLEM, step=step)
    for k, (state, i, j) in enumerate(states_about_to_move(step), start=1):
        drawn = WorkingSetDisplay.from_recording(recording, k)
        wanted = WorkingSetDisplay.from_state(state, i, j, step=step)
        assert drawn.pair == wanted.pair
        assert {**drawn.steps, **wanted.steps} == wanted.steps
        assert recording.at(k).next.length in drawn.steps.values()
        for part in ("point", "box", "gradient"):
            np.testing.assert_array_equal(getattr(drawn, part), getattr(wanted, part))
        np.testing.assert_allclose(drawn.kernel, wanted.kernel, rtol=0.0, atol=1e-14)
        kinds.add(tuple(drawn.steps))
        plt.close("all")
        if len(kinds) == 2 and k > 8:
            break
    assert kinds == {("Newton", "clipped"), ("Newton", "clipped", "planned")}
    short = Recording(PROBLEM, limit=2)
    with pytest.raises(ValueError, match=r"^iteration=2 is the last state: .*limit"):
        WorkingSetDisplay.from_recording(short, 2)
    with pytest.raises(ValueError, match=r"^recording=None is not of type Recording; "):
        WorkingSetDisplay.from_recording(None, 0)


def test_the_plane_shows_the_objective():
    state, i, j = next(now for now in states_about_to_move(NewtonStep()) if now[0].iteration == 7)
    display = WorkingSetDisplay.from_state(state, i, j, step=OverrelaxedNewtonStep(1.5))
    room = min(state.upper[i] - state.alpha[i], state.alpha[j] - state.lower[j])
    longer = min(1.5 * display.steps["Newton"], room)
    assert display.steps["OverrelaxedNewtonStep"] == pytest.approx(longer)
    now = PROBLEM.objective(state.alpha)
    for rise, fall in [(0.0, 0.0), (3.0, -3.0), (0.5, 2.0)]:
        moved = state.alpha.copy()
        moved[[i, j]] += rise, fall
        assert display.objective_change(rise, fall) == pytest.approx(PROBLEM.objective(moved) - now, abs=1e-9)
    # at the end of the Newton step f is at its largest on the line
    newton, near = display.steps["Newton"], 1e-3
    top = display.objective_change(newton, -newton)
    assert top > display.objective_change(newton + near, -newton - near)
    assert top > display.objective_change(newton - near, -newton + near)


def test_the_window_is_what_is_seen():
    state = next(iterate(PROBLEM, step=NewtonStep()))
    display = WorkingSetDisplay.from_state(state, state.top, state.bottom, window=2.0)
    x, y = display.point
    assert display.ax_.get_xlim() == pytest.approx((x - 2.0, x + 2.0))
    assert display.ax_.get_ylim() == pytest.approx((y - 2.0, y + 2.0))
    hidden = WorkingSetDisplay.from_state(state, state.top, state.bottom, window=1e-3, levels=1)
    labels = [text.get_text() for text in hidden.ax_.get_legend().get_texts()]
    assert [label.endswith("(outside)") for label in labels] == [False] * 2 + [
        True
    ]  # one mark of a free step


def test_the_legend_says_clipped_of_clipped_steps_only():
    """A free step ends at the Newton step: one mark, which no box has cut."""
    said = {True: set(), False: set()}
    for state, i, j in states_about_to_move(NewtonStep()):
        display = WorkingSetDisplay.from_state(state, i, j)
        is_free = display.steps["clipped"] == display.steps["Newton"]
        said[is_free] |= {text.get_text().split(",")[0] for text in display.ax_.get_legend().get_texts()}
        plt.close("all")
        if all(said.values()):
            break
    assert said == {True: {"now", "feasible", "Newton"}, False: {"now", "feasible", "Newton", "clipped"}}


@pytest.mark.slow
@pytest.mark.parametrize("step", [NewtonStep(), PlanningAheadStep()], ids=["Newton", "planning"])
def test_the_legend_covers_nothing_of_the_plane(step):
    """Wherever the point is in the box; nor does it leave the figure."""
    for _, (state, i, j) in zip(range(8), states_about_to_move(step), strict=False):
        for window in (None, 30.0):
            display = WorkingSetDisplay.from_state(state, i, j, step=step, window=window)
            display.figure_.canvas.draw()
            legend = display.ax_.get_legend().get_window_extent()
            assert not legend.overlaps(display.ax_.get_window_extent())
            assert 0.0 <= legend.x0 < legend.x1 <= display.figure_.bbox.x1
            plt.close("all")


def test_a_flat_box_can_be_drawn():
    """Two identical examples with no penalty: q = 0, and a box that is a point."""
    state = next(iterate(DualProblem.classification(np.ones((3, 1)), [1, -1, 1], kernel=RBF(1.0))))
    state.lower[:2] = state.upper[:2] = state.alpha[:] = 0.0
    WorkingSetDisplay.from_state(state, 0, 1).figure_.canvas.draw()


@pytest.mark.parametrize("pair", [(0, 0), (0, 80), (80, 0)])
def test_a_pair_that_is_none_is_refused(pair):
    state = next(iterate(PROBLEM, step=NewtonStep()))
    with pytest.raises(ValueError, match=r"is not a working set; give two different indices below 80\.$"):
        WorkingSetDisplay.from_state(state, *pair)


def test_a_step_that_looks_back_too_far_is_refused():
    state = next(iterate(PROBLEM, step=NewtonStep()))
    with pytest.raises(ValueError, match=r"plans with 5 working sets, but the state stores 2; "):
        WorkingSetDisplay.from_state(state, state.top, state.bottom, step=PlanningAheadStep(5))


# -- step sizes --------------------------------------------------------------------------------------------


def test_step_sizes_are_those_of_the_planned_steps():
    traces = {f"N = {N}": solved(step=PlanningAheadStep(N)).trace for N in (1, 3)}
    display = StepSizeDisplay.from_traces(traces, bins=25)
    assert display.ax_.get_xscale() == "symlog"
    for name, trace in traces.items():
        planned = trace.to_frame().query("planned")
        np.testing.assert_allclose(display.sizes[name], planned["step"] / planned["newton"] - 1.0)
        counts, edges = np.histogram(display.sizes[name], bins=display._edges(25))
        assert counts.sum() == len(planned)
        assert 0.0 in edges
        assert len(edges) <= 28


def test_step_sizes_are_shares():
    display = StepSizeDisplay({"a": np.array([-2.0, 0.0, 0.0, 5.0])}).plot(bins=10)
    heights = display.ax_.patches[0].get_xy()[:, 1]
    assert set(np.round(heights, 6)) == {0.0, 0.25, 0.5}
    StepSizeDisplay({"all equal": np.zeros(3)}).plot().figure_.canvas.draw()


@pytest.mark.parametrize(
    ("step", "options", "words"),
    [
        (None, {}, r"traces=\{\} is empty; "),
        (NewtonStep(), {}, r"traces\['a'\] contains no planned step; .*PlanningAheadStep\(\)"),
        (PlanningAheadStep(), {"bins": 0}, "bins=0 is not a whole number"),
        (PlanningAheadStep(), {"linear": -1}, "linear=-1 is not positive"),
    ],
)
def test_step_sizes_need_planned_steps(step, options, words):
    with pytest.raises(ValueError, match="^" + words):
        StepSizeDisplay.from_traces({} if step is None else {"a": solved(step=step).trace}, **options)
