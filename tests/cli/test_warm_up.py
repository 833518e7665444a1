"""``refsvm warm-up``."""

import refsvm

from .commands import refused, works


def test_everything_is_compiled(monkeypatch):
    monkeypatch.setattr(refsvm, "warm_up", lambda tell: 12.34)
    assert works("warm-up").stdout == "All of refsvm is compiled; it took 12.3 s.\n"


def test_numba_is_told_to_interpret(monkeypatch):
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    monkeypatch.setattr("refsvm.compiled.warming.numba_is_installed", lambda: True)
    assert "NUMBA_DISABLE_JIT=1" in refused("warm-up")
