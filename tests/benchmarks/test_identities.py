"""Some tens of the pairs that the nightly run tries by the hundred."""

import sys
from importlib import import_module

import pytest

from .rows import BENCHMARKS

pytest.importorskip("sklearn")
pytest.importorskip("pandas")


@pytest.fixture
def identities(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    # the pairs put their files in the place of modules
    for name in ("colorsys", "colorsys_helper", "mine_of_pairs", "mine_of_pairs_helper"):
        monkeypatch.setitem(sys.modules, name, None)
    return import_module("audit.identities")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 104))
def test_pairs_that_differ_in_one_thing_are_two_and_others_one(identities, seed):
    assert [each for number in range(10) for each in identities.wrong_of(seed, number)] == []


def test_a_pair_that_is_taken_for_one_is_seen(identities, monkeypatch):
    """With an identity that is a representation, as that of 0.3.0 was."""
    from refsvm.estimators import search
    from refsvm.experiment import experiment, problem, strategy

    for module in (search, problem, strategy):
        monkeypatch.setattr(module, "described", lambda name, value: f"{value!r:.20}")
    monkeypatch.setattr(experiment, "code_of", lambda *objects: "")
    wrong = [each for number in range(5) for each in identities.wrong_of(100, number)]
    assert len(wrong) > 2
    assert all(line.startswith("differ") for line in wrong)
