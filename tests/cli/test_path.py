"""refsvm path."""

from .commands import works


def test_a_path_in_sentences():
    said = works("path", "heart", "--C-max", 10, "--folds", 3).stdout
    assert said.startswith("heart, RBF(gamma=0.005)\nRegularizationPath(")
    assert ", C from 0.0001 to 10, CONVERGED)" in said
    assert "Least error of cross-validation: 0." in said


def test_a_time_limit_is_told():
    said = works("path", "heart", "--time-limit", 1e-9).stdout
    assert "The time limit was reached" in said
