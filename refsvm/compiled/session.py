"""Session: holds the arrays of a SolverState in the form that the compiled loop needs; the state keeps its session."""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter
from typing import Any, Final

import numba
import numpy as np

from refsvm.compiled.interface.layout import NOW, Source, State, Store, support_of
from refsvm.compiled.solver.loop import ENTERING, MISSING_ROW, NO_PAIR, NO_VARIABLE, TRACE_FULL, begin
from refsvm.compiled.twins import parameters_of
from refsvm.core._checks import read_only
from refsvm.core.kernels.cached_rows import CachedRows
from refsvm.core.kernels.products import RowParts, no_parts
from refsvm.core.kernels.rows import KernelRows
from refsvm.core.result import TRACE_ROW, Trace
from refsvm.core.solver.rules import Rules
from refsvm.core.state import SCALARS, SolverState

_NAMES: Final = SCALARS.names or ()
# make each type of view only once, because making a type takes longer than a chunk of steps
_NUMBERS: Final = np.zeros(1, dtype=NOW)[[*_NAMES, "end", "stage"]].dtype
_COUNTERS: Final = np.zeros(1, dtype=NOW)[["clock", "hits", "computed"]].dtype
NONE: Final = np.empty(0)
_numbers_of: Final = attrgetter(*_NAMES)


class Session:
    """Runs `refsvm.compiled.solver.loop.compiled_steps` on a state; shares the state's arrays and copies its numbers.

    Parameters
    ----------
    state : SolverState
        The state.
    rules : Rules
        The three rules.
    twins : (selector, step, stop)
        The twins of the rules.
    trace : Trace or None
        The trace to which steps are appended.
    """

    def __init__(self, state: SolverState, rules: Rules, twins: Any, trace: Trace | None) -> None:
        self.rules, self.twins, self.trace = rules, twins, trace
        # pass all numbers in one record, because each argument of a compiled function costs time at every call
        record = np.zeros(1, dtype=NOW)
        self._now = record[0]  # a plain record, because a recarray looks up fields in Python
        self._numbers, self._counters = record.view(_NUMBERS), record.view(_COUNTERS)
        # make views of single numbers, because reading a view takes a tenth of the time of reading a record's field
        self._clock, self._hits, self._missing = record["clock"], record["hits"], record["missing"]
        self._computed = record["computed"]
        self._now["every"] = 0 if trace is None else trace.every
        self._buffer = np.zeros(0 if trace is None else 4096, dtype=TRACE_ROW).view(np.recarray)
        self.shared = State(
            state.alpha, state.gradient, state.lower, state.upper, state.diagonal,
            read_only(state.rows.values), state.rows.slots, state.rows.stamps,
            state.working_sets, state.curvatures, state.candidates, state.candidate_curvatures,
            state.selector_memory, state.step_memory, state.stop_memory,
            np.empty(len(state.alpha), dtype=np.int8), np.empty(len(state.alpha)),
            NONE if state.displacement is None else state.displacement,
            NONE if state.displacement_image is None else state.displacement_image,
            *support_of(len(state.alpha) * rules.step.uses_momentum),
            self._buffer, record.view(np.recarray),
        )  # fmt: skip
        # this session keeps the arrays, because compiled code does not count references
        self._parameters = [parameters_of(rule) for rule in rules]
        select, length, check = twins
        self._source, self._stores = source_of(state.rows)
        self._steps: Iterator[int] = begin(select, length, check, self._parameters, self.shared, self._source)

    def fits(self, state: SolverState, rules: Rules, trace: Trace | None) -> bool:
        """Return True if this session can run these rules on the state; the session then uses these rules.

        A session cannot run rules with different twins, or a state with different arrays.
        """
        shared = self.shared
        if trace is not self.trace or shared.stop_memory is not state.stop_memory:
            return False
        # end the session if the memory of the kernel rows was released and allocated again
        if shared.slots is not state.rows.slots or any(
            store.slots is not twin.slots for store, twin in self._stores
        ):
            return False
        if shared.selector_memory is not state.selector_memory or shared.step_memory is not state.step_memory:
            return False
        if rules is self.rules:
            return True
        # end the session if a rule has another twin, because the session's loop holds the addresses of the old twins
        if tuple(rule.twin() for rule in rules) != self.twins:
            return False
        self.rules = rules
        for values, rule in zip(self._parameters, rules, strict=True):
            values[:] = rule.parameters()
        return True

    def steps(self, state: SolverState, budget: int) -> int:
        """Take up to `budget` steps; return the code that `refsvm.core.backend.Backend.steps` describes."""
        rows: Any = state.rows
        now = self._now
        # copy the state's numbers to the record before a chunk and back afterwards: attributes cannot share its memory
        self._numbers[0] = *_numbers_of(state), state.iteration + budget, ENTERING
        while True:
            computed = rows.computed
            self._counters[0] = rows.clock, rows.hits, computed
            for store, twin in self._stores:
                # without JIT, let Python compute the kernel rows, because an interpreted twin would compute them slowly
                twin.numbers[:] = store.filled, -1 if numba.config.DISABLE_JIT else store.ready, store.clock
            outcome = next(self._steps)
            for store, twin in self._stores:
                store.filled, _, store.clock = twin.numbers.tolist()
            rows.clock, rows.hits = self._clock.item(), self._hits.item()
            rows.count(self._computed.item() - computed)
            if outcome == MISSING_ROW:
                fetch(state, self._missing.item())
                continue
            if outcome == NO_VARIABLE:
                raise IndexError(
                    f"A twin returned a variable outside 0 to {len(state.alpha) - 1}, or a code below 0; "
                    "to get a kernel row, it must call row_or_ask(state, i) of refsvm.compiled.interface.rows."
                )
            if self.trace is not None:
                # move the steps from the small buffer to the trace, which takes memory only for steps that were taken
                self.trace.extend(self._buffer[: int(now["traced"])].view(TRACE_ROW))
                now["traced"] = 0
            if outcome != TRACE_FULL:
                break
        state.__dict__.update(zip(_NAMES, self._numbers[0].item(), strict=False))
        return -1 if outcome == NO_PAIR else int(outcome)


def source_of(rows: KernelRows) -> tuple[Source, list[tuple[KernelRows, Store]]]:
    """Return the `Source` from which compiled code computes missing rows, and the stores in which it keeps the rows."""
    behind, line = getattr(rows.gram, "source", None), np.empty(0, rows.values.dtype)
    stores, indices = [rows], np.empty(0, dtype=np.int64)
    if isinstance(behind, CachedRows) and behind.values.dtype == line.dtype:
        stores, indices = [behind, rows], rows.gram.indices
    parts: RowParts = stores[0].gram.parts(line.dtype) or no_parts(line.dtype)
    filled = [(s, Store(s.values, s.slots, s.stamps, s.owners, np.array([0, -1, 0]))) for s in stores]
    return Source(*parts, filled[0][1], filled[-1][1], indices), filled


def fetch(state: SolverState, missing: int) -> None:
    """Compute the kernel row that a twin has requested."""
    if not 0 <= missing < len(state.alpha):
        raise IndexError(f"A twin asked for kernel row {missing} of {len(state.alpha)}; count rows from 0.")
    if state.rows.slots[missing] >= 0:
        raise RuntimeError(
            f"A twin asked for kernel row {missing}, which is in memory; it must continue if "
            "row_or_ask(state, i) finds the row."
        )
    state.rows.ensure(missing)
