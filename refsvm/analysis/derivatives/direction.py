"""How the optimum moves with a parameter: the bordered system, and at events the choice of its sets."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from refsvm.analysis.derivatives.kernels import by_differences
from refsvm.analysis.derivatives.optimum import Optimum, pieces
from refsvm.analysis.derivatives.parameters import Rates, examples_of
from refsvm.core.kernels.functions import Kernel
from refsvm.core.walk.special_events import SwitchingGuard, blocking
from refsvm.core.walk.walk import ABOVE, BELOW, FREE, TIED, Line, Walk

NOISE: Final = 1e-9
"""Rates up to this part of the largest are rounding."""

APART: Final = 1e-6
"""Part of the largest rate that equations of dependent examples may differ by."""

ROUNDED: Final = 1e-12
"""Part of Σ |Kᵢⱼ αⱼ| that is rounding."""

MOST_FLIPS: Final = 200
"""Special events until the sets at an event are given up."""


class Direction(NamedTuple):
    """The rates of an optimum as a parameter moves one way.

    Attributes
    ----------
    alpha : ndarray of shape (n,)
        One of them, where dα is not unique.
    intercept : float
        Where the problem is solved.
    """

    alpha: np.ndarray
    intercept: float


def direction(optimum: Optimum, rates: Rates, along: Any, sign: float) -> Direction:
    """Return how α and b move if the parameter rises (sign 1), or falls (sign −1).

        | 0   1ᵀ  | | ḃ   |     | ż − 1ᵀd_B                |
        | 1  K_MM | | d_M |  =  | v̇_M − (K̇α)_M − K_MB d_B  |        d_B = the rate of the bound

    At an event d minimises ½ dᵀKd − (v̇ − K̇α)ᵀd over the rates that the box allows: this is the direction that the walk
    takes, and the sets that go with it are those that its special events find.

    Parameters
    ----------
    along : ndarray or float
        The rate of the parameter; of one for each example or feature those of all.

    Raises
    ------
    ValueError
        If α or b would jump.
    """
    problem, there = optimum.problem, optimum.places
    shares = along[examples_of(problem.gram)[1]] if rates.each else 1.0 if rates.kernel else along
    lower, upper = sign * rates.lower * shares, sign * rates.upper * shares
    # --- bounded variables move with their bound: d_B ---
    d = np.where(optimum.fixed, np.where(optimum.upper, upper, lower), 0.0)
    # --- the right side: v̇ − K̇α − K d_B,  ż − 1ᵀd_B ---
    push = sign * (rates.v * shares)[there] - products(problem.gram, there, d)
    if rates.kernel:
        push -= sign * kernel_rates(optimum, rates.kernel, along)
    total = sign * float((rates.z * shares).sum()) - float(d.sum())
    bounds = [np.where(np.isin(optimum.side, (FREE, TIED)), 0.0, each[there]) for each in (lower, upper)]
    walk = optimum.walk(Line(push, bounds[0], bounds[1], total))
    # --- d_M and ḃ, with the sets that the way leads to ---
    # kernel values change by about as much as they are over a change of the parameter as large as itself
    moved = float(np.abs(optimum.alpha).sum()) * _relative(rates.value, along) if rates.kernel else 0.0
    floor = ROUNDED * optimum.largest * (moved + float(np.abs(d).sum()))
    intercept = settle(walk, optimum, floor)
    d[there] = walk.variables.d
    return Direction(sign * d, sign * intercept)


def _relative(value: Any, along: Any) -> float:
    """Return the rate of a parameter as a part of it, of several the largest."""
    return float(np.max(np.abs(along) / np.where(value == 0.0, 1.0, np.abs(value))))


def settle(walk: Walk, optimum: Optimum, floor: float) -> float:
    """Change the sets until the direction of the walk keeps all conditions; return ḃ. Ġ is right up to `floor`."""
    guard = SwitchingGuard(MOST_FLIPS)
    while True:
        if not walk.members and not _take_first(walk, optimum, floor):
            return _middle(walk)
        db, noise = _refined(walk, optimum, floor)
        flips = blocking(walk, noise, 0.0, True)
        if not flips:
            _refuse_jump_of_alpha(walk, optimum, floor)
            return db
        if guard.looping(walk):
            raise ValueError(
                f"The sets of the examples {_listed(optimum.events)}, which are at an event, could not be told."
            )
        for i, side in flips[:1] if guard.one_at_a_time else flips:
            if side == FREE:
                walk.join(i)
            else:
                walk.leave(i, side)
        assert walk.system is not None


def _refined(walk: Walk, optimum: Optimum, floor: float) -> tuple[float, tuple[float, float]]:
    """Take the direction, refined twice; return ḃ, and what counts as zero in d and in Ġ − ḃ."""
    assert walk.system is not None
    of, M = walk.variables, walk.members
    for _ in range(2):
        walk.direction()
        left = np.append(of.d[M].sum() - walk.total, -of.speed[M])
        walk.system.x[: len(left)] -= walk.system.times(left)
    db, largest = walk.direction(), float(np.abs(of.d).max())
    push = float(np.abs(of.push).max()) + optimum.largest * len(M) * largest
    return db, (NOISE * largest, NOISE * push + floor)


def _take_first(walk: Walk, optimum: Optimum, floor: float) -> bool:
    """Where no variable is free, let the first of those at an event that must move join M; return whether one does."""
    of, below, above = walk.variables, walk.side == BELOW, walk.side == ABOVE
    largest = max(float(np.abs(each).max(initial=0.0)) for each in (of.pace, of.lower_rate, of.upper_rate))
    if abs(walk.total) > 1e-12 * max(largest, abs(walk.line.z)):
        waiting = below if walk.total > 0.0 else above
        if optimum.has_ends or not waiting.any():
            raise ValueError(
                "No variable is free, and the bounds of the others would not keep the sum of alpha: b jumps here, so "
                f"that it has no derivative. It would move to the end at the examples {_ends(optimum)}."
            )
    elif optimum.has_ends or not _crossed(of.push, below, above, floor):
        return False
    else:
        waiting = below
    i = int(np.where(waiting, of.push if waiting is below else -of.push, -np.inf).argmax())
    walk.join(i)
    return True


def _crossed(push: np.ndarray, below: np.ndarray, above: np.ndarray, floor: float) -> bool:
    """Whether the largest rate of G below is larger than the smallest above, so that the interval of b would close."""
    top, bottom = push[below].max(initial=-np.inf), push[above].min(initial=np.inf)
    return bool(top > bottom + floor + NOISE * float(np.abs(push).max()))


def _middle(walk: Walk) -> float:
    """ḃ where no variable is free: the mean of the rates of G at both ends of the interval of b."""
    of = walk.variables
    of.d[:] = of.pace
    ends = [of.push[walk.side == BELOW].max(initial=-np.inf), of.push[walk.side == ABOVE].min(initial=np.inf)]
    return float(np.mean([each for each in ends if np.isfinite(each)]))


def _refuse_jump_of_alpha(walk: Walk, optimum: Optimum, floor: float) -> None:
    """Refuse a parameter that would take dependent examples apart: the right side is not in the range of A."""
    of, tied = walk.variables, np.flatnonzero(walk.side == TIED)
    if not len(tied):
        return
    most = floor + APART * float(np.abs(of.push).max()) + NOISE * optimum.largest * float(np.abs(of.d).sum())
    apart = tied[np.abs(of.speed[tied]) > most]
    if len(apart):
        raise ValueError(
            f"The examples {_listed(optimum.examples(optimum.places[apart]))} depend on other free ones in feature "
            "space, and this parameter would take them apart: alpha jumps here, and has no derivative."
        )


def _ends(optimum: Optimum) -> str:
    return _listed(optimum.examples(optimum.places))


def _listed(examples: np.ndarray) -> str:
    """The first examples, in words."""
    return f"{examples[:10].tolist()}{' and more' if len(examples) > 10 else ''}"


def products(gram: Any, rows: np.ndarray, d: np.ndarray) -> np.ndarray:
    """(K d)ᵢ of some variables, in pieces of K."""
    moving, result = np.flatnonzero(d), np.zeros(len(rows))
    if len(moving):
        for part in pieces(len(rows), len(moving)):
            result[part] = gram.block(rows[part], moving) @ d[moving]
    return result


def kernel_rates(optimum: Optimum, name: str, along: Any, variables: np.ndarray | None = None) -> np.ndarray:
    """(K̇α)ᵢ of the variables in `places`, or of others, by a parameter of the kernel."""
    gram, examples = examples_of(optimum.problem.gram)
    rows, spread = np.unique(
        examples[optimum.places if variables is None else variables], return_inverse=True
    )
    return form_rates(gram.kernel, name, along, gram.X[rows], *support(optimum))[spread]


def support(optimum: Optimum) -> tuple[Any, np.ndarray]:
    """Return the examples with α ≠ 0, and more, and the sum of the α of each."""
    return optimum.matrix.X[optimum.columns], optimum.sums


def form_rates(kernel: Any, name: str, along: Any, X: Any, vectors: Any, sums: np.ndarray) -> np.ndarray:
    """Σⱼ aⱼ ∂k(x, xⱼ)/∂θ for rows of X, in pieces; of a parameter of each feature in a direction."""
    result = np.zeros(X.shape[0])
    for part in pieces(X.shape[0], len(sums)) if len(sums) else ():
        result[part] = kernel_derivative(kernel, name, X[part], vectors, along) @ sums
    return result


def kernel_derivative(kernel: Any, name: str, X: Any, Z: Any, along: Any = 1.0) -> np.ndarray:
    """∂k/∂θ by the formula of the kernel, or of a callable by differences of its values."""
    if np.ndim(along):
        return np.asarray(kernel.derivative(name, X, Z, along))
    rates = (
        kernel.derivative(name, X, Z) if isinstance(kernel, Kernel) else by_differences(kernel, name, X, Z)
    )
    return rates if along == 1.0 else along * rates
