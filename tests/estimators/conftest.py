"""Data of two classes, and what a search solves."""

from __future__ import annotations

import math
from typing import Any

import pytest

from refsvm.datasets import load


@pytest.fixture(scope="module")
def heart() -> Any:
    data = load("heart")
    return data.X, data.y


class Cells(list[Any]):
    """Cells that were solved, at most so many: then it is as if Ctrl-C came, or another error."""

    most = math.inf
    error: type[BaseException] = KeyboardInterrupt


@pytest.fixture
def solved(monkeypatch: pytest.MonkeyPatch) -> Cells:
    """The cells that the searches of a test solve, in order."""
    search = pytest.importorskip("refsvm.estimators.search")
    cells, solve_cells = Cells(), search.solve_cells

    def watching(*given: Any, **options: Any) -> Any:
        for cell in solve_cells(*given, **options):
            if len(cells) >= cells.most:
                raise cells.error
            cells.append(cell)
            yield cell

    monkeypatch.setattr(search, "solve_cells", watching)
    return cells
