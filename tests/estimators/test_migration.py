"""What code written for scikit-learn's SVC meets here: arguments, sentences, progress, Ctrl-C, files of a fit."""

import pickle
import re

import numpy as np
import pytest
from sklearn import svm
from sklearn.base import clone

from refsvm import (
    RBF,
    SVC,
    SVR,
    ConjugateSecondOrder,
    ConjugateStep,
    HybridMaximumGain,
    OneClassSVM,
    OverrelaxedNewtonStep,
    Polynomial,
    Status,
)
from refsvm.estimators.plain import from_plain, to_plain

from ..programs import printed_by
from ..several_classes import examples


def test_arguments_that_change_nothing():
    X, y = examples(3)
    plain = SVC().fit(X, y)
    for model in (SVC(random_state=7), SVC(probability=False)):
        assert np.array_equal(model.fit(X, y).alpha_, plain.alpha_)
    assert clone(SVC(random_state=7)).get_params()["random_state"] == 7
    assert "probability" not in SVC().get_params()


def test_probabilities_are_refused_with_what_to_use_instead():
    X, y = examples(2)
    fitted = SVC().fit(X, y)
    for name in ("predict_proba", "predict_log_proba"):
        assert not hasattr(fitted, name)
        with pytest.raises(AttributeError, match=r"CalibratedClassifierCV\(SVC\(\), ensemble=False\)"):
            getattr(fitted, name)(X)
    with pytest.raises(TypeError, match=r"SVC does not take probability=True.*CalibratedClassifierCV"):
        SVC(probability=True)
    with pytest.raises(TypeError, match="unexpected keyword argument 'penalty'"):
        SVC(penalty="l2")


@pytest.mark.parametrize(
    "parameters", [{"gamma": 0.0}, {"kernel": "poly", "degree": 0}, {"kernel": "poly", "gamma": 0}]
)
def test_flat_kernels_are_accepted_as_scikit_learn_accepts_them(parameters):
    X, y = examples(2)
    ours, theirs = SVC(**parameters).fit(X, y), svm.SVC(**parameters).fit(X, y)
    assert np.array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-6)


# -- progress --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [SVC, SVR, OneClassSVM], ids=lambda cls: cls.__name__)
def test_defaults_and_fitted_attributes_are_those_of_scikit_learn(make):
    """But for those that the page for its users names."""
    theirs = getattr(pytest.importorskip("sklearn.svm"), make.__name__)
    given, ours = theirs().get_params(), make().get_params()
    assert {name for name in given if ours.get(name, "none") != given[name]} <= {"probability", "verbose"}
    X, y = examples(2)
    fitted = {name for name in vars(theirs().fit(X, y)) if name.endswith("_") and not name.startswith("_")}
    assert {name for name in fitted if not hasattr(make().fit(X, y), name)} <= {"probA_", "probB_"}


@pytest.mark.parametrize("make", [SVC, SVR, OneClassSVM], ids=lambda cls: cls.__name__)
def test_verbose_ends_with_one_line_and_changes_nothing(make, capsys):
    X, y = examples(3)
    quiet = make().fit(X, y)
    assert capsys.readouterr().err == ""
    loud = make(verbose=1).fit(X, y)
    captured = capsys.readouterr()
    assert re.fullmatch(
        rf"{make.__name__}: The stopping rule is satisfied\. KKT gap [\d.e-]+, [\d,]+ steps, \d+\.\d s\n",
        captured.err,
    )
    assert captured.out == ""
    assert np.array_equal(loud.alpha_, quiet.alpha_)


# -- Ctrl-C ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_grid_search_stops_at_ctrl_c():
    script = """
import numpy as np, signal, os, threading, time
from sklearn.model_selection import GridSearchCV
from refsvm import SVC
X = np.random.default_rng(0).uniform(0, 12, size=(1500, 2)); y = np.floor(X).sum(axis=1) % 2
SVC().fit(X[:50], y[:50])
pressed = []
threading.Timer(1.5, lambda: (pressed.append(time.process_time()), os.kill(os.getpid(), signal.SIGINT))).start()
try:
    GridSearchCV(SVC(C=1e6, tol=1e-9), {"gamma": [0.1, 0.5, 1.0, 2.0, 5.0]}, cv=5, error_score=0.0).fit(X, y)
except KeyboardInterrupt:
    print("stopped after", time.process_time() - pressed[0])
"""
    said = printed_by("-c", script)
    assert said.startswith("stopped after")
    assert float(said.split()[-1]) < 1.0


