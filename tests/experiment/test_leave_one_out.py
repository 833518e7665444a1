"""Leave-one-out as a strategy of an experiment."""

from functools import partial

import pytest

from refsvm import AVG, RBF, TOP, BallRule, Cold, KKTGap, LOODualityGap
from refsvm.datasets import make_ringnorm
from refsvm.experiment import Experiment, LeaveOneOutError, Problem

from ..settings import FAST


def test_seeders_by_stops(tmp_path):
    pytest.importorskip("scipy")
    strategies = [
        *(LeaveOneOutError(type(each).__name__, seeder=each, engine=FAST) for each in (Cold(), AVG(), TOP())),
        LeaveOneOutError("gap", seeder=Cold(), stop=LOODualityGap(), engine=FAST, efficiency_test=False),
    ]
    problems = [Problem("ringnorm", partial(make_ringnorm, 40, rng=0), kernel=RBF(0.1), C=2.0)]
    experiment = Experiment(strategies, problems, tmp_path / "runs.sqlite", permutations=2)
    assert experiment.run() == 8
    assert experiment.run() == 0
    records = {(record["strategy"], record["permutation"]): record for record in experiment.records()}
    for k in (0, 1):
        assert records["TOP", k]["round_iterations"] < records["Cold", k]["round_iterations"]
        assert records["AVG", k]["round_iterations"] < records["Cold", k]["round_iterations"]
        assert records["gap", k]["round_iterations"] <= records["Cold", k]["round_iterations"]
        assert len({records[s.name, k]["error"] for s in strategies}) == 1
        assert 0.0 <= records["gap", k]["early"] <= 1.0


@pytest.mark.parametrize(
    "checks", [("zero alpha", "training error"), ("zero alpha", "training error", "ball")]
)
@pytest.mark.slow
def test_rounds_that_the_ball_ends_are_rounds(checks):
    pytest.importorskip("scipy")
    instance = Problem("ringnorm", partial(make_ringnorm, 40, rng=0), kernel=RBF(0.1), C=2.0).instance()
    common = {"seeder": TOP(), "checks": checks, "engine": "numpy", "efficiency_test": False}
    ball, kkt = (
        LeaveOneOutError("rule", stop=stop, **common).run(instance) for stop in (BallRule(), KKTGap())
    )
    assert ball["rounds"] == kkt["rounds"] > 0
    assert ball["early"] * ball["rounds"] == pytest.approx(ball["rounds"] - ball["kkt"])
    assert kkt["early"] == 0.0
    assert "ball" in checks or ball["early"] > 0.0
