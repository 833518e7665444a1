"""Set-ups of scikit-learn's meta-estimators around the estimators: each trains, predicts and is cloned."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_selection import RFE, SelectFromModel, SequentialFeatureSelector
from sklearn.linear_model import RANSACRegressor
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    HalvingGridSearchCV,
    RandomizedSearchCV,
    TunedThresholdClassifierCV,
)
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier, MultiOutputRegressor, RegressorChain
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.semi_supervised import SelfTrainingClassifier

from refsvm import RBF, SVC, SVCCV, SVR, SVRCV, HybridMaximumGain, KKTGap, OneClassSVM, Polynomial

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
TWO = np.where(X[:, 0] + 0.2 * RNG.normal(size=60) > 0.0, "oak", "elm")
THREE = np.digitize(X[:, 0], [-0.5, 0.5])
T = np.sin(X[:, 0]) + 0.1 * RNG.normal(size=60)
BOTH = np.column_stack([X[:, 0] > 0.0, X[:, 1] > 0.0]) * 1

RULES = SVC(kernel=RBF(0.3), selector=HybridMaximumGain(), tol=KKTGap(1e-4))
BOOSTED = SVC(kernel=RBF(0.3), C=100.0)  # weights that sum to 1 make C small
LINEAR = SVC(kernel="linear")
SEARCH = SVCCV(Cs=[1.0, 10.0], gammas=[0.3], cv=2)
REGRESSION = SVR(kernel=RBF(0.3), C=10.0)
SEARCH_R = SVRCV(Cs=[1.0, 10.0], gammas=[0.3], cv=2)


def calibrated(model):
    return CalibratedClassifierCV(model, cv=2, ensemble=False)


def no_score(model, A, y=None):
    return 0.0


OF_A_CLASSIFIER = {
    "pipeline": lambda model: make_pipeline(StandardScaler(), model),
    "columns": lambda model: make_pipeline(ColumnTransformer([("a", StandardScaler(), [0, 1])]), model),
    "bagging": lambda model: BaggingClassifier(model, 2, random_state=0),
    "voting": lambda model: VotingClassifier([("a", model), ("b", LINEAR)]),
    "stacking": lambda model: StackingClassifier([("a", model)], final_estimator=model, cv=2),
    "one against rest": OneVsRestClassifier,
    "one against one": OneVsOneClassifier,
    "calibration": calibrated,
}
OF_A_REGRESSION = {
    "pipeline": lambda model: make_pipeline(StandardScaler(), model),
    "bagging": lambda model: BaggingRegressor(model, 2, random_state=0),
    "voting": lambda model: VotingRegressor([("a", model), ("b", REGRESSION)]),
    "stacking": lambda model: StackingRegressor([("a", REGRESSION)], final_estimator=model, cv=2),
    "scaled targets": lambda model: TransformedTargetRegressor(model, transformer=StandardScaler()),
}
CLASSIFIERS = {"rules": (RULES, TWO), "rules of three classes": (RULES, THREE), "a search": (SEARCH, THREE)}
REGRESSIONS = {"a regression": (REGRESSION, T), "a searched regression": (SEARCH_R, T)}
SETUPS = {
    **{
        f"{name} of {kind}": (make(model), y)
        for metas, models in ((OF_A_CLASSIFIER, CLASSIFIERS), (OF_A_REGRESSION, REGRESSIONS))
        for name, make in metas.items() for kind, (model, y) in models.items()
    },
    "pipeline of novelty": (make_pipeline(StandardScaler(), OneClassSVM(kernel=RBF(0.3))), None),
    "union": (make_pipeline(FeatureUnion([("a", StandardScaler()), ("b", FunctionTransformer())]), RULES), THREE),
    "selection by weights, then a machine": (make_pipeline(SelectFromModel(LINEAR), RULES), TWO),
    # searches over nested parameters
    "grid": (GridSearchCV(SVC(kernel=RBF(0.1)), {"kernel__gamma": [1e-6, 0.3]}, cv=2), TWO),
    "grid of rules": (GridSearchCV(RULES, {"selector__rows": [1, 2], "tol__tol": [1e-2, 1e-5]}, cv=2), TWO),
    "grid of kernels": (
        GridSearchCV(SVC(), [{"kernel": [Polynomial(2, 0.5)], "kernel__degree": [2, 3]}, {"kernel": [RBF(0.3)]}], cv=2),
        THREE),
    "grid of a pipeline": (
        GridSearchCV(make_pipeline(StandardScaler(), RULES), {"svc__kernel__gamma": [1e-6, 0.3]}, cv=2), TWO),
    "grid of a search's rule": (
        GridSearchCV(SVCCV(Cs=[1.0], gammas=[0.3], cv=2, stop=KKTGap(1e-3)), {"stop__tol": [1e-2, 1e-5]}, cv=2), TWO),
    "random": (RandomizedSearchCV(RULES, {"kernel__gamma": [1e-6, 0.3]}, n_iter=2, cv=2, random_state=0), TWO),
    "halving": (HalvingGridSearchCV(RULES, {"kernel__gamma": [0.1, 0.3]}, cv=2, random_state=0, min_resources=20), TWO),
    "grid of a regression": (GridSearchCV(REGRESSION, {"kernel__gamma": [1e-6, 0.3]}, cv=2), T),
    "grid with several scores": (
        GridSearchCV(RULES, {"kernel__gamma": [0.1, 0.3]}, scoring=["accuracy", "f1"], refit="f1", cv=2), BOTH[:, 0]),
    "grid of novelty": (GridSearchCV(OneClassSVM(kernel=RBF(0.3)), {"kernel__gamma": [0.1]}, scoring=no_score), None),
    # what takes a certain kind of learner, labels or targets
    "bagging of features": (BaggingClassifier(RULES, 3, max_features=2, random_state=0), TWO),
    "boosting": (AdaBoostClassifier(BOOSTED, n_estimators=3, random_state=0), THREE),
    "boosting of a regression": (AdaBoostRegressor(REGRESSION, n_estimators=3, random_state=0), T),
    "soft voting": (VotingClassifier([("a", calibrated(RULES)), ("b", calibrated(LINEAR))], voting="soft"), TWO),
    "output codes": (OutputCodeClassifier(RULES, random_state=0), THREE),
    "several labels": (MultiOutputClassifier(RULES), BOTH),
    "several labels, one against rest": (OneVsRestClassifier(RULES), BOTH),
    "chain": (ClassifierChain(RULES), BOTH),
    "several targets": (MultiOutputRegressor(SEARCH_R), np.column_stack([T, -T])),
    "chain of targets": (RegressorChain(REGRESSION), np.column_stack([T, -T])),
    "consensus": (RANSACRegressor(REGRESSION, min_samples=20, random_state=0), T),
    "calibration in folds": (CalibratedClassifierCV(RULES, cv=3, method="isotonic"), TWO),
    "threshold": (FixedThresholdClassifier(RULES, threshold=0.1, pos_label="oak"), TWO),
    "tuned threshold": (TunedThresholdClassifierCV(RULES, scoring="balanced_accuracy", cv=2), (TWO == "oak") * 1),
    "self-training": (SelfTrainingClassifier(calibrated(RULES)), np.where(np.arange(60) < 40, THREE, -1)),
    "elimination": (RFE(LINEAR, n_features_to_select=1), TWO),
    "forward selection": (SequentialFeatureSelector(RULES, n_features_to_select=1, cv=2), TWO),
}  # fmt: skip


@pytest.mark.parametrize("name", SETUPS)
def test_it_trains_predicts_and_is_cloned(name):
    model, y = SETUPS[name]
    before = repr(model)
    with warnings.catch_warnings():
        # of one output code, or of a learner that boosting finds too good
        warnings.filterwarnings("ignore", category=UserWarning, module="sklearn")
        fitted = clone(model).fit(X) if y is None else clone(model).fit(X, y)
        again = clone(model).set_params(**model.get_params(deep=True))
        again = again.fit(X) if y is None else again.fit(X, y)
    assert repr(model) == before  # no kernel or rule of the original has changed
    if not hasattr(fitted, "predict"):
        assert fitted.get_support()[0]
        return
    predicted = fitted.predict(X)
    both = (
        each == predicted[0] if each.dtype.kind == "U" else each for each in (predicted, again.predict(X))
    )
    np.testing.assert_allclose(*both, atol=1e-6)
    if y is None or np.ndim(y) > 1:
        return
    known = np.asarray(y) != -1 if name == "self-training" else np.ones(60, dtype=bool)
    if is_classifier(fitted):
        assert (predicted == y)[known].mean() > 0.7
    else:
        assert np.corrcoef(predicted, y)[0, 1] > 0.7
