"""The pair that each selector chooses, worked out by hand for every branch of its body, on both sides."""

from __future__ import annotations

import numpy as np
import pytest

from refsvm import (
    ConjugateSecondOrder,
    ConjugateStep,
    Greedy,
    HybridMaximumGain,
    ImprovedSMO,
    MaximumGain,
    MostViolatingPair,
    PlanningAheadStep,
    SecondOrder,
)
from refsvm.core.selectors.gain import exact_gain
from refsvm.testing.shipped import SELECTORS

from ...decisions import pair

NONE = (-1, -1)
FAR = {"last_planned": 1, "last_step": 2.0, "last_newton": 1.0}  # a planned step at twice Newton's
NEAR = {"last_planned": 1, "last_step": 1.5, "last_newton": 1.0}
TWINS = np.eye(3) + np.eye(3)[[2, 1, 0]] * [1, 0, 1]  # examples 0 and 2 are equal: q₀₂ = 0


def check(engine, selector, expected, *problem, **known):
    assert pair(engine, selector, *problem, **known) == expected


@pytest.mark.parametrize("selector", SELECTORS, ids=repr)
@pytest.mark.parametrize("G", [[1.0, 1.0, 1.0], [1.0, 2.0, 2.0]])
def test_no_pair_at_the_optimum(selector, G, engine):
    """The largest G of those that may rise is the smallest of those that may fall, or below it."""
    check(engine, selector, NONE, [1.0] * 3, G, [-1.0, 1.0, 1.0])


@pytest.mark.parametrize(
    ("expected", "G", "alpha"),
    [
        ((0, 3), [3.0, 1.0, 2.0, 0.0], [0.0, 0.0, 0.0, 0.0]),
        ((2, 3), [3.0, 1.0, 2.0, 0.0], [1.0, 0.0, 0.0, 0.0]),
        ((0, 1), [3.0, 1.0, 2.0, 0.0], [0.0, 0.0, 0.0, -1.0]),
        ((1, 0), [0.0, 3.0, 3.0, 0.0], [0.0, 0.0, 0.0, 0.0]),  # ties: the lowest index of each side
    ],
    ids=["of all", "not at U", "not at L", "ties"],
)
def test_the_most_violating_pair(expected, G, alpha, engine):
    check(engine, MostViolatingPair(), expected, [1.0] * 4, G, alpha)


SECOND_ORDER = {
    # ℓ²/q = 4/2 and 9/10, though G₂ is the smallest
    "the largest Newton gain": ((0, 1), [1.0, 1.0, 9.0], [2.0, 0.0, -1.0], 0.0, {}),
    # ℓ²/q = 4/6 and 1/2, ℓ/q = 2/6 and 1/2
    "the square of the slope": ((0, 1), [1.0, 5.0, 1.0], [2.0, 0.0, 1.0], 0.0, {}),
    "j cannot fall": ((0, 2), [1.0, 1.0, 9.0], [2.0, 0.0, -1.0], [0.0, -1.0, 0.0], {}),
    # 2 can fall only, and its slope is −1: its gain would be 1/2
    "j is not below i": ((0, 1), [1.0, 1.0, 1.0], [2.0, 1.9, 3.0], [0.0, 0.0, 1.0], {}),
    "q = 0 counts as τ": ((0, 2), TWINS, [2.0, 0.0, 1.99], 0.0, {}),
    "ties go to the lowest index": ((0, 1), [1.0, 1.0, 1.0], [2.0, 0.0, 0.0], 0.0, {}),
    # μ(2ℓ − μq) = 0.01·(4 − 0.02) and 0.5·(2 − 1): the Newton gains are 2 and 0.5
    "far from Newton: the room of j": ((0, 2), [1.0, 1.0, 1.0], [2.0, 0.0, 1.0], [0.0, -0.99, 0.0], FAR),
    "near to Newton: no room counts": ((0, 1), [1.0, 1.0, 1.0], [2.0, 0.0, 1.0], [0.0, -0.99, 0.0], NEAR),
    "not planned: no room counts": (
        (0, 1), [1.0, 1.0, 1.0], [2.0, 0.0, 1.0], [0.0, -0.99, 0.0], {**FAR, "last_planned": 0}),
    # 0.01·(4 − 0.1) and 0.01·(2 − 0.02): the Newton gains are 0.4 and 0.5
    "far from Newton: the room of i": ((0, 1), [1.0, 9.0, 1.0], [2.0, 0.0, 1.0], [0.99, 0.0, 0.0], FAR),
    "near to Newton: the room of i": ((0, 2), [1.0, 9.0, 1.0], [2.0, 0.0, 1.0], [0.99, 0.0, 0.0], NEAR),
    # a planned step against the gradient is far from Newton's, too
    "far on the other side": (
        (0, 2), [1.0, 1.0, 1.0], [2.0, 0.0, 1.0], [0.0, -0.99, 0.0], {**FAR, "last_step": -0.5}),
    "far, j cannot fall": ((0, 2), [1.0, 1.0, 9.0], [2.0, 0.0, -1.0], [0.0, -1.0, 0.0], FAR),
    "far, q = 0 counts as τ": ((0, 2), TWINS, [2.0, 0.0, 0.8], 0.0, FAR),
}  # fmt: skip


