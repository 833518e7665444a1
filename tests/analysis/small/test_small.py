"""Small problems in a stack: each branch of their end beside the definition, each solution beside one solve."""

from __future__ import annotations

import numpy as np
import pytest

from refsvm import RBF, DualProblem, KKTGap, NewtonStep, Precomputed, SecondOrder, WorkingSetGap, solve
from refsvm.analysis.small.small import (
    CODE,
    CURVATURE,
    LARGEST_ALPHA,
    MOST_STEPS,
    STEPS,
    TOLERANCE,
    SmallProblems,
    supports,
)
from refsvm.analysis.small.stacked import small_backend
from refsvm.core.kernels import Gram
from refsvm.core.solver.rules import Rules, chosen_rules
from refsvm.services.guards.polish import optima


def stack(P=7, m=6, C=2.0, seed=0):
    """Pairs that overlap, in boxes of several widths."""
    rng = np.random.default_rng(seed)
    X, v = rng.normal(size=(P, m, 2)), np.where(np.arange(m) % 2, -1.0, 1.0) * np.ones((P, 1))
    box = v * C * rng.uniform(0.2, 1.0, size=(P, m))
    return SmallProblems(
        np.array([RBF(0.5)(each, each) for each in X]), v, np.minimum(box, 0), np.maximum(box, 0)
    )


def as_it_was(problems, p):
    gram = Gram(Precomputed(), problems.kernels[p])
    return DualProblem(gram, problems.v[p], 0.0, problems.lower[p], problems.upper[p])


@pytest.mark.parametrize("relative", [False, True])
@pytest.mark.parametrize("C", [0.1, 2.0, 50.0])
def test_a_stack_is_its_problems_one_after_another(C, relative, engine):
    problems, stop = stack(C=C), KKTGap(1e-8, relative=relative)
    rules = chosen_rules(None, None, stop)
    small_backend(engine).small(problems, rules, MOST_STEPS)
    assert (problems.gap <= 1e-8).all()
    assert problems.finish(rules, 0.0, True).all()
    for p in range(len(problems)):
        problem = as_it_was(problems, p)
        alone = solve(problem, stop=stop, polish=True, engine="numpy")
        assert problems.results[p, STEPS] == alone.iterations
        if relative:  # to the range of the decision values, up to 1
            wanted = 1e-8 * min(1.0, problem.decision_range(problems.alpha[p], problems.gradient[p]))
            assert problems.results[p, TOLERANCE] == pytest.approx(wanted, rel=1e-4)
        np.testing.assert_allclose(problems.alpha[p], alone.alpha, rtol=0, atol=1e-12 * C)
        np.testing.assert_allclose(problems.gradient[p], problem.gradient(problems.alpha[p]), atol=1e-12)
        assert problems.gap[p] == pytest.approx(problem.kkt_gap(problems.alpha[p]), abs=1e-12)
        assert problems.intercept[p] == pytest.approx(alone.intercept, abs=1e-9)
        assert problems.objective[p] == pytest.approx(alone.objective, rel=1e-12)
        assert problems.primal_objective[p] == pytest.approx(alone.primal_objective, rel=1e-9)
        assert problems.primal_objective[p] == pytest.approx(problems.objective[p], rel=1e-7)


def test_a_stack_begins_where_it_is_told():
    problems = stack()
    start = 0.3 * np.where(np.arange(6) % 2, -1.0, 1.0) * np.abs(problems.lower + problems.upper).min()
    given = problems.kernels, problems.v, problems.lower, problems.upper
    begun = SmallProblems(*given, np.tile(start, (7, 1)))
    for p in range(7):
        np.testing.assert_allclose(begun.gradient[p], as_it_was(problems, p).gradient(start), atol=1e-14)
    assert begun.gap[0] == pytest.approx(as_it_was(problems, 0).kkt_gap(start))
    begun.alpha[:] = 0.0
    assert start.any()  # a copy was moved


def test_parts_are_on_the_same_memory():
    problems = stack()
    part = problems.part(slice(2, 4))
    part.alpha[1] = 7.0
    assert (len(part), part.size) == (2, 6)
    assert (problems.alpha[3] == 7.0).all()
    assert not problems.alpha[2].any()


def test_which_rules_solve_small_problems():
    assert supports(chosen_rules(None, None, KKTGap()))
    assert supports(chosen_rules(SecondOrder(), NewtonStep(), KKTGap(relative=True)))
    assert not supports(chosen_rules(None, None, WorkingSetGap()))
    own = type("Own", (SecondOrder,), {})
    assert not supports(chosen_rules(own(), None, KKTGap()))


