"""CompiledBackend: does all work in compiled code. Importing this file imports Numba."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

import refsvm.compiled.arithmetic  # noqa: F401  importing this module installs the compiled arithmetic
from refsvm.compiled.analysis.small.small import take_small_steps
from refsvm.compiled.interface.families import load
from refsvm.compiled.interface.seeding import TwinSeeder
from refsvm.compiled.rounds.packed import PackedRounds, rows_for
from refsvm.compiled.session import Session
from refsvm.compiled.trouble import is_numba_trouble, numba_trouble
from refsvm.compiled.twins import twin_of, twins_of
from refsvm.compiled.walk.runs import follow_run
from refsvm.core.kernels.rows import KernelRows
from refsvm.core.result import Trace
from refsvm.core.solver.rules import Rules
from refsvm.core.state import SolverState


class CompiledBackend:
    """The backend that takes steps, runs rounds, follows events and makes seeds in compiled code."""

    name: ClassVar[str] = "numba"

    def __init__(self) -> None:
        self.used: dict[str, None] = {}
        self._packed: PackedRounds | None = None
        self._seeder: TwinSeeder | None = None

    def load(self, family: str, rules: Sequence[Any]) -> None:
        """Load or compile a family of functions (`refsvm.compiled.interface.families`) for these rules."""
        load(family, twins_of(rules))

    def steps(self, state: SolverState, rules: Rules, budget: int, trace: Trace | None = None) -> int:
        """Take up to `budget` steps in compiled code; see `refsvm.core.backend.Backend.steps`."""
        self.used["numba"] = None
        session = state.session
        # reuse the session of the previous chunk, because a new session must pack the arrays and the rules again
        if session is None or not session.fits(state, rules, trace):
            try:
                session = state.session = Session(state, rules, twins_of(rules), trace)
            except Exception as error:
                if not is_numba_trouble(error):
                    raise
                raise ValueError(f'{numba_trouble(error)}, or choose engine="numpy".') from error
        code: int = session.steps(state, budget)
        return code

    def small(self, problems: Any, rules: Rules, limit: int) -> None:
        """Take the steps of all small problems in one call of compiled code."""
        self.used["numba"] = None
        take_small_steps(twins_of(rules), problems, rules, limit)

    def rounds(self, runner: Any, waiting: Sequence[Any]) -> list[Any]:
        """Run rounds in compiled code for about 0.02 s; if this is impossible, run a single round in NumPy."""
        # after the deadline, run rounds in NumPy, because compiled rounds check no limits
        late = runner.family.limits.deadline.left() <= 0.0
        if late or not runner.is_short(waiting[0]):
            return [runner.round(waiting[0])]
        if self._packed is None or self._packed.runner is not runner:
            rows = rows_for(runner)
            if rows is None:
                return [runner.round(waiting[0])]
            self._packed = PackedRounds(runner, rows)
        return self._packed.chunk(waiting)

    def seeder(self, seeder: Any, rows: KernelRows) -> Any:
        """Return an object that calls the compiled seeder, or the seeder itself if a twin or kernel row is missing."""
        # call the compiled seeder only if all kernel rows are in memory: it would start again after each missing row
        if not (rows.holds_all and rows.values.dtype == np.float64) or twin_of(seeder) is None:
            return seeder
        if self._seeder is None or self._seeder.of is not seeder or self._seeder.rows is not rows:
            self._seeder = TwinSeeder(seeder, rows)
        return self._seeder

    def events(self, walk: Any, tracker: Any, end: float, most: int) -> list[Any]:
        """Follow up to `most` ordinary events, as `compiled.walk.runs` describes; return their points, if any."""
        return follow_run(walk, tracker, end, most)
