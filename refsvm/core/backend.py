"""Backend: takes the steps, runs the rounds, makes the seeds and follows the events of one call.

The readable half uses this protocol and `refsvm.core.solver.readable.NumPyBackend`. Compiled code builds on both and
registers its backend in `BACKENDS`. Each call of a public function makes one backend and passes it on. All backends
work on the same state and give the same bits, so that one can continue where another stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol

from refsvm.core.state import SolverState

if TYPE_CHECKING:
    from refsvm.core.result import Trace


class Backend(Protocol):
    """Does the work of one call; threads must not share it."""

    used: dict[str, None]
    """Its keys are the engines ("numpy", "numba") that have taken steps since it was cleared."""

    @property
    def name(self) -> str:
        """The engine of the next step: "numpy" or "numba"."""

    def steps(self, state: SolverState, rules: Any, budget: int, trace: Trace | None = None) -> int:
        """Take up to `budget` steps with these three rules, each by `state.move`, and record them in `trace`.

        Return the code of the stopping rule (> 0), 0 if the budget is spent, or −1 if no pair is left or two steps in a
        row have changed nothing.
        """

    def rounds(self, runner: Any, waiting: Sequence[Any]) -> list[Any]:
        """Run the first waiting round, or several at once if that pays; return their results."""

    def seeder(self, seeder: Any, rows: Any) -> Any:
        """Return the seeder itself, or an object whose method `seed` calls its twin."""

    def events(self, walk: Any, tracker: Any, end: float, most: int) -> list[Any]:
        """Follow up to `most` ordinary events of a path and return them; an empty list leaves them to the tracker."""


BACKENDS: Final[dict[str, Callable[[], Backend]]] = {}
"""For each name of an engine, the function that makes its backend."""


def chosen_backend(engine: str) -> Backend:
    """Return a new backend.

    Raises
    ------
    ValueError
        If the name is unknown, or "numba" and Numba is not installed.
    """
    # compiled code registers its names itself, so that without it there are fewer names to choose from
    if engine not in BACKENDS:
        *names, last = (f'"{name}"' for name in sorted(BACKENDS))
        raise ValueError(f"engine={engine!r} is unknown; choose {', '.join(names)} or {last}.")
    return BACKENDS[engine]()