# -- which solutions stand ---------------------------------------------------------------------------------------------


def finished(problems, noise=0.0, is_psd=True, limit=MOST_STEPS):
    rules = chosen_rules(None, None, KKTGap(1e-6))
    small_backend("numpy").small(problems, rules, limit)
    return problems.finish(rules, noise, is_psd).tolist()


def test_one_that_needs_more_steps_does_not_stand():
    problems = stack()
    stands = finished(problems, limit=8)
    assert stands == (problems.results[:, CODE] == 1).tolist()
    assert 0 < sum(stands) < 7


def test_one_whose_kernel_is_indefinite_stands_where_that_is_known_to_be_rounding():
    problems = stack()
    K = problems.kernels[2]
    K[0, 1] = K[1, 0] = 1.5  # K₀₀ + K₁₁ − 2K₀₁ = −1
    problems.lower[2], problems.upper[2] = np.minimum(problems.v[2], 0), np.maximum(problems.v[2], 0)
    assert finished(problems, is_psd=False) == [p != 2 for p in range(7)]
    assert problems.results[2, CURVATURE] == pytest.approx(-1.0)
    problems.alpha[:], problems.gradient[:] = 0.0, problems.v
    assert all(finished(problems, is_psd=True))


def test_where_kernel_values_round_the_norm_of_alpha_decides():
    """noise ‖α‖ may be as large as the tolerance."""
    problems = stack()
    assert all(finished(problems))
    norms = np.linalg.norm(problems.alpha, axis=1)
    between = 1e-6 / np.sort(norms)[[2, 3]].mean()
    again = stack()
    assert finished(again, noise=between) == (norms < np.median(norms)).tolist()


def test_where_steps_have_rounded_g_it_does_not_stand():
    """ε (steps + m) (max |G| + max |α| max K) against a hundredth of the gap, or of the tolerance if that is more."""
    v = np.array([[2.0, -2.0]])
    problems = SmallProblems(np.eye(2)[None], v, np.minimum(v, 0.0), np.maximum(v, 0.0))  # G = v, a gap of 4
    problems.results[0, [STEPS, LARGEST_ALPHA]] = 5.0, 3.0
    for tolerance, allowed in ((1e-3, 0.04), (10.0, 0.1)):
        most = (allowed / (np.finfo(float).eps * (5 + 2)) - 2.0) / 3.0
        for share, drifted in ((0.99, False), (1.01, True)):
            assert problems._drifted(np.array([share * most]), np.array([tolerance])).tolist() == [drifted]
    # and such a one does not stand
    problems.results[0, CODE] = 1.0
    problems.gradient[0] = 0.0
    assert problems.finish(chosen_rules(None, None, KKTGap(1e-3)), 0.0, True).all()
    problems.results[0, LARGEST_ALPHA] = 1e15
    assert not problems.finish(chosen_rules(None, None, KKTGap(1e-3)), 0.0, True).any()


# -- polished, and set to a bound --------------------------------------------------------------------------------------


@pytest.mark.parametrize("m", [2, 3, 5])
def test_the_optimum_of_the_free_variables(m):
    """By the bordered system: 1ᵀδ = 0 and Kδ + μ1 = G, where that is inside the box."""
    rng = np.random.default_rng(m)
    A = rng.normal(size=(8, m, 2 * m))
    K = A @ A.transpose(0, 2, 1)
    K[5:, :, 1], K[5:, 1, :] = K[5:, :, 0], K[5:, 0, :]  # 0 and 1 are equal
    K[7] = 0.0
    alpha, G = rng.uniform(0.4, 0.6, size=(8, m)), 0.1 * rng.normal(size=(8, m))
    G[5:, 1] = G[5:, 0]
    G[7] = 1.0  # flat, and optimal where it is
    G[2] *= 100.0  # out of the box
    expected = np.empty((8, m))
    for p in range(8):
        system = np.block([[K[p], np.ones((m, 1))], [np.ones((1, m)), np.zeros((1, 1))]])
        expected[p] = alpha[p] + (np.linalg.pinv(system) @ np.append(G[p], 0.0))[:m]
    inside = ((expected >= 0.0) & (expected <= 1.0)).all(axis=1)
    points, found = optima(K, alpha, G, np.zeros((8, m)), np.ones((8, m)))
    assert found.tolist() == inside.tolist()
    assert not found[2]
    assert found[7]
    np.testing.assert_allclose(points[found], expected[found], atol=1e-7)
    assert np.array_equal(points[~found], alpha[~found])