@pytest.mark.parametrize("name", SECOND_ORDER)
def test_second_order(name, engine):
    expected, K, G, alpha, known = SECOND_ORDER[name]
    check(engine, SecondOrder(), expected, K, G, alpha, **known)


@pytest.mark.parametrize("planned_range", [0.0, 1.0])
def test_a_planned_range_outside_0_to_1_is_refused(planned_range):
    with pytest.raises(ValueError, match=r"planned_range=\S+ is outside \(0, 1\)"):
        SecondOrder(planned_range)


# (0, 1) has the largest ℓ²/q of the pairs with i = 0, the top: 9/6 = 1.5; q₂₃ = 0.2 + 0.2 and ℓ₂₃ = 2: 4/0.4 = 10
FIVE = [4.0, 2.0, 0.2, 0.2, 4.0], [3.0, 0.0, 2.5, 0.5, 0.0]
CANDIDATES = {
    "a candidate gains more": ((2, 3), [[2, 3]], [0.4], 0.0, NEAR),
    "its gradients are the other way round": ((2, 3), [[3, 2]], [0.4], 0.0, NEAR),
    "it gains less": ((0, 1), [[2, 3]], [4.0], 0.0, NEAR),
    # 0.25/0.4
    "its slope is small": ((0, 1), [[3, 4]], [0.4], 0.0, NEAR),
    "its first cannot rise": ((0, 1), [[2, 3]], [0.4], [0.0, 0.0, 1.0, 0.0, 0.0], NEAR),
    "its second cannot fall": ((0, 1), [[2, 3]], [0.4], [0.0, 0.0, 0.0, -1.0, 0.0], NEAR),
    "the better of two": ((2, 3), [[2, 1], [2, 3]], [2.2, 0.4], 0.0, NEAR),
    # 2.5²/2.2 = 2.84 beats 1.5, and 4/1.5 = 2.67 does not beat 2.84
    "the first of two": ((2, 1), [[2, 1], [2, 3]], [2.2, 1.5], 0.0, NEAR),
    # the step of {2, 3} ends at 0.1: 0.1·(4 − 0.04) = 0.396
    "far from Newton: what the box leaves": ((0, 1), [[2, 3]], [0.4], [0.0, 0.0, 0.9, 0.0, 0.0], FAR),
    "near to Newton: the same counts in full": ((2, 3), [[2, 3]], [0.4], [0.0, 0.0, 0.9, 0.0, 0.0], NEAR),
    # μ = 3/6 fits (0, 1): 0.5·(6 − 3) = 1.5; with q = 0.9 μ = 1 does {2, 3}: 1·(4 − 0.9) = 3.1
    "far from Newton: a candidate that gains more": ((2, 3), [[2, 3]], [0.9], 0.0, FAR),
}


@pytest.mark.parametrize("name", CANDIDATES)
def test_second_order_with_candidates(name, engine):
    expected, candidates, curvatures, alpha, known = CANDIDATES[name]
    check(
        engine, SecondOrder(), expected, *FIVE, alpha, step=PlanningAheadStep(2), **known,
        candidates=candidates, candidate_curvatures=curvatures, n_candidates=len(candidates),
    )  # fmt: skip


def test_a_candidate_without_slope_is_none(engine):
    check(
        engine, SecondOrder(), (0, 1), [1.0] * 4, [2.0, 0.0, 1.0, 1.0], step=PlanningAheadStep(),
        candidates=[[2, 3]], candidate_curvatures=[1e-300], n_candidates=1,
    )  # fmt: skip


