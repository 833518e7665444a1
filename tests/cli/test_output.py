"""What is printed and drawn: CSV, pictures, notes, progress, exit codes."""

import csv
import io
import logging

import numpy as np
import pytest

from refsvm.cli.app import app
from refsvm.services.line import Place

from .commands import json_of, refused, run, runner, works

PLANE = "".join(f"{(-1) ** i} 1:{i % 7} 2:{i * i % 5}\n" for i in range(30))
COMMANDS = {
    "compare": (["compare", "thyroid", "--engines", "numpy"], 3),
    "orders": (["compare", "thyroid", "--engines", "numpy", "--repeats", 2], 3),
    "cv": (["cv", "thyroid", "--folds", 3, "--seeders", "cold,sir"], 2),
    "loo": (["loo", "thyroid"], 215),
    "stops": (["loo", "thyroid", "--seeders", "cold,top"], 2),
    "tune": (["tune", "thyroid", "--Cs", "1,10", "--folds", 2], 10),
    "linear": (["tune", "thyroid", "--Cs", "1,10", "--folds", 2, "--kernel", "linear"], 2),
    "path": (["path", "thyroid", "--C-max", 1], None),
    "folds of a path": (["path", "thyroid", "--C-max", 1, "--folds", 2], None),
}


@pytest.mark.parametrize("name", [*COMMANDS, "datasets"])
def test_csv_has_a_row_for_each_thing(name):
    command, count = COMMANDS.get(name, (["datasets"], 10))
    rows = list(csv.DictReader(io.StringIO(works(*command, "--csv").stdout)))
    assert len(rows) == (json_of(*command)["breakpoints"] if count is None else count)
    assert all(None not in row.values() and None not in row for row in rows)
    assert "were both given" in refused(*command, "--csv", "--json")


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.slow
def test_a_picture_is_drawn(name, tmp_path):
    works(*COMMANDS[name][0], "--plot", tmp_path / "p.png")
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")
    assert "cannot be written" in refused(*COMMANDS[name][0], "--plot", tmp_path / "nowhere" / "p.png")


@pytest.mark.slow
def test_leave_one_out_in_the_plane_is_drawn(write, tmp_path):
    np.savez(tmp_path / "t.npz", X=np.arange(20.0).reshape(10, 2), y=[1, -1] * 5)
    works("loo", tmp_path / "t.npz", "--plot", tmp_path / "p.pdf")
    works("loo", write("t.libsvm", PLANE), "--plot", tmp_path / "q.pdf")
    assert (tmp_path / "p.pdf").read_bytes()[:4] == (tmp_path / "q.pdf").read_bytes()[:4] == b"%PDF"


def test_predictions_of_leave_one_out_have_the_names_of_the_classes(write):
    rows = "".join(f"{i % 5},{i % 3},{'oak' if i % 2 else 'elm'}\n" for i in range(12))
    document = json_of("loo", write("t.csv", "a,b,kind\n" + rows), "--label", "kind")
    assert set(document["predictions"]) <= {"oak", "elm"}


def test_quiet_leaves_out_notes_and_verbose_adds_what_is_logged(write, monkeypatch):
    path = write("r.csv", "a,y\n" + "".join(f"{i * i % 7},{i}\n" for i in range(24)))
    fit = ["fit", path, "--label", "y", "--model", path.with_name("m")]
    assert works(*fit).stderr.startswith("note: ")
    for option in ("-q", "--quiet"):
        assert works(*fit, option).stderr == ""
    assert refused("fit", "nothing", "--model", path.with_name("m"), "-q")

    def talking(*_, **__):
        logging.getLogger("refsvm").info("for whoever wants to know")

    monkeypatch.setattr("refsvm.cli.fit.write_model", talking)
    assert "know" not in works(*fit).stderr
    assert "note: for whoever wants to know.\n" in works(*fit, "-v").stderr


@pytest.mark.parametrize("charset", ["cp1252", "latin-1", "cp437"])
def test_words_that_a_console_cannot_show_are_escaped(charset, write):
    data = write("t.csv", "a,kind\n" + "".join(f"{i},{'猫' if i % 2 else 'Łódź'}\n" for i in range(12)))
    model = data.with_name("m")
    for command in (
        ["help"], ["tune", "--help"], ["fit", data, "--label", "kind", "--model", model], ["predict", model, data],
        ["loo", data, "--label", "kind", "--csv"], ["fit", "猫"],
    ):  # fmt: skip
        result = runner(charset=charset).invoke(app, [str(word) for word in command])
        assert result.exit_code == 2 * (command == ["fit", "猫"]), result.stderr
        assert (r"\u732b" in result.stdout) == (command[0] in ("predict", "loo"))


def test_a_pipe_gets_no_codes_of_a_terminal_whatever_force_color_says(monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    for name in ("compare", "orders", "linear"):
        result = works(*COMMANDS[name][0])
        assert "\x1b" not in result.stdout + result.stderr


def test_every_command_has_short_help():
    for command in ("compare", "fit", "predict", "cv", "tune", "loo", "path", "datasets"):
        short, long = works(command, "-h").stdout, works(command, "--help").stdout
        assert short == long
        assert "-q" in short
    assert "--show-completion" in works("-h").stdout


def test_a_fit_that_did_not_converge_says_so_and_exits_3(tmp_path):
    result = run("fit", "thyroid", "--model", tmp_path / "m", "--max-iter", 3)
    assert result.exit_code == 3
    assert "model written to" in result.stdout
    assert result.stderr.startswith("refsvm: The iteration limit was reached")
    assert "warm_start" not in result.stderr
    assert result.stderr.count("\n") == 1
    assert works("predict", tmp_path / "m", "thyroid").stdout.count("\n") == 215


CALLS = {
    "compare": "solve", "orders": "Experiment.run", "cv": "cross_validate", "loo": "leave_one_out",
    "stops": "leave_one_out", "tune": "SVCCV", "path": "regularization_path", "folds of a path": "cross_validate_path",
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_a_terminal_shows_the_line_of_the_call_unless_told_to_be_quiet(monkeypatch, name):
    begun, take = [], Place.take

    def noted(place, line):
        has_place = take(place, line)
        if has_place and line is not None:
            begun.append(line.progress.call)
        return has_place

    monkeypatch.setattr("refsvm.services.line.is_watched", lambda: True)
    monkeypatch.setattr(Place, "take", noted)
    works(*COMMANDS[name][0])
    assert CALLS[name] in begun
    begun.clear()
    works(*COMMANDS[name][0], "--quiet")
    assert begun == []


def test_a_picture_without_matplotlib_is_refused_before_anything_is_computed(monkeypatch, tmp_path):
    monkeypatch.setattr("refsvm.cli.data.find_spec", lambda name: None)
    assert "--plot needs matplotlib" in refused("loo", "heart", "--plot", tmp_path / "p.png")