def test_an_indefinite_pair_is_led_to_no_minimum():
    """K = −I: the bordered system has the smallest f."""
    zeros, ones = np.zeros((1, 2)), np.ones((1, 2))
    assert not optima(-np.eye(2)[None], 0.5 * ones, np.array([[0.1, 0.0]]), zeros, ones)[1][0]


def test_only_what_ended_at_the_gap_is_polished():
    loose = stack()
    rules = chosen_rules(None, None, KKTGap(1e-2))
    small_backend("numpy").small(loose, rules, MOST_STEPS)
    before, gap = loose.alpha.copy(), loose.gap.copy()
    free = ((before > loose.lower) & (before < loose.upper)).sum(axis=1)
    loose.results[:3, CODE] = 0.0
    loose.finish(rules, 0.0, True)
    assert np.array_equal(loose.alpha[:3], before[:3])
    assert (free[3:] > 1).all()
    assert (gap[3:] > 1e-10).any()
    assert (loose.gap[3:] < 1e-12).all()
    for p in range(3, 7):
        exact = solve(as_it_was(loose, p), stop=KKTGap(1e-12), engine="numpy").alpha
        np.testing.assert_allclose(loose.alpha[p], exact, atol=1e-10)


def pair(alpha, upper):
    """Two examples of two classes, at this α, with G = 0 by v = Kα."""
    K, a = np.eye(2)[None], np.array([[alpha, -alpha]])
    return SmallProblems(K, a.copy(), np.array([[0.0, -upper]]), np.array([[upper, 0.0]]), a)


def snapped(problems, largest=1.0):
    """α once it is set to bounds that are near, for this largest kᵢᵢ and a tolerance of 1e-6."""
    problems._snap(np.full(1, largest), np.full(1, 1e-6))
    return problems.alpha[0].tolist()


def test_what_rounding_has_left_of_a_bound_is_its_bound():
    """0.1 + 0.2 is not 0.3: within 4ε Σ|α| of it, and of the other end. A narrow box is not gone through."""
    eps = np.finfo(float).eps
    assert 0.3 < 0.1 + 0.2
    assert snapped(pair(0.3, 0.1 + 0.2)) == [0.1 + 0.2, -(0.1 + 0.2)]
    for distance, moves in ((0.9 * eps, True), (4.0 * eps, False)):  # of α = ±½: 4 ½ε (½ + ½) = 2ε
        at = pair(0.5, 0.5)
        at.alpha += distance * np.array([[-1.0, 1.0]])
        assert (snapped(at) == [0.5, -0.5]) == moves
    low = SmallProblems(
        np.eye(3)[None], np.array([[1.0, -1.0, 0.0]]), np.array([[0.0, -2.0, 0.0]]),
        np.array([[2.0, 0.0, 2.0]]), np.array([[1.0, -1.0, 1e-17]]),
    )  # fmt: skip
    assert snapped(low) == [1.0, -1.0, 0.0]
    assert snapped(pair(1e-16, 2e-16)) == [1e-16, -1e-16]


def test_rules_of_each_problem_begin_with_its_own_targets():
    """The memory of a relative tolerance is v, no range yet, and the tolerance."""
    v = np.array([[0.3, -0.2, 0.1], [1.0, 2.0, -3.0]])
    problems = SmallProblems(np.tile(np.eye(3), (2, 1, 1)), v, -np.ones((2, 3)), np.ones((2, 3)))
    for stop, expected in (
        (KKTGap(1e-3, relative=True), np.c_[v, [0.0, 0.0], [1e-3, 1e-3]]),
        (KKTGap(), v[:, :0]),
    ):
        rules = Rules(SecondOrder(), NewtonStep(), stop)
        np.testing.assert_array_equal(problems.memories(rules), expected)


def test_nothing_is_set_to_its_bound_above_the_tolerance_or_where_g_would_feel_it():
    at = pair(0.3, 0.1 + 0.2)
    at.gradient[0] = 1.0, -1.0
    assert snapped(at) == [0.3, -0.3]
    assert snapped(pair(0.3, 0.1 + 0.2), 1e12) == [0.3, -0.3]  # 5.6e-17 · 1e12 is more than 1e-8
    # 2⁻⁵³ times the largest kᵢᵢ is a hundredth of the tolerance
    assert snapped(pair(0.5 - 2.0**-53, 0.5), 0.01 * 1e-6 * 2.0**53) == [0.5, -0.5]
