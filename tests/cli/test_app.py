"""The command itself: help, version, processes, what is missing."""

import json
import logging
import os
import subprocess
import sys

import pytest

import refsvm
from refsvm.datasets import load
from refsvm.datasets import names as bundled_names

from .commands import assert_refusal, json_of, process, works


def test_datasets_lists_what_is_bundled():
    listed = json_of("datasets")
    assert [entry["name"] for entry in listed] == bundled_names()
    heart = next(entry for entry in listed if entry["name"] == "heart")
    assert (heart["n"], heart["d"], heart["C"], heart["gamma"]) == (270, 13, 1.0, 0.005)
    assert heart["licence"]
    text = works("datasets").stdout
    for entry in listed:
        assert f"{entry['n']}" in text
        assert entry["source"] in text


def test_without_a_command_there_is_help():
    assert "compare" in works().stdout
    assert works("--version").stdout == f"refsvm {refsvm.__version__}\n"
    assert "second-order" in works("compare", "--help").stdout


@pytest.mark.slow
def test_the_module_is_the_command():
    result = process("--version")
    assert (result.returncode, result.stdout) == (0, f"refsvm {refsvm.__version__}\n")


@pytest.mark.slow
def test_a_process_compares():
    result = process("compare", "heart", "--engines", "numpy", "--json")
    assert result.returncode == 0
    assert len(json.loads(result.stdout)["runs"]) == 3
    assert result.stderr == ""


@pytest.mark.parametrize(
    "arguments", [["compare", "nofile"], ["compare", "heart", "--C", "-1"], ["--nonsense"]]
)
@pytest.mark.slow
def test_a_process_refuses_in_one_sentence(arguments):
    result = process(*arguments)
    assert_refusal(result.returncode, result.stdout, result.stderr)


@pytest.mark.parametrize("missing", ["typer", "rich", "sklearn"])
@pytest.mark.slow
def test_without_its_extra_the_command_names_it(missing):
    code = f"import sys; sys.modules[{missing!r}] = None; from refsvm.cli import main; main()"
    result = process("compare", "heart", code=code)
    assert_refusal(result.returncode, result.stdout, result.stderr)
    assert missing in result.stderr
    assert "refsvm[cli]" in result.stderr


def test_importing_the_command_imports_none_of_it():
    result = process(
        code="import sys, refsvm.cli; print({'typer', 'rich', 'sklearn', 'numba'} & set(sys.modules))"
    )
    assert result.stdout == "set()\n"


@pytest.mark.slow
def test_commands_import_scikit_learn_only_where_they_need_it(tmp_path):
    """It takes longer to import than most of them work."""
    few = tmp_path / "few.csv"
    few.write_text("x,y\n" + "".join(f"{number},{number % 2}\n" for number in range(12)))
    code = """
import contextlib, sys
from refsvm.cli.app import app
with contextlib.suppress(SystemExit):
    app(sys.argv[1:])
sys.exit(10 + ("sklearn" in sys.modules))
"""
    for command, needs in (
        (["datasets"], False),
        (["loo", str(few), "--label", "y", "--engine", "numpy"], False),
        (["cv", str(few), "--label", "y", "--folds", "3", "--engine", "numpy", "--scale"], True),
    ):
        assert process(*command, code=code).returncode == 10 + needs, command


@pytest.mark.skipif(os.name != "posix", reason="needs a shell")
@pytest.mark.slow
def test_a_reader_that_leaves_early_is_no_error():
    command = f"{sys.executable} -m refsvm datasets --json | true"
    result = subprocess.run(command, shell=True, capture_output=True, text=True, check=False, timeout=60)
    assert "Traceback" not in result.stderr


def test_what_the_package_says_while_it_compiles_is_a_note(monkeypatch):
    def waiting(*_, **__):
        logger = logging.getLogger("refsvm")
        logger.info("Compiling the loop, once;\nabout 5 s", extra={"notice": True})
        logger.info("For the log only")
        return load("heart")

    monkeypatch.setattr("refsvm.cli.data.open_data", waiting)
    logger = logging.getLogger("refsvm")
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        result = works("compare", "heart", "--engines", "numpy")
        assert result.stderr == "note: Compiling the loop, once; about 5 s.\n"
        assert (logger.level, logger.handlers) == (logging.WARNING, [])
    finally:
        logger.setLevel(level)