# After a displacement Δ with KΔ = image and ΔᵀKΔ = 1: β₁ = −1.2 and β₂ = 0, so q − β² = 2 − 1.44 = 0.56 for j = 1
CARRIED = {"carried_curvature": 1.0, "last_free": 1, "displacement_image": [0.0, 1.2, 0.0]}
CONJUGATE = {
    # ℓ²/q = 1/2 and 1.44/2; ℓ²/(q − β²) = 1/0.56 and 1.44/2
    "along the last displacement": ((0, 1), [1.0, 1.0, 1.0], CARRIED),
    "but for a constant of KΔ": ((0, 1), [1.0, 1.0, 1.0], {**CARRIED, "displacement_image": [5.0, 6.2, 5.0]}),
    "the last step was cut": ((0, 2), [1.0, 1.0, 1.0], {**CARRIED, "last_free": 0}),
    "no curvature is carried": ((0, 2), [1.0, 1.0, 1.0], {**CARRIED, "carried_curvature": 0.0}),
    # β² = 4 > q = 2: a thousandth of q counts, 1/0.002 and 1.44/0.002: the larger ℓ
    "at least a thousandth of q": (
        (0, 2), [1.0, 1.0, 1.0], {**CARRIED, "displacement_image": [0.0, 2.0, 1.9]}),
    # q − β²/q_Δ = 2 − 1.44/4 = 1.64: 1/1.64 = 0.61 < 0.72
    "relative to what is carried": ((0, 2), [1.0, 1.0, 1.0], {**CARRIED, "carried_curvature": 4.0}),
}  # fmt: skip


@pytest.mark.parametrize("name", CONJUGATE)
def test_conjugate_second_order(name, engine):
    expected, K, known = CONJUGATE[name]
    G = [1.2, 0.2, 0.0]
    check(engine, ConjugateSecondOrder(), expected, K, G, [0.0] * 3, step=ConjugateStep(), **known)


def test_conjugate_second_order_with_a_step_that_carries_nothing(engine):
    check(engine, ConjugateSecondOrder(), (0, 1), [1.0, 1.0, 9.0], [2.0, 0.0, -1.0])
    check(engine, ConjugateSecondOrder(), (0, 2), [1.0, 1.0, 9.0], [2.0, -1.0, -1.0], [0.0, -1.0, 0.0])
    check(engine, ConjugateSecondOrder(), (0, 2), TWINS, [2.0, 0.0, 1.99])


def best_of(K, G, alpha, lower=-1.0, upper=1.0, rows=None):
    """The pair {k, t} of largest exact gain, lowest indices first in the order of the rows, by trying all."""
    K, n, found = np.diag(K) if np.ndim(K) == 1 else np.asarray(K), len(G), (0.0, *NONE)
    for k in range(n) if rows is None else rows:
        for t in range(n):
            i, j = (k, t) if G[k] > G[t] else (t, k)
            q, slope = K[i, i] + K[j, j] - 2 * K[i, j], G[i] - G[j]
            room = min(upper - alpha[i], alpha[j] - lower)
            if slope > 0.0 and room > 0.0:
                mu = min(slope / (q if q > 0.0 else 1e-12), room)
                gain = mu * slope - 0.5 * mu * mu * max(q, 1e-12)
                found = (gain, i, j) if gain > found[0] else found
    return found[1:]


