"""Leave-one-out against refits from scratch; the compiled rounds against the readable ones; what is refused."""

from __future__ import annotations

import itertools
import os
import signal
import threading
import warnings
from functools import cache

import numpy as np
import pytest

from refsvm import (
    AVG,
    RBF,
    TOP,
    Cold,
    DualProblem,
    HybridMaximumGain,
    KKTGap,
    Linear,
    LOODualityGap,
    NewtonStep,
    Polynomial,
    Precomputed,
    Rounds,
    Status,
    leave_one_out,
    solve,
)
from refsvm.datasets import load, make_banana, make_ringnorm
from refsvm.resampling.left_out import CompiledRounds, can_be_compiled, for_example, readable_round
from refsvm.resampling.sufficiency import CHECKS
from refsvm.solver.rules import chosen_rules

from ..settings import FAST, INTERPRETED, needs_jit, needs_numba

MOST = 40 if INTERPRETED or FAST == "numpy" else 90


@cache
def data(name: str, most: int = MOST):
    """Return some examples of a bundled set, both classes among them, features of one scale."""
    if name in ("banana", "ringnorm"):
        made = {"banana": make_banana, "ringnorm": make_ringnorm}[name](most, rng=1)
        return made.X, made.y
    full = load(name)
    order = np.random.default_rng(0).permutation(full.n)[:most]
    X, y = full.X[order], full.y[order]
    X = X.toarray() if hasattr(X, "toarray") else X
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0), np.where(y == y.max(), 1, -1)


SETS = [
    "heart",
    "thyroid",
    "sonar",
    "ionosphere",
    "breast_cancer",
    "monks1",
    "tic_tac_toe",
    "wbc",
    "banana",
    "ringnorm",
]
if MOST == 40:  # where every step is slow
    SETS = ["heart", "ionosphere", "monks1", "banana"]
KERNELS = {"RBF": RBF(0.1), "linear": Linear()}


def brute_force(X, y, kernel, C):
    """Train without each example, from scratch, to 1e-8; return h(xᵣ)."""
    rounds = Rounds(
        DualProblem.classification(X, y, kernel=kernel, C=C), stop=KKTGap(1e-8), engine=FAST, shrinking=False
    )
    values = np.empty(len(y))
    for r in range(len(y)):
        left_out = rounds.problem.without(r)
        values[r] = rounds.solve(lower=left_out.lower, upper=left_out.upper).decision_values[r]
    return values


UNDECIDED = {("ionosphere", "RBF", 90): [17], ("monks1", "linear", 40): [12, 19, 25, 30]}
"""Examples whose decision value is within the tolerance of zero, by set, kernel and number of examples."""


@pytest.mark.parametrize("kernel", list(KERNELS))
@pytest.mark.parametrize("name", SETS)
def test_predictions_are_those_of_refits(name, kernel):
    X, y = data(name)
    values = brute_force(X, y, KERNELS[kernel], 1.0)
    expected = np.where(values >= 0.0, 1, -1)
    at_zero = np.flatnonzero(np.abs(values) < 2e-3).tolist()
    assert at_zero == UNDECIDED.get((name, kernel, MOST), [])
    for stop in (KKTGap(), LOODualityGap()):
        loo = leave_one_out(X, y, kernel=KERNELS[kernel], stop=stop, engine=FAST)
        differ = np.flatnonzero(loo.predictions != expected)
        assert set(differ.tolist()) <= set(at_zero)
        assert loo.is_complete
        assert loo.status is Status.CONVERGED
        assert loo.error == np.mean(loo.predictions != y)
        known = ~np.isnan(loo.decision_values) & (loo.decided_by != "duality gap")
        np.testing.assert_allclose(loo.decision_values[known], values[known], atol=2e-2)


@pytest.mark.parametrize("check", CHECKS)
def test_each_check_alone_is_right(check):
    decided = 0
    for name in ("heart", "sonar", "thyroid", "banana"):
        X, y = data(name)
        for kernel, C in ((RBF(0.1), 1.0), (RBF(1.0), 0.2), (Linear(), 0.1)):
            some = leave_one_out(X, y, kernel=kernel, C=C, checks=check, engine=FAST)
            none = leave_one_out(X, y, kernel=kernel, C=C, checks=(), engine=FAST)
            assert np.array_equal(some.predictions, none.predictions)
            assert set(none.decided_by) == {"kkt"}
            assert set(some.decided_by) <= {check, "kkt"}
            decided += some.counts[check]
    assert decided > 10


