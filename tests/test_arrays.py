"""The caller's arrays: what is made of them does not change with them, and they may be read-only and memory-mapped.

And what the calls leave behind: nothing that waits for the garbage collector.
"""

from __future__ import annotations

import gc
import warnings
from collections.abc import Callable
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import refsvm
from refsvm import (
    RBF,
    DualProblem,
    KKTGap,
    Precomputed,
    Rounds,
    cost_path,
    cross_validate,
    epsilon_path,
    leave_one_out,
    nu_path,
    parametric_path,
    regularization_path,
    solve,
    weight_path,
)
from refsvm.analysis.derivatives import influence, tune_by_gradient
from refsvm.analysis.paths import cross_validate_path
from refsvm.core.kernels import Gram
from refsvm.core.rounds.round import Round
from refsvm.core.seeders import ATO, AVG, MIR, SIR, TOP
from refsvm.core.solver.loop import iterate
from refsvm.experiment import Problem

pytest.importorskip("scipy")

Arrays = dict[str, np.ndarray]
Answer = Callable[[], Any]

N = 36
SPREADS = np.array([1.0, 12.0, 20.0, 30.0])
"""Of examples, so that kernel values are ordinary, of all sizes, and mostly 0."""


def fresh_arrays(spread: float = 1.0) -> Arrays:
    """All that the calls below are given: C-ordered float64 and int64, which nothing has to be converted to."""
    rng = np.random.default_rng(0)
    X = spread * rng.normal(size=(N, 3))
    y, K = np.where(X[:, 0] + 0.5 * rng.normal(size=N) > 0, 1.0, -1.0), RBF(0.3)(X, X)
    return {
        "X": X, "y": y, "t": X[:, 0] + 0.2 * rng.normal(size=N), "C": 1.0 + (np.arange(N) % 3).astype(float),
        "w": 0.5 + (np.arange(N) % 4), "K": 0.5 * (K + K.T), "Z": spread * rng.normal(size=(N, 3)),
        "folds": np.arange(N) % 4, "start": np.where(y > 0, 0.1 / (y > 0).sum(), -0.1 / (y < 0).sum()),
        "lower": np.minimum(0.0, 2.0 * y), "upper": np.maximum(0.0, 2.0 * y), "few": np.array([1, 4, 7]),
    }  # fmt: skip


def asked() -> np.ndarray:
    """Points to predict, from near to the examples to where kernel values are 0."""
    return np.linspace(0.0, 100.0, 2000)[:, None] * [1.0, 0.1, 0.1]


def problem_of(a: Arrays, **more: Any) -> DualProblem:
    return DualProblem.classification(a["X"], a["y"], kernel=RBF(0.3), **{"C": a["C"], **more})


def solved(problem: DualProblem) -> Any:
    return solve(problem, engine=ENGINE).alpha


def learned(model: Any) -> Answer:
    T = asked()
    return lambda: (
        model.decision_function(T) if hasattr(model, "decision_function") else model.predict(T),
        getattr(model, "alpha_", 0.0),
    )


def grid_of(a: Arrays) -> dict[str, Any]:
    return {"Cs": a["C"][:2], "gammas": a["w"][:2], "cv": 3, **FAST}


def twice(model: Any, a: Arrays, y: str | None = None) -> Answer:
    """Two batches of `partial_fit`, and a third of what is there later."""
    targets = None if y is None else a[y]
    for rows in (slice(0, 15), slice(15, N)):
        parts = () if targets is None else (targets[rows],)
        model.partial_fit(a["X"][rows], *parts, sample_weight=a["w"][rows])
    return learned(model)


def path_answer(path: Any, a: Arrays) -> Answer:
    middle = float(np.sqrt(path.C[0] * path.C[-1])) if hasattr(path, "C") else 0.5 * sum(path.line.t)
    T, (low, high) = asked(), (path.C[0], path.C[-1]) if hasattr(path, "C") else path.line.t
    values = [low + share * (high - low) for share in (0.001, 0.01, 0.03, 0.1, 0.3, 0.6, 0.9)]
    return lambda: (
        path.alpha(middle), path.kkt_audit().worst < 1e-6, *(path.decision_function(T, value) for value in values)
    )  # fmt: skip