# G of the variables, and α: 0 and 1 were the last set
RESELECTED = {
    "the new variable is the better": ([1.0] * 5, [1.0, 1.2, 0.0, -2.0, 0.3], [0.0] * 5),
    "the other rises": ([1.0] * 5, [-1.0, -1.2, 0.0, 2.0, 0.3], [0.0] * 5),
    "curvatures differ": ([1.0, 1.0, 0.1, 9.0, 1.0], [1.0, 1.2, 0.0, -2.0, 0.3], [0.0] * 5),
    "the first cannot rise": ([1.0] * 5, [1.0, 0.2, 0.0, -2.0, 0.3], [1.0, 0.0, 0.0, 0.0, 0.0]),
    "the first cannot fall": ([1.0] * 5, [-1.0, -0.2, 0.0, 2.0, 0.3], [-1.0, 0.0, 0.0, 0.0, 0.0]),
    "little room to rise": ([1.0] * 5, [1.0, 0.5, 0.0, -2.0, 0.3], [0.99, 0.0, 0.0, 0.0, 0.0]),
    "little room to fall": ([1.0] * 5, [1.0, 0.9, 0.0, -2.0, 0.3], [0.0, 0.0, 0.0, -0.99, 0.0]),
    "little room for the other to rise": ([1.0] * 5, [-1.0, 0.9, 0.0, 2.0, 0.3], [0.0, 0.0, 0.0, 0.99, 0.0]),
    "little room for the first to fall": ([1.0] * 5, [-1.0, -0.5, 0.0, 2.0, 0.3], [-0.99, 0.0, 0.0, 0.0, 0.0]),
    "ties": ([1.0] * 5, [1.0, 1.0, 0.0, 0.0, 0.0], [0.0] * 5),
    # ℓ²/q: 0.95²/(3 + 2) and 0.6²/(3 + 0.5)
    "curvatures are sums": ([3.0, 1.0, 1.0, 0.5, 2.0], [1.0, 0.7, 0.9, 0.4, 0.05], [0.0] * 5),
    # 0.6²/3.5 and 0.55²/(5 − 1.6)
    "K of the pair": (
        np.diag([3.0, 1.0, 1.0, 0.5, 2.0]) + 0.8 * np.eye(5)[[4, 1, 2, 3, 0]] * [1, 0, 0, 0, 1],
        [1.0, 0.5, 0.9, 0.4, 0.45], [0.0] * 5),
    "equal examples": (
        np.eye(5) + np.eye(5)[[4, 1, 2, 3, 0]] * [1, 0, 0, 0, 1], [1.0, 1.2, 0.0, -2.0, 0.9999], [0.0] * 5),
}  # fmt: skip
SETS = {"working_sets": [[0, 1], [2, 3]], "curvatures": [2.0, 2.0]}


@pytest.mark.parametrize("name", RESELECTED)
@pytest.mark.parametrize("selector", [MaximumGain(), HybridMaximumGain(), Greedy()], ids=repr)
def test_the_pair_of_largest_gain(selector, name, engine):
    K, G, alpha = RESELECTED[name]
    expected = best_of(K, G, alpha, rows=None if isinstance(selector, Greedy) else [0, 1])
    check(engine, selector, expected, K, G, alpha, **SETS)


@pytest.mark.parametrize(
    ("sets", "looked_at"),
    [
        ([[0, 1], [0, 2]], 1),  # 1 is new
        ([[0, 1], [2, 0]], 1),
        ([[0, 1], [1, 2]], 0),  # 0 is new
        ([[0, 1], [2, 3]], 0),  # both are
        ([[0, 1], [-1, -1]], 0),
    ],
)
@pytest.mark.parametrize("selector", [MaximumGain(rows=1), HybridMaximumGain(rows=1)], ids=repr)
def test_one_row_is_that_of_the_new_variable(selector, sets, looked_at, engine):
    """{0, 3} and {1, 4} are the best pairs of their rows."""
    K, G = [1.0] * 5, [1.0, 1.5, 0.4, -1.0, 0.0]
    expected = best_of(K, G, np.zeros(5), rows=[looked_at])
    assert expected == (looked_at, 3)
    check(engine, selector, expected, K, G, working_sets=sets, curvatures=[2.0, 2.0])


def test_two_rows_are_those_of_both_variables(engine):
    for G in ([1.0, 1.5, 0.4, -1.0, 0.0], [1.5, 1.0, 0.4, -1.0, 0.0]):
        check(engine, MaximumGain(), (int(np.argmax(G)), 3), [1.0] * 5, G, **SETS)


def test_all_rows_are_those_in_memory(engine):
    """{3, 2} is the best pair of all; of a matrix held as an array every row is in memory."""
    check(engine, MaximumGain(rows="all"), (3, 2), [1.0] * 4, [0.0, 0.1, -2.0, 2.0], **SETS)
    check(engine, HybridMaximumGain(rows="all"), (3, 2), [1.0] * 4, [0.0, 0.1, -2.0, 2.0], **SETS)


@pytest.mark.parametrize("selector", [MaximumGain(), HybridMaximumGain(), MaximumGain(rows=1)], ids=repr)
def test_the_first_set_is_the_most_violating_pair(selector, engine):
    check(engine, selector, (3, 2), [1.0, 1.0, 99.0, 1.0], [1.9, 0.1, -2.0, 2.0])
    check(engine, selector, (1, 0), [1.0, 1.0], [0.0, 0.4])