# -- files of a fit --------------------------------------------------------------------------------------------------

FITTED = [
    SVC(kernel=Polynomial(2, 0.2, 1.0), selector=HybridMaximumGain(), step=OverrelaxedNewtonStep(1.2)),
    SVC(gamma=0.3, C=3.0),
    SVC(kernel="linear", probability=False),
    SVC(selector=ConjugateSecondOrder(), step=ConjugateStep()),
    SVR(kernel=RBF(0.3)),
    SVR(),
    OneClassSVM(nu=0.2, gamma=0.3),
]


PAIRS_OF_CONJUGATE = 3, FITTED[3]
"""Small problems by these rules are compiled for this test alone."""


@pytest.mark.parametrize(
    ("k", "model"),
    [
        pytest.param(k, model, marks=[pytest.mark.slow] if (k, model) == PAIRS_OF_CONJUGATE else [])
        for k in (2, 3)
        for model in FITTED
    ],
    ids=repr,
)
def test_pickle_and_skops_round_trips_are_equal_in_every_prediction(k, model):
    X, y = examples(k)
    model = clone(model).fit(X, y)
    copies = [pickle.loads(pickle.dumps(model))]
    io = pytest.importorskip("skops.io")
    data = io.dumps(model)
    own = f"{type(model).__module__}.{type(model).__name__}"
    assert io.get_untrusted_types(data=data) == [own]  # the class of the estimator, and nothing beside it
    copies.append(io.loads(data, trusted=[own]))
    for copy in copies:
        assert np.array_equal(copy.predict(X), model.predict(X))
        assert np.array_equal(copy.alpha_, model.alpha_)
        assert copy.get_params() == model.get_params()
        assert copy.kernel_ == model.kernel_
        assert copy.status_ is Status.CONVERGED
        if isinstance(model, SVC):
            assert np.array_equal(copy.decision_function(X), model.decision_function(X))
            assert copy.binary_results_[0].status is Status.CONVERGED
            copy.set_params(warm_start=True).fit(X, y)


def test_a_fitted_estimator_keeps_neither_the_data_nor_the_kernel_matrix():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(-9, 1, (500, 40)), rng.normal(9, 1, (500, 40))])
    model = SVC(kernel="linear", C=0.01).fit(X, np.repeat([0, 1], 500))
    assert len(pickle.dumps(model)) < X.nbytes / 4


def test_what_is_not_ours_stays_as_it_is():
    class Other(RBF):
        pass

    for value in (3, "a", None, {"a": 1}, Other(0.5), np.float64(2.0)):
        assert to_plain(value) is value
        assert from_plain(value) is value
    assert from_plain(to_plain([RBF(0.5), Status.STALLED])) == [RBF(0.5), Status.STALLED]


@pytest.mark.parametrize(
    "state",
    [
        {"refsvm object": "os.system", "command": "true"},
        {"refsvm object": "RBF", "width": 2.0},
        {"refsvm object": "Status", "name": "A_LATER_ONE"},
    ],
)
def test_files_of_another_version_are_refused_with_a_sentence(state):
    with pytest.raises(ValueError, match="does not know; read it with the version that wrote it"):
        from_plain(state)


def test_without_scikit_learn_the_extra_is_named():
    script = (
        "import sys; sys.modules['sklearn'] = None\n"
        "try:\n    from refsvm import SVC\nexcept ImportError as error:\n    print(error)\n"
        "import refsvm\nprint(hasattr(refsvm, 'no_such_name'))\n"
    )
    assert printed_by("-c", script).splitlines() == [
        "refsvm.SVC needs scikit-learn, which is not installed; run: pip install scikit-learn",
        "False",
    ]
