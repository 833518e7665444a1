"""What the tests of the data sets share."""

import os
from pathlib import Path

import pytest


@pytest.fixture
def archives() -> Path:
    """The data directory that REFSVM_DATA names."""
    value = os.environ.get("REFSVM_DATA")
    if not value:
        pytest.skip("REFSVM_DATA names no data directory")
    return Path(value)


@pytest.fixture
def no_data_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("REFSVM_DATA", raising=False)