def test_maximum_gain_finds_nothing_in_a_corner(engine):
    """0 can only fall and has the largest G, 1 can only rise and has the smallest; {3, 2} would gain."""
    for selector, expected in ((MaximumGain(), NONE), (HybridMaximumGain(), (3, 2))):
        check(engine, selector, expected, [0.0] * 4, [9.0, -9.0, -2.0, 2.0], [1.0, -1.0, 0.0, 0.0], **SETS)


@pytest.mark.parametrize(
    ("expected", "eta", "alpha"),
    [
        ((3, 0), 0.0, [0.999, -1.0, 0.0, 0.0]),  # 0 is free
        ((3, 2), 0.001, [0.999, -1.0, 0.0, 0.0]),  # within 0.001·2 of U
        ((3, 0), 0.0, [1.0, -0.999, 0.0, 0.0]),  # 1 is free
        ((3, 2), 0.001, [1.0, -0.999, 0.0, 0.0]),  # within 0.001·2 of L
        ((3, 0), 0.0004, [0.999, -1.0, 0.0, 0.0]),  # not within 0.0004·2
    ],
)
def test_the_hybrid_counts_what_is_near_a_bound_as_at_it(expected, eta, alpha, engine):
    """The most violating pair is {3, 2}; K = 0, so that a pair gains its slope times its room."""
    G = [1.2, -1.5, -2.0, 2.0]
    check(engine, HybridMaximumGain(eta=eta), expected, np.zeros((4, 4)), G, alpha, **SETS)


@pytest.mark.parametrize("eta", [0.0, 1e-8, 0.1])
@pytest.mark.parametrize("lower", [-np.inf, 0.0])
def test_the_hybrid_counts_a_variable_of_an_open_box_as_free_unless_it_is_at_its_bound(lower, eta, engine):
    """The pair that gains most with 0 is {3, 0}; the most violating pair is {3, 2}, which is chosen at the bounds."""
    for alpha in (0.0, 0.5, 5.0):
        is_free = alpha > lower
        check(
            engine, HybridMaximumGain(eta=eta), (3, 0) if is_free else (3, 2), [1.0] * 4, [-1.5, 0.0, -2.0, 2.0],
            [alpha, 0.0, 0.0, 0.0], [lower, 0.0, -0.5, 0.0], [np.inf, np.inf, 1.0, 1.0], **SETS,
        )  # fmt: skip


def test_the_hybrid_goes_on_where_no_reselection_gains(engine):
    """With η = 0 a variable next to its bound is free, and its room is too little to gain in floating point."""
    check(
        engine, HybridMaximumGain(eta=0.0), (3, 2), [1.0] * 4, [9.0, -9.0, -2.0, 2.0], [5e-324, 0.0, -1.0, -1.0],
        [0.0, 0.0, -2.0, -2.0], [5e-324, 0.0, 0.0, 0.0], **SETS,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("expected", "scan", "known"),
    [
        ((1, 2), [4.0, 1.0, 0.5], {}),  # the worst pair of those that are known
        (
            (1, 0),
            [4.0, 1.0, 0.5],
            {"stalled": 1},
        ),  # its last step was 0: a pass; of equal violations the one of up
        ((3, 2), [3.0, 1.0, 3.5], {}),  # of the violations of 3 the larger one, 4
        ((1, 2), [3.0, 1.0, 4.5], {}),  # this pass ends, and pairs follow
        ((1, 2), [3.0, 0.0, 7.0], {}),  # no example violates as much: half of the gap
    ],
)
def test_improved_smo_goes_on_where_it_was(expected, scan, known, engine):
    """All four variables are free; memory: up, down, the next example, whether the pass has stepped, 2τ, the count."""
    memory = [-1.0, -1.0, *scan, 0.0]
    check(engine, ImprovedSMO(), expected, [1.0] * 4, [0.0, 3.0, -3.0, 1.0], selector_memory=memory, **known)


@pytest.mark.parametrize(
    ("slope", "curvature", "room", "gain"),
    [
        (2.0, 1.0, 9.0, 4.0), (2.0, 1.0, 1.0, 3.0),
        (-1.0, 1.0, 9.0, -np.inf), (0.0, 1.0, 9.0, -np.inf), (2.0, 1.0, 0.0, -np.inf),
        (2.0, 1.0, -1e-9, -np.inf),
    ],
    ids=["free", "cut", "downhill", "level", "no room", "less than none"],
)  # fmt: skip
def test_the_exact_gain(slope, curvature, room, gain):
    assert exact_gain(np.array([slope]), np.array([curvature]), np.array([room])) == [gain]
