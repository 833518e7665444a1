"""Any problem, any rules, both engines: equal steps, right gap and objective."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

hypothesis = pytest.importorskip("hypothesis")

from hypothesis import given  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from refsvm import RBF, DualProblem, KKTGap, Linear, Precomputed, SecondOrder, Status  # noqa: E402
from refsvm.core.kernels import Gram  # noqa: E402
from refsvm.core.solver.rules import Rules  # noqa: E402
from refsvm.testing import SHRINK_EARLY, smallest_cache_mb  # noqa: E402
from refsvm.testing.shipped import SELECTORS, STEPS  # noqa: E402

from .programs import module  # noqa: E402
from .settings import INTERPRETED, NUMBA, needs_jit  # noqa: E402

fuzz, open_boxes, trials = (module(f"audit.{name}") for name in ("fuzz", "open_boxes", "trials"))
Verdict, Trial, any_trial = fuzz.Verdict, trials.Trial, trials.any_trial

LIMITS = {"compared": 100, "limit": 200} if INTERPRETED or not NUMBA else {"compared": 200, "limit": 20_000}
VALUES = st.sampled_from([-2.0, -1.0, -0.5, 0.0, 0.25, 1.0, 3.0])
SCALES = st.integers(-8, 8).map(lambda k: 10.0**k)


def vectors(values, *shape: int):
    count = int(np.prod(shape))
    return st.lists(values, min_size=count, max_size=count).map(lambda drawn: np.reshape(drawn, shape))


@st.composite
def problems(draw):
    """K = AAᵀ of any rank, or that of a Gaussian or a linear kernel, or any; few values, so that ties are common."""
    n = draw(st.integers(2, 9))
    A, scale = draw(vectors(VALUES, n, draw(st.integers(1, 3)))), draw(SCALES)
    kernel = draw(st.sampled_from([Linear(), RBF(0.5), Precomputed(), None]))
    psd = kernel is not None
    if kernel is None:
        kernel, A = Precomputed(), draw(vectors(VALUES, n, n))
        A = scale * (A + A.T)
    elif isinstance(kernel, Precomputed):
        A = scale * (A @ A.T)
    elif isinstance(kernel, Linear):
        A = np.sqrt(scale) * A
    gram = Gram(kernel, A)
    size = draw(SCALES)
    lower = size * draw(vectors(VALUES, n))
    upper = lower + size * draw(vectors(st.sampled_from([0.0, 0.5, 1.0, 100.0]), n))
    z = float(np.clip(lower.sum() + draw(st.floats(0, 1)) * (upper - lower).sum(), lower.sum(), upper.sum()))
    v = draw(SCALES) * draw(vectors(VALUES, n))
    return DualProblem(gram, v, z, lower, upper), psd


@st.composite
def trials(draw):
    problem, psd = draw(problems())
    n = problem.n
    selector = draw(st.sampled_from(SELECTORS))
    step = draw(st.sampled_from([s for s in STEPS if selector.takes_candidates or not s.history]))
    stop = KKTGap(draw(st.sampled_from([1e-3, 1e-300])))
    options = {"shrinking": draw(st.sampled_from([False, True, SHRINK_EARLY]))}
    if draw(st.booleans()):
        options["cache_mb"] = smallest_cache_mb(selector, n, stop)
    start = problem.lower + draw(vectors(st.floats(0, 1), n)) * (problem.upper - problem.lower)
    K = np.abs(problem.gram.block(np.arange(n)))
    # of inner products of vectors of three entries; of exponents of 54 at most
    magnitude = np.maximum(100.0 * K, 3.0 * np.sqrt(np.outer(K.diagonal(), K.diagonal())))
    return Trial(
        problem, Rules(selector, step, stop), psd, magnitude, options, draw(st.sampled_from([None, start]))
    )


@given(trials())
def test_any_problem(trial):
    assert Verdict(trial, compiled=NUMBA, **LIMITS).complaints == []


@pytest.mark.seeds(*range(80))
def test_any_seed(seed):
    trial = any_trial(seed)
    if seed % 6 == 5:
        trial.options["cache_dtype"] = "float32"
    assert Verdict(trial, compiled=NUMBA, **LIMITS).complaints == []


@needs_jit
def test_open_boxes_indefinite_kernels_and_numbers_of_numpy():
    """`python -m benchmarks.audit open_boxes` draws 600 of them."""
    found = [open_boxes.case(seed, None) for seed in range(40)]
    assert [each for each in found if each.complaints] == []
    ends = Counter(count for each in found for count in each.counts)
    assert min(ends[name] for name in ("CONVERGED", "INSEPARABLE", "indefinite", "psd")) >= 3


# -- the checks themselves ---------------------------------------------------------------------------------------------


def trial_of(**changes) -> Trial:
    X = np.array([[0.0], [1.0], [2.0], [3.5]])
    problem = DualProblem.classification(X, [-1, 1, 1, -1], kernel=RBF(1.0), C=10.0)
    parts = {
        "problem": problem, "rules": Rules(SecondOrder(), STEPS[0], KKTGap(1e-6)), "psd": True,
        "magnitude": np.full((4, 4), 10.0), **changes,
    }  # fmt: skip
    return Trial(**parts)


def complaints(monkeypatch, **changes) -> str:
    """What is said if the solver returned another solution than it does."""
    plain = Verdict._solved

    def spoiled(self, *arguments, **options):
        solution = plain(self, *arguments, **options)
        for name, value in changes.items():
            object.__setattr__(solution, name, value(solution) if callable(value) else value)
        return solution

    assert Verdict(trial_of(), compiled=False).complaints == []
    monkeypatch.setattr(Verdict, "_solved", spoiled)
    return "; ".join(Verdict(trial_of(), compiled=False).complaints)


def test_a_wrong_solution_is_found_out(monkeypatch):
    with monkeypatch.context() as patch:
        assert "leaves the box" in complaints(patch, alpha=lambda s: s.alpha * 20.0)
    with monkeypatch.context() as patch:
        assert "is not z" in complaints(patch, alpha=lambda s: s.alpha * [1.0, 1.0, 1.0, 0.999999])
    with monkeypatch.context() as patch:
        said = complaints(patch, alpha=lambda s: s.alpha * 0.99, gradient=lambda s: s.gradient)
        assert "kkt_gap is" in said
        assert "CONVERGED with a gap" in said
    with monkeypatch.context() as patch:
        said = complaints(patch, alpha=lambda s: 0.9 * s.alpha, status=Status.STALLED)
        assert "STALLED with a gap" in said
