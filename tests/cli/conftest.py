"""Files to read, and no data directory from outside."""

from importlib.util import find_spec

import numpy as np
import pytest

from refsvm.datasets import load

from ..settings import NUMBA

if any(find_spec(name) is None for name in ("typer", "rich", "sklearn")):
    collect_ignore_glob = ["*.py"]  # without the extra "cli" there is no command line


@pytest.fixture(autouse=True, scope="session")
def _nothing_is_said_about_compiling():
    """Whether something has to be compiled depends on what ran before; `tests.fast.test_announcement` looks at it."""
    if NUMBA:
        from refsvm.compiled.interface import twin

        twin.announce()


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch):
    monkeypatch.delenv("REFSVM_DATA", raising=False)
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture
def write(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.fixture
def heart_files(tmp_path):
    """The heart data as a LIBSVM file, a CSV file, an archive."""
    from sklearn.datasets import dump_svmlight_file

    heart = load("heart")
    dump_svmlight_file(heart.X, heart.y, str(tmp_path / "h.libsvm"), zero_based=False)
    header = ",".join([*(f"x{j}" for j in range(heart.d)), "disease"])
    table = np.column_stack([heart.X, heart.y])
    np.savetxt(tmp_path / "h.csv", table, delimiter=",", header=header, comments="", fmt="%.17g")
    np.savez(tmp_path / "h.npz", X=heart.X, y=heart.y)
    return {ending: tmp_path / f"h.{ending}" for ending in ("libsvm", "csv", "npz")}