ENGINE = "numpy"
FAST: dict[str, Any] = {"engine": ENGINE}
GIVEN: dict[str, Any] = {"kernel": RBF(0.3), **FAST}
ENDS: dict[str, Any] = {"C_min": 0.1, "C_max": 10.0, **GIVEN}


def intervals(method: str) -> Callable[[Arrays], Answer]:
    def asked(a: Arrays) -> Answer:
        model = refsvm.SVR(**RBF_03).fit(a["X"], a["t"])
        return lambda: model.predict_interval(np.eye(3)[:2], method=method)

    return asked


RBF_03: dict[str, Any] = {"gamma": 0.3, **FAST}
OWN: dict[str, Any] = {"kernel": lambda A, B: A @ B.T, **FAST}
ESTIMATORS: dict[str, Callable[[Arrays], Answer]] = {
    "SVC.fit": lambda a: learned(refsvm.SVC(**RBF_03).fit(a["X"], a["y"], a["w"])),
    "SVR.fit": lambda a: learned(refsvm.SVR(**RBF_03).fit(a["X"], a["t"], a["w"])),
    "OneClassSVM.fit": lambda a: learned(refsvm.OneClassSVM(**RBF_03).fit(a["X"], sample_weight=a["w"])),
    "SVC.fit of a callable": lambda a: learned(refsvm.SVC(**OWN).fit(a["X"], a["y"], a["w"])),
    "SVR.fit of a callable": lambda a: learned(refsvm.SVR(**OWN).fit(a["X"], a["t"], a["w"])),
    "SVCCV.fit": lambda a: learned(refsvm.SVCCV(**grid_of(a)).fit(a["X"], a["y"], a["w"])),
    "SVRCV.fit": lambda a: learned(
        refsvm.SVRCV(**grid_of(a), epsilons=a["w"][:2]).fit(a["X"], a["t"], a["w"])
    ),
    "SVC.partial_fit": lambda a: twice(refsvm.SVC(**RBF_03), a, "y"),
    "SVC.partial_fit of a callable": lambda a: twice(refsvm.SVC(**OWN), a, "y"),
    "SVR.partial_fit": lambda a: twice(refsvm.SVR(**RBF_03), a, "t"),
    "OneClassSVM.partial_fit": lambda a: twice(refsvm.OneClassSVM(**RBF_03), a),
    "SVC.forget": lambda a: learned(refsvm.SVC(**RBF_03).partial_fit(a["X"], a["y"]).forget(a["few"])),
    "SVCGradientCV.fit": lambda a: learned(
        refsvm.SVCGradientCV(n_starts=1, max_evaluations=2, **FAST).fit(a["X"], a["y"])
    ),
    **{f"intervals, {method}": intervals(method) for method in ("full", "jackknife+", "cv+")},
}


class Data:
    def __init__(self, X: Any, y: Any) -> None:
        self.X, self.y = X, y


def rounds_answer(a: Arrays) -> Answer:
    rounds = Rounds(problem_of(a), **FAST)
    rounds.solutions["all"] = rounds.solve(start=a["start"], lower=a["lower"], upper=a["upper"])
    plan = [Round(a["few"], origin="all", keep="some", weights=a["w"]), Round(2, origin="some")]
    done = [each.values for each in rounds.run(plan, AVG())]
    kept = rounds.solutions
    return lambda: (*done, kept["all"].alpha, kept["some"].alpha, rounds.solve().alpha)


def loo_answer(a: Arrays, **more: Any) -> Answer:
    result = leave_one_out(a["X"], a["y"], C=a["C"], **GIVEN, **more)
    full = result.full_solution
    return lambda: (result.predictions, result.error, full.alpha, full.primal_objective)


def cv_answer(a: Arrays, **more: Any) -> Answer:
    result = cross_validate(a["X"], a["y"], C=a["C"], folds=a["folds"], **GIVEN, **more)
    return lambda: (result.decision_values, result.fold, result.error)


def of_path(make: Callable[[Arrays], Any]) -> Callable[[Arrays], Answer]:
    return lambda a: path_answer(make(a), a)


def continued(a: Arrays) -> Answer:
    solution = solve(problem_of(a, C=1.0), **FAST)
    later = problem_of(a).without(a["few"])
    later = DualProblem(solution.problem.gram, later.v, 0.0, later.lower, later.upper)
    return lambda: solution.continue_to(later, **FAST).alpha


