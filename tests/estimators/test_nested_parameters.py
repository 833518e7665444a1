"""Parameters of kernels and rules by scikit-learn's convention: kernel__gamma, selector__rows, tol__tol, stop__tol."""

import pickle
import re
from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.gaussian_process import kernels as gaussian

from refsvm import (
    RBF,
    SVC,
    SVCCV,
    SVR,
    SVRCV,
    TOP,
    BallRule,
    HybridMaximumGain,
    Kernel,
    KKTGap,
    OneClassSVM,
    Polynomial,
    SecondOrder,
    WorkingSetGap,
)
from refsvm.core.rule import rules_in
from refsvm.estimators.nested import parameters_of, with_parameters

from ..several_classes import examples

X, Y = examples(2)
TARGETS = X[:, 0] ** 2

OWN = [
    (SVC(kernel=RBF(0.5)), "kernel__gamma", 2.0),
    (SVC(kernel=Polynomial(degree=2, gamma=0.1)), "kernel__degree", 4),
    (SVC(selector=HybridMaximumGain()), "selector__rows", 1),
    (SVC(selector=SecondOrder()), "selector__planned_range", 0.5),
    (SVC(tol=KKTGap(1e-3)), "tol__tol", 1e-5),
    (SVR(kernel=RBF(0.5)), "kernel__gamma", 2.0),
    (OneClassSVM(kernel=RBF(0.5)), "kernel__gamma", 2.0),
    (SVCCV(kernel=RBF(0.5)), "kernel__gamma", 2.0),
    (SVCCV(stop=BallRule(1e-3), seeder=TOP()), "stop__tol", 1e-5),
    (SVRCV(kernel=RBF(0.5)), "kernel__gamma", 2.0),
    (SVC(kernel=gaussian.RBF(0.5)), "kernel__length_scale", 2.0),
]


@dataclass(frozen=True)
class Sum(Kernel):
    """A kernel of the user's, made of two."""

    first: Kernel
    second: Kernel
    share: float = 0.5

    def from_inner(self, inner, x_norms, z_norms):
        parts = [each.from_inner(inner.copy(), x_norms, z_norms) for each in (self.first, self.second)]
        return self.share * parts[0] + (1.0 - self.share) * parts[1]


@pytest.mark.parametrize(("model", "name", "value"), OWN, ids=lambda each: str(each)[:40])
def test_each_is_listed_set_and_cloned(model, name, value):
    model = clone(model)
    owner, part = name.split("__")
    before = getattr(model, owner)
    assert model.get_params()[name] == getattr(before, part)
    assert not any("__" in each for each in model.get_params(deep=False))
    assert model.set_params(**{name: value}) is model
    assert model.get_params()[name] == getattr(getattr(model, owner), part) == value
    again = clone(model)
    assert again.get_params()[name] == value
    assert pickle.loads(pickle.dumps(model)).get_params()[name] == value


def test_an_instance_that_two_estimators_share_is_not_changed():
    kernel = RBF(0.5)
    one, other = SVC(kernel=kernel), SVC(kernel=kernel)
    one.set_params(kernel__gamma=3.0)
    assert (kernel.gamma, one.kernel.gamma, other.kernel.gamma) == (0.5, 3.0, 0.5)


def test_a_rule_is_set_before_its_parameters_in_any_order():
    rules = {"kernel": RBF(1.0), "selector": HybridMaximumGain()}
    model = SVC().set_params(kernel__gamma=3.0, selector__rows=1, **rules)
    assert (model.kernel, model.selector) == (RBF(3.0), HybridMaximumGain(rows=1))


def test_kernels_and_rules_in_others():
    model = SVC(kernel=Sum(RBF(0.5), Polynomial(2, 1.0)))
    names = {"kernel__share", "kernel__first", "kernel__first__gamma", "kernel__second__degree"}
    assert names <= set(model.get_params())
    model.set_params(kernel__first__gamma=2.0, kernel__share=0.25, kernel__second__degree=3)
    assert model.kernel == Sum(RBF(2.0), Polynomial(3, 1.0), 0.25)
    model.set_params(kernel__second__gamma=0.25, kernel__second=RBF(9.0))
    assert model.kernel.second == RBF(0.25)


def test_every_rule_and_kernel_of_the_package_gives_its_parameters():
    from refsvm.core import kernels, seeders, selectors, steps, stopping

    for room in (kernels.functions, selectors, steps, stopping, seeders):
        for kind in rules_in(room):
            try:
                rule = kind()
            except (TypeError, ValueError):  # a parameter without a default
                rule = kind(0.5)
            flat = {name: value for name, value in parameters_of(rule).items() if "__" not in name}
            assert with_parameters("rule", rule, flat) == rule


@pytest.mark.parametrize(
    ("model", "given", "sentence"),
    [
        (SVC(kernel=RBF(0.5)), {"kernel__gama": 1.0}, "RBF(gamma=0.5) has no parameter 'gama'; did you mean 'gamma'?"),
        (SVC(kernel=RBF(0.5)), {"kernel__depth": 1.0}, "has no parameter 'depth'; its parameters are gamma."),
        (SVC(kernel=RBF(0.5)), {"kernel__gamma": -1.0}, "gamma=-1.0 is negative"),
        (SVC(), {"kernel__gamma": 1.0}, "kernel='rbf' is a name without parameters of its own; set gamma"),
        (SVC(), {"kernel__depth": 1.0}, "kernel='rbf' has no parameter 'depth'; first set kernel to an object"),
        (SVC(kernel="nonsense"), {"kernel__gamma": 1.0}, "kernel='nonsense' has no parameter 'gamma'"),
        (SVC(), {"selector__rows": 1}, "selector=None has no parameter 'rows'; first set selector to an object"),
        (SVC(), {"tol__tol": 1.0}, "tol=0.001 has no parameter 'tol'"),
        (SVC(kernel=np.dot), {"kernel__gamma": 1.0}, "has no parameter 'gamma'; first set kernel to an object"),
        (SVC(kernel=RBF(0.5)), {"kernel__gamma__x": 1.0}, "kernel__gamma=0.5 has no parameter 'x'"),
        (SVC(), {"nothing__gamma": 1.0}, "Invalid parameter 'nothing' for estimator SVC(C=99.0)"),
    ],
)  # fmt: skip
def test_what_is_not_there_is_said_and_nothing_is_set(model, given, sentence):
    before = model.get_params()
    with pytest.raises(ValueError, match=re.escape(sentence)):
        model.set_params(C=99.0, **given)
    if "Invalid" not in sentence:
        assert model.get_params() == before


def test_a_stopping_rule_as_tol_decides_itself():
    loose = SVC(C=100.0, tol=KKTGap(0.5), engine="numpy").fit(X, Y)
    tight = SVC(C=100.0, tol=KKTGap(1e-9), engine="numpy").fit(X, Y)
    assert loose.n_iter_.sum() <= tight.n_iter_.sum()
    assert tight.kkt_gap_ <= 1e-9
    assert tight.to_sklearn().tol == 1e-9
    number, rule = SVR(tol=1e-3).fit(X, TARGETS), SVR(tol=KKTGap(1e-3, relative=True)).fit(X, TARGETS)
    np.testing.assert_array_equal(number.alpha_, rule.alpha_)
    three, labels = examples(3)
    assert SVC(tol=WorkingSetGap(1e-3)).fit(three, labels).fit_status_ == 0
    with pytest.warns(UserWarning, match=re.escape("the stopping rule requires WorkingSetGap(tol=1e-09).")):
        SVC(tol=WorkingSetGap(1e-9), max_iter=1).fit(X, Y)
