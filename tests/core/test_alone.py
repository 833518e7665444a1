"""The reference alone, without the house and with NumPy alone: the same bits, and nothing missing."""

from __future__ import annotations

import shutil
from pathlib import Path

import refsvm

from ..programs import printed_by

SOLVES = """
import sys
sys.modules.update(dict.fromkeys(sys.argv[1:]))  # importing these fails
import numpy as np
from refsvm.core.kernels import RBF
from refsvm.core.problem import DualProblem
from refsvm.core.rounds.leave_one_out import algorithm_1
from refsvm.core.rounds.left_out_table import LeftOutTable
from refsvm.core.rounds.machine import Machine
from refsvm.core.rounds.round import Round
from refsvm.core.rounds.rounds import Rounds
from refsvm.core.rounds.sufficiency import TrainingError, ZeroAlpha
from refsvm.core.seeders import TOP
from refsvm.core.solver.loop import iterate
from refsvm.core.solver.options import RunOptions
from refsvm.core.solver.run import solved
from refsvm.core.stopping import BallRule, KKTGap
rng = np.random.default_rng(0)
X = rng.normal(size=(200, 3))
y = np.where(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=200) > 0.0, 1, -1)
problem = DualProblem.classification(X, y, kernel=RBF(0.5), C=10.0)
solution = solved(problem, RunOptions(engine="numpy"))
ended = [*Rounds(problem, engine="numpy").run([Round(keep="all"), *(Round(r, "all") for r in range(20))], TOP())]
table = LeftOutTable(Machine(problem, (0, 0), 1), Rounds(problem, engine="numpy"))
algorithm_1(table, (TOP(), TOP()), BallRule(), KKTGap(), (ZeroAlpha(), TrainingError()), True)
print(table.decided.tolist(), table.iterations.tolist(), table.values.tobytes().hex())
print(repr(solution), solution.alpha.tobytes().hex(), len(list(iterate(problem))))
print([(each.iterations, np.asarray(each.values).tobytes().hex()) for each in ended])
"""


def printed(folder: Path, *missing: str) -> str:
    """What the solves print with the package of a folder, where some other packages are missing."""
    return printed_by("-c", SOLVES, *missing, cwd=folder, PYTHONPATH=str(folder))


def test_the_reference_alone_takes_the_same_steps(tmp_path):
    package = Path(refsvm.__file__).parent
    shutil.copytree(
        package / "core", tmp_path / "refsvm" / "core", ignore=shutil.ignore_patterns("__pycache__")
    )
    (tmp_path / "refsvm" / "__init__.py").write_text("")
    others = "numba", "scipy", "sklearn", "matplotlib", "pandas", "tqdm", "joblib"
    assert printed(tmp_path, *others) == printed(package.parent)
