"""Backend: an object that takes steps, solves the problems of a `Rounds` object, computes seeds and follows paths.

`refsvm.core.solver.readable.NumPyBackend` is the backend in NumPy. Compiled code registers another backend in
`BACKENDS`. Each call of a public function makes one backend and passes it to the functions that it calls. Each
backend writes its results to the `SolverState` that it gets, and all backends write the same bits. One backend can
therefore continue a solve that another backend has begun.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol

from refsvm.core.state import SolverState

if TYPE_CHECKING:
    from refsvm.core.result import Trace


class Backend(Protocol):
    """Takes steps, solves the problems of a `Rounds` object, computes seeds and follows paths, in a single thread."""

    used: dict[str, None]
    """The keys of this dict name the engines ("numpy", "numba") that have taken steps since the dict was cleared."""

    @property
    def name(self) -> str:
        """The name of the engine that takes the next step: "numpy" or "numba"."""

    def steps(self, state: SolverState, rules: Any, budget: int, trace: Trace | None = None) -> int:
        """Take up to `budget` steps with the selector, step rule and stopping rule in `rules`; record them in `trace`.

        Each step calls `state.move`. The method returns the code of the stopping rule (> 0), 0 if all `budget` steps
        were taken, or −1 if no pair is left or two steps in a row have changed nothing.
        """

    def rounds(self, runner: Any, waiting: Sequence[Any]) -> list[Any]:
        """Run the first `Round` in `waiting`, or the first few in one call if this is faster; return the results."""

    def seeder(self, seeder: Any, rows: Any) -> Any:
        """Return the seeder itself, or an object whose `seed` calls the seeder's compiled version."""

    def events(self, walk: Any, tracker: Any, end: float, most: int) -> list[Any]:
        """Follow a path through its next events, at most `most` of them, and return these events.

        If the method returns no events, `tracker` itself finds the next event, in NumPy.
        """


BACKENDS: Final[dict[str, Callable[[], Backend]]] = {}
"""Maps the name of each engine to the function that makes its backend."""


def chosen_backend(engine: str) -> Backend:
    """Return a new backend for an engine.

    Raises
    ------
    ValueError
        If the engine is unknown, or if it is "numba" and Numba is not installed.
    """
    # compiled code adds its engines to BACKENDS, so the message lists the engines that this program can use
    if engine not in BACKENDS:
        *names, last = (f'"{name}"' for name in sorted(BACKENDS))
        raise ValueError(f"engine={engine!r} is unknown; choose {', '.join(names)} or {last}.")
    return BACKENDS[engine]()
