"""Calls that derivatives, influence and searches along the gradient refuse, and a pattern of each sentence."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from refsvm import RBF, DualProblem, solve
from refsvm.analysis.derivatives import Huber, Pinball, held_out_loss, influence, tune_by_gradient
from refsvm.analysis.derivatives.influence import groups_given
from refsvm.analysis.derivatives.losses import loss_called

pytest.importorskip("scipy")
rng = np.random.default_rng(5)
X, T = rng.normal(size=(36, 3)), rng.normal(size=(7, 3))
score = X[:, 0] - X[:, 1] ** 2 + 0.3 * rng.normal(size=36)
y = np.where(score > np.median(score), 1.0, -1.0)
labels, targets = np.where(T[:, 0] > 0.0, 1.0, -1.0), T[:, 0]


def solved(**given: Any) -> Any:
    return solve(DualProblem.classification(X, y, **{"kernel": RBF(0.4), **given}))


TWO = solved()
GAMMAS = solved(kernel=RBF([0.4, 0.2, 0.7]))
tuned = partial(tune_by_gradient, X, y, engine="numpy")
NOT_TUNED = "cannot be tuned; give"
MISSING = r"^groups\[1\] is (None|nan), a missing value; complete that example"
CALLS: Any = [
    (lambda: TWO.derivative("nu"), "no parameter 'nu'; it has 'C', 'weights', 'gamma'"),
    (lambda: TWO.derivative("weights"), "along="),
    (lambda: TWO.derivative("C", np.ones(36)), "omit along="),
    (lambda: GAMMAS.derivative("gamma"), "Every feature has its own gamma.*along="),
    (lambda: GAMMAS.derivative("gamma", [1.0, 2.0]), r"along has shape \(2,\)"),
    (lambda: solved(C=np.linspace(1.0, 2.0, 36)).derivative("C"), "penalties of this problem differ"),
    (lambda: solved(kernel=RBF(4.0), C=np.inf).derivative("C"), "hard-margin"),
    (lambda: TWO.pullback(intercept=1.0)["nu"], "nu"),
    (lambda: TWO.pullback(X=T), "together"),
    # of influence
    *((lambda given=given: influence(TWO, **given), says) for given, says in [
        ({"groups": [[0], []]}, r"groups\[1\] is empty"), ({"groups": [0, 1]}, r"groups has shape \(2,\)"),
        ({"groups": np.zeros((2, 3), dtype=int)}, r"groups has shape \(2, 3\)"),
        ({"groups": np.arange(36) + 0.5}, r"groups has shape \(36,\) and type float64"),
        ({"groups": [[60]]}, "groups holds 60"), ({"loss": "logistik"}, "did you mean 'logistic'?"),
        ({"loss": "squared"}, "does not fit labels; give one of 'squared hinge', 'logistic'."),
        ({"loss": 3}, "loss=3 is not a loss"), ({"X": T, "loss": "logistic"}, "give y"),
        ({"y": labels, "loss": "logistic"}, "y_test was given without its examples; give both X_test and y_test"),
        ({"X": T, "y": labels[:3], "loss": "logistic"}, r"y_test has shape \(3,\)"),
        ({"X": T, "y": targets, "loss": "logistic"}, "y_test contains other labels than"),
        ({"X": T[:, :2]}, "X has 2 features"), ({"callback": 3}, "callback=3 cannot be called"),
        ({"tol": -1.0}, "tol=-1.0 is negative"),
    ]),
    (lambda: influence(DualProblem.one_class(X, kernel=RBF(0.5), nu=0.3)), "use leave_one_out"),
    *((lambda names=names, missing=missing: groups_given(np.array([names[0], missing, names[0]], dtype=object), 3),
       MISSING) for names in ("ab", [1, 2]) for missing in (None, np.nan)),
    (lambda: groups_given(["a", None, "a"], 3), MISSING),
    (lambda: groups_given(np.array([1, "a", 1], dtype=object), 3), "^groups mixes names of different types; convert"),
    # of losses
    *((lambda wrong=wrong: loss_called(wrong, True), "is not a loss; ") for wrong in (None, 1.0, "hinge", Huber)),
    *((lambda level=level: Pinball(level), "is not between 0 and 1") for level in (0.0, 1.0)),
    (lambda: Huber(0.0), "delta"),
    # of searches
    *((lambda given=given: tuned(**given), says) for given, says in [
        ({"parameters": ("C", "epsilon")}, f"{NOT_TUNED} different names among 'C', 'gamma', 'gammas'"),
        ({"parameters": ()}, NOT_TUNED), ({"parameters": ("gamma", "gammas")}, NOT_TUNED),
        ({"parameters": ("C", "C")}, NOT_TUNED), ({"parameters": ("gammas",), "kernel": "poly"}, NOT_TUNED),
        ({"parameters": ("gamma",), "kernel": "linear"}, NOT_TUNED), ({"loss": "squared"}, "does not fit labels"),
        ({"loss": "logistic", "epsilon": 0.1}, "does not fit targets"), ({"starts": 0}, "starts=0"),
        ({"bounds": {"C": (2.0, 1.0)}}, "the smaller first"), ({"bounds": {"C": (0.0, 1.0)}}, "a bound of C"),
        ({"max_evaluations": 0}, "max_evaluations=0"), ({"callback": 3}, "callback=3 cannot be called"),
        ({"folds": 1}, "folds=1"), ({"C": -1.0}, "C=-1.0"),
    ]),
    *((lambda wrong=wrong: tune_by_gradient(X, wrong),
       f"y contains {len(set(wrong))} different .* the labels −1 and \\+1, or") for wrong in (np.arange(36) % 3, y**2)),
    *((lambda bounds=bounds: held_out_loss(X, y, bounds=bounds), r"^bounds\b.*(;|did you mean)") for bounds in [
        {"c": (5.0, 10.0)}, {"Gamma": (0.1, 0.2)}, {"gammas": (0.1, 0.2)}, {"epsilon": (0.1, 1.0)}, {1: (0.1, 1.0)},
        {"C": 5}, {"C": (1, 2, 3)}, {"C": ()}, {"C": "ab"}, {"C": None}, [0.1, 1.0],
    ]),
    *((lambda gamma=gamma, name=name: held_out_loss(X, y, parameters=(name,), gamma=gamma),
       f"^gamma has {len(gamma)} entries, (but X has|but a single gamma is tuned)")
      for gamma, name in [([0.1], "gammas"), ([0.1] * 99, "C"), ([0.1] * 3, "gamma")]),
]  # fmt: skip


@pytest.mark.parametrize(("call", "says"), CALLS, ids=lambda each: each[:40] if isinstance(each, str) else "")
def test_a_call_is_refused(call: Any, says: str) -> None:
    with pytest.raises((ValueError, KeyError), match=says) as refusal:
        call()
    assert "\n" not in str(refusal.value)