def test_checks_in_order():
    X, y = data("heart")
    loo = leave_one_out(X, y, kernel=RBF(0.1), engine=FAST)
    full = loo.full_solution
    zero = full.alpha == 0.0
    wrong = ~zero & (y * full.decision_values < 0)
    assert np.array_equal(loo.decided_by == "zero alpha", zero)
    assert np.array_equal(loo.decided_by == "training error", wrong)
    assert (loo.predictions[zero] == y[zero]).all()
    assert (loo.predictions[wrong] != y[wrong]).all()
    assert sum(loo.counts.values()) == len(y)


# -- readable and compiled ---------------------------------------------------------------------------------------------


@needs_numba
@pytest.mark.parametrize("seeder", [Cold(), AVG(), TOP()], ids=repr)
@pytest.mark.parametrize(
    "stop", [KKTGap(), KKTGap(1e-7), LOODualityGap(), LOODualityGap(variables=1)], ids=repr
)
def test_compiled_rounds_end_at_the_same_alpha(seeder, stop):
    X, y = data("heart", 24 if INTERPRETED else 60)
    for kernel, selector, step in ((RBF(0.1), None, None), (Linear(), HybridMaximumGain(), NewtonStep())):
        problem = DualProblem.classification(X, y, kernel=kernel, C=3.0)
        rules = chosen_rules(selector, step, stop)
        rounds = Rounds(
            problem, selector=selector, step=step, stop=KKTGap(1e-8), engine="numpy", shrinking=False
        )
        rounds.rows.fetch(np.arange(problem.n))
        full = rounds.solve()
        assert can_be_compiled(rounds.rows, rules, seeder)
        compiled = CompiledRounds(rounds.rows, full, rules, seeder, seeder.prepare(full), 10_000)
        for r in range(0, problem.n, 12 if INTERPRETED else 4):
            record, solution = readable_round(rounds, full, seeder.seeds_from(full), stop, r)
            assert compiled.run(np.array([r])) == record
            assert np.array_equal(compiled.alpha, solution.alpha)


@needs_numba
@pytest.mark.parametrize("name", ["heart", "banana", "breast_cancer"])
def test_both_engines_return_the_same(name):
    X, y = data(name, 30 if INTERPRETED else 80)
    for stop, seeder in itertools.product((KKTGap(), LOODualityGap()), (TOP(), AVG())):
        one, other = (
            leave_one_out(X, y, kernel=RBF(0.1), C=5.0, stop=stop, seeder=seeder, engine=engine)
            for engine in ("numpy", "numba")
        )
        assert (one.engine, other.engine) == ("numpy", "numba")
        assert np.array_equal(one.predictions, other.predictions)
        assert np.array_equal(one.decided_by, other.decided_by)
        assert np.array_equal(one.decision_values, other.decision_values, equal_nan=True)
        assert np.array_equal(one.round_iterations, other.round_iterations)
        assert one.gap_rule_kept == other.gap_rule_kept


@needs_jit
def test_threads_return_the_same(monkeypatch):
    pytest.importorskip("joblib")
    monkeypatch.setattr("refsvm.resampling.parallel.WORTH_SECONDS", 0.0)
    X, y = data("sonar", 150)
    one, two = (
        leave_one_out(X, y, kernel=RBF(0.02), C=10.0, n_jobs=n_jobs, engine="numba") for n_jobs in (1, 2)
    )
    assert np.array_equal(one.decision_values, two.decision_values, equal_nan=True)
    assert np.array_equal(one.decided_by, two.decided_by)


@needs_jit
def test_processes_where_joblib_is_set_up_for_them(monkeypatch):
    joblib = pytest.importorskip("joblib")
    monkeypatch.setattr("refsvm.resampling.parallel.WORTH_SECONDS", 0.0)
    X, y = data("heart", 60)
    expected = leave_one_out(X, y, kernel=RBF(0.1), engine="numba")
    with joblib.parallel_config(backend="multiprocessing"):
        loo = leave_one_out(X, y, kernel=RBF(0.1), engine="numpy", n_jobs=2)
    assert np.array_equal(loo.predictions, expected.predictions)