def restricted(a: Arrays) -> Answer:
    part = problem_of(a).restrict(a["few"], a["start"])
    return lambda: (part.v, part.lower, part.gram.block(np.arange(3)), solved(part))


def extended(a: Arrays) -> Answer:
    problem = problem_of(a).extended(a["Z"], a["y"], C=a["C"])
    return lambda: solved(problem)


def in_box(a: Arrays) -> Answer:
    problem = problem_of(a).boxed(a["lower"], a["upper"])
    return lambda: solved(problem)


def constructed(a: Arrays) -> Answer:
    gram = Gram(RBF(0.3), np.array(a["X"]))
    problem = DualProblem(gram, a["y"], 0.0, a["lower"], a["upper"])
    return lambda: solved(problem)


def curves(a: Arrays) -> Answer:
    path = regularization_path(a["X"], a["y"], **ENDS)
    curve = path.validation_error(a["Z"], a["y"])
    of_costs = cost_path(a["X"], a["y"], C=2.0, **GIVEN).roc(a["Z"], a["y"])
    return lambda: (curve.error, curve.C, of_costs.fpr, of_costs.tpr)


def of_a_problem(a: Arrays) -> Answer:
    of_classes = Problem("classes", lambda: Data(a["X"], a["y"]), kernel=RBF(0.3), C=a["C"]).instance()
    of_targets = Problem("targets", lambda: Data(a["X"], a["t"]), kernel=RBF(0.3), epsilon=0.1).instance()
    return lambda: (solved(of_classes.dual()), solved(of_targets.dual()))


def derivatives(a: Arrays) -> Answer:
    solution = solve(problem_of(a, C=1.0), stop=KKTGap(1e-9), **FAST)
    back = solution.pullback(X=np.array(a["Z"]), decision_function=np.ones(N))
    return lambda: (solution.derivative("C").alpha, back["gamma"])


def several_classes(a: Arrays) -> Answer:
    loo = leave_one_out(a["X"], a["folds"], **GIVEN)
    path = regularization_path(a["X"], a["folds"], **{**ENDS, "C_max": 1.0})
    return lambda: (loo.predictions, path.decision_function(np.eye(3), 0.5))


def then(make: Callable[[Arrays], Any], read: Callable[[Any], Any]) -> Callable[[Arrays], Answer]:
    """Make something of the arrays, and read it later."""
    return lambda a: partial(read, make(a))


CALLS: dict[str, Callable[[Arrays], Answer]] = {
    **ESTIMATORS,
    "classification": then(problem_of, solved),
    "regression": then(lambda a: DualProblem.regression(a["X"], a["t"], kernel=RBF(0.3), C=a["C"]), solved),
    "one_class": then(lambda a: DualProblem.one_class(a["X"], kernel=RBF(0.3), weights=a["w"]), solved),
    "a callable": then(lambda a: DualProblem.classification(a["X"], a["y"], kernel=OWN["kernel"]), solved),
    "DualProblem": constructed,
    "restrict": restricted,
    "boxed": in_box,
    "extended": extended,
    "feasible": then(lambda a: problem_of(a).feasible(a["start"]), lambda found: found),
    "solve": then(
        lambda a: solve(problem_of(a), start=a["start"], **FAST),
        lambda solution: (solution.alpha, solution.gradient, solution.primal_objective),
    ),
    "iterate": then(
        lambda a: iterate(problem_of(a), start=a["start"]),
        lambda steps: [state.alpha.copy() for state in islice(steps, 200)],
    ),
    "continue_to": continued,
    "Rounds": rounds_answer,
    "leave_one_out": loo_answer,
    "cross_validate": cv_answer,
    "regularization_path": of_path(lambda a: regularization_path(a["X"], a["y"], **ENDS)),
    "parametric_path": of_path(
        lambda a: parametric_path((p := problem_of(a)), p.boxed(a["lower"], a["upper"]), **FAST)
    ),
    "epsilon_path": of_path(lambda a: epsilon_path(a["X"], a["t"], C=a["C"], epsilon=(1.0, 0.1), **GIVEN)),
    "nu_path": of_path(lambda a: nu_path(a["X"], nu=(0.2, 0.6), weights=a["w"], **GIVEN)),
    "cost_path": of_path(lambda a: cost_path(a["X"], a["y"], C=2.0, **GIVEN)),
    "weight_path": of_path(lambda a: weight_path(a["X"], a["y"], C=(a["C"], a["w"]), **GIVEN)),
    "curves": curves,
    "cross_validate_path": then(
        lambda a: cross_validate_path(a["X"], a["y"], folds=a["folds"], **ENDS),
        lambda result: (result.curve.error, result.curve.C),
    ),
    "Problem": of_a_problem,
    "influence": then(
        lambda a: influence(problem_of(a), [a["few"], [2]], **FAST),
        lambda found: (found.decision_values, found.changes),
    ),
    "tune_by_gradient": then(
        lambda a: tune_by_gradient(a["X"], a["y"], starts=1, max_evaluations=2, **FAST),
        lambda found: found.loss,
    ),
    "derivatives": derivatives,
    "several classes": several_classes,
}


