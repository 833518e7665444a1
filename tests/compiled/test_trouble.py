"""A broken Numba and a damaged cache: the true cause in a sentence, and NumPy where any engine will do."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import refsvm
from refsvm.compiled.trouble import numba_trouble

from ..programs import printed_by
from ..settings import needs_jit

SOLVE = """
import warnings
import numpy as np
from refsvm import RBF, DualProblem, solve
from refsvm.compiled import auto
from scipy.sparse import csr_matrix
auto.ALLOWANCE_SECONDS = -1.0  # so that "auto" goes over to Numba at once
X = np.arange(6.0)[:, None]
for engine, data in (("numba", X), ("numba", csr_matrix(X)), ("auto", X), ("auto", csr_matrix(X))):
    problem = DualProblem.classification(data, [-1, 1, 1, -1, 1, -1], kernel=RBF(1.0))
    with warnings.catch_warnings(record=True, action="always") as notes:
        try:
            print("engine", solve(problem, engine=engine).engine)
        except Exception as error:
            print(type(error).__name__, error)
    for note in notes:
        print("note", note.message)
"""


def solves(code: str, folder: Path) -> list[str]:
    """What solves in a new process say, with a cache and perhaps a Numba in the folder."""
    pytest.importorskip("scipy")
    paths = ":".join(map(str, [folder, Path(refsvm.__file__).parents[1], *sys.path]))
    own = {"PYTHONPATH": paths, "NUMBA_CACHE_DIR": str(folder), "REFSVM_COMPILE_BESIDE": "0"}
    return printed_by("-c", code, **own).splitlines()


@needs_jit
def test_a_numba_that_cannot_be_imported_is_named(tmp_path):
    (tmp_path / "numba").mkdir()
    (tmp_path / "numba" / "__init__.py").write_text("raise ImportError('libllvmlite.so: no such file')")
    cause = "Numba is installed and cannot be used (ImportError: libllvmlite.so: no such file); repair"
    dense, sparse, first, note, second = solves(SOLVE, tmp_path)
    assert dense.startswith(f"ValueError {cause}")
    assert sparse.startswith(f"ValueError {cause}")
    assert (first, second) == ("engine numpy", "engine numpy")
    assert note.startswith(f"note {cause}")


@needs_jit
def test_a_twin_that_does_not_compile_is_not_taken_for_a_broken_installation():
    import numba

    @numba.njit
    def wrong(state):
        return state.nothing

    with pytest.raises(numba.core.errors.TypingError) as caught:
        wrong(1)
    assert numba_trouble(caught.value).startswith("The twin of a rule cannot be compiled (TypingError: ")


def test_an_error_without_a_text():
    assert numba_trouble(ImportError()) == (
        "Numba is installed and cannot be used (ImportError); repair the installation"
    )
