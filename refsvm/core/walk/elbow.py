"""One step along the path: compute the direction on the elbow, correct rounding errors, and take the step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np

from refsvm.core import arithmetic
from refsvm.core.walk.algebra import PivotedQR, elbow_matrix
from refsvm.core.walk.linear_program import most_before_crossing
from refsvm.core.walk.state import PathState
from refsvm.core.walk.walk import ABOVE, BELOW, FREE

TIE: Final = 1e-10
"""An example within this distance of its event, relative to the box and to the unit of G − b̂, changes its set."""

LEFT_OVER: Final = 1e-4
"""Largest accepted residual, relative to the size up to which rates count as zero; rounding leaves about 1e-5."""


Solve = Callable[[np.ndarray], np.ndarray]


class Step(NamedTuple):
    """A step along the direction in ``walk.variables``; b̂ moves by db for each unit of the step's length."""

    length: float
    db: float
    noise: tuple[float, float]  # numbers in d and dG − db up to these sizes count as zero
    kind: str
    regular: bool


def pivoted(walk: PathState) -> Solve:
    """Return a function that solves A x = right with pivoted QR factors, which are stored in ``walk.factors``."""
    walk.factors = PivotedQR().factorise(walk)
    solve: Solve = walk.factors.solve
    return solve


def particular_direction(
    walk: PathState, solve: Solve, tau: float, from_scratch: Callable[[PathState], Solve] = pivoted
) -> tuple[float, tuple[float, float]]:
    """Set the direction by A (db, d) = (0, −v_𝓔), eq. (23); return db and the rounding errors of d and dG − db.

    `solve` returns a solution of A x = right. On the elbow, dG − db is the residual of the equations. If the residual
    is not small, the inverse has lost precision. The function then applies the inverse to the residual, and if the
    residual remains too large, solves with `from_scratch`.
    """
    if walk.system is None:
        x = solve(walk.right)
        # refine the solution once: if db is large, rounding errors could hide a small Σd
        x = x + solve(walk.right - elbow_matrix(walk) @ x)
        return walk.direction(x), noise_of(walk, tau)
    # each refinement of the solution gains digits, as long as the inverse is right to a few digits
    for _ in range(3):
        db, noise, var = walk.direction(), noise_of(walk, tau), walk.variables
        left = np.append(np.cumsum(var.d[walk.members])[-1] - walk.total, -var.speed[walk.members])
        if max(float(np.abs(left[1:]).max()), walk.largest * abs(float(left[0]))) <= LEFT_OVER * noise[1]:
            return db, noise
        walk.system.x[: len(left)] -= walk.system.times(left)
    # solve from scratch with pivots: this is slower, but does not need the inverse
    walk.system = None
    return particular_direction(walk, from_scratch(walk), tau)


def noise_of(walk: PathState, tau: float) -> tuple[float, float]:
    """Return the numbers up to which components of d and of dG − db may be only rounding errors."""
    largest, along = float(np.abs(walk.variables.d[walk.members]).max()), walk.along
    return tau * max(largest, along.pace), tau * (along.push + len(walk.members) * walk.largest * largest)


def correct(walk: PathState, solve: Solve) -> None:
    """Correct rounding errors of G − b̂ on the elbow, which should be 0, and of Σŝ, as far as the box allows."""
    walk.unsettled = False
    var, elbow = walk.variables, walk.elbow
    right = np.append(walk.along.z(walk.t) - var.alpha.sum(), var.excess[elbow])
    # if the errors are negligible, do not solve the system, because solving takes as long as an event
    if np.abs(right).max() <= 1e-14 * (1.0 + walk.unit):
        return
    x = solve(right)
    low, high, moved = var.lower[elbow], var.upper[elbow], var.alpha[elbow] + x[1:]
    slip = 1e-14 * (high - low)  # if clipping moved a variable by more than `slip`, Σα would change
    if ((moved >= low - slip) & (moved <= high + slip)).all():
        change = moved.clip(low, high) - var.alpha[elbow]
        var.alpha[elbow] += change
        walk.b += float(x[0])
        arithmetic.current.add_rows(var.excess, -change, walk.stored, elbow)
        var.excess[:] -= float(x[0])


