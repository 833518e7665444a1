"""CompiledLoop: hands a SolverState to the compiled loop and takes it back, chunk by chunk."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from refsvm._checks import read_only
from refsvm.compiled.interface.layout import NOW, State, support_of
from refsvm.compiled.solver.loop import ENTERING, MISSING_ROW, NO_PAIR, NO_VARIABLE, TRACE_FULL, begin
from refsvm.engine.handover import twin_of
from refsvm.result import TRACE_ROW, Trace
from refsvm.rule import parameters_of
from refsvm.state import SCALARS

if TYPE_CHECKING:
    from refsvm.solver.rules import Rules
    from refsvm.state import SolverState

__all__ = ["CompiledLoop", "compiled"]

_NAMES: Final = SCALARS.names or ()
NONE: Final = np.empty(0)
_numbers_of: Final = attrgetter(*_NAMES)


class CompiledLoop:
    """Runs `refsvm.compiled.solver.loop.compiled_steps` on the arrays of a SolverState.

    Parameters
    ----------
    state : SolverState
        Its arrays are shared with the compiled code; its numbers are copied in and out around each chunk.
    rules : (selector, step, stop)
        Each must have a twin.
    trace : Trace or None
        Where the steps are recorded.

    Raises
    ------
    ValueError
        If a rule has no twin.
    """

    runs_in_chunks: ClassVar[bool] = True

    def __init__(self, state: SolverState, rules: Rules, trace: Trace | None = None) -> None:
        self._rules, self._twins = rules, tuple(compiled(rule) for rule in rules)
        select, length, check = self._twins
        parameters = [parameters_of(rule) for rule in rules]
        self._state, self._trace = state, trace
        record = np.zeros(1, dtype=NOW)
        self._now = record[0]  # a plain record; a recarray's would look its fields up in Python
        # views of several numbers, which are copied at once
        self._numbers = record[[*_NAMES, "end", "stage"]]
        self._counters = record[["clock", "hits", "computed"]]
        self._now["every"] = 0 if trace is None else trace.every
        self._buffer = np.zeros(0 if trace is None else 4096, dtype=TRACE_ROW).view(np.recarray)
        shared = State(
            state.alpha, state.gradient, state.lower, state.upper, state.diagonal,
            read_only(state.rows.values), state.rows.slots, state.rows.stamps,
            state.working_sets, state.curvatures, state.candidates, state.candidate_curvatures,
            state.selector_memory, state.step_memory, state.stop_memory,
            np.empty(len(state.alpha), dtype=np.int8), np.empty(len(state.alpha)),
            NONE if state.displacement is None else state.displacement,
            NONE if state.displacement_image is None else state.displacement_image,
            *support_of(len(state.alpha) * rules.step.carries),
            self._buffer, record.view(np.recarray),
        )  # fmt: skip
        self._parameters, self._shared = parameters, shared  # kept here: compiled code counts no references
        self._steps: Iterator[int] = begin(select, length, check, parameters, shared)

    def advance(self, budget: int) -> int:
        """Take up to `budget` steps; return a stopping code (> 0), 0 if the budget is spent, −1 if stalled."""
        state, rows, now = self._state, self._state.rows, self._now
        self._numbers[0] = *_numbers_of(state), state.iteration + budget, ENTERING
        while True:
            self._counters[0] = rows.clock, rows.hits, rows.computed
            outcome = next(self._steps)
            rows.clock, rows.hits, _ = self._counters[0].item()
            if outcome == MISSING_ROW:
                missing = int(now["missing"])
                if not 0 <= missing < len(state.alpha):
                    raise IndexError(f"A twin asked for kernel row {missing} of {len(state.alpha)}.")
                if rows.slots[missing] >= 0:
                    raise RuntimeError(
                        f"A twin asked for kernel row {missing}, which is in memory; it must go on where "
                        "row_or_ask(state, i) finds the row."
                    )
                rows.ensure(missing)
                continue
            if outcome == NO_VARIABLE:
                raise IndexError(
                    f"A twin named a variable beyond the last of {len(state.alpha)}, half a pair, or a code below 0; "
                    "where it needs a kernel row it calls row_or_ask(state, i) of refsvm.compiled.interface.rows."
                )
            self._flush()
            if outcome != TRACE_FULL:
                break
        state.__dict__.update(zip(_NAMES, self._numbers[0].item(), strict=False))
        return -1 if outcome == NO_PAIR else int(outcome)

    def restart(self, state: SolverState, rules: Rules) -> bool:
        """Go on under these rules if they have the same twins and the arrays of the state are the same."""
        shared = self._shared
        if state is not self._state or shared.stop_memory is not state.stop_memory:
            return False
        if shared.selector_memory is not state.selector_memory or shared.step_memory is not state.step_memory:
            return False
        if rules is self._rules:
            return True
        if tuple(rule.twin() for rule in rules) != self._twins:
            return False
        self._rules = rules
        for values, rule in zip(self._parameters, rules, strict=True):
            values[:] = rule.parameters()
        return True

    def _flush(self) -> None:
        """Move the filled part of the trace buffer to the trace."""
        if self._trace is not None:
            self._trace.extend(self._buffer[: int(self._now["traced"])].view(TRACE_ROW))
            self._now["traced"] = 0


def compiled(rule: Any) -> Callable[..., Any]:
    """Return the twin of a rule, or refuse with the sentence that says how to go on without one."""
    twin = twin_of(rule)
    if twin is None:
        name = type(rule).__name__
        raise ValueError(
            f'engine="numba" needs a compiled twin of every rule and {name} has none; use engine="numpy", or return '
            f"an @njit function from {name}.twin()."
        )
    return twin
