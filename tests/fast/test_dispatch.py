"""Whoever waits for the compiler is told so."""

from __future__ import annotations

import logging
from types import SimpleNamespace

import pytest

pytest.importorskip("numba")
dispatch = pytest.importorskip("refsvm.fast.dispatch")


def test_a_compilation_is_announced_once_for_each_machine(tmp_path, caplog):
    function = SimpleNamespace(__qualname__="steps_0123", stats=SimpleNamespace(cache_path=str(tmp_path)))
    (tmp_path / "loop.steps_4567-1.py311.nbi").touch()  # of other sources
    with caplog.at_level(logging.INFO, logger="refsvm"):
        dispatch.announce_compilation(function)
    [record] = caplog.records
    assert "five to ten seconds, once" in record.getMessage()
    assert record.notice
    caplog.clear()
    (tmp_path / "loop.steps_0123-1.py311.nbi").touch()
    with caplog.at_level(logging.INFO, logger="refsvm"):
        dispatch.announce_compilation(function)
    assert not caplog.records
