"""Everything is compiled on purpose."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

import refsvm
from refsvm import PathTracker, Seeder, StepRule, StoppingRule, WorkingSetSelector
from refsvm.compiled import warming
from refsvm.compiled.twins import place_of_twin

from ..settings import needs_jit


@needs_jit
def test_it_tells_what_comes_and_leaves_out_nothing(monkeypatch):
    loaded, told = [], []
    families = SimpleNamespace(load=lambda family, twins: loaded.append((family, len(twins), None in twins)))
    monkeypatch.setattr(warming, "import_module", lambda name: families)
    assert refsvm.warm_up(told.append) >= 0.0
    place = warming.FAMILIES.index(("loop", warming.DEFAULT)) + 1
    assert told[0] == f"compiling 1 of {len(loaded)}: kernels"
    assert (
        told[place - 1] == f"compiling {place} of {len(loaded)}: loop SecondOrder, PlanningAheadStep, KKTGap"
    )
    assert len(told) == len(loaded) == len(warming.FAMILIES)
    assert not any(missing for *_, missing in loaded)


def test_the_twin_of_every_rule_is_among_them():
    bases = WorkingSetSelector, StepRule, StoppingRule, Seeder, PathTracker
    rules = {each for each in vars(refsvm).values() if isinstance(each, type) and issubclass(each, bases)}
    have_twins = {rule for rule in rules if place_of_twin(rule.__module__) is not None} - set(bases)
    assert {type(rules[0]) for family, rules in warming.FAMILIES if family == "twin"} == have_twins


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("numba_is_installed", "install the package numba"),
        ("NUMBA_DISABLE_JIT", "NUMBA_DISABLE_JIT=1 turns compilation off; unset this variable"),
    ],
)
def test_where_nothing_can_be_compiled(monkeypatch, change, words):
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    monkeypatch.setattr(warming, "numba_is_installed", lambda: change != "numba_is_installed")
    with pytest.raises(ValueError, match=words):
        refsvm.warm_up()


@needs_jit
def test_products_of_sparse_features_are_compiled_with_the_rest_and_loaded_where_they_are_needed(monkeypatch):
    from refsvm.compiled.interface import families, twin

    asked = []
    monkeypatch.setattr(families, "sparse_product_for", lambda *types: asked.append(types))
    families.kernels()
    assert len(asked) == 1
    with twin.never_compiling():
        families.kernels()
    assert len(asked) == 1
