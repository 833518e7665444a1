"""A kernel matrix of an object of the user's: a string kernel in every public function, and what may go wrong."""

from __future__ import annotations

import signal
import warnings
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from refsvm import (
    RBF,
    DualProblem,
    Polynomial,
    Precomputed,
    Status,
    cross_validate,
    leave_one_out,
    regularization_path,
    solve,
)
from refsvm.core.kernels import Gram
from refsvm.core.kernels.checked import GivenMatrix
from refsvm.core.kernels.facts import KernelFacts

from ...settings import FAST

N = 60


class Spectrum:
    """Strings compared by the pairs of letters they have in common: the least that such an object needs."""

    def __init__(self, strings):
        self.counts = [Counter(a + b for a, b in pairwise(s)) for s in strings]
        self.n = len(strings)

    def value(self, i, j):
        one, other = self.counts[i], self.counts[j]
        return sum(times * other[pair] for pair, times in one.items())

    def block(self, rows, columns=None):
        return [[self.value(i, j) for j in (range(self.n) if columns is None else columns)] for i in rows]


def strings(rng):
    """Words of two languages: one likes "ab", the other "ba"."""
    y = np.where(np.arange(N) % 2, 1, -1)
    likes = {1: [0.6, 0.2, 0.2], -1: [0.2, 0.2, 0.6]}
    return ["".join(rng.choice(["ab", "c", "ba"], 12, p=likes[int(label)])) for label in y], y


STRINGS, Y = strings(np.random.default_rng(0))
GIVEN = Spectrum(STRINGS)
K = np.array(GIVEN.block(range(N)), dtype=float)
HELD = DualProblem.classification(K, Y, kernel=Precomputed(), C=0.1)


def made(kind, gram):
    """A problem of this matrix."""
    if kind == "one class":
        return DualProblem.one_class(gram=gram, nu=0.3)
    if kind == "regression":
        return DualProblem.regression(y=K[:, 0] / 10.0, gram=gram, C=0.1)
    return DualProblem.classification(y=Y, gram=gram, C=0.1)


@pytest.mark.parametrize("engine", ["numpy", "auto"])
@pytest.mark.parametrize("cache_mb", [200.0, 0.01])
@pytest.mark.parametrize(
    ("kind", "cache_dtype"),
    [("classes", "auto"), ("classes", "float32"), ("regression", "auto"), ("one class", "auto")],
)
def test_a_solve_is_that_of_the_matrix_as_an_array(kind, engine, cache_mb, cache_dtype):
    problem = made(kind, GIVEN)
    found = solve(problem, engine=engine, cache_mb=cache_mb, cache_dtype=cache_dtype)
    assert found.status is Status.CONVERGED
    assert found.objective == pytest.approx(solve(made(kind, K)).objective, rel=1e-5)
    assert 0 < found.kernel_rows <= (N if cache_mb > 1.0 else np.inf)
    np.testing.assert_allclose(problem.gradient(found.alpha), found.gradient, atol=1e-9)


def test_the_least_and_the_most_that_an_object_may_have():
    class Rich(Spectrum):
        full_matrix_only = prefers_batches = is_psd = True
        data_error = 1e-9

        def diagonal(self):
            return K.diagonal()

    least, most = GivenMatrix(GIVEN), GivenMatrix(Rich(STRINGS))
    assert (least.full_matrix_only, most.full_matrix_only) == (False, True)
    assert least.facts == KernelFacts(prefers_batches=False, is_psd=False, data_error=0.0)
    assert most.facts == KernelFacts(prefers_batches=True, is_psd=True, data_error=1e-9)
    rows, columns = np.array([7, 3]), np.array([1, 59, 0])
    for gram in (least, most):
        np.testing.assert_array_equal(gram.diagonal(), K.diagonal())
        np.testing.assert_array_equal(gram.block(rows, columns), K[np.ix_(rows, columns)])
        out = np.empty((2, N), np.float32)
        assert gram.block(rows, out=out) is out
        np.testing.assert_array_equal(out, K[rows])
        np.testing.assert_array_equal(gram.restrict(columns).block(np.array([2])), K[[0]][:, columns])


def test_each_row_is_asked_for_once():
    class Counting(Spectrum):
        asked = 0

        def block(self, rows, columns=None):
            Counting.asked += len(rows) * (columns is None)
            return super().block(rows, columns)

    problem = DualProblem.classification(y=Y, gram=Counting(STRINGS), C=0.1)
    assert Counting.asked == 1  # one was looked at
    Counting.asked = 0
    solution = solve(problem)
    assert Counting.asked == solution.kernel_rows == N


