"""Audits: what their frame counts and prints, and a case or two of each."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

from ..programs import printed_by
from ..settings import needs_jit
from .rows import BENCHMARKS

ROOT = Path(__file__).parents[2]


@pytest.fixture
def frame(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    return import_module("audit.frame")


@pytest.fixture
def asked(frame, monkeypatch):
    """Put an audit in the place of "signs": odd cases are wrong, and the fifth raises."""

    def case(number, options):
        if number == 5:
            raise ZeroDivisionError("by zero")
        wrong = ["it is odd"] * (number % 2 if options.strict else 0)
        return frame.Found(wrong, ["odd" if number % 2 else "even"], f"case of {number}")

    def enough(count, counts):
        return ["no case is even"] * (count > 0 and not counts["even"])

    flags = {"--strict": {"action": "store_true"}, "--only": {"default": None}}
    audit = frame.Audit("Is it odd?", case, 3, flags, enough)
    monkeypatch.setattr(frame, "audit_of", lambda name: audit)
    return lambda *words: frame.main(["signs", *words])


def test_the_summary_counts_cases_and_says_how_to_go_on(asked, capsys):
    assert asked() == 0
    assert re.fullmatch(
        r"signs: 3 cases from 0, 0 bad; 2 even, 1 odd; \d+ s; go on with --first 3\.\n",
        capsys.readouterr().out,
    )
    assert asked("--seed", "6", "--count", "2", "-v") == 0
    shown = capsys.readouterr().out
    assert "case 7: case of 7; 0.00 s\n" in shown
    assert "2 cases from 6" in shown
    assert "--first 8." in shown


def test_an_exception_is_wrong_and_so_may_be_all_of_them_together(asked, capsys):
    assert asked("--first", "4", "--count", "2") == 1
    shown = capsys.readouterr().out
    assert "case 5: ZeroDivisionError: by zero" in shown
    assert "1 RAISED" in shown
    assert asked("--first", "1", "--count", "1") == 1
    shown = capsys.readouterr().out
    assert "no case is even\n" in shown
    assert " 0 bad;" in shown


def test_an_audit_that_makes_a_place_for_its_cases_takes_one_process(frame, capsys):
    pytest.importorskip("coverage")
    with pytest.raises(SystemExit, match="2"):
        frame.main(["broken_map", "--count", "0", "--jobs", "2"])
    assert "leave out --jobs" in capsys.readouterr().err


def test_the_page_and_the_nightly_run_name_audits_that_are_there(frame):
    page = (BENCHMARKS / "audit" / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `(\w+)` \|", page, flags=re.MULTILINE) == [*frame.NAMES]
    nightly = ROOT / ".ci" / "nightly"
    if nightly.is_file():
        named = re.findall(r"^audit (\w+)", nightly.read_text(encoding="utf-8"), flags=re.MULTILINE)
        assert set(named) <= set(frame.NAMES)
        assert len(set(named)) > 2


@needs_jit
@pytest.mark.slow
@pytest.mark.parametrize("name", ["signs", "open_boxes", "screening"])
def test_a_case_of_each_audit_is_right(name, frame, capsys):
    assert frame.main([name, "--count", "1"]) == 0
    assert f"{name}: 1 cases from 0, 0 bad" in capsys.readouterr().out


@needs_jit
@pytest.mark.slow
@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="the repository is not here")
def test_an_audit_with_processes_of_its_own_runs_by_its_command():
    for needed in ("scipy", "sklearn", "pandas", "coverage"):
        pytest.importorskip(needed)
    said = printed_by("-m", "benchmarks.audit", "broken_map", "--count", "1", cwd=ROOT)
    assert "broken_map: 1 cases from 0, 0 bad" in said
