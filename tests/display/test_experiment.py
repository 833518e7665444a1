"""An experiment, drawn: what the curves and boxes stand for."""

import numpy as np
import pytest

from refsvm.display import BoxDisplay, ProfileDisplay
from refsvm.display.canvas import PALETTE
from refsvm.experiment import Experiment, Problem

from ..experiment.echoes import Echo, numbered

pytest.importorskip("matplotlib")


@pytest.fixture
def experiment(tmp_path):
    strategies = [Echo("one", 1.0), Echo("two", 2.0)]
    made = Experiment(strategies, [Problem("numbered", numbered)], tmp_path / "runs.sqlite", permutations=4)
    made.run()
    return made


def test_a_profile_is_the_share_of_runs_within_a_factor_of_the_best(experiment):
    display = ProfileDisplay.from_experiment(experiment, "first")
    ratios = {name: set(ratio.tolist()) for name, ratio in display.ratios.items()}
    assert ratios == {"one": {1.0}, "two": {2.0}}
    curves = {line.get_label(): line.get_xydata() for line in display.ax_.lines}
    assert curves["one"][1].tolist() == [1.0, 0.25]
    assert curves["one"][-1, 1] == 1.0
    assert curves["two"][0].tolist() == [1.0, 0.0]
    assert curves["two"][-1, 1] == 1.0
    assert [text.get_text() for text in display.ax_.get_legend().texts] == ["one", "two"]
    display.figure_.canvas.draw()
    low, high = display.ax_.get_xlim()
    ticks = display.ax_.get_xticklabels(which="both")
    assert [each.get_text() for each in ticks if low <= each.get_position()[0] <= high] == ["1", "2"]


def test_a_strategy_without_a_run_never_reaches_its_share(experiment):
    whole = ProfileDisplay.from_experiment(experiment, "first")
    whole.ratios["two"][:2] = np.inf
    curves = {line.get_label(): line.get_xydata() for line in whole.plot().ax_.lines}
    assert curves["two"][-1, 1] == 0.5


def test_boxes_stand_side_by_side_relative_to_the_baseline(experiment):
    from matplotlib.colors import to_hex

    display = BoxDisplay.from_experiment(experiment, "first", baseline="one")
    mean = experiment.compare("first").cells["numbered", "one"].mean
    expected = np.array([2.0 * experiment.records()[2 * k]["first"] for k in range(4)]) / mean
    assert np.allclose(display.values["numbered", "two"], expected)
    assert display.ax_.get_ylabel() == "first / one"
    colours = [to_hex(box.get_facecolor()) for box in display.ax_.patches]
    assert colours == [each.lower() for each in PALETTE[:2]]
    assert [text.get_text() for text in display.ax_.get_legend().texts] == ["one", "two"]


def test_what_is_not_positive_has_no_profile(tmp_path):
    made = Experiment([Echo("less", -1.0)], [Problem("numbered", numbered)], tmp_path / "runs.sqlite")
    made.run()
    with pytest.raises(ValueError, match="metric='first' is not positive in every run"):
        ProfileDisplay.from_experiment(made, "first")
