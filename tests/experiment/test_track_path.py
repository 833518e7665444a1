"""TrackPath: trackers and their linear algebra as strategies of an experiment."""

from functools import partial

import pytest

from refsvm import RBF, SVMP, Hastie
from refsvm.datasets import load
from refsvm.experiment import Experiment, Problem, TrackPath
from refsvm.paths import SVD, PivotedQR

pytest.importorskip("scipy")

HEART = Problem("heart", partial(load, "heart"), kernel=RBF(0.005), C=1.0)


def test_factorisations_find_the_same_events():
    records = [
        TrackPath(name, tracker=tracker, C_min=0.5, C_max=2.0).run(HEART.instance())
        for name, tracker in [
            ("SVD", SVMP(algebra=SVD())), ("QR", SVMP(algebra=PivotedQR())), ("updates", SVMP()), ("Hastie", Hastie())
        ]
    ]  # fmt: skip
    assert len({record["breakpoints"] for record in records}) == 1
    for record in records:
        assert record["status"] == "CONVERGED"
        assert record["kkt_violation"] < 1e-7
        assert record["backup"] == 0


def test_settings_make_different_runs():
    one, two = TrackPath("a"), TrackPath("b", tracker=SVMP(algebra=SVD()))
    assert one.settings() != two.settings()
    assert "UpdatedInverse" in str(one.settings()["tracker"])
    with pytest.raises(ValueError, match="not below"):
        TrackPath("c", C_min=1.0, C_max=1.0)
    with pytest.raises(ValueError, match="not a PathTracker"):
        TrackPath("d", tracker="svmp")


def test_an_experiment_compares_trackers(tmp_path):
    pytest.importorskip("pandas")
    pytest.importorskip("joblib")
    strategies = [
        TrackPath("SVMP", C_min=0.5, C_max=2.0),
        TrackPath("Hastie", tracker=Hastie(), C_min=0.5, C_max=2.0),
    ]
    experiment = Experiment(strategies, [HEART], store=tmp_path / "runs.sqlite", permutations=2)
    experiment.run()
    assert len(experiment.to_frame()) == 4
