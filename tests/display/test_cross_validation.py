"""SeedDisplay and GridDisplay show what was computed."""

import numpy as np
import pytest

plt = pytest.importorskip("matplotlib.pyplot")

from refsvm import RBF, SIR, DualProblem, solve  # noqa: E402
from refsvm.datasets import load  # noqa: E402
from refsvm.display import GridDisplay, SeedDisplay  # noqa: E402


def test_a_seed_beside_its_optimum():
    heart = load("heart")
    problem = DualProblem.classification(heart.X, heart.y, kernel=RBF(0.005), C=1.0)
    solved, following = solve(problem.without(3)), problem.without(5)
    axes = plt.figure().add_subplot()
    display = SeedDisplay.from_seeder(SIR(), solved, following, ax=axes)
    assert np.array_equal(display.seed, SIR().seed(solved, following))
    assert display.member[3] == "added"
    assert display.member[5] == "removed"
    points = {line.get_label(): line for line in axes.lines}
    assert points["removed"].get_xdata().tolist() == [0.0]
    assert points["added"].get_ydata().tolist() == [display.seed[3]]
    assert len(points["shared"].get_xdata()) == 268
    assert display.plot().ax_ is not axes


def test_a_grid_of_scores():
    params = [{"C": C, "gamma": gamma} for C in (10.0, 1.0) for gamma in (0.1, 0.2, 0.3)]
    results = {"params": params, "mean_test_score": np.arange(6) / 10, "mean_iterations": np.arange(6) * 1000}
    display = GridDisplay.from_results(results)
    assert display.scores.tolist() == [[0.3, 0.0], [0.4, 0.1], [0.5, 0.2]]
    assert ".500" in {text.get_text() for text in display.ax_.texts}
    ring = display.ax_.patches[-1]
    assert (ring.get_x() + 0.46, ring.get_y() + 0.46) == (0.0, 2.0)  # 0.5, at the least C and the largest γ
    assert ".500\n5,000" in {text.get_text() for text in display.plot(steps=True).ax_.texts}
    assert not display.plot(scores=False).ax_.texts
    assert not display.ax_.get_title(loc="left")
    unsolved = GridDisplay.from_results({**results, "unsolved_splits": np.array([0, 0, 2, 0, 0, 0])})
    assert {".200*", ".500"} < {text.get_text() for text in unsolved.ax_.texts}
    assert "1 of 6 cells have splits that did not converge" in unsolved.ax_.get_title(loc="left")
    assert [text.get_text() for text in unsolved.plot(scores=False).ax_.texts] == ["*"]
    with pytest.raises(ValueError, match="have no gamma"):
        GridDisplay.from_results({**results, "params": [{"C": 1.0}]})
