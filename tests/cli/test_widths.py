"""What a terminal or a pipe shows of a comparison: no line is wider than it; --wide shows all columns."""

from __future__ import annotations

import io
import subprocess
import sys

import pytest
from rich.console import Console

from refsvm.cli import tables

from .commands import json_of, works


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
@pytest.mark.parametrize(
    "more",
    [
        (), ("--max-iter", 5), ("sonar", "-q"), ("sonar", "--repeats", 2), ("sonar", "--max-iter", 5),
        ("--selectors", "all", "--steps", "planning-ahead"),
    ],
    ids=lambda more: " ".join(map(str, more)),
)  # fmt: skip
def test_a_comparison_fits_the_terminal(terminal, width, more):
    shown = terminal(width)
    works("compare", "heart", "-q", "--engines", "numpy", *more)
    lines = shown.getvalue().splitlines()
    assert max(map(len, lines)) <= width
    rules = [[word for word in line.split() if word not in ("heart", "sonar")][:2] for line in lines]
    assert ["second-order", "planning-ahead"] in rules
    said = " ".join("".join(shown.getvalue().splitlines(keepends=True)[-4:]).split())
    assert said.endswith("--wide: all columns.")
    assert ("No strategy converged" if "--max-iter" in more else "Fewest steps") in shown.getvalue()


@pytest.mark.parametrize("is_terminal", [True, False])
def test_all_columns_where_they_are_asked_for(terminal, is_terminal):
    shown = terminal(60) if is_terminal else None
    result = works("compare", "heart", "-q", "--engines", "numpy", "--wide")
    printed = result.stdout + (shown.getvalue() if shown else "")
    assert all(each in printed for each in ("objective", "duality", "training", "support", "Fewest steps"))


@pytest.mark.parametrize("data", [["heart"], ["heart", "sonar"]])
def test_a_table_in_a_pipe_fits_eighty_columns(data, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    lines = works("compare", *data, "-q").stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert any("planning-ahead" in line and "numba s" not in line for line in lines)


def test_the_sentence_names_the_fewest_steps():
    runs = json_of("compare", "heart", "--engines", "numpy")["runs"]
    best = min(runs, key=lambda row: row["iterations"])
    said = works("compare", "heart", "--engines", "numpy").stdout
    assert f"Fewest steps: {best['selector']} with {best['step']} steps" in said
    assert f"({best['iterations']:,})." in said
    result = works("compare", "heart", "sonar", "--engines", "numpy").stdout
    assert "Fewest steps on heart: " in result
    assert "; on sonar: " in result


def test_help_is_a_command():
    assert works("help").stdout == works("--help").stdout
    for command in ("compare", "tune", "help"):
        assert works("help", command).stdout.split() == works(command, "--help").stdout.split()


def test_generators_are_names():
    assert "chessboard: 1000 examples" in works("loo", "chessboard", "--C", 1, "--max-iter", 2000).stdout


@pytest.mark.skipif(sys.platform == "win32", reason="no pipe of a shell")
@pytest.mark.parametrize("command", ["datasets", "compare --help", "loo heart --csv --engine numpy"])
def test_a_reader_that_has_seen_enough_is_no_error(command):
    head = "import sys; sys.stdin.readline(); sys.stdin.close()"
    with subprocess.Popen(
        [sys.executable, "-m", "refsvm", *command.split()], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as writer:
        subprocess.run([sys.executable, "-c", head], stdin=writer.stdout, check=True)
        writer.stdout.close()
        assert (writer.wait(), writer.stderr.read()) == (0, b"")
