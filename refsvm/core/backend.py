"""Backend: takes the steps, runs the rounds, makes the seeds and follows the events of one call.

The readable half needs this protocol and `refsvm.core.solver.readable.NumPyBackend`. Compiled code stands on top of
both and enters itself in `BACKENDS`. Each call of a public function makes one backend and hands it down. All backends
work on the same state with the same bits, so that one may go on where another stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol

from refsvm.core.state import SolverState

if TYPE_CHECKING:
    from refsvm.core.result import Trace


class Backend(Protocol):
    """The work of one call; not to be shared by threads."""

    used: dict[str, None]
    """Its keys are the engines, "numpy" or "numba", that have been asked for steps since it was cleared, each once."""

    @property
    def name(self) -> str:
        """The engine of the next step: "numpy" or "numba"."""

    def steps(self, state: SolverState, rules: Any, budget: int, trace: Trace | None = None) -> int:
        """Take up to `budget` steps of these three rules, each by `state.move`, and record them.

        Return the code of the stopping rule (> 0), 0 if the budget is spent, or −1 if no pair is left or two steps in a
        row have changed nothing.
        """

    def rounds(self, runner: Any, waiting: Sequence[Any]) -> list[Any]:
        """Run the first of these rounds, or as many as pay at once; return their `refsvm.core.rounds.round.Round`."""

    def seeder(self, seeder: Any, rows: Any) -> Any:
        """Return an object with the method `seed`: the seeder itself, or its twin."""

    def events(self, walk: Any, tracker: Any, end: float, most: int) -> list[Any]:
        """Follow up to `most` ordinary events of a path at once; none leaves them to the tracker."""


BACKENDS: Final[dict[str, Callable[[], Backend]]] = {}
"""Makes a backend, by the name of the engine."""


def chosen_backend(engine: str) -> Backend:
    """Return a new backend.

    Raises
    ------
    ValueError
        If the name is unknown, or "numba" and Numba is not installed.
    """
    # filled from above: without compiled code there is one name less to choose from
    if engine not in BACKENDS:
        *names, last = (f'"{name}"' for name in sorted(BACKENDS))
        raise ValueError(f"engine={engine!r} is unknown; choose {', '.join(names)} or {last}.")
    return BACKENDS[engine]()
