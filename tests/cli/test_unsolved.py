"""Tables and pictures of a comparison say which of its strategies are cut short."""

import pytest

from refsvm.display import canvas

from .commands import json_of, works

pytest.importorskip("matplotlib")

CUT = ["--max-iter", 20]
COMPARED = ["compare", "heart", "--selectors", "mvp,second-order", "--steps", "newton", "--engines", "numpy"]


@pytest.fixture
def notes(monkeypatch):
    """The notes that are written above pictures."""
    written, write = [], canvas.write_notes

    def recording(ax, given):
        written.extend(given)
        write(ax, given)

    monkeypatch.setattr(canvas, "write_notes", recording)
    monkeypatch.setattr("refsvm.display.cross_validation.write_notes", recording)
    return written


def test_a_comparison_in_orders(notes, tmp_path):
    given = [*COMPARED, "--repeats", 2, "--plot", tmp_path / "p.png"]
    said = works(*given, *CUT)
    assert "0 of 2" in said.stdout
    assert notes[0] == "heart, mvp, newton, numpy: 2 of 2 runs did not converge and are excluded."
    notes.clear()
    works(*given)
    assert notes == []


def test_a_comparison_of_one_solve_each(notes, tmp_path):
    assert "max iter" in works(*COMPARED, *CUT, "--plot", tmp_path / "p.png").stdout
    assert "mvp, newton did not converge (MAX_ITER)." in notes


def test_seeders(notes, tmp_path):
    given = ["cv", "heart", "--folds", 3, "--seeders", "cold,ato", "--engine", "numpy", "--plot"]
    assert "unfinished" in works(*given, tmp_path / "p.png", *CUT).stdout
    assert notes == [f"{name} used 3 unsolved rounds." for name in ("cold", "ato")]


def test_seeders_and_rules_of_leave_one_out(notes, tmp_path):
    given = ["loo", "heart", "--seeders", "cold,ato", "--stops", "kkt-gap", "--engine", "numpy", "--plot"]
    said = works(*given, tmp_path / "p.png", *CUT)
    assert "max iter" in said.stdout
    assert [note.partition(" kkt-gap is incomplete:")[0] for note in notes] == ["cold", "ato"]
    assert all(f"note: {note}" in said.stderr for note in notes)


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_a_search(notes, tmp_path, kernel):
    given = ["tune", "heart", "--Cs", "0.0001,100", "--folds", 3, "--kernel", kernel]
    given += ["--gammas", "0.01"] * (kernel == "rbf")
    given += ["--max-iter", 150]  # which solve the cell of the least C
    printed = works(*given, "--plot", tmp_path / "p.png").stdout
    assert printed.count("* ") + printed.count("*\n") == 2
    assert "* These cells have splits that did not converge." in printed
    assert len(notes) == 1
    assert notes[0].startswith("*")
    cells = json_of(*given)["cells"]
    assert [cell["unsolved_splits"] for cell in cells] == [0.0, 3.0]