def test_arrays_and_matrices_of_the_package_are_taken_too():
    exact = solve(HELD).alpha
    held, lazy = Gram(Precomputed(), K), GivenMatrix(GIVEN)
    given = [DualProblem.classification(y=Y, gram=gram, C=0.1) for gram in (K, K.tolist(), held, lazy)]
    for problem in (*given, DualProblem(GIVEN, HELD.v, 0.0, HELD.lower, HELD.upper)):
        np.testing.assert_allclose(solve(problem).alpha, exact, atol=1e-3)
    assert given[-1].gram is lazy


def test_a_path_takes_an_object_an_array_and_a_problem():
    pytest.importorskip("scipy")
    exact = regularization_path(K, Y, kernel=Precomputed(), merge=False, C_min=0.01, C_max=1.0)
    for given in ({"y": Y, "gram": GIVEN}, {"y": Y, "gram": K, "merge": False}, {"X": HELD, "merge": False}):
        scale = 10.0 if "X" in given else 1.0  # the problem of C = 1 is that of C = 0.1 of the others
        path = regularization_path(**given, C_min=0.01 * scale, C_max=scale)
        assert path.kkt_audit().worst < 1e-6
        for C in (0.02, 0.3):
            assert path.objective(C * scale) == pytest.approx(exact.objective(C), rel=1e-8)
            found, expected = path.decision_function(K[:7], C * scale), exact.decision_function(K[:7], C)
            np.testing.assert_allclose(found, expected, atol=1e-6)
    with pytest.raises(ValueError, match=r"gram= give one column for each of the 60"):
        path.decision_function(K[:, :7], 0.1)


@pytest.mark.parametrize("engine", ["numpy", FAST])
@pytest.mark.parametrize("cache_mb", [200.0, 0.02])
@pytest.mark.parametrize("run", [leave_one_out, cross_validate])
def test_rounds_take_an_object_an_array_and_a_problem(run, engine, cache_mb):
    options = {"engine": engine} if run is leave_one_out else {"folds": 5, "rng": 0, "engine": engine}
    exact = run(K, Y, kernel=Precomputed(), C=0.1, **options)
    for arguments in ({"y": Y, "gram": GIVEN, "C": 0.1}, {"y": Y, "gram": K, "C": 0.1}, {"X": HELD}):
        found = run(**arguments, **options, cache_mb=cache_mb)
        np.testing.assert_array_equal(found.predictions, exact.predictions)
        assert found.is_complete
        if run is cross_validate:
            np.testing.assert_allclose(found.decision_values, exact.decision_values, atol=5e-3)
        if cache_mb > 1.0:
            assert found.kernel_rows == (N if arguments.get("gram") is GIVEN else 0)
    assert run(HELD, **options).error == exact.error


def test_cross_validation_of_several_classes_takes_an_object():
    y = np.arange(N) % 3
    exact = cross_validate(K, y, kernel=Precomputed(), C=0.1, folds=4)
    found = cross_validate(y=y, gram=GIVEN, C=0.1, folds=4)
    np.testing.assert_array_equal(found.predictions, exact.predictions)


def test_a_path_of_an_object_has_no_file(tmp_path):
    pytest.importorskip("scipy")
    from refsvm.analysis.paths import save_path

    path = regularization_path(y=Y, gram=GIVEN, C_min=0.01, C_max=0.1)
    with pytest.raises(
        ValueError, match=r"gram=Spectrum cannot be stored by name; track the path with one of linear"
    ):
        save_path(path, tmp_path / "path.npz")


# -- what may be wrong ----------------------------------------------------------------------------------------------


class OddValue:
    """No number."""


def changed(**parts):
    """A spectrum kernel that differs in these parts."""
    return type("Odd", (Spectrum,), parts)(STRINGS)


def without(name):
    return type("Odd", (), {part: True for part in ("n", "block") if part != name})()


def blocks(block):
    """Return what makes an object whose blocks these are, of rows and of columns or None."""
    return lambda: changed(block=lambda self, rows, columns=None: block(rows, columns))


def full(rows, value):
    return np.full((len(rows), len(rows)), value)


def some(columns):
    return slice(None) if columns is None else columns


