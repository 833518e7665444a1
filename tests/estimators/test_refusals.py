"""Calls that the estimators refuse, and a pattern of each sentence."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

from refsvm import (
    RBF,
    SVC,
    SVCCV,
    SVR,
    SVRCV,
    BallRule,
    Cold,
    Linear,
    LOODualityGap,
    MaximumGain,
    OneClassSVM,
    PlanningAheadStep,
    SVCGradientCV,
    SVRGradientCV,
)

from ..several_classes import examples

X, Y = examples(3)
TWO = examples(2)
T = X[:, 0]
NEW = X[:2]
ROWS = np.arange(75)
GAMMAS = [0.5, 0.25, 0.0, 1.0, 1.0, 1.0]
HEAVY = {weight: np.where(Y == 1, weight, 0.0 if weight == 1.0 else 1.0) for weight in (1.0, 1e200, 1e308)}
ABSENT = np.where(Y == -2, 0.0, 1.0)
SEARCH: dict[str, Any] = {"Cs": [0.1, 1.0], "gammas": [0.3], "engine": "numpy"}
FEW: dict[str, Any] = {"n_starts": 1, "max_evaluations": 4, "engine": "numpy", "cv": 3}


def grown(model: Any, y: Any = TWO[1]) -> Any:
    return model.partial_fit(TWO[0][:40], None if y is None else y[:40])


PARAMETERS = [
    ({"C": -1.0}, "'C' parameter of SVC must be a float in the range .* Got -1.0"),
    ({"C": np.nan}, "'C' parameter"),
    ({"C": 1e308}, r"C contains 1e\+308, but finite numbers must lie between -1e300 and 1e300"),
    ({"n_jobs": 0}, "'n_jobs' parameter of SVC must be .* Got 0"),
    ({"kernel": "cosine"}, "'kernel' parameter of SVC must be .*Got 'cosine'"),
    ({"gamma": -0.1}, "'gamma' parameter"),
    ({"degree": -1, "kernel": "poly"}, "'degree' parameter"),
    ({"kernel": RBF}, r"kernel=RBF is a class; pass an instance of it"),
    ({"class_weight": {1: np.nan}}, "class_weight contains nan"),
    ({"class_weight": {1: 1e308}}, r"class_weight contains 1e\+308"),
    ({"class_weight": {1: "heavy"}}, "class_weight='heavy' is not a number"),
    ({"class_weight": {1: 1e200}, "C": 1e150}, r"class_weight contains 1e\+200, which with C=1e\+150"),
    ({"tol": 0.0}, "'tol' parameter"),
    ({"selector": "second order"}, "selector='second order' is unknown; did you mean 'second-order'"),
    ({"selector": PlanningAheadStep}, "selector=.* is not a WorkingSetSelector"),
    ({"step": 1.1}, "'step' parameter"),
    ({"max_iter": 0}, "'max_iter' parameter"),
    ({"time_limit": 0}, "'time_limit' parameter"),
    ({"engine": "gpu"}, "'engine' parameter"),
    ({"cache_size": 1e-6}, "give at least"),
    ({"selector": MaximumGain(), "step": PlanningAheadStep()}, "cannot be combined"),
    ({"kernel": lambda X, Z: np.ones((2, 2))}, r"returned an array of shape \(2, 2\)"),
    ({"kernel": lambda X, Z: np.full((len(X), len(Z)), np.nan)}, "value nan.*scale the data"),
    ({"kernel": "precomputed"}, r"shape \(75, 6\); expected a square matrix, shape \(75, 75\)"),
    ({"tol": LOODualityGap()}, "needs one left-out example"),
]


@pytest.mark.parametrize(("parameters", "sentence"), PARAMETERS, ids=lambda each: str(each)[:30])
@pytest.mark.parametrize("y", [TWO[1], Y], ids=["two", "three"])
def test_a_parameter_is_refused(parameters: dict[str, Any], sentence: str, y: Any) -> None:
    with pytest.raises(ValueError, match=sentence):
        SVC(**parameters).fit(TWO[0] if y is TWO[1] else X, y)


@pytest.mark.parametrize("make", [SVC, SVR, OneClassSVM])
@pytest.mark.parametrize(
    ("gamma", "more", "sentence"),
    [
        ([0.5, 0.25], {}, "gamma has 2 entries, but X has 6 features; give one number for each feature."),
        ([-0.25, 1.0], {}, "gamma=[-0.25, 1.0] is empty or contains a negative number; give a γ ≥ 0 for each"),
        ([], {}, "gamma=[] is empty or contains a negative number; give a γ ≥ 0 for each feature."),
        ([0.5, np.nan, 1.0], {}, "gamma contains NaN or infinity"),
        ([[0.5, 0.25, 1.0]], {}, "gamma has shape (1, 3)"),
        (["a", "b", "c"], {}, "gamma"),
        ({0: 0.5}, {}, "gamma={0: 0.5} is not a number"),
        (GAMMAS, {"kernel": "poly"}, "gamma has 6 entries, but kernel='poly' takes one number"),
        (GAMMAS, {"kernel": "sigmoid"}, "gamma has 6 entries, but kernel='sigmoid' takes one number"),
    ],
)  # fmt: skip
def test_a_gamma_is_refused(make: Any, gamma: Any, more: dict[str, Any], sentence: str) -> None:
    model = make(gamma=gamma, **more)
    with pytest.raises(ValueError, match=re.escape(sentence)):
        model.fit(X, Y)
    assert not hasattr(model, "dual_coef_")


CALLS = [
    # of data
    (lambda: SVC().fit(X, np.ones(75, dtype=int)), "y contains 1 class, 1; give labels of at least two"),
    (lambda: SVC().fit(X, T), "Unknown label type: continuous"),
    (lambda: SVC().fit(X, Y, HEAVY[1.0]), "weights leave the class -2 without examples"),
    (lambda: SVC().fit(X, Y, -ABSENT), "Invalid input - all samples have zero"),
    (lambda: SVC().fit(X, Y, 1.0 * (Y == 1)), "samples with positive weights belong to the same class"),
    (lambda: SVC().fit(X, Y, HEAVY[1e308]), r"sample_weight contains 1e\+308"),
    (lambda: SVC(class_weight={1: 1e200}).fit(X, Y, HEAVY[1e200]),
     r"times class_weight and sample_weight, 1e\+200 and 1e\+200, exceeds"),
    (lambda: SVC(class_weight={-2: 0.0, 1: 0.0}).fit(X, Y), "leave the class -2 without examples"),
    (lambda: SVC().fit(X * 1e200, Y), r"gives 0\.0 on data of variance inf"),
    (lambda: SVC(kernel="linear").fit(X * 1e200, Y), "overflows"),
    (lambda: SVC(kernel="precomputed").fit(sparse.csr_array(X @ X.T), Y), "Sparse precomputed kernels are not"),
    (lambda: SVC(decision_function_shape="ovo", break_ties=True).fit(X, Y).predict(X), "break_ties must be False"),
    (lambda: SVC(kernel=Linear().__call__).fit(X, Y).predict(X[0]), "Reshape your data"),
    (lambda: SVC(kernel="precomputed").fit(X @ X.T, Y).predict(X), "expecting 75 features"),
    (lambda: SVC().to_sklearn(), "not fitted"),
    (lambda: SVR().fit(X, np.where(T > 1, np.inf, T)), "contains infinity"),
    (lambda: SVR().fit(X, np.where(T > 1, np.nan, T)), "contains NaN"),
    (lambda: SVR().fit(X, np.where(T > 1, 1e200, T)), r"y holds targets up to 1e.200, beyond 1e150; scale y"),
    (lambda: SVR().fit(X, T, np.zeros(75)), "all samples have zero or negative weights"),
    (lambda: OneClassSVM().fit(X, None, -ABSENT), "all samples have zero or negative weights"),
    (lambda: OneClassSVM().fit(X, sample_weight=np.full(75, 1e305)), "weights of moderate size"),
    (lambda: OneClassSVM(nu=0.0).fit(X), "'nu' parameter"),
    (lambda: OneClassSVM(kernel="precomputed").fit(X), r"shape \(75, 6\); expected a square matrix"),
    (lambda: SVR(epsilon=-0.1).fit(X, T), "'epsilon' parameter"),
    (lambda: SVR(C=0.0).fit(X, T), "'C' parameter"),
    # of examples that come and go
    (lambda: SVC().partial_fit(*TWO, classes=[-2, 1, 3]), "no example of class 3"),
    (lambda: grown(SVC(gamma=0.5)).partial_fit(NEW, [1, 7]), "y contains the new class 7"),
    (lambda: grown(SVC()).forget(np.flatnonzero(TWO[1][:40] > 0)), "would leave the class 1 without an example"),
    (lambda: grown(SVC()).forget([True, False]), "is not a list of positions"),
    (lambda: SVC(cache_size=0.01).partial_fit(*TWO), "raise cache_size, or use fit"),
    (lambda: OneClassSVM().partial_fit(X[:3]).forget([0, 1, 2]), "keep at least one"),
    (lambda: SVC(kernel="precomputed").partial_fit(X @ X.T, Y).forget(0), "gives no kernel function for new"),
    (lambda: SVC(gamma=0.5).fit(X, Y).forget(0), "forget needs the training examples"),
    (lambda: SVC().partial_fit(X, Y, sample_weight=ABSENT), "The weights leave the class -2 without examples"),
    (lambda: SVC().partial_fit(X, Y, sample_weight=np.zeros(75)), "at least one positive"),
    (lambda: grown(SVC(gamma=GAMMAS)).set_params(gamma=[1.0] * 6).partial_fit(NEW, [1, 1]), "gamma="),
    *((lambda data=data: SVC(tol=1e-9).fit(X, Y).solutions(*data), "pass the examples given to fit")
      for data in ((X[:60], Y[:60]), (X, np.minimum(Y + 1, 3)))),
    (lambda: SVC().solutions(X, Y), "not fitted"),
    # of intervals
    (lambda: SVR().predict_interval(NEW), "not fitted"),
    (lambda: SVR(kernel="precomputed").fit(X @ X.T, T).predict_interval(X @ X.T),
     "not with kernel='precomputed' or C=inf"),
    (lambda: SVR(cache_size=0.005).fit(X, T).predict_interval(NEW),
     r"interval needs the kernel matrix of all 75 .*; raise cache_size.$"),
    (lambda: SVR(keep_examples=False).fit(X, T).predict_interval(NEW),
     "predict_interval needs the examples, a kernel function and a finite C"),
    (lambda: SVR(keep_examples=False).fit(X, T).forget([0]), "forget needs the training examples, but fit does not"),
    (lambda: SVR().fit(X, T, 0.5 * ABSENT).predict_interval(NEW),
     r"weight 0\.5 is not a whole number, so the promised probability would"),
    (lambda: SVR().fit(X, T).predict_interval(NEW, method="minmax"), 'is unknown; choose "full"'),
    *((lambda name=name: SVR().fit(X, T).predict_interval(NEW, **{name: 0.1}), f"takes no {name}; give confidence=")
      for name in ("coverage", "alpha", "confidence_level")),
    # of searches
    (lambda: SVCCV(tol=BallRule()).fit(X, Y), "The 'tol' parameter of SVCCV"),
    (lambda: SVCCV(**SEARCH, cv=[]).fit(X, Y), "yields no split"),
    (lambda: SVCCV(**SEARCH, cv=1).fit(X, Y), "cv"),
    (lambda: SVCCV(**SEARCH, cv=[(ROWS[:40], ROWS[40:]), (ROWS[:40], ROWS[:0])]).fit(X, Y),
     r"Split 1 of cv=.* has no example to test; remove this split from cv\."),
    (lambda: SVCCV(**SEARCH, cv=[(ROWS[Y == 1], ROWS[40:])]).fit(X, Y), "Split 0 of cv=.* trains on one class only"),
    (lambda: SVCCV(**SEARCH, cv=[(ROWS[Y < 4], ROWS[40:])]).fit(X, Y, ABSENT),
     "Split 0 of cv=.* trains on one class only that counts"),
    (lambda: SVCCV(**SEARCH, cv=[(ROWS, ROWS[Y == -2])]).fit(X, Y, ABSENT),
     "Split 0 of cv=.* has no test example with a positive weight"),
    (lambda: SVRCV(**SEARCH, cv=[([], range(5))]).fit(X, T), "trains on no example with a positive weight"),
    (lambda: SVCCV(Cs=[1.0, -1.0]).fit(X, Y), "Cs=.* is not a list of positive finite numbers"),
    (lambda: SVCCV(Cs=[]).fit(X, Y), "Cs=.* is not a list of positive finite numbers"),
    (lambda: SVCCV(gammas=[0.0]).fit(X, Y), "gammas=.* is not a list of positive finite numbers"),
    (lambda: SVRCV(epsilons=[-0.1]).fit(X, T), "epsilons=.* is not a list of finite numbers ≥ 0"),
    (lambda: SVRCV(epsilons=[]).fit(X, T), "epsilons=.* is not a list of finite numbers ≥ 0"),
    *((lambda options=options, kind=kind: kind(**SEARCH, stop=BallRule(), **options).fit(X, Y),
       r'BallRule.* needs cv="loo"')
      for kind, options in [
          (SVCCV, {"cv": 3}), (SVCCV, {"cv": "loo", "class_weight": "balanced"}),
          (SVCCV, {"cv": "loo", "seeder": Cold()}), (SVRCV, {"cv": "loo"}),
      ]),
    *((lambda weight=weight: SVCCV(**SEARCH, class_weight={1: weight}).fit(X, Y),
       "class_weight contains .*, which with C=1 gives no usable penalty") for weight in (np.nan, np.inf, 1e301)),
    (lambda: SVCCV(**SEARCH).fit(X, Y, group=ROWS), "keyword argument 'group'; it takes sample_weight and groups"),
    *((lambda make=make, y=y: make.fit(X, y, sample_weight=np.full(75, 1e151)), "above the largest weight")
      for make, y in [(SVCCV(**SEARCH), Y), (SVRCV(**SEARCH), T), (OneClassSVM(), None)]),
    (lambda: SVCCV(**SEARCH, refit=False).fit(X, Y).predict(X), "set refit=True"),
    (lambda: SVCCV(**SEARCH, refit=False).fit(X, Y).coef_, r"SVCCV\(refit=False\) trained no model to predict with"),
    (lambda: SVCCV(**SEARCH).fit(X, Y).coef_, "coef_ needs kernel='linear'; this SVC was fitted with RBF"),
    *((lambda name=name: getattr(SVCCV(**SEARCH).fit(X, Y), name), f"has no attribute '{name}'")
      for name in ("nothing", "nothing_", "_hidden_")),
    # of searches along the gradient
    (lambda: SVCGradientCV(**FEW).fit(X, Y), "y holds 3 classes; use SVCCV"),
    (lambda: SVCGradientCV(loss="squared", **FEW).fit(*TWO), "does not fit labels"),
    (lambda: SVRGradientCV(loss="logistic", **FEW).fit(X, T), "does not fit targets"),
    (lambda: SVCGradientCV(kernel="precomputed", **FEW).fit(*TWO), "'kernel' parameter"),
    (lambda: SVCGradientCV(n_starts=0).fit(*TWO), "'n_starts' parameter"),
    (lambda: SVCGradientCV(cv=[([0, 1], [2])]).fit(*TWO), "does not hold out every example"),
    *((lambda make=make, y=y: make(**FEW).fit(X, y, sample_weight=np.ones(75)),
       r"sample_weight=<ndarray of shape \(75,\)> out, or use SVCCV or SVRCV")
      for make, y in [(SVCGradientCV, Y), (SVRGradientCV, T)]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("call", "sentence"), CALLS, ids=lambda each: each[:40] if isinstance(each, str) else ""
)
def test_a_call_is_refused(call: Any, sentence: str) -> None:
    with pytest.raises((ValueError, TypeError, AttributeError, NotFittedError), match=sentence):
        call()
