"""``refsvm compare``: strategies side by side on one problem."""

import json
import warnings

import numpy as np
import pytest
from sklearn import svm

import refsvm
from refsvm.cli import choices, tables
from refsvm.datasets import load

from .commands import json_of, works


def test_compare_lists_every_selector_in_every_engine_and_they_agree():
    document = json_of("compare", "heart")
    runs = document["runs"]
    assert [(r["selector"], r["step"], r["shrinking"], r["engine"]) for r in runs] == [
        ("mvp", "newton", False, "numba"), ("mvp", "newton", False, "numpy"),
        ("second-order", "newton", False, "numba"), ("second-order", "newton", False, "numpy"),
        ("second-order", "planning-ahead", True, "numba"), ("second-order", "planning-ahead", True, "numpy"),
    ]  # fmt: skip
    objectives = [r["objective"] for r in runs]
    assert np.ptp(objectives) <= 1e-6 * max(objectives)
    assert document["objective_spread"] == pytest.approx(np.ptp(objectives) / max(objectives))
    for compiled, readable in (runs[:2], runs[2:4], runs[4:]):
        assert compiled["iterations"] == readable["iterations"]
        assert compiled["kernel_rows"] == readable["kernel_rows"]
    for r in runs:
        assert r["status"] == "CONVERGED"
        assert 0 < r["kkt_gap"] <= 1e-6
        assert r["duality_gap"] == pytest.approx(r["primal_objective"] - r["objective"], abs=1e-12)
        assert r["seconds"] > 0
        assert r["first_use_seconds"] > 0
    assert document["interrupted"] is False
    assert document["left_out"] == []


@pytest.mark.parametrize("given", [[], ["--shrinking"]])
def test_compare_tells_what_libsvm_finds(given):
    heart = load("heart")
    fitted = svm.SVC(C=2.0, gamma=0.05, tol=1e-8).fit(heart.X, heart.y)
    beta = np.zeros(heart.n)
    beta[fitted.support_] = fitted.dual_coef_[0]
    objective = beta @ heart.y - 0.5 * beta @ refsvm.RBF(0.05)(heart.X, heart.X) @ beta
    options = ["--C", 2, "--gamma", 0.05, "--tol", 1e-8, "--engines", "numpy", "--selectors", "second-order"]
    (found,) = json_of("compare", "heart", *options, *given)["runs"]
    assert found["objective"] == pytest.approx(objective, rel=1e-10)
    assert found["training_error"] == pytest.approx(1.0 - fitted.score(heart.X, heart.y), abs=1e-12)
    assert found["support_vectors"] == len(fitted.support_)
    assert found["bounded_support_vectors"] == np.count_nonzero(np.abs(beta) == 2.0)
    assert found["shrinking"] == bool(given)


def test_gamma_of_a_file_is_that_of_scikit_learn(heart_files):
    heart, options = load("heart"), ["--engines", "numpy", "--selectors", "mvp"]
    problem = json_of("compare", heart_files["npz"], *options)["problem"]
    expected = svm.SVC().fit(heart.X, heart.y)._gamma
    assert (problem["C"], problem["kernel"]["gamma"]) == (1.0, pytest.approx(expected, rel=1e-12))


def test_every_public_rule_has_a_name():
    exported = {value for value in vars(refsvm).values() if isinstance(value, type)}
    for table, base in ((choices.SELECTORS, refsvm.WorkingSetSelector), (choices.STEPS, refsvm.StepRule)):
        assert set(table.values()) == {rule for rule in exported if issubclass(rule, base)} - {base}
    assert choices.SELECTORS["mvp"] is refsvm.MostViolatingPair
    assert choices.SELECTORS["second-order"] is refsvm.SecondOrder
    assert choices.STEPS["newton"] is refsvm.NewtonStep