def test_a_runner_arrives_in_another_process_without_kernel_rows():
    import pickle

    from refsvm.resampling.parallel import ChunkRunner, run_in_worker

    X, y = data("heart", 40)
    problem = DualProblem.classification(X, y, kernel=RBF(0.1))
    rounds = Rounds(problem, stop=KKTGap(1e-6), engine="numpy", shrinking=False)
    full = rounds.solve()
    options = {"compiled": False, "cache_mb": 200.0, "max_iter": 10_000}
    runner = ChunkRunner(problem, full, chosen_rules(None, None, None), TOP(), options, rounds)
    sent = pickle.dumps(runner)
    examples = np.arange(0, 40, 7)
    there = run_in_worker(pickle.loads(sent), examples)
    here = runner(examples)
    assert np.array_equal(there["code"], here["code"])
    np.testing.assert_allclose(there["decision_value"], here["decision_value"], atol=1e-10)


@needs_jit
def test_auto_goes_on_in_compiled_code(monkeypatch):
    X, y = data("heart", 30)
    expected = leave_one_out(X, y, kernel=RBF(0.1), engine="numpy")
    asked = itertools.count()
    monkeypatch.setattr("refsvm.resampling.procedure.compiled_code_is_due", lambda: next(asked) >= 3)
    loo = leave_one_out(X, y, kernel=RBF(0.1))
    assert loo.engine == "numba"
    assert np.array_equal(loo.decision_values, expected.decision_values, equal_nan=True)


def test_rows_on_demand_where_the_matrix_does_not_fit():
    X, y = data("heart")
    expected = leave_one_out(X, y, kernel=RBF(0.1), engine=FAST)
    for stop in (KKTGap(), LOODualityGap()):
        loo = leave_one_out(X, y, kernel=RBF(0.1), cache_mb=8.5 * 8 * len(y) / 2**20, stop=stop, engine=FAST)
        assert np.array_equal(loo.predictions, expected.predictions)
        assert loo.kernel_rows > len(y)


# -- the efficiency test -----------------------------------------------------------------------------------------------


def test_a_rule_that_seldom_decides_early_is_given_up():
    X, y = data("ionosphere")
    rule = LOODualityGap(tol=0.5)  # the KKT gap is reached first
    loo = leave_one_out(X, y, kernel=RBF(0.1), stop=rule, checks=(), engine=FAST)
    assert loo.gap_rule_kept is False
    early = loo.decided_by[:10] == "duality gap"
    assert early.sum() < 5
    assert (loo.decided_by[10:] == "kkt").all()
    kept = leave_one_out(X, y, kernel=RBF(0.1), stop=rule, checks=(), engine=FAST, efficiency_test=False)
    assert kept.gap_rule_kept is None


def test_a_rule_that_decides_early_is_kept():
    X, y = data("heart")
    loo = leave_one_out(
        X, y, kernel=Linear(), stop=LOODualityGap(1e-4), seeder=Cold(), checks=(), engine=FAST
    )
    assert loo.gap_rule_kept is True
    assert loo.counts["duality gap"] > 0.8 * len(y)


@pytest.mark.parametrize("kernel", list(KERNELS))
def test_seeds_and_the_gap_rule_save_steps(kernel):
    X, y = data("heart", 40)
    taken = {
        (type(seeder), type(stop)): leave_one_out(
            X,
            y,
            kernel=KERNELS[kernel],
            C=5.0,
            seeder=seeder,
            stop=stop,
            checks=(),
            efficiency_test=False,
            engine=FAST,
        ).round_iterations.sum()
        for seeder in (Cold(), AVG(), TOP())
        for stop in (KKTGap(), LOODualityGap())
    }
    for stop in (KKTGap, LOODualityGap):
        assert taken[AVG, stop] < taken[Cold, stop]
        assert taken[TOP, stop] < taken[Cold, stop]
    assert taken[Cold, LOODualityGap] < (0.6 if kernel == "linear" else 0.8) * taken[Cold, KKTGap]


