"""The benchmark as a module, and a small problem."""

from importlib import import_module

import pytest

from refsvm.datasets import Dataset, load

from .rows import BENCHMARKS, LIBRARY


@pytest.fixture
def peers(monkeypatch, tmp_path):
    """Import the benchmark; put a library that misbehaves on the path, for this process and those it starts."""
    monkeypatch.syspath_prepend(BENCHMARKS)
    (tmp_path / "misbehaving.py").write_text(LIBRARY)
    monkeypatch.syspath_prepend(tmp_path)
    return lambda name: import_module(f"side_by_side.{name}")


@pytest.fixture
def thyroid():
    data = load("thyroid")
    return Dataset("thyroid", data.X, data.y, C=10.0, gamma=0.05)
