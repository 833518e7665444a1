"""The command itself: help, version, processes, what is missing."""

import logging
import os
import runpy

import pytest

import refsvm
from refsvm import cli
from refsvm.datasets import load
from refsvm.datasets import names as bundled_names
from refsvm.services.pool import worker_count

from .commands import json_of, process, works


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


def test_importing_the_command_imports_none_of_it():
    code = "import sys, refsvm.cli; print({'typer', 'rich', 'sklearn', 'numba'} & set(sys.modules))"
    assert process(code=code).stdout == "set()\n"


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


def test_the_module_run_in_this_process_is_the_command(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["anything", "--version"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("refsvm", run_name="__main__")
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"refsvm {refsvm.__version__}\n"


@pytest.mark.parametrize(
    ("lacking", "words"), [(["sklearn"], "needs sklearn;"), (["rich", "typer"], "needs typer and rich;")]
)
def test_a_package_that_the_command_lacks_is_named(lacking, words, monkeypatch, capsys):
    monkeypatch.setattr("refsvm.cli.find_spec", lambda name: None if name in lacking else object())
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 2
    assert words in capsys.readouterr().err


@pytest.mark.parametrize("wrong", [0, 1.5, True, "2"])
def test_a_number_of_workers_is_whole_and_not_zero(wrong, monkeypatch):
    with pytest.raises(ValueError, match=r"n_jobs=\S+ is not a number of workers; give None"):
        worker_count(wrong)
    assert worker_count(None) == 1
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 3, 5}, raising=False)
    assert [worker_count(n) for n in (2, -1, -2, -9)] == [2, 3, 2, 1]