# -- limits ------------------------------------------------------------------------------------------------------------


def test_the_callback_sees_progress_and_can_end_it():
    X, y = data("heart")
    seen = []
    leave_one_out(X, y, kernel=RBF(0.1), engine=FAST, callback=lambda done, n: seen.append((done, n)))
    assert seen[-1] == (len(y), len(y))
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    loo = leave_one_out(X, y, kernel=RBF(0.1), engine="numpy", callback=lambda done, n: True)
    assert loo.status is Status.CALLBACK
    assert not loo.is_complete
    assert "" in loo.decided_by
    decided = loo.decided_by != ""
    assert loo.error == np.mean((loo.predictions != y)[decided])


def test_a_time_limit_ends_it():
    X, y = data("heart")
    loo = leave_one_out(X, y, kernel=RBF(0.1), engine="numpy", time_limit=1e-9)
    assert loo.status is Status.TIME_LIMIT
    assert not loo.is_complete


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
def test_ctrl_c_returns_what_is_decided():
    X, y = data("heart")

    def press(done, n):
        if done > 50 % len(y):
            os.kill(os.getpid(), signal.SIGINT)

    assert threading.current_thread() is threading.main_thread()
    loo = leave_one_out(X, y, kernel=RBF(0.1), engine="numpy", callback=press)
    assert loo.status is Status.INTERRUPTED
    assert not loo.is_complete
    assert 0 < (loo.decided_by != "").sum() < len(y)
    rest = leave_one_out(X, y, kernel=RBF(0.1), engine=FAST)
    decided = loo.decided_by != ""
    assert np.array_equal(loo.predictions[decided], rest.predictions[decided])


@pytest.mark.parametrize("engine", ["numpy", FAST])
def test_a_limit_on_the_steps_of_a_round(engine):
    X, y = data("sonar")
    exact = leave_one_out(X, y, kernel=RBF(0.02), C=10.0, checks=(), engine=engine)
    most = max(exact.full_solution.iterations, 1)
    loo = leave_one_out(
        X, y, kernel=RBF(0.02), C=10.0, seeder=Cold(), checks=(), engine=engine, max_iter=most
    )
    assert set(loo.decided_by) <= {"kkt", "limit"}
    short = leave_one_out(X, y, kernel=RBF(0.02), C=10.0, checks=(), engine=engine, max_iter=2)
    assert short.status is Status.MAX_ITER
    assert not short.is_complete
    assert np.isnan(short.error)


# -- bad input and corner cases ----------------------------------------------------------------------------------------


def test_an_example_alone_in_its_class_is_wrong():
    X = np.random.default_rng(0).normal(size=(12, 2))
    y = np.where(np.arange(12) == 4, 1, -1)
    for stop in (KKTGap(), LOODualityGap()):
        loo = leave_one_out(X, y, kernel=RBF(0.5), C=10.0, stop=stop, engine=FAST)
        assert loo.predictions[4] == -1
        assert loo.is_complete
        assert loo.decision_values[4] == pytest.approx(-1.0)


def test_two_examples():
    loo = leave_one_out(np.array([[0.0], [1.0]]), [-1, 1], engine=FAST)
    assert loo.predictions.tolist() == [1, -1]
    assert loo.error == 1.0


def test_duplicates_of_the_left_out_example():
    """K′ of a duplicate is 0."""
    X, y = data("heart", 20)
    X, y = np.repeat(X, 3, axis=0), np.repeat(y, 3)
    expected = np.where(brute_force(X, y, RBF(0.1), 1.0) >= 0, 1, -1)
    for stop in (KKTGap(), LOODualityGap()):
        loo = leave_one_out(X, y, kernel=RBF(0.1), stop=stop, engine=FAST)
        assert np.array_equal(loo.predictions, expected)


def test_without_a_free_support_vector_the_third_check_is_not_used():
    X, y = data("heart")
    loo = leave_one_out(X, y, kernel=RBF(0.1), C=1e-9, engine=FAST)
    full = loo.full_solution
    assert (
        not ((full.alpha > full.problem.lower) & (full.alpha < full.problem.upper)).any() or loo.is_complete
    )
    problem = full.problem
    free = (full.alpha > problem.lower) & (full.alpha < problem.upper)
    if not free.any():
        assert loo.counts["xi-alpha bound"] == 0


