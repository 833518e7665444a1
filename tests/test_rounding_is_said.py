"""Where the origin of the features matters, a warning says if rounding moves decision values by more than ε."""

import warnings

import numpy as np
import pytest
from scipy import sparse

from refsvm import (
    RBF,
    SVC,
    Cold,
    DualProblem,
    KKTGap,
    Linear,
    OneClassSVM,
    Polynomial,
    Rounds,
    cross_validate,
    epsilon_path,
    leave_one_out,
    nu_path,
    solve,
)  # fmt: skip
from refsvm.core.kernels.gram import dense_gram
from refsvm.core.kernels.origin import origin_of
from refsvm.core.rounds.round import Round

from .settings import FAST
from .test_origin import BOTH, OFFSETS, data


def said(run):
    """Return whether the warning about rounding was given."""
    with warnings.catch_warnings(record=True, action="always") as caught:
        run()
    return any("rounding moves decision values" in str(each.message) for each in caught)


FOUR = [-1, -1, 1, 1]
STAMPS, TWO = np.array([[1.0, 1e8], [2.0, 1e8]]), np.array([-1, 1])
TWICE, BENT = np.repeat(STAMPS, 2, axis=0), {"kernel": Polynomial(2, 0.5), "engine": FAST}
HOLES = sparse.csr_array(np.array([[1e8, 1.0], [1e8, 2.0], [0.0, 1.0], [0.0, 2.0]]))


@pytest.mark.parametrize(
    "run",
    [
        lambda: SVC(kernel="poly", degree=2, gamma=0.5, engine="numpy").fit(STAMPS, TWO),
        lambda: solve(DualProblem.classification(STAMPS, TWO, kernel=Polynomial(2, 0.5)), engine="numpy"),
        lambda: solve(DualProblem.classification(gram=STAMPS @ STAMPS.T, y=TWO), engine="numpy"),
        lambda: solve(DualProblem.classification(STAMPS, TWO, kernel=lambda X, Z: X @ Z.T), engine="numpy"),
        lambda: SVC(kernel="linear", engine="numpy").fit(HOLES, [-1, 1, 1, -1]),
        lambda: OneClassSVM(kernel="linear", engine="numpy").fit(data(OFFSETS[1])[0]),
        lambda: cross_validate(TWICE, FOUR, folds=[0, 1, 0, 1], **BENT),
        lambda: cross_validate(TWICE, FOUR, folds=[0, 1, 0, 1], seeder=Cold(), **BENT),
        lambda: leave_one_out(TWICE, FOUR, **BENT),
    ],
    ids=["SVC", "solve", "array", "callable", "sparse", "one-class", "folds", "cold folds", "left out"],
)
def test_rounding_that_moves_decision_values_is_said(run):
    assert said(run)


@BOTH
def test_a_path_of_one_class_is_right_to_what_its_decision_values_vary_by(engine):
    """Far from the origin they are products of 1e8 and vary by 1e4: that is what a path leaves a part of."""
    X = data(OFFSETS[0])[1] + 1e4
    path = nu_path(X, kernel=Linear(), nu=(0.2, 0.8), engine=engine)
    K = X.astype(np.longdouble) @ X.T.astype(np.longdouble)
    for nu in (0.2, 0.5, 0.8):
        alpha = path.alpha(nu)
        h = K @ alpha
        gap = h[alpha > 1e-8].max() - h[alpha < 1.0 - 1e-8].min()
        assert gap <= 1e-7 * np.ptp(h)
    with pytest.warns(UserWarning, match="are rounded so much"):
        nu_path(1e-6 * X + 1e9, kernel=Linear(), nu=(0.2, 0.8), engine=engine)


def test_a_path_says_that_its_targets_are_rounded_and_not_the_kernel_values():
    X, y = np.arange(8.0)[:, None], 1e6 + 1e-5 * np.sin(np.arange(8.0))
    with pytest.warns(UserWarning, match=r"targets up to 1e\+06 are rounded so .* mean of the targets\."):
        epsilon_path(X, y, kernel=RBF(0.5), C=1e-5, epsilon=(1e-6, 1e-7), engine="numpy")


def test_rounding_is_compared_with_the_tolerance_of_values_that_vary_little():
    """With a tiny C, far from the origin, decision values differ by 1e-13 or so: rounding of 1e-16 is not little."""
    X, y = 1e9 + 1e-5 * np.arange(6.0)[:, None], [-1, 1, -1, 1, 1, -1]
    problem = DualProblem.classification(X, y, kernel=Polynomial(3, 1.0), C=1e-50)
    assert said(lambda: solve(problem, stop=KKTGap(1e-3, relative=True), engine="numpy"))


@BOTH
@pytest.mark.parametrize("unit", [1.0, 100.0, 1e4])
def test_nothing_is_said_of_a_machine_that_is_constant(engine, unit):
    """Where w = 0 is best, decision values are what rounding leaves, however small it is."""
    A = unit * np.random.default_rng(3).normal(size=(30, 2))
    assert not said(lambda: OneClassSVM(kernel="linear", nu=0.05, engine=engine).fit(np.vstack([A, -A])))
    assert not said(lambda: OneClassSVM(kernel="linear", nu=0.05, engine=engine).fit(sparse.csr_array(A)))


def test_rounding_of_what_fixed_variables_add_is_said():
    X = np.vstack([STAMPS, STAMPS + 1.0, STAMPS - 1.0])
    problem = DualProblem.classification(X, [-1, 1] * 3, kernel=Polynomial(2, 0.5), C=1e-18)
    part = problem.restrict([0, 1], np.array([0.0, 0.0, *[-1e-18, 1e-18] * 2]))
    assert not said(lambda: solve(problem.restrict([0, 1]), stop=KKTGap(1e-1), engine="numpy"))
    tiny = part.boxed(1e-6 * part.lower, 1e-6 * part.upper)
    assert said(lambda: solve(tiny, stop=KKTGap(1e-3), engine="numpy"))


@BOTH
@pytest.mark.filterwarnings("ignore:The features are so large")
@pytest.mark.parametrize("is_single", [True, False])
def test_rounds_say_what_rounding_does_in_both_engines(engine, is_single):
    """Rounds in compiled code keep no α: the last one is looked at, whatever the caller keeps."""
    _, near, y, _ = data(OFFSETS[0])
    if is_single:
        problem = DualProblem.classification(near, y, kernel=RBF(1e-3), C=1e4)
        problem = problem.with_gram(dense_gram(problem.gram, np.float32))
    else:
        problem = DualProblem.classification(sparse.csr_array(near + 1e7), y, kernel=RBF(0.1))
    rounds = Rounds(problem, engine=engine)
    words = "float32 kernel values" if is_single else "rounding moves decision values"
    with pytest.warns(UserWarning, match=words) as caught:
        assert len([*rounds.run([Round(r) for r in range(10)])]) == 10
    assert len([each for each in caught if words in str(each.message)]) == 1
    assert not rounds.solutions


def test_wide_sparse_data_take_no_memory_for_an_origin():
    indices, starts = np.array([0, 5, 0, 9]), np.array([0, 2, 4])
    X = sparse.csr_array((np.array([1e9, 1.0, 1e9, 2.0]), indices, starts), shape=(2, 2 * 10**9))
    assert origin_of(X) is None
