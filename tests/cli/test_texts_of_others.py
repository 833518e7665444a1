"""Names of files, columns and classes that hold codes of a terminal: no command, card, warning or log prints them."""

import json
import os
import warnings
from pathlib import Path

import numpy as np
import pytest

from refsvm import RBF, leave_one_out, read_model
from refsvm.core.engine.progress import Progress
from refsvm.datasets import open_data
from refsvm.datasets.cells import csv_table
from refsvm.services.line import ProgressLine, Stream
from refsvm.services.printable import printable

from .commands import run

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no such names of files")

CODES = "\x1b[2J", "\x9b2J", "\x7f", "\u202e"
EVIL = "größe" + "".join(CODES)
ROWS = "".join(f"{i % 7},{i * i % 5},{'oak' if i % 3 else 'elm'}{EVIL}\n" for i in range(30))
NUMBERS = "".join(f"{i % 7},{i * i % 5},{i % 11}.5\n" for i in range(30))
COMMANDS = {
    "fit": ["--model", "out"],
    "loo": [],
    "cv": ["--folds", 3],
    "compare": ["--engines", "numpy"],
    "orders": ["--engines", "numpy", "--repeats", 2],
    "tune": ["--Cs", "1,10", "--folds", 2],
    "path": ["--C-max", 1],
}


def shown(result):
    """Everything that a command has printed, which has no codes."""
    text = result.stdout + result.stderr
    assert [code for code in CODES if code in text] == []
    return text


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Stream, "isatty", lambda self: True)
    Path(f"t{EVIL}.csv").write_text(f"a{EVIL},b,kind{EVIL}\n{ROWS}", encoding="utf-8")
    return f"t{EVIL}.csv", "--label", f"kind{EVIL}"


@pytest.mark.parametrize("form", [[], ["--json"], ["--csv"]], ids=str)
@pytest.mark.parametrize("name", COMMANDS)
def test_no_command_prints_codes(name, form, table):
    result = run("compare" if name == "orders" else name, *table, *COMMANDS[name], *form)
    assert result.exit_code == 0, result.stderr
    text = shown(result)
    if form == ["--json"]:
        json.loads(result.stdout)
    elif form == []:
        assert r"größe\x1b[2J\x9b2J\x7f\u202e" in text


def test_labels_reach_a_terminal_with_escapes_and_a_pipe_as_they_are(table, monkeypatch):
    assert run("fit", *table, "--model", "m").exit_code == 0
    assert "oak" in shown(run("predict", "m", *table))
    run("predict", "m", *table, "--output", "out")
    assert {f"oak{EVIL}", f"elm{EVIL}"} == set(Path("out").read_text(encoding="utf-8").split("\n")[:-1])
    monkeypatch.setattr(Stream, "isatty", lambda self: False)
    assert run("predict", "m", *table).stdout == Path("out").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (f"a{EVIL},b,kind\n{ROWS}", ["--label", "none"]),
        (f"a{EVIL},b,kind\n{ROWS}", []),
        (f"a{EVIL},b,kind\n{ROWS}x,1,oak\n", ["--label", "kind"]),
        (f"a,b,kind\n{ROWS}{EVIL},1,oak\n", ["--label", "kind"]),
        (f"a,b,kind\n{ROWS}1,nan{EVIL},{EVIL}\n", ["--label", "kind"]),
        (f"a,a{EVIL},a{EVIL}\n{NUMBERS}", ["--label", "a"]),
        (f"+1 1:1\n-1 {EVIL}:1\n", []),
        (f"a,{EVIL},k\n" + "1,\"x\n", ["--label", "k"]),
        (f"{EVIL},id,k\n" + "".join(f"1,{i},{'xy'[i % 2]}\n" for i in range(20)), ["--label", "k"]),
        (f"# {EVIL},id,k\n1,2,3\n2,3,x\n", ["--label", "2"]),
    ],
)  # fmt: skip
def test_no_refusal_and_no_note_prints_codes(content, words, table):
    Path(table[0]).write_text(content, encoding="utf-8")
    assert shown(run("fit", table[0], *words, "--model", "out"))
    said = []
    with warnings.catch_warnings(record=True, action="always") as caught:
        try:
            open_data(table[0], *words[1:])
        except ValueError as error:
            said.append(str(error))
    said += [str(each.message) for each in caught]
    assert [code for code in CODES for each in said if code in each] == []


@pytest.mark.parametrize(
    "content", [f"svm_type {EVIL}\nSV\n", f"{EVIL} 1\nSV\n", f"svm_type c_svc\nkernel_type rbf\n{EVIL}\nSV\n"]
)
def test_a_model_of_others_is_refused_without_codes(content, table):
    Path(EVIL).write_text(content, encoding="utf-8")
    assert shown(run("predict", EVIL, *table)).startswith("refsvm: ")
    with pytest.raises(ValueError, match="größe") as caught:
        read_model(EVIL)
    assert [code for code in CODES if code in str(caught.value)] == []


def test_columns_and_choices_that_are_not_there_are_named_without_codes(table):
    with pytest.raises(ValueError, match="its columns are") as caught:
        csv_table(table[0], columns=["none"])
    assert [code for code in CODES if code in str(caught.value)] == []
    Path("rule.py").write_text(f'raise ValueError("{EVIL}")', encoding="utf-8")
    assert "größe" in shown(run("compare", *table, "--selectors", "rule.py:Mine"))


def test_cards_and_the_progress_line_have_no_codes(capsys):
    y = np.array([f"oak{EVIL}", f"elm{EVIL}", f"ash{EVIL}"] * 7)
    result = leave_one_out(np.arange(21.0).reshape(-1, 1) % 5, y, kernel=RBF(1.0), C=1.0, engine="numpy")
    line = ProgressLine(Progress(f"experiment{EVIL}"), stays=True)
    line.close()
    texts = repr(result), str(result), result._repr_html_(), capsys.readouterr().err
    assert sum(r"größe\x1b[2J" in text for text in texts) >= 3
    assert [code for code in CODES for text in texts if code in text] == []


def test_a_text_that_can_be_shown_stays():
    for text in ("größe 量 b\tc\n", "", "a\xa0b", "a\"'b"):
        assert printable(text) == text
    assert printable("a\rb\\") == r"a\rb" + "\\"
