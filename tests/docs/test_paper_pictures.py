"""Figures of papers that the build draws: they show what the pages say of them."""

from pathlib import Path

import numpy as np
import pytest

from ..programs import module

plt = pytest.importorskip("matplotlib.pyplot")

PAGES = Path(__file__).parents[2] / "docs" / "papers"


@pytest.fixture
def pictures():
    return module("paper_pictures", "docs/_ext")


@pytest.fixture
def axes():
    figure, axes = plt.subplots()
    yield axes
    plt.close(figure)


def test_the_planned_step_loses_alone_and_gains_most_with_the_next(pictures, axes):
    pictures.gain_of_a_step(axes)
    lines = {line.get_label(): line.get_xydata() for line in axes.lines}
    alone, both = lines["the step alone"], lines["with the planned next one"]
    length, gain = both[both[:, 1].argmax()]
    assert f"{length:.1f}" == f"{gain:.1f}" == "2.4"
    assert np.interp(length, *alone.T) < 0.0
    at = [np.interp(omega, *alone.T) for omega in (0.1, 1.0, 1.1, 1.9)]
    np.testing.assert_allclose(at, [0.19, 1.0, 0.99, 0.19], atol=1e-3)
    text = (PAGES / "planning_ahead.md").read_text(encoding="utf-8")
    assert "2.4 times the length of the Newton step" in text


def test_maximum_gain_stays_at_a_corner_and_the_hybrid_ends_before_the_next(pictures, axes):
    pictures.four_points(axes)
    ways = {line.get_label(): line.get_xydata() for line in axes.lines}
    edges = [line for line in axes.lines if line.get_label().startswith("_")]
    assert len(edges) == 12
    corners = pictures._on_paper([[0, 0, 0, 0], [1, 0, 1, 0], [1, 1, 1, 1]])
    np.testing.assert_allclose(ways["maximum gain"], corners[:2], atol=1e-12)
    hybrid = ways["hybrid maximum gain"]
    np.testing.assert_allclose(hybrid[:2], corners[:2], atol=1e-12)
    end = (1.0 - np.sqrt(3.0) / 5.0) / 0.7  # of C
    np.testing.assert_allclose(hybrid[2], corners[1] + end * (corners[2] - corners[1]), atol=1e-9)


def test_the_bars_of_leave_one_out_are_the_seconds_of_the_table(pictures, axes):
    pictures.left_out_seconds(axes)
    text = (PAGES / "alpha_seeding.md").read_text(encoding="utf-8")
    table = text.partition("CPU seconds of one thread, measured once:")[2].partition("![")[0]
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names == ["LIBSVM", "AVG", "TOP", "ATO, default", "MIR", "SIR"]
    assert [bars.get_label() for bars in axes.containers] == ["heart", "madelon"]
    for bars in axes.containers:
        row = next(line for line in table.splitlines() if line.startswith(f"| {bars.get_label()} "))
        cells = [float(cell.replace(",", "")) for cell in row.strip("|").split("|")[1:]]
        assert [bar.get_width() for bar in bars] == cells