WRONG = {
    "nothing that a matrix has": (object, "gram=object has no 'n'.*nor an object with n.*block"),
    "no n": (lambda: without("n"), "gram=Odd has no 'n'"),
    "no block": (lambda: without("block"), "gram=Odd has no 'block'"),
    "a class": (lambda: Spectrum, "gram=Spectrum is a class; pass an instance of this class"),
    "an n that is none": (lambda: changed(n=property(lambda self: 2.5, lambda self, n: None)), "Odd.n=2.5"),
    "no example": (lambda: changed(n=property(lambda self: 0, lambda self, n: None)),
                   "Odd.n=0 is not a whole number ≥ 1; give "),
    "no columns": (lambda: changed(block=lambda self, rows: K[rows]), "gram=Odd fails on a block of 8 rows.*TypeError"),
    "columns that are ignored": (
        blocks(lambda rows, columns: K[rows]),
        r"gram=Odd fails on a block of 8 rows and 8 columns: .*shape \(8, 60\); it must return .*shape \(8, 8\)"),
    "the transposed block": (
        blocks(lambda rows, columns: K[:, rows][some(columns)]),
        r"a block of 1 rows: .*shape \(60, 1\); it must return one real number for each pair, shape \(1, 60\)"),
    "an error of its own": (blocks(lambda rows, columns: 1 // 0),
                            "gram=Odd fails on a block.*ZeroDivisionError: integer division"),
    "NaN": (blocks(lambda rows, columns: full(rows, np.nan)),
            "gram=Odd fails on a block of 8 rows and 8 columns: .*The kernel takes the value nan"),
    # its class where NumPy can only say that it is an object; else the type of the numbers says it
    **{said: (blocks(lambda rows, columns, found=found: found),
              f"gram=Odd fails on a block.* the object returned {said}; ")
       for found, said in (
           (None, r"values of type object \(a NoneType\), shape \(\)"),
           (OddValue(), r"values of type object \(a OddValue\), shape \(\)"),
           ("abc", r"values of type <U3, shape \(\)"),
           (np.zeros((2, 3)), r"values of type float64, shape \(2, 3\)"),
           (np.datetime64("2020-01-01"), r"values of type datetime64\[D\], shape \(\)"),
           (np.zeros((2, 3), complex), r"values of type complex128, shape \(2, 3\)"),
           (np.ma.masked_array(np.eye(5)[:, :1], [[1], [0], [0], [0], [0]]), "masked values"),
       )},
    "rows in an order of its own": (blocks(lambda rows, columns: K[np.sort(rows)][:, some(columns)]),
                                    "gram=Odd returns rows in another order than requested"),
    "columns in an order of its own": (
        blocks(lambda rows, columns: K[rows][:, slice(None) if columns is None else np.sort(columns)]),
        "gram=Odd returns columns in another order than requested"),
    "a matrix that is not symmetric": (lambda: changed(value=lambda self, i, j: float(i - j)),
                                       r"gram=Odd is not symmetric.* among examples \[0, 20, 30, 59\]"),
    "another row without columns": (
        blocks(lambda rows, columns: 2.0 * K[rows] if columns is None else K[rows][:, columns]),
        "gram=Odd returns other values for a row if columns is None"),
    "another diagonal": (lambda: changed(diagonal=lambda self: np.ones(N)),
                         r"gram=Odd has a diagonal\(\) that is not the diagonal of its blocks"),
    "a short diagonal": (lambda: changed(diagonal=lambda self: np.ones(3)),
                         r"gram=Odd fails on a diagonal\(\): .*shape \(3,\); it must return .*, shape \(60,\)"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_with_an_object_is_said_in_one_sentence(case):
    make, words = WRONG[case]
    with pytest.raises(ValueError, match=words):
        DualProblem.classification(y=Y, gram=make())


def test_nan_that_comes_later_is_found_then():
    bad = blocks(lambda rows, columns: K[rows][:, some(columns)])()
    problem = DualProblem.classification(y=Y, gram=bad, C=0.1)
    type(bad).block = lambda self, rows, columns=None: np.full((len(rows), N), np.inf)
    with pytest.raises(ValueError, match=r"gram=Odd fails on a block of .*takes the value inf"):
        solve(problem)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"X": K, "y": Y, "gram": GIVEN}, "gram and X are both given"),
        ({"y": Y, "gram": GIVEN, "kernel": RBF(1.0)}, "gram and kernel are both given"),
        ({"y": Y}, "X is missing; give the examples, or their kernel matrix as gram="),
        ({"gram": GIVEN}, "y is missing; give 60 labels"),
        ({"y": Y[:5], "gram": GIVEN}, "expected 60 labels"),
        ({"y": Y, "gram": K[:5]}, "expected a square matrix"),
        ({"X": HELD, "y": Y}, "X is a DualProblem, which already contains y; omit y"),
        ({"X": HELD, "gram": K}, "already contains gram"),
        ({"X": HELD, "kernel": RBF(1.0)}, "already contains kernel"),
    ],
)
def test_what_is_given_twice_or_not_at_all_is_said(arguments, words):
    makers = () if arguments.get("X") is HELD else (DualProblem.classification,)
    for public_function in (*makers, leave_one_out, cross_validate, regularization_path):
        with pytest.raises(ValueError, match=words):
            public_function(**arguments)


