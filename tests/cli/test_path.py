"""refsvm path."""

import pytest

from .commands import json_of, works


def test_a_path_in_sentences():
    said = works("path", "heart", "--C-max", 10, "--folds", 3).stdout
    assert said.startswith("heart, RBF(gamma=0.005)\nRegularizationPath(")
    assert ", C from 0.0001 to 10, CONVERGED)" in said
    assert "Least error of cross-validation: 0." in said


def test_json_holds_the_whole_curve():
    found = json_of("path", "monks1", "--kernel", "linear", "--C-min", 0.001, "--C-max", 10, "--folds", 4)
    assert found["breakpoints"] == len(found["C"]) == len(found["elbow"])
    assert (found["C"][0], found["C"][-1]) == pytest.approx((0.001, 10))
    curve = found["cross_validation"]
    assert min(curve["errors"]) == curve["error"]
    assert len(curve["C"]) == len(curve["errors"]) + 1


def test_a_time_limit_is_told():
    said = works("path", "heart", "--time-limit", 1e-9).stdout
    assert "The time limit was reached" in said
