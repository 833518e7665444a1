"""Problems and their permutations."""

from dataclasses import replace

import numpy as np
import pytest

from refsvm import RBF, DualProblem, KKTGap, NewtonStep, Precomputed, cross_validate, leave_one_out, solve
from refsvm.datasets import make_banana
from refsvm.experiment import (
    CrossValidate,
    Experiment,
    GridSearch,
    Instance,
    LeaveOneOutError,
    Problem,
    Solve,
    TrackPath,
)
from refsvm.services.store import described

from .echoes import numbered, refused, rows_of


@pytest.mark.parametrize("kernel", [RBF(0.5), Precomputed()])
def test_a_permutation_moves_labels_with_examples(kernel):
    data = make_banana(12, rng=0)
    X = RBF(0.5)(data.X, data.X) if isinstance(kernel, Precomputed) else data.X
    instance = Instance(X, data.y, kernel, 1.0)
    moved = instance.permuted(seed=4, k=2)
    order = np.random.default_rng((4, 2)).permutation(12)
    assert np.array_equal(moved.y, data.y[order])
    before, after = (each.dual().gram.block(np.arange(12)) for each in (instance, moved))
    assert np.array_equal(after, before[np.ix_(order, order)])


def test_sparse_examples_are_permuted_too(store):
    sparse = pytest.importorskip("scipy.sparse")
    dense = make_banana(15, rng=0)
    compressed = replace(dense, X=sparse.csr_matrix(dense.X))
    exact = Solve("SMO", stop=KKTGap(1e-10), engine="numpy")
    results = []
    for name, data in (("dense", dense), ("sparse", compressed)):
        one = Experiment([exact], [Problem(name, lambda data=data: data, RBF(0.5))], store)
        assert one.run() == 1
        results.append(one.records()[0]["objective"])
    assert results[0] == pytest.approx(results[1], rel=1e-9)
    assert len(rows_of(store)) == 2


def test_what_is_no_step_has_no_description():
    refused(lambda: described("step", object()), "step=<object object at")


SOLVE = Solve("SMO", step=NewtonStep(), engine="numpy")


def test_a_regression_and_one_class_are_problems(store):
    """Each gives what its dual gives; the order of the examples takes C with it."""
    data = make_banana(30, rng=0)
    targets = replace(data, y=data.X[:, 0])
    C = tuple(np.linspace(0.5, 2.0, 30).tolist())
    problems = [
        Problem("regression", lambda: targets, RBF(0.5), C, epsilon=0.1),
        Problem("one class", lambda: data, RBF(0.5), C, nu=0.3),
        Problem("weighted", lambda: data, RBF(0.5), C),
    ]
    experiment = Experiment([SOLVE, LeaveOneOutError("LOO", engine="numpy")], problems, store, permutations=2)
    assert experiment.run() == 12
    duals = [
        DualProblem.regression(data.X, targets.y, kernel=RBF(0.5), C=np.array(C), epsilon=0.1),
        DualProblem.one_class(data.X, kernel=RBF(0.5), nu=0.3, weights=np.array(C)),
        DualProblem.classification(data.X, data.y, kernel=RBF(0.5), C=np.array(C)),
    ]
    records = {(r["problem"], r["strategy"], r["permutation"]): r for r in experiment.records()}
    for problem, dual in zip(problems, duals, strict=True):
        found = [records[problem.name, "SMO", k]["objective"] for k in range(2)]
        assert found == pytest.approx([solve(dual, engine="numpy").objective] * 2, rel=1e-4)
        left_out = leave_one_out(dual, stop=KKTGap(1e-6), engine="numpy").scores
        found = {name: records[problem.name, "LOO", 0][name] for name in left_out}
        assert found == pytest.approx(left_out, abs=1e-3)
    assert "training_error" not in records["one class", "SMO", 0]
    assert "training_error" in records["weighted", "SMO", 0]


def test_a_regression_whose_v_is_one_has_no_training_error():
    """Targets of 0 with ε = 1 have v = ∓1, as labels have."""
    data = make_banana(10, rng=0)
    level = replace(data, y=np.zeros(10))
    assert "training_error" not in SOLVE.run(Problem("level", lambda: level, epsilon=1.0).instance())


def test_the_kind_of_a_problem_belongs_to_its_identity():
    C = (1.0, 2.0, 3.0)
    kinds = [{}, {"epsilon": 0.1}, {"epsilon": 0.2}, {"nu": 0.1}, {"C": C}, {"C": C[::-1]}]
    assert len({str(Problem("p", numbered, **kind).settings()) for kind in kinds}) == len(kinds)


FEW = make_banana(9, rng=0)


def several():
    """Return examples of three classes."""
    data = make_banana(18, rng=2)
    return replace(data, y=np.array(["b", "a", "c"])[np.arange(18) % 3])


