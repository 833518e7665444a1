"""The bits of `benchmarks/same_bits.py`, here for every seventh computation: the gate takes all, in eight settings."""

from __future__ import annotations

import json

import numpy as np
import pytest

from refsvm.core import arithmetic

from .programs import module
from .settings import INTERPRETED, NUMBA, needs_same_bits

pytest.importorskip("sklearn")

same_bits = module("same_bits")
KNOWN = json.loads(same_bits.HASHES.read_text())


def other_bits(engine: str, some: int) -> list[str]:
    return [name for name, each in same_bits.run([engine], some).items() if each.get(engine) != KNOWN[name]]


@needs_same_bits
@pytest.mark.skipif(INTERPRETED, reason="takes minutes")
@pytest.mark.parametrize("engine", ["numpy", "numba"] if NUMBA else ["numpy"])
def test_results_have_the_bits_that_they_have_elsewhere(engine):
    assert other_bits(engine, 7) == []


def test_each_computation_has_a_hash():
    without = [] if arithmetic.can_be_fast() else [name for name in KNOWN if name.endswith(", values")]
    assert sorted([*same_bits.cases(), *without]) == sorted(KNOWN)
    assert len(set(KNOWN.values())) > 200  # one and two workers, and some steps, share theirs


def test_a_last_bit_is_noticed(monkeypatch):
    exponentials = arithmetic.Arithmetic.gaussian

    def otherwise(inner, gamma, x_norms, z_norms):
        exponentials(inner, gamma, x_norms, z_norms)
        inner[...] = np.where(inner < 1.0, np.nextafter(inner, inner.dtype.type(0.0)), inner)

    monkeypatch.setattr(arithmetic, "current", arithmetic.Arithmetic())
    monkeypatch.setattr(arithmetic.Arithmetic, "gaussian", staticmethod(otherwise))
    case = same_bits.cases()["rbf 17 x 8 float64 shrunk"]
    assert same_bits.digest(case("numpy")) != KNOWN["rbf 17 x 8 float64 shrunk"]
