"""AVG and TOP: the examples that get what is left out. `check_strategy` checks every seeder and its twin."""

from __future__ import annotations

import numpy as np
import pytest

from refsvm import ATO, AVG, MIR, RBF, TOP, Cold, DualProblem, KKTGap, solve
from refsvm.datasets import load
from refsvm.testing import check_strategy

from ...catalogue import SEEDERS
from ...settings import FAST, NUMBA, needs_numba


@pytest.fixture(scope="module")
def solved():
    data = load("heart")
    return solve(DualProblem.classification(data.X[:120], data.y[:120], kernel=RBF(0.02), C=5.0), engine=FAST)


@pytest.mark.parametrize("seeder", SEEDERS, ids=repr)
def test_contract_and_twin(seeder):
    report = check_strategy(seeder, rng=5)
    if NUMBA:
        assert report.twin.startswith("The twin agrees bit for bit in ")


@pytest.mark.parametrize("seeder", [AVG(), TOP(), ATO(), ATO(budget=np.inf), MIR()], ids=repr)
def test_seeds_save_iterations(seeder, solved):
    taken = {}
    for rule in (Cold(), seeder):
        taken[rule] = 0
        for r in np.flatnonzero(solved.alpha)[:15]:
            left_out = solved.problem.without(r)
            start = rule.seed(solved, left_out)
            taken[rule] += solve(left_out, stop=KKTGap(), start=start, engine=FAST).iterations
    assert taken[seeder] < taken[Cold()]


@needs_numba
def test_a_wrong_twin_is_found():
    from numba import njit

    from refsvm.compiled.interface.seeding import SEED

    @njit(SEED)
    def clipped_only(parameters, seeding):
        for i in range(len(seeding.seed)):
            seeding.seed[i] = min(max(seeding.solved[i], seeding.lower[i]), seeding.upper[i])
        return 0

    class Broken(AVG):
        def twin(self):
            return clipped_only

    with pytest.raises(AssertionError, match=r"the twin of .* gives α\[\d+\] = "):
        check_strategy(Broken())


@needs_numba
@pytest.mark.parametrize(
    ("old", "words"),
    [(False, "asked for kernel row 0, which is in memory"), (True, "returned -1; it must return 0")],
)
def test_a_twin_that_asks_for_a_row_it_has_is_stopped(solved, old, words):
    from numba import njit

    from refsvm.compiled.interface.seeding import SEED, compiled_seed
    from refsvm.core.kernels.cached_rows import stored_rows

    @njit(SEED)
    def insatiable(parameters, seeding):
        if not old:
            seeding.now[0].missing = 0
        return -1

    class Broken(AVG):
        def twin(self):
            return insatiable

    rows = stored_rows(solved.problem.gram)
    with pytest.raises(RuntimeError, match=words):
        compiled_seed(Broken(), solved, solved.problem.without(0), rows)
