"""The oracles of the assignments: functions that draw problems and examine a student's answers.

An oracle tests properties rather than numbers: it replays the steps of a training, or computes the duality gap of a
result. Correct code that computes in another order, and therefore rounds differently, also earns its points. The
package contains the oracles because the grader runs from an installed wheel.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from refsvm import AVG, TOP, DualProblem, KKTGap, NewtonStep, SecondOrder, Status, WorkingSetSelector, solve
from refsvm.core.state import TAU, moved
from refsvm.datasets import load
from refsvm.testing.strategy import check_strategy

Generator = np.random.Generator
Call = Callable[..., Any]
Draw = Callable[[Generator], tuple[Any, ...]]


class Lost(Exception):  # noqa: N818  its message says why an answer is wrong
    """Raised if an answer is wrong; the student reads the message."""


@dataclass(frozen=True)
class Point:
    """A task for which a student gets points.

    Parameters
    ----------
    function : str
        Name of the function that the student writes.
    what : str
        The part of the function's task that is tested.
    run : callable
        Function that draws problems, calls the student's function and raises `Lost` if an answer is wrong.
    worth : int
        Number of points.
    seconds : float
        Limit of the processor time of the student's process.
    """

    function: str
    what: str
    run: Callable[[Call, Generator], None]
    worth: int = 1
    seconds: float = 20.0


def point(
    function: str, what: str, draw: Draw, check: Callable[..., None],
    worth: int = 1, times: int = 40,
) -> Point:  # fmt: skip
    """Return a point that a student gets if `check` accepts the answers to several random problems."""

    def run(call: Call, rng: Generator) -> None:
        for _ in range(times):
            arguments = draw(rng)
            check(call(*arguments), *arguments)

    return Point(function, what, run, worth)


def where(draw: Draw, good: Callable[..., bool]) -> Draw:
    """Return a function that repeats `draw` until `good` accepts the arguments drawn."""

    def drawn(rng: Generator) -> tuple[Any, ...]:
        while not good(*(arguments := draw(rng))):
            pass
        return arguments

    return drawn


def either(*draws: Draw) -> Draw:
    """Return a function that draws by one of the functions in `draws`, which it chooses at random at each call."""
    return lambda rng: draws[rng.integers(len(draws))](rng)


def numbers(answer: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Return an answer as an array of finite numbers of this shape, or raise `Lost`."""
    if answer is None:
        raise Lost("the answer is None; end the function with return and the result.")
    try:
        array = np.asarray(answer, dtype=float)
    except (TypeError, ValueError, OverflowError, RecursionError):
        raise Lost("the answer does not consist of numbers; return a number, a list or an array.") from None
    if array.shape != shape:
        raise Lost(f"the answer has the shape {array.shape}, not {shape}.")
    if not np.isfinite(array).all():
        raise Lost("the answer contains NaN or infinity; return finite numbers.")
    return array


def equals(expected: Callable[..., Any], tol: float = 1e-8) -> Callable[..., None]:
    """Return a check that compares an answer with the result of `expected` for the same arguments."""

    def check(answer: Any, *arguments: Any) -> None:
        right = np.asarray(expected(*arguments), dtype=float)
        off = np.abs(numbers(answer, right.shape) - right)
        if (off > tol * (1.0 + np.abs(right))).any():
            worst = np.unravel_index(off.argmax(), off.shape)
            place = f" at {tuple(map(int, worst))}" if right.ndim else ""
            given = float(np.asarray(answer, dtype=float)[worst])
            raise Lost(f"the answer{place} is {given:.9g}; expected {float(right[worst]):.9g}.")

    return check


# -- problems, points and steps ----------------------------------------------------------------------------------------


