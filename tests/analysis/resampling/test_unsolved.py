"""Numbers of machines that are not solved come with the warning of SVC; what takes many steps is walked to."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np
import pytest

from refsvm import RBF, TOP, DualProblem, KKTGap, Linear, Rounds, Status, cross_validate, leave_one_out, solve
from refsvm.analysis.paths import cross_validate_path
from refsvm.analysis.resampling.jackknife import held_out_machines
from refsvm.core.engine.limits import PathLimits
from refsvm.core.engine.unsolved import frames_within, unsolved, warn_of_unsolved
from refsvm.core.rounds.walked import easy_share, few_steps, walked

from ...programs import printed_by
from ...settings import FAST, needs_jit, noisy_classes


def flat(seed: int = 0, n: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """Return few features of overlapping classes, on which steps of pairs gain little at a large C."""
    return noisy_classes(n, 4, seed, noise=0.5)


X, Y = flat()
T = X[:, 0] + 0.3 * np.sin(5.0 * X[:, 1])


def limited(limit: int = 3, **more: Any) -> dict[str, Any]:
    return {"kernel": RBF(0.5), "C": 10.0, "max_iter": limit, "engine": "numpy", **more}


@pytest.mark.parametrize(
    "ask",
    [
        lambda: leave_one_out(X, Y, **limited()),
        lambda: leave_one_out(X, Y, checks=(), stop=KKTGap(1e-9), **limited(80)),
        lambda: leave_one_out(X, T, epsilon=0.1, **limited(200, stop=KKTGap(1e-12))),
        lambda: leave_one_out(X, nu=0.5, **limited()),
        lambda: leave_one_out(X, np.digitize(T, [-0.5, 0.5]), **limited()),
        lambda: cross_validate(X, Y, folds=3, **limited()),
        lambda: cross_validate(X, Y, folds=3, n_jobs=2, **limited()),
        lambda: cross_validate(X, T, epsilon=0.1, folds=3, **limited()),
        lambda: cross_validate(X, nu=0.5, folds=3, **limited()),
        lambda: cross_validate(X, np.digitize(T, [-0.5, 0.5]), folds=3, seeder=TOP(), **limited()),
        lambda: held_out_machines(DualProblem.regression(X, T, kernel=RBF(0.5), C=10.0), max_iter=3),
    ],
)
def test_what_is_not_solved_is_said(ask: Any) -> None:
    with pytest.warns(UserWarning, match=r"^\d+ of \d+ .* are not solved, and .*max_iter") as said:
        ask()
    (warning,) = (each for each in said if "not solved" in str(each.message))
    assert warning.filename == __file__
    if (module := sys.modules.get("sklearn.exceptions")) is not None:
        assert warning.category is module.ConvergenceWarning


def test_what_is_solved_or_ended_by_its_user_is_not() -> None:
    with warnings.catch_warnings(action="error"):
        leave_one_out(X, Y, kernel=RBF(0.5), engine="numpy")
        loo = leave_one_out(X, Y, kernel=RBF(0.5), engine="numpy", callback=lambda at: True)
        cv = cross_validate(X, Y, kernel=RBF(0.5), folds=3, engine="numpy", callback=lambda state: True)
    assert loo.status is cv.status is Status.CALLBACK
    assert not loo.is_solved.all()
    assert unsolved([Status.CONVERGED, Status.INTERRUPTED]) == {}


def test_examples_whose_machines_are_not_solved_are_marked() -> None:
    with pytest.warns(UserWarning, match="they still predict their examples"):
        loo = leave_one_out(X, Y, kernel=Linear(), C=100.0, max_iter=2500, engine=FAST)
    np.testing.assert_array_equal(loo.is_solved, loo.decided_by != "limit")
    assert 0 < np.count_nonzero(~loo.is_solved) < 60


def test_without_scikit_learn_there_is_a_warning_too() -> None:
    code = (
        "import sys, warnings, numpy as np\n"
        "from refsvm import cross_validate\n"
        "with warnings.catch_warnings(record=True, action='always') as said:\n"
        "    cross_validate(np.arange(12.0)[:, None], np.arange(12) % 2, folds=3, max_iter=1, engine='numpy')\n"
        "assert 'sklearn' not in sys.modules\n"
        "print(said[-1].category.__name__, said[-1].filename)\n"
    )
    assert printed_by("-c", code).split() == ["UnsolvedWarning", "<string>"]


def test_a_warning_names_the_most_frequent_reason() -> None:
    found = unsolved([Status.STALLED, Status.MAX_ITER, Status.MAX_ITER, Status.CONVERGED])
    with pytest.warns(UserWarning, match=r"3 of 4 rounds are not solved, and so on\. The iteration limit"):
        warn_of_unsolved("rounds", found, 4, "so on")
    assert frames_within() == 0


# -- paths and curves --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("folds", ["loo", 3])
@pytest.mark.parametrize("classes", [2, 3])
def test_folds_whose_paths_end_early_say_so(folds, classes, monkeypatch):
    pytest.importorskip("scipy")
    labels = Y if classes == 2 else np.digitize(T, [-0.5, 0.5])
    monkeypatch.setattr(PathLimits, "reached", lambda _, point, count: Status.MAX_ITER if count > 5 else None)
    with warnings.catch_warnings(record=True, action="always") as said:
        found = cross_validate_path(X, labels, kernel=RBF(0.5), folds=folds, C_min=0.01, C_max=100.0)
    assert "paths ended before C_max=100, so the error curve ends at C=" in str(said[-1].message)
    assert any("The path ends at C=" in str(each.message) for each in said[:-1])
    assert {curve.status for curve in (found.curve, *found.curves)} == {Status.MAX_ITER}
    with pytest.warns(UserWarning, match=r"\(MAX_ITER\)"):
        found.curve.best()


# -- walks -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("C", [1e4, 1e5, 1e6])
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=needs_jit), pytest.param(2, marks=needs_jit)])
def test_a_linear_machine_at_a_large_penalty_is_walked_to(C: float, seed: int) -> None:
    """A refit takes 10⁴ to 10⁷ steps."""
    (X, y), options = flat(seed), {"kernel": Linear(), "engine": FAST}
    loo = leave_one_out(X, y, C=C, **options)
    assert loo.status is Status.CONVERGED
    assert loo.iterations < 2 * few_steps(60)
    assert loo.full_solution.kkt_gap < 1e-6
    assert loo.counts["path"] > 5
    # the optimum hardly moves any more from here on, so that an easy C tells the signs
    np.testing.assert_array_equal(loo.predictions, leave_one_out(X, y, C=1e3, **options).predictions)
    cv, easy = (cross_validate(X, y, C=each, folds=5, **options) for each in (C, 1e3))
    assert cv.status is Status.CONVERGED
    assert few_steps(60) <= cv.iterations < 2 * few_steps(60)
    np.testing.assert_array_equal(cv.predictions, easy.predictions)


@pytest.mark.parametrize("kind", ["regression", "three classes", "repeated", "novelty"])
def test_what_takes_few_steps_at_an_easy_penalty_is_walked_to_in_every_task(kind: str) -> None:
    X, y = flat(3)
    if kind == "repeated":
        X, y = np.repeat(X[:30], 2, axis=0), np.repeat(y[:30], 2)
    value = X[:, 0] + 0.3 * X[:, 1] ** 2
    target, C, more = {
        "regression": (value, 1e5, {"epsilon": 0.1}),
        "three classes": (np.digitize(value, [0.0, 0.8]), 1e5, {}),
        "repeated": (y, 1e5, {}),
        "novelty": (None, 1.0, {"nu": 0.3}),
    }[kind]
    more |= {"kernel": Linear(), "engine": FAST}
    loo = leave_one_out(X, target, C=C, **more)
    assert loo.status is Status.CONVERGED
    assert loo.is_solved.all()
    if kind != "novelty":
        easy = leave_one_out(X, target, C=1e2 if kind == "regression" else 1e3, **more)
        wrong = np.abs(loo.predictions - easy.predictions) > 1e-2
        assert np.count_nonzero(wrong) <= (kind != "regression")  # rounding may decide one of the classes


def test_a_walk_adds_to_the_steps_before_it() -> None:
    problem = DualProblem.classification(X, Y, kernel=Linear(), C=1e4)
    rounds = Rounds(problem, shrinking=False, engine=FAST, stop=KKTGap(1e-4, relative=True))
    exact = solve(problem, stop=KKTGap(1e-5), polish=True, engine=FAST)
    begun = rounds.solve(max_iter=50)
    other, found = walked(rounds, begun, KKTGap(1e-3, relative=True))
    assert other.rows is rounds.rows
    assert found.status is Status.CONVERGED
    assert found.kkt_gap < 1e-8
    assert 50 < found.iterations < 3000
    assert found.objective == pytest.approx(exact.objective, rel=1e-9)


def test_what_has_no_easier_box() -> None:
    assert easy_share(DualProblem.one_class(X, kernel=RBF(1.0)), np.ones(60)) == 1.0
    for C, share in ((np.inf, 1.0), (0.5, 1.0), (100.0, 0.01)):
        assert easy_share(DualProblem.classification(X, Y, kernel=RBF(1.0), C=C), np.ones(60)) == share


def test_a_seeder_that_is_named_is_used() -> None:
    loo = leave_one_out(X, Y, kernel=Linear(), C=1e3, seeder=TOP(), engine=FAST)
    assert loo.counts["path"] == 0
    assert loo.round_iterations.sum() > 0