@pytest.mark.parametrize(
    ("load", "options", "parts"),
    [
        (numbered, {"C": 0}, ["C=0", "positive"]),
        (numbered, {"C": (1.0, -1.0)}, ["must not be negative"]),
        (numbered, {"C": (1.0, 2.0)}, ["C has shape (2,)"]),
        (numbered, {"epsilon": -1.0}, ["epsilon=-1.0", "negative"]),
        (numbered, {"nu": 1.5}, ["nu=1.5", "(0, 1]"]),
        (numbered, {"nu": 0.5, "epsilon": 0.1}, ["epsilon=0.1", "give only one"]),
        (numbered, {"kernel": lambda X, Z: X @ Z.T}, ["kernel=<function", "frozen dataclass"]),
        (3, {}, ["load=3", "cannot be called"]),
        ((FEW.X, FEW.y), {}, ["load=(<ndarray of shape (9, 2)>, <", "cannot be called"]),
        (lambda: (FEW.X, FEW.y), {}, ["load of the problem 'x' returned a tuple", "an object with X"]),
        (several, {}, ["0.0, 1.0, 2.0", "or use SVC"]),
    ],
    ids=lambda each: each[0] if isinstance(each, list) else "",
)
def test_a_bad_problem_is_refused(load, options, parts):
    refused(lambda: Problem("x", load, **options).instance().dual(), *parts)


def test_a_strategy_refuses_a_kind_that_is_not_its_own():
    pytest.importorskip("sklearn")
    weighted = Problem("x", numbered, C=(1.0,) * 20).instance()
    for one in (TrackPath("path"), GridSearch("grid")):
        refused(lambda one=one: one.run(weighted), "C for each example")
    novelty = Problem("x", numbered, nu=0.5).instance()
    refused(lambda: GridSearch("grid").run(novelty), "this problem has epsilon or nu")
    refused(lambda: TrackPath("path").run(novelty), "C")


def test_several_classes_are_a_problem(store):
    """Their names do not matter, and the order of the examples takes the labels with it."""
    problem = Problem("three", several, RBF(0.5), 2.0)
    strategies = [LeaveOneOutError("LOO", engine="numpy"), CrossValidate("folds", folds=3, engine="numpy")]
    experiment = Experiment(strategies, [problem], store, permutations=2)
    assert experiment.run() == 4
    records = {(each["strategy"], each["permutation"]): each for each in experiment.records()}
    data = several()
    expected = leave_one_out(data.X, data.y, kernel=RBF(0.5), C=2.0, engine="numpy")
    for k in range(2):
        assert records["LOO", k]["error"] == expected.error
        assert records["LOO", k]["other class"] == 18
        assert records["LOO", k]["rounds"] + records["LOO", k]["zero alpha"] <= 36
    order = np.random.default_rng((0, 1)).permutation(18)
    folds = cross_validate(data.X[order], data.y[order], kernel=RBF(0.5), C=2.0, folds=3, engine="numpy")
    assert records["folds", 1]["error"] == folds.error


def test_a_grid_search_finds_the_cell_of_svccv(store):
    pytest.importorskip("sklearn")
    from refsvm import SVCCV

    data = make_banana(40, rng=1)
    grid = GridSearch("grid", Cs=(0.1, 10.0), gammas=(0.1, 1.0), cv=4, engine="numpy")
    experiment = Experiment([grid], [Problem("banana", lambda: data, RBF(1.0))], store)
    experiment.run()
    (record,) = experiment.records()
    order = np.random.default_rng((0, 0)).permutation(40)
    model = SVCCV(Cs=[0.1, 10.0], gammas=[0.1, 1.0], cv=4, engine="numpy", refit=False)
    model.fit(data.X[order], data.y[order])
    found = record["score"], record["C"], record["gamma"]
    assert found == (model.best_score_, *model.best_params_.values())
    assert (record["iterations"], record["cells"]) == (model.n_iter_, 16)


@pytest.mark.parametrize("rare", [-1, 1])
def test_a_grid_search_has_no_more_folds_than_the_rarer_class_has_examples(rare):
    pytest.importorskip("sklearn")
    data = make_banana(30, rng=1)
    data = replace(data, y=np.where(np.arange(30) < 3, rare, -rare))
    found = GridSearch("grid", Cs=(1.0,), gammas=(1.0,)).run(Problem("x", lambda: data).instance())
    assert found["cells"] == 3


def test_data_in_place_of_problems_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"holds <ndarray of shape \(9, 2\)>.*Dataset\('mine', X, y\)"):
        Experiment([Solve("smo")], (FEW.X, FEW.y), tmp_path / "runs.sqlite")


def test_examples_that_change_between_two_runs_are_refused(tmp_path):
    data = make_banana(20, rng=0)
    problems = [Problem(name, lambda: data, RBF(gamma)) for name, gamma in (("one", 0.5), ("other", 1.0))]
    experiment = Experiment([Solve("smo", engine="numpy")], problems, tmp_path / "runs.sqlite")
    experiment.run(callback=lambda at: at.done == 1)
    data.X[0] += 1.0
    refused(experiment.run, "'other' loaded other examples than before in this experiment")
    assert len(experiment.records()) == 1


def test_problems_with_the_same_values_share_their_runs_and_all_are_counted(tmp_path):
    data, counts = make_banana(20, rng=0), []
    problems = [Problem(name, lambda: data, kernel=RBF(0.5)) for name in ("one", "other")]
    experiment = Experiment([Solve("smo", engine="numpy")], problems, tmp_path / "runs.sqlite")
    assert experiment.run(callback=lambda at: counts.append((at.done, at.total))) == 1
    assert counts == [(0, 2), (2, 2)]
    assert [record["problem"] for record in experiment.records()] == ["one", "other"]
