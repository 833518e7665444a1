"""The compiled step: a stopping rule may ask it for a kernel row, and it makes missing rows itself."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest

from refsvm import (
    RBF,
    DualProblem,
    Linear,
    MaximumGain,
    MostViolatingPair,
    NewtonStep,
    SecondOrder,
    StoppingRule,
    solve,
)
from refsvm.core.kernels.cached_rows import TIMED
from refsvm.core.kernels.rows import megabytes
from refsvm.testing import Case, check_engines, practice_problems, smallest_cache_mb

from ..settings import INTERPRETED, needs_jit, needs_same_bits

numba = pytest.importorskip("numba")
csr_array = pytest.importorskip("scipy.sparse").csr_array
sessions = pytest.importorskip("refsvm.compiled.session")
row_or_ask = pytest.importorskip("refsvm.compiled.interface.rows").row_or_ask


@numba.njit
def row_below(parameters, state):
    """Twin of `RowBelow`."""
    top = state.now[0].top
    if top < 0:
        return 1
    row, there = row_or_ask(state, top)
    if not there:
        return 0
    largest = 0.0
    for value in row:
        largest = max(largest, abs(value))
    return int(state.now[0].gap <= parameters[0] * largest)


@dataclass(frozen=True)
class RowBelow(StoppingRule):
    """Stop where ψ ≤ ε max |K[i]|, i the first of the most violating pair: a rule that reads a kernel row."""

    eps: float = 1e-3

    def check(self, state):
        if state.top < 0:
            return 1
        return int(state.gap <= self.eps * float(np.abs(state.row(state.top)).max()))

    def parameters(self):
        return (self.eps,)

    def twin(self):
        return row_below


@pytest.mark.parametrize("shrinking", [False, True])
@pytest.mark.parametrize("name", ["overlapping classes", "large penalty", "any box"])
def test_a_stopping_rule_may_ask_for_a_kernel_row(name, shrinking):
    """With all rows in memory and with as few as two: the same steps, rows and hits."""
    problem = practice_problems()[name]
    for selector in (SecondOrder(), MostViolatingPair()):
        case = Case(name, problem, (selector, NewtonStep(), RowBelow()))
        for cache_mb in (200.0, smallest_cache_mb(selector, problem.n)):
            check_engines(case, limit=100, cache_mb=cache_mb, shrinking=shrinking)


@dataclass(frozen=True)
class Beyond(RowBelow):
    """Its twin asks for a row that does not exist."""

    def twin(self):
        return numba.njit(lambda parameters, state: int(row_or_ask(state, len(state.alpha))[1]))


@dataclass(frozen=True)
class Outdated(RowBelow):
    """Its twin asks for a row by its code, as in 0.1."""

    def twin(self):
        return numba.njit(lambda parameters, state: -1 - state.now[0].top)


@pytest.mark.parametrize(
    ("rule", "words"), [(Beyond(), "asked for kernel row 32 of 32"), (Outdated(), "it must call row_or_ask")]
)
def test_a_stopping_rule_that_asks_for_no_row_is_stopped(rule, words):
    with pytest.raises(IndexError, match=words):
        solve(practice_problems()["duplicates"], stop=rule, step=NewtonStep(), engine="numba")


def few(n):
    X = np.random.default_rng(0).normal(size=(n, 3))
    return DualProblem.classification(X, np.where(X[:, 0] > 0.2, 1, -1), kernel=RBF(0.5), C=10.0)


@needs_jit
def test_pointers_are_taken_over_once_and_not_at_every_missing_row(monkeypatch):
    """To take over one takes 0.1 ms, longer than most kernel rows."""
    from numba.experimental import function_type

    look_up, asked = function_type._get_wrapper_address, []
    monkeypatch.setattr(
        function_type, "_get_wrapper_address", lambda *rule: asked.append(rule) or look_up(*rule)
    )
    problem = few(60)
    for selector in (MaximumGain(), SecondOrder()):  # through pointers, and built in
        solution = solve(problem, selector=selector, step=NewtonStep(), engine="numba", shrinking=False)
        assert solution.kernel_rows > 10
    assert len(asked) == 3


def problems_of_rows():
    """Yield problems, dense and sparse: of two classes and of a regression, whose rows are copies."""
    rng, n = np.random.default_rng(5), 20 if INTERPRETED else 90
    X, noise = rng.normal(size=(n, 6)) * (rng.random((n, 6)) < 0.6), rng.normal(size=n)
    for data in (X, csr_array(X)):
        for kernel in (RBF(0.4), Linear()):
            yield DualProblem.classification(data, np.sign(X[:, 0] + noise), kernel=kernel, C=3.0)
            yield DualProblem.regression(data, X[:, 0] + 0.2 * noise, kernel=kernel, C=3.0, epsilon=0.1)


@needs_same_bits
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("capacity", [7, 40, 200])
def test_missing_rows_are_made_without_leaving_the_loop(capacity, dtype, monkeypatch):
    """As the store makes them: the same rows give way, and as many are computed and found. Python makes the first."""
    asked, fetch = [], sessions.fetch

    def counted(state, missing):
        asked.append(missing)
        fetch(state, missing)

    monkeypatch.setattr(sessions, "fetch", counted)
    with_jit = SimpleNamespace(config=SimpleNamespace(DISABLE_JIT=False))  # twins make rows, even as Python
    monkeypatch.setattr(sessions, "numba", with_jit)
    for problem in problems_of_rows():
        size = {"cache_mb": megabytes(capacity, problem.gram.n, np.dtype(dtype)), "cache_dtype": dtype}
        for shrinking in (False, True):
            asked.clear()
            one, other = (
                solve(problem, engine=engine, shrinking=shrinking, **size) for engine in ("numba", "numpy")
            )
            for name in ("iterations", "kernel_rows", "kernel_hits", "alpha"):
                np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
            assert shrinking or len(asked) <= TIMED


@needs_jit
def test_no_helper_is_loaded_by_itself() -> None:
    """Its unoptimised code would be called by later code, in which the optimised helper has the same name."""
    called = pytest.importorskip("refsvm.compiled.interface.twin").called
    halved = called(lambda x: 0.5 * x)
    caller = numba.njit(lambda x: halved(x) + halved(1.0))
    assert caller(3.0) == 2.0
    [code] = halved.overloads.values()
    assert code.library.get_pointer_to_function(code.fndesc.llvm_func_name) == 0