def answer_of(name: str, arrays: Arrays) -> Answer:
    if name in ESTIMATORS:
        pytest.importorskip("sklearn")
    return CALLS[name](arrays)


def assert_equal(found: Any, wanted: Any) -> None:
    if isinstance(wanted, tuple | list):
        assert len(found) == len(wanted)
        for one, other in zip(found, wanted, strict=True):
            assert_equal(one, other)
    else:
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.slow
def test_what_the_caller_writes_to_an_array_later_changes_nothing(name: str) -> None:
    wanted, arrays = answer_of(name, fresh_arrays())(), fresh_arrays()
    answer = CALLS[name](arrays)
    for array in arrays.values():
        array[...] = np.nan if array.dtype.kind == "f" else 0
    assert_equal(answer(), wanted)


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.slow
def test_arrays_may_be_read_only_and_memory_mapped(name: str, tmp_path: Path) -> None:
    wanted, arrays = answer_of(name, fresh_arrays())(), {}
    for key, array in fresh_arrays().items():
        np.save(tmp_path / f"{key}.npy", array)
        arrays[key] = np.load(tmp_path / f"{key}.npy", mmap_mode="r")
    assert_equal(CALLS[name](arrays)(), wanted)


def test_a_table_over_the_callers_memory_is_copied() -> None:
    pandas = pytest.importorskip("pandas")
    arrays = fresh_arrays()
    memory = arrays["X"]
    given = [memory, memoryview(memory), pandas.DataFrame(memory, copy=False), memory[::1]]
    problems = [DualProblem.classification(each, arrays["y"], kernel=RBF(0.3)) for each in given]
    wanted = solved(problem_of(fresh_arrays(), C=1.0))
    memory[:] = np.nan
    for problem in problems:
        np.testing.assert_array_equal(solved(problem), wanted)


def test_a_kernel_matrix_is_a_view_that_is_only_read() -> None:
    arrays = fresh_arrays()
    K = arrays["K"]
    for problem in (
        DualProblem.classification(K, arrays["y"], kernel=Precomputed()),
        DualProblem.classification(y=arrays["y"], gram=K),
        DualProblem(K, arrays["y"], 0.0, arrays["lower"], arrays["upper"]),
    ):
        held = problem.gram.dense
        assert np.shares_memory(held, K)
        assert not held.flags.writeable
    assert K.flags.writeable


def test_fit_copies_neither_examples_nor_kernel_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sklearn")
    from refsvm import SVC
    from refsvm.analysis.multiclass import one_vs_one

    seen: list[Any] = []
    inner = one_vs_one.gram_of_rows

    def watched(kernel: Any, X: Any, rows: np.ndarray) -> Any:
        gram = inner(kernel, X, rows)
        seen.append(gram.X)
        return gram

    monkeypatch.setattr(one_vs_one, "gram_of_rows", watched)
    arrays = fresh_arrays()
    SVC(gamma=0.3, **FAST).fit(arrays["X"], arrays["y"])
    SVC(kernel="precomputed", **FAST).fit(arrays["K"], arrays["y"])
    arrays["K"].flags.writeable = False
    SVC(kernel="precomputed", **FAST).fit(arrays["K"], arrays["y"])
    assert [np.shares_memory(X, arrays[key]) for X, key in zip(seen, "XKK", strict=True)] == [True] * 3


