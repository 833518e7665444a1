"""Count which events of a path compiled code follows, and which are left to NumPy.

    python benchmarks/events_in_runs.py      a table, in half a minute

Bundled sets, standardised, C from 1e-3 to 1e2, by `SVMP`. What is counted is the same on every machine, but for ties
that rounding decides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import numpy as np

from refsvm import RBF, SVMP, Linear, regularization_path
from refsvm.compiled.backend import CompiledBackend
from refsvm.datasets import load
from refsvm.experiment import Grid

CASES: Final = (
    ("heart", RBF(0.1)), ("sonar", RBF(0.05)), ("ionosphere", RBF(0.1)), ("wbc", RBF(0.05)), ("heart", Linear()),
    ("wbc", Linear()), ("thyroid", Linear()), ("monks1", Linear()), ("monks1", RBF(0.5)), ("monks3", Linear()),
)  # fmt: skip


@contextmanager
def counted() -> Iterator[Counter[str]]:
    """Count the points that come from runs."""
    found, honest = Counter[str](), CompiledBackend.events

    def events(backend: Any, *arguments: Any) -> list[Any]:
        points = honest(backend, *arguments)
        found["in runs"] += len(points)
        return points

    CompiledBackend.events = events  # type: ignore[method-assign]
    try:
        yield found
    finally:
        CompiledBackend.events = honest  # type: ignore[method-assign]


def row(name: str, kernel: Any) -> tuple[str, ...]:
    """Return the line of a set."""
    data = load(name)
    spread = data.X.std(axis=0)
    X = (data.X - data.X.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0)
    with counted() as found:
        path = regularization_path(
            X, data.y, kernel=kernel, C_min=1e-3, C_max=1e2, tracker=SVMP(), engine="numba"
        )
    kinds = Counter(path.record.kind.tolist())
    several = sum(1 for k in range(1, len(path.C)) if (path.events["breakpoint"] == k).sum() > 1)
    numbers = (
        len(path.C),
        found["in runs"],
        several,
        kinds["empty elbow"],
        kinds["linear program"],
        kinds["backup"],
    )
    return (f"{name}, {kernel!r}", *map(str, numbers))


def main() -> None:
    """Print the table."""
    heads = ("set", "breakpoints", "in runs", "several examples", "empty elbow", "linear program", "backup")
    print(Grid(heads, tuple(row(*case) for case in CASES)).to_markdown())


if __name__ == "__main__":
    main()
