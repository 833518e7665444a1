"""``refsvm warm-up``."""

import refsvm

from .commands import works


def test_everything_is_compiled(monkeypatch):
    monkeypatch.setattr(refsvm, "warm_up", lambda tell: 12.34)
    assert works("warm-up").stdout == "All of refsvm is compiled; it took 12.3 s.\n"
