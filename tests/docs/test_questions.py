"""The table of questions and machines: every call runs, and what has none says why."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import refsvm

PAGE = Path(__file__).parents[2] / "docs" / "many_models.md"
pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="the documentation is not here")
pytest.importorskip("sklearn")

MACHINES = "two classes", "several classes", "regression", "novelty detection"


def table():
    """Return the rows of the table, and the numbers of the sentences below it."""
    first, *_ = re.split(r"(?m)^## ", PAGE.read_text(encoding="utf-8") if PAGE.exists() else "")
    lines = first.splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    return rows[2:], {line.split(".")[0] for line in lines if re.match(r"\d+\. ", line)}


CELLS = [(row[0], *each) for row in table()[0] for each in zip(MACHINES, row[1:], strict=True)]
LONG = [*((f"tuning{way}", "regression") for way in ("", " by another score"))]
LONG.append(("train with rules of your choice", "several classes"))


@pytest.mark.parametrize(
    ("question", "machine", "cell"),
    [pytest.param(*each, marks=[pytest.mark.slow] if each[:2] in LONG else []) for each in CELLS],
    ids=[" of ".join(each[:2]) for each in CELLS],
)
def test_every_cell_is_a_call_that_runs_or_a_sentence(question, machine, cell):
    call = re.fullmatch(r"`(.*)`", cell)
    if call is None:
        assert cell in table()[1]
        return
    rng = np.random.default_rng(0)
    X = rng.normal(size=(24, 2))
    y = {
        "two classes": np.where(np.arange(24) % 2, 1, -1),
        "several classes": np.arange(24) % 3,
        "regression": X[:, 0] + 0.1 * rng.normal(size=24),
    }.get(machine)
    names = {name: getattr(refsvm, name) for name in refsvm.__all__}
    given = {"X": X, "y": y, "w": np.linspace(0.5, 2.0, 24)}
    result = eval(call[1], names | given)
    assert getattr(result, "status", refsvm.Status.CONVERGED) is refsvm.Status.CONVERGED
    if "leave_one_out" in cell or "cross_validate(" in cell:
        assert result.is_complete
        kinds = {"regression": "regression", "novelty detection": "novelty"}
        assert result.kind == kinds.get(machine, "classification")
