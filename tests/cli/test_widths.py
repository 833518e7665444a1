"""What a terminal shows of a comparison: no line is wider than it; a pipe, and --wide, show all columns."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from refsvm.cli import tables

from .commands import works


@pytest.fixture
def terminal(monkeypatch):
    """Return a function that makes stdout a terminal of so many columns."""

    def of(width):
        shown = io.StringIO()
        console = Console(file=shown, force_terminal=True, color_system=None, width=width, highlight=False)
        monkeypatch.setattr(tables, "Console", lambda *_, **__: console)
        return shown

    return of


@pytest.mark.parametrize("width", [60, 80])
@pytest.mark.parametrize("more", [(), ("--max-iter", 5)])
def test_a_comparison_fits_the_terminal(terminal, width, more):
    shown = terminal(width)
    works("compare", "heart", "-q", "--engines", "numpy", *more)
    lines = shown.getvalue().splitlines()
    assert max(map(len, lines)) <= width
    assert any(line.split()[:2] == ["second-order", "planning-ahead"] for line in lines)
    assert "--wide" in lines[-1] or "--wide" in lines[-2]


@pytest.mark.parametrize("wide", [True, False])
def test_all_columns_in_a_pipe_or_where_they_are_asked_for(terminal, wide):
    shown = terminal(60) if wide else None
    result = works("compare", "heart", "-q", "--engines", "numpy", *(["--wide"] if wide else []))
    printed = result.stdout + (shown.getvalue() if shown else "")
    assert all(each in printed for each in ("objective", "duality", "training", "support"))


def test_help_is_a_command():
    assert works("help").stdout == works("--help").stdout


def test_generators_are_names():
    assert "chessboard: 1000 examples" in works("loo", "chessboard", "--C", 1, "--max-iter", 2000).stdout
