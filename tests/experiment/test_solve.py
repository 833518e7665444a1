"""Solve: what is measured."""

from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np
import pytest

from refsvm import RBF, MostViolatingPair, NewtonStep, PlanningAheadStep
from refsvm.datasets import make_chessboard
from refsvm.experiment import STEP_RATIO_EDGES, Problem, Solve

from ..settings import FAST, NUMBA
from .echoes import refused


@pytest.mark.skipif(not NUMBA, reason="Numba is not installed")
def test_the_metrics_are_those_of_the_solution():
    board = Problem("board", partial(make_chessboard, 60, rng=0), RBF(0.5), C=1000.0).instance()
    plain = Solve("SMO", shrinking=False, engine=FAST)
    solution = plain.solve(board)
    metrics = plain.run(board)
    for name in ("iterations", "kernel_rows", "kernel_hits", "objective", "kkt_gap", "duality_gap", "engine"):
        assert metrics[name] == getattr(solution, name)
    assert metrics["status"] == "CONVERGED"
    assert metrics["support_vectors"] == np.count_nonzero(solution.alpha)
    assert metrics["bounded_support_vectors"] == np.count_nonzero(np.abs(solution.alpha) == 1000.0)
    assert "planned_steps" not in metrics


def test_a_traced_run_counts_its_planned_steps():
    board = Problem("board", partial(make_chessboard, 60, rng=0), RBF(0.5), C=1000.0).instance()
    planned = Solve("planned", step=PlanningAheadStep(), shrinking=False, engine=FAST, trace=True)
    metrics = planned.run(board)
    trace = planned.solve(board).trace
    assert 0 < metrics["planned_steps"] < metrics["free_steps"] <= metrics["iterations"]
    rows = trace.rows[trace["planned"] == 1]
    ratio = rows["step"] / rows["newton"] - 1.0
    by_hand = [int(((low <= ratio) & (ratio < high)).sum()) for low, high in pairwise(STEP_RATIO_EDGES)]
    assert metrics["step_ratio_histogram"] == by_hand
    assert sum(by_hand) == metrics["planned_steps"]


def test_rows_are_of_the_precision_that_is_asked_for():
    board = Problem("board", partial(make_chessboard, 60, rng=0), RBF(0.5), C=1.0).instance()
    exact, rounded = (
        Solve(each, cache_dtype=each, engine="numpy").run(board)["objective"]
        for each in ("float64", "float32")
    )
    assert exact != rounded
    assert exact == pytest.approx(rounded, rel=1e-5)
    refused(lambda: Solve("x", cache_dtype="float16").run(board), "cache_dtype='float16' is unknown")


def test_rules_that_do_not_fit_are_refused_when_the_strategy_is_made():
    refused(lambda: Solve("x", selector=MostViolatingPair(), step=PlanningAheadStep()), "cannot be combined")


def test_a_rule_without_a_twin_is_warmed_up_by_the_readable_loop():
    @dataclass(frozen=True)
    class Half(NewtonStep):
        def length(self, state, i, j):
            return 0.5 * super().length(state, i, j)

        def twin(self):
            return None

    strategy = Solve("half", step=Half(), shrinking=False)
    strategy.warm_up()
    board = Problem("board", partial(make_chessboard, 20, rng=0), RBF(0.5), C=1.0).instance()
    assert strategy.run(board)["engine"] == "numpy"