def empty_elbow_step(walk: PathState, room: float) -> Step:
    """Return the step for an empty elbow: only b̂ moves, and (30)–(34) have a closed-form solution (Remark 4)."""
    # λv − Kŝ − b̂ ≤ 0 if ŝ may rise, and ≥ 0 if ŝ may fall
    var, total = walk.variables, walk.variables.excess + walk.b
    rises, falls = walk.side == BELOW, walk.side == ABOVE
    noise = (1e-12 * walk.along.pace, 2e-12 * walk.along.push)
    # b is bounded from both sides, and the segment ends where the two bounds meet
    if rises.any() and falls.any():
        length, lowest, highest = most_before_crossing(
            total[rises], var.push[rises], total[falls], var.push[falls], room, 0.1 * TIE * walk.unit
        )
        db = (0.5 * (lowest + highest) - walk.b) / length if length > 0.0 else 0.0
    else:  # b is bounded from at most one side; with this db, no variable's G reaches b
        length, db = room, float(var.push[rises].max() if rises.any() else var.push[falls].min(initial=0.0))
    var.d[:] = var.pace
    var.speed[:] = var.push - db
    return Step(length, db, noise, "empty elbow", True)


def jump_of_b(walk: PathState) -> bool:
    """If no variable is free but Σα must change, move b at fixed t until a variable is free; return True if b moves.

    Free variables must change Σα at the rate z¹ − 1ᵀd_B. If this rate is positive, b falls to the largest G among
    variables at L; otherwise b rises to the smallest G among variables at U.
    """
    var, side = walk.variables, BELOW if walk.total > 0.0 else ABOVE
    waiting = np.flatnonzero(walk.side == side)
    if abs(walk.total) <= 1e-12 * float(np.abs(var.pace).sum()) or not len(waiting):
        return False
    # the first variable whose G is reached by the moving b becomes free
    i = int(waiting[(side * var.excess[waiting]).argmin()])
    change = float(var.excess[i])
    walk.b += change
    var.excess[:] -= change
    walk.enter(i, "jump")
    return True


def jump_of_alpha(walk: PathState, null: np.ndarray) -> bool:
    """If the system for d and db has no solution, move α at fixed t and return True; otherwise return False.

    The system has a solution only if uᵀv¹ = 0 for every u in the null space, that is, with K u = 0 and 1ᵀu = 0. If uᵀv¹
    ≠ 0 for some u, α moves along u as far as the box allows, and the variable that meets its bound leaves the elbow. w,
    G and b do not change, and f grows as soon as t moves. If α of a variable is already at the bound towards which u
    points, this variable leaves the elbow and α does not change.
    """
    var, elbow = walk.variables, walk.elbow
    pull = walk.line.v[elbow] @ null[1:]
    if not len(pull) or float(np.abs(pull).max()) <= 1e-8 * float(np.abs(walk.line.v).max()):
        return False
    u = null[1:] @ pull
    # entries that are only rounding errors must not move variables to their bounds
    u[np.abs(u) <= 1e-10 * float(np.abs(u).max())] = 0.0
    distance = np.where(u > 0.0, var.upper[elbow] - var.alpha[elbow], var.alpha[elbow] - var.lower[elbow])
    ways = np.full(len(u), np.inf)
    ways[u != 0.0] = np.maximum(distance[u != 0.0], 0.0) / np.abs(u[u != 0.0])
    var.alpha[elbow] = (var.alpha[elbow] + float(ways.min()) * u).clip(var.lower[elbow], var.upper[elbow])
    for i in np.flatnonzero(ways <= float(ways.min()) * (1.0 + 1e-12)).tolist():
        walk.drop(int(elbow[i]), ABOVE if u[i] > 0.0 else BELOW, "jump")
    walk.unsettled = True
    return True


def take(walk: PathState, step: Step, end: float) -> str:
    """Take the step, and move each example that reaches the border of its set, (36)–(46); return the kind of event."""
    walk.move(step.length, step.db)
    walk.clip(end)
    # find the examples whose ŝ reaches a bound, or whose G reaches b: (40)–(43)
    width = walk.variables.upper - walk.variables.lower
    near = TIE * np.array([width, width, np.full(len(width), walk.unit)])
    at_end = (walk.rates(step.noise) > 0.0) & (walk.distances() <= near)
    hits = np.flatnonzero(at_end.any(axis=0)).tolist()
    for i in hits:
        if walk.side[i] == FREE:
            walk.drop(i, walk.nearest(i), step.kind)
        else:
            walk.enter(i, step.kind)
    # several events at once may contradict each other, so check the point before the next step
    if len(hits) > 1 or not step.regular:
        walk.unsettled = True
    return "end" if walk.t == end else step.kind
