"""A model in place of the parameters: which arguments a function gets from it, and what is refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from refsvm.analysis.resampling.of_model import MODEL, takes_model


@dataclass(frozen=True)
class Found:
    X: Any
    y: Any
    options: dict[str, Any]
    weights: Any = None


@takes_model
def ask(X=None, y=None, **options):
    """Return what was asked for."""
    return Found(X, y, options, options.get("C"))


class Model:
    """Asks for C, which counts as weights or does not, and for a tolerance that may be given beside it."""

    def __init__(self, counts_alike=False, **own):
        self.counts_alike, self.own, self.asked = counts_alike, {"C": [1.0, 2.0], "tol": 0.5, **own}, []

    def get_params(self):
        return {}

    def arguments_for(self, name, X, y):
        self.asked.append((name, X, y))
        return self.own, self.counts_alike


def test_without_a_model_the_arguments_are_those_that_were_given():
    assert ask("X", "y", C=3.0) == Found("X", "y", {"C": 3.0}, 3.0)
    assert ask(X="X", tol=1.0) == Found("X", None, {"tol": 1.0})
    assert ask() == Found(None, None, {})
    assert (ask.__name__, ask.__doc__) == ("ask", "Return what was asked for.")


@pytest.mark.parametrize(
    ("given", "options"),
    [
        (("X", "y"), {}),
        (("X",), {"y": "y"}),
        ((), {"X": "X", "y": "y"}),
        (("another", "other"), {"X": "X", "y": "y"}),  # a name goes before a place
    ],
)
def test_examples_come_after_a_model_or_by_their_names(given, options):
    model = Model()
    assert ask(model, *given, **options) == Found("X", "y", {"C": [1.0, 2.0], "tol": 0.5}, [1.0, 2.0])
    assert model.asked == [("ask", "X", "y")]


def test_a_model_may_have_examples_without_labels():
    assert ask(Model(), "X") == Found("X", None, {"C": [1.0, 2.0], "tol": 0.5}, [1.0, 2.0])


def test_penalties_of_classes_are_no_weights():
    assert ask(Model(counts_alike=True), "X").weights is None
    assert ask(Model(counts_alike=True, C=None), "X").weights is None
    assert ask(Model(counts_alike=False), "X").weights == [1.0, 2.0]


def test_options_beside_a_model():
    """They go before its own, unless they would make another machine."""
    assert ask(Model(), "X", tol=0.1).options["tol"] == 0.1
    assert ask(Model(), "X", gamma=2.0).options == {"C": [1.0, 2.0], "tol": 0.5, "gamma": 2.0}
    for name in MODEL:
        said = f"^{name} is a parameter of the model; set it in Model\\(…\\) instead.$"
        with pytest.raises(ValueError, match=said):
            ask(Model(**{name: 1.0}), "X", **{name: 2.0})


def test_what_is_no_model_of_the_package_is_refused():
    class Other:
        def get_params(self):
            return {}

    with pytest.raises(
        ValueError, match=r"^ask does not take a Other; pass refsvm.SVC, .* if it is a search.$"
    ):
        ask(Other(), "X")
    with pytest.raises(
        TypeError, match=r"^ask got more than \(model, X, y\) by position; pass further arguments"
    ):
        ask(Model(), "X", "y", "C")
    with pytest.raises(TypeError, match=r"^ask got the model as a keyword; write"):
        ask(X=Model(), y="y")