def test_huge_norms():
    X, y = data("heart", 40)
    loo = leave_one_out(X * 1e6, y, kernel=Linear(), C=1e-9, engine=FAST, max_iter=100_000)
    values = brute_force(X * 1e6, y, Linear(), 1e-9)
    sure = np.abs(values) > 0.05
    assert np.array_equal(loo.predictions[sure], np.where(values >= 0, 1, -1)[sure])


def test_an_indefinite_kernel_is_warned_about_and_decided_by_kkt():
    rng = np.random.default_rng(3)
    noise = rng.normal(size=(30, 30))
    y = np.where(rng.random(30) < 0.5, 1, -1)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        loo = leave_one_out(noise + noise.T, y, kernel=Precomputed(), stop=LOODualityGap(), engine=FAST)
    assert any("each round ends at the KKT gap" in str(each.message) for each in said)
    assert set(loo.decided_by) <= {"zero alpha", "kkt"}


def test_a_kernel_matrix_gives_what_its_kernel_gives():
    X, y = data("heart", 50)
    K = DualProblem.classification(X, y, kernel=RBF(0.1)).gram.block(np.arange(50))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        one = leave_one_out(K, y, kernel=Precomputed(), engine=FAST)
        polynomial = leave_one_out(X, y, kernel=Polynomial(degree=2, coef0=1.0), C=0.01, engine=FAST)
    other = leave_one_out(X, y, kernel=RBF(0.1), engine=FAST)
    assert np.array_equal(one.predictions, other.predictions)
    assert polynomial.is_complete


def test_examples_with_penalty_zero_are_predicted_by_the_rest():
    X, y = data("heart")
    C = np.where(np.arange(len(y)) % 5, 1.0, 0.0)
    loo = leave_one_out(X, y, kernel=RBF(0.1), C=C, engine=FAST)
    full = solve(DualProblem.classification(X, y, kernel=RBF(0.1), C=C), stop=KKTGap(1e-8))
    ignored = C == 0
    assert np.array_equal(loo.predictions[ignored], np.where(full.decision_values >= 0, 1, -1)[ignored])
    gap = leave_one_out(X, y, kernel=RBF(0.1), C=C, stop=LOODualityGap(), engine=FAST)
    assert np.array_equal(gap.predictions, loo.predictions)


def test_any_two_names():
    X, y = data("heart", 40)
    names = np.where(y > 0, "ill", "healthy")
    named, plain = (leave_one_out(X, labels, kernel=RBF(0.1), engine=FAST) for labels in (names, -y))
    assert set(named.predictions) == {"ill", "healthy"}
    assert np.array_equal(named.predictions == "ill", plain.predictions == -1)
    assert named.error == plain.error


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"y": [0, 1, 2] * 10}, "y holds 3 classes and leave_one_out takes two"),
        ({"y": [1] * 30}, "single class"),
        ({"y": [1, -1]}, "y has shape"),
        ({"C": -1.0}, "C"),
        ({"seeder": TOP}, "seeder=.* is not a Seeder"),
        ({"stop": "kkt"}, "stop='kkt' is not a StoppingRule"),
        ({"checks": ["zero"]}, "checks contains 'zero'; choose from 'zero alpha'"),
        ({"n_jobs": 0}, "n_jobs=0 is not a number of workers"),
        ({"n_jobs": 1.5}, "n_jobs=1.5 is not a number of workers"),
        ({"engine": "fast"}, "engine='fast' is unknown"),
        ({"max_iter": 0}, "max_iter"),
        ({"time_limit": -1.0}, "time_limit"),
        ({"callback": 3}, "callback=3 cannot be called"),
    ],
)
def test_what_is_refused(change, words):
    X, y = data("heart", 30)
    with pytest.raises(ValueError, match=words):
        leave_one_out(**({"X": X, "y": y} | change))


def test_a_rule_for_left_out_examples_gets_to_know_which():
    assert for_example(LOODualityGap(1e-4), 7) == LOODualityGap(1e-4, example=7)
    assert for_example(KKTGap(), 7) == KKTGap()
