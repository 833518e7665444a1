"""scikit-learn's own checks of an estimator; none is expected to fail."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from refsvm import (
    RBF,
    SVC,
    SVCCV,
    SVR,
    SVRCV,
    HybridMaximumGain,
    KKTGap,
    OneClassSVM,
    SVCGradientCV,
    SVRGradientCV,
)

VARIANTS = [
    SVC(),
    SVC(engine="numpy"),
    SVC(kernel="linear", warm_start=True, shrinking=False, selector=HybridMaximumGain()),
    SVC(kernel="precomputed"),
    SVCCV(Cs=(1.0, 10.0), gammas=2, cv=3, tol=1e-11),
    SVCCV(Cs=(1.0,), kernel="linear", cv=2, tol=1e-11),
    SVRCV(Cs=(1.0, 10.0), gammas=2, epsilons=(0.0, 0.1), cv=3, tol=1e-11),
    SVRCV(Cs=(1.0,), kernel="linear", cv=2, tol=1e-11, scoring="explained_variance"),
    SVCCV(Cs=(1.0,), gammas=2, cv=2, tol=1e-11, scoring="balanced_accuracy"),
    SVR(),
    SVR(kernel="linear", epsilon=0.01, shrinking=False),
    OneClassSVM(),
    OneClassSVM(kernel="linear", nu=0.2),
    SVC(kernel=RBF(0.5), selector=HybridMaximumGain(), tol=KKTGap(1e-6)),
    SVCCV(Cs=(1.0,), gammas=2, cv=2, tol=1e-11, scoring=["accuracy", "f1_macro"], refit="f1_macro"),
    SVR(keep_examples=False),
    SVCGradientCV(n_starts=1, max_evaluations=2, cv=2),
    SVRGradientCV(n_starts=1, max_evaluations=2, cv=2),
]


@pytest.mark.slow
@parametrize_with_checks(VARIANTS, expected_failed_checks=lambda estimator: {})
@pytest.mark.filterwarnings("default")
def test_check(estimator, check):
    check(estimator)
