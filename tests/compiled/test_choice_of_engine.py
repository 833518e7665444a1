"""Which engine "auto" begins with, and what that loads."""

from __future__ import annotations

import subprocess
import sys

import pytest

from refsvm import (
    KKTGap,
    Rounds,
    solve,
)
from refsvm.backend import chosen_backend

from ..settings import needs_jit
from .test_auto import PROBLEM


def test_where_numba_interprets_auto_is_numpy(monkeypatch):
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    assert chosen_backend("auto").name == "numpy"
    assert solve(PROBLEM).engine == "numpy"


@needs_jit
@pytest.mark.slow
def test_a_new_process_does_not_load_numba_for_a_small_problem():
    script = (
        "import sys; from refsvm import *; from refsvm.datasets import load; h = load('heart'); "
        "s = solve(DualProblem.classification(h.X, h.y, kernel=RBF(0.005), C=1.0)); "
        "print(s.engine, 'numba' in sys.modules)"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout.split() == ["numpy", "False"]


def test_the_tolerance_of_a_round_is_its_own():
    rounds = Rounds(PROBLEM)
    gaps = [rounds.solve(stop=KKTGap(tol)).kkt_gap for tol in (1e-1, 1e-6, 1e-1)]
    assert gaps[1] <= 1e-6 < gaps[0] == gaps[2] <= 1e-1
