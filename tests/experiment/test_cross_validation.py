"""Cross-validation as a strategy of an experiment: paired over random folds, kept in the store."""

import math
from functools import partial

import pytest

from refsvm import ATO, RBF, Cold, cross_validate
from refsvm.datasets import load
from refsvm.experiment import CrossValidate, Experiment, Problem


def test_seeders_are_compared_over_random_folds(tmp_path):
    pytest.importorskip("scipy")
    problem = Problem("heart", partial(load, "heart"), kernel=RBF(0.005), C=10.0)
    ato = CrossValidate("ATO", seeder=ATO(budget=math.inf), from_full=False)
    strategies = [CrossValidate("cold", seeder=Cold()), ato]
    experiment = Experiment(strategies, [problem], tmp_path / "runs.sqlite", permutations=6)
    assert experiment.run() == 12
    assert experiment.run() == 0
    cell = experiment.compare("iterations", baseline="cold").cells["heart", "ATO"]
    assert cell.ratio < 0.5
    assert cell.p < 0.05
    errors = experiment.compare("error").cells
    assert errors["heart", "cold"].mean == pytest.approx(errors["heart", "ATO"].mean, abs=1 / 270)


def test_the_record_is_that_of_the_function():
    instance = Problem("monks1", partial(load, "monks1"), kernel=RBF(0.5), C=1.0).instance()
    record = CrossValidate("SIR", folds=4).run(instance)
    result = cross_validate(instance.X, instance.y, kernel=RBF(0.5), C=1.0, folds=4)
    assert record["error"] == result.error
    assert record["iterations"] == result.iterations
    assert record["kernel_rows"] == result.kernel_rows == 432
    assert record["unfinished"] == 0