def data(rng: Generator, n: int = 24, C: float | None = None) -> tuple[np.ndarray, np.ndarray, float]:
    """Return K, y and C of two overlapping classes with at least three examples each; the diagonal of K varies."""
    y = np.where(np.arange(n) < rng.integers(n // 3, 2 * n // 3 + 1), 1.0, -1.0)
    rng.shuffle(y)
    X = rng.normal(size=(n, 2)) + 0.8 * y[:, None]
    size = rng.uniform(0.8, 1.25, n)
    K = np.outer(size, size) * np.exp(-rng.uniform(0.3, 1.0) * ((X[:, None] - X) ** 2).sum(-1))
    return K, y, float(rng.uniform(0.5, 5.0)) if C is None else C


def problem_of(K: np.ndarray, y: np.ndarray, C: float) -> DualProblem:
    """Return the dual of the C-SVM."""
    return DualProblem.classification(y=y.astype(int), gram=np.ascontiguousarray(K), C=C)


def box(y: np.ndarray, C: float) -> tuple[np.ndarray, np.ndarray]:
    """Return L and U."""
    return np.minimum(0.0, y * C), np.maximum(0.0, y * C)


def slope_and_curvature(K: np.ndarray, G: np.ndarray, i: int, j: int) -> tuple[float, float]:
    """Return ℓ and q of a pair, with 1e-12 in place of a q that is not positive."""
    q = K[i, i] + K[j, j] - 2.0 * K[i, j]
    return float(G[i] - G[j]), float(q if q > 0.0 else TAU)


def step_of(K: Any, G: Any, alpha: Any, lower: Any, upper: Any, i: int, j: int) -> float:
    """Return the clipped Newton step."""
    slope, q = slope_and_curvature(K, G, i, j)
    low, high = max(lower[i] - alpha[i], alpha[j] - upper[j]), min(upper[i] - alpha[i], alpha[j] - lower[j])
    return float(min(max(slope / q, low), high))


def take(K: Any, G: Any, alpha: Any, lower: Any, upper: Any, i: int, j: int) -> None:
    """Change α and G by one step."""
    mu = step_of(K, G, alpha, lower, upper, i, j)
    alpha[i], alpha[j] = moved(alpha[i], mu, lower[i], upper[i]), moved(alpha[j], -mu, lower[j], upper[j])
    G -= mu * (K[i] - K[j])


def on_the_way(rng: Generator, n: int = 24, C: float | None = None) -> tuple[Any, ...]:
    """Return K, y, C, G, α, L and U after some steps on random pairs."""
    K, y, C = data(rng, n, C)
    lower, upper = box(y, C)
    alpha, G = np.zeros(n), y.copy()
    for _ in range(4 * n):
        i, j = rng.choice(n, 2, replace=False)
        if alpha[i] < upper[i] and alpha[j] > lower[j] and G[i] > G[j]:
            take(K, G, alpha, lower, upper, i, j)
    return K, y, C, G, alpha, lower, upper


def ends(G: Any, alpha: Any, lower: Any, upper: Any) -> tuple[float, float]:
    """Return the largest G in I_up and the smallest G in I_down."""
    return float(G[alpha < upper].max()), float(G[alpha > lower].min())


def gap_of(G: Any, alpha: Any, lower: Any, upper: Any) -> float:
    """Return ψ."""
    top, bottom = ends(G, alpha, lower, upper)
    return top - bottom


def some_pair(rng: Generator, n: int = 24) -> tuple[Any, ...]:
    """Return the arguments of `newton_step`: K, G, α, L, U and a pair whose step increases f."""
    while True:
        K, _, _, G, alpha, lower, upper = on_the_way(rng, n)
        i, j = map(int, rng.choice(n, 2, replace=False))
        if alpha[i] < upper[i] and alpha[j] > lower[j] and G[i] > G[j] + 1e-6:
            return K, G, alpha, lower, upper, i, j


def twins_pair(rng: Generator) -> tuple[Any, ...]:
    """Return the arguments of `newton_step` for a pair of equal examples."""
    K, G, alpha, lower, upper, i, j = some_pair(rng)
    K[j], K[:, j], K[j, j] = K[i], K[i], K[i, i]
    return K, G, alpha, lower, upper, i, j


def level_twins(rng: Generator) -> tuple[Any, ...]:
    """Return the result of `twins_pair` with so small a slope that the Newton step may stay inside the box."""
    K, G, alpha, lower, upper, i, j = twins_pair(rng)
    G[j] = G[i] - TAU * rng.uniform(0.1, 1.0)
    return K, G, alpha, lower, upper, i, j


def is_free(K: Any, G: Any, alpha: Any, lower: Any, upper: Any, i: int, j: int) -> bool:
    """Return whether the Newton step of the pair stays inside the box."""
    slope, q = slope_and_curvature(K, G, i, j)
    return step_of(K, G, alpha, lower, upper, i, j) == slope / q


def most_violating(G: Any, alpha: Any, lower: Any, upper: Any) -> tuple[int, int]:
    """Return the variable of I_up with the largest G and the variable of I_down with the smallest G."""
    up, down = np.where(alpha < upper, G, -np.inf), np.where(alpha > lower, G, np.inf)
    return int(up.argmax()), int(down.argmin())


def is_most_violating(answer: Any, G: Any, alpha: Any, lower: Any, upper: Any) -> None:
    """Check that the answer is a most violating pair."""
    i, j = pair(answer, alpha, lower, upper)
    top, bottom = ends(G, alpha, lower, upper)
    if G[i] < top - 1e-9 or G[j] > bottom + 1e-9:
        best = most_violating(G, alpha, lower, upper)
        raise Lost(f"the answer is ({i}, {j}); the most violating pair is {best}.")


def pair(answer: Any, alpha: Any, lower: Any, upper: Any, at: str = "") -> tuple[int, int]:
    """Return the answer as a pair (i, j); raise `Lost` unless i is in I_up and j is in I_down."""
    given = numbers(answer, (2,))
    i, j = map(int, given)
    if (given != (i, j)).any() or not (0 <= i < len(alpha) and 0 <= j < len(alpha) and i != j):
        raise Lost(f"{at}{given.tolist()} is not a pair of different indices below {len(alpha)}.")
    if not (alpha[i] < upper[i] and alpha[j] > lower[j]):
        wrong = "αᵢ is at its upper bound" if not alpha[i] < upper[i] else "αⱼ is at its lower bound"
        is_swapped = alpha[j] < upper[j] and alpha[i] > lower[i]
        hint = "; is the order of i and j right?" if is_swapped else "."
        raise Lost(f"{at}the step on the pair ({i}, {j}) must raise αᵢ and lower αⱼ, but {wrong}{hint}")
    return i, j


def replayed(second_order: bool, whole: bool) -> Callable[..., None]:
    """Return a check that replays a training and examines each pair and, if `whole`, also the end and the final α."""

    def check(answer: Any, K: Any, y: Any, C: float, tol: float) -> None:
        lower, upper = box(y, C)
        alpha, G, last = np.zeros(len(y)), y.copy(), np.inf
        if not (isinstance(answer, list) and len(answer) == 2 and isinstance(answer[1], list)):
            raise Lost("the answer is not (alpha, pairs); return α and the list of all pairs.")
        result = numbers(answer[0], y.shape)
        for t, chosen in enumerate(answer[1][:50_000]):
            i, j = pair(chosen, alpha, lower, upper, f"step {t + 1}: ")
            last, (top, bottom) = gap_of(G, alpha, lower, upper), ends(G, alpha, lower, upper)
            gain = gains(G, alpha, lower, K[i], np.diag(K), i)
            is_best = gain[j] >= gain.max() * (1.0 - 1e-7) if second_order else G[j] <= bottom + 1e-7
            if not (G[i] >= top - 1e-7 and is_best):
                first, partner = most_violating(G, alpha, lower, upper)
                if second_order:
                    partner = int(gains(G, alpha, lower, K[first], np.diag(K), first).argmax())
                raise Lost(
                    f"step {t + 1} moves the pair ({i}, {j}); the rule chooses ({first}, {partner}). "
                    f"The choice of ({i}, {j}) is wrong, or an earlier step or its update of G is wrong."
                )
            take(K, G, alpha, lower, upper, i, j)
        psi = gap_of(G, alpha, lower, upper)
        if not psi <= tol * (1.0 + 1e-6):
            raise Lost(f"the training ends at ψ = {psi:.3g}, above the tolerance {tol:.3g}.")
        if whole and last <= tol * (1.0 - 1e-6):
            raise Lost("the training takes a step after ψ has reached the tolerance.")
        off = float(np.abs(result - alpha).max())
        if whole and off > 1e-7 * C:
            raise Lost(f"the returned α differs by {off:.3g} from the α to which the returned pairs lead.")
        if whole and (result != alpha)[(alpha == lower) | (alpha == upper)].any():
            raise Lost("the returned α has an entry near a bound that is not equal to the bound.")

    return check


def to_train(rng: Generator) -> tuple[Any, ...]:
    """Return K, y, C and a tolerance."""
    return *data(rng, 30), float(10.0 ** rng.uniform(-4.0, -2.0))


def wide(rng: Generator, C: float) -> tuple[np.ndarray, np.ndarray, float]:
    """Return K, y and C of a problem with a wide kernel, which needs many steps if C is large."""
    K, y, C = data(rng, 14, C)
    return K**0.1, y, C


def training(second_order: bool) -> list[Point]:
    """Return the `Point` objects for a function that trains a model with one selection rule."""
    rule = "second-order selection" if second_order else "the most violating pair"
    return [
        point("train", f"{rule} chooses every pair", to_train, replayed(second_order, whole=False), 2, 12),
        point(
            "train",
            "every pair, the stop and the final α",
            to_train,
            replayed(second_order, whole=True),
            2,
            12,
        ),
    ]


# -- the assignments ---------------------------------------------------------------------------------------------------


def some_of(draw: Draw, *kept: int) -> Draw:
    """Return a function that calls `draw` and returns the arguments at the positions in `kept`."""
    return lambda rng: tuple(map(draw(rng).__getitem__, kept))


def nearly(rng: Generator, G: Any, alpha: Any, lower: Any, upper: Any) -> tuple[Any, ...]:
    """Move one α to a distance of 1e-6 from its bound, so that code with a tolerance takes α as bounded."""
    alpha = alpha.copy()
    if rng.random() < 0.5:
        alpha[G.argmax()] = upper[G.argmax()] - 1e-6
    else:
        alpha[G.argmin()] = lower[G.argmin()] + 1e-6
    return G, alpha, lower, upper


def states(rng: Generator) -> tuple[Any, ...]:
    """Return G, α, L and U."""
    return nearly(rng, *on_the_way(rng)[3:])


cut_pair = where(some_pair, lambda *pair: not is_free(*pair))

THE_LOOP = [
    point("newton_step", "steps inside the box", where(some_pair, is_free), equals(step_of)),
    point("newton_step", "steps that the box may cut", either(some_pair, cut_pair), equals(step_of)),
    point("newton_step", "pairs that may be two equal examples, whose curvature is 0",
          where(either(some_pair, level_twins), is_free), equals(step_of)),
    point("most_violating_pair", "some variables are at bounds", states, is_most_violating, 3),
    *training(second_order=False),
]  # fmt: skip


def gaussian(A: Any, B: Any, gamma: float) -> np.ndarray:
    """Return exp(−γ‖a − b‖²) for all pairs."""
    return np.exp(-gamma * ((A[:, None] - B) ** 2).sum(-1))


def two_sets(offset: float) -> Draw:
    """Return a function that draws two sets of examples and γ."""
    return lambda rng: (
        rng.normal(size=(7, 3)) + offset,
        rng.normal(size=(5, 3)) + offset,
        float(rng.uniform(0.1, 1.0)),
    )


def with_ties(rng: Generator) -> tuple[Any, ...]:
    """Return kernel values of new examples, α and b, chosen so that some decision values are 0."""
    K, alpha = rng.integers(-4, 5, (40, 6)) / 2.0, rng.integers(-4, 5, 6) / 2.0
    return K, alpha, -float(K[rng.integers(40)] @ alpha)


def rows_of_a_pair(rng: Generator) -> tuple[Any, ...]:
    """Return G, two rows of K and a step."""
    K, G, alpha, lower, upper, i, j = some_pair(rng)
    return G, K[i], K[j], step_of(K, G, alpha, lower, upper, i, j)


KERNEL_AND_GRADIENT = [
    point("gaussian", "values", two_sets(0.0), equals(gaussian)),
    point("gaussian", "data that lie far from the origin", two_sets(1e6), equals(gaussian)),
    point("gradient", "values", some_of(on_the_way, 0, 1, 4), equals(lambda K, y, alpha: y - K @ alpha)),
    point("after_step", "values", rows_of_a_pair, equals(lambda G, a, b, mu: G - mu * (a - b))),
    point("objective", "values", some_of(on_the_way, 1, 3, 4), equals(lambda y, G, alpha: 0.5 * alpha @ (y + G))),
    point("decide", "labels, also of examples on the boundary", with_ties,
          equals(lambda K, alpha, b: np.where(K @ alpha + b >= 0.0, 1, -1))),
]  # fmt: skip


def gains(G: Any, alpha: Any, lower: Any, row: Any, diagonal: Any, i: int) -> np.ndarray:
    """Return the Newton gain of the pair (i, j) for each j, or −∞ if the step does not increase f."""
    q = diagonal + diagonal[i] - 2.0 * row
    gain = 0.5 * (G[i] - G) ** 2 / np.where(q > 0.0, q, TAU)
    return np.where((alpha > lower) & (G[i] > G), gain, -np.inf)


def a_partner(rng: Generator, draw: Draw = some_pair) -> tuple[Any, ...]:
    """Return the arguments of `partner`: G, α, L, a row of K, the diagonal of K, and i."""
    K, G, alpha, lower, _, i, _ = draw(rng)
    return G, alpha, lower, K[i], np.diag(K).copy(), i


def no_partner(rng: Generator) -> tuple[Any, ...]:
    """Return the arguments of `partner`; often i has the smallest G, or no variable with a smaller G may fall."""
    G, alpha, lower, row, diagonal, i = a_partner(rng)
    kind = rng.integers(3)
    if kind == 0:
        G[i] = G.min() - 1.0
    if kind == 1:
        alpha = np.where(G[i] > G, lower, alpha)
    return G, alpha, lower, row, diagonal, i


def is_best_partner(answer: Any, *arguments: Any) -> None:
    """Check the partner."""
    gain, given = gains(*arguments), numbers(answer, ())
    if np.isneginf(gain).all():
        if given != -1:
            raise Lost(
                f"the answer is {given:g}, but no pair with i = {arguments[-1]} increases f; return -1."
            )
    elif given not in range(len(gain)) or not gain[int(given)] >= gain.max() * (1.0 - 1e-9):
        raise Lost(f"the answer is {given:g}; j = {gain.argmax()} has the largest Newton gain.")


SECOND_ORDER = [
    point(
        "newton_gain",
        "values",
        lambda rng: (float(rng.normal()), float(rng.uniform(0.1, 2.0))),
        equals(lambda slope, q: 0.5 * slope * slope / q),
    ),
    point("partner", "the largest gain", a_partner, is_best_partner, 2),
    point(
        "partner",
        "a choice that may contain an example identical to example i, so that the curvature is 0",
        lambda rng: a_partner(rng, either(some_pair, twins_pair)),
        is_best_partner,
    ),
    point("partner", "no candidate gains", no_partner, is_best_partner),
    *training(second_order=True),
]


def primal(K: Any, y: Any, C: float, alpha: Any, b: float) -> float:
    """Return F(α, b)."""
    h = K @ alpha + b
    return float(0.5 * alpha @ K @ alpha + C * np.maximum(0.0, 1.0 - y * h).sum())


def has_best_intercept(answer: Any, K: Any, y: Any, C: float, alpha: Any) -> None:
    """Check that b minimises F."""
    b = float(numbers(answer, ()))
    value, best = primal(K, y, C, alpha, b), problem_of(K, y, C).primal_objective(alpha)
    if value > best * (1.0 + 1e-9):
        raise Lost(f"the returned b = {b:.6g} gives F = {value:.9g}; the best b gives F = {best:.9g}.")


def is_accurate(answer: Any, K: Any, y: Any, C: float, most: float) -> None:
    """Check that α is feasible and that its duality gap is at most `most`."""
    alpha, (lower, upper) = numbers(answer, y.shape), box(y, C)
    if (alpha < lower).any() or (alpha > upper).any() or abs(alpha.sum()) > 1e-9 * C * len(y):
        raise Lost("the returned α leaves the box, or its sum is not 0.")
    gap = problem_of(K, y, C).duality_gap(alpha)
    if not gap <= most * (1.0 + 1e-6):
        raise Lost(f"the duality gap of α is {gap:.3g}, which is more than {most:.3g}.")


CERTIFICATE = [
    point("kkt_gap", "values", states, equals(gap_of)),
    point("intercept", "the midpoint", states, equals(lambda *state: sum(ends(*state)) / 2.0)),
    point("primal", "values", lambda rng: (*some_of(on_the_way, 0, 1, 2, 4)(rng), float(rng.normal())), equals(primal)),
    point("best_intercept", "no other b has a smaller F", some_of(on_the_way, 0, 1, 2, 4), has_best_intercept, 2),
    point("duality_gap", "values", some_of(on_the_way, 0, 1, 2, 4),
          equals(lambda K, y, C, alpha: problem_of(K, y, C).duality_gap(alpha), 1e-7)),
    point("train_to_gap", "the duality gap of the result",
          lambda rng: (*wide(rng, 200.0), float(10.0 ** rng.uniform(-5.0, -2.0))), is_accurate, 2, 8),
]  # fmt: skip


def removable(G: Any, alpha: Any, lower: Any, upper: Any) -> np.ndarray:
    """Return a mask of the variables that shrinking leaves out."""
    top, bottom = ends(G, alpha, lower, upper)
    return ((alpha == upper) & (top < G)) | ((alpha == lower) & (bottom > G))


def late(rng: Generator) -> tuple[Any, ...]:
    """Return G, α, L and U near the optimum."""
    K, _, _, G, alpha, lower, upper = on_the_way(rng, 40, 1.0)
    for _ in range(60):
        take(K, G, alpha, lower, upper, *most_violating(G, alpha, lower, upper))
    return nearly(rng, G, alpha, lower, upper) if rng.random() < 0.5 else (G, alpha, lower, upper)


def is_mixed(G: Any, alpha: Any, lower: Any, upper: Any) -> bool:
    """Return whether shrinking leaves out variables at both bounds, but not all variables that are at a bound."""
    out = removable(G, alpha, lower, upper)
    bounded = (alpha == lower) | (alpha == upper)
    return bool((out & (alpha == upper)).any() and (out & (alpha == lower)).any() and (bounded & ~out).any())


def an_active_set(rng: Generator) -> tuple[Any, ...]:
    """Return K, y, α and the active variables."""
    K, y, _, _, alpha, _, _ = on_the_way(rng)
    return K, y, alpha, np.sort(rng.choice(len(y), 10, replace=False))


def restricted(K: Any, y: Any, alpha: Any, active: Any) -> np.ndarray:
    """Return the linear term v_B and the sum z_B of the problem over the active variables B."""
    rest = np.setdiff1d(np.arange(len(y)), active)
    return np.append(y[active] - K[np.ix_(active, rest)] @ alpha[rest], -alpha[rest].sum())


def a_change(rng: Generator) -> tuple[Any, ...]:
    """Return K, G, the active variables and the change of their α."""
    K, _, _, G, *_ = on_the_way(rng)
    active = np.sort(rng.choice(len(G), 6, replace=False))
    return K, G, active, rng.normal(size=6)


def requests(rng: Generator) -> tuple[Any, ...]:
    """Return row numbers in the order in which the rows are used, and the capacity of the cache."""
    return rng.integers(0, 12, 300), int(rng.integers(3, 9))


def misses(rows: Any, capacity: int) -> int:
    """Count the rows that a cache computes if it drops the least recently used row."""
    held: list[int] = []
    missed = 0
    for row in rows.tolist():
        if row in held:
            held.remove(row)
        else:
            missed += 1
            del held[: max(0, len(held) - capacity + 1)]
        held.append(row)
    return missed


SHRINKING_AND_CACHE = [
    point("removable", "variables at both bounds", where(late, is_mixed), equals(removable), 2),
    point("restricted", "the linear term and the sum", an_active_set, equals(restricted), 2),
    point(
        "rebuilt", "the gradient of all variables", a_change, equals(lambda K, G, B, d: G - K[:, B] @ d), 2
    ),
    point("misses", "the least recently used row is dropped", requests, equals(misses), 2),
]


def one_left_out(rng: Generator) -> tuple[Any, ...]:
    """Return y, C and the index r of the example to leave out."""
    _, y, C = data(rng)
    return y, C, int(rng.integers(len(y)))


def box_without(y: Any, C: float, r: int) -> np.ndarray:
    """Return L and U, with both 0 at r."""
    bounds = np.stack(box(y, C))
    bounds[:, r] = 0.0
    return bounds


def solved(rng: Generator) -> tuple[Any, ...]:
    """Return y, α and h of a solved problem, after setting some h to 0 and changing the sign of others."""
    K, y, C = data(rng, 30, 1.0)
    solution = solve(problem_of(K, y, C), stop=KKTGap(1e-8), engine="numpy")
    alpha, h = solution.alpha.copy(), solution.decision_values.copy()
    h[np.flatnonzero(alpha)[:3]] = 0.0
    zero = np.flatnonzero(alpha == 0.0)[:4]
    h[zero] *= -1.0  # α = 0 alone decides the verdict, so change the sign of h
    alpha[zero[:1]] = 1e-6 * y[zero[:1]]  # not 0
    return y, alpha, h


def verdicts(y: Any, alpha: Any, h: Any) -> np.ndarray:
    """Return 1 where α is 0, −1 for training errors and 0 elsewhere."""
    return np.where(alpha == 0.0, 1, np.where(np.where(h >= 0.0, 1, -1) != y, -1, 0))


def left_out_values(K: Any, y: Any, C: float, most: int = 100_000) -> np.ndarray:
    """Return each example's decision value by the model trained without this example in at most `most` steps."""
    problem, stop = problem_of(K, y, C), KKTGap(1e-8)
    solutions = (solve(problem.without(r), stop=stop, engine="numpy", max_iter=most) for r in range(len(y)))
    return np.array([solution.decision_values[r] for r, solution in enumerate(solutions)])


def is_clear(K: Any, y: Any, C: float) -> bool:
    """Return whether no left-out example has h near 0, both classes have errors, and twenty steps give a wrong sign."""
    h = left_out_values(K, y, C)
    wrong = y[h * y < 0.0]
    is_usual = np.abs(h).min() > 0.02 and (wrong > 0.0).any() and (wrong < 0.0).any()
    return bool(is_usual and (left_out_values(K, y, C, 20) * h < 0.0).any())


SMALL = where(partial(wide, C=200.0), is_clear)
LEAVE_ONE_OUT = [
    point("box_without", "the bounds", one_left_out, equals(box_without)),
    point("verdicts", "what the full solution decides", solved, equals(verdicts), 2),
    point("left_out_value", "the decision value of the left-out example",
          lambda rng: (*wide(rng, 5000.0), int(rng.integers(14))),
          equals(lambda K, y, C, r: left_out_values(K, y, C)[r], 0.01), 2, 12),
    point("leave_one_out", "the signs of all left-out examples", SMALL,
          equals(lambda K, y, C: np.where(left_out_values(K, y, C) >= 0.0, 1, -1)), 3, 8),
]  # fmt: skip


def to_seed(C: float) -> Draw:
    """Return a function that draws K, y, C, the α of the optimum and an example r with αᵣ ≠ 0."""

    def draw(rng: Generator) -> tuple[Any, ...]:
        K, y, _ = data(rng)
        alpha = solve(problem_of(K, y, C), engine="numpy").alpha.copy()
        return K, y, C, alpha, int(rng.choice(np.flatnonzero(alpha)))

    return draw


def seed_of(rule: Any) -> Callable[..., np.ndarray]:
    """Return a function that takes the arguments of a student's seeder, and returns the seed that `rule` makes."""

    def seed(K: Any, y: Any, C: float, alpha: Any, r: int) -> np.ndarray:
        problem = problem_of(K, y, C)
        return np.asarray(rule.seed(solve(problem, engine="numpy"), problem.without(r)))

    return seed


def is_crowded(K: Any, y: Any, C: float, alpha: Any, r: int) -> bool:
    """Return whether the free variables would reach their bounds before they take over all of αᵣ."""
    lower, upper = box_without(y, C, r)
    free = (alpha > lower) & (alpha < upper)
    room = upper - alpha if alpha[r] > 0.0 else alpha - lower
    return bool(room[free].sum() < abs(alpha[r]))


crowded = where(to_seed(0.2), is_crowded)
SEEDER = [
    point("average", "equal shares", to_seed(100.0), equals(seed_of(AVG())), 2),
    point("average", "shares that the box cuts", either(to_seed(0.7), crowded), equals(seed_of(AVG())), 2),
    point("most_similar", "one example takes all", to_seed(100.0), equals(seed_of(TOP())), 2),
    point("most_similar", "several examples share", either(to_seed(0.7), crowded), equals(seed_of(TOP())), 2),
]


def three(rng: Generator) -> tuple[Any, ...]:
    """Return K, y and C of three examples."""
    X, y = rng.normal(size=(3, 2)), rng.permutation([1.0, -1.0, float(rng.choice([-1, 1]))])
    size = rng.uniform(0.8, 1.25, 3)
    K = np.outer(size, size) * np.exp(-0.5 * ((X[:, None] - X) ** 2).sum(-1))
    return K, y, float(np.exp(rng.uniform(-2.0, 3.0)))


def slopes(K: Any, y: Any, free: Any) -> np.ndarray:
    """Return dα/dC and, as the last number, db/dC."""
    bounded, m = np.setdiff1d(np.arange(3), free), len(free)
    system = np.ones((m + 1, m + 1))
    system[:m, :m], system[m, m] = K[np.ix_(free, free)], 0.0
    right = np.append(-K[np.ix_(free, bounded)] @ y[bounded], -y[bounded].sum())
    solution, rates = np.linalg.solve(system, right), y.copy()
    rates[free] = solution[:m]
    return np.append(rates, solution[m])


def two_free(rng: Generator) -> tuple[Any, ...]:
    """Return K, y and the indices of two free variables."""
    return *three(rng)[:2], np.sort(rng.choice(3, 2, replace=False))


def three_free(rng: Generator) -> tuple[Any, ...]:
    """Return K, y and the indices of all three variables."""
    return *three(rng)[:2], np.arange(3)


def follows(answer: Any, K: Any, y: Any, C_min: float, C_max: float, between: Any) -> None:
    """Check that α, interpolated between the rows of a path, is optimal at the values of C in `between`."""
    rows = numbers(answer, (len(answer) if isinstance(answer, list) else 0, 4))
    if not 2 <= len(rows) <= 12:
        raise Lost(f"the path has {len(rows)} rows; give 2 to 12 rows: at both ends and at each breakpoint.")
    if (np.diff(rows[:, 0]) < 0.0).any() or rows[0, 0] != C_min or rows[-1, 0] != C_max:
        raise Lost(f"column 0 (C) does not rise from {C_min:g} to {C_max:g}.")
    for C in between:
        alpha = np.array([np.interp(C, rows[:, 0], rows[:, k]) for k in (1, 2, 3)])
        (lower, upper), off = box(y, C), 1e-6 * C  # allow rounding errors of the breakpoints
        snapped = np.where(alpha < lower + off, lower, np.where(alpha > upper - off, upper, alpha))
        gap = gap_of(y - K @ snapped, snapped, lower, upper) if abs(alpha.sum()) <= off else np.inf
        if np.abs(snapped - alpha).max() > off or gap > 1e-5:
            raise Lost(f"the α of the path is not optimal at C = {C:.4g}.")


def is_a_path(call: Call, rng: Generator) -> None:
    """Let the student's function compute six paths, and examine each at values of C that the student cannot know."""
    for _ in range(6):
        K, y, _ = three(rng)
        follows(call(K, y, 0.05, 50.0), K, y, 0.05, 50.0, 0.05 * 1000.0 ** rng.random(400))


PATH = [
    point("optimum", "three examples", three, partial(is_accurate, most=1e-9), 2),
    point("slopes", "two free variables", two_free, equals(slopes)),
    point("slopes", "two or three free variables", either(two_free, three_free), equals(slopes)),
    Point("path", "α at all C between the breakpoints", is_a_path, 4),
]


# -- the project -------------------------------------------------------------------------------------------------------

FIVE = {"heart": 0.05, "sonar": 0.1, "ionosphere": 0.1, "thyroid": 0.5, "monks1": 0.1}
"""The data sets of the project, with the γ of each."""
MOST_ROWS = 4  # largest number of rows of K that one call of choose() may ask for
SAMPLES = 12  # number of samples of each data set
LESS = 0.98  # a rule with at most this share of SecondOrder's steps takes fewer steps; chance rarely saves so many
REPEATED = 100  # number of states at which a new process chooses again


def asked(call: Call, arrays: Any, state: Any, **how: Any) -> tuple[int, int]:
    """Return the pair that the student's function chooses at a state."""
    count = 0

    def row(i: Any) -> np.ndarray:
        nonlocal count
        count += 1
        if count > MOST_ROWS or type(i) is not int or not 0 <= i < len(state.alpha):
            raise Lost(f"choose() asked for row {str(i)[:20]}; ask for at most {MOST_ROWS} existing rows.")
        return np.asarray(state.row(i))

    return pair(call(*arrays, row=row, **how), arrays[0], arrays[2], arrays[3])


def rule_of(call: Call, seen: list[Any]) -> WorkingSetSelector:
    """Return a selector that asks the student's process for pairs; `seen` gets each step's arrays, state and pair."""

    @dataclass(frozen=True)
    class Students(WorkingSetSelector):
        """The rule of the student."""

        def select(self, state: Any) -> tuple[int, int]:
            """Ask the student's process for a pair."""
            if state.gap <= 0.0:
                return -1, -1
            arrays = (state.alpha, state.gradient, state.lower, state.upper, state.diagonal)
            chosen = asked(call, arrays, state)
            seen.append((np.array(arrays), state, chosen))
            return chosen

    return Students()


def keeps_contract(call: Call, rng: Generator) -> None:
    """Run `check_strategy` on the student's rule."""
    try:
        check_strategy(rule_of(call, []), rng=int(rng.integers(2**31)))
    except AssertionError as error:
        cause = error.__cause__
        raise cause if isinstance(cause, Lost) else Lost(str(error).split(": ", 1)[-1]) from None


def steps_on(name: str, seed: int, rule: WorkingSetSelector) -> int:
    """Count a rule's steps on `SAMPLES` samples of 100 examples of a data set; a failed solve counts as 5,000 steps.

    `steps_on` adds noise to the features, so that a rule that stores the data sets still does not know the kernel rows.
    """
    found, rng, steps = load(name), np.random.default_rng(seed), 0
    for _ in range(SAMPLES):
        some = rng.permutation(len(found.y))[:100]
        X = found.X[some] + 0.6 * found.X.std(axis=0) * rng.normal(size=(100, found.X.shape[1]))
        problem = DualProblem.classification(X, found.y[some], gamma=FIVE[name], C=10.0)
        solution = solve(
            problem, selector=rule, step=NewtonStep(), engine="numpy", shrinking=False, max_iter=5_000
        )
        steps += solution.iterations if solution.status is Status.CONVERGED else 5_000
    return steps


def ratios(call: Call, rng: Generator, seen: list[Any]) -> dict[str, float]:
    """Return, for each data set, the steps of the student's rule divided by the steps of `SecondOrder`."""
    rules, seed = (rule_of(call, seen), SecondOrder()), int(rng.integers(2**31))
    steps = {name: [steps_on(name, seed, rule) for rule in rules] for name in FIVE}
    return {name: mine / theirs for name, (mine, theirs) in steps.items()}


def keeps_nothing(call: Call, rng: Generator, seen: list[Any]) -> None:
    """Check that a new process, to which states are shown in reverse order, chooses the same pairs."""
    fresh = True
    for k in sorted(rng.choice(len(seen), min(REPEATED, len(seen)), replace=False), reverse=True):
        arrays, state, chosen = seen[k]
        again, fresh = asked(call, arrays, state, fresh=fresh), False
        if again != chosen:
            raise Lost(
                f"choose() chose the pair {chosen}, but at the same state in a new process the pair {again}; "
                "choose() may not keep anything from one step to the next."
            )


def beats(most: int) -> Callable[[Call, Generator], None]:
    """Return a test that a rule takes fewer steps than `SecondOrder` in geometric mean and on at least `most` sets."""

    def run(call: Call, rng: Generator) -> None:
        seen: list[Any] = []
        found = ratios(call, rng, seen)
        mean = float(np.exp(np.mean(np.log(list(found.values())))))
        if mean > LESS or sum(ratio <= LESS for ratio in found.values()) < most:
            texts = ", ".join(f"{name} {ratio:.3f}" for name, ratio in found.items())
            raise Lost(
                f"the geometric mean of the ratios of steps must be at most {LESS}, and so must {most} of the ratios; "
                f"the mean is {mean:.3f}, the ratios are {texts}."
            )
        keeps_nothing(call, rng, seen)

    return run


PROJECT = [
    Point("choose", "the contract of a selector, as check_strategy tests it", keeps_contract, 2, 240.0),
    Point("choose", "2 % fewer steps than SecondOrder in the mean of all sets", beats(0), 4, 240.0),
    Point("choose", "2 % fewer steps than SecondOrder, in the mean and on three sets", beats(3), 8, 240.0),
]

ASSIGNMENTS = {
    "01_the_loop": THE_LOOP, "02_kernel_and_gradient": KERNEL_AND_GRADIENT, "03_second_order": SECOND_ORDER,
    "04_certificate": CERTIFICATE, "05_shrinking_and_cache": SHRINKING_AND_CACHE, "06_leave_one_out": LEAVE_ONE_OUT,
    "07_seeder": SEEDER, "08_path_of_three": PATH, "09_project": PROJECT,
}  # fmt: skip
"""The points of each assignment."""
