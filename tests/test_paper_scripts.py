"""The scripts that regenerate the papers' tables run, in their smallest setting."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

for needed in ("numba", "scipy", "sklearn", "tabulate"):
    pytest.importorskip(needed)

SCRIPTS = Path(__file__).parents[1] / "benchmarks" / "papers"


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.skipif(not os.environ.get("REFSVM_DATA"), reason="REFSVM_DATA names no data directory")
@pytest.mark.parametrize(
    ("script", "tables"),
    [
        ("maximum_gain.py", ["Table 2", "Table 4", "Table 5", "Table 6", "Table 7", "Figure 6"]),
        ("alpha_seeding.py", ["Table 1", "Table 3", "Supplement, Figure 2", "Other sets"]),
        ("seeds_and_answers.py", ["The same predictions", "Iterations, 3", "Iterations, 10"]),
        ("planning_ahead.py", ["Table 1", "Table 2", "Figure 4", "§7.2", "§7.3"]),
        (
            "svmp.py",
            [
                "Which Gaussian",
                "Table II",
                "Table III",
                "Beside warm-started rounds",
                "Beside R's",
                "Cost of",
                "german",
            ],
        ),
        ("loo_stopping.py", ["Table 2", "Table 3", "Figure 1"]),
    ],
)
def test_a_script_prints_every_table_and_does_not_repeat_its_runs(script, tables, tmp_path):
    command = [sys.executable, SCRIPTS / script, "--quick", "--store", tmp_path / "runs.sqlite"]
    first, second = (subprocess.run(command, capture_output=True, text=True, check=False) for _ in range(2))
    assert first.returncode == 0, first.stderr
    headings = [line for line in first.stdout.splitlines() if line.startswith("## ")]
    for table in tables:
        assert any(heading.startswith(f"## {table}") for heading in headings)
    assert second.stdout == first.stdout  # seconds included: nothing was measured again


def test_the_newton_step_gap_is_a_rule_like_any_other(monkeypatch):
    from refsvm.testing import check_strategy

    monkeypatch.syspath_prepend(SCRIPTS)
    from newton_step_gap import NewtonStepGap

    assert "agree bit for bit" in check_strategy(NewtonStepGap()).twin


@pytest.mark.parametrize("factor", [1.0, 1.1])
def test_the_candidate_step_is_a_rule_like_any_other(factor, monkeypatch):
    from refsvm.testing import check_strategy

    monkeypatch.syspath_prepend(SCRIPTS)
    from candidate_step import CandidateStep

    assert "agree bit for bit" in check_strategy(CandidateStep(factor)).twin