def test_all_takes_every_rule_and_leaves_out_what_does_not_fit_together():
    options = "--selectors all --steps all --engines numpy --max-iter 20 --json"
    result = works("compare", "thyroid", *options.split())
    document = json.loads(result.stdout)
    total = len(choices.SELECTORS) * len(choices.STEPS)
    assert len(document["runs"]) + len(document["left_out"]) == total
    assert ("mvp", "planning-ahead") in {(s["selector"], s["step"]) for s in document["left_out"]}
    assert {r["selector"] for r in document["runs"]} == set(choices.SELECTORS)
    assert result.stderr.count("\n") == len(document["left_out"])
    assert "mvp, planning-ahead, numpy left out: selector=MostViolatingPair() cannot be" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "C", "kernel"),
    [
        (["ionosphere"], 3.0, {"name": "rbf", "gamma": 0.4}),
        (["ionosphere", "--C", 2, "--gamma", 0.1], 2.0, {"name": "rbf", "gamma": 0.1}),
        (["ionosphere", "--gamma", "auto"], 3.0, {"name": "rbf", "gamma": 1 / 34}),
        (["ionosphere", "--kernel", "linear", "--tol", 0.1], 1.0, {"name": "linear"}),
        (
            ["ionosphere", "--kernel", "poly", "--degree", 2, "--gamma", 0.5, "--coef0", 1, "--tol", 0.1],
            1.0,
            {"name": "poly", "degree": 2, "gamma": 0.5, "coef0": 1.0},
        ),
    ],
)
def test_the_penalty_and_gamma_are_the_data_sets_own_unless_given(arguments, C, kernel):
    problem = json_of("compare", *arguments, "--engines", "numpy", "--selectors", "second-order")["problem"]
    assert problem["C"] == C
    assert problem["kernel"] == kernel


def test_a_name_is_a_file_of_the_data_directory(heart_files):
    options = ["--engines", "numpy", "--selectors", "mvp"]
    found = json_of("compare", "h", "--data-dir", heart_files["npz"].parent, *options)
    assert found["problem"]["n"] == 270


def test_compare_takes_a_kernel_matrix_and_names_for_classes(write, tmp_path):
    heart = load("heart")
    K, names = refsvm.RBF(0.005)(heart.X, heart.X), np.where(heart.y > 0, "ill", "healthy")
    np.savez(tmp_path / "K.npz", X=K, y=names)
    document = json_of("compare", tmp_path / "K.npz", "--kernel", "precomputed")
    assert document["problem"]["kernel"] == {"name": "precomputed"}
    assert document["problem"]["classes"] == ["healthy", "ill"]
    assert document["runs"][0]["objective"] == pytest.approx(129.6024321, rel=1e-9)
    assert document["runs"][0]["kernel_rows"] == 0


def test_a_limit_ends_a_run_and_the_table_says_so():
    result = works("compare", "thyroid", "--max-iter", 5, "--engines", "numpy", "--time-limit", 60)
    assert "max iter" in result.stdout
    assert "objectives agree" not in result.stdout
    document = json_of("compare", "thyroid", "--max-iter", 5, "--engines", "numpy")
    assert {r["status"] for r in document["runs"]} == {"MAX_ITER"}
    assert document["objective_spread"] == 0.0


def test_the_default_of_the_package_is_compared_unless_strategies_are_named():
    """Selector, step and shrinking of the last rows are those of `solve` without arguments."""
    heart = load("heart")
    problem = refsvm.DualProblem.classification(heart.X, heart.y, kernel=refsvm.RBF(heart.gamma), C=heart.C)
    solution = refsvm.solve(problem, stop=refsvm.KKTGap(1e-6), engine="numpy")
    last = json_of("compare", "heart", "--engines", "numpy")["runs"][-1]
    assert (last["iterations"], last["objective"]) == (solution.iterations, solution.objective)
    for named in (["--selectors", "second-order"], ["--steps", "newton"]):
        runs = json_of("compare", "heart", "--engines", "numpy", *named)["runs"]
        assert {(r["step"], r["shrinking"]) for r in runs} == {("newton", False)}


def test_warnings_become_notes_each_once():
    result = works("compare", "heart", "--kernel", "sigmoid", "--gamma", 1, "--selectors", "second-order")
    assert result.stderr.startswith("note: The kernel is not positive semi-definite")
    assert result.stderr.count("\n") == 1  # both engines warn


def test_warnings_for_developers_are_not_shown(monkeypatch):
    def deprecated(*_, **__):
        warnings.warn("this will go", DeprecationWarning, stacklevel=2)
        warnings.warn("this is odd", UserWarning, stacklevel=2)
        return load("heart")

    monkeypatch.setattr("refsvm.cli.data.open_data", deprecated)
    assert works("compare", "heart", "--engines", "numpy").stderr == "note: this is odd.\n"


def test_numbers_that_json_does_not_have_become_null(capsys):
    tables.print_json([{"gap": -np.inf, "n": 1}, [float("nan")]])
    assert json.loads(capsys.readouterr().out) == [{"gap": None, "n": 1}, [None]]
