"""PathDisplay and ValidationPathDisplay show the path as it is."""

import numpy as np
import pytest

pytest.importorskip("scipy")
matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")
import matplotlib.pyplot as plt  # noqa: E402

from refsvm import RBF, cost_path, regularization_path  # noqa: E402
from refsvm.analysis.paths import ErrorCurve  # noqa: E402
from refsvm.datasets import make_banana  # noqa: E402
from refsvm.display import CostPathDisplay, LOOPathDisplay, PathDisplay, ValidationPathDisplay  # noqa: E402

DATA = make_banana(40, rng=0)


@pytest.fixture(scope="module")
def path():
    return regularization_path(DATA.X, DATA.y, kernel=RBF(0.25), C_min=0.1, C_max=100.0)


def test_lines_are_shares_of_the_bound(path):
    display = PathDisplay.from_path(path, examples=[3, 7])
    order = sorted([3, 7], key=lambda i: DATA.y[i])  # one class after the other
    for line, i in zip(display.lines_, order, strict=True):
        x, share = line.get_data()
        for k in range(0, len(x), 50):
            assert share[k] == pytest.approx(DATA.y[i] * path.alpha(x[k])[i] / x[k], abs=1e-12)
    assert display.ax_.get_xscale() == "log"


def test_the_default_shows_what_changes(path):
    display = PathDisplay.from_path(path)
    assert len(display.lines_) == 40
    again = display.plot(plt.figure().add_subplot())
    assert again is display
    np.testing.assert_array_equal(display.elbow[:, 0], path.C)


def test_the_best_interval_is_marked(path):
    curve = path.validation_error(DATA.X, DATA.y)
    display = ValidationPathDisplay({"training": curve}).plot()
    x, error = display.lines_["training"].get_data()
    np.testing.assert_array_equal(x, curve.C)
    np.testing.assert_array_equal(error[:-1], curve.error)
    with pytest.raises(ValueError, match="is empty"):
        ValidationPathDisplay({}).plot()


def test_every_operating_point_is_drawn() -> None:
    data = make_banana(30, rng=0)
    curve = cost_path(data.X, data.y, kernel=RBF(0.5)).roc(data.X, data.y)
    display = CostPathDisplay({"training": curve}).plot()
    np.testing.assert_array_equal(display.lines_["training"].get_xdata(), curve.fpr)
    np.testing.assert_array_equal(display.lines_["training"].get_ydata(), curve.tpr)
    with pytest.raises(ValueError, match="give at least one RocCurve"):
        CostPathDisplay({}).plot()


def test_leave_one_out_display_has_a_line_for_each_example_that_is_wrong_somewhere() -> None:
    three = np.array([0.1, 1.0, 10.0])
    errors = (three[::2], [0]), (three, [0, 1]), (three[::2], [1])
    curves = tuple(ErrorCurve(C, np.array(each), 1) for C, each in errors)
    display = LOOPathDisplay(ErrorCurve.total(curves), curves).plot()
    lines = [each.get_segments() for each in display.ax_.collections]
    assert [[part.tolist() for part in each] for each in lines] == [
        [[[0.1, 0.0], [10.0, 0.0]]],
        [[[1.0, 1.0], [10.0, 1.0]]],
    ]
    assert "least error: 0.333" in display.ax_.get_legend_handles_labels()[1]