def test_novelty_detection_has_no_path_of_its_penalty():
    with pytest.raises(ValueError, match="not of classification"):
        regularization_path(DualProblem.one_class(gram=K))


class Held:
    """A matrix that is handed out as it is, and beside it what may not fit."""

    def __init__(self, K, row=None, diagonal=None):
        self.K, self.n, self.first, self.own = K, len(K), row, diagonal

    def block(self, rows, columns=None):
        if columns is None:
            return self.K[rows] if self.first is None else np.tile(self.first, (len(rows), 1))
        return self.K[np.ix_(rows, columns)]

    def diagonal(self):
        return self.K.diagonal() if self.own is None else self.own


@pytest.mark.parametrize(("part", "is_refused"), [(0.5e-6, False), (2e-6, True)])
def test_a_few_places_have_to_agree_to_a_millionth_of_the_largest_value(part, is_refused):
    """The first and the last example, and those after a third and a half of them."""
    K = np.add.outer(np.arange(13.0), np.arange(13.0))
    error = part * K.max()

    def check(given, words, is_refused):
        if is_refused:
            said = words + rf".*, by {error:.2g}.* among examples \[0, 4, 6, 12\]"
            with pytest.raises(ValueError, match=said):
                GivenMatrix(given)
        else:
            assert GivenMatrix(given).n == 13

    seen, others = [(0, 4), (4, 6), (6, 12), (12, 0)], [(3, 5), (7, 11), (0, 5), (1, 12)]
    for place in (*seen, *others):
        other = K.copy()
        other[place] += error
        check(Held(other), "is not symmetric", is_refused and place in seen)
    row, diagonal = K[0].copy(), K.diagonal().copy()
    row[6] += error
    diagonal[4] += error
    check(Held(K, row=row), "returns other values for a row if columns is None", is_refused)
    check(
        Held(K, diagonal=diagonal), r"has a diagonal\(\) that is not the diagonal of its blocks", is_refused
    )
    for n in (1, 2, 3):
        assert GivenMatrix(Held(K[:n, :n])).n == n


def test_an_asymmetric_matrix_is_repaired_with_a_warning():
    K = np.eye(4)
    K[0, 1] = 0.5
    with pytest.warns(UserWarning, match="not symmetric"):
        problem = DualProblem.classification(K, [-1, 1, -1, 1], kernel=Precomputed())
    assert problem.gram.dense[0, 1] == problem.gram.dense[1, 0] == 0.25
    assert K[1, 0] == 0.0, "the caller's matrix was written to"


@pytest.mark.parametrize(
    ("value", "other", "is_told"),
    [(1e-15, 0.0, False), (0.5, 0.5 - 2.5e-11, False), (0.5, 0.5 - 1e-10, True), (2e-12, 0.0, True)],
)
def test_rounding_in_a_matrix_is_repaired_in_silence(value, other, is_told):
    """Of 1e-10 of a value, or 1e-12 of the largest."""
    K = np.eye(4)
    K[0, 1], K[1, 0] = value, other
    with warnings.catch_warnings(record=True, action="always") as said:
        dense = DualProblem.classification(K, [-1, 1, -1, 1], kernel=Precomputed()).gram.dense
    np.testing.assert_array_equal(dense, dense.T)
    assert len(said) == is_told


@pytest.mark.parametrize("coef0", [-1.0, 0.0, 1.0])
def test_a_polynomial_is_a_kernel_unless_it_takes_something_off(coef0):
    """(x·z − 1)² of x = 0 and x = 1 has the values 1, 1, 0: the determinant is −1."""
    kernel, points = Polynomial(degree=2, coef0=coef0), np.array([[0.0], [1.0]])
    least = np.linalg.eigvalsh(kernel(points, points))[0]
    assert kernel.is_psd == (least >= 0.0)
