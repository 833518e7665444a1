"""The suites for benchopt and airspeed velocity: they count the same again, and watching changes no step."""

import importlib.util
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from refsvm import RBF, DualProblem, KKTGap, LIBSVMShrinking, NoShrinking, Restriction, solve
from refsvm.datasets import make_banana

ROOM = Path(__file__).parents[2] / "benchmarks"


def opened(path, monkeypatch):
    """A file of the folder as a module; benchopt need not be installed."""
    base = SimpleNamespace(BaseSolver=object, BaseObjective=object, BaseDataset=object)
    monkeypatch.setitem(sys.modules, "benchopt", base)
    spec = importlib.util.spec_from_file_location(path.stem, ROOM / path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def in_numpy(function):
    """The function by the readable engine."""
    return lambda *given, **options: function(*given, **{**options, "engine": "numpy"})


@pytest.mark.slow
def test_every_benchmark_of_the_suite_counts(monkeypatch):
    pytest.importorskip("scipy")
    suite = opened(Path("asv/suite/counts.py"), monkeypatch)
    # nothing waits for a compiler
    for name in ("solve", "cross_validate", "leave_one_out", "regularization_path"):
        monkeypatch.setattr(suite, name, in_numpy(getattr(suite, name)))
    assert suite.track_breakpoints() > 10
    solve_, rounds = suite.Solve(), suite.Rounds()
    solve_.params = (["heart"], list(suite.STRATEGIES))
    found, counted = solve_.setup_cache(), []
    for place in found:
        counted += [solve_.track_iterations(found, *place), solve_.track_kernel_rows(found, *place)]
    for seeder in rounds.params:
        rounds.setup(seeder)
        counted += [rounds.track_folds(seeder), rounds.track_leave_one_out(seeder)]
    assert len(counted) == 2 * (len(suite.STRATEGIES) + len(suite.SEEDERS))
    assert all(isinstance(count, int) and count > 0 for count in counted)


@pytest.mark.parametrize("shrinking", [NoShrinking(), Restriction(50, copy_cost=0.1), LIBSVMShrinking(50)])
def test_watching_changes_no_step(shrinking, monkeypatch):
    smo = opened(Path("benchopt/solvers/smo.py"), monkeypatch)
    objective = opened(Path("benchopt/objective.py"), monkeypatch).Objective()
    data, objective.C = make_banana(150, rng=0), 100.0
    objective.set_data(data.X, data.y, 0.5)
    problem = DualProblem.classification(data.X, data.y, kernel=RBF(0.5), C=100.0)
    values = []

    def go_on():
        values.append(objective.evaluate_result(solver.alpha)["objective"])
        return True

    solver = SimpleNamespace(alpha=None)
    watcher = smo.Watcher(solver, go_on)
    options = {"stop": KKTGap(1e-3), "engine": "numpy", "shrinking": shrinking}
    watched, alone = solve(problem, callback=watcher, **options), solve(problem, **options)
    assert np.array_equal(watched.alpha, alone.alpha)
    assert watched.iterations == alone.iterations
    assert len(values) > 1  # how often it looks depends on the time
    assert (np.diff(values) >= -1e-6).all()
