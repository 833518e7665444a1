"""Run an engine, chunk after chunk, until the stopping rule or a limit says stop."""

from __future__ import annotations

import time
from typing import Final

from refsvm.result import Status, Trace
from refsvm.solver.engine import Engine
from refsvm.solver.hard_margin import INSEPARABLE
from refsvm.solver.limits import Limits
from refsvm.state import SolverState
from refsvm.stopping.base import StoppingRule

__all__ = ["run_to_the_end"]

ENDINGS: Final = {-1: Status.STALLED, INSEPARABLE: Status.INSEPARABLE}
"""What an engine says by a negative code."""


def run_to_the_end(
    engine: Engine, state: SolverState, stop: StoppingRule, limits: Limits, trace: Trace | None
) -> tuple[Status, int]:
    """Run; where rounding may have spoiled the gradient, compute it afresh and go on if that changes the verdict."""
    for _ in range(10):
        status, code = _run(engine, state, stop, limits, trace)
        if not state.drifted(stop.restricted_tolerance(0.0)):
            break
        state.refresh()
        if status not in (Status.CONVERGED, Status.STALLED):
            break
        code = stop.check(state)
        if code:
            return Status.CONVERGED, code
        status = Status.STALLED
    return status, code


def _run(
    engine: Engine, state: SolverState, stop: StoppingRule, limits: Limits, trace: Trace | None
) -> tuple[Status, int]:
    """Run chunk after chunk, each of some ten milliseconds, until the rule or a limit says stop."""
    chunk = 16
    while True:
        began = time.perf_counter()
        left = limits.max_iter - state.iteration
        code = engine.advance(min(chunk, left) if engine.runs_in_chunks else left)
        now = time.perf_counter()
        if trace is not None:
            trace.stamp(began - limits.round_began, now - limits.round_began)
        code = code or max(stop.check(state), 0)
        if code:
            return (Status.CONVERGED, code) if code > 0 else (ENDINGS[code], 0)
        status = limits.reached(state)
        if status is not None:
            return status, 0
        chunk = int(min(max(chunk * 0.02 / (now - began), chunk / 2, 16), chunk * 4, 1e9))
