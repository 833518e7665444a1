"""A place for the store, and a list of what is solved."""

import pytest

from refsvm.experiment import Solve


@pytest.fixture
def store(tmp_path):
    return tmp_path / "runs.sqlite"


@pytest.fixture
def solved(monkeypatch):
    """The instances that are measured in this process, in order."""
    seen = []

    def counted(self, instance):
        seen.append((self.name, instance))
        return plain(self, instance)

    plain = Solve.run
    monkeypatch.setattr(Solve, "run", counted)
    return seen
