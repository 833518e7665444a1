"""Leave-one-out as a strategy of an experiment."""

from functools import partial

import pytest

from refsvm import AVG, RBF, TOP, Cold, LOODualityGap
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
