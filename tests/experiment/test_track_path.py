"""TrackPath: trackers and their linear algebra as strategies of an experiment."""

from dataclasses import dataclass
from functools import partial

import pytest

from refsvm import RBF, SVMP, regularization_path
from refsvm.analysis.paths import SVD
from refsvm.datasets import load
from refsvm.experiment import Experiment, Problem, TrackPath

pytest.importorskip("scipy")


def test_settings_make_different_runs():
    one, two = TrackPath("a"), TrackPath("b", tracker=SVMP(algebra=SVD()))
    assert one.settings() != two.settings()
    assert "UpdatedInverse" in str(one.settings()["tracker"])
    with pytest.raises(ValueError, match="not below"):
        TrackPath("c", C_min=1.0, C_max=1.0)
    with pytest.raises(ValueError, match="did you mean 'svmp'"):
        TrackPath("d", tracker="smvp")


@dataclass(frozen=True)
class FromCToC:
    """The line of C itself, in C."""

    first: float
    last: float

    def __call__(self, problem):
        part = self.last / self.first
        return problem, problem.boxed(part * problem.lower, part * problem.upper), (self.first, self.last)


def test_a_line_of_ones_own(tmp_path):
    pytest.importorskip("pandas")
    heart = Problem("heart", partial(load, "heart"), kernel=RBF(0.005), C=0.5)
    line = TrackPath("line", line=FromCToC(0.5, 2.0))
    one = heart.instance()
    path, record = regularization_path(one.X, one.y, kernel=one.kernel, C_min=0.5, C_max=2.0), line.run(one)
    assert record["breakpoints"] == len(path.C)
    assert record["kkt_violation"] < 1e-7
    assert line.settings() != TrackPath("line", line=FromCToC(0.5, 4.0)).settings()
    assert line.settings() != TrackPath("line").settings()
    with pytest.raises(ValueError, match="lasting description"):
        TrackPath("line", line=lambda problem: (problem, problem, (0.0, 1.0)))
    ways = [line, TrackPath("C", C_min=0.5, C_max=2.0)]
    experiment = Experiment(ways, [heart], store=tmp_path / "runs.sqlite")
    experiment.run()
    assert set(experiment.to_frame()["status"]) == {"CONVERGED"}