@pytest.mark.parametrize("seeder", [TOP(), AVG(), MIR(), ATO(), SIR()], ids=repr)
@pytest.mark.slow
def test_compiled_code_takes_a_kernel_matrix_that_is_read_only(seeder: Any, tmp_path: Path) -> None:
    pytest.importorskip("numba")
    arrays = fresh_arrays()
    np.save(tmp_path / "K.npy", arrays["K"])
    mapped = np.load(tmp_path / "K.npy", mmap_mode="r")
    found = []
    for K, engine in ((arrays["K"], "numpy"), (arrays["K"], "numba"), (mapped, "numba")):
        y = arrays["y"]
        loo = leave_one_out(y=y, gram=K, C=5.0, seeder=seeder, engine=engine)
        folds = cross_validate(y=y, gram=K, C=5.0, folds=4, seeder=seeder, engine=engine)
        solution = solve(DualProblem.classification(y=y, gram=K, C=5.0), shrinking=False, engine=engine)
        path = regularization_path(y=y, gram=K, C_min=0.1, C_max=10.0, engine=engine)
        assert np.shares_memory(path.kernel_matrix, K)
        found.append((loo.predictions, folds.decision_values, solution.alpha, path.alpha(1.0)))
    for one, other in zip(found[1], found[2], strict=True):
        np.testing.assert_array_equal(one, other)
    for one, other in zip(found[0], found[2], strict=True):
        np.testing.assert_allclose(one, other, atol=1e-9)


@pytest.mark.parametrize("engine", ["numpy", "numba"])
@pytest.mark.slow
def test_arrays_that_joblib_maps_on_their_way_to_a_process(engine: str) -> None:
    joblib = pytest.importorskip("joblib")
    pytest.importorskip("sklearn")
    from refsvm import SVCCV

    arrays, options = fresh_arrays(), {"engine": engine}
    X, y, K = arrays["X"], arrays["y"], arrays["K"]

    def found(jobs: int | None) -> list[Any]:
        loo = leave_one_out(y=y, gram=K, C=5.0, n_jobs=jobs, **options)
        given = cross_validate(y=y, gram=K, folds=4, n_jobs=jobs, **options)
        folds = cross_validate(X, y, kernel=RBF(0.3), folds=4, n_jobs=jobs, **options)
        grid = SVCCV(Cs=[1.0, 10.0], gammas=[0.2, 0.4], cv=3, n_jobs=jobs, **options).fit(X, y)
        of_matrix = SVCCV(kernel="precomputed", Cs=[1.0, 10.0], cv=3, n_jobs=jobs, **options).fit(K, y)
        scores = [each.cv_results_["mean_test_score"] for each in (grid, of_matrix)]
        return [loo.predictions, given.decision_values, folds.decision_values, *scores]

    wanted = found(None)
    with joblib.parallel_config("loky", n_jobs=2, max_nbytes=100):
        for one, other in zip(found(2), wanted, strict=True):
            np.testing.assert_allclose(one, other, atol=1e-9)


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.slow
def test_a_call_leaves_no_circle_of_objects(name: str) -> None:
    """Arrays that wait for the collector would add up in a service that has switched it off."""
    answer_of(name, fresh_arrays())()  # imports, and what is kept for the next call
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        answer_of(name, fresh_arrays())()
        gc.collect()
        left = {type(each).__name__ for each in gc.garbage if any(map(is_array, gc.get_referents(each)))}
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
    assert not left


def is_array(thing: Any) -> bool:
    return isinstance(thing, np.ndarray)


@pytest.mark.parametrize("spread", SPREADS[1:])
@pytest.mark.parametrize("name", CALLS)
@pytest.mark.slow
def test_underflow_is_0_whatever_the_caller_asks_of_numpy(name: str, spread: float) -> None:
    with warnings.catch_warnings(action="ignore"):
        wanted = answer_of(name, fresh_arrays(spread))()
        with np.errstate(all="raise"):
            assert_equal(answer_of(name, fresh_arrays(spread))(), wanted)
            with pytest.raises(FloatingPointError):  # and what the caller asks stays
                _ = np.full(2, 1e-200) ** 2
