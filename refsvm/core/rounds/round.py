"""Round and RoundResult: the input and the output of `refsvm.Rounds.run`."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Final, NamedTuple

import numpy as np

from refsvm.core.result import Status, Trace

LATEST: Final = "latest of all"
"""Name of a solution that is kept only for a review of its rounding errors; no round starts from it."""


class Round(NamedTuple):
    """One problem for `refsvm.Rounds`: its box, its start and the decision values to evaluate.

    Attributes
    ----------
    left_out : int or ndarray of int64, optional
        Examples to leave out, by setting L = U = 0.
    origin : hashable, optional
        Name of the kept solution from which the round starts; α = 0 if no solution is kept under this name.
    keep : hashable, optional
        Name under which the solution of this round is kept; it replaces an earlier solution of this name.
    C : float
        Factor that multiplies the problem's box.
    weights : ndarray of shape (n,), float64, optional
        Factors for the boxes of the examples, in addition to `C`; weight 0 leaves an example out.
    neighbour : (hashable or None, hashable), optional
        Names of two kept solutions of a neighbouring problem, one for the old C and one for the new C. The seed repeats
        the change of α between these two solutions (`refsvm.core.seeders.neighbour.extrapolate`).
    evaluate : int or ndarray of int64, optional
        Examples whose decision values are returned; by default the examples in `left_out`.

    Examples
    --------
    >>> from refsvm.core.rounds.round import Round
    >>> Round(7, origin="all")
    Round(left_out=7, origin='all', keep=None, C=1.0, weights=None, neighbour=None, evaluate=None)
    """

    left_out: Any = None
    origin: Hashable = None
    keep: Hashable = None
    C: float = 1.0
    weights: np.ndarray | None = None
    neighbour: tuple[Hashable, Hashable] | None = None
    evaluate: Any = None


class RoundResult(NamedTuple):
    """The result of a round.

    Attributes
    ----------
    left_out : int, ndarray of int64 or None
        Examples that were left out.
    values : float or ndarray of float64
        Decision values h(xᵢ) = vᵢ − Gᵢ + b of the examples in ``Round.evaluate``.
    iterations : int
        Number of steps.
    reason : str
        Sentence that says why the round ended, from the stopping rule or from the status.
    status : Status
        The reason why the round ended.
    seed_seconds, solve_seconds : float
        Seconds to compute the start of the round, and to solve the round from this start. If compiled code solves
        several rounds in one call, each round gets the same share of the measured time.
    kernel_rows : int
        Number of kernel rows computed.
    trace : Trace, optional
        The recorded steps, if `Rounds` was called with `trace`.
    sign : int
        The sign of h at the only left-out example, if the last point proves it (`refsvm.core.stopping.midpoint`). The
        sign is 0 if there is no such proof, if the stopping rule has already proved the sign, or if `Rounds.run` was
        called without ``proves=True``.
    """

    left_out: Any
    values: Any
    iterations: int
    reason: str
    status: Status
    seed_seconds: float
    solve_seconds: float
    kernel_rows: int
    trace: Trace | None = None
    sign: int = 0
