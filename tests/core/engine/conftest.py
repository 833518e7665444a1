"""Ctrl-C as it is in a terminal."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator

import pytest


@pytest.fixture
def _ctrl_c_as_in_a_terminal() -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals reach the main thread only")
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    # each call gives the handler back
    assert signal.signal(signal.SIGINT, before) is signal.default_int_handler
