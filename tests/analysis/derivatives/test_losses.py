"""Losses worked out by hand: on both sides of each kink, and at it."""

from __future__ import annotations

import numpy as np
import pytest

from refsvm.analysis.derivatives import Huber, Logistic, Pinball, Squared, SquaredHinge
from refsvm.analysis.derivatives.losses import LOSSES, loss_called

E = np.exp(1.0)


@pytest.mark.parametrize(
    ("loss", "h", "y", "value", "slope"),
    [
        (SquaredHinge(), 0.5, 1.0, 0.25, -1.0),
        (SquaredHinge(), 0.5, -1.0, 2.25, 3.0),
        (SquaredHinge(), 1.0, 1.0, 0.0, 0.0),
        (SquaredHinge(), -3.0, -1.0, 0.0, 0.0),
        (Logistic(), 0.0, 1.0, np.log(2.0), -0.5),
        (Logistic(), 1.0, -1.0, np.log(1.0 + E), E / (1.0 + E)),
        (Logistic(), 1.0, 1.0, np.log(1.0 + 1.0 / E), -1.0 / (1.0 + E)),
        (Squared(), 3.0, 1.0, 4.0, 4.0),
        (Squared(), 0.5, 1.0, 0.25, -1.0),
        (Huber(), 0.5, 1.0, 0.125, -0.5),
        (Huber(), 2.0, 1.0, 0.5, 1.0),
        (Huber(), 5.0, 1.0, 3.5, 1.0),
        (Huber(2.0), 5.0, 1.0, 6.0, 2.0),  # δ|r| − δ²/2 = 8 − 2
        (Huber(2.0), -4.0, 1.0, 8.0, -2.0),
        (Pinball(), 3.0, 1.0, 1.0, 0.5),
        (Pinball(), 0.0, 1.0, 0.5, -0.5),
        (Pinball(0.75), 0.0, 2.0, 1.5, -0.75),
        (Pinball(0.75), 4.0, 2.0, 0.5, 0.25),
        (Pinball(0.75), 2.0, 2.0, 0.0, 0.25),  # at a kink the slope to the right
    ],
)
def test_values_and_slopes(loss, h, y, value, slope):
    arrays = np.array([h]), np.array([y])
    assert loss.value(*arrays) == pytest.approx([value], rel=1e-14, abs=1e-300)
    assert loss.slope(*arrays) == pytest.approx([slope], rel=1e-14, abs=1e-300)


def test_a_loss_is_a_value_with_its_name():
    assert {name: each.name for name, each in LOSSES.items()} == {name: name for name in LOSSES}
    assert [*LOSSES] == ["squared hinge", "logistic", "squared", "huber", "pinball"]
    assert [each.has_labels for each in LOSSES.values()] == [True, True, False, False, False]
    for each in LOSSES.values():
        assert each() == each()
        assert len({each(), each()}) == 1
        with pytest.raises(AttributeError):
            each().another = 1
    assert (Huber().delta, Pinball().level) == (1.0, 0.5)


@pytest.mark.parametrize("has_labels", [True, False])
def test_a_loss_fits_labels_or_targets(has_labels):
    fitting = [name for name, each in LOSSES.items() if each.has_labels == has_labels]
    listed = f"give one of {', '.join(map(repr, fitting))}."
    for name, each in LOSSES.items():
        for given in (name, each()):
            if name in fitting:
                assert loss_called(given, has_labels) == each()
            else:
                with pytest.raises(
                    ValueError, match=f"does not fit {'labels' if has_labels else 'targets'}; {listed}"
                ):
                    loss_called(given, has_labels)


@pytest.mark.parametrize("loss", [SquaredHinge(), Logistic(), Squared(), Huber(0.7), Pinball(0.2)])
def test_large_values_are_finite(loss):
    for each in (loss.value, loss.slope):
        assert np.isfinite(each(np.array([-1e4, 1e4]), np.ones(2))).all()
